/* SPDX-License-Identifier: MIT */
/* A guess at the setting that somebody meant by a word without its path. It knows what
 * is written in the experiment's file, and neither plugins nor defaults. */
#ifndef HOST_COMMANDS_SETTING_H
#define HOST_COMMANDS_SETTING_H

/* "optimizer.lr" for "lr", or for "optimizer.l": a value in the file whose name or path
 * is the word, or near it; the caller's. NULL: there is none, or no such file. */
char *setting_near(const char *file, const char *word);

#endif
