#include "server/turn/bisect.h"
#include "base/log.h"
#include "base/vec.h"

enum { DUE_ROUNDS_MAX = 64 }; /* halving ten thousand twice over; then the next turn goes on */

/* The outcome of the commands so far. */
struct tangle {
    struct turn *turn;
    struct moment now;
    struct turn_news *news;
    struct err *err;
    VEC(struct event) events; /* in turn.kept: each part of the turn resets the turn's arena */
    size_t answered;          /* commands from the first on that are kept, parked or refused */
};

bool is_contradiction(enum rc rc)
{
    return rc == RC_CONFLICT || rc == RC_TOO_LARGE || rc == RC_INVALID;
}

/* ---- memory and store disagree */

/* True when the store has it, unfinished, as a change of it takes for granted. */
static bool is_known(struct turn *t, uint64_t exec_id)
{
    struct question question = {.kind = ASK_EXEC, .id = exec_id};
    struct question *questions[] = {&question};
    const struct answer *a = &question.answer;
    if (t->store->ops->admit(t->store, &t->owned, questions, 1, &t->arena, NULL) != RC_OK)
        return true; /* unknown: then it stays */
    return a->exec != NULL && !exec_is_final(a->exec->state) && a->job_count > 0;
}

/* Forgets the executions of the refused delta that the store does not know; says how many. */
static size_t drop_strangers(struct turn *t)
{
    size_t dropped = 0;
    for (size_t i = 0; t->refused != NULL && i < t->refused->exec_count; i++) {
        const struct exec_change *change = &t->refused->execs[i];
        bool is_old = change->kind == CHANGE_UPDATE || change->kind == CHANGE_FINISH;
        if (!is_old || is_known(t, change->exec.id) || !engine_drop(t->engine, change->exec.id))
            continue;
        turn_quarantine(t, change->exec.id, "the store does not know it as unfinished");
        dropped++;
    }
    t->store->ops->abort(t->store);
    return dropped;
}

/* ---- parts of a turn */

/* Its texts live until the next part begins. */
static struct event kept_event(struct arena *kept, struct event event)
{
    event.queue = arena_str(kept, event.queue);
    event.handler = arena_str(kept, event.handler);
    event.breaker = arena_str(kept, event.breaker);
    event.actor = arena_str(kept, event.actor);
    return event;
}

static void add_news(struct tangle *g, struct turn_news *news)
{
    struct arena *kept = &g->turn->kept;
    list_splice_back(&g->news->done, &news->done);
    for (size_t i = 0; i < news->event_count; i++)
        *VEC_PUSH(kept, &g->events) = kept_event(kept, news->events[i]);
    g->news->events = g->events.items;
    g->news->event_count = g->events.len;
    g->news->committed |= news->committed;
    g->news->mailed |= news->mailed;
}

static enum rc run_part(struct tangle *g, struct command *const *commands, size_t count)
{
    struct turn_news news;
    enum rc rc = turn_run_once(g->turn, commands, count, g->now, &news, g->err);
    while (is_contradiction(rc) && drop_strangers(g->turn) > 0)
        rc = turn_run_once(g->turn, commands, count, g->now, &news, g->err);
    if (rc == RC_OK) {
        add_news(g, &news);
        g->answered += count;
    }
    return rc;
}

/* The first execution in the refused delta that memory had before is left alone. False: there is
 * none. */
static bool leave_one_alone(struct tangle *g)
{
    struct turn *t = g->turn;
    for (size_t i = 0; t->refused != NULL && i < t->refused->exec_count; i++) {
        const struct exec_change *change = &t->refused->execs[i];
        bool is_old = change->kind == CHANGE_UPDATE || change->kind == CHANGE_FINISH;
        if (is_old && engine_drop(t->engine, change->exec.id)) {
            turn_quarantine(t, change->exec.id, g->err->text);
            return true;
        }
    }
    return false;
}

/* Among what is due there is something that the store refuses. It would come again with every turn,
 * here and wherever it is loaded next, so it is looked for: half of what is due, half of that,
 * until it is alone. Other executions that are due are kept on the way, or comes with the next
 * turn. */
static enum rc run_due(struct tangle *g, enum rc rc)
{
    struct engine *e = g->turn->engine;
    size_t all = engine_limit_due(e, SIZE_MAX);
    size_t some = all;
    for (int round = 0; is_contradiction(rc) || (some < all && round < DUE_ROUNDS_MAX); round++) {
        if (is_contradiction(rc) && some == 1 && !leave_one_alone(g))
            break;
        if (is_contradiction(rc) && some == 1)
            some = all; /* found: the rest may come as it is */
        else if (is_contradiction(rc))
            some /= 2;
        else if (rc != RC_OK)
            break;
        (void)engine_limit_due(e, some);
        rc = run_part(g, NULL, 0);
    }
    (void)engine_limit_due(e, all);
    return rc;
}

/* Deleting what is too old is nobody's wish, and it comes again with every turn, here and at
 * whoever takes over. It waits, so that no command is blamed for it; and where it was that, it is
 * not tried again for a while. */
static enum rc run_without_old(struct tangle *g, enum rc rc)
{
    struct engine *e = g->turn->engine;
    bool looked = engine_looked_for_old(e);
    engine_hold_old(e, true);
    if (looked)
        rc = run_part(g, NULL, 0);
    if (looked && rc == RC_OK) {
        log_error("the store refuses to delete old executions; they are tried again later", "error",
                  g->err->text, NULL);
        engine_put_off_old(e);
    }
    if (is_contradiction(rc))
        rc = run_due(g, rc);
    engine_hold_old(e, false);
    return rc;
}

/* What time brings, what came by mail, and what an operation does: the one thing that cannot be
 * kept is found, since it would come again for ever. Mail is rejected, the operation told, an
 * execution left alone. While it is looked for among what is due, the others wait: none shall be
 * blamed for another, and neither shall commands, before which operations stay held. */
static enum rc run_own(struct tangle *g)
{
    struct engine *e = g->turn->engine;
    enum rc rc = run_part(g, NULL, 0);
    while (is_contradiction(rc) && engine_mail_doubt(e, g->err->text))
        rc = run_part(g, NULL, 0);
    while (is_contradiction(rc) && engine_operation_doubt(e, g->err->text))
        rc = run_part(g, NULL, 0);
    engine_hold_operations(e, true); /* the next step waits for the next turn */
    if (!is_contradiction(rc))
        return rc;
    engine_hold_mail(e, true);
    rc = run_part(g, NULL, 0);
    if (is_contradiction(rc))
        rc = run_without_old(g, rc);
    engine_hold_mail(e, false);
    return rc;
}

static void answer(struct tangle *g, struct command *cmd, enum rc rc, const char *why)
{
    cmd->reply.rc = err_set(&cmd->reply.err, rc, "%s", why);
    list_push_back(&g->news->done, &cmd->node);
    g->answered++;
}

/* A worker takes `invalid` as a word about its results, and finds by itself which of them it is. */
static void refuse(struct tangle *g, struct command *cmd)
{
    log_set_about(g->turn->about, cmd);
    log_error("the store refuses a command; it was answered so, the others are kept", "code",
              rc_name(g->err->rc), "error", g->err->text, NULL);
    log_set_about(NULL, NULL);
    answer(g, cmd, cmd->kind == CMD_POLL ? RC_INVALID : g->err->rc, g->err->text);
}

static enum rc divide(struct tangle *g, struct command *const *commands, size_t count)
{
    enum rc rc = run_part(g, commands, count);
    if (!is_contradiction(rc))
        return rc;
    if (count == 1) {
        refuse(g, commands[0]);
        return RC_OK;
    }
    TRY(divide(g, commands, count / 2));
    return divide(g, commands + count / 2, count - count / 2);
}

static bool is_passing(enum rc rc)
{
    return rc == RC_FULL || rc == RC_BUSY || rc == RC_IO;
}

/* A store that refuses also what changes nothing has trouble of its own (a pooler without a server,
 * a fault within the database), for which neither a worker's results nor what is due are to blame:
 * all of it waits. */
static enum rc check_store(struct turn *t, struct err *err)
{
    struct err why;
    enum rc rc = turn_probe(t, &why);
    if (rc == RC_OK)
        return RC_OK;
    if (is_contradiction(rc) || rc == RC_UNKNOWN)
        rc = RC_IO; /* whether that was kept is nobody's concern */
    return err_set(err, rc, "the store takes no commit at all: %s", why.text);
}

enum rc bisect(struct turn *t, struct command *const *commands, size_t count, struct moment now,
               struct turn_news *ret_news, struct err *err)
{
    struct tangle g = {.turn = t, .now = now, .news = ret_news, .err = err};
    *ret_news = (struct turn_news){0};
    list_init(&ret_news->done);
    arena_reset(&t->kept);
    TRY(check_store(t, err));
    drop_strangers(t); /* of the try that brought us here */
    /* Executions that come due go first, and alone: no command shall be blamed for them. */
    enum rc own = run_own(&g);
    enum rc rc = own == RC_OK && count > 0 ? divide(&g, commands, count) : RC_OK;
    engine_hold_operations(t->engine, false);
    TRY(own);
    if (rc != RC_OK && !is_passing(rc))
        t->broken = rc;
    while (g.answered < count)
        answer(&g, commands[g.answered], rc == RC_FULL ? RC_FULL : RC_BUSY, err->text);
    return RC_OK;
}
