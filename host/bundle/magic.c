/* SPDX-License-Identifier: MIT */
#include "bundle/magic.h"

#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

#define HEAD_BYTES 512

static const struct magic {
    const char *name;
    size_t at, count;
    const char *bytes;
    bool is_archive; /* a bundle may be packed so */
} magics[] = {
    {"zstd data", 0, 4, "\x28\xb5\x2f\xfd", true},
    {"gzip data", 0, 3, "\x1f\x8b\x08", true},
    {"a tar archive", 257, 5, "ustar", true},
    {"a program or a library", 0, 4, "\x7f\x45\x4c\x46", false},
    {"a PNG image", 0, 4, "\x89\x50\x4e\x47", false},
    {"a JPEG image", 0, 3, "\xff\xd8\xff", false},
    {"a zip archive", 0, 4, "\x50\x4b\x03\x04", false},
    {"an array of NumPy", 0, 6, "\x93\x4e\x55\x4d\x50\x59", false},
    {"a checkpoint, or other safetensors", 7, 3, "\0{\"", false},
};

static size_t read_head(const char *path, char head[HEAD_BYTES]) {
    int fd = -1;
    if (*path == '{' || file_open(path, &fd, NULL, NULL)) return 0;
    const ssize_t got = read(fd, head, HEAD_BYTES);
    close(fd);
    return got > 0 ? (size_t)got : 0;
}

static const struct magic *find_magic(const char *head, size_t count) {
    for (const struct magic *m = magics; m < magics + sizeof magics / sizeof *magics;
         m++)
        if (count >= m->at + m->count && !memcmp(head + m->at, m->bytes, m->count))
            return m;
    return NULL;
}

bool magic_is_archive(const char *path) {
    char head[HEAD_BYTES];
    const struct magic *found = find_magic(head, read_head(path, head));
    return found && found->is_archive;
}

bool magic_is_bundle(const char *word) {
    return *word != '{' && (text_ends_with(word, ".lathe") || magic_is_archive(word));
}

const char *magic_name(const char *path) {
    char head[HEAD_BYTES];
    const size_t count = read_head(path, head);
    const struct magic *found = find_magic(head, count);
    if (found) return found->name;
    return memchr(head, '\0', count) ? "binary data" : NULL;
}
