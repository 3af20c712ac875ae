/* SPDX-License-Identifier: MIT */
#include "arguments.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "commands/setting.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

struct reading {
    int argc, next;
    char **argv;
    const struct flag *flags;
    const char **free; /* the memory that is left for lists */
    struct error *err;
};

__attribute__((format(printf, 2, 3))) static int refuse(struct reading *reading,
                                                        const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fail_list(reading->err, LATHE_EINVAL, format, arguments);
    va_end(arguments);
    error_where(reading->err, "command line of \"%s\"", reading->argv[0]);
    error_help(reading->err, "\"lathe help %s\" lists its flags", reading->argv[0]);
    return EXIT_USAGE;
}

/* Every list has room for all arguments. */
static void add(struct reading *reading, struct words *words, const char *word) {
    if (!words->items) {
        words->items = reading->free;
        reading->free += reading->argc + 1;
    }
    words->items[words->count++] = word;
}

/* Only the names of metrics, under `expect`, have a '/' in them. */
static bool is_override(const char *word) {
    const char *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word) : 0;
    const char *letters = strncmp(word, "expect.", 7) ? LETTERS "0123456789_.-"
                                                      : LETTERS "0123456789_.-/";
    return length > 0 && strspn(word, letters) == length && *word != '.';
}

static size_t name_length(const char *argument) {
    return argument[1] == '-' ? strcspn(argument, "=") : strlen(argument);
}

/* "-vv" is "-v" twice: returns how often a one-letter flag is repeated in it. */
static int repeats(const struct flag *flag, const char *argument) {
    size_t length = strlen(argument) - 1;
    if (flag->name[1] == '-' || length == 0) return 0;
    char letter[2] = {flag->name[1], '\0'};
    return strspn(argument + 1, letter) == length ? (int)length : 0;
}

static int refuse_unknown(struct reading *reading, const char *argument) {
    char name[64];
    size_t length = name_length(argument);
    if (length >= sizeof name) length = sizeof name - 1;
    memcpy(name, argument, length);
    name[length] = '\0';
    struct nearest nearest;
    nearest_begin(&nearest, name);
    for (const struct flag *flag = reading->flags; flag->name; flag++)
        nearest_offer(&nearest, flag->name);
    refuse(reading, "unknown flag \"%s\"", name);
    if (nearest.best)
        error_help(reading->err,
                   "did you mean \"%s\"? \"lathe help %s\" lists its flags",
                   nearest.best, reading->argv[0]);
    return EXIT_USAGE;
}

static int take_value(struct reading *reading, const struct flag *flag,
                      const char *attached) {
    const char *value = attached;
    if (!value && reading->next < reading->argc) {
        value = reading->argv[reading->next];
        if (*value == '-' && value[1] != '\0')
            value = NULL;
        else
            reading->next++;
    }
    if (!value || !*value)
        return refuse(reading, "%s needs a value: %s %s", flag->name, flag->name,
                      flag->follows);
    if (flag->values)
        add(reading, flag->values, value);
    else if (*flag->value)
        return refuse(reading, "%s is given twice", flag->name);
    else
        *flag->value = value;
    return 0;
}

static int take_flag(struct reading *reading, const char *argument) {
    size_t length = name_length(argument);
    const char *attached = argument[length] == '=' ? argument + length + 1 : NULL;
    for (const struct flag *flag = reading->flags; flag->name; flag++) {
        bool is_same =
            strlen(flag->name) == length && !memcmp(flag->name, argument, length);
        if (!flag->count) {
            if (is_same) return take_value(reading, flag, attached);
            continue;
        }
        if (is_same && attached)
            return refuse(reading, "%s takes no value", flag->name);
        int times = is_same ? 1 : repeats(flag, argument);
        *flag->count += times;
        if (times) return 0;
    }
    return refuse_unknown(reading, argument);
}

int arguments_read(int argc, char **argv, const struct flag *flags,
                   struct arguments *arguments, struct error *err) {
    size_t lists = 2;
    for (const struct flag *flag = flags; flag->name; flag++)
        lists += flag->values != NULL;
    *arguments = (struct arguments){0};
    arguments->memory = calloc(lists * ((size_t)argc + 1), sizeof(char *));
    if (!arguments->memory)
        return error_exit_code(
            fail(err, LATHE_ENOMEM, "no memory for the command line"));
    struct reading reading = {.argc = argc,
                              .next = 1,
                              .argv = argv,
                              .flags = flags,
                              .free = arguments->memory,
                              .err = err};
    bool are_flags_over = false;
    int code = 0;
    while (!code && reading.next < argc) {
        const char *argument = argv[reading.next++];
        bool is_flag = !are_flags_over && argument[0] == '-' && argument[1] != '\0';
        if (is_flag && !strcmp(argument, "--"))
            are_flags_over = true;
        else if (is_flag)
            code = take_flag(&reading, argument);
        else if (is_override(argument))
            add(&reading, &arguments->overrides, argument);
        else
            add(&reading, &arguments->words, argument);
    }
    if (code) arguments_finish(arguments);
    return code;
}

static void put_help(const char *command, struct error *err) {
    error_help(err, "\"lathe help %s\" shows how it is used", command);
}

static int miss(const char *command, const char *what, struct error *err) {
    fail(err, LATHE_EINVAL, "%s is missing", what);
    error_where(err, "command line of \"%s\"", command);
    put_help(command, err);
    return EXIT_USAGE;
}

static int refuse_more(const char *command, const char *word, struct error *err) {
    fail(err, LATHE_EINVAL, "only one is taken: \"%s\" is one too many", word);
    error_where(err, "command line of \"%s\"", command);
    put_help(command, err);
    return EXIT_USAGE;
}

/* For an override that is none: "lr 0.01", "lr = 0.01", "lr". */
static void help_override(const struct words *words, struct error *err) {
    const char *second = words->items[1];
    const char *third = words->count > 2 ? words->items[2] : "";
    if (*third == '=' || strstr(second, " =") || strstr(second, "= ")) {
        error_help(err, "no blanks around the = of path=value: optimizer.lr=0.01");
    } else if (strchr(second, '=')) {
        error_help(err, "an override is path=value, the path with dots: "
                        "optimizer.lr=0.01");
    } else if (access(second, F_OK)) {
        char *setting = setting_near(words->items[0], second);
        if (setting)
            error_help(err, "did you mean \"%s=%s\"? An override is path=value",
                       setting, *third ? third : "VALUE");
        else
            error_help(err, "an override is path=value: optimizer.lr=0.01");
        free(setting);
    }
}

int arguments_only_word(const struct arguments *arguments, const char *command,
                        const char *what, const char **word, struct error *err) {
    const struct words *words = &arguments->words;
    if (words->count == 0) return miss(command, what, err);
    *word = words->items[0];
    if (words->count == 1) return 0;
    refuse_more(command, words->items[1], err);
    help_override(words, err);
    return EXIT_USAGE;
}

int arguments_lone_word(const struct arguments *arguments, const char *command,
                        const char *what, const char **word, struct error *err) {
    const struct words *words = &arguments->words, *more = &arguments->overrides;
    if (words->count + more->count == 0) return miss(command, what, err);
    *word = words->count ? words->items[0] : more->items[0]; /* a file "a=b" */
    if (words->count + more->count == 1) return 0;
    return refuse_more(command,
                       words->count > 1 ? words->items[1]
                       : words->count   ? more->items[0]
                                        : more->items[1],
                       err);
}

void arguments_finish(struct arguments *arguments) {
    free(arguments->memory);
    *arguments = (struct arguments){0};
}
