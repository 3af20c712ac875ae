/* SPDX-License-Identifier: MIT */
/* The host table, first half: what any plugin may ask while it is made. */
#include "services.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <lathe/draft/checkpoint.h>
#include <lathe/draft/profile.h>

#include "archive.h"
#include "session_calls.h"

struct plugin *services_caller(const lathe_host *host) {
    return host->context;
}

lathe_session *services_session(const lathe_host *host) {
    return services_caller(host)->session;
}

bool services_may_load(const lathe_host *host, const char *service) {
    /* The phase is the loop's: a thread that reads ahead is in none of them. */
    if (workers_self() <= 0 && services_session(host)->phase == PHASE_LOAD) return true;
    plugin_misuse(services_caller(host), LATHE_EPLUGIN,
                  "it called %s, which is [load], during the run", service);
    return false;
}

bool services_may_loop(const lathe_host *host, const char *service) {
    const lathe_session *s = services_session(host);
    const int self = workers_self();
    if (self == 0 && s->phase == PHASE_LOOP) return true;
    plugin_misuse(services_caller(host), LATHE_EPLUGIN,
                  "it called %s, which is [loop], %s", service,
                  self <= 0 && s->phase == PHASE_LOAD ? "before the run"
                                                      : "from a pass");
    return false;
}

/* ---- options ---- */

/* NULL: not given, or not declared, which fails create. */
static const struct json *find_option(const lathe_host *host, const char *path) {
    struct plugin *plugin = services_caller(host);
    if (!path || !options_declaration(plugin->use->manifest->options, path)) {
        plugin_misuse(plugin, LATHE_EPLUGIN,
                      "it asked for option \"%s\", which its manifest does not declare",
                      path ? path : "(NULL)");
        return NULL;
    }
    return options_find(plugin->use->options, path);
}

static int32_t has(const lathe_host *host, const char *path) {
    return find_option(host, path) != NULL;
}

static int64_t count(const lathe_host *host, const char *path) {
    return (int64_t)json_size(find_option(host, path));
}

static double number(const lathe_host *host, const char *path) {
    return json_number(find_option(host, path));
}

static int64_t integer(const lathe_host *host, const char *path) {
    return json_whole(find_option(host, path));
}

static const char *string(const lathe_host *host, const char *path) {
    return json_text(find_option(host, path));
}

static int64_t steps(const lathe_host *host, const char *path) {
    const lathe_session *s = services_session(host);
    const struct json *value = find_option(host, path);
    struct durations durations = {0};
    if (value) options_durations(value, &durations);
    int64_t least = 0;
    for (int i = 0; i < durations.count; i++) {
        if (durations.items[i].unit == DURATION_SECONDS) {
            plugin_misuse(
                services_caller(host), LATHE_EINVAL,
                "option \"%s\" is read in steps, and a time is none; epochs (ep), "
                "steps (step) and samples (sample) are",
                path);
            return 0;
        }
        if (!s->sampler.samples && durations.items[i].unit != DURATION_STEPS) {
            plugin_misuse(services_caller(host), LATHE_EINVAL,
                          "option \"%s\" is read before the data is there; only steps "
                          "(\"100step\") mean something then",
                          path);
            return 0;
        }
        int64_t these = session_steps(s, &durations.items[i]);
        if (!least || these < least) least = these;
    }
    return least;
}

static lathe_status plugin(const lathe_host *host, const char *path, const void **ops,
                           void **self) {
    struct plugin *caller = services_caller(host);
    for (size_t i = 0; i < caller->use->nested_count; i++)
        if (!strcmp(caller->use->nested[i].option, path)) {
            *ops = caller->nested[i].ops;
            *self = caller->nested[i].self;
            return LATHE_OK;
        }
    plugin_misuse(caller, LATHE_EPLUGIN,
                  "it asked for the plugin in option \"%s\", and there is none", path);
    return LATHE_EPLUGIN;
}

static const void *extension(const lathe_host *host, const char *id) {
    lathe_session *s = services_session(host);
    if (!strcmp(id, LATHE_PROFILE)) return session_profile(s);
    if (!strcmp(id, LATHE_CHECKPOINTS)) return services_checkpoints();
    if (!strcmp(id, LATHE_QUIET_EXTENSION) && s->options.flags & LATHE_QUIET) return s;
    return NULL;
}

static void log_text(const lathe_host *host, int32_t level, const char *text) {
    log_line(&services_session(host)->log, level, "%s: %s",
             services_caller(host)->use->id, text ? text : "");
}

static void note(const lathe_host *host, const char *name, const char *text) {
    struct plugin *plugin = services_caller(host);
    if (!services_may_load(host, "note") || !name || !text) return;
    if (!plugin->notes) plugin->notes = json_make_map();
    if (!plugin->notes || !json_put(plugin->notes, name, json_make_text(text)))
        plugin_misuse(plugin, LATHE_ENOMEM, "no memory for a note");
}

/* ---- files ---- */

/* Hands an error of the host's to the caller, who passes the status on. */
static lathe_status hand_over(const lathe_host *host, const struct error *err) {
    char text[sizeof err->where + sizeof err->what + 4];
    snprintf(text, sizeof text, "%s%s%s", err->where, err->where[0] ? ": " : "",
             err->what);
    return host->fail(host, err->status, text);
}

/* lathe_open returns LATHE_STOP whatever the plugin makes of this. */
static lathe_status fail_unwanted(const lathe_host *host) {
    return host->fail(host, LATHE_EIO, "the run is to end");
}

static lathe_status map(const lathe_host *host, const char *path, const void **bytes,
                        int64_t *byte_count) {
    struct error err = {0};
    if (!services_may_load(host, "map")) return LATHE_EPLUGIN;
    lathe_session *s = services_session(host);
    if (session_is_wanted(s) != LATHE_OK) return fail_unwanted(host);
    lathe_status status =
        files_map(s->files, string(host, path), bytes, byte_count, &err);
    return status == LATHE_OK ? status : hand_over(host, &err);
}

struct stream {
    lathe_reader reader; /* first: what the plugin holds */
    const lathe_host *host;
    struct archive_stream *archive;
    struct stream *next;
};

static lathe_status read_stream(const lathe_reader *reader, void *bytes, int64_t wanted,
                                int64_t *got) {
    const struct stream *stream = reader->context;
    struct error err = {0};
    lathe_status status =
        archive_stream_read(stream->archive, bytes, wanted, got, &err);
    return status == LATHE_OK ? status : hand_over(stream->host, &err);
}

static lathe_status open_stream(const lathe_host *host, const char *path,
                                const lathe_reader **reader) {
    struct error err = {0};
    lathe_session *s = services_session(host);
    if (!services_may_load(host, "open")) return LATHE_EPLUGIN;
    if (session_is_wanted(s) != LATHE_OK) return fail_unwanted(host);
    struct stream *stream = calloc(1, sizeof *stream);
    if (!stream) return host->fail(host, LATHE_ENOMEM, "no memory for a stream");
    lathe_status status = files_note(s->files, string(host, path), &err);
    if (status == LATHE_OK)
        status = archive_stream_open(string(host, path), &stream->archive, &err);
    if (status != LATHE_OK) {
        free(stream);
        return hand_over(host, &err);
    }
    stream->reader = (lathe_reader){
        .size = sizeof stream->reader, .context = stream, .read = read_stream};
    stream->host = host;
    stream->next = s->streams;
    s->streams = stream;
    *reader = &stream->reader;
    return LATHE_OK;
}

static lathe_status next_member(const lathe_host *host, const lathe_reader *reader,
                                const char **name) {
    const struct stream *stream = reader->context;
    struct error err = {0};
    lathe_status status = archive_stream_next(stream->archive, name, &err);
    return status >= 0 ? status : hand_over(host, &err);
}

static void close_stream(const lathe_host *host, const lathe_reader *reader) {
    struct stream **at = &services_session(host)->streams;
    while (*at && &(*at)->reader != reader) at = &(*at)->next;
    if (!*at) return;
    struct stream *stream = *at;
    *at = stream->next;
    archive_stream_close(stream->archive);
    free(stream);
}

void services_close_streams(lathe_session *s) {
    while (s->streams) close_stream(s->streams->host, &s->streams->reader);
}

/* ---- randomness ---- */

/* FNV-1a, 64 bits (Fowler, Noll, Vo). */
static uint64_t hash_text(uint64_t hash, const char *text) {
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 0x100000001B3u;
    return hash;
}

lathe_key session_key(const lathe_session *s, const struct use *use, uint32_t purpose,
                      int64_t epoch) {
    uint64_t who = 0xCBF29CE484222325u;
    if (use) {
        who = hash_text(who, manifest_kind_name(use->kind));
        who = hash_text(hash_text(who, "/"), use->id);
    }
    const uint64_t seed = s->experiment->seed;
    lathe_key key = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    key = lathe_derive(key, (uint32_t)s->now.stage, who);
    return lathe_derive(key, purpose, (uint64_t)epoch);
}

static void key(const lathe_host *host, uint32_t purpose, int64_t epoch,
                lathe_key *to) {
    *to =
        session_key(services_session(host), services_caller(host)->use, purpose, epoch);
}

void services_fill(lathe_host *host) {
    *host = (lathe_host){.size = sizeof *host,
                         .minor = LATHE_ABI_MINOR,
                         .log = log_text,
                         .extension = extension,
                         .has = has,
                         .count = count,
                         .number = number,
                         .integer = integer,
                         .string = string,
                         .steps = steps,
                         .plugin = plugin,
                         .map = map,
                         .open = open_stream,
                         .next_member = next_member,
                         .close_stream = close_stream,
                         .key = key,
                         .note = note};
    services_fill_loop(host);
}
