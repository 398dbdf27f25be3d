/* Many slots that were missed, and are made up one behind the other. */
#include "engine/test/fake.h"
#include "engine/test/jobs.h"

#include <string.h>

#define ON(id_, type_) (&(struct dependency_wish){.job_id = (id_), .type = (type_)})

enum { MISSED = 30000 };

static size_t count_in(const struct world *w, uint64_t job_id, enum exec_state state)
{
    const struct map *both[] = {&w->table.live, &w->table.history};
    size_t count = 0;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        MAP_EACH(both[i], slot)
        {
            const struct exec_rec *x = slot->value;
            count += x->job_id == job_id && x->state == state;
        }
    }
    return count;
}

static void settle(struct world *w)
{
    do {
        w->delta = *world_decide(w);
        world_commit(w);
    } while (world_wait_ms(w) == 0);
}

/* All of them wait behind the first, which waits for another job. When that fails none of them may
 * run, and one after the other is skipped in that turn. */
TEST(a_long_line_is_skipped_by_one_that_fails)
{
    WORLD(w);
    struct fake f = HIRE(&w, .slots = 1);
    const struct submission *up = SUBMIT(&w);
    world_turn(&w);
    w.relaxed = true;
    struct poll_lease lease = fake_start(&w, &f);
    const struct submission *down = SUBMIT(
        &w, .every_ms = 1000, .overlap = OVERLAP_SKIP, .after = ON(up->job_id, DEPENDS_SUCCESS),
        .misfire = {.policy = MISFIRE_ALL, .grace_ms = 48 * HOUR_MS, .limit = MISSED});
    settle(&w);
    assert_int_equal(down->rc, RC_OK);
    world_set_clock(&w, MISSED * INT64_C(1000)); /* leases go by another clock */
    settle(&w);
    assert_int_equal(count_in(&w, down->job_id, EXEC_BLOCKED), MISSED);
    ask_report(&w, &f, &lease, OUTCOME_FAILED);
    settle(&w);
    assert_int_equal(count_in(&w, down->job_id, EXEC_SKIPPED), MISSED);
}

/* The one on time does not let each of them go before it cancels it. */
TEST(a_long_line_is_replaced_by_the_one_on_time)
{
    WORLD(w);
    w.relaxed = true;
    const struct submission *job =
        SUBMIT(&w, .every_ms = HOUR_MS, .overlap = OVERLAP_REPLACE,
               .misfire = {.policy = MISFIRE_ALL, .grace_ms = MISSED * HOUR_MS, .limit = MISSED});
    settle(&w);
    world_set_clock(&w, MISSED * HOUR_MS + MINUTE_MS);
    settle(&w);
    assert_int_equal(count_in(&w, job->job_id, EXEC_BLOCKED), MISSED - 1);
    world_set_clock(&w, 59 * MINUTE_MS);
    settle(&w);
    assert_int_equal(count_in(&w, job->job_id, EXEC_CANCELLED), MISSED);
    assert_int_equal(count_in(&w, job->job_id, EXEC_QUEUED), 1);
    size_t went = 0;
    MAP_EACH(&w.table.history, slot)
    {
        const struct exec_rec *x = slot->value;
        went += memmem(x->trail.ptr, x->trail.len, "queued", 6) != NULL;
    }
    assert_int_equal(went, 1);
}
