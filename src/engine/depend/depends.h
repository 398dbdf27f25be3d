/* depends.h - jobs that wait for other jobs.
 *
 * An *edge* says that an execution waits for the end of a job or of one of its slots. A *rule* is
 * an edge without an execution: it says what each execution of its job has to wait for when it is
 * due. */
#pragma once
#include "base/heap.h"
#include "base/list.h"
#include "base/map.h"
#include "job/record/record.h"

struct engine;
struct exec;
struct job;
struct touched;

struct edge_values {
    enum dependency_state state;
    bool asking;     /* waits: for what is not known yet, and the store is asked */
    bool unsure;     /* waits: for a slot that was still ahead; later ones may count as well */
    uint64_t target; /* waits: for the end of this job, or of this execution of the upstream */
    int64_t slot_ms; /* of a waiter: a slot at or before this counts; 0: the job */
};

struct edge {
    uint64_t dependant;       /* the id of the job that waits */
    struct exec *exec;        /* its execution that waits; NULL: a rule, for each when it is due */
    struct edge *rule;        /* by which it waits; NULL: it is a rule, or is kept by itself */
    struct list_node sibling; /* on job.edges; a rule: on rulebook.rules */
    uint64_t upstream;        /* the id of the other job */
    uint64_t waiter; /* an execution elsewhere that waits, when that is not ours; 0: none */
    enum dependency_type type;
    struct heap_node place; /* while it waits: in upstream.edges, or in engine.depends.asking */
    struct edge_values v;
    struct touched *touched;
};

/* All edges that wait for the end of one thing, ordered by the execution that waits: the order
 * follows from nothing else. */
struct upstream {
    struct heap edges;
};

/* The rules of a job. In memory also while the job is not. */
struct rulebook {
    struct list rules; /* edge.sibling */
};

struct dependencies {
    struct map upstreams;  /* id of a job or execution -> struct upstream, while one waits for it */
    struct map rulebooks;  /* job id -> struct rulebook, of jobs that have rules */
    struct strmap waiters; /* owned: edges of executions elsewhere, by edge_waiter_key */
    struct heap asking;    /* edges, by their execution and upstream */
    size_t edge_count;
};

/* A job or slot that is over and whose dependants are to be told. */
struct ended {
    uint64_t id;
    enum job_state state;
    enum exec_state slot; /* how the slot ended; EXEC_NONE: it is a job */
    bool job_over;        /* the job itself has ended, and is ours */
    bool purged;          /* the slot is too old to be known */
};

/* ---- ends */

/* An execution is over: it waits for nothing any more, and the dependants of its slot are told. */
void depends_exec_over(struct engine *e, struct exec *x);
/* The job has ended: drops its rules, and lets its dependants go on or skips them. */
void depends_over(struct engine *e, struct job *job);
/* The edge's upstream ended like that: its execution goes on, waits on, or is skipped. */
void depends_settle(struct engine *e, struct edge *edge, const struct ended *ended);
/* The rule of x came to this state. A job that runs once is due once, so its rule is settled with
 * it; that of a job that recurs only when it is met for good, since its upstream runs once and is
 * over. */
void depends_settle_rule(struct engine *e, const struct exec *x, struct edge *rule,
                         enum dependency_state state, bool for_good);
/* Skips x, which can never run. */
void depends_skip(struct engine *e, struct exec *x, struct str reason);
/* x waits for nothing any more but, perhaps, its time, and then the slots of others. */
void depends_go_on(struct engine *e, struct exec *x, struct str reason);
struct str why_impossible(struct engine *e, const struct edge *edge, const struct ended *ended);

/* ---- moves */

/* x was rescheduled: resolve its dependencies again. */
void depends_moved(struct engine *e, struct exec *x);
/* The same for the executions that wait for the slot of x. */
void depends_slot_moved(struct engine *e, const struct exec *x);

/* ---- edges */

/* The dependency of rec, new in memory: x waits by it, or when x is NULL it is a rule. */
struct edge *edge_new(struct engine *e, const struct dependency_rec *rec, struct exec *x,
                      struct edge *rule, const struct edge_values *v);
/* Touches the edge and gives it these values; durable only when the edge stands for itself. */
void edge_change(struct engine *e, struct edge *edge, struct edge_values to);
void edge_set(struct engine *e, struct edge *edge, const struct edge_values *to);
void edge_free(struct engine *e, struct edge *edge);
struct dependency_rec edge_record(const struct edge *edge);
void upstream_free(struct upstream *up);
void rulebook_free(struct rulebook *st);

/* ---- between partitions; their messages are in depends_remote.h */

/* Another server decides about the job. */
bool depends_is_remote(const struct engine *e, uint64_t job_id);
/* The id of the edge's execution, here or elsewhere, and the moment that its slot counts from. */
uint64_t edge_exec_id(const struct edge *edge);
int64_t edge_slot_ms(const struct edge *edge);
struct waiter_change waiter_changed(const struct edge *edge);
/* The edge of an execution elsewhere that waits for a job of ours; NULL: there is none. */
struct edge *waiter_find(struct engine *e, uint64_t upstream, uint64_t exec_id);
/* Makes one, which asks first how the upstream stands. */
struct edge *waiter_new(struct engine *e, const struct waiter_rec *rec);
