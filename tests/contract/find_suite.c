/* What people write in place of an id: a name, or a part of an id. */
#include "model.h"

#include <stdlib.h>

#include "base/id.h"

#include <stdlib.h>

static struct job_change named_job(struct world *w, const char *name)
{
    struct job_change job = new_job(w);
    job.job.name = str_c(name);
    return job;
}

static uint64_t find(struct world *w, const char *name)
{
    uint64_t id = 0;
    enum rc rc = w->reader->ops->find_named(w->reader, str_c(name), &id, &w->err);
    assert_true(rc == RC_OK || rc == RC_NOT_FOUND);
    assert_true((rc == RC_OK) == (id != 0));
    return id;
}

static uint64_t commit_job(struct world *w, const char *name, enum exec_state state)
{
    struct job_change job = named_job(w, name);
    struct exec_change exec = new_exec(w, &job, state);
    world_commit(w, (struct delta){.jobs = &job, .job_count = 1, .execs = &exec, .exec_count = 1});
    return job.job.id;
}

PROMISE(a_name_means_its_holder_and_else_the_newest_job_that_had_it)
{
    struct world *w = *state;
    assert_int_equal(find(w, "nightly"), 0);
    uint64_t first = commit_job(w, "nightly", EXEC_QUEUED);
    uint64_t second = commit_job(w, "nightly", EXEC_QUEUED);
    uint64_t other = commit_job(w, "nightly ", EXEC_QUEUED);
    assert_int_equal(find(w, "nightly"), second);
    assert_int_equal(find(w, "nightly "), other);
    assert_int_equal(find(w, "Nightly"), 0);

    assert_int_equal(world_claim(w, STR("nightly"), first), first);
    world_commit(w, (struct delta){0});
    assert_int_equal(find(w, "nightly"), first);
    struct claim released = {.kind = CLAIM_NAME, .key = STR("nightly"), .holder = first};
    world_commit(w, (struct delta){.released = &released, .released_count = 1});
    assert_int_equal(find(w, "nightly"), second);
}

static int newest_first(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;
    return left > right ? -1 : left < right;
}

static void check_part(struct world *w, enum id_kind kind, const struct id_part *part,
                       const uint64_t *all, size_t count, size_t max)
{
    uint64_t *got;
    size_t got_count;
    size_t want = 0;
    assert_rc(
        w->reader->ops->find_ids(w->reader, kind, part, max, &w->arena, &got, &got_count, &w->err),
        RC_OK);
    for (size_t i = 0; i < count && want < max; i++) {
        if (all[i] < part->min || all[i] >= part->end || (all[i] & part->mask) != part->tail)
            continue;
        assert_true(want < got_count);
        assert_int_equal(got[want++], all[i]);
    }
    assert_int_equal(got_count, want);
}

/* Every beginning and every end of some ids. */
static void check_parts(struct world *w, enum id_kind kind, const uint64_t *all, size_t count)
{
    const char *prefix = kind == ID_KIND_JOB ? ID_JOB : ID_EXEC;
    for (size_t i = 0; i < count; i += 7) {
        char text[ID_TEXT_MAX];
        struct str whole = id_format(text, prefix, all[i]);
        struct str number = str_from(whole, whole.len - ID_DIGITS);
        for (size_t digits = ID_PART_DIGITS_MIN; digits < ID_DIGITS; digits++) {
            struct str parts[] = {
                str_head(whole, whole.len - ID_DIGITS + digits),
                arena_printf(&w->arena, "…%.*s", STR_ARG(str_from(number, ID_DIGITS - digits)))};
            for (size_t k = 0; k < COUNT_OF(parts); k++) {
                struct id_part part;
                assert_true(id_part_parse(parts[k], prefix, &part));
                check_part(w, kind, &part, all, count, 1 + rng_below(&w->rng, 12));
            }
        }
    }
}

PROMISE(ids_are_found_by_any_part_of_them)
{
    struct world *w = *state;
    CLEANUP(model_free) struct model m = {0};
    for (int i = 0; i < 4; i++)
        model_live(w, &m, 15);
    size_t count = m.jobs.len > m.execs.len ? m.jobs.len : m.execs.len;
    uint64_t *ids = ARENA_ARRAY(&w->arena, uint64_t, count);
    for (size_t i = 0; i < m.jobs.len; i++)
        ids[i] = m.jobs.items[i].id;
    qsort(ids, m.jobs.len, sizeof *ids, newest_first);
    check_parts(w, ID_KIND_JOB, ids, m.jobs.len);
    for (size_t i = 0; i < m.execs.len; i++)
        ids[i] = m.execs.items[i].id;
    qsort(ids, m.execs.len, sizeof *ids, newest_first);
    check_parts(w, ID_KIND_EXEC, ids, m.execs.len);
}
