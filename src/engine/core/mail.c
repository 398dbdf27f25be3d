/* mail.c - what partitions tell each other: when a turn reads the inbox, and how much of it.
 *
 * A turn that was told that there is mail, or did not look for a while, asks for a page of what
 * servers tell each other and for one of what users submit, acts upon each row (mail_act.c), and
 * names the rows in its delta: they go in the commit of their effect. The first is read apart and
 * acted upon first, so that no crowd of submissions is in the way of a permit, an end or a cancel.
 * Requests to other partitions go out with the delta in the same way.
 *
 * A row that has to wait stays where it is and is remembered (left.h): reading goes on behind it,
 * and once in a while some of those that wait are asked for by their ids. */
#include "engine/core/mail.h"
#include "base/plant.h"
#include "engine/core/left.h"
#include "engine/core/model.h"
#include "engine/ready/limit_remote.h"

#include <stdlib.h>

struct inbox_rec *mail_send(struct engine *e, enum inbox_kind kind, uint32_t bucket)
{
    struct inbox_rec *rec = VEC_PUSH(e->turn.arena, &e->turn.mail.sent);
    *rec = (struct inbox_rec){.kind = kind, .bucket = bucket, .sent_ms = e->now_ms};
    return rec;
}

void engine_mail(struct engine *e)
{
    e->inbox.post.told = e->options.mail_ms > 0;
}

struct mail_waiting engine_mail_waiting(const struct engine *e)
{
    return (struct mail_waiting){.waiting = left_waiting(&e->inbox.left),
                                 .unknown = e->inbox.left.strange,
                                 .why = e->inbox.left_why.text};
}

/* ---- turns that come to nothing */

bool engine_mail_doubt(struct engine *e, const char *why)
{
    if (e->inbox.refused)
        e->inbox.post.refuse_id = 0; /* it was refused in vain: something else is it, too */
    if (e->inbox.looked == 0 || e->inbox.refused)
        return false;
    e->inbox.post.told = true;
    e->inbox.post.page = e->inbox.looked / 2;
    if (e->inbox.looked == 1) {
        e->inbox.post.page = 1;
        e->inbox.post.refuse_id = e->inbox.first_id;
        err_set(&e->inbox.fault, RC_CONFLICT, "the store does not take it: %s", why);
    }
    return true;
}

void engine_hold_mail(struct engine *e, bool held)
{
    e->inbox.held = held;
}

static size_t halved(size_t limit, size_t max)
{
    size_t half = (limit > 0 ? limit : max) / 2;
    return half > 0 ? half : 1;
}

void engine_mail_lost(struct engine *e)
{
    if (!e->turn.mail.reading.looks)
        return;
    e->inbox.post.page = halved(e->inbox.post.page, e->options.inbox_page);
    e->inbox.post.bytes = halved(e->inbox.post.bytes, e->options.inbox_page_bytes);
}

/* Nothing was read: the next turn looks again, and its rounds begin where the lost ones began. */
void mail_undo(struct engine *e)
{
    e->inbox.post = e->turn.before.post;
    for (size_t i = 0; i < COUNT_OF(e->inbox.post.places); i++) {
        struct mail_place *place = &e->inbox.post.places[i];
        if (e->turn.mail.reading.asked[i] != NULL && place->after_id == 0 &&
            place->from == INBOX_ON)
            place->from = INBOX_AGAIN;
    }
}

static bool has_more(const struct post *post)
{
    return post->places[MAIL_NEWS].more || post->places[MAIL_WISHES].more || post->again;
}

int64_t mail_wait_ms(const struct engine *e, int64_t boot_ms)
{
    if (e->options.mail_ms == 0 || e->owned.bits == 0 || e->inbox.held)
        return INT64_MAX;
    return e->inbox.post.told || has_more(&e->inbox.post) ? 0 : e->inbox.post.look_ms - boot_ms;
}

/* ---- asking */

static struct question *new_question(struct engine *e, enum question_kind kind)
{
    struct question *q = ARENA_NEW(e->turn.arena, struct question);
    q->kind = kind;
    q->limit = e->inbox.post.page > 0 ? e->inbox.post.page : e->options.inbox_page;
    q->bytes_max = e->inbox.post.bytes > 0 ? e->inbox.post.bytes : e->options.inbox_page_bytes;
    return q;
}

/* A round that is over does not begin again because that of the other sort goes on: two sorts of
 * rows that stay would keep each other going for ever. */
static void ask_page(struct engine *e, enum mail_source source)
{
    const struct mail_place *place = &e->inbox.post.places[source];
    if (!e->turn.mail.reading.afresh && !place->more)
        return;
    struct question *q = new_question(e, ASK_INBOX);
    q->submissions = source == MAIL_WISHES;
    q->after_id = place->after_id;
    q->from = place->from;
    e->turn.mail.reading.asked[source] = q;
}

static void ask_left(struct engine *e)
{
    if (left_waiting(&e->inbox.left) == 0 || e->boot_ms < e->inbox.post.again_ms)
        return;
    struct question *q = new_question(e, ASK_LEFT_MAIL);
    uint64_t *ids = ARENA_ARRAY(e->turn.arena, uint64_t, q->limit);
    q->id_count = left_page(&e->inbox.left, e->inbox.post.again_after, q->limit, ids);
    q->ids = ids;
    e->turn.mail.reading.asked[MAIL_LEFT] = q;
}

/* The rows that a source answered with are those of the turn. A row that stays there, and was read
 * again, waits with the others that wait. */
static void gather(struct engine *e, enum mail_source source, size_t rows_max)
{
    const struct question *q = e->turn.mail.reading.asked[source];
    struct mail_read *reading = &e->turn.mail.reading;
    for (size_t i = 0; q != NULL && i < q->answer.mail_count && reading->rows.len < rows_max; i++) {
        const struct inbox_rec *rec = &q->answer.mail[i];
        reading->taken[source]++;
        if (source == MAIL_LEFT || !left_has(&e->inbox.left, rec->id))
            *VEC_PUSH(e->turn.arena, &reading->rows) =
                (struct mail_row){.rec = rec, .source = source};
    }
}

/* Servers' mail comes first; and what waited before what is new. */
static void gather_all(struct engine *e)
{
    size_t rows_max = e->inbox.post.page > 0 ? e->inbox.post.page : SIZE_MAX;
    gather(e, MAIL_NEWS, rows_max);
    gather(e, MAIL_LEFT, rows_max);
    gather(e, MAIL_WISHES, rows_max);
    for (size_t i = 0; i < e->turn.mail.reading.rows.len; i++)
        mail_prepare(e, &e->turn.mail.reading.rows.items[i]);
}

void mail_ask(struct engine *e, unsigned round, struct question_list *list)
{
    if (round == 0 && mail_wait_ms(e, e->boot_ms) <= 0) {
        e->turn.mail.reading.looks = true;
        e->turn.mail.reading.afresh = e->inbox.post.told || e->inbox.post.look_ms <= e->boot_ms;
        ask_page(e, MAIL_NEWS);
        ask_page(e, MAIL_WISHES);
        ask_left(e);
        for (size_t i = 0; i < MAIL_SOURCES; i++) {
            if (e->turn.mail.reading.asked[i] != NULL)
                *VEC_PUSH(e->turn.arena, list) = e->turn.mail.reading.asked[i];
        }
    }
    if (round == 0)
        return;
    if (round == 1)
        gather_all(e);
    for (size_t i = 0; i < e->turn.mail.reading.rows.len; i++) {
        if (e->turn.mail.reading.rows.items[i].cmd.kind != 0)
            engine_ask(e, &e->turn.mail.reading.rows.items[i].cmd, round - 1, list);
    }
}

/* ---- acting */

static void act(struct engine *e, struct mail_row *row)
{
    uint64_t id = row->rec->id;
    e->inbox.refused |= id == e->inbox.post.refuse_id;
    enum mail_fate fate = mail_act(e, row);
    if (fate == MAIL_DONE) {
        *VEC_PUSH(e->turn.arena, &e->turn.mail.read) = id;
        if (row->source == MAIL_LEFT)
            *VEC_PUSH(e->turn.arena, &e->turn.mail.went) = id;
        return;
    }
    *VEC_PUSH(e->turn.arena, &e->turn.mail.stays) =
        (struct left_row){.id = id, .strange = fate == MAIL_STRANGE};
    if (fate == MAIL_WAITS)
        e->turn.mail.reading.why = &row->err;
}

/* The next page goes on behind what was taken of this one. */
static void move_on(struct engine *e, enum mail_source source)
{
    struct mail_place *place = &e->inbox.post.places[source];
    if (e->turn.mail.reading.asked[source] == NULL)
        return;
    const struct answer *a = &e->turn.mail.reading.asked[source]->answer;
    size_t taken = e->turn.mail.reading.taken[source];
    bool cut = taken < a->mail_count;
    if (cut && taken > 0)
        place->after_id = a->mail[taken - 1].id;
    else if (!cut)
        place->after_id = a->after_id;
    if (!cut && !a->more)
        place->from = INBOX_ON;
    else if (place->after_id == 0 && place->from == INBOX_ON)
        place->from = INBOX_AGAIN; /* nothing of its first page was taken */
    place->more = cut || a->more;
}

/* Those that waited: the next ones are tried at once when most of these could be done, else later.
 * Rows that are not there any more, because somebody deleted them by hand, wait no longer. */
static void move_on_left(struct engine *e)
{
    const struct question *q = e->turn.mail.reading.asked[MAIL_LEFT];
    size_t taken = e->turn.mail.reading.taken[MAIL_LEFT];
    e->inbox.post.again = false;
    if (q == NULL)
        return;
    size_t done = e->turn.mail.went.len;
    bool whole = taken == q->answer.mail_count && !q->answer.more;
    uint64_t last = whole       ? q->ids[q->id_count - 1]
                    : taken > 0 ? q->answer.mail[taken - 1].id
                                : e->inbox.post.again_after;
    for (size_t i = 0, at = 0; i < q->id_count && q->ids[i] <= last; i++) {
        while (at < taken && q->answer.mail[at].id < q->ids[i])
            at++;
        if (at == taken || q->answer.mail[at].id != q->ids[i])
            *VEC_PUSH(e->turn.arena, &e->turn.mail.went) = q->ids[i];
    }
    e->inbox.post.again_after = last;
    bool goes_well = 2 * done >= taken && taken > 0;
    e->inbox.post.again_ms = e->boot_ms + (goes_well ? 0 : e->options.mail_ms);
    e->inbox.post.again = goes_well && left_waiting(&e->inbox.left) > done;
}

/* After a turn that was lost pages grow again step by step. */
static size_t grown(size_t limit, size_t max)
{
    return 2 * limit >= max ? 0 : 2 * limit;
}

void mail_step(struct engine *e)
{
    permits_announce(e);
    permits_count_running(e);
    if (!e->turn.mail.reading.looks)
        return;
    struct mail_read *reading = &e->turn.mail.reading;
    e->inbox.looked = reading->rows.len;
    e->inbox.first_id = reading->rows.len > 0 ? reading->rows.items[0].rec->id : 0;
    for (size_t i = 0; i < reading->rows.len; i++)
        act(e, &reading->rows.items[i]);
    e->inbox.post.told = PLANTED(unknown_mail_spins) && e->inbox.left.strange > 0;
    move_on(e, MAIL_NEWS);
    move_on(e, MAIL_WISHES);
    move_on_left(e);
    e->inbox.post.page = grown(e->inbox.post.page, e->options.inbox_page);
    e->inbox.post.bytes = grown(e->inbox.post.bytes, e->options.inbox_page_bytes);
    if (e->inbox.refused)
        e->inbox.post.refuse_id = 0;
    if (reading->afresh)
        e->inbox.post.look_ms = e->boot_ms + e->options.mail_ms;
}

static int by_number(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

void mail_commit(struct engine *e)
{
    if (e->turn.mail.went.len > 0)
        qsort(e->turn.mail.went.items, e->turn.mail.went.len, sizeof *e->turn.mail.went.items,
              by_number);
    left_remove(&e->inbox.left, e->turn.mail.went.items, e->turn.mail.went.len);
    for (size_t i = 0; i < e->turn.mail.stays.len; i++)
        left_add(&e->inbox.left, e->turn.mail.stays.items[i].id,
                 e->turn.mail.stays.items[i].strange);
    if (e->turn.mail.reading.why != NULL)
        e->inbox.left_why = *e->turn.mail.reading.why;
}
