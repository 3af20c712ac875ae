/* SPDX-License-Identifier: MIT */
/* The other side of a comparison, as a child process that works when it is asked and is
 * stopped (SIGSTOP) while it is not, so that nothing it spins on can disturb us. */
#ifndef TESTS_BENCH_PEER_H
#define TESTS_BENCH_PEER_H

#include <stdio.h>
#include <sys/types.h>

#include "bench.h"

#define PEER_PYTHON "/usr/bin/python3" /* Debian's, whatever is first in PATH */
#define PEER_PACKAGES "python3-torch libopenblas0-openmp"

struct peer {
    pid_t pid;
    FILE *to, *from;
    char about[128];      /* what it says of itself */
    double idle;          /* its processor time while it was not asked, seconds … */
    double waited;        /* … and how long that was */
    double used, left_at; /* processor time and clock at the last signal */
    double owned;         /* cores that it had, on average, for the last answer */
};

/* Starts peer.py on so many threads and waits until it is ready. Ends the program,
 * saying what to install, where something is missing. */
void peer_start(struct peer *peer, const struct bench *bench, int threads);
/* Sends a line and waits for the answer, without its newline. */
__attribute__((format(printf, 4, 5))) void peer_ask(struct peer *peer, char *answer,
                                                    size_t size, const char *question,
                                                    ...);
void peer_close(struct peer *peer);

/* Starts a program with its standard output on a pipe, and its input too when `to` is
 * not NULL. 0, or an errno value. */
int peer_spawn(char *const *argv, pid_t *pid, FILE **to, FILE **from);

#endif
