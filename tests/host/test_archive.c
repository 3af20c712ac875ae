/* SPDX-License-Identifier: MIT */
/* Compressed files are made by the gzip, zstd and tar programs, so that two sides that
 * never met must agree. */
#include "support/test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "archive.h"
#include "support/scratch.h"

#define COUNT 300000

static struct scratch scratch;

/* Something that compresses, but not to nothing. */
static unsigned char content_at(size_t i) {
    return (unsigned char)(i * i / 97);
}

static int make_files(void **state) {
    (void)state;
    unsigned char *content = malloc(COUNT);
    for (size_t i = 0; i < COUNT; i++) content[i] = content_at(i);
    scratch_init(&scratch);
    scratch_write(&scratch, "plain", content, COUNT);
    scratch_write(&scratch, "head", content, 100000);
    scratch_write(&scratch, "tail", content + 100000, COUNT - 100000);
    scratch_text(&scratch, "empty", "");
    free(content);
    scratch_run(&scratch, "gzip -k plain && gzip -c empty > empty.gz && "
                          "(gzip -c head; gzip -c tail) > joined.gz && "
                          "gzip -c plain.gz > twice.gz");
    return 0;
}

static int has_zstd(void) {
    return system("zstd --version >/dev/null 2>&1") == 0;
}

static int remove_files(void **state) {
    (void)state;
    scratch_finish(&scratch);
    return 0;
}

struct inflated {
    void *bytes;
    int64_t count, mapped;
    struct error err;
};

static lathe_status inflate_file(const char *name, struct inflated *inflated) {
    const char *path = scratch_path(&scratch, name);
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    memset(inflated, 0, sizeof *inflated);
    lathe_status status = archive_inflate(fd, path, &inflated->bytes, &inflated->count,
                                          &inflated->mapped, &inflated->err);
    close(fd);
    return status;
}

static void assert_inflates(const char *name) {
    struct inflated inflated;
    if (inflate_file(name, &inflated)) fail_msg("%s", inflated.err.what);
    assert_int_equal(inflated.count, COUNT);
    assert_true(inflated.mapped >= COUNT && inflated.mapped < COUNT + 8192);
    const unsigned char *bytes = inflated.bytes;
    for (size_t i = 0; i < COUNT; i++) assert_int_equal(bytes[i], content_at(i));
    assert_int_equal(munmap(inflated.bytes, (size_t)inflated.mapped), 0);
}

static void assert_refused(const char *name, lathe_status status, const char *text) {
    struct inflated inflated;
    assert_int_equal(inflate_file(name, &inflated), status);
    assert_null(inflated.bytes);
    if (!strstr(inflated.err.what, text) || !strstr(inflated.err.what, name))
        fail_msg("\"%s\" has no \"%s\"", inflated.err.what, text);
}

/* A copy of a file with its length, or one byte of it, changed. */
static void change_file(const char *from, const char *to, size_t length, size_t at,
                        unsigned char flip) {
    static unsigned char bytes[COUNT * 2];
    FILE *file = fopen(scratch_path(&scratch, from), "rb");
    assert_non_null(file);
    size_t count = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    if (length == 0) length = count;
    bytes[at] ^= flip;
    scratch_write(&scratch, to, bytes, length);
}

static size_t size_of(const char *name) {
    FILE *file = fopen(scratch_path(&scratch, name), "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    fclose(file);
    return (size_t)size;
}

static void knows_compressed_files_by_their_first_bytes(void **state) {
    (void)state;
    assert_true(archive_is_compressed("\x1f\x8b\x08\x00", 4));
    assert_true(archive_is_compressed("\x28\xb5\x2f\xfd", 4));
    assert_false(archive_is_compressed("\x28\xb5\x2f", 3));
    assert_false(archive_is_compressed("\x1f\x8b", 2));
    assert_false(archive_is_compressed("", 0));
    assert_false(archive_is_compressed("\x00\x00\x08\x03", 4));
    assert_false(archive_is_compressed("BZh9", 4));
}

static void inflates_gzip(void **state) {
    (void)state;
    assert_inflates("plain.gz");
}

static void inflates_several_gzip_files_joined(void **state) {
    (void)state;
    assert_inflates("joined.gz");
}

static void inflates_zstd(void **state) {
    (void)state;
    if (!has_zstd()) skip();
    scratch_run(&scratch, "zstd -q -k plain");
    assert_inflates("plain.zst");
    change_file("plain.zst", "cut.zst", size_of("plain.zst") - 100, 0, 0);
    assert_refused("cut.zst", LATHE_EDATA, "zstd data is damaged or cut short");
}

static void inflates_an_empty_file_to_nothing(void **state) {
    (void)state;
    struct inflated inflated;
    assert_int_equal(inflate_file("empty.gz", &inflated), LATHE_OK);
    assert_int_equal(inflated.count, 0);
    assert_non_null(inflated.bytes);
    munmap(inflated.bytes, (size_t)inflated.mapped);
}

static void refuses_gzip_that_is_cut_short(void **state) {
    (void)state;
    size_t size = size_of("plain.gz");
    const size_t lengths[] = {3,        10,       17,       18,      30,
                              size / 2, size - 9, size - 8, size - 1};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        change_file("plain.gz", "cut.gz", lengths[i], 0, 0);
        assert_refused("cut.gz", LATHE_EDATA, "damaged or cut short");
    }
}

static void refuses_gzip_with_a_changed_byte_anywhere(void **state) {
    (void)state;
    size_t size = size_of("plain.gz");
    /* The header holds time and name, which are nobody's business: start behind
     * them. */
    for (size_t at = 32; at < size; at += size / 61) {
        change_file("plain.gz", "bad.gz", 0, at, 0x10);
        assert_refused("bad.gz", LATHE_EDATA, "damaged or cut short");
    }
    for (size_t at = size - 8; at < size; at++) {
        change_file("plain.gz", "bad.gz", 0, at, 0x01);
        assert_refused("bad.gz", LATHE_EDATA, "checksum");
    }
}

static void refuses_a_file_that_is_compressed_twice(void **state) {
    (void)state;
    assert_refused("twice.gz", LATHE_EDATA, "compressed more than once");
}

/* ---- streams ---- */

static struct archive_stream *open_stream(const char *name) {
    struct archive_stream *stream;
    struct error err;
    if (archive_stream_open(scratch_path(&scratch, name), &stream, &err))
        fail_msg("%s", err.what);
    return stream;
}

static void streams_plain_and_compressed_files(void **state) {
    (void)state;
    const char *const names[] = {"plain", "plain.gz"};
    for (int i = 0; i < 2; i++) {
        struct archive_stream *stream = open_stream(names[i]);
        unsigned char bytes[7777];
        int64_t got, total = 0;
        struct error err;
        do {
            assert_int_equal(archive_stream_read(stream, bytes, 7777, &got, &err), 0);
            for (int64_t j = 0; j < got; j++)
                assert_int_equal(bytes[j], content_at((size_t)(total + j)));
            total += got;
        } while (got == 7777);
        assert_int_equal(total, COUNT);
        assert_int_equal(archive_stream_read(stream, bytes, 7777, &got, &err), 0);
        assert_int_equal(got, 0);
        archive_stream_close(stream);
    }
}

static void streams_nothing_from_empty_files(void **state) {
    (void)state;
    const char *const names[] = {"empty", "empty.gz"};
    for (int i = 0; i < 2; i++) {
        struct archive_stream *stream = open_stream(names[i]);
        char byte;
        int64_t got = 5;
        struct error err;
        for (int call = 0; call < 2; call++) {
            assert_int_equal(archive_stream_read(stream, &byte, 1, &got, &err), 0);
            assert_int_equal(got, 0);
        }
        archive_stream_close(stream);
    }
}

static void streams_tar_members_and_skips_what_is_no_file(void **state) {
    (void)state;
    scratch_run(&scratch, "mkdir -p d && printf one > d/a && printf three > d/b && "
                          "ln -sf a d/link && ln -f d/a d/z-same && mkfifo d/fifo && "
                          "tar -cf t.tar --sort=name d && gzip -kf t.tar");
    const char *const files[] = {"t.tar", "t.tar.gz"};
    for (int i = 0; i < 2; i++) {
        struct archive_stream *stream = open_stream(files[i]);
        const char *name;
        char bytes[16] = "";
        int64_t got;
        struct error err;
        assert_int_equal(archive_stream_read(stream, bytes, 1, &got, &err), LATHE_OK);
        assert_int_equal(archive_stream_next(stream, &name, &err), LATHE_OK);
        assert_string_equal(name, "d/a");
        assert_int_equal(archive_stream_next(stream, &name, &err), LATHE_OK);
        assert_string_equal(name, "d/b");
        assert_int_equal(archive_stream_read(stream, bytes, 16, &got, &err), LATHE_OK);
        assert_int_equal(got, 5);
        assert_memory_equal(bytes, "three", 5);
        assert_int_equal(archive_stream_next(stream, &name, &err), LATHE_END);
        assert_int_equal(archive_stream_next(stream, &name, &err), LATHE_END);
        archive_stream_close(stream);
    }
}

static void a_broken_tar_is_named(void **state) {
    (void)state;
    struct error err;
    const char *name;
    struct archive_stream *stream = open_stream("plain");
    assert_int_equal(archive_stream_next(stream, &name, &err), LATHE_EDATA);
    assert_non_null(strstr(err.what, "plain: tar data is damaged"));
    archive_stream_close(stream);
}

static void a_missing_file_is_not_found(void **state) {
    (void)state;
    struct archive_stream *stream = NULL;
    struct error err;
    assert_int_equal(archive_stream_open(scratch_path(&scratch, "none"), &stream, &err),
                     LATHE_ENOTFOUND);
    assert_null(stream);
    archive_stream_close(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_compressed_files_by_their_first_bytes),
        cmocka_unit_test(inflates_gzip),
        cmocka_unit_test(inflates_several_gzip_files_joined),
        cmocka_unit_test(inflates_zstd),
        cmocka_unit_test(inflates_an_empty_file_to_nothing),
        cmocka_unit_test(refuses_gzip_that_is_cut_short),
        cmocka_unit_test(refuses_gzip_with_a_changed_byte_anywhere),
        cmocka_unit_test(refuses_a_file_that_is_compressed_twice),
        cmocka_unit_test(streams_plain_and_compressed_files),
        cmocka_unit_test(streams_nothing_from_empty_files),
        cmocka_unit_test(streams_tar_members_and_skips_what_is_no_file),
        cmocka_unit_test(a_broken_tar_is_named),
        cmocka_unit_test(a_missing_file_is_not_found),
    };
    return cmocka_run_group_tests_name("archive", tests, make_files, remove_files);
}
