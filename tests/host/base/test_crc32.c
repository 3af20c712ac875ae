/* SPDX-License-Identifier: MIT */
#include "support/test.h"

#include <string.h>

#include "base/crc32.h"

static uint32_t bit_by_bit(const unsigned char *bytes, size_t count) {
    uint32_t crc = ~0u;
    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
    }
    return ~crc;
}

static void agrees_with_the_published_check_value(void **state) {
    (void)state;
    assert_int_equal(crc32_bytes("123456789", 9), 0xCBF43926u);
    assert_int_equal(crc32_bytes("", 0), 0);
}

static void agrees_with_the_definition_at_every_length_and_alignment(void **state) {
    (void)state;
    unsigned char bytes[80];
    for (int i = 0; i < 80; i++) bytes[i] = (unsigned char)(i * 37 + 11);
    for (size_t start = 0; start < 8; start++)
        for (size_t count = 0; start + count <= sizeof bytes; count++)
            assert_int_equal(crc32_bytes(bytes + start, count),
                             bit_by_bit(bytes + start, count));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_published_check_value),
        cmocka_unit_test(agrees_with_the_definition_at_every_length_and_alignment),
    };
    return cmocka_run_group_tests_name("crc32", tests, NULL, NULL);
}
