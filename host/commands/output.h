/* SPDX-License-Identifier: MIT */
/* The program's standard output, which is for data. A command whose output is data, and
 * that lets plugins run, keeps it: from then on what a plugin prints comes out on
 * stderr, and data goes to a duplicate of the descriptor that no plugin knows of. */
#ifndef HOST_COMMANDS_OUTPUT_H
#define HOST_COMMANDS_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/text.h"

void output_keep(void); /* ahead of any plugin, until the program ends */
FILE *output_file(void);
/* For people, control characters become '?': what a run or a bundle holds may be
 * somebody's who wants a terminal to obey them. */
void output_print(struct text *text, bool is_for_people);
/* Has the reader of a pipe gone? */
bool output_is_cut(void);
/* It did not arrive, and the command has said so itself. */
void output_give_up(void);
/* Last of all: what was printed has to arrive, whatever it says. Returns the exit
 * status of the program, whose command ended with `code`. */
int output_finish(int code);

#endif
