/* SPDX-License-Identifier: MIT */
#include "digest.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <nettle/sha2.h>

#include "file.h"

#define PIECE_BYTES 65536
#define DIGITS "0123456789abcdef"

_Static_assert(sizeof(struct sha256_ctx) <= sizeof(struct digest), "nettle's fits");

void digest_begin(struct digest *digest) {
    sha256_init((struct sha256_ctx *)digest->state);
}

void digest_add(struct digest *digest, const void *bytes, size_t count) {
    sha256_update((struct sha256_ctx *)digest->state, count, bytes);
}

void digest_end(struct digest *digest, char hex[DIGEST_HEX]) {
    uint8_t bytes[SHA256_DIGEST_SIZE];
    sha256_digest((struct sha256_ctx *)digest->state, sizeof bytes, bytes);
    for (size_t i = 0; i < sizeof bytes; i++) {
        hex[2 * i] = DIGITS[bytes[i] >> 4];
        hex[2 * i + 1] = DIGITS[bytes[i] & 15];
    }
    hex[DIGEST_HEX - 1] = '\0';
}

void digest_bytes(const void *bytes, size_t count, char hex[DIGEST_HEX]) {
    struct digest sum;
    digest_begin(&sum);
    digest_add(&sum, bytes, count);
    digest_end(&sum, hex);
}

bool digest_is_text(const char *text) {
    return strlen(text) == DIGEST_HEX - 1 && strspn(text, DIGITS) == DIGEST_HEX - 1;
}

lathe_status digest_file(const char *path, const volatile int *is_cancelled,
                         char hex[DIGEST_HEX], struct error *err) {
    int fd;
    lathe_status status = file_open(path, &fd, NULL, err);
    if (status) return status;
    struct digest sum;
    digest_begin(&sum);
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
        digest_add(&sum, piece, (size_t)got);
    }
    close(fd);
    if (!status) digest_end(&sum, hex);
    return status;
}
