#include "job/record/delta_ids.h"

#include "base/id.h"
#include "base/test/test.h"

TEST(the_newest_id_of_a_delta_may_be_in_any_part)
{
    const struct worker_change workers[] = {{.worker.id = 900}};
    const struct operation_change operations[] = {{.operation.id = 700}};
    struct delta delta = {.operations = operations, .operation_count = 1};
    assert_int_equal(delta_ids((struct ids){0}, &delta).newest, 700);
    delta.workers = workers;
    delta.worker_count = 1;
    assert_int_equal(delta_ids((struct ids){0}, &delta).newest, 900);
    assert_int_equal(delta_ids((struct ids){.newest = 1000}, &delta).newest, 1000);
}

TEST(ids_drift_as_far_as_the_farthest_record)
{
    const int64_t now_ms = ID_EPOCH_MS + 5000;
    struct id_gen gen = {0};
    const struct alert_rec alerts[] = {
        {.id = id_next(&gen, now_ms, 0), .at_ms = now_ms},
        {.id = id_next(&gen, now_ms, 0), .at_ms = now_ms + 30},
        {.id = id_next(&gen, now_ms, 0), .at_ms = now_ms - 20},
    };
    const struct delta delta = {.alerts = alerts, .alert_count = COUNT_OF(alerts)};
    assert_int_equal(delta_ids((struct ids){0}, &delta).drift_ms, 30);
    assert_int_equal(delta_ids((struct ids){.drift_ms = 40}, &delta).drift_ms, 40);
}
