/* kept.c - what a server may say when it is not sure that it is the owner, how it knows that a
 * worker has read what it said as one, and what an engine passes on to the one that takes its
 * place.
 *
 * A lease that memory has under a worker and its token was the worker's when this server was the
 * owner. If another owner came since, it waits for longer than we go on saying so (decision 17); if
 * none did, we shall be the owner again. Either way the worker may keep it. About all else there is
 * nothing to say. */
#include "engine/core/exec.h"
#include "engine/core/model.h"
#include "engine/core/undo.h"
#include "engine/ready/silence.h"
#include "engine/ready/workers.h"

#include <assert.h>
#include <string.h>

/* ---- provisional answers */

/* A run past its time is not kept alive; its worker knows that by itself. */
static bool is_kept(const struct exec *x, uint64_t worker_id, const struct poll_held *held,
                    int64_t boot_ms)
{
    if (x == NULL || !exec_is_leased(x->v.state) ||
        lease_check(&x->v.lease, worker_id, held->token, NULL) != RC_OK)
        return false;
    return x->v.times_out_ms == 0 || boot_ms < x->v.times_out_ms;
}

/* Whether the number of its newest poll stays known, whatever becomes of the turn that is under
 * way. */
static bool remembers(const struct engine *e, uint64_t worker_id)
{
    const struct worker *w = map_get(&e->workers, worker_id);
    return w != NULL && (w->touched == NULL || !w->touched->is_new);
}

/* Where nobody remembers the number of this poll an older one may come later, and must find nothing
 * confirmed, or what it does not name would count as lost. */
static void renew(const struct engine *e, struct exec_values *v, int64_t boot_ms)
{
    lease_renew(&v->lease, boot_ms, e->options.lease_ms);
    v->lease.confirmed |= remembers(e, v->lease.worker_id);
    if (v->named_ms == 0)
        v->named_ms = boot_ms;
}

/* Holds even if the turn under way is undone: the worker has been told. */
static void renew_for_good(struct engine *e, struct exec *x, int64_t boot_ms)
{
    struct exec_values to = x->v;
    renew(e, &to, boot_ms);
    exec_set(e, x, &to);
    if (x->touched == NULL || x->touched->is_new)
        return;
    struct exec_values *before = &x->touched->before.exec;
    if (exec_is_leased(before->state) &&
        lease_check(&before->lease, x->v.lease.worker_id, x->v.lease.token, NULL) == RC_OK)
        renew(e, before, boot_ms);
}

/* In a turn that can be undone. */
static void renew_in_turn(struct engine *e, struct exec *x)
{
    touch_exec(e, x);
    struct exec_values to = x->v;
    renew(e, &to, e->boot_ms);
    exec_set(e, x, &to);
}

/* The leases that the poll holds or has results of: `kept` has room for all. */
static size_t find_kept(struct engine *e, const struct poll *poll, int64_t boot_ms,
                        struct poll_held *kept)
{
    size_t count = 0;
    for (size_t i = 0; i < poll->held_count + poll->result_count; i++) {
        size_t r = i - poll->held_count;
        struct poll_held held = i < poll->held_count ? poll->held[i]
                                                     : (struct poll_held){poll->results[r].exec_id,
                                                                          poll->results[r].token};
        if (is_kept(map_get(&e->execs, held.exec_id), poll->worker_id, &held, boot_ms))
            kept[count++] = held;
    }
    return count;
}

static const uint64_t *epochs_of(const struct engine *e, struct command *cmd,
                                 const struct poll_held *kept, size_t count)
{
    uint64_t *epochs = ARENA_ARRAY(cmd->arena, uint64_t, PARTITIONS_MAX);
    memset(epochs, 0, PARTITIONS_MAX * sizeof *epochs);
    for (size_t i = 0; i < count; i++) {
        uint32_t p = partition_of(e->owned.count, kept[i].exec_id);
        epochs[p] = e->tenure.epochs[p];
    }
    return epochs;
}

/* Says what is kept, and renews nothing. A poll that is older than another one says nothing about
 * now. */
static void reply_kept(struct engine *e, struct command *cmd, int64_t boot_ms)
{
    const struct poll *poll = &cmd->poll;
    const struct worker *w = map_get(&e->workers, poll->worker_id);
    struct poll_held *kept =
        ARENA_ARRAY(cmd->arena, struct poll_held, poll->held_count + poll->result_count);
    bool is_old = w != NULL && poll->seq < w->v.seq;
    size_t count = is_old ? 0 : find_kept(e, poll, boot_ms, kept);
    cmd->reply.rc = RC_OK;
    cmd->reply.poll = (struct poll_reply){
        .provisional = true,
        .owned = {.count = e->owned.count},
        .epochs = epochs_of(e, cmd, kept, count),
        .kept = kept,
        .kept_count = count,
    };
}

/* The worker was heard; but what it has heard of us says no more what we own. */
static void note_poll(struct worker_values *v, const struct poll *poll, int64_t boot_ms)
{
    if (poll->seq < v->seq)
        return;
    v->seq = poll->seq;
    v->seen_ms = boot_ms > v->seen_ms ? boot_ms : v->seen_ms;
    v->told_seq = 0;
}

void engine_answer_kept(struct engine *e, struct command *cmd, struct moment now)
{
    struct worker *w = map_get(&e->workers, cmd->poll.worker_id);
    assert(cmd->kind == CMD_POLL);
    memset(&cmd->reply, 0, sizeof cmd->reply);
    cmd->reply.at_ms = now.wall_ms;
    reply_kept(e, cmd, now.boot_ms);
    for (size_t i = 0; i < cmd->reply.poll.kept_count; i++)
        renew_for_good(e, map_get(&e->execs, cmd->reply.poll.kept[i].exec_id), now.boot_ms);
    if (w == NULL)
        return;
    note_poll(&w->v, &cmd->poll, now.boot_ms);
    if (w->touched != NULL)
        note_poll(&w->touched->before.worker, &cmd->poll, now.boot_ms);
}

void answer_provisionally(struct engine *e, struct command *cmd)
{
    struct worker *w = map_get(&e->workers, cmd->poll.worker_id);
    reply_kept(e, cmd, e->boot_ms);
    for (size_t i = 0; i < cmd->reply.poll.kept_count; i++)
        renew_in_turn(e, map_get(&e->execs, cmd->reply.poll.kept[i].exec_id));
    if (w == NULL)
        return;
    touch_worker(e, w);
    note_poll(&w->v, &cmd->poll, e->boot_ms);
}

/* ---- what the worker has heard of us */

/* The number of all answers in which this engine says to the worker what it owns, until one is
 * provisional. */
static uint64_t heard_as(const struct engine *e, const struct worker *w)
{
    return POLL_HEARD_AS | ((e->voice + w->v.told_seq) & (POLL_HEARD_AS - 1));
}

void worker_told(struct engine *e, struct worker *w, struct command *cmd)
{
    if (w->v.told_seq == 0) {
        if (e->turn.arena != NULL)
            touch_worker(e, w);
        w->v.told_seq = cmd->poll.seq;
    }
    if (cmd->reply.poll.epochs != NULL)
        cmd->reply.poll.heard_as = heard_as(e, w);
}

/* An older worker names a poll of its own that was answered: by us, unless several of its polls
 * were held back on their way and went to another engine first. */
bool worker_has_heard(const struct engine *e, const struct worker *w, const struct poll *poll)
{
    if (poll->heard == 0 || w->v.told_seq == 0)
        return false;
    return poll->heard >= POLL_HEARD_AS ? poll->heard == heard_as(e, w)
                                        : poll->heard >= w->v.told_seq;
}

/* ---- leases that must be waited for */

static uint64_t unsure_among(const struct engine *e, const struct list *leases)
{
    uint64_t bits = 0;
    LIST_EACH(leases, node)
    {
        const struct exec *x = CONTAINER_OF(node, struct exec, on_worker);
        uint32_t p = partition_of(e->owned.count, x->id);
        if (x->v.lease.unsure && e->tenure.unsure_until_ms[p] > e->boot_ms + e->options.lease_ms)
            bits |= UINT64_C(1) << p;
    }
    return bits;
}

uint64_t engine_unsure(const struct engine *e)
{
    bool any = false;
    for (size_t i = 0; i < e->owned.count; i++)
        any |= e->tenure.unsure_until_ms[i] > e->boot_ms + e->options.lease_ms;
    if (!any)
        return 0;
    uint64_t bits = unsure_among(e, &e->orphans);
    MAP_EACH(&e->workers, slot)
    {
        const struct worker *w = slot->value;
        bits |= unsure_among(e, &w->leases);
    }
    return bits;
}

/* ---- from one engine to the next */

static bool is_same_epoch(const struct engine *newer, const struct engine *former, uint32_t p)
{
    return newer->owned.count == former->owned.count && newer->tenure.epochs[p] != 0 &&
           newer->tenure.epochs[p] == former->tenure.epochs[p];
}

/* A worker that another server has registered is not loaded; and polls of those that are were
 * numbered. */
static void inherit_worker(struct engine *newer, const struct worker *from)
{
    struct worker *w = map_get(&newer->workers, from->id);
    if (from->v.gone || (w == NULL && partition_has(&newer->owned, from->id)))
        return; /* it was deleted */
    if (w == NULL) {
        struct worker_rec rec = worker_record(from);
        w = worker_new(newer, &rec);
        worker_place(newer, w);
        worker_adopt(newer, w);
    }
    w->v.seq = from->v.seq > w->v.seq ? from->v.seq : w->v.seq;
}

static void inherit_lease(struct engine *newer, struct exec *x, const struct exec *from)
{
    if (!exec_is_leased(x->v.state) || !exec_is_leased(from->v.state) ||
        lease_check(&from->v.lease, lease_holder(&x->v.lease), x->v.lease.token, NULL) != RC_OK)
        return; /* the store knows better */
    struct exec_values to = x->v;
    to.lease.ends_ms = from->v.lease.ends_ms;
    to.lease.confirmed = from->v.lease.confirmed;
    to.lease.unsure = from->v.lease.unsure;
    if (map_get(&newer->workers, x->v.lease.worker_id) != NULL)
        to.lease.inherited = from->v.lease.inherited; /* the numbers of its polls are known, too */
    to.times_out_ms = from->v.times_out_ms;
    to.named_ms = from->v.named_ms;
    to.stop_told = from->v.stop_told;
    exec_set(newer, x, &to);
}

/* A lease that no poll has named since the former engine was loaded ended when that one began to
 * wait, if its time was over by then; the time since tells nothing about it. */
static void inherit_alive(struct engine *newer, const struct engine *former)
{
    for (uint32_t p = 0; p < newer->owned.count; p++) {
        if (is_same_epoch(newer, former, p))
            newer->tenure.alive_ms[p] = former->tenure.alive_ms[p];
    }
}

void engine_inherit(struct engine *newer, const struct engine *former)
{
    assert(!in_turn(newer));
    inherit_alive(newer, former);
    MAP_EACH(&former->workers, slot) inherit_worker(newer, slot->value);
    MAP_EACH(&former->execs, slot)
    {
        const struct exec *from = slot->value;
        struct exec *x = map_get(&newer->execs, from->id);
        if (x != NULL && is_same_epoch(newer, former, partition_of(newer->owned.count, x->id)))
            inherit_lease(newer, x, from);
    }
}
