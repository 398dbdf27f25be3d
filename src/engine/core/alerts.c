/* alerts.c - what somebody should know about.
 *
 * Single events (a job that failed for good, a worker that vanished) are raised where they happen,
 * in their own turn. Rates, ages and depths, which no single turn can see, are counted when a turn
 * is committed, and looked at every few seconds while there is anything to see. */
#include "engine/core/alerts.h"
#include "base/mem.h"
#include "base/plant.h"
#include "base/when.h"
#include "engine/core/commands.h"
#include "engine/core/exec.h"
#include "engine/core/model.h"
#include "engine/ready/queues.h"
#include "engine/trace/traces.h"
#include "job/record/record_fields.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK_MS = 10000, FORGET_MS = 86400000, ERROR_SHOWN_MAX = 200 };

void alerts_free(struct alerts *a)
{
    for (size_t i = 0; i < a->alert_mutes.cap; i++)
        free(a->alert_mutes.slots[i].value);
    strmap_free(&a->alert_mutes);
}

/* ---- telling a key once in a while */

static struct alert_mute *alert_mute_of(struct engine *e, enum alert_kind kind, struct str key)
{
    struct strmap *all = &e->alerts.alert_mutes;
    struct alert_mute *h = strmap_get(all, key);
    if (h == NULL && all->len >= HUSHES_MAX) {
        key = alert_kind_name(kind);
        h = strmap_get(all, key);
    }
    if (h != NULL)
        return h;
    h = mem_new(sizeof *h + key.len);
    memcpy(h + 1, key.ptr, key.len);
    h->key = str_of((char *)(h + 1), key.len);
    h->told_ms = INT64_MIN / 2;
    strmap_put(all, h->key, h);
    return h;
}

/* Told a while ago. What was told under a silence that has ended since was told to nobody, so the
 * next one is not a repetition. */
static bool is_quiet(const struct engine *e, const struct alert_mute *h, uint64_t silence)
{
    return e->boot_ms - h->told_ms < e->options.alerts.quiet_ms &&
           (!h->silenced || silence != 0 || PLANTED(silence_outlived));
}

static struct alert_rec *add(struct engine *e, enum alert_kind kind, enum alert_level level,
                             struct str key, uint64_t silence)
{
    struct alert_rec *alert = VEC_PUSH(e->turn.arena, &e->turn.alerts.raised);
    *alert = (struct alert_rec){
        .id = id_next(&e->ids, e->now_ms, e->bucket),
        .at_ms = e->now_ms,
        .kind = kind,
        .level = level,
        .state = silence != 0                ? ALERT_SILENCED
                 : e->options.alerts.deliver ? ALERT_PENDING
                                             : ALERT_KEPT,
        .key = arena_str(e->turn.arena, key),
        .silenced_by = silence,
    };
    return alert;
}

/* The record to fill in, or NULL: the key was told a while ago, and this one is only counted. Notes
 * about the turn count from its commit on; an undone one leaves nothing that matters. */
static struct alert_rec *raise(struct engine *e, enum alert_kind kind, enum alert_level level,
                               struct str key)
{
    struct alert_mute *h = alert_mute_of(e, kind, key);
    bool again = h->turn == e->newest.begun;
    uint64_t silence = again ? 0 : silences_over(e, key); /* a turn may have thousands of one key */
    if (!again) {
        h->turn = e->newest.begun;
        h->turn_repeats = 0;
        *VEC_PUSH(e->turn.arena, &e->turn.alerts.muted) = h;
    }
    if (again || is_quiet(e, h, silence)) {
        h->turn_repeats++;
        return NULL;
    }
    if (PLANTED(alert_forgotten))
        h->told_ms = e->boot_ms;
    struct alert_rec *alert = add(e, kind, level, key, silence);
    alert->repeats = h->repeats;
    return alert;
}

/* ---- single events */

static void set_exec(struct engine *e, struct alert_rec *alert, const struct exec *x)
{
    alert->exec_id = x->id;
    alert->trace = trace_of_alert(e, x);
}

/* Jobs that run once and call the same thing are one matter; a job that recurs is its own. */
static struct str job_key(struct engine *e, struct str kind, const struct job *job)
{
    const struct definition *def = job->v.def;
    if (job->name_len > 0)
        return arena_printf(e->turn.arena, "%.*s:%.*s", STR_ARG(kind), STR_ARG(job_name(job)));
    if (def->schedule != NULL)
        return arena_printf(e->turn.arena, "%.*s:%" PRIu64, STR_ARG(kind), job->id);
    struct str target =
        def->rules.track->breaker != NULL ? def->rules.track->breaker->target : STR("");
    return arena_printf(e->turn.arena, "%.*s:%.*s:%.*s", STR_ARG(kind),
                        STR_ARG(def->rules.queue->name), STR_ARG(target));
}

void alert_job_failed(struct engine *e, const struct exec *x, struct str reason)
{
    const struct job *job = x->job;
    if (!e->options.alerts.job_failed)
        return;
    struct alert_rec *alert =
        raise(e, ALERT_JOB_FAILED, ALERT_CRITICAL, job_key(e, STR("job_failed"), job));
    if (alert == NULL)
        return;
    char id[ID_TEXT_MAX];
    id_format(id, ID_EXEC, x->id);
    alert->queue = job->v.def->rules.queue->name;
    alert->job_id = job->id;
    set_exec(e, alert, x);
    alert->text = arena_printf(e->turn.arena,
                               "%s%.*s%s failed for good after %" PRIu32 " of %" PRIu32
                               " attempts: %.*s. Look at it: belfry show %s; belfry logs %s",
                               job->name_len > 0 ? "the job '" : "a job", STR_ARG(job_name(job)),
                               job->name_len > 0 ? "'" : "", x->v.attempts,
                               job->v.def->rules.retry.max_retries + 1,
                               STR_ARG(str_head(reason, ERROR_SHOWN_MAX)), id, id);
}

void alert_worker_lost(struct engine *e, const struct exec *x)
{
    char worker[ID_TEXT_MAX];
    char exec[ID_TEXT_MAX];
    if (!e->options.alerts.worker_lost)
        return;
    id_format(worker, ID_WORKER, x->v.lease.worker_id);
    id_format(exec, ID_EXEC, x->id);
    struct str key = arena_printf(e->turn.arena, "worker_lost:%s", worker);
    struct alert_rec *alert = raise(e, ALERT_WORKER_LOST, ALERT_WARNING, key);
    if (alert == NULL)
        return;
    alert->queue = x->job->v.def->rules.queue->name;
    alert->job_id = x->job->id;
    set_exec(e, alert, x);
    alert->text =
        arena_printf(e->turn.arena,
                     "the worker %s fell silent while it ran %s, which is given to another. "
                     "Look after its machine: belfry workers",
                     worker, exec);
}

/* ---- a store that was set back */

#define TURNS_LOST_KEY STR("turns_lost")
#define TURNS_LOST_ADVICE                                                                          \
    "the database was set back, or a standby that lagged took over. Jobs of that time may be "     \
    "missing, and finished ones run again; see 'A standby that lags' in docs/operations.md"

void alert_turns_lost(struct engine *e)
{
    if (e->lost_turns == 0 || e->owned.bits == 0)
        return;
    struct alert_rec *alert = raise(e, ALERT_TURNS_LOST, ALERT_CRITICAL, TURNS_LOST_KEY);
    if (alert != NULL)
        alert->text = arena_printf(e->turn.arena,
                                   "the store has lost the newest %" PRIu64
                                   " turns that this server had kept: " TURNS_LOST_ADVICE,
                                   e->lost_turns);
}

/* Any number may come over the wire. One that no lease ever had does not count. */
enum { TOKEN_BITS_MAX = 40 };

void alert_token_unknown(struct engine *e, const struct worker *w, struct exec *x, uint64_t token)
{
    char worker[ID_TEXT_MAX];
    char exec[ID_TEXT_MAX];
    if (token <= x->v.lease.token || token >> TOKEN_BITS_MAX != 0)
        return;
    if (token > x->named_token)
        x->named_token = token; /* also when this turn is undone: larger is never wrong */
    if (e->turn.away)
        return; /* nothing can be kept now */
    struct alert_rec *alert = raise(e, ALERT_TURNS_LOST, ALERT_CRITICAL, TURNS_LOST_KEY);
    if (alert == NULL)
        return;
    id_format(worker, ID_WORKER, w->id);
    id_format(exec, ID_EXEC, x->id);
    alert->job_id = x->job->id;
    set_exec(e, alert, x);
    alert->text =
        arena_printf(e->turn.arena,
                     "the worker %s was given %s with token %" PRIu64
                     ", and the store knows of none beyond %" PRIu64 ": " TURNS_LOST_ADVICE,
                     worker, exec, token, x->v.lease.token);
}

void alert_breaker_open(struct engine *e, const struct breaker *b)
{
    if (!e->options.alerts.breaker_open)
        return;
    struct str key = arena_printf(e->turn.arena, "breaker_open:%.*s", STR_ARG(b->target));
    struct alert_rec *alert = raise(e, ALERT_BREAKER_OPEN, ALERT_CRITICAL, key);
    if (alert == NULL)
        return;
    alert->text =
        arena_printf(e->turn.arena,
                     "'%.*s' keeps failing (%" PRIu32 " of %" PRIu32
                     " calls lately) and is left alone; its jobs "
                     "wait. Look at it: belfry breakers",
                     STR_ARG(b->target), b->v.window.failures + b->v.window.failures_before,
                     b->v.window.calls + b->v.window.calls_before);
}

/* Says what the server does about it, and where to look. */
static const char *sla_advice(const struct sla_event_rec *event)
{
    if (event->kind == SLA_EVENT_WARNING)
        return "It goes on. Look at what it does";
    return event->policy == SLA_STRICT ? "It is stopped. Look at why it takes so long"
                                       : "It goes on. Look at it, or give it more time with "
                                         "belfry extend-sla";
}

void alert_sla(struct engine *e, const struct exec *x, const struct sla_event_rec *event)
{
    const struct job *job = x->job;
    bool warning = event->kind == SLA_EVENT_WARNING;
    enum alert_kind kind = warning ? ALERT_SLA_WARNING : ALERT_SLA_VIOLATED;
    enum alert_level level =
        warning || event->policy == SLA_WARNING_ONLY ? ALERT_WARNING : ALERT_CRITICAL;
    if (!e->options.alerts.sla)
        return;
    struct alert_rec *alert = raise(e, kind, level, job_key(e, alert_kind_name(kind), job));
    if (alert == NULL)
        return;
    char id[ID_TEXT_MAX];
    char actual[WHEN_TEXT_MAX];
    char limit[WHEN_TEXT_MAX];
    id_format(id, ID_EXEC, x->id);
    duration_format(actual, event->actual_ms);
    duration_format(limit, warning ? event->expected_ms : event->max_ms);
    alert->queue = job->v.def->rules.queue->name;
    alert->job_id = job->id;
    set_exec(e, alert, x);
    alert->text = arena_printf(
        e->turn.arena,
        "%s%.*s%s has run for %s, and its SLA %s %s. %s: belfry show %s; belfry logs %s",
        job->name_len > 0 ? "the job '" : "a job", STR_ARG(job_name(job)),
        job->name_len > 0 ? "'" : "", actual, warning ? "expects" : "allows", limit,
        sla_advice(event), id, id);
}

void alert_start_late(struct engine *e, const struct exec *x, struct str why)
{
    const struct job *job = x->job;
    if (!e->options.alerts.start_late)
        return;
    struct alert_rec *alert =
        raise(e, ALERT_START_LATE, ALERT_WARNING, job_key(e, STR("start_late"), job));
    if (alert == NULL)
        return;
    char id[ID_TEXT_MAX];
    id_format(id, ID_EXEC, x->id);
    alert->queue = job->v.def->rules.queue->name;
    alert->job_id = job->id;
    set_exec(e, alert, x);
    alert->text = arena_printf(e->turn.arena,
                               "%s%.*s%s is late: %.*s. Ask what holds it back: belfry explain %s",
                               job->name_len > 0 ? "the job '" : "a job", STR_ARG(job_name(job)),
                               job->name_len > 0 ? "'" : "", STR_ARG(why), id);
}

void alert_slow(struct engine *e, const struct exec *x, struct str why)
{
    const struct job *job = x->job;
    struct alert_rec *alert = raise(e, ALERT_SLOW, ALERT_WARNING, job_key(e, STR("slow"), job));
    if (alert == NULL)
        return;
    char id[ID_TEXT_MAX];
    id_format(id, ID_EXEC, x->id);
    alert->queue = job->v.def->rules.queue->name;
    alert->job_id = job->id;
    set_exec(e, alert, x);
    alert->text = arena_printf(
        e->turn.arena, "%s%.*s%s %.*s. Look at what it does: belfry logs %s; belfry show %s",
        job->name_len > 0 ? "the job '" : "a job", STR_ARG(job_name(job)),
        job->name_len > 0 ? "'" : "", STR_ARG(why), id, id);
}

/* Not muted by its key: whoever asks for it sees to it that one trouble is told once, and another
 * one that follows soon would never be told. */
void alert_missed(struct engine *e, const struct exec *x, const char *verb, struct str what)
{
    const struct job *job = x->job;
    char id[ID_TEXT_MAX];
    if (!e->options.alerts.missed)
        return;
    struct str key = job_key(e, STR("missed"), job);
    struct alert_rec *alert = add(e, ALERT_MISSED, ALERT_CRITICAL, key, silences_over(e, key));
    id_format(id, ID_JOB, job->id);
    alert->queue = job->v.def->rules.queue->name;
    alert->job_id = job->id;
    alert->exec_id = x->id;
    alert->text = arena_printf(e->turn.arena,
                               "%s%.*s%s, which is run elsewhere, %s: %.*s. Look at it where it "
                               "runs; what is known of it: belfry show %s",
                               job->name_len > 0 ? "the job '" : "a job", STR_ARG(job_name(job)),
                               job->name_len > 0 ? "'" : "", verb, STR_ARG(what), id);
}

void alert_clock(struct engine *e, struct str what)
{
    struct alert_rec *alert = raise(e, ALERT_CLOCK, ALERT_WARNING, STR("clock"));
    if (alert == NULL)
        return;
    alert->text = arena_printf(
        e->turn.arena,
        "%.*s, and has held there, so it is followed; look at what sets it, and at jobs "
        "that should have run meanwhile",
        STR_ARG(what));
}

/* ---- from a distance */

static struct breaker_rule window_rule(const struct engine *e)
{
    return (struct breaker_rule){.window_ms = e->options.alerts.window_ms};
}

void alerts_count(struct engine *e, const struct exec *x)
{
    struct breaker_rule rule = window_rule(e);
    bool failed = x->v.state == EXEC_FAILED || x->v.state == EXEC_TIMEOUT;
    if (rule.window_ms == 0 || !tally_counts(x->v.state))
        return;
    breaker_count(&e->alerts.finals, &rule, e->boot_ms, failed);
    breaker_count(&x->job->v.def->rules.queue->finals, &rule, e->boot_ms, failed);
    alerts_arm(e);
}

static void look_at_age(struct engine *e, struct queue *q)
{
    const struct alert_rules *rules = &e->options.alerts;
    int64_t waited_ms = rules->queue_age_ms > 0 && !q->v.paused ? queue_waited_ms(e, q) : 0;
    if (waited_ms == 0 || waited_ms < rules->queue_age_ms)
        return;
    struct str key = arena_printf(e->turn.arena, "queue_old:%.*s", STR_ARG(q->name));
    struct alert_rec *alert = raise(e, ALERT_QUEUE_OLD, ALERT_WARNING, key);
    if (alert == NULL)
        return;
    alert->queue = q->name;
    alert->text = arena_printf(e->turn.arena,
                               "in the queue '%.*s' something has waited for %" PRId64
                               " s. Ask why: belfry jobs --queue %.*s; belfry explain JOB",
                               STR_ARG(q->name), waited_ms / 1000, STR_ARG(q->name));
}

static void look_at_depth(struct engine *e, struct queue *q)
{
    const struct alert_rules *rules = &e->options.alerts;
    /* Of what moved here from another server only the sum over all of them is right. */
    int64_t queued = q->now.execs[EXEC_QUEUED];
    uint64_t depth = queued > 0 ? (uint64_t)queued : 0;
    bool critical = rules->depth_critical > 0 && depth > rules->depth_critical;
    if (!critical && (rules->depth_warning == 0 || depth <= rules->depth_warning))
        return;
    /* A warning of a moment ago must not hush what is critical now. */
    struct str key = arena_printf(e->turn.arena, "queue_depth:%.*s%s", STR_ARG(q->name),
                                  critical ? ":critical" : "");
    struct alert_rec *alert =
        raise(e, ALERT_QUEUE_DEPTH, critical ? ALERT_CRITICAL : ALERT_WARNING, key);
    if (alert == NULL)
        return;
    alert->queue = q->name;
    alert->text =
        arena_printf(e->turn.arena,
                     "%" PRIu64 " executions wait in the queue '%.*s'. Look at its limits "
                     "and workers: belfry queues; belfry workers",
                     depth, STR_ARG(q->name));
}

static void look_at_rate(struct engine *e, struct queue *q)
{
    const struct alert_rules *rules = &e->options.alerts;
    uint64_t calls = (uint64_t)q->finals.calls + q->finals.calls_before;
    uint64_t failed = (uint64_t)q->finals.failures + q->finals.failures_before;
    bool critical = rules->rate_critical_pct > 0 && failed * 100 > calls * rules->rate_critical_pct;
    bool warning = rules->rate_warning_pct > 0 && failed * 100 > calls * rules->rate_warning_pct;
    if (calls < rules->rate_calls_min || calls == 0 || (!critical && !warning))
        return;
    struct str key = arena_printf(e->turn.arena, "failure_rate:%.*s%s", STR_ARG(q->name),
                                  critical ? ":critical" : "");
    struct alert_rec *alert =
        raise(e, ALERT_FAILURE_RATE, critical ? ALERT_CRITICAL : ALERT_WARNING, key);
    if (alert == NULL)
        return;
    alert->queue = q->name;
    alert->text =
        arena_printf(e->turn.arena,
                     "%" PRIu64 " of %" PRIu64 " executions of the queue '%.*s' failed "
                     "lately. Look at them: belfry executions --status failed --queue %.*s",
                     failed, calls, STR_ARG(q->name), STR_ARG(q->name));
}

static void look_at_dead_letters(struct engine *e)
{
    uint64_t failed = (uint64_t)e->alerts.finals.failures + e->alerts.finals.failures_before;
    uint64_t many = e->options.alerts.dead_letters;
    if (many == 0 || failed <= many)
        return;
    struct alert_rec *alert = raise(e, ALERT_DEAD_LETTERS, ALERT_CRITICAL, STR("dead_letters"));
    if (alert == NULL)
        return;
    alert->text = arena_printf(e->turn.arena,
                               "%" PRIu64 " executions failed for good within %" PRId64
                               " s. Look at them: belfry dead-letters",
                               failed, e->options.alerts.window_ms / 1000);
}

/* Counts older than the window are dropped although nothing new comes. */
static bool is_of_interest(struct engine *e, struct breaker_window *w)
{
    if (e->boot_ms - w->since_ms >= e->options.alerts.window_ms)
        *w = (struct breaker_window){.since_ms = e->boot_ms};
    return w->calls + w->calls_before > 0;
}

static int by_name(const void *a, const void *b)
{
    return str_cmp((*(struct queue *const *)a)->name, (*(struct queue *const *)b)->name);
}

/* Those where something waits, or happened lately, by name: alerts are told in this order. True:
 * there is one. */
static bool look_at_queues(struct engine *e)
{
    struct queue **queues = ARENA_ARRAY(e->turn.arena, struct queue *, e->queues.by_name.len);
    size_t count = 0;
    for (size_t i = 0; i < e->queues.by_name.cap; i++) {
        struct queue *q = e->queues.by_name.slots[i].value;
        if (q != NULL && (is_of_interest(e, &q->finals) || q->now.execs[EXEC_QUEUED] > 0))
            queues[count++] = q;
    }
    if (count > 0)
        qsort(queues, count, sizeof *queues, by_name);
    for (size_t i = 0; i < count; i++) {
        look_at_age(e, queues[i]);
        look_at_depth(e, queues[i]);
        look_at_rate(e, queues[i]);
    }
    return count > 0;
}

/* Muted repeats are told with the next alert of the key, but not after a day. */
static bool is_past(const struct engine *e, const struct alert_mute *h)
{
    int64_t past_ms = e->boot_ms - h->told_ms;
    return past_ms >= FORGET_MS || (past_ms >= e->options.alerts.quiet_ms && h->repeats == 0);
}

static void forget_hushes(struct engine *e)
{
    struct strmap *all = &e->alerts.alert_mutes;
    for (size_t i = 0; i < all->cap;) {
        struct alert_mute *h = all->slots[i].value;
        if (h == NULL || !is_past(e, h)) {
            i++;
            continue;
        }
        size_t cap = all->cap;
        strmap_remove(all, h->key); /* moves another one here, or all of them */
        free(h);
        if (all->cap != cap)
            i = 0;
    }
}

void alerts_look(struct engine *e)
{
    e->turn.alerts.looks = e->alerts.look_ms > 0 && e->boot_ms >= e->alerts.look_ms;
    if (!e->turn.alerts.looks)
        return;
    bool more = is_of_interest(e, &e->alerts.finals);
    more |= look_at_queues(e);
    look_at_dead_letters(e);
    e->turn.alerts.look_next_ms = more ? e->boot_ms + LOOK_MS : 0;
}

void alerts_arm(struct engine *e)
{
    if (e->alerts.look_ms == 0 && e->options.alerts.window_ms > 0)
        e->alerts.look_ms = e->boot_ms + LOOK_MS;
}

void alerts_commit(struct engine *e)
{
    if (!e->turn.away && e->owned.bits != 0)
        e->lost_turns = 0; /* told by this turn: see alert_turns_lost */
    for (size_t i = 0; i < e->turn.alerts.muted.len; i++)
        e->turn.alerts.muted.items[i]->repeats += e->turn.alerts.muted.items[i]->turn_repeats;
    for (size_t i = 0; i < e->turn.alerts.raised.len; i++) {
        struct alert_mute *h = alert_mute_of(e, e->turn.alerts.raised.items[i].kind,
                                             e->turn.alerts.raised.items[i].key);
        h->told_ms = e->boot_ms;
        h->silenced = e->turn.alerts.raised.items[i].silenced_by != 0;
        h->repeats = h->turn_repeats;
    }
    if (e->turn.alerts.looks) {
        e->alerts.look_ms = e->turn.alerts.look_next_ms;
        forget_hushes(e);
    }
}

/* ---- what became of one */

void decide_alert_sent(struct engine *e, struct command *cmd)
{
    *VEC_PUSH(e->turn.arena, &e->turn.alerts.marks) = cmd->alert;
    command_done(e, cmd);
}

void ask_alert(struct engine *e, struct command *cmd, struct question_list *list)
{
    struct question *q = command_ask(e, cmd, list);
    q->kind = ASK_ALERT;
    q->id = cmd->target.id;
}

/* As it will be when this turn is kept: another command of the turn may have been first. */
static struct alert_rec alert_now(const struct engine *e, const struct alert_rec *asked)
{
    struct alert_rec alert = *asked;
    for (size_t i = 0; i < e->turn.alerts.marks.len; i++) {
        if (e->turn.alerts.marks.items[i].id == alert.id)
            alert.state = e->turn.alerts.marks.items[i].state;
    }
    for (size_t i = 0; i < e->turn.alerts.acks.len; i++) {
        const struct alert_ack *ack = &e->turn.alerts.acks.items[i];
        if (ack->id != alert.id)
            continue;
        alert.acked_ms = ack->at_ms;
        alert.acked_by = ack->by;
        alert.ack_note = ack->note;
    }
    return alert;
}

/* What is being looked at need not be sent any more. The sender may be doing so right now, and mark
 * it as sent: then that is what it was. */
static void ack(struct engine *e, const struct command *cmd, struct alert_rec *alert)
{
    alert->acked_ms = e->now_ms;
    alert->acked_by = cmd->actor;
    alert->ack_note = cmd->target.reason;
    *VEC_PUSH(e->turn.arena, &e->turn.alerts.acks) =
        (struct alert_ack){alert->id, alert->acked_ms, arena_str(e->turn.arena, alert->acked_by),
                           arena_str(e->turn.arena, alert->ack_note)};
    if (alert->state != ALERT_PENDING)
        return;
    alert->state = ALERT_KEPT;
    *VEC_PUSH(e->turn.arena, &e->turn.alerts.marks) = (struct alert_mark){alert->id, alert->state};
}

void decide_alert_ack(struct engine *e, struct command *cmd)
{
    const struct alert_rec *asked = cmd->questions[0].answer.alert;
    if (asked == NULL) {
        command_fail(e, cmd, RC_NOT_FOUND, "there is no alert %s; it may have been too old",
                     ID_TEXT(ID_ALERT, cmd->target.id));
        return;
    }
    struct alert_rec *alert = &cmd->reply.alert;
    *alert = alert_now(e, asked);
    if (alert->acked_ms == 0 || PLANTED(second_ack_counts))
        ack(e, cmd, alert);
    fields_copy(&alert_fields, alert, cmd->arena);
    command_done(e, cmd);
}
