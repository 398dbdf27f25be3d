#include "server/decider.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "loop/clock.h"
#include "loop/thread.h"
#include "loop/zones.h"
#include "server/outage.h"
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
    LOOK_US = 1000000,
};

struct decider {
    struct server *server;
    struct mailbox *box;
    struct thread *thread;
    struct turn turn;
    struct list waiting; /* requests (mail) that no turn has taken yet */
    struct outage outage;
    int64_t next_look_us;  /* at the files of the store */
    int64_t next_zones_us; /* at those of time zones */
    atomic_bool failed;
};

/* A command of the server's own, for whose answer nobody waits. */
struct errand {
    struct request request;
    struct arena arena;
};

static struct errand *errand_new(enum command_kind kind)
{
    struct errand *errand = MEM_NEW(struct errand);
    errand->request.cmd.kind = kind;
    errand->request.cmd.arena = &errand->arena;
    errand->request.cmd.actor = STR("server");
    return errand;
}

static void errand_free(struct errand *errand)
{
    arena_free(&errand->arena);
    free(errand);
}

static void errand_send(struct decider *d, struct errand *take_errand)
{
    if (mailbox_send_always(d->box, &take_errand->request.parcel.mail) != RC_OK)
        errand_free(take_errand);
}

static void send_done(struct list *done)
{
    for (struct list_node *node; (node = list_pop_front(done)) != NULL;) {
        struct command *cmd = CONTAINER_OF(node, struct command, node);
        struct request *r = CONTAINER_OF(cmd, struct request, cmd);
        if (r->net == NULL)
            errand_free(CONTAINER_OF(r, struct errand, request));
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

/* ---- with a store */

static void tell(struct decider *d, struct turn_news *news)
{
    tail_tell(d->server->tail, news->events, news->event_count);
    send_done(&news->done);
    atomic_store(&d->server->quarantined, d->turn.quarantined);
}

/* The same commands again, for a while: a lock held by a backup passes, a full disk does not. Not
 * in an outage: then the tries are spread. */
static enum rc try(struct decider *d, struct command **commands, size_t count,
                   struct turn_news *ret_news, struct err *err)
{
    int64_t pause_us = RETRY_FIRST_US;
    int64_t until_us = clock_mono_us() + RETRY_FOR_US; /* a try may wait for a lock by itself */
    enum rc rc = turn_run(&d->turn, commands, count, clock_now(), ret_news, err);
    if (may_retry(rc) && !d->outage.on) {
        atomic_store(&d->server->trouble, rc);
        log_warn("a turn could not be kept and is tried again", "error", err->text, NULL);
    }
    while (may_retry(rc) && !d->outage.on && clock_mono_us() < until_us) {
        clock_pause_us(pause_us);
        pause_us = pause_us * 2 < RETRY_LAST_US ? pause_us * 2 : RETRY_LAST_US;
        rc = turn_run(&d->turn, commands, count, clock_now(), ret_news, err);
    }
    return rc;
}

/* Back to work. Whoever polls has been given nothing meanwhile, and results without a verdict: all
 * are asked to come again. */
static void recover(struct decider *d)
{
    struct list parked;
    list_init(&parked);
    outage_end(&d->outage, clock_mono_us());
    atomic_store(&d->server->trouble, RC_OK);
    engine_unpark(d->turn.engine, &parked);
    send_done(&parked);
}

/* A turn that had nothing to keep says nothing about the store; then a commit of our own does. */
static enum rc probe(struct decider *d, const struct turn_news *news, struct err *err)
{
    return news->committed ? RC_OK : turn_probe(&d->turn, err);
}

/* RC_OK: all commands are answered, or parked. */
static enum rc step_with_store(struct decider *d, struct command **commands, size_t count,
                               struct err *err)
{
    struct turn_news news;
    TRY(try(d, commands, count, &news, err));
    tell(d, &news);
    if (!d->outage.on) {
        atomic_store(&d->server->trouble, RC_OK);
        return RC_OK;
    }
    if (probe(d, &news, err) == RC_OK)
        recover(d);
    else
        outage_note(&d->outage, err, clock_mono_us()); /* it goes on */
    return RC_OK;
}

/* ---- without */

/* Begins, or goes on. */
static void begin_outage(struct decider *d, const struct err *err)
{
    outage_note(&d->outage, err, clock_mono_us());
    atomic_store(&d->server->trouble, err->rc);
}

/* What needs no store goes on for a grace; the rest is told why not. */
static void step_without_store(struct decider *d, struct command **commands, size_t count)
{
    struct turn_news news;
    size_t away = 0;
    int64_t grace_ms = (int64_t)d->server->options->outage_grace_ms;
    bool has_grace = outage_has_grace(&d->outage, grace_ms, clock_mono_us());
    for (size_t i = 0; i < count; i++) { /* to the front, in their order */
        struct command *cmd = commands[i];
        if (!engine_works_away(cmd) || (cmd->kind == CMD_POLL && !has_grace))
            continue;
        commands[i] = commands[away];
        commands[away++] = cmd;
    }
    give_up(commands + away, count - away, &d->outage.why);
    turn_run_away(&d->turn, commands, away, clock_now(), &news);
    tell(d, &news);
}

static void give_up_for_good(struct decider *d, struct command **commands, size_t count,
                             const struct err *err)
{
    log_error("a turn could not be kept; its commands were refused", "code", rc_name(err->rc),
              "error", err->text, NULL);
    give_up(commands, count, err);
    atomic_store(&d->failed, true);
}

static void step(struct decider *d)
{
    static struct command *commands[TURN_COMMANDS_MAX]; /* one decider a process, one thread */
    struct err err;
    size_t count = gather(d, commands);
    if (outage_may_try(&d->outage, clock_mono_us())) {
        enum rc rc = step_with_store(d, commands, count, &err);
        if (rc == RC_OK)
            return;
        if (is_fatal(rc)) {
            give_up_for_good(d, commands, count, &err);
            return;
        }
        begin_outage(d, &err);
    }
    step_without_store(d, commands, count);
}

/* Whether the files are still there is asked even when nothing has to be written. */
static void look_after_store(struct decider *d)
{
    struct err err;
    int64_t now_us = clock_mono_us();
    if (now_us < d->next_look_us)
        return;
    d->next_look_us = now_us + LOOK_US;
    enum rc rc = d->server->store->ops->check(d->server->store, &err);
    if (rc != RC_OK && !d->outage.on)
        begin_outage(d, &err);
}

static void renew_zone(void *arg, const struct zone *old, const struct zone *newer)
{
    struct decider *d = arg;
    log_info("a time zone has other rules now; schedules follow", NULL);
    engine_renew_zone(d->turn.engine, old, newer);
}

/* tzdata is updated under running servers: schedules must not go by yesterday's law. */
static void look_after_zones(struct decider *d)
{
    int64_t now_us = clock_mono_us();
    if (now_us < d->next_zones_us)
        return;
    d->next_zones_us = now_us + (int64_t)d->server->options->tzdata_look_ms * 1000;
    zones_refresh(d->server->zones, renew_zone, d);
}

static int64_t wanted_ms(const struct decider *d)
{
    return engine_wait_ms(d->turn.engine, clock_now());
}

/* Waits for mail or for the engine's next timer. False when it is time to end. */
static bool wait(struct decider *d)
{
    if (!list_empty(&d->waiting))
        return true;
    int64_t ahead_ms = d->outage.on ? OUTAGE_TRY_US / 1000 : wanted_ms(d);
    if (ahead_ms > 1000) /* so that a stepped wall clock is noticed within a second */
        ahead_ms = 1000;
    return mailbox_wait(d->box, clock_mono_us() + ahead_ms * 1000) != RC_SHUTDOWN;
}

static void decide(void *arg)
{
    struct decider *d = arg;
    while (wait(d) && !atomic_load(&d->failed)) {
        mailbox_take_all(d->box, &d->waiting);
        look_after_store(d);
        look_after_zones(d);
        if (!list_empty(&d->waiting) || d->outage.on || wanted_ms(d) == 0)
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

static struct engine_options engine_options(const struct server_options *options,
                                            struct zones *zones)
{
    struct engine_options engine = engine_defaults;
    engine.rules_arg = zones;
    engine.lease_ms = (int64_t)options->lease_ms;
    engine.park_ms = (int64_t)options->park_ms;
    engine.horizon_ms = (int64_t)options->horizon_ms;
    engine.once_ms = (int64_t)options->idempotency_ms;
    engine.point_ms = (int64_t)options->priority_age_ms;
    engine.alerts = (struct alert_rules){
        .job_failed = options->alert_job_failed,
        .worker_lost = options->alert_worker_lost,
        .breaker_open = options->alert_breaker_open,
        .sla = options->alert_sla,
        .deliver = options->alert_webhooks[0] != '\0',
        .quiet_ms = (int64_t)options->alert_quiet_ms,
        .queue_age_ms = (int64_t)options->alert_queue_age_ms,
        .depth_warning = options->alert_depth_warning,
        .depth_critical = options->alert_depth_critical,
        .window_ms = (int64_t)options->alert_window_ms,
        .dead_letters = options->alert_dead_letters,
        .rate_calls_min = options->alert_rate_calls_min,
        .rate_warning_pct = (uint32_t)options->alert_rate_warning,
        .rate_critical_pct = (uint32_t)options->alert_rate_critical,
    };
    engine.breaker = (struct breaker_rule){
        .window_ms = (int64_t)options->breaker_window_ms,
        .calls_min = (uint32_t)options->breaker_calls_min,
        .percent = (uint32_t)options->breaker_percent,
        .rest_ms = (int64_t)options->breaker_rest_ms,
    };
    engine.kill_grace_ms = (int64_t)options->kill_grace_ms;
    engine.lost_max = (uint32_t)options->lost_max;
    engine.retry_after_max_ms = (int64_t)options->retry_after_max_ms;
    engine.history_keep_ms = (int64_t)options->history_keep_ms;
    engine.letters_keep_ms = (int64_t)options->dead_letters_keep_ms;
    engine.live_max = options->live_max;
    engine.lanes_max = options->lanes_max;
    engine.queues_max = options->queues_max;
    engine.workers_max = options->workers_max;
    engine.forget_ms = (int64_t)options->forget_ms;
    return engine;
}

enum rc decider_start(struct server *server, struct decider **ret_decider, struct err *err)
{
    struct decider *d = MEM_NEW(struct decider);
    struct engine_options options = engine_options(server->options, server->zones);
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
    struct errand *errand = errand_new(CMD_HANGUP);
    errand->request.cmd.target.id = r->cmd.poll.worker_id;
    errand->request.cmd.target.seq = r->cmd.poll.seq;
    errand_send(d, errand);
}

void decider_alert_sent(struct decider *d, const struct alert_mark *mark)
{
    struct errand *errand = errand_new(CMD_ALERT_SENT);
    errand->request.cmd.alert = *mark;
    errand_send(d, errand);
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
