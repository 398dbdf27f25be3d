#include "server/turn/decider.h"
#include "base/id.h"
#include "base/log.h"
#include "base/mem.h"
#include "job/command_facts.h"
#include "loop/clock.h"
#include "loop/thread.h"
#include "loop/zones.h"
#include "server/cluster/membership.h"
#include "server/cluster/peers.h"
#include "server/output/output_log.h"
#include "server/turn/intake.h"
#include "server/turn/keeper.h"
#include "server/turn/outage.h"
#include "server/turn/retired.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    RETRY_FIRST_US = 5000,
    RETRY_LAST_US = 200000,
    RETRY_FOR_US = 5000000, /* well within a lease; then clients are told to come back */
    /* In a cluster there may be no connection, and others to go to. */
    RETRY_IN_CLUSTER_US = 1000000,
    LOOK_US = 1000000,
    DOUBT_US = 2000000, /* that commands wait to hear what this server still owns */
    DOUBT_LOOK_MS = 20,
    LAST_WAIT_US =
        3000000, /* for the store, when the server ends; whoever kills it gives it half a minute */
};

struct decider {
    struct server *server;
    struct thread *thread;
    struct intake intake;
    struct turn turn;
    struct outage outage;
    struct timekeeper time; /* alone: of this machine's clock */
    int64_t next_look_us;   /* at the files of the store */
    int64_t next_zones_us;  /* at those of time zones */
    atomic_bool failed;
    atomic_int_least64_t end_us; /* from then on nothing is waited for; 0: it does not end */

    /* in a cluster */
    struct membership *membership; /* NULL: there is no other server */
    struct engine_options options;
    struct ownership owned;
    struct ownership numbers;  /* only its floors: what engines before this one have given out */
    uint64_t serial;           /* of what the membership told last */
    uint64_t settings_version; /* of what was read last */
    uint64_t doubt;            /* a ticket: what is owned must be heard first; 0: none */
    int64_t doubt_us;          /* since when */
    uint64_t lost_turns;       /* of the store's, of which an alert is due */
    bool stale;                /* memory may be wrong: load it again */
    bool unloaded;             /* it could not be loaded; the engine knows nothing */
    bool stirred;              /* a turn is due although nobody asked for one */
    struct retired *retired;   /* owned: engines that somebody may still read from */
    struct keeper keeper;      /* of leases, while nothing may be decided */
};

/* What could not be loaded is nobody else's for that: it is told why not. */
static size_t gather(struct decider *d, struct command **ret_commands)
{
    return intake_gather(&d->intake, &d->turn, d->unloaded, ret_commands);
}

static bool may_retry(enum rc rc)
{
    return rc == RC_BUSY || rc == RC_IO;
}

static bool may_decide(void *arg)
{
    const struct decider *d = arg;
    return d->membership == NULL || membership_may_decide(d->membership);
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
    if (news->mailed !=
        0) /* durable, and read within a second; who owns those partitions reads it now */
        peers_mail_owners(d->server, news->mailed);
    output_log_tell(d->server->tail, news->events, news->event_count);
    answers_send(&news->done);
    atomic_store(&d->server->quarantined, d->turn.quarantined);
    atomic_store(&d->server->deletes_from_ms, engine_deletes_from_ms(d->turn.engine));
}

/* The same commands again, for a while: a lock held by a backup passes, a full disk does not. Not
 * in an outage: then the tries are spread. */
static enum rc try(struct decider *d, struct command **commands, size_t count,
                   struct turn_news *ret_news, struct err *err)
{
    int64_t pause_us = RETRY_FIRST_US;
    int64_t for_us = d->membership == NULL ? RETRY_FOR_US : RETRY_IN_CLUSTER_US;
    int64_t until_us = clock_mono_us() + for_us; /* a try may wait for a lock by itself */
    enum rc rc = turn_run(&d->turn, commands, count, clock_now(), ret_news, err);
    if (may_retry(rc) && !d->outage.on) {
        atomic_store(&d->server->trouble, rc);
        log_warn("a turn could not be kept and is tried again", "error", err->text, NULL);
    }
    while (may_retry(rc) && !d->outage.on && may_decide(d) && clock_mono_us() < until_us) {
        clock_pause_us(pause_us);
        keeper_wait(&d->keeper, &d->intake, &d->turn);
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
    answers_send(&parked);
}

/* A turn that had nothing to keep says nothing about the store; then a commit of our own does. */
static enum rc probe(struct decider *d, const struct turn_news *news, struct err *err)
{
    bool owns = ownership_set(&d->turn.owned).bits != 0; /* or there is nothing to commit under */
    return news->committed || !owns ? RC_OK : turn_probe(&d->turn, err);
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

/* An engine that is not loaded knows nobody's leases, but the one before it does. Returns how many
 * commands are left, at the front. */
static size_t keep_by_former(struct decider *d, struct command **commands, size_t count)
{
    struct keeper *k = &d->keeper;
    struct list done;
    size_t left = 0;
    list_init(&done);
    for (size_t i = 0; i < count; i++) {
        if (k->former == NULL || commands[i]->kind != CMD_POLL) {
            commands[left++] = commands[i];
            continue;
        }
        keeper_answer(k, k->former, &k->owned, commands[i]);
        list_push_back(&done, &commands[i]->node);
    }
    answers_send(&done);
    return left;
}

/* In a cluster it counts from the last renewal, since whoever takes over from us counts so, too. */
static bool has_grace(const struct decider *d)
{
    int64_t grace_ms = (int64_t)d->server->options->outage_grace_ms;
    if (d->membership != NULL)
        return membership_has_grace(d->membership);
    return outage_has_grace(&d->outage, grace_ms, clock_mono_us());
}

/* What needs no store goes on for a grace; the rest is told why not. */
static void step_without_store(struct decider *d, struct command **commands, size_t count)
{
    struct turn_news news;
    size_t away = 0;
    bool may_poll = has_grace(d);
    for (size_t i = 0; i < count; i++) { /* to the front, in their order */
        struct command *cmd = commands[i];
        if (!command_facts(cmd->kind)->works_in_outage || (cmd->kind == CMD_POLL && !may_poll))
            continue;
        commands[i] = commands[away];
        commands[away++] = cmd;
    }
    answers_give_up(commands + away, count - away, &d->outage.why);
    away = keep_by_former(d, commands, away);
    turn_run_outage(&d->turn, commands, away, clock_now(), &news);
    LIST_EACH(&news.done, node)
    {
        struct command *cmd = CONTAINER_OF(node, struct command, node);
        keeper_restrict(&d->keeper, &d->turn.owned, cmd);
    }
    tell(d, &news);
}

static void give_up_for_good(struct decider *d, struct command **commands, size_t count,
                             const struct err *err)
{
    log_error("a turn could not be kept; its commands were refused", "code", rc_name(err->rc),
              "error", err->text, NULL);
    answers_give_up(commands, count, err);
    atomic_store(&d->failed, true);
}

/* The store does not know us as the owner of all that this turn was about, or cannot say what
 * became of it (then its commands are answered, since they may have been kept). */
static void begin_doubt(struct decider *d, struct command **commands, size_t count,
                        const struct err *err)
{
    log_warn("what this server owns is in doubt; it looks again", "code", rc_name(err->rc), "error",
             err->text, NULL);
    if (err->rc == RC_UNKNOWN)
        answers_give_up(commands, count, err);
    else
        intake_put_back(&d->intake, commands, count);
    d->doubt = membership_doubt(d->membership);
    d->doubt_us = clock_mono_us();
    d->stale = true;
}

static bool is_doubt(const struct decider *d, enum rc rc)
{
    return d->membership != NULL && (rc == RC_DEPOSED || rc == RC_UNKNOWN);
}

/* Why no turn may be tried with the store now; false: nothing is in the way. */
static bool is_barred(struct decider *d, struct err *ret_err)
{
    if (!may_decide(d)) {
        err_set(ret_err, RC_IO, "this server could not renew its membership in the cluster");
        return true;
    }
    if (d->unloaded)
        err_set(ret_err, RC_IO, "what this server owns could not be loaded yet");
    return d->unloaded;
}

static void step(struct decider *d)
{
    static struct command *commands[TURN_COMMANDS_MAX]; /* one decider a process, one thread */
    struct err err;
    d->stirred = false;
    size_t count = gather(d, commands);
    if (is_barred(d, &err)) {
        begin_outage(d, &err);
    } else if (outage_may_try(&d->outage, clock_mono_us())) {
        enum rc rc = step_with_store(d, commands, count, &err);
        if (rc == RC_OK)
            return;
        if (is_doubt(d, rc)) {
            begin_doubt(d, commands, count, &err);
            return;
        }
        if (is_fatal(rc)) {
            give_up_for_good(d, commands, count, &err);
            return;
        }
        begin_outage(d, &err);
    }
    step_without_store(d, commands, count);
}

/* ---- with other servers */

/* Whatever is parked polls again. An engine that is about to go says nothing about what this server
 * owns. */
static void unpark(struct decider *d)
{
    struct list parked;
    list_init(&parked);
    engine_unpark(d->turn.engine, &parked);
    LIST_EACH(&parked, node)
    {
        struct command *cmd = CONTAINER_OF(node, struct command, node);
        if (d->membership != NULL)
            keeper_answer(&d->keeper, d->turn.engine, &d->turn.owned, cmd);
    }
    answers_send(&parked);
}

/* The engine stays until nobody can read from it any more, and until another one is loaded. */
static void drop_engine(struct decider *d)
{
    turn_raise_floors(&d->turn, &d->numbers);
    if (!d->unloaded)
        d->lost_turns = engine_lost_turns(d->turn.engine);
    unpark(d);
    if (!keeper_adopt(&d->keeper, d->turn.engine, &d->turn.owned))
        retired_add(&d->retired, d->server, d->turn.engine);
    d->turn.engine = NULL;
    turn_close(&d->turn);
}

static void tell_loaded(const struct decider *d, int64_t begin_us)
{
    struct partition_set set = ownership_set(&d->owned);
    log_info("decides about partitions", "count", LOG_NUMBER(partition_set_len(&set)), "executions",
             LOG_NUMBER(engine_live_count(d->turn.engine)), "loaded_in_ms",
             LOG_NUMBER((clock_mono_us() - begin_us) / 1000), NULL);
}

static void load(struct decider *d)
{
    struct err err;
    int64_t begin_us = clock_mono_us();
    ownership_raise(&d->owned, d->numbers.id_floor, d->numbers.turn_floor);
    enum rc rc = turn_load(&d->turn, d->server->store, &d->owned, &d->options, clock_now(), &err);
    d->unloaded = rc != RC_OK;
    if (d->unloaded) {
        begin_outage(d, &err);
        turn_close(&d->turn);
        turn_idle(&d->turn, d->server->store, d->owned.partitions, &d->options, clock_now());
    } else {
        struct engine *former = keeper_pass_on(&d->keeper, d->turn.engine);
        if (former != NULL)
            retired_add(&d->retired, d->server, former);
        tell_loaded(d, begin_us);
        d->lost_turns += membership_hear_lost(d->membership);
        engine_note_lost(d->turn.engine, d->lost_turns);
        atomic_store(&d->server->loaded, true);
    }
    d->turn.may_keep = may_decide;
    d->turn.may_keep_arg = d;
    d->stirred = true;
}

/* What is to be given is given from now on: nobody decides about it here. What comes is loaded. */
static void change_ownership(struct decider *d)
{
    drop_engine(d);
    d->stale = false;
    membership_obey(d->membership, d->serial);
    output_log_moved(d->server->tail, ownership_set(&d->owned));
    load(d);
}

static void read_settings(struct decider *d)
{
    struct err err;
    uint64_t version = membership_settings_version(d->membership);
    if (version == d->settings_version || d->outage.on)
        return;
    enum rc rc = turn_settings(&d->turn, &err);
    if (rc == RC_OK)
        rc = auth_reload(&d->server->auth, d->server->store, &err);
    if (rc != RC_OK) {
        log_warn("settings could not be read; they are tried again", "error", err.text, NULL);
        return;
    }
    d->settings_version = version;
    d->stirred = true; /* a queue may have been opened */
}

static void load_again(struct decider *d)
{
    drop_engine(d);
    load(d);
}

static bool in_doubt(struct decider *d)
{
    if (d->doubt != 0 && membership_is_cleared(d->membership, d->doubt))
        d->doubt = 0;
    return d->doubt != 0;
}

/* Nobody waits for ever to hear what is whose. */
static void bear_doubt(struct decider *d)
{
    static struct command *commands[TURN_COMMANDS_MAX];
    struct err err;
    if (clock_mono_us() - d->doubt_us < DOUBT_US)
        return;
    err_set(&err, RC_IO, "the store does not say what this server owns");
    begin_outage(d, &err);
    size_t count = gather(d, commands);
    step_without_store(d, commands, count);
}

/* False: not now. */
static bool follow_cluster(struct decider *d)
{
    if (d->membership == NULL)
        return true;
    if (in_doubt(d)) {
        bear_doubt(d);
        return false;
    }
    if (membership_news(d->membership, &d->serial, &d->owned) || d->stale)
        change_ownership(d);
    else if (d->unloaded && outage_may_try(&d->outage, clock_mono_us()))
        load_again(d);
    read_settings(d);
    return true;
}

/* Whether the files are still there is asked even when nothing has to be written. */
static void look_after_store(struct decider *d)
{
    struct err err;
    int64_t now_us = clock_mono_us();
    if (now_us < d->next_look_us)
        return;
    d->next_look_us = now_us + LOOK_US;
    retired_sweep(&d->retired);
    if (d->membership != NULL && !d->unloaded)
        membership_set_unsure(d->membership, d->serial, engine_unsure(d->turn.engine));
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

static void look_at_clock(struct decider *d)
{
    if (d->membership == NULL && timekeeper_look(&d->time))
        d->stirred = true; /* a step is told to the engine by the time of its next turn */
}

static int64_t wanted_ms(const struct decider *d)
{
    return engine_wait_ms(d->turn.engine, clock_now());
}

/* Waits for mail or for the engine's next timer. False when it is time to end. */
static bool wait(struct decider *d)
{
    if ((!list_empty(&d->intake.waiting) || d->stirred) && d->doubt == 0)
        return true;
    int64_t ahead_ms = d->outage.on ? OUTAGE_TRY_US / 1000 : wanted_ms(d);
    if (d->doubt != 0 && ahead_ms > DOUBT_LOOK_MS)
        ahead_ms = DOUBT_LOOK_MS;
    if (ahead_ms > 1000) /* the clock is sampled every second */
        ahead_ms = 1000;
    return mailbox_wait(d->intake.box, clock_mono_us() + ahead_ms * 1000) != RC_SHUTDOWN;
}

static void decide(void *arg)
{
    struct decider *d = arg;
    while (wait(d) && !atomic_load(&d->failed)) {
        d->keeper.looked_us = clock_mono_us();
        intake_take(&d->intake, &d->turn);
        if (!follow_cluster(d))
            continue;
        look_after_store(d);
        look_after_zones(d);
        look_at_clock(d);
        if (!list_empty(&d->intake.waiting) || d->outage.on || d->stirred || wanted_ms(d) == 0)
            step(d);
    }
    /* Whoever still waits is told that the server is going away. */
    unpark(d);
    mailbox_close(d->intake.box);
    intake_take(&d->intake, &d->turn);
    static struct command *commands[TURN_COMMANDS_MAX];
    struct err err;
    err_set(&err, RC_BUSY, "the server is shutting down");
    for (size_t count; (count = gather(d, commands)) > 0;)
        answers_give_up(commands, count, &err);
}

/* What the store has last seen says whether the clock can be right, so owning comes first. */
static enum rc open_alone(struct decider *d, struct err *err)
{
    struct store *store = d->server->store;
    struct time_rules rules = timekeeper_rules(d->server->options);
    char node[64];
    snprintf(node, sizeof node, "%" PRId64 "-%d", clock_own_wall_ms(), (int)getpid());
    TRY(store->ops->own(store, str_c(node), &d->owned, err));
    timekeeper_begin(&d->time, &rules,
                     d->owned.id_floor == 0 ? TIMELINE_NO_ID : id_time_ms(d->owned.id_floor));
    return turn_load(&d->turn, store, &d->owned, &d->options, clock_now(), err);
}

/* Alone with its store a server owns all of it; in a cluster the membership says what. */
static enum rc open_turn(struct decider *d, struct err *err)
{
    struct server *server = d->server;
    if (d->membership == NULL)
        return open_alone(d, err);
    membership_news(d->membership, &d->serial, &d->owned);
    membership_obey(d->membership, d->serial);
    int64_t begin_us = clock_mono_us();
    TRY(turn_load(&d->turn, server->store, &d->owned, &d->options, clock_now(), err));
    tell_loaded(d, begin_us);
    d->turn.may_keep = may_decide;
    d->turn.may_keep_arg = d;
    d->settings_version = 0; /* as old as can be: read again with the first turn */
    return RC_OK;
}

/* A turn that is given up at the end is as if the process had died: what became of it stands in the
 * store, and its clients hear that it is not known. */
static bool on_store_wait(void *arg)
{
    struct decider *d = arg;
    int64_t end_us = atomic_load(&d->end_us);
    keeper_wait(&d->keeper, &d->intake, &d->turn);
    return end_us == 0 || clock_mono_us() < end_us;
}

/* A quarter of a lease is what a worker's poll waits beyond its time. */
static void be_patient(struct decider *d)
{
    int64_t quarter_ms = d->server->options->engine.lease_ms / 4;
    if (d->membership == NULL)
        return;
    d->keeper.membership = d->membership;
    d->keeper.quiet_ms = quarter_ms;
    d->server->store->patience =
        (struct store_patience){.ask_ms = quarter_ms, .on_wait = on_store_wait, .arg = d};
}

enum rc decider_start(struct server *server, struct decider **ret_decider, struct err *err)
{
    struct decider *d = MEM_NEW(struct decider);
    d->server = server;
    d->membership = server->membership;
    d->options = server->options->engine;
    d->options.rules_arg = server->zones;
    intake_init(&d->intake, server->options->mailbox_max);
    enum rc rc = open_turn(d, err);
    if (rc == RC_OK) {
        atomic_store(&server->loaded, true);
        be_patient(d);
        rc = thread_start("turn", decide, d, &d->thread, err);
    }
    if (rc != RC_OK) {
        server->store->patience = (struct store_patience){0};
        intake_free(&d->intake);
        turn_close(&d->turn);
        free(d);
        return rc;
    }
    *ret_decider = d;
    return RC_OK;
}

void decider_nudge(struct decider *d)
{
    intake_nudge(&d->intake);
}

enum rc decider_send(struct decider *d, struct request *r)
{
    return intake_send(&d->intake, r);
}

void decider_hangup(struct decider *d, const struct request *r)
{
    struct errand *errand = errand_new(CMD_HANGUP);
    errand->request.cmd.target.id = r->cmd.poll.worker_id;
    errand->request.cmd.target.seq = r->cmd.poll.seq;
    intake_send_errand(&d->intake, errand);
}

void decider_alert_sent(struct decider *d, const struct alert_mark *mark)
{
    struct errand *errand = errand_new(CMD_ALERT_SENT);
    errand->request.cmd.alert = *mark;
    intake_send_errand(&d->intake, errand);
}

void decider_stop(struct decider *d)
{
    atomic_store(&d->end_us, clock_mono_us() + LAST_WAIT_US);
    mailbox_close(d->intake.box);
    thread_join(d->thread);
    d->thread = NULL;
    d->server->store->patience = (struct store_patience){0};
}

void decider_free(struct decider *d)
{
    retired_free(d->retired);
    engine_free(d->keeper.former);
    intake_free(&d->intake);
    turn_close(&d->turn);
    free(d);
}

bool decider_failed(const struct decider *d)
{
    return atomic_load(&d->failed);
}
