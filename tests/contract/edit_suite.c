/* Edits: a job becomes another one, and its executions follow. */
#include "world.h"

#include <string.h>

/* An edit of the job: each of its texts may be small or large, before and after. */
static struct job_change edit_of(const struct job_change *job, struct str payload)
{
    struct job_change edit = *job;
    edit.kind = CHANGE_UPDATE;
    edit.redefined = true;
    edit.job.version++;
    edit.job.priority++;
    edit.job.queue = STR("mail");
    edit.job.tags = STR("\nteam:dev\n");
    edit.job.changed_ms = T0 + 7;
    edit.job.spec = STR("{\"command\":[\"false\"]}");
    edit.job.payload = payload;
    edit.step = STR("edited\n");
    return edit;
}

PROMISE(an_edited_job_is_read_listed_and_fetched_as_what_it_became)
{
    struct world *w = *state;
    char *large = arena_bytes(&w->arena, 5000);
    memset(large, '7', 5000);
    struct str payloads[] = {STR("{}"), str_of(large, 5000), str_of(large, 4000), STR("")};
    struct job_change job = new_job(w);
    job.job.tags = STR("\nteam:ops\n");
    job.job.name = STR("nightly");
    world_commit(w, (struct delta){.jobs = &job, .job_count = 1});
    for (size_t i = 0; i < COUNT_OF(payloads); i++) {
        job = edit_of(&job, payloads[i]);
        world_commit(w, (struct delta){.jobs = &job, .job_count = 1});
        world_reopen(w);
        struct job_rec got = read_job(w, job.job.id);
        assert_int_equal(got.version, i + 2);
        assert_int_equal(got.priority, 501 + i);
        assert_int_equal(got.changed_ms, T0 + 7);
        assert_str(got.name, STR("nightly"));
        assert_str(got.owner, STR("key:admin"));
        assert_str(got.queue, STR("mail"));
        assert_str(got.tags, STR("\nteam:dev\n"));
        struct str spec;
        struct str payload;
        assert_rc(
            w->store->ops->fetch(w->store, job.job.id, 0, &w->arena, &spec, &payload, &w->err),
            RC_OK);
        assert_str(spec, job.job.spec);
        assert_str(payload, payloads[i]);
        assert_str(got.spec, job.job.spec);
        assert_str(got.payload, payloads[i]);
    }
    const struct filter filters[] = {{.queue = STR("mail")},
                                     {.tags = STR("team:dev")},
                                     {.queue = STR("default")},
                                     {.tags = STR("team:ops")}};
    for (size_t i = 0; i < COUNT_OF(filters); i++) {
        struct job_page page;
        assert_rc(w->reader->ops->jobs(w->reader, &filters[i], &(struct page){.limit = 9},
                                       &w->arena, &page, &w->err),
                  RC_OK);
        assert_int_equal(page.count, i < 2);
    }
}

/* Its queue and priority are the job's, and its moment may be another one. */
PROMISE(an_execution_moves_with_its_job)
{
    struct world *w = *state;
    struct job_change job = new_job(w);
    struct exec_change exec = new_exec(w, &job, EXEC_SCHEDULED);
    job.job.last_exec = exec.exec.id;
    world_commit(w, (struct delta){.jobs = &job, .job_count = 1, .execs = &exec, .exec_count = 1});
    struct job_change edit = edit_of(&job, STR(""));
    struct exec_change moved = next_change(&exec.exec, CHANGE_UPDATE, EXEC_SCHEDULED);
    moved.moved = true;
    moved.exec.queue = STR("mail");
    moved.exec.priority = 501;
    moved.exec.slot_ms = moved.exec.due_ms = T0 + 9000;
    moved.exec.nominal_ms = T0 + 3609000;
    world_commit(w,
                 (struct delta){.jobs = &edit, .job_count = 1, .execs = &moved, .exec_count = 1});
    world_reopen(w);
    struct question due = {.kind = ASK_DUE, .after_ms = T0, .until_ms = T0 + 9000, .limit = 9};
    world_admit(w, &due);
    struct question whole = {.kind = ASK_AHEAD, .id = job.job.id};
    world_admit(w, &whole);
    const struct exec_rec alone = read_exec(w, exec.exec.id);
    assert_int_equal(due.answer.live_count, 1);
    assert_non_null(whole.answer.exec);
    const struct exec_rec *all[] = {&alone, &due.answer.live[0], whole.answer.exec};
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        assert_str(all[i]->queue, STR("mail"));
        assert_int_equal(all[i]->priority, 501);
        assert_int_equal(all[i]->slot_ms, T0 + 9000);
        assert_int_equal(all[i]->nominal_ms, T0 + 3609000);
        assert_int_equal(all[i]->due_ms, T0 + 9000);
    }
    assert_int_equal(due.answer.jobs[0].version, 2);
    assert_str(due.answer.jobs[0].spec, edit.job.spec);
    assert_int_equal(whole.answer.jobs[0].changed_ms, T0 + 7);
}
