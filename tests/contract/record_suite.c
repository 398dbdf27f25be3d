/* Records: what was given comes back, nothing more and nothing less. */
#include "world.h"

#include <string.h>

PROMISE(a_job_comes_back_as_it_was_given)
{
    struct world *w = *state;
    struct job_change job = new_job(w);
    job.job.name = STR("nightly");
    job.job.tags = STR("\nteam:ops\nenv:prod\n");
    job.job.priority = -3;
    job.job.last_exec = world_id(w);
    job.job.payload = STR("{\"n\":1}");
    world_commit(w, (struct delta){.jobs = &job, .job_count = 1});
    world_reopen(w);
    struct job_rec got = read_job(w, job.job.id);
    assert_int_equal(got.version, 1);
    assert_int_equal(got.state, JOB_ACTIVE);
    assert_str(got.name, job.job.name);
    assert_str(got.queue, job.job.queue);
    assert_str(got.owner, job.job.owner);
    assert_str(got.team, job.job.team);
    assert_str(got.tags, job.job.tags);
    assert_int_equal(got.priority, -3);
    assert_int_equal(got.created_ms, T0);
    assert_int_equal(got.finished_ms, 0);
    assert_int_equal(got.last_exec, job.job.last_exec);
    assert_str(got.spec, job.job.spec);
    assert_str(got.payload, job.job.payload);
    assert_str(got.trail, STR("created\n"));
}

PROMISE(an_update_keeps_what_a_job_was_born_with)
{
    struct world *w = *state;
    struct job_change job = new_job(w);
    job.job.name = STR("nightly");
    job.job.payload = STR("{}");
    world_commit(w, (struct delta){.jobs = &job, .job_count = 1});
    struct job_change update = {
        .kind = CHANGE_UPDATE,
        .job = {.id = job.job.id, .version = 2, .state = JOB_FAILED, .finished_ms = T0 + 9},
        .step = STR("failed\n"),
    };
    world_commit(w, (struct delta){.jobs = &update, .job_count = 1});
    struct job_rec got = read_job(w, job.job.id);
    assert_int_equal(got.version, 2);
    assert_int_equal(got.state, JOB_FAILED);
    assert_int_equal(got.finished_ms, T0 + 9);
    assert_str(got.name, STR("nightly"));
    assert_str(got.owner, job.job.owner);
    assert_str(got.team, job.job.team);
    assert_str(got.spec, job.job.spec);
    assert_str(got.payload, STR("{}"));
    assert_str(got.trail, STR("created\nfailed\n"));
}

PROMISE(large_and_odd_texts_are_kept_whole)
{
    struct world *w = *state;
    struct job_change job = new_job(w);
    size_t len = 1 << 20;
    char *large = arena_bytes(&w->arena, len);
    memset(large, 'x', len);
    job.job.payload = str_of(large, len);
    job.job.queue = STR("a\0b\xff'; DROP TABLE job; --");
    world_commit(w, (struct delta){.jobs = &job, .job_count = 1});
    job.kind = CHANGE_UPDATE;
    world_commit(w, (struct delta){.jobs = &job, .job_count = 1});
    struct job_rec got = read_job(w, job.job.id);
    assert_str(got.payload, job.job.payload);
    assert_str(got.spec, job.job.spec);
    assert_str(got.queue, job.job.queue);
    struct str spec;
    struct str payload;
    assert_rc(w->store->ops->fetch(w->store, job.job.id, 0, &w->arena, &spec, &payload, &w->err),
              RC_OK);
    assert_str(spec, job.job.spec);
    assert_str(payload, job.job.payload);
}

PROMISE(fetch_works_within_a_turn_and_without)
{
    struct world *w = *state;
    struct job_change job = new_job(w);
    struct str spec;
    struct str payload;
    world_commit(w, (struct delta){.jobs = &job, .job_count = 1});
    assert_rc(w->store->ops->fetch(w->store, job.job.id, 0, &w->arena, &spec, &payload, &w->err),
              RC_OK);
    world_claim(w, STR("nightly"), 7);
    assert_rc(w->store->ops->fetch(w->store, job.job.id, 0, &w->arena, &spec, &payload, &w->err),
              RC_OK);
    assert_str(spec, job.job.spec);
    assert_int_equal(payload.len, 0);
    assert_rc(w->store->ops->fetch(w->store, 99, 0, &w->arena, &spec, &payload, &w->err),
              RC_NOT_FOUND);
    assert_int_equal(world_claim(w, STR("nightly"), 8), 7); /* the turn is still the same one */
}

PROMISE(a_finished_execution_becomes_history)
{
    struct world *w = *state;
    uint64_t id = world_submit(w, EXEC_QUEUED);
    struct exec_rec exec = read_exec(w, id);
    exec.token = 3;
    exec.worker_id = 77;
    exec.started_ms = T0 + 1;
    exec.attempts = 2;
    exec.lost = 1;
    exec.returned = 4;
    exec.late = true;
    exec.unseen = 9;
    struct exec_change lease = next_change(&exec, CHANGE_UPDATE, EXEC_RUNNING);
    world_commit(w, (struct delta){.execs = &lease, .exec_count = 1});
    struct exec_change finish = next_change(&lease.exec, CHANGE_FINISH, EXEC_FAILED);
    finish.exec.finished_ms = T0 + 5;
    finish.exec.worker_id = 0;
    finish.exec.result = STR("[1,2]");
    finish.exec.error = STR("exit code 3");
    finish.step = STR("failed\n");
    world_commit(w, (struct delta){.execs = &finish, .exec_count = 1});
    world_reopen(w);
    struct exec_rec got = read_exec(w, id);
    assert_int_equal(got.state, EXEC_FAILED);
    assert_int_equal(got.job_id, exec.job_id);
    assert_str(got.queue, exec.queue);
    assert_int_equal(got.token, 3);
    assert_int_equal(got.attempts, 2);
    assert_int_equal(got.lost, 1);
    assert_int_equal(got.returned, 4);
    assert_int_equal(got.unseen, 0); /* of no use any more */
    assert_true(got.late);
    assert_int_equal(got.started_ms, T0 + 1);
    assert_int_equal(got.finished_ms, T0 + 5);
    assert_str(got.result, STR("[1,2]"));
    assert_str(got.error, STR("exit code 3"));
    assert_str(got.trail, STR("born\nmoved\nfailed\n"));
}

/* What an execution is for, and, once it is skipped, how many slots it stands for. */
PROMISE(slots_are_kept_and_listed)
{
    struct world *w = *state;
    struct job_change job = new_job(w);
    struct exec_change fired = new_exec(w, &job, EXEC_QUEUED);
    struct exec_change ahead = new_exec(w, &job, EXEC_SCHEDULED);
    struct exec_change range = new_exec(w, &job, EXEC_SKIPPED);
    struct exec_change asked = new_exec(w, &job, EXEC_QUEUED);
    fired.exec.origin = ahead.exec.origin = range.exec.origin = ORIGIN_SLOT;
    asked.exec.origin = ORIGIN_REQUEST;
    fired.exec.nominal_ms = T0 - 3600000;
    ahead.exec.nominal_ms = range.exec.nominal_ms = T0;
    ahead.exec.due_ms = T0 + 60000;
    range.exec.slot_last_ms = T0 + 58 * 60000;
    range.exec.slot_count = UINT64_C(5000000000);
    struct exec_change changes[] = {fired, ahead, range, asked};
    world_commit(w,
                 (struct delta){.jobs = &job, .job_count = 1, .execs = changes, .exec_count = 4});

    /* The one ahead is skipped later, with those that follow it. */
    struct exec_rec before = read_exec(w, ahead.exec.id);
    struct exec_change skipped = next_change(&before, CHANGE_FINISH, EXEC_SKIPPED);
    skipped.exec.slot_last_ms = T0 + 60000;
    skipped.exec.slot_count = 2;
    world_commit(w, (struct delta){.execs = &skipped, .exec_count = 1});
    world_reopen(w);

    struct exec_page page;
    assert_rc(w->reader->ops->execs(w->reader, &(struct filter){.job_id = job.job.id},
                                    &(struct page){.limit = 9}, &w->arena, &page, &w->err),
              RC_OK);
    assert_int_equal(page.count, 4);
    const struct exec_rec want[] = {asked.exec, range.exec, skipped.exec, fired.exec};
    for (size_t i = 0; i < page.count; i++) {
        struct exec_rec alone = read_exec(w, want[i].id);
        const struct exec_rec *both[] = {&page.execs[i], &alone};
        for (size_t j = 0; j < COUNT_OF(both); j++) {
            assert_int_equal(both[j]->id, want[i].id);
            assert_int_equal(both[j]->origin, want[i].origin);
            assert_int_equal(both[j]->nominal_ms, want[i].nominal_ms);
            assert_int_equal(both[j]->slot_last_ms, want[i].slot_last_ms);
            assert_int_equal(both[j]->slot_count, want[i].slot_count);
        }
    }
}

PROMISE(an_error_is_kept_until_there_is_another_word)
{
    struct world *w = *state;
    uint64_t id = world_submit(w, EXEC_RUNNING);
    struct exec_rec exec = read_exec(w, id);
    struct exec_change failed = next_change(&exec, CHANGE_UPDATE, EXEC_RETRYING);
    failed.exec.error = STR("exit code 3");
    world_commit(w, (struct delta){.execs = &failed, .exec_count = 1});
    struct exec_change due = next_change(&exec, CHANGE_UPDATE, EXEC_QUEUED);
    due.exec.error = STR("");
    world_commit(w, (struct delta){.execs = &due, .exec_count = 1});
    assert_str(read_exec(w, id).error, STR("exit code 3"));
    struct exec_change done = next_change(&exec, CHANGE_FINISH, EXEC_COMPLETED);
    done.exec.error = STR("");
    world_commit(w, (struct delta){.execs = &done, .exec_count = 1});
    assert_str(read_exec(w, id).error, STR(""));
}

PROMISE(attempts_come_in_the_order_of_their_tokens)
{
    struct world *w = *state;
    uint64_t id = world_submit(w, EXEC_QUEUED);
    struct attempt_rec given[] = {
        {.exec_id = id, .token = 5, .number = 2, .outcome = OUTCOME_SUCCEEDED},
        {.exec_id = id + 1, .token = 1, .number = 1, .outcome = OUTCOME_RETURNED},
        {.exec_id = id,
         .token = 2,
         .number = 1,
         .worker_id = 9,
         .started_ms = T0,
         .ended_ms = T0 + 3,
         .outcome = OUTCOME_LOST,
         .usage = {-1, 9, 1, 2, 3, 4, 5},
         .error = STR("lost"),
         .class = FAILURE_LOST_WORKER,
         .fingerprint = 0xffffffffffff,
         .tail = STR("its last\nwords")},
    };
    struct exec_rec exec;
    struct attempt_rec *got;
    size_t count;
    world_commit(w, (struct delta){.attempts = given, .attempt_count = COUNT_OF(given)});
    assert_rc(w->reader->ops->exec(w->reader, id, &w->arena, &exec, &got, &count, &w->err), RC_OK);
    assert_int_equal(count, 2);
    assert_int_equal(got[0].token, 2);
    assert_int_equal(got[0].worker_id, 9);
    assert_int_equal(got[0].ended_ms, T0 + 3);
    assert_int_equal(got[0].outcome, OUTCOME_LOST);
    assert_memory_equal(&got[0].usage, &given[2].usage, sizeof given[2].usage);
    assert_str(got[0].error, STR("lost"));
    assert_int_equal(got[0].class, FAILURE_LOST_WORKER);
    assert_int_equal(got[0].fingerprint, 0xffffffffffff);
    assert_str(got[0].tail, STR("its last\nwords"));
    assert_int_equal(got[1].class, FAILURE_NONE);
    assert_int_equal(got[1].fingerprint, 0);
    assert_str(got[1].tail, STR(""));
    assert_int_equal(got[1].token, 5);
    assert_int_equal(got[1].number, 2);
}

PROMISE(an_attempt_told_again_takes_the_place_of_the_first)
{
    struct world *w = *state;
    uint64_t id = world_submit(w, EXEC_QUEUED);
    struct attempt_rec given[] = {
        {.exec_id = id, .token = 1, .outcome = OUTCOME_LOST, .error = STR("silent")},
        {.exec_id = id,
         .token = 2,
         .outcome = OUTCOME_LOST,
         .error = STR("silent again"),
         .class = FAILURE_LOST_WORKER,
         .fingerprint = 7,
         .tail = STR("x")},
        {.exec_id = id, .token = 2, .outcome = OUTCOME_FAILED}, /* within the same turn */
    };
    struct attempt_rec late = {.exec_id = id, .token = 1, .outcome = OUTCOME_SUCCEEDED};
    struct exec_rec exec;
    struct attempt_rec *got;
    size_t count;
    world_commit(w, (struct delta){.attempts = given, .attempt_count = COUNT_OF(given)});
    world_commit(w, (struct delta){.attempts = &late, .attempt_count = 1});
    assert_rc(w->reader->ops->exec(w->reader, id, &w->arena, &exec, &got, &count, &w->err), RC_OK);
    assert_int_equal(count, 2);
    assert_int_equal(got[0].outcome, OUTCOME_SUCCEEDED);
    assert_str(got[0].error, STR(""));
    assert_int_equal(got[1].outcome, OUTCOME_FAILED);
    assert_int_equal(got[1].class, FAILURE_NONE);
    assert_str(got[1].tail, STR(""));
}

PROMISE(a_number_no_database_has_does_no_harm)
{
    struct world *w = *state;
    uint64_t id = world_submit(w, EXEC_QUEUED);
    struct attempt_rec attempt = {.exec_id = id,
                                  .token = 1,
                                  .outcome = OUTCOME_FAILED,
                                  .usage = {.cpu_ms = INT64_MIN, .log_seq = UINT64_MAX}};
    world_commit(w, (struct delta){.attempts = &attempt, .attempt_count = 1});
    assert_false(job_exists(w, UINT64_MAX));
    assert_true(exec_exists(w, id));
}

PROMISE(a_key_is_replaced_by_its_id)
{
    struct world *w = *state;
    struct key_rec second = {.id = 20, .name = STR("b"), .role = STR("worker"), .created_ms = T0};
    struct key_rec first = {.id = 10, .name = STR("a"), .role = STR("admin"), .hash = STR("00ff")};
    struct key_rec *got;
    size_t count;
    assert_rc(w->store->ops->key_put(w->store, &second, &w->err), RC_OK);
    assert_rc(w->store->ops->key_put(w->store, &first, &w->err), RC_OK);
    second.role = STR("reader");
    assert_rc(w->store->ops->key_put(w->store, &second, &w->err), RC_OK);
    world_reopen(w);
    assert_rc(w->store->ops->keys(w->store, &w->arena, &got, &count, &w->err), RC_OK);
    assert_int_equal(count, 2);
    assert_int_equal(got[0].id, 10);
    assert_str(got[0].hash, STR("00ff"));
    assert_str(got[1].name, STR("b"));
    assert_str(got[1].role, STR("reader"));
    assert_int_equal(got[1].created_ms, T0);
}

PROMISE(a_key_counts_how_often_its_browsers_were_signed_out)
{
    struct world *w = *state;
    struct key_rec key = {.id = 10, .name = STR("a"), .role = STR("admin"), .sessions = 4};
    struct key_rec *got;
    size_t count;
    assert_rc(w->store->ops->key_put(w->store, &key, &w->err), RC_OK);
    assert_rc(w->store->ops->key_sign_out(w->store, key.id, &w->err), RC_OK);
    assert_rc(w->store->ops->key_sign_out(w->store, 11, &w->err), RC_NOT_FOUND);
    world_reopen(w);
    assert_rc(w->store->ops->keys(w->store, &w->arena, &got, &count, &w->err), RC_OK);
    assert_int_equal(count, 1);
    assert_int_equal(got[0].sessions, 5);
}

static struct grant read_grant(struct world *w, uint64_t exec_id, uint64_t token)
{
    struct grant got;
    assert_rc(w->reader->ops->grant(w->reader, exec_id, token, &got, &w->err), RC_OK);
    return got;
}

PROMISE(a_grant_is_on_record_from_its_turn_on)
{
    struct world *w = *state;
    uint64_t id = world_submit(w, EXEC_QUEUED);
    struct grant got = read_grant(w, id, 1);
    assert_true(got.live);
    assert_int_equal(got.newest, 0);
    assert_int_equal(got.holder_id, 0);
    assert_int_equal(got.past_id, 0);

    struct exec_rec exec = read_exec(w, id);
    struct exec_change lease = next_change(&exec, CHANGE_UPDATE, EXEC_RUNNING);
    lease.exec.token = 1;
    lease.exec.worker_id = 70;
    world_commit(w, (struct delta){.execs = &lease, .exec_count = 1});
    got = read_grant(w, id, 1);
    assert_int_equal(grant_standing(&got, 70, 1), STANDING_HELD);
    assert_int_equal(grant_standing(&got, 71, 1), STANDING_NONE);
    got = read_grant(w, id, 2);
    assert_int_equal(grant_standing(&got, 70, 2), STANDING_NONE);
}

/* Wherever a store puts it: the attempt that ended an execution is told like any other. */
PROMISE(the_attempt_that_ended_an_execution_is_found_by_its_token)
{
    struct world *w = *state;
    uint64_t id = world_submit(w, EXEC_QUEUED);
    struct exec_rec exec = read_exec(w, id);
    struct attempt_rec attempt = {
        .exec_id = id, .token = 1, .number = 1, .worker_id = 70, .outcome = OUTCOME_SUCCEEDED};
    struct exec_change over = next_change(&exec, CHANGE_FINISH, EXEC_COMPLETED);
    over.exec.token = 1;
    over.exec.attempts = 1;
    world_commit(w, (struct delta){
                        .execs = &over, .exec_count = 1, .attempts = &attempt, .attempt_count = 1});
    struct question q = {.kind = ASK_ATTEMPT, .id = id, .token = 1};
    world_admit(w, &q);
    assert_non_null(q.answer.attempt);
    assert_int_equal(q.answer.attempt->worker_id, 70);
    assert_int_equal(q.answer.attempt->outcome, OUTCOME_SUCCEEDED);
    struct grant got = read_grant(w, id, 1);
    assert_int_equal(got.past_id, 70);
}

PROMISE(a_grant_stays_on_record_when_it_has_ended)
{
    struct world *w = *state;
    uint64_t id = world_submit(w, EXEC_QUEUED);
    struct exec_rec exec = read_exec(w, id);
    struct attempt_rec attempt = {
        .exec_id = id, .token = 1, .number = 1, .worker_id = 70, .outcome = OUTCOME_FAILED};
    struct exec_change failed = next_change(&exec, CHANGE_UPDATE, EXEC_RETRYING);
    failed.exec.token = 1;
    world_commit(w,
                 (struct delta){
                     .execs = &failed, .exec_count = 1, .attempts = &attempt, .attempt_count = 1});
    struct grant got = read_grant(w, id, 1);
    assert_int_equal(grant_standing(&got, 70, 1), STANDING_LATE);

    struct exec_change over = next_change(&failed.exec, CHANGE_FINISH, EXEC_FAILED);
    world_commit(w, (struct delta){.execs = &over, .exec_count = 1});
    got = read_grant(w, id, 1);
    assert_false(got.live);
    assert_int_equal(grant_standing(&got, 70, 1), STANDING_PAST);
    got = read_grant(w, id, 2);
    assert_int_equal(got.past_id, 0);
    got = read_grant(w, world_id(w), 1); /* of what nobody knows there is none */
    assert_false(got.live);
    assert_int_equal(got.past_id, 0);
}

/* Wherever a store keeps what ended together, it is there for whoever asks. */
PROMISE(an_attempt_that_ended_with_its_execution_is_found)
{
    struct world *w = *state;
    uint64_t id = world_submit(w, EXEC_QUEUED);
    struct exec_rec exec = read_exec(w, id);
    struct exec_change lease = next_change(&exec, CHANGE_UPDATE, EXEC_RUNNING);
    lease.exec.token = 1;
    lease.exec.worker_id = 70;
    world_commit(w, (struct delta){.execs = &lease, .exec_count = 1});
    struct attempt_rec attempt = {.exec_id = id,
                                  .token = 1,
                                  .worker_id = 70,
                                  .outcome = OUTCOME_SUCCEEDED,
                                  .with_exec = true};
    struct exec_change end = next_change(&lease.exec, CHANGE_FINISH, EXEC_COMPLETED);
    end.exec.worker_id = 0;
    end.ends_attempt = &attempt;
    world_commit(w, (struct delta){
                        .execs = &end, .exec_count = 1, .attempts = &attempt, .attempt_count = 1});
    struct question q = {.kind = ASK_ATTEMPT, .id = id, .token = 1};
    world_admit(w, &q);
    assert_non_null(q.answer.attempt);
    assert_int_equal(q.answer.attempt->worker_id, 70);
    assert_int_equal(q.answer.attempt->outcome, OUTCOME_SUCCEEDED);
    struct grant grant = read_grant(w, id, 1);
    assert_int_equal(grant_standing(&grant, 70, 1), STANDING_PAST);
    assert_int_equal(grant_standing(&grant, 71, 1), STANDING_NONE);
}

PROMISE(why_the_last_attempt_failed_is_kept_with_its_execution)
{
    struct world *w = *state;
    uint64_t id = world_submit(w, EXEC_QUEUED);
    struct exec_rec exec = read_exec(w, id);
    struct exec_change lease = next_change(&exec, CHANGE_UPDATE, EXEC_RUNNING);
    lease.exec.token = 1;
    lease.exec.worker_id = 70;
    world_commit(w, (struct delta){.execs = &lease, .exec_count = 1});
    struct attempt_rec attempt = {.exec_id = id,
                                  .token = 1,
                                  .outcome = OUTCOME_FAILED,
                                  .class = FAILURE_DISK,
                                  .fingerprint = UINT64_C(0x123456789abc),
                                  .tail = STR("full"),
                                  .with_exec = true};
    struct exec_change end = next_change(&lease.exec, CHANGE_FINISH, EXEC_FAILED);
    end.exec.worker_id = 0;
    end.ends_attempt = &attempt;
    world_commit(w, (struct delta){
                        .execs = &end, .exec_count = 1, .attempts = &attempt, .attempt_count = 1});
    struct attempt_rec *got;
    size_t count;
    assert_rc(w->reader->ops->exec(w->reader, id, &w->arena, &exec, &got, &count, &w->err), RC_OK);
    assert_int_equal(count, 1);
    assert_int_equal(got->class, FAILURE_DISK);
    assert_int_equal(got->fingerprint, UINT64_C(0x123456789abc));
    assert_str(got->tail, STR("full"));
}
