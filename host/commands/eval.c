/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "commands/commands.h"
#include "commands/output.h"
#include "commands/visit.h"
#include "json.h"

struct evaluation {
    struct visit visit; /* first: it is the context of what the session tells */
    char *record;
};

static void take_record(void *context, const char *json) {
    struct evaluation *e = context;
    free(e->record);
    e->record = text_copy(json);
}

/* The record as it would stand in metrics.jsonl, with the checkpoint before the
 * metrics: digits are not touched. */
static void write_json(const struct evaluation *e, struct text *text) {
    const char *metrics = strstr(e->record, ",\"metrics\":");
    text_add_bytes(text, e->record, (size_t)(metrics - e->record));
    text_add(text, ",\"checkpoint\":");
    text_json_string(text, lathe_origin(e->visit.session));
    text_format(text, "%s\n", metrics);
}

static void write_lines(const struct json *record, struct text *text) {
    const struct json *metrics = json_get(record, "metrics");
    const char *split = json_text(json_get(record, "split"));
    size_t width = 0;
    for (size_t i = 0; i < json_size(metrics); i++) {
        const size_t length = strlen(json_key_at(metrics, i));
        width = length > width ? length : width;
    }
    for (size_t i = 0; i < json_size(metrics); i++) {
        const char *name = json_key_at(metrics, i);
        const struct json *value = json_at(metrics, i);
        text_format(text, "%s/%-*s  ", split, (int)width, name);
        if (json_kind(value) == JSON_NUMBER)
            text_json_shortest(text, json_number(value));
        else
            text_add(text, json_text(json_get(json_get(record, "nonfinite"), name)));
        text_add(text, "\n");
    }
}

static int print(const struct evaluation *e, bool is_json, struct error *err) {
    struct text text = {0};
    struct json *record = NULL;
    lathe_status status = LATHE_OK;
    if (!e->record)
        status = LATHE_ENOMEM;
    else if (is_json)
        write_json(e, &text);
    else if ((status = json_parse(e->record, strlen(e->record), "record", &record,
                                  NULL)) == LATHE_OK)
        write_lines(record, &text);
    if (status != LATHE_OK || text.is_broken)
        status = fail(err, LATHE_ENOMEM, "no memory to evaluate");
    else if (text.data)
        fputs(text.data, output_file());
    json_close(record);
    text_finish(&text);
    return error_exit_code(status);
}

int command_eval(int argc, char **argv) {
    struct evaluation e = {.visit.record = take_record};
    int is_json = 0;
    const struct flag flags[] = {{"--json", .count = &is_json}, VISIT_FLAGS(e.visit)};
    struct error err = {0};
    int code = visit_read(&e.visit, argc, argv, flags, &err);
    if (!code) code = visit_open(&e.visit, &err);
    if (!code)
        code =
            visit_judge(&e.visit, lathe_evaluate(e.visit.session, e.visit.data), &err);
    if (!code) code = print(&e, is_json, &err);
    if (code) command_print_error(&err);
    visit_close(&e.visit);
    free(e.record);
    return code;
}
