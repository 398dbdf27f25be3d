#include "loop/usage.h"

#include <stdio.h>
#include <stdlib.h>

enum { PAGE_BYTES_MAX = 1 << 16 };

int usage_help(const struct opts *opts, void (*more)(struct buf *out))
{
    CLEANUP(buf_free) struct buf page = BUF(PAGE_BYTES_MAX);
    opts_help(opts, &page);
    if (more != NULL)
        more(&page);
    bool written = fwrite(page.ptr, 1, page.len, stdout) == page.len && fflush(stdout) == 0;
    return written ? EXIT_SUCCESS : EXIT_FAILURE;
}

int usage_refuse(const struct opts *opts, const struct err *err)
{
    fprintf(stderr, "belfry %s: %s\ntry 'belfry help %s'\n", opts->command, err->text,
            opts->command);
    return USAGE_EXIT;
}
