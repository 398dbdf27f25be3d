/* limit_remote.c - permits that our executions need: asking for them, holding them, giving them
 * back. */
#include "engine/ready/limit_remote.h"
#include "engine/core/exec.h"
#include "engine/core/mail.h"
#include "engine/core/model.h"
#include "engine/core/undo.h"
#include "engine/ready/limit.h"
#include "engine/ready/ready.h"

#include <assert.h>
#include <inttypes.h>

enum {
    IDLE_MS = 10000,      /* a permit that no worker makes use of goes back after this */
    PATIENT_MS = 3600000, /* before one that holds nothing asks again */
};

/* ---- which limits an execution needs permits for: a bit for each bar, and one for its queue */

static const struct limit *limit_of(const struct exec *x, unsigned bar)
{
    return bar == BARS ? NULL : x->job->v.def->rules.track->bars[bar].limit;
}

static struct str key_of(const struct exec *x, unsigned bar)
{
    return bar == BARS ? x->job->v.def->rules.queue->home_key : limit_home_key(limit_of(x, bar));
}

static uint32_t home_of(const struct exec *x, unsigned bar)
{
    return bar == BARS ? x->job->v.def->rules.queue->home : limit_of(x, bar)->home;
}

static bool is_limited(const struct exec *x, unsigned bar)
{
    const struct limit *limit = limit_of(x, bar);
    if (bar == BARS)
        return x->job->v.def->rules.queue->v.concurrency > 0;
    return limit != NULL && (bar != BAR_TEAM || limit->v.max > 0);
}

static bool is_ours(const struct engine *e, const struct exec *x, unsigned bar)
{
    return partition_has_bucket(&e->owned, home_of(x, bar));
}

/* The limits whose homes are in other partitions than the execution. */
static unsigned apart(const struct engine *e, const struct exec *x)
{
    unsigned bits = 0;
    uint32_t count = e->owned.count;
    if (count <= 1)
        return 0;
    for (unsigned bar = 0; bar <= BARS; bar++) {
        if (is_limited(x, bar) &&
            partition_of_bucket(count, home_of(x, bar)) != partition_of(count, x->id))
            bits |= 1U << bar;
    }
    return bits;
}

static unsigned remote(const struct engine *e, const struct exec *x)
{
    unsigned bits = apart(e, x);
    for (unsigned bar = 0; bar <= BARS; bar++) {
        if (bits >> bar & 1 && is_ours(e, x, bar))
            bits &= ~(1U << bar);
    }
    return bits;
}

static bool holds_anything_else(const struct exec *x, unsigned wants)
{
    for (unsigned bar = 0; bar <= BARS; bar++) {
        if (is_limited(x, bar) && wants != 1U << bar && bar != BAR_RATE)
            return true;
    }
    return false;
}

/* ---- asking, and giving back */

static struct permit_rec own_row(const struct engine *e, const struct exec *x, unsigned bar)
{
    return (struct permit_rec){
        .key = key_of(x, bar),
        .exec_id = x->id,
        .bucket = home_of(x, bar),
        .granted = true,
        .asked_ms = e->now_ms,
    };
}

static uint64_t rank_of(const struct engine *e, const struct exec *x)
{
    return ready_rank(&e->ready, x->job->v.def->rules.priority, x->v.ready_ms);
}

static int64_t max_of(const struct exec *x, unsigned bar)
{
    const struct bar *bars = x->job->v.def->rules.track->bars;
    return bar == BAR_RATE          ? bars[bar].interval_us
           : bar == BAR_CONCURRENCY ? bars[bar].max
           : bar == BAR_TEAM        ? bars[bar].limit->v.max
                                    : x->job->v.def->rules.queue->v.concurrency;
}

static void ask_for(struct engine *e, const struct exec *x, unsigned bar, bool runs)
{
    struct inbox_rec *rec = mail_send(e, INBOX_ASK, home_of(x, bar));
    rec->name = arena_str(e->turn.arena, key_of(x, bar));
    rec->from = x->id;
    rec->about = x->v.ask;
    rec->value = (int64_t)rank_of(e, x);
    rec->number = runs ? 0 : max_of(x, bar);
}

bool permits_ask(struct engine *e, struct exec *x)
{
    unsigned wants = remote(e, x) & ~(unsigned)x->v.has;
    if (wants == 0)
        return false;
    touch_exec(e, x);
    struct exec_values to = x->v;
    to.wants = (uint8_t)wants;
    to.ask = id_next(&e->ids, e->now_ms, id_bucket(x->id));
    to.give_back_ms = e->boot_ms + (holds_anything_else(x, wants) ? IDLE_MS : PATIENT_MS);
    exec_set(e, x, &to);
    for (unsigned bar = 0; bar <= BARS; bar++) {
        if (wants >> bar & 1)
            ask_for(e, x, bar, false);
    }
    return true;
}

void permits_started(struct engine *e, struct exec *x)
{
    unsigned missing = apart(e, x) & ~(unsigned)x->v.has;
    touch_exec(e, x);
    x->v.wants = 0;
    x->v.has &= (uint8_t) ~(1U << BAR_RATE);
    for (unsigned bar = 0; bar <= BARS; bar++) {
        if (!(missing >> bar & 1) || bar == BAR_RATE)
            continue;
        x->v.has |= (uint8_t)(1U << bar);
        if (is_ours(e, x, bar))
            *VEC_PUSH(e->turn.arena, &e->turn.permit_changes) =
                (struct permit_change){.permit = own_row(e, x, bar)};
        else
            ask_for(e, x, bar, true);
    }
}

static void free_one(struct engine *e, const struct exec *x, unsigned bar)
{
    if (is_ours(e, x, bar)) {
        *VEC_PUSH(e->turn.arena, &e->turn.permit_changes) =
            (struct permit_change){.forget = true, .permit = own_row(e, x, bar)};
        return;
    }
    struct inbox_rec *rec = mail_send(e, INBOX_FREE, home_of(x, bar));
    rec->name = arena_str(e->turn.arena, key_of(x, bar));
    rec->from = x->id;
}

void permits_end(struct engine *e, const struct exec *x, struct exec_values *to)
{
    for (unsigned bar = 0; bar <= BARS; bar++) {
        bool spent = bar == BAR_RATE && !(to->wants >> bar & 1); /* the home keeps nothing of it */
        if ((to->wants | to->has) >> bar & 1 && !spent)
            free_one(e, x, bar);
    }
    to->wants = to->has = 0;
    to->give_back_ms = 0;
}

void permits_give_back(struct engine *e, struct exec *x)
{
    touch_exec(e, x);
    struct exec_values to = x->v;
    permits_end(e, x, &to);
    exec_set(e, x, &to);
}

bool permits_waited(const struct exec *x, unsigned *bar, struct str *ret_key)
{
    for (; *bar <= BARS; ++*bar) {
        if (x->v.wants >> *bar & 1) {
            *ret_key = key_of(x, *bar);
            return true;
        }
    }
    return false;
}

void permits_inherit(const struct engine *e, struct exec *x)
{
    x->v.has = (uint8_t)(apart(e, x) & ~(1U << BAR_RATE));
}

/* ---- after a start: permits of homes elsewhere */

static void list_holders(const struct engine *e, uint32_t partition, struct buf *out)
{
    MAP_EACH(&e->execs, slot)
    {
        const struct exec *x = slot->value;
        bool holds = false;
        for (unsigned bar = 0; bar <= BARS && x->v.has != 0; bar++)
            holds |= (x->v.has >> bar & 1) &&
                     partition_of_bucket(e->owned.count, home_of(x, bar)) == partition;
        if (holds)
            buf_printf(out, "%" PRIu64 " ", x->id);
    }
}

/* Rows of executions that have come into the same hands as their homes since, and hold nothing. */
static void forget_stale(struct engine *e)
{
    for (const struct own_row *row = e->own_rows; row != NULL; row = row->next) {
        const struct exec *x = map_get(&e->execs, row->exec_id);
        if (x == NULL || x->v.has == 0)
            *VEC_PUSH(e->turn.arena, &e->turn.permit_changes) = (struct permit_change){
                .forget = true, .permit = {.key = row->key, .exec_id = row->exec_id}};
    }
}

void permits_announce(struct engine *e)
{
    enum { LIST_BYTES_MAX = 64 << 20 }; /* some three million leases */
    if (!e->inbox.post.announce || e->owned.count <= 1 || e->owned.bits == 0)
        return;
    e->inbox.post.announce = false;
    forget_stale(e);
    for (uint32_t partition = 0; partition < e->owned.count; partition++) {
        CLEANUP(buf_free) struct buf list = BUF(LIST_BYTES_MAX);
        if (e->owned.bits >> partition & 1)
            continue;
        list_holders(e, partition, &list);
        assert(!list.overflow);
        struct inbox_rec *rec =
            mail_send(e, INBOX_KEEP, partition_first_bucket(e->owned.count, partition));
        rec->value = (int64_t)e->owned.bits;
        rec->body = arena_str(e->turn.arena, buf_str(&list));
    }
}

/* ---- limits that come while work runs */

void permits_limited(struct engine *e, uint32_t before, uint32_t max)
{
    e->inbox.post.limited |= before == 0 && max > 0;
}

void permits_count_running(struct engine *e)
{
    if (!e->inbox.post.limited || e->owned.count <= 1)
        return;
    struct exec **execs = ARENA_ARRAY(e->turn.arena, struct exec *, e->execs.len);
    size_t count = 0;
    e->inbox.post.limited = false;
    MAP_EACH(&e->execs, slot)
    {
        struct exec *x = slot->value;
        if (exec_is_leased(x->v.state) && (apart(e, x) & ~(unsigned)x->v.has & ~(1U << BAR_RATE)))
            execs[count++] = x;
    }
    execs_sort(execs, count); /* their mail goes in this order */
    for (size_t i = 0; i < count; i++)
        permits_started(e, execs[i]);
}

/* ---- what homes say */

static unsigned find_bar(const struct exec *x, struct str key)
{
    for (unsigned bar = 0; bar <= BARS; bar++) {
        if ((bar == BARS || limit_of(x, bar) != NULL) && str_eq(key_of(x, bar), key))
            return bar;
    }
    return BARS + 1;
}

/* It came for nobody: back to its home. */
static void return_to_home(struct engine *e, const struct inbox_rec *rec)
{
    uint32_t home = inbox_home(rec->name);
    if (partition_has_bucket(&e->owned, home)) {
        *VEC_PUSH(e->turn.arena, &e->turn.permit_changes) = (struct permit_change){
            .forget = true, .permit = {.key = rec->name, .exec_id = rec->about}};
        return;
    }
    struct inbox_rec *back = mail_send(e, INBOX_FREE, home);
    back->name = rec->name;
    back->from = rec->about;
}

void heard_grant(struct engine *e, const struct inbox_rec *rec)
{
    struct exec *x = map_get(&e->execs, rec->about);
    unsigned bar = x == NULL ? BARS + 1 : find_bar(x, rec->name);
    unsigned bit = bar > BARS ? 0 : 1U << bar;
    if (x == NULL || ((x->v.wants | x->v.has) & bit) == 0) {
        return_to_home(e, rec);
        return;
    }
    if (!(x->v.wants & bit) || x->v.ask != rec->from)
        return; /* of an older request: the answer to the newer one is under way */
    touch_exec(e, x);
    struct exec_values to = x->v;
    to.wants &= (uint8_t)~bit;
    to.has |= (uint8_t)bit;
    to.give_back_ms = e->boot_ms + IDLE_MS;
    exec_set(e, x, &to);
}
