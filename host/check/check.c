/* SPDX-License-Identifier: MIT */
#include "check/check.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *check_verdict_name(enum verdict verdict) {
    static const char *const names[] = {"ok", "FAIL", "warn", "skip"};
    return names[verdict];
}

static bool is_worse(const struct result *result, enum verdict verdict) {
    if (result->verdict == VERDICT_FAIL) return false;
    return verdict != VERDICT_OK || result->verdict == VERDICT_OK;
}

static void decide(struct check *check, enum verdict verdict, const char *format,
                   va_list arguments) {
    struct result *result = check->result;
    pthread_mutex_lock(&check->lock);
    if (is_worse(result, verdict)) {
        vsnprintf(result->reason, sizeof result->reason, format, arguments);
        text_clean(result->reason);
        result->verdict = verdict;
    }
    pthread_mutex_unlock(&check->lock);
}

#define DECIDE(verdict)                                                                \
    va_list arguments;                                                                 \
    va_start(arguments, format);                                                       \
    decide(check, verdict, format, arguments);                                         \
    va_end(arguments)

bool check_fail(struct check *check, const char *format, ...) {
    DECIDE(VERDICT_FAIL);
    return false;
}

bool check_warn(struct check *check, const char *format, ...) {
    DECIDE(VERDICT_WARN);
    return false;
}

bool check_skip(struct check *check, const char *format, ...) {
    DECIDE(VERDICT_SKIP);
    return false;
}

void check_note(struct check *check, const char *format, ...) {
    DECIDE(VERDICT_OK);
}

static void look_at_output(struct check *check) {
    if (!check->output || check->printed[0]) return;
    if (lseek(check->output, 0, SEEK_END) <= 0) return;
    snprintf(check->printed, sizeof check->printed, "%s", check->result->doing);
}

void check_output(struct check *check) {
    pthread_mutex_lock(&check->lock);
    look_at_output(check);
    pthread_mutex_unlock(&check->lock);
}

void check_doing(struct check *check, const char *format, ...) {
    va_list arguments;
    pthread_mutex_lock(&check->lock);
    look_at_output(check);
    va_start(arguments, format);
    vsnprintf(check->result->doing, sizeof check->result->doing, format, arguments);
    va_end(arguments);
    pthread_mutex_unlock(&check->lock);
}

bool check_is_failed(struct check *check) {
    pthread_mutex_lock(&check->lock);
    const bool is_failed = check->result->verdict == VERDICT_FAIL;
    pthread_mutex_unlock(&check->lock);
    return is_failed;
}

uint32_t check_draw(const struct check *check, uint32_t purpose, uint64_t index) {
    const lathe_key seed = {(uint32_t)check->seed, (uint32_t)(check->seed >> 32)};
    uint32_t draws[4];
    lathe_random4(seed, purpose, index / 4, draws);
    return draws[index % 4];
}

static double draw_unit(const struct check *check, uint32_t purpose, uint64_t index) {
    return (check_draw(check, purpose, index) + 0.5) / 4294967296.0;
}

double check_normal(const struct check *check, uint32_t purpose, uint64_t index) {
    double sum = -2;
    for (uint64_t i = 0; i < 4; i++) sum += draw_unit(check, purpose, 4 * index + i);
    return sum * 1.7320508075688772; /* four uniform numbers have variance 1/3 */
}

bool check_same(const void *a, const void *b, size_t bytes) {
    return memcmp(a, b, bytes) == 0;
}

#define SHOWN 120 /* bytes of a line, from a little before the difference */
#define BEFORE 24

static void tell_difference(const char *a, size_t a_length, const char *b,
                            size_t b_length, char *difference, size_t size) {
    size_t same = 0;
    while (same < a_length && same < b_length && a[same] == b[same]) same++;
    const bool is_long = a_length > SHOWN || b_length > SHOWN;
    const size_t from = is_long && same > BEFORE ? same - BEFORE : 0;
    const int a_shown = (int)(a_length - from > SHOWN ? SHOWN : a_length - from);
    const int b_shown = (int)(b_length - from > SHOWN ? SHOWN : b_length - from);
    const char *dots = from ? "…" : "";
    if (!*a)
        snprintf(difference, size, "there is more: %s%.*s", dots, b_shown, b + from);
    else if (!*b)
        snprintf(difference, size, "%s%.*s is not there", dots, a_shown, a + from);
    else
        snprintf(difference, size, "%s%.*s, not %s%.*s", dots, b_shown, b + from, dots,
                 a_shown, a + from);
}

bool check_differ(const struct text *expected, const struct text *found,
                  char *difference, size_t size) {
    const char *a = expected->data ? expected->data : "";
    const char *b = found->data ? found->data : "";
    while (*a || *b) {
        const size_t a_length = strcspn(a, "\n"), b_length = strcspn(b, "\n");
        if (a_length != b_length || memcmp(a, b, a_length) != 0) {
            tell_difference(a, a_length, b, b_length, difference, size);
            return true;
        }
        a += a_length + (a[a_length] != 0);
        b += b_length + (b[b_length] != 0);
    }
    return false;
}
