/* SPDX-License-Identifier: MIT */
#include "support/scratch.h"

#include "base/digest.h"

static void digests_are_those_of_the_standard(void **state) {
    (void)state;
    char hex[DIGEST_HEX];
    digest_bytes("", 0, hex);
    assert_string_equal(
        hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    digest_bytes("abc", 3, hex);
    assert_string_equal(
        hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void a_file_has_the_digest_of_its_bytes(void **state) {
    (void)state;
    static char bytes[200000];
    char hex[DIGEST_HEX], expected[DIGEST_HEX];
    struct scratch scratch;
    struct error err;
    scratch_init(&scratch);
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)(i * 7);
    digest_bytes(bytes, sizeof bytes, expected);
    const char *path = scratch_write(&scratch, "x", bytes, sizeof bytes);
    assert_int_equal(digest_file(path, NULL, hex, &err), LATHE_OK);
    assert_string_equal(hex, expected);
    assert_int_equal(digest_file(scratch_path(&scratch, "no"), NULL, hex, &err),
                     LATHE_ENOTFOUND);
    assert_int_equal(digest_file(scratch.directory, NULL, hex, &err), LATHE_EDATA);
    scratch_finish(&scratch);
}

static void a_cancelled_digest_stops_and_leaves_the_text(void **state) {
    (void)state;
    volatile int is_cancelled = 1;
    char hex[DIGEST_HEX] = "before";
    struct scratch scratch;
    scratch_init(&scratch);
    const char *path = scratch_text(&scratch, "x", "x");
    assert_int_equal(digest_file(path, &is_cancelled, hex, NULL), LATHE_STOP);
    assert_string_equal(hex, "before");
    is_cancelled = 0;
    assert_int_equal(digest_file(path, &is_cancelled, hex, NULL), LATHE_OK);
    scratch_finish(&scratch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests_are_those_of_the_standard),
        cmocka_unit_test(a_file_has_the_digest_of_its_bytes),
        cmocka_unit_test(a_cancelled_digest_stops_and_leaves_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
