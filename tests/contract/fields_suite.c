/* Records whose fields are listed (job/record/record_fields.h): every field comes back as it was
 * kept. */
#include "job/record/record_fields.h"
#include "loaded.h"

/* A value for each field that no other field has, as far as its bounds allow. */
static void fill(const struct fields *fields, void *record)
{
    memset(record, 0, fields->bytes);
    for (size_t i = 0; i < fields->len; i++) {
        const struct field *f = &fields->items[i];
        int64_t number = (f->min == INT64_MIN ? 0 : f->min) + 1 + (int64_t)i;
        if (f->kind == FIELD_TEXT)
            field_set_text(f, record, str_c(f->column));
        else
            field_set_number(f, record, number > f->max ? f->max : number);
    }
}

static void assert_same(const struct fields *fields, const void *got, const void *want)
{
    for (size_t i = 0; i < fields->len; i++) {
        const struct field *f = &fields->items[i];
        bool same = f->kind == FIELD_TEXT ? str_eq(field_text(f, got), field_text(f, want))
                                          : field_number(f, got) == field_number(f, want);
        if (!same)
            fail_msg("column %s came back as something else", f->column);
    }
}

PROMISE(every_field_of_a_setting_is_kept)
{
    struct world *w = *state;
    struct queue_rec queue;
    struct team_rec team;
    fill(&queue_fields, &queue);
    fill(&team_fields, &team);
    world_commit(
        w, (struct delta){.queues = &queue, .queue_count = 1, .teams = &team, .team_count = 1});
    CLEANUP(loaded_free) struct loaded l = {0};
    assert_rc(load(w, T0, &l), RC_OK);
    assert_true(l.queues.len == 1 && l.teams.len == 1);
    assert_same(&queue_fields, &l.queues.items[0], &queue);
    assert_same(&team_fields, &l.teams.items[0], &team);
}

PROMISE(every_field_of_a_worker_and_of_a_rate_is_kept)
{
    struct world *w = *state;
    struct worker_change worker = {0};
    struct rate_change rate = {0};
    fill(&worker_fields, &worker.worker);
    fill(&rate_fields, &rate.rate);
    world_commit(
        w, (struct delta){.workers = &worker, .worker_count = 1, .rates = &rate, .rate_count = 1});
    CLEANUP(loaded_free) struct loaded l = {0};
    assert_rc(load(w, T0, &l), RC_OK);
    assert_true(l.workers.len == 1 && l.rates.len == 1);
    assert_same(&worker_fields, &l.workers.items[0], &worker.worker);
    assert_same(&rate_fields, &l.rates.items[0], &rate.rate);
}

PROMISE(every_field_of_a_breaker_a_calendar_and_an_operation_is_kept)
{
    struct world *w = *state;
    struct breaker_rec breaker;
    struct calendar_change calendar = {0};
    struct operation_change operation = {0};
    struct operation_rec *parts;
    size_t count;
    fill(&breaker_fields, &breaker);
    fill(&calendar_fields, &calendar.calendar);
    fill(&operation_fields, &operation.operation);
    world_commit(w, (struct delta){.breakers = &breaker,
                                   .breaker_count = 1,
                                   .calendars = &calendar,
                                   .calendar_count = 1,
                                   .operations = &operation,
                                   .operation_count = 1});
    CLEANUP(loaded_free) struct loaded l = {0};
    assert_rc(load(w, T0, &l), RC_OK);
    assert_true(l.breakers.len == 1 && l.calendars.len == 1);
    assert_same(&breaker_fields, &l.breakers.items[0], &breaker);
    assert_same(&calendar_fields, &l.calendars.items[0], &calendar.calendar);
    assert_rc(w->reader->ops->operations(w->reader, 0, &w->arena, &parts, &count, &w->err), RC_OK);
    assert_int_equal(count, 1);
    assert_same(&operation_fields, &parts[0], &operation.operation);
}

PROMISE(every_field_of_an_sla_event_is_kept)
{
    struct world *w = *state;
    const struct page newest = {.limit = 2};
    struct sla_event_rec event;
    struct sla_page page;
    fill(&sla_event_fields, &event);
    world_commit(w, (struct delta){.sla_events = &event, .sla_event_count = 1});
    assert_rc(
        w->reader->ops->sla_events(w->reader, event.job_id, 0, &newest, &w->arena, &page, &w->err),
        RC_OK);
    assert_int_equal(page.count, 1);
    assert_same(&sla_event_fields, &page.events[0], &event);
}

PROMISE(every_field_of_an_alert_is_kept)
{
    struct world *w = *state;
    const struct page newest = {.limit = 2};
    struct alert_rec alert;
    struct alert_page page;
    fill(&alert_fields, &alert);
    world_commit(w, (struct delta){.alerts = &alert, .alert_count = 1});
    assert_rc(w->reader->ops->alerts(w->reader, 0, &newest, &w->arena, &page, &w->err), RC_OK);
    assert_int_equal(page.count, 1);
    assert_same(&alert_fields, &page.alerts[0], &alert);
}
