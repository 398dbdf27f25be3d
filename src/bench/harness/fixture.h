/* fixture.h - a server or several, and perhaps a worker, put up for one measurement and taken down
 * after it.
 *
 * All are processes of their own (child.h) in a temporary directory. The fixture owns the loop on
 * which the measurement's clients live, and hides it: a measurement says what it waits for and goes
 * on when that has happened, or when it cannot happen any more because a process died, somebody
 * pressed ^C, or nobody made progress for SILENCE_S. So nothing waits for ever.
 *
 *     CLEANUP(fixture_free) struct fixture *fixture = NULL;
 *     TRY(fixture_open(&options, &fixture, err));
 *     ... http_client_new(fixture_loop(fixture), fixture_url(fixture), ...)
 *     TRY(fixture_wait(fixture, all_answered, &load, "answers", err));
 *     TRY(fixture_leave(fixture, err)); */
#pragma once
#include "base/str.h"
#include "bench/harness/bench_worker.h"
#include "bench/harness/ledger.h"
#include "bench/harness/stats.h"
#include "wire/json/json.h"

#include <uv.h>

enum {
    SILENCE_S = 30,
    STAGE_SERVERS_MAX = 16, /* as many as there are partitions */
};

struct fixture_options {
    const char *tmp_root;   /* where the temporary directory is made */
    const char *store;      /* postgres://…, where a database is made; NULL: SQLite in there */
    bool here;              /* in the database that store names, beside what it holds */
    uint32_t servers;       /* that share the store; more than one only on PostgreSQL */
    const char *durability; /* as `belfry server --durability` */
    uint32_t slots;         /* of the worker; 0: none is started */
    const char *setting;    /* of the server, "name=value"; NULL: none */
    bool runs_commands;     /* `belfry worker`, which tells nothing, instead of our handler */
};

/* Processor time used so far. */
struct fixture_usage {
    int64_t server_us; /* all of them */
    int64_t worker_us;
    int64_t client_us;  /* this process */
    int64_t store_us;   /* of PostgreSQL, all of its processes; 0 where it is elsewhere */
    int64_t machine_us; /* all of them, and everybody else */
};

struct fixture;

/* Servers and worker are there and know each other when it returns, and the servers have equal
 * shares. */
enum rc fixture_open(const struct fixture_options *options, struct fixture **ret_stage,
                     struct err *err);
/* Kills what still runs and removes the directory. */
void fixture_free(struct fixture **fixture);

uv_loop_t *fixture_loop(struct fixture *s);
struct str fixture_url(const struct fixture *s);
/* The same for a client of that number: each server has as many of them. */
struct str fixture_url_for(const struct fixture *s, uint32_t client);
struct str fixture_token(const struct fixture *s); /* of role admin */
/* What the database holds just now. */
enum rc fixture_ledger(struct fixture *s, struct ledger *ret_ledger, struct err *err);
/* As database_analyze and database_hold; RC_INVALID on SQLite. */
enum rc fixture_analyze(struct fixture *s, struct err *err);
enum rc fixture_hold(struct fixture *s, struct err *err);
struct fixture_usage fixture_usage(const struct fixture *s);
/* Of the largest server, known after fixture_leave. */
int64_t fixture_peak_bytes(const struct fixture *s);

/* on_note is called for what the worker says; fixture_note has its newest. */
void fixture_listen(struct fixture *s, void (*on_note)(void *arg, const struct note *note),
                    void *arg);
const struct note *fixture_note(const struct fixture *s);

/* From a callback: something moved, so the silence begins anew. */
void fixture_progress(struct fixture *s);
/* From a callback: fixture_wait returns this. The first one counts. */
void fixture_fail(struct fixture *s, const struct err *err);

/* Runs the loop until done(arg). `what` completes "no progress while waiting for ...". */
enum rc fixture_wait(struct fixture *s, bool (*done)(const void *arg), const void *arg,
                     const char *what, struct err *err);

/* Lets so much time pass, without a silence. */
enum rc fixture_pause(struct fixture *s, int64_t ms, struct err *err);
/* What the server says about itself just now. */
enum rc fixture_ask(struct fixture *s, struct stats *ret_stats, struct err *err);
/* Asks the server for a change, which must succeed. */
enum rc fixture_put(struct fixture *s, struct str target, struct str body, struct err *err);

/* Calls the server as a worker does, which must succeed. The answer lives in arena. */
enum rc fixture_post(struct fixture *s, struct str target, struct str body, struct arena *arena,
                     struct json *ret_answer, struct err *err);
/* Starts the worker of a fixture that was opened without one. */
enum rc fixture_hire(struct fixture *s, uint32_t slots, struct err *err);

/* Ends the worker once all it did is told and accepted; fixture_note says when that was. */
enum rc fixture_drain(struct fixture *s, struct err *err);
/* Ends what runs, in order: the database is closed when it returns. */
enum rc fixture_leave(struct fixture *s, struct err *err);
