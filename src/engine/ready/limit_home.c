/* limit_home.c - permits that our homes grant: those that a limit has lent to executions elsewhere,
 * and the requests that wait for it. */
#include "base/mem.h"
#include "base/plant.h"
#include "engine/core/mail.h"
#include "engine/core/model.h"
#include "engine/core/undo.h"
#include "engine/ready/forget.h"
#include "engine/ready/limit.h"
#include "engine/ready/limit_remote.h"
#include "engine/ready/queues.h"
#include "engine/ready/ready.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- permits and their places: lent, or among those that wait */

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
    if (p->v.granted) {
        lend(e, p->home, 1);
        return;
    }
    heap_push(&p->home->asks, &p->place, (uint64_t)p->v.rank, p->exec_id);
    if (p->v.max > p->home->most)
        p->home->most = p->v.max;
}

static void permit_unplace(struct engine *e, struct permit *p)
{
    struct heap *asks = &p->home->asks;
    if (heap_holds(&p->place))
        heap_remove(asks, &p->place);
    else if (!p->v.gone)
        lend(e, p->home, -1);
    if (asks->len == 0)
        p->home->most = 0;
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
        home->queue = queue_use(e, str_from(home->key, 1));
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
    else
        queue_leave(e, home->queue);
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
    assert(p->touched == NULL);
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

/* ---- granting */

static void say_granted(struct engine *e, const struct permit *p)
{
    struct inbox_rec *rec = mail_send(e, INBOX_GRANT, id_bucket(p->exec_id));
    rec->name = arena_str(e->turn.arena, p->home->key);
    rec->about = p->exec_id;
    rec->from = p->v.ask;
}

/* The limit has no room for any partition that asks. */
static bool is_full(const struct home *home)
{
    const struct limit *limit = home->limit;
    if (home->queue != NULL)
        return home->queue->v.concurrency > 0 && home->queue->held >= home->queue->v.concurrency;
    if (home->kind == LIMIT_TEAM)
        return limit->v.max > 0 && limit->held >= limit->v.max;
    return home->kind == LIMIT_RATE ? limit->v.shut : limit->held >= home->most;
}

/* Jobs that share a key may each say how many at once. */
static bool bears_more(const void *arg, struct heap_node *place)
{
    const struct home *home = arg;
    const struct permit *p = CONTAINER_OF(place, struct permit, place);
    return home->kind != LIMIT_CONCURRENCY || home->limit->held < p->v.max;
}

/* Work that another limit, a breaker or a pause holds back would leave the room to work that comes
 * later. Work that has its permits needs no room. */
static bool track_is_before(const struct track *track, const struct permit *p)
{
    bool could_start = track->main == NULL && heap_holds(&track->order);
    return could_start && track->lane->gate == GATE_OPEN &&
           heap_min(&track->heap)->key < (uint64_t)p->v.rank;
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
    const struct rungs *rungs = &p->home->limit->rungs;
    for (size_t i = 0; i < rungs->len; i++) {
        LIST_EACH(&rungs->items[i]->waiting, node)
        {
            if (track_is_before(CONTAINER_OF(node, struct bar, on_rung)->track, p))
                return true;
        }
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

/* A request that bears few at once is not in the way of others. */
static void grant_home(struct engine *e, const struct home *home, bool all)
{
    while (!is_full(home)) {
        const struct heap_item *first = heap_find(&home->asks, bears_more, home);
        struct permit *p = first == NULL ? NULL : CONTAINER_OF(first->node, struct permit, place);
        if (p == NULL || (!all && is_behind_ours(p)))
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
    const struct home **homes = ARENA_ARRAY(e->turn.arena, const struct home *, e->homes.len);
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

/* ---- loading */

static void remember_row(struct engine *e, const struct permit_rec *rec)
{
    struct own_row *row = mem_new(sizeof *row + rec->key.len);
    if (rec->key.len > 0)
        memcpy(row + 1, rec->key.ptr, rec->key.len);
    row->key = str_of((char *)(row + 1), rec->key.len);
    row->exec_id = rec->exec_id;
    row->next = e->own_rows;
    e->own_rows = row;
    e->inbox.post.announce = true;
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

/* ---- what those say who need permits */

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
            say_granted(e, p); /* the partition that asks has forgotten that */
        return;
    }
    struct home *home = home_find_or_make(e, rec->name);
    if (home != NULL)
        touch_new(touch_permit(e, permit_new(e, home, rec->from, e->now_ms, &to)), false);
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
        *VEC_PUSH(e->turn.arena, &e->turn.permit_changes) = (struct permit_change){
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
