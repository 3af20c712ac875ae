/* SPDX-License-Identifier: MIT */
/* What is written is read back, is the same each time, and shows every change. */
#include "host/safetensors/files.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <signal.h>

#include "base/digest.h"

static const struct {
    const char *dtype;
    int64_t bytes;
} types[] = {{"F32", 4}, {"F64", 8}, {"F16", 2},  {"BF16", 2}, {"I8", 1},
             {"U8", 1},  {"I16", 2}, {"U16", 2},  {"I32", 4},  {"U32", 4},
             {"I64", 8}, {"U64", 8}, {"BOOL", 1}, {"C64", 8}};
#define TYPES (sizeof types / sizeof *types)

static unsigned char content[256];

static void write_file(struct scratch *scratch, const char *name,
                       struct safetensor *tensors, size_t count,
                       const struct safetensors_note *notes, size_t note_count) {
    struct error err = {0};
    int fd = open(scratch_path(scratch, name), O_RDWR | O_CREAT | O_TRUNC, 0666);
    assert_true(fd >= 0);
    if (safetensors_write(fd, tensors, count, notes, note_count, &err))
        fail_msg("%s", err.what);
    close(fd);
}

/* One of each type, named after it, of shape [3, 2]; one empty and one scalar. */
static size_t make_each(struct safetensor *tensors) {
    for (size_t i = 0; i < sizeof content; i++) content[i] = (unsigned char)(i * 7 + 1);
    for (size_t i = 0; i < TYPES; i++)
        tensors[i] = (struct safetensor){.name = types[i].dtype,
                                         .dtype = types[i].dtype,
                                         .rank = 2,
                                         .shape = {3, 2},
                                         .bytes = 6 * types[i].bytes,
                                         .data = content + i};
    tensors[TYPES] = (struct safetensor){
        .name = "nothing", .dtype = "F32", .rank = 2, .shape = {0, 5}};
    tensors[TYPES + 1] = (struct safetensor){
        .name = "a \"scalar\"/\xc3\xa9", .dtype = "F32", .bytes = 4, .data = content};
    return TYPES + 2;
}

static const struct safetensors_note notes[] = {
    {"z", "last"}, {"a", ""}, {"text", "{\"k\": \"\\n\xe2\x82\xac\"}\n"}};

static void reads_back_every_type(void **state) {
    struct safetensor tensors[TYPES + 2];
    struct error err = {0};
    const size_t count = make_each(tensors);
    write_file(*state, "each", tensors, count, notes, 3);
    struct safetensors *file = files_open(scratch_path(*state, "each"));
    assert_int_equal(safetensors_count(file), count);
    for (size_t i = 0; i < TYPES; i++) {
        unsigned char back[64];
        const struct safetensor *tensor = safetensors_find(file, types[i].dtype);
        assert_non_null(tensor);
        assert_string_equal(tensor->dtype, types[i].dtype);
        assert_int_equal(tensor->rank, 2);
        assert_int_equal(tensor->shape[0], 3);
        assert_int_equal(tensor->shape[1], 2);
        assert_int_equal(tensor->bytes, 6 * types[i].bytes);
        assert_int_equal(safetensors_read(file, tensor, back, &err), LATHE_OK);
        assert_memory_equal(back, content + i, (size_t)tensor->bytes);
    }
    assert_int_equal(safetensors_find(file, "nothing")->bytes, 0);
    assert_int_equal(safetensors_find(file, "a \"scalar\"/\xc3\xa9")->rank, 0);
    assert_null(safetensors_find(file, "none"));
    for (int i = 0; i < 3; i++)
        assert_string_equal(safetensors_note(file, notes[i].key), notes[i].value);
    assert_null(safetensors_note(file, "b"));
    assert_int_equal(safetensors_verify(file, &err), LATHE_OK);
    safetensors_close(file);
}

/* Each tensor lies as its type wants, and the data as a cache line wants. */
static void puts_the_widest_first(void **state) {
    struct safetensor tensors[TYPES + 2];
    const size_t count = make_each(tensors);
    write_file(*state, "each", tensors, count, notes, 3);
    struct safetensors *file = files_open(scratch_path(*state, "each"));
    assert_string_equal(safetensors_at(file, 0)->dtype, "C64");
    assert_string_equal(safetensors_at(file, count - 1)->name, "U8");
    assert_null(safetensors_at(file, count));
    for (size_t i = 0; i < TYPES; i++)
        assert_int_equal(
            safetensors_find(file, types[i].dtype)->offset % types[i].bytes, 0);
    safetensors_close(file);
}

static char *take_file(struct scratch *scratch, const char *name, size_t *length) {
    char *bytes = NULL;
    struct error err = {0};
    if (file_read(scratch_path(scratch, name), 1 << 24, &bytes, length, &err))
        fail_msg("%s", err.what);
    return bytes;
}

static void writes_the_same_bytes(void **state) {
    struct safetensor tensors[TYPES + 2], turned[TYPES + 2];
    const struct safetensors_note other[] = {notes[2], notes[0], notes[1]};
    const size_t count = make_each(tensors);
    for (size_t i = 0; i < count; i++) turned[i] = tensors[count - 1 - i];
    write_file(*state, "one", tensors, count, notes, 3);
    write_file(*state, "other", turned, count, other, 3);
    size_t one_length, other_length;
    char *one_bytes = take_file(*state, "one", &one_length);
    char *other_bytes = take_file(*state, "other", &other_length);
    assert_int_equal(one_length, other_length);
    assert_memory_equal(one_bytes, other_bytes, one_length);
    free(one_bytes);
    free(other_bytes);
}

/* A file of no tensors and no notes, byte for byte; the digest is sha256sum's. */
static void writes_what_is_expected(void **state) {
    static const char header[] = "\x78\0\0\0\0\0\0\0"
                                 "{\"__metadata__\":{\"lathe.sha256\":\"";
    size_t length;
    char digest[DIGEST_HEX];
    write_file(*state, "empty", NULL, 0, NULL, 0);
    char *bytes = take_file(*state, "empty", &length);
    assert_int_equal(length, 128);
    assert_memory_equal(bytes, header, sizeof header - 1);
    char *digits = bytes + sizeof header - 1;
    assert_memory_equal(digits + 64, "\"}}          ", 13);
    char written[65] = {0};
    memcpy(written, digits, 64);
    memset(digits, '0', 64);
    digest_bytes(bytes, length, digest);
    assert_string_equal(digest, written);
    free(bytes);
}

/* The two vectors of the format's own tests, and what others write that we do not. */
static void opens_files_of_others(void **state) {
    struct error err = {0};
    struct safetensors *file =
        files_open(scratch_write(*state, "x", "\x8\0\0\0\0\0\0\0{}      ", 16));
    assert_int_equal(safetensors_count(file), 0);
    assert_int_equal(safetensors_verify(file, &err), LATHE_EDATA);
    assert_non_null(strstr(err.what, "lathe.sha256"));
    safetensors_close(file);
    const char *attn =
        "{\"attn.0\":{\"dtype\":\"F32\",\"shape\":[1,2,3],\"data_offsets\":[0,24]}}";
    assert_int_equal(strlen(attn), 0x40);
    file = files_open(files_make(*state, attn, 24));
    assert_int_equal(safetensors_find(file, "attn.0")->shape[2], 3);
    safetensors_close(file);
    file = files_open(
        files_make(*state,
                   "{ \"b\" : { \"shape\" : [ 4 ] ,\n\"data_offsets\":[ 3, "
                   "6],\"dtype\":\"F6_E2M3\"},"
                   "\"\":{\"data_offsets\":[0,3],\"dtype\":\"F8_E4M3\",\"shape\":[3]},"
                   "\"\\u00e9\\\"{[\":{\"dtype\":\"F4\",\"shape\":[2,1,1,1,1,1],\"data_"
                   "offsets\":[6,7]},"
                   "\"__metadata__\":{\"format\":\"pt\"}}",
                   7));
    assert_int_equal(safetensors_find(file, "b")->bytes, 3);
    assert_int_equal(safetensors_find(file, "")->offset, 0);
    assert_int_equal(safetensors_find(file, "\xc3\xa9\"{[")->rank, 6);
    assert_string_equal(safetensors_at(file, 2)->dtype, "F4");
    assert_string_equal(safetensors_note(file, "format"), "pt");
    safetensors_close(file);
}

static bool is_noticed(const char *path) {
    struct safetensors *file = NULL;
    struct error err = {0};
    bool is_bad = safetensors_open(path, &file, &err) || safetensors_verify(file, &err);
    safetensors_close(file);
    return is_bad;
}

static void notices_every_changed_bit(void **state) {
    struct safetensor tensors[TYPES + 2];
    write_file(*state, "changed", tensors, make_each(tensors), notes, 3);
    const char *path = scratch_path(*state, "changed");
    int fd = open(path, O_RDWR);
    char byte;
    for (int i = 0; pread(fd, &byte, 1, i) == 1; i++)
        for (int bit = 0; bit < 8; bit++) {
            const char changed = (char)(byte ^ 1 << bit);
            assert_int_equal(pwrite(fd, &changed, 1, i), 1);
            if (!is_noticed(path)) fail_msg("bit %d of byte %d", bit, i);
            assert_int_equal(pwrite(fd, &byte, 1, i), 1);
        }
    assert_false(is_noticed(path));
    close(fd);
}

static void notices_every_cut(void **state) {
    struct safetensor tensors[TYPES + 2];
    struct stat info;
    write_file(*state, "cut", tensors, make_each(tensors), notes, 3);
    const char *path = scratch_path(*state, "cut");
    assert_int_equal(stat(path, &info), 0);
    assert_false(is_noticed(path));
    for (off_t length = info.st_size; length--;) {
        assert_int_equal(truncate(path, length), 0);
        if (!is_noticed(path)) fail_msg("cut after %lld bytes", (long long)length);
    }
}

/* Many pieces, and tensors that begin and end anywhere in them. */
static void joins_what_it_wrote_in_pieces(void **state) {
    enum { COUNT = 40, ROOM = 300000 };
    struct error err = {0};
    struct safetensor tensors[COUNT];
    char names[COUNT][8];
    unsigned char *data = malloc(ROOM), *back = malloc(ROOM);
    for (int i = 0; i < ROOM; i++) data[i] = (unsigned char)(i * 31 + i / 251);
    for (int i = 0; i < COUNT; i++) {
        snprintf(names[i], sizeof names[i], "t%d", i);
        int64_t bytes = i % 3 ? i * 11 : ROOM - i;
        tensors[i] = (struct safetensor){.name = names[i],
                                         .dtype = "U8",
                                         .rank = 1,
                                         .shape = {bytes},
                                         .bytes = bytes,
                                         .data = data};
    }
    write_file(*state, "pieces", tensors, COUNT, NULL, 0);
    struct safetensors *file = files_open(scratch_path(*state, "pieces"));
    assert_int_equal(safetensors_verify(file, &err), LATHE_OK);
    for (int i = 0; i < COUNT; i++) {
        const struct safetensor *tensor = safetensors_find(file, names[i]);
        assert_int_equal(safetensors_read(file, tensor, back, &err), LATHE_OK);
        assert_memory_equal(back, data, (size_t)tensor->bytes);
    }
    safetensors_close(file);
    free(data);
    free(back);
}

/* An error, no signal. */
static void bears_a_file_that_shrinks(void **state) {
    struct safetensor tensors[TYPES + 2];
    struct error err = {0};
    char back[64];
    write_file(*state, "good", tensors, make_each(tensors), notes, 3);
    const char *path = scratch_path(*state, "good");
    struct safetensors *file = files_open(path);
    assert_int_equal(truncate(path, 1200), 0);
    assert_int_equal(safetensors_read(file, safetensors_find(file, "U8"), back, &err),
                     LATHE_EDATA);
    assert_non_null(strstr(err.what, "it was cut short"));
    assert_non_null(strstr(err.where, "tensor \"U8\""));
    assert_int_equal(safetensors_verify(file, &err), LATHE_EDATA);
    safetensors_close(file);
}

static void refuses_to_write_what_cannot_be_read(void **state) {
    (void)state;
    struct error err = {0};
    struct safetensor good = {.name = "a", .dtype = "U8", .bytes = 1, .data = content};
    struct safetensor two[2] = {good, good};
    const struct safetensors_note digest = {SAFETENSORS_DIGEST, "0"};
    two[1].dtype = "F32", two[1].bytes = 4;
    assert_int_equal(safetensors_write(-1, two, 2, NULL, 0, &err), LATHE_EINVAL);
    assert_non_null(strstr(err.what, "\"a\" is given twice"));
    struct safetensor bad[] = {good, good, good, good, good};
    bad[0].bytes = 2, bad[1].dtype = "F31", bad[2].rank = LATHE_RANK_MAX + 1;
    bad[3].name = "__metadata__", bad[4].name = "\xff";
    for (int i = 0; i < 5; i++)
        assert_int_equal(safetensors_write(-1, &bad[i], 1, NULL, 0, &err),
                         LATHE_EINVAL);
    assert_int_equal(safetensors_write(-1, &good, 1, &digest, 1, &err), LATHE_EINVAL);
}

static void says_how_much_was_wanted(void **state) {
    struct error err = {0};
    struct safetensor tensor = {.name = "a",
                                .dtype = "U8",
                                .rank = 1,
                                .shape = {100},
                                .bytes = 100,
                                .data = content};
    const struct rlimit none = {0, RLIM_INFINITY}, any = {RLIM_INFINITY, RLIM_INFINITY};
    int fd = open("/dev/full", O_WRONLY);
    assert_int_equal(safetensors_write(fd, &tensor, 1, NULL, 0, &err), LATHE_EIO);
    close(fd);
    assert_non_null(
        strstr(err.what, "cannot write 292 bytes: No space left on device"));
    signal(SIGXFSZ, SIG_IGN);
    fd = open(scratch_path(*state, "limited"), O_WRONLY | O_CREAT, 0666);
    setrlimit(RLIMIT_FSIZE, &none);
    lathe_status status = safetensors_write(fd, &tensor, 1, NULL, 0, &err);
    setrlimit(RLIMIT_FSIZE, &any);
    close(fd);
    assert_int_equal(status, LATHE_EIO);
    assert_non_null(strstr(err.what, "File too large"));
}

static void another_reader_agrees(void **state) {
    struct safetensor tensors[TYPES + 2];
    char command[512], digest[DIGEST_HEX], expected[256];
    const char *source = getenv("SOURCE");
    size_t length;
    if (!source || system("python3 -c 'import hashlib' 2>/dev/null")) skip();
    write_file(*state, "each", tensors, make_each(tensors), notes, 3);
    snprintf(command, sizeof command,
             "python3 '%s/tests/host/safetensors/reader.py' each >told", source);
    scratch_run(*state, command);
    char *told = take_file(*state, "told", &length);
    for (size_t i = 0; i < TYPES; i++) {
        digest_bytes(content + i, (size_t)(6 * types[i].bytes), digest);
        snprintf(expected, sizeof expected, "\"%s\" %s [3, 2] %s\n", types[i].dtype,
                 types[i].dtype, digest);
        if (!strstr(told, expected)) fail_msg("no %s in %s", expected, told);
    }
    assert_non_null(strstr(told, "note \"z\" \"last\"\n"));
    assert_non_null(
        strstr(told, "note \"text\" \"{\\\"k\\\": \\\"\\\\n\\u20ac\\\"}\\n\"\n"));
    assert_non_null(strstr(told, "\"nothing\" F32 [0, 5] e3b0c442"));
    free(told);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_back_every_type),
        cmocka_unit_test(puts_the_widest_first),
        cmocka_unit_test(writes_the_same_bytes),
        cmocka_unit_test(writes_what_is_expected),
        cmocka_unit_test(opens_files_of_others),
        cmocka_unit_test(notices_every_changed_bit),
        cmocka_unit_test(notices_every_cut),
        cmocka_unit_test(joins_what_it_wrote_in_pieces),
        cmocka_unit_test(bears_a_file_that_shrinks),
        cmocka_unit_test(refuses_to_write_what_cannot_be_read),
        cmocka_unit_test(says_how_much_was_wanted),
        cmocka_unit_test(another_reader_agrees),
    };
    return cmocka_run_group_tests_name("safetensors files", tests, files_init,
                                       files_finish);
}
