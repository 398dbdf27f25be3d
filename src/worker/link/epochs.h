/* epochs.h - the largest epoch that a worker has heard of each partition.
 *
 * An epoch grows with every owner of a partition. A server that was replaced and does not know it
 * yet still answers, and so does the network that held back its words; both speak under an epoch
 * that is smaller than the one the new owner names. A worker that remembers the largest cannot be
 * misled.
 *
 * It is remembered for as long as an old owner may speak (its grace without the store, and a
 * lease), counted from when it was last heard; then forgotten, so that a store that was set up anew
 * is believed again. Plain values: no I/O, no clock. */
#pragma once
#include "job/poll.h"

struct epochs {
    uint32_t count; /* partitions of the store; 0: nothing was heard */
    struct {
        uint64_t epoch;
        int64_t heard_ms;
    } of[PARTITIONS_MAX];
};

/* Takes note of what a reply that was read at now_ms says, and answers about which partitions it
 * may be believed (count 0: about all, from a server that names no epochs). Epochs that have not
 * been heard for keep_ms do not count. */
struct partition_set epochs_hear(struct epochs *e, const struct poll_reply *reply, int64_t now_ms,
                                 int64_t keep_ms);
