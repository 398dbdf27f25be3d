/* decider_cluster.c - the decider beside other servers: which partitions it decides about, what
 * happens to the engine when they change, and how it waits while that is in doubt. */
#include "base/log.h"
#include "loop/clock.h"
#include "server/output/output_log.h"
#include "server/turn/decider_inside.h"

#include <assert.h>

enum { DOUBT_US = 2000000 }; /* that commands wait to hear what this server still owns */

/* ---- the engine and its successor */

void decider_unpark(struct decider *d)
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
    decider_unpark(d);
    if (!keeper_adopt(&d->keeper, d->turn.engine, &d->turn.owned))
        retired_add(&d->retired, d->server, d->turn.engine);
    d->turn.engine = NULL;
    turn_close(&d->turn);
}

void decider_tell_loaded(const struct decider *d, int64_t begin_us)
{
    struct partition_set set = ownership_set(&d->owned);
    log_info("this server decides about partitions", "count", LOG_NUMBER(partition_set_len(&set)),
             "executions", LOG_NUMBER(engine_live_count(d->turn.engine)), "loaded_in_ms",
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
        decider_begin_outage(d, &err);
        turn_close(&d->turn);
        turn_idle(&d->turn, d->server->store, d->owned.partitions, &d->options, clock_now());
    } else {
        struct engine *former = keeper_pass_on(&d->keeper, d->turn.engine);
        if (former != NULL)
            retired_add(&d->retired, d->server, former);
        decider_tell_loaded(d, begin_us);
        d->lost_turns += membership_hear_lost(d->membership);
        engine_note_lost(d->turn.engine, d->lost_turns);
        atomic_store(&d->server->loaded, true);
    }
    decider_attach_turn(d);
    d->stirred = true;
    d->next_gauges_us = 0; /* other servers tell about what was given to them */
}

/* Partitions to be given away are given away from now on: nothing here decides about them any more.
 * Those that were taken are loaded. */
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
        log_warn("settings could not be read from the store; the next turn tries again", "error",
                 err.text, NULL);
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

/* Commands do not wait for ever to hear which partitions are ours. */
static void bear_doubt(struct decider *d)
{
    struct err err;
    if (clock_mono_us() - d->doubt_us < DOUBT_US)
        return;
    err_set(&err, RC_IO, "the store does not say what this server owns");
    decider_run_outage(d, &err);
}

bool decider_follow_cluster(struct decider *d)
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

/* ---- while the store answers slowly, or not */

void decider_begin_doubt(struct decider *d, struct command **commands, size_t count,
                         const struct err *err)
{
    assert(d->membership != NULL); /* alone, no other server can own anything */
    log_warn("the store doubts which partitions this server owns; asking it again", "code",
             rc_name(err->rc), "error", err->text, NULL);
    if (err->rc == RC_UNKNOWN)
        answers_give_up(commands, count, err);
    else
        intake_put_back(&d->intake, commands, count);
    d->doubt = membership_doubt(d->membership);
    d->doubt_us = clock_mono_us();
    d->stale = true;
}

bool decider_is_doubt(const struct decider *d, enum rc rc)
{
    return d->membership != NULL && (rc == RC_DEPOSED || rc == RC_UNKNOWN);
}

/* A turn that is given up at the end is as if the process had died: its outcome stands in the
 * store, and its clients hear that it is not known. */
static bool on_store_wait(void *arg)
{
    struct decider *d = arg;
    int64_t end_us = atomic_load(&d->end_us);
    keeper_wait(&d->keeper, &d->intake, &d->turn);
    return end_us == 0 || clock_mono_us() < end_us;
}

/* A quarter of a lease is what a worker's poll waits beyond its time. */
void decider_be_patient(struct decider *d)
{
    int64_t quarter_ms = d->server->options->engine.lease_ms / 4;
    if (d->membership == NULL)
        return;
    d->keeper.membership = d->membership;
    d->keeper.quiet_ms = quarter_ms;
    d->server->store->patience =
        (struct store_patience){.ask_ms = quarter_ms, .on_wait = on_store_wait, .arg = d};
}
