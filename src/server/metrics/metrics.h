/* metrics.h - what happens, counted: for `GET /metrics`.
 *
 * Each metric is a line of metric_table.h. A counter has one thread that writes it, by relaxed
 * stores and after the commit, so what a scrape says has happened; a histogram has no count of its
 * own but the sum of its buckets as they are read. Gauges that only the engine knows come from the
 * turn once a second (engine/explain/gauges.h), by mail to the thread of the output log, which is
 * told of all events and gives rows to queues, handlers and the like (named_rows.h). What the
 * system knows is read by the scrape (readings.c), on a thread of its own (scrape.h).
 *
 * Everything is about this server alone, and about the partitions that it owns: the sum over all
 * servers is the truth. */
#pragma once
#include "server/metrics/named_rows.h"

struct delta;
struct event;
struct gauges;
struct news_numbers;
struct command;
struct list;

/* Of one thread of connections. */
struct net_metrics;

struct metrics;

/* lines_max: of a scrape (metrics_series_max); routes: of the table, whose rows have numbers. */
struct metrics *metrics_new(size_t lines_max, size_t nets, size_t routes);
void metrics_free(struct metrics *m); /* NULL is fine */

/* ---- by the thread of turns */

/* A turn spent so long in a phase. */
void metrics_phase(struct metrics *m, enum turn_phase phase, int64_t took_us);
void metrics_commit(struct metrics *m, int64_t took_us);
/* This has been committed. */
void metrics_kept(struct metrics *m, const struct delta *delta);
/* A turn is over that was handed so many commands; these are answered. */
void metrics_turn(struct metrics *m, size_t commands, struct list *answered);

/* ---- by the thread of the output log; now_ms: boot clock */

void metrics_event(struct metrics *m, const struct event *event, int64_t now_ms);
void metrics_output(struct metrics *m, size_t bytes);
void metrics_gauges(struct metrics *m, const struct gauges *gauges, int64_t now_ms);

/* ---- by the threads of connections, each with its number */

struct answered {
    size_t net;
    size_t route; /* its number; that of routes: none has the path */
    int status;
    int64_t took_us; /* -1: not known */
};
void metrics_answer(struct metrics *m, const struct answered *answered);
void metrics_stream(struct metrics *m, size_t net, int by); /* one more, or one less */
void metrics_forward(struct metrics *m, size_t net);
void metrics_slow(struct metrics *m, size_t net, bool told); /* told: in the log */

/* ---- by a thread of queries, one at a time (slot_watch.h) */

void metrics_checked(struct metrics *m, size_t schedules);
void metrics_missed_slots(struct metrics *m, uint64_t count);

/* ---- by the thread of heartbeats */

void metrics_heartbeat(struct metrics *m, enum beat_end end);

/* ---- by the thread of scrapes */

/* All numbers that are counted. */
struct metric_rows {
    struct metric_row *rows;
    size_t count;
};
struct metric_copy {
    int64_t server[SERVER_CELLS]; /* those that the scrape reads are METRIC_NO_VALUE */
    struct metric_rows axes[METRIC_AXES];
    int64_t gauges_ms; /* boot clock: when the turn gave its numbers; 0: it has not yet */
};
/* Without AXIS_THREAD. label: prints what a route's row is told apart by. */
void metrics_copy(struct metrics *m, struct arena *arena,
                  void (*label)(size_t route, struct buf *out), struct metric_copy *ret_copy);
/* Leaves out what the turn gives once a second: it is not known, or another server tells it. */
void metric_copy_hide_second(struct metric_copy *copy);
