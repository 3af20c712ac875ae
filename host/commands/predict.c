/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stdlib.h>

#include "base/file.h"
#include "commands/commands.h"
#include "commands/runs.h"
#include "commands/sheet.h"
#include "commands/visit.h"
#include "plan.h"

/* A handler gets no argument. What is half written is removed before the signal has
 * its way. */
static volatile sig_atomic_t caught;
static lathe_session *const *visited; /* before it is opened and after */

static void catch (int number) {
    lathe_session *session = __atomic_load_n(visited, __ATOMIC_ACQUIRE);
    caught = number;
    if (session) lathe_stop(session, "interrupted");
}

static void catch_signals(void (*handler)(int)) {
    const struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    struct sigaction before;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (!sigaction(SIGHUP, NULL, &before) && before.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &action, NULL); /* nohup is obeyed */
}

/* Rows of predictions take the place of none of the data, and no run gets them. */
static lathe_status check_target(const struct visit *visit, struct sheet *sheet) {
    char *run = runs_of(visit->path);
    const char *directory = run ? run : visit->path;
    struct error *err = &sheet->err;
    if (!sheet->target) {
        err->status = LATHE_OK; /* a pipe, a device, standard output */
    } else if (plan_reads(visit->session, sheet->target)) {
        fail(err, LATHE_ECREATE, "\"%.300s\" is data of this experiment", sheet->path);
    } else if (file_is_inside(sheet->target, directory)) {
        fail(err, LATHE_ECREATE, "\"%.300s\" is inside the run \"%.150s\"", sheet->path,
             directory);
    }
    free(run);
    if (!err->status) return LATHE_OK;
    error_where(err, "-o");
    error_help(err, "name another file: -o FILE.csv");
    return err->status;
}

struct task {
    const struct visit *visit;
    struct sheet *sheet;
};

/* With the first rows it is known which data there are. */
static lathe_status take(void *context, const lathe_prediction *prediction) {
    const struct task *task = context;
    if (caught) return LATHE_STOP;
    lathe_status status =
        prediction->first ? LATHE_OK : check_target(task->visit, task->sheet);
    return status == LATHE_OK ? sheet_add(task->sheet, prediction) : status;
}

static int write_sheet(struct visit *visit, struct sheet *sheet, struct error *err) {
    struct task task = {visit, sheet};
    lathe_status status = sheet_open(sheet);
    if (status == LATHE_OK) {
        int code = visit_open(visit, err);
        if (code) return code;
        status = lathe_predict(visit->session, visit->data, take, &task);
    }
    if (status == LATHE_OK) status = sheet_close(sheet);
    if (status >= 0) return 0;
    if (sheet->err.status == LATHE_OK) return visit_judge(visit, status, err);
    *err = sheet->err;
    return status == LATHE_EINVAL ? EXIT_USAGE : error_exit_code(status);
}

static int predict(struct visit *visit, struct sheet *sheet, struct error *err) {
    visited = &visit->session;
    catch_signals(catch);
    int code = write_sheet(visit, sheet, err);
    sheet_finish(sheet);
    catch_signals(SIG_DFL);
    if (caught) raise(caught);
    return code;
}

int command_predict(int argc, char **argv) {
    struct visit visit = {0};
    struct sheet sheet = SHEET_NONE;
    const struct flag flags[] = {{"-o", "FILE", .value = &sheet.path},
                                 {"--output", "NAME", .value = &sheet.output},
                                 VISIT_FLAGS(visit)};
    struct error err = {0};
    int code = visit_read(&visit, argc, argv, flags, &err);
    if (!code && !sheet.path) {
        fail(&err, LATHE_EINVAL, "predict needs a file to write");
        error_help(&err, "say -o FILE.csv, -o FILE.npy, or -o - for CSV on stdout");
        code = EXIT_USAGE;
    }
    if (!code) code = predict(&visit, &sheet, &err);
    if (code) command_print_error(&err);
    visit_close(&visit);
    return code;
}
