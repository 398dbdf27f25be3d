#include "store.h"
#include "store/sqlite/temp_dir_test.h"
#include "store/store_mem.h"
#include "world.h"

#include <assert.h>
#include <inttypes.h>
#include <limits.h>

static struct sim_store *sim_of(struct store *store)
{
    return (struct sim_store *)(void *)store;
}

/* The process is gone: what it would do now does not matter, the code only ends the turn. */
static enum rc die(struct sim_store *s, struct err *err)
{
    fault_happens(s->world, s->fault);
    s->crashed = true;
    s->settle_failures = UINT_MAX;
    return err_set(err, RC_IO, "the server died here");
}

static enum rc own(struct store *store, struct str node, struct ownership *ret_owned,
                   struct err *err)
{
    struct sim_store *s = sim_of(store);
    if (fault_strikes(s->world, FAULT_OWN_FAILS))
        return err_set(err, RC_BUSY, "the simulated store is busy");
    TRY(s->inner->ops->own(s->inner, node, ret_owned, err));
    model_owned(s->world, ret_owned);
    return RC_OK;
}

/* Nothing gets through. */
static enum rc check_reach(const struct sim_store *s, struct err *err)
{
    if (s->server == NULL || !sim_server_is_adrift(s->server))
        return RC_OK;
    s->inner->ops->abort(s->inner); /* sooner or later the database does */
    return err_set(err, RC_IO, "the simulated store cannot be reached");
}

/* Nothing gets through, or nothing comes back: what is only asked is given up after a quarter of a lease. */
static enum rc ask(const struct sim_store *s, struct err *err)
{
    TRY(check_reach(s, err));
    if (s->server == NULL || sim_server_outwaits(s->server, s->world->scene.engine.lease_ms / 4))
        return check_reach(s, err);
    s->inner->ops->abort(s->inner);
    return err_set(err, RC_IO, "the simulated store does not answer");
}

/* Somebody else takes the partition, does nothing with it, and dies. */
static void depose(struct sim_store *s)
{
    struct ownership other;
    struct err err;
    fault_happens(s->world, s->fault);
    s->inner->ops->own(s->inner, STR("another"), &other, &err);
    model_owned(s->world, &other);
}

static enum rc admit(struct store *store, const struct ownership *owned,
                     struct question *const *questions, size_t count, struct arena *arena,
                     struct err *err)
{
    struct sim_store *s = sim_of(store);
    TRY(ask(s, err));
    if (s->fault == FAULT_ADMIT_BUSY) {
        fault_happens(s->world, s->fault);
        s->inner->ops->abort(s->inner);
        return err_set(err, RC_BUSY, "the simulated store is busy");
    }
    if (s->fault == FAULT_CRASH_BEFORE_ADMIT)
        return die(s, err);
    if (s->fault == FAULT_DEPOSED_BEFORE_ADMIT) {
        depose(s);
        s->fault = FAULT_NONE; /* a turn may ask more than once */
    }
    TRY(s->inner->ops->admit(s->inner, owned, questions, count, arena, err));
    if (s->fault == FAULT_FREEZE_AFTER_ADMIT) {
        fault_happens(s->world, s->fault);
        s->fault = FAULT_NONE;
        sim_server_freeze_here(s->server);
    }
    return s->fault == FAULT_CRASH_AFTER_ADMIT ? die(s, err) : RC_OK;
}

static enum rc fetch(struct store *store, uint64_t job_id, uint64_t exec_id, struct arena *arena,
                     struct str *ret_spec, struct str *ret_payload, struct err *err)
{
    struct sim_store *s = sim_of(store);
    TRY(ask(s, err));
    if (fault_strikes(s->world, FAULT_FETCH_FAILS))
        return err_set(err, RC_IO, "the simulated store cannot read");
    return s->inner->ops->fetch(s->inner, job_id, exec_id, arena, ret_spec, ret_payload, err);
}

/* ---- commit, and not knowing */

static enum rc refuse(struct sim_store *s, enum rc rc, struct err *err)
{
    fault_happens(s->world, s->fault);
    s->inner->ops->abort(s->inner);
    return err_set(err, rc, "the simulated store keeps nothing");
}

/* True, with what to answer, when nothing is to be kept. */
static bool fails_before(struct sim_store *s, const struct ownership *owned, uint64_t turn,
                         enum rc *ret_rc, struct err *err)
{
    switch (s->fault) {
    case FAULT_COMMIT_BUSY: *ret_rc = refuse(s, RC_BUSY, err); return true;
    case FAULT_COMMIT_FULL: *ret_rc = refuse(s, RC_FULL, err); return true;
    case FAULT_COMMIT_IO: *ret_rc = refuse(s, RC_IO, err); return true;
    case FAULT_CRASH_BEFORE_COMMIT: *ret_rc = die(s, err); return true;
    case FAULT_UNKNOWN_LOST:
        *ret_rc = refuse(s, RC_UNKNOWN, err);
        late_send(s, owned, turn);
        s->settle_failures = (unsigned)pick(s->world, 3);
        return true;
    case FAULT_UNKNOWN_FOR_GOOD:
        s->settle_failures = UINT_MAX;
        if (pick(s->world, 2) == 0)
            return false;
        *ret_rc = refuse(s, RC_UNKNOWN, err);
        return true;
    case FAULT_DEPOSED_BEFORE_COMMIT: depose(s); return false;
    case FAULT_FREEZE_BEFORE_COMMIT:
        fault_happens(s->world, s->fault);
        sim_server_freeze_here(s->server);
        return false;
    default: return false;
    }
}

static enum rc answer_kept(struct sim_store *s, struct err *err)
{
    switch (s->fault) {
    case FAULT_UNKNOWN_KEPT:
        fault_happens(s->world, s->fault);
        s->settle_failures = (unsigned)pick(s->world, 3);
        break;
    case FAULT_UNKNOWN_FOR_GOOD: fault_happens(s->world, s->fault); break;
    case FAULT_CRASH_AFTER_COMMIT: die(s, err); break;
    case FAULT_FREEZE_AFTER_COMMIT:
        fault_happens(s->world, s->fault);
        sim_server_freeze_here(s->server);
        return RC_OK;
    default: return RC_OK;
    }
    return err_set(err, RC_UNKNOWN, "the simulated store does not say");
}

/* A server changes nothing but what is in its partitions. */
static void check_things(struct world *w, const struct ownership *own, const struct delta *delta)
{
    struct partition_set set = ownership_set(own);
    for (size_t i = 0; i < delta->job_count; i++)
        PROMISE(w, partition_has(&set, delta->jobs[i].job.id),
                "%s was changed by a server that does not own it",
                job_label(w, delta->jobs[i].job.id));
    for (size_t i = 0; i < delta->exec_count; i++)
        PROMISE(w, partition_has(&set, delta->execs[i].exec.id),
                "%s was changed by a server that does not own it",
                exec_label(w, delta->execs[i].exec.id));
}

static enum rc commit(struct store *store, const struct ownership *owned, const struct delta *delta,
                      struct err *err)
{
    struct sim_store *s = sim_of(store);
    struct world *w = s->world;
    enum rc rc;
    TRY(check_reach(s, err));
    if (s->server != NULL)
        sim_server_outwaits(s->server, INT64_MAX); /* what was sent may have been kept */
    if (fails_before(s, owned, delta->turn, &rc, err))
        return rc;
    TRY(s->inner->ops->commit(s->inner, owned, delta, err));
    PROMISE(w, model_is_owner(w, owned), "a commit was kept under an epoch that had ended");
    check_things(w, owned, delta);
    s->kept = true;
    model_keep(w, delta, s->view);
    digest_delta(&w->digest, delta);
    inbox_keep(w, delta);
    past_keep(w, delta);
    return answer_kept(s, err);
}

static void abort_turn(struct store *store)
{
    struct sim_store *s = sim_of(store);
    s->inner->ops->abort(s->inner);
}

static enum rc settle(struct store *store, const struct ownership *owned, uint64_t turn,
                      enum settled *ret_settled, struct err *err)
{
    struct sim_store *s = sim_of(store);
    TRY(ask(s, err));
    if (s->settle_failures > 0) {
        s->settle_failures -= s->settle_failures != UINT_MAX;
        return err_set(err, RC_IO, "the simulated store cannot say");
    }
    TRY(s->inner->ops->settle(s->inner, owned, turn, ret_settled, err));
    late_settle(s, turn, *ret_settled);
    return RC_OK;
}

static enum rc load(struct store *store, const struct ownership *own, int64_t until_ms,
                    const struct load_sink *sink, struct err *err)
{
    struct sim_store *s = sim_of(store);
    TRY(ask(s, err));
    if (fault_strikes(s->world, FAULT_OWN_FAILS))
        return err_set(err, RC_IO, "the simulated store cannot be read");
    return s->inner->ops->load(s->inner, own, until_ms, sink, err);
}

static enum rc settings(struct store *store, const struct load_sink *sink, struct err *err)
{
    struct sim_store *s = sim_of(store);
    TRY(ask(s, err));
    return s->inner->ops->settings(s->inner, sink, err);
}

#define DOOR_OPS                                                                                   \
    .own = own, .admit = admit, .fetch = fetch, .commit = commit, .abort = abort_turn,             \
    .settle = settle, .load = load, .settings = settings

/* Members have handles of their own (cluster.c); that there can be some is why turns look for mail. */
static enum rc no_member(struct store *store, struct member **ret_member, struct err *err)
{
    (void)store;
    (void)ret_member;
    return err_set(err, RC_UNSUPPORTED, "nobody joins through this door");
}

static const struct store_ops ops = {DOOR_OPS};
static const struct store_ops shared_ops = {DOOR_OPS, .member = no_member};

#ifdef BELFRY_PLANTS /* where SQLite is not built */
static void open_sqlite(struct sim_store *s)
{
    promise_broken(s->world, "there is no SQLite in this build");
}
#else
static void open_sqlite(struct sim_store *s)
{
    struct err err = {0};
    s->dir = temp_dir_new();
    PROMISE(s->world, !store_sqlite_open(s->dir, DURABILITY_NORMAL, &s->inner, &err),
            "SQLite does not open: %s", err.text);
}
#endif

static int64_t store_clock_ms(void *arg)
{
    const struct world *w = arg;
    return clocks_wall_ms(w, CLOCK_DATABASE); /* on other days than those of clocks it is right */
}

static void open_shared(struct world *w)
{
    struct store *inner[SERVERS_MAX];
    store_mem_open_shared(CLUSTER_PARTITIONS, store_clock_ms, w, inner, w->server_count);
    for (size_t i = 0; i < w->server_count; i++) {
        w->doors[i].inner = inner[i];
        w->doors[i].store.ops = &shared_ops;
        w->doors[i].server = &w->servers[i];
    }
}

void sim_store_open(struct world *w, bool sqlite)
{
    struct sim_store *s = w->door = &w->doors[0];
    struct err err;
    for (size_t i = 0; i < SERVERS_MAX; i++)
        w->doors[i] = (struct sim_store){.store.ops = &ops, .world = w, .fault = FAULT_NONE};
    if (w->cluster)
        open_shared(w);
    else if (sqlite)
        open_sqlite(s);
    else
        s->inner = store_mem_open();
    enum rc rc = s->inner->ops->reader(s->inner, &w->reader, &err);
    assert(rc == RC_OK);
}

void sim_store_close(struct world *w)
{
    w->reader->ops->close(w->reader);
    for (size_t i = 0; i < SERVERS_MAX; i++) {
        if (w->doors[i].inner != NULL)
            w->doors[i].inner->ops->close(w->doors[i].inner);
        if (w->doors[i].dir != NULL)
            temp_dir_free(w->doors[i].dir);
    }
}

void sim_store_begin_turn(struct sim_store *s, const struct turn_view *view, enum fault fault)
{
    s->world->door = s;
    s->view = view;
    s->fault = fault;
    s->crashed = false;
    s->kept = false;
    s->settle_failures = 0;
}
