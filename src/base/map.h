/* map.h - hash tables from numbers or texts to pointers.
 *
 * `struct map` maps a 64-bit number (an id) to a pointer, `struct strmap` a text. Open addressing
 * with linear probing; removal shifts back, so there are no tombstones to clean. Neither owns its
 * values; a strmap borrows its keys, which must live as long as the entry (usually inside the
 * value). Both grow with what is in them, and shrink again when hardly anything is.
 *
 * In which order a walk meets the entries is another in each process: a result that follows from
 * the order of a walk (a decision, a list, an id) has to be sorted first. */
#pragma once
#include "base/str.h"

/* Makes the places of keys differ from those in other processes, so that nobody who chooses keys
 * can choose such that all have the same place. Before the first map is made; a program that does
 * not call it has the same places each time. */
void map_seed(uint64_t seed);

struct map_slot {
    uint64_t key;
    void *value; /* NULL: free */
};

struct map {
    struct map_slot *slots; /* owned */
    size_t len;
    size_t cap; /* a power of two, or 0 */
};

void map_free(struct map *m);
void *map_get(const struct map *m, uint64_t key); /* NULL when absent */
/* Adds or replaces; value must not be NULL. */
void map_put(struct map *m, uint64_t key, void *value);
void *map_remove(struct map *m, uint64_t key); /* the value that was there, or NULL */

/* Walks all values, in no particular order; the map must not change meanwhile. */
#define MAP_EACH(m, slot)                                                                          \
    for (struct map_slot *slot = (m)->slots,                                                       \
                         *slot##_end_ = (m)->cap == 0 ? slot : slot + (m)->cap;                    \
         slot != slot##_end_; slot++)                                                              \
        if (slot->value != NULL)

struct strmap_slot {
    uint64_t hash;
    struct str key;
    void *value; /* NULL: free */
};

struct strmap {
    struct strmap_slot *slots; /* owned */
    size_t len;
    size_t cap;
};

void strmap_free(struct strmap *m);
void *strmap_get(const struct strmap *m, struct str key);
void strmap_put(struct strmap *m, struct str key, void *value);
void *strmap_remove(struct strmap *m, struct str key);
