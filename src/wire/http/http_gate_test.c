/* What is decided before a body is read: by the gate, by the clock, by the number of
 * connections. */
#include "wire/http/http_rig_test.h"

static size_t looked; /* heads that the gate has seen */

/* Only what asks for /echo may bring a body. */
static bool gate(void *arg, struct http_request *req)
{
    (void)arg;
    looked++;
    if (str_eq(req->path, STR("/echo")))
        return true;
    struct http_answer no = {.status = 401, .content_type = "text/plain", .body = STR("no")};
    http_respond(req, &no);
    return false;
}

static struct rig *guarded_rig(const struct http_limits *limits)
{
    struct rig *rig = MEM_NEW(struct rig);
    assert_int_equal(uv_loop_init(&rig->loop), 0);
    rig->server = http_server_new(&rig->loop, limits, handle, refuse, rig);
    http_server_set_gate(rig->server, gate);
    assert_int_equal(http_server_listen(rig->server, STR("127.0.0.1"), 0, true, &rig->port, NULL),
                     RC_OK);
    looked = 0;
    return rig;
}

TEST(a_body_that_is_not_wanted_is_not_read)
{
    struct rig *rig = guarded_rig(&usual);
    struct peer p = dial(rig);
    say(&p, "POST /other HTTP/1.1\r\n" HOST "Content-Length: 90000\r\n\r\n");
    hear_end(&p); /* not a byte of it was sent */
    assert_true(has_heard(&p, "HTTP/1.1 401 "));
    assert_true(has_heard(&p, "Connection: close\r\n"));
    assert_int_equal(rig->asked, 0);
    hang_up(&p);
    rig_free(rig);
}

TEST(a_refusal_reaches_those_who_send_their_body_all_the_same)
{
    struct rig *rig = guarded_rig(&usual);
    struct peer p = dial(rig);
    char piece[1000];
    memset(piece, 'x', sizeof piece);
    say(&p, "POST /other HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n3e8\r\n");
    for (int i = 0; i < 90; i++)
        say_bytes(&p, str_of(piece, sizeof piece));
    hear_end(&p);
    assert_int_equal(count_heard(&p, "HTTP/1.1 401 "), 1);
    assert_int_equal(rig->asked, 0);
    hang_up(&p);
    rig_free(rig);
}

TEST(whoever_may_come_in_goes_on_as_usual)
{
    struct rig *rig = guarded_rig(&usual);
    struct peer p = dial(rig);
    say(&p, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nfirst"
            "POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
            "6\r\nsecond\r\n0\r\n\r\n"
            "GET /third HTTP/1.1\r\n" HOST "\r\n");
    hear(&p, "/third");
    assert_true(has_heard(&p, "\r\n\r\nfirst"));
    assert_true(has_heard(&p, "\r\n\r\nsecond"));
    assert_int_equal(looked, 2); /* what has no body is the handler's */
    hang_up(&p);
    rig_free(rig);
}

TEST(a_refused_client_gets_no_100)
{
    struct rig *rig = guarded_rig(&usual);
    struct peer p = dial(rig);
    say(&p, "POST /other HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n");
    hear_end(&p);
    assert_true(has_heard(&p, "HTTP/1.1 401 "));
    assert_false(has_heard(&p, "100 Continue"));
    hang_up(&p);
    rig_free(rig);
}

TEST(who_went_ahead_needs_no_100)
{
    struct rig *rig = guarded_rig(&usual);
    struct peer p = dial(rig);
    say(&p, "POST /echo HTTP/1.1\r\n" HOST "Expect: 100-continue\r\n"
            "Content-Length: 5\r\n\r\nhello");
    hear(&p, "\r\n\r\nhello");
    assert_false(has_heard(&p, "100 Continue"));
    hang_up(&p);
    rig_free(rig);
}

/* A byte now and then is no progress: otherwise one connection could be kept for ever. */
TEST(a_body_that_trickles_is_408)
{
    struct http_limits limits = usual;
    limits.body_timeout_ms = 100;
    struct rig *rig = rig_new(&limits);
    struct peer p = dial(rig);
    say(&p, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 90000\r\n\r\n");
    WAIT_FOR(rig, &p, (send(p.fd, "x", 1, MSG_NOSIGNAL), has_heard(&p, "408")));
    hear_refusal(&p, "408 Request Timeout");
    hang_up(&p);
    rig_free(rig);
}

TEST(a_long_body_may_take_its_time)
{
    enum { PIECE = 16384, PIECES = 6, BODY = PIECE * PIECES };
    static char piece[PIECE];
    struct http_limits limits = usual;
    limits.body_timeout_ms = 2000; /* and not less: a machine may stand still for a second */
    struct rig *rig = rig_new(&limits);
    struct peer p = dial(rig);
    char head[128];
    snprintf(head, sizeof head, "POST / HTTP/1.1\r\n" HOST "Content-Length: %d\r\n\r\n", BODY);
    say(&p, head);
    for (int i = 0; i < PIECES; i++) { /* 3 s in all: no single deadline would be enough */
        uint64_t begun_ms = uv_now(&rig->loop);
        WAIT_FOR(rig, NULL, uv_now(&rig->loop) >= begun_ms + 500);
        say_bytes(&p, str_of(piece, sizeof piece));
    }
    hear(&p, "HTTP/1.1 200 ");
    hang_up(&p);
    rig_free(rig);
}

TEST(servers_may_share_one_limit_of_connections)
{
    struct http_limits limits = usual;
    limits.connections_max = 2;
    limits.quota = http_quota_new();
    struct rig *rig = guarded_rig(&limits);
    struct rig *other = guarded_rig(&limits);
    struct peer one = dial_friend(rig);
    struct peer two = dial_friend(other);
    struct peer three = dial(other);
    hear_refusal(&three, "503 Service Unavailable");
    hang_up(&three);
    hang_up(&one);
    WAIT_FOR(rig, NULL, http_server_connections(rig->server) == 0);
    WAIT_FOR(other, NULL, http_server_connections(other->server) == 1);
    struct peer four = dial(other);
    say(&four, "GET /four HTTP/1.1\r\n" HOST "\r\n");
    hear(&four, "/four");
    hang_up(&two);
    hang_up(&four);
    rig_free(rig);
    rig_free(other);
    assert_int_equal(http_quota_connections(limits.quota), 0);
    http_quota_free(limits.quota);
}

/* ---- floods */

TEST(the_oldest_stranger_makes_room)
{
    struct rig *rig = rig_new(&usual);
    struct peer friend = dial_friend(rig);
    struct peer older = dial(rig);
    WAIT_FOR(rig, NULL, http_server_connections(rig->server) == 2);
    struct peer younger = dial(rig);
    WAIT_FOR(rig, NULL, http_server_connections(rig->server) == 3);
    struct peer next = dial_friend(rig);
    hear_end(&older);
    assert_int_equal(older.heard.len, 0);
    say(&younger, "GET /there HTTP/1.1\r\n" HOST "\r\n");
    hear(&younger, "/there");
    say(&friend, "GET /still HTTP/1.1\r\n" HOST "\r\n");
    hear(&friend, "/still");
    hang_up(&friend);
    hang_up(&older);
    hang_up(&younger);
    hang_up(&next);
    rig_free(rig);
}

TEST(strangers_that_do_not_read_make_room)
{
    struct rig *rig = rig_new(&usual);
    struct peer deaf[3];
    for (size_t i = 0; i < COUNT_OF(deaf); i++) {
        deaf[i] = dial_with_window(rig, 4096);
        say(&deaf[i], "GET /large HTTP/1.1\r\n" HOST "\r\n");
        WAIT_FOR(rig, NULL, rig->asked == i + 1);
    }
    struct peer next = dial_friend(rig);
    assert_int_equal(http_server_connections(rig->server), 3);
    for (size_t i = 0; i < COUNT_OF(deaf); i++)
        hang_up(&deaf[i]);
    hang_up(&next);
    rig_free(rig);
}

/* Nor do those whose last answer it is, nor those that have it and do not leave. */
TEST(strangers_that_do_not_go_make_room)
{
    struct rig *rig = rig_new(&usual);
    struct peer deaf = dial_with_window(rig, 4096);
    struct peer slow = dial(rig);
    struct peer friend = dial_friend(rig);
    say(&deaf, "GET /large HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n");
    say(&slow, "GET /bye HTTP/1.1\r\n" HOST "Connection: close\r\n\r\n");
    hear(&slow, "/bye");
    WAIT_FOR(rig, NULL, rig->asked == 3);
    struct peer next = dial_friend(rig);
    struct peer last = dial_friend(rig);
    assert_int_equal(http_server_connections(rig->server), 3);
    hang_up(&deaf);
    hang_up(&slow);
    hang_up(&friend);
    hang_up(&next);
    hang_up(&last);
    rig_free(rig);
}

TEST(one_address_cannot_have_all)
{
    struct http_limits limits = usual;
    limits.connections_max = 4;
    limits.address_max = 1;
    struct rig *rig = rig_new(&limits);
    struct peer one = dial_friend(rig); /* those who have a key may be many behind one address */
    struct peer two = dial_friend(rig);
    struct peer three = dial(rig);
    say(&three, "GET /park HTTP/1.1\r\n" HOST "\r\n");
    WAIT_FOR(rig, NULL, rig->parked != NULL); /* and so it cannot make room */
    struct peer four = dial(rig);
    hear_refusal(&four, "503 Service Unavailable");
    assert_true(has_heard(&four, "too many connections without a key from this address"));
    hang_up(&four);
    answer_parked(rig, STR("done"));
    hang_up(&three);
    WAIT_FOR(rig, NULL, http_server_connections(rig->server) == 2);
    struct peer five = dial_friend(rig);
    hang_up(&one);
    hang_up(&two);
    hang_up(&five);
    rig_free(rig);
}

/* Each is told so, and does not leave before it must. */
TEST(those_refused_of_one_address_leave_room_for_others)
{
    enum { CROWD = 160 };
    struct peer crowd[CROWD];
    struct http_limits limits = usual;
    limits.connections_max = 80;
    limits.address_max = 1;
    struct rig *rig = rig_new(&limits);
    struct peer parked = dial(rig); /* cannot make room for them */
    say(&parked, "GET /park HTTP/1.1\r\n" HOST "\r\n");
    WAIT_FOR(rig, NULL, rig->parked != NULL);
    for (size_t i = 0; i < CROWD; i++) {
        crowd[i] = dial(rig);
        uv_run(&rig->loop, UV_RUN_NOWAIT);
    }
    struct peer other = dial_from(rig, 1);
    say(&other, "GET /served HTTP/1.1\r\n" HOST "\r\n");
    WAIT_FOR(rig, &other, (listen_up(&other), other.heard.len > 0 || other.ended || other.broken));
    assert_true(has_heard(&other, "HTTP/1.1 200 "));
    for (size_t i = 0; i < CROWD; i++)
        hang_up(&crowd[i]);
    answer_parked(rig, STR("done"));
    hang_up(&parked);
    hang_up(&other);
    rig_free(rig);
}

TEST(a_crowd_of_strangers_keeps_nobody_of_its_address_out)
{
    struct http_limits limits = usual;
    limits.connections_max = 80;
    limits.address_max = 2;
    struct rig *rig = rig_new(&limits);
    struct peer far = dial_from(rig, 1);
    struct peer crowd[] = {dial(rig), dial(rig)};
    WAIT_FOR(rig, NULL, http_server_connections(rig->server) == 3);
    struct peer friend = dial_friend(rig);
    hear_end(&crowd[0]);
    say(&far, "GET /far HTTP/1.1\r\n" HOST "\r\n"); /* older, but of another address */
    hear(&far, "/far");
    hang_up(&far);
    hang_up(&crowd[0]);
    hang_up(&crowd[1]);
    hang_up(&friend);
    rig_free(rig);
}

TEST(a_stranger_that_says_nothing_is_not_kept_for_long)
{
    struct http_limits limits = usual;
    limits.stranger_timeout_ms = 50;
    struct rig *rig = rig_new(&limits);
    struct peer friend = dial_friend(rig);
    struct peer stranger = dial(rig);
    hear_end(&stranger);
    say(&friend, "GET /still HTTP/1.1\r\n" HOST "\r\n");
    hear(&friend, "/still");
    hang_up(&friend);
    hang_up(&stranger);
    rig_free(rig);
}

TEST(bodies_share_one_budget)
{
    char piece[60000];
    struct http_limits limits = usual;
    limits.buffered_bytes_max = 100000;
    struct rig *rig = rig_new(&limits);
    struct peer one = dial_friend(rig);
    struct peer two = dial_friend(rig);
    memset(piece, 'x', sizeof piece);
    say(&one, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 60001\r\n\r\n");
    say_bytes(&one, str_of(piece, sizeof piece));
    say(&two, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 60001\r\n\r\n");
    say_bytes(&two, str_of(piece, sizeof piece));
    hear_end(&two);
    assert_true(has_heard(&two, "503 Service Unavailable"));
    say(&one, "x");
    hear(&one, "\r\n\r\nxxx"); /* what had begun is not hurt */
    hang_up(&two);
    struct peer next = dial_friend(rig); /* and what it held is free again */
    say(&next, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 60000\r\n\r\n");
    say_bytes(&next, str_of(piece, sizeof piece));
    hear(&next, "\r\n\r\nxxx");
    hang_up(&one);
    hang_up(&next);
    rig_free(rig);
}

/* Neither by asking on and on behind an answer that they do not read, nor by long heads. */
TEST(strangers_cannot_use_up_the_budget)
{
    static char piece[60000];
    enum { CROWD = 20 };
    struct http_limits limits = usual;
    limits.connections_max = CROWD + 2;
    limits.head_bytes_max = sizeof piece;
    limits.buffered_bytes_max = 8 * sizeof piece;
    struct rig *rig = rig_new(&limits);
    struct peer crowd[CROWD];
    memset(piece, 'x', sizeof piece);
    for (size_t i = 0; i < CROWD; i++) {
        crowd[i] = dial(rig);
        say(&crowd[i],
            i == CROWD - 1 ? "GET /park HTTP/1.1\r\n" HOST "\r\n" : "GET / HTTP/1.1\r\nX: ");
        say_bytes(&crowd[i], str_of(piece, sizeof piece - 100));
    }
    WAIT_FOR(rig, NULL, rig->left == 1); /* it does not fit: nothing else makes it leave */
    answer_parked(rig, STR("late"));
    struct peer friend = dial_friend(rig);
    say(&friend, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 60000\r\n\r\n");
    say_bytes(&friend, str_of(piece, sizeof piece));
    hear(&friend, "\r\n\r\nxxx");
    struct peer probe = dial(rig);
    say(&probe, "GET /");
    say_bytes(&probe, str_of(piece, 200)); /* an answer for which no room is left */
    say(&probe, " HTTP/1.1\r\n" HOST "\r\n");
    hear(&probe, "HTTP/1.1 200 ");
    WAIT_FOR(rig, NULL, http_server_connections(rig->server) < CROWD / 2);
    hang_up(&probe);
    for (size_t i = 0; i < CROWD; i++)
        hang_up(&crowd[i]);
    hang_up(&friend);
    rig_free(rig);
}

TEST(answers_that_strangers_do_not_read_are_bounded)
{
    struct http_limits limits = usual;
    limits.buffered_bytes_max = 4 << 20; /* a stranger's answer has twice as much */
    struct rig *rig = rig_new(&limits);
    struct peer stranger = dial_with_window(rig, 4096);
    say(&stranger, "GET /large HTTP/1.1\r\n" HOST "\r\n");
    hear_refusal(&stranger, "503 Service Unavailable");
    struct peer friend = dial_friend(rig);
    say(&friend, "GET /large HTTP/1.1\r\n" HOST "\r\n"); /* of friends they are not */
    WAIT_FOR(rig, &friend, (listen_up(&friend), friend.heard.len > 8 << 20));
    hang_up(&stranger);
    hang_up(&friend);
    rig_free(rig);
}

/* They were counted until the connection did something else, or was closed. */
TEST(requests_that_were_answered_hold_nothing)
{
    static const char request[] = "GET /burst HTTP/1.1\r\n" HOST "\r\n";
    enum { BURST = 1000 };
    char piece[60000];
    struct http_limits limits = usual;
    limits.buffered_bytes_max = 80000;
    struct rig *rig = rig_new(&limits);
    struct peer one = dial_friend(rig);
    say(&one, "GET /park HTTP/1.1\r\n" HOST "\r\n");
    WAIT_FOR(rig, NULL, rig->parked != NULL);
    for (size_t i = 0; i < BURST; i++)
        say(&one, request);
    answer_parked(rig, STR("done"));
    WAIT_FOR(rig, &one, count_heard(&one, "/burst") == BURST);
    struct peer two = dial_friend(rig);
    size_t before = two.heard.len;
    memset(piece, 'x', sizeof piece);
    say(&two, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 60000\r\n\r\n");
    say_bytes(&two, str_of(piece, sizeof piece));
    WAIT_FOR(rig, &two, (listen_up(&two), two.heard.len > before));
    assert_int_equal(count_heard(&two, "HTTP/1.1 200 "), 2);
    hang_up(&one);
    hang_up(&two);
    rig_free(rig);
}

/* Each step comes in time; the whole would take hours. */
TEST(a_body_has_the_time_that_its_bytes_are_worth)
{
    char piece[16384];
    struct http_limits limits = usual;
    limits.body_timeout_ms = 300;
    limits.body_rate_min = 1 << 20;
    struct rig *rig = rig_new(&limits);
    struct peer p = dial(rig);
    memset(piece, 'x', sizeof piece);
    say(&p, "POST /echo HTTP/1.1\r\n" HOST "Content-Length: 99999\r\n\r\n");
    uint64_t begun_ms = uv_now(&rig->loop);
    for (uint64_t sent = 0; sent < 5; sent++) {
        WAIT_FOR(rig, &p, uv_now(&rig->loop) - begun_ms > sent * 200 || (listen_up(&p), p.ended));
        if (!p.ended)
            say_bytes(&p, str_of(piece, sizeof piece));
    }
    hear_refusal(&p, "408 Request Timeout");
    hang_up(&p);
    rig_free(rig);
}
