/* What partitions tell each other: rows that are read once, in the commit of their effect. */
#include "world.h"

#include <string.h>

static struct inbox_rec letter_to(uint32_t bucket, struct str body)
{
    return (struct inbox_rec){.bucket = bucket,
                              .kind = INBOX_SUBMIT,
                              .sent_ms = T0,
                              .about = 11,
                              .from = 12,
                              .value = -13,
                              .number = 14,
                              .name = STR("red"),
                              .actor = STR("sql:alice"),
                              .body = body};
}

static struct question ask(struct world *w, size_t limit)
{
    struct question q = {.kind = ASK_INBOX, .limit = limit, .submissions = true};
    world_admit(w, &q);
    return q;
}

static struct question ask_page(struct world *w, enum inbox_from from, uint64_t after_id,
                                size_t limit)
{
    struct question q = {
        .kind = ASK_INBOX, .limit = limit, .submissions = true, .from = from, .after_id = after_id};
    world_admit(w, &q);
    return q;
}

static void send_three(struct world *w)
{
    struct inbox_rec mail[] = {letter_to(0, STR("a")), letter_to(ID_BUCKETS - 1, STR("b")),
                               letter_to(512, STR(""))};
    world_commit(w, (struct delta){.mail = mail, .mail_count = 3});
}

/* Reads what was told, and nothing else. */
static void read_all(struct world *w, const struct question *q)
{
    uint64_t *ids = ARENA_ARRAY(&w->arena, uint64_t, q->answer.mail_count);
    for (size_t i = 0; i < q->answer.mail_count; i++)
        ids[i] = q->answer.mail[i].id;
    world_commit(w, (struct delta){.mail_read = ids, .mail_read_count = q->answer.mail_count});
}

PROMISE(mail_is_told_in_the_order_in_which_it_was_sent)
{
    struct world *w = *state;
    send_three(w);
    world_reopen(w);
    struct question q = ask(w, 9);
    assert_int_equal(q.answer.mail_count, 3);
    assert_false(q.answer.more);
    const struct inbox_rec *mail = q.answer.mail;
    assert_str(mail[0].body, STR("a"));
    assert_str(mail[1].body, STR("b"));
    assert_str(mail[2].body, STR(""));
    assert_true(0 < mail[0].id && mail[0].id < mail[1].id && mail[1].id < mail[2].id);
    assert_true(mail[1].bucket == ID_BUCKETS - 1 && mail[1].kind == INBOX_SUBMIT);
    assert_true(mail[1].sent_ms == T0 && mail[1].about == 11 && mail[1].from == 12);
    assert_true(mail[1].value == -13 && mail[1].number == 14);
    assert_str(mail[1].name, STR("red"));
    assert_str(mail[1].actor, STR("sql:alice"));
    w->store->ops->abort(w->store);
}

PROMISE(mail_is_there_until_the_commit_that_read_it)
{
    struct world *w = *state;
    send_three(w);
    struct question q = ask(w, 9);
    w->store->ops->abort(w->store); /* the turn was undone */
    q = ask(w, 9);
    assert_int_equal(q.answer.mail_count, 3);
    world_commit(w, (struct delta){0}); /* one that reads, and does nothing about it */
    world_reopen(w);
    q = ask(w, 9);
    assert_int_equal(q.answer.mail_count, 3);
    read_all(w, &q);
    assert_int_equal(ask(w, 9).answer.mail_count, 0);
    w->store->ops->abort(w->store);
    world_reopen(w);
    assert_int_equal(ask(w, 9).answer.mail_count, 0);
    w->store->ops->abort(w->store);
}

PROMISE(a_page_of_mail_ends_at_its_limit_and_the_next_goes_on)
{
    struct world *w = *state;
    send_three(w);
    struct question q = ask(w, 2);
    assert_int_equal(q.answer.mail_count, 2);
    assert_true(q.answer.more);
    read_all(w, &q);
    send_three(w); /* they are behind the one that is left */
    q = ask(w, 4);
    assert_int_equal(q.answer.mail_count, 4);
    assert_false(q.answer.more);
    assert_str(q.answer.mail[0].body, STR(""));
    assert_str(q.answer.mail[1].body, STR("a"));
    read_all(w, &q);
    assert_int_equal(ask(w, 4).answer.mail_count, 0);
    w->store->ops->abort(w->store);
}

PROMISE(some_of_a_page_may_be_left_for_later)
{
    struct world *w = *state;
    send_three(w);
    struct question q = ask(w, 9);
    uint64_t second = q.answer.mail[1].id;
    world_commit(w, (struct delta){.mail_read = &second, .mail_read_count = 1});
    q = ask_page(w, INBOX_AGAIN, 0, 9);
    assert_int_equal(q.answer.mail_count, 2);
    assert_str(q.answer.mail[0].body, STR("a"));
    read_all(w, &q);
}

PROMISE(what_stays_is_told_by_its_id_and_what_is_new_in_the_next_round)
{
    struct world *w = *state;
    send_three(w);
    struct question q = ask(w, 9);
    uint64_t ids[] = {q.answer.mail[0].id, q.answer.mail[1].id, q.answer.mail[2].id};
    world_commit(w, (struct delta){.mail_read = &ids[1], .mail_read_count = 1});
    send_three(w);
    q = ask_page(w, INBOX_ON, 0, 9);
    size_t fresh = 0;
    for (size_t i = 0; i < q.answer.mail_count; i++)
        fresh += q.answer.mail[i].id > ids[2];
    assert_int_equal(fresh, 3);
    assert_true(q.answer.mail_count <= 5); /* a store may tell the two again */
    q = (struct question){.kind = ASK_LEFT_MAIL, .limit = 9, .ids = ids, .id_count = 3};
    world_admit(w, &q);
    assert_int_equal(q.answer.mail_count, 2);
    assert_true(q.answer.mail[0].id == ids[0] && q.answer.mail[1].id == ids[2]);
    assert_str(q.answer.mail[0].body, STR("a"));
    q.limit = 1;
    world_admit(w, &q);
    assert_true(q.answer.mail_count == 1 && q.answer.more && q.answer.after_id == ids[0]);
    w->store->ops->abort(w->store);
    q = ask(w, 9);
    assert_int_equal(q.answer.mail_count, 5);
    read_all(w, &q);
}

/* A round of two pages, in which nothing is read. What comes meanwhile is of the next round at the latest. */
PROMISE(a_round_goes_on_behind_what_stays)
{
    struct world *w = *state;
    send_three(w);
    struct question q = ask(w, 2);
    assert_true(q.answer.mail_count == 2 && q.answer.more);
    uint64_t last = q.answer.after_id;
    assert_int_equal(last, q.answer.mail[1].id);
    w->store->ops->abort(w->store);
    q = ask_page(w, INBOX_AGAIN, last, 2);
    assert_true(q.answer.mail_count == 1 && !q.answer.more && q.answer.after_id == 0);
    assert_true(q.answer.mail[0].id > last);
    w->store->ops->abort(w->store);
    send_three(w);
    q = ask_page(w, INBOX_ON, 0, 9);
    assert_true(q.answer.mail_count >= 3);
    w->store->ops->abort(w->store);
    q = ask_page(w, INBOX_AGAIN, 0, 9); /* that one came to nothing */
    assert_true(q.answer.mail_count >= 3);
    w->store->ops->abort(w->store);
    q = ask(w, 9);
    assert_int_equal(q.answer.mail_count, 6);
    read_all(w, &q);
}

/* Many small pages. Rows come meanwhile, and one that was not told yet goes: the others are told once, in order,
 * and what came is told in the next round at the latest. */
PROMISE(a_round_of_many_pages_tells_each_row_once)
{
    struct world *w = *state;
    enum { SENT = 36, LIMIT = 2 };
    for (size_t i = 0; i < SENT / 3; i++)
        send_three(w);
    struct question q = ask(w, SENT);
    assert_int_equal(q.answer.mail_count, SENT);
    uint64_t gone = q.answer.mail[20].id;
    uint64_t newest = q.answer.mail[SENT - 1].id;
    w->store->ops->abort(w->store);
    uint64_t last = 0;
    size_t told = 0;
    q = ask_page(w, INBOX_FROM_START, 0, LIMIT);
    for (int page = 0;; page++) {
        for (size_t i = 0; i < q.answer.mail_count; i++) {
            assert_true(q.answer.mail[i].id > last);
            last = q.answer.mail[i].id;
            told += last <= newest;
        }
        uint64_t after = q.answer.after_id;
        w->store->ops->abort(w->store);
        if (after == 0)
            break;
        if (page == 5)
            world_commit(w, (struct delta){.mail_read = &gone, .mail_read_count = 1});
        if (page == 6)
            send_three(w);
        q = ask_page(w, INBOX_AGAIN, after, LIMIT);
    }
    assert_int_equal(told, SENT - 1);
    q = ask_page(w, INBOX_ON, 0, SENT + 3);
    size_t fresh = 0;
    for (size_t i = 0; i < q.answer.mail_count; i++)
        fresh += q.answer.mail[i].id > newest;
    assert_int_equal(fresh, 3);
    w->store->ops->abort(w->store);
}

PROMISE(a_page_is_cut_by_its_bytes_but_has_a_row)
{
    struct world *w = *state;
    enum { LARGE = 3000 };
    char *text = arena_alloc(&w->arena, LARGE);
    memset(text, 'x', LARGE);
    struct inbox_rec mail[] = {letter_to(0, str_of(text, LARGE)), letter_to(1, str_of(text, LARGE)),
                               letter_to(2, STR("b")), letter_to(3, str_of(text, LARGE))};
    world_commit(w, (struct delta){.mail = mail, .mail_count = 4});
    static const size_t pages[][2] = {{1, 1}, {LARGE, 1}, {2 * LARGE + 100, 3}, {9 * LARGE, 4}};
    for (size_t i = 0; i < COUNT_OF(pages); i++) {
        struct question q = {
            .kind = ASK_INBOX, .limit = 9, .submissions = true, .bytes_max = pages[i][0]};
        world_admit(w, &q);
        assert_int_equal(q.answer.mail_count, pages[i][1]);
        assert_true(q.answer.more == (pages[i][1] < 4));
        assert_int_equal(q.answer.mail[0].body.len, LARGE);
        uint64_t ids[4];
        for (size_t k = 0; k < q.answer.mail_count; k++)
            ids[k] = q.answer.mail[k].id;
        struct question left = {.kind = ASK_LEFT_MAIL,
                                .limit = 9,
                                .ids = ids,
                                .id_count = q.answer.mail_count,
                                .bytes_max = LARGE + 100};
        world_admit(w, &left);
        assert_int_equal(left.answer.mail_count, 1);
        assert_true(left.answer.more == (pages[i][1] > 1));
        w->store->ops->abort(w->store);
    }
    struct question all = ask(w, 9);
    read_all(w, &all);
}

PROMISE(what_servers_say_is_told_apart_from_submissions)
{
    struct world *w = *state;
    send_three(w);
    struct inbox_rec mail[] = {letter_to(0, STR("free")), letter_to(1, STR("of tomorrow"))};
    mail[0].kind = INBOX_FREE;
    mail[1].kind = (enum inbox_kind)(INBOX_KINDS + 3);
    world_commit(w, (struct delta){.mail = mail, .mail_count = 2});
    world_reopen(w);
    struct question wishes = ask(w, 9);
    assert_int_equal(wishes.answer.mail_count, 3);
    struct question news = {.kind = ASK_INBOX, .limit = 9};
    world_admit(w, &news);
    assert_int_equal(news.answer.mail_count, 2);
    assert_int_equal(news.answer.mail[0].kind, INBOX_FREE);
    assert_str(news.answer.mail[0].body, STR("free"));
    assert_int_equal(news.answer.mail[1].kind, INBOX_KINDS + 3);
    assert_str(news.answer.mail[1].body, STR("")); /* nobody here could read it */
    w->store->ops->abort(w->store);
    news = (struct question){.kind = ASK_INBOX, .limit = 9};
    world_admit(w, &news);
    read_all(w, &news);
    wishes = ask(w, 9);
    read_all(w, &wishes);
}

PROMISE(a_row_that_was_read_cannot_be_read_again)
{
    struct world *w = *state;
    send_three(w);
    struct question q = ask(w, 9);
    uint64_t id = q.answer.mail[0].id;
    struct inbox_rec more = letter_to(3, STR("effect"));
    struct delta delta = {.mail_read = &id, .mail_read_count = 1, .mail = &more, .mail_count = 1};
    world_commit(w, delta);
    assert_rc(world_try(w, delta), RC_CONFLICT); /* and its effect does not take place */
    q = ask(w, 9);
    assert_int_equal(q.answer.mail_count, 3);
    read_all(w, &q);
}

PROMISE(numbers_of_rows_are_never_used_again)
{
    struct world *w = *state;
    send_three(w);
    struct question q = ask(w, 9);
    uint64_t last = q.answer.mail[2].id;
    read_all(w, &q);
    world_reopen(w);
    send_three(w);
    assert_true(ask(w, 9).answer.mail[0].id > last);
    w->store->ops->abort(w->store);
}

/* ---- what is kept for others */

struct kept {
    struct waiter_rec waiters[8];
    size_t waiter_count;
    struct permit_rec permits[8];
    size_t permit_count;
    struct arena *arena; /* of the permits' keys */
};

static enum rc take_waiter(void *arg, const struct waiter_rec *rec, struct err *err)
{
    struct kept *kept = arg;
    (void)err;
    kept->waiters[kept->waiter_count++] = *rec;
    return RC_OK;
}

static enum rc take_permit(void *arg, const struct permit_rec *rec, struct err *err)
{
    struct kept *kept = arg;
    (void)err;
    struct permit_rec *to = &kept->permits[kept->permit_count];
    *to = *rec;
    to->key = arena_str(kept->arena, rec->key);
    kept->permit_count++;
    return RC_OK;
}

static struct kept load_kept(struct world *w)
{
    struct kept kept = {.arena = &w->arena};
    struct load_sink sink = {.waiter = take_waiter, .permit = take_permit, .arg = &kept};
    world_reopen(w);
    assert_rc(w->store->ops->load(w->store, &w->own, T0, &sink, &w->err), RC_OK);
    return kept;
}

PROMISE(waiters_are_loaded_until_they_are_told)
{
    struct world *w = *state;
    struct waiter_change given[] = {
        {.waiter = {20, 5, 4, DEPENDS_FAILURE, 0}},
        {.waiter = {10, 9, 8, DEPENDS_SUCCESS, T0}},
        {.waiter = {10, 7, 6, DEPENDS_SUCCESS, 0}},
    };
    world_commit(w, (struct delta){.waiters = given, .waiter_count = 3});
    given[2].waiter.slot_ms = T0 + 5; /* said again */
    world_commit(w, (struct delta){.waiters = &given[2], .waiter_count = 1});
    struct kept kept = load_kept(w);
    assert_int_equal(kept.waiter_count, 3);
    assert_true(kept.waiters[0].upstream == 10 && kept.waiters[0].exec_id == 7);
    assert_true(kept.waiters[0].dependant == 6 && kept.waiters[0].slot_ms == T0 + 5);
    assert_true(kept.waiters[1].exec_id == 9 && kept.waiters[1].type == DEPENDS_SUCCESS);
    assert_true(kept.waiters[2].upstream == 20 && kept.waiters[2].type == DEPENDS_FAILURE);
    given[1].forget = true;
    world_commit(w, (struct delta){.waiters = &given[1], .waiter_count = 1});
    kept = load_kept(w);
    assert_int_equal(kept.waiter_count, 2);
}

PROMISE(permits_are_loaded_until_they_are_free)
{
    struct world *w = *state;
    struct permit_change given[] = {
        {.permit = {STR("c:db"), 9, 17, true, 3, -5, 41, T0}},
        {.permit = {STR("c:db"), 7, 17, false, 3, 6, 42, T0 + 1}},
        {.permit = {STR("c:api"), 9, 1023, true, 1, 7, 43, T0}},
    };
    world_commit(w, (struct delta){.permits = given, .permit_count = 3});
    given[1].permit.granted = true;
    world_commit(w, (struct delta){.permits = &given[1], .permit_count = 1});
    struct kept kept = load_kept(w);
    assert_int_equal(kept.permit_count, 3);
    assert_str(kept.permits[0].key, STR("c:api"));
    assert_true(kept.permits[0].bucket == 1023 && kept.permits[0].max == 1);
    assert_true(kept.permits[1].exec_id == 7 && kept.permits[1].granted);
    assert_true(kept.permits[1].rank == 6 && kept.permits[1].ask == 42 &&
                kept.permits[1].asked_ms == T0 + 1);
    assert_true(kept.permits[2].exec_id == 9 && kept.permits[2].rank == -5);
    given[0].forget = true;
    world_commit(w, (struct delta){.permits = given, .permit_count = 1});
    kept = load_kept(w);
    assert_int_equal(kept.permit_count, 2); /* the other key of the same execution stays */
}

/* ---- what was refused */

PROMISE(rejected_submissions_are_listed_and_the_old_ones_go)
{
    struct world *w = *state;
    struct rejected_rec given[3];
    for (size_t i = 0; i < 3; i++)
        given[i] = (struct rejected_rec){.id = world_id(w),
                                         .at_ms = T0 + (int64_t)i,
                                         .inbox_id = 70 + i,
                                         .team = STR("red"),
                                         .actor = STR("sql:alice"),
                                         .reason = STR("no command"),
                                         .head = STR("{}")};
    world_commit(w, (struct delta){.rejected = given, .rejected_count = 2});
    struct rejected_page page;
    struct page newest = {.limit = 1};
    assert_rc(w->reader->ops->rejected(w->reader, &newest, &w->arena, &page, &w->err), RC_OK);
    assert_true(page.count == 1 && page.next == given[1].id);
    assert_true(page.rejected[0].id == given[1].id && page.rejected[0].inbox_id == 71);
    assert_str(page.rejected[0].reason, STR("no command"));
    assert_str(page.rejected[0].team, STR("red"));
    newest.before = page.next;
    assert_rc(w->reader->ops->rejected(w->reader, &newest, &w->arena, &page, &w->err), RC_OK);
    assert_true(page.count == 1 && page.next == 0 && page.rejected[0].at_ms == T0);
    world_commit(
        w, (struct delta){.rejected = &given[2], .rejected_count = 1, .rejected_from_ms = T0 + 1});
    newest = (struct page){.limit = 9};
    assert_rc(w->reader->ops->rejected(w->reader, &newest, &w->arena, &page, &w->err), RC_OK);
    assert_int_equal(page.count, 2);
    assert_true(w->own.id_floor < given[2].id);
    world_reopen(w);
    assert_true(w->candidate->reopen == NULL || w->own.id_floor >= given[2].id);
}
