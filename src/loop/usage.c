#include "loop/usage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* scheme://user:PASSWORD@host, wherever it stands in the text. */
static void hide_password(char *text)
{
    char *authority = strstr(text, "://");
    if (authority == NULL)
        return;
    authority += 3;
    char *end = authority + strcspn(authority, "/?#");
    char *at = memrchr(authority, '@', (size_t)(end - authority));
    char *colon = at == NULL ? NULL : memchr(authority, ':', (size_t)(at - authority));
    if (colon != NULL)
        memset(colon + 1, '*', (size_t)(at - colon - 1));
}

char **usage_take_args(int argc, char **argv, struct arena *arena)
{
    char **copy = ARENA_ARRAY(arena, char *, (size_t)argc + 1);
    for (int i = 0; i < argc; i++) {
        copy[i] = arena_zstr(arena, str_c(argv[i]));
        hide_password(argv[i]);
    }
    return copy;
}
