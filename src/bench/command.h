/* command.h - `belfry bench`: what this machine can do with belfry. */
#pragma once

/* Returns the exit code: 0 when all was measured and the databases agree, 1 when not, 2 when the
 * arguments make no sense. */
int bench_command(int argc, char **argv);
