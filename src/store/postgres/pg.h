/* pg.h - one connection to PostgreSQL: its statements, its round trips, its errors.
 *
 * Statements are queued and go out together: pg_call() names one of sql/ and gets its parameters in
 * order; pg_run() sends all that is queued in one pipeline, waits for all answers, and fails with
 * the first error. So a turn costs round trips, not statements:
 *
 *     struct pg_call *job = pg_call(pg, Q_FIND_JOB);
 *     pg_u64(job, id);
 *     struct pg_call *trail = pg_call(pg, Q_FIND_TRAIL);
 *     pg_u64(trail, id);
 *     TRY(pg_run(pg, err));
 *     for (size_t i = 0; i < pg_rows(job); i++) … pg_row(job, i, arena) (store/sql/row.h) …
 *     pg_clear(pg);
 *
 * Bound values must live until pg_run; results live until pg_clear. Numbers and text travel in
 * binary. Where a parameter is an array for unnest, its uses are columns: pg_columns() (or
 * pg_records()) begins them, and pg_i64 and friends fill them row by row.
 *
 * A connection that is lost is made again by the next pg_run. It belongs to one thread at a
 * time. */
#pragma once
#include "base/arena.h"
#include "store/postgres/dsn.h"
#include "store/postgres/statements.h"
#include "store/store.h"

#include <libpq-fe.h>

struct pg_call;
struct row;

/* Types of schema belfry whose rows go out as one array: see pg_records. */
enum pg_type {
    PG_NEW_JOB,
    PG_BORN_LIVE,
    PG_CHANGED_LIVE,
    PG_ENDED_LIVE,
    PG_PLAIN_JOB,
    PG_PLAIN_LIVE,
    PG_PLAIN_CHANGE,
    PG_PLAIN_END,
    PG_NEW_CLAIM,
    PG_TYPES
};

struct pg {
    const struct pg_place *place; /* borrowed */
    PGconn *conn;                 /* owned; NULL: not connected */
    bool pooled;  /* a pooler between us and the server hands out other connections */
    bool replays; /* also a commit that was lost may be sent again: doing it twice is harmless */
    bool plain;   /* for migrations: no pipeline, no time-outs */
    bool in_transaction; /* begun, and neither committed nor rolled back */
    bool pushed;         /* the queued calls are on their way, as far as pg_push saw it */
    bool begun;          /* its BEGIN was answered: it lives and dies with this connection */
    int wait_ms;         /* for an answer; then the connection is given up */
    const struct store_patience *patience; /* borrowed; NULL: as patient as wait_ms says */
    const atomic_int_least64_t *end_ms;    /* borrowed: until_ms of its user; NULL: no end */
    struct pg_connector *connector;        /* owned; made when it is needed */
    int64_t
        hurry_until_ms; /* boot clock: calls other than commits are given up then; 0: no hurry */
    int64_t told_ms;    /* boot clock: on_wait was called last */
    uint64_t connects;  /* how often it was made */
    uint32_t types[PG_TYPES]; /* their numbers in this database; 0: there is no such type (yet) */
    bool prepared[Q_COUNT];
    const char *texts[Q_COUNT]; /* in texts_arena, as soon as they were needed */
    struct arena texts_arena;
    struct arena arena; /* of what is queued */
    struct pg_call *first;
    struct pg_call *last;
};

/* Says what the connection is for; the first run makes it. */
void pg_init(struct pg *pg, const struct pg_place *place, bool replays);
void pg_close(struct pg *pg); /* a zeroed struct is closed already */
/* Connects unless it is. RC_BUSY: it cannot be reached (now). RC_DENIED: it does not let us in.
 * With somebody who waits (patience), a thread of its own connects, and this gives up after half a
 * second; the next call takes what has become of it. */
enum rc pg_connect(struct pg *pg, struct err *err);

/* Until the commit, or the end of the transaction, answers are waited for no longer than patience
 * says. */
void pg_hurry(struct pg *pg);
/* Waits without doing anything. False: it is no use to go on waiting. */
bool pg_pause(struct pg *pg, int ms);

/* ---- statements */

/* Its text with a NUL behind it. */
const char *pg_text_of(struct pg *pg, enum query query);
/* Queues one; borrowed from pg until pg_clear. */
struct pg_call *pg_call(struct pg *pg, enum query query);
void pg_i64(struct pg_call *use, int64_t value);
void pg_u64(struct pg_call *use, uint64_t value); /* beyond INT64_MAX it is taken for that */
void pg_bool(struct pg_call *use, bool value);
void pg_text(struct pg_call *use, struct str text);
/* Two texts as one, to be bound: it lives as long as use does. */
struct str pg_joined(struct pg_call *use, struct str a, struct str b);
void pg_text_or_null(struct pg_call *use, struct str text); /* empty becomes NULL */
void pg_i64_or_null(struct pg_call *use, int64_t value);    /* 0 becomes NULL */
void pg_null(struct pg_call *use);
void pg_blob(struct pg_call *use, struct str bytes);
void pg_uuid(struct pg_call *use, struct str hex); /* 32 hexadecimal digits */
/* The fields of these groups, or FIELD_ANY: all, in the order of their list. */
void pg_record(struct pg_call *use, const struct fields *fields, unsigned groups,
               const void *record);

/* From here on the next `count` parameters are arrays, to be filled by rows: the calls above go
 * round them. `types` has a letter each: i bigint, t text, b bytea, o boolean, u uuid. rows: how
 * many will come. */
void pg_columns(struct pg_call *use, const char *types, size_t rows);

/* Such letters: one for each field of the groups, which pg_record fills, between these. */
const char *pg_types(struct pg *pg, const char *before, const struct fields *fields,
                     unsigned groups, const char *behind);

/* The same for the next parameter alone, an array of a composite type, whose fields are `types`.
 * Where rows have many fields this is what PostgreSQL reads fastest: it keeps a list in memory for
 * each array that it unnests, and 26 of them took 4.7 us a row, one of records 0.1. pg_columns may
 * follow: their values then come behind those of the record, in each row. */
void pg_records(struct pg_call *use, enum pg_type type, const char *types, size_t rows);

/* Sends what is queued and waits. On failure nothing of a transaction under way is left, and the
 * connection is as good as new (or will be made anew). */
enum rc pg_run(struct pg *pg, struct err *err);
/* Sends what is queued so far and goes on queueing: the server begins with it while we make the
 * rest. An error is found out by the run, which must follow. */
void pg_push(struct pg *pg);
/* The same, and their answers are to come one by one, as soon as there are any. */
void pg_ask(struct pg *pg);
/* Waits for the answer of one that was asked, while others may stay on their way: for those a run
 * must follow. On failure all of them are forgotten, as by pg_run. */
enum rc pg_await(struct pg *pg, const struct pg_call *use, struct err *err);
/* Ends the uses, with their results. */
void pg_clear(struct pg *pg);
void pg_clear_at(struct pg **pg); /* for CLEANUP */
/* The same when the scope is left, on every way out. */
#define PG_CLEAR(of) __attribute__((cleanup(pg_clear_at), unused)) struct pg *pg_to_clear_ = (of)
/* Ends one that was answered, and frees its result. */
void pg_forget(struct pg *pg, struct pg_call *use);

size_t pg_rows(const struct pg_call *use);
/* One of them, as store/sql/row.h reads it. arena: where its text is copied; NULL: text is valid
 * until pg_clear. */
struct row pg_row(const struct pg_call *use, size_t number, struct arena *arena);
const char *pg_label(const struct pg_call *use);
/* How many rows it changed. */
uint64_t pg_changed(const struct pg_call *use);

/* ---- transactions */

/* Queues BEGIN, and what a transaction needs that cannot be said once per connection (behind a
 * pooler). Only a connection that was made tells whether there is one, so pg_connect comes
 * first. */
void pg_begin(struct pg *pg);
/* Reads only, all from one moment. Connects by itself. */
enum rc pg_begin_snapshot(struct pg *pg, struct err *err);
/* Queues COMMIT and runs all. RC_UNKNOWN when the connection was lost under it. Any other error:
 * nothing was kept. Either way the transaction is over. */
enum rc pg_commit(struct pg *pg, struct err *err);
/* Ends it, and forgets what is queued. Harmless when there is none. */
void pg_rollback(struct pg *pg);
void pg_rollback_at(struct pg **pg); /* for CLEANUP */

/* Runs a text of any number of statements, outside of pipelines: migrations. */
enum rc pg_exec(struct pg *pg, const char *sql, struct err *err);
