/* Lists of jobs by values that only their documents have: every store finds them by reading. */
#include "model.h"

enum { JOBS = 600, EACH = 7 }; /* more than are read at a time; every seventh is a draft */

/* The tag must not be taken for the field. */
static void submit_drafts(struct world *w, uint64_t *ret_ids)
{
    struct job_change *jobs = ARENA_ARRAY(&w->arena, struct job_change, JOBS);
    struct exec_change *execs = ARENA_ARRAY(&w->arena, struct exec_change, JOBS);
    for (size_t i = 0; i < JOBS; i++) {
        jobs[i] = new_job(w);
        jobs[i].job.queue = i % 2 == 0 ? STR("mail") : STR("default");
        jobs[i].job.spec =
            i % EACH == 0
                ? STR("{\"command\":[\"true\"],\"draft\":true,\"tags\":{\"draft\":\"no\"}}")
                : STR("{\"command\":[\"true\"],\"tags\":{\"draft\":true}}");
        execs[i] = new_exec(w, &jobs[i], EXEC_QUEUED);
        ret_ids[i] = jobs[i].job.id;
    }
    world_commit(
        w, (struct delta){.jobs = jobs, .job_count = JOBS, .execs = execs, .exec_count = JOBS});
}

/* Counts the jobs that pages of this size show, and checks their order. */
static size_t walk(struct world *w, const struct filter *f, size_t limit)
{
    struct page page = {.limit = limit};
    uint64_t last = UINT64_MAX;
    size_t seen = 0;
    do {
        struct job_page got;
        assert_rc(store_list_jobs(w->reader, f, &page, &w->arena, &got, &w->err), RC_OK);
        assert_true(got.count <= limit);
        for (size_t i = 0; i < got.count; i++, seen++) {
            assert_true(got.jobs[i].id < last);
            last = got.jobs[i].id;
        }
        assert_true(got.next == 0 || got.next <= last);
        page.before = got.next;
    } while (page.before != 0);
    return seen;
}

PROMISE(jobs_are_found_by_a_value_of_their_document)
{
    struct world *w = *state;
    uint64_t ids[JOBS];
    const struct filter_value draft = {STR("draft"), STR("true")};
    const struct filter_value none = {STR("draft"), STR("null")};
    const size_t limits[] = {1, 20, 86, 1000};
    submit_drafts(w, ids);
    for (size_t i = 0; i < COUNT_OF(limits); i++) {
        struct filter f = {.document = &draft, .document_count = 1};
        assert_int_equal(walk(w, &f, limits[i]), (JOBS + EACH - 1) / EACH);
        f.queue = STR("mail");
        assert_int_equal(walk(w, &f, limits[i]), (JOBS + 2 * EACH - 1) / (2 * EACH));
        f = (struct filter){.document = &none, .document_count = 1};
        assert_int_equal(walk(w, &f, limits[i]), JOBS - (JOBS + EACH - 1) / EACH);
    }
    struct job_page got;
    struct filter f = {.document = &draft, .document_count = 1};
    assert_rc(store_list_jobs(w->reader, &f, &(struct page){.limit = 1}, &w->arena, &got, &w->err),
              RC_OK);
    assert_int_equal(got.jobs[0].id, ids[(JOBS - 1) / EACH * EACH]);
}

PROMISE(all_values_of_a_filter_must_fit)
{
    struct world *w = *state;
    uint64_t ids[JOBS];
    const struct filter_value values[] = {{STR("draft"), STR("true")},
                                          {STR("command"), STR("[\"false\"]")}};
    submit_drafts(w, ids);
    assert_int_equal(walk(w, &(struct filter){.document = values, .document_count = 2}, 50), 0);
}

/* ---- fields with an index: see JOB_KEPT_INDEXED; none of the list may be one */

/* A job with this value of a field, or with none; every other one has nothing else to tell. */
static struct job_change indexed_job(struct world *w, struct str key, const char *value)
{
    struct job_change job = new_job(w);
    if (job.job.id % 2 == 0)
        job.job.name = job.job.team = job.job.tags = job.job.payload = STR("");
    job.job.spec = value == NULL ? STR("{\"command\":[\"true\"]}")
                                 : arena_printf(&w->arena, "{\"command\":[\"true\"],\"%.*s\":%s}",
                                                STR_ARG(key), value);
    return job;
}

static size_t count_indexed(struct world *w, size_t column, struct str value)
{
    struct filter f = {0};
    filter_column_set(&f, column, value);
    return walk(w, &f, 2);
}

static void check_indexed(struct world *w, size_t column)
{
    struct str key = job_fields[filter_columns[column].field].key;
    struct job_change jobs[] = {indexed_job(w, key, "\"a\""), indexed_job(w, key, "\"a\""),
                                indexed_job(w, key, "\"a\""), indexed_job(w, key, "\"b\""),
                                indexed_job(w, key, "\"b\""), indexed_job(w, key, NULL),
                                indexed_job(w, key, NULL)};
    world_commit(w, (struct delta){.jobs = jobs, .job_count = COUNT_OF(jobs)});
    world_reopen(w);
    assert_int_equal(count_indexed(w, column, STR("\"a\"")), 3);
    assert_int_equal(count_indexed(w, column, STR("\"b\"")), 2);
    assert_int_equal(count_indexed(w, column, STR("a")), 0);
    struct job_change edit = {.kind = CHANGE_UPDATE, .redefined = true, .job = jobs[0].job};
    edit.job.version++;
    edit.job.spec = jobs[3].job.spec;
    world_commit(w, (struct delta){.jobs = &edit, .job_count = 1});
    assert_int_equal(count_indexed(w, column, STR("\"a\"")), 2);
    assert_int_equal(count_indexed(w, column, STR("\"b\"")), 3);
    struct filter f = {.queue = STR("none")};
    filter_column_set(&f, column, STR("\"b\""));
    assert_int_equal(walk(w, &f, 2), 0);
}

PROMISE(jobs_are_found_by_the_fields_that_have_an_index)
{
    struct world *w = *state;
    for (size_t i = 0; i < FILTER_COLUMNS; i++) {
        if (filter_column_is_indexed(i))
            check_indexed(w, i);
    }
}
