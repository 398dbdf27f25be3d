#include "loaded.h"
#include "job/record/record_fields.h"

void loaded_free(struct loaded *l)
{
    arena_free(&l->arena);
}

static enum rc take_job(void *arg, const struct job_rec *job, struct err *err)
{
    struct loaded *l = arg;
    (void)err;
    struct job_rec copy = *job;
    copy.name = arena_str(&l->arena, job->name);
    copy.queue = arena_str(&l->arena, job->queue);
    copy.team = arena_str(&l->arena, job->team);
    copy.owner = arena_str(&l->arena, job->owner);
    copy.tags = arena_str(&l->arena, job->tags);
    copy.spec = arena_str(&l->arena, job->spec);
    *VEC_PUSH(&l->arena, &l->jobs) = copy;
    return RC_OK;
}

static enum rc take_exec(void *arg, const struct exec_rec *exec, struct err *err)
{
    struct loaded *l = arg;
    if (l->stop_after > 0 && l->execs.len == l->stop_after)
        return err_set(err, RC_TOO_LARGE, "enough");
    assert_int_equal(l->jobs.items[l->jobs.len - 1].id, exec->job_id);
    struct exec_rec copy = *exec;
    copy.queue = arena_str(&l->arena, exec->queue);
    copy.error = arena_str(&l->arena, exec->error);
    copy.charged = arena_str(&l->arena, exec->charged);
    copy.trace = arena_str(&l->arena, exec->trace);
    *VEC_PUSH(&l->arena, &l->execs) = copy;
    return RC_OK;
}

static enum rc take_worker(void *arg, const struct worker_rec *worker, struct err *err)
{
    struct loaded *l = arg;
    (void)err;
    struct worker_rec copy = *worker;
    fields_copy(&worker_fields, &copy, &l->arena);
    *VEC_PUSH(&l->arena, &l->workers) = copy;
    return RC_OK;
}

static enum rc take_cordon(void *arg, const struct worker_rec *worker, struct err *err)
{
    struct loaded *l = arg;
    (void)err;
    struct worker_rec copy = *worker;
    fields_copy(&worker_fields, &copy, &l->arena);
    *VEC_PUSH(&l->arena, &l->cordoned) = copy;
    return RC_OK;
}

static enum rc take_queue(void *arg, const struct queue_rec *queue, struct err *err)
{
    struct loaded *l = arg;
    (void)err;
    struct queue_rec copy = *queue;
    fields_copy(&queue_fields, &copy, &l->arena);
    *VEC_PUSH(&l->arena, &l->queues) = copy;
    return RC_OK;
}

static enum rc take_team(void *arg, const struct team_rec *team, struct err *err)
{
    struct loaded *l = arg;
    (void)err;
    struct team_rec copy = *team;
    fields_copy(&team_fields, &copy, &l->arena);
    *VEC_PUSH(&l->arena, &l->teams) = copy;
    return RC_OK;
}

static enum rc take_silence(void *arg, const struct silence_rec *silence, struct err *err)
{
    struct loaded *l = arg;
    (void)err;
    struct silence_rec copy = *silence;
    fields_copy(&silence_fields, &copy, &l->arena);
    *VEC_PUSH(&l->arena, &l->silences) = copy;
    return RC_OK;
}

static enum rc take_rate(void *arg, const struct rate_rec *rate, struct err *err)
{
    struct loaded *l = arg;
    (void)err;
    struct rate_rec copy = *rate;
    fields_copy(&rate_fields, &copy, &l->arena);
    *VEC_PUSH(&l->arena, &l->rates) = copy;
    return RC_OK;
}

static enum rc take_breaker(void *arg, const struct breaker_rec *breaker, struct err *err)
{
    struct loaded *l = arg;
    (void)err;
    struct breaker_rec copy = *breaker;
    fields_copy(&breaker_fields, &copy, &l->arena);
    *VEC_PUSH(&l->arena, &l->breakers) = copy;
    return RC_OK;
}

static enum rc take_dependency(void *arg, const struct dependency_rec *dependency, struct err *err)
{
    struct loaded *l = arg;
    (void)err;
    *VEC_PUSH(&l->arena, &l->dependencies) = *dependency;
    return RC_OK;
}

static enum rc take_calendar(void *arg, const struct calendar_rec *calendar, struct err *err)
{
    struct loaded *l = arg;
    (void)err;
    struct calendar_rec copy = *calendar;
    fields_copy(&calendar_fields, &copy, &l->arena);
    *VEC_PUSH(&l->arena, &l->calendars) = copy;
    return RC_OK;
}

static enum rc take_counter(void *arg, const struct counter *counter, struct err *err)
{
    struct loaded *l = arg;
    (void)err;
    struct counter copy = *counter;
    copy.queue = arena_str(&l->arena, counter->queue);
    *VEC_PUSH(&l->arena, &l->counters) = copy;
    return RC_OK;
}

static enum rc take_operation(void *arg, const struct operation_rec *operation, struct err *err)
{
    struct loaded *l = arg;
    (void)err;
    struct operation_rec copy = *operation;
    fields_copy(&operation_fields, &copy, &l->arena);
    *VEC_PUSH(&l->arena, &l->operations) = copy;
    return RC_OK;
}

struct load_sink loaded_sink(struct loaded *l)
{
    return (struct load_sink){
        .job = take_job,
        .exec = take_exec,
        .worker = take_worker,
        .cordon = take_cordon,
        .counter = take_counter,
        .queue = take_queue,
        .team = take_team,
        .silence = take_silence,
        .rate = take_rate,
        .breaker = take_breaker,
        .dependency = take_dependency,
        .calendar = take_calendar,
        .operation = take_operation,
        .arg = l,
    };
}

enum rc load(struct world *w, int64_t until_ms, struct loaded *l)
{
    struct load_sink sink = loaded_sink(l);
    return w->store->ops->load(w->store, &w->own, until_ms, &sink, &w->err);
}

const struct exec_rec *loaded_exec(const struct loaded *l, uint64_t id)
{
    for (size_t i = 0; i < l->execs.len; i++) {
        if (l->execs.items[i].id == id)
            return &l->execs.items[i];
    }
    return NULL;
}
