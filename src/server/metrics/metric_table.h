/* metric_table.h - every metric, once.
 *
 * A metric is a line of one of the lists below: the list says what its values are told apart by
 * (nothing, the queue, the handler, …), the line its kind, scale, a second label with fixed words,
 * which thread writes it, its name and its words. Cells to count in, the text of a scrape and
 * docs/metrics.md come from there, so adding a metric is one line and the code that counts.
 *
 * Names are endings: metrics_prefix stands before them, except for those of any process. Lines of
 * jobs, owners and ids are never told apart, and `queue` and `handler` never stand together. */
#pragma once
#include "base/buf.h"
#include "engine/explain/gauges.h"
#include "job/record/alert.h"
#include "server/cluster/incidents.h"
#include "server/trace/tracer.h"
#include "server/turn/phase.h"

enum metric_kind { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };

/* The unit of a cell, and how it is printed. Histograms: their buckets, too. */
enum metric_scale {
    SCALE_ONE,
    SCALE_HALF, /* halves, as the states of breakers have them */
    SCALE_MS,   /* printed as seconds */
    SCALE_US,
    SCALE_PERMILLE, /* printed as a ratio */
    SCALE_RUN,      /* of runs, in milliseconds */
    SCALE_WAIT,     /* of waiting, in milliseconds */
    SCALE_CALL,     /* of calls and commits, in microseconds */
    METRIC_SCALES
};

enum {
    METRIC_BUCKETS = 14,                         /* of a histogram, the last one without an end */
    METRIC_HISTOGRAM_CELLS = METRIC_BUCKETS + 1, /* and the sum of what was observed */
    METRIC_HISTOGRAM_LINES = METRIC_BUCKETS + 2, /* and the count, which is the sum of these */
};

/* The second label of a metric, L(id, how many words, label): the words are in metric_table.c. */
#define METRIC_LABELS(L)                                                                           \
    L(NONE, 1, "")                                                                                 \
    L(ALERT, ALERT_KINDS, "kind")                                                                  \
    L(PHASE, TURN_PHASES, "phase")                                                                 \
    L(STATE, WAIT_STATES, "state")                                                                 \
    L(OUTCOME, RUN_ENDS, "outcome")                                                                \
    L(WORKER, WORKER_STATES, "state")                                                              \
    L(WHY, TAKEOVER_WHYS, "why")                                                                   \
    L(LIMIT, GAUGE_LIMITS, "kind")                                                                 \
    L(CLASS, HTTP_CLASSES, "class")                                                                \
    L(AXIS, METRIC_AXES, "label")                                                                  \
    L(FILE, FILE_KINDS, "file")                                                                    \
    L(BEAT, BEAT_ENDS, "outcome")                                                                  \
    L(VERSION, 1, "version")                                                                       \
    L(SPANS, TRACE_DROPS, "reason")

/* Of executions that are not over. */
enum wait_state {
    WAIT_SCHEDULED,
    WAIT_QUEUED,
    WAIT_RUNNING,
    WAIT_RETRYING,
    WAIT_BLOCKED,
    WAIT_STATES
};

enum run_end {
    RUN_END_COMPLETED,
    RUN_END_FAILED,
    RUN_END_RETRIED,
    RUN_END_CANCELLED,
    RUN_END_LOST,
    RUN_ENDS
};

/* Of heartbeats: withheld ones were not sent, since the store had kept nothing. */
enum beat_end { BEAT_SENT, BEAT_FAILED, BEAT_WITHHELD, BEAT_ENDS };

enum http_class { HTTP_2XX, HTTP_3XX, HTTP_4XX, HTTP_5XX, HTTP_CLASSES };

enum file_kind { FILE_DATABASE, FILE_WAL, FILE_OUTPUT, FILE_OUTPUT_WAL, FILE_KINDS };

/* Rows are told apart by this label. */
enum metric_axis {
    AXIS_SERVER, /* nothing: there is one row */
    AXIS_QUEUE,
    AXIS_HANDLER,
    AXIS_TARGET, /* of breakers */
    AXIS_TEAM,
    AXIS_ROUTE, /* and method */
    AXIS_THREAD,
    METRIC_AXES
};

/* Which states of workers there are: as GET /workers has them. */
enum worker_state {
    WORKER_IDLE,
    WORKER_BUSY,
    WORKER_CORDONED,
    WORKER_DRAINING,
    WORKER_SILENT,
    WORKER_STATES
};

/* ---- the lists: M(id, kind, scale, label, written by, name, words)
 *
 * turn: the thread of turns, after the commit. events: the thread of the output log, which is told
 * of each event after its commit. second: the numbers that the turn gives once a second. net: the
 * threads of connections. query: looked for in the store. heartbeat: its own thread. scrape: read
 * when it is asked for. */

/* Gauges come last. */
#define QUEUE_METRICS(M)                                                                           \
    M(CREATED, COUNTER, ONE, NONE, events, "executions_added_total", "executions that were made")  \
    M(ENQUEUED, COUNTER, ONE, NONE, events, "jobs_enqueued_total",                                 \
      "executions that became ready: their time had come, and all that they depend on")            \
    M(STARTED, COUNTER, ONE, NONE, events, "jobs_started_total",                                   \
      "attempts that were given to a worker")                                                      \
    M(COMPLETED, COUNTER, ONE, NONE, events, "jobs_completed_total", "executions that succeeded")  \
    M(FAILED, COUNTER, ONE, NONE, events, "jobs_failed_total",                                     \
      "executions that failed for good, by a timeout, too")                                        \
    M(TIMED_OUT, COUNTER, ONE, NONE, events, "jobs_timed_out_total",                               \
      "those of jobs_failed_total whose last attempt took too long")                               \
    M(RETRIED, COUNTER, ONE, NONE, events, "jobs_retried_total",                                   \
      "attempts that failed and are tried again")                                                  \
    M(CANCELLED, COUNTER, ONE, NONE, events, "jobs_cancelled_total",                               \
      "executions that were cancelled")                                                            \
    M(SKIPPED, COUNTER, ONE, NONE, events, "jobs_skipped_total",                                   \
      "slots that a rule said not to run")                                                         \
    M(DEDUPLICATED, COUNTER, ONE, NONE, events, "jobs_deduplicated_total",                         \
      "executions whose work was done already")                                                    \
    M(EXPIRED, COUNTER, ONE, NONE, events, "jobs_expired_total",                                   \
      "executions that did not start in time")                                                     \
    M(DEAD_LETTERED, COUNTER, ONE, NONE, events, "jobs_dead_lettered_total",                       \
      "executions that became dead letters")                                                       \
    M(LEASES_LOST, COUNTER, ONE, NONE, events, "leases_lost_total",                                \
      "leases that ended without a report: the worker vanished")                                   \
    M(LEASES_RETURNED, COUNTER, ONE, NONE, events, "leases_returned_total",                        \
      "leases that came back unused")                                                              \
    M(SLA_WARNINGS, COUNTER, ONE, NONE, events, "sla_warnings_total",                              \
      "attempts that took longer than their SLA expects")                                          \
    M(SLA_VIOLATIONS, COUNTER, ONE, NONE, events, "sla_violations_total",                          \
      "attempts that took longer than their SLA allows")                                           \
    M(DURATION, HISTOGRAM, RUN, NONE, events, "execution_duration_seconds",                        \
      "how long attempts took that a worker reported")                                             \
    M(LAG, HISTOGRAM, WAIT, NONE, events, "schedule_lag_seconds",                                  \
      "from when an execution should have run to its first start")                                 \
    M(WAIT, HISTOGRAM, WAIT, NONE, events, "queue_wait_seconds",                                   \
      "from being ready to being given to a worker, without what comes back lost or unused")       \
    M(DEPTH, GAUGE, ONE, NONE, second, "queue_depth",                                              \
      "executions that are ready and wait for a worker")                                           \
    M(UNFINISHED, GAUGE, ONE, STATE, second, "queue_executions", "executions that are not over")   \
    M(OLDEST, GAUGE, MS, NONE, second, "queue_oldest_age_seconds",                                 \
      "how long what is first in line has waited")                                                 \
    M(RUNNING, GAUGE, ONE, NONE, second, "queue_running", "executions that workers have")          \
    M(LIMIT, GAUGE, ONE, NONE, second, "queue_limit",                                              \
      "how many may run at once, by the owner of the queue's home; no limit, no line")             \
    M(LIMIT_USED, GAUGE, ONE, NONE, second, "queue_limit_used", "runs that count for queue_limit") \
    M(PAUSED, GAUGE, ONE, NONE, second, "queue_paused", "1: it is paused, as its home says")       \
    M(LETTERS, GAUGE, ONE, NONE, second, "dlq_depth", "dead letters")

#define HANDLER_METRICS(M)                                                                         \
    M(RUNS, COUNTER, ONE, OUTCOME, events, "handler_attempts_total",                               \
      "attempts of jobs with a handler that ended")                                                \
    M(RUN_TIME, COUNTER, MS, NONE, events, "handler_run_seconds_total",                            \
      "how long those took that a worker reported, added up")

#define TARGET_METRICS(M)                                                                          \
    M(BREAKER, GAUGE, HALF, NONE, second, "circuit_breaker_state",                                 \
      "0: closed, 0.5: half open, 1: open, and work for the target waits")

#define TEAM_METRICS(M)                                                                            \
    M(TEAM_RUNNING, GAUGE, ONE, NONE, second, "team_running", "executions that workers have")      \
    M(TEAM_LIMIT, GAUGE, ONE, NONE, second, "team_limit", "how many may run at once")

#define ROUTE_METRICS(M)                                                                           \
    M(REQUESTS, COUNTER, ONE, CLASS, net, "http_requests_total", "requests that were answered")    \
    M(REQUEST_TIME, HISTOGRAM, CALL, NONE, net, "http_request_duration_seconds",                   \
      "from the head of a request to its answer; polls wait for work")

#define THREAD_METRICS(M)                                                                          \
    M(THREAD_CPU, COUNTER, US, NONE, scrape, "thread_cpu_seconds_total",                           \
      "processor time of the threads of that name")

#define SERVER_METRICS(M)                                                                          \
    M(BUILD, GAUGE, ONE, VERSION, scrape, "build_info", "1, and the version")                      \
    M(SUBMITTED, COUNTER, ONE, NONE, turn, "jobs_submitted_total", "jobs that were accepted")      \
    M(REPEATED, COUNTER, ONE, NONE, turn, "submissions_repeated_total",                            \
      "submissions that made no job: it was there already, by a unique or an idempotency key")     \
    M(REFUSED, COUNTER, ONE, NONE, turn, "submissions_refused_total",                              \
      "submissions that were refused by the turn")                                                 \
    M(LETTERS_GONE, COUNTER, ONE, NONE, turn, "dead_letters_removed_total",                        \
      "dead letters that were retried, discarded or too old")                                      \
    M(ALERTS, COUNTER, ONE, ALERT, turn, "alerts_total", "alerts that were raised")                \
    M(HEARTBEATS, COUNTER, ONE, BEAT, heartbeat, "heartbeats_total",                               \
      "heartbeats to heartbeat_url, by the owner of the first partition")                          \
    M(TURNS, COUNTER, ONE, NONE, turn, "turns_total", "turns that were ended")                     \
    M(COMMANDS, COUNTER, ONE, NONE, turn, "turn_commands_total", "commands that these decided")    \
    M(PHASES, COUNTER, US, PHASE, turn, "turn_phase_seconds_total", "where turns spent time")      \
    M(COMMIT_TIME, HISTOGRAM, CALL, NONE, turn, "commit_duration_seconds",                         \
      "how long commits took")                                                                     \
    M(PENDING, GAUGE, ONE, NONE, second, "pending_job_count",                                      \
      "executions that have yet to run, for whatever they wait")                                   \
    M(OVERDUE, GAUGE, ONE, NONE, second, "schedules_overdue",                                      \
      "executions whose time has come more than a second ago, and that no turn has looked at")     \
    M(MISSED, GAUGE, ONE, NONE, query, "slots_without_outcome",                                    \
      "slots of the last day that have no record: there should be none")                           \
    M(CHECKED, COUNTER, ONE, NONE, query, "schedules_checked_total",                               \
      "schedules that were compared with their records for that")                                  \
    M(IN_MEMORY, GAUGE, ONE, NONE, second, "executions_in_memory",                                 \
      "unfinished executions that are due soon")                                                   \
    M(IN_MEMORY_MAX, GAUGE, ONE, NONE, scrape, "executions_in_memory_max",                         \
      "live_max: with more of them submissions are refused")                                       \
    M(QUARANTINED, GAUGE, ONE, NONE, scrape, "executions_quarantined",                             \
      "executions whose rows make no sense: they are left alone")                                  \
    M(LIMITS, GAUGE, ONE, LIMIT, second, "limits",                                                 \
      "keys of limits that unfinished jobs name, or that have values, by the owner of their home") \
    M(LIMITS_FULL, GAUGE, ONE, LIMIT, second, "limits_full",                                       \
      "those by which some job that names them may not start now")                                 \
    M(ALERTS_PENDING, GAUGE, ONE, NONE, scrape, "alerts_pending",                                  \
      "alerts that no webhook has taken yet; a hundred at most; no webhook, no line")              \
    M(WORKERS, GAUGE, ONE, WORKER, second, "workers", "workers, by the owner of their id alone")   \
    M(SLOTS, GAUGE, ONE, NONE, second, "worker_slots",                                             \
      "how many runs these take at once; if they take no more: those that they have")              \
    M(SLOTS_BUSY, GAUGE, ONE, NONE, second, "worker_slots_busy", "runs that these have")           \
    M(UTILIZATION, GAUGE, PERMILLE, NONE, second, "worker_utilization",                            \
      "worker_slots_busy / worker_slots of this server; over several, divide the sums")            \
    M(POLLS, GAUGE, ONE, NONE, second, "polls_parked", "polls of workers that wait for work")      \
    M(INBOX, GAUGE, ONE, NONE, second, "inbox_waiting",                                            \
      "submissions by SQL for which there is no room")                                             \
    M(STRANGE, GAUGE, ONE, NONE, second, "inbox_unknown",                                          \
      "rows of the inbox that only a newer version knows")                                         \
    M(NUMBERS_AGE, GAUGE, MS, NONE, scrape, "numbers_age_seconds",                                 \
      "how old the numbers are that the turn gives once a second")                                 \
    M(LEADER, GAUGE, ONE, NONE, scrape, "scheduler_is_leader",                                     \
      "1: this server owns partitions, and decides about their jobs")                              \
    M(PARTITIONS, GAUGE, ONE, NONE, scrape, "partitions_owned", "partitions of this server")       \
    M(ALL_PARTITIONS, GAUGE, ONE, NONE, scrape, "cluster_partitions",                              \
      "partitions that there are: each server says the same")                                      \
    M(SILENT, GAUGE, MS, NONE, scrape, "member_silent_seconds",                                    \
      "since the other server was heard that is silent for longest; forgotten after an hour")      \
    M(SERVERS, GAUGE, ONE, NONE, scrape, "cluster_servers",                                        \
      "servers that this one sees, itself included: each of them says the same")                   \
    M(TAKEOVERS, COUNTER, ONE, WHY, scrape, "takeovers_total",                                     \
      "how often this server took partitions, and why")                                            \
    M(FORWARDED, COUNTER, ONE, NONE, net, "forwarded_calls_total",                                 \
      "calls that were sent on to another server")                                                 \
    M(SLOW, COUNTER, ONE, NONE, net, "http_slow_requests_total",                                   \
      "calls that took longer than slow_request_ms; polls and streams never do")                   \
    M(SLOW_UNTOLD, COUNTER, ONE, NONE, net, "http_slow_requests_untold_total",                     \
      "those for which the log had no line left")                                                  \
    M(OUTAGES, COUNTER, ONE, NONE, scrape, "store_outages_total",                                  \
      "times without a store that takes commits")                                                  \
    M(TROUBLE, GAUGE, ONE, NONE, scrape, "store_unavailable", "1: one of these goes on")           \
    M(COMMITS, COUNTER, ONE, NONE, scrape, "store_commits_total", "commits that were tried")       \
    M(SYNCS, COUNTER, ONE, NONE, scrape, "store_syncs_total", "waits for the disk")                \
    M(SYNC_TIME, COUNTER, US, NONE, scrape, "store_sync_seconds_total", "how long these took")     \
    M(ROUND_TRIPS, COUNTER, ONE, NONE, scrape, "store_round_trips_total",                          \
      "answers of PostgreSQL that were waited for, by all threads")                                \
    M(OUTPUT_BYTES, COUNTER, ONE, NONE, events, "output_bytes_total",                              \
      "bytes of output of commands that were kept")                                                \
    M(SPANS_EXPORTED, COUNTER, ONE, NONE, scrape, "trace_spans_exported_total",                    \
      "spans that the collector of traces took")                                                   \
    M(SPANS_REJECTED, COUNTER, ONE, NONE, scrape, "trace_spans_rejected_total",                    \
      "spans that it rejected, of batches that it took")                                           \
    M(SPANS_DROPPED, COUNTER, ONE, SPANS, scrape, "trace_spans_dropped_total",                     \
      "spans that were not sent, or in vain")                                                      \
    M(BATCHES_FAILED, COUNTER, ONE, NONE, scrape, "trace_batches_failed_total",                    \
      "tries to send a batch of spans that failed")                                                \
    M(TRACE_QUEUE, GAUGE, ONE, NONE, scrape, "trace_queue_bytes",                                  \
      "what waits to be made into spans; trace_queue_bytes_max is the limit")                      \
    M(CONNECTIONS, GAUGE, ONE, NONE, scrape, "http_connections", "connections that are open")      \
    M(CONNECTIONS_MAX, GAUGE, ONE, NONE, scrape, "http_connections_max",                           \
      "connections_max, as far as the limit of open files lets it")                                \
    M(STREAMS, GAUGE, ONE, NONE, net, "http_streams", "endless answers that are under way")        \
    M(DRAINING, GAUGE, ONE, NONE, scrape, "server_draining", "1: it takes no new jobs")            \
    M(FILES, GAUGE, ONE, FILE, scrape, "file_bytes", "sizes of the files of the database")         \
    M(DISK_FREE, GAUGE, ONE, NONE, scrape, "disk_free_bytes", "room below the data directory")     \
    M(DISK_SIZE, GAUGE, ONE, NONE, scrape, "disk_size_bytes", "the size of that file system")      \
    M(SKEW, GAUGE, MS, NONE, scrape, "clock_skew_seconds",                                         \
      "by how much this machine's clock is ahead of the time that the server goes by")             \
    M(CLOCK_STEPS, COUNTER, ONE, NONE, scrape, "clock_steps_total",                                \
      "steps of the clock that were followed")                                                     \
    M(SYNCED, GAUGE, ONE, NONE, scrape, "clock_synchronized", "1: the system says that it is")     \
    M(LINES, GAUGE, ONE, NONE, scrape, "metrics_lines", "lines of this scrape")                    \
    M(DROPPED, COUNTER, ONE, AXIS, events, "metrics_dropped_total",                                \
      "values of a label that found no room and are counted as other; a few may share a count")    \
    M(CPU, COUNTER, US, NONE, scrape, "process_cpu_seconds_total", "processor time")               \
    M(RESIDENT, GAUGE, ONE, NONE, scrape, "process_resident_memory_bytes", "memory in RAM")        \
    M(VIRTUAL, GAUGE, ONE, NONE, scrape, "process_virtual_memory_bytes", "address space")          \
    M(OPEN_FILES, GAUGE, ONE, NONE, scrape, "process_open_fds", "open files and sockets")          \
    M(MOST_FILES, GAUGE, ONE, NONE, scrape, "process_max_fds", "most of these")                    \
    M(BEGUN, GAUGE, MS, NONE, scrape, "process_start_time_seconds", "since 1970")

/* A(axis, list, the label of its rows) */
#define METRIC_LISTS(A)                                                                            \
    A(QUEUE, QUEUE_METRICS, "queue")                                                               \
    A(HANDLER, HANDLER_METRICS, "handler")                                                         \
    A(TARGET, TARGET_METRICS, "target")                                                            \
    A(TEAM, TEAM_METRICS, "team")                                                                  \
    A(SERVER, SERVER_METRICS, "")                                                                  \
    A(ROUTE, ROUTE_METRICS, "route, method")                                                       \
    A(THREAD, THREAD_METRICS, "thread")

/* ---- cells: where each has its numbers in a row of its axis */

#define METRIC_WIDTH(id, width, label) LABEL_##id##_WIDTH = (width),
enum { METRIC_LABELS(METRIC_WIDTH) };
#define METRIC_LABEL_ID(id, width, label) LABEL_##id,
enum metric_label { METRIC_LABELS(METRIC_LABEL_ID) METRIC_LABEL_COUNT };

#define CELLS_COUNTER(label) LABEL_##label##_WIDTH
#define CELLS_GAUGE(label) LABEL_##label##_WIDTH
#define CELLS_HISTOGRAM(label) METRIC_HISTOGRAM_CELLS
#define METRIC_CELL(id, kind, scale, label, writer, name, words)                                   \
    CELL_##id, CELL_##id##_LAST = CELL_##id + CELLS_##kind(label) - 1,
#define METRIC_CELL_ENUM(axis, list, label) enum { list(METRIC_CELL) axis##_CELLS };
METRIC_LISTS(METRIC_CELL_ENUM)

struct metric {
    enum metric_kind kind;
    enum metric_scale scale;
    enum metric_axis axis;
    enum metric_label label;
    unsigned cell; /* the first one, in a row of its axis */
    struct str name;
    const char *writer;
    const char *words;
};

extern const struct metric metric_table[];
extern const size_t metric_count;

/* The metrics of any process are called the same everywhere, and have no prefix. */
bool metric_is_common(const struct metric *m);
/* How many words its second label has. */
size_t metric_width(const struct metric *m);
struct str metric_label_name(enum metric_label label);
/* The word of the second label; empty: there is none, and the cell is not shown. */
struct str metric_word(enum metric_label label, size_t i);
/* The label that tells the rows of an axis apart: "queue". */
const char *metric_axis_label(enum metric_axis axis);
size_t metric_cells(enum metric_axis axis);
/* Lines of a scrape: that a row of the axis takes at most, and those that say what follows. */
size_t metric_row_lines(enum metric_axis axis);
size_t metric_head_lines(void);

/* The upper bounds of the buckets, in the unit of the scale; the last one is INT64_MAX. */
const int64_t *metric_bounds(enum metric_scale scale);
/* The same as people write them: "0.25", "+Inf". */
struct str metric_bound_text(enum metric_scale scale, size_t bucket);
size_t metric_bucket(enum metric_scale scale, int64_t value);

/* The table as Markdown. */
void metric_table_print(struct buf *out);
