/* SPDX-License-Identifier: MIT */
#include "plan.h"

#include <sys/stat.h>

#include "base/file.h"
#include "plan_parts.h"

static struct json *name_kernels(const lathe_session *s) {
    char blas[128] = "";
    for (int64_t i = 0; i < s->library_count && !blas[0]; i++)
        library_blas_name(&s->libraries[i], blas, sizeof blas);
    return json_make_text(blas[0] ? blas : NULL);
}

struct json *plan_describe(lathe_session *s) {
    const int64_t stages = (int64_t)s->experiments->stage_count + 1;
    return JSON_MAP_OF(
        {"name", json_make_text(s->experiment->name)},
        {"seed", json_make_whole((int64_t)s->experiment->seed)},
        {"stage", json_make_whole(s->now.stage)}, {"stages", json_make_whole(stages)},
        {"plugins", plan_plugins(s)}, {"values", plan_values(s)},
        {"data", plan_data(s)}, {"loop", plan_loop(s)}, {"slices", plan_slices(s)},
        {"prefetch", plan_prefetch(s)}, {"rate", plan_rate(s)},
        {"parameters", plan_parameters(s)}, {"memory", plan_memory(s)},
        {"checkpoint", json_make_whole(plan_checkpoint_bytes(s))},
        {"threads", json_make_whole(workers_count(s->workers))},
        {"cores", json_make_whole(workers_cores())}, {"kernels", name_kernels(s)});
}

lathe_status plan_turn(lathe_session *s, const struct duration *length,
                       struct error *err) {
    if (length && length->unit == DURATION_SECONDS) {
        fail(err, LATHE_EINVAL, "how many calls a time allows cannot be known");
        error_help(err, "count them in 20step, 4096sample or 1ep");
        return LATHE_EINVAL;
    }
    s->heed |= HEED_DRY;
    s->dry_end = length ? session_steps(s, length) : 0;
    lathe_status status = lathe_run(s);
    if (status != LATHE_OK && err) *err = s->err;
    return status;
}

void plan_hide_directory(lathe_session *s) {
    s->hides_directory = true;
}

bool plan_reads(const lathe_session *s, const char *path) {
    struct stat info, data;
    const char *file;
    if (stat(path, &info)) return false;
    for (size_t i = 0; (file = files_path(s->files, i)); i++)
        if (!stat(file, &data) && file_is_same(&data, &info)) return true;
    return false;
}

const struct ring *plan_ring(const lathe_session *s) {
    return s->ring;
}
