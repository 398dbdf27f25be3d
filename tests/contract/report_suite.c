/* What readers are told about many executions: sums, alerts, SLAs, counters. */
#include "world.h"

PROMISE(tallies_add_up_over_turns_and_hours)
{
    struct world *w = *state;
    const struct tally rows[] = {
        {TALLY_QUEUE, STR("mail"), 100, EXEC_COMPLETED, 3, 2, 6},
        {TALLY_QUEUE, STR("mail"), 101, EXEC_COMPLETED, 9, 1, 9},
        {TALLY_QUEUE, STR("mail"), 101, EXEC_FAILED, FAILURE_DISK, 4, 40},
        {TALLY_QUEUE, STR("other"), 101, EXEC_TIMEOUT, FAILURE_TIMEOUT, 5, 50},
        {TALLY_OWNER, STR("mail"), 101, EXEC_COMPLETED, 3, 100, 300},
        {TALLY_QUEUE, STR("mail"), 101, EXEC_DEDUPLICATED, 0, 7, 0},
    };
    struct tally_sum sum;
    struct tally_key *keys;
    size_t count;
    struct reader *reader;
    struct err err;
    CLEANUP(arena_free) struct arena arena = {0};
    for (int i = 0; i < 2; i++)
        world_commit(w, (struct delta){.tallies = rows,
                                       .tally_count = COUNT_OF(rows),
                                       .queues = &(struct queue_rec){.name = STR("q")},
                                       .queue_count = 1});
    assert_rc(w->store->ops->reader(w->store, &reader, &err), RC_OK);
    assert_rc(reader->ops->tally(reader, TALLY_QUEUE, STR("mail"), 100, 102, &sum, &err), RC_OK);
    assert_true(sum.completed == 6 && sum.failed == 8 && sum.sum_ms == 30);
    assert_int_equal(sum.deduplicated, 14);
    assert_true(sum.by_class[FAILURE_DISK] == 8 && sum.durations.total == 6);
    assert_true(sum.durations.counts[3] == 4 && sum.durations.counts[9] == 2);
    assert_rc(reader->ops->tally(reader, TALLY_QUEUE, STR("mail"), 100, 101, &sum, &err), RC_OK);
    assert_true(sum.completed == 4 && sum.failed == 0);
    assert_rc(reader->ops->tally_keys(reader, TALLY_QUEUE, 0, 200, 9, &arena, &keys, &count, &err),
              RC_OK);
    assert_int_equal(count, 2);
    assert_str(keys[0].key, STR("other"));
    assert_true(keys[0].failed == 10 && keys[0].completed == 0);
    assert_true(keys[1].failed == 8 && keys[1].completed == 6 && keys[1].deduplicated == 14);
    reader->ops->close(reader);
}

/* By whatever sums a store keeps: each hour of three days counts once, wherever a range begins and ends. */
PROMISE(any_range_of_hours_adds_up)
{
    struct world *w = *state;
    struct tally rows[72];
    struct tally_sum sum;
    struct tally_key *keys;
    size_t count;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        rows[i] =
            (struct tally){TALLY_QUEUE, STR("q"), 240 + (int64_t)i, EXEC_COMPLETED, 3, i + 1, i};
    world_commit(w, (struct delta){.tallies = rows,
                                   .tally_count = COUNT_OF(rows),
                                   .queues = &(struct queue_rec){.name = STR("q")},
                                   .queue_count = 1});
    for (int64_t from = 230; from < 320; from += 7) {
        for (int64_t until = from; until < 330; until += 5) {
            uint64_t want = 0;
            for (size_t i = 0; i < COUNT_OF(rows); i++)
                want += rows[i].hour >= from && rows[i].hour < until ? rows[i].count : 0;
            assert_rc(
                w->reader->ops->tally(w->reader, TALLY_QUEUE, STR("q"), from, until, &sum, &w->err),
                RC_OK);
            assert_int_equal(sum.completed, want);
            assert_rc(w->reader->ops->tally_keys(w->reader, TALLY_QUEUE, from, until, 9, &w->arena,
                                                 &keys, &count, &w->err),
                      RC_OK);
            assert_int_equal(count == 0 ? 0 : keys[0].completed, want);
        }
    }
}

PROMISE(alerts_are_listed_and_marked)
{
    struct world *w = *state;
    struct alert_rec alerts[] = {
        {10, T0, ALERT_JOB_FAILED, ALERT_CRITICAL, ALERT_PENDING, STR("job_failed:a"),
         STR("failed"), STR("mail"), 4, 5, 0},
        {20, T0 + 1, ALERT_QUEUE_OLD, ALERT_WARNING, ALERT_PENDING, STR("queue_old:b"), STR("old"),
         STR("b"), 0, 0, 7},
        {30, T0 + 2, ALERT_WORKER_LOST, ALERT_WARNING, ALERT_KEPT, STR("w"), STR("lost"), STR(""),
         0, 0, 0},
    };
    const struct alert_mark marks[] = {{10, ALERT_SENT}, {99, ALERT_SENT}};
    struct reader *reader;
    struct alert_page page;
    struct err err;
    CLEANUP(arena_free) struct arena arena = {0};
    world_commit(w, (struct delta){.alerts = alerts, .alert_count = 3});
    world_commit(w, (struct delta){.alert_marks = marks, .alert_mark_count = 2});
    assert_rc(w->store->ops->reader(w->store, &reader, &err), RC_OK);
    struct page newest = {.limit = 2};
    assert_rc(reader->ops->alerts(reader, 0, &newest, &arena, &page, &err), RC_OK);
    assert_true(page.count == 2 && page.next == 20 && page.alerts[0].id == 30);
    assert_true(page.alerts[1].repeats == 7 && page.alerts[1].kind == ALERT_QUEUE_OLD);
    newest.before = page.next;
    assert_rc(reader->ops->alerts(reader, 0, &newest, &arena, &page, &err), RC_OK);
    assert_true(page.count == 1 && page.next == 0 && page.alerts[0].state == ALERT_SENT);
    assert_str(page.alerts[0].text, STR("failed"));
    assert_true(page.alerts[0].job_id == 4 && page.alerts[0].exec_id == 5);
    newest.before = 0;
    assert_rc(reader->ops->alerts(reader, ALERT_PENDING, &newest, &arena, &page, &err), RC_OK);
    assert_true(page.count == 1 && page.alerts[0].id == 20);
    reader->ops->close(reader);
}

PROMISE(what_was_told_about_slas_is_listed)
{
    struct world *w = *state;
    struct sla_event_rec events[] = {
        {.id = 10,
         .at_ms = T0,
         .kind = SLA_EVENT_WARNING,
         .policy = SLA_STRICT,
         .exec_id = 5,
         .job_id = 4,
         .attempt = 2,
         .expected_ms = 100,
         .max_ms = 200,
         .actual_ms = 150,
         .queue = STR("mail")},
        {.id = 20, .at_ms = T0, .kind = SLA_EVENT_VIOLATION, .exec_id = 6, .job_id = 4},
        {.id = 30, .at_ms = T0, .kind = SLA_EVENT_END, .exec_id = 7, .job_id = 8},
        {.id = 40,
         .at_ms = T0 + 1,
         .kind = SLA_EVENT_EXTENSION,
         .exec_id = 5,
         .job_id = 4,
         .extended_ms = 60000,
         .actor = STR("key:admin"),
         .reason = STR("slow"),
         .approver = STR("ada")},
    };
    struct sla_page page;
    struct page newest = {.limit = 2};
    world_commit(w, (struct delta){.sla_events = events, .sla_event_count = 3});
    world_commit(w, (struct delta){.sla_events = &events[3], .sla_event_count = 1});
    assert_rc(w->reader->ops->sla_events(w->reader, 4, 0, &newest, &w->arena, &page, &w->err),
              RC_OK);
    assert_true(page.count == 2 && page.next == 20 && page.events[0].id == 40);
    assert_true(page.events[0].extended_ms == 60000 && page.events[1].kind == SLA_EVENT_VIOLATION);
    assert_str(page.events[0].actor, STR("key:admin"));
    assert_str(page.events[0].reason, STR("slow"));
    assert_str(page.events[0].approver, STR("ada"));
    newest.before = page.next;
    assert_rc(w->reader->ops->sla_events(w->reader, 4, 0, &newest, &w->arena, &page, &w->err),
              RC_OK);
    assert_true(page.count == 1 && page.next == 0 && page.events[0].id == 10);
    assert_true(page.events[0].policy == SLA_STRICT && page.events[0].attempt == 2);
    assert_true(page.events[0].expected_ms == 100 && page.events[0].max_ms == 200 &&
                page.events[0].actual_ms == 150 && page.events[0].at_ms == T0);
    assert_str(page.events[0].queue, STR("mail"));
    newest.before = 0;
    assert_rc(w->reader->ops->sla_events(w->reader, 0, 5, &newest, &w->arena, &page, &w->err),
              RC_OK);
    assert_true(page.count == 2 && page.next == 0 && page.events[1].id == 10);
}

PROMISE(readers_are_told_all_counters)
{
    struct world *w = *state;
    struct counter counters[] = {
        {COUNTER_EXECS, STR("mail"), EXEC_QUEUED, 7, 0},
        {COUNTER_JOBS, STR("mail"), JOB_ACTIVE, 5, 0},
        {COUNTER_EXECS, STR("mail"), EXEC_QUEUED, -2, 0},
        {COUNTER_EXECS, STR("default"), EXEC_RUNNING, 3, 0},
        {COUNTER_EXECS, STR("gone"), EXEC_RUNNING, 3, 0},
    };
    struct counter last = {COUNTER_EXECS, STR("gone"), EXEC_RUNNING, -3, 0};
    struct counter *got;
    size_t count;
    assert_rc(w->reader->ops->counters(w->reader, &w->arena, &got, &count, &w->err), RC_OK);
    assert_int_equal(count, 0);
    world_commit(w, (struct delta){.counters = counters, .counter_count = 5});
    world_commit(w, (struct delta){.counters = &last, .counter_count = 1});
    assert_rc(w->reader->ops->counters(w->reader, &w->arena, &got, &count, &w->err), RC_OK);
    assert_int_equal(count, 3);
    assert_int_equal(got[0].kind, COUNTER_JOBS);
    assert_int_equal(got[0].value, 5);
    assert_str(got[1].queue, STR("default"));
    assert_int_equal(got[1].state, EXEC_RUNNING);
    assert_str(got[2].queue, STR("mail"));
    assert_int_equal(got[2].value, 5);
}
