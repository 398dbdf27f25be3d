#include "server/turn/keeper.h"
#include "loop/clock.h"

enum { ANSWERS_MAX = 4096 }; /* at a time; the rest is answered the next moment */

void keeper_restrict(const struct keeper *k, const struct ownership *owned, struct command *cmd)
{
    if (k->membership == NULL || cmd->kind != CMD_POLL || !cmd->reply.poll.provisional)
        return;
    struct poll_reply *reply = &cmd->reply.poll;
    const struct partition_set ours = {owned->partitions,
                                       membership_may_keep(k->membership, owned)};
    struct poll_held *kept = ARENA_ARRAY(cmd->arena, struct poll_held, reply->kept_count);
    size_t count = 0;
    for (size_t i = 0; i < reply->kept_count; i++) {
        if (partition_has(&ours, reply->kept[i].exec_id))
            kept[count++] = reply->kept[i];
    }
    reply->kept = kept;
    reply->kept_count = count;
}

void keeper_answer(const struct keeper *k, struct engine *engine, const struct ownership *owned,
                   struct command *poll)
{
    engine_answer_kept(engine, poll, clock_now());
    keeper_restrict(k, owned, poll);
}

void keeper_answer_waiting(const struct keeper *k, struct intake *in, struct turn *turn)
{
    static struct command *polls[ANSWERS_MAX]; /* one thread */
    struct list done;
    struct err err;
    size_t count = intake_take_polls(in, polls, ANSWERS_MAX);
    if (!membership_has_grace(k->membership)) {
        err_set(&err, RC_BUSY, "this server could not renew its membership in the cluster");
        answers_give_up(polls, count, &err);
        return;
    }
    list_init(&done);
    for (size_t i = 0; i < count; i++) {
        if (k->former != NULL)
            keeper_answer(k, k->former, &k->owned, polls[i]);
        else
            keeper_answer(k, turn->engine, &turn->owned, polls[i]);
        list_push_back(&done, &polls[i]->node);
    }
    answers_send(&done);
}

void keeper_wait(const struct keeper *k, struct intake *in, struct turn *turn)
{
    if (k->membership != NULL && clock_mono_us() - k->looked_us >= k->quiet_ms * 1000)
        keeper_answer_waiting(k, in, turn);
}

bool keeper_adopt(struct keeper *k, struct engine *engine, const struct ownership *owned)
{
    if (k->membership == NULL || k->former != NULL)
        return false;
    k->former = engine;
    k->owned = *owned;
    return true;
}

struct engine *keeper_pass_on(struct keeper *k, struct engine *successor)
{
    struct engine *former = k->former;
    k->former = NULL;
    if (former != NULL)
        engine_inherit(successor, former);
    return former;
}
