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

/* ---- versions */

static struct delta versioned_edit(const struct job_rec *job, struct job_change *ret_change,
                                   struct version_change *ret_version, uint32_t version,
                                   uint32_t oldest)
{
    *ret_change = (struct job_change){.kind = CHANGE_UPDATE, .redefined = true, .job = *job};
    ret_change->job.version = version;
    ret_change->job.changed_ms = T0 + version;
    ret_change->job.spec = STR("{\"command\":[\"new\"]}");
    ret_change->job.payload = STR("[1]");
    *ret_version = (struct version_change){
        .version = {job->id, version, T0 + version, STR("key:bob"), ret_change->job.spec,
                    ret_change->job.payload},
        .oldest = oldest,
    };
    return (struct delta){
        .jobs = ret_change, .job_count = 1, .versions = ret_version, .version_count = 1};
}

static size_t versions_from(struct world *w, uint64_t job_id, uint32_t newest, size_t max,
                            struct version_rec **ret_versions)
{
    size_t count;
    assert_rc(w->reader->ops->versions(w->reader, job_id, newest, max, &w->arena, ret_versions,
                                       &count, &w->err),
              RC_OK);
    return count;
}

static size_t versions_of(struct world *w, uint64_t job_id, struct version_rec **ret_versions)
{
    return versions_from(w, job_id, UINT32_MAX, SIZE_MAX / 2, ret_versions);
}

PROMISE(the_first_edit_writes_the_version_before_it_too)
{
    struct world *w = *state;
    struct exec_rec exec = read_exec(w, world_submit(w, EXEC_QUEUED));
    struct job_rec job = read_job(w, exec.job_id);
    struct job_change change;
    struct version_change version;
    struct version_rec *found;
    assert_int_equal(versions_of(w, job.id, &found), 0);
    world_commit(w, versioned_edit(&job, &change, &version, 2, 0));
    world_reopen(w);
    assert_int_equal(versions_of(w, job.id, &found), 2);
    assert_true(found[0].version == 2 && found[0].at_ms == T0 + 2);
    assert_str(found[0].actor, STR("key:bob"));
    assert_str(found[0].spec, change.job.spec);
    assert_str(found[0].payload, STR("[1]"));
    assert_true(found[1].version == 1 && found[1].at_ms == job.created_ms);
    assert_str(found[1].actor, job.owner);
    assert_str(found[1].spec, job.spec);
    assert_str(found[1].payload, job.payload);
    assert_int_equal(versions_from(w, job.id, 1, 1, &found), 1);
    assert_int_equal(found[0].version, 1);
}

PROMISE(versions_go_with_their_job)
{
    struct world *w = *state;
    struct exec_rec exec = read_exec(w, world_submit(w, EXEC_QUEUED));
    struct exec_rec other = read_exec(w, world_submit(w, EXEC_QUEUED));
    struct job_change changes[2];
    struct version_change versions[2];
    struct version_rec *found;
    const struct exec_rec *const execs[] = {&exec, &other};
    for (size_t i = 0; i < COUNT_OF(execs); i++) {
        struct job_rec job = read_job(w, execs[i]->job_id);
        world_commit(w, versioned_edit(&job, &changes[i], &versions[i], 2, 0));
    }
    struct exec_change end = next_change(&exec, CHANGE_FINISH, EXEC_CANCELLED);
    end.exec.finished_ms = T0 + 50;
    changes[0] = (struct job_change){.kind = CHANGE_UPDATE, .job = read_job(w, exec.job_id)};
    changes[0].job.state = JOB_CANCELLED;
    changes[0].job.finished_ms = T0 + 50;
    world_commit(w,
                 (struct delta){.jobs = changes, .job_count = 1, .execs = &end, .exec_count = 1});
    assert_int_equal(versions_of(w, exec.job_id, &found), 2);
    world_commit(w, (struct delta){.forgotten = &exec.id, .forgotten_count = 1});
    assert_int_equal(versions_of(w, exec.job_id, &found), 0);
    assert_int_equal(versions_of(w, other.job_id, &found), 2);
}

PROMISE(versions_that_are_too_many_go)
{
    struct world *w = *state;
    struct exec_rec exec = read_exec(w, world_submit(w, EXEC_QUEUED));
    struct job_rec job = read_job(w, exec.job_id);
    struct job_change change;
    struct version_change version;
    struct version_rec *found;
    for (uint32_t i = 2; i < 6; i++)
        world_commit(w, versioned_edit(&job, &change, &version, i, i > 3 ? i - 3 : 0));
    assert_int_equal(versions_of(w, job.id, &found), 3);
    assert_true(found[0].version == 5 && found[2].version == 3);
    assert_int_equal(versions_from(w, job.id, 4, 1, &found), 1);
    assert_int_equal(found[0].version, 4);
    assert_int_equal(versions_from(w, job.id, 4, 9, &found), 2);
    assert_int_equal(versions_from(w, job.id, 2, 9, &found), 0);
}
