/* schedule.h - when a job runs: once, every so often, or by cron, as one value.
 *
 * A schedule promises slots. Each is a moment (`at_ms`) with a nominal time, by which it is known:
 * for cron the local time that was promised (see `job/time/cron.h`), else the moment itself. The
 * next slot is always computed from the last one and never from the clock, so intervals do not
 * drift, and a clock that is set back fires nothing twice.
 *
 * After downtime there may be many slots that nobody fired. `schedule_catch_up` decides about all
 * of them at once, by counting and not by walking, whatever their number.
 *
 * Plain values: no I/O, no clock, no allocation; a schedule borrows its zone. Times are
 * milliseconds since 1970 UTC (wall clock). */
#pragma once
#include "job/time/cron.h"

enum schedule_kind {
    SCHEDULE_ONCE,  /* `at`, or `delay` from when it was made */
    SCHEDULE_EVERY, /* elapsed time, from when it was made */
    SCHEDULE_CRON,
};

struct schedule {
    enum schedule_kind kind;
    int64_t start_ms; /* SCHEDULE_ONCE: the moment; else when it was made: slots come after */
    int64_t every_ms;
    struct cron cron;
    struct cron_clock clock;
    int64_t stagger_ms; /* this job's own share: how long after its slot a run is due */
};

struct slot {
    int64_t at_ms;
    int64_t nominal_ms; /* SCHEDULE_CRON: local time, written as if it were UTC */
    bool again; /* the second run for that nominal time: both passes of a fold were asked for */
};

struct schedule schedule_at(int64_t at_ms);
struct schedule schedule_delay(int64_t made_ms, int64_t delay_ms);
struct schedule schedule_every(int64_t made_ms, int64_t every_ms); /* every_ms > 0 */
/* An expression that is an @every becomes SCHEDULE_EVERY. */
struct schedule schedule_cron(int64_t made_ms, const struct cron *cron,
                              const struct cron_clock *clock);

/* Which zone to go by: what stands in front of the expression (CRON_TZ=), or beside it; "UTC" when
 * nothing does. RC_INVALID when both do and differ. */
enum rc schedule_zone_name(struct str prefix, struct str timezone, struct str *ret_name,
                           struct err *err);

/* Where the slot that is ahead belongs by the rules that its zone has now: a promise stays the one
 * that it is and moves with its time of day, and what follows real time goes on after from_ms. The
 * same slot when nothing changed. False when there is none any more. */
bool schedule_resettle(const struct schedule *s, const struct slot *ahead, int64_t from_ms,
                       struct slot *ret_slot);

/* The share of a job in a stagger of that length: 0 to stagger_ms - 1, by a hash of its id, the
 * same for every slot and on every server. */
int64_t schedule_stagger_ms(uint64_t job_id, int64_t stagger_ms);
/* A slot as it was kept: by its moment and its nominal time. */
struct slot schedule_slot(const struct schedule *s, int64_t at_ms, int64_t nominal_ms);
/* When the run of a slot is due. */
int64_t schedule_due_ms(const struct schedule *s, const struct slot *slot);

/* The first slot of all. False when there is none. */
bool schedule_first(const struct schedule *s, struct slot *ret_slot);
/* The first slot after that moment, as if none had been before: for an edit or a resume, which
 * never look back. */
bool schedule_after(const struct schedule *s, int64_t from_ms, struct slot *ret_slot);
/* The same, also where that lies before it was made: by a clock that was wrong then. */
bool schedule_after_any(const struct schedule *s, int64_t from_ms, struct slot *ret_slot);
/* The slot that follows this one. */
bool schedule_next(const struct schedule *s, const struct slot *last, struct slot *ret_slot);
/* The shortest time between two slots of the next few (SCHEDULE_GAPS); 0: there are not two. */
int64_t schedule_interval_ms(const struct schedule *s);
/* How many slots follow this one, until_ms included. */
uint64_t schedule_count(const struct schedule *s, const struct slot *last, int64_t until_ms);

/* Slots that follow one another; without any, count is 0 and the rest means nothing. */
struct slot_range {
    struct slot first;
    struct slot last;
    uint64_t count;
};

/* The slots from this one on, until_ms included; counted, not walked. */
struct slot_range schedule_range(const struct schedule *s, const struct slot *first,
                                 int64_t until_ms);

/* ---- after downtime */

enum misfire_policy {
    MISFIRE_LATEST, /* only the newest one */
    MISFIRE_ALL,    /* all of them, but the newest `limit` at most */
    MISFIRE_SKIP,   /* the newest, unless it is late by more than a stall */
};

struct misfire {
    enum misfire_policy policy;
    int64_t grace_ms; /* what is older than this is fired by no policy */
    uint32_t limit;   /* at least 1 */
};

enum { SCHEDULE_GAPS = 10 };

enum { SCHEDULE_STALL_MS = 60000 /* a server that is busy is not one that was down */ };

extern const struct misfire misfire_default; /* latest, 24 hours, 100 */

/* The outcome of every slot from the one that is due up to now, oldest first. */
struct catch_up {
    struct slot_range expired; /* skipped: older than the grace */
    struct slot_range passed;  /* skipped: by the policy */
    struct slot_range fire;    /* walk it with schedule_next; at most `limit` of them */
    struct slot next;          /* the first one after now */
    bool has_next;
};

/* due is the first slot about which nothing was decided, and due by now. The work does not depend
 * on the number of slots: a cron slot is found by bisection, at most four times 40 steps, each of
 * which counts as cron_count does (one step for each month since the due slot). */
void schedule_catch_up(const struct schedule *s, const struct slot *due, int64_t now_ms,
                       const struct misfire *misfire, struct catch_up *ret_plan);
