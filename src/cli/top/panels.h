/* panels.h - the tables of `belfry top`, each as a whole. The screen shows as much of them as there
 * is room for. */
#pragma once
#include "cli/table.h"
#include "cli/top/screen.h"

struct panel {
    struct column columns[TABLE_COLUMNS_MAX];
    struct table table;  /* its columns are the ones above: do not copy a panel */
    const char *nothing; /* instead of rows */
};

enum top_panel {
    PANEL_QUEUES,
    PANEL_FAILURES,
    PANEL_RUNNING,
    PANEL_WORKERS,
    PANEL_SERVERS,
    PANELS
};

/* Empty panels are without columns: there is nothing to show yet, or not worth a table. */
void panel_make(struct panel *p, enum top_panel kind, const struct top_data *data,
                const struct top_view *view, struct arena *arena);
void panel_free(struct panel *p); /* also usable as CLEANUP(panel_free) */
size_t panel_rows(const struct panel *p);

/* ---- reading, for the screen as well */

/* The number at a path of keys ("workers.busy"); 0 where there is none. */
int64_t top_number(const struct json *doc, const char *path);
/* Milliseconds of the moment under a key; 0: none. */
int64_t top_when_ms(const struct json *doc, const char *key);
/* The text under a key, harmless. */
struct str top_text(const struct json *doc, const char *key, struct arena *arena);
/* "41ms", "5.3s", "1h30m". */
struct str top_duration(int64_t ms, struct arena *arena);
/* Per second, "120", "0.4"; since the tick before. "-" while there is none. */
struct str top_rate(int64_t now, int64_t before, int64_t ms, struct arena *arena);
