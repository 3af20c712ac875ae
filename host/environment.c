/* SPDX-License-Identifier: MIT */
#include "environment.h"

#include <gnu/libc-version.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "base/digest.h"
#include "base/path.h"
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
    struct json *root; /* what environment.json holds; NULL: out of memory */
    struct data_file *files;
    size_t file_count;
    volatile int is_cancelled;
    bool is_started;
    pthread_t thread;
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

static struct json *list_plugins(const struct environment_plugin *plugins,
                                 size_t count) {
    struct json *list = json_make_list();
    for (size_t i = 0; i < count; i++) {
        const struct environment_plugin *plugin = &plugins[i];
        const char *library = *plugin->library ? path_name(plugin->library) : NULL;
        const char *digest = *plugin->digest ? plugin->digest : NULL;
        list =
            json_append(list, JSON_MAP_OF({"kind", json_make_text(plugin->kind)},
                                          {"name", json_make_text(plugin->name)},
                                          {"version", json_make_text(plugin->version)},
                                          {"library", json_make_text(library)},
                                          {"sha256", json_make_text(digest)}));
    }
    return list;
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

/* A user's name must not leave with the file. */
static char *hide_home(const char *path) {
    const char *home = getenv("HOME");
    size_t length = home ? strlen(home) : 0;
    while (length > 0 && home[length - 1] == '/') length--;
    bool is_under = length > 0 && !strncmp(path, home, length) && path[length] == '/';
    return is_under ? text_make("~%s", path + length) : text_copy(path);
}

static struct json *describe_file(const struct data_file *file) {
    struct stat info;
    char *shown = hide_home(file->path);
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
    return list;
}

static lathe_status write_environment(struct environment *environment,
                                      rundir_writer *write, struct error *err) {
    struct text text = {0};
    environment->root = json_add(environment->root, "data", list_files(environment));
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

/* ---- begin and end ---- */

static void destroy(struct environment *environment) {
    for (size_t i = 0; i < environment->file_count; i++)
        free(environment->files[i].path);
    free(environment->files);
    json_close(environment->root);
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

lathe_status environment_begin(struct rundir *rundir, const char *blas, int threads,
                               const struct environment_plugin *plugins,
                               size_t plugin_count, const struct json *notes,
                               const char *const *files, size_t file_count,
                               struct environment **environment, struct error *err) {
    *environment = NULL;
    if (!rundir_path(rundir)) return LATHE_OK;
    struct environment *made = calloc(1, sizeof *made);
    if (!made) return fail(err, LATHE_ENOMEM, "no memory for environment.json");
    made->rundir = rundir;
    struct json *root = describe_host(blas);
    root = json_add(root, "threads", json_make_whole(threads));
    root = json_add(root, "plugins", list_plugins(plugins, plugin_count));
    root = json_add(root, "notes", notes ? json_clone(notes) : json_make_map());
    made->root = root;
    lathe_status status =
        copy_paths(made, files, file_count)
            ? write_environment(made, rundir_write_unsynced, err)
            : fail(err, LATHE_ENOMEM, "no memory for environment.json");
    if (!status && file_count) status = start_thread(made, err);
    if (status)
        destroy(made);
    else
        *environment = made;
    return status;
}

void environment_cancel(struct environment *environment) {
    if (environment) __atomic_store_n(&environment->is_cancelled, 1, __ATOMIC_RELAXED);
}

lathe_status environment_end(struct environment *environment, struct error *err) {
    if (!environment) return LATHE_OK;
    lathe_status status = LATHE_OK;
    if (environment->is_started) {
        pthread_join(environment->thread, NULL);
        status = write_environment(environment, rundir_write, err);
    }
    destroy(environment);
    return status;
}
