/* SPDX-License-Identifier: MIT */
/* lathe/draft/feed.h: the micro-batch and the model in the hands of another loop. */
#include <lathe/draft/feed.h>

#include <string.h>

#include "base/nearest.h"
#include "session_state.h"

#define FIELDS_MAX 64 /* as session_predict has it */

/* -1: there is none, and s->err says which there are. */
static int64_t find(lathe_session *s, const lathe_field *fields, int64_t count,
                    const char *what, const char *name) {
    struct nearest nearest;
    for (int64_t i = 0; i < count; i++)
        if (!strcmp(fields[i].name, name)) return i;
    fail(&s->err, LATHE_EINVAL, "%s has no \"%s\"", what, name);
    nearest_begin(&nearest, name);
    for (int64_t i = 0; i < count; i++) nearest_list(&nearest, fields[i].name);
    nearest_help(&nearest, "there is", &s->err);
    return -1;
}

/* Are these rows of the field? */
static lathe_status check(lathe_session *s, const lathe_field *field,
                          const lathe_tensor *tensor, int64_t rows) {
    bool is_same =
        tensor->data && tensor->code == field->code && tensor->bits == field->bits &&
        tensor->lanes == 1 && tensor->rank == field->rank + 1 &&
        tensor->shape[0] == rows && rows >= 0 &&
        !memcmp(tensor->shape + 1, field->shape, field->rank * sizeof *field->shape);
    if (is_same) return LATHE_OK;
    return fail(&s->err, LATHE_EINVAL,
                "the tensor for \"%s\" differs from it in type, shape or rows",
                field->name);
}

lathe_status lathe_batch_field(lathe_session *s, const char *name,
                               lathe_tensor *field) {
    const struct data_set *train = &s->data[SPLIT_TRAIN];
    lathe_status status = session_allow(s, PLACE_READ, "lathe_batch_field");
    if (status != LATHE_OK) return status;
    int64_t i = find(s, train->fields, train->field_count, "the data", name);
    if (i < 0) return LATHE_EINVAL;
    *field = s->tensors[i];
    return LATHE_OK;
}

lathe_status lathe_predict_rows(lathe_session *s, const char *field,
                                const lathe_tensor *input, const char *output,
                                const lathe_tensor *into) {
    const struct data_set *train = &s->data[SPLIT_TRAIN];
    lathe_tensor fields[FIELDS_MAX] = {{0}}, outputs[FIELDS_MAX] = {{0}};
    lathe_status status =
        session_allow(s, ~(unsigned)PLACE_FORWARD, "lathe_predict_rows");
    if (status != LATHE_OK) return status;
    int64_t from = find(s, train->fields, train->field_count, "the data", field);
    int64_t to =
        from < 0 ? -1 : find(s, s->outputs, s->output_count, "the model", output);
    if (to < 0) return LATHE_EINVAL;
    status = check(s, &train->fields[from], input, input->shape[0]);
    if (status == LATHE_OK) status = check(s, &s->outputs[to], into, input->shape[0]);
    if (status != LATHE_OK) return status;
    fields[from] = *input;
    if (to < FIELDS_MAX) outputs[to] = *into; /* else session_predict refuses */
    const lathe_batch batch = {.size = sizeof batch,
                               .field_count = (uint32_t)train->field_count,
                               .rows = input->shape[0],
                               .fields = fields};
    return session_predict(s, &batch, outputs);
}
