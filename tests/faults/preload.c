/* SPDX-License-Identifier: MIT */
/* support/calls.h as a library to be loaded before others. FAULT is "ACT ERRNO TURN",
 * ACT a number of enum fault, with " stays" after it, or the name of a function that
 * alone counts; FAULT_UNDER the directory whose files count. */
#include "support/calls.h"

#include <stdlib.h>

__attribute__((constructor)) static void begin(void) {
    static char only[32];
    const char *text = getenv("FAULT");
    int fault = 0, number = 0, turn = 0;
    if (!text || sscanf(text, "%d %d %d %31s", &fault, &number, &turn, only) < 3)
        return;
    const bool stays = !strcmp(only, "stays");
    plan(fault, number, *only && !stays ? only : NULL, turn);
    faults.stays = stays;
    faults.under = getenv("FAULT_UNDER");
}
