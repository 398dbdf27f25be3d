/* stats_json.h - the numbers of a server: `GET /stats`, and the ticks of `GET /events`. */
#pragma once
#include "job/command/command.h"
#include "wire/json/json.h"

/* Sums by state, as users know the states: what is stopping is running. */
struct totals {
    int64_t jobs[JOB_STATES];
    int64_t execs[EXEC_STATES];
    int64_t letters;
};

void totals_add(struct totals *tally, const struct counter *counter);

/* When the numbers were taken, and what is known besides. All wall clock. */
struct stats_moment {
    int64_t now_ms;
    int64_t as_of_ms;
    int64_t uptime_ms;
};

/* Totals over all queues, and each queue by itself, in the order of their names. */
void stats_print(struct json_writer *w, const struct stats_view *stats,
                 const struct stats_moment *moment, struct arena *arena);
/* The same object without the queues, as text. */
void stats_print_sums(struct json_writer *w, const struct stats_view *stats,
                      const struct stats_moment *moment);
/* One of the queues. */
void stats_print_queue(struct json_writer *w, struct str queue, const struct totals *tally);
/* The inverse, of what another server printed. False: it is none. */
bool stats_parse_queue(const struct json *doc, struct str *ret_queue, struct totals *ret_tally);
