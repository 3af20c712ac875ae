/* SPDX-License-Identifier: MIT */
/* What the label column means: numbers to come near, or classes. The class of a text
 * never depends on what a file holds: the option "classes" says it. */
#ifndef CSV_LABELS_H
#define CSV_LABELS_H

#include "csv_table.h"

struct csv_label {
    struct csv_field field;
    int64_t line;
};

/* One of the two arrays is made; all is the caller's to free. */
struct csv_labels {
    int64_t classes;  /* 0: regression */
    int32_t *numbers; /* of the classes */
    float *values;
    char *names; /* of the classes, one a line; NULL: they are numbers */
};

/* Decides by the options "task" and "classes", and by all labels of the file. */
lathe_status csv_labels_make(const struct csv_table *table, int64_t column,
                             const struct csv_label *labels, int64_t count,
                             struct csv_labels *made);

#endif
