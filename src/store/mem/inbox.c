/* inbox.c - what partitions told each other, what they keep for one another, and what was
 * refused. */
#include "base/mem.h"
#include "base/plant.h"
#include "store/mem/mem.h"
#include "store/mem/rows.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- mail */

static struct inbox_rec *kept_mail(const struct inbox_rec *rec)
{
    struct inbox_rec *kept = mem_dup(rec, sizeof *rec);
    kept->name = kept_text(rec->name);
    kept->actor = kept_text(rec->actor);
    kept->body = kept_text(rec->body);
    return kept;
}

static void kept_mail_free(struct inbox_rec *rec)
{
    if (rec == NULL)
        return;
    kept_text_free(&rec->name);
    kept_text_free(&rec->actor);
    kept_text_free(&rec->body);
    free(rec);
}

static int mail_by_id(const void *a, const void *b)
{
    uint64_t left = (*(const struct inbox_rec *const *)a)->id;
    uint64_t right = (*(const struct inbox_rec *const *)b)->id;
    return left < right ? -1 : left > right;
}

/* As a bug would have it: mail that was passed by is not looked for any more. */
static bool is_skipped(const struct mem_store *m, const struct inbox_rec *rec)
{
    return PLANTED(inbox_gap_skipped) && rec->id < m->mail_seen;
}

static struct inbox_rec told_mail(const struct inbox_rec *rec, struct arena *arena)
{
    struct inbox_rec told = *rec;
    told.name = arena_str(arena, rec->name);
    told.actor = arena_str(arena, rec->actor);
    told.body = inbox_is_known(rec->kind) ? arena_str(arena, rec->body) : STR("");
    return told;
}

/* Of rows that are in order: a page. */
static void tell_mail(struct mem_store *m, struct inbox_rec *const *found, size_t count,
                      struct arena *arena, struct question *q)
{
    struct inbox_page page = {.rows_max = q->limit,
                              .bytes_max = q->bytes_max > 0 ? q->bytes_max : INBOX_PAGE_BYTES};
    struct inbox_rec *mail = ARENA_ARRAY(arena, struct inbox_rec, count + 1);
    while (page.rows < count) {
        size_t i = page.rows;
        mail[i] = told_mail(found[i], arena);
        if (!inbox_page_takes(&page, &mail[i]))
            break;
        m->mail_seen = mail[i].id;
        if (PLANTED(inbox_read_outside_commit))
            kept_mail_free(map_remove(&m->mail, mail[i].id));
    }
    q->answer.mail = mail;
    q->answer.mail_count = page.rows;
    q->answer.more = page.rows < count;
    q->answer.after_id = q->answer.more ? mail[page.rows - 1].id : 0;
}

/* As a bug would have it: all sorts are one, and every page is the first. */
static bool is_asked_for(const struct question *q, const struct inbox_rec *rec)
{
    if (PLANTED(busy_mail_hides))
        return !q->submissions;
    return rec->id > q->after_id && (rec->kind == INBOX_SUBMIT) == q->submissions;
}

void mem_answer_inbox(struct mem_store *m, const struct partition_set *owned, struct arena *arena,
                      struct question *q)
{
    struct inbox_rec **found = ARENA_ARRAY(arena, struct inbox_rec *, m->mail.len + 1);
    size_t count = 0;
    MAP_EACH(&m->mail, slot)
    {
        struct inbox_rec *rec = slot->value;
        if (partition_has_bucket(owned, rec->bucket) && is_asked_for(q, rec) && !is_skipped(m, rec))
            found[count++] = rec;
    }
    qsort(found, count, sizeof(struct inbox_rec *), mail_by_id);
    tell_mail(m, found, count, arena, q);
    if (PLANTED(busy_mail_hides))
        q->answer.more = false;
}

void mem_answer_left_mail(struct mem_store *m, const struct partition_set *owned,
                          struct arena *arena, struct question *q)
{
    struct inbox_rec **found = ARENA_ARRAY(arena, struct inbox_rec *, q->id_count + 1);
    size_t count = 0;
    for (size_t i = 0; i < q->id_count; i++) {
        struct inbox_rec *rec = map_get(&m->mail, q->ids[i]);
        if (rec != NULL && partition_has_bucket(owned, rec->bucket))
            found[count++] = rec;
    }
    tell_mail(m, found, count, arena, q);
}

uint64_t store_mem_mail_number(struct store *store)
{
    return ++mem_of(store)->mail_numbers;
}

void store_mem_mail(struct store *store, const struct inbox_rec *rec)
{
    struct mem_store *m = mem_of(store);
    struct mem_store *standby = mem_standby(m);
    map_put(&m->mail, rec->id, kept_mail(rec));
    if (standby != NULL)
        map_put(&standby->mail, rec->id, kept_mail(rec));
}

void store_mem_each_mail(struct store *store, void (*tell)(void *arg, const struct inbox_rec *rec),
                         void *arg)
{
    MAP_EACH(&mem_of(store)->mail, slot) tell(arg, slot->value);
}

size_t store_mem_mail_count(struct store *store)
{
    return mem_of(store)->mail.len;
}

/* ---- what a commit does */

enum rc mem_mail_fits(const struct mem_store *m, const struct delta *delta, struct err *err)
{
    for (size_t i = 0; i < delta->mail_read_count; i++) {
        if (map_get(&m->mail, delta->mail_read[i]) == NULL && !PLANTED(inbox_read_outside_commit))
            return err_set(err, RC_CONFLICT, "row %" PRIu64 " of the inbox is not there (any more)",
                           delta->mail_read[i]);
    }
    return RC_OK;
}

static void apply_mail(struct mem_store *m, const struct inbox_rec *rec)
{
    struct inbox_rec *kept = kept_mail(rec);
    kept->id = ++m->mail_numbers;
    map_put(&m->mail, kept->id, kept);
}

static struct str waiter_key(const struct waiter_rec *rec)
{
    return str_of((const char *)rec, offsetof(struct waiter_rec, dependant));
}

static void apply_waiter(struct mem_store *m, const struct waiter_change *change)
{
    free(strmap_remove(&m->waiters, waiter_key(&change->waiter)));
    if (change->forget)
        return;
    struct waiter_rec *kept = mem_dup(&change->waiter, sizeof *kept);
    strmap_put(&m->waiters, waiter_key(kept), kept);
}

static void apply_permit(struct mem_store *m, const struct permit_change *change)
{
    size_t at = 0;
    const struct permit_rec *to = &change->permit;
    while (at < m->permit_count &&
           (m->permits[at]->exec_id != to->exec_id || !str_eq(m->permits[at]->key, to->key)))
        at++;
    if (at < m->permit_count) {
        kept_permit_free(m->permits[at]);
        m->permits[at] = m->permits[--m->permit_count];
    }
    if (change->forget)
        return;
    m->permits = kept_rows_grow(m->permits, m->permit_count, sizeof(struct permit_rec *));
    m->permits[m->permit_count++] = kept_permit(to);
}

static void forget_rejected(struct mem_store *m, int64_t from_ms)
{
    size_t kept = 0;
    for (size_t i = 0; i < m->rejected_count; i++) {
        if (m->rejected[i]->at_ms < from_ms)
            kept_rejected_free(m->rejected[i]);
        else
            m->rejected[kept++] = m->rejected[i];
    }
    m->rejected_count = kept;
}

static void apply_mail_read(struct mem_store *m, const uint64_t *id)
{
    kept_mail_free(map_remove(&m->mail, *id));
}

static void apply_rejected(struct mem_store *m, const struct rejected_rec *rec)
{
    m->rejected = kept_rows_grow(m->rejected, m->rejected_count, sizeof(struct rejected_rec *));
    m->rejected[m->rejected_count++] = kept_rejected(rec);
}

#define APPLY(one, many, type, alone)                                                              \
    for (size_t i = 0; i < delta->one##_count; i++)                                                \
        apply_##one(m, &delta->many[i]);

void mem_apply_inbox(struct mem_store *m, const struct delta *delta)
{
    if (delta->rejected_count > 0)
        forget_rejected(m, delta->rejected_from_ms);
    DELTA_MAIL(APPLY)
}

/* ---- loading */

static int waiter_by_ids(const void *a, const void *b)
{
    const struct waiter_rec *left = a;
    const struct waiter_rec *right = b;
    if (left->upstream != right->upstream)
        return left->upstream < right->upstream ? -1 : 1;
    return left->exec_id < right->exec_id ? -1 : left->exec_id > right->exec_id;
}

enum rc mem_load_waiters(const struct mem_store *m, const struct partition_set *owned,
                         const struct load_sink *sink, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct waiter_rec *found = ARENA_ARRAY(&arena, struct waiter_rec, m->waiters.len + 1);
    size_t count = 0;
    for (size_t i = 0; i < m->waiters.cap; i++) {
        const struct waiter_rec *rec = m->waiters.slots[i].value;
        if (rec != NULL && partition_has(owned, rec->upstream))
            found[count++] = *rec;
    }
    qsort(found, count, sizeof *found, waiter_by_ids);
    for (size_t i = 0; i < count; i++)
        TRY(sink->waiter(sink->arg, &found[i], err));
    return RC_OK;
}

static int permit_by_key(const void *a, const void *b)
{
    const struct permit_rec *left = a;
    const struct permit_rec *right = b;
    int order = str_cmp(left->key, right->key);
    return order != 0                       ? order
           : left->exec_id < right->exec_id ? -1
                                            : left->exec_id > right->exec_id;
}

enum rc mem_load_permits(const struct mem_store *m, const struct partition_set *owned,
                         const struct load_sink *sink, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct permit_rec *found = ARENA_ARRAY(&arena, struct permit_rec, m->permit_count + 1);
    size_t count = 0;
    for (size_t i = 0; i < m->permit_count; i++) {
        if (partition_has_bucket(owned, m->permits[i]->bucket))
            found[count++] = *m->permits[i];
    }
    qsort(found, count, sizeof *found, permit_by_key);
    for (size_t i = 0; i < count; i++)
        TRY(sink->permit(sink->arg, &found[i], err));
    return RC_OK;
}

/* ---- reading */

static int rejected_newest_first(const void *a, const void *b)
{
    uint64_t left = (*(const struct rejected_rec *const *)a)->id;
    uint64_t right = (*(const struct rejected_rec *const *)b)->id;
    return left < right ? 1 : left > right ? -1 : 0;
}

void mem_list_rejected(const struct mem_store *m, const struct page *page, struct arena *arena,
                       struct rejected_page *ret_page)
{
    struct rejected_rec **found = ARENA_ARRAY(arena, struct rejected_rec *, m->rejected_count + 1);
    size_t count = 0;
    for (size_t i = 0; i < m->rejected_count; i++) {
        if (page->before == 0 || m->rejected[i]->id < page->before)
            found[count++] = m->rejected[i];
    }
    qsort(found, count, sizeof(struct rejected_rec *), rejected_newest_first);
    size_t shown = count < page->limit ? count : page->limit;
    struct rejected_rec *copies = ARENA_ARRAY(arena, struct rejected_rec, shown + 1);
    for (size_t i = 0; i < shown; i++) {
        copies[i] = *found[i];
        fields_copy(&rejected_fields, &copies[i], arena);
    }
    *ret_page = (struct rejected_page){
        .rejected = copies, .count = shown, .next = count > shown ? copies[shown - 1].id : 0};
}

void mem_free_inbox(struct mem_store *m)
{
    MAP_EACH(&m->mail, slot) kept_mail_free(slot->value);
    map_free(&m->mail);
    for (size_t i = 0; i < m->waiters.cap; i++)
        free(m->waiters.slots[i].value);
    strmap_free(&m->waiters);
    for (size_t i = 0; i < m->permit_count; i++)
        kept_permit_free(m->permits[i]);
    free(m->permits);
    for (size_t i = 0; i < m->rejected_count; i++)
        kept_rejected_free(m->rejected[i]);
    free(m->rejected);
}
