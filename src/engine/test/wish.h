/* wish.h - what a test wants of a job, and how its table keeps that.
 *
 * A spec is the rules as text: "queue|handler|priority|retries|policy|delay|concurrency key|limit|
 * rate key|limit|per|every|cron|overlap|misfire policy|grace|limit|stagger|timeout|retry_on|team|
 * start_within|expires_in|sla expected|max|policy|unique key|until start|on conflict|keep|
 * calendars|delayed (1) or expects (2)|breaker|…". wish_fill writes it, and read_rules gives the engine the same rules
 * again. */
#pragma once
#include "engine/core/engine.h"

#define MINUTE_MS INT64_C(60000)
#define HOUR_MS INT64_C(3600000)

struct wish {
    char unused; /* so that SUBMIT(w) may wish for nothing */
    const char *name;
    const char *queue;   /* NULL: "default" */
    const char *handler; /* NULL: a command */
    int32_t priority;    /* 0: the default; -1: really 0 */
    uint32_t retries;
    enum retry_policy policy;
    int64_t retry_ms;
    enum when_kind when;
    int64_t when_ms;
    const char *key; /* of a concurrency limit */
    uint32_t limit;
    const char *team;
    const char *rate; /* the key of one */
    uint32_t starts;
    int64_t per_ms;
    int64_t every_ms;
    const char *cron;
    bool expects; /* pings, within every_ms of one another */
    enum overlap overlap;
    struct misfire misfire; /* all zero: the default */
    int64_t stagger_ms;
    int64_t timeout_ms;
    uint32_t retry_on; /* bits by class */
    int64_t start_within_ms;
    int64_t expires_in_ms;
    struct sla sla;
    const char *unique; /* the key */
    bool until_start;
    int64_t keep_ms; /* 0: the setting */
    enum on_conflict on_conflict;
    const char *breaker;   /* its name; "none": it wants none */
    const char *once;      /* the key of the request */
    const char *hash;      /* of the request; NULL: "h" */
    const char *calendars; /* "name,name=hold" */
    size_t spec_bytes;     /* at least so long */
    const struct dependency_wish *after;
    size_t after_count; /* 0: one, when there is one */
};

/* What somebody submits who wishes that. */
void wish_fill(struct arena *arena, struct submission *item, const struct wish *wish);

/* For struct engine_options. A spec that says "damaged" is. */
enum rc read_rules(void *arg, const struct job_rec *job, struct arena *arena,
                   struct rules *ret_rules, struct err *err);

/* A document is a policy and spans of seconds since 1970: "hold 100-200 300-400". */
enum rc read_calendar(void *arg, const struct calendar_rec *rec, struct arena *arena,
                      struct almanac *ret_almanac, struct err *err);
