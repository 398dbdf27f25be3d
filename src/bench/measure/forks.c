#include "bench/measure/forks.h"
#include "loop/clock.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static bool run_one(void)
{
    static char program[] = FORKS_PROGRAM;
    pid_t pid = fork();
    if (pid == 0) {
        execv(program, (char *[]){program, NULL});
        _exit(EXIT_FAILURE);
    }
    return pid > 0;
}

static bool await_one(void)
{
    int status;
    return wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

int forks_main(uint64_t count, uint64_t at_once)
{
    int64_t begun_us = clock_mono_us();
    uint64_t begun = 0;
    for (uint64_t ended = 0; ended < count; ended++) {
        for (; begun < count && begun - ended < at_once; begun++) {
            if (!run_one())
                return EXIT_FAILURE;
        }
        if (!await_one())
            return EXIT_FAILURE;
    }
    printf("%" PRId64 "\n", clock_mono_us() - begun_us);
    return EXIT_SUCCESS;
}
