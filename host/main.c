/* SPDX-License-Identifier: MIT */
/* The program. What a process has only one of is set here and nowhere else:
 * environment, signals, standard descriptors, exit status. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/arguments.h"
#include "commands/crash.h"
#include "commands/output.h"
#include "commands/table.h"
#include "commands/trial.h"

/* A descriptor that is closed would be given to the next file that is opened, and
 * messages would go into it. stdout and stderr are opened for reading: what is written
 * still fails. */
static void fill_descriptors(void) {
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)!open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

/* Parallelism is the host's. Read by BLAS libraries when they are loaded. */
static void limit_blas_threads(void) {
    static const char *const names[] = {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS",
                                        "MKL_NUM_THREADS", "BLIS_NUM_THREADS"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) setenv(names[i], "1", 1);
}

static bool wants_help(int argc, char **argv) {
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) return true;
    return false;
}

static int dispatch(int argc, char **argv) {
    char help[] = "help";
    const char *name = argc < 2 ? "--help" : argv[1];
    if (!strcmp(name, "--help") || !strcmp(name, "-h")) {
        char *overview[] = {help, NULL};
        return command_help(1, overview);
    }
    if (!strcmp(name, "--version")) {
        printf("lathe %s, plugin ABI 1.%u\n", LATHE_VERSION, LATHE_ABI_MINOR);
        return 0;
    }
    struct error err = {0};
    const struct command *command = command_find(name, &err);
    if (!command) {
        command_print_error(&err);
        return EXIT_USAGE;
    }
    if (wants_help(argc - 1, argv + 1)) {
        char *page[] = {help, argv[1], NULL};
        return command_help(2, page);
    }
    return command->function(argc - 1, argv + 1);
}

int main(int argc, char **argv) {
    fill_descriptors();
    limit_blas_threads();
    signal(SIGPIPE, SIG_IGN); /* both are told as errors of a write */
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGUSR1, SIG_IGN); /* until there is a run to save */
    if (argc > 1 && !strcmp(argv[1], TRIAL_WORD)) return trial_serve(argc, argv);
    atexit(crash_refuse_exit);
    at_quick_exit(crash_refuse_exit);
    return output_finish(dispatch(argc, argv));
}
