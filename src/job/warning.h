/* warning.h - what is odd about a job although nothing failed, as values. */
#pragma once
#include "base/sketch.h"
#include "base/str.h"

enum {
    WARNING_RUNS_MIN = 3,   /* fewer say nothing about how long a job takes */
    WARNING_RUNS_MAX = 100, /* the newest that are looked at */
};

enum warning_kind {
    WARNING_NONE = 0,
    WARNING_SLOWER_THAN_INTERVAL, /* its runs take longer than the time between two slots */
};

struct warning {
    enum warning_kind kind;
    int64_t p95_ms;
    int64_t interval_ms;
    uint64_t runs; /* of which that is the p95 */
};

/* The warning about runs that took so long, of a job whose slots are so far apart. False: none. */
bool warning_of_pace(const struct sketch *took_ms, int64_t interval_ms,
                     struct warning *ret_warning);

/* The API's word: "slower_than_interval". */
struct str warning_kind_name(enum warning_kind kind);
