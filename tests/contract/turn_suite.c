/* Turns: atomic, under an epoch, with claims that last only when they are committed. */
#include "world.h"

#include <pthread.h>
#include <stdatomic.h>

static void a_commit_is_seen_by_readers(void **state)
{
    struct world *w = *state;
    struct job_change job = new_job(w);
    struct exec_change exec = new_exec(w, &job, EXEC_QUEUED);
    assert_false(job_exists(w, job.job.id));
    world_commit(w, (struct delta){.jobs = &job, .job_count = 1, .execs = &exec, .exec_count = 1});
    assert_true(job_exists(w, job.job.id));
    assert_true(exec_exists(w, exec.exec.id));
}

static void a_turn_in_progress_is_not_seen(void **state)
{
    struct world *w = *state;
    uint64_t id = world_submit(w, EXEC_QUEUED);
    struct question q = {.kind = ASK_EXEC, .id = id};
    world_admit(w, &q);
    assert_int_equal(world_claim(w, STR("nightly"), 7), 7);
    assert_int_equal(read_exec(w, id).state, EXEC_QUEUED); /* and it does not wait for the turn */
    struct exec_change change = next_change(q.answer.exec, CHANGE_UPDATE, EXEC_RUNNING);
    world_commit(w, (struct delta){.execs = &change, .exec_count = 1});
    assert_int_equal(read_exec(w, id).state, EXEC_RUNNING);
}

/* Every turn of the test below adds two jobs, so a list that shows an odd number saw half a turn. */
struct watcher {
    struct reader *reader;
    atomic_bool done;
    size_t torn;
};

static void *watch(void *arg)
{
    struct watcher *watcher = arg;
    struct page page = {.limit = 1000};
    while (!atomic_load(&watcher->done)) {
        CLEANUP(arena_free) struct arena arena = {0};
        struct job_page got;
        enum rc rc = watcher->reader->ops->jobs(watcher->reader, &(struct filter){0}, &page, &arena,
                                                &got, NULL);
        watcher->torn += rc != RC_OK || got.count % 2 != 0;
    }
    return NULL;
}

static void a_reader_on_another_thread_sees_whole_turns(void **state)
{
    struct world *w = *state;
    struct watcher watcher = {.reader = w->reader};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, watch, &watcher), 0);
    for (int i = 0; i < 200; i++) {
        struct job_change jobs[] = {new_job(w), new_job(w)};
        world_commit(w, (struct delta){.jobs = jobs, .job_count = 2});
    }
    atomic_store(&watcher.done, true);
    pthread_join(thread, NULL);
    assert_int_equal(watcher.torn, 0);
}

static void a_delta_that_does_not_fit_leaves_nothing(void **state)
{
    struct world *w = *state;
    struct job_change job = new_job(w);
    struct exec_change execs[] = {new_exec(w, &job, EXEC_QUEUED), new_exec(w, &job, EXEC_QUEUED)};
    execs[1].kind = CHANGE_UPDATE; /* of what does not exist */
    struct delta delta = {.jobs = &job, .job_count = 1, .execs = execs, .exec_count = 2};
    assert_int_equal(world_claim(w, STR("nightly"), job.job.id), job.job.id);
    assert_rc(world_try(w, delta), RC_CONFLICT);
    assert_false(job_exists(w, job.job.id));
    assert_false(exec_exists(w, execs[0].exec.id));
    assert_int_equal(world_claim(w, STR("nightly"), 8), 8);
    w->store->ops->abort(w->store);

    delta.exec_count = 1; /* the store goes on as if nothing had happened */
    world_commit(w, delta);
    assert_true(exec_exists(w, execs[0].exec.id));
}

static void changing_what_is_finished_is_refused(void **state)
{
    struct world *w = *state;
    struct exec_rec exec = read_exec(w, world_submit(w, EXEC_COMPLETED));
    struct exec_change update = next_change(&exec, CHANGE_UPDATE, EXEC_RUNNING);
    assert_rc(world_try(w, (struct delta){.execs = &update, .exec_count = 1}), RC_CONFLICT);
    struct exec_change finish = next_change(&exec, CHANGE_FINISH, EXEC_FAILED);
    assert_rc(world_try(w, (struct delta){.execs = &finish, .exec_count = 1}), RC_CONFLICT);
    assert_int_equal(read_exec(w, exec.id).state, EXEC_COMPLETED);
}

static void adding_what_exists_is_refused(void **state)
{
    struct world *w = *state;
    struct job_change job = new_job(w);
    struct exec_change exec = new_exec(w, &job, EXEC_QUEUED);
    world_commit(w, (struct delta){.jobs = &job, .job_count = 1, .execs = &exec, .exec_count = 1});
    assert_rc(world_try(w, (struct delta){.jobs = &job, .job_count = 1}), RC_CONFLICT);
    assert_rc(world_try(w, (struct delta){.execs = &exec, .exec_count = 1}), RC_CONFLICT);
}

static void a_committed_claim_stays_with_its_holder(void **state)
{
    struct world *w = *state;
    assert_int_equal(world_claim(w, STR("nightly"), 7), 7);
    world_commit(w, (struct delta){0});
    world_reopen(w);
    assert_int_equal(world_claim(w, STR("nightly"), 8), 7);
    assert_int_equal(world_claim(w, STR("weekly"), 8), 8);
}

static void a_claim_counts_within_its_own_turn(void **state)
{
    struct world *w = *state;
    struct question first = {.kind = ASK_CLAIM, .claim = {CLAIM_NAME, STR("nightly"), 7}};
    struct question second = {.kind = ASK_CLAIM, .claim = {CLAIM_NAME, STR("nightly"), 8}};
    struct question *both[] = {&first, &second};
    assert_rc(w->store->ops->admit(w->store, &w->own, both, 2, &w->arena, &w->err), RC_OK);
    assert_int_equal(first.answer.holder, 7);
    assert_int_equal(second.answer.holder, 7);
    assert_int_equal(world_claim(w, STR("nightly"), 9), 7); /* and in a later round of it */
}

static void an_aborted_turn_gives_its_claims_back(void **state)
{
    struct world *w = *state;
    assert_int_equal(world_claim(w, STR("nightly"), 7), 7);
    w->store->ops->abort(w->store);
    assert_int_equal(world_claim(w, STR("nightly"), 8), 8);
    w->store->ops->abort(w->store);
    w->store->ops->abort(w->store); /* once more is harmless */
}

static void a_claim_is_released_only_where_the_holder_matches(void **state)
{
    struct world *w = *state;
    struct claim claim = {CLAIM_NAME, STR("nightly"), 7};
    struct claim other = {CLAIM_NAME, STR("nightly"), 8};
    assert_int_equal(world_claim(w, claim.key, 7), 7);
    world_commit(w, (struct delta){0});
    world_commit(w, (struct delta){.released = &other, .released_count = 1});
    assert_int_equal(world_claim(w, claim.key, 9), 7);
    world_commit(w, (struct delta){.released = &claim, .released_count = 1});
    assert_int_equal(world_claim(w, claim.key, 9), 9);
}

static void an_old_owner_can_do_nothing(void **state)
{
    struct world *w = *state;
    struct job_change job = new_job(w);
    struct delta delta = {.turn = 9, .jobs = &job, .job_count = 1};
    struct ownership old = w->own;
    struct store *s = w->store;
    enum settled settled;
    assert_rc(s->ops->own(s, STR("other"), &w->own, &w->err), RC_OK);
    assert_true(w->own.epoch > old.epoch);
    assert_rc(s->ops->admit(s, &old, NULL, 0, &w->arena, &w->err), RC_DEPOSED);
    assert_rc(s->ops->commit(s, &old, &delta, &w->err), RC_DEPOSED);
    assert_rc(s->ops->commit(s, &old, &(struct delta){.turn = 9}, &w->err), RC_DEPOSED);
    assert_rc(s->ops->settle(s, &old, 9, &settled, &w->err), RC_DEPOSED);
    assert_false(job_exists(w, job.job.id));
    world_commit(w, delta); /* the new one can */
}

static void owning_forgets_the_turn_under_way(void **state)
{
    struct world *w = *state;
    assert_int_equal(world_claim(w, STR("nightly"), 7), 7);
    assert_rc(w->store->ops->own(w->store, STR("other"), &w->own, &w->err), RC_OK);
    assert_int_equal(world_claim(w, STR("nightly"), 8), 8);
}

static void settle_tells_kept_from_lost(void **state)
{
    struct world *w = *state;
    enum settled settled;
    world_submit(w, EXEC_QUEUED);
    assert_rc(w->store->ops->settle(w->store, &w->own, w->turn, &settled, &w->err), RC_OK);
    assert_int_equal(settled, SETTLED_KEPT);
    assert_rc(w->store->ops->settle(w->store, &w->own, w->turn + 1, &settled, &w->err), RC_OK);
    assert_int_equal(settled, SETTLED_LOST);
    world_submit(w, EXEC_QUEUED); /* asking changed nothing */
}

static void a_new_owner_learns_the_newest_turn(void **state)
{
    struct world *w = *state;
    world_submit(w, EXEC_QUEUED);
    uint64_t kept = w->turn;
    world_commit(w, (struct delta){0}); /* only read: nothing to remember */
    assert_rc(w->store->ops->own(w->store, STR("other"), &w->own, &w->err), RC_OK);
    assert_int_equal(w->own.turn_floor, kept);
    world_reopen(w);
    assert_int_equal(w->own.turn_floor, kept);
}

static uint64_t id_floor(struct world *w)
{
    assert_rc(w->store->ops->own(w->store, STR("other"), &w->own, &w->err), RC_OK);
    return w->own.id_floor;
}

static void no_id_in_the_store_is_above_the_floor(void **state)
{
    struct world *w = *state;
    assert_int_equal(id_floor(w), 0);
    uint64_t exec_id = world_submit(w, EXEC_QUEUED);
    assert_int_equal(id_floor(w), exec_id);

    struct worker_change worker = {.worker = {.id = world_id(w)}};
    world_commit(w, (struct delta){.workers = &worker, .worker_count = 1});
    worker.forget = true; /* it stays the newest although it is gone */
    world_commit(w, (struct delta){.workers = &worker, .worker_count = 1});
    assert_int_equal(id_floor(w), worker.worker.id);

    struct key_rec key = {.id = world_id(w), .created_ms = T0};
    assert_rc(w->store->ops->key_put(w->store, &key, &w->err), RC_OK);
    assert_int_equal(id_floor(w), key.id);

    uint64_t holder = world_id(w);
    world_claim(w, STR("nightly"), holder);
    world_commit(w, (struct delta){0});
    assert_int_equal(id_floor(w), holder);

    struct exec_rec old = read_exec(w, exec_id);
    struct exec_change change = next_change(&old, CHANGE_UPDATE, EXEC_RUNNING);
    world_commit(w, (struct delta){.execs = &change, .exec_count = 1});
    assert_int_equal(id_floor(w), holder); /* an older id does not lower it */
    world_reopen(w);
    assert_int_equal(w->own.id_floor, holder);
}

static const struct CMUnitTest tests[] = {
    PROMISE(a_commit_is_seen_by_readers),
    PROMISE(a_turn_in_progress_is_not_seen),
    PROMISE(a_reader_on_another_thread_sees_whole_turns),
    PROMISE(a_delta_that_does_not_fit_leaves_nothing),
    PROMISE(changing_what_is_finished_is_refused),
    PROMISE(adding_what_exists_is_refused),
    PROMISE(a_committed_claim_stays_with_its_holder),
    PROMISE(a_claim_counts_within_its_own_turn),
    PROMISE(an_aborted_turn_gives_its_claims_back),
    PROMISE(a_claim_is_released_only_where_the_holder_matches),
    PROMISE(an_old_owner_can_do_nothing),
    PROMISE(owning_forgets_the_turn_under_way),
    PROMISE(settle_tells_kept_from_lost),
    PROMISE(a_new_owner_learns_the_newest_turn),
    PROMISE(no_id_in_the_store_is_above_the_floor),
};

const struct suite turn_suite = {tests, COUNT_OF(tests)};
