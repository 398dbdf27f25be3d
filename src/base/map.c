#include "base/map.h"
#include "base/mem.h"
#include "base/rng.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST_CAP = 16,
    SHRINK_CAP = 1024, /* smaller ones stay as they are: they come and go, and cost little */
};

/* The seed of all hashes. Without map_seed it is the same in every process. */
static uint64_t secret_add = 0x9e3779b97f4a7c15U;
static uint64_t secret_factor = 0xd6e8feb86659fd93U;

void map_seed(uint64_t seed)
{
    struct rng rng = {.state = seed};
    secret_add = rng_next(&rng);
    secret_factor = rng_next(&rng) | 1;
}

/* Both halves of the product count, and both factors are secret: keys that differ in a few bits,
 * whichever they are, go to places that nobody can foretell. */
static uint64_t mix(uint64_t key)
{
    unsigned __int128 product = (unsigned __int128)(key ^ secret_add) * secret_factor;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Eight bytes at a time, as they are in memory: unlike str_hash, this is nobody else's business. */
static uint64_t hash_of(struct str key)
{
    uint64_t hash = key.len;
    uint64_t word = 0;
    size_t at = 0;
    for (; at + sizeof word <= key.len; at += sizeof word) {
        memcpy(&word, key.ptr + at, sizeof word);
        hash = mix(hash ^ word);
    }
    word = 0;
    for (; at < key.len; at++)
        word = word << 8 | (unsigned char)key.ptr[at];
    return mix(hash ^ word);
}

/* Three quarters full is where linear probing still finds in two steps. */
static bool crowded(size_t len, size_t cap)
{
    return (len + 1) * 4 > cap * 3;
}

/* Far from being crowded when it has half as many places, so that what comes and goes moves
 * nothing. */
static bool sparse(size_t len, size_t cap)
{
    return cap > SHRINK_CAP && len < cap / 8;
}

/* With linear probing the entry at `at` may move into the hole unless its home lies cyclically
 * between the hole (exclusive) and itself. */
static bool may_fill(size_t hole, size_t home, size_t at)
{
    return hole <= at ? home <= hole || home > at : home <= hole && home > at;
}

void map_free(struct map *m)
{
    free(m->slots);
    *m = (struct map){0};
}

static size_t map_find(const struct map *m, uint64_t key)
{
    size_t mask = m->cap - 1;
    size_t at = mix(key) & mask;
    while (m->slots[at].value != NULL && m->slots[at].key != key)
        at = (at + 1) & mask;
    return at;
}

void *map_get(const struct map *m, uint64_t key)
{
    return m->cap == 0 ? NULL : m->slots[map_find(m, key)].value;
}

static void map_resize(struct map *m, size_t cap)
{
    struct map old = *m;
    m->cap = cap;
    m->slots = mem_new(m->cap * sizeof *m->slots);
    for (size_t i = 0; i < old.cap; i++) {
        if (old.slots[i].value != NULL)
            m->slots[map_find(m, old.slots[i].key)] = old.slots[i];
    }
    free(old.slots);
}

void map_put(struct map *m, uint64_t key, void *value)
{
    assert(value != NULL);
    if (crowded(m->len, m->cap))
        map_resize(m, m->cap == 0 ? FIRST_CAP : m->cap * 2);
    struct map_slot *slot = &m->slots[map_find(m, key)];
    m->len += slot->value == NULL;
    *slot = (struct map_slot){key, value};
}

void *map_remove(struct map *m, uint64_t key)
{
    if (m->cap == 0)
        return NULL;
    size_t mask = m->cap - 1;
    size_t hole = map_find(m, key);
    void *value = m->slots[hole].value;
    if (value == NULL)
        return NULL;
    m->len--;
    for (size_t at = (hole + 1) & mask; m->slots[at].value != NULL; at = (at + 1) & mask) {
        if (may_fill(hole, mix(m->slots[at].key) & mask, at)) {
            m->slots[hole] = m->slots[at];
            hole = at;
        }
    }
    m->slots[hole] = (struct map_slot){0};
    if (sparse(m->len, m->cap))
        map_resize(m, m->cap / 2);
    return value;
}

void strmap_free(struct strmap *m)
{
    free(m->slots);
    *m = (struct strmap){0};
}

static size_t strmap_find(const struct strmap *m, uint64_t hash, struct str key)
{
    size_t mask = m->cap - 1;
    size_t at = hash & mask;
    while (m->slots[at].value != NULL &&
           (m->slots[at].hash != hash || !str_eq(m->slots[at].key, key)))
        at = (at + 1) & mask;
    return at;
}

void *strmap_get(const struct strmap *m, struct str key)
{
    return m->cap == 0 ? NULL : m->slots[strmap_find(m, hash_of(key), key)].value;
}

static void strmap_resize(struct strmap *m, size_t cap)
{
    struct strmap old = *m;
    m->cap = cap;
    m->slots = mem_new(m->cap * sizeof *m->slots);
    for (size_t i = 0; i < old.cap; i++) {
        const struct strmap_slot *slot = &old.slots[i];
        if (slot->value != NULL)
            m->slots[strmap_find(m, slot->hash, slot->key)] = *slot;
    }
    free(old.slots);
}

void strmap_put(struct strmap *m, struct str key, void *value)
{
    assert(value != NULL);
    if (crowded(m->len, m->cap))
        strmap_resize(m, m->cap == 0 ? FIRST_CAP : m->cap * 2);
    uint64_t hash = hash_of(key);
    struct strmap_slot *slot = &m->slots[strmap_find(m, hash, key)];
    m->len += slot->value == NULL;
    *slot = (struct strmap_slot){hash, key, value};
}

void *strmap_remove(struct strmap *m, struct str key)
{
    if (m->cap == 0)
        return NULL;
    size_t mask = m->cap - 1;
    size_t hole = strmap_find(m, hash_of(key), key);
    void *value = m->slots[hole].value;
    if (value == NULL)
        return NULL;
    m->len--;
    for (size_t at = (hole + 1) & mask; m->slots[at].value != NULL; at = (at + 1) & mask) {
        if (may_fill(hole, m->slots[at].hash & mask, at)) {
            m->slots[hole] = m->slots[at];
            hole = at;
        }
    }
    m->slots[hole] = (struct strmap_slot){0};
    if (sparse(m->len, m->cap))
        strmap_resize(m, m->cap / 2);
    return value;
}
