/* SPDX-License-Identifier: MIT */
#include "peer.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

int peer_spawn(char *const *argv, pid_t *pid, FILE **to, FILE **from) {
    int in[2] = {-1, -1}, out[2];
    posix_spawn_file_actions_t actions;
    if (pipe2(out, O_CLOEXEC) != 0) return errno;
    posix_spawn_file_actions_init(&actions);
    if (to != NULL && pipe2(in, O_CLOEXEC) == 0)
        posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    int failure = posix_spawnp(pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(out[1]);
    if (to != NULL) {
        close(in[0]);
        *to = fdopen(in[1], "w");
    }
    *from = fdopen(out[0], "r");
    return failure;
}

/* Processor time of the whole process so far, in seconds. */
static double processor_time(pid_t pid) {
    clockid_t clock;
    struct timespec used = {0};
    if (clock_getcpuclockid(pid, &clock) == 0) clock_gettime(clock, &used);
    return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

/* It ended, or closed its pipe, instead of answering. */
__attribute__((noreturn)) static void give_up(const struct peer *peer) {
    int status;
    if (waitpid(peer->pid, &status, 0) == peer->pid && WIFEXITED(status) &&
        WEXITSTATUS(status) == 69)
        bench_miss(PEER_PACKAGES, "%s has no module torch", PEER_PYTHON);
    bench_give_up("the peer ended before it answered");
}

static void read_answer(struct peer *peer, char *answer, size_t size) {
    if (fgets(answer, (int)size, peer->from) == NULL) give_up(peer);
    answer[strcspn(answer, "\n")] = '\0';
}

static void stop(struct peer *peer) {
    double used = processor_time(peer->pid), now = bench_seconds();
    peer->owned = (used - peer->used) / (now - peer->left_at);
    kill(peer->pid, SIGSTOP);
    peer->used = used;
    peer->left_at = now;
}

static void go_on(struct peer *peer) {
    double used = processor_time(peer->pid), now = bench_seconds();
    peer->idle += used - peer->used;
    peer->waited += now - peer->left_at;
    peer->used = used;
    peer->left_at = now;
    kill(peer->pid, SIGCONT);
}

void peer_ask(struct peer *peer, char *answer, size_t size, const char *question, ...) {
    va_list arguments;
    va_start(arguments, question);
    go_on(peer);
    vfprintf(peer->to, question, arguments);
    fputc('\n', peer->to);
    if (fflush(peer->to) != 0) give_up(peer);
    va_end(arguments);
    read_answer(peer, answer, size);
    stop(peer);
}

/* Where the OpenBLAS lies whose threads are those of OpenMP, as PyTorch's own are. */
static void find_openmp(char *folder, size_t size) {
    glob_t found;
    if (glob("/usr/lib/*/openblas-openmp", 0, NULL, &found) != 0)
        bench_miss(PEER_PACKAGES, "there is no OpenBLAS for OpenMP");
    snprintf(folder, size, "LD_LIBRARY_PATH=%s", found.gl_pathv[0]);
    globfree(&found);
}

void peer_start(struct peer *peer, const struct bench *bench, int threads) {
    char count[8], folder[256], omp[32], blas[32], script[512];
    bool is_wide = strcmp(peak_instructions(), "AVX-512") == 0;
    *peer = (struct peer){.pid = 0};
    snprintf(count, sizeof count, "%d", threads);
    snprintf(omp, sizeof omp, "OMP_NUM_THREADS=%d", threads);
    snprintf(blas, sizeof blas, "OPENBLAS_NUM_THREADS=%d", threads);
    snprintf(script, sizeof script, "%s/tests/bench/peer.py", bench->source);
    if (access(PEER_PYTHON, X_OK) != 0)
        bench_miss(PEER_PACKAGES, "there is no %s", PEER_PYTHON);
    find_openmp(folder, sizeof folder);
    const char *const argv[] = {
        "env", "-u", "OMP_PLACES", "-u", "GOMP_CPU_AFFINITY", "-u", "GOMP_SPINCOUNT",
        omp, blas, folder,
        /* One thread needs no place, and would only lose the freedom to move. */
        threads > 1 ? "OMP_PROC_BIND=true" : "OMP_PROC_BIND=false", "OMP_DYNAMIC=false",
        "OMP_WAIT_POLICY=active",
        /* Else larger tensors are mapped anew, page fault by page fault. */
        "MALLOC_MMAP_THRESHOLD_=1073741824", "MALLOC_TRIM_THRESHOLD_=4294967296",
        /* By itself, PyTorch 1.13 may take AVX2 where it could do more. */
        is_wide ? "ATEN_CPU_CAPABILITY=avx512" : "LC_ALL=C.UTF-8", PEER_PYTHON, "-I",
        script, count, FASHION, NULL};
    if (peer_spawn((char *const *)(uintptr_t)argv, &peer->pid, &peer->to,
                   &peer->from) != 0)
        bench_give_up("env cannot be started");
    read_answer(peer, peer->about, sizeof peer->about);
    stop(peer);
}

void peer_close(struct peer *peer) {
    kill(peer->pid, SIGCONT);
    fclose(peer->to);
    fclose(peer->from);
    waitpid(peer->pid, NULL, 0);
}
