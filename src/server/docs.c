#include "server/docs.h"
#include "job/job_fields.h"
#include "job/state.h"
#include "server/call/route_table.h"
#include "server/config/settings.h"
#include "server/metrics/metric_table.h"
#include "wire/json/problem.h"

#include <stdio.h>
#include <string.h>

enum { TABLE_BYTES_MAX = 1 << 20 };

static const struct docs_table tables[] = {
    {"fields", job_fields_print},       {"metrics", metric_table_print},
    {"problems", problem_kinds_print},  {"routes", route_table_print},
    {"settings", settings_table_print}, {"states", exec_states_print},
};

static const struct docs_table *find(const struct docs_table *in, size_t len, const char *name)
{
    for (size_t i = 0; i < len; i++) {
        if (strcmp(in[i].name, name) == 0)
            return &in[i];
    }
    return NULL;
}

static void print_usage(const struct docs_table *others, size_t len)
{
    (void)fputs("usage: belfry docs NAME, which is one of", stderr);
    for (size_t i = 0; i < COUNT_OF(tables); i++)
        (void)fprintf(stderr, " %s", tables[i].name);
    for (size_t i = 0; i < len; i++)
        (void)fprintf(stderr, " %s", others[i].name);
    (void)fputs("\n", stderr);
}

int docs_command(const struct docs_table *others, size_t len, int argc, char **argv)
{
    const char *name = argc == 2 ? argv[1] : "";
    const struct docs_table *table = find(tables, COUNT_OF(tables), name);
    if (table == NULL)
        table = find(others, len, name);
    if (table == NULL) {
        print_usage(others, len);
        return 2;
    }
    CLEANUP(buf_free) struct buf out = BUF(TABLE_BYTES_MAX);
    table->print(&out);
    return fwrite(out.ptr, 1, out.len, stdout) == out.len ? 0 : 1;
}
