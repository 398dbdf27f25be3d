/* stage.h - a server or several, and perhaps a worker, put up for one measurement and taken down after it.
 *
 * All are processes of their own (child.h) in a temporary directory. The stage owns the loop on
 * which the measurement's clients live, and hides it: a measurement says what it waits for and goes
 * on when that has happened, or when it cannot happen any more because a process died, somebody
 * pressed ^C, or nobody made progress for SILENCE_S. So nothing waits for ever.
 *
 *     CLEANUP(stage_free) struct stage *stage = NULL;
 *     TRY(stage_open(&options, &stage, err));
 *     ... http_client_new(stage_loop(stage), stage_url(stage), ...)
 *     TRY(stage_wait(stage, all_answered, &load, "answers", err));
 *     TRY(stage_leave(stage, err)); */
#pragma once
#include "base/str.h"
#include "bench/ledger.h"
#include "bench/role.h"
#include "bench/stats.h"
#include "wire/json/json.h"

#include <uv.h>

enum {
    SILENCE_S = 30,
    STAGE_SERVERS_MAX = 16, /* as many as there are partitions */
};

struct stage_options {
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
struct stage_usage {
    int64_t server_us; /* all of them */
    int64_t worker_us;
    int64_t client_us;  /* this process */
    int64_t store_us;   /* of PostgreSQL, all of its processes; 0 where it is elsewhere */
    int64_t machine_us; /* all of them, and everybody else */
};

struct stage;

/* Servers and worker are there and know each other when it returns, and the servers have equal shares. */
enum rc stage_open(const struct stage_options *options, struct stage **ret_stage, struct err *err);
/* Kills what still runs and removes the directory. */
void stage_free(struct stage **stage);

uv_loop_t *stage_loop(struct stage *s);
struct str stage_url(const struct stage *s);
/* The same for a client of that number: each server has as many of them. */
struct str stage_url_for(const struct stage *s, uint32_t client);
struct str stage_token(const struct stage *s); /* of role admin */
/* What the database holds just now. */
enum rc stage_ledger(struct stage *s, struct ledger *ret_ledger, struct err *err);
/* As database_analyze and database_hold; RC_INVALID on SQLite. */
enum rc stage_analyze(struct stage *s, struct err *err);
enum rc stage_hold(struct stage *s, struct err *err);
struct stage_usage stage_usage(const struct stage *s);
/* Of the largest server, known after stage_leave. */
int64_t stage_peak_bytes(const struct stage *s);

/* on_note is called for what the worker says; stage_note has its newest. */
void stage_listen(struct stage *s, void (*on_note)(void *arg, const struct note *note), void *arg);
const struct note *stage_note(const struct stage *s);

/* From a callback: something moved, so the silence begins anew. */
void stage_progress(struct stage *s);
/* From a callback: stage_wait returns this. The first one counts. */
void stage_fail(struct stage *s, const struct err *err);

/* Runs the loop until done(arg). `what` completes "no progress while waiting for ...". */
enum rc stage_wait(struct stage *s, bool (*done)(const void *arg), const void *arg,
                   const char *what, struct err *err);

/* Lets so much time pass, without a silence. */
enum rc stage_pause(struct stage *s, int64_t ms, struct err *err);
/* What the server says about itself just now. */
enum rc stage_ask(struct stage *s, struct stats *ret_stats, struct err *err);
/* Asks the server for a change, which must succeed. */
enum rc stage_put(struct stage *s, struct str target, struct str body, struct err *err);

/* Calls the server as a worker does, which must succeed. The answer lives in arena. */
enum rc stage_post(struct stage *s, struct str target, struct str body, struct arena *arena,
                   struct json *ret_answer, struct err *err);
/* Starts the worker of a stage that was opened without one. */
enum rc stage_hire(struct stage *s, uint32_t slots, struct err *err);

/* Ends the worker once all it did is told and accepted; stage_note says when that was. */
enum rc stage_drain(struct stage *s, struct err *err);
/* Ends what runs, in order: the database is closed when it returns. */
enum rc stage_leave(struct stage *s, struct err *err);
