#include "base/arena.h"
#include "server/metrics/exemplars.h"

#include "base/test/test.h"

#include <pthread.h>

enum { ROUNDS = 200000 };

/* All its parts say the same number. */
static struct exemplar numbered(int64_t n)
{
    return (struct exemplar){{(uint64_t)n, (uint64_t)n}, n, n};
}

static atomic_bool over;

static void *write_many(void *arg)
{
    for (int64_t i = 1; i <= ROUNDS; i++) {
        struct exemplar e = numbered(i);
        exemplar_note(arg, EXEMPLAR_LAG, 3, &e);
    }
    atomic_store(&over, true);
    return NULL;
}

TEST(a_copy_beside_a_writer_is_whole_or_absent)
{
    exemplars_place place = NULL;
    struct arena arena = {0};
    pthread_t writer;
    assert_null(exemplars_copy(&place, &arena));
    assert_int_equal(pthread_create(&writer, NULL, write_many, &place), 0);
    while (!atomic_load(&over)) {
        arena_reset(&arena);
        const struct exemplar *all = exemplars_copy(&place, &arena);
        const struct exemplar *e = all == NULL ? NULL : &all[EXEMPLAR_LAG * METRIC_BUCKETS + 3];
        if (e == NULL || e->at_ms == 0)
            continue;
        assert_true(e->value == e->at_ms && e->trace.high == (uint64_t)e->at_ms &&
                    e->trace.low == e->trace.high);
    }
    pthread_join(writer, NULL);
    arena_reset(&arena);
    const struct exemplar *all = exemplars_copy(&place, &arena);
    assert_int_equal(all[EXEMPLAR_LAG * METRIC_BUCKETS + 3].value, ROUNDS);
    assert_int_equal(all[EXEMPLAR_WAIT * METRIC_BUCKETS + 3].at_ms, 0);
    exemplars_free(&place);
    arena_free(&arena);
}
