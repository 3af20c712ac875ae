/* SPDX-License-Identifier: MIT */
/* What is said of experiments that are wrong: the cases of experiment_errors.txt, and
 * those that need files. */
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/experiments.h"

#define OPEN                                                                           \
    "{'lathe':1,'seed':1,'data':{'train':{'use':'grid'}},"                             \
    "'model':{'use':'net'},'optimizer':{'use':'plain'"
#define OVERRIDE_MAX 4

struct bad {
    int line;
    char source[2560];
    char *overrides[OVERRIDE_MAX + 1]; /* NULL-ended; this case's own */
    const char *status;
    char errors[4096]; /* a line for each, "where | what | help" */
};

static const char *name_status(lathe_status status) {
    switch (status) {
    case LATHE_EINVAL:
        return "EINVAL";
    case LATHE_EMISSING:
        return "EMISSING";
    case LATHE_ENOTFOUND:
        return "ENOTFOUND";
    case LATHE_EDATA:
        return "EDATA";
    default:
        return "?";
    }
}

static void expect_errors(const struct registry *registry, const struct bad *bad) {
    struct opened opened;
    struct text found = {0};
    open_experiment(&opened, registry, bad->source,
                    (const char *const *)bad->overrides);
    for (size_t i = 0; i < opened.errors.count; i++) {
        const struct error *err = &opened.errors.items[i];
        text_format(&found, "%s | %s |%s%s\n", err->where, err->what,
                    err->help[0] ? " " : "", err->help);
    }
    if (!found.data || strcmp(found.data, bad->errors) != 0)
        print_error("the case of line %d: %s\n", bad->line, bad->source);
    assert_string_equal(found.data ? found.data : "(none)", bad->errors);
    assert_string_equal(name_status(opened.status), bad->status);
    assert_null(opened.experiment);
    text_finish(&found);
    finish(&opened);
}

/* LEAST, WATCHED, START… and OPEN… written out; \n becomes a line's end. */
static void write_out(struct bad *bad, const char *line) {
    static const char *const names[][2] = {
        {"LEAST", LEAST}, {"WATCHED", WATCHED}, {"START", OPEN "}"}, {"OPEN", OPEN}};
    const char *start = "";
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(line, names[i][0], strlen(names[i][0])) == 0) {
            start = names[i][1];
            line += strlen(names[i][0]);
            break;
        }
    snprintf(bad->source, sizeof bad->source, "%s%s", start, line);
    char *escape = strstr(bad->source, "\\n");
    if (escape) {
        escape[0] = '\n';
        memmove(escape + 1, escape + 2, strlen(escape + 2) + 1);
    }
}

static void add_override(struct bad *bad, const char *override) {
    size_t i = 0;
    while (bad->overrides[i]) i++;
    assert_true(i < OVERRIDE_MAX);
    bad->overrides[i] = quote(override);
}

/* Reads on to the end of the next case; false: there is none. */
static bool read_case(FILE *file, int *line_number, struct bad *bad) {
    char line[2048];
    *bad = (struct bad){.status = ""};
    while (fgets(line, sizeof line, file)) {
        ++*line_number;
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#') continue;
        if (line[0] == '\0' && bad->line > 0) break;
        if (line[0] == '\0') continue;
        if (strncmp(line, "> ", 2) == 0) {
            bad->line = *line_number;
            write_out(bad, line + 2);
        } else if (strncmp(line, "+ ", 2) == 0) {
            add_override(bad, line + 2);
        } else if (strncmp(line, "= ", 2) == 0) {
            bad->status = strcmp(line + 2, "EMISSING") == 0 ? "EMISSING" : "EINVAL";
        } else {
            const size_t length = strlen(bad->errors);
            snprintf(bad->errors + length, sizeof bad->errors - length, "%s\n", line);
        }
    }
    return bad->line > 0;
}

static void every_fault_has_its_words(void **state) {
    const char *source = getenv("SOURCE");
    char path[512];
    snprintf(path, sizeof path, "%s/tests/host/experiment_errors.txt",
             source ? source : ".");
    FILE *file = fopen(path, "r");
    if (!file) fail_msg("%s cannot be read", path);
    struct bad bad;
    int line = 0, count = 0;
    while (read_case(file, &line, &bad)) {
        expect_errors(*state, &bad);
        for (size_t i = 0; bad.overrides[i]; i++) free(bad.overrides[i]);
        count++;
    }
    fclose(file);
    assert_true(count > 40);
}

static void files_that_are_not_there_are_told(void **state) {
    char folder[] = "/tmp/lathe-experiment-XXXXXX", file[64], data[64];
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/x.json", folder);
    snprintf(data, sizeof data, "%s/rows.csv", folder);
    struct bad bad = {.status = "ENOTFOUND"};
    snprintf(bad.source, sizeof bad.source, "%s", file);
    snprintf(bad.errors, sizeof bad.errors, " | there is no file \"%s\" |\n", file);
    expect_errors(*state, &bad);

    write_file(file, LEAST);
    write_file(data, "1,2\n");
    bad.overrides[0] = "data.train.file=row.csv";
    snprintf(bad.errors, sizeof bad.errors,
             "command line: data.train.file | there is no file \"%s/row.csv\" | "
             "did you mean \"rows.csv\"?\n",
             folder);
    expect_errors(*state, &bad);

    bad.overrides[0] = "data.train.file=.";
    bad.status = "EDATA";
    snprintf(bad.errors, sizeof bad.errors,
             "command line: data.train.file | \"%s\" is a directory; a regular file "
             "was expected | the path is relative to %s\n",
             folder, folder);
    expect_errors(*state, &bad);
    unlink(data);
    unlink(file);
    rmdir(folder);
}

static void errors_name_the_file_and_the_path_in_it(void **state) {
    char file[] = "/tmp/lathe-experiment-XXXXXX";
    const int fd = mkstemp(file);
    assert_true(fd >= 0);
    close(fd);
    struct bad bad = {.status = "EINVAL"};
    snprintf(bad.source, sizeof bad.source, "%s", file);
    write_file(file, LEAST_AND ",'callbacks':[{'use':'meter','evry':'1ep'}]}");
    snprintf(bad.errors, sizeof bad.errors,
             "%s: callbacks.meter.evry | callback meter has no option \"evry\" | "
             "did you mean \"every\"? Allowed: every\n",
             file);
    expect_errors(*state, &bad);
    write_file(file, "{\n  'lathe': 1\n  'seed': 1 }\n");
    snprintf(bad.errors, sizeof bad.errors,
             "%s:3:3 | found '\"seed\"' where ',' or '}' was expected |\n", file);
    expect_errors(*state, &bad);
    unlink(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fault_has_its_words),
        cmocka_unit_test(files_that_are_not_there_are_told),
        cmocka_unit_test(errors_name_the_file_and_the_path_in_it),
    };
    return cmocka_run_group_tests_name("experiment-errors", tests, open_plugins,
                                       close_plugins);
}
