/* docs.h - `belfry docs`: what the program knows about itself, as tables for the pages in docs/.
 *
 * `make tidy` holds the pages against them, so that a page cannot tell of a setting or a call that
 * is not there. Not for users, who have the pages. */
#pragma once
#include "base/buf.h"

struct docs_table {
    const char *name;
    void (*print)(struct buf *out);
};

/* Prints the table that argv[1] names: one of `others`, of folders that server may not include
 * (len of them), or one of the server's. Returns the exit code: 2 when none has that name. */
int docs_command(const struct docs_table *others, size_t len, int argc, char **argv);
