#include "worker/link/session_fixture_test.h"

/* ---- who is there */

TEST(one_address_is_enough_to_serve_all, set_up, tear_down)
{
    struct owner *o = *state;
    start(o);
    assert_int_equal(o->servers[0]->registrations, 1);
    for (size_t i = 0; i < SERVERS; i++) {
        lease_at(o, i, id_in((uint32_t)i * 5, 1));
        assert_int_equal(o->lease_count, i + 1);
    }
    assert_int_equal(o->servers[0]->registrations, 1);
}

TEST(it_starts_when_one_of_them_answers, set_up, tear_down)
{
    struct owner *o = *state;
    char urls[200];
    snprintf(urls, sizeof urls, "http://127.0.0.1:1, %s", o->servers[1]->url);
    start_at(o, urls);
    FAKE_WAIT(o->servers[0], all_parked(o));
    assert_int_equal(o->servers[0]->registrations, 1);
}

TEST(two_addresses_of_one_server_are_one, set_up, tear_down)
{
    struct owner *o = *state;
    char urls[200];
    snprintf(urls, sizeof urls, "http://localhost:%u,%s,http://localhost:%u", o->servers[0]->port,
             o->servers[1]->url, o->servers[1]->port);
    start_at(o, urls);
    FAKE_WAIT(o->servers[0], o->session->poller_count == SERVERS && all_parked(o));
    FAKE_WAIT(o->servers[0], offered(o) == SLOTS);
    pass(o, 300);
    assert_int_equal(o->session->poller_count, SERVERS);
    assert_int_equal(o->servers[0]->registrations, 1);
}

TEST(a_server_that_joins_is_found, set_up, tear_down)
{
    struct owner *o = *state;
    for (size_t i = 0; i < SERVERS; i++)
        o->servers[i]->server_count = 2;
    start_at(o, o->servers[0]->url);
    FAKE_WAIT(o->servers[0], o->servers[0]->parked != NULL && o->servers[1]->parked != NULL);
    assert_int_equal(o->servers[2]->polls, 0);
    for (size_t i = 0; i < SERVERS; i++)
        o->servers[i]->server_count = SERVERS;
    fake_unpark(o->servers[1]);
    FAKE_WAIT(o->servers[0], all_parked(o) && o->servers[2]->poll.free > 0);
    lease_at(o, 2, id_in(12, 1));
}

TEST(a_server_that_left_is_forgotten, set_up, tear_down)
{
    struct owner *o = *state;
    hurry(o, 3000);
    start(o);
    assert_int_equal(o->session->poller_count, 3);
    kill_server(o, 1);
    pass(o, 1000);
    assert_int_equal(o->session->poller_count, 3); /* it may only be away */
    o->addresses[1] = o->addresses[2];
    o->servers[0]->server_count = o->servers[2]->server_count = 2;
    pass(o, 2500);
    assert_int_equal(o->session->poller_count, 2);
    FAKE_WAIT(o->servers[0], offered(o) == SLOTS);
}

/* ---- credits */

TEST(credits_add_up_to_what_is_free, set_up, tear_down)
{
    struct owner *o = *state;
    start(o);
    for (size_t i = 0; i < SERVERS; i++)
        assert_true(o->servers[i]->poll.free >= 2);
    lease_at(o, 1, id_in(5, 1));
    FAKE_WAIT(o->servers[0], all_parked(o) && offered(o) == SLOTS - 1);
    lease_at(o, 2, id_in(10, 1));
    FAKE_WAIT(o->servers[0], all_parked(o) && offered(o) == SLOTS - 2);
    finish(o, id_in(5, 1));
    FAKE_WAIT(o->servers[0], results(o) == 1 && all_parked(o) && offered(o) == SLOTS - 1);
}

TEST(free_slots_move_to_where_the_backlog_is, set_up, tear_down)
{
    struct owner *o = *state;
    start(o);
    o->servers[1]->backlog = 1000;
    fake_unpark(o->servers[1]);
    FAKE_WAIT(o->servers[0], o->servers[1]->poll.free == SLOTS && offered(o) == SLOTS);
    o->servers[1]->backlog = 0;
    o->servers[2]->backlog = 1000;
    FAKE_WAIT(o->servers[0], (fake_unpark(o->servers[1]), fake_unpark(o->servers[2]),
                              o->servers[2]->poll.free == SLOTS && offered(o) == SLOTS));
}

TEST(a_lease_too_many_is_given_back, set_up, tear_down)
{
    struct owner *o = *state;
    o->slots = 1;
    start_at(o, o->servers[0]->url);
    FAKE_WAIT(o->servers[0], all_parked(o) && offered(o) == SERVERS); /* idle: each may use it */
    for (uint32_t i = 0; i < SERVERS; i++)
        fake_lease(o->servers[i], id_in(i * 5, 1), 1, "{}", "");
    FAKE_WAIT(o->servers[0], results(o) == 2);
    assert_int_equal(o->lease_count, 1);
    for (size_t i = 0; i < SERVERS; i++) {
        if (o->servers[i]->result_count > 0)
            assert_int_equal(o->servers[i]->results[0].outcome, OUTCOME_RETURNED);
    }
    FAKE_WAIT(o->servers[0], all_parked(o) && offered(o) == 0);
    finish(o, o->leases[0]);
    FAKE_WAIT(o->servers[0], results(o) == 3 && all_parked(o) && offered(o) == SERVERS);
}

TEST(who_does_not_answer_is_offered_nothing, set_up, tear_down)
{
    struct owner *o = *state;
    hurry(o, 2000);
    start(o);
    o->servers[1]->frozen = true;
    FAKE_WAIT(o->servers[0], (fake_unpark(o->servers[0]), fake_unpark(o->servers[2]),
                              o->servers[0]->poll.free + o->servers[2]->poll.free == SLOTS));
    o->servers[1]->frozen = false;
    FAKE_WAIT(o->servers[0], (fake_unpark(o->servers[1]), o->servers[1]->poll.free > 0));
}

/* ---- leases and results */

TEST(everybody_hears_of_leases_and_their_owner_of_results, set_up, tear_down)
{
    struct owner *o = *state;
    start(o);
    lease_at(o, 1, id_in(7, 1));
    pass(o, 300);
    assert_true(fake_holds(o->servers[1], id_in(7, 1)));
    assert_true(
        fake_holds(o->servers[0], id_in(7, 1))); /* it may own them by the time it reads this */
    finish(o, id_in(7, 1));
    FAKE_WAIT(o->servers[0], results(o) == 1);
    assert_int_equal(o->servers[1]->result_count, 1);
    assert_int_equal(o->servers[0]->foreign_results + o->servers[2]->foreign_results, 0);
}

TEST(a_partition_may_move_while_a_command_runs, set_up, tear_down)
{
    struct owner *o = *state;
    hurry(o, 3000);
    start(o);
    lease_at(o, 0, id_in(3, 1));
    o->servers[0]->owned = range(0, 3);
    o->servers[2]->owned.bits |= range(3, 2).bits;
    pass(o, 3500); /* longer than it would last by itself */
    assert_int_equal(o->lost_count, 0);
    assert_int_equal(o->stopped, 0);
    assert_true(fake_holds(o->servers[2], id_in(3, 1)));
    finish(o, id_in(3, 1));
    FAKE_WAIT(o->servers[0], results(o) == 1);
    assert_int_equal(o->servers[2]->result_count, 1);
}

TEST(a_server_that_owns_nothing_renews_nothing, set_up, tear_down)
{
    struct owner *o = *state;
    hurry(o, 1500);
    start(o);
    lease_at(o, 0, id_in(3, 1));
    o->servers[0]->owned.bits = 0; /* and nobody takes it over */
    pass(o, 2000);
    assert_int_equal(o->lost_count, 1);
    assert_int_equal(o->lost[0], id_in(3, 1));
}

TEST(the_death_of_a_server_kills_no_command, set_up, tear_down)
{
    struct owner *o = *state;
    hurry(o, 4000);
    start(o);
    lease_at(o, 1, id_in(5, 1));
    lease_at(o, 0, id_in(0, 1));
    kill_server(o, 1);
    pass(o, 1000); /* nobody owns it meanwhile */
    o->servers[0]->owned.bits |= range(5, 5).bits;
    pass(o, 4500);
    assert_int_equal(o->lost_count, 0);
    finish(o, id_in(5, 1));
    finish(o, id_in(0, 1));
    FAKE_WAIT(o->servers[0], o->servers[0]->result_count == 2);
}

/* It is alive, and nobody takes over what it owns. */
TEST(a_server_that_only_we_cannot_reach_is_told_by_others, set_up, tear_down)
{
    struct owner *o = *state;
    hurry(o, 4000);
    start(o);
    lease_at(o, 1, id_in(5, 1));
    lease_at(o, 1, id_in(5, 2));
    o->servers[1]->cut = true;
    pass(o, 5500);
    assert_int_equal(o->lost_count, 0);
    assert_true(o->servers[0]->relayed + o->servers[2]->relayed > 0);
    finish(o, id_in(5, 1));
    FAKE_WAIT(o->servers[0], o->servers[1]->result_count == 1 && session_pending(o->session) == 0);
    o->servers[1]->cut = false;
    finish(o, id_in(5, 2));
    FAKE_WAIT(o->servers[0], o->servers[1]->result_count == 2);
}

/* It has joined, got some of our partitions, and never answered us. */
/* The line breaks while a poll is parked, and another one follows it there shortly before it is
 * given up. That one would be given up too late. */
TEST(a_poll_that_was_replaced_on_a_dead_line_is_told_by_others, set_up, tear_down)
{
    struct owner *o = *state;
    hurry(o, 4000);
    start(o);
    lease_at(o, 1, id_in(6, 1));
    lease_at(o, 1, id_in(6, 2));
    FAKE_WAIT(o->servers[1], o->servers[1]->parked != NULL);
    o->servers[1]->cut = true;
    pass(o, 1600); /* it is given up after two seconds */
    finish(o, id_in(6, 1));
    pass(o, 4000);
    assert_int_equal(o->lost_count, 0);
}

/* Should it die in silence, we give up a quarter of a lease later, and need another to ask
 * again. */
TEST(nobody_parks_us_until_a_lease_is_about_to_end, set_up, tear_down)
{
    struct owner *o = *state;
    hurry(o, 4000); /* a lease is kept for three seconds from the poll that it came with */
    start(o);
    const struct fake_server *f = o->servers[1];
    FAKE_WAIT(o->servers[0], f->parked != NULL && clock_mono_us() - f->parked_us >= 400000);
    lease_at(o, 1, id_in(7, 1));
    assert_true(f->poll.wait_ms <= 3000 - 400 - 4000 / 2);
}

TEST(a_server_that_we_never_reached_is_told_by_others, set_up, tear_down)
{
    struct owner *o = *state;
    hurry(o, 4000);
    o->servers[2]->cut = true;
    o->servers[0]->server_count = o->servers[1]->server_count = 2;
    start_at(o, o->servers[0]->url);
    FAKE_WAIT(o->servers[0], o->servers[0]->parked != NULL && o->servers[1]->parked != NULL);
    lease_at(o, 1, id_in(5, 1));
    lease_at(o, 1, id_in(6, 1));
    o->servers[0]->server_count = o->servers[1]->server_count = SERVERS;
    o->servers[1]->owned.bits &= ~range(5, 1).bits;
    o->servers[2]->owned.bits |= range(5, 1).bits;
    pass(o, 5500);
    assert_int_equal(o->lost_count, 0);
    assert_true(o->servers[0]->relayed + o->servers[1]->relayed > 0);
    finish(o, id_in(5, 1));
    FAKE_WAIT(o->servers[0], o->servers[2]->result_count == 1 && session_pending(o->session) == 0);
}

/* A proxy before it, say, that cannot reach it. */
TEST(a_server_whose_door_fails_is_told_by_others, set_up, tear_down)
{
    struct owner *o = *state;
    hurry(o, 4000);
    start(o);
    lease_at(o, 1, id_in(5, 1));
    o->servers[1]->door_status = 502;
    pass(o, 5500);
    assert_int_equal(o->lost_count, 0);
    finish(o, id_in(5, 1));
    FAKE_WAIT(o->servers[0], o->servers[1]->result_count == 1 && session_pending(o->session) == 0);
}

static struct poller *poller_at(struct owner *o, size_t i)
{
    CREW_EACH(o->session, node)
    {
        if (str_eq(poller_of(node)->url, o->addresses[i]))
            return poller_of(node);
    }
    fail_msg("nobody polls it");
    return NULL;
}

/* Three such answers in a row meant that another process has our id, and cost all that ran. */
TEST(a_poll_that_was_overtaken_by_way_of_another_is_not_stale, set_up, tear_down)
{
    struct owner *o = *state;
    start(o);
    lease_at(o, 0, id_in(0, 1));
    unsigned registrations = o->servers[0]->registrations;
    poller_at(o, 1)->relay.link.seq = UINT64_MAX; /* newer than all that will be sent */
    o->servers[1]->door_status = 409;
    fake_unpark(o->servers[1]);
    pass(o, 3000);
    assert_int_equal(o->lost_count, 0);
    assert_int_equal(o->servers[0]->registrations, registrations);
}

/* The server has taken it back by what came by way of another, and may have given it to somebody
 * else. */
TEST(a_lease_from_before_what_went_by_way_of_another_is_not_run, set_up, tear_down)
{
    struct owner *o = *state;
    start(o);
    FAKE_WAIT(o->servers[1], o->servers[1]->parked != NULL);
    poller_at(o, 1)->relay.link.seq = UINT64_MAX; /* newer than the poll that is parked */
    fake_lease(o->servers[1], id_in(5, 1), 1, "{}", "");
    pass(o, 500);
    assert_int_equal(o->lease_count, 0);
    poller_at(o, 1)->relay.link.seq = 0;
    lease_at(o, 1, id_in(5, 1));
    assert_int_equal(o->lease_count, 1);
}

/* Each answer made the others poll at once. */
TEST(servers_that_answer_at_once_are_not_asked_without_a_pause, set_up, tear_down)
{
    struct owner *o = *state;
    start(o);
    for (size_t i = 0; i < SERVERS; i++)
        o->servers[i]->hasty = true;
    pass(o, 300);
    unsigned before = o->servers[0]->polls;
    pass(o, 1000);
    assert_in_range(o->servers[0]->polls - before, 0, 40);
}

TEST(a_server_that_is_cut_off_costs_nothing, set_up, tear_down)
{
    struct owner *o = *state;
    hurry(o, 4000);
    start(o);
    lease_at(o, 1, id_in(5, 1));
    o->servers[1]->frozen = true; /* its parked poll, and all that follow */
    o->servers[2]->owned.bits |= range(5, 5).bits;
    pass(o, 4500);
    assert_int_equal(o->lost_count, 0);
    assert_true(fake_holds(o->servers[2], id_in(5, 1)));
    finish(o, id_in(5, 1));
    FAKE_WAIT(o->servers[0], o->servers[2]->result_count == 1);
    assert_int_equal(session_pending(o->session), 0);
}

TEST(a_result_is_offered_to_all_until_one_accepts_it, set_up, tear_down)
{
    struct owner *o = *state;
    start(o);
    lease_at(o, 1, id_in(5, 1));
    o->servers[1]->owned.bits = 0;
    fake_unpark(o->servers[1]);
    finish(o, id_in(5, 1));
    for (size_t i = 0; i < SERVERS; i++)
        FAKE_WAIT(o->servers[0], (fake_unpark(o->servers[i]), o->servers[i]->foreign_results >= 1));
    assert_int_equal(results(o), 0);
    assert_int_equal(session_pending(o->session), 1);
    o->servers[2]->owned.bits |= range(5, 5).bits;
    FAKE_WAIT(o->servers[0], (fake_unpark(o->servers[2]), session_pending(o->session) == 0));
    pass(o, 300);
    assert_int_equal(results(o), 1);
    assert_int_equal(o->servers[2]->result_count, 1);
}

/* ---- being known */

TEST(one_that_does_not_know_us_is_not_all, set_up, tear_down)
{
    struct owner *o = *state;
    start(o);
    lease_at(o, 0, id_in(0, 1));
    o->servers[1]->forgetful = true;
    fake_unpark(o->servers[1]);
    pass(o, 500);
    assert_int_equal(o->lost_count, 0);
    assert_int_equal(o->servers[0]->registrations, 1);
    FAKE_WAIT(o->servers[0], o->servers[0]->poll.free + o->servers[2]->poll.free == SLOTS - 1);
    o->servers[0]->forgetful = true;
    o->servers[2]->forgetful = true;
    FAKE_WAIT(o->servers[0], (fake_unpark(o->servers[0]), fake_unpark(o->servers[2]),
                              o->servers[0]->registrations == 2));
    assert_int_equal(o->lost_count, 1);
}

TEST(who_was_forgotten_by_one_registers_again_when_nothing_runs, set_up, tear_down)
{
    struct owner *o = *state;
    start(o);
    lease_at(o, 0, id_in(0, 1));
    o->servers[1]->forgetful = true;
    fake_unpark(o->servers[1]);
    pass(o, 300);
    assert_int_equal(o->servers[0]->registrations, 1);
    finish(o, id_in(0, 1));
    FAKE_WAIT(o->servers[0], o->servers[0]->registrations > 1);
    assert_int_equal(o->servers[0]->result_count, 1);
    o->servers[1]->forgetful = false;
    FAKE_WAIT(o->servers[0], all_parked(o) && offered(o) == SLOTS);
}

/* ---- leaving */

TEST(a_drain_is_told_to_all, set_up, tear_down)
{
    struct owner *o = *state;
    start(o);
    lease_at(o, 2, id_in(10, 1));
    session_drain(o->session);
    FAKE_WAIT(o->servers[0], offered(o) == 0);
    assert_false(o->drained);
    finish(o, id_in(10, 1));
    FAKE_WAIT(o->servers[0], o->drained);
    assert_int_equal(o->servers[2]->result_count, 1);
    for (size_t i = 0; i < SERVERS; i++)
        assert_int_equal(o->servers[i]->poll.held_count, 0);
}

TEST(a_drain_does_not_wait_for_the_dead, set_up, tear_down)
{
    struct owner *o = *state;
    start(o);
    kill_server(o, 1);
    session_drain(o->session);
    FAKE_WAIT(o->servers[0], o->drained);
}

TEST(output_goes_to_a_server_that_answers, set_up, tear_down)
{
    struct owner *o = *state;
    start(o);
    struct str first = session_pick_server(o->session, o->addresses[1], false);
    assert_true(str_eq(first, o->addresses[1]));
    assert_false(str_eq(session_pick_server(o->session, o->addresses[1], true), o->addresses[1]));
    kill_server(o, 1);
    FAKE_WAIT(o->servers[0],
              !str_eq(session_pick_server(o->session, o->addresses[1], false), o->addresses[1]));
}
