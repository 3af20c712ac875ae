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
    char *text = text_make("{\"$ref\":\"#/definitions/%s\"}", kind);
    struct json *reference = text ? parse(text) : NULL;
    free(text);
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
    for (struct json_member at = {0}; map && json_next(schemas, &at);)
        if (!json_put(map, at.key, translate(at.value))) break;
    return map;
}

static struct json *translate_list(const struct json *schemas) {
    struct json *list = json_make_list();
    for (size_t i = 0; list && i < json_size(schemas); i++)
        if (!json_push(list, translate(json_at(schemas, i)))) break;
    return list;
}

/* A schema of ours in the words of draft-07; the caller's, NULL: out of memory. What
 * stands beside a $ref is not read, so a meaning goes into "allOf". */
static struct json *translate(const struct json *schema) {
    struct json *made = json_make_map();
    const char *format = json_text(json_get(schema, "format"));
    struct json *meaning = make_meaning(format);
    bool is_whole = made != NULL;
    for (struct json_member at = {0}; is_whole && json_next(schema, &at);) {
        const char *key = at.key;
        if (strcmp(key, "format") == 0 || strcmp(key, "optional") == 0) continue;
        if (meaning && strcmp(key, "type") == 0) continue;
        is_whole = json_put(made, key,
                            strcmp(key, "properties") == 0 ? translate_all(at.value)
                            : strcmp(key, "items") == 0    ? translate(at.value)
                            : strcmp(key, "oneOf") == 0    ? translate_list(at.value)
                                                           : json_clone(at.value));
    }
    if (is_whole && json_get(schema, "properties"))
        is_whole = json_put(made, "additionalProperties", json_make_truth(false));
    if (is_whole && meaning) {
        struct json *all = json_make_list();
        is_whole = all && json_push(all, meaning) && json_put(made, "allOf", all);
    } else {
        json_close(meaning);
    }
    if (is_whole) return made;
    json_close(made);
    return NULL;
}

/* ---- plugins ---- */

static bool is_required(const struct json *option) {
    return !json_get(option, "default") && !json_truth(json_get(option, "optional"));
}

/* What every use has beside the plugin's own options */
static bool put_common(struct json *properties, const struct manifest *manifest) {
    struct json *use = json_make_map();
    bool is_whole = use && json_put(use, "const", json_make_text(manifest->name)) &&
                    json_put(use, "description", json_make_text(manifest->summary)) &&
                    json_put(properties, "use", use) &&
                    json_put(properties, "id", parse("{\"type\":\"string\"}"));
    if (!is_whole || manifest->kind != LATHE_KIND_OPTIMIZER) return is_whole;
    return json_put(properties, "keep", parse("{\"type\":\"boolean\"}")) &&
           json_put(properties, "groups",
                    parse("{\"type\":\"array\",\"items\":{\"type\":\"object\","
                          "\"properties\":{\"match\":{\"type\":\"string\"}},"
                          "\"required\":[\"match\"]}}"));
}

/* { "use": the plugin's name, and its options } */
static struct json *make_use(const struct manifest *manifest) {
    struct json *made = json_make_map(), *required = json_make_list();
    struct json *properties = translate_all(manifest->options);
    bool is_whole = made && required && properties &&
                    put_common(properties, manifest) &&
                    json_push(required, json_make_text("use"));
    for (struct json_member at = {0}; is_whole && json_next(manifest->options, &at);)
        if (is_required(at.value))
            is_whole = json_push(required, json_make_text(at.key));
    is_whole = is_whole && json_put(made, "type", json_make_text("object")) &&
               json_put(made, "properties", json_clone(properties)) &&
               json_put(made, "required", json_clone(required)) &&
               json_put(made, "additionalProperties", json_make_truth(false));
    json_close(properties);
    json_close(required);
    if (is_whole) return made;
    json_close(made);
    return NULL;
}

static bool put_kind(struct json *definitions, const struct registry *registry,
                     uint32_t kind) {
    struct json *choice = json_make_list(), *made = json_make_map();
    bool is_whole = choice && made;
    for (size_t i = 0; is_whole && i < registry_count(registry); i++) {
        const struct registry_entry *entry = registry_at(registry, i);
        if (entry->status == REGISTRY_OK && entry->manifest->kind == kind)
            is_whole = json_push(choice, make_use(entry->manifest));
    }
    /* An empty "oneOf" is no schema: nothing fits where no plugin is. */
    if (is_whole && json_size(choice) > 0)
        is_whole = json_put(made, "oneOf", json_clone(choice));
    else if (is_whole)
        is_whole = json_put(made, "not", json_make_map());
    json_close(choice);
    if (is_whole) return json_put(definitions, manifest_kind_name(kind), made);
    json_close(made);
    return false;
}

static struct json *make_schema(const char *fixed, const struct registry *registry) {
    struct json *ours = parse(fixed), *definitions = json_make_map();
    struct json *made = ours && definitions ? translate(ours) : NULL;
    bool is_whole =
        made && json_put(made, "$schema",
                         json_make_text("http://json-schema.org/draft-07/schema#"));
    for (uint32_t kind = LATHE_KIND_DATASET; is_whole && kind <= LATHE_KIND_CALLBACK;
         kind++)
        is_whole = !registry || put_kind(definitions, registry, kind);
    if (is_whole && registry)
        is_whole = json_put(made, "definitions", json_clone(definitions));
    json_close(ours);
    json_close(definitions);
    if (is_whole) return made;
    json_close(made);
    return NULL;
}

static lathe_status print_schema(const char *const *paths, int of_plugin,
                                 struct error *err) {
    struct registry *registry = NULL;
    struct text text = {0};
    lathe_status status =
        of_plugin ? LATHE_OK : registry_open(paths, NULL, &registry, err);
    if (status != LATHE_OK) return status;
    struct json *schema =
        make_schema(of_plugin ? schema_plugin : schema_experiment, registry);
    json_write(schema, &text, 2);
    if (!schema || text.is_broken)
        status = fail(err, LATHE_ENOMEM, "out of memory");
    else
        puts(text.data); /* main looks whether it arrives */
    text_finish(&text);
    json_close(schema);
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
