/* spec.h - what to run, when, and how to treat trouble, as values.
 *
 * A `struct spec` is a parsed job document: everything in it was checked, defaults are filled in.
 * Its fields are listed in `job/job_fields.h`. `wire/spec/spec_json.h` reads and prints it; the
 * canonical print (without the payload) is what the stores keep and what a worker is given. `struct
 * rules` is the small part of it that the engine needs in memory to decide. */
#pragma once
#include "base/arena.h"
#include "base/when.h"
#include "base/words.h"
#include "job/dependency.h"
#include "job/failure.h"
#include "job/job_fields.h"
#include "job/sla.h"
#include "job/time/almanac.h"
#include "job/time/schedule.h"

enum {
    SPEC_PRIORITY_DEFAULT = 500,
    SPEC_PRIORITY_MAX = 1000,
    SPEC_NAME_MAX = 200,                 /* bytes: name, queue, handler, breaker, tag keys */
    SPEC_TARGET_MAX = SPEC_NAME_MAX + 8, /* of a breaker: a handler's is its name behind a word */
    SPEC_TEXT_MAX = 4096,                /* bytes: description, tag values, working_dir */
    SPEC_TAGS_MAX = 64,
    SPEC_ENV_MAX = 1024,
    SPEC_ARGS_MAX = 4096,
    SPEC_ARGV_BYTES_MAX = 1 << 17, /* Linux takes 128 KiB in one argument, and 2 MiB in all */
    SPEC_RETRIES_DEFAULT = 3,
    SPEC_RETRIES_MAX = 1000,
    SPEC_LIMIT_MAX = 1000000,
    SPEC_OVERLAP_QUEUE_MAX = 100,
    SPEC_MISFIRE_MAX = 10000,
    SPEC_EVERY_MIN_MS = 1000,
    SPEC_DEPENDS_MAX = 10000, /* jobs that one job waits for */
    SPEC_CALENDARS_MAX = 16,  /* that one job names */
    SPEC_ONCE_KEY_MAX = 255,  /* bytes of an idempotency key: visible ASCII */
};

#define SPEC_QUEUE STR("default") /* of a job that names none */

enum work_kind {
    WORK_ARGV,    /* "command": [...]: executed as it is */
    WORK_SHELL,   /* "command": "...": by /bin/sh -c; argv[0] is the text */
    WORK_HANDLER, /* "handler": taken by workers that say they know it */
    WORK_PING,    /* "expect": nothing here runs it, and pings tell how it went */
};

enum when_kind {
    WHEN_NOW,
    WHEN_AT,
    WHEN_DELAY,
    WHEN_EVERY,
    WHEN_CRON,
    WHEN_PING, /* "expect": the end of the wait for a ping comes again and again */
};

/* A ping is to come within every_ms + grace_ms of the one before (engine/time/expect.h). */
struct expectation {
    int64_t every_ms; /* 0: none, the job runs */
    int64_t grace_ms;
};

/* The fate of a slot while an earlier run of the same job is not over. */
enum overlap {
    OVERLAP_SKIP,
    OVERLAP_QUEUE, /* it waits; at most SPEC_OVERLAP_QUEUE_MAX do */
    OVERLAP_PARALLEL,
    OVERLAP_REPLACE, /* the earlier one is cancelled; it waits until that is gone */
};

enum retry_policy {
    RETRY_EXPONENTIAL,
    RETRY_LINEAR,
    RETRY_FIXED,
    RETRY_IMMEDIATE,
};

struct retry {
    uint32_t max_retries;
    enum retry_policy policy;
    int64_t delay_ms;
    int64_t max_delay_ms; /* jitter included */
    uint32_t
        jitter_permille; /* of the delay, uniform on top, or below what would exceed max_delay_ms */
    uint32_t retry_on;   /* bits (1 << enum failure_class): only these are tried again; 0: all
                               * that are not permanent */
};

/* All jobs that name the same key share it: so many at once, or so many starts per window. */
struct limit_rule {
    struct str key; /* empty: no limit */
    uint32_t limit;
    int64_t per_ms; /* rate: the window; concurrency: 0 */
};

/* A calendar that a job goes by. */
struct calendar_wish {
    struct str name;
    bool has_policy; /* else what the calendar says */
    enum calendar_policy policy;
};

/* Which breaker a job goes by (job/breaker.h). */
struct breaker_wish {
    struct str name; /* empty: that of its handler, and of a command none */
    bool none;       /* no failing target holds it back */
};

enum on_conflict {
    CONFLICT_RETURN,  /* the second submission gets the job that is there */
    CONFLICT_REPLACE, /* the one that is there is cancelled, unless a worker has it */
    CONFLICT_REJECT,
};

/* Of all jobs that name the same key, one at a time. */
struct unique_rule {
    struct str key;   /* empty: none */
    bool until_start; /* only while it waits for its first start; else until it is over */
    enum on_conflict on_conflict;
    bool has_keep;   /* else it is the setting unique_keep */
    int64_t keep_ms; /* how long the key is kept after success; 0: not at all */
};

struct pair {
    struct str key;
    struct str value;
};

/* The members of plain fields are made from the list in job_fields.h. They are empty or zero where
 * a job does not have the field. */
#define SPEC_MEMBER_TEXT(name) struct str name;
#define SPEC_MEMBER_LINE(name) struct str name;
#define SPEC_MEMBER_WORD(name) struct str name;
#define SPEC_MEMBER_RAW(name) struct str name;
#define SPEC_MEMBER_INT(name) int64_t name;
#define SPEC_MEMBER_SPAN(name) int64_t name##_ms;
#define SPEC_MEMBER_BOOL(name) bool name;
#define SPEC_MEMBER_ONE_OF(name) unsigned name;
#define SPEC_MEMBER_OWN(name)
#define SPEC_MEMBER_OWN_MANY(name)
#define SPEC_MEMBER(name, kind, ...) SPEC_MEMBER_##kind(name)
struct spec {
    JOB_FIELDS(SPEC_MEMBER)
    /* The members of fields that are written by hand. */
    enum work_kind work;
    const struct str *argv;
    size_t argc;
    struct str handler;
    const struct pair *env;
    size_t env_count;
    enum when_kind when;
    int64_t when_ms; /* WHEN_AT: the moment; WHEN_DELAY, WHEN_EVERY: how long */
    struct str cron_text;
    struct str timezone; /* beside the expression; empty: not said */
    struct str zone;     /* WHEN_CRON: by which it goes */
    bool seconds;        /* the expression begins with them */
    struct cron cron;
    enum cron_gap gap;
    enum cron_fold fold;
    struct misfire misfire;
    struct retry retry;
    struct sla sla; /* all zero: none */
    struct limit_rule concurrency;
    struct limit_rule rate;
    struct unique_rule unique;
    struct breaker_wish breaker;
    const struct pair *tags;
    size_t tag_count;
    struct dependency_wish *depends_on; /* stores keep them apart, by the ids that were found */
    size_t depends_count;
    const struct calendar_wish *calendars;
    size_t calendar_count;
    struct expectation expect;
    struct str idempotency_key; /* of the submission, not of the job */
};

struct rules {
    struct str queue;
    struct str handler; /* empty: a command */
    struct str team;    /* empty: of none */
    int32_t priority;
    int64_t timeout_ms;
    struct retry retry;
    struct limit_rule concurrency;
    struct limit_rule rate;
    struct unique_rule unique;
    struct breaker_wish breaker;
    const struct schedule *schedule; /* NULL: it runs once */
    int64_t stagger_ms;              /* over all jobs; each has a share of its own */
    struct misfire misfire;
    enum overlap overlap;
    bool delayed;            /* it was told how long to wait, not until when */
    int64_t start_within_ms; /* of when it is due; 0: a late start is not reported */
    int64_t expires_in_ms;   /* the same; 0: it may start however late */
    struct sla sla;          /* all zero: none */
    const struct calendar_wish *calendars;
    size_t calendar_count;
    bool expects; /* it is pinged, not run: its schedule says how long a silence may last */
};

extern const struct retry retry_default;

/* Without a schedule: that needs a zone, see spec_schedule. */
struct rules spec_rules(const struct spec *spec);
/* The target by which its breaker is known: the name that the job gives it, else "handler:" and the
 * handler's; empty: it has none. ret_text has room for SPEC_TARGET_MAX bytes. */
struct str rules_target(const struct rules *rules, char *ret_text);
/* Whether this can be an idempotency key: 1 to SPEC_ONCE_KEY_MAX characters, visible ASCII. */
bool idempotency_key_is_valid(struct str key);
/* It has more than one execution. */
bool spec_recurs(const struct spec *spec);
/* It has slots at which it runs: it recurs, and does not just wait for pings. */
bool spec_has_slots(const struct spec *spec);
/* The schedule of a job that recurs; zone is the one spec->zone names. When it was made and its
 * share of the stagger are for the engine to say. */
struct schedule spec_schedule(const struct spec *spec, const struct zone *zone);

/* Each enum of a job document as users write it. */
extern const struct words retry_policy_words;
extern const struct words overlap_words;
struct str overlap_name(enum overlap overlap);
extern const struct words on_conflict_words;
extern const struct words misfire_policy_words;
extern const struct words cron_gap_words;
extern const struct words cron_fold_words;

/* When the first execution is due: now_ms at the earliest. */
int64_t spec_due_ms(const struct spec *spec, int64_t now_ms);

/* Tags as the stores keep and search them: "\nkey:value\nkey:value\n", or empty. */
struct str spec_tags_text(const struct spec *spec, struct arena *arena);

/* Whether such a failure is tried again while attempts remain. A failure named in retry_on is,
 * unless its worker has said that trying again cannot help. */
bool retry_allows(const struct retry *retry, struct failure failure);

/* How long to wait before attempt number `attempt` + 1, after `attempt` (1-based) failed. The
 * jitter comes from seed (the execution's id), so the same failure waits the same time whoever
 * computes it, and executions that failed together come back apart. */
int64_t retry_delay_ms(const struct retry *retry, uint32_t attempt, uint64_t seed);
