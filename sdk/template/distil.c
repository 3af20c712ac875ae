/* SPDX-License-Identifier: MIT */
/* A loop that `lathe run` cannot be: distillation. A teacher is trained on the labels;
 * then a student, on the same points, never sees a label: each of its micro-batches is
 * given what the teacher says of it. So train/loss of the student is how far it is from
 * the teacher, and validation/loss, as ever, how far from the labels. */

#include <lathe/draft/feed.h>
#include <stdio.h>

static lathe_status teach(lathe_session *teacher, lathe_session *student) {
    lathe_tensor input, label;
    lathe_status e = lathe_batch_field(student, "input", &input);
    if (!e) e = lathe_batch_field(student, "label", &label);
    return e ? e : lathe_predict_rows(teacher, "input", &input, "output", &label);
}

static lathe_status step(lathe_session *teacher, lathe_session *s) {
    lathe_status e;
    while ((e = lathe_batch_begin(s)) == LATHE_OK) {
        if ((e = teach(teacher, s))) return e;
        if ((e = lathe_forward(s)) || (e = lathe_backward(s))) return e;
    }
    if (e != LATHE_END) return e;
    if ((e = lathe_reduce(s)) || (e = lathe_update(s))) return e;
    if (lathe_is_due(s, LATHE_DUE_VALIDATION) && (e = lathe_validate(s))) return e;
    return lathe_is_due(s, LATHE_DUE_EPOCH_END) ? lathe_epoch_end(s) : LATHE_OK;
}

static lathe_status distil(lathe_session *teacher, lathe_session *s) {
    lathe_status e = lathe_run_begin(s);
    while (!e && (e = lathe_epoch_begin(s)) == LATHE_OK) {
        while ((e = lathe_step_begin(s)) == LATHE_OK)
            if ((e = step(teacher, s))) return e;
        if (e == LATHE_END) e = LATHE_OK; /* no more steps in this epoch */
    }
    return e;
}

static void print(void *context, const char *json) {
    printf("%s %s\n", (const char *)context, json);
}

static lathe_session *open_session(const char *experiment, char *who) {
    const lathe_session_options options = {.size = sizeof options,
                                           .flags = LATHE_QUIET,
                                           .experiment = experiment,
                                           .record = print,
                                           .context = who};
    lathe_error error = {.size = sizeof error};
    lathe_session *session;
    if (lathe_open(&options, &session, &error))
        fprintf(stderr, "%s\n%s\n%s\n", error.what, error.where, error.help);
    return session;
}

int main(int count, char **words) { /* distil TEACHER STUDENT */
    if (count != 3) return 64;
    char names[2][8] = {"teacher", "student"};
    lathe_session *teacher = open_session(words[1], names[0]);
    lathe_session *student = teacher ? open_session(words[2], names[1]) : NULL;
    lathe_status e = student ? lathe_run(teacher) : LATHE_EINVAL;
    if (!e) e = lathe_run_end(student, distil(teacher, student));
    if (e && student)
        fprintf(stderr, "teacher: %s\nstudent: %s\n", lathe_last_error(teacher)->what,
                lathe_last_error(student)->what);
    lathe_close(student);
    lathe_close(teacher);
    return e != LATHE_OK;
}
