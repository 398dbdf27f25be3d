/* Turns: atomic, under an epoch, with claims that last only when they are committed. */
#include "world.h"

#include <pthread.h>
#include <stdatomic.h>

PROMISE(a_commit_is_seen_by_readers)
{
    struct world *w = *state;
    struct job_change job = new_job(w);
    struct exec_change exec = new_exec(w, &job, EXEC_QUEUED);
    assert_false(job_exists(w, job.job.id));
    world_commit(w, (struct delta){.jobs = &job, .job_count = 1, .execs = &exec, .exec_count = 1});
    assert_true(job_exists(w, job.job.id));
    assert_true(exec_exists(w, exec.exec.id));
}

PROMISE(a_turn_in_progress_is_not_seen)
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

PROMISE(a_reader_on_another_thread_sees_whole_turns)
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

PROMISE(a_delta_that_does_not_fit_leaves_nothing)
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

PROMISE(changing_what_is_finished_is_refused)
{
    struct world *w = *state;
    struct exec_rec exec = read_exec(w, world_submit(w, EXEC_COMPLETED));
    struct exec_change update = next_change(&exec, CHANGE_UPDATE, EXEC_RUNNING);
    assert_rc(world_try(w, (struct delta){.execs = &update, .exec_count = 1}), RC_CONFLICT);
    struct exec_change finish = next_change(&exec, CHANGE_FINISH, EXEC_FAILED);
    assert_rc(world_try(w, (struct delta){.execs = &finish, .exec_count = 1}), RC_CONFLICT);
    assert_int_equal(read_exec(w, exec.id).state, EXEC_COMPLETED);
}

PROMISE(adding_what_exists_is_refused)
{
    struct world *w = *state;
    struct job_change job = new_job(w);
    struct exec_change exec = new_exec(w, &job, EXEC_QUEUED);
    world_commit(w, (struct delta){.jobs = &job, .job_count = 1, .execs = &exec, .exec_count = 1});
    assert_rc(world_try(w, (struct delta){.jobs = &job, .job_count = 1}), RC_CONFLICT);
    assert_rc(world_try(w, (struct delta){.execs = &exec, .exec_count = 1}), RC_CONFLICT);
}

PROMISE(a_committed_claim_stays_with_its_holder)
{
    struct world *w = *state;
    assert_int_equal(world_claim(w, STR("nightly"), 7), 7);
    world_commit(w, (struct delta){0});
    world_reopen(w);
    assert_int_equal(world_claim(w, STR("nightly"), 8), 7);
    assert_int_equal(world_claim(w, STR("weekly"), 8), 8);
}

PROMISE(a_claim_counts_within_its_own_turn)
{
    struct world *w = *state;
    struct question first = {.kind = ASK_CLAIM,
                             .claim = {.kind = CLAIM_NAME, .key = STR("nightly"), .holder = 7}};
    struct question second = {.kind = ASK_CLAIM,
                              .claim = {.kind = CLAIM_NAME, .key = STR("nightly"), .holder = 8}};
    struct question *both[] = {&first, &second};
    assert_rc(w->store->ops->admit(w->store, &w->own, both, 2, &w->arena, &w->err), RC_OK);
    assert_int_equal(first.answer.holder, 7);
    assert_int_equal(second.answer.holder, 7);
    assert_int_equal(world_claim(w, STR("nightly"), 9), 7); /* and in a later round of it */
}

PROMISE(an_aborted_turn_gives_its_claims_back)
{
    struct world *w = *state;
    assert_int_equal(world_claim(w, STR("nightly"), 7), 7);
    w->store->ops->abort(w->store);
    assert_int_equal(world_claim(w, STR("nightly"), 8), 8);
    w->store->ops->abort(w->store);
    w->store->ops->abort(w->store); /* once more is harmless */
}

PROMISE(a_claim_is_released_only_where_the_holder_matches)
{
    struct world *w = *state;
    struct claim claim = {.kind = CLAIM_NAME, .key = STR("nightly"), .holder = 7};
    struct claim other = {.kind = CLAIM_NAME, .key = STR("nightly"), .holder = 8};
    assert_int_equal(world_claim(w, claim.key, 7), 7);
    world_commit(w, (struct delta){0});
    world_commit(w, (struct delta){.released = &other, .released_count = 1});
    assert_int_equal(world_claim(w, claim.key, 9), 7);
    world_commit(w, (struct delta){.released = &claim, .released_count = 1});
    assert_int_equal(world_claim(w, claim.key, 9), 9);
}

/* Who has which key, as the plainest table. */
enum { KEYS = 5, ASKED_MAX = 8 };

struct holders {
    uint64_t committed[KEYS]; /* 0: free */
    uint64_t now[KEYS];       /* within the turn */
};

static const struct str keys[KEYS] = {STR_INIT("a"), STR_INIT("b"), STR_INIT("nightly"),
                                      STR_INIT("x y"), STR_INIT("\xc3\xa9")};

/* Many ask for few keys at once, some of them for several. */
static void contend(struct world *w, struct holders *h)
{
    struct question questions[ASKED_MAX];
    struct question *asked[ASKED_MAX];
    size_t which[ASKED_MAX];
    size_t count = 1 + rng_below(&w->rng, ASKED_MAX);
    for (size_t i = 0; i < count; i++) {
        which[i] = rng_below(&w->rng, KEYS);
        questions[i] = (struct question){
            .kind = ASK_CLAIM,
            .claim = {.kind = CLAIM_NAME, .key = keys[which[i]], .holder = world_id(w)}};
        asked[i] = &questions[i];
    }
    assert_rc(w->store->ops->admit(w->store, &w->own, asked, count, &w->arena, &w->err), RC_OK);
    for (size_t i = 0; i < count; i++) {
        if (h->now[which[i]] == 0) /* the first one has it */
            h->now[which[i]] = questions[i].claim.holder;
        assert_int_equal(questions[i].answer.holder, h->now[which[i]]);
    }
}

/* Ends the turn in one of the ways there are. Some of what is held is given back. */
static void settle_contention(struct world *w, struct holders *h)
{
    struct claim released[KEYS];
    struct delta delta = {.released = released};
    struct exec_change nobody = {.kind = CHANGE_UPDATE, .exec = {.id = world_id(w)}};
    bool kept = false;
    for (size_t i = 0; i < KEYS; i++) {
        if (h->now[i] != 0 && rng_below(&w->rng, 3) == 0)
            released[delta.released_count++] =
                (struct claim){.kind = CLAIM_NAME, .key = keys[i], .holder = h->now[i]};
    }
    switch (rng_below(&w->rng, 4)) {
    case 0: w->store->ops->abort(w->store); break;
    case 1:
        delta.execs = &nobody;
        delta.exec_count = 1;
        assert_rc(world_try(w, delta), RC_CONFLICT);
        break;
    case 2:
        assert_rc(w->store->ops->own(w->store, STR("other"), &w->own, &w->err), RC_OK);
        w->turn = w->own.turn_floor;
        break;
    default: world_commit(w, delta); kept = true;
    }
    for (size_t i = 0; kept && i < delta.released_count; i++) {
        for (size_t k = 0; k < KEYS; k++) {
            if (str_eq(keys[k], released[i].key))
                h->now[k] = 0;
        }
    }
    for (size_t i = 0; i < KEYS; i++) {
        if (kept)
            h->committed[i] = h->now[i];
        h->now[i] = h->committed[i];
    }
}

PROMISE(of_many_who_want_a_key_one_has_it)
{
    struct world *w = *state;
    struct holders h = {0};
    for (int i = 0; i < 300; i++) {
        for (uint64_t rounds = 1 + rng_below(&w->rng, 3); rounds > 0; rounds--)
            contend(w, &h);
        settle_contention(w, &h);
        if (rng_below(&w->rng, 40) == 0)
            world_reopen(w);
    }
}

PROMISE(the_epoch_grows_with_every_owner_and_every_restart)
{
    struct world *w = *state;
    uint64_t last = w->own.epochs[0];
    for (int i = 0; i < 6; i++) {
        struct ownership old = w->own;
        if (i % 2 == 0) {
            assert_rc(w->store->ops->own(w->store, STR("other"), &w->own, &w->err), RC_OK);
        } else if (w->candidate->reopen != NULL) {
            world_reopen(w);
        } else {
            continue;
        }
        assert_true(w->own.epochs[0] > last);
        last = w->own.epochs[0];
        assert_rc(w->store->ops->admit(w->store, &old, NULL, 0, &w->arena, &w->err), RC_DEPOSED);
        world_submit(w, EXEC_QUEUED); /* the new one decides */
    }
}

PROMISE(a_turn_that_loses_its_owner_on_the_way_leaves_nothing)
{
    struct world *w = *state;
    struct job_change job = new_job(w);
    struct delta delta = {.turn = w->turn + 1, .jobs = &job, .job_count = 1};
    struct ownership old = w->own;
    assert_int_equal(world_claim(w, STR("nightly"), job.job.id), job.job.id);
    assert_rc(w->store->ops->own(w->store, STR("other"), &w->own, &w->err), RC_OK);
    assert_rc(w->store->ops->commit(w->store, &old, &delta, &w->err), RC_DEPOSED);
    assert_false(job_exists(w, job.job.id));
    assert_int_equal(world_claim(w, STR("nightly"), 9), 9);
}

PROMISE(a_job_cannot_go_by_a_calendar_that_was_deleted)
{
    struct world *w = *state;
    struct calendar_change gone = {.forget = true, .calendar = {.name = STR("holidays")}};
    struct calendar_change put = {.calendar = {.name = STR("holidays"), .version = 1}};
    struct calendar_use use = {.calendar = STR("holidays"), .job_id = 10};
    struct delta uses = {.calendar_uses = &use, .calendar_use_count = 1};
    world_commit(w, (struct delta){.calendars = &put, .calendar_count = 1});
    world_commit(w, (struct delta){.calendars = &gone, .calendar_count = 1});
    assert_rc(world_try(w, uses), RC_CONFLICT);
    uses.calendars = &put; /* of the same turn */
    uses.calendar_count = 1;
    world_commit(w, uses);
}

/* Each place where a delta can go wrong, with much before it that is right. */
PROMISE(whatever_does_not_fit_nothing_of_the_delta_is_kept)
{
    struct world *w = *state;
    uint64_t known = world_submit(w, EXEC_QUEUED);
    struct exec_rec known_exec = read_exec(w, known);
    struct worker_change worker = {.worker = {.id = world_id(w)}};
    struct counter counter = {COUNTER_JOBS, STR("mail"), JOB_ACTIVE, 1, 0};
    for (int wrong = 0; wrong < 5; wrong++) {
        struct job_change jobs[] = {new_job(w), new_job(w)};
        struct exec_change execs[] = {new_exec(w, &jobs[0], EXEC_QUEUED),
                                      next_change(&known_exec, CHANGE_UPDATE, EXEC_RUNNING),
                                      new_exec(w, &jobs[1], EXEC_COMPLETED)};
        struct attempt_rec attempt = {.exec_id = known, .token = 1, .outcome = OUTCOME_LOST};
        if (wrong == 0)
            jobs[1].job.id = jobs[0].job.id; /* added twice */
        if (wrong == 1)
            jobs[1].kind = CHANGE_UPDATE; /* of none */
        if (wrong == 2)
            execs[2].exec.id = execs[0].exec.id, execs[2].kind = CHANGE_INSERT;
        if (wrong == 3)
            execs[2].kind = CHANGE_FINISH; /* of none */
        if (wrong == 4)
            execs[2] = (struct exec_change){.kind = CHANGE_UPDATE, .exec = {.id = 99}};
        struct delta delta = {.jobs = jobs,
                              .job_count = 2,
                              .execs = execs,
                              .exec_count = 3,
                              .attempts = &attempt,
                              .attempt_count = 1,
                              .workers = &worker,
                              .worker_count = 1,
                              .counters = &counter,
                              .counter_count = 1};
        assert_rc(world_try(w, delta), RC_CONFLICT);
        w->turn--; /* it did not take place */
        assert_false(job_exists(w, jobs[0].job.id));
        assert_false(exec_exists(w, execs[0].exec.id));
        assert_int_equal(read_exec(w, known).state, EXEC_QUEUED);
        assert_rc(w->store->ops->own(w->store, STR("test"), &w->own, &w->err), RC_OK);
        assert_int_equal(w->own.turn_floor, w->turn);
        assert_int_equal(w->own.id_floor, known);
    }
}

PROMISE(a_store_says_that_it_is_well)
{
    struct world *w = *state;
    enum settled settled;
    assert_rc(w->store->ops->check(w->store, &w->err), RC_OK);
    assert_rc(w->store->ops->settle(w->store, &w->own, 0, &settled, &w->err), RC_OK);
    assert_int_equal(settled, SETTLED_KEPT); /* there is always a turn 0 */
}

PROMISE(an_old_owner_can_do_nothing)
{
    struct world *w = *state;
    struct job_change job = new_job(w);
    struct delta delta = {.turn = 9, .jobs = &job, .job_count = 1};
    struct ownership old = w->own;
    struct store *s = w->store;
    enum settled settled;
    assert_rc(s->ops->own(s, STR("other"), &w->own, &w->err), RC_OK);
    assert_true(w->own.epochs[0] > old.epochs[0]);
    assert_rc(s->ops->admit(s, &old, NULL, 0, &w->arena, &w->err), RC_DEPOSED);
    assert_rc(s->ops->commit(s, &old, &delta, &w->err), RC_DEPOSED);
    assert_rc(s->ops->commit(s, &old, &(struct delta){.turn = 9}, &w->err), RC_DEPOSED);
    assert_rc(s->ops->settle(s, &old, 9, &settled, &w->err), RC_DEPOSED);
    assert_false(job_exists(w, job.job.id));
    world_commit(w, delta); /* the new one can */
}

PROMISE(owning_forgets_the_turn_under_way)
{
    struct world *w = *state;
    assert_int_equal(world_claim(w, STR("nightly"), 7), 7);
    assert_rc(w->store->ops->own(w->store, STR("other"), &w->own, &w->err), RC_OK);
    assert_int_equal(world_claim(w, STR("nightly"), 8), 8);
}

PROMISE(settle_tells_kept_from_lost)
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

PROMISE(a_new_owner_learns_the_newest_turn)
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

PROMISE(no_id_in_the_store_is_above_the_floor)
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
