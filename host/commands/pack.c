/* SPDX-License-Identifier: MIT */
/* lathe pack: an experiment and all it needs in one file. */
#include "bundle/pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/path.h"
#include "bundle/magic.h"
#include "commands/arguments.h"
#include "commands/bundles.h"
#include "commands/commands.h"
#include "commands/entries.h"
#include "commands/password.h"
#include "commands/runs.h"
#include "keys.h"

#define LIMIT_DEFAULT ((int64_t)64 << 20)

struct packing {
    const char *source, *output, *limit, *checkpoint, *key;
    struct words plugin_paths;
    int is_json;
    char *run, *state; /* RUN and CHECKPOINT by their names under runs/ */
    char *resolved;    /* of a run: what takes the place of `source` */
    struct json *root; /* … and what is in it */
    const char **paths;
    struct bundle_use use; /* the bundle that a run is of */
    char *folders[2];      /* runs that SOURCE and CHECKPOINT are files of */
};

/* ---- the command line ---- */

static int refuse_limit(const char *text, struct error *err) {
    fail(err, LATHE_EINVAL, "\"%s\" is no limit", text);
    error_where(err, "--with-data");
    error_help(err, "for example --with-data 500MB, 64MiB, 0 or all");
    return EXIT_USAGE;
}

static int read_limit(const char *text, int64_t *limit, struct error *err) {
    static const struct {
        const char *name;
        double bytes;
    } units[] = {
        {"", 1},     {"B", 1},        {"kB", 1e3},        {"MB", 1e6},
        {"GB", 1e9}, {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}};
    const char *end = text;
    *limit = LIMIT_DEFAULT;
    if (!text) return 0;
    *limit = INT64_MAX;
    if (!strcmp(text, "all")) return 0;
    const double amount = text_read_number(text, &end);
    if (end == text || amount < 0 || amount > 1e12) return refuse_limit(text, err);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcasecmp(units[i].name, end)) {
            const double bytes = amount * units[i].bytes;
            if (bytes < (double)INT64_MAX) *limit = (int64_t)bytes;
            return 0;
        }
    return refuse_limit(text, err);
}

/* "-" is standard output elsewhere. A bundle is written aside, and then renamed. */
static int check_output(const struct packing *p, struct error *err) {
    if (!p->output || strcmp(p->output, "-") != 0) return 0;
    fail(err, LATHE_EINVAL, "a bundle is written to a file, and \"-\" is none");
    error_where(err, "-o");
    error_help(err, "name the bundle: -o NAME.lathe");
    return EXIT_USAGE;
}

static int check_source(const struct packing *p, struct error *err) {
    bool is_bundle;
    if (p->run) return 0;
    if (!magic_is_archive(p->source)) {
        lathe_status status = bundles_recognise(p->source, &is_bundle, err);
        return error_exit_code(status);
    }
    fail(err, LATHE_EINVAL, "it is packed already, or another archive");
    error_where(err, "%s", p->source);
    error_help(err,
               "\"lathe run %.200s\" runs it, \"lathe unpack %.200s -o DIR\" takes "
               "it apart",
               p->source, p->source);
    return error_exit_code(LATHE_EINVAL);
}

/* As `resume` takes them: "latest". */
static void find_runs(struct packing *p) {
    p->run = runs_named(p->source);
    p->state = p->checkpoint ? runs_named(p->checkpoint) : NULL;
    if (p->run) p->source = p->run;
    if (p->state) p->checkpoint = p->state;
}

/* A run is packed as what it ran, with the plugins that it ran with. */
static int read_run(struct packing *p, struct error *err) {
    const size_t given = p->plugin_paths.count;
    p->resolved = path_join(p->source, "resolved.json");
    lathe_status status = p->resolved ? json_read(p->resolved, &p->root, err)
                                      : fail(err, LATHE_ENOMEM, "out of memory");
    if (status) return error_exit_code(status);
    const struct json *more = json_get(p->root, "plugin_path");
    p->paths = calloc(given + json_size(more) + 1, sizeof *p->paths);
    if (!p->paths) return error_exit_code(fail(err, LATHE_ENOMEM, "out of memory"));
    for (size_t i = 0; i < given; i++) p->paths[i] = p->plugin_paths.items[i];
    for (size_t i = 0; i < json_size(more); i++)
        p->paths[given + i] = json_text(json_at(more, i));
    return 0;
}

/* The receipt goes in, unless an override makes this another experiment, or the run
 * began from a checkpoint, which is not packed. */
static bool has_receipt(const struct packing *p, const struct arguments *arguments) {
    return p->resolved && !arguments->overrides.count && !json_get(p->root, "from");
}

/* ---- what is said ---- */

static void add_lines(const struct bundle *bundle, const char *output,
                      struct text *text) {
    text_format(text, "%s: %s, %zu files with ", output, bundle->name,
                bundle->file_count);
    bundle_add_size(bundle->total, text);
    text_format(text, "\nid %s\n", bundle->id);
    for (size_t i = 0; i < bundle->outside_count; i++) {
        const struct bundle_file *file = &bundle->outside[i];
        text_format(text, "by its digest alone: %s, ", file->path);
        bundle_add_size(file->size, text);
        text_format(text, ", for %s\n", json_text(json_at(file->used_by, 0)));
    }
    if (bundle_find(bundle, BUNDLE_RECEIPT))
        text_add(text,
                 "with the run's receipt: \"lathe reproduce\" compares with it\n");
    if (bundle->outside_count)
        text_add(text, "whoever runs it gives the folder with that: --data DIR\n");
}

static void add_json(const struct bundle *bundle, const char *output,
                     struct text *text) {
    struct json *root = json_clone(bundle->root);
    const bool is_whole = root && json_put(root, "id", json_make_text(bundle->id)) &&
                          json_put(root, "bundle", json_make_text(output));
    if (is_whole) json_write(root, text, 2);
    text_add(text, "\n");
    if (!is_whole) text->is_broken = true;
    json_close(root);
}

/* ---- the whole ---- */

/* Signs bundle.json, if there is a key. The comment, which the signature covers, has no
 * time in it: the same input gives the same bytes. */
static lathe_status sign(const struct packing *p, const struct pack *pack,
                         struct text *signature, struct error *err) {
    size_t count = 0;
    const char *bytes = pack_text(pack, &count);
    char comment[256];
    if (!p->key) return LATHE_OK;
    snprintf(comment, sizeof comment, "lathe bundle %.160s", pack_bundle(pack)->name);
    return keys_sign(p->key, password_ask, (void *)p->key, bytes, count, comment,
                     signature, err);
}

static void tell_seed(const struct pack *pack) {
    uint64_t seed = 0;
    if (!pack_drawn_seed(pack, &seed)) return;
    fprintf(stderr,
            "the experiment has no seed: %llu was drawn; the same again is packed "
            "with seed=%llu\n",
            (unsigned long long)seed, (unsigned long long)seed);
}

static void tell_warnings(const struct pack *pack) {
    const struct errors *warnings = pack_warnings(pack);
    for (size_t i = 0; i < warnings->count; i++)
        fprintf(stderr, "lathe: warning: %s\n", warnings->items[i].what);
}

static lathe_status write_file(const struct packing *p, const struct pack *pack,
                               struct error *err) {
    const struct bundle *bundle = pack_bundle(pack);
    struct text text = {0}, signature = {0};
    char *own = p->output ? NULL : text_make("%s.lathe", bundle->name);
    const char *output = p->output ? p->output : own;
    lathe_status status = output ? LATHE_OK : fail(err, LATHE_ENOMEM, "out of memory");
    for (char *c = own; c && *c; c++)
        if (*c == '/') *c = '-';
    if (!status) status = sign(p, pack, &signature, err);
    if (!status)
        status = pack_write(pack, output, signature.data, signature.length, err);
    if (!status && p->is_json)
        add_json(bundle, output, &text);
    else if (!status)
        add_lines(bundle, output, &text);
    if (!status) tell_seed(pack);
    if (!status) tell_warnings(pack);
    if (!status) status = entries_print(&text, !p->is_json, err);
    text_finish(&text);
    text_finish(&signature);
    free(own);
    return status;
}

/* What is read without being packed as it is. */
static void list_kept(const struct packing *p, const char *kept[7]) {
    const char *const all[] = {p->key,        getenv("LATHE_PASSWORD_FILE"),
                               p->run,        p->checkpoint,
                               p->folders[0], p->folders[1]};
    size_t count = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]) kept[count++] = all[i];
    kept[count] = NULL;
}

static int pack(const struct packing *p, const struct arguments *arguments,
                int64_t limit, struct error *err) {
    struct errors errors = {0};
    struct pack *made = NULL;
    const char *kept[7];
    list_kept(p, kept);
    const struct pack_request request = {
        .source = p->resolved ? p->resolved : p->source,
        .overrides = arguments->overrides.items,
        .plugin_paths = p->paths ? p->paths : p->plugin_paths.items,
        .data_limit = limit,
        .checkpoint = p->checkpoint,
        .run = has_receipt(p, arguments) ? p->source : NULL,
        .kept = kept};
    lathe_status status = pack_create(&request, &made, &errors);
    if (status)
        *err = errors.items[0];
    else
        status = write_file(p, made, err);
    errors_finish(&errors);
    pack_destroy(made);
    return error_exit_code(status);
}

int command_pack(int argc, char **argv) {
    struct packing p = {0};
    const struct flag flags[] = {
        {"-o", "FILE", .value = &p.output},
        {"--with-data", "LIMIT", .value = &p.limit},
        {"--with-checkpoint", "CHECKPOINT", .value = &p.checkpoint},
        {"--sign", "KEY", .value = &p.key},
        {"--plugin-path", "DIR", .values = &p.plugin_paths},
        {"--json", .count = &p.is_json},
        {.name = NULL}};
    struct arguments arguments = {0};
    struct error err = {0};
    int64_t limit = 0;
    int code = arguments_read(argc, argv, flags, &arguments, &err);
    if (!code)
        code = arguments_only_word(&arguments, "pack", "an experiment file, or a run",
                                   &p.source, &err);
    if (!code) code = read_limit(p.limit, &limit, &err);
    if (!code) code = check_output(&p, &err);
    if (!code) find_runs(&p);
    if (!code) code = check_source(&p, &err);
    if (!code && p.run) code = error_exit_code(bundles_check_run(p.run, &p.use, &err));
    if (!code && p.run) code = read_run(&p, &err);
    if (!code) p.folders[0] = runs_of(p.run ? NULL : p.source);
    if (!code) p.folders[1] = runs_of(p.state ? NULL : p.checkpoint);
    if (!code) code = pack(&p, &arguments, limit, &err);
    if (code) command_print_error(&err);
    bundles_finish(&p.use);
    free(p.folders[0]);
    free(p.folders[1]);
    free(p.paths);
    free(p.resolved);
    free(p.run);
    free(p.state);
    json_close(p.root);
    arguments_finish(&arguments);
    return code;
}
