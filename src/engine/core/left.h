/* left.h - rows of the inbox that were looked at and stay there.
 *
 * Some wait for room (live_max, lanes_max, edges_max) and are tried again by their ids, a page each
 * time, so that what is behind them is read meanwhile. Others are of a kind that only a newer
 * version knows: the next owner of their partition may be one. In memory only: an engine that
 * starts reads everything, and meets them again. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct left_row {
    uint64_t id;
    bool strange; /* this version does not know its kind */
};

struct left {
    struct left_row *rows; /* owned, by id */
    size_t len;
    size_t cap;
    size_t strange;
};

void left_free(struct left *l);

bool left_has(const struct left *l, uint64_t id);
/* Does nothing when it is there already. */
void left_add(struct left *l, uint64_t id, bool strange);
/* Takes out those of these ids, which grow, that are there. */
void left_remove(struct left *l, const uint64_t *ids, size_t count);

static inline size_t left_waiting(const struct left *l)
{
    return l->len - l->strange;
}

/* The next of those that wait, with ids behind after; from the first one on when there are none
 * behind it. Growing; at most max. */
size_t left_page(const struct left *l, uint64_t after, size_t max, uint64_t *ret_ids);
