/* SPDX-License-Identifier: MIT */
/* Names of files. What returns a char * returns memory of the caller's, NULL when there
 * is none left. */
#ifndef HOST_BASE_PATH_H
#define HOST_BASE_PATH_H

#include <stdbool.h>

#include "error.h"

/* a/b; b alone when it is absolute. */
char *path_join(const char *directory, const char *name);
/* Absolute, without "." and doubled slashes; does not look at the file system. NULL
 * also where the working directory is gone. */
char *path_absolute(const char *path);
/* Why path_absolute gave NULL: LATHE_ENOTFOUND, LATHE_ENOMEM. */
lathe_status path_fail(struct error *err);
char *path_directory(const char *path);  /* "." for a bare name */
const char *path_name(const char *path); /* borrowed: after the last '/' */
/* With "~" for the home directory that it is below: a user's name must not leave with a
 * file. */
char *path_hide_home(const char *path);
/* The directory of the running program, from /proc/self/exe. */
char *path_of_program(void);
/* "config", "data", "state", "cache": $XDG_…_HOME, or its default under $HOME when
 * unset, empty or relative; NULL without a home. */
char *path_xdg(const char *what);
bool path_is_plain_name(const char *name); /* no '/', not empty, "." or ".." */
lathe_status path_make_directories(const char *path, struct error *err);

#endif
