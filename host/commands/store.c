/* SPDX-License-Identifier: MIT */
/* lathe store: lists the bundles that were unpacked, and removes them. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/trust.h"
#include "bundle/shelf.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/entries.h"

#define DAY_SECONDS 86400
#define ID_LEAST 8 /* digits of an id; fewer may be a slip of the hand */

struct keeping {
    char *place;
    struct shelf_list list;
    int is_json, is_all;
    long days;
};

static void add_time(time_t when, struct text *text) {
    struct tm parts;
    char shown[32] = "?";
    if (gmtime_r(&when, &parts)) strftime(shown, sizeof shown, "%Y-%m-%d", &parts);
    text_add(text, shown);
}

static void add_json(const struct keeping *k, struct text *text) {
    text_add(text, "[");
    for (size_t i = 0; i < k->list.count; i++) {
        const struct shelf_item *item = &k->list.items[i];
        text_format(text, "%s\n  {\"id\": \"%s\", \"name\": ", i ? "," : "", item->id);
        text_json_string(text, item->name);
        text_format(text, ", \"size\": %lld, \"used\": \"", (long long)item->size);
        add_time(item->used, text);
        text_add(text, "\", \"folder\": ");
        char *folder = text_make("%s/" SHELF_PREFIX "%s", k->place, item->id);
        text_json_string(text, folder);
        free(folder);
        text_add(text, "}");
    }
    text_add(text, k->list.count ? "\n]\n" : "]\n");
}

static void add_lines(const struct keeping *k, struct text *text) {
    for (size_t i = 0; i < k->list.count; i++) {
        const struct shelf_item *item = &k->list.items[i];
        struct text size = {0};
        bundle_add_size(item->size, &size);
        text_format(text, "%.16s  %10s  last used ", item->id,
                    size.data ? size.data : "?");
        add_time(item->used, text);
        text_format(text, "  %s\n", item->name);
        text_finish(&size);
    }
}

static lathe_status list(const struct keeping *k, struct error *err) {
    struct text text = {0};
    if (k->is_json)
        add_json(k, &text);
    else
        add_lines(k, &text);
    lathe_status status = entries_print(&text, !k->is_json, err);
    text_finish(&text);
    if (!k->is_json)
        fprintf(stderr, "%zu bundle%s in %s\n", k->list.count,
                k->list.count == 1 ? "" : "s", k->place);
    return status;
}

/* What is left of an id that was given as the name of a folder. */
static const char *bare_id(const char *word) {
    const size_t count = strlen(SHELF_PREFIX);
    return strncmp(word, SHELF_PREFIX, count) != 0 ? word : word + count;
}

static bool is_meant(const struct shelf_item *item, const char *word) {
    const char *id = bare_id(word);
    return !strcmp(item->name, word) ||
           (strlen(id) >= ID_LEAST && !strncmp(item->id, id, strlen(id)));
}

/* The only item whose id begins with `word`, or whose name it is. */
static const struct shelf_item *find_item(const struct keeping *k, const char *word,
                                          struct error *err) {
    const struct shelf_item *found = NULL;
    for (size_t i = 0; i < k->list.count; i++) {
        const struct shelf_item *item = &k->list.items[i];
        if (!is_meant(item, word)) continue;
        if (found) {
            fail(err, LATHE_EINVAL, "two bundles are called \"%.200s\"", word);
            error_help(err, "\"lathe store list\" shows their ids");
            return NULL;
        }
        found = item;
    }
    if (found) return found;
    fail(err, LATHE_ENOTFOUND, "there is no bundle \"%.200s\" in the store", word);
    error_where(err, "%s", k->place);
    error_help(err, "\"lathe store list\" shows their ids");
    return NULL;
}

/* One that is in use stays, which is a failure if it is the one that is wanted. */
static lathe_status remove_item(const struct keeping *k, const struct shelf_item *item,
                                bool is_wanted, struct error *err) {
    bool is_held = false;
    lathe_status status = shelf_remove(k->place, item->id, &is_held, err);
    if (is_held && !is_wanted) status = LATHE_OK;
    if (is_held && is_wanted) error_help(err, "wait for what runs it, or end that");
    if (!status)
        printf("%s %.16s  %s%s\n", is_held ? "kept" : "removed", item->id, item->name,
               is_held ? ": in use" : "");
    return status;
}

/* An item that is named twice is removed once. */
static bool is_named_before(const struct keeping *k, const struct words *ids,
                            size_t index, const struct shelf_item *item) {
    for (size_t i = 0; i < index; i++)
        if (find_item(k, ids->items[i], NULL) == item) return true;
    return false;
}

static lathe_status prune_named(const struct keeping *k, const struct words *ids,
                                struct error *err) {
    lathe_status status = LATHE_OK;
    for (size_t i = 0; i < ids->count && !status; i++) {
        const struct shelf_item *item = find_item(k, ids->items[i], err);
        if (!item) return err->status;
        if (!is_named_before(k, ids, i, item)) status = remove_item(k, item, true, err);
    }
    return status;
}

static lathe_status prune_old(const struct keeping *k, struct error *err) {
    const time_t oldest = time(NULL) - (time_t)k->days * DAY_SECONDS;
    lathe_status status = LATHE_OK;
    for (size_t i = 0; i < k->list.count && !status; i++)
        if (k->is_all || k->list.items[i].used < oldest)
            status = remove_item(k, &k->list.items[i], false, err);
    return status;
}

static lathe_status prune(const struct keeping *k, const struct words *ids,
                          struct error *err) {
    const int swept = shelf_sweep(k->place);
    if (swept)
        printf("removed what %d interrupted process%s left\n", swept,
               swept == 1 ? "" : "es");
    return ids->count ? prune_named(k, ids, err) : prune_old(k, err);
}

__attribute__((format(printf, 2, 3))) static int refuse(struct error *err,
                                                        const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fail_list(err, LATHE_EINVAL, format, arguments);
    va_end(arguments);
    error_where(err, "command line of \"store\"");
    error_help(err, "lathe store list, or lathe store prune");
    return EXIT_USAGE;
}

static int read_days(const char *days, struct keeping *k, struct error *err) {
    char *end = NULL;
    k->days = 30;
    if (!days) return 0;
    k->days = strtol(days, &end, 10);
    if (*end || k->days < 0 || k->days > 36500)
        return refuse(err, "\"%s\" is no number of days", days);
    return 0;
}

/* "prune 7" is not taken for an id: it may have been meant as "--days 7". */
static int check_ids(const struct keeping *k, const struct words *ids,
                     struct error *err) {
    for (size_t i = 0; i < ids->count; i++) {
        const char *word = ids->items[i], *id = bare_id(word);
        const size_t length = strlen(id);
        if (length >= ID_LEAST || strspn(id, "0123456789abcdef") != length) continue;
        if (*word && find_item(k, word, NULL)) continue;
        refuse(err, "\"%s\" is too short for an id: %d digits or more, or a name", word,
               ID_LEAST);
        if (*word && strspn(word, "0123456789") == strlen(word))
            error_help(err,
                       "those not used for so many days: lathe store prune "
                       "--days %s",
                       word);
        else
            error_help(err, "\"lathe store list\" shows their ids");
        return EXIT_USAGE;
    }
    return 0;
}

static int keep(struct keeping *k, const struct words *words, struct error *err) {
    if (!words->count) return refuse(err, "a word is missing: list or prune");
    const char *word = words->items[0];
    const bool is_list = !strcmp(word, "list"), is_prune = !strcmp(word, "prune");
    if (!is_list && !is_prune) return refuse(err, "\"%s\" is not known", word);
    if (is_list && words->count > 1)
        return refuse(err, "\"%s\" is one too many", words->items[1]);
    lathe_status status = shelf_read(k->place, &k->list, err);
    struct error trust = {0};
    if (!access(k->place, F_OK) && trust_check_folder(k->place, &trust))
        fprintf(stderr, "lathe: warning: %s; %s\n", trust.what, trust.help);
    const struct words ids = {words->items + 1, words->count - 1};
    if (!status && is_prune && check_ids(k, &ids, err)) return EXIT_USAGE;
    if (!status) status = is_list ? list(k, err) : prune(k, &ids, err);
    return error_exit_code(status);
}

int command_store(int argc, char **argv) {
    struct keeping k = {0};
    const char *store = NULL, *days = NULL;
    const struct flag flags[] = {{"--json", .count = &k.is_json},
                                 {"--all", .count = &k.is_all},
                                 {"--days", "N", .value = &days},
                                 {"--store", "DIR", .value = &store},
                                 {.name = NULL}};
    struct arguments arguments = {0};
    struct error err = {0};
    int code = arguments_read(argc, argv, flags, &arguments, &err);
    if (!code && arguments.overrides.count)
        code = refuse(&err, "\"%s\" is one too many", arguments.overrides.items[0]);
    if (!code) code = read_days(days, &k, &err);
    if (!code) code = error_exit_code(shelf_place(store, &k.place, &err));
    if (!code) code = keep(&k, &arguments.words, &err);
    if (code) command_print_error(&err);
    shelf_finish(&k.list);
    free(k.place);
    arguments_finish(&arguments);
    return code;
}
