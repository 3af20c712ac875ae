/* SPDX-License-Identifier: MIT */
/* A session's parts to one another, file by file: how it is opened, what is composed,
 * how the loop turns, what it leaves behind, how it is saved and taken up again. The
 * pieces of the loop themselves are lathe/session.h. What fails says so in s->err,
 * unless a function has an `err` of its own. Not seen by anything else but services*.c,
 * which answer the plugins, plan.c, and check/, which puts plugins to the test. */
#ifndef HOST_SESSION_STATE_H
#define HOST_SESSION_STATE_H

#include "session_types.h"

/* ---- session.c ---- */

lathe_status session_open_workers(lathe_session *s);
/* Asked between the pieces of opening. LATHE_STOP: it is to end. */
lathe_status session_is_wanted(lathe_session *s);

/* ---- session_resume.c ---- */

/* Finds what a run goes on from, before anything is composed. */
lathe_status session_find_origin(lathe_session *s);
void session_forget_origin(lathe_session *s);
/* Says in the log what a run that is resumed goes on from, or that it is over. */
void session_tell_origin(lathe_session *s);
/* A note of s->origin, parsed; the caller's. LATHE_EDATA: there is none, or it is none
 * of ours. */
lathe_status session_read_note(lathe_session *s, const char *key, struct json **json);

/* ---- session_origin.c ---- */

lathe_status session_check_origin(lathe_session *s);
/* Reads the list of plugins that the checkpoint has. */
lathe_status session_read_saved(lathe_session *s);
/* What it has of a plugin of this kind and id; borrowed; NULL: nothing. */
const struct json *session_saved_plugin(const lathe_session *s, const struct use *use);
/* Was it of that name? */
bool session_is_state_of(const lathe_session *s, const struct plugin *plugin);
lathe_status session_check_state(lathe_session *s, const struct plugin *plugin,
                                 const void *bytes, int64_t count);
/* How much data there is: into "lathe.loop", and compared with it. */
struct json *session_list_data(const lathe_session *s);
lathe_status session_check_data(lathe_session *s, const struct json *loop);

/* ---- session_changes.c ---- */

/* Is what differs from the experiment before allowed to? */
lathe_status session_check_changes(lathe_session *s);

/* ---- session_over.c ---- */

#define UNTIL_PATH 48
/* Writes where the present stage's bound is, "train.until"; returns it. */
const char *session_until_path(const lathe_session *s, char path[UNTIL_PATH]);
/* Does a run that goes on train so what it is to be recorded as? `now`: the experiment;
 * `change`: what is allowed to change in it; NULL: nothing that makes a number. */
lathe_status session_check_over(lathe_session *s, const struct json *now,
                                const char *change);

/* ---- session_stage.c ---- */

/* The stage a checkpoint is of, before anything is composed. */
lathe_status session_find_stage(lathe_session *s);
/* Composes that stage, after each that follows it, so that what is wrong with one is
 * told before step 0. */
lathe_status session_compose_stages(lathe_session *s);

/* ---- session_compose.c ---- */

/* One stage: everything between reading the experiment and step 0. */
lathe_status session_compose(lathe_session *s);
void session_decompose(lathe_session *s);
/* The library and an instance, nested ones first; *plugin is for session_finish_plugin
 * either way. `label`: where it stands, "callbacks[1]". */
lathe_status session_open_plugin(lathe_session *s, const struct use *use,
                                 const char *label, struct plugin *plugin);
/* All plugins in the order of composition, without nested ones; the instances of the
 * model count as one. NULL past the last. */
struct plugin *session_plugin_at(lathe_session *s, int64_t i);
/* Takes back what plugins got while they were made: tallies, blocks, intervals. */
void session_free_services(lathe_session *s);
void session_quiet_blas(void *context, int worker); /* for workers_run */

/* ---- session_fields.c ---- */

/* Can this be a field, after the `count` that are there? For data and for outputs. */
lathe_status session_check_field(const lathe_field *fields, int64_t count,
                                 const lathe_field *field, struct error *err);
/* Copies what a plugin declared, of whatever size; false: out of memory. */
bool session_copy_field(const lathe_field *from, lathe_field *to);
void session_finish_field(lathe_field *field);
/* Of the same name, type and shape? */
bool session_is_same_field(const lathe_field *a, const lathe_field *b);
/* Validation and test are read into the same buffers, and judged by the same model:
 * the fields of `set` have to be those of `train`. Where only outputs are wanted the
 * last may be missing. */
lathe_status session_check_same_fields(const struct data_set *train,
                                       const struct data_set *set, bool is_for_outputs,
                                       struct error *err);

/* ---- session_data.c ---- */

lathe_status session_compose_data(lathe_session *s);
void session_decompose_data(lathe_session *s);
/* Opens a data set in the place of a split's. Where only outputs are wanted its last
 * fields, such as labels, may be missing. */
lathe_status session_open_data(lathe_session *s, enum split split,
                               const struct use *use, bool is_for_outputs);
/* Makes room for a micro-batch and its slices, once the model is there. */
lathe_status session_make_buffers(lathe_session *s);
void session_free_buffers(lathe_session *s);
/* Buffers of one micro-batch, as long as any is; the caller's, also on failure. */
lathe_status session_make_batch(lathe_session *s, lathe_tensor **tensors,
                                int64_t **indices);
void session_free_batch(const lathe_session *s, lathe_tensor *tensors,
                        int64_t *indices);

/* ---- session_model.c ---- */

lathe_status session_compose_model(lathe_session *s);
void session_decompose_model(lathe_session *s);

/* ---- session_start.c ---- */

/* Puts in the weights that the experiment begins from, where it names some. */
lathe_status session_start(lathe_session *s);

/* ---- session_train.c ---- */

/* LATHE_EINVAL where a piece of the loop is called out of its order. */
lathe_status session_allow(lathe_session *s, unsigned places, const char *function);

/* ---- session_read.c ---- */

/* Reads rows first … first+rows-1 of an order into the micro-batch and cuts the slices.
 * order NULL: as they come. */
lathe_status session_read(lathe_session *s, struct data_set *set,
                          const struct order *order, int64_t epoch, int64_t first,
                          int64_t rows);
/* The same of the micro-batch of a visit, each sample once, that begins at `first`. */
lathe_status session_read_visit(lathe_session *s, struct data_set *set, int64_t first);
/* Into how many slices so many rows are cut. */
int64_t session_slices(const lathe_session *s, int64_t rows);
/* The i-th slice of a micro-batch, and its tensors; returns its first row. */
int64_t session_cut(const lathe_session *s, const lathe_batch *whole, int64_t i,
                    lathe_batch *part, lathe_tensor *tensors);
/* Rows first … first+rows-1 of a tensor; one without data stays so. */
lathe_tensor session_rows(const lathe_tensor *whole, int64_t first, int64_t rows);

/* ---- session_ahead.c ---- */

/* From now on the next micro-batch is read while the present one is at work, where it
 * may be and pays. */
lathe_status session_open_ahead(lathe_session *s);
void session_close_ahead(lathe_session *s);
/* Why it may not; NULL: it may. */
const char *session_ahead_obstacle(const lathe_session *s);
/* Reads the present micro-batch, and has the next one read. */
lathe_status session_read_next(lathe_session *s);
/* If this one was read ahead, it is where session_read would have put it. */
bool session_take_ahead(lathe_session *s, int64_t epoch, int64_t first);
/* Waits; what was read is forgotten. */
void session_drop_ahead(lathe_session *s);

/* ---- session_pass.c ---- */

/* Runs every slice that has rows forward; sums over the tree are added to *sums and
 * metrics, and the moment shows their mean. */
lathe_status session_forward(lathe_session *s, uint32_t mode, const float *weights,
                             enum split split, struct sums *sums);
lathe_status session_backward(lathe_session *s);
/* The whole batch through the first instance, in LATHE_PREDICT. */
lathe_status session_predict(lathe_session *s, const lathe_batch *batch,
                             const lathe_tensor *outputs);

/* ---- session_update.c ---- */

/* The mean gradient of the window, in place of its sum; NULL outside
 * gradients_ready. */
float *session_take_gradients(lathe_session *s, uint32_t access);

/* ---- session_validate.c ---- */

lathe_status session_visit(lathe_session *s, enum split split);
/* The visit alone, without its record; LATHE_END: it was cut short. */
lathe_status session_visit_as(lathe_session *s, enum split split, const char *name);

/* ---- session_points.c ---- */

lathe_status session_list_points(lathe_session *s);
/* Calls the subscribers of a point in order, up to the first that fails. */
lathe_status session_fire(lathe_session *s, enum point point);
lathe_status session_fire_end(lathe_session *s); /* run_end */
const char *session_point_name(enum point point);
/* Adds when to an error of a plugin, and returns its status. */
lathe_status session_plugin_failed(lathe_session *s, struct plugin *plugin,
                                   lathe_status status, const char *function);

/* ---- session_when.c ---- */

/* How far the stage is, for the schedule. */
lathe_progress session_progress(const lathe_session *s);
int64_t session_steps(const lathe_session *s, const struct duration *duration);
double session_seconds(const lathe_session *s);  /* of the run, in all processes */
int64_t session_windows(const lathe_session *s); /* gone through in all stages */
/* Sets now.steps_total by the stage's `until`. */
void session_set_horizon(lathe_session *s);
bool session_is_complete(const lathe_session *s); /* the stage's `until` is met */
bool session_is_stopped(lathe_session *s);        /* a stop was asked for */
bool session_is_over(lathe_session *s);           /* either */
/* Round each window; at its end the intervals that came round in it are due. */
void session_begin_window(lathe_session *s);
void session_end_window(lathe_session *s);

/* ---- session_records.c ---- */

#define METRICS_FILE "metrics.jsonl"
#define TIMES_FILE "timing.jsonl"
lathe_status session_begin_records(lathe_session *s);
lathe_status session_record(lathe_session *s, enum split split);
/* The record of a visit, told and not written. */
lathe_status session_tell_visit(lathe_session *s, enum split split, const char *name);
lathe_status session_end_records(lathe_session *s, lathe_status status);
lathe_status session_judge(lathe_session *s); /* expect */

/* ---- session_environment.c ---- */

/* Notes which libraries the present stage has open, and what its plugins say of how
 * they work. */
lathe_status session_note_plugins(lathe_session *s);
lathe_status session_begin_environment(lathe_session *s);

/* ---- session_kept.c ---- */

#define RECORDS_DIGEST "records" /* member of NOTE_LOOP: of what is in metrics.jsonl */
/* A line, and its end, is in metrics.jsonl now. */
void session_count_record(lathe_session *s, const struct text *line);
/* Of what belongs to the place of rest; {file: length}; the caller's. */
struct json *session_list_records(const lathe_session *s);
void session_records_digest(const lathe_session *s, char hex[DIGEST_HEX]);
/* Opens the newest checkpoint of the run that goes on whose records are still there. */
lathe_status session_find_checkpoint(lathe_session *s);

/* ---- session_rest.c ---- */

lathe_status session_list_states(lathe_session *s);
void session_free_states(lathe_session *s);
/* Notes the present place, to come back to: REST_BACK or REST_VISIT. */
lathe_status session_mark(lathe_session *s, enum rest kind);
/* Back to the place of rest. False: there is none that can be saved. */
bool session_fall_back(lathe_session *s);
/* Saves the state of those plugins that did not save it at the mark. */
lathe_status session_save_states(lathe_session *s);

/* ---- session_save.c ---- */

/* All that is saved, written into an empty file. */
lathe_status session_write_all(lathe_session *s, int fd);
/* Saves the place of rest, at the end of a run, and waits until it is written. */
lathe_status session_save_last(lathe_session *s);
void session_free_snapshot(lathe_session *s);
/* The name that a plugin's state has in a checkpoint; the caller's. */
char *session_state_name(const struct plugin *plugin);
#define SLOT_PREFIX "lathe/slot/"
#define BLOCK_PREFIX "lathe/block/"

/* ---- session_blocks.c ---- */

/* Block 0 is the weights; then come slots, then blocks of plugins. */
int64_t session_count_blocks(const lathe_session *s);
float *session_block(const lathe_session *s, int64_t block);
/* Has the parameter a place in it? What is not trained has no slots. */
bool session_block_has(const lathe_session *s, int64_t block,
                       const struct parameter *parameter);
/* Of its tensor in a checkpoint; the caller's. */
char *session_block_name(const lathe_session *s, int64_t block, const char *parameter);

/* ---- session_loop_state.c ---- */

/* Where the run is, as JSON; the caller's; NULL: out of memory. */
struct json *session_write_loop(const lathe_session *s);
lathe_status session_read_loop(lathe_session *s, const struct json *loop);
/* Cuts the run's records back to how long they were; NULL: to nothing. */
lathe_status session_cut_files(lathe_session *s, const struct json *loop);

/* ---- session_restore.c ---- */

/* Puts s->origin into what was composed. With is_next_stage, slots and the state of
 * data, optimizer and schedule stay new, but for slots that are to be kept. */
lathe_status session_restore(lathe_session *s, bool is_next_stage);

/* ---- services.c ---- */

#define LATHE_QUIET_EXTENSION "lathe.quiet/1"
void services_fill(lathe_host *host);
void services_close_streams(lathe_session *s);
/* The key of (seed, stage, purpose, epoch, kind and id). */
lathe_key session_key(const lathe_session *s, const struct use *use, uint32_t purpose,
                      int64_t epoch);
#define PURPOSE_MODEL 0u
#define PURPOSE_ORDER 1u
#define PURPOSE_INIT 2u

#endif
