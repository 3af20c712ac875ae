/* SPDX-License-Identifier: MIT */
#include "trust.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "path.h"
#include "text.h"

#define LINKS_MAX 40 /* as the kernel */

/* With raised privileges: then the environment is not believed. */
static bool is_raised(void) {
    return getauxval(AT_SECURE) != 0;
}

static bool is_trusted_owner(uid_t owner) {
    if (owner == 0 || (owner == geteuid() && !is_raised())) return true;
    struct stat program;
    return stat("/proc/self/exe", &program) == 0 && program.st_uid == owner;
}

/* A word for a shell. */
static void add_quoted(struct text *text, const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_@%+=:,./-";
    if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
        text_add(text, word);
        return;
    }
    text_add(text, "'");
    for (; *word; word++) {
        if (*word == '\'')
            text_add(text, "'\\''");
        else
            text_add_bytes(text, word, 1);
    }
    text_add(text, "'");
}

static lathe_status refuse(const struct stat *info, const char *path, const char *what,
                           struct error *err) {
    struct text help = {0};
    if (!is_trusted_owner(info->st_uid)) {
        fail(err, LATHE_EPERM,
             "%s belongs to user %lu: neither root, you nor the owner of this program",
             what, (unsigned long)info->st_uid);
        text_add(&help,
                 "look at it, then make a copy that is yours, or run: chown root ");
    } else {
        fail(err, LATHE_EPERM, "%s can be written by anybody (mode %04o)", what,
             (unsigned)info->st_mode & 07777);
        text_add(&help, "run: chmod o-w ");
    }
    add_quoted(&help, path);
    if (!help.is_broken) error_help(err, "%s", help.data);
    text_finish(&help);
    return LATHE_EPERM;
}

static lathe_status check_folder(const char *path, bool is_sticky_fine,
                                 struct error *err) {
    struct stat info;
    if (stat(path, &info) != 0)
        return fail(err, error_from_errno(errno), "the folder \"%s\": %s", path,
                    strerror(errno));
    bool is_open = (info.st_mode & S_IWOTH) != 0;
    if (is_open && is_sticky_fine && (info.st_mode & S_ISVTX) != 0) is_open = false;
    if (is_trusted_owner(info.st_uid) && !is_open) return LATHE_OK;
    struct text what = {0};
    text_format(&what, "the folder \"%s\"", path);
    refuse(&info, path, what.is_broken ? "the folder" : what.data, err);
    text_finish(&what);
    return LATHE_EPERM;
}

lathe_status trust_check_folder(const char *path, struct error *err) {
    return check_folder(path, true, err);
}

/* The folder of `path`, and what `path` is a link to in *next, or NULL. */
static lathe_status check_hop(const char *path, char **next, struct error *err) {
    char target[PATH_MAX];
    *next = NULL;
    char *folder = path_directory(path);
    if (!folder) return fail(err, LATHE_ENOMEM, "out of memory");
    lathe_status status = check_folder(folder, false, err);
    ssize_t count = readlink(path, target, sizeof target - 1);
    if (status == LATHE_OK && count >= 0) {
        target[count] = '\0';
        *next = path_join(folder, target);
        if (!*next) status = fail(err, LATHE_ENOMEM, "out of memory");
    }
    free(folder);
    return status;
}

static lathe_status check_folders(const char *path, struct error *err) {
    char *hop = NULL, *next = NULL;
    lathe_status status = check_hop(path, &hop, err);
    for (int i = 0; status == LATHE_OK && hop && i < LINKS_MAX; i++) {
        status = check_hop(hop, &next, err);
        free(hop);
        hop = next;
    }
    free(hop);
    return status;
}

lathe_status trust_check(int fd, const char *path, struct error *err) {
    struct stat info;
    if (fstat(fd, &info) != 0)
        return fail(err, error_from_errno(errno), "%s", strerror(errno));
    if (!is_trusted_owner(info.st_uid) || (info.st_mode & S_IWOTH) != 0)
        return refuse(&info, path, "the file", err);
    return check_folders(path, err);
}

char *trust_show(const char *path) {
    struct stat info;
    char *folder = path_directory(path);
    bool is_link = (lstat(path, &info) == 0 && S_ISLNK(info.st_mode)) ||
                   (folder && lstat(folder, &info) == 0 && S_ISLNK(info.st_mode));
    free(folder);
    char *target = is_link ? realpath(path, NULL) : NULL;
    char *shown = target ? text_make("%s -> %s", path, target) : text_copy(path);
    free(target);
    return shown;
}
