#include "world.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>

static const struct candidate *chosen;

void world_choose(const struct candidate *candidate)
{
    chosen = candidate;
}

static struct rng seeded(void)
{
    struct rng rng = {.state = 1};
    const char *given = getenv("BELFRY_SEED");
    if (given != NULL)
        assert_true(str_to_u64(str_c(given), &rng.state));
    print_message("seed %" PRIu64 "\n", rng.state);
    return rng;
}

static void begin(struct world *w)
{
    assert_rc(w->store->ops->own(w->store, STR("test"), &w->own, &w->err), RC_OK);
    assert_rc(w->store->ops->reader(w->store, &w->reader, &w->err), RC_OK);
    w->turn = w->own.turn_floor;
}

int world_setup(void **state)
{
    struct world *w = MEM_NEW(struct world);
    w->candidate = chosen;
    w->store = chosen->open(&w->place);
    w->rng = seeded();
    begin(w);
    *state = w;
    return 0;
}

int world_teardown(void **state)
{
    struct world *w = *state;
    w->reader->ops->close(w->reader);
    w->candidate->destroy(w->place, w->store);
    arena_free(&w->arena);
    free(w);
    return 0;
}

void world_reopen(struct world *w)
{
    if (w->candidate->reopen == NULL)
        return;
    w->reader->ops->close(w->reader);
    w->store = w->candidate->reopen(w->place, w->store);
    begin(w);
}

uint64_t world_id(struct world *w)
{
    return id_next(&w->ids, T0, 0);
}

enum rc world_try(struct world *w, struct delta delta)
{
    delta.turn = ++w->turn;
    return w->store->ops->commit(w->store, &w->own, &delta, &w->err);
}

void world_commit(struct world *w, struct delta delta)
{
    enum rc rc = world_try(w, delta);
    if (rc != RC_OK)
        print_error("%s\n", w->err.text);
    assert_rc(rc, RC_OK);
}

void world_admit(struct world *w, struct question *question)
{
    assert_rc(w->store->ops->admit(w->store, &w->own, &question, 1, &w->arena, &w->err), RC_OK);
}

uint64_t world_claim(struct world *w, struct str key, uint64_t holder)
{
    struct question q = {.kind = ASK_CLAIM,
                         .claim = {.kind = CLAIM_NAME, .key = key, .holder = holder}};
    world_admit(w, &q);
    return q.answer.holder;
}

struct job_change new_job(struct world *w)
{
    return (struct job_change){
        .kind = CHANGE_INSERT,
        .job = {.id = world_id(w),
                .version = 1,
                .state = JOB_ACTIVE,
                .queue = STR("default"),
                .owner = STR("key:admin"),
                .team = STR("data"),
                .priority = 500,
                .created_ms = T0,
                .spec = STR("{\"command\":[\"true\"]}")},
        .step = STR("created\n"),
    };
}

struct exec_change new_exec(struct world *w, const struct job_change *job, enum exec_state state)
{
    return (struct exec_change){
        .kind = exec_is_final(state) ? CHANGE_RECORD : CHANGE_INSERT,
        .exec = {.id = world_id(w),
                 .job_id = job->job.id,
                 .state = state,
                 .queue = job->job.queue,
                 .priority = job->job.priority,
                 .slot_ms = T0,
                 .created_ms = T0,
                 .due_ms = exec_is_waiting(state) ? T0 : 0},
        .step = STR("born\n"),
    };
}

uint64_t world_submit(struct world *w, enum exec_state state)
{
    struct job_change job = new_job(w);
    struct exec_change exec = new_exec(w, &job, state);
    world_commit(w, (struct delta){.jobs = &job, .job_count = 1, .execs = &exec, .exec_count = 1});
    return exec.exec.id;
}

struct exec_change next_change(const struct exec_rec *exec, enum change_kind kind,
                               enum exec_state state)
{
    struct exec_change change = {.kind = kind, .exec = *exec, .step = STR("moved\n")};
    change.exec.state = state;
    change.exec.due_ms = exec_is_waiting(state) ? exec->due_ms : 0;
    return change;
}

struct job_rec read_job(struct world *w, uint64_t id)
{
    struct job_rec job;
    assert_rc(w->reader->ops->job(w->reader, id, &w->arena, &job, &w->err), RC_OK);
    return job;
}

struct exec_rec read_exec(struct world *w, uint64_t id)
{
    struct exec_rec exec;
    struct attempt_rec *attempts;
    size_t count;
    assert_rc(w->reader->ops->exec(w->reader, id, &w->arena, &exec, &attempts, &count, &w->err),
              RC_OK);
    return exec;
}

bool job_exists(struct world *w, uint64_t id)
{
    struct job_rec job;
    enum rc rc = w->reader->ops->job(w->reader, id, &w->arena, &job, &w->err);
    assert_true(rc == RC_OK || rc == RC_NOT_FOUND);
    return rc == RC_OK;
}

bool exec_exists(struct world *w, uint64_t id)
{
    struct exec_rec exec;
    struct attempt_rec *attempts;
    size_t count;
    enum rc rc = w->reader->ops->exec(w->reader, id, &w->arena, &exec, &attempts, &count, &w->err);
    assert_true(rc == RC_OK || rc == RC_NOT_FOUND);
    return rc == RC_OK;
}
