/* SPDX-License-Identifier: MIT */
/* Plugins that are nothing but manifests, and experiments on them. JSON is written with
 * ' in place of ". Include after test.h; the group's state is the registry. */
#ifndef TESTS_SUPPORT_EXPERIMENTS_H
#define TESTS_SUPPORT_EXPERIMENTS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment.h"

#define LEAST_AND                                                                      \
    "{'lathe':1,'seed':1,'data':{'train':{'use':'grid'}},'model':{'use':'net'},"       \
    "'optimizer':{'use':'plain','lr':0.5},'train':{'until':'2ep','batch':4}"
#define LEAST LEAST_AND "}"
#define SEEDLESS                                                                       \
    "{'lathe':1,'data':{'train':{'use':'grid'}},'model':{'use':'net'},"                \
    "'optimizer':{'use':'plain'},'train':{'until':'2ep'}}"
/* With validation data and two callbacks. */
#define WATCHED                                                                        \
    "{'lathe':1,'seed':1,'data':{'train':{'use':'grid'},'validation':{'use':'grid'}}," \
    "'model':{'use':'net'},'optimizer':{'use':'plain','lr':0.5},"                      \
    "'train':{'until':'2ep','batch':4},"                                               \
    "'callbacks':[{'use':'meter'},{'use':'stopper'}]}"

#define OVERRIDES(...) ((const char *const[]){__VA_ARGS__, NULL})

static const struct {
    uint32_t kind;
    const char *kind_name, *name, *rest;
} toys[] = {
    {LATHE_KIND_DATASET, "dataset", "grid",
     "'options':{'rows':{'type':'integer','minimum':1,'default':8},"
     "'label':{'type':'string','optional':true},"
     "'file':{'type':'string','format':'path','optional':true}}"},
    {LATHE_KIND_DATASET, "dataset", "part",
     "'options':{'of':{'type':'object','format':'plugin:dataset'},"
     "'range':{'type':'array','items':{'type':'integer','minimum':0},"
     "'minItems':2,'maxItems':2,'optional':true}}"},
    {LATHE_KIND_DATASET, "dataset", "joined",
     "'options':{'parts':{'type':'array',"
     "'items':{'type':'object','format':'plugin:dataset'}}}"},
    {LATHE_KIND_MODEL, "model", "net",
     "'metrics':[{'name':'accuracy'}],'options':{"
     "'hidden':{'type':'array','items':{'type':'integer','minimum':1},'default':[4]},"
     "'shape':{'enum':['wide','tall','1'],'default':'wide'}}"},
    {LATHE_KIND_OPTIMIZER, "optimizer", "plain",
     "'options':{'lr':{'type':'number','minimum':0,'default':0.1},"
     "'momentum':{'type':'number','minimum':0,'default':0},"
     "'nesterov':{'type':'boolean','default':false}}"},
    {LATHE_KIND_OPTIMIZER, "optimizer", "fancy",
     "'options':{'lr':{'type':'number','minimum':0,'default':0.001},"
     "'beta':{'type':'number','default':0.9}}"},
    {LATHE_KIND_SCHEDULE, "schedule", "ramp",
     "'options':{'warmup':{'type':'string','format':'duration','default':'1ep'}}"},
    {LATHE_KIND_CALLBACK, "callback", "meter",
     "'metrics':[{'name':'speed'}],"
     "'options':{'every':{'type':'string','format':'interval','default':'100step'}}"},
    {LATHE_KIND_CALLBACK, "callback", "stopper",
     "'options':{'watch':{'type':'string','format':'metric',"
     "'default':'validation/loss'},"
     "'patience':{'type':'integer','minimum':1,'default':3}}"},
};
#define TOY_COUNT (sizeof toys / sizeof toys[0])

static inline char *quote(const char *text) {
    char *quoted = strdup(text);
    for (char *c = quoted; *c != '\0'; c++)
        if (*c == '\'') *c = '"';
    return quoted;
}

/* Fixtures of a group. */
static inline int open_plugins(void **state) {
    static lathe_plugin plugins[TOY_COUNT];
    lathe_linked_plugin linked[TOY_COUNT];
    const lathe_linked_plugin *list[TOY_COUNT + 1] = {NULL};
    char *texts[TOY_COUNT];
    for (size_t i = 0; i < TOY_COUNT; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "{'lathe':1,'kind':'%s','name':'%s','version':'1.0.0',%s}",
                 toys[i].kind_name, toys[i].name, toys[i].rest);
        texts[i] = quote(text);
        plugins[i] = (lathe_plugin){sizeof plugins[i], toys[i].kind, 0, 0, NULL};
        linked[i] = (lathe_linked_plugin){sizeof linked[i], 0, &plugins[i], texts[i]};
        list[i] = &linked[i];
    }
    struct error err = {0};
    struct registry *registry = NULL;
    unsetenv("LATHE_PLUGIN_PATH");
    if (registry_open(NULL, list, &registry, &err) != LATHE_OK)
        print_error("%s: %s\n", err.where, err.what);
    for (size_t i = 0; registry && i < TOY_COUNT; i++)
        if (registry_at(registry, i)->status != REGISTRY_OK)
            print_error("%s: %s\n", registry_at(registry, i)->reason.where,
                        registry_at(registry, i)->reason.what);
    for (size_t i = 0; i < TOY_COUNT; i++) free(texts[i]);
    *state = registry;
    return registry ? 0 : -1;
}

static inline int close_plugins(void **state) {
    registry_close(*state);
    return 0;
}

struct opened {
    struct experiment *experiment;
    struct errors errors;
    lathe_status status;
    struct text value;
};

/* `source`: a path, or JSON with '. */
static inline void open_experiment(struct opened *opened,
                                   const struct registry *registry, const char *source,
                                   const char *const *overrides) {
    char *quoted = quote(source);
    *opened = (struct opened){0};
    opened->status = experiment_open(quoted, overrides, registry, &opened->experiment,
                                     &opened->errors);
    free(quoted);
}

static inline void finish(struct opened *opened) {
    experiment_close(opened->experiment);
    errors_finish(&opened->errors);
    text_finish(&opened->value);
}

static inline void open_well(struct opened *opened, const struct registry *registry,
                             const char *source, const char *const *overrides) {
    open_experiment(opened, registry, source, overrides);
    for (size_t i = 0; i < opened->errors.count; i++)
        print_error("%s: %s\n", opened->errors.items[i].where,
                    opened->errors.items[i].what);
    assert_int_equal(opened->status, LATHE_OK);
    assert_non_null(opened->experiment);
}

/* The resolved value at a path, as JSON on one line; valid until finish or the next. */
static inline const char *value_at(struct opened *opened, const char *path) {
    const struct json *value = opened->experiment->resolved;
    for (const char *part = path; *part != '\0';) {
        char key[64];
        const size_t length = strncmp(path, "expect.", 7) == 0 && part > path
                                  ? strlen(part)
                                  : strcspn(part, ".");
        snprintf(key, sizeof key, "%.*s", (int)length, part);
        if (json_kind(value) == JSON_LIST && *key >= '0' && *key <= '9') {
            value = json_at(value, (size_t)atoi(key));
        } else if (json_kind(value) == JSON_LIST) {
            const struct json *list = value;
            value = NULL;
            for (size_t i = 0; i < json_size(list) && !value; i++) {
                const struct json *id = json_get(json_at(list, i), "id");
                if (!id) id = json_get(json_at(list, i), "use");
                if (strcmp(json_text(id), key) == 0) value = json_at(list, i);
            }
        } else {
            value = json_get(value, key);
        }
        part += length + (part[length] == '.');
    }
    text_clear(&opened->value);
    if (value) json_write(value, &opened->value, 0);
    return value ? opened->value.data : "(nothing)";
}

static inline void write_file(const char *path, const char *text) {
    char *quoted = quote(text);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(quoted, file);
    fclose(file);
    free(quoted);
}

#endif
