/* docs.h - `belfry docs`: what the program knows about itself, as tables for the pages in docs/.
 *
 * `make tidy` holds the pages against them, so that a page cannot tell of a setting or a call that
 * is not there. Not for users, who have the pages. */
#pragma once

/* Prints the table that argv[1] names. Returns the exit code: 2 when there is none of that name. */
int docs_command(int argc, char **argv);
