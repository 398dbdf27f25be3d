/* When executions ran: what timelines are made of. */
#include "list_model.h"

#include <stdlib.h>

struct heard {
    struct world *w;
    const struct model *m; /* NULL: only counted */
    struct ids ids;
};

static uint64_t worker_of(const struct model *m, const struct exec_rec *exec)
{
    uint64_t worker_id = exec->worker_id;
    for (size_t i = 0; i < m->attempts.len; i++) {
        const struct attempt_rec *attempt = &m->attempts.items[i];
        if (attempt->exec_id == exec->id && attempt->token == exec->token)
            worker_id = attempt->worker_id;
    }
    return worker_id;
}

static void hear(void *arg, const struct ran_rec *ran)
{
    struct heard *heard = arg;
    heard->ids.items[heard->ids.len++] = ran->id;
    if (heard->m == NULL)
        return;
    const struct exec_rec *exec = model_exec(heard->m, ran->id);
    assert_true(ran->job_id == exec->job_id && ran->state == exec->state);
    assert_str(ran->queue, exec->queue);
    assert_true(ran->origin == exec->origin && ran->retry_of == exec->retry_of);
    assert_true(ran->created_ms == exec->created_ms && ran->slot_ms == exec->slot_ms);
    assert_true(ran->ready_ms == exec->ready_ms && ran->started_ms == exec->started_ms);
    assert_true(ran->finished_ms == exec->finished_ms);
    assert_int_equal(ran->starts, exec->attempts + exec->lost + exec->returned);
    if (ran->worker_id != 0)
        assert_int_equal(ran->worker_id, worker_of(heard->m, exec));
}

static struct ids expected(struct world *w, const struct model *m, const struct ran_query *q)
{
    struct ids want = {.items = ARENA_ARRAY(&w->arena, uint64_t, m->execs.len + 1)};
    for (size_t i = 0; i < m->execs.len; i++) {
        const struct exec_rec *x = &m->execs.items[i];
        struct ran_rec ran = {.created_ms = x->created_ms,
                              .started_ms = x->started_ms,
                              .finished_ms = x->finished_ms};
        bool runs = x->state == EXEC_RUNNING || x->state == EXEC_STOPPING;
        if ((runs || exec_is_final(x->state)) && ran_fits(q, &ran))
            want.items[want.len++] = x->id;
    }
    return want;
}

static struct heard ask(struct world *w, const struct model *m, const struct ran_query *q,
                        size_t max, bool *ret_whole)
{
    struct heard heard = {.w = w, .m = m, .ids.items = ARENA_ARRAY(&w->arena, uint64_t, max + 1)};
    assert_rc(w->reader->ops->ran(w->reader, q, hear, &heard, ret_whole, &w->err), RC_OK);
    return heard;
}

PROMISE(what_ran_agrees_with_the_model)
{
    struct world *w = *state;
    CLEANUP(model_free) struct model m = {0};
    size_t found = 0;
    for (int i = 0; i < 8; i++) {
        model_live(w, &m, 15);
        for (int j = 0; j < 12; j++) {
            int64_t from_ms = T0 - 10 + (int64_t)rng_below(&w->rng, 70);
            struct ran_query q = {from_ms, from_ms + 1 + (int64_t)rng_below(&w->rng, 30), 100000};
            struct ids want = expected(w, &m, &q);
            bool whole;
            struct heard heard = ask(w, &m, &q, m.execs.len, &whole);
            assert_true(whole);
            assert_int_equal(heard.ids.len, want.len);
            qsort(want.items, want.len, sizeof *want.items, ids_newest_first);
            qsort(heard.ids.items, heard.ids.len, sizeof *heard.ids.items, ids_newest_first);
            for (size_t k = 0; k < want.len; k++)
                assert_int_equal(heard.ids.items[k], want.items[k]);
            found += want.len;
        }
    }
    assert_true(found > 0);
}

/* One that was made at T0 and ran so long after that. */
static void record(struct world *w, int64_t after_ms, int64_t took_ms)
{
    struct job_change job = new_job(w);
    struct exec_change exec = new_exec(w, &job, EXEC_COMPLETED);
    exec.exec.started_ms = T0 + after_ms;
    exec.exec.finished_ms = T0 + after_ms + took_ms;
    world_commit(w, (struct delta){.jobs = &job, .job_count = 1, .execs = &exec, .exec_count = 1});
}

PROMISE(one_that_was_made_long_before_it_ran_is_found)
{
    struct world *w = *state;
    static const int64_t day_ms = 86400000;
    static const struct {
        int64_t after_ms;
        int64_t took_ms;
        bool is_in;
    } cases[] = {
        {30 * day_ms, 5000, true},        {30 * day_ms - 5000, 4999, false},
        {30 * day_ms - 5000, 5000, true}, {RAN_SLOW_MS, 31 * day_ms, true},
        {30 * day_ms + 9999, 1, true},    {30 * day_ms + 10000, 1, false},
    };
    struct ran_query q = {T0 + 30 * day_ms, T0 + 30 * day_ms + 10000, 100};
    size_t want = 0;
    bool whole;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        record(w, cases[i].after_ms, cases[i].took_ms);
        want += cases[i].is_in;
    }
    assert_int_equal(ask(w, NULL, &q, 100, &whole).ids.len, want);
    assert_true(whole);
    q.scan_max = 2;
    assert_true(ask(w, NULL, &q, 100, &whole).ids.len <= want);
    assert_false(whole);
}

PROMISE(one_that_ran_at_once_is_found_by_when_it_was_made)
{
    struct world *w = *state;
    struct ran_query q = {T0, T0 + 1000, 100};
    bool whole;
    record(w, 0, 10);
    record(w, RAN_SLOW_MS - 1, 1);
    assert_int_equal(ask(w, NULL, &q, 100, &whole).ids.len, 1);
    q = (struct ran_query){T0 + RAN_SLOW_MS, T0 + RAN_SLOW_MS + 1000, 100};
    assert_int_equal(ask(w, NULL, &q, 100, &whole).ids.len, 1);
    assert_true(whole);
}
