/* SPDX-License-Identifier: MIT */
#ifndef HOST_BASE_CLOCK_H
#define HOST_BASE_CLOCK_H

#include <stdint.h>

/* Seconds of CLOCK_MONOTONIC. */
double clock_seconds(void);
/* The same in whole nanoseconds. */
int64_t clock_nanoseconds(void);
/* UTC now, "20261130T101530Z". */
void clock_stamp(char stamp[17]);

#endif
