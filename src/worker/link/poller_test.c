#include "worker/link/fake_server_test.h"
#include "worker/link/session.h"

enum { SLOTS = 8, SEEN_MAX = 64 };

struct owner {
    uv_loop_t loop;
    struct fake_server *server;
    struct session *session;
    uint64_t leases[SEEN_MAX];
    size_t lease_count;
    uint64_t stopped; /* the last one; 0: none */
    uint64_t lost[SEEN_MAX];
    size_t lost_count;
    int64_t lost_at_ms;  /* boot clock */
    int64_t deadline_ms; /* the last one that was set */
    bool drain_asked;
    bool drained;
    bool finish_at_once;
};

static void finish(struct owner *o, uint64_t exec_id, uint64_t token)
{
    session_done(o->session, &(struct poll_result){.exec_id = exec_id,
                                                   .token = token,
                                                   .outcome = OUTCOME_SUCCEEDED,
                                                   .usage = {.exit_code = 0},
                                                   .result = STR("{\"a\": 1}")});
}

static void on_welcome(void *arg, const struct welcome *welcome)
{
    (void)arg;
    assert_true(welcome->worker_id > 0);
}

static void on_lease(void *arg, const struct poll_lease *lease, int64_t deadline_ms)
{
    struct owner *o = arg;
    o->deadline_ms = deadline_ms;
    assert_true(o->lease_count < SEEN_MAX);
    o->leases[o->lease_count++] = lease->exec_id;
    if (o->finish_at_once)
        finish(o, lease->exec_id, lease->token);
}

static void on_stop(void *arg, uint64_t exec_id, uint64_t token, struct str reason)
{
    struct owner *o = arg;
    assert_true(token > 0);
    assert_true(str_eq(reason, STR("cancelled by key:admin")));
    o->stopped = exec_id;
}

static void on_lost(void *arg, uint64_t exec_id, uint64_t token)
{
    struct owner *o = arg;
    assert_true(token > 0);
    o->lost[o->lost_count++] = exec_id;
    o->lost_at_ms = clock_boot_ms();
}

static void on_deadline(void *arg, uint64_t exec_id, uint64_t token, int64_t deadline_ms)
{
    struct owner *o = arg;
    assert_true(exec_id > 0 && token > 0);
    o->deadline_ms = deadline_ms;
}

static void on_drain(void *arg)
{
    struct owner *o = arg;
    o->drain_asked = true;
    session_drain(o->session);
}

static void on_drained(void *arg)
{
    struct owner *o = arg;
    o->drained = true;
}

static int set_up(void **state)
{
    struct owner *o = MEM_NEW(struct owner);
    uv_loop_init(&o->loop);
    o->server = fake_new(&o->loop);
    *state = o;
    return 0;
}

/* Apart from set_up, so that a test can change what the server says first. */
static void start(struct owner *o)
{
    struct str handler = STR("send_email");
    struct err err;
    struct session_options options = {
        .urls = str_c(o->server->url),
        .token = STR("key"),
        .hello = {.name = STR("test"),
                  .slots = SLOTS,
                  .handlers = &handler,
                  .handler_count = 1,
                  .boot_id = STR("5f6f0c0e"),
                  .replaces = 4711},
        .events = {on_welcome, on_lease, on_stop, on_lost, on_deadline, on_drain, on_drained, o},
    };
    assert_int_equal(session_new(&o->loop, &options, &o->session, &err), RC_OK);
}

static int tear_down(void **state)
{
    struct owner *o = *state;
    session_free(o->session);
    fake_free(o->server);
    assert_int_equal(uv_loop_close(&o->loop), 0);
    free(o);
    return 0;
}

TEST(it_registers_and_offers_its_slots, set_up, tear_down)
{
    struct owner *o = *state;
    start(o);
    FAKE_WAIT(o->server, o->server->parked != NULL);
    assert_int_equal(o->server->registrations, 1);
    assert_int_equal(o->server->poll.free, SLOTS);
    assert_int_equal(o->server->poll.held_count, 0);
}

TEST(a_lease_is_handed_over_and_named_in_the_next_poll, set_up, tear_down)
{
    struct owner *o = *state;
    start(o);
    fake_lease(o->server, 10, 1, "{}", "");
    FAKE_WAIT(o->server, fake_holds(o->server, 10));
    assert_int_equal(o->lease_count, 1);
    assert_int_equal(o->server->poll.free, SLOTS - 1);
}

TEST(a_lease_that_comes_twice_is_run_once, set_up, tear_down)
{
    struct owner *o = *state;
    start(o);
    fake_lease(o->server, 10, 1, "{}", "");
    fake_lease(o->server, 10, 1, "{}", "");
    FAKE_WAIT(o->server, fake_holds(o->server, 10));
    fake_lease(o->server, 10, 1, "{}", "");
    fake_lease(o->server, 11, 1, "{}", "");
    FAKE_WAIT(o->server, fake_holds(o->server, 11));
    assert_int_equal(o->lease_count, 2);
}

TEST(a_newer_token_waits_until_the_older_attempt_is_over, set_up, tear_down)
{
    struct owner *o = *state;
    start(o);
    fake_lease(o->server, 10, 1, "{}", "");
    FAKE_WAIT(o->server, fake_holds(o->server, 10));
    fake_lease(o->server, 10, 2, "{}", "");
    fake_lease(o->server, 11, 1, "{}", "");
    FAKE_WAIT(o->server, fake_holds(o->server, 11));
    assert_int_equal(o->lease_count, 2);
    finish(o, 10, 1);
    FAKE_WAIT(o->server, fake_result(o->server, 10) != NULL && o->server->parked != NULL);
    fake_lease(o->server, 10, 2, "{}", "");
    FAKE_WAIT(o->server, fake_holds(o->server, 10));
    assert_int_equal(o->lease_count, 3);
}

TEST(what_ends_while_a_poll_is_parked_is_told_at_once, set_up, tear_down)
{
    struct owner *o = *state;
    start(o);
    fake_lease(o->server, 10, 1, "{}", "");
    FAKE_WAIT(o->server, fake_holds(o->server, 10) && o->server->parked != NULL);
    int64_t begin_us = clock_mono_us();
    finish(o, 10, 1);
    FAKE_WAIT(o->server, o->server->parked != NULL && !fake_holds(o->server, 10));
    assert_true(clock_mono_us() - begin_us < 2000000); /* and not after park_ms */
    assert_int_equal(o->server->result_count, 1);
    assert_true(str_eq(o->server->results[0].result, STR("{\"a\": 1}")));
    assert_int_equal(session_pending(o->session), 0);
}

TEST(results_are_gathered, set_up, tear_down)
{
    struct owner *o = *state;
    o->finish_at_once = true;
    start(o);
    FAKE_WAIT(o->server, o->server->parked != NULL);
    for (uint64_t id = 10; id < 10 + SLOTS; id++)
        o->server->leases[o->server->lease_count++] = (struct poll_lease){.exec_id = id,
                                                                          .job_id = 1,
                                                                          .token = 1,
                                                                          .attempt = 1,
                                                                          .ttl_ms = 20000,
                                                                          .slot_ms = 1,
                                                                          .spec = STR("{}")};
    fake_unpark(o->server);
    FAKE_WAIT(o->server, o->server->result_count == SLOTS);
    assert_int_equal(o->server->gathered, SLOTS);
}

TEST(a_result_is_offered_until_it_got_its_verdict, set_up, tear_down)
{
    struct owner *o = *state;
    start(o);
    fake_lease(o->server, 10, 1, "{}", "");
    FAKE_WAIT(o->server, fake_holds(o->server, 10) && o->server->parked != NULL);
    o->server->lose_reply = true;
    finish(o, 10, 1);
    FAKE_WAIT(o->server, !o->server->lose_reply);
    assert_int_equal(session_pending(o->session), 1);
    FAKE_WAIT(o->server, o->server->result_count == 1);
    FAKE_WAIT(o->server, session_pending(o->session) == 0);
}

TEST(a_stop_reaches_the_owner, set_up, tear_down)
{
    struct owner *o = *state;
    start(o);
    fake_lease(o->server, 10, 1, "{}", "");
    FAKE_WAIT(o->server, fake_holds(o->server, 10) && o->server->parked != NULL);
    fake_stop(o->server, 10, 1);
    FAKE_WAIT(o->server, o->stopped == 10);
}

TEST(a_lease_that_cannot_be_renewed_is_lost_before_its_end, set_up, tear_down)
{
    struct owner *o = *state;
    o->server->welcome.lease_ms = 1500;
    start(o);
    fake_lease(o->server, 10, 1, "{}", "");
    FAKE_WAIT(o->server, fake_holds(o->server, 10));
    int64_t renewed_ms = clock_boot_ms();
    o->server->poll_status = 503;
    fake_unpark(o->server);
    FAKE_WAIT(o->server, o->lost_count > 0);
    assert_int_equal(o->lost[0], 10);
    assert_true(o->deadline_ms < renewed_ms + 1500);
    assert_true(o->lost_at_ms >= o->deadline_ms);
    o->server->poll_status = 0;
    session_done(o->session, &(struct poll_result){.exec_id = 10,
                                                   .token = 1,
                                                   .outcome = OUTCOME_RETURNED,
                                                   .usage = {.exit_code = -1}});
    FAKE_WAIT(o->server, fake_result(o->server, 10) != NULL); /* a late word is still a word */
}

TEST(a_lease_that_is_renewed_is_kept, set_up, tear_down)
{
    struct owner *o = *state;
    o->server->welcome.lease_ms = 3000; /* and not less: a machine may stand still for a second */
    start(o);
    fake_lease(o->server, 10, 1, "{}", "");
    FAKE_WAIT(o->server, fake_holds(o->server, 10));
    int64_t begin_us = clock_mono_us();
    while (clock_mono_us() - begin_us < 3500000) {
        fake_unpark(o->server); /* the fake one does not look at wait_ms */
        uv_run(&o->loop, UV_RUN_DEFAULT);
    }
    assert_int_equal(o->lost_count, 0);
}

/* A server that was away and would park the first poll might say too late that leases are good. */
TEST(the_first_poll_after_a_failure_does_not_wait, set_up, tear_down)
{
    struct owner *o = *state;
    start(o);
    FAKE_WAIT(o->server, o->server->parked != NULL);
    assert_true(o->server->poll.wait_ms > 0);
    o->server->poll_status = 503;
    fake_unpark(o->server);
    unsigned polls = o->server->polls;
    FAKE_WAIT(o->server, o->server->polls > polls);
    o->server->poll_status = 0;
    FAKE_WAIT(o->server, o->server->poll.wait_ms == 0);
    FAKE_WAIT(o->server, o->server->parked != NULL);
    assert_true(o->server->poll.wait_ms > 0);
}

TEST(a_server_that_forgot_us_is_told_our_name_again, set_up, tear_down)
{
    struct owner *o = *state;
    start(o);
    fake_lease(o->server, 10, 1, "{}", "");
    FAKE_WAIT(o->server, fake_holds(o->server, 10) && o->server->parked != NULL);
    o->server->welcome.worker_id = 1; /* no request of ours matches this */
    fake_unpark(o->server);
    FAKE_WAIT(o->server, o->server->registrations == 2 && o->server->parked != NULL);
    assert_int_equal(o->lost_count, 1);
    assert_int_equal(o->server->poll.held_count, 0);
    assert_int_equal(o->server->poll.free, SLOTS - 1); /* it is dying, and not gone */
    finish(o, 10, 1);
    FAKE_WAIT(o->server, o->server->poll.free == SLOTS);
    assert_int_equal(o->server->result_count, 0);
}

TEST(a_result_the_server_cannot_read_does_not_block_the_others, set_up, tear_down)
{
    struct owner *o = *state;
    start(o);
    for (uint64_t id = 10; id < 14; id++)
        fake_lease(o->server, id, 1, "{}", "");
    FAKE_WAIT(o->server, fake_holds(o->server, 13) && o->server->parked != NULL);
    o->server->unreadable = 12;
    for (uint64_t id = 10; id < 14; id++)
        finish(o, id, 1);
    FAKE_WAIT(o->server, session_pending(o->session) == 0); /* it was given up */
    assert_int_equal(o->server->result_count, 3);
    assert_null(fake_result(o->server, 12));
}

TEST(a_success_counts_without_the_result_that_is_refused, set_up, tear_down)
{
    struct owner *o = *state;
    start(o);
    fake_lease(o->server, 10, 1, "{}", "");
    FAKE_WAIT(o->server, fake_holds(o->server, 10) && o->server->parked != NULL);
    o->server->unreadable = 10;
    o->server->takes_bare = true;
    finish(o, 10, 1);
    FAKE_WAIT(o->server, session_pending(o->session) == 0);
    const struct poll_result *result = fake_result(o->server, 10);
    assert_non_null(result);
    assert_int_equal(result->outcome, OUTCOME_SUCCEEDED);
    assert_int_equal(result->result.len, 0);
    assert_true(str_eq(result->error, STR("its result was left out, since the server refused it")));
}

/* ---- replies that cannot be read */

TEST(an_unreadable_reply_costs_no_lease_but_its_own, set_up, tear_down)
{
    struct owner *o = *state;
    start(o);
    fake_lease(o->server, 9, 1, "{}", "");
    FAKE_WAIT(o->server, fake_holds(o->server, 9) && o->server->parked != NULL);
    o->server->garbled = 13;
    unsigned before = o->server->polls;
    o->server->frozen = true; /* so that all of them are due in one reply */
    fake_unpark(o->server);
    FAKE_WAIT(o->server, o->server->polls > before);
    for (uint64_t id = 10; id < 14; id++)
        fake_lease(o->server, id, 1, "{}", "");
    o->server->frozen = false;
    FAKE_WAIT(o->server,
              fake_holds(o->server, 12)); /* those in front of it came in shorter replies */
    unsigned garbles = o->server->garbles;
    assert_true(garbles > 0);
    /* What runs is renewed meanwhile, since every other poll asks for nothing. */
    int64_t deadline_ms = o->deadline_ms;
    FAKE_WAIT(o->server, o->server->garbles > garbles + 2 && o->deadline_ms > deadline_ms);
    assert_int_equal(o->lost_count, 0);
    o->server->garbled = 0;
    FAKE_WAIT(o->server, fake_holds(o->server, 13));
    FAKE_WAIT(o->server,
              o->server->poll.free == SLOTS - 5); /* all that are free are offered again */
}

TEST(a_lease_that_makes_no_sense_is_reported_as_unreadable, set_up, tear_down)
{
    struct owner *o = *state;
    start(o);
    fake_lease(o->server, 10, 1, "{}", "");
    fake_lease(o->server, 11, 1, "{}", "");
    fake_lease(o->server, 12, 1, "{}", "");
    o->server->leases[1].attempt = 0;
    FAKE_WAIT(o->server, fake_result(o->server, 11) != NULL);
    const struct poll_result *result = fake_result(o->server, 11);
    assert_int_equal(result->outcome, OUTCOME_PERMANENT);
    assert_int_equal(result->code, POLL_CODE_UNREADABLE);
    assert_true(str_starts(result->error, STR("the worker cannot read its lease: leases[1].att")));
    FAKE_WAIT(o->server, fake_holds(o->server, 10) && fake_holds(o->server, 12));
    assert_int_equal(o->lease_count, 2);
}

/* ---- older servers, and newer ones */

TEST(the_first_registration_says_whom_we_replace, set_up, tear_down)
{
    struct owner *o = *state;
    start(o);
    FAKE_WAIT(o->server, o->server->parked != NULL);
    assert_int_equal(o->server->hello.replaces, 4711);
    assert_true(str_eq(o->server->hello.boot_id, STR("5f6f0c0e")));
    o->server->welcome.worker_id = 1; /* it forgets us */
    fake_unpark(o->server);
    FAKE_WAIT(o->server, o->server->registrations == 2);
    assert_int_equal(o->server->hello.replaces, 0);
}

TEST(an_older_server_registers_us_without_the_rest, set_up, tear_down)
{
    struct owner *o = *state;
    o->server->older = true;
    start(o);
    FAKE_WAIT(o->server, o->server->parked != NULL);
    assert_int_equal(o->server->refusals, 1);
    assert_int_equal(o->server->registrations, 1);
    assert_int_equal(o->server->hello.boot_id.len, 0);
    fake_lease(o->server, 10, 1, "{}", "");
    FAKE_WAIT(o->server, fake_holds(o->server, 10));
    finish(o, 10, 1);
    FAKE_WAIT(o->server, session_pending(o->session) == 0);
    assert_int_equal(o->server->poll.heard, 0);
    assert_int_equal(o->server->refusals, 1);
}

TEST(what_was_heard_is_told_to_who_names_epochs, set_up, tear_down)
{
    struct owner *o = *state;
    static const uint64_t epochs[PARTITIONS_MAX] = {1};
    start(o);
    FAKE_WAIT(o->server, o->server->parked != NULL);
    assert_int_equal(o->server->poll.heard, 0);
    o->server->owned = partition_all(1);
    o->server->epochs = epochs;
    uint64_t answered = o->server->seq;
    fake_unpark(o->server);
    FAKE_WAIT(o->server, o->server->seq > answered && o->server->parked != NULL);
    assert_int_equal(o->server->poll.heard, answered);
    uint64_t before = o->server->seq;
    o->server->parked->on_gone = NULL;
    http_respond(o->server->parked, &(struct http_answer){.status = 500, .close = true});
    o->server->parked = NULL;
    FAKE_WAIT(o->server, o->server->seq > before); /* whoever answers now may be an older one */
    assert_int_equal(o->server->poll.heard, 0);
}

TEST(an_answer_is_known_by_the_number_that_it_gave_itself, set_up, tear_down)
{
    struct owner *o = *state;
    static const uint64_t epochs[PARTITIONS_MAX] = {1};
    o->server->owned = partition_all(1);
    o->server->epochs = epochs;
    o->server->heard_as = POLL_HEARD_AS + 5;
    start(o);
    FAKE_WAIT(o->server, o->server->poll.heard == POLL_HEARD_AS + 5 && o->server->parked != NULL);
    o->server->heard_as = 0; /* an older one has taken its place */
    uint64_t answered = o->server->seq;
    fake_unpark(o->server);
    FAKE_WAIT(o->server, o->server->seq > answered && o->server->parked != NULL);
    assert_int_equal(o->server->poll.heard, answered);
}

/* Two take turns behind one address. */
TEST(what_one_server_said_is_not_told_to_another_as_heard, set_up, tear_down)
{
    struct owner *o = *state;
    static const uint64_t epochs[PARTITIONS_MAX] = {1};
    o->server->owned = partition_all(1);
    o->server->epochs = epochs;
    o->server->self = STR("http://127.0.0.1:1");
    start(o);
    FAKE_WAIT(o->server, o->server->parked != NULL && o->server->poll.heard > 0);
    o->server->self = STR("http://127.0.0.1:2");
    uint64_t answered = o->server->seq;
    fake_unpark(o->server);
    FAKE_WAIT(o->server, o->server->seq > answered && o->server->parked != NULL);
    assert_int_equal(o->server->poll.heard, 0);
    answered = o->server->seq;
    fake_unpark(o->server);
    FAKE_WAIT(o->server, o->server->seq > answered && o->server->parked != NULL);
    assert_int_equal(o->server->poll.heard, answered);
}

TEST(a_server_that_became_older_costs_no_result, set_up, tear_down)
{
    struct owner *o = *state;
    static const uint64_t epochs[PARTITIONS_MAX] = {1};
    o->server->owned = partition_all(1);
    o->server->epochs = epochs;
    start(o);
    fake_lease(o->server, 10, 1, "{}", "");
    FAKE_WAIT(o->server, fake_holds(o->server, 10) && o->server->parked != NULL);
    assert_true(o->server->poll.heard > 0);
    o->server->older = true;
    o->server->epochs = NULL;
    finish(o, 10, 1);
    FAKE_WAIT(o->server, session_pending(o->session) == 0);
    assert_int_equal(o->server->refusals, 1);
    assert_non_null(fake_result(o->server, 10));
}

TEST(what_an_older_server_does_not_know_is_put_in_older_words_at_once, set_up, tear_down)
{
    struct owner *o = *state;
    struct poll_result died = {.token = 1,
                               .outcome = OUTCOME_STOPPED,
                               .error = STR("dead"),
                               .code = POLL_CODE_SPAWNER_DIED};
    start(o);
    for (uint64_t id = 10; id < 14; id++)
        fake_lease(o->server, id, 1, "{}", "");
    FAKE_WAIT(o->server, fake_holds(o->server, 13) && o->server->parked != NULL);
    o->server->older = true;
    finish(o, 10, 1);
    for (died.exec_id = 11; died.exec_id < 14; died.exec_id++)
        session_done(o->session, &died);
    FAKE_WAIT(o->server, session_pending(o->session) == 0);
    assert_int_equal(o->server->refusals, 1);
    assert_int_equal(o->server->result_count, 4);
    assert_int_equal(fake_result(o->server, 10)->outcome, OUTCOME_SUCCEEDED);
    assert_true(fake_result(o->server, 10)->result.len > 0);
    assert_int_equal(fake_result(o->server, 13)->outcome, OUTCOME_FAILED);
    assert_int_equal(fake_result(o->server, 13)->class, FAILURE_UNKNOWN);
    assert_true(str_eq(fake_result(o->server, 13)->error, STR("dead")));
}

TEST(a_drain_ends_when_all_is_told, set_up, tear_down)
{
    struct owner *o = *state;
    start(o);
    fake_lease(o->server, 10, 1, "{}", "");
    FAKE_WAIT(o->server, fake_holds(o->server, 10) && o->server->parked != NULL);
    session_drain(o->session);
    FAKE_WAIT(o->server, o->server->poll.free == 0);
    assert_false(o->drained);
    finish(o, 10, 1);
    FAKE_WAIT(o->server, o->drained);
    assert_int_equal(o->server->result_count, 1);
}

TEST(what_is_leased_into_a_drain_is_not_started, set_up, tear_down)
{
    struct owner *o = *state;
    start(o);
    FAKE_WAIT(o->server, o->server->parked != NULL);
    fake_lease(o->server, 10, 1, "{}", ""); /* on its way, when ... */
    session_drain(o->session);
    FAKE_WAIT(o->server, o->drained);
    assert_int_equal(o->lease_count, 0);
    assert_int_equal(o->server->poll.held_count, 0);
}

TEST(the_server_may_ask_for_a_drain, set_up, tear_down)
{
    struct owner *o = *state;
    start(o);
    FAKE_WAIT(o->server, o->server->parked != NULL);
    o->server->drain = true;
    fake_unpark(o->server);
    FAKE_WAIT(o->server, o->drained);
    assert_true(o->drain_asked);
}
