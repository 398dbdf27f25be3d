#include "server/cluster/heirs.h"

void heirs_reset(struct heirs *h)
{
    arena_reset(&h->texts);
}

void heirs_free(struct heirs *h)
{
    arena_free(&h->texts);
}

void heirs_set(struct heirs *h, size_t partition, struct str address)
{
    h->addresses[partition] = arena_str(&h->texts, address);
}

void heirs_tell(const struct heirs *h, uint64_t partitions,
                void (*tell)(void *arg, struct str address), void *arg)
{
    for (size_t i = 0; i < PARTITIONS_MAX; i++) {
        bool told = !(partitions >> i & 1);
        for (size_t k = 0; k < i && !told; k++)
            told = (partitions >> k & 1) && str_eq(h->addresses[k], h->addresses[i]);
        if (!told)
            tell(arg, h->addresses[i]);
    }
}
