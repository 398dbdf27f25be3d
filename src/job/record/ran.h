/* ran.h - when executions ran: what pictures of the past need of each of them. */
#pragma once
#include "job/record/record.h"

enum {
    /* Executions that ended later than this after they were made have an index of their own, by
     * their end, in both databases; the others are found by when they were made. */
    RAN_SLOW_MS = 3600000,
};

struct ran_rec {
    uint64_t id;
    uint64_t job_id;
    enum exec_state state;
    struct str queue;
    enum origin origin;
    uint64_t retry_of;
    int64_t created_ms;
    int64_t slot_ms;
    int64_t ready_ms;
    int64_t started_ms;  /* of the newest attempt */
    uint32_t starts;     /* leases that it has had */
    int64_t finished_ms; /* 0: it runs */
    uint64_t worker_id;  /* of the newest attempt; 0: unknown */
};

struct ran_query {
    int64_t from_ms;
    int64_t until_ms;
    size_t scan_max; /* rows of each of the places where executions are */
};

/* The record is valid during the call. */
typedef void ran_sink(void *arg, const struct ran_rec *ran);

/* Was made before until_ms, and runs, or ran at some moment of [from_ms, until_ms). */
static inline bool ran_fits(const struct ran_query *q, const struct ran_rec *ran)
{
    return ran->created_ms < q->until_ms && ran->started_ms > 0 && ran->started_ms < q->until_ms &&
           (ran->finished_ms == 0 || ran->finished_ms >= q->from_ms);
}
