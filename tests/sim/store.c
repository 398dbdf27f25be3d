#include "store.h"
#include "store/sqlite/temp_dir_test.h"
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
    PROMISE(s->world, ret_owned->epochs[0] > s->world->model.epoch, "an epoch did not grow");
    s->world->model.epoch = ret_owned->epochs[0];
    return RC_OK;
}

/* Somebody else takes the partition, does nothing with it, and dies. */
static void depose(struct sim_store *s)
{
    struct ownership other;
    struct err err;
    fault_happens(s->world, s->fault);
    s->inner->ops->own(s->inner, STR("another"), &other, &err);
    s->world->model.epoch = other.epochs[0];
}

static enum rc admit(struct store *store, const struct ownership *owned,
                     struct question *const *questions, size_t count, struct arena *arena,
                     struct err *err)
{
    struct sim_store *s = sim_of(store);
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
    return s->fault == FAULT_CRASH_AFTER_ADMIT ? die(s, err) : RC_OK;
}

static enum rc fetch(struct store *store, uint64_t job_id, struct arena *arena,
                     struct str *ret_spec, struct str *ret_payload, struct err *err)
{
    struct sim_store *s = sim_of(store);
    if (fault_strikes(s->world, FAULT_FETCH_FAILS))
        return err_set(err, RC_IO, "the simulated store cannot read");
    return s->inner->ops->fetch(s->inner, job_id, arena, ret_spec, ret_payload, err);
}

/* ---- commit, and not knowing */

static enum rc refuse(struct sim_store *s, enum rc rc, struct err *err)
{
    fault_happens(s->world, s->fault);
    s->inner->ops->abort(s->inner);
    return err_set(err, rc, "the simulated store keeps nothing");
}

/* True, with what to answer, when nothing is to be kept. */
static bool fails_before(struct sim_store *s, enum rc *ret_rc, struct err *err)
{
    switch (s->fault) {
    case FAULT_COMMIT_BUSY: *ret_rc = refuse(s, RC_BUSY, err); return true;
    case FAULT_COMMIT_FULL: *ret_rc = refuse(s, RC_FULL, err); return true;
    case FAULT_COMMIT_IO: *ret_rc = refuse(s, RC_IO, err); return true;
    case FAULT_CRASH_BEFORE_COMMIT: *ret_rc = die(s, err); return true;
    case FAULT_UNKNOWN_LOST:
        *ret_rc = refuse(s, RC_UNKNOWN, err);
        s->settle_failures = (unsigned)pick(s->world, 3);
        return true;
    case FAULT_UNKNOWN_FOR_GOOD:
        s->settle_failures = UINT_MAX;
        if (pick(s->world, 2) == 0)
            return false;
        *ret_rc = refuse(s, RC_UNKNOWN, err);
        return true;
    case FAULT_DEPOSED_BEFORE_COMMIT: depose(s); return false;
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
    default: return RC_OK;
    }
    return err_set(err, RC_UNKNOWN, "the simulated store does not say");
}

static enum rc commit(struct store *store, const struct ownership *owned, const struct delta *delta,
                      struct err *err)
{
    struct sim_store *s = sim_of(store);
    struct world *w = s->world;
    enum rc rc;
    if (fails_before(s, &rc, err))
        return rc;
    TRY(s->inner->ops->commit(s->inner, owned, delta, err));
    PROMISE(w, owned->epochs[0] == w->model.epoch,
            "a commit was kept under epoch %" PRIu64 ", after epoch %" PRIu64 " had begun",
            owned->epochs[0], w->model.epoch);
    s->kept_turn = w->model.turn;
    model_keep(w, delta, s->view);
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
    if (s->settle_failures > 0) {
        s->settle_failures -= s->settle_failures != UINT_MAX;
        return err_set(err, RC_IO, "the simulated store cannot say");
    }
    return s->inner->ops->settle(s->inner, owned, turn, ret_settled, err);
}

static enum rc load(struct store *store, const struct ownership *own, int64_t until_ms,
                    const struct load_sink *sink, struct err *err)
{
    struct sim_store *s = sim_of(store);
    if (fault_strikes(s->world, FAULT_OWN_FAILS))
        return err_set(err, RC_IO, "the simulated store cannot be read");
    return s->inner->ops->load(s->inner, own, until_ms, sink, err);
}

static const struct store_ops ops = {
    .own = own,
    .admit = admit,
    .fetch = fetch,
    .commit = commit,
    .abort = abort_turn,
    .settle = settle,
    .load = load,
};

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

void sim_store_open(struct world *w, bool sqlite)
{
    struct sim_store *s = &w->store;
    struct err err;
    *s = (struct sim_store){.store.ops = &ops, .world = w, .fault = FAULT_NONE};
    if (sqlite)
        open_sqlite(s);
    else
        s->inner = store_mem_open();
    enum rc rc = s->inner->ops->reader(s->inner, &s->reader, &err);
    assert(rc == RC_OK);
}

void sim_store_close(struct sim_store *s)
{
    s->reader->ops->close(s->reader);
    s->inner->ops->close(s->inner);
    if (s->dir != NULL)
        temp_dir_free(s->dir);
}

void sim_store_begin_turn(struct sim_store *s, const struct turn_view *view, enum fault fault)
{
    s->view = view;
    s->fault = fault;
    s->crashed = false;
    s->settle_failures = 0;
}
