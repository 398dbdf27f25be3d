/* workers.c - workers in memory: polls, parking, draining. */
#include "engine/ready/workers.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/plant.h"
#include "engine/core/alerts.h"
#include "engine/core/commands.h"
#include "engine/core/exec.h"
#include "engine/core/model.h"
#include "engine/core/outage.h"
#include "engine/core/undo.h"
#include "engine/ready/cordon.h"
#include "engine/ready/grant.h"
#include "engine/ready/report.h"
#include "engine/ready/silence.h"
#include "engine/ready/worker_class.h"
#include "engine/time/sla.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The home of a worker, which is the server that owns its id, cannot know whether it talks to
 * others. It keeps a silent one this many times as long, so that those who start find its
 * record. */
enum { HOME_PATIENCE = 24 };

/* A machine that is being repaired comes back as it was left: its worker's record, and with it the
 * cordon, is kept for so long. */
enum { CORDON_KEPT_MS = 7 * 24 * 3600 * 1000 };

static bool is_one_of_many(const struct engine *e)
{
    return e->shared;
}

/* Whether this server may change or delete the record. */
static bool is_home(const struct engine *e, const struct worker *w)
{
    return partition_has(&e->owned, w->id);
}

static int64_t forget_after_ms(const struct engine *e, const struct worker *w)
{
    bool patient = is_one_of_many(e) && is_home(e, w);
    int64_t after_ms = patient ? e->options.forget_ms * HOME_PATIENCE : e->options.forget_ms;
    bool cordoned = w->v.cordon != NULL && !w->v.followed && is_home(e, w);
    return cordoned && after_ms < CORDON_KEPT_MS ? CORDON_KEPT_MS : after_ms;
}

/* ---- in memory */

struct worker *worker_new(struct engine *e, const struct worker_rec *rec)
{
    struct worker *w = mem_new(sizeof *w + rec->name.len + rec->boot_id.len);
    if (rec->name.len > 0)
        memcpy(w->name, rec->name.ptr, rec->name.len);
    if (rec->boot_id.len > 0)
        memcpy(w->name + rec->name.len, rec->boot_id.ptr, rec->boot_id.len);
    w->id = rec->id;
    w->name_len = (uint32_t)rec->name.len;
    w->boot_id_len = (uint32_t)rec->boot_id.len;
    w->replaces = rec->replaces;
    w->worker_class =
        worker_class_join(&e->worker_classes, rec->queues, rec->handlers, rec->runs_commands);
    w->slots = rec->slots;
    w->registered_ms = rec->registered_ms;
    w->v.draining = rec->draining;
    w->v.cordon = PLANTED(cordon_forgotten) ? NULL : cordon_of(rec);
    w->v.seen_ms = e->boot_ms;
    w->v.wake_ms = e->boot_ms + forget_after_ms(e, w);
    w->term.kind = TERM_WORKER;
    list_init(&w->leases);
    map_put(&e->workers, w->id, w);
    return w;
}

void worker_free(struct engine *e, struct worker *w)
{
    assert(list_empty(&w->leases) && w->busy == 0 && w->touched == NULL);
    assert(!list_linked(&w->waiting) && !heap_holds(&w->term.node));
    map_remove(&e->workers, w->id);
    worker_class_leave(&e->worker_classes, w->worker_class);
    free(w->v.cordon);
    free(w);
}

/* As on a worker's leases, what undo puts back belongs near the front. */
static void waiting_place(struct engine *e, struct worker *w)
{
    struct worker_class *worker_class = w->worker_class;
    struct list_node *at = &worker_class->waiting.head;
    if (list_empty(&worker_class->waiting)) {
        list_push_back(&e->worker_classes.idle, &worker_class->idle);
    } else if (CONTAINER_OF(at->prev, struct worker, waiting)->v.parked_no > w->v.parked_no) {
        at = at->next;
        while (CONTAINER_OF(at, struct worker, waiting)->v.parked_no < w->v.parked_no)
            at = at->next;
    }
    list_insert_before(at, &w->waiting);
}

void worker_place(struct engine *e, struct worker *w)
{
    if (w->v.parked != NULL && w->v.offered > 0 && !w->v.draining)
        waiting_place(e, w);
    if (!w->v.gone)
        heap_push(&e->terms, &w->term.node, (uint64_t)w->v.wake_ms, w->id);
}

void worker_unplace(struct engine *e, struct worker *w)
{
    list_remove(&w->waiting);
    if (list_empty(&w->worker_class->waiting))
        list_remove(&w->worker_class->idle);
    heap_remove(&e->terms, &w->term.node);
}

struct str worker_boot_id(const struct worker *w)
{
    return str_of(w->name + w->name_len, w->boot_id_len);
}

struct worker_rec worker_record(const struct worker *w)
{
    struct worker_rec rec = {
        .id = w->id,
        .name = str_of(w->name, w->name_len),
        .queues = w->worker_class->queues,
        .handlers = w->worker_class->handlers,
        .runs_commands = w->worker_class->runs_commands,
        .draining = w->v.draining,
        .slots = w->slots,
        .registered_ms = w->registered_ms,
        .boot_id = worker_boot_id(w),
        .replaces = w->replaces,
    };
    cordon_record(w->v.cordon, &rec);
    return rec;
}

struct str worker_words(struct engine *e, struct str head, const struct worker *w)
{
    char *text = arena_bytes(e->turn.arena, head.len + ID_TEXT_MAX);
    memcpy(text, head.ptr, head.len);
    return str_of(text, head.len + id_format(text + head.len, ID_WORKER, w->id).len);
}

/* ---- polls */

static int64_t forget_at_ms(const struct engine *e, const struct worker *w)
{
    return w->v.seen_ms + forget_after_ms(e, w);
}

/* A reply that says nothing but what every reply says. */
struct poll_reply plain_reply(const struct engine *e, const struct worker *w)
{
    struct poll_reply reply = {.drain = w->v.draining};
    if (is_one_of_many(e)) {
        reply.owned = e->owned;
        reply.epochs = e->tenure.epochs;
    }
    return reply;
}

void worker_set_parked(struct engine *e, struct worker *w, struct command *cmd, int64_t wake_ms)
{
    worker_unplace(e, w);
    w->v.parked = cmd;
    w->v.parked_no = cmd == NULL ? 0 : ++e->newest.parking;
    w->v.wake_ms = wake_ms;
    worker_place(e, w);
}

/* Answers the poll that waits, if there is one, with nothing: a newer one is there, or nobody is
 * listening any more. */
static void answer_parked(struct engine *e, struct worker *w)
{
    struct command *parked = w->v.parked;
    if (parked == NULL)
        return;
    touch_worker(e, w);
    worker_set_parked(e, w, NULL, forget_at_ms(e, w));
    if (is_provisional(e)) {
        answer_provisionally(e, parked);
    } else {
        parked->reply.poll = plain_reply(e, w);
        worker_told(e, w, parked);
    }
    command_done(e, parked);
}

/* The same for a poll that this turn had already taken up: leases that it was to be given go into
 * the answer of the newer one. */
static void answer_open(struct engine *e, struct worker *w)
{
    if (w->turn.cmd == NULL)
        return;
    list_remove(&w->turn.node);
    if (is_provisional(e))
        answer_provisionally(e, w->turn.cmd);
    else
        worker_told(e, w, w->turn.cmd);
    command_done(e, w->turn.cmd);
}

static void open_poll(struct engine *e, struct worker *w, struct command *cmd, uint32_t free)
{
    memset(&w->turn, 0, sizeof w->turn);
    w->turn.cmd = cmd;
    w->turn.free = (w->v.draining && !PLANTED(drain_ignored)) ||
                           (w->v.cordon != NULL && !PLANTED(cordon_ignored))
                       ? 0
                       : free;
    list_push_back(&e->turn.open, &w->turn.node);
    cmd->reply.poll = plain_reply(e, w);
}

void worker_open(struct engine *e, struct worker *w)
{
    struct command *cmd = w->v.parked;
    int64_t until_ms = w->v.wake_ms;
    touch_worker(e, w);
    /* Not from when it polled: if the machine slept since, that is over,
     * and the worker would be forgotten in the turn that gives it work. It was there until now. */
    worker_set_parked(e, w, NULL, e->boot_ms + forget_after_ms(e, w));
    open_poll(e, w, cmd, w->v.offered);
    w->turn.until_ms = PLANTED(parked_anew) ? 0 : until_ms;
}

/* The worker has heard that we are the owner, and takes nothing from those before us any more: from
 * now on the lease is alive as long as we say, and no longer. */
static void settle_lease(struct engine *e, struct exec *x)
{
    if (!x->v.lease.unsure)
        return;
    touch_exec(e, x);
    struct exec_values to = x->v;
    int64_t ends_ms = e->boot_ms + e->options.lease_ms;
    to.lease.unsure = false;
    to.lease.ends_ms = to.lease.ends_ms < ends_ms ? to.lease.ends_ms : ends_ms;
    exec_set(e, x, &to);
}

/* Everything the worker says it holds: ours is renewed, the rest it must stop. Other servers will
 * say the same about what is theirs. */
static void poll_held(struct engine *e, struct worker *w, const struct poll *poll, bool heard)
{
    for (size_t i = 0; i < poll->held_count; i++) {
        const struct poll_held *held = &poll->held[i];
        if (!partition_has(&e->owned, held->exec_id))
            continue;
        struct exec *x = map_get(&e->execs, held->exec_id);
        if (x != NULL && lease_check(&x->v.lease, w->id, held->token, NULL) == RC_OK) {
            if (!PLANTED(renewal_forgotten))
                exec_renew(e, x);
            x->v.lease.confirmed = true;
            if (heard)
                settle_lease(e, x);
            probation_named(e, x);
            x->listed = e->newest.poll;
            continue;
        }
        if (x != NULL)
            alert_token_unknown(e, w, x, held->token);
        w->turn.answer = true;
        *VEC_PUSH(w->turn.cmd->arena, &w->turn.stops) = (struct poll_stop){
            held->exec_id, held->token, STR("the lease is not this worker's any more")};
    }
}

/* How many of the questions before those about results are about the worker itself. */
static size_t asked_about_worker(const struct command *cmd)
{
    return cmd->question_count > 0 && cmd->questions[0].kind == ASK_WORKER;
}

static void poll_results(struct engine *e, struct worker *w, const struct poll *poll)
{
    struct poll_reply *reply = &w->turn.cmd->reply.poll;
    if (poll->result_count == 0)
        return;
    struct str actor = worker_words(e, STR("worker:"), w);
    struct poll_verdict *verdicts =
        ARENA_ARRAY(w->turn.cmd->arena, struct poll_verdict, poll->result_count);
    size_t asked = asked_about_worker(w->turn.cmd);
    size_t count = 0;
    w->turn.accused = worker_on_probation(w); /* while none of its runs has ended yet */
    for (size_t i = 0; i < poll->result_count; i++) {
        if (partition_has(&e->owned, poll->results[i].exec_id))
            report_result(e, w, actor, &poll->results[i], &asked, &verdicts[count++]);
    }
    reply->verdicts = verdicts;
    reply->verdict_count = count;
    w->turn.answer =
        true; /* also without a verdict: the worker learns who can give one, and who not */
}

/* True when the poll may have been written before the worker heard of the lease: as a repeat of the
 * very poll that it was granted to; or before a server that died granted it, since numbers of polls
 * are forgotten with a server. Not being named then says nothing. But a worker that has heard us
 * takes no lease from those before us any more: it does not have leases that it does not name. */
static bool may_be_older(const struct exec *x, bool repeated, bool heard)
{
    bool inherited = x->v.lease.inherited && !heard && !PLANTED(old_poll_believed);
    return !x->v.lease.confirmed && (inherited || (repeated && !PLANTED(repeat_believed)));
}

/* The store has lost turns since this lease was given: in one of them it may have ended, or been
 * followed by another. It is not sent again, since its token would then stand for two runs. */
static bool is_bygone(const struct engine *e, const struct exec *x)
{
    return x->v.lease.token <= e->token_floor || x->v.lease.token < x->named_token;
}

/* Taking it away could start a second run beside the first: it keeps its slot, is sent again if
 * there is one, and the next poll or the end of the lease will tell. */
static void keep_unnamed(struct engine *e, struct worker *w, struct exec *x)
{
    if (w->turn.free > 0 && x->v.state == EXEC_RUNNING && !sla_stops(x) && !is_bygone(e, x))
        grant_again(e, w, x);
    else if (w->turn.free > 0)
        w->turn.free--;
}

/* Its worker does not have it, and will from now on have it from us alone. */
static void grant_anew(struct engine *e, struct worker *w, struct exec *x)
{
    settle_lease(e, x);
    touch_exec(e, x);
    x->v.lease.inherited = false;
    grant_again(e, w, x);
}

/* Leases that this poll did not name. One that was never confirmed got lost on its way: it is sent
 * again, or taken back when there is no slot for it. One that had started is gone. */
static void poll_unlisted(struct engine *e, struct worker *w, bool repeated, bool heard)
{
    LIST_EACH(&w->leases, node)
    {
        struct exec *x = CONTAINER_OF(node, struct exec, on_worker);
        if (x->listed == e->newest.poll)
            continue;
        if (may_be_older(x, repeated, heard))
            keep_unnamed(e, w, x);
        else if (x->v.lease.confirmed || x->v.state == EXEC_STOPPING || sla_stops(x) ||
                 is_bygone(e, x))
            report_silence(e, x, STR("its worker no longer has it"), BLAME_NONE);
        else if (PLANTED(slot_leaks))
            exec_renew(e, x);
        else if (w->turn.free > 0)
            grant_anew(e, w, x);
        else
            report_silence(e, x, STR("its worker has no room for it"), BLAME_NONE);
    }
}

void ask_of_poll(struct engine *e, struct command *cmd, struct question_list *list)
{
    bool known = map_get(&e->workers, cmd->poll.worker_id) != NULL;
    if (!known && !is_one_of_many(e))
        return; /* a worker that is not in memory is nowhere */
    if (!known) {
        struct question *q = command_ask(e, cmd, list);
        q->kind = ASK_WORKER;
        q->id = cmd->poll.worker_id;
    }
    ask_results(e, cmd, list);
}

void worker_adopt(struct engine *e, struct worker *w)
{
    LIST_EACH(&e->orphans, node)
    {
        struct exec *x = CONTAINER_OF(node, struct exec, on_worker);
        if (x->v.lease.worker_id != w->id)
            continue;
        list_remove(node);
        lease_place(w, x);
    }
}

bool worker_is_silent(const struct engine *e, const struct worker *w)
{
    return w->v.parked == NULL && e->boot_ms - w->v.seen_ms > e->options.lease_ms;
}

void worker_disown(struct engine *e, struct worker *w)
{
    list_splice_back(&e->orphans, &w->leases);
    w->worker_class->busy -= w->busy;
    w->busy = 0;
}

/* It was to leave our memory in this very turn, and here it is: we were the ones who could not
 * hear. Its record, which is another server's, stays. */
static void remember(struct engine *e, struct worker *w)
{
    touch_worker(e, w);
    worker_unplace(e, w);
    w->v.gone = false;
    w->v.wake_ms = e->boot_ms + forget_after_ms(e, w);
    worker_place(e, w);
}

/* The worker that polls, which may have been registered by another server. NULL, and answered, when
 * there is none. */
static struct worker *poll_worker(struct engine *e, struct command *cmd)
{
    struct worker *w = map_get(&e->workers, cmd->poll.worker_id);
    if (w != NULL && w->v.gone && !is_home(e, w))
        remember(e, w);
    if (w != NULL && !w->v.gone)
        return w;
    const struct worker_rec *rec = asked_about_worker(cmd) ? cmd->questions[0].answer.worker : NULL;
    if (w == NULL && rec != NULL) {
        w = worker_new(e, rec);
        touch_new(touch_worker(e, w), true);
        worker_place(e, w);
        worker_adopt(e, w);
        return w;
    }
    command_fail(e, cmd, RC_NOT_FOUND, "no such worker: register again");
    return NULL;
}

/* The worker keeps the leases that we know of; its answer waits a moment, or it would poll without
 * pause. */
static void poll_provisionally(struct engine *e, struct command *cmd)
{
    const struct poll *poll = &cmd->poll;
    struct worker *w = map_get(&e->workers, poll->worker_id);
    bool waits = w != NULL && !w->v.gone && poll->seq >= w->v.seq && poll->wait_ms > 0;
    if (waits) {
        answer_parked(e, w);
        answer_open(e, w);
    }
    answer_provisionally(e, cmd);
    if (waits)
        open_poll(e, w, cmd, 0);
    else
        command_done(e, cmd);
}

/* The first poll that we hear of a worker tells us of its predecessor, too. */
static void bury_predecessor(struct engine *e, const struct worker *w)
{
    if (w->v.seq == 0 && w->replaces != 0 && !e->turn.away)
        silence_dead(e, w->replaces);
}

void decide_poll(struct engine *e, struct command *cmd)
{
    const struct poll *poll = &cmd->poll;
    if (is_provisional(e)) {
        poll_provisionally(e, cmd);
        return;
    }
    struct worker *w = poll_worker(e, cmd);
    if (w == NULL)
        return;
    if (poll->seq < w->v.seq) {
        command_fail(e, cmd, RC_STALE, "poll %" PRIu64 " is older than %" PRIu64, poll->seq,
                     w->v.seq);
        return;
    }
    bury_predecessor(e, w);
    bool heard = worker_has_heard(e, w, poll);
    answer_parked(e, w);
    answer_open(e, w);
    touch_worker(e, w);
    bool repeated = poll->seq == w->v.seq;
    w->v.seq = poll->seq;
    w->v.seen_ms = e->boot_ms;
    worker_set_parked(e, w, NULL, forget_at_ms(e, w));
    open_poll(e, w, cmd, e->turn.away ? 0 : poll->free);
    w->turn.answer = poll->wait_ms == 0;
    e->newest.poll++;
    poll_held(e, w, poll, heard);
    if (e->turn.away) {
        outage_renew(e, w, poll);
        return;
    }
    poll_results(e, w, poll);
    if (!(repeated && PLANTED(repeated_poll_grants_twice)))
        poll_unlisted(e, w, repeated, heard);
}

void decide_hangup(struct engine *e, struct command *cmd)
{
    struct worker *w = map_get(&e->workers, cmd->target.id);
    if (w != NULL && w->v.parked != NULL && w->v.parked->poll.seq == cmd->target.seq)
        answer_parked(e, w);
    if (w != NULL && w->turn.cmd != NULL && w->turn.cmd->poll.seq == cmd->target.seq) {
        w->turn.answer = true; /* it came and left within one turn */
        w->turn.free = 0;
    }
    command_done(e, cmd);
}

void decide_drain(struct engine *e, struct command *cmd)
{
    struct worker *w = map_get(&e->workers, cmd->target.id);
    if (w == NULL || w->v.gone) {
        command_fail(e, cmd, RC_NOT_FOUND, "no such worker");
        return;
    }
    if (!w->v.draining) {
        touch_worker(e, w)->durable |= is_home(e, w);
        w->v.draining = true;
        if (w->v.parked != NULL)
            worker_open(e, w);
        if (w->turn.cmd != NULL) { /* tell it now */
            w->turn.free = 0;
            w->turn.answer = true;
            w->turn.cmd->reply.poll.drain = true;
        }
    }
    cmd->reply.worker_id = w->id;
    command_done(e, cmd);
}

/* ---- time */

static void forget(struct engine *e, struct worker *w)
{
    touch_worker(e, w)->durable |= is_home(e, w);
    worker_unplace(e, w);
    w->v.gone = true;
    worker_place(e, w);
}

void worker_wake(struct engine *e, struct worker *w)
{
    if (w->v.parked != NULL) {
        worker_open(e, w);
        w->turn.answer = true;
    } else if (w->busy == 0 && forget_at_ms(e, w) <= e->boot_ms && !e->slept) {
        forget(e, w);
    } else {
        /* Its leases will end first; or it was heard since, by a server that could not decide; or
         * this server heard no worker itself. */
        touch_worker(e, w);
        worker_set_parked(e, w, NULL, e->boot_ms + forget_after_ms(e, w));
    }
}
