/* SPDX-License-Identifier: MIT */
/* From the command line to what is checked: the manifest, the options that instances
 * are made with (given, or made up where the manifest lets them), and the small
 * experiments in which they are made. */
#ifndef HOST_CHECK_SUBJECT_H
#define HOST_CHECK_SUBJECT_H

#include "check/check.h"

/* What somebody said about options; NULL: nothing. */
struct given {
    const char *with;         /* JSON text, … */
    const char *experiment;   /* … or an experiment's file */
    const char *const *words; /* "lr=0.1", over either; NULL-ended */
};

/* Reads the manifest of a folder, a plugin.json, a library, or of an installed plugin.
 * What is wrong with the plugin goes to subject->refused; a failure is that there is
 * nothing to check, or that what was given is wrong. */
lathe_status subject_open(struct subject *subject, const char *word,
                          const struct given *given, const char *const *plugin_paths,
                          struct error *err);
void subject_close(struct subject *subject);

/* What a test wants of its experiment. */
struct setup {
    const struct json *options; /* of the plugin; NULL: the subject's */
    int data;                   /* which of the CHECK_DATA */
    uint64_t seed;
    int64_t rows, batch, accumulate; /* 0: 23, 16, 1 */
    const char *until;               /* NULL: "4ep" */
    const char *callback;            /* options of check-callback, JSON; NULL: none */
    const char *model;               /* members of check-model, ", \"x\": 1"; or NULL */
    bool has_visits;                 /* validation and test data */
    const char *stages;              /* JSON; NULL */
};
/* subject_experiment.c: as JSON text; the caller's; NULL: out of memory. */
char *subject_experiment(const struct subject *subject, const struct setup *setup);
/* "6 numbers and 3 classes", for messages. */
const char *subject_data_name(int data);
/* The first kind of data that is suitable for a model. */
int subject_first_data(const struct subject *subject);
bool subject_is_suitable(const struct subject *subject, int data);

/* subject_find.c: sets manifest or refused, format and directory. */
lathe_status subject_find(struct subject *subject, const char *word,
                          const char *const *places, struct error *err);
/* made_up.c: a value that the schema allows, in the middle rather than at an edge; the
 * caller's. NULL: nobody can know one. */
struct json *subject_make_up(const struct json *schema, const char *name);
/* edges.c: the values at the edges of a schema, in a list; the caller's. NULL: out of
 * memory. */
struct json *subject_edges(const struct json *schema, const char *name);

#endif
