#include "worker/link/fake_server_test.h"
#include "worker/run/handler.h"

enum { SLOTS = 1000 };

struct program {
    uv_loop_t loop;
    struct fake_server *server;
    struct handler_worker *worker;
    enum outcome answer; /* what on_call returns */
    size_t calls;
    uint64_t stopped;
    bool drained;
};

static enum outcome on_call(void *arg, const struct poll_lease *lease)
{
    struct program *p = arg;
    CLEANUP(arena_free) struct arena arena = {0};
    assert_true(str_eq(handler_name(lease, &arena), STR("send_email")));
    p->calls++;
    return p->answer;
}

static void on_stop(void *arg, uint64_t exec_id, uint64_t token, struct str reason)
{
    struct program *p = arg;
    (void)token;
    (void)reason;
    p->stopped = exec_id;
}

static void on_drained(void *arg)
{
    struct program *p = arg;
    p->drained = true;
}

static int set_up(void **state)
{
    struct program *p = MEM_NEW(struct program);
    struct err err;
    uv_loop_init(&p->loop);
    p->server = fake_new(&p->loop);
    struct str handler = STR("send_email");
    struct handler_options options = {
        .url = str_c(p->server->url),
        .token = STR("key"),
        .name = STR("program"),
        .slots = SLOTS,
        .handlers = &handler,
        .handler_count = 1,
        .on_call = on_call,
        .on_stop = on_stop,
        .on_drained = on_drained,
        .arg = p,
    };
    assert_int_equal(handler_worker_new(&p->loop, &options, &p->worker, &err), RC_OK);
    FAKE_WAIT(p->server, p->server->parked != NULL);
    *state = p;
    return 0;
}

static int tear_down(void **state)
{
    struct program *p = *state;
    handler_worker_free(p->worker);
    fake_free(p->server);
    assert_int_equal(uv_loop_close(&p->loop), 0);
    free(p);
    return 0;
}

#define EMAIL "{\"handler\": \"send_email\"}"

TEST(a_call_is_answered_by_what_it_returns, set_up, tear_down)
{
    struct program *p = *state;
    p->answer = OUTCOME_PERMANENT;
    fake_lease(p->server, 10, 1, EMAIL, "");
    FAKE_WAIT(p->server, fake_result(p->server, 10) != NULL);
    assert_int_equal(fake_result(p->server, 10)->outcome, OUTCOME_PERMANENT);
    assert_int_equal(fake_result(p->server, 10)->usage.exit_code, -1);
}

TEST(a_call_may_be_answered_later, set_up, tear_down)
{
    struct program *p = *state;
    fake_lease(p->server, 10, 1, EMAIL, "");
    FAKE_WAIT(p->server, fake_holds(p->server, 10));
    handler_done(p->worker, &(struct poll_result){.exec_id = 10,
                                                  .token = 1,
                                                  .outcome = OUTCOME_SUCCEEDED,
                                                  .usage = {.exit_code = -1},
                                                  .result = STR("\"sent\"")});
    FAKE_WAIT(p->server, fake_result(p->server, 10) != NULL);
    assert_true(str_eq(fake_result(p->server, 10)->result, STR("\"sent\"")));
}

TEST(a_stop_is_passed_on, set_up, tear_down)
{
    struct program *p = *state;
    fake_lease(p->server, 10, 1, EMAIL, "");
    FAKE_WAIT(p->server, fake_holds(p->server, 10) && p->server->parked != NULL);
    fake_stop(p->server, 10, 1);
    FAKE_WAIT(p->server, p->stopped == 10);
}

TEST(a_thousand_leases_take_a_handful_of_polls, set_up, tear_down)
{
    struct program *p = *state;
    p->answer = OUTCOME_SUCCEEDED;
    for (uint64_t id = 10; id < 10 + SLOTS; id++)
        fake_lease(p->server, id, 1, EMAIL, "");
    FAKE_WAIT(p->server, p->server->result_count == SLOTS);
    assert_int_equal(p->calls, SLOTS);
    assert_true(p->server->polls < 10);
}

TEST(a_server_that_drains_is_left_in_order, set_up, tear_down)
{
    struct program *p = *state;
    p->server->drain = true;
    fake_unpark(p->server);
    FAKE_WAIT(p->server, p->drained);
}
