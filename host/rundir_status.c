/* SPDX-License-Identifier: MIT */
/* status.json: who is at the run, how far it is, and how it ended. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/plain.h"
#include "rundir_parts.h"

/* When this process began, in clock ticks since boot: with pid and boot id it names the
 * process for ever. Field 22 of stat; the second one, the program's name, may hold
 * anything and ends with the last ')'. */
static long long read_start(void) {
    char *content;
    if (file_read("/proc/self/stat", 4096, &content, NULL, NULL)) return 0;
    const char *at = strrchr(content, ')');
    for (int field = 2; at && field < 22; field++) at = strchr(at + 1, ' ');
    long long start = at ? strtoll(at + 1, NULL, 10) : 0;
    free(content);
    return start;
}

/* On a full disk nothing can be written aside, but over what is there. All of it is in
 * one page, so a reader sees the old one or the new one. */
static bool overwrite_status(struct rundir *rundir, const struct text *text) {
    const int flags = O_WRONLY | O_CLOEXEC | O_NOFOLLOW;
    struct stat info;
    pthread_mutex_lock(&rundir->mutex);
    int fd = file_keep_clear(openat(dirfd(rundir->directory), "status.json", flags));
    bool is_written = fd >= 0 && !fstat(fd, &info) &&
                      info.st_size == (off_t)text->length &&
                      pwrite(fd, text->data, text->length, 0) == info.st_size;
    if (fd >= 0 && (fsync(fd) | close(fd))) is_written = false;
    pthread_mutex_unlock(&rundir->mutex);
    return is_written;
}

lathe_status rundir_write_status(struct rundir *rundir, const struct run_status *status,
                                 struct error *err) {
    char exit_code[16] = "null", *boot_id = NULL;
    if (!rundir->path) return LATHE_OK;
    if (status->reason) snprintf(exit_code, sizeof exit_code, "%d", status->exit_code);
    file_read("/proc/sys/kernel/random/boot_id", 64, &boot_id, NULL, NULL);
    struct text text = {0};
    text_format(&text, "{\"state\": \"%s\", \"reason\": ", status->state);
    text_json_string(&text, status->reason);
    text_format(&text,
                ", \"exit_code\": %s, \"epoch\": %lld, \"step\": %lld, \"pid\": %ld, "
                "\"boot_id\": \"%.36s\", \"start_time\": %lld}",
                exit_code, (long long)status->epoch, (long long)status->step,
                (long)getpid(), boot_id ? boot_id : "", read_start());
    const int blanks = RUN_STATUS_BYTES - 1 - (int)text.length;
    text_format(&text, "%*s\n", blanks > 0 ? blanks : 0, "");
    rundir_writer *write = status->reason ? rundir_write : rundir_write_unsynced;
    lathe_status result =
        text.is_broken ? fail(err, LATHE_ENOMEM, "no memory for status.json")
                       : write(rundir, "status.json", text.data, text.length, err);
    if (result && !text.is_broken && overwrite_status(rundir, &text)) result = LATHE_OK;
    text_finish(&text);
    free(boot_id);
    return result;
}

void rundir_patch_status(int directory, const struct run_status *status) {
    char before[RUN_STATUS_BYTES + 1], content[2 * RUN_STATUS_BYTES];
    struct plain now = {content, 0, sizeof content};
    int fd = openat(directory, "status.json", O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return;
    const bool is_whole = read(fd, before, RUN_STATUS_BYTES) == RUN_STATUS_BYTES;
    before[RUN_STATUS_BYTES] = 0;
    const char *rest = is_whole ? strstr(before, ", \"pid\"") : NULL;
    const char *end = rest ? strchr(rest, '}') : NULL;
    if (end) {
        plain_add(&now, "{\"state\": \""), plain_add(&now, status->state);
        plain_add(&now, "\", \"reason\": \""), plain_add(&now, status->reason);
        plain_add(&now, "\", \"exit_code\": ");
        plain_add_number(&now, status->exit_code);
        plain_add(&now, ", \"epoch\": "), plain_add_number(&now, status->epoch);
        plain_add(&now, ", \"step\": "), plain_add_number(&now, status->step);
        plain_add_some(&now, rest, (size_t)(end + 1 - rest));
        const bool fits = now.length < RUN_STATUS_BYTES;
        while (now.length < RUN_STATUS_BYTES - 1) plain_add(&now, " ");
        plain_add(&now, "\n");
        if (fits) (void)!pwrite(fd, content, RUN_STATUS_BYTES, 0);
    }
    close(fd);
}
