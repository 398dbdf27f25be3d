/* forks.h - the bare cost of running commands: `belfry bench --role forks`.
 *
 * What a worker that runs commands is compared with: a loop of fork, exec and wait in a small
 * process of its own, which keeps as many children alive at once as the worker has slots, and does
 * nothing else. */
#pragma once

#include <stdint.h>

#define FORKS_PROGRAM "/bin/true"

/* Runs `count` children, `at_once` at a time, and prints how many microseconds that took. Returns
 * the exit code. */
int forks_main(uint64_t count, uint64_t at_once);
