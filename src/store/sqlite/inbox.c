/* inbox.c - what partitions tell each other and keep for one another, and what was refused. There
 * is one writer and one partition, so a row is visible as soon as it is numbered: no place has to
 * be remembered, and no gap. */
#include "base/vec.h"
#include "job/record/record_fields.h"
#include "store/sql/row.h"
#include "store/sqlite/sqlite.h"

#include <inttypes.h>

/* A page that is being told. */
struct telling {
    struct inbox_page page;
    VEC(struct inbox_rec) mail;
};

static struct telling tell(const struct question *q)
{
    return (struct telling){
        .page = {.rows_max = q->limit,
                 .bytes_max = q->bytes_max > 0 ? q->bytes_max : INBOX_PAGE_BYTES}};
}

/* The row that stmt stands at. False: it is for the next page. */
static bool tell_row(struct telling *t, struct stmt *stmt, struct arena *arena)
{
    struct inbox_rec rec;
    struct row row = stmt_row(stmt, arena);
    if (!row_inbox(&row, &rec))
        return true;
    if (!inbox_page_takes(&t->page, &rec))
        return false;
    *VEC_PUSH(arena, &t->mail) = rec;
    return true;
}

static void told(const struct telling *t, bool more, struct question *q)
{
    q->answer.mail = t->mail.items;
    q->answer.mail_count = t->mail.len;
    q->answer.more = more;
    q->answer.after_id = more && t->mail.len > 0 ? t->mail.items[t->mail.len - 1].id : 0;
}

enum rc sqlite_find_inbox(struct sqlite_store *s, struct arena *arena, struct question *q,
                          struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(&s->db, SQL_FIND_INBOX);
    struct telling t = tell(q);
    bool fits = true;
    stmt_i64(&stmt, INBOX_KINDS);
    stmt_u64(&stmt, q->after_id);
    stmt_i64(&stmt, q->submissions);
    for (bool found = true; found && fits;) {
        TRY(stmt_next(&stmt, &found, err));
        fits = !found || tell_row(&t, &stmt, arena);
    }
    told(&t, !fits, q);
    return RC_OK;
}

enum rc sqlite_find_left_mail(struct sqlite_store *s, struct arena *arena, struct question *q,
                              struct err *err)
{
    struct telling t = tell(q);
    bool fits = true;
    for (size_t i = 0; i < q->id_count && fits; i++) {
        CLEANUP(stmt_end) struct stmt stmt = db_stmt(&s->db, SQL_FIND_LEFT_MAIL);
        bool found;
        stmt_i64(&stmt, INBOX_KINDS);
        stmt_u64(&stmt, q->ids[i]);
        TRY(stmt_next(&stmt, &found, err));
        fits = !found || tell_row(&t, &stmt, arena);
    }
    told(&t, !fits, q);
    return RC_OK;
}

static enum rc keep_mail(struct db *db, const struct inbox_rec *rec, struct err *err)
{
    struct stmt stmt = db_stmt(db, SQL_INSERT_INBOX);
    stmt_i64(&stmt, rec->bucket);
    stmt_i64(&stmt, rec->kind);
    stmt_i64(&stmt, rec->sent_ms);
    stmt_u64(&stmt, rec->about);
    stmt_u64(&stmt, rec->from);
    stmt_i64(&stmt, rec->value);
    stmt_i64(&stmt, rec->number);
    stmt_text(&stmt, rec->name);
    stmt_text(&stmt, rec->actor);
    stmt_text(&stmt, rec->body);
    return stmt_done(&stmt, err);
}

static enum rc keep_mail_read(struct db *db, const uint64_t *id, struct err *err)
{
    struct stmt stmt = db_stmt(db, SQL_DELETE_INBOX);
    stmt_u64(&stmt, *id);
    TRY(stmt_done(&stmt, err));
    if (sqlite3_changes(db->handle) == 1)
        return RC_OK;
    return err_set(err, RC_CONFLICT, "row %" PRIu64 " of the inbox is not there (any more)", *id);
}

static enum rc keep_waiter(struct db *db, const struct waiter_change *change, struct err *err)
{
    struct stmt stmt = db_stmt(db, change->forget ? SQL_FORGET_WAITER : SQL_PUT_WAITER);
    stmt_record(&stmt, &waiter_fields, change->forget ? FIELD_KEY : FIELD_ANY, &change->waiter);
    return stmt_done(&stmt, err);
}

static enum rc keep_permit(struct db *db, const struct permit_change *change, struct err *err)
{
    struct stmt stmt = db_stmt(db, change->forget ? SQL_FORGET_PERMIT : SQL_PUT_PERMIT);
    stmt_record(&stmt, &permit_fields, change->forget ? FIELD_KEY : FIELD_ANY, &change->permit);
    return stmt_done(&stmt, err);
}

static enum rc forget_rejected(struct db *db, int64_t from_ms, struct err *err)
{
    struct stmt stmt = db_stmt(db, SQL_FORGET_REJECTED);
    stmt_i64(&stmt, from_ms);
    return stmt_done(&stmt, err);
}

static enum rc keep_rejected(struct db *db, const struct rejected_rec *rec, struct err *err)
{
    struct stmt stmt = db_stmt(db, SQL_INSERT_REJECTED);
    stmt_record(&stmt, &rejected_fields, FIELD_ANY, rec);
    return stmt_done(&stmt, err);
}

#define KEEP(one, many, type, alone)                                                               \
    for (size_t i = 0; i < delta->one##_count; i++)                                                \
        TRY(keep_##one(db, &delta->many[i], err));

enum rc sqlite_keep_mail(struct db *db, const struct delta *delta, struct err *err)
{
    if (delta->rejected_count > 0)
        TRY(forget_rejected(db, delta->rejected_from_ms, err));
    DELTA_MAIL(KEEP)
    return RC_OK;
}

enum rc sqlite_list_rejected(struct reader *reader, const struct page *page, struct arena *arena,
                             struct rejected_page *ret_page, struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(reader_db(reader), SQL_LIST_REJECTED);
    VEC(struct rejected_rec) found = {0};
    stmt_i64(&stmt, page->before == 0 ? INT64_MAX : (int64_t)page->before);
    stmt_u64(&stmt, page->limit + 1);
    for (;;) {
        bool more;
        struct rejected_rec rec;
        TRY(stmt_next(&stmt, &more, err));
        if (!more)
            break;
        struct row row = stmt_row(&stmt, arena);
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
