/* job.h - jobs in memory. A job is here while one of its executions is. */
#pragma once
#include "base/list.h"
#include "job/record/record.h"

struct definition;
struct engine;
struct touched;

struct job_values {
    enum job_state state;
    struct definition *def; /* owned; so is the one before, until the turn has ended */
    uint64_t last_exec;
    int64_t finished_ms;
};

/* There may be a million jobs and executions: their members are ordered so that there are no holes
 * between them. */
struct job {
    uint64_t id;
    int64_t created_ms;
    const struct str *owner; /* among engine.names */
    struct list execs;       /* exec.sibling, oldest first */
    struct list edges;       /* edge.sibling: dependencies of its executions */
    struct job_values v;
    struct touched *touched;
    uint32_t exec_count; /* executions in memory; the job leaves memory with the last one */
    uint32_t name_len;
    bool unblocking; /* slot_unblock is choosing an execution: ends meanwhile unblock nothing */
    char name[];
};

struct job *job_new(struct engine *e, const struct job_rec *rec, struct definition *take_def);
void job_free(struct engine *e, struct job *job);
struct str job_name(const struct job *job);
/* One of the job's executions in memory is not over. */
bool job_has_unfinished(const struct job *job);
/* Gives the job these values, and its executions the places that follow. */
void job_set_values(struct engine *e, struct job *job, const struct job_values *to);
