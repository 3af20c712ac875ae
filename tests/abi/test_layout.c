/* SPDX-License-Identifier: MIT */
/* The headers against the frozen table layout.def: nothing that was promised has
 * moved. */
#include "support/test.h"

#include <string.h>

#include <lathe/session.h>

#include <lathe/dataset.h>
#include <lathe/model.h>
#include <lathe/optimizer.h>
#include <lathe/schedule.h>

struct field {
    const char *type, *name;
    size_t frozen_offset, frozen_size, offset, size;
};

static const struct field fields[] = {
#define STRUCT(type, bytes)
#define FIELD(type, name, at, bytes)                                                   \
    {#type, #name, at, bytes, offsetof(type, name), sizeof(((type *)0)->name)},
#define CONSTANT(name, value)
#include "layout.def"
#undef STRUCT
#undef FIELD
};

struct record {
    const char *type;
    size_t frozen_size, size;
};

static const struct record records[] = {
#define STRUCT(type, bytes) {#type, bytes, sizeof(type)},
#define FIELD(type, name, at, bytes)
#include "layout.def"
#undef STRUCT
#undef FIELD
#undef CONSTANT
};

struct constant {
    const char *name;
    int64_t frozen, value;
};

static const struct constant constants[] = {
#define STRUCT(type, bytes)
#define FIELD(type, name, at, bytes)
#define CONSTANT(name, value) {#name, value, name},
#include "layout.def"
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static void test_no_field_moved(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(fields); i++) {
        const struct field *f = &fields[i];
        if (f->offset == f->frozen_offset && f->size == f->frozen_size) continue;
        fail_msg("%s.%s is %zu bytes at %zu; frozen: %zu at %zu", f->type, f->name,
                 f->size, f->offset, f->frozen_size, f->frozen_offset);
    }
}

/* No gap between fields and none at the end: the table leaves out no field, and no
 * struct has padding. */
static void test_fields_tile_their_structs(void **state) {
    (void)state;
    for (size_t r = 0; r < COUNT(records); r++) {
        size_t end = 0;
        for (size_t i = 0; i < COUNT(fields); i++) {
            if (strcmp(fields[i].type, records[r].type) != 0) continue;
            if (fields[i].offset != end)
                fail_msg("%s: something lies before %s that layout.def does not name",
                         records[r].type, fields[i].name);
            end = fields[i].offset + fields[i].size;
        }
        if (end != records[r].size)
            fail_msg("%s: %zu bytes after the last field of layout.def",
                     records[r].type, records[r].size - end);
    }
}

static void test_structs_only_grow(void **state) {
    (void)state;
    for (size_t r = 0; r < COUNT(records); r++) {
        assert_true(records[r].size >= records[r].frozen_size);
        assert_int_equal(records[r].size % 8, 0);
    }
}

/* All but the two that are frozen for ever start with `uint32_t size`. */
static void test_structs_start_with_their_size(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(fields); i++) {
        const struct field *f = &fields[i];
        if (f->offset != 0) continue;
        if (strcmp(f->type, "lathe_tensor") == 0 || strcmp(f->type, "lathe_key") == 0)
            continue;
        assert_string_equal(f->name, "size");
        assert_int_equal(f->size, 4);
    }
    assert_int_equal(sizeof(lathe_tensor), 64);
    assert_int_equal(sizeof(lathe_key), 8);
}

static void test_no_constant_changed(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(constants); i++)
        if (constants[i].value != constants[i].frozen)
            fail_msg("%s is %lld; frozen: %lld", constants[i].name,
                     (long long)constants[i].value, (long long)constants[i].frozen);
}

static void test_covers_is_exact_to_the_byte(void **state) {
    (void)state;
    lathe_moment moment = {.size = offsetof(lathe_moment, rate)};
    assert_false(LATHE_COVERS(&moment, lathe_moment, rate));
    moment.size += 7;
    assert_false(LATHE_COVERS(&moment, lathe_moment, rate));
    moment.size += 1;
    assert_true(LATHE_COVERS(&moment, lathe_moment, rate));
    assert_false(LATHE_COVERS(&moment, lathe_moment, split));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_field_moved),
        cmocka_unit_test(test_fields_tile_their_structs),
        cmocka_unit_test(test_structs_only_grow),
        cmocka_unit_test(test_structs_start_with_their_size),
        cmocka_unit_test(test_no_constant_changed),
        cmocka_unit_test(test_covers_is_exact_to_the_byte),
    };
    return cmocka_run_group_tests_name("abi/layout", tests, NULL, NULL);
}
