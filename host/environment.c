/* SPDX-License-Identifier: MIT */
#include "environment.h"

#include <gnu/libc-version.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "base/digest.h"
#include "base/path.h"
#include "environment_past.h"
#include "workers.h"

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

struct data_file {
    char *path;
    char digest[DIGEST_HEX];
    const char *error; /* why there is no digest; NULL */
};

struct environment {
    struct rundir *rundir;
    struct log *log;
    struct json *root; /* what environment.json holds; NULL: out of memory */
    struct past past;
    bool keeps_data;
    struct data_file *files;
    size_t file_count;
    volatile int is_cancelled;
    bool is_started, is_renewed;
    pthread_t thread;
    atomic_bool is_hashed; /* … by the thread, which then touches nothing any more */
    bool is_told;          /* … and written, and told what is not what it was */
};

/* ---- what is known at once ---- */

/* Of the instruction sets, those that choose between kernels. */
static struct json *append_flags(struct json *list, char *flags) {
    static const char *const telling[] = {
        "sse4_2",   "avx",      "avx2",        "fma",         "f16c",     "avx512f",
        "avx512bw", "avx512vl", "avx512_vnni", "avx512_bf16", "amx_tile", "amx_bf16",
        "asimd",    "asimddp",  "bf16",        "sve",         "sve2"};
    char *rest = NULL;
    for (char *flag = strtok_r(flags, ": \n", &rest); flag;
         flag = strtok_r(NULL, ": \n", &rest))
        for (size_t i = 0; i < sizeof telling / sizeof *telling; i++)
            if (strcmp(flag, telling[i]) == 0)
                list = json_append(list, json_make_text(flag));
    return list;
}

/* Only the first processor of /proc/cpuinfo is read: a big machine has hundreds. */
static struct json *describe_processor(void) {
    struct json *model = json_make_text(NULL), *flags = json_make_list();
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[8192];
    while (file && fgets(line, sizeof line, file) && line[0] != '\n') {
        char *value = line + strcspn(line, ":");
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "model name", 10) == 0) {
            json_close(model);
            model = json_make_text(value + strspn(value, ": "));
        }
        if (strncmp(line, "flags", 5) == 0 || strncmp(line, "Features", 8) == 0)
            flags = append_flags(flags, value);
    }
    if (file) fclose(file);
    return JSON_MAP_OF({"model", model}, {"cores", json_make_whole(workers_cores())},
                       {"flags", flags});
}

struct json *environment_plugin(const struct environment_plugin *plugin) {
    const char *library = *plugin->library ? path_name(plugin->library) : NULL;
    const char *digest = *plugin->digest ? plugin->digest : NULL;
    return JSON_MAP_OF(
        {"kind", json_make_text(plugin->kind)}, {"name", json_make_text(plugin->name)},
        {"version", json_make_text(plugin->version)},
        {"library", json_make_text(library)}, {"sha256", json_make_text(digest)});
}

static struct json *describe_kernel(void) {
    struct utsname name;
    char kernel[3 * sizeof name.release] = "unknown";
    if (!uname(&name))
        snprintf(kernel, sizeof kernel, "%s %s %s", name.sysname, name.release,
                 name.machine);
    return json_make_text(kernel);
}

static struct json *describe_host(const char *blas) {
    char abi[16], libc[64];
    snprintf(abi, sizeof abi, "1.%u", LATHE_ABI_MINOR);
    snprintf(libc, sizeof libc, "glibc %s", gnu_get_libc_version());
    return JSON_MAP_OF({"lathe", json_make_text(LATHE_VERSION)},
                       {"abi", json_make_text(abi)},
                       {"compiler", json_make_text(COMPILER)},
                       {"kernel", describe_kernel()}, {"libc", json_make_text(libc)},
                       {"cpu", describe_processor()}, {"blas", json_make_text(blas)});
}

/* ---- data ---- */

static struct json *describe_file(const struct data_file *file) {
    struct stat info;
    char *shown = path_hide_home(file->path);
    struct json *map = JSON_MAP_OF({"path", json_make_text(shown)});
    free(shown);
    if (stat(file->path, &info) == 0)
        map = json_add(map, "size", json_make_whole(info.st_size));
    map =
        json_add(map, "sha256", json_make_text(file->digest[0] ? file->digest : NULL));
    return file->error ? json_add(map, "error", json_make_text(file->error)) : map;
}

static struct json *list_files(const struct environment *environment) {
    struct json *list = json_make_list();
    for (size_t i = 0; i < environment->file_count; i++)
        list = json_append(list, describe_file(&environment->files[i]));
    return environment->keeps_data ? past_add_rest(&environment->past, list) : list;
}

static struct json *put_earlier(struct environment *environment) {
    static const char *const name[] = {ENVIRONMENT_EARLIER, NULL};
    struct json *root = environment->root;
    struct json *list = past_list(&environment->past, json_get(root, "plugins"),
                                  json_get(root, "data"));
    struct json *rest = json_clone_without(root, name);
    json_close(root);
    if (list && !json_size(list)) {
        json_close(list);
        return rest;
    }
    return json_add(rest, ENVIRONMENT_EARLIER, list);
}

static lathe_status write_environment(struct environment *environment,
                                      rundir_writer *write, struct error *err) {
    struct text text = {0};
    environment->root = json_add(environment->root, "data", list_files(environment));
    environment->root = put_earlier(environment);
    json_write(environment->root, &text, 2);
    text_add(&text, "\n");
    lathe_status status =
        text.is_broken || !environment->root
            ? fail(err, LATHE_ENOMEM, "no memory for environment.json")
            : write(environment->rundir, "environment.json", text.data, text.length,
                    err);
    text_finish(&text);
    return status;
}

static void tell_changed(struct environment *environment,
                         const struct data_file *file) {
    char *shown = path_hide_home(file->path);
    const char *before = shown ? past_digest(&environment->past, shown) : "";
    if (*before && *file->digest && strcmp(before, file->digest) != 0)
        log_line(environment->log, LATHE_LOG_WARNING,
                 "%s is another file than the one that was at work when the state was "
                 "saved (%.12s…, then %.12s…): from step %lld on the numbers are "
                 "made of it",
                 file->path, file->digest, before, (long long)environment->past.step);
    free(shown);
}

static void tell_all(struct environment *environment) {
    for (size_t i = 0; i < environment->file_count && !environment->is_told; i++)
        tell_changed(environment, &environment->files[i]);
    environment->is_told = true;
}

static void *hash_files(void *context) {
    struct environment *environment = context;
    struct sched_param none = {0};
    pthread_setschedparam(pthread_self(), SCHED_IDLE, &none);
    for (size_t i = 0; i < environment->file_count; i++) {
        struct data_file *file = &environment->files[i];
        lathe_status status =
            digest_file(file->path, &environment->is_cancelled, file->digest, NULL);
        if (status) file->digest[0] = '\0';
        if (status)
            file->error = status == LATHE_STOP ? "the run ended before it was read"
                          : status == LATHE_ENOTFOUND ? "it is not there"
                                                      : "it cannot be read";
    }
    atomic_store_explicit(&environment->is_hashed, true, memory_order_release);
    return NULL;
}

static lathe_status start_thread(struct environment *environment, struct error *err) {
    sigset_t all, old; /* signals are for the program's own thread */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int number = pthread_create(&environment->thread, NULL, hash_files, environment);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    environment->is_started = number == 0;
    if (number == 0) return LATHE_OK;
    return fail(err, LATHE_ENOMEM, "no thread to hash data: %s", strerror(number));
}

/* What cannot be written now is written at the end. */
void environment_poll(struct environment *environment) {
    if (!environment || environment->is_told ||
        !atomic_load_explicit(&environment->is_hashed, memory_order_acquire))
        return;
    write_environment(environment, rundir_write_unsynced, NULL);
    tell_all(environment);
}

/* ---- begin and end ---- */

static void destroy(struct environment *environment) {
    for (size_t i = 0; i < environment->file_count; i++)
        free(environment->files[i].path);
    free(environment->files);
    json_close(environment->root);
    past_close(&environment->past);
    free(environment);
}

static bool copy_paths(struct environment *made, const char *const *files,
                       size_t count) {
    made->files = calloc(count + 1, sizeof *made->files);
    for (size_t i = 0; made->files && i < count; i++) {
        made->files[i].path = text_copy(files[i]);
        if (!made->files[i].path) return false;
        made->file_count++;
    }
    return made->files != NULL;
}

static struct json *clone_or(const struct json *json, struct json *(*make)(void)) {
    return json ? json_clone(json) : make();
}

lathe_status environment_begin(struct rundir *rundir,
                               const struct environment_start *start,
                               struct environment **environment, struct error *err) {
    *environment = NULL;
    if (!rundir_path(rundir)) return LATHE_OK;
    struct environment *made = calloc(1, sizeof *made);
    if (!made) return fail(err, LATHE_ENOMEM, "no memory for environment.json");
    made->rundir = rundir;
    made->log = start->log;
    made->keeps_data = start->keeps_data;
    past_open(&made->past, start->before, start->step);
    struct json *root = describe_host(start->blas);
    root = json_add(root, "threads", json_make_whole(start->threads));
    root = json_add(root, "plugins", clone_or(start->plugins, json_make_list));
    root = json_add(root, "notes", clone_or(start->notes, json_make_map));
    made->root = root;
    lathe_status status =
        copy_paths(made, start->files, start->file_count)
            ? write_environment(made, rundir_write_unsynced, err)
            : fail(err, LATHE_ENOMEM, "no memory for environment.json");
    if (!status && start->file_count) status = start_thread(made, err);
    if (status)
        destroy(made);
    else
        *environment = made;
    return status;
}

void environment_renew(struct environment *environment, const struct json *plugins,
                       int64_t step) {
    struct past past;
    if (!environment) return;
    if (environment->is_started) pthread_join(environment->thread, NULL);
    environment->is_started = false;
    environment_poll(environment);
    past_open(&past, environment->root, step);
    past_close(&environment->past);
    environment->past = past;
    environment->root = json_add(environment->root, "plugins", json_clone(plugins));
    environment->keeps_data = environment->is_renewed = true;
}

void environment_cancel(struct environment *environment) {
    if (environment) __atomic_store_n(&environment->is_cancelled, 1, __ATOMIC_RELAXED);
}

lathe_status environment_end(struct environment *environment, struct error *err) {
    if (!environment) return LATHE_OK;
    lathe_status status = LATHE_OK;
    if (environment->is_started) pthread_join(environment->thread, NULL);
    if (environment->is_started || environment->is_renewed)
        status = write_environment(environment, rundir_write, err);
    tell_all(environment);
    destroy(environment);
    return status;
}
