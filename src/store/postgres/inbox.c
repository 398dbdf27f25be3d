/* inbox.c - what partitions tell each other and keep for one another, and what was refused.
 *
 * Anybody's transaction may put a row into the inbox, and it may be committed after one with a
 * higher number, days later. So rows are found by the transaction that wrote them: a reader
 * remembers the snapshot of the first page of its last round, and looks at what was written by
 * transactions that were not over in it. Rows that were read and deleted since are not looked at
 * again, however long vacuum is kept from removing them; mail that was told and stays is asked for
 * by its id. Where a round has many pages, those behind the first are met by their ids: to look for
 * all rows again with each page would take time by the square of their number. Each sort of mail
 * has rounds of its own, so that a crowd of submissions is in nobody's way. */
#include "base/vec.h"
#include "job/record/record_fields.h"
#include "store/postgres/postgres.h"
#include "store/sql/row.h"

#include <stdio.h>
#include <string.h>

enum { WALK_PAGES = 10 }; /* of fewer, all rows are looked for again with each page */

/* ---- the place */

#define EVERYTHING "1:1:" /* a snapshot in which no transaction was over */

/* A snapshot is of one server of the database, and about what was ours then. */
static bool is_same_place(const struct postgres_store *s, const struct inbox_place *place,
                          const struct ownership *own)
{
    return place->connects == s->pg.connects &&
           memcmp(place->epochs, own->epochs, sizeof own->epochs) == 0;
}

static void begin_anew(const struct postgres_store *s, struct inbox_place *place,
                       const struct ownership *own)
{
    snprintf(place->base.snapshot, sizeof place->base.snapshot, "%s", EVERYTHING);
    place->base.xid = 0;
    place->is_begun = false;
    place->found = 0;
    place->connects = s->pg.connects;
    place->server = 0;
    memcpy(place->epochs, own->epochs, sizeof own->epochs);
}

void postgres_forget_places(struct postgres_store *s)
{
    for (size_t i = 0; i < COUNT_OF(s->inbox); i++)
        s->inbox[i].connects = 0;
}

/* Where this page is to be looked for. A round that was under way when the place was lost goes on
 * with everything behind its page; the next one begins with everything, since no moment is
 * known. */
static struct inbox_place *find_place(struct postgres_store *s, const struct ownership *own,
                                      const struct question *q)
{
    struct inbox_place *place = &s->inbox[q->submissions];
    bool begins = q->after_id == 0;
    if (!is_same_place(s, place, own) || (begins && q->from == INBOX_FROM_START))
        begin_anew(s, place, own);
    if (begins && q->from == INBOX_ON && place->is_begun)
        place->base = place->begun;
    if (begins) {
        place->is_begun = false;
        place->found = 0;
    }
    return place;
}

/* A snapshot with more transactions under way than fit is not remembered: the next round looks at
 * more than it must. Nor is a place of any use that another server of the database has given, as a
 * pooler may bring about: after a failover the same numbers are given to other transactions. Then
 * the next round begins with everything; the rows that this one has found are there all the
 * same. */
static void remember(struct inbox_place *place, const struct pg_call *now)
{
    struct row row = pg_row(now, 0, NULL);
    struct str snapshot = row_text(&row);
    place->begun.xid = row_u64(&row);
    uint64_t server = row_u64(&row);
    bool same = place->server == 0 || place->server == server;
    place->server = server;
    place->is_begun = same && !row.bad && snapshot.len < sizeof place->begun.snapshot;
    if (!same)
        place->connects = 0;
    if (!place->is_begun)
        return;
    memcpy(place->begun.snapshot, snapshot.ptr, snapshot.len);
    place->begun.snapshot[snapshot.len] = '\0';
}

/* ---- asking */

static size_t bytes_of(const struct question *q)
{
    return q->bytes_max > 0 ? q->bytes_max : INBOX_PAGE_BYTES;
}

static struct pg_call *ask_left(struct pg *pg, const struct ownership *own,
                                const struct question *q)
{
    struct pg_call *use = pg_call(pg, Q_FIND_LEFT_MAIL);
    postgres_bind_set(use, own);
    pg_u64(use, q->limit + 1);
    pg_u64(use, bytes_of(q));
    pg_i64(use, INBOX_KINDS);
    pg_columns(use, "i", q->id_count);
    for (size_t i = 0; i < q->id_count; i++)
        pg_u64(use, q->ids[i]);
    return use;
}

struct inbox_asked postgres_ask_inbox(struct postgres_store *s, const struct ownership *own,
                                      const struct question *q)
{
    struct inbox_asked asked = {0};
    if (q->kind == ASK_LEFT_MAIL) {
        asked.rows = ask_left(&s->pg, own, q);
        return asked;
    }
    struct inbox_place *place = find_place(s, own, q);
    bool walks = place->found > WALK_PAGES * q->limit;
    if (q->after_id == 0)
        asked.now = pg_call(&s->pg, Q_INBOX_NOW);
    asked.round = walks ? NULL : place;
    asked.rows = pg_call(&s->pg, walks ? Q_WALK_INBOX : Q_FIND_INBOX);
    pg_text(asked.rows, str_c(place->base.snapshot));
    pg_u64(asked.rows, place->base.xid);
    postgres_bind_set(asked.rows, own);
    pg_u64(asked.rows, q->limit + 1);
    pg_u64(asked.rows, bytes_of(q));
    pg_i64(asked.rows, INBOX_KINDS);
    pg_u64(asked.rows, q->after_id);
    pg_bool(asked.rows, q->submissions);
    if (walks)
        pg_u64(asked.rows, place->last_id);
    return asked;
}

/* Each row says how many there were before the page was cut by its bytes. */
void postgres_read_inbox(struct postgres_store *s, const struct inbox_asked *asked,
                         struct arena *arena, struct question *q)
{
    VEC(struct inbox_rec) mail = {0};
    size_t rows = pg_rows(asked->rows);
    size_t taken = rows < q->limit ? rows : q->limit;
    size_t found = rows;
    for (size_t i = 0; i < taken; i++) {
        struct inbox_rec rec;
        struct row row = pg_row(asked->rows, i, arena);
        bool makes_sense = row_inbox(&row, &rec);
        found = (size_t)row_u64(&row);
        if (asked->round != NULL) {
            asked->round->found = row_u64(&row);
            asked->round->last_id = row_u64(&row);
        }
        q->answer.after_id = rec.id;
        if (makes_sense)
            *VEC_PUSH(arena, &mail) = rec;
    }
    q->answer.mail = mail.items;
    q->answer.mail_count = mail.len;
    q->answer.more = found > taken;
    if (!q->answer.more)
        q->answer.after_id = 0;
    if (asked->now != NULL)
        remember(&s->inbox[q->submissions], asked->now);
}

/* ---- keeping */

static void keep_mail(struct pg *pg, const struct delta *delta)
{
    if (delta->mail_count == 0)
        return;
    struct pg_call *use = pg_call(pg, Q_INSERT_INBOX);
    pg_columns(use, "iiiiiiittt", delta->mail_count);
    for (size_t i = 0; i < delta->mail_count; i++) {
        const struct inbox_rec *rec = &delta->mail[i];
        pg_i64(use, rec->bucket);
        pg_i64(use, rec->kind);
        pg_i64(use, rec->sent_ms);
        pg_u64(use, rec->about);
        pg_u64(use, rec->from);
        pg_i64(use, rec->value);
        pg_i64(use, rec->number);
        pg_text(use, rec->name);
        pg_text(use, rec->actor);
        pg_text(use, rec->body);
    }
}

static void keep_mail_read(struct pg *pg, const struct delta *delta)
{
    if (delta->mail_read_count == 0)
        return;
    struct pg_call *use = pg_call(pg, Q_DELETE_INBOX);
    pg_u64(use, delta->mail_read_count);
    pg_columns(use, "i", delta->mail_read_count);
    for (size_t i = 0; i < delta->mail_read_count; i++)
        pg_u64(use, delta->mail_read[i]);
}

static void keep_waiters(struct pg *pg, const struct delta *delta)
{
    for (size_t i = 0; i < delta->waiter_count; i++) {
        const struct waiter_change *change = &delta->waiters[i];
        struct pg_call *use = pg_call(pg, change->forget ? Q_FORGET_WAITER : Q_PUT_WAITER);
        pg_record(use, &waiter_fields, change->forget ? FIELD_KEY : FIELD_ANY, &change->waiter);
    }
}

static void keep_permits(struct pg *pg, const struct delta *delta)
{
    for (size_t i = 0; i < delta->permit_count; i++) {
        const struct permit_change *change = &delta->permits[i];
        struct pg_call *use = pg_call(pg, change->forget ? Q_FORGET_PERMIT : Q_PUT_PERMIT);
        pg_record(use, &permit_fields, change->forget ? FIELD_KEY : FIELD_ANY, &change->permit);
    }
}

static void keep_rejected(struct pg *pg, const struct delta *delta)
{
    if (delta->rejected_count > 0)
        pg_i64(pg_call(pg, Q_FORGET_REJECTED), delta->rejected_from_ms);
    for (size_t i = 0; i < delta->rejected_count; i++)
        pg_record(pg_call(pg, Q_INSERT_REJECTED), &rejected_fields, FIELD_ANY, &delta->rejected[i]);
}

#define KEEP(one, many, type, alone) keep_##many(pg, delta);

void postgres_keep_mail(struct pg *pg, const struct delta *delta)
{
    DELTA_MAIL(KEEP)
}

/* ---- reading */

enum rc postgres_list_rejected(struct reader *reader, const struct page *page, struct arena *arena,
                               struct rejected_page *ret_page, struct err *err)
{
    struct pg *pg = reader_pg(reader);
    PG_CLEAR(pg);
    VEC(struct rejected_rec) found = {0};
    struct pg_call *use = pg_call(pg, Q_LIST_REJECTED);
    pg_i64(use, page->before == 0 ? INT64_MAX : (int64_t)page->before);
    pg_u64(use, page->limit + 1);
    TRY(pg_run(pg, err));
    for (size_t i = 0; i < pg_rows(use); i++) {
        struct rejected_rec rec;
        struct row row = pg_row(use, i, arena);
        if (row_rejected(&row, &rec))
            *VEC_PUSH(arena, &found) = rec;
    }
    *ret_page = (struct rejected_page){.rejected = found.items, .count = found.len};
    if (found.len > page->limit) {
        ret_page->count = page->limit;
        ret_page->next = found.items[page->limit - 1].id;
    }
    return RC_OK;
}
