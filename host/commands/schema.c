/* SPDX-License-Identifier: MIT */
/* lathe schema: one JSON Schema (draft-07) of an experiment. It begins with the fixed
 * part, manifests/schema/experiment.json, whose "format"s are ours; each is put in
 * words that any validator knows. The options of the plugins that are found become
 * definitions, one for each kind. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/arguments.h"
#include "commands/commands.h"
#include "json.h"
#include "options.h"
#include "registry.h"

extern const char schema_experiment[]; /* manifests/schema/experiment.json */
extern const char schema_plugin[];     /* manifests/schema/plugin.json */

#define DURATION "^[0-9]+([.][0-9]+)?(ep|step|sample|s|min|h)$"

/* What a format of ours means to others. %s: the text after "plugin:". */
static const struct {
    const char *format, *schema;
} meanings[] = {
    {"duration", "{\"anyOf\":[{\"type\":\"string\",\"pattern\":\"" DURATION "\"},"
                 "{\"type\":\"array\",\"minItems\":1,\"items\":{\"type\":\"string\","
                 "\"pattern\":\"" DURATION "\"}}]}"},
    {"interval", "{\"anyOf\":[{\"const\":\"off\"},{\"type\":\"string\",\"pattern\":"
                 "\"" DURATION "\"},{\"type\":\"array\",\"minItems\":1,\"items\":"
                 "{\"type\":\"string\",\"pattern\":\"" DURATION "\"}}]}"},
    {"data", "{\"type\":\"object\",\"minProperties\":1,\"additionalProperties\":"
             "{\"$ref\":\"#/definitions/dataset\"}}"},
    {"rename", "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}"},
    {"expect", "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\","
               "\"pattern\":\"^ *(<=|>=|==|<|>) *[^ ]+ *$\"}}"},
    {"plugin-name", "{\"type\":\"string\",\"pattern\":\"^[a-z0-9-]+$\"}"},
    {"library", "{\"type\":\"string\",\"pattern\":\"^[A-Za-z0-9][A-Za-z0-9._-]*$\"}"},
    {"options", "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"object\"}}"},
};

static struct json *parse(const char *text) {
    struct json *root = NULL;
    return json_parse(text, strlen(text), "(schema)", &root, NULL) ? NULL : root;
}

static struct json *make_reference(const char *kind) {
    char *place = text_make("#/definitions/%s", kind);
    struct json *reference =
        place ? JSON_MAP_OF({"$ref", json_make_text(place)}) : NULL;
    free(place);
    return reference;
}

/* NULL: a format that stays text. */
static struct json *make_meaning(const char *format) {
    if (strncmp(format, "plugin:", 7) == 0) return make_reference(format + 7);
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (strcmp(meanings[i].format, format) == 0) return parse(meanings[i].schema);
    return NULL;
}

static struct json *translate(const struct json *schema);

static struct json *translate_all(const struct json *schemas) {
    struct json *map = json_make_map();
    for (struct json_member at = {0}; json_next(schemas, &at);)
        map = json_add(map, at.key, translate(at.value));
    return map;
}

static struct json *translate_list(const struct json *schemas) {
    struct json *list = json_make_list();
    for (size_t i = 0; i < json_size(schemas); i++)
        list = json_append(list, translate(json_at(schemas, i)));
    return list;
}

static struct json *translate_member(const char *key, const struct json *value) {
    return strcmp(key, "properties") == 0 ? translate_all(value)
           : strcmp(key, "items") == 0    ? translate(value)
           : strcmp(key, "oneOf") == 0    ? translate_list(value)
                                          : json_clone(value);
}

/* A schema of ours in the words of draft-07; the caller's, NULL: out of memory. What
 * stands beside a $ref is not read, so a meaning goes into "allOf". */
static struct json *translate(const struct json *schema) {
    struct json *meaning = make_meaning(json_text(json_get(schema, "format")));
    struct json *made = json_make_map();
    for (struct json_member at = {0}; json_next(schema, &at);)
        if (strcmp(at.key, "format") != 0 && strcmp(at.key, "optional") != 0 &&
            (!meaning || strcmp(at.key, "type") != 0))
            made = json_add(made, at.key, translate_member(at.key, at.value));
    if (json_get(schema, "properties"))
        made = json_add(made, "additionalProperties", json_make_truth(false));
    return meaning ? json_add(made, "allOf", json_append(json_make_list(), meaning))
                   : made;
}

/* ---- plugins ---- */

static bool is_required(const struct json *option) {
    return !json_get(option, "default") && !json_truth(json_get(option, "optional"));
}

/* What every use has beside the plugin's own options */
static struct json *add_common(struct json *properties,
                               const struct manifest *manifest) {
    properties =
        json_add(properties, "use",
                 JSON_MAP_OF({"const", json_make_text(manifest->name)},
                             {"description", json_make_text(manifest->summary)}));
    properties = json_add(properties, "id", parse("{\"type\":\"string\"}"));
    if (manifest->kind != LATHE_KIND_OPTIMIZER) return properties;
    properties = json_add(properties, "keep", parse("{\"type\":\"boolean\"}"));
    return json_add(properties, "groups",
                    parse("{\"type\":\"array\",\"items\":{\"type\":\"object\","
                          "\"properties\":{\"match\":{\"type\":\"string\"}},"
                          "\"required\":[\"match\"]}}"));
}

/* { "use": the plugin's name, and its options } */
static struct json *make_use(const struct manifest *manifest) {
    struct json *required = json_append(json_make_list(), json_make_text("use"));
    for (struct json_member at = {0}; json_next(manifest->options, &at);)
        if (is_required(at.value))
            required = json_append(required, json_make_text(at.key));
    return JSON_MAP_OF(
        {"type", json_make_text("object")},
        {"properties", add_common(translate_all(manifest->options), manifest)},
        {"required", required}, {"additionalProperties", json_make_truth(false)});
}

static struct json *make_kind(const struct registry *registry, uint32_t kind) {
    struct json *choice = json_make_list();
    for (size_t i = 0; i < registry_count(registry); i++) {
        const struct registry_entry *entry = registry_at(registry, i);
        if (entry->status == REGISTRY_OK && entry->manifest->kind == kind)
            choice = json_append(choice, make_use(entry->manifest));
    }
    if (!choice || json_size(choice)) return JSON_MAP_OF({"oneOf", choice});
    /* An empty "oneOf" is no schema: nothing fits where no plugin is. */
    json_close(choice);
    return JSON_MAP_OF({"not", json_make_map()});
}

static struct json *make_definitions(const struct registry *registry) {
    struct json *map = json_make_map();
    for (uint32_t kind = LATHE_KIND_DATASET; kind <= LATHE_KIND_CALLBACK; kind++)
        map = json_add(map, manifest_kind_name(kind), make_kind(registry, kind));
    return map;
}

/* `registry` NULL: it needs no definitions. */
static struct json *make_schema(const char *fixed, const struct registry *registry) {
    struct json *ours = parse(fixed), *made = translate(ours);
    const char *draft = "http://json-schema.org/draft-07/schema#";
    made = json_add(made, "$schema", ours ? json_make_text(draft) : NULL);
    json_close(ours);
    return registry ? json_add(made, "definitions", make_definitions(registry)) : made;
}

static lathe_status print_schema(const char *const *paths, int of_plugin,
                                 struct error *err) {
    struct registry *registry = NULL;
    struct text text = {0};
    lathe_status status =
        of_plugin ? LATHE_OK : registry_open(paths, NULL, &registry, err);
    if (status != LATHE_OK) return status;
    json_write_document(
        make_schema(of_plugin ? schema_plugin : schema_experiment, registry), &text, 2);
    if (text.is_broken)
        status = fail(err, LATHE_ENOMEM, "out of memory");
    else
        fputs(text.data, stdout); /* main looks whether it arrives */
    text_finish(&text);
    registry_close(registry);
    return status;
}

int command_schema(int argc, char **argv) {
    int of_plugin = 0;
    struct words paths = {0};
    const struct flag flags[] = {{"--plugin-path", "DIR", .values = &paths},
                                 {"--plugin", .count = &of_plugin},
                                 {.name = NULL}};
    struct arguments arguments = {0};
    struct error err = {0};
    int code = arguments_read(argc, argv, flags, &arguments, &err);
    if (code == 0 && arguments.words.count + arguments.overrides.count > 0) {
        code = EXIT_USAGE;
        fail(&err, LATHE_EINVAL, "\"lathe schema\" takes no words");
        error_where(&err, "command line");
    }
    if (code == 0) code = error_exit_code(print_schema(paths.items, of_plugin, &err));
    if (code != 0) command_print_error(&err);
    arguments_finish(&arguments);
    return code;
}
