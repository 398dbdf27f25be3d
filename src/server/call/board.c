#include "server/call/board.h"
#include "base/mem.h"
#include "loop/clock.h"
#include "server/turn/decider.h"

#include <pthread.h>
#include <stdlib.h>

struct board {
    struct server *server;
    pthread_mutex_t lock; /* of all below */
    struct snapshot *newest;
    struct list waiting;
    bool asked; /* the turn is, for those that wait */
};

void snapshot_release(struct snapshot *s)
{
    if (s == NULL || atomic_fetch_sub(&s->holders, 1) > 1)
        return;
    arena_free(&s->errand.arena);
    free(s);
}

static struct snapshot *hold(struct snapshot *s)
{
    atomic_fetch_add(&s->holders, 1);
    return s;
}

static void give(struct list *served, struct snapshot *s)
{
    const struct command *cmd = &s->errand.request.cmd;
    bool good = cmd->reply.rc == RC_OK;
    for (struct list_node *node; (node = list_pop_front(served)) != NULL;) {
        struct board_wait *wait = CONTAINER_OF(node, struct board_wait, node);
        wait->rc = cmd->reply.rc;
        wait->err = cmd->reply.err;
        wait->take(wait, good ? hold(s) : NULL);
    }
}

/* Those for whom it is new enough; when it is an error, all. True when others wait for another. */
static bool take_served(struct board *b, const struct snapshot *s, struct list *ret_served)
{
    bool good = s->errand.request.cmd.reply.rc == RC_OK;
    list_init(ret_served);
    LIST_EACH(&b->waiting, node)
    {
        const struct board_wait *wait = CONTAINER_OF(node, struct board_wait, node);
        if (good && s->at_us < wait->from_us)
            continue;
        list_remove(node);
        list_push_back(ret_served, node);
    }
    return !list_empty(&b->waiting);
}

static void ask_turn(struct board *b);

/* On the turn's thread, or, when the server ends, on that of whoever asked. */
static void take_answer(struct errand *errand)
{
    struct snapshot *s = CONTAINER_OF(errand, struct snapshot, errand);
    struct board *b = s->errand.request.server->board;
    struct snapshot *old = NULL;
    struct list served;
    s->stats = s->errand.request.cmd.reply.stats;
    pthread_mutex_lock(&b->lock);
    b->asked = take_served(b, s, &served);
    bool again = b->asked;
    if (s->errand.request.cmd.reply.rc == RC_OK) {
        old = b->newest;
        b->newest = hold(s);
    }
    pthread_mutex_unlock(&b->lock);
    give(&served, s);
    snapshot_release(old);
    snapshot_release(s);
    if (again)
        ask_turn(b);
}

static void ask_turn(struct board *b)
{
    struct snapshot *s = MEM_NEW(struct snapshot);
    errand_init(&s->errand, CMD_STATS);
    s->at_ms = clock_wall_ms();
    s->at_us = clock_mono_us();
    s->errand.request.server = b->server;
    s->errand.take_ended = take_answer;
    atomic_init(&s->holders, 1);
    decider_send_errand(b->server->decider, &s->errand);
}

void board_ask(struct board *b, int64_t max_age_us, struct board_wait *wait)
{
    struct snapshot *known = NULL;
    bool ask = false;
    wait->from_us = clock_mono_us() - max_age_us;
    pthread_mutex_lock(&b->lock);
    if (b->newest != NULL && b->newest->at_us >= wait->from_us) {
        known = hold(b->newest);
    } else {
        list_push_back(&b->waiting, &wait->node);
        ask = !b->asked;
        b->asked = true;
    }
    pthread_mutex_unlock(&b->lock);
    if (known != NULL)
        wait->take(wait, known);
    else if (ask)
        ask_turn(b);
}

struct board *board_new(struct server *server)
{
    struct board *b = MEM_NEW(struct board);
    b->server = server;
    pthread_mutex_init(&b->lock, NULL);
    list_init(&b->waiting);
    return b;
}

void board_free(struct board *b)
{
    if (b == NULL)
        return;
    snapshot_release(b->newest);
    pthread_mutex_destroy(&b->lock);
    free(b);
}
