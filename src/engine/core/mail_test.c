#include "engine/core/mail.h"
#include "engine/test/duo.h"
#include "engine/test/jobs.h"

enum { WITH_KEY = 77 }; /* such a row has an idempotency key */

/* A document is rules as text (test/wish.h), or makes no sense. */
static enum rc read_submission(void *arg, const struct inbox_rec *rec, struct arena *arena,
                               struct submission *ret_item, struct err *err)
{
    struct job_rec job = {.spec = rec->body};
    if (str_eq(rec->body, STR("bad")))
        return err_set(err, RC_INVALID, "command is missing");
    *ret_item = (struct submission){
        .spec = rec->body, .owner = rec->actor, .team = rec->name, .payload = STR("{}")};
    if (rec->about == WITH_KEY)
        ret_item->once = (struct once){.key = STR("key"), .hash = STR("h")};
    return read_rules(arg, &job, arena, &ret_item->rules, err);
}

#define REFUSED "default||500|0|0|0||0||0|0|0||0|0|0|100|0|0|0|red|0|0|0|0|0||0|0|0|nowhere|"
#define PLAIN "default||500|0|0|0||0||0|0|0||0|0|0|100|0|0|0|red|0|0|0|0|0||0|0|0||"

static struct engine_options options(void)
{
    struct engine_options options = engine_defaults;
    options.read_submission = read_submission;
    return options;
}

/* As a transaction of somebody else's does. */
static void put(struct duo *s, enum inbox_kind kind, uint32_t bucket, uint64_t about,
                const char *body)
{
    post_put(&s->box, &(struct inbox_rec){.kind = kind,
                                          .bucket = bucket,
                                          .sent_ms = s->a.now_ms,
                                          .about = about,
                                          .name = STR("red"),
                                          .actor = STR("sql:alice"),
                                          .body = str_c(body)});
}

TEST(a_job_from_sql_is_made_in_the_commit_that_reads_it)
{
    struct engine_options with = options();
    DUO_WITH(s, with);
    put(&s, INBOX_SUBMIT, 0, 0, PLAIN);
    put(&s, INBOX_SUBMIT, 900, 0, PLAIN);
    mail_turn(&s.a);
    assert_int_equal(s.a.table.live.len, 1);
    assert_true(s.a.delta.mail_read_count == 1 && s.a.delta.job_count == 1);
    assert_true(str_eq(s.a.delta.jobs[0].job.team, STR("red")));
    assert_true(str_eq(s.a.delta.jobs[0].job.owner, STR("sql:alice")));
    assert_int_equal(s.b.table.live.len, 0); /* the other one is for somebody else */
    duo_settle(&s);
    assert_int_equal(s.b.table.live.len, 1);
    assert_int_equal(s.a.table.live.len, 1);
}

TEST(what_makes_no_sense_is_shown_and_never_comes_again)
{
    struct engine_options with = options();
    DUO_WITH(s, with);
    put(&s, INBOX_SUBMIT, 0, 0, "bad");
    put(&s, INBOX_SUBMIT, 1, 0, PLAIN);
    duo_settle(&s);
    assert_int_equal(s.a.table.live.len, 1);
    assert_int_equal(s.a.table.rejected.len, 1);
    const struct rejected_rec *rec = &s.a.table.rejected.items[0];
    assert_true(str_eq(rec->reason, STR("command is missing")) && str_eq(rec->head, STR("bad")));
    assert_true(str_eq(rec->team, STR("red")) && rec->inbox_id == 1);
}

TEST(what_the_engine_refuses_is_shown_too)
{
    struct engine_options with = options();
    DUO_WITH(s, with);
    put(&s, INBOX_SUBMIT, 0, 0, REFUSED);
    duo_settle(&s);
    assert_int_equal(s.a.table.rejected.len, 1);
    assert_int_equal(s.a.table.live.len, 0);
}

/* Over HTTP somebody is told to ask again; here it is done for them. */
TEST(a_key_that_is_being_decided_about_is_asked_for_again)
{
    struct engine_options with = options();
    DUO_WITH(s, with);
    put(&s, INBOX_SUBMIT, 0, WITH_KEY, REFUSED); /* gives the key back */
    put(&s, INBOX_SUBMIT, 1, WITH_KEY, PLAIN);
    put(&s, INBOX_SUBMIT, 2, WITH_KEY, PLAIN); /* the same once more */
    for (int i = 0; i < 4; i++) {
        mail_turn(&s.a);
        s.a.now_ms += 1000;
    }
    assert_int_equal(s.box.rows.len, 0);
    assert_int_equal(s.a.table.rejected.len, 1);
    assert_int_equal(s.a.table.live.len, 1);
}

TEST(what_a_server_is_too_busy_for_waits_in_the_inbox)
{
    struct engine_options with = options();
    with.live_max = 1;
    DUO_WITH(s, with);
    put(&s, INBOX_SUBMIT, 0, 0, PLAIN);
    put(&s, INBOX_SUBMIT, 1, 0, PLAIN);
    mail_turn(&s.a);
    assert_int_equal(s.a.table.live.len, 1);
    assert_int_equal(s.box.rows.len, 1);
    assert_true(world_wait_ms(&s.a) > 0); /* it does not look again at once */
    MAP_EACH(&s.a.table.jobs, slot) ask_about(&s.a, CMD_CANCEL_JOB, slot->key);
    world_turn(&s.a);
    s.a.now_ms += 1000;
    world_turn(&s.a); /* nobody told it */
    assert_int_equal(s.box.rows.len, 0);
    assert_int_equal(s.a.table.live.len, 1);
    assert_int_equal(s.a.table.rejected.len, 0);
}

TEST(a_cancel_finds_its_job_wherever_it_is)
{
    struct engine_options with = options();
    DUO_WITH(s, with);
    const struct submission *job = SUBMIT(&s.b, .team = "red");
    duo_settle(&s);
    put(&s, INBOX_CANCEL, 0, job->job_id, "not needed");
    mail_turn(&s.a);
    assert_int_equal(duo_mail(&s, INBOX_CANCEL), 1); /* sent on */
    duo_settle(&s);
    assert_int_equal(state_of(&s.b, job->exec_id), EXEC_CANCELLED);
    put(&s, INBOX_CANCEL, 0, job->job_id, "once more"); /* is fine */
    put(&s, INBOX_CANCEL, 0, 1234, "who?");
    duo_settle(&s);
    assert_int_equal(s.a.table.rejected.len + s.b.table.rejected.len, 1);
}

TEST(nobody_cancels_jobs_of_another_team)
{
    struct engine_options with = options();
    DUO_WITH(s, with);
    const struct submission *blue = SUBMIT(&s.a, .team = "blue");
    const struct submission *none = SUBMIT(&s.a);
    const struct submission *far =
        SUBMIT(&s.a, .team = "blue", .when = WHEN_AT, .when_ms = s.a.now_ms + 9 * HOUR_MS);
    duo_settle(&s);
    put(&s, INBOX_CANCEL, 0, blue->job_id, "");
    put(&s, INBOX_CANCEL, 0, none->job_id, "");
    put(&s, INBOX_CANCEL, 0, far->job_id, ""); /* beyond the horizon */
    duo_settle(&s);
    assert_int_equal(s.a.table.rejected.len, 3);
    assert_int_equal(state_of(&s.a, blue->exec_id), EXEC_QUEUED);
    assert_int_equal(state_of(&s.a, none->exec_id), EXEC_QUEUED);
    assert_int_equal(state_of(&s.a, far->exec_id), EXEC_SCHEDULED);
}

TEST(a_long_page_goes_on_in_the_next_turn)
{
    struct engine_options with = options();
    DUO_WITH(s, with);
    for (size_t i = 0; i < INBOX_PAGE + 5; i++)
        put(&s, INBOX_SUBMIT, 0, 0, PLAIN);
    mail_turn(&s.a);
    assert_int_equal(s.box.rows.len, 5);
    assert_int_equal(world_wait_ms(&s.a), 0);
    world_turn(&s.a);
    assert_int_equal(s.box.rows.len, 0);
    assert_int_equal(s.a.table.live.len, INBOX_PAGE + 5);
}

/* As the server does when a commit is refused: it divides what was read. */
TEST(a_row_that_cannot_be_kept_is_found_and_rejected)
{
    struct engine_options with = options();
    DUO_WITH(s, with);
    for (size_t i = 0; i < 10; i++)
        put(&s, INBOX_SUBMIT, 0, 0, PLAIN);
    size_t tries = 0;
    engine_mail(s.a.engine);
    for (;; tries++) { /* the store would take nothing that reads row 4 … */
        const struct delta *delta = world_decide(&s.a);
        bool reads = false;
        for (size_t i = 0; i < delta->mail_read_count; i++)
            reads |= delta->mail_read[i] == 4;
        if (!reads || delta->rejected_count > 0) {
            s.a.delta = *delta;
            world_commit(&s.a);
            world_check(&s.a);
            if (reads)
                break;
            engine_mail(s.a.engine);
            continue;
        }
        engine_undo(s.a.engine);
        table_abort(&s.a.table);
        assert_true(engine_mail_doubt(s.a.engine, "bad bytes"));
    }
    assert_true(tries < 12); /* … and takes its rejection */
    assert_int_equal(s.a.table.rejected.len, 1);
    assert_int_equal(s.a.table.rejected.items[0].inbox_id, 4);
    assert_true(
        str_eq(s.a.table.rejected.items[0].reason, STR("the store does not take it: bad bytes")));
    duo_settle(&s);
    assert_int_equal(s.a.table.live.len, 9);
    world_turn(&s.a); /* reads none */
    assert_false(engine_mail_doubt(s.a.engine, "it was something else"));
}

/* ---- what waits */

#define OTHER_QUEUE "q%zu||500|0|0|0||0||0|0|0||0|0|0|100|0|0|0|red|0|0|0|0|0||0|0|0||"

/* Each in a queue of its own. */
static void put_in_queues(struct duo *s, size_t from, size_t count)
{
    for (size_t i = from; i < from + count; i++) {
        char body[128];
        snprintf(body, sizeof body, OTHER_QUEUE, i);
        put(s, INBOX_SUBMIT, 0, 0, body);
    }
}

TEST(what_waits_is_in_nobodys_way)
{
    struct engine_options with = options();
    with.lanes_max = 1;
    DUO_WITH(s, with);
    const struct submission *job = SUBMIT(&s.a, .team = "red"); /* takes the lane */
    world_turn(&s.a);
    put_in_queues(&s, 0, INBOX_PAGE + 10);
    put(&s, INBOX_SUBMIT, 0, 0, PLAIN);
    mail_turn(&s.a);
    put(&s, INBOX_CANCEL, 0, job->job_id, "");
    for (int i = 0; i < 3; i++)
        mail_turn(&s.a);
    assert_int_equal(state_of(&s.a, job->exec_id), EXEC_CANCELLED);
    assert_int_equal(s.a.table.live.len, 1); /* the last one, which needs no other lane */
    assert_int_equal(s.box.rows.len, INBOX_PAGE + 10);
    assert_true(world_wait_ms(&s.a) > 0);
    struct mail_waiting waiting = engine_mail_waiting(s.a.engine);
    assert_int_equal(waiting.waiting, INBOX_PAGE + 10);
    assert_non_null(strstr(waiting.why, "as many queues and handlers"));
    struct asked *stats = ask(&s.a, CMD_STATS);
    world_turn(&s.a);
    assert_int_equal(stats->cmd.reply.stats.mail_waiting, INBOX_PAGE + 10);
}

/* One lane at a time: whatever order they are tried in, each has its turn. */
TEST(whoever_waits_gets_there)
{
    enum { WAITING = 30 };
    struct engine_options with = options();
    with.live_max = 2;
    DUO_WITH(s, with);
    for (int i = 0; i < WAITING; i++)
        put(&s, INBOX_SUBMIT, 0, 0, PLAIN);
    for (int i = 0; i < 3 * WAITING && s.box.rows.len > 0; i++) {
        MAP_EACH(&s.a.table.live, slot) ask_about(&s.a, CMD_CANCEL_EXEC, slot->key);
        world_turn(&s.a);
        s.a.now_ms += 1000;
        world_turn(&s.a);
    }
    assert_int_equal(s.box.rows.len, 0);
    assert_int_equal(engine_mail_waiting(s.a.engine).waiting, 0);
}

TEST(what_waiting_cannot_lift_is_rejected)
{
    struct engine_options with = options();
    with.queues_max = 2;
    DUO_WITH(s, with);
    put_in_queues(&s, 0, 5);
    duo_settle(&s);
    assert_int_equal(s.a.table.live.len, 2);
    assert_int_equal(s.a.table.rejected.len, 3);
    assert_true(str_starts(s.a.table.rejected.items[0].reason,
                           STR("there are as many queues with work or settings as there may be")));
}

TEST(what_a_newer_version_says_stays_and_is_counted)
{
    struct engine_options with = options();
    DUO_WITH(s, with);
    for (int i = 0; i < INBOX_PAGE + 1; i++)
        put(&s, INBOX_KINDS, 0, 0, "from tomorrow");
    put(&s, INBOX_CANCEL, 0, 1234, "who?");
    mail_turn(&s.a);
    mail_turn(&s.a);
    assert_int_equal(s.a.table.rejected.len, 1); /* reading went on behind them */
    assert_int_equal(s.box.rows.len, INBOX_PAGE + 1);
    assert_true(world_wait_ms(&s.a) > 0);
    assert_int_equal(engine_mail_waiting(s.a.engine).unknown, INBOX_PAGE + 1);
    world_restart(&s.a);
    for (int i = 0; i < 3; i++)
        mail_turn(&s.a);
    assert_int_equal(engine_mail_waiting(s.a.engine).unknown, INBOX_PAGE + 1);
    assert_int_equal(engine_mail_waiting(s.a.engine).waiting, 0);
}

TEST(an_operation_that_says_more_than_we_know_waits_for_a_newer_version)
{
    DUO(s);
    put(&s, INBOX_OPERATE, 0, 1234, "colour 3 red\n");
    mail_turn(&s.a);
    assert_int_equal(duo_mail(&s, INBOX_OPERATE), 1);
    assert_int_equal(engine_mail_waiting(s.a.engine).unknown, 1);
}

/* Rows of both sorts stay, a page of the one and two of the other. */
TEST(what_stays_of_two_sorts_is_not_read_round_after_round)
{
    struct engine_options with = options();
    with.lanes_max = 1;
    with.inbox_page = 2;
    DUO_WITH(s, with);
    SUBMIT(&s.a, .team = "red"); /* takes the lane */
    world_turn(&s.a);
    put_in_queues(&s, 0, 3);
    mail_turn(&s.a); /* their round has a second page when the one of the others begins */
    for (int i = 0; i < 3; i++)
        put(&s, INBOX_KINDS, 0, 0, "from tomorrow");
    mail_turn(&s.a);
    for (int i = 0; i < 10 && world_wait_ms(&s.a) == 0; i++)
        world_turn(&s.a);
    assert_true(world_wait_ms(&s.a) > 0);
    struct mail_waiting waiting = engine_mail_waiting(s.a.engine);
    assert_int_equal(waiting.waiting, 3);
    assert_int_equal(waiting.unknown, 3);
}

/* ---- turns that are lost */

static const struct question *asked_for_submissions(struct world *w)
{
    engine_mail(w->engine);
    (void)world_decide(w);
    return w->engine->turn.mail.reading.asked[MAIL_WISHES];
}

TEST(pages_are_halved_by_lost_turns_and_grow_again)
{
    struct engine_options with = options();
    DUO_WITH(s, with);
    for (size_t i = 1; i <= 30; i++) {
        const struct question *q = asked_for_submissions(&s.a);
        size_t rows = i < 10 ? INBOX_PAGE >> (i - 1) : 1;
        size_t bytes = i < 24 ? INBOX_PAGE_BYTES >> (i - 1) : 1;
        assert_int_equal(q->limit, rows);
        assert_int_equal(q->bytes_max, bytes);
        engine_undo(s.a.engine);
        engine_mail_lost(s.a.engine);
        table_abort(&s.a.table);
    }
    size_t turns = 0;
    size_t rows;
    size_t bytes;
    do {
        const struct question *q = asked_for_submissions(&s.a);
        rows = q->limit;
        bytes = q->bytes_max;
        s.a.delta = s.a.engine->turn.delta;
        world_commit(&s.a);
        assert_true(++turns < 30);
    } while (rows < INBOX_PAGE || bytes < INBOX_PAGE_BYTES);
}

TEST(nothing_is_lost_with_a_turn)
{
    struct engine_options with = options();
    DUO_WITH(s, with);
    duo_settle(&s);
    for (int i = 0; i < 20; i++) {
        put(&s, INBOX_SUBMIT, 0, 0, PLAIN);
        const struct question *q = asked_for_submissions(&s.a);
        assert_true(q->from == (i == 0 ? INBOX_ON : INBOX_AGAIN) && q->after_id == 0);
        engine_undo(s.a.engine);
        table_abort(&s.a.table);
    }
    duo_settle(&s);
    assert_int_equal(s.a.table.live.len, 20);
    assert_int_equal(asked_for_submissions(&s.a)->from, INBOX_ON);
    engine_undo(s.a.engine);
    table_abort(&s.a.table);
}

/* ---- unique work of another server */

#define REPLACES "default||500|0|0|0||0||0|0|0||0|0|0|100|0|0|0|red|0|0|0|0|0|u|0|1|0||"

TEST(who_replaces_a_job_elsewhere_is_sent_there)
{
    struct engine_options with = options();
    DUO_WITH(s, with);
    const struct submission *held = SUBMIT(&s.b, .team = "red", .unique = "u");
    duo_settle(&s);
    table_put_claim(&s.a.table,
                    &(struct claim){.kind = CLAIM_UNIQUE, .key = STR("u"), .holder = held->job_id});
    put(&s, INBOX_SUBMIT, 0, 0, REPLACES);
    mail_turn(&s.a);
    assert_int_equal(s.a.table.rejected.len, 0);
    assert_int_equal(duo_mail(&s, INBOX_SUBMIT), 1);
    assert_int_equal(s.box.rows.items[0].number, 1); /* what its sender knows it by */
    duo_settle(&s);
    assert_int_equal(state_of(&s.b, held->exec_id), EXEC_CANCELLED);
    assert_int_equal(s.b.table.live.len, 1);
    assert_int_equal(s.a.table.live.len, 0);
    assert_int_equal(s.a.table.rejected.len + s.b.table.rejected.len, 0);
}

TEST(nobody_looks_where_nobody_writes)
{
    WORLD(w); /* table_answer would fail: there is no box */
    engine_mail(w.engine);
    world_turn(&w);
    world_pass(&w, HOUR_MS);
    assert_true(world_wait_ms(&w) > 1000);
}
