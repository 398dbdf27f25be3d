#include "store/sql/row_load.h"

enum rc row_load_counter(struct row *row, const struct load_sink *sink, struct err *err)
{
    struct counter counter;
    return row_counter(row, &counter) ? sink->counter(sink->arg, &counter, err) : RC_OK;
}

enum rc row_load_worker(struct row *row, const struct load_sink *sink, struct err *err)
{
    struct worker_rec worker;
    return row_worker(row, &worker) ? sink->worker(sink->arg, &worker, err) : RC_OK;
}

enum rc row_load_cordon(struct row *row, const struct load_sink *sink, struct err *err)
{
    struct worker_rec worker;
    return row_worker(row, &worker) ? sink->cordon(sink->arg, &worker, err) : RC_OK;
}

enum rc row_load_queue(struct row *row, const struct load_sink *sink, struct err *err)
{
    struct queue_rec queue;
    return row_queue(row, &queue) ? sink->queue(sink->arg, &queue, err) : RC_OK;
}

enum rc row_load_team(struct row *row, const struct load_sink *sink, struct err *err)
{
    struct team_rec team;
    return row_team(row, &team) ? sink->team(sink->arg, &team, err) : RC_OK;
}

enum rc row_load_rate(struct row *row, const struct load_sink *sink, struct err *err)
{
    struct rate_rec rate;
    return row_rate(row, &rate) ? sink->rate(sink->arg, &rate, err) : RC_OK;
}

enum rc row_load_breaker(struct row *row, const struct load_sink *sink, struct err *err)
{
    struct breaker_rec breaker;
    return row_breaker(row, &breaker) ? sink->breaker(sink->arg, &breaker, err) : RC_OK;
}

enum rc row_load_clock(struct row *row, const struct load_sink *sink, struct err *err)
{
    struct clock_rec clock;
    clock.at_ms = row_ms(row);
    clock.by_ms = row_i64(row);
    return row->bad ? RC_OK : sink->clock(sink->arg, &clock, err);
}

enum rc row_load_calendar(struct row *row, const struct load_sink *sink, struct err *err)
{
    struct calendar_rec calendar;
    return row_calendar(row, &calendar) ? sink->calendar(sink->arg, &calendar, err) : RC_OK;
}

enum rc row_load_silence(struct row *row, const struct load_sink *sink, struct err *err)
{
    struct silence_rec silence;
    return row_silence(row, &silence) ? sink->silence(sink->arg, &silence, err) : RC_OK;
}

enum rc row_load_operation(struct row *row, const struct load_sink *sink, struct err *err)
{
    struct operation_rec operation;
    return row_operation(row, &operation) ? sink->operation(sink->arg, &operation, err) : RC_OK;
}

enum rc row_load_dependency(struct row *row, const struct load_sink *sink, struct err *err)
{
    struct dependency_rec dependency;
    return row_dependency(row, &dependency) ? sink->dependency(sink->arg, &dependency, err) : RC_OK;
}

enum rc row_load_permit(struct row *row, const struct load_sink *sink, struct err *err)
{
    struct permit_rec permit;
    return row_permit(row, &permit) ? sink->permit(sink->arg, &permit, err) : RC_OK;
}

enum rc row_load_waiter(struct row *row, const struct load_sink *sink, struct err *err)
{
    struct waiter_rec waiter;
    return row_waiter(row, &waiter) ? sink->waiter(sink->arg, &waiter, err) : RC_OK;
}
