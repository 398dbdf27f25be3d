#include "base/id.h"
#include "base/log.h"
#include "base/mem.h"
#include "engine/explain/gauges.h"
#include "job/command/command_facts.h"
#include "loop/clock.h"
#include "loop/thread.h"
#include "loop/zones.h"
#include "server/cluster/incidents.h"
#include "server/cluster/peers.h"
#include "server/metrics/metrics.h"
#include "server/output/output_log.h"
#include "server/trace/tracer.h"
#include "server/turn/decider_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    RETRY_FIRST_US = 5000,
    RETRY_LAST_US = 200000,
    RETRY_FOR_US = 5000000, /* well within a lease; then clients are told to come back */
    /* In a cluster there may be no connection, and others to go to. */
    RETRY_IN_CLUSTER_US = 1000000,
    LOOK_US = 1000000,
    GAUGES_US = 1000000,
    DOUBT_LOOK_MS = 20,
    /* For the store, when the server ends. Service managers kill it after half a minute. */
    LAST_WAIT_US = 3000000,
};

/* Partitions that failed to load are still ours: their commands are refused, not forwarded. */
static size_t gather(struct decider *d, struct command **ret_commands)
{
    return intake_gather(&d->intake, &d->turn, d->unloaded, ret_commands);
}

static bool may_retry(enum rc rc)
{
    return rc == RC_BUSY || rc == RC_IO;
}

bool decider_may_decide(void *arg)
{
    const struct decider *d = arg;
    return d->membership == NULL || membership_may_decide(d->membership);
}

static void enter_phase(struct decider *d, enum turn_phase phase)
{
    int64_t now_us = clock_mono_us();
    if (d->phase != TURN_PHASES) {
        metrics_phase(d->server->metrics, d->phase, now_us - d->phase_us);
        d->spent_us[d->phase] += now_us - d->phase_us;
    }
    d->phase = phase;
    d->phase_us = now_us;
}

/* A commit whose outcome had to be found out took as long as that. */
static void on_phase(void *arg, enum turn_phase phase, const struct delta *kept)
{
    struct decider *d = arg;
    int64_t began_us = d->phase_us;
    enter_phase(d, phase);
    if (kept == NULL)
        return;
    commit_times_add(&d->commits, d->phase_us, d->phase_us - began_us);
    metrics_commit(d->server->metrics, d->phase_us - began_us);
    metrics_kept(d->server->metrics, kept);
}

/* For log_set_about: a command of ours is of a request, or of an errand. */
static size_t command_about(void *arg, struct log_field ret_fields[LOG_ABOUT_MAX])
{
    struct command *cmd = arg;
    return request_about(CONTAINER_OF(cmd, struct request, cmd), ret_fields);
}

static void on_ended(void *arg, const struct ended_trace *ended, size_t count)
{
    tracer_take(arg, ended, count);
}

void decider_attach_turn(struct decider *d)
{
    d->turn.on_ended = d->server->tracer == NULL ? NULL : on_ended;
    d->turn.on_ended_arg = d->server->tracer;
    d->turn.may_keep = d->membership == NULL ? NULL : decider_may_decide;
    d->turn.may_keep_arg = d;
    d->turn.on_phase = on_phase;
    d->turn.on_phase_arg = d;
    d->turn.about = command_about;
}

void decider_commit_times(struct decider *d, struct sketch *ret_sketch)
{
    commit_times_look(&d->commits, clock_mono_us(), ret_sketch);
}

/* A full disk and a busy database pass; everything else means that what is in memory cannot be
 * trusted to match what is stored, and a new start, which loads it again, is the way out. */
static bool is_fatal(enum rc rc)
{
    return rc != RC_FULL && !may_retry(rc);
}

/* ---- with a store */

/* By the clock as the turn has read it anyway; once for each turn that the command was in. */
static void book_times(const struct decider *d, struct command *cmd)
{
    int64_t began_us = d->step_us + d->spent_us[PHASE_GATHER];
    struct request_times *t = &CONTAINER_OF(cmd, struct request, cmd)->times;
    if (t->mark_us > began_us)
        return;
    times_book(t, SPENT_TURN_WAIT, began_us);
    t->spent_us[SPENT_ADMIT] += d->spent_us[PHASE_ADMIT];
    t->spent_us[SPENT_DECIDE] += d->spent_us[PHASE_DECIDE];
    t->spent_us[SPENT_COMMIT] += d->spent_us[PHASE_COMMIT];
    t->mark_us = d->phase_us;
    t->away = SPENT_RETURN;
}

static void tell(struct decider *d, struct turn_news *news, size_t commands)
{
    LIST_EACH(&news->done, node) book_times(d, CONTAINER_OF(node, struct command, node));
    metrics_turn(d->server->metrics, commands, &news->done);
    if (news->mailed !=
        0) /* durable, and read within a second; the owners of those partitions read it now */
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
    while (may_retry(rc) && !d->outage.on && decider_may_decide(d) && clock_mono_us() < until_us) {
        clock_pause_us(pause_us);
        keeper_wait(&d->keeper, &d->intake, &d->turn);
        pause_us = pause_us * 2 < RETRY_LAST_US ? pause_us * 2 : RETRY_LAST_US;
        rc = turn_run(&d->turn, commands, count, clock_now(), ret_news, err);
    }
    return rc;
}

/* Back to work. Workers were given no leases meanwhile, and no verdicts on their results: all of
 * them are asked to poll again. */
static void recover(struct decider *d)
{
    struct list parked;
    list_init(&parked);
    outage_end(&d->outage, clock_mono_us());
    incidents_end_outage(d->server->incidents, clock_wall_ms());
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
    tell(d, &news, count);
    atomic_fetch_add(&d->kept, news.committed);
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
void decider_begin_outage(struct decider *d, const struct err *err)
{
    outage_note(&d->outage, err, clock_mono_us());
    incidents_begin_outage(d->server->incidents, clock_wall_ms(), err);
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

/* Commands that need no store go on for a grace; the others are refused with the reason. */
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
    tell(d, &news, away);
}

static void give_up_for_good(struct decider *d, struct command **commands, size_t count,
                             const struct err *err)
{
    log_error("a turn could not be kept; its commands were refused", "code", rc_name(err->rc),
              "error", err->text, NULL);
    answers_give_up(commands, count, err);
    atomic_store(&d->failed, true);
}

/* Why no turn may be tried with the store now; false: nothing is in the way. */
static bool is_barred(struct decider *d, struct err *ret_err)
{
    if (!decider_may_decide(d)) {
        err_set(ret_err, RC_IO, "this server could not renew its membership in the cluster");
        return true;
    }
    if (d->unloaded)
        err_set(ret_err, RC_IO, "what this server owns could not be loaded yet");
    return d->unloaded;
}

static void run_step(struct decider *d)
{
    static struct command *commands[TURN_COMMANDS_MAX]; /* one decider a process, one thread */
    struct err err;
    d->stirred = false;
    enter_phase(d, PHASE_GATHER);
    d->step_us = d->phase_us;
    memset(d->spent_us, 0, sizeof d->spent_us);
    size_t count = gather(d, commands);
    if (is_barred(d, &err)) {
        decider_begin_outage(d, &err);
    } else if (outage_may_try(&d->outage, clock_mono_us())) {
        enum rc rc = step_with_store(d, commands, count, &err);
        if (rc == RC_OK)
            return;
        enter_phase(d, PHASE_PUBLISH); /* what it has come to */
        for (size_t i = 0; i < count; i++)
            book_times(d, commands[i]);
        if (decider_is_doubt(d, rc)) {
            decider_begin_doubt(d, commands, count, &err);
            return;
        }
        if (is_fatal(rc)) {
            give_up_for_good(d, commands, count, &err);
            return;
        }
        decider_begin_outage(d, &err);
    }
    step_without_store(d, commands, count);
}

static void step(struct decider *d)
{
    run_step(d);
    enter_phase(d, TURN_PHASES);
}

/* A store that takes none is found out by the next turn. */
static void prove(struct decider *d)
{
    struct err err;
    bool owns = ownership_set(&d->turn.owned).bits != 0;
    if (!atomic_exchange(&d->proof_wanted, false) || d->outage.on || !owns || is_barred(d, &err))
        return;
    if (turn_probe(&d->turn, &err) == RC_OK)
        atomic_fetch_add(&d->kept, 1);
}

void decider_run_outage(struct decider *d, const struct err *err)
{
    static struct command *commands[TURN_COMMANDS_MAX];
    decider_begin_outage(d, err);
    size_t count = gather(d, commands);
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
    retired_sweep(&d->retired);
    if (d->membership != NULL && !d->unloaded)
        membership_set_unsure(d->membership, d->serial, engine_unsure(d->turn.engine));
    enum rc rc = d->server->store->ops->check(d->server->store, &err);
    if (rc != RC_OK && !d->outage.on)
        decider_begin_outage(d, &err);
}

static void renew_zone(void *arg, const struct zone *old, const struct zone *newer)
{
    struct decider *d = arg;
    log_info("tzdata has new rules for a time zone; its schedules follow them", NULL);
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

/* Numbers for metrics, once a second; less often where they take more than a hundredth of it. */
static void give_gauges(struct decider *d)
{
    int64_t now_us = clock_mono_us();
    if (now_us < d->next_gauges_us)
        return;
    struct gauges_news *news = gauges_news_new();
    engine_gauges(d->turn.engine, clock_wall_ms(), &news->arena, &news->gauges);
    output_log_gauges(d->server->tail, news);
    int64_t took_us = clock_mono_us() - now_us;
    d->next_gauges_us = now_us + (took_us * 100 > GAUGES_US ? took_us * 100 : GAUGES_US);
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

/* Each is a transaction of its own; dying before its answer leaves it done or not done, and its
 * client in doubt, as with any change. */
static void keep_all(struct decider *d, const struct err *why_not)
{
    struct list calls;
    list_init(&calls);
    mailbox_take_all(d->keeps, &calls);
    for (struct list_node *node; (node = list_pop_front(&calls)) != NULL;) {
        struct mail *mail = CONTAINER_OF(node, struct mail, node);
        struct request *r = CONTAINER_OF(mail, struct request, parcel.mail);
        if (why_not == NULL)
            r->rc = r->keep(r, d->server->store, &r->err);
        else
            r->rc = err_set(&r->err, RC_BUSY, "%s", why_not->text);
        request_send_home(r);
    }
}

static void keep_what_waits(struct decider *d)
{
    struct err err;
    err_set(&err, RC_BUSY, "the store takes nothing at the moment");
    keep_all(d, d->outage.on ? &err : NULL);
}

static void decide(void *arg)
{
    struct decider *d = arg;
    while (wait(d) && !atomic_load(&d->failed)) {
        d->keeper.looked_us = clock_mono_us();
        intake_take(&d->intake, &d->turn);
        if (!decider_follow_cluster(d))
            continue;
        look_after_store(d);
        keep_what_waits(d);
        look_after_zones(d);
        look_at_clock(d);
        give_gauges(d);
        if (!list_empty(&d->intake.waiting) || d->outage.on || d->stirred || wanted_ms(d) == 0)
            step(d);
        prove(d);
    }
    /* Commands that still wait are told that the server is going away. */
    decider_unpark(d);
    mailbox_close(d->intake.box);
    mailbox_close(d->keeps);
    intake_take(&d->intake, &d->turn);
    static struct command *commands[TURN_COMMANDS_MAX];
    struct err err;
    err_set(&err, RC_BUSY, "the server is shutting down");
    for (size_t count; (count = gather(d, commands)) > 0;)
        answers_give_up(commands, count, &err);
    keep_all(d, &err);
}

/* The newest id in the store says whether the clock can be right, so owning comes first. */
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
    output_log_moved(server->tail, ownership_set(&d->owned));
    int64_t begin_us = clock_mono_us();
    TRY(turn_load(&d->turn, server->store, &d->owned, &d->options, clock_now(), err));
    decider_tell_loaded(d, begin_us);
    d->settings_version = 0; /* as old as can be: read again with the first turn */
    return RC_OK;
}

enum rc decider_start(struct server *server, struct decider **ret_decider, struct err *err)
{
    struct decider *d = MEM_NEW(struct decider);
    d->server = server;
    d->membership = server->membership;
    d->options = server->options->engine;
    d->options.rules_arg = server->zones;
    d->phase = TURN_PHASES;
    intake_init(&d->intake, server->options->mailbox_max);
    d->keeps = mailbox_new(server->options->mailbox_max);
    enum rc rc = open_turn(d, err);
    if (rc == RC_OK) {
        decider_attach_turn(d);
        atomic_store(&server->loaded, true);
        decider_be_patient(d);
        rc = thread_start("turn", decide, d, &d->thread, err);
    }
    if (rc != RC_OK) {
        server->store->patience = (struct store_patience){0};
        intake_free(&d->intake);
        mailbox_free(d->keeps);
        turn_close(&d->turn);
        free(d);
        return rc;
    }
    *ret_decider = d;
    return RC_OK;
}

uint64_t decider_commits(const struct decider *d)
{
    return atomic_load(&d->kept);
}

void decider_prove(struct decider *d)
{
    atomic_store(&d->proof_wanted, true);
    decider_nudge(d);
}

void decider_nudge(struct decider *d)
{
    intake_nudge(&d->intake);
}

enum rc decider_send(struct decider *d, struct request *r)
{
    return intake_send(&d->intake, r);
}

enum rc decider_keep(struct decider *d, struct request *r)
{
    TRY(mailbox_send(d->keeps, &r->parcel.mail));
    intake_nudge(&d->intake);
    return RC_OK;
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

void decider_send_errand(struct decider *d, struct errand *take_errand)
{
    intake_send_errand(&d->intake, take_errand);
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
    mailbox_free(d->keeps);
    turn_close(&d->turn);
    free(d);
}

bool decider_failed(const struct decider *d)
{
    return atomic_load(&d->failed);
}
