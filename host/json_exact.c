/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "json.h"

static const struct {
    const char *text;
    double number;
} unwritable[] = {{"nan", NAN}, {"inf", INFINITY}, {"-inf", -INFINITY}, {"-0", -0.0}};
#define UNWRITABLE (sizeof unwritable / sizeof *unwritable)

struct json *json_make_exact(double number) {
    if (isnan(number)) return json_make_text("nan");
    if (isinf(number)) return json_make_text(number > 0 ? "inf" : "-inf");
    if (number == 0 && signbit(number)) return json_make_text("-0");
    return json_make_number(number);
}

double json_exact(const struct json *value) {
    if (json_kind(value) != JSON_TEXT) return json_number(value);
    for (size_t i = 0; i < UNWRITABLE; i++)
        if (!strcmp(json_text(value), unwritable[i].text)) return unwritable[i].number;
    return 0;
}
