/* The past: what a turn asks about it, and what is deleted because it is old. */
#include "deaths.h"
#include "job/record/ranking.h"
#include "loaded.h"

#define CHANGES(...) ((struct exec_change[]){__VA_ARGS__})

/* ---- executions and jobs */

static void forget(struct world *w, uint64_t exec_id)
{
    world_commit(w, (struct delta){.forgotten = &exec_id, .forgotten_count = 1});
}

/* It ends as the engine says it: with its job's end and its attempt in one word. */
static uint64_t live_and_end(struct world *w, enum job_state job_state, struct job_change *ret_job)
{
    struct job_change job = new_job(w);
    struct exec_change exec = new_exec(w, &job, EXEC_RUNNING);
    exec.exec.token = 1;
    exec.exec.attempts = 1;
    job.job.last_exec = exec.exec.id;
    exec.exec.first = true;
    world_commit(w, (struct delta){.jobs = &job, .job_count = 1, .execs = &exec, .exec_count = 1});
    struct exec_rec kept = read_exec(w, exec.exec.id);
    struct exec_change ends = next_change(&kept, CHANGE_FINISH, EXEC_COMPLETED);
    ends.exec.finished_ms = T0 + 50;
    struct job_change over = {.kind = CHANGE_UPDATE, .job = job.job, .step = STR("over\n")};
    over.job.state = job_state;
    over.job.finished_ms = T0 + 50;
    over.with_exec = true;
    struct attempt_rec attempt = {
        .exec_id = exec.exec.id,
        .token = 1,
        .number = 1,
        .started_ms = T0,
        .ended_ms = T0 + 50,
        .outcome = OUTCOME_SUCCEEDED,
        .usage.exit_code = -1,
        .with_exec = true,
    };
    ends.ends_job = &over;
    ends.ends_attempt = &attempt;
    world_commit(w, (struct delta){.jobs = &over,
                                   .job_count = 1,
                                   .execs = &ends,
                                   .exec_count = 1,
                                   .attempts = &attempt,
                                   .attempt_count = 1});
    *ret_job = over;
    return exec.exec.id;
}

PROMISE(a_job_that_is_over_goes_with_its_last_execution)
{
    struct world *w = *state;
    struct job_change job;
    struct job_change other;
    uint64_t id = live_and_end(w, JOB_COMPLETED, &job);
    uint64_t stays = live_and_end(w, JOB_COMPLETED, &other);
    struct dependency_rec wait = {other.job.id, job.job.id, DEPENDS_SUCCESS, DEPENDENCY_MET};
    world_commit(w, (struct delta){.dependencies = &wait, .dependency_count = 1});
    forget(w, id);
    assert_false(exec_exists(w, id));
    assert_false(job_exists(w, job.job.id));
    assert_true(exec_exists(w, stays) && job_exists(w, other.job.id));
    struct dependency_rec *waits;
    size_t count;
    assert_rc(w->reader->ops->dependencies(w->reader, job.job.id, SIDE_UPSTREAMS, 10, &w->arena,
                                           &waits, &count, &w->err),
              RC_OK);
    assert_int_equal(count, 0);
    struct question q = {.kind = ASK_ATTEMPT, .id = id, .token = 1};
    world_admit(w, &q);
    assert_null(q.answer.attempt);
    w->store->ops->abort(w->store);
    forget(w, id); /* once more: nothing is there */
}

PROMISE(a_job_that_goes_on_stays_without_its_history)
{
    struct world *w = *state;
    struct job_change job = new_job(w);
    struct exec_change past = new_exec(w, &job, EXEC_COMPLETED);
    struct exec_change ahead = new_exec(w, &job, EXEC_SCHEDULED);
    past.kind = CHANGE_RECORD;
    past.exec.finished_ms = T0 + 1;
    ahead.exec.due_ms = T0 + 1000;
    ahead.exec.origin = past.exec.origin = ORIGIN_SLOT;
    job.job.last_exec = past.exec.id;
    world_commit(w,
                 (struct delta){
                     .jobs = &job, .job_count = 1, .execs = CHANGES(past, ahead), .exec_count = 2});
    forget(w, past.exec.id);
    assert_false(exec_exists(w, past.exec.id));
    assert_true(exec_exists(w, ahead.exec.id));
    struct job_rec kept = read_job(w, job.job.id);
    assert_int_equal(kept.state, JOB_ACTIVE);
}

/* Its end stood in the row of the execution that ended it. */
PROMISE(a_job_that_stays_remembers_its_end)
{
    struct world *w = *state;
    struct job_change job;
    uint64_t last = live_and_end(w, JOB_COMPLETED, &job);
    struct exec_change older = new_exec(w, &job, EXEC_FAILED);
    older.kind = CHANGE_RECORD;
    older.exec.finished_ms = T0 + 1;
    world_commit(w, (struct delta){.execs = &older, .exec_count = 1});
    struct job_rec before = read_job(w, job.job.id);
    assert_int_equal(before.state, JOB_COMPLETED);
    forget(w, last);
    assert_false(exec_exists(w, last));
    struct job_rec after = read_job(w, job.job.id);
    assert_int_equal(after.state, JOB_COMPLETED);
    assert_int_equal(after.finished_ms, before.finished_ms);
    assert_str(after.trail, before.trail);
    world_reopen(w);
    after = read_job(w, job.job.id);
    assert_int_equal(after.state, JOB_COMPLETED);
    assert_str(after.trail, before.trail);
    forget(w, older.exec.id);
    assert_false(job_exists(w, job.job.id));
}

PROMISE(many_executions_of_one_job_can_go_at_once)
{
    struct world *w = *state;
    struct job_change job;
    uint64_t ids[3] = {live_and_end(w, JOB_COMPLETED, &job)};
    for (size_t i = 1; i < 3; i++) {
        struct exec_change more = new_exec(w, &job, EXEC_FAILED);
        more.kind = CHANGE_RECORD;
        more.exec.finished_ms = T0 + 1;
        ids[i] = more.exec.id;
        world_commit(w, (struct delta){.execs = &more, .exec_count = 1});
    }
    world_commit(w, (struct delta){.forgotten = ids, .forgotten_count = 3});
    assert_false(job_exists(w, job.job.id));
    for (size_t i = 0; i < 3; i++)
        assert_false(exec_exists(w, ids[i]));
}

/* In one turn with its deletion, somebody runs it again. */
PROMISE(a_job_that_is_run_again_stays)
{
    struct world *w = *state;
    struct job_change job;
    uint64_t id = live_and_end(w, JOB_COMPLETED, &job);
    struct exec_change again = new_exec(w, &job, EXEC_QUEUED);
    struct job_change active = {.kind = CHANGE_UPDATE, .job = job.job, .step = STR("again\n")};
    active.job.state = JOB_ACTIVE;
    active.job.finished_ms = 0;
    active.job.last_exec = again.exec.id;
    world_commit(w, (struct delta){.jobs = &active,
                                   .job_count = 1,
                                   .execs = &again,
                                   .exec_count = 1,
                                   .forgotten = &id,
                                   .forgotten_count = 1});
    assert_false(exec_exists(w, id));
    struct job_rec kept = read_job(w, job.job.id);
    assert_int_equal(kept.state, JOB_ACTIVE);
    assert_true(exec_exists(w, again.exec.id));
}

PROMISE(a_turn_is_told_what_has_ended_by_id)
{
    struct world *w = *state;
    struct death first = kill_one(w, T0 + 5, "mail", 1);
    struct job_change job;
    uint64_t second = live_and_end(w, JOB_COMPLETED, &job);
    world_submit(w, EXEC_QUEUED);
    struct question q = {.kind = ASK_OLD, .until_ms = T0 + 1000000, .limit = 10};
    world_admit(w, &q);
    assert_int_equal(q.answer.old_count, 2);
    assert_false(q.answer.more);
    assert_int_equal(q.answer.old[0].id, first.exec.exec.id);
    assert_int_equal(q.answer.old[0].finished_ms, T0 + 5);
    assert_true(q.answer.old[0].is_letter);
    assert_int_equal(q.answer.old[1].id, second);
    assert_int_equal(q.answer.old[1].finished_ms, T0 + 50);
    assert_false(q.answer.old[1].is_letter);
    q = (struct question){.kind = ASK_OLD, .until_ms = T0 + 1000000, .limit = 1};
    world_admit(w, &q);
    assert_true(q.answer.old_count == 1 && q.answer.more);
    q = (struct question){
        .kind = ASK_OLD, .until_ms = T0 + 1000000, .limit = 1, .after_id = first.exec.exec.id};
    world_admit(w, &q);
    assert_true(q.answer.old_count == 1 && !q.answer.more);
    q = (struct question){.kind = ASK_OLD, .until_ms = T0 - 1000, .limit = 10};
    world_admit(w, &q);
    assert_int_equal(q.answer.old_count, 0);
    w->store->ops->abort(w->store);
}

/* Two slots of a job that goes on, both over. */
static void end_two_slots(struct world *w, struct job_change *job, uint64_t *ret_ids)
{
    struct exec_change execs[2];
    *job = new_job(w);
    for (size_t i = 0; i < 2; i++) {
        execs[i] = new_exec(w, job, EXEC_FAILED);
        execs[i].kind = CHANGE_RECORD;
        execs[i].exec.origin = ORIGIN_SLOT;
        execs[i].exec.slot_ms = T0 + (int64_t)i;
        execs[i].exec.finished_ms = T0 + 50;
        execs[i].exec.first = i == 0;
        ret_ids[i] = execs[i].exec.id;
    }
    job->job.last_exec = ret_ids[0];
    world_commit(w, (struct delta){.jobs = job, .job_count = 1, .execs = execs, .exec_count = 2});
}

PROMISE(a_turn_is_told_what_a_standing_rule_names)
{
    struct world *w = *state;
    struct job_change once;
    struct job_change recurring;
    struct job_change other = new_job(w);
    uint64_t slots[2];
    uint64_t id = live_and_end(w, JOB_FAILED, &once);
    end_two_slots(w, &recurring, slots);
    struct dependency_rec rules[] = {
        {once.job.id, other.job.id, DEPENDS_SUCCESS, DEPENDENCY_PER_SLOT},
        {recurring.job.id, other.job.id, DEPENDS_SUCCESS, DEPENDENCY_PER_SLOT},
    };
    world_commit(w,
                 (struct delta){
                     .jobs = &other, .job_count = 1, .dependencies = rules, .dependency_count = 2});
    struct question q = {.kind = ASK_OLD, .until_ms = T0 + 1000000, .limit = 10};
    world_admit(w, &q);
    assert_int_equal(q.answer.old_count, 3);
    assert_int_equal(q.answer.old[0].id, id);
    assert_true(q.answer.old[0].is_named);
    assert_int_equal(q.answer.old[1].id, slots[0]);
    assert_false(q.answer.old[1].is_named); /* another slot has ended since */
    assert_true(q.answer.old[2].is_named);
    w->store->ops->abort(w->store);
    rules[0].state = DEPENDENCY_MET;
    rules[1].state = DEPENDENCY_MOOT;
    world_commit(w, (struct delta){.dependencies = rules, .dependency_count = 2});
    q = (struct question){.kind = ASK_OLD, .until_ms = T0 + 1000000, .limit = 10};
    world_admit(w, &q);
    assert_int_equal(q.answer.old_count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_false(q.answer.old[i].is_named);
    w->store->ops->abort(w->store);
}

/* ---- what goes with it, or by itself */

/* A job that is over, or one more execution of it. */
static uint64_t keep_ended(struct world *w, const struct job_change *job)
{
    struct exec_change exec = new_exec(w, job, EXEC_COMPLETED);
    exec.kind = CHANGE_RECORD;
    exec.exec.finished_ms = T0 + 1;
    struct job_change with = *job;
    with.job.id = exec.exec.job_id = id_next(&w->ids, T0, 0);
    with.job.last_exec = exec.exec.id;
    world_commit(w, (struct delta){.jobs = &with, .job_count = 1, .execs = &exec, .exec_count = 1});
    return exec.exec.id;
}

static size_t sla_event_count(struct world *w, uint64_t exec_id)
{
    struct page all = {.limit = 10};
    struct sla_page page;
    assert_rc(w->reader->ops->sla_events(w->reader, 0, exec_id, &all, &w->arena, &page, &w->err),
              RC_OK);
    return page.count;
}

PROMISE(sla_events_go_with_their_execution)
{
    struct world *w = *state;
    struct job_change job = new_job(w);
    uint64_t gone = keep_ended(w, &job);
    uint64_t kept = keep_ended(w, &job);
    struct sla_event_rec events[5];
    for (size_t i = 0; i < COUNT_OF(events); i++)
        events[i] = (struct sla_event_rec){.id = id_next(&w->ids, T0, 0),
                                           .at_ms = T0,
                                           .kind = SLA_EVENT_WARNING,
                                           .exec_id = i == 3 ? kept : gone,
                                           .job_id = job.job.id};
    world_commit(w, (struct delta){.sla_events = events, .sla_event_count = COUNT_OF(events)});
    assert_int_equal(sla_event_count(w, gone), 4);
    world_commit(w, (struct delta){.forgotten = &gone, .forgotten_count = 1});
    assert_int_equal(sla_event_count(w, gone), 0);
    assert_int_equal(sla_event_count(w, kept), 1);
}

PROMISE(a_turn_is_told_of_old_alerts_and_deletes_those_it_names)
{
    struct world *w = *state;
    struct alert_rec alerts[4];
    struct alert_page page;
    for (size_t i = 0; i < COUNT_OF(alerts); i++)
        alerts[i] = (struct alert_rec){.id = id_next(&w->ids, T0 + (int64_t)i, 0),
                                       .at_ms = T0 + (int64_t)i,
                                       .kind = ALERT_JOB_FAILED,
                                       .level = ALERT_WARNING,
                                       .state = i == 1 ? ALERT_PENDING : ALERT_SENT,
                                       .key = STR("a")};
    world_commit(w, (struct delta){.alerts = alerts, .alert_count = COUNT_OF(alerts)});
    struct question q = {.kind = ASK_OLD_ALERTS, .until_ms = T0 + 3, .limit = 2};
    world_admit(w, &q);
    assert_true(q.answer.old_alert_count == 2 && q.answer.more);
    assert_true(q.answer.old_alerts[0].id == alerts[0].id && q.answer.old_alerts[0].at_ms == T0 &&
                q.answer.old_alerts[0].state == ALERT_SENT);
    assert_true(q.answer.old_alerts[1].state == ALERT_PENDING);
    q = (struct question){
        .kind = ASK_OLD_ALERTS, .until_ms = T0 + 3, .limit = 2, .after_id = alerts[1].id};
    world_admit(w, &q);
    assert_true(q.answer.old_alert_count == 1 && !q.answer.more);
    assert_int_equal(q.answer.old_alerts[0].id, alerts[2].id);
    w->store->ops->abort(w->store);
    const uint64_t gone[] = {alerts[0].id, alerts[2].id, 12345};
    world_commit(w, (struct delta){.alerts_gone = gone, .alert_gone_count = COUNT_OF(gone)});
    struct page all = {.limit = 10};
    assert_rc(w->reader->ops->alerts(w->reader, 0, &all, &w->arena, &page, &w->err), RC_OK);
    assert_int_equal(page.count, 2);
    assert_true(page.alerts[0].id == alerts[3].id && page.alerts[1].id == alerts[1].id);
}

static void add_row(void *arg, const struct tally *row)
{
    ranking_add(arg, row);
}

PROMISE(a_turn_is_told_of_old_tallies_and_deletes_those_it_names)
{
    struct world *w = *state;
    const struct tally rows[] = {
        {TALLY_QUEUE, STR("mail"), 100, EXEC_COMPLETED, 3, 2, 6},
        {TALLY_ALL, STR(""), 101, EXEC_FAILED, FAILURE_DISK, 4, 40},
        {TALLY_QUEUE, STR("mail"), 101, EXEC_COMPLETED, 9, 1, 9},
        {TALLY_QUEUE, STR("mail"), 101, EXEC_COMPLETED, 10, 1, 9},
        {TALLY_QUEUE, STR("other"), 101, EXEC_COMPLETED, 1, 1, 9},
        {TALLY_QUEUE, STR("mail"), 102, EXEC_COMPLETED, 3, 5, 15},
    };
    struct tally_sum sum;
    world_commit(w, (struct delta){.tallies = rows,
                                   .tally_count = COUNT_OF(rows),
                                   .queues = &(struct queue_rec){.name = STR("q")},
                                   .queue_count = 1});
    struct question q = {.kind = ASK_OLD_TALLIES, .hour = 102, .limit = 4};
    world_admit(w, &q);
    assert_true(q.answer.tally_count == 4 && q.answer.more);
    for (size_t i = 0; i < 4; i++) {
        const struct tally *row = &q.answer.tallies[i];
        assert_true(row->scope == rows[i].scope && row->hour == rows[i].hour &&
                    row->end == rows[i].end && row->bucket == rows[i].bucket);
        assert_str(row->key, rows[i].key);
    }
    w->store->ops->abort(w->store);
    world_commit(w, (struct delta){.tallies_gone = rows, .tally_gone_count = 4});
    assert_rc(w->reader->ops->tally(w->reader, TALLY_QUEUE, &STR("mail"), 1, 0, 200, &sum, &w->err),
              RC_OK);
    assert_true(sum.completed == 5 && sum.sum_ms == 15);
    CLEANUP(ranking_free) struct ranking keys = ranking_new(&w->arena);
    assert_rc(w->reader->ops->tallies(w->reader, TALLY_QUEUE, 0, 240, add_row, &keys, &w->err),
              RC_OK);
    ranking_sort(&keys, REPORT_SLOWEST, ranking_order_find(REPORT_SLOWEST, STR("time")), 10);
    assert_true(keys.shown_count == 2 && keys.shown[0]->completed == 5);
    assert_true(keys.shown[0]->sum_ms == 15 && keys.shown[1]->sum_ms == 9);
    q = (struct question){.kind = ASK_OLD_TALLIES, .hour = 102, .limit = 4};
    world_admit(w, &q);
    assert_true(q.answer.tally_count == 1 && !q.answer.more);
    assert_str(q.answer.tallies[0].key, STR("other"));
    w->store->ops->abort(w->store);
}

PROMISE(a_turn_is_told_how_long_the_newest_runs_took)
{
    struct world *w = *state;
    const struct tally rows[] = {
        {TALLY_JOB, STR("job_a"), 100, EXEC_COMPLETED, 3, 2, 6},
        {TALLY_JOB, STR("job_a"), 101, EXEC_COMPLETED, 9, 1, 9},
        {TALLY_JOB, STR("job_a"), 101, EXEC_COMPLETED, 12, 4, 9},
        {TALLY_JOB, STR("job_a"), 102, EXEC_FAILED, 1, 8, 9},
        {TALLY_JOB, STR("job_b"), 101, EXEC_COMPLETED, 10, 16, 9},
        {TALLY_QUEUE, STR("job_a"), 101, EXEC_COMPLETED, 1, 32, 9},
    };
    world_commit(w, (struct delta){.tallies = rows,
                                   .tally_count = COUNT_OF(rows),
                                   .queues = &(struct queue_rec){.name = STR("q")},
                                   .queue_count = 1});
    struct question all = {.kind = ASK_PACE, .name = STR("job_a"), .limit = 10};
    struct question newest = {.kind = ASK_PACE, .name = STR("job_a"), .limit = 1};
    struct question none = {.kind = ASK_PACE, .name = STR("job_c"), .limit = 10};
    world_admit(w, &all);
    assert_int_equal(all.answer.pace->total, 7);
    assert_true(all.answer.pace->counts[3] == 2 && all.answer.pace->counts[12] == 4);
    world_admit(w, &newest);
    assert_true(newest.answer.pace->total == 4 && newest.answer.pace->counts[12] == 4);
    world_admit(w, &none);
    assert_int_equal(none.answer.pace->total, 0);
    w->store->ops->abort(w->store);
}

static void assert_payload(struct world *w, const struct exec_rec *want)
{
    struct exec_rec exec = read_exec(w, want->id);
    struct question q = {.kind = ASK_EXEC, .id = want->id};
    world_admit(w, &q);
    assert_true(exec.own_payload && q.answer.exec->own_payload);
    assert_str(exec.payload, want->payload);
    assert_str(q.answer.exec->payload, want->payload);
    w->store->ops->abort(w->store);
}

/* As the engine has it when it starts again. */
static bool is_loaded_with_own_payload(struct world *w, uint64_t exec_id)
{
    CLEANUP(loaded_free) struct loaded loaded = {0};
    assert_rc(load(w, INT64_MAX, &loaded), RC_OK);
    return loaded_exec(&loaded, exec_id)->own_payload;
}

static bool is_listed_with_own_payload(struct world *w, const struct exec_rec *exec)
{
    const struct filter filter = {.job_id = exec->job_id};
    struct exec_page got;
    assert_rc(w->reader->ops->execs(w->reader, &filter, &(struct page){.limit = 9}, &w->arena, &got,
                                    &w->err),
              RC_OK);
    for (size_t i = 0; i < got.count; i++) {
        if (got.execs[i].id == exec->id)
            return got.execs[i].own_payload;
    }
    fail_msg("it is not listed");
    return false;
}

PROMISE(an_execution_may_have_a_payload_of_its_own)
{
    struct world *w = *state;
    struct job_change job = new_job(w);
    struct exec_change plain = new_exec(w, &job, EXEC_QUEUED);
    struct exec_change own = new_exec(w, &job, EXEC_QUEUED);
    struct exec_change asked = new_exec(w, &job, EXEC_QUEUED);
    struct exec_change execs[3];
    struct str spec;
    struct str payload;
    job.job.payload = STR("[1]");
    plain.exec.retry_of = own.exec.retry_of = 4711;
    own.exec.own_payload = true;
    own.exec.payload = STR("{\"n\": [2, \"\u00e4\"]}");
    asked.exec.origin = ORIGIN_REQUEST;
    asked.exec.own_payload = true;
    asked.exec.payload = STR("[2]");
    execs[0] = plain;
    execs[1] = own;
    execs[2] = asked;
    world_commit(w, (struct delta){.jobs = &job, .job_count = 1, .execs = execs, .exec_count = 3});
    world_reopen(w);
    assert_payload(w, &own.exec);
    assert_payload(w, &asked.exec);
    assert_false(read_exec(w, plain.exec.id).own_payload);
    assert_true(is_loaded_with_own_payload(w, own.exec.id));
    assert_true(is_loaded_with_own_payload(w, asked.exec.id));
    assert_false(is_loaded_with_own_payload(w, plain.exec.id));
    assert_true(is_listed_with_own_payload(w, &own.exec));
    assert_true(is_listed_with_own_payload(w, &asked.exec));
    assert_false(is_listed_with_own_payload(w, &plain.exec));
    assert_rc(w->store->ops->fetch(w->store, job.job.id, own.exec.id, &w->arena, &spec, &payload,
                                   &w->err),
              RC_OK);
    assert_str(payload, own.exec.payload);
    assert_str(spec, job.job.spec);
    assert_rc(w->store->ops->fetch(w->store, job.job.id, plain.exec.id, &w->arena, &spec, &payload,
                                   &w->err),
              RC_NOT_FOUND);
    assert_rc(w->store->ops->fetch(w->store, job.job.id, 0, &w->arena, &spec, &payload, &w->err),
              RC_OK);
    assert_str(payload, STR("[1]"));
    struct exec_rec kept[] = {read_exec(w, own.exec.id), read_exec(w, asked.exec.id)};
    for (size_t i = 0; i < COUNT_OF(kept); i++) {
        struct exec_change ends = next_change(&kept[i], CHANGE_FINISH, EXEC_FAILED);
        ends.exec.payload = (struct str){0}; /* as the engine has it: it was kept with the insert */
        ends.exec.finished_ms = T0 + 50;
        world_commit(w, (struct delta){.execs = &ends, .exec_count = 1});
        assert_true(is_listed_with_own_payload(w, &kept[i]));
    }
    assert_payload(w, &own.exec);
    assert_payload(w, &asked.exec);
    world_commit(w, (struct delta){.forgotten = &own.exec.id, .forgotten_count = 1});
    struct question gone = {.kind = ASK_EXEC, .id = own.exec.id};
    world_admit(w, &gone);
    assert_null(gone.answer.exec);
    w->store->ops->abort(w->store);
}
