/* definition.h - what was submitted about a job, as the engine keeps it.
 *
 * A definition is never changed: an edit puts another one in its place, and undo the old one back.
 * So jobs that were read from the store, and differ in nothing that decides about them, share
 * one. */
#pragma once
#include "base/err.h"
#include "job/record/record.h"
#include "job/spec.h"
#include "job/time/schedule.h"

struct calendar_list;
struct engine;
struct queue;
struct track;

/* All of a definition that decides about its job. With the schedule behind it, it is the key by
 * which definitions are shared: two whose bytes are the same are the same. Padding that differs by
 * chance keeps two apart that say the same, no more. */
struct definition_rules {
    uint32_t version;
    int32_t priority;
    struct queue *queue;
    struct track *track; /* joined for as long as the definition lives */
    struct retry retry;
    int64_t timeout_ms;         /* of an attempt; 0: none */
    struct unique_rule *unique; /* owned, and its key with it; NULL: none */
    struct misfire misfire;
    enum overlap overlap;
    bool expects; /* pings; the schedule says how long a silence may last (time/expect.h) */
    bool delayed; /* the first execution waits for a while, not for a date */
    int64_t start_within_ms;
    int64_t expires_in_ms;
    struct sla sla;                  /* all zero: none */
    struct calendar_list *calendars; /* owned; NULL: it goes by none */
    uint32_t spec_len;               /* 0: fetch it from the store */
    uint32_t payload_len;
};

struct definition {
    uint32_t users;
    bool common;               /* is in engine.definitions, by rules and schedule */
    struct schedule *schedule; /* at the beginning of tail; NULL: the job runs once */
    struct definition_rules rules;
    _Alignas(struct schedule) char tail[]; /* the schedule; spec and payload, unless they are too
                                            * large to keep */
};

/* The rules, and the texts of rec when they are small. NULL when the queue and handler would need a
 * lane beyond lanes_max. */
struct definition *definition_new(struct engine *e, const struct job_rec *rec,
                                  const struct rules *rules, size_t lanes_max);
/* The same for a new or edited job: NULL with err when there are as many queues (RC_LIMITED) or
 * lanes (RC_BUSY) as may be. */
struct definition *definition_wanted(struct engine *e, const struct job_rec *rec,
                                     const struct rules *rules, struct err *err);
/* One user less; freed with the last. */
void definition_free(struct engine *e, struct definition *def);
/* The same definition by another zone. */
struct definition *definition_in_zone(struct engine *e, const struct definition *def,
                                      const struct zone *zone);
struct str definition_spec(const struct definition *def);
struct str definition_payload(const struct definition *def);
