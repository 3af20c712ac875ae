/* SPDX-License-Identifier: MIT */
#include "digest.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <nettle/sha2.h>

#include "file.h"

#define PIECE_BYTES 65536

static void spell(struct sha256_ctx *sum, char hex[DIGEST_HEX]) {
    uint8_t bytes[SHA256_DIGEST_SIZE];
    sha256_digest(sum, sizeof bytes, bytes);
    for (size_t i = 0; i < sizeof bytes; i++) {
        hex[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
        hex[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
    }
    hex[DIGEST_HEX - 1] = '\0';
}

void digest_bytes(const void *bytes, size_t count, char hex[DIGEST_HEX]) {
    struct sha256_ctx sum;
    sha256_init(&sum);
    sha256_update(&sum, count, bytes);
    spell(&sum, hex);
}

lathe_status digest_file(const char *path, const volatile int *is_cancelled,
                         char hex[DIGEST_HEX], struct error *err) {
    int fd;
    lathe_status status = file_open(path, &fd, NULL, err);
    if (status) return status;
    struct sha256_ctx sum;
    sha256_init(&sum);
    for (;;) {
        uint8_t piece[PIECE_BYTES];
        if (is_cancelled && __atomic_load_n(is_cancelled, __ATOMIC_RELAXED)) {
            status = LATHE_STOP;
            break;
        }
        ssize_t got = read(fd, piece, sizeof piece);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            status = fail(err, LATHE_EIO, "cannot read \"%.400s\": %s", path,
                          strerror(errno));
        if (got <= 0) break;
        sha256_update(&sum, (size_t)got, piece);
    }
    close(fd);
    if (!status) spell(&sum, hex);
    return status;
}
