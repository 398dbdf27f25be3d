#include "server.h"
#include "coverage.h"
#include "job/command/command_facts.h"
#include "keeper.h"
#include "promises.h"
#include "world.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    TURN_CALLS_MAX = 32,
    REST_MAX_MS = 4000,   /* between a crash and the next start */
    DEPOSED_FOR_MS = 500, /* how long one that was deposed goes on without noticing */
    WAKE_MAX_MS = 1000,   /* as in server/turn/decider.c */
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
    int64_t ahead_ms = engine_wait_ms(s->turn.engine, sim_server_now(s));
    if (s->world->cluster && ahead_ms == 0) /* as commits take time */
        ahead_ms = pick_ms(s->world, 0, 3);
    if (!list_empty(&s->mailbox))
        ahead_ms = pick_ms(s->world, 0, 3);
    wake_in(s, ahead_ms < WAKE_MAX_MS ? ahead_ms : WAKE_MAX_MS);
}

/* The server that has to decide about it; NULL: this one, or nobody knows. */
static struct sim_server *find_owner(const struct sim_server *s, const struct command *cmd)
{
    if (!s->member.loaded || turn_is_ours(&s->turn, cmd))
        return NULL;
    switch (command_place(cmd)) {
    case PLACE_OWNER: return cluster_owner(s, command_id(cmd));
    case PLACE_FIRST: return cluster_owner(s, 1); /* whose bucket is the first */
    default: return cluster_any_owner(s);
    }
}

/* True when it was sent on to whoever decides about it. */
static bool forward(struct sim_server *s, struct call *call)
{
    struct world *w = s->world;
    struct sim_server *owner = w->cluster && !call->forwarded ? find_owner(s, &call->cmd) : NULL;
    if (owner == NULL)
        return false;
    SAY(w, s->name, "forwards a command of kind %d to %s", (int)call->cmd.kind, owner->name);
    saw(SAW_FORWARDED);
    net_forward(w, call, owner);
    return true;
}

void sim_server_take(struct sim_server *s, struct call *take_call)
{
    if (forward(s, take_call))
        return;
    list_push_back(&s->mailbox, &take_call->at);
    int64_t commit_ms = pick_ms(s->world, 0, 3); /* more mail gathers meanwhile */
    if (s->world->boot_ms + commit_ms < s->wake_ms)
        wake_in(s, commit_ms);
}

void sim_server_stir(struct sim_server *s)
{
    wake_in(s, 0);
}

/* ---- life and death */

void sim_server_init(struct world *w, struct sim_server *s, const char *name,
                     struct sim_store *door)
{
    *s = (struct sim_server){.world = w, .name = name, .door = door};
    list_init(&s->mailbox);
    list_init(&s->inside);
}

void sim_server_free(struct sim_server *s)
{
    if (s->up)
        turn_close(&s->turn);
    cluster_vanish(s);
    s->up = false;
}

static void start(struct world *w, void *what, uint64_t no)
{
    struct sim_server *s = what;
    (void)no;
    if (!s->up && (s == w->server || w->cluster))
        sim_server_start(s);
}

static void start_later(struct sim_server *s)
{
    struct world *w = s->world;
    agenda_add(w, w->boot_ms + pick_ms(w, 100, REST_MAX_MS), start, s, 0);
}

static bool may_keep(void *arg)
{
    return cluster_may_decide(arg);
}

/* Until it has loaded something, the engine of a member knows nothing, and decides about nothing. */
static void start_member(struct sim_server *s)
{
    struct world *w = s->world;
    struct err err;
    turn_idle(&s->turn, &s->door->store, CLUSTER_PARTITIONS, &w->scene.engine, sim_server_now(s));
    s->up = true;
    s->knows = false;
    if (!cluster_join(s, &err)) {
        SAY(w, s->name, "could not join: %s", err.text);
        s->up = false;
        turn_close(&s->turn);
        start_later(s);
        return;
    }
    SAY(w, s->name, "joined as %s", s->start);
    promise_acknowledged(w);
    sleep_until_next(s);
}

bool sim_server_load(struct sim_server *s, const struct ownership *own)
{
    struct world *w = s->world;
    struct partition_set set = ownership_set(own);
    struct err err;
    s->looked_ms = w->boot_ms;
    s->lost_turns += engine_lost_turns(s->turn.engine);
    keeper_let_go(s);
    keeper_adopt(s);
    turn_close(&s->turn);
    enum rc rc =
        turn_load(&s->turn, &s->door->store, own, &w->scene.engine, sim_server_now(s), &err);
    s->knows = rc == RC_OK;
    if (rc != RC_OK) {
        SAY(w, s->name, "could not load: %s", err.text);
        turn_close(&s->turn);
        turn_idle(&s->turn, &s->door->store, CLUSTER_PARTITIONS, &w->scene.engine,
                  sim_server_now(s));
    } else {
        SAY(w, s->name, "decides about %04" PRIx64 ", %zu executions in memory", set.bits,
            engine_live_count(s->turn.engine));
        model_reloaded(w, &set, s->looked_ms);
        s->load = w->model.loads;
        s->astray = false;
        engine_note_lost(s->turn.engine, s->lost_turns);
        s->lost_turns = 0;
        keeper_pass_on(s);
        promise_engine(w, s);
    }
    s->turn.may_keep = may_keep;
    s->turn.may_keep_arg = s;
    s->turn.on_ended = promise_ended;
    s->turn.on_ended_arg = w;
    wake_in(s, 0);
    return rc == RC_OK;
}

/* As server/turn/decider.c does: what the store has last seen says whether the clock can be right. */
static enum rc open_alone(struct sim_server *s, struct str node, struct err *err)
{
    struct store *store = &s->door->store;
    struct ownership owned;
    s->turn = (struct turn){.store = store};
    TRY(store->ops->own(store, node, &owned, err));
    clocks_begin(s, owned.id_floor);
    return turn_load(&s->turn, store, &owned, &s->world->scene.engine, sim_server_now(s), err);
}

void sim_server_start(struct sim_server *s)
{
    struct world *w = s->world;
    if (w->cluster) {
        start_member(s);
        return;
    }
    char node[32];
    struct err err;
    snprintf(node, sizeof node, "%s-%" PRIu64, s->name, w->step);
    if (open_alone(s, str_c(node), &err)) {
        SAY(w, s->name, "could not start: %s", err.text);
        turn_close(&s->turn);
        start_later(s);
        return;
    }
    SAY(w, s->name, "started, epoch %" PRIu64 ", %zu executions in memory", s->turn.owned.epochs[0],
        engine_live_count(s->turn.engine));
    s->turn.on_ended = promise_ended;
    s->turn.on_ended_arg = w;
    s->up = true;
    s->deposed = false;
    struct partition_set all = partition_all(1);
    model_reloaded(w, &all, w->boot_ms);
    s->load = w->model.loads;
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
    keeper_forget(s);
    cluster_vanish(s);
    if (w->cluster)
        s->door->inner->ops->abort(s->door->inner); /* its connection is gone */
    break_calls(w, &s->inside);
    break_calls(w, &s->mailbox);
    if (s == w->server || w->cluster)
        start_later(s);
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

/* Nobody else decides about it here; whoever asked is told to ask again. */
static void refuse(struct sim_server *s, struct call *call)
{
    saw(SAW_MISDIRECTED);
    call->cmd.reply.rc = RC_DEPOSED;
    promise_refused(s->world, &call->cmd);
    net_reply(s->world, call);
}

/* Usually all that waits, sometimes less. */
static size_t gather(struct sim_server *s, struct command **ret_commands)
{
    size_t most = pick(s->world, 4) == 0 ? 1 + pick(s->world, 3) : TURN_CALLS_MAX;
    size_t count = 0;
    for (struct list_node *node; count < most && (node = list_pop_front(&s->mailbox)) != NULL;) {
        if (s->world->cluster && !turn_is_ours(&s->turn, &call_at(node)->cmd)) {
            refuse(s, call_at(node));
            continue;
        }
        list_push_back(&s->inside, node);
        ret_commands[count++] = &call_at(node)->cmd;
    }
    return count;
}

static void publish(struct sim_server *s, const struct turn_view *view, struct turn_news *news)
{
    struct world *w = s->world;
    bool owner = model_is_owner(w, &s->turn.owned) && !s->astray;
    past_check_turn(s, view->now.boot_ms);
    PROMISE(w, !w->cluster || owner || s->astray || s->door->kept || list_empty(&news->done),
            "a server that was deposed gives an answer for which nothing was kept");
    if (!s->deposed && owner) {
        model_turn_done(w, view, &news->done);
        promise_answers(w, s, &news->done);
        promise_engine(w, s);
        promise_calendars(w, s, view->now.boot_ms);
        promise_near(w, s);
        if (engine_wait_ms(s->turn.engine, view->now) > 0 && !view->now.unsure)
            slas_check(w, &view->owned, view->now.wall_ms);
    }
    for (struct list_node *node; (node = list_pop_front(&news->done)) != NULL;) {
        struct call *call = call_of(node);
        list_remove(&call->at);
        call->astray = s->astray;
        digest_answer(&w->digest, &call->cmd);
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
    if (w->cluster && err->rc == RC_DEPOSED) {
        put_back(s, view);
        cluster_doubt(s);
        return;
    }
    if (!passes) {
        sim_server_crash(s);
        return;
    }
    if (model_is_owner(w, &s->turn.owned))
        promise_engine(w, s);
    if (w->cluster && pick(w, 2) == 0)
        keeper_let_go(s); /* as when a store is back that was away for long */
    if (err->rc == RC_FULL || pick(w, 4) == 0)
        give_up(s, view, err);
    else
        put_back(s, view);
    if (pick(w, 2) == 0)
        keeper_step(s);
    wake_in(s, pick_ms(w, 5, 200));
}

static enum fault draw_fault(struct world *w)
{
    if (!w->cluster)
        return fault_of_turn(w, FAULT_ADMIT_BUSY, FAULT_DEPOSED_BEFORE_COMMIT);
    enum fault freeze = fault_of_turn(w, FAULT_FREEZE_AFTER_ADMIT, FAULT_FREEZE_AFTER_COMMIT);
    return freeze != FAULT_NONE ? freeze
                                : fault_of_turn(w, FAULT_ADMIT_BUSY, FAULT_UNKNOWN_FOR_GOOD);
}

static void run_turn(struct sim_server *s)
{
    struct world *w = s->world;
    struct command *commands[TURN_CALLS_MAX];
    struct turn_news news;
    struct err err;
    CLEANUP(buf_free) struct buf before = BUF(DUMP_BYTES_MAX);
    struct turn_view view = {
        .commands = commands, .count = gather(s, commands), .now = sim_server_now(s)};
    view.owned = ownership_set(&s->turn.owned);
    view.load = s->load;
    SAY(w, s->name, "turn with %zu commands", view.count);
    if (view.count >= 5)
        saw(SAW_TURN_OF_MANY);
    enum fault fault = draw_fault(w);
    if (fault != FAULT_NONE)
        engine_dump(s->turn.engine, &before);
    view.turn = ++w->model.turn;
    sim_store_begin_turn(s->door, &view, fault);
    s->in_turn = true;
    s->kept_in_turn = false;
    enum rc rc = turn_run(&s->turn, commands, view.count, view.now, &news, &err);
    s->in_turn = false;
    if (rc == RC_OK && fault == FAULT_CRASH_BEFORE_ANSWERS) {
        fault_happens(w, fault);
        s->door->crashed = true;
    }
    if (s->door->crashed) {
        sim_server_crash(s);
        return;
    }
    if (rc == RC_OK) {
        inbox_turn(s, view.count == 0 && !news.committed);
        publish(s, &view, &news);
        sleep_until_next(s);
        return;
    }
    saw(rc == RC_DEPOSED ? SAW_DEPOSED : SAW_UNDONE);
    if (!s->kept_in_turn) /* what a worker was told meanwhile stays */
        promise_undone(w, s, buf_str(&before));
    recover(s, &view, &err);
}

static void wake(struct world *w, void *what, uint64_t no)
{
    struct sim_server *s = what;
    if (!s->up || no != s->wake_no || sim_server_defer(s, wake, no))
        return;
    s->looked_ms = w->boot_ms;
    if (!w->cluster)
        clocks_look(s);
    if (w->cluster && (!s->member.loaded || !cluster_may_decide(s))) {
        if (s->member.loaded)
            saw(SAW_FENCED);
        keeper_step(s);
        wake_in(s, pick_ms(w, 1, w->scene.node_lease_ms / 4));
        return;
    }
    if (w->cluster)
        cluster_read_settings(s);
    if (!list_empty(&s->mailbox) || engine_wait_ms(s->turn.engine, sim_server_now(s)) == 0)
        run_turn(s);
    else
        sleep_until_next(s);
}
