/* SPDX-License-Identifier: MIT */
/* Datasets: a sample is a function of its index, and of position and epoch where it is
 * drawn: never of what was read before, beside it, or by whom. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "check/fixture.h"
#include "check/process.h"
#include "check/tests.h"

#define FIELDS_MAX 64
#define ROWS 96  /* read at once, at most */
#define GUARD 64 /* bytes behind a field's rows, which are nobody's */
#define THREADS 3
#define SECONDS 0.6 /* of processor time, in which they read */
#define MARK 0xA5   /* what is there */
enum { PURPOSE_ORDER_OF_READS = 500 };

struct reader {
    struct fixture *fixture;
    struct plugin plugin;
    const lathe_dataset_ops *ops;
    const struct data_set *set; /* what it looks like */
    int64_t rows;
    int64_t indices[ROWS];     /* what stands at positions 0 … rows-1 */
    size_t widths[FIELDS_MAX]; /* bytes of a row */
};

/* Room for rows of all fields. */
struct room {
    const struct reader *reader;
    lathe_tensor tensors[FIELDS_MAX];
    int64_t rows;
};

static void close_room(struct room *room) {
    for (int64_t i = 0; i < room->reader->set->field_count; i++)
        free(room->tensors[i].data);
}

static bool open_room(struct room *room, const struct reader *reader, int64_t rows,
                      int mark) {
    *room = (struct room){.reader = reader, .rows = rows};
    for (int64_t i = 0; i < reader->set->field_count; i++) {
        lathe_tensor *tensor = &room->tensors[i];
        size_t bytes;
        *tensor = fixture_tensor(&reader->set->fields[i], rows, GUARD, &bytes);
        if (!tensor->data) return check_fail(reader->fixture->check, "out of memory");
        memset(tensor->data, mark, bytes);
        memset((char *)tensor->data + bytes, MARK, GUARD);
    }
    return true;
}

static bool is_guarded(const struct room *room) {
    for (int64_t i = 0; i < room->reader->set->field_count; i++) {
        const unsigned char *end = (const unsigned char *)room->tensors[i].data +
                                   (size_t)room->rows * room->reader->widths[i];
        for (int j = 0; j < GUARD; j++)
            if (end[j] != MARK)
                return check_fail(room->reader->fixture->check,
                                  "read wrote behind the %lld rows of \"%s\"",
                                  (long long)room->rows,
                                  room->reader->set->fields[i].name);
    }
    return true;
}

/* Positions first … first+rows-1 into the same rows of the room. */
static lathe_status read_into(const struct reader *reader, struct room *room,
                              int64_t first, int64_t rows) {
    lathe_tensor part[FIELDS_MAX];
    for (int64_t i = 0; i < reader->set->field_count; i++)
        part[i] = session_rows(&room->tensors[i], first, rows);
    const lathe_batch batch = {.size = sizeof batch,
                               .field_count = (uint32_t)reader->set->field_count,
                               .rows = rows,
                               .epoch = 2,
                               .position = first,
                               .fields = part};
    return reader->ops->read(reader->plugin.self, reader->indices + first, &batch);
}

static bool read_well(struct reader *reader, struct room *room, int64_t first,
                      int64_t rows) {
    check_doing(reader->fixture->check, "read of %lld rows, sample %lld first",
                (long long)rows, (long long)reader->indices[first]);
    lathe_status status = read_into(reader, room, first, rows);
    return fixture_went_well(reader->fixture, &reader->plugin, status, "read");
}

/* ---- describe ---- */

struct listener {
    const struct reader *reader;
    int64_t fields, samples;
    bool is_same;
};

static lathe_status hear_field(const lathe_data_plan *plan, const lathe_field *field) {
    struct listener *listener = plan->context;
    const struct data_set *set = listener->reader->set;
    const lathe_field *known =
        listener->fields < set->field_count ? &set->fields[listener->fields] : NULL;
    listener->fields++;
    listener->is_same =
        listener->is_same && known && !strcmp(known->name, field->name) &&
        known->code == field->code && known->bits == field->bits &&
        known->rank == field->rank && known->classes == field->classes &&
        !memcmp(known->shape, field->shape, field->rank * sizeof *field->shape);
    return LATHE_OK;
}

static void hear_samples(const lathe_data_plan *plan, int64_t count) {
    ((struct listener *)plan->context)->samples = count;
}

static bool describe_again(struct reader *reader) {
    for (int time = 0; time < 2; time++) {
        struct listener listener = {.reader = reader, .samples = -1, .is_same = true};
        const lathe_data_plan plan = {.size = sizeof plan,
                                      .context = &listener,
                                      .field = hear_field,
                                      .samples = hear_samples};
        check_doing(reader->fixture->check, "describe");
        lathe_status status = reader->ops->describe(reader->plugin.self, &plan);
        if (!fixture_went_well(reader->fixture, &reader->plugin, status, "describe"))
            return false;
        if (!listener.is_same || listener.fields != reader->set->field_count ||
            listener.samples != reader->set->samples)
            return check_fail(reader->fixture->check,
                              "describe says another thing on another instance, or the "
                              "second time");
    }
    return true;
}

/* ---- reading ---- */

static bool open_reader(struct reader *reader, struct fixture *fixture) {
    const struct data_set *set = &fixture->session->data[SPLIT_TRAIN];
    *reader = (struct reader){.fixture = fixture, .set = set};
    if (set->field_count > FIELDS_MAX)
        return check_skip(fixture->check, "it has more than %d fields", FIELDS_MAX);
    if (!fixture_create(fixture, &reader->plugin, NULL)) return false;
    reader->ops = reader->plugin.ops;
    if (!describe_again(reader)) return false;
    for (int64_t i = 0; i < set->field_count; i++) {
        reader->widths[i] = set->fields[i].bits / 8;
        for (uint32_t j = 0; j < set->fields[i].rank; j++)
            reader->widths[i] *= (size_t)set->fields[i].shape[j];
    }
    /* The first, the last, some between, some of them twice. */
    reader->rows = set->samples + 2 < ROWS ? set->samples + 2 : ROWS;
    for (int64_t i = 0; i < reader->rows; i++)
        reader->indices[i] =
            i % 3 ? check_draw(fixture->check, PURPOSE_ORDER_OF_READS, (uint64_t)i) %
                        set->samples
                  : (i / 3 + fixture->variation) % set->samples;
    reader->indices[0] = set->samples - 1;
    reader->indices[reader->rows - 1] = 0;
    return true;
}

/* The first row in which two rooms differ; -1: none. */
static int64_t differing(const struct room *a, const struct room *b, int64_t *field) {
    for (*field = 0; *field < a->reader->set->field_count; (*field)++) {
        const size_t width = a->reader->widths[*field];
        const char *x = a->tensors[*field].data, *y = b->tensors[*field].data;
        for (int64_t row = 0; row < a->rows; row++)
            if (memcmp(x + (size_t)row * width, y + (size_t)row * width, width) != 0)
                return row;
    }
    return -1;
}

static bool same(const struct room *expected, const struct room *found,
                 const char *when) {
    int64_t field;
    const int64_t row = differing(expected, found, &field);
    if (row < 0) return is_guarded(found);
    const struct reader *reader = expected->reader;
    return check_fail(reader->fixture->check,
                      "%s, sample %lld at position %lld has another \"%s\": it is to "
                      "depend on index, position and epoch alone",
                      when, (long long)reader->indices[row], (long long)row,
                      reader->set->fields[field].name);
}

bool dataset_work(struct fixture *fixture, struct text *lines) {
    struct reader reader;
    struct room room;
    bool is_well = open_reader(&reader, fixture);
    if (is_well) {
        is_well = open_room(&room, &reader, reader.rows, 0);
        for (int64_t at = 0; is_well && at < reader.rows; at += 8) {
            is_well = read_well(&reader, &room, at,
                                reader.rows - at < 8 ? reader.rows - at : 8);
            fixture_pause(fixture);
        }
        for (int64_t i = 0; is_well && i < reader.set->field_count; i++)
            for (int64_t row = 0; row < reader.rows; row++) {
                text_format(lines, "sample %lld, ", (long long)reader.indices[row]);
                fixture_write_bytes(lines, reader.set->fields[i].name,
                                    (char *)room.tensors[i].data +
                                        (size_t)row * reader.widths[i],
                                    (int64_t)reader.widths[i]);
            }
        close_room(&room);
    }
    fixture_destroy(fixture, &reader.plugin);
    return is_well;
}

/* ---- the tests ---- */

/* Opens a reader and what it reads when it reads all at once. */
static void each(struct check *check, bool (*test)(struct reader *, struct room *)) {
    struct fixture fixture;
    struct reader reader;
    struct room whole;
    if (!fixture_open(&fixture, check, NULL, NULL)) return;
    if (open_reader(&reader, &fixture)) {
        if (open_room(&whole, &reader, reader.rows, 0) &&
            read_well(&reader, &whole, 0, reader.rows) && is_guarded(&whole))
            test(&reader, &whole);
        close_room(&whole);
    }
    fixture_destroy(&fixture, &reader.plugin);
    fixture_close(&fixture);
}

static bool in_groups(struct reader *reader, struct room *whole, int64_t group,
                      bool is_backwards, const char *when) {
    struct room room;
    bool is_well = open_room(&room, reader, reader->rows, 0xff);
    const int64_t groups = (reader->rows + group - 1) / group;
    for (int64_t i = 0; is_well && i < groups; i++) {
        const int64_t first = (is_backwards ? groups - 1 - i : i) * group;
        const int64_t left = reader->rows - first;
        is_well = read_well(reader, &room, first, left < group ? left : group);
    }
    is_well = is_well && same(whole, &room, when);
    close_room(&room);
    return is_well;
}

static bool own_order(struct reader *reader) {
    int64_t whole[ROWS], part[ROWS];
    const lathe_dataset_ops *ops = reader->ops;
    const int64_t samples = reader->set->samples, n = samples < ROWS ? samples : ROWS;
    if (!LATHE_COVERS(ops, lathe_dataset_ops, order) || !ops->order) return true;
    check_doing(reader->fixture->check, "order");
    lathe_status status = ops->order(reader->plugin.self, 1, 0, n, whole);
    for (int64_t i = 0; status == LATHE_OK && i < n; i++)
        status = ops->order(reader->plugin.self, 1, n - 1 - i, 1, &part[n - 1 - i]);
    if (!fixture_went_well(reader->fixture, &reader->plugin, status, "order"))
        return false;
    for (int64_t i = 0; i < n; i++) {
        if (whole[i] < 0 || whole[i] >= samples)
            return check_fail(reader->fixture->check,
                              "order gives %lld of %lld samples", (long long)whole[i],
                              (long long)samples);
        if (whole[i] != part[i])
            return check_fail(reader->fixture->check,
                              "order gives %lld at position %lld, and %lld when it is "
                              "asked for that alone",
                              (long long)whole[i], (long long)i, (long long)part[i]);
    }
    return true;
}

static bool in_any_order(struct reader *reader, struct room *whole) {
    return in_groups(reader, whole, 1, false, "read alone") &&
           in_groups(reader, whole, 1, true, "read alone, the last one first") &&
           in_groups(reader, whole, 7, true, "read by seven, the last ones first") &&
           in_groups(reader, whole, reader->rows, false, "read again") &&
           own_order(reader);
}

void test_dataset_order(struct check *check) {
    each(check, in_any_order);
}

struct thread {
    struct reader *reader;
    const struct room *whole;
    struct room room;
    int number;
    double end; /* process_seconds */
    lathe_status status;
    int64_t differs; /* the first row that does; -1 */
};

/* Row by row: is what was just read what stands there in `whole`? */
static bool is_right(const struct thread *thread, int64_t first, int64_t rows) {
    const struct reader *reader = thread->reader;
    for (int64_t i = 0; i < reader->set->field_count; i++) {
        const size_t width = reader->widths[i], at = (size_t)first * width;
        if (memcmp((const char *)thread->whole->tensors[i].data + at,
                   (const char *)thread->room.tensors[i].data + at,
                   (size_t)rows * width) != 0)
            return false;
    }
    return true;
}

static void *read_on_a_thread(void *context) {
    struct thread *thread = context;
    const int64_t rows = thread->reader->rows;
    process_keep_to(thread->number);
    while (process_seconds() < thread->end)
        for (int64_t i = 0; i < rows; i += 3) {
            const int64_t first = (i + 5 * thread->number) % rows;
            const int64_t count = rows - first < 3 ? rows - first : 3;
            thread->status = read_into(thread->reader, &thread->room, first, count);
            if (thread->status != LATHE_OK) return NULL;
            if (is_right(thread, first, count)) continue;
            thread->differs = first;
            return NULL;
        }
    return NULL;
}

static bool judge_thread(const struct thread *thread) {
    struct reader *reader = thread->reader;
    if (!fixture_went_well(reader->fixture, &reader->plugin, thread->status, "read"))
        return false;
    if (thread->differs < 0) return is_guarded(&thread->room);
    return check_fail(reader->fixture->check,
                      "read by %d threads at once, sample %lld or one beside it is "
                      "another one: `read` is [any], so nothing may be kept in the "
                      "instance meanwhile",
                      THREADS, (long long)reader->indices[thread->differs]);
}

static bool on_threads(struct reader *reader, struct room *whole) {
    struct thread threads[THREADS];
    pthread_t handles[THREADS];
    bool is_well = true;
    int count = 0;
    for (int i = 0; i < THREADS; i++) {
        threads[i] = (struct thread){.reader = reader,
                                     .whole = whole,
                                     .number = i,
                                     .end = process_seconds() + SECONDS,
                                     .differs = -1};
        is_well = open_room(&threads[i].room, reader, reader->rows, 0) && is_well;
    }
    check_doing(reader->fixture->check, "read on %d threads at once", THREADS);
    while (is_well && count < THREADS &&
           !pthread_create(&handles[count], NULL, read_on_a_thread, &threads[count]))
        count++;
    for (int i = 0; i < count; i++) pthread_join(handles[i], NULL);
    for (int i = 0; is_well && i < count; i++) is_well = judge_thread(&threads[i]);
    for (int i = 0; i < THREADS; i++) close_room(&threads[i].room);
    return is_well;
}

void test_dataset_threads(struct check *check) {
    each(check, on_threads);
}

/* Every byte of a row is written: what was in the buffer before must not show. */
static bool at_edges(struct reader *reader, struct room *whole) {
    const int64_t samples = reader->set->samples;
    const int64_t edges[] = {0, samples - 1, 0, 0, samples - 1, samples - 1};
    if (!in_groups(reader, whole, reader->rows, false, "read into a used buffer"))
        return false;
    struct room room;
    for (int64_t i = 0; i < reader->rows; i++) reader->indices[i] = edges[i % 6];
    bool is_well = open_room(&room, reader, reader->rows, 0) &&
                   read_well(reader, &room, 0, reader->rows) && is_guarded(&room) &&
                   in_groups(reader, &room, 1, true, "the first or last one alone");
    close_room(&room);
    return is_well;
}

void test_dataset_edges(struct check *check) {
    each(check, at_edges);
}
