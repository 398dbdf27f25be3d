/* credits.h - where a worker offers its free slots, when there are several servers.
 *
 * Each server grants as much as it was offered, without asking the others; so what is offered to
 * all of them together is what is free. It goes where work waits: a server with a backlog gets its
 * part by how long that is, one at least while there is one for each, and when there is not they
 * take turns. Slots that no backlog asks for are spread evenly, so that new work starts at once
 * wherever it comes.
 *
 * One exception: a worker that is idle and has fewer free slots than there are servers offers one
 * to each. Two of them may then use it at the same moment; the one too many is given back, which
 * costs nothing but a moment, and is better than work that waits for an offer to come round.
 *
 * Plain values: no I/O, no clock. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct credit {
    bool usable;      /* false: nothing is to be offered there */
    uint32_t backlog; /* work that waits there, as far as we know */
    uint32_t out;     /* slots that a poll offers there now; 0: no poll does */
    uint32_t share;   /* answer of credits_spread: what should be offered */
};

/* Sets all shares. Their sum is `free` when one is usable, but for the exception above. A larger
 * turn lets others be first. */
void credits_spread(struct credit *credits, size_t count, uint32_t free, uint64_t turn);

/* The slots that a poll to `me` may offer now, after credits_spread: its share, but not those that
 * others hold in polls of their own; and while work waits nowhere, also those that they do not
 * hold. */
uint32_t credits_offer(const struct credit *credits, size_t count, uint32_t free, size_t me);

/* Whether the poll that waits at `me` should be replaced by another, after credits_spread: it
 * offers what is needed elsewhere, or less than it could where work waits. Even shares are not
 * worth a poll. */
bool credits_moved(const struct credit *credits, size_t count, uint32_t free, size_t me);
