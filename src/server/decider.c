#include "server/decider.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "loop/clock.h"
#include "loop/thread.h"
#include "server/tail.h"
#include "server/turn.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    TURN_COMMANDS_MAX = 4096, /* so that one turn stays within some tens of milliseconds */
    TURN_SUBMISSIONS_MAX = 20000,
    RETRY_FIRST_US = 5000,
    RETRY_LAST_US = 200000,
    RETRY_FOR_US = 5000000, /* well within a lease; then clients are told to come back */
};

struct decider {
    struct server *server;
    struct mailbox *box;
    struct thread *thread;
    struct turn turn;
    struct list waiting; /* requests (mail) that no turn has taken yet */
    atomic_bool failed;
};

/* A hangup is a command of its own that nobody waits for. */
struct hangup {
    struct request request;
    struct arena arena;
};

static void forget_hangup(struct request *r)
{
    struct hangup *h = CONTAINER_OF(r, struct hangup, request);
    arena_free(&h->arena);
    free(h);
}

static void send_done(struct list *done)
{
    for (struct list_node *node; (node = list_pop_front(done)) != NULL;) {
        struct command *cmd = CONTAINER_OF(node, struct command, node);
        struct request *r = CONTAINER_OF(cmd, struct request, cmd);
        if (cmd->kind == CMD_HANGUP)
            forget_hangup(r);
        else
            request_send_home(r);
    }
}

/* Answers what could not be decided. */
static void give_up(struct command *const *commands, size_t count, const struct err *err)
{
    struct list done;
    list_init(&done);
    for (size_t i = 0; i < count; i++) {
        commands[i]->reply.rc = err->rc == RC_FULL ? RC_FULL : RC_BUSY;
        err_set(&commands[i]->reply.err, commands[i]->reply.rc, "%s", err->text);
        list_push_back(&done, &commands[i]->node);
    }
    send_done(&done);
}

static size_t weight(const struct command *cmd)
{
    return cmd->kind == CMD_SUBMIT ? cmd->submit.count : 1;
}

/* Takes what one turn can carry off the waiting list. */
static size_t gather(struct decider *d, struct command **ret_commands)
{
    size_t count = 0;
    size_t submissions = 0;
    while (count < TURN_COMMANDS_MAX && submissions < TURN_SUBMISSIONS_MAX) {
        struct list_node *node = list_pop_front(&d->waiting);
        if (node == NULL)
            break;
        struct mail *mail = CONTAINER_OF(node, struct mail, node);
        struct request *r = CONTAINER_OF(mail, struct request, parcel.mail);
        ret_commands[count++] = &r->cmd;
        submissions += weight(&r->cmd);
    }
    return count;
}

static bool may_retry(enum rc rc)
{
    return rc == RC_BUSY || rc == RC_IO;
}

/* A full disk and a busy database pass; everything else means that what is in memory cannot be
 * trusted to match what is stored, and a new start, which loads it again, is the way out. */
static bool is_fatal(enum rc rc)
{
    return rc != RC_FULL && !may_retry(rc);
}

/* The same commands again, for a while: a lock held by a backup passes, a full disk does not. */
static enum rc run(struct decider *d, struct command **commands, size_t count,
                   struct turn_news *ret_news, struct err *err)
{
    int64_t pause_us = RETRY_FIRST_US;
    int64_t until_us = clock_mono_us() + RETRY_FOR_US; /* a try may wait for a lock by itself */
    enum rc rc = turn_run(&d->turn, commands, count, clock_now(), ret_news, err);
    while (may_retry(rc) && clock_mono_us() < until_us) {
        atomic_store(&d->server->ready, false);
        log_warn("a turn could not be kept and is tried again", "error", err->text, NULL);
        clock_pause_us(pause_us);
        pause_us = pause_us * 2 < RETRY_LAST_US ? pause_us * 2 : RETRY_LAST_US;
        rc = turn_run(&d->turn, commands, count, clock_now(), ret_news, err);
    }
    return rc;
}

static void step(struct decider *d)
{
    static struct command *commands[TURN_COMMANDS_MAX]; /* one decider a process, one thread */
    struct turn_news news;
    struct err err;
    size_t count = gather(d, commands);
    enum rc rc = run(d, commands, count, &news, &err);
    atomic_store(&d->server->ready, rc == RC_OK);
    if (rc == RC_OK) {
        tail_tell(d->server->tail, news.events, news.event_count);
        send_done(&news.done);
        return;
    }
    log_error("a turn could not be kept; its commands were refused", "code", rc_name(rc), "error",
              err.text, NULL);
    give_up(commands, count, &err);
    if (is_fatal(rc))
        atomic_store(&d->failed, true);
    else
        clock_pause_us(RETRY_LAST_US); /* timers that are due would come back at once */
}

/* Waits for mail or for the engine's next timer. False when it is time to end. */
static bool wait(struct decider *d)
{
    if (!list_empty(&d->waiting))
        return true;
    int64_t ahead_ms = engine_wait_ms(d->turn.engine, clock_now());
    if (ahead_ms > 1000) /* so that a stepped wall clock is noticed within a second */
        ahead_ms = 1000;
    return mailbox_wait(d->box, clock_mono_us() + ahead_ms * 1000) != RC_SHUTDOWN;
}

static void decide(void *arg)
{
    struct decider *d = arg;
    while (wait(d) && !atomic_load(&d->failed)) {
        mailbox_take_all(d->box, &d->waiting);
        if (!list_empty(&d->waiting) || engine_wait_ms(d->turn.engine, clock_now()) == 0)
            step(d);
    }
    /* Whoever still waits is told that the server is going away. */
    struct list parked;
    list_init(&parked);
    engine_unpark(d->turn.engine, &parked);
    send_done(&parked);
    mailbox_close(d->box);
    mailbox_take_all(d->box, &d->waiting);
    static struct command *commands[TURN_COMMANDS_MAX];
    struct err err;
    err_set(&err, RC_BUSY, "the server is shutting down");
    for (size_t count; (count = gather(d, commands)) > 0;)
        give_up(commands, count, &err);
}

static struct engine_options engine_options(const struct server_options *options)
{
    struct engine_options engine = engine_defaults;
    engine.lease_ms = (int64_t)options->lease_ms;
    engine.park_ms = (int64_t)options->park_ms;
    engine.horizon_ms = (int64_t)options->horizon_ms;
    engine.live_max = options->live_max;
    engine.lanes_max = options->lanes_max;
    return engine;
}

enum rc decider_start(struct server *server, struct decider **ret_decider, struct err *err)
{
    struct decider *d = MEM_NEW(struct decider);
    struct engine_options options = engine_options(server->options);
    char node[64];
    snprintf(node, sizeof node, "%" PRId64 "-%d", clock_wall_ms(), (int)getpid());
    d->server = server;
    list_init(&d->waiting);
    enum rc rc = turn_open(&d->turn, server->store, str_c(node), &options, clock_now(), err);
    if (rc == RC_OK) {
        d->box = mailbox_new(server->options->mailbox_max);
        rc = thread_start("turn", decide, d, &d->thread, err);
    }
    if (rc != RC_OK) {
        mailbox_free(d->box);
        turn_close(&d->turn);
        free(d);
        return rc;
    }
    *ret_decider = d;
    return RC_OK;
}

enum rc decider_send(struct decider *d, struct request *r)
{
    return mailbox_send(d->box, &r->parcel.mail);
}

void decider_hangup(struct decider *d, const struct request *r)
{
    struct hangup *h = MEM_NEW(struct hangup);
    h->request.cmd.kind = CMD_HANGUP;
    h->request.cmd.arena = &h->arena;
    h->request.cmd.actor = STR("server");
    h->request.cmd.target.id = r->cmd.poll.worker_id;
    h->request.cmd.target.seq = r->cmd.poll.seq;
    if (mailbox_send_always(d->box, &h->request.parcel.mail) != RC_OK)
        forget_hangup(&h->request);
}

void decider_stop(struct decider *d)
{
    mailbox_close(d->box);
    thread_join(d->thread);
    d->thread = NULL;
}

void decider_free(struct decider *d)
{
    mailbox_free(d->box);
    turn_close(&d->turn);
    free(d);
}

bool decider_failed(const struct decider *d)
{
    return atomic_load(&d->failed);
}
