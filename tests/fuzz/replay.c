/* SPDX-License-Identifier: MIT */
/* Runs a target without libFuzzer: each file of a corpus as it is, then so many inputs
 * made of it, the same ones each time. They run in a process of their own, so that the
 * input that stops it can be told, and is kept in the current directory.
 *
 *     fuzz-csv 200 tests/fuzz/corpus/csv       # a folder, or files
 *     fuzz-csv 0 crash-csv-17                  # one input as it is */
#include "fuzz.h"

#include <dirent.h>
#include <sys/wait.h>

#define SECONDS_MAX 60 /* for one file and what is made of it */
#define FILE_BYTES_MAX ((size_t)1 << 20)

struct bytes {
    uint8_t *data;
    size_t count, room;
};

/* ---- numbers that look random: splitmix64 ---- */

static uint64_t next_number(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static size_t below(uint64_t *state, size_t limit) {
    return limit ? (size_t)(next_number(state) % limit) : 0;
}

/* FNV-1a, so that an input depends on its file alone. */
static uint64_t seed_of(const struct bytes *file, long mutation) {
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < file->count; i++)
        hash = (hash ^ file->data[i]) * 0x100000001b3;
    return hash + (uint64_t)mutation;
}

/* ---- changes ---- */

static void flip_bit(struct bytes *bytes, uint64_t *state) {
    if (bytes->count)
        bytes->data[below(state, bytes->count)] ^= (uint8_t)(1u << below(state, 8));
}

static void set_byte(struct bytes *bytes, uint64_t *state) {
    static const uint8_t telling[] = {0,    1,   0x7f, 0x80, 0xff, '"',
                                      '\\', ',', '\n', '0',  '9',  '-'};
    if (bytes->count)
        bytes->data[below(state, bytes->count)] = telling[below(state, sizeof telling)];
}

/* A range: `first` to first + length. */
static size_t choose_range(const struct bytes *bytes, uint64_t *state, size_t *first) {
    *first = below(state, bytes->count);
    size_t most = bytes->count - *first;
    return most ? 1 + below(state, most < 32 ? most : 32) : 0;
}

static void cut(struct bytes *bytes, uint64_t *state) {
    size_t first, length = choose_range(bytes, state, &first);
    if (below(state, 4) == 0) length = bytes->count - first; /* the whole end */
    memmove(bytes->data + first, bytes->data + first + length,
            bytes->count - first - length);
    bytes->count -= length;
}

/* Puts a range of it in at another place. */
static void splice(struct bytes *bytes, uint64_t *state) {
    uint8_t piece[32];
    size_t first, length = choose_range(bytes, state, &first);
    size_t place = below(state, bytes->count + 1);
    if (length == 0 || bytes->count + length > bytes->room) return;
    memcpy(piece, bytes->data + first, length);
    memmove(bytes->data + place + length, bytes->data + place, bytes->count - place);
    memcpy(bytes->data + place, piece, length);
    bytes->count += length;
}

/* Mutation 0 is the file itself. In exact memory, so that a sanitizer sees its end. */
static struct bytes make_input(const struct bytes *file, long mutation) {
    static void (*const changes[])(struct bytes *, uint64_t *) = {flip_bit, set_byte,
                                                                  cut, splice};
    struct bytes bytes = {.count = file->count, .room = file->count + 256};
    uint64_t state = seed_of(file, mutation);
    bytes.data = malloc(bytes.room);
    FUZZ_CHECK(bytes.data);
    if (file->count) memcpy(bytes.data, file->data, file->count);
    size_t count = mutation ? 1 + below(&state, 4) : 0;
    for (size_t i = 0; i < count; i++) changes[below(&state, 4)](&bytes, &state);
    uint8_t *exact = realloc(bytes.data, bytes.count ? bytes.count : 1);
    FUZZ_CHECK(exact);
    bytes.data = exact;
    return bytes;
}

/* ---- files ---- */

struct corpus {
    char **paths;
    int count;
    long mutations;
};

/* Where a child is; the parent sees it. */
struct place {
    int file;
    long mutation;
};

static void add_path(struct corpus *corpus, const char *path) {
    struct dirent **items = NULL;
    int found = scandir(path, &items, NULL, alphasort);
    for (int i = 0; i < found; i++) {
        char *inner = text_make("%s/%s", path, items[i]->d_name);
        FUZZ_CHECK(inner);
        if (items[i]->d_name[0] != '.') add_path(corpus, inner);
        free(inner);
        free(items[i]);
    }
    free(items);
    if (found >= 0) return;
    corpus->paths =
        realloc(corpus->paths, (size_t)(corpus->count + 1) * sizeof(char *));
    FUZZ_CHECK(corpus->paths);
    corpus->paths[corpus->count++] = text_copy(path);
}

static struct bytes read_bytes(const char *path) {
    struct bytes file = {.data = malloc(FILE_BYTES_MAX)};
    FILE *from = fopen(path, "rb");
    if (!from || !file.data) {
        perror(path);
        exit(2);
    }
    file.count = fread(file.data, 1, FILE_BYTES_MAX, from);
    fclose(from);
    return file;
}

static void keep_input(const char *path, long mutation) {
    const char *slash = strrchr(path, '/');
    char *name = text_make("crash-%s-%ld", slash ? slash + 1 : path, mutation);
    struct bytes file = read_bytes(path), input = make_input(&file, mutation);
    FILE *to = fopen(name, "wb");
    if (!to || fwrite(input.data, 1, input.count, to) != input.count || fclose(to))
        perror(name);
    fprintf(stderr, "its input is %s, %zu bytes\n", name, input.count);
    free(input.data);
    free(file.data);
    free(name);
}

/* From the place on; ends with exit, where leaks are looked for. */
static void run_files(const struct corpus *corpus, volatile struct place *place) {
    for (; place->file < corpus->count; place->file++) {
        struct bytes file = read_bytes(corpus->paths[place->file]);
        alarm(SECONDS_MAX);
        for (place->mutation = 0; place->mutation <= corpus->mutations;
             place->mutation++) {
            struct bytes input = make_input(&file, place->mutation);
            LLVMFuzzerTestOneInput(input.data, input.count);
            free(input.data);
        }
        free(file.data);
    }
    exit(0);
}

/* Returns how many files stopped the target; each time it goes on with the next one. */
static int run(const struct corpus *corpus, volatile struct place *place) {
    int failed = 0;
    while (place->file < corpus->count) {
        int status = 0;
        fflush(NULL);
        pid_t child = fork();
        FUZZ_CHECK(child >= 0);
        if (child == 0) run_files(corpus, place);
        while (waitpid(child, &status, 0) < 0) continue;
        if (!status) continue;
        failed++;
        if (place->file == corpus->count) {
            fprintf(stderr, "stopped after the last input: a leak?\n");
            continue;
        }
        fprintf(stderr, "%s: stopped by %s %d at mutation %ld\n",
                corpus->paths[place->file], WIFSIGNALED(status) ? "signal" : "exit",
                WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
                place->mutation);
        keep_input(corpus->paths[place->file++], place->mutation);
    }
    return failed;
}

int main(int argc, char **argv) {
    struct corpus corpus = {.mutations = argc > 2 ? strtol(argv[1], NULL, 10) : -1};
    volatile struct place *place = mmap(NULL, sizeof *place, PROT_READ | PROT_WRITE,
                                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (corpus.mutations < 0 || place == MAP_FAILED) {
        fprintf(stderr, "usage: %s MUTATIONS CORPUS…\n", argv[0]);
        return 2;
    }
    for (int i = 2; i < argc; i++) add_path(&corpus, argv[i]);
    int failed = run(&corpus, place);
    printf("%d files, %ld inputs, %d files failed\n", corpus.count,
           corpus.count * (corpus.mutations + 1), failed);
    for (int i = 0; i < corpus.count; i++) free(corpus.paths[i]);
    free(corpus.paths);
    return failed || corpus.count == 0;
}
