/* SPDX-License-Identifier: MIT */
/* Where a test puts instances of a plugin to work by hand: a session with data, metrics
 * and services, in which nothing but the data was composed. What is made is made by the
 * host's own code, so options, nested plugins and files are as in a run.
 *
 * Several may be open at once, each used by one thread. */
#ifndef HOST_CHECK_FIXTURE_H
#define HOST_CHECK_FIXTURE_H

#include "check/subject.h"
#include "session_state.h"

struct fixture {
    struct check *check;
    lathe_session *session;
    const struct use *use;  /* the subject's in the experiment */
    struct text complaints; /* of the guard: what was changed in the process */
    int variation;          /* other inputs, for other instances */
    /* Called between two calls that belong together; NULL: nothing comes between. */
    void (*meanwhile)(struct fixture *);
    void *context;
    /* Where a plugin that fails with a reason does well: the reason; else NULL. */
    struct error *refusal;
    uint64_t options_read; /* a bit for each of the manifest's that it asked for */
};
/* Notes what options are asked for; at the host's table before anybody is given it. */
void fixture_watch_options(struct fixture *fixture);
/* Is it no fault of the plugin's: something is wrong, and it says what? */
bool fixture_is_refusal(const struct error *err);

/* Fails the check when the data cannot be opened, unless `err` is given: then that is
 * told there. */
bool fixture_open(struct fixture *fixture, struct check *check,
                  const struct setup *setup, struct error *err);
void fixture_close(struct fixture *fixture);
/* Another instance of the subject. As above; it is for fixture_destroy either way. */
bool fixture_create(struct fixture *fixture, struct plugin *plugin, struct error *err);
void fixture_destroy(struct fixture *fixture, struct plugin *plugin);
/* Did the call go well? Else fails the check with what the plugin said. */
bool fixture_went_well(struct fixture *fixture, struct plugin *plugin,
                       lathe_status status, const char *function);
void fixture_pause(struct fixture *fixture);
/* Of so many rows of a field. */
size_t fixture_bytes(const lathe_field *field, int64_t rows);
/* Room for so many rows of a field, and `spare` bytes behind them; data is the
 * caller's to free, NULL: out of memory. *bytes: those of the rows. */
lathe_tensor fixture_tensor(const lathe_field *field, int64_t rows, size_t spare,
                            size_t *bytes);

/* What every kind has: an instance made, put to work, what came out written as lines of
 * text. The same options, seed and variation give the same lines. */
typedef bool fixture_work(struct fixture *fixture, struct text *lines);
fixture_work *fixture_work_of(uint32_t kind);
/* Opens a fixture, works, closes it. */
bool fixture_work_once(struct check *check, const struct setup *setup, int variation,
                       struct text *lines);
/* "name[3] 0x1.8p+1" for each; from 2048 on a digest of what is left. */
void fixture_write(struct text *lines, const char *name, const float *numbers,
                   int64_t count);
void fixture_write_number(struct text *lines, const char *name, double number);
void fixture_write_bytes(struct text *lines, const char *name, const void *bytes,
                         int64_t count);

fixture_work model_work, optimizer_work, dataset_work, schedule_work, callback_work;

#endif
