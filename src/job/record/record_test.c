#include "job/record/record.h"

#include "base/test/test.h"

TEST(a_delta_without_records_is_empty_whatever_its_turn)
{
    assert_true(delta_is_empty(&(struct delta){.turn = 5}));
    assert_false(delta_is_empty(&(struct delta){.job_count = 1}));
    assert_false(delta_is_empty(&(struct delta){.worker_count = 1}));
}
