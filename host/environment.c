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
    struct json *root; /* what environment.json holds */
    bool is_broken;    /* out of memory on the way to it */
    struct data_file *files;
    size_t file_count;
    volatile int is_cancelled;
    bool is_started;
    pthread_t thread;
};

/* Puts a value in, which is taken over. */
static void put(struct environment *environment, struct json *map, const char *name,
                struct json *value) {
    if (!json_put(map, name, value)) environment->is_broken = true;
}

static void put_text(struct environment *environment, struct json *map,
                     const char *name, const char *value) {
    put(environment, map, name, json_make_text(value));
}

/* ---- what is known at once ---- */

/* Of the instruction sets, those that choose between kernels. */
static void push_flags(struct environment *environment, struct json *list,
                       char *flags) {
    static const char *const telling[] = {
        "sse4_2",   "avx",      "avx2",        "fma",         "f16c",     "avx512f",
        "avx512bw", "avx512vl", "avx512_vnni", "avx512_bf16", "amx_tile", "amx_bf16",
        "asimd",    "asimddp",  "bf16",        "sve",         "sve2"};
    char *rest = NULL;
    for (char *flag = strtok_r(flags, ": \n", &rest); flag;
         flag = strtok_r(NULL, ": \n", &rest))
        for (size_t i = 0; i < sizeof telling / sizeof *telling; i++)
            if (strcmp(flag, telling[i]) == 0 && !json_push(list, json_make_text(flag)))
                environment->is_broken = true;
}

/* Only the first processor of /proc/cpuinfo is read: a big machine has hundreds. */
static void put_processor(struct environment *environment) {
    struct json *cpu = json_make_map(), *flags = json_make_list();
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[8192];
    put_text(environment, cpu, "model", NULL);
    put(environment, cpu, "cores", json_make_whole(workers_cores()));
    while (file && fgets(line, sizeof line, file) && line[0] != '\n') {
        char *value = line + strcspn(line, ":");
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "model name", 10) == 0)
            put_text(environment, cpu, "model", value + strspn(value, ": "));
        if (strncmp(line, "flags", 5) == 0 || strncmp(line, "Features", 8) == 0)
            push_flags(environment, flags, value);
    }
    if (file) fclose(file);
    put(environment, cpu, "flags", flags);
    put(environment, environment->root, "cpu", cpu);
}

static void put_plugins(struct environment *environment,
                        const struct environment_plugin *plugins, size_t count) {
    struct json *list = json_make_list();
    for (size_t i = 0; i < count; i++) {
        struct json *map = json_make_map();
        const char *library = plugins[i].library, *digest = plugins[i].digest;
        put_text(environment, map, "kind", plugins[i].kind);
        put_text(environment, map, "name", plugins[i].name);
        put_text(environment, map, "version", plugins[i].version);
        put_text(environment, map, "library", *library ? path_name(library) : NULL);
        put_text(environment, map, "sha256", *digest ? digest : NULL);
        if (!json_push(list, map)) environment->is_broken = true;
    }
    put(environment, environment->root, "plugins", list);
}

static void put_head(struct environment *environment, const char *blas) {
    struct json *root = environment->root;
    struct utsname name;
    char abi[16], kernel[3 * sizeof name.release] = "unknown";
    snprintf(abi, sizeof abi, "1.%u", LATHE_ABI_MINOR);
    if (!uname(&name))
        snprintf(kernel, sizeof kernel, "%s %s %s", name.sysname, name.release,
                 name.machine);
    put_text(environment, root, "lathe", LATHE_VERSION);
    put_text(environment, root, "abi", abi);
    put_text(environment, root, "compiler", COMPILER);
    put_text(environment, root, "kernel", kernel);
    snprintf(kernel, sizeof kernel, "glibc %s", gnu_get_libc_version());
    put_text(environment, root, "libc", kernel);
    put_processor(environment);
    put_text(environment, root, "blas", blas);
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

static void put_files(struct environment *environment) {
    struct json *list = json_make_list();
    for (size_t i = 0; i < environment->file_count; i++) {
        const struct data_file *file = &environment->files[i];
        struct json *map = json_make_map();
        struct stat info;
        char *shown = hide_home(file->path);
        put_text(environment, map, "path", shown);
        if (stat(file->path, &info) == 0)
            put(environment, map, "size", json_make_whole(info.st_size));
        put_text(environment, map, "sha256", file->digest[0] ? file->digest : NULL);
        if (file->error) put_text(environment, map, "error", file->error);
        if (!json_push(list, map)) environment->is_broken = true;
        free(shown);
    }
    put(environment, environment->root, "data", list);
}

static lathe_status write_environment(struct environment *environment,
                                      rundir_writer *write, struct error *err) {
    struct text text = {0};
    put_files(environment);
    json_write(environment->root, &text, 2);
    text_add(&text, "\n");
    lathe_status status =
        text.is_broken || environment->is_broken
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
    made->root = json_make_map();
    made->files = calloc(file_count + 1, sizeof *made->files);
    made->is_broken = !made->root || !made->files;
    for (size_t i = 0; i < file_count && !made->is_broken; i++) {
        made->files[i].path = text_copy(files[i]);
        made->is_broken = !made->files[i].path;
        made->file_count++;
    }
    if (!made->is_broken) {
        put_head(made, blas);
        put(made, made->root, "threads", json_make_whole(threads));
        put_plugins(made, plugins, plugin_count);
        put(made, made->root, "notes", notes ? json_clone(notes) : json_make_map());
    }
    lathe_status status = write_environment(made, rundir_write_unsynced, err);
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
