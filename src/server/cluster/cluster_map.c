#include "server/cluster/cluster_map.h"

void cluster_map_init(struct cluster_map *r, struct str me, int64_t lease_ms)
{
    *r = (struct cluster_map){.me = me, .lease_ms = lease_ms};
    pthread_mutex_init(&r->lock, NULL);
}

void cluster_map_free(struct cluster_map *r)
{
    pthread_mutex_destroy(&r->lock);
    arena_free(&r->arena);
    arena_free(&r->sightings_arena);
}

/* ---- about a view */

int cluster_map_find(const struct cluster_view *v, struct str start)
{
    for (size_t n = 0; start.len > 0 && n < v->node_count; n++) {
        if (str_eq(v->nodes[n].start, start))
            return (int)n;
    }
    return ROSTER_NOBODY;
}

static bool is_me(const struct cluster_map *r, const struct node_rec *node)
{
    return str_eq(node->start, r->me);
}

/* ---- what we see ourselves */

static const struct sighting *sighting_of(const struct cluster_map *r, struct str start)
{
    for (size_t i = 0; start.len > 0 && i < r->sighting_count; i++) {
        if (str_eq(r->sightings[i].start, start))
            return &r->sightings[i];
    }
    return NULL;
}

static bool owns_something(const struct cluster_view *v, struct str start)
{
    for (size_t p = 0; p < v->partition_count; p++) {
        if (str_eq(v->partitions[p].owner, start))
            return true;
    }
    return false;
}

static struct sighting see(const struct cluster_map *r, const struct node_rec *node,
                           int64_t boot_ms, struct arena *arena)
{
    const struct sighting *before = sighting_of(r, node->start);
    bool same = before != NULL && before->seen_ms == node->seen_ms;
    return (struct sighting){
        .start = arena_str(arena, node->start),
        .seen_ms = node->seen_ms,
        .changed_ms = same ? before->changed_ms : boot_ms,
    };
}

/* A server that starts again takes the row of its name, and what the start before it owned still
 * waits for the end of leases: so that one is remembered as long as it owns something. */
void cluster_map_observe(struct cluster_map *r, const struct cluster_view *v, int64_t boot_ms)
{
    struct arena arena = {0};
    struct sighting *all = ARENA_ARRAY(&arena, struct sighting, v->node_count + r->sighting_count);
    size_t count = 0;
    for (size_t n = 0; n < v->node_count; n++)
        all[count++] = see(r, &v->nodes[n], boot_ms, &arena);
    for (size_t i = 0; i < r->sighting_count; i++) {
        struct sighting old = r->sightings[i];
        if (cluster_map_find(v, old.start) != ROSTER_NOBODY || !owns_something(v, old.start))
            continue;
        old.start = arena_str(&arena, old.start);
        all[count++] = old;
    }
    pthread_mutex_lock(&r->lock);
    struct arena before = r->sightings_arena;
    r->sightings = all;
    r->sighting_count = count;
    r->sightings_arena = arena;
    if (r->watching_ms == 0 || boot_ms - r->viewed_ms > r->lease_ms / 2)
        r->watching_ms = boot_ms;
    r->viewed_ms = boot_ms;
    pthread_mutex_unlock(&r->lock);
    arena_free(&before);
}

int64_t cluster_map_changed_ms(const struct cluster_map *r, struct str start)
{
    const struct sighting *sighting = sighting_of(r, start);
    return sighting == NULL ? 0 : sighting->changed_ms;
}

int64_t cluster_map_silent_ms(const struct cluster_map *r, const struct node_rec *node)
{
    int64_t changed_ms = cluster_map_changed_ms(r, node->start);
    return r->viewed_ms - (changed_ms > r->watching_ms ? changed_ms : r->watching_ms);
}

bool cluster_map_is_silent(const struct cluster_map *r, const struct node_rec *node)
{
    bool dead = node->start.len > 0 && str_eq(node->start, r->replaces);
    return dead || (!is_me(r, node) && cluster_map_silent_ms(r, node) > r->lease_ms);
}

bool cluster_map_seems_away(const struct cluster_map *r, const struct cluster_view *v,
                            const struct node_rec *node)
{
    return !is_me(r, node) && v->now_ms - node->seen_ms > r->lease_ms;
}

bool cluster_map_sees_silent(struct cluster_map *r, struct str start)
{
    pthread_mutex_lock(&r->lock);
    bool silent = cluster_map_is_silent(r, &(struct node_rec){.start = start});
    pthread_mutex_unlock(&r->lock);
    return silent;
}

int64_t cluster_map_longest_silence_ms(struct cluster_map *r)
{
    int64_t longest_ms = 0;
    pthread_mutex_lock(&r->lock);
    for (size_t i = 0; i < r->view.node_count; i++) {
        const struct node_rec *node = &r->view.nodes[i];
        int64_t ms = is_me(r, node) ? 0 : cluster_map_silent_ms(r, node);
        longest_ms = ms > longest_ms ? ms : longest_ms;
    }
    pthread_mutex_unlock(&r->lock);
    return longest_ms;
}

int64_t cluster_map_watching_ms(const struct cluster_map *r)
{
    return r->watching_ms;
}

bool cluster_map_has_company(const struct cluster_map *r)
{
    for (size_t i = 0; i < r->sighting_count; i++) {
        bool mine = str_eq(r->sightings[i].start, r->me);
        if (!mine && r->sightings[i].changed_ms > r->watching_ms)
            return true;
    }
    return false;
}

/* ---- from any thread */

void cluster_map_publish(struct cluster_map *r, const struct cluster_view *view,
                         struct arena *take_arena)
{
    pthread_mutex_lock(&r->lock);
    struct arena old = r->arena;
    r->view = *view;
    r->arena = *take_arena;
    pthread_mutex_unlock(&r->lock);
    arena_free(&old);
    *take_arena = (struct arena){0};
}

static struct peer peer_copy(const struct node_rec *node, struct arena *arena)
{
    return (struct peer){
        .name = arena_str(arena, node->name),
        .start = arena_str(arena, node->start),
        .address = arena_str(arena, node->address),
    };
}

static const struct node_rec *owner_of(const struct cluster_map *r, size_t p)
{
    const struct cluster_view *v = &r->view;
    int n = p < v->partition_count ? cluster_map_find(v, v->partitions[p].owner) : ROSTER_NOBODY;
    return n < 0 || cluster_map_is_silent(r, &v->nodes[n]) ? NULL : &v->nodes[n];
}

bool cluster_map_owner(struct cluster_map *r, uint32_t partition, struct arena *arena,
                       struct peer *ret_owner)
{
    pthread_mutex_lock(&r->lock);
    const struct node_rec *owner = owner_of(r, partition);
    if (owner != NULL)
        *ret_owner = peer_copy(owner, arena);
    pthread_mutex_unlock(&r->lock);
    return owner != NULL;
}

bool cluster_map_any_owner(struct cluster_map *r, struct arena *arena, struct peer *ret_owner)
{
    bool found = false;
    pthread_mutex_lock(&r->lock);
    for (size_t i = 0; i < r->view.partition_count && !found; i++) {
        const struct node_rec *owner = owner_of(r, r->next_owner++ % r->view.partition_count);
        found = owner != NULL && !is_me(r, owner);
        if (found)
            *ret_owner = peer_copy(owner, arena);
    }
    pthread_mutex_unlock(&r->lock);
    return found;
}

bool cluster_map_is_crowded(struct cluster_map *r)
{
    size_t there = 0;
    pthread_mutex_lock(&r->lock);
    for (size_t n = 0; n < r->view.node_count; n++)
        there += !cluster_map_is_silent(r, &r->view.nodes[n]);
    bool crowded = there > r->view.partition_count;
    pthread_mutex_unlock(&r->lock);
    return crowded;
}

bool cluster_map_has_handed_over(struct cluster_map *r)
{
    bool heirs = false;
    pthread_mutex_lock(&r->lock);
    const struct cluster_view *v = &r->view;
    for (size_t n = 0; n < v->node_count; n++)
        heirs = heirs || (!is_me(r, &v->nodes[n]) && !v->nodes[n].draining &&
                          !cluster_map_is_silent(r, &v->nodes[n]));
    bool mine = owns_something(v, r->me);
    pthread_mutex_unlock(&r->lock);
    return !heirs || !mine;
}

size_t cluster_map_peers(struct cluster_map *r, struct arena *arena, struct peer **ret_peers)
{
    size_t count = 0;
    pthread_mutex_lock(&r->lock);
    *ret_peers = ARENA_ARRAY(arena, struct peer, r->view.node_count);
    for (size_t n = 0; n < r->view.node_count; n++) {
        const struct node_rec *node = &r->view.nodes[n];
        if (!is_me(r, node) && !cluster_map_is_silent(r, node))
            (*ret_peers)[count++] = peer_copy(node, arena);
    }
    pthread_mutex_unlock(&r->lock);
    return count;
}

struct node_rec cluster_map_copy(const struct node_rec *node, struct arena *arena)
{
    struct node_rec copy = *node;
    copy.name = arena_str(arena, node->name);
    copy.start = arena_str(arena, node->start);
    copy.address = arena_str(arena, node->address);
    copy.version = arena_str(arena, node->version);
    copy.boot_id = arena_str(arena, node->boot_id);
    return copy;
}

void cluster_map_look(struct cluster_map *r, struct arena *arena, struct cluster_view *ret_view)
{
    pthread_mutex_lock(&r->lock);
    *ret_view = r->view;
    ret_view->nodes = ARENA_ARRAY(arena, struct node_rec, r->view.node_count);
    for (size_t n = 0; n < r->view.node_count; n++)
        ret_view->nodes[n] = cluster_map_copy(&r->view.nodes[n], arena);
    ret_view->partitions = ARENA_ARRAY(arena, struct partition_rec, r->view.partition_count);
    for (size_t p = 0; p < r->view.partition_count; p++) {
        ret_view->partitions[p] = r->view.partitions[p];
        ret_view->partitions[p].owner = arena_str(arena, r->view.partitions[p].owner);
        ret_view->partitions[p].former = arena_str(arena, r->view.partitions[p].former);
    }
    pthread_mutex_unlock(&r->lock);
}
