/* SPDX-License-Identifier: MIT */
#include "commands/table.h"

#include <string.h>

#include "base/nearest.h"

static const struct command table[] = {
    {"run", "train what an experiment file describes", command_run},
    {"resume", "go on with a run from where it was saved last", command_resume},
    {"eval", "measure a run or a checkpoint on data of its experiment", command_eval},
    {"predict", "write what the model of a run says about data", command_predict},
    {"reproduce", "do a run again, and tell whether it comes out the same",
     command_reproduce},
    {"diff", "compare two runs: how they were made, and where they part", command_diff},
    {"explain", "show all that a run will be, before it is one", command_explain},
    {"validate", "check an experiment file, running nothing", command_validate},
    {"plugins", "list the plugins that are found, and those refused", command_plugins},
    {"inspect", "show what a plugin takes, or what is in a bundle", command_inspect},
    {"check", "tell whether a plugin keeps the promises of the SDK", command_check},
    {"new", "make a plugin to begin with", command_new},
    {"pack", "put an experiment and all it needs into one file", command_pack},
    {"verify", "tell whether a bundle is whole and can be run here", command_verify},
    {"unpack", "take a bundle apart, into a folder or the store", command_unpack},
    {"store", "list the bundles that were unpacked, or remove them", command_store},
    {"schema", "print the JSON Schema of experiments, for editors", command_schema},
    {"help", "explain a command", command_help},
};

const struct command *command_at(size_t index) {
    return index < sizeof table / sizeof *table ? &table[index] : NULL;
}

static int is_experiment(const char *name) {
    const char *suffix = strrchr(name, '.');
    return suffix && !strcmp(suffix, ".json");
}

/* What other tools call it. */
static const char *find_synonym(const char *name) {
    static const struct {
        const char *other, *ours;
    } synonyms[] = {
        {"train", "run"},        {"fit", "run"},        {"start", "run"},
        {"list", "plugins"},     {"ls", "plugins"},     {"continue", "resume"},
        {"evaluate", "eval"},    {"test", "eval"},      {"show", "inspect"},
        {"check", "validate"},   {"create", "new"},     {"compare", "diff"},
        {"repeat", "reproduce"}, {"rerun", "reproduce"}};
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
        if (!strcmp(synonyms[i].other, name)) return synonyms[i].ours;
    return NULL;
}

const struct command *command_find(const char *name, struct error *err) {
    struct nearest nearest;
    nearest_begin(&nearest, name);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (!strcmp(table[i].name, name)) return &table[i];
        nearest_offer(&nearest, table[i].name);
    }
    const char *synonym = find_synonym(name), *best = synonym ? synonym : nearest.best;
    fail(err, LATHE_EINVAL, "unknown %s \"%s\"", *name == '-' ? "flag" : "command",
         name);
    error_where(err, "command line");
    if (is_experiment(name))
        error_help(err, "did you mean \"lathe run %s\"?", name);
    else if (best)
        error_help(err, "did you mean \"lathe %s\"?", best);
    else
        error_help(err, "\"lathe help\" lists the commands");
    return NULL;
}
