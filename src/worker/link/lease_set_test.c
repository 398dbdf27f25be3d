#include "worker/link/lease_set.h"

#include "base/test/test.h"

#include <stdlib.h>

enum { TTL_MS = 20000, MARGIN_MS = 1000, NO_LIMIT = 1 << 20 };

static bool accept(struct lease_set *h, uint64_t exec_id, uint64_t token, uint64_t next_seq,
                   int64_t sent_ms)
{
    struct poll_lease lease = {.exec_id = exec_id, .token = token, .ttl_ms = TTL_MS};
    return lease_set_accept(h, &lease, next_seq, sent_ms, sent_ms);
}

static bool end(struct lease_set *h, uint64_t exec_id, uint64_t token)
{
    return lease_set_end(h, &(struct poll_result){.exec_id = exec_id,
                                                  .token = token,
                                                  .outcome = OUTCOME_SUCCEEDED,
                                                  .result = STR("[1]"),
                                                  .error = STR("none")});
}

static struct poll fill(struct lease_set *h, uint64_t seq, size_t result_max, struct arena *arena)
{
    struct poll poll = {.seq = seq};
    lease_set_fill(h, &poll, NULL, result_max, NO_LIMIT, arena);
    return poll;
}

static void count_visit(void *arg, uint64_t exec_id, uint64_t token)
{
    (void)exec_id;
    (void)token;
    ++*(int *)arg;
}

TEST(a_lease_counts_from_when_the_poll_was_sent)
{
    struct lease_set h;
    lease_set_init(&h);
    int visits = 0;
    accept(&h, 10, 1, 2, 5000);
    assert_int_equal(h.deadline_ms, 5000 + TTL_MS - MARGIN_MS);
    lease_set_expire(&h, h.deadline_ms - 1, count_visit, &visits);
    assert_int_equal(visits, 0);
    lease_set_expire(&h, h.deadline_ms, count_visit, &visits);
    lease_set_expire(&h, INT64_MAX, count_visit, &visits);
    assert_int_equal(visits, 1);
    lease_set_free(&h);
}

TEST(a_lease_that_was_over_before_it_came_is_not_taken)
{
    struct lease_set h;
    lease_set_init(&h);
    struct poll_lease lease = {.exec_id = 10, .token = 1, .ttl_ms = TTL_MS};
    assert_false(lease_set_accept(&h, &lease, 2, 5000, 5000 + TTL_MS - MARGIN_MS));
    assert_true(lease_set_accept(&h, &lease, 2, 5000, 4999 + TTL_MS - MARGIN_MS));
    lease_set_free(&h);
}

TEST(a_lease_without_end_is_taken_and_does_not_overflow)
{
    struct lease_set h;
    lease_set_init(&h);
    struct poll_lease lease = {.exec_id = 10, .token = 1, .ttl_ms = INT64_MAX};
    assert_true(lease_set_accept(&h, &lease, 2, 5000, 6000));
    assert_true(h.deadline_ms > 5000 + INT64_C(300) * 24 * 3600 * 1000);
    assert_true(h.deadline_ms < INT64_MAX);
    lease_set_free(&h);
}

TEST(only_what_a_poll_named_is_renewed_by_it)
{
    struct lease_set h;
    lease_set_init(&h);
    accept(&h, 10, 1, 2, 1000);
    accept(&h, 11, 1, 3, 2000); /* came after poll 2 was sent */
    lease_set_renew(&h, 2, 9000, NULL);
    assert_int_equal(h.deadline_ms, 2000 + TTL_MS - MARGIN_MS);
    lease_set_renew(&h, 3, 9500, NULL);
    lease_set_renew(&h, 2, 9000, NULL); /* an old answer takes nothing back */
    assert_int_equal(h.deadline_ms, 9000 + TTL_MS - MARGIN_MS + 500);
    lease_set_free(&h);
}

TEST(only_what_is_named_as_kept_is_kept)
{
    struct lease_set h;
    lease_set_init(&h);
    const struct poll_held kept[] = {{10, 1}, {11, 2}, {99, 1}};
    accept(&h, 10, 1, 2, 1000);
    accept(&h, 11, 1, 2, 3000); /* under another token */
    accept(&h, 12, 1, 2, 4000);
    lease_set_keep(&h, kept, COUNT_OF(kept), 9000, NULL);
    assert_int_equal(h.deadline_ms, 3000 + TTL_MS - MARGIN_MS);
    end(&h, 11, 1);
    end(&h, 12, 1);
    assert_int_equal(lease_set_deadline_ms(&h, NULL), 9000 + TTL_MS - MARGIN_MS);
    lease_set_keep(&h, kept, COUNT_OF(kept), 9500, &(struct partition_set){.count = 16, .bits = 2});
    assert_int_equal(lease_set_deadline_ms(&h, NULL), 9000 + TTL_MS - MARGIN_MS);
    lease_set_free(&h);
}

static void note_deadline(void *arg, uint64_t exec_id, uint64_t token, int64_t deadline_ms)
{
    (void)token;
    ((int64_t *)arg)[exec_id - 10] = deadline_ms;
}

TEST(each_lease_has_its_own_deadline)
{
    struct lease_set h;
    lease_set_init(&h);
    int64_t told[2] = {0, 0};
    const struct poll_held kept[] = {{11, 1}};
    accept(&h, 10, 1, 2, 1000);
    accept(&h, 11, 1, 2, 2000);
    assert_int_equal(lease_set_term_ms(&h, 11), 2000 + TTL_MS - MARGIN_MS);
    lease_set_tell(&h, note_deadline, told);
    assert_int_equal(told[0] + told[1], 0); /* known since they came */
    lease_set_keep(&h, kept, 1, 9000, NULL);
    lease_set_tell(&h, note_deadline, told);
    assert_int_equal(told[0], 0);
    assert_int_equal(told[1], 9000 + TTL_MS - MARGIN_MS);
    end(&h, 11, 1);
    assert_int_equal(lease_set_term_ms(&h, 11), INT64_MAX);
    lease_set_free(&h);
}

TEST(when_the_first_to_end_is_over_the_next_deadline_counts)
{
    struct lease_set h;
    lease_set_init(&h);
    int visits = 0;
    accept(&h, 10, 1, 2, 1000);
    accept(&h, 11, 1, 2, 3000);
    end(&h, 10, 1);
    lease_set_expire(&h, 2000 + TTL_MS - MARGIN_MS, count_visit, &visits);
    assert_int_equal(visits, 0);
    assert_int_equal(h.deadline_ms, 3000 + TTL_MS - MARGIN_MS);
    lease_set_free(&h);
}

TEST(a_lease_is_named_until_the_verdict_on_its_result)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct lease_set h;
    lease_set_init(&h);
    accept(&h, 10, 1, 2, 0);
    struct poll poll = fill(&h, 2, NO_LIMIT, &arena);
    assert_int_equal(poll.held_count, 1);
    assert_true(end(&h, 10, 1));
    assert_true(lease_set_wait(&h, NULL));
    poll = fill(&h, 3, NO_LIMIT, &arena);
    assert_int_equal(poll.held_count, 0);
    assert_int_equal(poll.result_count, 1);
    assert_true(str_eq(poll.results[0].result, STR("[1]")));
    assert_true(str_eq(poll.results[0].error, STR("none")));
    assert_false(lease_set_wait(&h, NULL));
    lease_set_landed(&h, 3); /* without a verdict: the connection broke */
    assert_true(lease_set_wait(&h, NULL));
    assert_int_equal(fill(&h, 4, NO_LIMIT, &arena).result_count, 1);
    lease_set_verdict(&h, &(struct poll_verdict){10, 1, true});
    assert_int_equal(h.ended_count, 0);
    lease_set_free(&h);
}

TEST(results_that_do_not_fit_are_named_as_held)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct lease_set h;
    lease_set_init(&h);
    for (uint64_t id = 10; id < 15; id++) {
        accept(&h, id, 1, 2, 0);
        end(&h, id, 1);
    }
    struct poll poll = fill(&h, 2, 2, &arena);
    assert_int_equal(poll.result_count, 2);
    assert_int_equal(poll.held_count, 3);
    lease_set_drop(&h, 2);
    assert_int_equal(h.ended_count, 3);
    lease_set_free(&h);
}

TEST(a_second_attempt_waits_for_the_first)
{
    struct lease_set h;
    lease_set_init(&h);
    assert_true(accept(&h, 10, 1, 2, 0));
    assert_false(accept(&h, 10, 1, 2, 0));
    assert_false(accept(&h, 10, 2, 2, 0));
    end(&h, 10, 1);
    assert_false(accept(&h, 10, 1, 2, 0)); /* it has run */
    assert_true(accept(&h, 10, 2, 2, 0));
    assert_int_equal(h.ended_count, 0); /* nobody wants the first one's result any more */
    assert_false(end(&h, 10, 1));
    assert_true(lease_set_runs(&h, 10, 2));
    lease_set_free(&h);
}

TEST(what_is_void_keeps_its_slot_and_says_nothing)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct lease_set h;
    lease_set_init(&h);
    int visits = 0;
    accept(&h, 10, 1, 2, 0);
    accept(&h, 11, 1, 2, 0);
    end(&h, 11, 1);
    lease_set_void(&h, count_visit, &visits);
    assert_int_equal(visits, 1);
    assert_int_equal(h.running_count, 1);
    assert_int_equal(h.deadline_ms, INT64_MAX);
    struct poll poll = fill(&h, 1, NO_LIMIT, &arena);
    assert_int_equal(poll.held_count + poll.result_count, 0);
    assert_false(lease_set_runs(&h, 10, 1));
    assert_false(end(&h, 10, 1));
    assert_int_equal(h.running_count, 0);
    lease_set_free(&h);
}

/* ---- several servers */

static const uint64_t low_id = UINT64_C(1) << 12; /* of the first partition of 16 */
static const struct partition_set low = {.count = 16, .bits = 1};
static const struct partition_set high = {.count = 16, .bits = 0xfffe};

static uint64_t high_id(void)
{
    uint64_t id = id_next(&(struct id_gen){0}, 1, ID_BUCKETS - 1);
    assert_true(partition_has(&high, id) && partition_has(&low, low_id));
    return id;
}

TEST(a_poll_is_about_some_partitions)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct lease_set h;
    struct poll poll = {.seq = 2};
    lease_set_init(&h);
    accept(&h, low_id, 1, 2, 5000);
    accept(&h, high_id(), 1, 2, 5000);
    lease_set_fill(&h, &poll, &low, NO_LIMIT, NO_LIMIT, &arena);
    assert_int_equal(poll.held_count, 2); /* whoever owns them by now */
    end(&h, high_id(), 1);
    assert_true(lease_set_wait(&h, &high));
    assert_false(lease_set_wait(&h, &low));
    poll.seq = 3;
    lease_set_fill(&h, &poll, &low, NO_LIMIT, NO_LIMIT, &arena);
    assert_int_equal(poll.result_count, 0);
    assert_int_equal(poll.held_count, 2);
    poll.seq = 4;
    lease_set_fill(&h, &poll, &high, NO_LIMIT, NO_LIMIT, &arena);
    assert_int_equal(poll.held_count, 1);
    assert_int_equal(poll.result_count, 1);
    assert_false(lease_set_wait(&h, &high));
    lease_set_free(&h);
}

TEST(a_lease_is_renewed_by_who_owns_it)
{
    struct lease_set h;
    lease_set_init(&h);
    accept(&h, low_id, 1, 2, 5000);
    accept(&h, high_id(), 1, 2, 6000);
    assert_int_equal(lease_set_deadline_ms(&h, &high), 6000 + TTL_MS - MARGIN_MS);
    lease_set_renew(&h, 2, 9000, &high);
    assert_int_equal(lease_set_deadline_ms(&h, &high), 9000 + TTL_MS - MARGIN_MS);
    assert_int_equal(lease_set_deadline_ms(&h, &low), 5000 + TTL_MS - MARGIN_MS);
    assert_int_equal(h.deadline_ms, 5000 + TTL_MS - MARGIN_MS);
    lease_set_free(&h);
}

TEST(what_is_held_of_some_partitions_is_known)
{
    struct lease_set h;
    lease_set_init(&h);
    assert_false(lease_set_any(&h, NULL));
    accept(&h, low_id, 1, 2, 5000);
    assert_true(lease_set_any(&h, &low));
    assert_false(lease_set_any(&h, &high));
    end(&h, low_id, 1);
    assert_true(lease_set_any(&h, &low));
    assert_false(lease_set_any(&h, &high));
    assert_int_equal(lease_set_deadline_ms(&h, &low), INT64_MAX);
    lease_set_free(&h);
}
