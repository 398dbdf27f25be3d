/* Lists: keyset pages, newest first, with filters; and the single reads behind them. */
#include "list_model.h"

#include <stdlib.h>

/* ---- what the store says, walked to the end */

static struct job_page job_page(struct world *w, const struct filter *f, const struct page *page)
{
    struct job_page got;
    assert_rc(w->reader->ops->jobs(w->reader, f, page, &w->arena, &got, &w->err), RC_OK);
    assert_true(got.count <= page->limit);
    assert_true(got.next == 0 || page->before == 0 || got.next < page->before); /* it moves on */
    return got;
}

static struct exec_page exec_page(struct world *w, const struct filter *f, const struct page *page)
{
    struct exec_page got;
    assert_rc(w->reader->ops->execs(w->reader, f, page, &w->arena, &got, &w->err), RC_OK);
    assert_true(got.count <= page->limit);
    assert_true(got.next == 0 || page->before == 0 || got.next < page->before);
    return got;
}

static void check_jobs(struct world *w, const struct model *m, const struct filter *f, size_t limit)
{
    struct ids want = list_expected_jobs(w, m, f);
    struct page page = {.limit = limit};
    size_t seen = 0;
    do {
        struct job_page got = job_page(w, f, &page);
        for (size_t i = 0; i < got.count; i++) {
            assert_true(seen < want.len);
            assert_int_equal(got.jobs[i].id, want.items[seen++]);
            assert_same_job(&got.jobs[i], model_job(m, got.jobs[i].id), BRIEF);
        }
        page.before = got.next;
    } while (page.before != 0);
    assert_int_equal(seen, want.len);
}

static void check_execs(struct world *w, const struct model *m, const struct filter *f,
                        size_t limit)
{
    struct ids want = list_expected_execs(w, m, f);
    struct page page = {.limit = limit};
    size_t seen = 0;
    do {
        struct exec_page got = exec_page(w, f, &page);
        for (size_t i = 0; i < got.count; i++) {
            assert_true(seen < want.len);
            assert_int_equal(got.execs[i].id, want.items[seen++]);
            assert_same_exec(&got.execs[i], model_exec(m, got.execs[i].id), BRIEF);
        }
        page.before = got.next;
    } while (page.before != 0);
    assert_int_equal(seen, want.len);
}

PROMISE(lists_agree_with_the_model)
{
    struct world *w = *state;
    CLEANUP(model_free) struct model m = {0};
    for (int i = 0; i < 12; i++) {
        model_live(w, &m, 15);
        for (int j = 0; j < 12; j++) {
            size_t limit = 1 + rng_below(&w->rng, 30);
            struct filter jobs = list_random_filter(&w->rng, JOB_STATES);
            check_jobs(w, &m, &jobs, limit);
            struct filter execs = list_random_filter(&w->rng, EXEC_STATES);
            if (m.jobs.len > 0 && rng_below(&w->rng, 4) == 0)
                execs.job_id = m.jobs.items[rng_below(&w->rng, m.jobs.len)].id;
            execs.unfinished = rng_below(&w->rng, 4) == 0;
            check_execs(w, &m, &execs, limit);
        }
    }
}

static void assert_known_attempt(const struct model *m, const struct attempt_rec *got)
{
    const struct attempt_rec *want = NULL;
    for (size_t i = 0; i < m->attempts.len; i++) {
        if (m->attempts.items[i].exec_id == got->exec_id &&
            m->attempts.items[i].token == got->token)
            want = &m->attempts.items[i];
    }
    assert_non_null(want);
    assert_int_equal(got->number, want->number);
    assert_int_equal(got->worker_id, want->worker_id);
    assert_int_equal(got->started_ms, want->started_ms);
    assert_int_equal(got->ended_ms, want->ended_ms);
    assert_int_equal(got->outcome, want->outcome);
    assert_int_equal(got->usage.exit_code, want->usage.exit_code);
    assert_int_equal(got->usage.signal, want->usage.signal);
    assert_int_equal(got->usage.cpu_ms, want->usage.cpu_ms);
    assert_int_equal(got->usage.peak_memory_bytes, want->usage.peak_memory_bytes);
    assert_int_equal(got->usage.output_bytes, want->usage.output_bytes);
    assert_int_equal(got->usage.dropped_bytes, want->usage.dropped_bytes);
    assert_int_equal(got->usage.log_seq, want->usage.log_seq);
    assert_str(got->error, want->error);
}

PROMISE(single_reads_agree_with_the_model)
{
    struct world *w = *state;
    CLEANUP(model_free) struct model m = {0};
    model_live(w, &m, 60);
    for (size_t i = 0; i < m.jobs.len; i++) {
        struct job_rec job = read_job(w, m.jobs.items[i].id);
        assert_same_job(&job, &m.jobs.items[i], WHOLE);
    }
    size_t attempts_seen = 0;
    for (size_t i = 0; i < m.execs.len; i++) {
        struct exec_rec exec;
        struct attempt_rec *attempts;
        size_t count;
        assert_rc(w->reader->ops->exec(w->reader, m.execs.items[i].id, &w->arena, &exec, &attempts,
                                       &count, &w->err),
                  RC_OK);
        assert_same_exec(&exec, &m.execs.items[i], WHOLE);
        attempts_seen += count;
        for (size_t j = 0; j < count; j++)
            assert_known_attempt(&m, &attempts[j]);
    }
    assert_int_equal(attempts_seen, m.attempts.len);
}

/* Pages are walked while new rows arrive and old ones end: what was there when the walk began and
 * never left is seen once, in order, and nothing is seen twice. */
PROMISE(rows_that_arrive_meanwhile_shift_nothing)
{
    struct world *w = *state;
    CLEANUP(model_free) struct model m = {0};
    model_live(w, &m, 40);
    struct ids want = list_expected_execs(w, &m, &(struct filter){0});
    struct page page = {.limit = 3};
    size_t seen = 0;
    uint64_t last = UINT64_MAX;
    do {
        struct exec_page got = exec_page(w, &(struct filter){0}, &page);
        for (size_t i = 0; i < got.count; i++) {
            assert_true(got.execs[i].id < last);
            last = got.execs[i].id;
            assert_int_equal(got.execs[i].id, want.items[seen++]);
        }
        page.before = got.next;
        model_live(w, &m, 1);
    } while (page.before != 0);
    assert_int_equal(seen, want.len);
}

PROMISE(a_running_filter_shows_stopping_ones_too)
{
    struct world *w = *state;
    uint64_t running = world_submit(w, EXEC_RUNNING);
    uint64_t stopping = world_submit(w, EXEC_STOPPING);
    world_submit(w, EXEC_QUEUED);
    struct page page = {.limit = 10};
    struct exec_page got = exec_page(w, &(struct filter){.states = FILTER_RUNNING}, &page);
    assert_int_equal(got.count, 2);
    assert_int_equal(got.execs[0].id, stopping);
    assert_int_equal(got.execs[1].id, running);
    got = exec_page(w, &(struct filter){.states = FILTER_STATE(EXEC_STOPPING)}, &page);
    assert_int_equal(got.count, 1);
}

PROMISE(an_unfinished_filter_leaves_out_what_is_over)
{
    struct world *w = *state;
    struct job_change job = new_job(w);
    struct exec_change changes[] = {
        new_exec(w, &job, EXEC_COMPLETED), new_exec(w, &job, EXEC_BLOCKED),
        new_exec(w, &job, EXEC_SKIPPED), new_exec(w, &job, EXEC_SCHEDULED)};
    world_commit(w,
                 (struct delta){.jobs = &job, .job_count = 1, .execs = changes, .exec_count = 4});
    world_submit(w, EXEC_QUEUED);
    struct filter f = {.job_id = job.job.id, .unfinished = true};
    struct exec_page got = exec_page(w, &f, &(struct page){.limit = 9});
    assert_int_equal(got.count, 2);
    assert_int_equal(got.next, 0);
    assert_int_equal(got.execs[0].state, EXEC_SCHEDULED);
    assert_int_equal(got.execs[1].state, EXEC_BLOCKED);
    f.states = FILTER_STATE(EXEC_SKIPPED);
    assert_int_equal(exec_page(w, &f, &(struct page){.limit = 9}).count, 0);
}

PROMISE(a_full_page_at_the_end_says_so)
{
    struct world *w = *state;
    for (int i = 0; i < 4; i++)
        world_submit(w, i % 2 == 0 ? EXEC_QUEUED : EXEC_COMPLETED);
    assert_int_equal(job_page(w, &(struct filter){0}, &(struct page){.limit = 4}).next, 0);
    assert_int_equal(exec_page(w, &(struct filter){0}, &(struct page){.limit = 4}).next, 0);
    assert_true(exec_page(w, &(struct filter){0}, &(struct page){.limit = 3}).next != 0);
    struct page far = {.limit = 4, .before = UINT64_MAX};
    assert_int_equal(job_page(w, &(struct filter){0}, &far).count, 4);
}

enum { BATCH = 1000, BATCHES = 22, RARE = 20 };
_Static_assert(BATCH *BATCHES > LIST_SCAN_MAX, "more than a page may look at");

/* Enough rows that a page has to end early. The oldest of them are rare, half of those unfinished;
 * all others are finished. So one table ends where the other has hardly begun. */
static void submit_many(struct world *w, struct str rare)
{
    struct job_change *jobs = ARENA_ARRAY(&w->arena, struct job_change, BATCH);
    struct exec_change *execs = ARENA_ARRAY(&w->arena, struct exec_change, BATCH);
    struct delta delta = {.jobs = jobs, .job_count = BATCH, .execs = execs, .exec_count = BATCH};
    for (int i = 0; i < BATCHES; i++) {
        for (int j = 0; j < BATCH; j++) {
            bool is_rare = i == 0 && j < RARE;
            jobs[j] = new_job(w);
            if (is_rare)
                jobs[j].job.queue = rare;
            execs[j] = new_exec(w, &jobs[j], is_rare && j % 2 == 0 ? EXEC_QUEUED : EXEC_COMPLETED);
        }
        world_commit(w, delta);
    }
}

PROMISE(what_is_rare_is_found_by_following_the_pages)
{
    struct world *w = *state;
    struct filter rare = {.queue = STR("rare")};
    submit_many(w, rare.queue);
    size_t seen = 0;
    struct page page = {.limit = 3};
    do {
        struct job_page got = job_page(w, &rare, &page);
        seen += got.count;
        page.before = got.next;
    } while (page.before != 0);
    assert_int_equal(seen, RARE);
    seen = 0;
    uint64_t last = UINT64_MAX;
    do {
        struct exec_page got = exec_page(w, &rare, &page);
        for (size_t i = 0; i < got.count; i++, seen++) {
            assert_true(got.execs[i].id < last);
            last = got.execs[i].id;
        }
        page.before = got.next;
    } while (page.before != 0);
    assert_int_equal(seen, RARE);
}

/* ---- jobs that failed more than once */

enum {
    FAILED = LIST_SPARSE_MAX + 300,
    STUBBORN = LIST_SPARSE_MAX / 2 + 100
}; /* more than a page sees */

/* Each runs once more, or for the first time, and fails in the commit behind that: its execution tells. */
static void fail_all(struct world *w, struct job_change *jobs, size_t count, enum job_state end)
{
    struct exec_change *execs = ARENA_ARRAY(&w->arena, struct exec_change, count);
    struct delta delta = {.jobs = jobs, .job_count = count, .execs = execs, .exec_count = count};
    for (size_t i = 0; i < count; i++) {
        execs[i] = new_exec(w, &jobs[i], EXEC_RUNNING);
        execs[i].exec.first = jobs[i].kind == CHANGE_INSERT;
        jobs[i].job.state = JOB_ACTIVE;
        jobs[i].job.finished_ms = 0;
        jobs[i].job.last_exec = execs[i].exec.id;
        jobs[i].with_exec = false;
    }
    world_commit(w, delta);
    for (size_t i = 0; i < count; i++) {
        execs[i] = next_change(&execs[i].exec, CHANGE_FINISH, EXEC_FAILED);
        execs[i].exec.finished_ms = T0 + 1;
        execs[i].ends_job = &jobs[i];
        jobs[i].kind = CHANGE_UPDATE;
        jobs[i].job.state = end;
        jobs[i].job.finished_ms = T0 + 1;
        jobs[i].with_exec = true;
    }
    world_commit(w, delta);
}

/* All of the state that the pages show are these, the newest first. */
static void assert_listed(struct world *w, enum job_state state, const struct job_change *jobs,
                          size_t count, size_t limit)
{
    struct filter filter = {.states = FILTER_STATE(state)};
    struct page page = {.limit = limit};
    size_t left = count;
    do {
        struct job_page got = job_page(w, &filter, &page);
        for (size_t i = 0; i < got.count; i++) {
            assert_true(left > 0);
            assert_int_equal(got.jobs[i].id, jobs[--left].job.id);
            assert_int_equal(got.jobs[i].state, state);
        }
        page.before = got.next;
    } while (page.before != 0);
    assert_int_equal(left, 0);
}

PROMISE(jobs_that_failed_twice_are_listed_to_the_last)
{
    struct world *w = *state;
    struct job_change *jobs = ARENA_ARRAY(&w->arena, struct job_change, FAILED);
    for (size_t i = 0; i < FAILED; i++)
        jobs[i] = new_job(w);
    fail_all(w, jobs, FAILED, JOB_FAILED);
    assert_listed(w, JOB_FAILED, jobs, FAILED, 100);
    fail_all(w, jobs, FAILED, JOB_FAILED);
    assert_listed(w, JOB_FAILED, jobs, FAILED, 100);
    assert_listed(w, JOB_FAILED, jobs, FAILED, LIST_SPARSE_MAX);
    fail_all(w, jobs, FAILED, JOB_CANCELLED); /* what failed before is cancelled now */
    assert_listed(w, JOB_CANCELLED, jobs, FAILED, 100);
    assert_listed(w, JOB_FAILED, jobs, 0, 100);
}

/* One with more ends than a page looks at, between others whose own rows say that they failed. */
PROMISE(one_that_fails_all_the_time_hides_no_others)
{
    struct world *w = *state;
    enum { OTHERS = 650, PLACE = 640 };
    struct job_change *jobs = ARENA_ARRAY(&w->arena, struct job_change, OTHERS);
    for (size_t i = 0; i < OTHERS; i++) {
        jobs[i] = new_job(w);
        jobs[i].job.state = i == PLACE ? JOB_ACTIVE : JOB_FAILED;
    }
    world_commit(w, (struct delta){.jobs = jobs, .job_count = OTHERS});
    jobs[PLACE].kind = CHANGE_UPDATE;
    for (size_t i = 0; i < STUBBORN; i++)
        fail_all(w, &jobs[PLACE], 1, JOB_FAILED);
    for (size_t i = 0; i < PLACE; i += 100) {
        jobs[i].kind = CHANGE_UPDATE; /* behind it there are ends, too */
        fail_all(w, &jobs[i], 1, JOB_FAILED);
    }
    assert_listed(w, JOB_FAILED, jobs, OTHERS, 100);
}
