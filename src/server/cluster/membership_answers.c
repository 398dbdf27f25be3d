/* membership_answers.c - what other threads may ask of the membership, and tell it, at any
 * moment. */
#include "loop/clock.h"
#include "server/cluster/membership_inside.h"

#include <string.h>

/* ---- for the decider */

bool membership_may_decide(const struct membership *m)
{
    return clock_boot_ms() < atomic_load(&m->until_ms);
}

bool membership_has_grace(const struct membership *m)
{
    return clock_boot_ms() < atomic_load(&m->grace_until_ms);
}

/* Partitions are not given away before the decider obeys; until then its leases are kept alive,
 * since the heir may be a server that their worker does not reach at once.
 *
 * The clock is asked first: a renewal that comes in between has moved the end of the grace, but it
 * has also posted what was lost by then. */
uint64_t membership_may_keep(struct membership *m, const struct ownership *own)
{
    uint64_t bits = 0;
    if (!membership_has_grace(m))
        return 0;
    pthread_mutex_lock(&m->lock);
    bool obeyed = atomic_load(&m->obeyed) >= atomic_load(&m->serial);
    const struct ownership *ours = obeyed ? &m->posted : &m->held;
    for (size_t p = 0; p < own->partitions; p++) {
        if (own->epochs[p] != 0 && own->epochs[p] == ours->epochs[p])
            bits |= membership_bit(p);
    }
    pthread_mutex_unlock(&m->lock);
    return bits;
}

void membership_set_unsure(struct membership *m, uint64_t serial, uint64_t partitions)
{
    pthread_mutex_lock(&m->lock);
    if (serial == atomic_load(&m->serial))
        m->unsure = partitions;
    pthread_mutex_unlock(&m->lock);
}

bool membership_news(struct membership *m, uint64_t *serial, struct ownership *ret_owned)
{
    if (atomic_load(&m->serial) == *serial)
        return false;
    pthread_mutex_lock(&m->lock);
    *ret_owned = m->posted;
    *serial = atomic_load(&m->serial);
    pthread_mutex_unlock(&m->lock);
    return true;
}

void membership_obey(struct membership *m, uint64_t serial)
{
    atomic_store(&m->obeyed, serial);
    membership_wake(m);
}

uint64_t membership_doubt(struct membership *m)
{
    uint64_t ticket = atomic_fetch_add(&m->doubts, 1) + 1;
    membership_wake(m);
    return ticket;
}

bool membership_is_cleared(const struct membership *m, uint64_t ticket)
{
    return atomic_load(&m->cleared) >= ticket;
}

uint64_t membership_hear_lost(struct membership *m)
{
    return atomic_exchange(&m->lost_turns, 0);
}

uint64_t membership_settings_version(const struct membership *m)
{
    return atomic_load(&m->settings_version);
}

/* ---- for everybody */

uint32_t membership_partitions(const struct membership *m)
{
    return m->own.partitions; /* known since the start, and the same for good */
}

bool membership_owns(const struct membership *m, uint64_t id)
{
    const struct partition_set set = {membership_partitions(m), atomic_load(&m->owned_bits)};
    return partition_has(&set, id);
}

bool membership_owns_any(const struct membership *m)
{
    return atomic_load(&m->owned_bits) != 0;
}

const char *membership_why_idle(struct membership *m)
{
    if (membership_owns_any(m))
        return NULL;
    if (cluster_map_is_crowded(&m->cluster_map))
        return "there are more servers than partitions; this one owns none and forwards";
    if (atomic_load(&m->deposed))
        return "other servers took its partitions while it was silent; it waits for its share, and "
               "forwards";
    return "it has joined and waits for its share of the partitions, and forwards";
}

bool membership_owner(struct membership *m, uint64_t id, struct arena *arena,
                      struct peer *ret_owner)
{
    return cluster_map_owner(&m->cluster_map, partition_of(membership_partitions(m), id), arena,
                             ret_owner);
}

bool membership_any_owner(struct membership *m, struct arena *arena, struct peer *ret_owner)
{
    return cluster_map_any_owner(&m->cluster_map, arena, ret_owner);
}

size_t membership_peers(struct membership *m, struct arena *arena, struct peer **ret_peers)
{
    return cluster_map_peers(&m->cluster_map, arena, ret_peers);
}

int64_t membership_longest_silence_ms(struct membership *m)
{
    return cluster_map_longest_silence_ms(&m->cluster_map);
}

void membership_look(struct membership *m, struct arena *arena, struct cluster_view *ret_view,
                     struct node_rec *ret_me)
{
    struct node_rec me = membership_record(m);
    cluster_map_look(&m->cluster_map, arena, ret_view);
    *ret_me = cluster_map_copy(&me, arena);
}

bool membership_sees_silent(struct membership *m, struct str start)
{
    return cluster_map_sees_silent(&m->cluster_map, start);
}

bool membership_is_me(const struct membership *m, const struct peer *peer)
{
    return str_eq(peer->start, m->me.start);
}

struct str membership_address(struct membership *m)
{
    pthread_mutex_lock(&m->lock);
    struct str address = m->me.address;
    pthread_mutex_unlock(&m->lock);
    return address;
}

int64_t membership_lease_ms(const struct membership *m)
{
    return m->lease_ms;
}

void membership_drain(struct membership *m)
{
    atomic_store(&m->draining, true);
    membership_wake(m);
}

bool membership_has_handed_over(struct membership *m)
{
    return cluster_map_has_handed_over(&m->cluster_map);
}

bool membership_failed(const struct membership *m)
{
    return atomic_load(&m->failed);
}
