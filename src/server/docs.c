#include "server/docs.h"
#include "base/buf.h"
#include "job/job_fields.h"
#include "server/call/route_table.h"
#include "server/config/settings.h"

#include <stdio.h>
#include <string.h>

enum { TABLE_BYTES_MAX = 1 << 20 };

static const struct {
    const char *name;
    void (*print)(struct buf *out);
} tables[] = {
    {"fields", job_fields_print},
    {"routes", route_table_print},
    {"settings", settings_table_print},
};

int docs_command(int argc, char **argv)
{
    for (size_t i = 0; i < COUNT_OF(tables); i++) {
        if (argc != 2 || strcmp(argv[1], tables[i].name) != 0)
            continue;
        CLEANUP(buf_free) struct buf out = BUF(TABLE_BYTES_MAX);
        tables[i].print(&out);
        return fwrite(out.ptr, 1, out.len, stdout) == out.len ? 0 : 1;
    }
    (void)fputs("usage: belfry docs fields|routes|settings\n", stderr);
    return 2;
}
