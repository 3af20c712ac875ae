/* SPDX-License-Identifier: MIT */
/* Why something failed, in memory of the caller's: one line of what, one of where, one
 * of help. The text is written once, by the code that knows the fact; callers add
 * where. */
#ifndef HOST_BASE_ERROR_H
#define HOST_BASE_ERROR_H

#include <stdarg.h>
#include <stddef.h>

#include <lathe/abi.h>

struct error {
    lathe_status status;
    char what[512];
    char where[384];
    char help[384];
};

/* Sets status and what, clears where and help; returns status. err may be NULL. Text
 * that does not fit is cut; control characters and what is not UTF-8 become '?', so a
 * text is always one line. Arguments may point into *err. */
__attribute__((format(printf, 3, 4))) lathe_status fail(struct error *err,
                                                        lathe_status status,
                                                        const char *format, ...);
/* The same for a function that takes the arguments itself, as vprintf. */
__attribute__((format(printf, 3, 0))) lathe_status fail_list(struct error *err,
                                                             lathe_status status,
                                                             const char *format,
                                                             va_list arguments);
/* Sets where, or puts "new: " before one that is set. Cleans like fail. */
__attribute__((format(printf, 2, 3))) void error_where(struct error *err,
                                                       const char *format, ...);
__attribute__((format(printf, 2, 3))) void error_help(struct error *err,
                                                      const char *format, ...);
/* The exit status of the program that it amounts to; LATHE_OK and normal outcomes:
 * 0. */
int error_exit_code(lathe_status status);
/* The status that a failed system call amounts to: ENOENT, EACCES, ENOMEM, … */
lathe_status error_from_errno(int number);
/* The same of a call that had to create something: LATHE_EIO where the disk or the
 * quota is full; LATHE_EPERM; LATHE_ENOMEM, also without descriptors; or else
 * LATHE_ECREATE. */
lathe_status error_from_create(int number);

#define ERRORS_MAX 1000 /* more than anybody reads */
/* A growing list, for `validate`, which tells all. Starts as {0}, stays where it is. */
struct errors {
    struct error *items;
    size_t count;
    struct error spare; /* the only item when there is no memory for a first one */
};
/* A new last item, zeroed; borrowed until the next add. Past ERRORS_MAX, or out of
 * memory: the last one again, so a list that was added to is never empty. */
struct error *errors_add(struct errors *errors);
/* Frees the items and leaves an empty list. */
void errors_finish(struct errors *errors);

#endif
