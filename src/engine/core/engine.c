/* engine.c - the frame of a turn, and what can only be looked at. */
#include "engine/core/engine.h"
#include "base/mem.h"
#include "base/plant.h"
#include "engine/core/alerts.h"
#include "engine/core/commands.h"
#include "engine/core/exec.h"
#include "engine/core/jobs.h"
#include "engine/core/left.h"
#include "engine/core/letters.h"
#include "engine/core/load.h"
#include "engine/core/mail.h"
#include "engine/core/make_delta.h"
#include "engine/core/model.h"
#include "engine/core/operations.h"
#include "engine/core/retention.h"
#include "engine/depend/depends.h"
#include "engine/depend/depends_slots.h"
#include "engine/estimate/estimate.h"
#include "engine/estimate/forecast.h"
#include "engine/explain/explain.h"
#include "engine/explain/waits.h"
#include "engine/ready/breakers.h"
#include "engine/ready/cordon.h"
#include "engine/ready/forget.h"
#include "engine/ready/grant.h"
#include "engine/ready/limit_remote.h"
#include "engine/ready/queues.h"
#include "engine/ready/ready.h"
#include "engine/ready/registration.h"
#include "engine/ready/report.h"
#include "engine/ready/silence.h"
#include "engine/ready/teams.h"
#include "engine/ready/worker_class.h"
#include "engine/ready/worker_views.h"
#include "engine/ready/workers.h"
#include "engine/submit/edit.h"
#include "engine/submit/idempotency.h"
#include "engine/submit/submit.h"
#include "engine/time/calendars.h"
#include "engine/time/deadlines.h"
#include "engine/time/expect.h"
#include "engine/time/sla.h"
#include "engine/time/slots.h"
#include "engine/time/slow_runs.h"
#include "engine/time/steps.h"
#include "engine/time/tzdata.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct engine *engine_new(const struct engine_options *options)
{
    assert(options->read_rules != NULL && options->lease_ms > 0 && options->horizon_ms > 1 &&
           options->park_ms >= 0 && options->forget_ms > 0 && options->point_ms > 0);
    assert(options->lost_max > 0 && options->kill_grace_ms >= 0);
    assert(options->due_max > 0 && options->load_max > 0 && options->operation_step_max > 0 &&
           options->retain_rows_max > 0); /* or time would stand still */
    struct engine *e = MEM_NEW(struct engine);
    e->options = *options;
    ready_init(&e->ready, options->point_ms, &options->breaker);
    worker_classes_init(&e->worker_classes);
    list_init(&e->operations.list);
    list_init(&e->queues.idle);
    list_init(&e->queues.buried);
    list_init(&e->queues.forgotten.lanes);
    list_init(&e->orphans);
    return e;
}

void engine_free(struct engine *e)
{
    if (e == NULL)
        return;
    homes_free(e);
    left_free(&e->inbox.left);
    MAP_EACH(&e->execs, slot) free(slot->value);
    MAP_EACH(&e->charges, slot) free(slot->value);
    MAP_EACH(&e->traces, slot) free(slot->value);
    MAP_EACH(&e->depends.upstreams, slot) upstream_free(slot->value);
    MAP_EACH(&e->depends.rulebooks, slot) rulebook_free(slot->value);
    for (size_t i = 0; i < e->depends.waiters.cap; i++)
        free(e->depends.waiters.slots[i].value);
    strmap_free(&e->depends.waiters);
    MAP_EACH(&e->jobs, slot)
    {
        struct job *job = slot->value;
        for (struct list_node *node; (node = list_pop_front(&job->edges)) != NULL;)
            free(CONTAINER_OF(node, struct edge, sibling));
        if (--job->v.def->users == 0) {
            free(job->v.def->rules.calendars);
            free(job->v.def->rules.unique);
            free(job->v.def);
        }
        free(job);
    }
    MAP_EACH(&e->workers, slot)
    {
        free(((struct worker *)slot->value)->v.cordon);
        free(slot->value);
    }
    operations_free(e);
    queues_bury(e);
    for (size_t i = 0; i < e->queues.by_name.cap; i++)
        free(e->queues.by_name.slots[i].value);
    for (size_t i = 0; i < e->names.cap; i++)
        free(e->names.slots[i].value);
    calendars_free(e);
    map_free(&e->execs);
    map_free(&e->charges);
    tally_keys_free(&e->tally_keys);
    map_free(&e->traces);
    map_free(&e->jobs);
    map_free(&e->workers);
    map_free(&e->depends.upstreams);
    map_free(&e->depends.rulebooks);
    strmap_free(&e->queues.by_name);
    strmap_free(&e->names);
    strmap_free(&e->definitions);
    free(e->zones.news);
    strmap_free(&e->uniques);
    ready_free(&e->ready);
    worker_classes_free(&e->worker_classes);
    forecast_free(e->forecast);
    heap_free(&e->dues);
    heap_free(&e->deadlines);
    heap_free(&e->depends.asking);
    heap_free(&e->terms);
    heap_free(&e->pacing);
    alerts_free(&e->alerts);
    silences_free(&e->silences);
    heap_free(&e->calendars.held);
    free(e->clock.shifts);
    free(e);
}

void engine_begin(struct engine *e, struct moment now, struct arena *arena)
{
    assert(arena != NULL);
    assert(!in_turn(e)); /* the last turn was committed or undone */
    assert(now.boot_ms >= e->boot_ms);
    silence_begin(e, now.boot_ms);
    e->moment = now;
    e->now_ms = now.wall_ms;
    e->boot_ms = now.boot_ms;
    e->newest.begun++;
    queues_bury(e);
    e->inbox.looked = 0;
    e->inbox.refused = false;
    e->turn = (struct engine_turn){
        .arena = arena,
        .before = {.clock = e->clock.v,
                   .newest_ready_ms = e->newest_ready_ms,
                   .horizon = e->horizon,
                   .bucket = e->bucket,
                   .retain = e->retain,
                   .post = e->inbox.post,
                   .calendar_changes = e->calendars.changes,
                   .pace = e->operations.pace},
    };
    list_init(&e->turn.open);
    list_init(&e->turn.done);
    list_init(&e->turn.changed_queues);
}

/* ---- commands */

void command_done(struct engine *e, struct command *cmd)
{
    if (!cmd->own)
        list_push_back(&e->turn.done, &cmd->node);
}

enum rc command_fail(struct engine *e, struct command *cmd, enum rc rc, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cmd->reply.rc = err_vset(&cmd->reply.err, rc, format, args);
    va_end(args);
    command_done(e, cmd);
    return rc;
}

static size_t submit_questions_max(const struct command *cmd)
{
    size_t max = cmd->submit.count;
    for (size_t i = 0; i < cmd->submit.count; i++)
        max += cmd->submit.items[i].depends_count;
    return max;
}

struct question *ask_apart(struct engine *e, struct command *cmd, struct question_list *list)
{
    struct question *q = ARENA_NEW(cmd->arena, struct question);
    *VEC_PUSH(e->turn.arena, list) = q;
    return q;
}

struct question *command_ask(struct engine *e, struct command *cmd, struct question_list *list)
{
    size_t max = cmd->kind == CMD_SUBMIT ? submit_questions_max(cmd)
                 : cmd->kind == CMD_POLL ? cmd->poll.result_count + 1
                                         : 4; /* see ask_explain */
    if (cmd->questions == NULL)
        cmd->questions = ARENA_ARRAY(cmd->arena, struct question, max);
    assert(cmd->question_count < max);
    struct question *q = &cmd->questions[cmd->question_count++];
    *VEC_PUSH(e->turn.arena, list) = q;
    return q;
}

void engine_ask_own(struct engine *e, unsigned round, struct question_list *list)
{
    assert(in_turn(e) && !e->turn.sealed);
    if (round == 0) {
        steps_ask(e, list);
        ask_due(e, list);
        retain_ask(e, list);
        slow_runs_ask(e, list);
    }
    mail_ask(e, round, list);
    operations_ask(e, round, list);
}

/* Zeros are left out, but the queue itself is told once. */
static void count_queue(struct command *cmd, const struct queue *q, struct counter *counters,
                        size_t *len)
{
    struct str name = arena_str(cmd->arena, q->name);
    for (uint32_t i = 1; i < JOB_STATES; i++) {
        if (q->now.jobs[i] == 0 && i != JOB_ACTIVE)
            continue;
        counters[(*len)++] = (struct counter){COUNTER_JOBS, name, i, q->now.jobs[i], 0};
    }
    for (uint32_t i = 1; i < EXEC_STATES; i++) {
        if (q->now.execs[i] != 0)
            counters[(*len)++] = (struct counter){COUNTER_EXECS, name, i, q->now.execs[i], 0};
    }
    for (uint32_t i = 1; i < EXEC_STATES; i++) {
        if (q->now.letters[i] != 0)
            counters[(*len)++] = (struct counter){COUNTER_LETTERS, name, i, q->now.letters[i], 0};
    }
}

static void note_age(const struct engine *e, struct command *cmd, const struct queue *q,
                     struct queue_age *ages, size_t *len)
{
    int64_t waited_ms = queue_head_waited_ms(q, e->now_ms);
    if (waited_ms > 0)
        ages[(*len)++] = (struct queue_age){arena_str(cmd->arena, q->name), waited_ms};
}

static void note_limits(const struct engine *e, struct command *cmd)
{
    struct stats_view *stats = &cmd->reply.stats;
    struct queue_limit *limits =
        ARENA_ARRAY(cmd->arena, struct queue_limit, e->queues.by_name.len + 1);
    for (size_t i = 0; i < e->queues.by_name.cap; i++) {
        const struct queue *q = e->queues.by_name.slots[i].value;
        if (q != NULL && q->v.concurrency > 0)
            limits[stats->limit_count++] =
                (struct queue_limit){arena_str(cmd->arena, q->name), q->v.concurrency};
    }
    stats->limits = limits;
}

static void note_slots(struct engine *e, struct command *cmd)
{
    const struct strmap *classes = &e->worker_classes.by_key;
    struct stats_view *stats = &cmd->reply.stats;
    struct served_slots *served = ARENA_ARRAY(cmd->arena, struct served_slots, classes->len + 1);
    estimate_slots(e);
    for (size_t i = 0; i < classes->cap; i++) {
        const struct worker_class *class = classes->slots[i].value;
        if (class != NULL && class->slots > 0)
            served[stats->served_count++] =
                (struct served_slots){arena_str(cmd->arena, class->queues), class->slots};
    }
    stats->served = served;
}

static void decide_stats(struct engine *e, struct command *cmd)
{
    struct stats_view *stats = &cmd->reply.stats;
    struct counter *counters = ARENA_ARRAY(
        cmd->arena, struct counter, (e->queues.by_name.len + 1) * (JOB_STATES + 2 * EXEC_STATES));
    struct queue_age *ages = ARENA_ARRAY(cmd->arena, struct queue_age, e->queues.by_name.len + 1);
    *stats = (struct stats_view){.counters = counters,
                                 .ages = ages,
                                 .partitions = e->owned.bits,
                                 .in_memory = e->execs.len,
                                 .mail_waiting = left_waiting(&e->inbox.left),
                                 .mail_unknown = e->inbox.left.strange};
    for (size_t i = 0; i < e->queues.by_name.cap; i++) {
        const struct queue *q = e->queues.by_name.slots[i].value;
        if (q == NULL)
            continue;
        count_queue(cmd, q, counters, &stats->counter_count);
        note_age(e, cmd, q, ages, &stats->age_count);
    }
    count_queue(cmd, &e->queues.forgotten, counters, &stats->counter_count);
    note_limits(e, cmd);
    note_slots(e, cmd);
    MAP_EACH(&e->workers, slot)
    {
        const struct worker *w = slot->value;
        if (w->v.gone)
            continue;
        stats->worker_count++;
        stats->slots += w->slots;
        stats->busy += w->busy;
    }
    command_done(e, cmd);
}

/* ---- a function for each kind of command */

struct verb {
    void (*decide)(struct engine *e, struct command *cmd);
    /* Asks for what memory does not hold: round by round, or in the first one only; NULL:
     * nothing. */
    void (*ask)(struct engine *e, struct command *cmd, unsigned round, struct question_list *list);
    void (*ask_once)(struct engine *e, struct command *cmd, struct question_list *list);
};

/* clang-format off */
static const struct verb verbs[] = {
    [CMD_SUBMIT]         = {decide_submit,        ask_submit,  NULL},
    [CMD_CANCEL_JOB]     = {decide_cancel_job,    ask_target,  NULL},
    [CMD_CANCEL_EXEC]    = {decide_cancel_exec,   ask_target,  NULL},
    [CMD_RETRY_EXEC]     = {decide_retry,         ask_target,  NULL},
    [CMD_PAUSE_JOB]      = {decide_pause,         ask_target,  NULL},
    [CMD_RESUME_JOB]     = {decide_resume,        ask_target,  NULL},
    [CMD_TRIGGER_JOB]    = {decide_trigger,       ask_target,  NULL},
    [CMD_EDIT_JOB]       = {decide_edit,          ask_edit,    NULL},
    [CMD_EXTEND_SLA]     = {decide_extend_sla,    ask_target,  NULL},
    [CMD_EXPLAIN_JOB]    = {decide_explain,       ask_explain, NULL},
    [CMD_EXPLAIN_EXEC]   = {decide_explain,       ask_explain, NULL},
    [CMD_REGISTER]       = {decide_register,      NULL,        ask_of_hello},
    [CMD_POLL]           = {decide_poll,          NULL,        ask_of_poll},
    [CMD_HANGUP]         = {decide_hangup,        NULL,        NULL},
    [CMD_DRAIN]          = {decide_drain,         NULL,        NULL},
    [CMD_WORKERS]        = {decide_workers,       NULL,        NULL},
    [CMD_QUEUE]          = {decide_queue,         NULL,        ask_delete_queue},
    [CMD_QUEUES]         = {decide_queues,        NULL,        NULL},
    [CMD_TEAM]           = {decide_team,          NULL,        NULL},
    [CMD_TEAMS]          = {decide_teams,         NULL,        NULL},
    [CMD_BREAKERS]       = {decide_breakers,      NULL,        NULL},
    [CMD_RESET_BREAKER]  = {decide_reset_breaker, NULL,        NULL},
    [CMD_ALERT_SENT]     = {decide_alert_sent,    NULL,        NULL},
    [CMD_ALERT_ACK]      = {decide_alert_ack,     NULL,        ask_alert},
    [CMD_SILENCE]        = {decide_silence,       NULL,        NULL},
    [CMD_LIFT_SILENCE]   = {decide_lift_silence,  NULL,        NULL},
    [CMD_RETRY_LETTER]   = {decide_retry_letter,  ask_target,  NULL},
    [CMD_DISCARD_LETTER] = {decide_discard,       ask_target,  NULL},
    [CMD_OPERATE]        = {decide_operate,       NULL,        ask_operate},
    [CMD_CANCEL_OPERATION] = {decide_cancel_operation, NULL,   NULL},
    [CMD_CALENDAR]       = {decide_calendar,      NULL,        ask_calendar},
    [CMD_FENCE]          = {decide_fence,         NULL,        NULL},
    [CMD_STATS]          = {decide_stats,         NULL,        NULL},
    [CMD_WAITS]          = {decide_waits,         NULL,        NULL},
    [CMD_WORKER]         = {decide_worker,        NULL,        NULL},
    [CMD_CORDON]         = {decide_cordon,        NULL,        NULL},
    [CMD_UNCORDON]       = {decide_uncordon,      NULL,        NULL},
    [CMD_PING]           = {decide_ping,          ask_target,  NULL},
};
/* clang-format on */
static_assert(COUNT_OF(verbs) == COMMAND_KINDS, "each kind of command is decided");

void engine_ask(struct engine *e, struct command *cmd, unsigned round, struct question_list *list)
{
    const struct verb *verb = &verbs[cmd->kind];
    assert(in_turn(e) && !e->turn.sealed);
    if (round == 0) { /* perhaps not the first turn that tries this command */
        cmd->questions = NULL;
        cmd->question_count = 0;
        cmd->unique = (struct unique_asked){0};
        idempotency_ask(e, cmd, list);
    } else if (idempotency_was_asked(&cmd->once)) {
        return;
    }
    if (verb->ask != NULL)
        verb->ask(e, cmd, round, list);
    if (verb->ask_once != NULL && round == 0)
        verb->ask_once(e, cmd, list);
}

void engine_decide(struct engine *e, struct command *cmd)
{
    assert(in_turn(e) && !e->turn.sealed);
    assert(cmd->kind < COMMAND_KINDS && verbs[cmd->kind].decide != NULL);
    memset(&cmd->reply, 0, sizeof cmd->reply);
    cmd->reply.at_ms = e->now_ms;
    if (idempotency_begin(e, cmd)) {
        verbs[cmd->kind].decide(e, cmd);
        idempotency_end(e, cmd);
    }
}

/* ---- time */

/* The first of the heap whose moment has come, or NULL; also when the turn has had enough of
 * those. */
static struct heap_node *next_until(struct engine *e, const struct heap *heap, int64_t now_ms)
{
    const struct heap_item *first = heap_min(heap);
    if (e->turn.due_left == 0 || first == NULL || (int64_t)first->key > now_ms)
        return NULL;
    e->turn.due_left--;
    return first->node;
}

static void end_term(struct engine *e, struct term *term)
{
    if (term->kind == TERM_WORKER)
        worker_wake(e, CONTAINER_OF(term, struct worker, term));
    else if (CONTAINER_OF(term, struct exec, term)->v.state == EXEC_QUEUED)
        permits_give_back(e, CONTAINER_OF(term, struct exec, term));
    else
        silence_ended(e, CONTAINER_OF(term, struct exec, term));
}

/* Of both moments the earlier one has come. */
static void watch_due(struct engine *e, struct exec *x)
{
    int64_t sla_ms = sla_next_ms(x);
    int64_t pace_ms = pace_next_ms(e, x);
    if (pace_ms > 0 && (sla_ms == 0 || pace_ms < sla_ms))
        slow_runs_due(e, x);
    else
        sla_due(e, x);
}

void exec_come_due(struct engine *e, struct exec *x)
{
    if (x->v.state == EXEC_RUNNING)
        watch_due(e, x);
    else if (x->origin == ORIGIN_PING)
        expect_due(e, x);
    else if (x->v.state == EXEC_SCHEDULED && x->job->v.def->schedule != NULL)
        slot_due(e, x);
    else if (x->v.state != EXEC_SCHEDULED || (!calendar_stops(e, x) && !depends_begin(e, x)))
        exec_move(
            e, x,
            &(struct move){.event = EV_DUE, .actor = SERVER, .reason = STR("its time has come")});
}

/* Timers of the wall clock; none while the time is not known, or is being set. */
static void come_due(struct engine *e)
{
    struct heap_node *node;
    int64_t due_ms = PLANTED(early_by_a_second) ? e->now_ms + 1000 : e->now_ms;
    if (steps_hold_dues(e))
        return;
    while ((node = next_until(e, &e->dues, due_ms)) != NULL)
        exec_come_due(e, CONTAINER_OF(node, struct exec, due));
    while ((node = next_until(e, &e->deadlines, e->now_ms)) != NULL)
        (void)deadline_pass(e, CONTAINER_OF(node, struct exec, due));
}

void engine_tick(struct engine *e)
{
    struct heap_node *node;
    assert(in_turn(e) && !e->turn.sealed);
    e->turn.due_left = e->options.due_max;
    steps_tick(e); /* first: executions that leave memory have moved by then */
    if (!e->clock.v.shifting && !steps_pending(e))
        adopt_due(e);
    depends_answer(e);
    zones_renew(e);
    retain_step(e);
    slow_runs_answer(e);
    silence_spare(e);
    while ((node = next_until(e, &e->terms, e->boot_ms)) != NULL)
        end_term(e, CONTAINER_OF(node, struct term, node));
    while ((node = next_until(e, &e->ready.limits.wakes, e->boot_ms)) != NULL)
        rate_wake(e, CONTAINER_OF(node, struct limit, wake));
    while ((node = next_until(e, &e->ready.breakers.wakes, e->boot_ms)) != NULL)
        breaker_wake(e, CONTAINER_OF(node, struct breaker, wake));
    come_due(e);
    queues_step(e);
    silences_step(e);
    alerts_look(e);
    alert_turns_lost(e);
    mail_step(e);
    operations_step(e); /* last: by now it is known what of their jobs is under way */
}

size_t engine_limit_due(struct engine *e, size_t max)
{
    size_t before = e->options.due_max;
    if (max != SIZE_MAX)
        e->options.due_max = max;
    return before;
}

const struct ended_trace *engine_ended(const struct engine *e, size_t *ret_count)
{
    *ret_count = e->turn.traces.len;
    return e->turn.traces.items;
}

const struct delta *engine_seal(struct engine *e)
{
    assert(in_turn(e) && !e->turn.sealed);
    if (!e->turn.away) {
        calendars_look(e);
        permits_grant(e, false);
        grant_all(e);
        permits_grant(e, true);
    }
    operations_note_others(e); /* while the polls of this turn are still open */
    polls_close(e);
    make_delta(e);
    e->turn.sealed = true;
    assert(!e->turn.away || delta_is_empty(&e->turn.delta));
    return &e->turn.delta;
}

size_t engine_live_count(const struct engine *e)
{
    return e->execs.len;
}

void engine_floors(const struct engine *e, uint64_t *ret_id, uint64_t *ret_turn)
{
    *ret_id = id_newest(&e->ids);
    *ret_turn = e->newest.turn;
}

static int by_parking(const void *a, const void *b)
{
    uint64_t left = (*(struct worker *const *)a)->v.parked_no;
    uint64_t right = (*(struct worker *const *)b)->v.parked_no;
    return left < right ? -1 : left > right;
}

/* In the order in which they came, so that the first to ask is first with the next server, too. */
void engine_unpark(struct engine *e, struct list *ret_parked)
{
    assert(!in_turn(e));
    CLEANUP(arena_free) struct arena arena = {0};
    struct worker **parked = ARENA_ARRAY(&arena, struct worker *, e->workers.len);
    size_t count = 0;
    MAP_EACH(&e->workers, slot)
    {
        struct worker *w = slot->value;
        if (w->v.parked != NULL)
            parked[count++] = w;
    }
    if (count > 0)
        qsort(parked, count, sizeof *parked, by_parking);
    for (size_t i = 0; i < count; i++) {
        struct worker *w = parked[i];
        w->v.parked->reply.poll = plain_reply(e, w); /* an undone turn may have left leases in it */
        worker_told(e, w, w->v.parked);
        list_push_back(ret_parked, &w->v.parked->node);
        worker_set_parked(e, w, NULL, w->v.seen_ms + e->options.forget_ms);
    }
}
