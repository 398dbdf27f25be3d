/* Against a store in memory, whose turns are written here as the engine would. */
#include "server/output/fence.h"

#include "base/test/test.h"

struct site {
    struct store *store;
    struct ownership own;
    struct reader *reader;
    struct fence *fence;
    struct err err;
};

enum { EXEC = 7, WORKER = 70, OTHER = 71 };

static void commit(struct site *s, enum change_kind kind, enum exec_state state, uint64_t token,
                   uint64_t worker_id, const struct attempt_rec *ended)
{
    struct exec_change exec = {
        .kind = kind,
        .exec = {.id = EXEC, .job_id = 6, .state = state, .token = token, .worker_id = worker_id},
    };
    struct delta delta = {.turn = ++s->own.turn_floor,
                          .execs = &exec,
                          .exec_count = 1,
                          .attempts = ended,
                          .attempt_count = ended != NULL};
    assert_int_equal(s->store->ops->commit(s->store, &s->own, &delta, &s->err), RC_OK);
}

/* Token 1 is WORKER's. */
static int set_up(void **state)
{
    static struct site site;
    site = (struct site){.store = store_mem_open()};
    struct site *s = &site;
    assert_int_equal(s->store->ops->own(s->store, STR("test"), &s->own, &s->err), RC_OK);
    assert_int_equal(s->store->ops->reader(s->store, &s->reader, &s->err), RC_OK);
    struct job_change job = {.kind = CHANGE_INSERT, .job = {.id = 6, .state = JOB_ACTIVE}};
    struct delta delta = {.turn = ++s->own.turn_floor, .jobs = &job, .job_count = 1};
    assert_int_equal(s->store->ops->commit(s->store, &s->own, &delta, &s->err), RC_OK);
    commit(s, CHANGE_INSERT, EXEC_RUNNING, 1, WORKER, NULL);
    s->fence = fence_new(s->reader);
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    struct site *s = *state;
    fence_free(s->fence);
    s->reader->ops->close(s->reader);
    s->store->ops->close(s->store);
    return 0;
}

static enum rc check(struct site *s, uint64_t worker_id, uint64_t token, enum standing least)
{
    return fence_check(s->fence, &(struct lease_name){worker_id, EXEC, token}, least, &s->err);
}

TEST(the_holder_may_do_everything, set_up, tear_down)
{
    struct site *s = *state;
    assert_int_equal(check(s, WORKER, 1, STANDING_HELD), RC_OK);
    assert_int_equal(check(s, WORKER, 1, STANDING_LATE), RC_OK);
    assert_int_equal(check(s, WORKER, 1, STANDING_PAST), RC_OK);
}

TEST(who_never_had_the_lease_may_do_nothing, set_up, tear_down)
{
    struct site *s = *state;
    assert_int_equal(check(s, OTHER, 1, STANDING_PAST), RC_CONFLICT);
    assert_int_equal(check(s, WORKER, 2, STANDING_PAST), RC_CONFLICT);
    assert_string_equal(s->err.text,
                        "exec_0000000000007 was never given to wrk_0000000000026 with the token 2");
    struct lease_name nowhere = {WORKER, EXEC + 1, 1};
    assert_int_equal(fence_check(s->fence, &nowhere, STANDING_PAST, &s->err), RC_CONFLICT);
}

TEST(what_is_remembered_opens_no_other_door, set_up, tear_down)
{
    struct site *s = *state;
    assert_int_equal(check(s, WORKER, 1, STANDING_PAST), RC_OK);
    assert_int_equal(check(s, OTHER, 1, STANDING_PAST), RC_CONFLICT);
    assert_int_equal(check(s, WORKER, 1, STANDING_PAST), RC_OK);
    struct attempt_rec lost = {.exec_id = EXEC, .token = 1, .worker_id = WORKER};
    commit(s, CHANGE_UPDATE, EXEC_RUNNING, 2, OTHER, &lost);
    assert_int_equal(check(s, WORKER, 1, STANDING_PAST), RC_OK);
    assert_int_equal(check(s, WORKER, 1, STANDING_LATE), RC_STALE);
    assert_int_equal(check(s, WORKER, 1, STANDING_HELD), RC_STALE);
    assert_string_equal(
        s->err.text,
        "wrk_0000000000026 no longer has the lease of exec_0000000000007 with the token 1");
    assert_int_equal(check(s, OTHER, 2, STANDING_HELD), RC_OK);
}

TEST(who_had_the_newest_lease_may_come_late, set_up, tear_down)
{
    struct site *s = *state;
    struct attempt_rec failed = {.exec_id = EXEC, .token = 1, .worker_id = WORKER};
    commit(s, CHANGE_UPDATE, EXEC_RETRYING, 1, 0, &failed);
    assert_int_equal(check(s, WORKER, 1, STANDING_LATE), RC_OK);
    assert_int_equal(check(s, WORKER, 1, STANDING_HELD), RC_STALE);
    assert_int_equal(check(s, OTHER, 1, STANDING_LATE), RC_CONFLICT);
    commit(s, CHANGE_FINISH, EXEC_CANCELLED, 1, 0, NULL);
    assert_int_equal(check(s, WORKER, 1, STANDING_LATE), RC_STALE);
    assert_int_equal(check(s, WORKER, 1, STANDING_PAST), RC_OK);
}
