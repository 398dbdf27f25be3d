/* workers.h - workers in memory: their polls, parking, draining. */
#pragma once
#include "base/heap.h"
#include "base/list.h"
#include "base/vec.h"
#include "engine/core/engine.h"
#include "engine/core/exec.h"

struct cordon;
struct touched;
struct worker_class;

struct worker_values {
    uint64_t seq;           /* of the newest poll */
    uint64_t told_seq;      /* of the first poll whose answer said what we own; 0: none did */
    int64_t seen_ms;        /* boot clock: its newest poll */
    int64_t wake_ms;        /* boot clock: end of parking, or time to forget it */
    struct command *parked; /* the poll that waits for something to say */
    uint64_t parked_no;     /* number of that parking: orders worker_class.waiting */
    uint32_t offered;       /* free slots of that poll */
    bool draining;
    struct cordon *cordon; /* owned; NULL: it may be given work */
    bool followed;         /* another process has taken its place, cordoned as it is */
    bool gone;             /* forgotten; freed when the turn is committed */
};

struct worker {
    uint64_t id;
    struct worker_class *worker_class;
    uint32_t name_len;
    uint32_t slots;
    uint32_t busy; /* leases on the list */
    int64_t registered_ms;
    uint64_t replaces;    /* as in its record */
    uint32_t reading;     /* the newest of engine.readings that had its cordon */
    uint32_t boot_id_len; /* of the text behind the name */
    struct list leases;
    struct list_node waiting; /* on worker_class.waiting while it is parked with free slots */
    struct term term;
    struct worker_values v;
    struct touched *touched;
    /* A poll that this turn answers or parks; on engine.turn.open. */
    struct {
        struct list_node node;
        struct command *cmd;
        uint32_t free;
        int64_t until_ms; /* boot clock: it was parked until then; 0: it is new */
        bool answer;      /* there is something to say, even without leases */
        bool accused;     /* a run of the worker was on probation when the poll came */
        VEC(struct poll_lease) leases;
        VEC(struct poll_stop) stops;
    } turn;
    char name[];
};

/* Asks for the worker when another server has registered it, and about its results. */
void ask_of_poll(struct engine *e, struct command *cmd, struct question_list *list);
void decide_poll(struct engine *e, struct command *cmd);
/* A reply with what every reply says, and nothing else. */
struct poll_reply plain_reply(const struct engine *e, const struct worker *w);
void decide_hangup(struct engine *e, struct command *cmd);
void decide_drain(struct engine *e, struct command *cmd);
/* Its polls do not come any more. */
bool worker_is_silent(const struct engine *e, const struct worker *w);
struct worker *worker_new(struct engine *e, const struct worker_rec *rec);
void worker_free(struct engine *e, struct worker *w);
/* Gives the worker its leases that were loaded before it was known. */
void worker_adopt(struct engine *e, struct worker *w);
/* Takes its leases from a worker that leaves memory: the turn that found it was undone. */
void worker_disown(struct engine *e, struct worker *w);
void worker_place(struct engine *e, struct worker *w);
void worker_unplace(struct engine *e, struct worker *w);
/* The worker's term is over: answers the poll that was parked, or forgets the worker. */
void worker_wake(struct engine *e, struct worker *w);
/* Sets the poll that waits from now on (NULL: none does) and when to look after the worker. */
void worker_set_parked(struct engine *e, struct worker *w, struct command *cmd, int64_t wake_ms);
/* Takes the parked poll back into the turn, so that it can be answered. */
void worker_open(struct engine *e, struct worker *w);
struct worker_rec worker_record(const struct worker *w);
struct str worker_boot_id(const struct worker *w);
/* head and the worker's id, in the turn's arena: "worker:wrk_…". */
struct str worker_words(struct engine *e, struct str head, const struct worker *w);
