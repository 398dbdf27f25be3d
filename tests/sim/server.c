#include "server.h"
#include "coverage.h"
#include "promises.h"
#include "world.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    TURN_CALLS_MAX = 32,
    REST_MAX_MS = 4000,   /* between a crash and the next start */
    DEPOSED_FOR_MS = 500, /* how long one that was deposed goes on without noticing */
    WAKE_MAX_MS = 1000,   /* as in server/decider.c */
    DUMP_BYTES_MAX = 1 << 22,
};

static struct call *call_at(struct list_node *node)
{
    return CONTAINER_OF(node, struct call, at);
}

static struct call *call_of(struct list_node *node)
{
    struct command *cmd = CONTAINER_OF(node, struct command, node);
    return CONTAINER_OF(cmd, struct call, cmd);
}

/* ---- waking up */

static void wake(struct world *w, void *what, uint64_t no);

static void wake_in(struct sim_server *s, int64_t delay_ms)
{
    s->wake_ms = s->world->boot_ms + delay_ms;
    agenda_add(s->world, s->wake_ms, wake, s, ++s->wake_no);
}

/* The next turn: soon when there is mail, else when the engine wants one. */
static void sleep_until_next(struct sim_server *s)
{
    int64_t ahead_ms = engine_wait_ms(s->turn.engine, world_now(s->world));
    if (!list_empty(&s->mailbox))
        ahead_ms = pick_ms(s->world, 0, 3);
    wake_in(s, ahead_ms < WAKE_MAX_MS ? ahead_ms : WAKE_MAX_MS);
}

void sim_server_take(struct sim_server *s, struct call *take_call)
{
    list_push_back(&s->mailbox, &take_call->at);
    int64_t commit_ms = pick_ms(s->world, 0, 3); /* more mail gathers meanwhile */
    if (s->world->boot_ms + commit_ms < s->wake_ms)
        wake_in(s, commit_ms);
}

/* ---- life and death */

void sim_server_init(struct world *w, struct sim_server *s, const char *name)
{
    *s = (struct sim_server){.world = w, .name = name};
    list_init(&s->mailbox);
    list_init(&s->inside);
}

void sim_server_free(struct sim_server *s)
{
    if (s->up)
        turn_close(&s->turn);
    s->up = false;
}

static void start(struct world *w, void *what, uint64_t no)
{
    struct sim_server *s = what;
    (void)no;
    if (!s->up && s == w->server)
        sim_server_start(s);
}

void sim_server_start(struct sim_server *s)
{
    struct world *w = s->world;
    char node[32];
    struct err err;
    snprintf(node, sizeof node, "%s-%" PRIu64, s->name, w->step);
    if (turn_open(&s->turn, &w->store.store, str_c(node), &w->scene.engine, world_now(w), &err)) {
        SAY(w, s->name, "could not start: %s", err.text);
        turn_close(&s->turn);
        agenda_add(w, w->boot_ms + pick_ms(w, 100, REST_MAX_MS), start, s, 0);
        return;
    }
    SAY(w, s->name, "started, epoch %" PRIu64 ", %zu executions in memory", s->turn.owned.epochs[0],
        engine_live_count(s->turn.engine));
    s->up = true;
    s->deposed = false;
    model_reloaded(w);
    promise_acknowledged(w);
    promise_engine(w, s);
    sleep_until_next(s);
}

static void break_calls(struct world *w, struct list *calls)
{
    for (struct list_node *node; (node = list_pop_front(calls)) != NULL;)
        net_break(w, call_at(node));
}

void sim_server_crash(struct sim_server *s)
{
    struct world *w = s->world;
    SAY(w, s->name, "died");
    s->up = false;
    s->wake_no++;
    turn_close(&s->turn);
    break_calls(w, &s->inside);
    break_calls(w, &s->mailbox);
    if (s == w->server)
        agenda_add(w, w->boot_ms + pick_ms(w, 100, REST_MAX_MS), start, s, 0);
}

static void end_deposed(struct world *w, void *what, uint64_t no)
{
    struct sim_server *s = what;
    (void)w;
    (void)no;
    if (s->up && s->deposed)
        sim_server_crash(s);
}

void sim_server_take_over(struct world *w)
{
    struct sim_server *old = w->server;
    struct sim_server *next = &w->servers[old == &w->servers[0]];
    if (!old->up || next->up)
        return;
    sim_server_start(next);
    if (!next->up)
        return; /* and the old one will notice that it was deposed */
    old->deposed = true;
    w->server = next;
    agenda_add(w, w->boot_ms + DEPOSED_FOR_MS, end_deposed, old, 0);
}

/* ---- a turn */

/* Usually all that waits, sometimes less. */
static size_t gather(struct sim_server *s, struct command **ret_commands)
{
    size_t most = pick(s->world, 4) == 0 ? 1 + pick(s->world, 3) : TURN_CALLS_MAX;
    size_t count = 0;
    for (struct list_node *node; count < most && (node = list_pop_front(&s->mailbox)) != NULL;) {
        list_push_back(&s->inside, node);
        ret_commands[count++] = &call_at(node)->cmd;
    }
    return count;
}

static void publish(struct sim_server *s, const struct turn_view *view, struct turn_news *news)
{
    struct world *w = s->world;
    if (!s->deposed) {
        model_turn_done(w, view, &news->done);
        promise_answers(w, s, &news->done);
        promise_engine(w, s);
        promise_near(w, s);
        if (engine_wait_ms(s->turn.engine, view->now) > 0)
            slas_check(w, view->now.wall_ms);
    }
    for (struct list_node *node; (node = list_pop_front(&news->done)) != NULL;) {
        struct call *call = call_of(node);
        list_remove(&call->at);
        net_reply(w, call);
    }
    promise_parked(w, s);
}

static void give_up(struct sim_server *s, const struct turn_view *view, const struct err *err)
{
    for (size_t i = 0; i < view->count; i++) {
        struct command *cmd = view->commands[i];
        cmd->reply.rc = err->rc == RC_FULL ? RC_FULL : RC_BUSY;
        promise_refused(s->world, cmd);
        struct call *call = CONTAINER_OF(cmd, struct call, cmd);
        list_remove(&call->at);
        net_reply(s->world, call);
    }
}

/* Back to the front of the mailbox, in the order they came. */
static void put_back(const struct sim_server *s, const struct turn_view *view)
{
    struct list_node *at = s->mailbox.head.next;
    for (size_t i = 0; i < view->count; i++) {
        struct call *call = CONTAINER_OF(view->commands[i], struct call, cmd);
        list_remove(&call->at);
        list_insert_before(at, &call->at);
    }
}

static void recover(struct sim_server *s, const struct turn_view *view, const struct err *err)
{
    struct world *w = s->world;
    bool passes = err->rc == RC_FULL || err->rc == RC_BUSY || err->rc == RC_IO;
    SAY(w, s->name, "the turn failed: %s", err->text);
    PROMISE(w, passes || err->rc == RC_DEPOSED || err->rc == RC_UNKNOWN,
            "a turn failed with %s: %s", rc_name(err->rc), err->text);
    if (!passes) {
        sim_server_crash(s);
        return;
    }
    promise_engine(w, s);
    if (err->rc == RC_FULL || pick(w, 4) == 0)
        give_up(s, view, err);
    else
        put_back(s, view);
    wake_in(s, pick_ms(w, 5, 200));
}

static void run_turn(struct sim_server *s)
{
    struct world *w = s->world;
    struct command *commands[TURN_CALLS_MAX];
    struct turn_news news;
    struct err err;
    CLEANUP(buf_free) struct buf before = BUF(DUMP_BYTES_MAX);
    struct turn_view view = {
        .commands = commands, .count = gather(s, commands), .now = world_now(w)};
    SAY(w, s->name, "turn with %zu commands", view.count);
    if (view.count >= 5)
        saw(SAW_TURN_OF_MANY);
    enum fault fault = fault_of_turn(w, FAULT_ADMIT_BUSY, FAULT_DEPOSED_BEFORE_COMMIT);
    if (fault != FAULT_NONE)
        engine_dump(s->turn.engine, &before);
    w->model.turn++;
    sim_store_begin_turn(&w->store, &view, fault);
    enum rc rc = turn_run(&s->turn, commands, view.count, view.now, &news, &err);
    if (rc == RC_OK && fault == FAULT_CRASH_BEFORE_ANSWERS) {
        fault_happens(w, fault);
        w->store.crashed = true;
    }
    if (w->store.crashed) {
        sim_server_crash(s);
        return;
    }
    if (rc == RC_OK) {
        publish(s, &view, &news);
        sleep_until_next(s);
        return;
    }
    saw(rc == RC_DEPOSED ? SAW_DEPOSED : SAW_UNDONE);
    promise_undone(w, s, buf_str(&before));
    recover(s, &view, &err);
}

static void wake(struct world *w, void *what, uint64_t no)
{
    struct sim_server *s = what;
    if (!s->up || no != s->wake_no)
        return;
    if (!list_empty(&s->mailbox) || engine_wait_ms(s->turn.engine, world_now(w)) == 0)
        run_turn(s);
    else
        sleep_until_next(s);
}
