#include "server/output/event_index.h"

#include "base/id.h"
#include "base/test/test.h"

enum { FILTERS = 60, ROUNDS = 2000, THINGS = 8 };

static const char *const queues[] = {"mail", "web", "import"};
static const char *const kinds[] = {"execution", "queue"};

struct reader {
    struct event_filter filter;
    struct indexed entry;
    bool there;
    unsigned told;
};

static struct arena arena;
static struct rng rng;
static struct reader readers[FILTERS];

static uint64_t pick(uint64_t below)
{
    return rng_below(&rng, below);
}

static void want(struct event_filter *f, const char *name, const char *value)
{
    struct field_errors errors = {0};
    event_filter_add(f, name, str_c(value), &errors, &arena);
    assert_int_equal(errors.count, 0);
}

static void draw_filter(struct event_filter *f)
{
    *f = (struct event_filter){0};
    for (uint64_t i = pick(3); i > 0; i--)
        want(f, "job", ID_TEXT(ID_JOB, 1 + pick(THINGS)));
    for (uint64_t i = pick(2); i > 0; i--)
        want(f, "execution", ID_TEXT(ID_EXEC, 1 + pick(THINGS)));
    for (uint64_t i = pick(2); i > 0; i--)
        want(f, "queue", queues[pick(COUNT_OF(queues))]);
    if (pick(4) == 0)
        want(f, "type", kinds[pick(COUNT_OF(kinds))]);
    event_filter_end(f);
}

static void come_or_go(struct event_index *index, struct reader *r)
{
    if (!r->there) {
        draw_filter(&r->filter);
        event_index_add(index, &r->entry, &r->filter);
    } else {
        event_index_remove(index, &r->entry);
        event_filter_free(&r->filter);
    }
    r->there = !r->there;
}

static void tell(void *arg, struct indexed *entry)
{
    (void)arg;
    CONTAINER_OF(entry, struct reader, entry)->told++;
}

static struct event draw_event(void)
{
    struct event event = {.queue = str_c(queues[pick(COUNT_OF(queues))])};
    if (pick(3) == 0) {
        event.queue_event = QUEUE_PAUSED;
        return event;
    }
    event.job_id = 1 + pick(THINGS);
    event.exec_id = 1 + pick(THINGS);
    return event;
}

TEST(an_event_is_told_to_all_whom_it_fits_once_as_a_walk_over_all_finds_them)
{
    struct event_index index;
    event_index_init(&index);
    rng = test_rng();
    for (int round = 0; round < ROUNDS; round++) {
        come_or_go(&index, &readers[pick(FILTERS)]);
        const struct event event = draw_event();
        for (size_t i = 0; i < FILTERS; i++)
            readers[i].told = 0;
        event_index_find(&index, &event, tell, NULL);
        for (size_t i = 0; i < FILTERS; i++) {
            const struct reader *r = &readers[i];
            bool fits = r->there && !event_filter_is_empty(&r->filter) &&
                        event_filter_fits(&r->filter, &event);
            assert_int_equal(r->told, fits);
        }
    }
    for (size_t i = 0; i < FILTERS; i++) {
        if (readers[i].there)
            come_or_go(&index, &readers[i]);
    }
    assert_int_equal(index.jobs.len + index.execs.len + index.queues.len, 0);
    event_index_free(&index);
    arena_free(&arena);
}
