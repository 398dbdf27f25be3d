/* permits.c - limits that count in more than one partition.
 *
 * Every limit key has a home, the partition of its hash, and the home's owner alone says how many may run
 * at once and when the next may start. An execution in the home's own partition needs nothing for that: its
 * lease is what counts, it moves together with the home, and a start counts it again. One of another
 * partition needs a *permit*, a row with the home that names it:
 *
 *   - where we own both, the row is written in the commit that grants the lease and goes in the one
 *     that ends it, and leases count as ever. So when the partitions part, the new home knows;
 *   - where the home is elsewhere, the execution that a worker could have now leaves its track and asks
 *     (INBOX_ASK). The home keeps the request, and grants it when it is its turn (INBOX_GRANT), in
 *     the order of ranks, its own work included. The execution is then the next for a worker, and gives
 *     the permit back in the commit that ends its lease (INBOX_FREE), or when no worker took it for a
 *     while. A rate has nothing to give back: the home lets requests through one by one.
 *
 * What an engine has asked for counts with its own view of the limit, so it never asks for more than
 * could be granted to it. Whoever has some of what it needs and waits for more gives all back after a while
 * and asks again, since two may wait for one another.
 *
 * A server that starts knows what its leases hold, and nothing of what it asked for or was granted beyond
 * that. So it says once, to each partition elsewhere, who holds something, and nobody else does
 * (INBOX_KEEP); then it asks anew. A grant says which request it answers, and one that nobody waits for goes
 * back.
 *
 *   INBOX_ASK    name: key  from: execution  about: number of the request  value: rank
 *                number: of how many, or microseconds between starts; 0: it runs already
 *   INBOX_GRANT  name: key  about: execution  from: number of the request
 *   INBOX_FREE   name: key  from: execution
 *   INBOX_KEEP   value: partitions of who says it, as bits  body: ids of executions, as numbers */
#include "base/mem.h"
#include "engine/internal.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    IDLE_MS = 10000,      /* a permit that no worker makes use of goes back after this */
    PATIENT_MS = 3600000, /* who holds nothing may wait; it asks again now and then all the same */
};

static struct moment now_of(const struct engine *e)
{
    return (struct moment){.wall_ms = e->now_ms, .boot_ms = e->boot_ms};
}

/* ---- which limits an execution needs permits for: a bit for each bar, and one for its queue */

static const struct limit *limit_of(const struct exec *x, unsigned bar)
{
    return bar == BARS ? NULL : x->job->v.def->track->bars[bar].limit;
}

static struct str key_of(const struct exec *x, unsigned bar)
{
    return bar == BARS ? x->job->v.def->queue->home_key : limit_home_key(limit_of(x, bar));
}

static uint32_t home_of(const struct exec *x, unsigned bar)
{
    return bar == BARS ? x->job->v.def->queue->home : limit_of(x, bar)->home;
}

static bool is_limited(const struct exec *x, unsigned bar)
{
    const struct limit *limit = limit_of(x, bar);
    if (bar == BARS)
        return x->job->v.def->queue->v.concurrency > 0;
    return limit != NULL && (bar != BAR_TEAM || limit->v.max > 0);
}

static bool is_ours(const struct engine *e, const struct exec *x, unsigned bar)
{
    return partition_has_bucket(&e->owned, home_of(x, bar));
}

/* Whose homes are in other partitions than the execution. */
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
    return ready_rank(&e->ready, x->job->v.def->priority, x->v.ready_ms);
}

static int64_t max_of(const struct exec *x, unsigned bar)
{
    const struct bar *bars = x->job->v.def->track->bars;
    return bar == BAR_RATE          ? bars[bar].interval_us
           : bar == BAR_CONCURRENCY ? bars[bar].max
           : bar == BAR_TEAM        ? bars[bar].limit->v.max
                                    : x->job->v.def->queue->v.concurrency;
}

static void ask_for(struct engine *e, const struct exec *x, unsigned bar, bool runs)
{
    struct inbox_rec *rec = mail_send(e, INBOX_ASK, home_of(x, bar));
    rec->name = arena_str(e->arena, key_of(x, bar));
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
            *VEC_PUSH(e->arena, &e->permit_changes) =
                (struct permit_change){.permit = own_row(e, x, bar)};
        else
            ask_for(e, x, bar, true);
    }
}

static void free_one(struct engine *e, const struct exec *x, unsigned bar)
{
    if (is_ours(e, x, bar)) {
        *VEC_PUSH(e->arena, &e->permit_changes) =
            (struct permit_change){.forget = true, .permit = own_row(e, x, bar)};
        return;
    }
    struct inbox_rec *rec = mail_send(e, INBOX_FREE, home_of(x, bar));
    rec->name = arena_str(e->arena, key_of(x, bar));
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

/* ---- the home: what it has granted, and who waits */

static struct permit *permit_find(const struct engine *e, struct str key, uint64_t exec_id)
{
    const struct home *home = strmap_get(&e->homes, key);
    return home == NULL ? NULL : map_get(&home->permits, exec_id);
}

static void lend(struct engine *e, const struct home *home, int by)
{
    if (home->queue != NULL)
        queue_lend(e, home->queue, by);
    else if (home->kind != LIMIT_RATE)
        ready_lend(&e->ready, home->limit, by);
}

static void permit_place(struct engine *e, struct permit *p)
{
    if (p->v.gone)
        return;
    if (p->v.granted)
        lend(e, p->home, 1);
    else
        heap_push(&p->home->asks, &p->place, (uint64_t)p->v.rank, p->exec_id);
}

static void permit_unplace(struct engine *e, struct permit *p)
{
    if (heap_holds(&p->place))
        heap_remove(&p->home->asks, &p->place);
    else if (!p->v.gone)
        lend(e, p->home, -1);
}

void permit_set(struct engine *e, struct permit *p, const struct permit_values *to)
{
    permit_unplace(e, p);
    p->v = *to;
    permit_place(e, p);
}

/* NULL: no such kind. */
static struct home *home_find_or_make(struct engine *e, struct str key)
{
    struct home *home = strmap_get(&e->homes, key);
    int kind = key.len > 1 ? key.ptr[0] - '0' : 0;
    if (home != NULL || kind < LIMIT_CONCURRENCY || kind > LIMIT_QUEUE)
        return home;
    home = mem_new(sizeof *home + key.len);
    memcpy(home + 1, key.ptr, key.len);
    home->key = str_of((char *)(home + 1), key.len);
    home->kind = (enum limit_kind)kind;
    if (kind == LIMIT_QUEUE)
        home->queue = queue_of(e, str_from(home->key, 1));
    else
        home->limit = limit_join(&e->ready.limits, home->kind, str_from(home->key, 1));
    strmap_put(&e->homes, home->key, home);
    return home;
}

static void home_free(struct engine *e, struct home *home)
{
    strmap_remove(&e->homes, home->key);
    heap_free(&home->asks);
    map_free(&home->permits);
    if (home->limit != NULL)
        limit_leave(&e->ready.limits, home->limit);
    free(home);
}

void homes_free(struct engine *e)
{
    for (struct own_row *row; (row = e->own_rows) != NULL;) {
        e->own_rows = row->next;
        free(row);
    }
    for (size_t i = 0; i < e->homes.cap; i++) {
        struct home *home = e->homes.slots[i].value;
        if (home == NULL)
            continue;
        MAP_EACH(&home->permits, slot) free(slot->value);
        heap_free(&home->asks);
        map_free(&home->permits);
        free(home);
    }
    strmap_free(&e->homes);
}

static struct permit *permit_new(struct engine *e, struct home *home, uint64_t exec_id,
                                 int64_t asked_ms, const struct permit_values *v)
{
    struct permit *p = MEM_NEW(struct permit);
    p->home = home;
    p->exec_id = exec_id;
    p->asked_ms = asked_ms;
    p->v = *v;
    map_put(&home->permits, exec_id, p);
    permit_place(e, p);
    return p;
}

void permit_free(struct engine *e, struct permit *p)
{
    struct home *home = p->home;
    permit_unplace(e, p);
    map_remove(&home->permits, p->exec_id);
    free(p);
    if (home->permits.len == 0)
        home_free(e, home);
}

struct permit_change permit_changed(const struct permit *p)
{
    return (struct permit_change){
        .forget = p->v.gone,
        .permit = {.key = p->home->key,
                   .exec_id = p->exec_id,
                   .bucket = inbox_home(p->home->key),
                   .granted = p->v.granted,
                   .max = p->v.max,
                   .rank = p->v.rank,
                   .ask = p->v.ask,
                   .asked_ms = p->asked_ms},
    };
}

static void change(struct engine *e, struct permit *p, struct permit_values to)
{
    touch_permit(e, p)->durable = true;
    permit_set(e, p, &to);
}

static void say_granted(struct engine *e, const struct permit *p)
{
    struct inbox_rec *rec = mail_send(e, INBOX_GRANT, id_bucket(p->exec_id));
    rec->name = arena_str(e->arena, p->home->key);
    rec->about = p->exec_id;
    rec->from = p->v.ask;
}

static bool has_room(const struct permit *p)
{
    const struct home *home = p->home;
    const struct limit *limit = home->limit;
    if (home->queue != NULL)
        return home->queue->v.concurrency == 0 || home->queue->held < home->queue->v.concurrency;
    if (home->kind == LIMIT_TEAM)
        return limit->v.max == 0 || limit->held < limit->v.max;
    return home->kind == LIMIT_RATE ? !limit->v.shut : limit->held < p->v.max;
}

static bool track_is_before(const struct track *track, const struct permit *p)
{
    const struct heap_item *best = heap_min(&track->heap);
    return best != NULL && best->key < (uint64_t)p->v.rank;
}

static bool lanes_are_before(const struct queue *q, const struct permit *p)
{
    LIST_EACH(&q->lanes, lane)
    {
        LIST_EACH(&CONTAINER_OF(lane, struct lane, sibling)->tracks, track)
        {
            if (track_is_before(CONTAINER_OF(track, struct track, sibling), p))
                return true;
        }
    }
    return false;
}

/* Something of our own waits for the same, and comes first. */
static bool is_behind_ours(const struct permit *p)
{
    if (p->home->queue != NULL)
        return lanes_are_before(p->home->queue, p);
    LIST_EACH(&p->home->limit->bars, node)
    {
        if (track_is_before(CONTAINER_OF(node, struct bar, node)->track, p))
            return true;
    }
    return false;
}

static void grant(struct engine *e, struct permit *p)
{
    struct permit_values to = p->v;
    struct limit *limit = p->home->limit;
    say_granted(e, p);
    to.granted = true;
    to.gone = p->home->kind == LIMIT_RATE;
    change(e, p, to);
    if (p->home->kind != LIMIT_RATE)
        return;
    touch_limit(e, limit)->durable = true;
    struct limit_values started = limit_started(limit, now_of(e), p->v.max);
    ready_limit(&e->ready, limit, &started);
}

static void grant_home(struct engine *e, const struct home *home, bool all)
{
    const struct heap_item *first;
    while ((first = heap_min(&home->asks)) != NULL) {
        struct permit *p = CONTAINER_OF(first->node, struct permit, place);
        if (!has_room(p) || (!all && is_behind_ours(p)))
            return;
        grant(e, p);
    }
}

static int by_key(const void *a, const void *b)
{
    const struct home *left = *(const struct home *const *)a;
    const struct home *right = *(const struct home *const *)b;
    return str_cmp(left->key, right->key);
}

/* By key, so that the same state always gives the same order. */
void permits_grant(struct engine *e, bool all)
{
    size_t count = 0;
    if (e->homes.len == 0)
        return;
    const struct home **homes = ARENA_ARRAY(e->arena, const struct home *, e->homes.len);
    for (size_t i = 0; i < e->homes.cap; i++) {
        const struct home *home = e->homes.slots[i].value;
        if (home != NULL && heap_min(&home->asks) != NULL)
            homes[count++] = home;
    }
    if (count > 0)
        qsort(homes, count, sizeof *homes, by_key);
    for (size_t i = 0; i < count; i++)
        grant_home(e, homes[i], all);
}

static void remember_row(struct engine *e, const struct permit_rec *rec)
{
    struct own_row *row = mem_new(sizeof *row + rec->key.len);
    if (rec->key.len > 0)
        memcpy(row + 1, rec->key.ptr, rec->key.len);
    row->key = str_of((char *)(row + 1), rec->key.len);
    row->exec_id = rec->exec_id;
    row->next = e->own_rows;
    e->own_rows = row;
    e->post.announce = true;
}

void engine_load_permit(struct engine *e, const struct permit_rec *rec)
{
    if (PLANTED(permit_forgotten_by_home) || permit_find(e, rec->key, rec->exec_id) != NULL)
        return;
    if (partition_has(&e->owned, rec->exec_id)) { /* if it is leased, that counts by itself */
        remember_row(e, rec);
        return;
    }
    struct home *home = home_find_or_make(e, rec->key);
    const struct permit_values v = {
        .granted = rec->granted, .max = rec->max, .rank = rec->rank, .ask = rec->ask};
    if (home != NULL)
        permit_new(e, home, rec->exec_id, rec->asked_ms, &v);
}

/* ---- what others say */

void heard_ask(struct engine *e, const struct inbox_rec *rec)
{
    struct permit *p = permit_find(e, rec->name, rec->from);
    struct permit_values to = {
        .granted = rec->number == 0,
        .max = rec->number,
        .rank = rec->value,
        .ask = rec->about,
    };
    if (rec->value < 0 || rec->number < 0 || partition_has(&e->owned, rec->from))
        return; /* of another version; or by now it is in our own hands */
    if (p != NULL) {
        bool was_granted = p->v.granted && !p->v.gone;
        to.granted |= was_granted;
        change(e, p, to);
        if (was_granted)
            say_granted(e, p); /* who asks has forgotten that */
        return;
    }
    struct home *home = home_find_or_make(e, rec->name);
    if (home != NULL)
        touch_new(e, THING_PERMIT, permit_new(e, home, rec->from, e->now_ms, &to), false);
}

void heard_free(struct engine *e, const struct inbox_rec *rec)
{
    struct permit *p = permit_find(e, rec->name, rec->from);
    if (p != NULL) {
        struct permit_values to = p->v;
        to.gone = true;
        change(e, p, to);
        return;
    }
    const struct exec *x = map_get(&e->execs, rec->from);
    if (partition_has(&e->owned, rec->from) && (x == NULL || x->v.has == 0))
        *VEC_PUSH(e->arena, &e->permit_changes) = (struct permit_change){
            .forget = true, .permit = {.key = rec->name, .exec_id = rec->from}};
}

static void read_list(struct str list, struct map *ids)
{
    static char yes;
    while (list.len > 0) {
        int64_t id;
        if (str_to_i64(str_cut(&list, ' '), &id) && id > 0)
            map_put(ids, (uint64_t)id, &yes);
    }
}

static void keep_only(struct engine *e, const struct home *home, const struct inbox_rec *rec,
                      const struct map *listed)
{
    MAP_EACH(&home->permits, slot)
    {
        struct permit *p = slot->value;
        struct permit_values to = p->v;
        uint64_t theirs = (uint64_t)rec->value >> partition_of(e->owned.count, p->exec_id) & 1;
        if (theirs == 0 || p->v.gone || map_get(listed, p->exec_id) != NULL)
            continue;
        to.gone = true;
        change(e, p, to);
    }
}

void heard_keep(struct engine *e, const struct inbox_rec *rec)
{
    CLEANUP(map_free) struct map listed = {0};
    uint32_t partition = partition_of_bucket(e->owned.count, rec->bucket);
    read_list(rec->body, &listed);
    for (size_t i = 0; i < e->homes.cap; i++) {
        const struct home *home = e->homes.slots[i].value;
        if (home != NULL && partition_of_bucket(e->owned.count, inbox_home(home->key)) == partition)
            keep_only(e, home, rec, &listed);
    }
}

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
            *VEC_PUSH(e->arena, &e->permit_changes) = (struct permit_change){
                .forget = true, .permit = {.key = row->key, .exec_id = row->exec_id}};
    }
}

void permits_announce(struct engine *e)
{
    enum { LIST_BYTES_MAX = 64 << 20 }; /* some three million leases */
    if (!e->post.announce || e->owned.count <= 1 || e->owned.bits == 0)
        return;
    e->post.announce = false;
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
        rec->body = arena_str(e->arena, buf_str(&list));
    }
}

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
        *VEC_PUSH(e->arena, &e->permit_changes) = (struct permit_change){
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
