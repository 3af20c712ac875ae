/* SPDX-License-Identifier: MIT */
/* Signatures both ways: what minisign made is read here (tests/host/base/minisign), and
 * what is made here is shown to the program minisign, where it is installed. */
#include "support/scratch.h"

#include "base/file.h"
#include "base/minisign.h"

#define MESSAGE "bytes to sign\n"

static char *fixture(const char *name, size_t *length) {
    char path[512], *content = NULL;
    struct error err = {0};
    const char *source = getenv("SOURCE");
    if (!source) skip(); /* only CTest says where the files are */
    snprintf(path, sizeof path, "%s/tests/host/base/minisign/%s", source, name);
    if (file_read(path, MINISIGN_BYTES, &content, length, &err))
        fail_msg("%s", err.what);
    return content;
}

static void read_public(const char *name, struct minisign_public *key) {
    struct error err = {0};
    size_t length;
    char *text = fixture(name, &length);
    if (minisign_read_public(text, length, key, &err)) fail_msg("%s", err.what);
    free(text);
}

static void read_signature(const char *name, struct minisign_signature *signature) {
    struct error err = {0};
    size_t length;
    char *text = fixture(name, &length);
    if (minisign_read_signature(text, length, signature, &err))
        fail_msg("%s", err.what);
    free(text);
}

static void need_libsodium(void) {
    if (minisign_is_there(NULL)) return;
    print_message("skipped: built without libsodium\n");
    skip();
}

static lathe_status answer(void *context, char *password, size_t size,
                           struct error *err) {
    (void)err;
    snprintf(password, size, "%s", (const char *)context);
    return LATHE_OK;
}

static lathe_status read_secret(const char *name, const char *password,
                                struct minisign_secret *key, struct error *err) {
    size_t length;
    char *text = fixture(name, &length);
    lathe_status status = minisign_read_secret(text, length, password ? answer : NULL,
                                               (void *)password, key, err);
    free(text);
    return status;
}

/* ---- formats ---- */

static void keys_have_the_numbers_that_minisign_prints(void **state) {
    (void)state;
    struct minisign_public key, line;
    char name[MINISIGN_NAME];
    struct error err = {0};
    read_public("plain.pub", &key);
    minisign_name(key.id, name);
    assert_string_equal(name, "9242A6EB647F81BA");
    const char base64[] = "RWS6gX9k66ZCkovGyBkbt0JsxVEinHCQo2hnJ46iIsCU9N6xx80J1Cxc";
    assert_int_equal(minisign_read_public(base64, sizeof base64 - 1, &line, &err), 0);
    assert_memory_equal(&line, &key, sizeof key);
}

static void signatures_are_read_as_they_were_written(void **state) {
    (void)state;
    struct minisign_signature signature;
    char name[MINISIGN_NAME];
    read_signature("prehashed.minisig", &signature);
    assert_true(signature.is_prehashed);
    assert_string_equal(signature.comment, "a trusted comment");
    minisign_name(signature.id, name);
    assert_string_equal(name, "9242A6EB647F81BA");
    read_signature("legacy.minisig", &signature);
    assert_false(signature.is_prehashed);
    assert_string_equal(signature.comment, "an older kind");
}

/* Cut anywhere, with a byte changed, with something after it. */
static void damaged_texts_are_refused(void **state) {
    (void)state;
    struct minisign_signature signature;
    struct minisign_public key;
    struct error err = {0};
    size_t length, ends = 0;
    char *text = fixture("prehashed.minisig", &length);
    for (size_t cut = 0; cut < length - 1; cut++)
        if (minisign_read_signature(text, cut, &signature, &err) != LATHE_EDATA) ends++;
    assert_int_equal(ends, 0);
    char more[MINISIGN_BYTES];
    snprintf(more, sizeof more, "%sx", text);
    assert_int_equal(minisign_read_signature(more, length + 1, &signature, &err),
                     LATHE_EDATA);
    free(text);
    text = fixture("plain.pub", &length);
    const char *line = strchr(text, '\n') + 1;
    for (const char *wrong = "*=- \t"; *wrong; wrong++) {
        char *copy = strdup(line);
        copy[5] = *wrong;
        assert_int_equal(minisign_read_public(copy, strlen(copy), &key, &err),
                         LATHE_EDATA);
        free(copy);
    }
    text[strlen(text) - 2] = '='; /* one byte fewer */
    assert_int_equal(minisign_read_public(text, length, &key, &err), LATHE_EDATA);
    free(text);
}

/* ---- verifying ---- */

static void what_minisign_signed_is_verified(void **state) {
    (void)state;
    static const char *const signatures[] = {"prehashed.minisig", "legacy.minisig"};
    struct minisign_public key;
    struct error err = {0};
    need_libsodium();
    read_public("plain.pub", &key);
    for (int i = 0; i < 2; i++) {
        struct minisign_signature signature, wrong;
        read_signature(signatures[i], &signature);
        assert_int_equal(minisign_verify(&key, &signature, MESSAGE, 14, &err), 0);
        assert_int_equal(minisign_verify(&key, &signature, MESSAGE, 13, &err),
                         LATHE_EPERM);
        assert_int_equal(minisign_verify(&key, &signature, "Bytes to sign\n", 14, &err),
                         LATHE_EPERM);
        assert_string_equal(err.what, "it is not what key 9242A6EB647F81BA has signed");
        wrong = signature;
        wrong.bytes[7] ^= 1;
        assert_int_equal(minisign_verify(&key, &wrong, MESSAGE, 14, &err), LATHE_EPERM);
        wrong = signature;
        wrong.is_prehashed = !wrong.is_prehashed;
        assert_int_equal(minisign_verify(&key, &wrong, MESSAGE, 14, &err), LATHE_EPERM);
        wrong = signature;
        wrong.comment[0] ^= 1;
        assert_int_equal(minisign_verify(&key, &wrong, MESSAGE, 14, &err), LATHE_EPERM);
        assert_non_null(strstr(err.what, "the trusted comment is not"));
    }
}

static void another_key_is_named(void **state) {
    (void)state;
    struct minisign_public key;
    struct minisign_signature signature;
    struct error err = {0};
    need_libsodium();
    read_public("locked.pub", &key);
    read_signature("prehashed.minisig", &signature);
    assert_int_equal(minisign_verify(&key, &signature, MESSAGE, 14, &err), LATHE_EPERM);
    assert_non_null(strstr(err.what, "signed by key 9242A6EB647F81BA, not by "));
}

/* ---- signing ---- */

static void signing_gives_what_minisign_gives(void **state) {
    (void)state;
    struct minisign_secret key;
    struct error err = {0};
    struct text text = {0};
    size_t length;
    need_libsodium();
    char *expected = fixture("prehashed.minisig", &length);
    assert_int_equal(read_secret("plain.key", NULL, &key, &err), LATHE_OK);
    assert_int_equal(minisign_sign(&key, MESSAGE, 14, "a trusted comment", &text, &err),
                     LATHE_OK);
    /* All but the first line, which is anybody's to choose. */
    assert_string_equal(strchr(text.data, '\n'), strchr(expected, '\n'));
    text_finish(&text);
    assert_int_equal(minisign_sign(&key, MESSAGE, 14, "two\nlines", &text, &err),
                     LATHE_EINVAL);
    minisign_forget(&key);
    for (size_t i = 0; i < sizeof key.key; i++) assert_int_equal(key.key[i], 0);
    text_finish(&text);
    free(expected);
}

static bool has_room(void) {
    long kib = 0;
    char line[128];
    FILE *file = fopen("/proc/meminfo", "r");
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, "MemAvailable:", 13)) kib = strtol(line + 13, NULL, 10);
    if (file) fclose(file);
    return kib > 1400 * 1024L;
}

static void a_key_with_a_password_opens_with_it_alone(void **state) {
    (void)state;
    struct minisign_secret key;
    struct minisign_public public;
    struct minisign_signature signature;
    struct error err = {0};
    struct text text = {0};
    need_libsodium();
    assert_int_equal(read_secret("locked.key", NULL, &key, &err), LATHE_EPERM);
    if (IS_SANITIZED || !has_room()) {
        print_message("skipped: minisign's keys take 1 GiB of memory to open\n");
        skip();
    }
    assert_int_equal(read_secret("locked.key", "Secret", &key, &err), LATHE_EPERM);
    assert_string_equal(err.what, "the password is not the one of this key");
    if (read_secret("locked.key", "secret", &key, &err)) fail_msg("%s", err.what);
    assert_int_equal(minisign_sign(&key, MESSAGE, 14, "x", &text, &err), LATHE_OK);
    assert_int_equal(minisign_read_signature(text.data, text.length, &signature, &err),
                     LATHE_OK);
    read_public("locked.pub", &public);
    assert_int_equal(minisign_verify(&public, &signature, MESSAGE, 14, &err), LATHE_OK);
    text_finish(&text);
}

static void damaged_secret_keys_are_refused(void **state) {
    (void)state;
    struct minisign_secret key;
    struct error err = {0};
    size_t length;
    need_libsodium();
    char *text = fixture("plain.key", &length), *line = strchr(text, '\n') + 1;
    line[100] = line[100] == 'A' ? 'B' : 'A'; /* in the key itself */
    assert_int_equal(minisign_read_secret(text, length, NULL, NULL, &key, &err),
                     LATHE_EDATA);
    assert_non_null(strstr(err.what, "damaged"));
    line[1] = 'X';
    assert_int_equal(minisign_read_secret(text, length, NULL, NULL, &key, &err),
                     LATHE_EDATA);
    assert_int_equal(minisign_read_secret(text, length / 2, NULL, NULL, &key, &err),
                     LATHE_EDATA);
    free(text);
    /* One that wants all the memory there is, for its password. */
    text = fixture("locked.key", &length);
    memcpy(strchr(text, '\n') + 1 + 61, "////", 4);
    assert_int_equal(
        minisign_read_secret(text, length, answer, (void *)"secret", &key, &err),
        LATHE_EDATA);
    assert_non_null(strstr(err.what, "wants more for its password"));
    free(text);
}

/* ---- the program ---- */

static void minisign_verifies_what_is_signed_here(void **state) {
    (void)state;
    struct minisign_secret key;
    struct error err = {0};
    struct text text = {0};
    struct scratch scratch;
    size_t length;
    need_libsodium();
    if (system("command -v minisign >/dev/null")) {
        print_message("skipped: minisign is not installed\n");
        skip();
    }
    scratch_init(&scratch);
    scratch_run(&scratch, "minisign -G -W -p it.pub -s it.key >/dev/null");
    char *secret = NULL, *public = fixture("plain.pub", &length);
    if (file_read(scratch_path(&scratch, "it.key"), MINISIGN_BYTES, &secret, &length,
                  &err) ||
        minisign_read_secret(secret, length, NULL, NULL, &key, &err) ||
        minisign_sign(&key, MESSAGE, 14, "signed by lathe", &text, &err))
        fail_msg("%s", err.what);
    scratch_text(&scratch, "message", MESSAGE);
    scratch_text(&scratch, "message.minisig", text.data);
    scratch_text(&scratch, "other.pub", public);
    scratch_run(&scratch, "minisign -V -H -p it.pub -m message >out");
    scratch_run(&scratch, "grep -q '^Trusted comment: signed by lathe$' out");
    scratch_run(&scratch, "! minisign -V -p other.pub -m message >out 2>&1");
    scratch_run(&scratch,
                "echo >>message; ! minisign -V -p it.pub -m message >out 2>&1");
    text_finish(&text);
    free(secret);
    free(public);
    scratch_finish(&scratch);
}

static void without_libsodium_it_is_said(void **state) {
    (void)state;
    struct minisign_secret key;
    struct error err = {0};
    if (minisign_is_there(NULL)) skip();
    assert_int_equal(read_secret("plain.key", NULL, &key, &err), LATHE_EPLUGIN);
    assert_non_null(strstr(err.what, "built without libsodium"));
    assert_non_null(strstr(err.help, "libsodium-dev"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_have_the_numbers_that_minisign_prints),
        cmocka_unit_test(signatures_are_read_as_they_were_written),
        cmocka_unit_test(damaged_texts_are_refused),
        cmocka_unit_test(what_minisign_signed_is_verified),
        cmocka_unit_test(another_key_is_named),
        cmocka_unit_test(signing_gives_what_minisign_gives),
        cmocka_unit_test(a_key_with_a_password_opens_with_it_alone),
        cmocka_unit_test(damaged_secret_keys_are_refused),
        cmocka_unit_test(minisign_verifies_what_is_signed_here),
        cmocka_unit_test(without_libsodium_it_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
