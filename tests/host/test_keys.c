/* SPDX-License-Identifier: MIT */
/* Whom the user trusts, and what becomes of a bundle that nobody of those signed. */
#include "support/scratch.h"

#include <sys/stat.h>

#include "base/file.h"
#include "keys.h"

#define MESSAGE "bytes to sign\n"

struct place {
    struct scratch scratch;
    char *signature;
    size_t length;
};

static char *fixture(const char *name, size_t *length) {
    char path[512], *content = NULL;
    snprintf(path, sizeof path, "%s/tests/host/base/minisign/%s", getenv("SOURCE"),
             name);
    assert_int_equal(file_read(path, MINISIGN_BYTES, &content, length, NULL), LATHE_OK);
    return content;
}

/* A configuration directory of our own, in which plain.pub is trusted. */
static int enter(void **state) {
    static struct place place;
    char command[600];
    *state = &place;
    if (!getenv("SOURCE")) return 0;
    scratch_init(&place.scratch);
    setenv("XDG_CONFIG_HOME", place.scratch.directory, 1);
    scratch_run(&place.scratch, "umask 022; mkdir -p lathe/trusted");
    snprintf(command, sizeof command,
             "cp '%s'/tests/host/base/minisign/plain.pub lathe/trusted/somebody.pub && "
             "chmod 644 lathe/trusted/*",
             getenv("SOURCE"));
    scratch_run(&place.scratch, command);
    place.signature = fixture("prehashed.minisig", &place.length);
    return 0;
}

static int leave(void **state) {
    struct place *place = *state;
    free(place->signature);
    scratch_finish(&place->scratch);
    return 0;
}

static struct keys *open_keys(void) {
    struct keys *keys;
    struct error err = {0};
    if (keys_open(&keys, &err)) fail_msg("%s, %s", err.what, err.where);
    return keys;
}

static void set_policy(struct place *place, const char *json) {
    scratch_text(&place->scratch, "lathe/config.json", json);
    chmod(place->scratch.path, 0644);
}

/* ---- what there is ---- */

static void keys_are_named_by_their_files(void **state) {
    struct place *place = *state;
    char number[MINISIGN_NAME];
    scratch_text(&place->scratch, "lathe/trusted/notes.txt", "no key");
    struct keys *keys = open_keys();
    assert_int_equal(keys_count(keys), 1);
    assert_string_equal(keys_at(keys, 0, number), "somebody");
    assert_string_equal(number, "9242A6EB647F81BA");
    assert_int_equal(keys_policy(keys), KEYS_WARN);
    keys_close(keys);
}

static void without_a_configuration_nobody_is_trusted(void **state) {
    struct place *place = *state;
    scratch_run(&place->scratch, "rm -r lathe");
    struct keys *keys = open_keys();
    assert_int_equal(keys_count(keys), 0);
    assert_int_equal(keys_policy(keys), KEYS_WARN);
    keys_close(keys);
}

static void the_policy_is_read_strictly(void **state) {
    struct place *place = *state;
    static const char *const policies[] = {"any", "warn", "signed-only"};
    struct keys *keys;
    struct error err = {0};
    for (int i = 0; i < 3; i++) {
        char json[64];
        snprintf(json, sizeof json, "{\"bundles\": \"%s\"}", policies[i]);
        set_policy(place, json);
        keys = open_keys();
        assert_int_equal(keys_policy(keys), i);
        assert_string_equal(keys_policy_name(keys_policy(keys)), policies[i]);
        keys_close(keys);
    }
    set_policy(place, "{\"bundels\": \"any\"}");
    assert_int_equal(keys_open(&keys, &err), LATHE_EINVAL);
    assert_non_null(strstr(err.what, "bundels"));
    assert_non_null(strstr(err.help, "bundles"));
    assert_non_null(strstr(err.where, "config.json"));
    set_policy(place, "{\"bundles\": \"signed\"}");
    assert_int_equal(keys_open(&keys, &err), LATHE_EINVAL);
    assert_non_null(strstr(err.where, "bundles"));
    set_policy(place, "{");
    assert_int_equal(keys_open(&keys, &err), LATHE_EINVAL);
    assert_null(keys);
}

static void what_others_can_write_is_refused(void **state) {
    struct place *place = *state;
    struct keys *keys;
    struct error err = {0};
    chmod(scratch_path(&place->scratch, "lathe/trusted/somebody.pub"), 0666);
    assert_int_equal(keys_open(&keys, &err), LATHE_EPERM);
    assert_non_null(strstr(err.help, "chmod"));
    chmod(place->scratch.path, 0644);
    set_policy(place, "{\"bundles\": \"any\"}");
    chmod(place->scratch.path, 0646);
    assert_int_equal(keys_open(&keys, &err), LATHE_EPERM);
}

static void what_is_no_key_is_named(void **state) {
    struct place *place = *state;
    struct keys *keys;
    struct error err = {0};
    scratch_text(&place->scratch, "lathe/trusted/other.pub", "hello\n");
    chmod(place->scratch.path, 0644);
    assert_int_equal(keys_open(&keys, &err), LATHE_EDATA);
    assert_non_null(strstr(err.where, "other.pub"));
}

static void one_key_may_be_named_instead(void **state) {
    struct place *place = *state;
    struct keys *keys;
    struct error err = {0};
    const char base64[] = "RWS6gX9k66ZCkovGyBkbt0JsxVEinHCQo2hnJ46iIsCU9N6xx80J1Cxc";
    const char *file = scratch_path(&place->scratch, "lathe/trusted/somebody.pub");
    assert_int_equal(keys_open_one(file, &keys, &err), LATHE_OK);
    assert_int_equal(keys_policy(keys), KEYS_SIGNED_ONLY);
    keys_close(keys);
    assert_int_equal(keys_open_one(base64, &keys, &err), LATHE_OK);
    assert_int_equal(keys_count(keys), 1);
    keys_close(keys);
    assert_int_equal(keys_open_one("nowhere.pub", &keys, &err), LATHE_ENOTFOUND);
}

/* ---- what becomes of a bundle ---- */

static enum keys_decision decide(struct place *place, const char *policy,
                                 const char *message, const char *signature,
                                 struct keys_check *check, struct error *err) {
    char json[64];
    snprintf(json, sizeof json, "{\"bundles\": \"%s\"}", policy);
    set_policy(place, json);
    struct keys *keys = open_keys();
    keys_check(keys, message, strlen(message), signature,
               signature ? strlen(signature) : 0, check);
    enum keys_decision decision = keys_judge(keys, check, err);
    check->name = check->name ? "" : NULL; /* it was the keys' */
    keys_close(keys);
    return decision;
}

#define POLICIES 3
struct row {
    const char *message, *signature;
    enum keys_verdict verdict;
    enum keys_decision decisions[POLICIES];
    const char *why;
};

static void judge_rows(struct place *place, const struct row *rows, size_t count) {
    static const char *const policies[POLICIES] = {"any", "warn", "signed-only"};
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < POLICIES; k++) {
            struct keys_check check;
            struct error err = {0};
            enum keys_decision decision = decide(place, policies[k], rows[i].message,
                                                 rows[i].signature, &check, &err);
            assert_int_equal(check.verdict, rows[i].verdict);
            assert_int_equal(decision, rows[i].decisions[k]);
            if (rows[i].verdict != KEYS_TRUSTED && !strstr(err.what, rows[i].why))
                fail_msg("%s: not in: %s", rows[i].why, err.what);
        }
}

static void the_policy_decides(void **state) {
    struct place *place = *state;
    size_t length;
    if (!minisign_is_there(NULL)) skip();
    char *other = fixture("locked.minisig", &length);
    const struct row rows[] = {
        {MESSAGE, place->signature, KEYS_TRUSTED, {0, 0, 0}, ""},
        {MESSAGE,
         NULL,
         KEYS_UNSIGNED,
         {KEYS_ACCEPT, KEYS_ACCEPT_AND_WARN, KEYS_REFUSE},
         "nobody has signed it"},
        {MESSAGE,
         other,
         KEYS_UNKNOWN,
         {KEYS_ACCEPT, KEYS_ACCEPT_AND_WARN, KEYS_REFUSE},
         "which is not trusted"},
        {"other bytes",
         place->signature,
         KEYS_WRONG,
         {KEYS_REFUSE, KEYS_REFUSE, KEYS_REFUSE},
         "it is not what key 9242A6EB647F81BA has signed"},
        {MESSAGE,
         "untrusted comment: x\n",
         KEYS_WRONG,
         {KEYS_REFUSE, KEYS_REFUSE, KEYS_REFUSE},
         "it is no signature of minisign"},
    };
    judge_rows(place, rows, sizeof rows / sizeof *rows);
    free(other);
}

static void without_libsodium_nothing_counts_as_checked(void **state) {
    struct place *place = *state;
    if (minisign_is_there(NULL)) skip();
    const struct row row = {MESSAGE,
                            place->signature,
                            KEYS_UNCHECKED,
                            {KEYS_ACCEPT, KEYS_ACCEPT_AND_WARN, KEYS_REFUSE},
                            "built without libsodium"};
    judge_rows(place, &row, 1);
}

static void what_is_signed_is_trusted(void **state) {
    struct place *place = *state;
    struct keys_check check;
    struct text text = {0};
    struct error err = {0};
    char path[512];
    if (!minisign_is_there(NULL)) skip();
    snprintf(path, sizeof path, "%s/tests/host/base/minisign/plain.key",
             getenv("SOURCE"));
    if (keys_sign(path, NULL, NULL, "{}", 2, "bundle", &text, &err))
        fail_msg("%s", err.what);
    assert_int_equal(decide(place, "signed-only", "{}", text.data, &check, &err),
                     KEYS_ACCEPT);
    assert_string_equal(check.comment, "bundle");
    assert_non_null(check.name);
    text_finish(&text);
    assert_int_equal(keys_sign("nowhere", NULL, NULL, "", 0, "", &text, &err),
                     LATHE_ENOTFOUND);
}

int main(void) {
#define IN_A_PLACE(test) cmocka_unit_test_setup_teardown(test, enter, leave)
    const struct CMUnitTest tests[] = {
        IN_A_PLACE(keys_are_named_by_their_files),
        IN_A_PLACE(without_a_configuration_nobody_is_trusted),
        IN_A_PLACE(the_policy_is_read_strictly),
        IN_A_PLACE(what_others_can_write_is_refused),
        IN_A_PLACE(what_is_no_key_is_named),
        IN_A_PLACE(one_key_may_be_named_instead),
        IN_A_PLACE(the_policy_decides),
        IN_A_PLACE(without_libsodium_nothing_counts_as_checked),
        IN_A_PLACE(what_is_signed_is_trusted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
