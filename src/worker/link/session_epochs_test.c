/* What a session believes of servers that were replaced, or may have been. */
#include "worker/link/session_fixture_test.h"

/* Answers what is parked there, and waits for the poll that follows. */
static void turn_of(struct owner *o, size_t i)
{
    unsigned polls = o->servers[i]->polls;
    FAKE_WAIT(o->servers[i], o->servers[i]->parked != NULL || o->servers[i]->polls > polls);
    polls = o->servers[i]->polls;
    fake_unpark(o->servers[i]);
    FAKE_WAIT(o->servers[i], o->servers[i]->polls > polls);
}

TEST(what_a_provisional_server_keeps_lives_on, set_up, tear_down)
{
    struct owner *o = *state;
    hurry(o, 4000);
    start(o);
    name_epoch(o, 0, 3, 5);
    lease_at(o, 0, id_in(3, 1));
    o->servers[0]->provisional = o->servers[0]->keeps = true;
    pass(o, 4500); /* longer than a term */
    assert_int_equal(o->lost_count, 0);
    o->servers[0]->keeps = false;
    FAKE_WAIT(o->servers[0], (turn_of(o, 0), o->lost_count > 0));
    assert_int_equal(o->lost[0], id_in(3, 1));
}

TEST(a_provisional_server_gets_no_results_and_no_offers, set_up, tear_down)
{
    struct owner *o = *state;
    start(o);
    lease_at(o, 0, id_in(3, 1));
    o->servers[0]->provisional = o->servers[0]->keeps = true;
    o->servers[0]->drain = true; /* it may not say so */
    turn_of(o, 0);
    o->servers[0]->stop = (struct poll_stop){id_in(3, 1), 1, STR("no longer yours")};
    turn_of(o, 0);
    FAKE_WAIT(o->servers[0], o->servers[1]->poll.free + o->servers[2]->poll.free == SLOTS - 1);
    assert_int_equal(o->servers[0]->poll.free, 0);
    unsigned foreign = o->servers[0]->foreign_results;
    finish(o, id_in(3, 1));
    /* Whoever is going to own it is asked. */
    FAKE_WAIT(o->servers[0], (turn_of(o, 1), o->servers[1]->foreign_results > 0));
    turn_of(o, 0);
    assert_int_equal(o->servers[0]->foreign_results, foreign);
    assert_true(fake_holds(o->servers[0], id_in(3, 1)));
    assert_int_equal(o->stopped, 0);
    assert_int_equal(session_pending(o->session), 1);
    o->servers[0]->drain = o->servers[0]->provisional = false;
    o->servers[0]->stop.exec_id = 0;
    FAKE_WAIT(o->servers[0], (turn_of(o, 0), session_pending(o->session) == 0));
    assert_int_equal(o->servers[0]->result_count, 1);
}

/* B has taken the partition, and has been heard; A still believes in itself. */
TEST(a_smaller_epoch_stops_nothing_and_gives_nothing, set_up, tear_down)
{
    struct owner *o = *state;
    start(o);
    name_epoch(o, 0, 3, 5);
    name_epoch(o, 0, 4, 5);
    lease_at(o, 0, id_in(3, 1));
    name_epoch(o, 1, 3, 6);
    o->servers[1]->owned.bits |= range(3, 1).bits;
    turn_of(o, 1);
    fake_stop(o->servers[0], id_in(3, 1), 1);
    fake_lease(o->servers[0], id_in(3, 2), 1, "{}", "");
    fake_lease(o->servers[0], id_in(4, 1), 1, "{}", ""); /* this one is still its own */
    FAKE_WAIT(o->servers[0], fake_holds(o->servers[0], id_in(4, 1)));
    assert_int_equal(o->stopped, 0);
    assert_int_equal(o->lease_count, 2);
    assert_false(fake_holds(o->servers[0], id_in(3, 2)));
    fake_stop(o->servers[1], id_in(3, 1), 1); /* the owner may */
    FAKE_WAIT(o->servers[1], o->stopped == id_in(3, 1));
}

TEST(a_smaller_epoch_renews_nothing, set_up, tear_down)
{
    struct owner *o = *state;
    hurry(o, 3000);
    start(o);
    name_epoch(o, 0, 3, 5);
    lease_at(o, 0, id_in(3, 1));
    name_epoch(o, 1, 3, 6); /* it has taken it, and owns it no more: nobody does */
    turn_of(o, 1);
    FAKE_WAIT(o->servers[0], (pass(o, 200), o->lost_count == 1)); /* though A says it is good */
    assert_true(fake_holds(o->servers[0], id_in(3, 1)));
}

TEST(a_smaller_epoch_keeps_nothing, set_up, tear_down)
{
    struct owner *o = *state;
    hurry(o, 3000);
    start(o);
    name_epoch(o, 0, 3, 5);
    lease_at(o, 0, id_in(3, 1));
    o->servers[0]->provisional = o->servers[0]->keeps = true;
    name_epoch(o, 1, 3, 6);
    turn_of(o, 1);
    FAKE_WAIT(o->servers[0], (pass(o, 200), o->lost_count == 1));
    assert_true(fake_holds(o->servers[0], id_in(3, 1)));
}

static const struct poller *poller_at(const struct owner *o, size_t i)
{
    CREW_EACH(o->session, node)
    {
        if (str_eq(poller_of(node)->url, o->addresses[i]))
            return poller_of(node);
    }
    return NULL;
}

/* One that has joined since is not in its list. */
TEST(a_provisional_server_does_not_say_who_has_left, set_up, tear_down)
{
    struct owner *o = *state;
    start(o);
    FAKE_WAIT(o->servers[0], poller_at(o, 2) != NULL && poller_at(o, 2)->listed);
    o->servers[0]->provisional = true;
    o->servers[0]->server_count = SERVERS - 1;
    turn_of(o, 0);
    assert_non_null(poller_at(o, 2));
    assert_true(poller_at(o, 2)->listed);
    o->servers[0]->provisional = false;
    turn_of(o, 0);
    FAKE_WAIT(o->servers[0], (turn_of(o, 0), !poller_at(o, 2)->listed));
}

/* What comes by way of another obeys the same rules. */
TEST(a_relayed_reply_may_be_provisional, set_up, tear_down)
{
    struct owner *o = *state;
    hurry(o, 4000);
    start(o);
    name_epoch(o, 1, 5, 7);
    lease_at(o, 1, id_in(5, 1));
    o->servers[1]->cut = o->servers[1]->provisional = o->servers[1]->keeps = true;
    pass(o, 5000);
    assert_int_equal(o->lost_count, 0);
    finish(o, id_in(5, 1));
    unsigned relayed = o->servers[0]->relayed + o->servers[2]->relayed;
    FAKE_WAIT(o->servers[0],
              (pass(o, 100), o->servers[0]->relayed + o->servers[2]->relayed > relayed));
    assert_int_equal(o->servers[1]->foreign_results, 0);
    assert_int_equal(session_pending(o->session), 1);
    name_epoch(o, 0, 5, 8); /* another one has taken it */
    o->servers[0]->owned.bits |= range(5, 1).bits;
    FAKE_WAIT(o->servers[0], (pass(o, 100), o->servers[0]->result_count == 1));
}
