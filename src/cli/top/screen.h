/* screen.h - what `belfry top` shows, as text: numbers in, lines out.
 *
 * No terminal and no clock: whatever is shown is in the documents of the server, and when it is now
 * says the newest of its ticks. No line takes more cells than there are columns, and there are
 * never more lines than rows, whatever the names in the documents are. */
#pragma once
#include "base/arena.h"
#include "base/buf.h"
#include "wire/json/json.h"

/* Of GET /series. */
#define TOP_SERIES(S)                                                                              \
    S(submitted)                                                                                   \
    S(started)                                                                                     \
    S(completed)                                                                                   \
    S(failed)                                                                                      \
    S(start_lag_p50)                                                                               \
    S(start_lag_p99)                                                                               \
    S(oldest_age)

#define TOP_SERIES_ID(name) TOP_##name,
enum { TOP_SERIES(TOP_SERIES_ID) TOP_SERIES_COUNT };
#undef TOP_SERIES_ID
extern const char *const top_series_names[TOP_SERIES_COUNT];

/* The newest answers of the server; NULL: none yet. */
struct top_data {
    const struct json *tick;   /* of GET /events?view=summary, or GET /stats */
    const struct json *before; /* the one that rates are told from */
    const struct json *queues; /* GET /stats, where a tick has not all queues; else NULL */
    const struct json *queues_before;
    const struct json *running;  /* GET /executions, by status */
    const struct json *failures; /* … */
    const struct json *workers;
    const struct json *cluster;
    const struct json *series[TOP_SERIES_COUNT];
};

enum top_sort {
    TOP_BY_LOAD, /* queued and running */
    TOP_BY_DONE,
    TOP_BY_FAILED,
    TOP_BY_DEAD,
    TOP_BY_NAME,
    TOP_SORTS
};

/* How it is shown. */
struct top_view {
    size_t rows; /* 0: as many as there are, and no line of keys */
    size_t cols; /* 0: as wide as it gets */
    bool colour;
    enum top_sort sort;
    bool reversed;
    size_t first;      /* queue that is shown first */
    struct str filter; /* a part of the name of a queue or of a job; empty: all */
    bool typing;       /* the filter is being typed */
    bool help;         /* keys, instead of everything */
    struct str url;
    struct str lost; /* why nothing new comes; empty: it comes */
};

/* Lines, each ended by \n. Returns the largest `first` there is: with it the last queue is the last
 * that is shown. */
size_t screen_print(const struct top_data *data, const struct top_view *view, struct arena *arena,
                    struct buf *out);
