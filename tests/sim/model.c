#include "model.h"
#include "coverage.h"
#include "world.h"

#include <inttypes.h>

void model_free(struct model *m)
{
    map_free(&m->job_by_id);
    map_free(&m->exec_by_id);
    map_free(&m->worker_by_id);
    map_free(&m->applied);
}

struct model_job *model_job(const struct model *m, uint64_t id)
{
    struct model_job *job = map_get(&m->job_by_id, id);
    bool gone = job != NULL && job->forgotten_turn != 0 && job->forgotten_turn < m->turn;
    return gone ? NULL : job;
}

struct model_exec *model_exec(const struct model *m, uint64_t id)
{
    struct model_exec *x = map_get(&m->exec_by_id, id);
    bool gone = x != NULL && x->forgotten_turn != 0 && x->forgotten_turn < m->turn;
    return gone ? NULL : x;
}

struct model_worker *model_worker(const struct model *m, uint64_t id)
{
    struct model_worker *worker = map_get(&m->worker_by_id, id);
    return worker == NULL || worker->forgotten ? NULL : worker;
}

bool model_is_leased(const struct model *m, const struct model_exec *x)
{
    return exec_is_leased(x->rec.state) && (m->scope == NULL || partition_has(m->scope, x->rec.id));
}

size_t model_leases(const struct model *m, uint64_t worker_id)
{
    size_t count = 0;
    for (size_t i = 0; i < m->execs.len; i++)
        count +=
            model_is_leased(m, m->execs.items[i]) && m->execs.items[i]->rec.worker_id == worker_id;
    return count;
}

struct model_attempt *model_attempt(struct model_exec *x, uint64_t token)
{
    for (size_t i = x->attempts.len; i-- > 0;) {
        if (x->attempts.items[i].token == token)
            return &x->attempts.items[i];
    }
    return NULL;
}

const struct wish *model_wish(const struct model *m, const struct model_job *job)
{
    return &m->wishes.items[job->definition];
}

bool model_same_lane(const struct world *w, const struct model_exec *a, const struct model_exec *b)
{
    const struct rules *left = &model_wish(&w->model, a->job)->rules;
    const struct rules *right = &model_wish(&w->model, b->job)->rules;
    return str_eq(left->queue, right->queue) && str_eq(left->handler, right->handler);
}

bool model_is_suspect(const struct model_exec *x)
{
    enum { SUSPECT_FROM = 2 };
    return x->rec.unseen >= SUSPECT_FROM;
}

/* ---- keeping jobs */

static void new_job(struct world *w, const struct job_rec *rec, const struct turn_view *view)
{
    struct model *m = &w->model;
    struct model_job *job = ARENA_NEW(m->arena, struct model_job);
    PROMISE(w, model_find_wish(m, rec->payload, &job->submission),
            "a job appeared that nobody wanted");
    struct wish *wish = &m->wishes.items[job->submission];
    job->definition = job->submission;
    PROMISE(w, wish->job_id == 0 && wish->edits == 0,
            "one submission made two jobs: %s and a second one", job_label(w, wish->job_id));
    PROMISE(w,
            str_eq(rec->name, wish->name) && str_eq(rec->queue, wish->rules.queue) &&
                str_eq(rec->owner, wish->owner) && str_eq(rec->team, wish->rules.team) &&
                str_eq(rec->tags, wish->tags) && rec->priority == wish->rules.priority,
            "submission %zu was kept as something else than was asked for", job->submission);
    wish->job_id = rec->id;
    duplicates_new_job(w, wish, rec->id, view);
    job->rec = *rec;
    job->rec.name = wish->name;
    job->rec.queue = wish->rules.queue;
    job->rec.owner = wish->owner;
    job->rec.team = wish->rules.team;
    job->rec.tags = wish->tags;
    job->rec.payload = wish->payload;
    job->rec.spec = arena_str(m->arena, rec->spec);
    *VEC_PUSH(m->arena, &m->jobs) = job;
    map_put(&m->job_by_id, rec->id, job);
    if (wish->rules.schedule != NULL)
        slots_begin(w, job);
}

static void keep_job(struct world *w, const struct job_change *change, const struct turn_view *view)
{
    const struct job_rec *to = &change->job;
    struct model_job *job = model_job(&w->model, to->id);
    PROMISE(w, (job == NULL) == (change->kind == CHANGE_INSERT), "%s is kept as %s",
            job_label(w, to->id), job == NULL ? "known, but is not" : "new, but is not");
    PROMISE(w, (to->finished_ms != 0) == job_is_over(to->state),
            "%s has an end while it goes on, or none though it has ended", job_label(w, to->id));
    if (job == NULL) {
        new_job(w, to, view);
        return;
    }
    if (job->rec.state == JOB_PAUSED && to->state == JOB_ACTIVE)
        job->resumed_ms = view->now.wall_ms;
    PROMISE(w, to->version == job->rec.version + change->redefined,
            "%s goes from version %" PRIu32 " to %" PRIu32, job_label(w, to->id), job->rec.version,
            to->version);
    if (change->redefined)
        edits_keep(w, job, change, view);
    job->rec.version = to->version;
    job->rec.state = to->state;
    job->rec.priority = to->priority;
    job->rec.finished_ms = to->finished_ms;
    job->rec.last_exec = to->last_exec;
}

/* ---- keeping executions */

/* When it was promised to run. */
static void check_birth(struct world *w, struct model_exec *x, int64_t created_ms,
                        const struct turn_view *view)
{
    const struct wish *wish = model_wish(&w->model, x->job);
    int64_t due_ms = view->now.wall_ms;
    PROMISE(w, created_ms == view->now.wall_ms, "%s was made now, and says another time",
            exec_label(w, x->rec.id));
    if (model_recurs(x))
        return;               /* slots_born has looked */
    if (x->rec.retry_of != 0) /* what it is about stays the same */
        due_ms = model_exec(&w->model, x->rec.retry_of)->rec.slot_ms;
    else if (wish->when == WHEN_DELAY) {
        due_ms += wish->when_ms;
        clocks_wait(w, x, wish->when_ms);
    } else if (wish->when == WHEN_AT && wish->when_ms > due_ms)
        due_ms = wish->when_ms;
    PROMISE(w, x->rec.slot_ms == due_ms, "%s is promised for another moment than was asked for",
            exec_label(w, x->rec.id));
}

static struct model_exec *new_exec(struct world *w, const struct exec_rec *rec,
                                   const struct turn_view *view)
{
    struct model *m = &w->model;
    struct model_exec *x = ARENA_NEW(m->arena, struct model_exec);
    x->job = model_job(m, rec->job_id);
    PROMISE(w, x->job != NULL, "an execution without a job was kept");
    *VEC_PUSH(m->arena, &x->job->execs) = x;
    x->number = (unsigned)x->job->execs.len;
    x->born_turn = m->turn;
    x->rec.id = rec->id;
    x->rec.job_id = rec->job_id;
    x->rec.retry_of = rec->retry_of;
    x->rec.slot_ms = rec->slot_ms;
    x->rec.nominal_ms = rec->nominal_ms;
    x->rec.created_ms = rec->created_ms;
    x->rec.origin = rec->origin;
    x->payload = arena_str(m->arena, rec->payload);
    x->trace = arena_str(m->arena, rec->trace);
    PROMISE(w, rec->origin != ORIGIN_SLOT || rec->trace.len == 0,
            "%s is of a slot, and in the trace of somebody", exec_label(w, rec->id));
    PROMISE(w,
            rec->origin != ORIGIN_ONCE || rec->retry_of != 0 ||
                str_eq(rec->trace, m->wishes.items[x->job->submission].trace),
            "%s is in another trace than who asked for it", exec_label(w, rec->id));
    PROMISE(w,
            rec->own_payload == (rec->payload.len > 0) &&
                (rec->retry_of != 0 || rec->origin == ORIGIN_REQUEST || !rec->own_payload),
            "%s has a payload of its own, and nobody asked for that", exec_label(w, rec->id));
    *VEC_PUSH(m->arena, &m->execs) = x;
    map_put(&m->exec_by_id, rec->id, x);
    if (model_recurs(x))
        slots_born(w, x, rec, view);
    return x;
}

static void keep_exec(struct world *w, const struct exec_change *change,
                      const struct turn_view *view)
{
    const struct exec_rec *to = &change->exec;
    struct model_exec *x = model_exec(&w->model, to->id);
    bool is_new = x == NULL;
    if (is_new)
        x = new_exec(w, to, view);
    PROMISE(w, is_new || !exec_is_final(x->rec.state), "%s changed after it had ended",
            exec_label(w, to->id));
    x->changed_turn = w->model.turn;
    x->token_before = x->rec.token;
    x->holder_before = x->holder;
    duplicates_check_effect(w, x, to, view);
    clocks_shift(w, x, to, view);
    steps_take(w, x, change->step, to, view);
    if (is_new)
        check_birth(w, x, to->created_ms, view);
    PROMISE(w, is_new || x->rec.slot_ms == to->slot_ms || model_edited_now(&w->model, x->job),
            "%s is promised for another moment than before", exec_label(w, to->id));
    PROMISE(w, !x->cancelled || to->state == EXEC_STOPPING || to->state == EXEC_CANCELLED,
            "%s is %.*s, though somebody was told that it is cancelled", exec_label(w, to->id),
            STR_ARG(exec_state_name(to->state)));
    PROMISE(w, str_eq(to->trace, x->trace), "%s left the trace that it was made in",
            exec_label(w, to->id));
    struct str error = to->error.len > 0 || exec_is_final(to->state) ? to->error : x->rec.error;
    x->rec = *to;
    x->rec.trace = x->trace;
    pace_check(w, x);
    x->rec.queue = x->job->rec.queue;
    x->rec.error = arena_str(w->model.arena, error);
    x->rec.result = arena_str(w->model.arena, to->result);
    x->rec.charged = arena_str(w->model.arena, to->charged);
    w->model.once_count += is_new && !model_recurs(x);
    w->model.once_count -= exec_is_final(to->state) && !model_recurs(x);
}

/* ---- the rest of a delta */

static void keep_attempt(struct world *w, const struct attempt_rec *rec,
                         const struct turn_view *view)
{
    struct model_exec *x = model_exec(&w->model, rec->exec_id);
    struct model_attempt *attempt = x == NULL ? NULL : model_attempt(x, rec->token);
    PROMISE(w, attempt != NULL && attempt->worker_id == rec->worker_id,
            "an attempt of %s was kept that nobody was granted", exec_label(w, rec->exec_id));
    bool silent = attempt->outcome == OUTCOME_LOST || attempt->outcome == OUTCOME_RETURNED;
    PROMISE(w, attempt->outcome == OUTCOME_NONE || (silent && rec->outcome == OUTCOME_SUCCEEDED),
            "an attempt of %s ended twice, as %.*s and as %.*s", exec_label(w, rec->exec_id),
            STR_ARG(outcome_name(attempt->outcome)), STR_ARG(outcome_name(rec->outcome)));
    if (x->rec.origin != ORIGIN_PING)
        failures_keep(w, x, attempt, rec, view);
    else if (rec->outcome == OUTCOME_FAILED)
        attempt->class = FAILURE_UNKNOWN; /* clients say an exit code, and print nothing */
    attempt->outcome = rec->outcome;
    if (rec->ended_ms - rec->started_ms > w->model.longest_ms)
        w->model.longest_ms = rec->ended_ms - rec->started_ms;
    attempt->ended_turn = w->model.turn;
    breakers_count(w, x, attempt, view);
    saw_outcome(rec->outcome);
}

static void keep_worker(struct world *w, const struct worker_change *change)
{
    struct model *m = &w->model;
    struct model_worker *worker = map_get(&m->worker_by_id, change->worker.id);
    if (change->forget) {
        PROMISE(w, worker != NULL && model_leases(m, change->worker.id) == 0,
                "a worker was forgotten that holds a lease, or never was");
        worker->forgotten = true;
        return;
    }
    if (worker == NULL) {
        worker = ARENA_NEW(m->arena, struct model_worker);
        *VEC_PUSH(m->arena, &m->workers) = worker;
        map_put(&m->worker_by_id, change->worker.id, worker);
    }
    worker->rec = change->worker;
    worker->rec.name = arena_str(m->arena, change->worker.name);
    worker->rec.queues = arena_str(m->arena, change->worker.queues);
    worker->rec.handlers = arena_str(m->arena, change->worker.handlers);
    worker->rec.boot_id = arena_str(m->arena, change->worker.boot_id);
    worker->rec.cordoned_by = arena_str(m->arena, change->worker.cordoned_by);
    worker->rec.cordon_reason = arena_str(m->arena, change->worker.cordon_reason);
}

/* Attempts that ended by a report count, and the one that is under way; lost ones do not, nor do
 * those that were given back. One that was stopped counts when it was asked to stop, which is when
 * the execution ended with it. */
static uint32_t attempts_of(const struct model_exec *x)
{
    uint32_t count = exec_is_leased(x->rec.state);
    for (size_t i = 0; i < x->attempts.len; i++) {
        switch (x->attempts.items[i].outcome) {
        case OUTCOME_SUCCEEDED:
        case OUTCOME_FAILED:
        case OUTCOME_PERMANENT:
        case OUTCOME_TIMEOUT: count++; break;
        case OUTCOME_STOPPED:
            count += x->rec.state == EXEC_CANCELLED && i == x->attempts.len - 1 &&
                     x->attempts.items[i].ended_turn == x->changed_turn;
            break;
        default: break;
        }
    }
    return count;
}

/* Since when it would be ready to have its rank, without any priority. */
static int64_t rank_ms(const struct world *w, const struct model_exec *x)
{
    return x->rec.ready_ms -
           model_wish(&w->model, x->job)->rules.priority * w->scene.engine.point_ms;
}

/* True when a stands before b wherever both wait. */
static bool goes_first(const struct world *w, const struct model_exec *a,
                       const struct model_exec *b)
{
    int64_t left_ms = rank_ms(w, a);
    int64_t right_ms = rank_ms(w, b);
    return left_ms != right_ms ? left_ms < right_ms : a->rec.id < b->rec.id;
}

bool model_was_granted(const struct model *m, const struct model_exec *x)
{
    return x->changed_turn == m->turn && exec_is_leased(x->rec.state) &&
           x->rec.token > x->token_before;
}

/* Nobody was given work while better work of the same lane waits on, unless a limit of its own may
 * have held that back. */
static void check_order(struct world *w, const struct model_exec *granted,
                        const struct turn_view *view)
{
    if (!model_settings_known(w, view->now.boot_ms))
        return; /* what waits may need a permit, as far as its server knows */
    for (size_t i = 0; i < w->model.execs.len; i++) {
        const struct model_exec *x = w->model.execs.items[i];
        if (x->rec.state != EXEC_QUEUED || x->job->rec.state == JOB_PAUSED ||
            !partition_has(&view->owned, x->rec.id) || model_needs_permits(w, x) ||
            model_is_suspect(x) || !model_same_lane(w, x, granted) ||
            !model_same_limits(w, x, granted))
            continue;
        PROMISE(w, !goes_first(w, x, granted), "%s was granted while %s, which goes first, waits",
                exec_label(w, granted->rec.id), exec_label(w, x->rec.id));
    }
}

/* Two of one name are never unfinished together. */
static void check_name(struct world *w, const struct model_exec *fresh)
{
    struct str name = fresh->job->rec.name;
    for (size_t i = 0; name.len > 0 && i < w->model.execs.len; i++) {
        const struct model_exec *x = w->model.execs.items[i];
        PROMISE(w,
                x->job == fresh->job || exec_is_final(x->rec.state) ||
                    !str_eq(x->job->rec.name, name),
                "%s and %s are unfinished and have one name", exec_label(w, x->rec.id),
                exec_label(w, fresh->rec.id));
    }
}

/* A clock that was set back makes nothing end before it began. */
static void check_times(struct world *w, const struct exec_rec *rec)
{
    bool ended = exec_is_final(rec->state);
    PROMISE(w,
            (rec->finished_ms != 0) == ended && (!ended || (rec->finished_ms >= rec->created_ms &&
                                                            rec->finished_ms >= rec->started_ms)),
            "%s ended before it began, or has no end", exec_label(w, rec->id));
    PROMISE(w, (rec->due_ms != 0) == exec_is_waiting(rec->state),
            "%s waits for no moment, or has one for which it does not wait",
            exec_label(w, rec->id));
    PROMISE(w, (rec->worker_id != 0) == exec_is_leased(rec->state),
            "%s is leased to nobody, or has a worker and no lease", exec_label(w, rec->id));
    PROMISE(w, rec->state != EXEC_QUEUED || rec->ready_ms > 0, "%s is ready since never",
            exec_label(w, rec->id));
}

/* A job is what its newest execution made of it; one that is cancelled may still be stopping. */
static void check_job(struct world *w, const struct model_exec *x)
{
    enum job_state state = x->job->rec.state;
    enum job_state want = exec_is_final(x->rec.state) ? job_state_after(x->rec.state)
                          : state == JOB_PAUSED       ? JOB_PAUSED
                                                      : JOB_ACTIVE;
    if (model_recurs(x)) {
        slots_check(w, x->job);
        return;
    }
    bool stopping = x->rec.state == EXEC_STOPPING && state == JOB_CANCELLED;
    PROMISE(w, x->job->rec.last_exec != x->rec.id || state == want || stopping,
            "%s is %.*s, and its execution %.*s", job_label(w, x->rec.job_id),
            STR_ARG(job_state_name(state)), STR_ARG(exec_state_name(x->rec.state)));
}

static void check_changed(struct world *w, struct model_exec *x, const struct turn_view *view)
{
    check_times(w, &x->rec);
    if (x->rec.origin != ORIGIN_PING)
        failures_check(w, x);
    PROMISE(w, x->rec.attempts == attempts_of(x),
            "%s says %" PRIu32 " attempts where %" PRIu32 " count", exec_label(w, x->rec.id),
            x->rec.attempts, attempts_of(x));
    if (model_was_granted(&w->model, x)) {
        check_order(w, x, view);
        limits_granted(w, x, view);
        breakers_granted(w, x, view);
    }
    if (x->token_before == 0 && !exec_is_final(x->rec.state))
        check_name(w, x);
    duplicates_check_unique(w, x);
    duplicates_keep_key(w, x, view);
    check_job(w, x);
}

/* However a command came here, forwarded or not, it is acted upon once. */
static void check_deliveries(struct world *w, const struct turn_view *view)
{
    for (size_t i = 0; i < view->count; i++) {
        struct call *call = CONTAINER_OF(view->commands[i], struct call, cmd);
        enum command_kind kind = call->cmd.kind;
        bool makes = kind == CMD_TRIGGER_JOB || kind == CMD_RETRY_EXEC || kind == CMD_PING;
        if (!makes || call->cmd.reply.rc != RC_OK)
            continue; /* of others more than one promise speaks */
        void *this_turn = (void *)(uintptr_t)view->turn; /* which may be kept in parts */
        void *before = map_get(&w->model.applied, call->delivery);
        PROMISE(w, before == NULL || before == this_turn, "one command was acted upon twice");
        map_put(&w->model.applied, call->delivery, this_turn);
    }
}

void model_keep(struct world *w, const struct delta *delta, const struct turn_view *view)
{
    check_deliveries(w, view);
    if (view->now.wall_ms > w->model.newest_ms)
        w->model.newest_ms = view->now.wall_ms;
    if (delta_has_settings(delta))
        w->model.settings_ms = w->boot_ms;
    queues_keep(w, delta, view);
    for (size_t i = 0; i < delta->claim_count; i++)
        duplicates_claim(w, &delta->claims[i]);
    for (size_t i = 0; i < delta->job_count; i++)
        keep_job(w, &delta->jobs[i], view);
    for (size_t i = 0; i < delta->calendar_count; i++)
        calendars_keep(w, &delta->calendars[i]);
    for (size_t i = 0; i < delta->queue_count; i++)
        limits_keep_queue(w, &delta->queues[i], view);
    for (size_t i = 0; i < delta->team_count; i++)
        limits_keep_team(w, &delta->teams[i]);
    for (size_t i = 0; i < delta->exec_count; i++)
        keep_exec(w, &delta->execs[i], view);
    for (size_t i = 0; i < delta->attempt_count; i++)
        keep_attempt(w, &delta->attempts[i], view);
    slas_keep(w, delta);
    for (size_t i = 0; i < delta->breaker_count; i++)
        breakers_keep(w, &delta->breakers[i], view);
    for (size_t i = 0; i < delta->worker_count; i++)
        keep_worker(w, &delta->workers[i]);
    for (size_t i = 0; i < delta->exec_count; i++)
        check_changed(w, model_exec(&w->model, delta->execs[i].exec.id), view);
    for (size_t i = 0; i < delta->job_count; i++) {
        struct model_job *job = model_job(&w->model, delta->jobs[i].job.id);
        if (delta->jobs[i].redefined) {
            edits_check(w, job, view);
            breakers_edited(w, job);
        }
        if (job->schedule != NULL)
            slots_check(w, job);
    }
    model_check_waits(w);
    alerts_keep(w, delta, view);
    tally_check(w, delta);
    letters_keep(w, delta, view);
    for (size_t i = 0; i < delta->forgotten_count; i++)
        letters_forget(w, delta->forgotten[i], view);
}

/* ---- what is not kept by the store: until when a lease holds */

static void renew(struct world *w, uint64_t worker_id, uint64_t exec_id, uint64_t token,
                  const struct turn_view *view)
{
    struct model_exec *x = model_exec(&w->model, exec_id);
    int64_t until_ms = view->now.boot_ms + w->scene.engine.lease_ms;
    if (x != NULL && partition_has(&view->owned, exec_id) && exec_is_leased(x->rec.state) &&
        x->rec.worker_id == worker_id && x->rec.token == token && x->lease_until_ms < until_ms &&
        !(x->times_out_ms != 0 && view->now.boot_ms >= x->times_out_ms))
        x->lease_until_ms = until_ms;
}

void model_turn_done(struct world *w, const struct turn_view *view, const struct list *done)
{
    for (size_t i = 0; i < view->count; i++) {
        const struct command *cmd = view->commands[i];
        if (cmd->kind != CMD_POLL || cmd->reply.rc != RC_OK)
            continue;
        for (size_t j = 0; j < cmd->poll.held_count; j++)
            renew(w, cmd->poll.worker_id, cmd->poll.held[j].exec_id, cmd->poll.held[j].token, view);
    }
    LIST_EACH(done, node)
    {
        const struct command *cmd = CONTAINER_OF(node, struct command, node);
        for (size_t j = 0; cmd->kind == CMD_POLL && j < cmd->reply.poll.lease_count; j++) {
            const struct poll_lease *lease = &cmd->reply.poll.leases[j];
            struct model_exec *x = model_exec(&w->model, lease->exec_id);
            if (x == NULL)
                continue;               /* promise_answers will complain */
            failures_begin(w, x, view); /* it is sent, perhaps again: it cannot have begun before */
            renew(w, cmd->poll.worker_id, lease->exec_id, lease->token, view);
            x->sent_seq = cmd->poll.seq;
        }
    }
}

/* Only of what is its own still: a new owner waits for what the old one said by a rule of its own. */
void model_kept(struct world *w, const struct command *poll)
{
    const struct poll_reply *reply = &poll->reply.poll;
    struct turn_view now = {.now = world_now(w), .owned = {.count = CLUSTER_PARTITIONS}};
    PROMISE(w,
            reply->provisional && reply->owned.bits == 0 && !reply->drain &&
                reply->stop_count + reply->lease_count + reply->verdict_count == 0,
            "a server that may not decide says more than what it keeps");
    for (uint32_t i = 0; i < CLUSTER_PARTITIONS; i++) {
        if (reply->epochs[i] == w->model.epochs[i])
            now.owned.bits |= UINT64_C(1) << i;
    }
    for (size_t i = 0; i < reply->kept_count; i++)
        renew(w, poll->poll.worker_id, reply->kept[i].exec_id, reply->kept[i].token, &now);
}

void model_owned(struct world *w, const struct ownership *own)
{
    for (uint32_t i = 0; i < own->partitions; i++) {
        uint64_t *newest = &w->model.epochs[i];
        if (own->epochs[i] == 0)
            continue;
        PROMISE(w, own->epochs[i] >= *newest, "an epoch did not grow");
        *newest = own->epochs[i];
    }
}

bool model_is_owner(const struct world *w, const struct ownership *own)
{
    for (uint32_t i = 0; i < own->partitions; i++) {
        if (own->epochs[i] != 0 && own->epochs[i] != w->model.epochs[i])
            return false;
    }
    return true;
}

static uint64_t epoch_of(const struct world *w, uint64_t id)
{
    return w->model.epochs[partition_of(CLUSTER_PARTITIONS, id)];
}

void model_reloaded(struct world *w, const struct partition_set *owned, int64_t began_ms)
{
    w->model.loads++;
    clocks_reloaded(w);
    w->model.loaded_ms = w->boot_ms;
    for (size_t i = 0; i < w->model.execs.len; i++) {
        struct model_exec *x = w->model.execs.items[i];
        if (!exec_is_leased(x->rec.state) || !partition_has(owned, x->rec.id))
            continue;
        saw(SAW_RESTARTED_WITH_LEASES);
        int64_t until_ms = began_ms + w->scene.engine.lease_ms;
        if (!w->cluster || x->lease_epoch != epoch_of(w, x->rec.id)) /* else it goes on as it was */
            x->lease_until_ms = until_ms;
        x->lease_epoch = epoch_of(w, x->rec.id);
        failures_reloaded(w, x);
    }
}
