#include "engine/ready/limit.h"
#include "base/mem.h"
#include "job/spec.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void limits_free(struct limits *l)
{
    for (size_t i = 0; i < l->by_key.cap; i++) {
        struct limit *limit = l->by_key.slots[i].value;
        if (limit != NULL)
            rungs_free(&limit->rungs);
        free(limit);
    }
    strmap_free(&l->by_key);
    heap_free(&l->wakes);
}

/* The map's key is the kind and the key in one text; the limit's own is its tail. */
static struct str full_key(const struct limit *limit)
{
    return str_of(limit->key.ptr - 1, limit->key.len + 1);
}

struct str limit_home_key(const struct limit *limit)
{
    return full_key(limit);
}

uint32_t limit_home(enum limit_kind kind, struct str key)
{
    char full[1 + SPEC_NAME_MAX];
    assert(key.len <= SPEC_NAME_MAX);
    full[0] = (char)('0' + kind);
    memcpy(full + 1, key.ptr, key.len);
    return inbox_home(str_of(full, 1 + key.len));
}

static struct limit *limit_new(enum limit_kind kind, struct str key)
{
    struct limit *limit = mem_new(sizeof *limit + 1 + key.len);
    char *text = (char *)(limit + 1);
    text[0] = (char)('0' + kind);
    memcpy(text + 1, key.ptr, key.len);
    limit->kind = kind;
    limit->key = str_of(text + 1, key.len);
    list_init(&limit->bars);
    return limit;
}

/* Shut until its moment, or waiting for it only to be forgotten. */
static void place(struct limits *l, struct limit *limit)
{
    bool wakes = !limit->v.gone && (limit->v.shut || (limit->v.stored && limit->members == 0));
    if (wakes)
        heap_set(&l->wakes, &limit->wake, (uint64_t)limit->v.wake_ms, limit->serial);
    else
        heap_remove(&l->wakes, &limit->wake);
}

struct limit *limit_join(struct limits *l, enum limit_kind kind, struct str key)
{
    assert(key.len > 0);
    struct limit *fresh = limit_new(kind, key);
    struct limit *limit = strmap_get(&l->by_key, full_key(fresh));
    if (limit == NULL) {
        limit = fresh;
        limit->serial = ++l->serials;
        if (l->owned.count > 1) {
            limit->home = inbox_home(full_key(limit));
            limit->remote = !partition_has_bucket(&l->owned, limit->home);
        }
        strmap_put(&l->by_key, full_key(limit), limit);
    } else {
        free(fresh);
    }
    limit->members++;
    limit->v.gone = false; /* it was to be forgotten in this very turn */
    place(l, limit);
    return limit;
}

void limit_leave(struct limits *l, struct limit *limit)
{
    assert(limit->members > 0);
    limit->members--;
    place(l, limit);
    if (limit_is_idle(limit))
        limit_free(l, limit);
}

bool limit_is_idle(const struct limit *limit)
{
    bool is_kept =
        limit->kind == LIMIT_TEAM && (limit->v.changed_ms != 0 || limit->touched != NULL);
    return limit->members == 0 && !heap_holds(&limit->wake) && !is_kept;
}

void limit_free(struct limits *l, struct limit *limit)
{
    assert(limit->members == 0 && limit->held == 0 && list_empty(&limit->bars) &&
           limit->rungs.len == 0);
    heap_remove(&l->wakes, &limit->wake);
    strmap_remove(&l->by_key, full_key(limit));
    free(limit);
}

void limit_set(struct limits *l, struct limit *limit, const struct limit_values *to)
{
    limit->v = *to;
    place(l, limit);
}

/* Whole milliseconds, none of which is too early. */
static int64_t wake_ms(int64_t next_us, struct moment now)
{
    return now.boot_ms + (next_us - now.wall_ms * 1000 + 999) / 1000;
}

/* More than its interval (and the millisecond that short ones share) ahead of the clock it is only
 * when that was set back. */
static int64_t earliest_us(int64_t next_us, int64_t interval_us, int64_t now_us)
{
    return next_us > now_us && next_us - now_us <= interval_us + 1000 ? next_us : now_us;
}

struct limit_values limit_started(const struct limit *limit, struct moment now, int64_t interval_us)
{
    struct limit_values v = limit->v;
    int64_t now_us = now.wall_ms * 1000;
    v.next_us = earliest_us(v.next_us, v.interval_us, now_us) + interval_us;
    v.interval_us = interval_us;
    v.wake_ms = wake_ms(v.next_us, now);
    v.shut = v.next_us >= now_us + 1000; /* short intervals: this millisecond has room for more */
    v.stored = true;
    return v;
}

struct limit_values limit_restored(int64_t next_us, int64_t interval_us, struct moment now)
{
    int64_t from_us = earliest_us(next_us, interval_us, now.wall_ms * 1000);
    return (struct limit_values){
        .next_us = next_us,
        .interval_us = interval_us,
        .wake_ms = wake_ms(from_us, now),
        .shut = from_us > now.wall_ms * 1000,
        .stored = true,
    };
}
