#include "keeper.h"
#include "base/plant.h"
#include "coverage.h"
#include "promises.h"
#include "world.h"

enum { POLLS_MAX = 256 };

static struct call *call_at(struct list_node *node)
{
    return CONTAINER_OF(node, struct call, at);
}

static struct call *call_of(struct list_node *node)
{
    struct command *cmd = CONTAINER_OF(node, struct command, node);
    return CONTAINER_OF(cmd, struct call, cmd);
}

static void answer(struct world *w, struct call *call)
{
    list_remove(&call->at);
    net_reply(w, call);
}

/* What a server may keep has not been taken from it, as far as it knows. What is to be given is not given
 * before its engine is gone. */
static uint64_t may_keep(const struct sim_server *s, const struct ownership *owned)
{
    const struct sim_member *m = &s->member;
    uint64_t bits = 0;
    uint64_t giving = s->former == NULL ? 0 : m->giving;
    for (uint32_t i = 0; cluster_has_grace(s) && i < owned->partitions; i++) {
        bool ours = owned->epochs[i] == m->own.epochs[i] && (giving >> i & 1) == 0;
        bits |= owned->epochs[i] != 0 && ours ? UINT64_C(1) << i : 0;
    }
    return bits;
}

static void restrict_kept(const struct sim_server *s, const struct ownership *owned,
                          struct command *cmd)
{
    struct poll_reply *reply = &cmd->reply.poll;
    const struct partition_set ours = {owned->partitions, may_keep(s, owned)};
    if (!s->world->cluster || cmd->kind != CMD_POLL || cmd->reply.rc != RC_OK)
        return;
    PROMISE(s->world, reply->provisional, "a server that may not decide answers as an owner does");
    struct poll_held *kept = ARENA_ARRAY(cmd->arena, struct poll_held, reply->kept_count);
    size_t count = 0;
    for (size_t i = 0; i < reply->kept_count; i++) {
        if (partition_has(&ours, reply->kept[i].exec_id))
            kept[count++] = reply->kept[i];
    }
    reply->kept = kept;
    reply->kept_count = count;
    saw(SAW_AWAY);
    model_kept(s->world, cmd);
}

/* By the engine that knows. */
static void answer_kept(struct sim_server *s, struct call *call)
{
    bool former = s->former != NULL;
    engine_answer_kept(former ? s->former : s->turn.engine, &call->cmd, sim_server_now(s));
    restrict_kept(s, former ? &s->former_owned : &s->turn.owned, &call->cmd);
    answer(s->world, call);
}

static void give_up(struct sim_server *s, struct call *call)
{
    call->cmd.reply.rc = RC_BUSY;
    promise_refused(s->world, &call->cmd);
    answer(s->world, call);
}

static void run_outage(struct sim_server *s, struct command *const *polls, size_t count)
{
    struct world *w = s->world;
    struct turn_news news;
    turn_run_outage(&s->turn, polls, count, sim_server_now(s), &news);
    for (struct list_node *node; (node = list_pop_front(&news.done)) != NULL;) {
        struct call *call = call_of(node);
        restrict_kept(s, &s->turn.owned, &call->cmd);
        answer(w, call);
    }
}

void keeper_step(struct sim_server *s)
{
    struct world *w = s->world;
    struct command *polls[POLLS_MAX];
    size_t count = 0;
    LIST_EACH(&s->mailbox, node)
    {
        struct call *call = call_at(node);
        bool kept = call->cmd.kind == CMD_POLL && (!w->cluster || cluster_has_grace(s));
        list_remove(node);
        list_push_back(&s->inside, node);
        call->away = true; /* it may be gone when it is answered */
        if (kept && s->former != NULL)
            answer_kept(s, call);
        else if (!kept || count == POLLS_MAX)
            give_up(s, call);
        else
            polls[count++] = &call->cmd;
    }
    run_outage(s, polls, count);
}

void keeper_wait(struct sim_server *s)
{
    LIST_EACH(&s->mailbox, node)
    {
        struct call *call = call_at(node);
        if (call->cmd.kind == CMD_POLL && cluster_has_grace(s)) {
            s->kept_in_turn = true;
            answer_kept(s, call);
        } else if (call->cmd.kind == CMD_POLL) {
            give_up(s, call);
        }
    }
}

/* An engine that is about to go says nothing about what its server owns. */
void keeper_let_go(struct sim_server *s)
{
    struct list parked;
    list_init(&parked);
    engine_unpark(s->turn.engine, &parked);
    for (struct list_node *node; (node = list_pop_front(&parked)) != NULL;) {
        struct call *call = call_of(node);
        if (s->world->cluster && s->knows)
            answer_kept(s, call);
        else
            answer(s->world, call);
    }
}

/* One that knows nothing has nothing to say. */
void keeper_adopt(struct sim_server *s)
{
    if (s->former != NULL || !s->knows)
        return;
    s->former = s->turn.engine;
    s->former_owned = s->turn.owned;
    s->turn.engine = NULL;
}

void keeper_pass_on(struct sim_server *s)
{
    if (s->former != NULL)
        engine_inherit(s->turn.engine, s->former);
    keeper_forget(s);
}

void keeper_forget(struct sim_server *s)
{
    engine_free(s->former);
    s->former = NULL;
}
