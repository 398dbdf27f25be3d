/* limit_remote.h - limits that count in more than one partition.
 *
 * Every limit key has a home, the partition of its hash, and the home's owner alone says how many
 * may run at once and when the next may start. An execution in the home's own partition needs
 * nothing for that: its lease is what counts, it moves together with the home, and a start counts
 * it again. One of another partition needs a *permit*, a row with the home that names it:
 *
 *   - where we own both, the row is written in the commit that grants the lease and goes in the one
 *     that ends it, and leases count as ever. So when the partitions part, the new home knows;
 *   - where the home is elsewhere, the execution that a worker could have now leaves its track and
 *     asks (INBOX_ASK). The home keeps the request, and grants it when it is its turn
 *     (INBOX_GRANT), in the order of ranks, its own work included as far as nothing else holds that
 *     back. The execution is then the next for a worker, and gives the permit back in the commit
 *     that ends its lease (INBOX_FREE), or when no worker took it for a while. A rate has nothing
 *     to give back: the home lets requests through one by one.
 *
 * Permits that an engine has asked for count with its own view of the limit, so it never asks for
 * more than could be granted to it. An execution that has some of its permits and waits for more
 * gives all back after a while and asks again, since two may wait for one another.
 *
 * A server that starts knows what its leases hold, and nothing of what it asked for or was granted
 * beyond that. So it says once, to each partition elsewhere, who holds something, and nobody else
 * does (INBOX_KEEP); then it asks anew. A grant says which request it answers, and one that nobody
 * waits for goes back.
 *
 *   INBOX_ASK    name: key  from: execution  about: number of the request  value: rank
 *                number: of how many, or microseconds between starts; 0: it runs already
 *   INBOX_GRANT  name: key  about: execution  from: number of the request
 *   INBOX_FREE   name: key  from: execution
 *   INBOX_KEEP   value: partitions of who says it, as bits  body: ids of executions, as numbers */
#pragma once
#include "base/heap.h"
#include "base/map.h"
#include "engine/core/exec.h"
#include "engine/ready/limit.h"

struct queue;

/* A limit whose home is ours: executions elsewhere that have a permit, or wait for one. */
struct home {
    struct str key; /* owned, behind the struct: kind and key */
    enum limit_kind kind;
    struct limit *limit; /* joined; NULL: it is a queue's */
    struct queue *queue;
    struct heap asks;   /* permits that are not granted, by rank */
    int64_t most;       /* the largest `max` of all requests since `asks` was empty */
    struct map permits; /* execution -> struct permit, owned; without any it is gone */
};

/* A permit that was loaded, of an execution that is ours as its home is. */
struct own_row {
    struct own_row *next;
    uint64_t exec_id;
    struct str key; /* owned, behind the struct */
};

struct permit_values {
    bool granted;
    bool gone; /* forgotten; freed when the turn is committed */
    int64_t max;
    int64_t rank;
    uint64_t ask;
};

struct permit {
    struct home *home;
    uint64_t exec_id;
    int64_t asked_ms;
    struct heap_node place; /* in home.asks while it is not granted */
    struct permit_values v;
    struct touched *touched;
};

/* ---- limit_remote.c: permits that our executions need */

/* A worker could have the execution now. True: it needs permits first, has asked for them, and is
 * not to be had until they come. */
bool permits_ask(struct engine *e, struct exec *x);
/* Its lease has begun (or has got other limits by an edit): the homes know. */
void permits_started(struct engine *e, struct exec *x);
/* All that it has and wants goes back; to are the values that it is about to have. */
void permits_end(struct engine *e, const struct exec *x, struct exec_values *to);
/* The same, of one that waits with what it has. */
void permits_give_back(struct engine *e, struct exec *x);
/* A lease that is loaded has the permits it was granted with. */
void permits_inherit(const struct engine *e, struct exec *x);
/* The first key from bar on that it waits for, and its bar; false: there is none. */
bool permits_waited(const struct exec *x, unsigned *bar, struct str *ret_key);
/* The first turn after a start: tells all others which of our executions hold permits of theirs. */
void permits_announce(struct engine *e);
/* Queues and teams can be limited while their work runs. That counts, too: its homes are told in
 * the next turn. After a crash before that turn nobody knows of it (permits_inherit takes it that
 * they were told): these runs do not count until they end. */
void permits_limited(struct engine *e, uint32_t before, uint32_t max);
void permits_count_running(struct engine *e);
/* A home has granted something. */
void heard_grant(struct engine *e, const struct inbox_rec *rec);
/* It waits with permits that it has, or has asked for. */
static inline bool exec_has_permits(const struct exec *x)
{
    return x->v.state == EXEC_QUEUED && (x->v.wants | x->v.has) != 0;
}

/* ---- limit_home.c: permits that our homes grant */

/* Grants free permits to executions elsewhere: those that rank before all of ours, or all. */
void permits_grant(struct engine *e, bool all);
void permit_set(struct engine *e, struct permit *p, const struct permit_values *to);
void permit_free(struct engine *e, struct permit *p);
struct permit_change permit_changed(const struct permit *p);
void homes_free(struct engine *e);
/* Another server asks, gives back, or says which of its executions hold something, and no
 * others. */
void heard_ask(struct engine *e, const struct inbox_rec *rec);
void heard_free(struct engine *e, const struct inbox_rec *rec);
void heard_keep(struct engine *e, const struct inbox_rec *rec);
