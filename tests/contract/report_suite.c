/* What readers are told about many executions: sums, alerts, SLAs, counters. */
#include "filled.h"
#include "job/record/ranking.h"
#include "loaded.h"

static struct tally_sum sum_of(struct world *w, enum tally_scope scope, struct str key,
                               int64_t from_hour, int64_t until_hour)
{
    struct tally_sum sum;
    assert_rc(
        w->reader->ops->tally(w->reader, scope, &key, 1, from_hour, until_hour, &sum, &w->err),
        RC_OK);
    return sum;
}

static void take_row(void *arg, const struct tally *row)
{
    ranking_add(arg, row);
}

/* All keys of a scope, by their names. */
static struct ranking keys_of(struct world *w, enum tally_scope scope, int64_t from_hour,
                              int64_t until_hour)
{
    struct ranking keys = ranking_new(&w->arena);
    enum report_kind kind = tally_is_sla(scope) ? REPORT_SLA : REPORT_SUCCESSES;
    assert_rc(
        w->reader->ops->tallies(w->reader, scope, from_hour, until_hour, take_row, &keys, &w->err),
        RC_OK);
    ranking_sort(&keys, kind, ranking_order_find(kind, STR("key")), 100);
    return keys;
}

static void keep_tallies(struct world *w, const struct tally *rows, size_t count)
{
    world_commit(w, (struct delta){.tallies = rows,
                                   .tally_count = count,
                                   .queues = &(struct queue_rec){.name = STR("q")},
                                   .queue_count = 1});
}

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
    for (int i = 0; i < 2; i++)
        keep_tallies(w, rows, COUNT_OF(rows));
    struct tally_sum sum = sum_of(w, TALLY_QUEUE, STR("mail"), 100, 102);
    assert_true(sum.completed == 6 && sum.failed == 8 && sum.sum_ms == 30);
    assert_int_equal(sum.deduplicated, 14);
    assert_true(sum.by_class[FAILURE_DISK] == 8 && sum.durations.total == 6);
    assert_true(sum.durations.counts[3] == 4 && sum.durations.counts[9] == 2);
    sum = sum_of(w, TALLY_QUEUE, STR("mail"), 100, 101);
    assert_true(sum.completed == 4 && sum.failed == 0);
    CLEANUP(ranking_free) struct ranking keys = keys_of(w, TALLY_QUEUE, 0, 200);
    assert_int_equal(keys.shown_count, 2);
    assert_str(keys.shown[0]->key, STR("mail"));
    assert_true(keys.shown[0]->failed == 8 && keys.shown[0]->completed == 6 &&
                keys.shown[0]->deduplicated == 14 && keys.shown[0]->sum_ms == 30);
    assert_true(keys.shown[1]->failed == 10 && keys.shown[1]->completed == 0);
}

PROMISE(numbers_of_many_keys_come_in_their_order)
{
    struct world *w = *state;
    const struct tally rows[] = {
        {TALLY_TEAM, STR("a"), 100, EXEC_COMPLETED, 3, 2, 6},
        {TALLY_TEAM, STR("b"), 100, EXEC_FAILED, FAILURE_DISK, 4, 40},
    };
    const struct str keys[] = {STR("b"), STR("none"), STR("a"), STR("b")};
    struct tally_sum sums[COUNT_OF(keys)];
    keep_tallies(w, rows, COUNT_OF(rows));
    assert_rc(
        w->reader->ops->tally(w->reader, TALLY_TEAM, keys, COUNT_OF(keys), 0, 200, sums, &w->err),
        RC_OK);
    assert_true(sums[0].failed == 4 && sums[3].failed == 4);
    assert_true(sums[1].failed + sums[1].completed == 0);
    assert_true(sums[2].completed == 2 && sums[2].failed == 0);
    assert_rc(w->reader->ops->tally(w->reader, TALLY_TEAM, keys, 0, 0, 200, sums, &w->err), RC_OK);
}

PROMISE(slas_of_all_keys_are_told_by_kind)
{
    struct world *w = *state;
    const struct tally rows[] = {
        {TALLY_SLA_OWNER, STR("ann"), 100, EXEC_COMPLETED, TALLY_SLA_MET, 9, 900},
        {TALLY_SLA_OWNER, STR("ann"), 130, EXEC_COMPLETED, TALLY_SLA_MET, 1, 100},
        {TALLY_SLA_OWNER, STR("ann"), 130, EXEC_COMPLETED, TALLY_SLA_BROKEN, 2, 400},
        {TALLY_SLA_OWNER, STR("bob"), 130, EXEC_COMPLETED, TALLY_SLA_OVERRUN, 1, 50},
        {TALLY_SLA_OWNER, STR(""), 130, EXEC_COMPLETED, TALLY_SLA_MET, 7, 70},
        {TALLY_OWNER, STR("ann"), 130, EXEC_COMPLETED, 3, 100, 300},
        {TALLY_SLA_TEAM, STR("ann"), 130, EXEC_COMPLETED, TALLY_SLA_MET, 50, 300},
    };
    int64_t since_ms = -1;
    keep_tallies(w, rows, COUNT_OF(rows));
    CLEANUP(ranking_free) struct ranking keys = keys_of(w, TALLY_SLA_OWNER, 96, 132);
    assert_int_equal(keys.shown_count, 2);
    assert_str(keys.shown[0]->key, STR("ann"));
    assert_int_equal(keys.shown[0]->sla[TALLY_SLA_MET].count, 10);
    assert_int_equal(keys.shown[0]->sla[TALLY_SLA_MET].sum_ms, 1000);
    assert_int_equal(keys.shown[0]->sla[TALLY_SLA_BROKEN].count, 2);
    assert_int_equal(keys.shown[1]->sla[TALLY_SLA_OVERRUN].sum_ms, 50);
    assert_int_equal(keys.others.sla[TALLY_SLA_MET].count, 7);
    assert_int_equal(keys.total.completed, 0);
    struct tally_sum sum = sum_of(w, TALLY_SLA_OWNER, STR("ann"), 120, 132);
    assert_true(sum.sla[TALLY_SLA_MET].count == 1 && sum.sla[TALLY_SLA_BROKEN].sum_ms == 400);
    assert_rc(w->reader->ops->sla_since(w->reader, &since_ms, &w->err), RC_OK);
    assert_true(since_ms >= 0);
}

/* By whatever sums a store keeps: each hour of three days counts once, wherever a range begins and ends. */
static void assert_any_range(struct world *w, enum tally_scope scope)
{
    struct tally rows[72];
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        rows[i] = (struct tally){scope, STR("q"), 240 + (int64_t)i, EXEC_COMPLETED, 0, i + 1, i};
    keep_tallies(w, rows, COUNT_OF(rows));
    for (int64_t from = 230; from < 320; from += 7) {
        for (int64_t until = from; until < 330; until += 5) {
            struct tally_events want = {0};
            for (size_t i = 0; i < COUNT_OF(rows); i++) {
                bool in_range = rows[i].hour >= from && rows[i].hour < until;
                want.count += in_range ? rows[i].count : 0;
                want.sum_ms += in_range ? rows[i].sum_ms : 0;
            }
            bool is_sla = tally_is_sla(scope);
            struct tally_sum sum = sum_of(w, scope, STR("q"), from, until);
            assert_int_equal(is_sla ? sum.sla[0].count : sum.completed, want.count);
            assert_int_equal(is_sla ? sum.sla[0].sum_ms : sum.sum_ms, want.sum_ms);
            CLEANUP(ranking_free) struct ranking keys = keys_of(w, scope, from, until);
            assert_int_equal(is_sla ? keys.total.sla[0].count : keys.total.completed, want.count);
            assert_int_equal(is_sla ? keys.total.sla[0].sum_ms : keys.total.sum_ms, want.sum_ms);
        }
    }
}

PROMISE(any_range_of_hours_adds_up)
{
    assert_any_range(*state, TALLY_QUEUE);
    assert_any_range(*state, TALLY_SLA_QUEUE);
}

PROMISE(alerts_are_listed_and_marked)
{
    struct world *w = *state;
    struct alert_rec alerts[] = {
        {.id = 10,
         .at_ms = T0,
         .kind = ALERT_JOB_FAILED,
         .level = ALERT_CRITICAL,
         .state = ALERT_PENDING,
         .key = STR("job_failed:a"),
         .text = STR("failed"),
         .queue = STR("mail"),
         .job_id = 4,
         .exec_id = 5},
        {.id = 20,
         .at_ms = T0 + 1,
         .kind = ALERT_QUEUE_OLD,
         .level = ALERT_WARNING,
         .state = ALERT_PENDING,
         .key = STR("queue_old:b"),
         .text = STR("old"),
         .queue = STR("b"),
         .repeats = 7},
        {.id = 30,
         .at_ms = T0 + 2,
         .kind = ALERT_WORKER_LOST,
         .level = ALERT_WARNING,
         .state = ALERT_KEPT,
         .key = STR("w"),
         .text = STR("lost")},
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

PROMISE(an_alert_is_asked_for_and_acknowledged)
{
    struct world *w = *state;
    struct alert_rec alert = {.id = 10,
                              .at_ms = T0,
                              .kind = ALERT_SLOW,
                              .level = ALERT_WARNING,
                              .state = ALERT_SILENCED,
                              .key = STR("slow:a"),
                              .text = STR("slow"),
                              .silenced_by = 3};
    const struct alert_ack acks[] = {{10, T0 + 5, STR("key:ann"), STR("on it")},
                                     {99, T0 + 5, STR("key:ann"), STR("not there")}};
    world_commit(w, (struct delta){.alerts = &alert, .alert_count = 1});
    world_commit(w, (struct delta){.alert_acks = acks, .alert_ack_count = 2});
    struct question q = {.kind = ASK_ALERT, .id = 10};
    world_admit(w, &q);
    const struct alert_rec *found = q.answer.alert;
    assert_non_null(found);
    assert_true(found->state == ALERT_SILENCED && found->silenced_by == 3);
    assert_true(found->acked_ms == T0 + 5 && found->at_ms == T0);
    assert_str(found->acked_by, STR("key:ann"));
    assert_str(found->ack_note, STR("on it"));
    assert_str(found->key, STR("slow:a"));
    w->store->ops->abort(w->store);
    struct question none = {.kind = ASK_ALERT, .id = 99};
    world_admit(w, &none);
    assert_null(none.answer.alert);
    w->store->ops->abort(w->store);
}

enum { MANY_ALERTS = 600 }; /* more than are read at a time */

/* Every seventh is of key "slow:b"; pages of it, and how many they show. */
static size_t count_pages(struct world *w, const struct alert_filter *filter, size_t limit)
{
    struct page page = {.limit = limit};
    size_t count = 0;
    uint64_t last = UINT64_MAX;
    do {
        struct alert_page found;
        assert_rc(store_list_alerts(w->reader, filter, &page, &w->arena, &found, &w->err), RC_OK);
        for (size_t i = 0; i < found.count; i++) {
            assert_true(found.alerts[i].id < last);
            assert_true(alert_fits(filter, &found.alerts[i]));
            last = found.alerts[i].id;
        }
        count += found.count;
        page.before = found.next;
    } while (page.before != 0);
    return count;
}

PROMISE(alerts_that_fit_are_listed_page_by_page)
{
    struct world *w = *state;
    struct alert_rec *alerts = ARENA_ARRAY(&w->arena, struct alert_rec, MANY_ALERTS);
    for (size_t i = 0; i < MANY_ALERTS; i++)
        alerts[i] = (struct alert_rec){.id = 10 + i,
                                       .at_ms = T0 + (int64_t)i,
                                       .kind = ALERT_SLOW,
                                       .level = i % 2 == 0 ? ALERT_WARNING : ALERT_CRITICAL,
                                       .state = i % 3 == 0 ? ALERT_PENDING : ALERT_KEPT,
                                       .key = i % 7 == 0 ? STR("slow:b") : STR("slow:a"),
                                       .text = STR("slow")};
    world_commit(w, (struct delta){.alerts = alerts, .alert_count = MANY_ALERTS});
    struct alert_filter f = {0};
    assert_int_equal(count_pages(w, &f, 100), MANY_ALERTS);
    f.key = STR("slow:b");
    assert_int_equal(count_pages(w, &f, 10), (MANY_ALERTS + 6) / 7);
    f.states = 1U << ALERT_PENDING;
    assert_int_equal(count_pages(w, &f, 10), (MANY_ALERTS + 20) / 21);
    f = (struct alert_filter){.states = 1U << ALERT_PENDING};
    assert_int_equal(count_pages(w, &f, 1000), MANY_ALERTS / 3);
    f = (struct alert_filter){.levels = 1U << ALERT_CRITICAL, .before_ms = T0 + 100};
    assert_int_equal(count_pages(w, &f, 7), 50);
    f = (struct alert_filter){.acked = ALERT_ACKED};
    assert_int_equal(count_pages(w, &f, 7), 0);
}

PROMISE(silences_are_kept_and_forgotten)
{
    struct world *w = *state;
    struct silence_rec *all;
    size_t count;
    struct silence_change given[] = {
        {.silence = {.id = 20,
                     .key = STR("slow:*"),
                     .until_ms = T0 + 1000,
                     .reason = STR("moving house"),
                     .actor = STR("key:ann"),
                     .created_ms = T0}},
        {.silence = {.id = 10, .key = STR("clock"), .until_ms = T0 + 5, .actor = STR("key:bob")}},
    };
    world_commit(w, (struct delta){.silences = given, .silence_count = 2});
    assert_rc(w->reader->ops->silences(w->reader, &w->arena, &all, &count, &w->err), RC_OK);
    assert_int_equal(count, 2);
    assert_true(all[0].id == 10 && all[1].id == 20);
    assert_same(&silence_fields, FIELD_ANY, &all[0], &given[1].silence);
    assert_same(&silence_fields, FIELD_ANY, &all[1], &given[0].silence);
    given[0].forget = true; /* said twice is said once */
    given[1] = given[0];
    world_commit(w, (struct delta){.silences = given, .silence_count = 2});
    CLEANUP(loaded_free) struct loaded l = {0};
    assert_rc(load(w, T0, &l), RC_OK);
    assert_int_equal(l.silences.len, 1);
    assert_int_equal(l.silences.items[0].id, 10);
    assert_str(l.silences.items[0].key, STR("clock"));
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
