/* inbox.c - what partitions tell each other and keep for one another, and what was refused.
 *
 * Anybody's transaction may put a row into the inbox, and it may be committed after one with a higher number,
 * days later. So rows are found by the transaction that wrote them: a reader remembers the snapshot of its
 * last reading, and looks at what was written by transactions that were not over in it. What was read and
 * deleted since is not looked at again, however long somebody keeps vacuum from removing it. */
#include "base/vec.h"
#include "store/postgres/postgres.h"
#include "store/row.h"

#include <stdio.h>
#include <string.h>

/* ---- the place */

#define EVERYTHING "1:1:" /* a snapshot in which no transaction was over */

/* A snapshot is of one server of the database, and about what was ours then. */
static bool is_same_place(const struct postgres_store *s, const struct ownership *own)
{
    return s->inbox.connects == s->pg.connects &&
           memcmp(s->inbox.epochs, own->epochs, sizeof own->epochs) == 0;
}

/* Whether the place is of another server than the one that answers now, which is remembered. Then what was
 * over in it says nothing: after a failover the same numbers are given to other transactions. */
static bool has_moved(struct postgres_store *s, const struct pg_use *now)
{
    struct row row = pg_row(now, 0, NULL);
    row.at = 2;
    uint64_t server = row_u64(&row);
    bool same = row.bad || server == s->inbox.server;
    if (!same)
        s->inbox.server = server;
    return !same && strcmp(s->inbox.snapshot, EVERYTHING) != 0;
}

static void forget_place(struct postgres_store *s, const struct ownership *own)
{
    snprintf(s->inbox.snapshot, sizeof s->inbox.snapshot, "%s", EVERYTHING);
    s->inbox.xid = 0;
    s->inbox.connects = s->pg.connects;
    memcpy(s->inbox.epochs, own->epochs, sizeof own->epochs);
}

static void move_on(struct postgres_store *s)
{
    if (!s->inbox.may_move)
        return;
    memcpy(s->inbox.snapshot, s->inbox.next_snapshot, sizeof s->inbox.snapshot);
    s->inbox.xid = s->inbox.next_xid;
    s->inbox.may_move = false;
}

void postgres_inbox_kept(struct postgres_store *s, const struct delta *delta)
{
    if (delta->mail_read_count == s->inbox.told)
        move_on(s);
    s->inbox.may_move = false;
}

/* ---- asking */

/* A snapshot with more transactions under way than fit is not remembered: the next reading looks at more than
 * it must. */
static void remember(struct postgres_store *s, struct str snapshot, uint64_t xid, bool more,
                     size_t told)
{
    s->inbox.told = told;
    s->inbox.may_move = !more && snapshot.len < sizeof s->inbox.next_snapshot;
    if (!s->inbox.may_move)
        return;
    memcpy(s->inbox.next_snapshot, snapshot.ptr, snapshot.len);
    s->inbox.next_snapshot[snapshot.len] = '\0';
    s->inbox.next_xid = xid;
    if (told == 0)
        move_on(s); /* there is nothing that a commit would have to name */
}

enum rc postgres_find_inbox(struct postgres_store *s, const struct ownership *own,
                            struct arena *arena, struct question *q, struct err *err)
{
    PG_CLEAR(&s->pg);
    VEC(struct inbox_rec) mail = {0};
    if (!is_same_place(s, own))
        forget_place(s, own);
    struct pg_use *now = pg_use(&s->pg, Q_INBOX_NOW);
    struct pg_use *use = pg_use(&s->pg, Q_FIND_INBOX);
    pg_text(use, str_c(s->inbox.snapshot));
    pg_u64(use, s->inbox.xid);
    postgres_bind_set(use, own);
    pg_u64(use, q->limit + 1);
    TRY(pg_run(&s->pg, err));
    if (has_moved(s, now)) {
        forget_place(s, own);
        return postgres_find_inbox(s, own, arena, q, err);
    }
    for (size_t i = 0; i < pg_rows(use) && mail.len < q->limit; i++) {
        struct inbox_rec rec;
        struct row row = pg_row(use, i, arena);
        if (row_inbox(&row, &rec))
            *VEC_PUSH(arena, &mail) = rec;
    }
    q->answer.mail = mail.items;
    q->answer.mail_count = mail.len;
    q->answer.more = pg_rows(use) > q->limit;
    struct row row = pg_row(now, 0, NULL);
    struct str snapshot = row_text(&row);
    uint64_t xid = row_u64(&row);
    if (!row.bad)
        remember(s, snapshot, xid, q->answer.more, mail.len);
    return RC_OK;
}

/* ---- keeping */

static void send_mail(struct pg *pg, const struct delta *delta)
{
    struct pg_use *use = pg_use(pg, Q_INSERT_INBOX);
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

static void remove_mail(struct pg *pg, const struct delta *delta)
{
    struct pg_use *use = pg_use(pg, Q_DELETE_INBOX);
    pg_u64(use, delta->mail_read_count);
    pg_columns(use, "i", delta->mail_read_count);
    for (size_t i = 0; i < delta->mail_read_count; i++)
        pg_u64(use, delta->mail_read[i]);
}

static void keep_waiter(struct pg *pg, const struct waiter_change *change)
{
    const struct waiter_rec *rec = &change->waiter;
    struct pg_use *use = pg_use(pg, change->forget ? Q_FORGET_WAITER : Q_PUT_WAITER);
    pg_u64(use, rec->upstream);
    pg_u64(use, rec->exec_id);
    if (change->forget)
        return;
    pg_u64(use, rec->dependant);
    pg_i64(use, rec->type);
    pg_i64(use, rec->slot_ms);
}

static void keep_permit(struct pg *pg, const struct permit_change *change)
{
    const struct permit_rec *rec = &change->permit;
    struct pg_use *use = pg_use(pg, change->forget ? Q_FORGET_PERMIT : Q_PUT_PERMIT);
    pg_text(use, rec->key);
    pg_u64(use, rec->exec_id);
    if (change->forget)
        return;
    pg_i64(use, rec->bucket);
    pg_bool(use, rec->granted);
    pg_i64(use, rec->max);
    pg_i64(use, rec->rank);
    pg_u64(use, rec->ask);
    pg_i64(use, rec->asked_ms);
}

static void keep_rejected(struct pg *pg, const struct rejected_rec *rec)
{
    struct pg_use *use = pg_use(pg, Q_INSERT_REJECTED);
    pg_u64(use, rec->id);
    pg_i64(use, rec->at_ms);
    pg_u64(use, rec->inbox_id);
    pg_text(use, rec->team);
    pg_text(use, rec->actor);
    pg_text(use, rec->reason);
    pg_text(use, rec->head);
}

void postgres_keep_inbox(struct pg *pg, const struct delta *delta)
{
    if (delta->mail_read_count > 0)
        remove_mail(pg, delta);
    if (delta->mail_count > 0)
        send_mail(pg, delta);
    for (size_t i = 0; i < delta->waiter_count; i++)
        keep_waiter(pg, &delta->waiters[i]);
    for (size_t i = 0; i < delta->permit_count; i++)
        keep_permit(pg, &delta->permits[i]);
    if (delta->rejected_count > 0)
        pg_i64(pg_use(pg, Q_FORGET_REJECTED), delta->rejected_from_ms);
    for (size_t i = 0; i < delta->rejected_count; i++)
        keep_rejected(pg, &delta->rejected[i]);
}

/* ---- reading */

enum rc postgres_list_rejected(struct reader *reader, const struct page *page, struct arena *arena,
                               struct rejected_page *ret_page, struct err *err)
{
    struct pg *pg = reader_pg(reader);
    PG_CLEAR(pg);
    VEC(struct rejected_rec) found = {0};
    struct pg_use *use = pg_use(pg, Q_LIST_REJECTED);
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
