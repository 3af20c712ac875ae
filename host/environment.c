/* SPDX-License-Identifier: MIT */
#include "environment.h"

#include <gnu/libc-version.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "base/digest.h"
#include "base/path.h"
#include "base/text.h"

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif

struct data_file {
    char *path;
    int64_t size; /* -1: not known */
    char digest[DIGEST_HEX];
    char error[512]; /* why there is no digest; "" */
};

struct environment {
    struct rundir *rundir;
    struct text head; /* everything but the data files */
    struct data_file *files;
    size_t file_count;
    volatile int is_cancelled;
    bool is_started;
    pthread_t thread;
};

/* ---- what is known at once ---- */

static void add_member(struct text *text, const char *name, const char *value) {
    text_format(text, "  \"%s\": ", name);
    text_json_string(text, value);
    text_add(text, ",\n");
}

static void add_kernel(struct text *text) {
    struct utsname name;
    char line[3 * sizeof name.release] = "unknown";
    if (!uname(&name))
        snprintf(line, sizeof line, "%s %s %s", name.sysname, name.release,
                 name.machine);
    add_member(text, "kernel", line);
}

/* Instruction sets that choose between kernels. */
static const char *const telling[] = {
    "sse4_2",   "avx",      "avx2",        "fma",         "f16c",     "avx512f",
    "avx512bw", "avx512vl", "avx512_vnni", "avx512_bf16", "amx_tile", "amx_bf16",
    "asimd",    "asimddp",  "bf16",        "sve",         "sve2"};

static void add_flags(struct text *text, char *flags) {
    char *rest = NULL;
    const char *comma = "";
    text_add(text, "    \"flags\": [");
    for (char *flag = strtok_r(flags, " \n", &rest); flag;
         flag = strtok_r(NULL, " \n", &rest))
        for (size_t i = 0; i < sizeof telling / sizeof *telling; i++)
            if (!strcmp(flag, telling[i])) {
                text_format(text, "%s\"%s\"", comma, flag);
                comma = ", ";
            }
    text_add(text, "]\n");
}

static int count_cores(void) {
    cpu_set_t *set = CPU_ALLOC(8192);
    size_t size = CPU_ALLOC_SIZE(8192);
    int cores = 1;
    if (set && !sched_getaffinity(0, size, set)) cores = CPU_COUNT_S(size, set);
    CPU_FREE(set);
    return cores;
}

/* Only the first processor of /proc/cpuinfo is read: a big machine has hundreds. */
static void add_processor(struct text *text) {
    FILE *file = fopen("/proc/cpuinfo", "re");
    char *line = NULL, *flags = NULL, *model = NULL;
    size_t capacity = 0;
    while (file && getline(&line, &capacity, file) > 1) {
        char *value = strchr(line, ':');
        if (!value || value[1] != ' ') continue;
        value += 2;
        if (!strncmp(line, "model name", 10) && !model) {
            value[strcspn(value, "\n")] = '\0';
            model = text_copy(value);
        } else if ((!strncmp(line, "flags", 5) || !strncmp(line, "Features", 8)) &&
                   !flags) {
            flags = text_copy(value);
        }
    }
    if (file) fclose(file);
    text_add(text, "  \"cpu\": {\n    \"model\": ");
    text_json_string(text, model);
    text_format(text, ",\n    \"cores\": %d,\n", count_cores());
    char none[1] = "";
    add_flags(text, flags ? flags : none);
    text_add(text, "  },\n");
    free(flags);
    free(model);
    free(line);
}

static void add_plugin(struct text *text, const struct environment_plugin *plugin) {
    char digest[DIGEST_HEX];
    text_add(text, "    {\"kind\": ");
    text_json_string(text, plugin->kind);
    text_add(text, ", \"name\": ");
    text_json_string(text, plugin->name);
    text_add(text, ", \"version\": ");
    text_json_string(text, plugin->version);
    text_add(text, ", \"library\": ");
    text_json_string(text, *plugin->library ? path_name(plugin->library) : NULL);
    bool is_hashed =
        *plugin->library && !digest_file(plugin->library, NULL, digest, NULL);
    text_add(text, ", \"sha256\": ");
    text_json_string(text, is_hashed ? digest : NULL);
    text_add(text, "}");
}

static void write_head(struct text *text, const char *blas,
                       const struct environment_plugin *plugins, size_t plugin_count) {
    char abi[16];
    snprintf(abi, sizeof abi, "1.%u", LATHE_ABI_MINOR);
    text_add(text, "{\n");
    add_member(text, "lathe", LATHE_VERSION);
    add_member(text, "abi", abi);
    add_member(text, "compiler", COMPILER);
    add_kernel(text);
    text_format(text, "  \"libc\": \"glibc %s\",\n", gnu_get_libc_version());
    add_processor(text);
    add_member(text, "blas", blas);
    text_add(text, "  \"plugins\": [");
    for (size_t i = 0; i < plugin_count; i++) {
        text_add(text, i ? ",\n" : "\n");
        add_plugin(text, &plugins[i]);
    }
    text_add(text, plugin_count ? "\n  ],\n" : "],\n");
}

/* ---- data ---- */

/* A user's name must not leave with the file. */
static void add_path(struct text *text, const char *path) {
    const char *home = getenv("HOME");
    size_t length = home ? strlen(home) : 0;
    while (length > 0 && home[length - 1] == '/') length--;
    bool is_under = length > 0 && !strncmp(path, home, length) && path[length] == '/';
    char *shown = is_under ? text_make("~%s", path + length) : text_copy(path);
    if (!shown) text->is_broken = true;
    text_json_string(text, shown);
    free(shown);
}

static void add_file(struct text *text, const struct data_file *file) {
    text_add(text, "    {\"path\": ");
    add_path(text, file->path);
    if (file->size >= 0) text_format(text, ", \"size\": %lld", (long long)file->size);
    text_add(text, ", \"sha256\": ");
    text_json_string(text, file->digest[0] ? file->digest : NULL);
    if (file->error[0]) {
        text_add(text, ", \"error\": ");
        text_json_string(text, file->error);
    }
    text_add(text, "}");
}

static lathe_status write_environment(const struct environment *environment,
                                      struct error *err) {
    if (environment->head.is_broken)
        return fail(err, LATHE_ENOMEM, "no memory for environment.json");
    struct text text = {0};
    text_add(&text, environment->head.data);
    text_add(&text, "  \"data\": [");
    for (size_t i = 0; i < environment->file_count; i++) {
        text_add(&text, i ? ",\n" : "\n");
        add_file(&text, &environment->files[i]);
    }
    text_add(&text, environment->file_count ? "\n  ]\n}\n" : "]\n}\n");
    lathe_status status =
        text.is_broken ? fail(err, LATHE_ENOMEM, "no memory for environment.json")
                       : rundir_write(environment->rundir, "environment.json",
                                      text.data, text.length, err);
    text_finish(&text);
    return status;
}

static void *hash_files(void *context) {
    struct environment *environment = context;
    struct sched_param none = {0};
    pthread_setschedparam(pthread_self(), SCHED_IDLE, &none);
    for (size_t i = 0; i < environment->file_count; i++) {
        struct data_file *file = &environment->files[i];
        struct error error = {0};
        lathe_status status =
            digest_file(file->path, &environment->is_cancelled, file->digest, &error);
        if (!status) continue;
        file->digest[0] = '\0';
        size_t named = strlen(file->path); /* the message need not say it again */
        bool is_named = !strncmp(error.what, file->path, named);
        const char *why = is_named ? error.what + named : error.what;
        if (status == LATHE_STOP) why = "the run ended before it was read";
        snprintf(file->error, sizeof file->error, "%s", why + strspn(why, ": "));
    }
    return NULL;
}

static lathe_status start_thread(struct environment *environment, struct error *err) {
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all,
                    &old); /* signals are for the program's own thread */
    int number = pthread_create(&environment->thread, NULL, hash_files, environment);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    environment->is_started = number == 0;
    return number
               ? fail(err, LATHE_ENOMEM, "no thread to hash data: %s", strerror(number))
               : LATHE_OK;
}

/* ---- begin and end ---- */

static void destroy(struct environment *environment) {
    for (size_t i = 0; i < environment->file_count; i++)
        free(environment->files[i].path);
    free(environment->files);
    text_finish(&environment->head);
    free(environment);
}

static bool copy_files(struct environment *environment, const char *const *files,
                       size_t count) {
    environment->files = calloc(count ? count : 1, sizeof *environment->files);
    if (!environment->files) return false;
    for (; environment->file_count < count; environment->file_count++) {
        struct data_file *file = &environment->files[environment->file_count];
        struct stat status;
        file->path = text_copy(files[environment->file_count]);
        if (!file->path) return false;
        file->size = stat(file->path, &status) ? -1 : status.st_size;
    }
    return true;
}

lathe_status environment_begin(struct rundir *rundir, const char *blas,
                               const struct environment_plugin *plugins,
                               size_t plugin_count, const char *const *files,
                               size_t file_count, struct environment **environment,
                               struct error *err) {
    *environment = NULL;
    if (!rundir_path(rundir)) return LATHE_OK;
    struct environment *made = calloc(1, sizeof *made);
    if (!made) return fail(err, LATHE_ENOMEM, "no memory for environment.json");
    made->rundir = rundir;
    lathe_status status = LATHE_OK;
    if (!copy_files(made, files, file_count))
        status = fail(err, LATHE_ENOMEM, "no memory for environment.json");
    if (!status) {
        write_head(&made->head, blas, plugins, plugin_count);
        status = write_environment(made, err);
    }
    if (!status && file_count) status = start_thread(made, err);
    if (status) {
        destroy(made);
        return status;
    }
    *environment = made;
    return LATHE_OK;
}

void environment_cancel(struct environment *environment) {
    if (environment) __atomic_store_n(&environment->is_cancelled, 1, __ATOMIC_RELAXED);
}

lathe_status environment_end(struct environment *environment, struct error *err) {
    if (!environment) return LATHE_OK;
    lathe_status status = LATHE_OK;
    if (environment->is_started) {
        pthread_join(environment->thread, NULL);
        status = write_environment(environment, err);
    }
    destroy(environment);
    return status;
}
