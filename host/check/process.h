/* SPDX-License-Identifier: MIT */
/* What this process has. */
#ifndef HOST_CHECK_PROCESS_H
#define HOST_CHECK_PROCESS_H

int process_descriptors(void);
int process_threads(void);
long process_pages(void); /* resident */
/* Seconds of processor time of all threads: what a busy machine gives it. */
double process_seconds(void);
/* The calling thread keeps to the n-th of the processors that it may use, so that
 * threads with other numbers run at the same time as it does. */
void process_keep_to(int n);

#endif
