/* table.h - the simplest store there could be, for the engine's tests.
 *
 * A table remembers what deltas say, word for word and without thinking, and answers questions out
 * of it. Everything lives in one arena; nothing is ever fast. It asserts what a real store would
 * refuse: a second insert, an update of what is not there. */
#pragma once
#include "base/map.h"
#include "base/test/test.h"
#include "base/vec.h"
#include "job/partition.h"
#include "job/record/question.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct table {
    struct arena arena;
    struct clock_rec clock;
    bool repeats;         /* the clock was set back, and slots may come again */
    struct map jobs;      /* struct job_rec */
    struct map live;      /* struct exec_rec */
    struct map history;   /* struct exec_rec */
    struct map forgotten; /* struct exec_rec: they went on counting when they left history */
    struct map attempts;  /* struct attempt_rec, by attempt_key */
    struct map workers;   /* struct worker_rec */
    struct strmap claims[CLAIM_KINDS]; /* struct claim, by key */
    struct strmap queues;              /* struct queue_rec */
    struct strmap breakers;            /* struct breaker_rec */
    struct strmap teams;               /* struct team_rec */
    VEC(struct alert_rec *) alerts;
    VEC(struct sla_event_rec *) sla_events;
    VEC(struct tally) tallies; /* row by row, not added up */
    struct strmap rates;       /* struct rate_rec */
    struct strmap depends;     /* struct dependency_rec, by depend_key */
    struct map letters;        /* struct letter_rec, by execution */
    struct map operations;     /* struct operation_rec */
    struct strmap calendars;   /* struct calendar_rec */
    struct map silences;       /* struct silence_rec, by id */
    struct strmap uses;        /* struct calendar_use, by use_key */
    VEC(struct claim *) taken; /* by this turn's questions; undone with it */
    VEC(struct counter) counters;
    struct strmap waiters; /* struct waiter_change, by both ids */
    struct strmap permits; /* struct permit_rec, by permit_name */
    VEC(struct rejected_rec) rejected;
    struct post_box *box; /* NULL: nobody sends anything */
    struct partition_set owned;
    uint64_t newest_id;
    uint64_t turn;
};

/* The inbox that the tables of a test share. */
struct post_box {
    struct arena arena;
    VEC(struct inbox_rec) rows;
    uint64_t numbers;
    struct table *tables[4]; /* of all who write there: jobs are found in any */
};

void table_free(struct table *t);

/* What a turn changed. */
void table_keep(struct table *t, const struct delta *d);

/* The turn is not kept: its claims were not taken. */
void table_abort(struct table *t);

/* Fills in the answer, and takes what the question claims (table_answer.c). */
void table_answer(struct table *t, struct question *q);

/* ---- single rows, for who puts them there by hand */

void table_keep_worker(struct table *t, const struct worker_change *change);
void table_keep_permit(struct table *t, const struct permit_change *change);
struct claim *table_put_claim(struct table *t, const struct claim *claim);
void post_put(struct post_box *box, const struct inbox_rec *rec);

/* The number itself; 0 at first. */
int64_t *table_counter(struct table *t, enum counter_kind kind, struct str queue, uint32_t state);

/* ---- what rows go by that have more than one id */

uint64_t attempt_key(uint64_t exec_id, uint64_t token);

/* Both ids as bytes, of the record itself. */
struct str depend_key(const struct dependency_rec *rec);

/* Both ids as bytes, of the record itself. */
struct str waiter_name(const struct waiter_rec *rec);
struct str permit_name(struct arena *arena, struct str key, uint64_t exec_id);
