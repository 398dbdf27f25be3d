/* load.c - between memory and the store: loading at the start, taking over single records when a
 * command needs them, and the horizon behind which executions stay in the store. */
#include "engine/core/load.h"
#include "base/plant.h"
#include "base/when.h"
#include "engine/core/exec.h"
#include "engine/core/mail.h"
#include "engine/core/model.h"
#include "engine/core/operations.h"
#include "engine/core/retention.h"
#include "engine/core/undo.h"
#include "engine/depend/depends_slots.h"
#include "engine/ready/breakers.h"
#include "engine/ready/cordon.h"
#include "engine/ready/forget.h"
#include "engine/ready/limit_remote.h"
#include "engine/ready/silence.h"
#include "engine/ready/workers.h"
#include "engine/submit/definition.h"
#include "engine/time/calendars.h"
#include "engine/time/slots.h"
#include "engine/time/steps.h"
#include "engine/trace/traces.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A stored job has a right to its lane: lanes_max is for new jobs. Its record comes
 * without the payload, and half a definition must not be given to a worker: none of it is kept, and
 * the turn fetches the whole when a lease goes out. */
static struct job *take_job(struct engine *e, const struct job_rec *rec, struct arena *arena,
                            struct err *err)
{
    struct rules rules;
    if (e->options.read_rules(e->options.rules_arg, rec, arena, &rules, err) != RC_OK)
        return NULL;
    if (rules.queue.len > SPEC_NAME_MAX || rules.handler.len > SPEC_NAME_MAX ||
        rules.breaker.name.len > SPEC_NAME_MAX || rules.priority < 0 ||
        rules.priority > SPEC_PRIORITY_MAX) {
        err_set(err, RC_CORRUPT, "%s: its rules make no sense", ID_TEXT(ID_JOB, rec->id));
        return NULL;
    }
    struct job_rec brief = *rec;
    if (!PLANTED(half_a_definition))
        brief.spec = brief.payload = (struct str){0};
    return job_new(e, &brief, definition_new(e, &brief, &rules, SIZE_MAX));
}

/* NULL, or what is wrong. */
static const char *find_fault(const struct exec_rec *rec, const struct job *job)
{
    if (job == NULL)
        return "its job is missing";
    if (rec->state == EXEC_NONE || exec_is_final(rec->state))
        return "it is not in an unfinished state";
    if (exec_is_leased(rec->state) && (rec->attempts == 0 || rec->token == 0))
        return "it is leased, but never was";
    if (rec->attempts == UINT32_MAX || rec->token >= INT64_MAX)
        return "no lease can follow those that it had";
    if (rec->due_ms < 0 || rec->ready_ms < 0 || rec->ready_ms > WHEN_MAX_MS)
        return "its times make no sense";
    if (rec->origin == ORIGIN_SLOT && job->v.def->schedule == NULL)
        return "it is the slot of a job that has no schedule";
    return NULL;
}

/* A bug on purpose: slots that were missed while no server ran are forgotten. */
static void move_to_clock(const struct engine *e, struct exec *x)
{
    struct slot slot;
    if (x->v.due_ms > e->now_ms || !schedule_after(x->job->v.def->schedule, e->now_ms, &slot))
        return;
    x->v.slot_ms = slot.at_ms;
    x->v.nominal_ms = slot.nominal_ms;
    x->v.due_ms = schedule_due_ms(x->job->v.def->schedule, &slot);
}

/* Renewals are kept in memory only, so a loaded lease gets a full term: its worker may have been
 * heard a moment before the server died. An owner that fell silent may go on renewing it for longer
 * than that, where nobody sees it. But its attempt goes on being as old as it is, by the wall
 * clock; one that was set since can make it older, never younger than it was at its start. */
static void resume_term(const struct engine *e, struct exec *x)
{
    int64_t limit_ms = exec_limit_ms(e, x);
    int64_t age_ms = e->now_ms - x->v.started_ms;
    int64_t term_ms =
        PLANTED(takeover_without_term) ? e->options.lease_ms / 4 : e->options.lease_ms;
    int64_t unsure_ms = e->tenure.unsure_until_ms[partition_of(e->owned.count, x->id)];
    x->v.lease.ends_ms = e->boot_ms + term_ms;
    x->v.lease.unsure = unsure_ms > x->v.lease.ends_ms;
    if (x->v.lease.unsure)
        x->v.lease.ends_ms = unsure_ms;
    if (limit_ms == 0 || PLANTED(timeout_lost_at_restart))
        return;
    int64_t left_ms = limit_ms - (age_ms > 0 ? age_ms : 0);
    x->v.times_out_ms = e->boot_ms + left_ms > 0 ? e->boot_ms + left_ms : 1;
}

/* A bug on purpose: that a ping was missed is forgotten. */
static bool told_again(const struct exec_rec *rec)
{
    return PLANTED(silence_told_again) && rec->origin == ORIGIN_PING;
}

static struct exec *take_exec(struct engine *e, const struct exec_rec *rec, struct err *err)
{
    struct job *job = map_get(&e->jobs, rec->job_id);
    const char *fault = find_fault(rec, job);
    if (fault != NULL) {
        err_set(err, RC_CORRUPT, "%s: %s", ID_TEXT(ID_EXEC, rec->id), fault);
        return NULL;
    }
    struct exec *x = exec_new(e, rec->id, job);
    x->retry_of = rec->retry_of;
    x->first = rec->first;
    x->own_payload = rec->own_payload && !PLANTED(own_payload_forgotten);
    x->origin = rec->origin;
    if (!PLANTED(trace_lost_at_restart))
        trace_keep(e, x, rec->trace);
    x->created_ms = rec->created_ms;
    x->v = (struct exec_values){
        .state = rec->state,
        .attempts = rec->attempts,
        .lost = (uint16_t)(rec->lost < UINT16_MAX ? rec->lost : UINT16_MAX),
        .returned = (uint16_t)(rec->returned < UINT16_MAX ? rec->returned : UINT16_MAX),
        .unseen = (uint16_t)(PLANTED(unseen_forgotten)  ? 0
                             : rec->unseen < UINT16_MAX ? rec->unseen
                                                        : UINT16_MAX),
        .proven = rec->proven,
        .slot_ms = rec->slot_ms,
        .nominal_ms = rec->nominal_ms,
        .late = rec->late && !PLANTED(late_told_again) && !told_again(rec),
        .effect_done = rec->effect_done,
        .due_ms = rec->due_ms,
        .ready_ms = rec->ready_ms,
        .started_ms = rec->started_ms,
        .sla_since_ms = rec->sla_since_ms,
        .sla_extra_ms = rec->sla_extra_ms,
        .sla_marks = PLANTED(sla_fired_twice_after_restart) || told_again(rec)
                         ? 0
                         : (uint8_t)(rec->sla_marks & SLA_MARKS),
        .granted = ++e->newest.grant,
        .lease = {.worker_id = rec->worker_id,
                  .token = rec->token,
                  .held = exec_is_leased(rec->state),
                  .inherited = true},
    };
    if (PLANTED(slot_lost_at_restart) && job->v.def->schedule != NULL &&
        rec->state == EXEC_SCHEDULED)
        move_to_clock(e, x);
    if (exec_is_leased(rec->state)) {
        resume_term(e, x);
        permits_inherit(e, x);
        if (rec->recharged)
            charge_keep(e, x, rec->charged);
    }
    if (rec->ready_ms > e->newest_ready_ms)
        e->newest_ready_ms = rec->ready_ms;
    e->clock.v.mend |= rec->state == EXEC_QUEUED && rec->ready_ms > e->now_ms;
    exec_place(e, x);
    return x;
}

static int64_t near_ms(const struct engine *e)
{
    return e->options.near_ms < e->options.horizon_ms ? e->options.near_ms : e->options.horizon_ms;
}

int64_t engine_load_begin(struct engine *e, struct moment now, struct partition_set owned,
                          uint64_t id_floor, uint64_t turn_floor)
{
    e->owned = e->ready.limits.owned = owned;
    e->shared = owned.count > 1;
    if (owned.bits != 0)
        e->bucket = partition_next_bucket(&owned, ID_BUCKETS - 1);
    steps_load(e, now, id_floor);
    e->now_ms = now.wall_ms;
    e->boot_ms = now.boot_ms;
    e->loaded = now;
    for (size_t i = 0; i < PARTITIONS_MAX; i++)
        e->tenure.alive_ms[i] = now.boot_ms;
    e->newest.turn = turn_floor;
    e->zones.resettle = true;
    e->retain.wake_ms = now.boot_ms; /* the first pass begins at once */
    e->inbox.post = (struct post){.told = e->options.mail_ms > 0};
    id_raise_floor(&e->ids, id_floor);
    /* Only what is near keeps a server from being ready; turns read on from here, page by page. */
    e->horizon = (struct horizon){now.wall_ms + near_ms(e), UINT64_MAX};
    return e->horizon.due_ms;
}

/* Tells this engine from others: those of another process have other epochs, and those that this
 * process had before were loaded at another turn or moment. */
static uint64_t make_voice(const struct engine *e)
{
    uint64_t parts[PARTITIONS_MAX + 2];
    memcpy(parts, e->tenure.epochs, sizeof e->tenure.epochs);
    parts[PARTITIONS_MAX] = e->newest.turn;
    parts[PARTITIONS_MAX + 1] = (uint64_t)e->loaded.boot_ms;
    return str_hash(str_of((const char *)parts, sizeof parts));
}

void engine_load_terms(struct engine *e, const uint64_t *epochs, const int64_t *unsure_until_ms,
                       const int64_t *alive_ms)
{
    e->shared = true;
    for (size_t i = 0; i < e->owned.count; i++) {
        e->tenure.epochs[i] = epochs[i];
        e->tenure.unsure_until_ms[i] = PLANTED(silence_not_waited_out) ? 0 : unsure_until_ms[i];
        if (alive_ms[i] != 0)
            e->tenure.alive_ms[i] = alive_ms[i];
    }
    e->voice = make_voice(e);
}

void engine_load_tokens(struct engine *e, uint64_t token_floor)
{
    e->token_floor = token_floor;
}

void engine_note_lost(struct engine *e, uint64_t turns)
{
    e->lost_turns = turns;
}

uint64_t engine_lost_turns(const struct engine *e)
{
    return e->lost_turns;
}

enum rc engine_load_job(struct engine *e, const struct job_rec *job, struct err *err)
{
    assert(!in_turn(e));
    CLEANUP(arena_free) struct arena scratch = {0};
    if (map_get(&e->jobs, job->id) != NULL)
        return RC_OK;
    return take_job(e, job, &scratch, err) == NULL ? err->rc : RC_OK;
}

enum rc engine_load_exec(struct engine *e, const struct exec_rec *exec, struct err *err)
{
    assert(!in_turn(e));
    if (map_get(&e->execs, exec->id) != NULL)
        return err_set(err, RC_CORRUPT, "%s: it is there twice", ID_TEXT(ID_EXEC, exec->id));
    e->inbox.post.announce |= exec->state == EXEC_QUEUED;
    if (take_exec(e, exec, err) != NULL)
        return RC_OK;
    struct job *job = map_get(&e->jobs, exec->job_id);
    if (job != NULL && job->exec_count == 0)
        job_free(e, job);
    return err->rc;
}

void engine_load_worker(struct engine *e, const struct worker_rec *worker)
{
    assert(!in_turn(e));
    struct worker *former = map_get(&e->workers, worker->replaces);
    worker_place(e, worker_new(e, worker));
    if (former != NULL && former->v.cordon != NULL)
        cordon_passed_on(e, former);
}

void engine_load_counter(struct engine *e, const struct counter *counter)
{
    assert(!in_turn(e));
    bool nameless = counter->queue.len == 0;
    if (counter->value == 0)
        return; /* of something that was, and is not */
    struct queue *q = nameless ? &e->queues.forgotten : queue_of(e, counter->queue);
    if (counter->kind == COUNTER_JOBS && counter->state < JOB_STATES)
        q->now.jobs[counter->state] = counter->value;
    else if (counter->kind == COUNTER_EXECS && counter->state < EXEC_STATES)
        q->now.execs[counter->state] = counter->value;
    else if (counter->kind == COUNTER_LETTERS && counter->state < EXEC_STATES)
        q->now.letters[counter->state] = counter->value;
    q->known = true;
    queue_look(e, q);
}

struct job *adopt_job(struct engine *e, const struct job_rec *rec, struct err *err)
{
    struct job *job = map_get(&e->jobs, rec->id);
    if (job != NULL)
        return job;
    job = take_job(e, rec, e->turn.arena, err);
    if (job != NULL)
        touch_new(touch_job(e, job), true);
    return job;
}

struct exec *adopt_exec(struct engine *e, const struct exec_rec *rec, struct err *err)
{
    struct exec *x = map_get(&e->execs, rec->id);
    if (x != NULL)
        return x;
    x = take_exec(e, rec, err);
    if (x != NULL) {
        touch_new(touch_exec(e, x), true);
        slot_resettle(e, x);
    }
    return x;
}

bool beyond_horizon(const struct engine *e, const struct exec *x)
{
    if (!exec_is_waiting(x->v.state))
        return false;
    if (x->v.state == EXEC_RETRYING && x->origin != ORIGIN_ONCE)
        return false; /* a later slot must see that this one is not over */
    if (exec_is_held(x))
        return false; /* a command that changes a calendar must find it */
    return x->v.due_ms != e->horizon.due_ms ? x->v.due_ms > e->horizon.due_ms
                                            : x->id > e->horizon.id;
}

static bool has_enough(const struct engine *e)
{
    return e->dues.len > e->options.waiting_max / 2;
}

/* How far ahead memory reaches when there is more than enough in it: what is near, and as much
 * behind that as spares a look in every turn. */
static int64_t reach_ms(const struct engine *e)
{
    return near_ms(e) + near_ms(e) / 8 + 1;
}

/* Half a horizon ahead is soon enough to look, and late enough to look rarely. When there is enough
 * in memory, it can wait until what is not there comes near. */
static int64_t next_look_ms(const struct engine *e)
{
    return e->horizon.due_ms - (has_enough(e) ? near_ms(e) : e->options.horizon_ms / 2);
}

void ask_due(struct engine *e, struct question_list *list)
{
    depends_ask_slots(e, list);
    if (e->now_ms < next_look_ms(e) || e->clock.v.shifting)
        return;
    e->turn.due_question = ARENA_NEW(e->turn.arena, struct question);
    *e->turn.due_question = (struct question){
        .kind = ASK_DUE,
        .after_ms = e->horizon.due_ms,
        .after_id = e->horizon.id,
        .until_ms = e->now_ms + (has_enough(e) ? reach_ms(e) : e->options.horizon_ms),
        .limit = e->options.load_max,
    };
    *VEC_PUSH(e->turn.arena, list) = e->turn.due_question;
}

/* Executions that now lie beyond leave memory with this turn's commit, since they were touched. */
static void draw_in_horizon(struct engine *e, int64_t until_ms)
{
    e->horizon = (struct horizon){until_ms, UINT64_MAX};
    MAP_EACH(&e->execs, slot)
    {
        if (beyond_horizon(e, slot->value))
            touch_exec(e, slot->value);
    }
}

static int by_key(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

/* A moment that about half of what waits is due by; a thousand of them are as good as all. */
static int64_t middle_ms(struct engine *e)
{
    enum { SAMPLES = 1000 };
    uint32_t step = e->dues.len / SAMPLES + 1;
    uint32_t count = 0;
    uint64_t *keys = ARENA_ARRAY(e->turn.arena, uint64_t, SAMPLES);
    for (uint32_t i = 0; i < e->dues.len; i += step)
        keys[count++] = e->dues.items[i].key;
    qsort(keys, count, sizeof *keys, by_key);
    return (int64_t)keys[count / 2];
}

/* Too much waits in memory: the later half of it goes, as far as it is not near. Not what a turn
 * has just read on purpose: it would be read again at once. */
static void make_room(struct engine *e)
{
    if (e->horizon.due_ms <= e->now_ms + reach_ms(e))
        return;
    int64_t until_ms = middle_ms(e);
    int64_t nearest_ms = e->now_ms + near_ms(e);
    if (until_ms < nearest_ms)
        until_ms = nearest_ms;
    if (until_ms < e->horizon.due_ms)
        draw_in_horizon(e, until_ms);
}

void adopt_due(struct engine *e)
{
    const struct question *q = e->turn.due_question;
    struct err err; /* a record that makes no sense was reported when it was read; leave it */
    if (e->horizon.due_ms > e->now_ms + 2 * e->options.horizon_ms) /* the clock was set back far */
        draw_in_horizon(e, e->now_ms + e->options.horizon_ms);
    else if (q == NULL &&
             e->dues.len > e->options.waiting_max) /* an answer begins at the horizon */
        make_room(e);
    if (q == NULL)
        return;
    for (size_t i = 0; i < q->answer.job_count; i++)
        adopt_job(e, &q->answer.jobs[i], &err);
    for (size_t i = 0; i < q->answer.live_count; i++)
        adopt_exec(e, &q->answer.live[i], &err);
    if (q->answer.more && q->answer.live_count > 0 && !PLANTED(horizon_loses_timer)) {
        const struct exec_rec *last = &q->answer.live[q->answer.live_count - 1];
        e->horizon = (struct horizon){last->due_ms, last->id};
    } else {
        e->horizon = (struct horizon){q->until_ms, UINT64_MAX};
    }
}

static int64_t sooner_ms(int64_t wait_ms, const struct heap *heap, int64_t now_ms)
{
    const struct heap_item *first = heap_min(heap);
    return first != NULL && (int64_t)first->key - now_ms < wait_ms ? (int64_t)first->key - now_ms
                                                                   : wait_ms;
}

int64_t engine_wait_ms(const struct engine *e, struct moment now)
{
    if (e->zones.count > 0 || e->depends.asking.len > 0 || e->pacing.len > 0 ||
        steps_want_turn(e, now))
        return 0;
    int64_t wait_ms = next_look_ms(e) - now.wall_ms;
    if (!now.unsure) {
        wait_ms = sooner_ms(wait_ms, &e->dues, now.wall_ms);
        wait_ms = sooner_ms(wait_ms, &e->deadlines, now.wall_ms);
    }
    wait_ms = sooner_ms(wait_ms, &e->terms, now.boot_ms);
    if (silence_turn_ms(e) != INT64_MAX && silence_turn_ms(e) - now.boot_ms < wait_ms)
        wait_ms = silence_turn_ms(e) - now.boot_ms;
    wait_ms = sooner_ms(wait_ms, &e->ready.limits.wakes, now.boot_ms);
    wait_ms = sooner_ms(wait_ms, &e->ready.breakers.wakes, now.boot_ms);
    if (e->alerts.look_ms > 0 && e->alerts.look_ms - now.boot_ms < wait_ms)
        wait_ms = e->alerts.look_ms - now.boot_ms;
    int64_t queues_ms = queues_wait_ms(e, now.boot_ms);
    if (queues_ms < wait_ms)
        wait_ms = queues_ms;
    int64_t operations_ms = operations_wait_ms(e, now.boot_ms);
    int64_t retain_ms = retain_wait_ms(e, now);
    int64_t mail_ms = mail_wait_ms(e, now.boot_ms);
    wait_ms = mail_ms < wait_ms ? mail_ms : wait_ms;
    wait_ms = operations_ms < wait_ms ? operations_ms : wait_ms;
    wait_ms = retain_ms < wait_ms ? retain_ms : wait_ms;
    if (calendars_want_turn(e))
        return 0;
    return wait_ms > 0 ? wait_ms : 0;
}
