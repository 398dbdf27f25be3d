/* job_fields.h - the fields of a job document, once.
 *
 * The members of `struct spec`, the reader and printer of documents, the filters of lists with
 * their place in the cursor, the flags of `belfry submit` and `belfry jobs` with their help, and
 * the table in the docs are made from this list. CONTRIBUTING.md tells how to add a field.
 *
 * The columns:
 * - name: the key in JSON, the member of `struct spec` (of a SPAN with _ms behind it), and the
 *   parameter that filters by it.
 * - kind: what a value is, see enum job_kind. The fields of kind OWN and OWN_MANY have members,
 *   reader (read_NAME in spec_json.c), printer (put_NAME in spec_print.c) and the making of a
 *   document from flags (submit_document.c) written by hand.
 * - bounds: of bytes for text, of values for INT and SPAN; the words of ONE_OF.
 * - printed: when the canonical text has it. A new field is printed IF_SET: documents that are
 *   stored, and the hashes of idempotency keys, must not change by its arrival.
 * - kept: where the stores find it.
 * - filter: which lists it can restrict. A filter by a field in the DOCUMENT is found by reading at
 *   most LIST_SCAN_MAX rows a page, one by an INDEXED field by its index. Fields in a COLUMN are
 *   members of `struct job_rec`, and the stores have written code for each of them.
 * - since: the version of belfry that knows it.
 * - flag, value: of `belfry submit`, and of `belfry jobs` where there is a filter. NULL: none, or
 *   several that are written by hand.
 * - words: the help of the flag, and the line in the docs. The flag of ONE_OF adds its words.
 *
 * The order is that of the canonical text, so fields are never moved. */
#pragma once
#include "base/buf.h"
#include "base/words.h"

/* clang-format off */
#define JOB_FIELDS(F)                                                                              \
    F(name,            LINE,     BOUNDS(1, SPEC_NAME_MAX),        IF_SET, COLUMN,   BOTH, "0.1.0", \
      "name", "TEXT", "name of the job")                                                           \
    F(description,     TEXT,     BOUNDS(0, SPEC_TEXT_MAX),        IF_SET, DOCUMENT, NO,   "0.1.0", \
      NULL, NULL, "what the job is for")                                                           \
    F(command,         OWN,      NO_BOUNDS,                       ALWAYS, DOCUMENT, NO,   "0.1.0", \
      NULL, NULL, "program and arguments, or a line for /bin/sh")                                  \
    F(handler,         OWN,      NO_BOUNDS,                       ALWAYS, COLUMN,   NO,   "0.1.0", \
      "handler", "NAME", "run by workers that have this handler, not a command")                   \
    F(payload,         RAW,      NO_BOUNDS,                       IF_SET, APART,    NO,   "0.1.0", \
      "payload", "JSON|@FILE", "data for the command, on its standard input")                      \
    F(env,             OWN_MANY, NO_BOUNDS,                       IF_SET, DOCUMENT, NO,   "0.1.0", \
      "env", "K=V", "environment variable of the command; may be repeated")                        \
    F(working_dir,     TEXT,     BOUNDS(1, SPEC_TEXT_MAX),        IF_SET, DOCUMENT, NO,   "0.1.0", \
      "working-dir", "DIR", "directory that the command runs in")                                  \
    F(schedule,        OWN,      NO_BOUNDS,                       IF_SET, DOCUMENT, NO,   "0.1.0", \
      NULL, NULL, "when it runs: once, or again and again")                                        \
    F(priority,        INT,      BOUNDS(0, SPEC_PRIORITY_MAX),    ALWAYS, COLUMN,   NO,   "0.1.0", \
      "priority", "N", "0 to 1000, higher first (500)")                                            \
    F(queue,           WORD,     BOUNDS(1, SPEC_NAME_MAX),        ALWAYS, COLUMN,   BOTH, "0.1.0", \
      "queue", "Q", "queue that the job waits in (default)")                                       \
    F(team,            WORD,     BOUNDS(1, SPEC_NAME_MAX),        IF_SET, COLUMN,   BOTH, "0.1.0", \
      "team", "T", "team that the job belongs to")                                                 \
    F(timeout,         SPAN,     BOUNDS(1, DURATION_MAX_MS), IF_SET, DOCUMENT, NO,   "0.1.0", \
      "timeout", "DURATION", "end an attempt that takes longer (none)")                            \
    F(start_within,    SPAN,     BOUNDS(1, DURATION_MAX_MS), IF_SET, DOCUMENT, NO,   "0.1.0", \
      NULL, NULL, "report a run that has not started this long after it was due")                  \
    F(expires_in,      SPAN,     BOUNDS(1, DURATION_MAX_MS), IF_SET, DOCUMENT, NO,   "0.1.0", \
      NULL, NULL, "give up a run that has not started this long after it was due")                 \
    F(retry,           OWN,      NO_BOUNDS,                       ALWAYS, DOCUMENT, NO,   "0.1.0", \
      NULL, NULL, "how often, when and after which failures it is tried again")                    \
    F(sla,             OWN,      NO_BOUNDS,                       IF_SET, DOCUMENT, NO,   "0.1.0", \
      NULL, NULL, "how long a run should take, and how long it may")                               \
    F(overlap,         ONE_OF,   WORDS_OF(overlap_words),         RECURS, DOCUMENT, NO,   "0.1.0", \
      "overlap", "HOW", "runs that are due while another still runs")                              \
    F(misfire,         OWN,      NO_BOUNDS,                       RECURS, DOCUMENT, NO,   "0.1.0", \
      NULL, NULL, "which of the runs that were missed during downtime are made up for")            \
    F(dst,             OWN,      NO_BOUNDS,                       RECURS, DOCUMENT, NO,   "0.1.0", \
      NULL, NULL, "times of a cron schedule that a change of the clock skips or repeats")          \
    F(stagger,         SPAN,     BOUNDS(0, DURATION_MAX_MS), RECURS_SET,                      \
      DOCUMENT, NO, "0.1.0", "stagger", "DURATION",                                                \
      "delay each run by a fixed offset of up to DURATION, chosen per job")                        \
    F(concurrency,     OWN,      NO_BOUNDS,                       IF_SET, DOCUMENT, NO,   "0.1.0", \
      "concurrency", "KEY=N", "run at most N jobs with this key at once")                          \
    F(rate,            OWN,      NO_BOUNDS,                       IF_SET, DOCUMENT, NO,   "0.1.0", \
      "rate", "KEY=N/DURATION", "start at most N jobs with this key per DURATION")                 \
    F(unique,          OWN,      NO_BOUNDS,                       IF_SET, DOCUMENT, NO,   "0.1.0", \
      "unique", "KEY", "not while another job with this key is unfinished")                        \
    F(breaker,         OWN,      NO_BOUNDS,                       IF_SET, DOCUMENT, NO,   "0.1.0", \
      "breaker", "NAME|none", "circuit breaker to wait for (that of the handler)")                 \
    F(calendars,       OWN_MANY, NO_BOUNDS,                       IF_SET, DOCUMENT, NO,   "0.1.0", \
      NULL, NULL, "calendars whose times skip or hold its runs")                                   \
    F(tags,            OWN_MANY, NO_BOUNDS,                       IF_SET, COLUMN,   NO,   "0.1.0", \
      "tag", "K=V", "tag to find the job by; may be repeated")                                     \
    F(depends_on,      OWN_MANY, NO_BOUNDS,                       IF_SET, APART,    NO,   "0.1.0", \
      "after", "[TYPE:]JOB", "wait for success, failure or completion of JOB; may be repeated")    \
    F(expect,          OWN,      NO_BOUNDS,                       IF_SET, DOCUMENT, NO,   "0.1.0", \
      NULL, NULL, "in place of a command: pings that are to come, and how often")                  \
    F(idempotency_key, OWN,      NO_BOUNDS,                       IF_SET, APART,    NO,   "0.1.0", \
      "idempotency-key", "K", "submitting again with K does not create a second job")

/* Known by name and refused: this version cannot do them yet. */
#define JOB_FIELDS_LATER(L)                                                                        \
    L(http) L(container) L(kubernetes) L(task) L(resources) L(labels) L(prefer) L(exclusive)       \
    L(preemptible) L(permissions) L(group) L(notify) L(at_most_once) L(secrets) L(user) L(sandbox)
/* clang-format on */

enum job_kind {
    JOB_KIND_TEXT,     /* struct str */
    JOB_KIND_LINE,     /* the same, without control characters */
    JOB_KIND_WORD,     /* the same, of letters, digits and _.:- */
    JOB_KIND_INT,      /* int64_t */
    JOB_KIND_SPAN,     /* int64_t milliseconds; a duration with a unit in JSON */
    JOB_KIND_BOOL,     /* bool */
    JOB_KIND_ONE_OF,   /* unsigned; the first word is what jobs without the field have */
    JOB_KIND_RAW,      /* struct str: any JSON, as it was written */
    JOB_KIND_OWN,      /* written by hand; its flag takes one value */
    JOB_KIND_OWN_MANY, /* written by hand; its flag may be repeated */
};

enum job_printed {
    JOB_PRINTED_ALWAYS,
    JOB_PRINTED_IF_SET, /* when it is neither empty nor zero */
    JOB_PRINTED_RECURS, /* always; is only for jobs that recur, and refused for others */
    JOB_PRINTED_RECURS_SET,
};

enum job_kept {
    JOB_KEPT_COLUMN,   /* in a column of the stores as well as in the canonical text */
    JOB_KEPT_INDEXED,  /* the same; the column has the value as the canonical text has it, or NULL,
                        * and is there for filters alone */
    JOB_KEPT_DOCUMENT, /* in the canonical text */
    JOB_KEPT_APART,    /* not in the canonical text */
};

enum job_filter {
    JOB_FILTER_NO,
    JOB_FILTER_JOBS,
    JOB_FILTER_BOTH, /* jobs and executions, of which it is mostly their job that has it */
};

/* The place of each field in tables: JOB_FIELD_queue. */
#define JOB_FIELD_ID(name, ...) JOB_FIELD_##name,
enum job_field_id { JOB_FIELDS(JOB_FIELD_ID) JOB_FIELD_COUNT };
#undef JOB_FIELD_ID

/* The macros of the column `bounds` set these members, in any table that has them. */
#define BOUNDS(least, most) .min = (least), .max = (most)
#define WORDS_OF(table) .words = &(table)
#define WORDS_ARE(...) .words = &(const struct words)WORDS(__VA_ARGS__)
#define NO_BOUNDS

/* A line of the list, for code that reads it. */
struct job_field {
    struct str key;
    enum job_kind kind;
    enum job_printed printed;
    enum job_kept kept;
    enum job_filter filter;
    int64_t min;
    int64_t max;
    const struct words *words;
    const char *since;
    const char *flag;  /* NULL: none */
    const char *value; /* what help calls the flag's value */
    const char *help;
};

extern const struct job_field job_fields[JOB_FIELD_COUNT];

/* The table of all fields for the docs, in Markdown. */
void job_fields_print(struct buf *out);
