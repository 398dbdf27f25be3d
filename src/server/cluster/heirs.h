/* heirs.h - who waits for the partitions that this server is about to give. */
#pragma once
#include "base/arena.h"
#include "job/partition.h"

struct heirs {
    struct str addresses[PARTITIONS_MAX];
    struct arena texts;
};

void heirs_reset(struct heirs *h);
void heirs_free(struct heirs *h);
/* The server at that address should have the partition. */
void heirs_set(struct heirs *h, size_t partition, struct str address);
/* Tells everybody who waits for one of those, once. */
void heirs_tell(const struct heirs *h, uint64_t partitions,
                void (*tell)(void *arg, struct str address), void *arg);
