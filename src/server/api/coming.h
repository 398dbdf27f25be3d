/* coming.h - the runs that will become due: what schedules and calendars say.
 *
 * A job with a run ahead has an execution for it, `scheduled`: so these are read by their moments,
 * not all jobs that there are, and from each one goes on by its job's schedule. A calendar is asked
 * about the moment at which a run would become due. What a walk costs is bounded: one that stopped
 * early says so. On query threads. */
#pragma once
#include "base/vec.h"
#include "server/call/request.h"

struct coming;
struct coming_calendar;

/* A run of that job becomes due, and what its calendars make of it. */
typedef void coming_tell(struct coming *c, const struct sorted_job *run, int64_t due_ms,
                         enum verdict verdict);

struct coming {
    int64_t from_ms;
    int64_t until_ms;
    struct str queue; /* empty: all */
    uint32_t slots_max;
    coming_tell *tell;

    uint64_t slots; /* that were walked through */
    uint64_t jobs;  /* with a run ahead */
    bool truncated;
    VEC(struct coming_calendar) calendars;
};

/* Tells of the runs of each job in a row, jobs in the order in which their next ones become due. */
enum rc coming_walk(struct request *r, struct reader *reader, struct coming *c);
