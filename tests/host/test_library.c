/* SPDX-License-Identifier: MIT */
/* What the host asks of a plugin's tables, tried on every size that they could have. */
#include <stdlib.h>
#include <string.h>

#include <lathe/callback.h>
#include <lathe/dataset.h>
#include <lathe/model.h>
#include <lathe/optimizer.h>
#include <lathe/schedule.h>

#include "plugin.h"
#include "support/test.h"

#define MORE 64 /* bytes of a header that is newer than ours */

struct kind {
    uint32_t kind, least, size;
};

static const struct kind kinds[] = {
    {LATHE_KIND_DATASET, LATHE_DATASET_OPS_SIZE_1_0, sizeof(lathe_dataset_ops)},
    {LATHE_KIND_MODEL, LATHE_MODEL_OPS_SIZE_1_0, sizeof(lathe_model_ops)},
    {LATHE_KIND_OPTIMIZER, LATHE_OPTIMIZER_OPS_SIZE_1_0, sizeof(lathe_optimizer_ops)},
    {LATHE_KIND_SCHEDULE, LATHE_SCHEDULE_OPS_SIZE_1_0, sizeof(lathe_schedule_ops)},
    {LATHE_KIND_CALLBACK, LATHE_CALLBACK_OPS_SIZE_1_0, sizeof(lathe_callback_ops)},
};

static void nothing(void) {}

/* A table of so many bytes, exactly, so that a look beyond them is seen; the functions
 * in it are there. */
static void *make_ops(uint32_t size) {
    unsigned char *ops = calloc(1, size);
    void (*function)(void) = nothing;
    for (uint32_t at = 8; at + sizeof function <= size; at += sizeof function)
        memcpy(ops + at, &function, sizeof function);
    memcpy(ops, &size, sizeof size);
    return ops;
}

static lathe_status open_with(const lathe_plugin *entry, struct error *err) {
    const struct manifest manifest = {.kind = entry->kind,
                                      .name = "it",
                                      .library = "",
                                      .library_path = (char[]){""},
                                      .linked = entry};
    struct loading loading = {.log = NULL};
    struct library library;
    lathe_status status = library_open(&manifest, &loading, &library, err);
    library_close(&library);
    return status;
}

static void tables_of_less_than_1_0_are_refused_and_no_others(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (uint32_t size = 8; size <= kinds[i].size + MORE; size++) {
            struct error err = {0};
            void *ops = make_ops(size);
            const lathe_plugin entry = {
                .size = sizeof entry, .kind = kinds[i].kind, .ops = ops};
            lathe_status status = open_with(&entry, &err);
            if ((status == LATHE_OK) != (size >= kinds[i].least))
                fail_msg("kind %u, %u bytes of %u: %s", kinds[i].kind, size,
                         kinds[i].least, err.what);
            if (status != LATHE_OK) assert_non_null(strstr(err.what, "of ABI 1.0"));
            free(ops);
        }
}

static void entries_of_less_than_1_0_are_refused_and_no_others(void **state) {
    (void)state;
    void *ops = make_ops(LATHE_CALLBACK_OPS_SIZE_1_0);
    for (uint32_t size = 0; size <= sizeof(lathe_plugin) + MORE; size++) {
        struct error err = {0};
        const lathe_plugin entry = {
            .size = size, .kind = LATHE_KIND_CALLBACK, .ops = ops};
        lathe_status status = open_with(&entry, &err);
        assert_int_equal(status,
                         size < LATHE_PLUGIN_SIZE_1_0 ? LATHE_EMISSING : LATHE_OK);
    }
    free(ops);
}

/* What it was built with never refuses; what it needs does. */
static void only_what_is_needed_refuses(void **state) {
    (void)state;
    void *ops = make_ops(LATHE_CALLBACK_OPS_SIZE_1_0);
    lathe_plugin entry = {.size = sizeof entry,
                          .kind = LATHE_KIND_CALLBACK,
                          .built = LATHE_ABI_MINOR + 7,
                          .needs = LATHE_ABI_MINOR,
                          .ops = ops};
    struct error err = {0};
    assert_int_equal(open_with(&entry, &err), LATHE_OK);
    entry.needs = LATHE_ABI_MINOR + 1;
    assert_int_equal(open_with(&entry, &err), LATHE_EMISSING);
    assert_non_null(strstr(err.what, "it needs ABI 1."));
    assert_non_null(strstr(err.what, "and this host has 1."));
    free(ops);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_of_less_than_1_0_are_refused_and_no_others),
        cmocka_unit_test(entries_of_less_than_1_0_are_refused_and_no_others),
        cmocka_unit_test(only_what_is_needed_refuses),
    };
    return cmocka_run_group_tests_name("library", tests, NULL, NULL);
}
