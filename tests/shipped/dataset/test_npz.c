/* SPDX-License-Identifier: MIT */
/* The archive around the arrays: what numpy.savez writes, and archives that are damaged
 * or made by others. The arrays themselves are in test_npy.c. */
#include "../../../plugins/dataset/npy/npy_array.c"
#include "../../../plugins/dataset/npy/npy_header.c"
#include "../../../plugins/dataset/npy/npy_samples.c"
#include "../../../plugins/dataset/npz/npz.c"
#include "../../../plugins/dataset/npz/zip.c"

#include "trial.h"

#include "npy_file.h"

static struct scratch scratch;
static struct trial trial;

static int begin(void **state) {
    (void)state;
    scratch_init(&scratch);
    return 0;
}

static int end(void **state) {
    (void)state;
    scratch_finish(&scratch);
    return 0;
}

/* By NumPy 1.24.2: np.savez(f, input=np.array([[1.5, -2], [3, 4]], '<f4'),
 * label=np.array([1, 0], '<i8')) */
static const char numpys_own[] =
    "504b030414000000000000002100f00ccc52900000009000000009001400696e7075742e"
    "6e70790100100090000000000000009000000000000000934e554d5059010076007b2764"
    "65736372273a20273c6634272c2027666f727472616e5f6f72646572273a2046616c7365"
    "2c20277368617065273a2028322c2032292c207d20202020202020202020202020202020"
    "202020202020202020202020202020202020202020202020202020202020202020202020"
    "2020202020200a0000c03f000000c00000404000008040504b0304140000000000000021"
    "0071fb39ab9000000090000000090014006c6162656c2e6e707901001000900000000000"
    "00009000000000000000934e554d5059010076007b276465736372273a20273c6938272c"
    "2027666f727472616e5f6f72646572273a2046616c73652c20277368617065273a202832"
    "2c292c207d20202020202020202020202020202020202020202020202020202020202020"
    "20202020202020202020202020202020202020202020202020202020200a010000000000"
    "00000000000000000000504b0102140314000000000000002100f00ccc52900000009000"
    "0000090000000000000000000000800100000000696e7075742e6e7079504b0102140314"
    "00000000000000210071fb39ab90000000900000000900000000000000000000008001cb"
    "0000006c6162656c2e6e7079504b050600000000020002006e000000960100000000";
#define NUMPYS_SIZE ((sizeof numpys_own - 1) / 2)

static size_t numpys_bytes(unsigned char *bytes) {
    for (size_t i = 0; i < NUMPYS_SIZE; i++) {
        char digits[3] = {numpys_own[2 * i], numpys_own[2 * i + 1]};
        bytes[i] = (unsigned char)strtoul(digits, NULL, 16);
    }
    return NUMPYS_SIZE;
}

/* ---- archives of our own ---- */

struct archive {
    unsigned char bytes[8192], directory[2048];
    size_t length, directory_length;
    int members;
};

static size_t put(unsigned char *to, uint64_t value, int width) {
    for (int i = 0; i < width; i++) to[i] = (unsigned char)(value >> 8 * i);
    return (size_t)width;
}

/* One member; `is_wide`: its sizes and place stand in an extra field of 64 bits. */
static void add_member(struct archive *a, const char *name, const struct npy_file *npy,
                       int method, int flags, int is_wide) {
    size_t name_length = strlen(name), offset = a->length;
    uint32_t crc = sum_of(npy->bytes, (int64_t)npy->length);
    unsigned char *to = a->bytes + a->length,
                  *entry = a->directory + a->directory_length;
    memset(to, 0, 30);
    memcpy(to, "PK\3\4", 4);
    put(to + 26, name_length, 2);
    memcpy(to + 30, name, name_length);
    memcpy(to + 30 + name_length, npy->bytes, npy->length);
    a->length += 30 + name_length + npy->length;
    memset(entry, 0, 46);
    memcpy(entry, "PK\1\2", 4);
    put(entry + 8, (uint64_t)flags, 2);
    put(entry + 10, (uint64_t)method, 2);
    put(entry + 16, crc, 4);
    put(entry + 20, is_wide ? 0xFFFFFFFF : npy->length, 4);
    put(entry + 24, is_wide ? 0xFFFFFFFF : npy->length, 4);
    put(entry + 28, name_length, 2);
    put(entry + 30, is_wide ? 36 : 0, 2);
    put(entry + 42, is_wide ? 0xFFFFFFFF : offset, 4);
    memcpy(entry + 46, name, name_length);
    a->directory_length += 46 + name_length;
    if (is_wide) { /* after an extra field of somebody else's */
        unsigned char *extra = a->directory + a->directory_length;
        memcpy(extra, "\x99\x99\4\0abcd\1\0\x18\0", 12);
        put(extra + 12, npy->length, 8);
        put(extra + 20, npy->length, 8);
        put(extra + 28, offset, 8);
        a->directory_length += 36;
    }
    a->members++;
}

static void end_archive(struct archive *a, int is_wide) {
    size_t directory = a->length;
    memcpy(a->bytes + a->length, a->directory, a->directory_length);
    a->length += a->directory_length;
    unsigned char *to = a->bytes + a->length;
    memset(to, 0, 98);
    if (is_wide) {
        memcpy(to, "PK\6\6", 4);
        put(to + 32, (uint64_t)a->members, 8);
        put(to + 40, a->directory_length, 8);
        put(to + 48, directory, 8);
        memcpy(to + 56, "PK\6\7", 4);
        put(to + 64, a->length, 8);
        to += 76;
        a->length += 76;
    }
    memcpy(to, "PK\5\6", 4);
    put(to + 10, is_wide ? 0xFFFF : (uint64_t)a->members, 2);
    put(to + 12, is_wide ? 0xFFFFFFFF : a->directory_length, 4);
    put(to + 16, is_wide ? 0xFFFFFFFF : directory, 4);
    a->length += 22;
}

static struct npy_file small_array(void) {
    return npy_file_make(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (2,)}",
                         "\3\4", 2);
}

static void make_archive(struct archive *a, const char *name, int method, int flags,
                         int is_wide) {
    struct npy_file npy = small_array();
    memset(a, 0, sizeof *a);
    add_member(a, "other.npy", &npy, 8, 0, 0);
    add_member(a, name, &npy, method, flags, is_wide);
    end_archive(a, is_wide);
    scratch_write(&scratch, "d.npz", a->bytes, a->length);
}

#define ALONE "{\"file\": \"@/d.npz\", \"label\": \"\"}"

static void open_well(const char *options) {
    trial_begin(&trial, "dataset/npz", trial_options(&scratch, options), NULL);
    if (trial.status) fail_msg("%s", trial.host.failure);
}

static void refuse(const char *options, const char *text) {
    trial_refused("dataset/npz", trial_options(&scratch, options), NULL, LATHE_EDATA,
                  text);
}

/* ---- tests ---- */

static void an_archive_of_numpys_own(void **state) {
    (void)state;
    unsigned char bytes[NUMPYS_SIZE];
    scratch_write(&scratch, "d.npz", bytes, numpys_bytes(bytes));
    open_well("{\"file\": \"@/d.npz\"}");
    assert_int_equal(trial.samples, 2);
    assert_int_equal(trial.field_count, 2);
    assert_int_equal(trial.fields[0].shape[0], 2);
    assert_int_equal(trial.fields[1].classes, 2);
    const int64_t indices[] = {1, 0};
    assert_int_equal(trial_read(&trial, indices, 2), LATHE_OK);
    assert_true(trial.input[0] == 3 && trial.input[1] == 4);
    assert_true(trial.input[2] == 1.5f && trial.input[3] == -2);
    assert_int_equal(trial.label.classes[0], 0);
    assert_int_equal(trial.label.classes[1], 1);
    trial_end(&trial);
    open_well("{\"file\": \"@/d.npz\", \"input\": \"label\", \"label\": \"input\"}");
    assert_int_equal(trial.fields[0].rank, 0);
    assert_int_equal(trial.fields[1].code, LATHE_FLOAT);
    trial_end(&trial);
}

static void archives_of_4_gib_have_wider_records(void **state) {
    (void)state;
    struct archive a;
    for (int is_wide = 0; is_wide < 2; is_wide++) {
        make_archive(&a, "input.npy", 0, 0, is_wide);
        open_well(ALONE);
        const int64_t indices[] = {1, 0};
        assert_int_equal(trial_read(&trial, indices, 2), LATHE_OK);
        assert_true(trial.input[0] == 4 && trial.input[1] == 3);
        trial_end(&trial);
    }
}

static void compressed_members_are_told(void **state) {
    (void)state;
    struct archive a;
    make_archive(&a, "input.npy", 8, 0, 0);
    refuse(ALONE,
           "d.npz: input.npy: is compressed (zip method 8); save it with np.savez "
           "in place of np.savez_compressed, or each array with np.save and gzip");
    make_archive(&a, "input.npy", 0, 1, 0);
    refuse(ALONE, "input.npy: is encrypted");
}

static void missing_arrays_are_told(void **state) {
    (void)state;
    struct archive a;
    make_archive(&a, "x.npy", 0, 0, 0);
    refuse(ALONE, "d.npz: has no array \"input\"; its arrays: \"other\", \"x\"");
    refuse("{\"file\": \"@/d.npz\", \"input\": \"x\"}",
           "has no array \"label\" (\"label\": \"\" for data without); its arrays:");
    make_archive(&a, "input.txt", 0, 0, 0);
    refuse(ALONE, "has no array \"input\"; its arrays: \"other\"");
}

static void what_is_wrong_within_an_array_names_it(void **state) {
    (void)state;
    struct archive a = {0};
    struct npy_file npy = npy_file_make(
        1, "{'descr': '|O', 'fortran_order': False, 'shape': (2,)}", "\3\4", 2);
    add_member(&a, "input.npy", &npy, 0, 0, 0);
    end_archive(&a, 0);
    scratch_write(&scratch, "d.npz", a.bytes, a.length);
    refuse(ALONE, "d.npz: input.npy: holds Python objects (|O)");
}

static void a_wrong_sum_is_told(void **state) {
    (void)state;
    struct archive a;
    make_archive(&a, "input.npy", 0, 0, 0);
    a.bytes[a.length - 22 - a.directory_length - 1] ^= 1; /* its last number */
    scratch_write(&scratch, "d.npz", a.bytes, a.length);
    refuse(ALONE, "d.npz: the sum of a member is not what its directory says");
}

static void what_is_no_archive(void **state) {
    (void)state;
    scratch_write(&scratch, "d.npz", "", 0);
    refuse(ALONE, "d.npz: it is no zip archive, or is cut short");
    scratch_write(&scratch, "d.npz", "PK\5\6", 4);
    refuse(ALONE, "it is no zip archive");
    unsigned char bytes[NUMPYS_SIZE];
    scratch_write(&scratch, "d.npz", bytes, numpys_bytes(bytes) - 1);
    refuse(ALONE, "it is no zip archive, or is cut short");
}

/* Reads all members of bytes that end where their memory does. */
static void read_members(const unsigned char *bytes, size_t length) {
    struct zip zip;
    struct zip_member member;
    const unsigned char *content;
    unsigned char *exact = malloc(length);
    memcpy(exact, bytes, length);
    const char *fault = zip_open(&zip, exact, (int64_t)length);
    int64_t place = zip.directory;
    for (int64_t i = 0; !fault && i < zip.members; i++) {
        fault = zip_next(&zip, &place, &member);
        if (!fault && !zip_content(&zip, &member, &content))
            assert_true(content >= exact && content + member.size <= exact + length);
    }
    free(exact);
}

/* Every byte, set to what breaks most: the archive is refused or read, and never read
 * past (the sanitizers see to that). */
static void damaged_records_are_never_read_past(void **state) {
    (void)state;
    static const unsigned char values[] = {0, 1, 0x7F, 0x80, 0xFF};
    for (int is_wide = 0; is_wide < 2; is_wide++) {
        struct archive good, bad;
        make_archive(&good, "input.npy", 0, 0, is_wide);
        for (size_t i = 0; i < good.length; i++)
            for (size_t v = 0; v < sizeof values; v++) {
                bad = good;
                bad.bytes[i] = values[v];
                read_members(bad.bytes, bad.length);
            }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_archive_of_numpys_own),
        cmocka_unit_test(archives_of_4_gib_have_wider_records),
        cmocka_unit_test(compressed_members_are_told),
        cmocka_unit_test(missing_arrays_are_told),
        cmocka_unit_test(what_is_wrong_within_an_array_names_it),
        cmocka_unit_test(a_wrong_sum_is_told),
        cmocka_unit_test(what_is_no_archive),
        cmocka_unit_test(damaged_records_are_never_read_past),
    };
    return cmocka_run_group_tests_name("npz", tests, begin, end);
}
