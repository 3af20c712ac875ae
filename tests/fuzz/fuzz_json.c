/* SPDX-License-Identifier: MIT */
/* Any text is JSON, which reads back the same however it is written, or is refused with
 * a reason. */
#include "fuzz.h"

#include "json.h"

static void check_reads_back(const struct json *value, int indent) {
    struct text text = {0}, again = {0};
    struct json *copy = NULL;
    struct error err = {0};
    json_write(value, &text, indent);
    FUZZ_CHECK(!text.is_broken);
    lathe_status status = json_parse(text.data, text.length, "again", &copy, &err);
    FUZZ_CHECK_FOUND(status == LATHE_OK, err.what);
    FUZZ_CHECK_FOUND(json_same(value, copy), text.data);
    json_write(copy, &again, indent);
    FUZZ_CHECK_FOUND(!strcmp(text.data, again.data), again.data);
    json_close(copy);
    text_finish(&again);
    text_finish(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    struct json *value = NULL;
    struct error err = {0};
    lathe_status status = json_parse((const char *)bytes, count, "input", &value, &err);
    FUZZ_CHECK((status == LATHE_OK) == (value != NULL));
    if (status) {
        FUZZ_CHECK(status == err.status);
        fuzz_check_error(&err);
        return 0;
    }
    check_reads_back(value, 0);
    check_reads_back(value, 2);
    struct json *copy = json_clone(value);
    FUZZ_CHECK(json_same(value, copy));
    json_close(copy);
    json_close(value);
    return 0;
}
