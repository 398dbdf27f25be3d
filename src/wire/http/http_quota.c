#include "wire/http/http_quota.h"
#include "base/map.h"
#include "base/mem.h"

#include <assert.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* How many strangers come from one address. */
struct visitors {
    struct http_origin origin;
    size_t count;
};

struct http_quota {
    pthread_mutex_t lock;    /* of what follows; never held across a call of anybody else's */
    struct strmap by_origin; /* struct visitors, owned; by the bytes of their origin */
    size_t connections;
    atomic_size_t held_bytes[HTTP_SHARES];
};

struct http_quota *http_quota_new(void)
{
    struct http_quota *q = MEM_NEW(struct http_quota);
    pthread_mutex_init(&q->lock, NULL);
    return q;
}

void http_quota_free(struct http_quota *q)
{
    if (q == NULL)
        return;
    assert(q->connections == 0 && q->by_origin.len == 0);
    strmap_free(&q->by_origin);
    pthread_mutex_destroy(&q->lock);
    free(q);
}

struct http_origin http_origin_of(const struct sockaddr *address)
{
    struct http_origin origin = {0};
    if (address->sa_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, address, sizeof v4);
        memcpy(origin.bytes + 12, &v4.sin_addr, 4);
        origin.bytes[10] = origin.bytes[11] = 0xff; /* as IPv6 writes it */
    } else if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 v6;
        memcpy(&v6, address, sizeof v6);
        bool mapped = IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr);
        memcpy(origin.bytes, &v6.sin6_addr, mapped ? 16 : 8);
    }
    return origin;
}

static struct str key_of(const struct http_origin *origin)
{
    return str_of((const char *)origin->bytes, sizeof origin->bytes);
}

struct http_counts http_quota_enter(struct http_quota *q, struct http_origin origin)
{
    pthread_mutex_lock(&q->lock);
    struct visitors *v = strmap_get(&q->by_origin, key_of(&origin));
    if (v == NULL) {
        v = MEM_NEW(struct visitors);
        v->origin = origin;
        strmap_put(&q->by_origin, key_of(&v->origin), v);
    }
    struct http_counts counts = {.all = ++q->connections, .of_origin = ++v->count};
    pthread_mutex_unlock(&q->lock);
    return counts;
}

/* Under the lock. */
static void leave_origin(struct http_quota *q, const struct http_origin *origin)
{
    struct visitors *v = strmap_get(&q->by_origin, key_of(origin));
    assert(v != NULL);
    if (--v->count == 0) {
        strmap_remove(&q->by_origin, key_of(origin));
        free(v);
    }
}

void http_quota_vouch(struct http_quota *q, struct http_origin origin)
{
    pthread_mutex_lock(&q->lock);
    leave_origin(q, &origin);
    pthread_mutex_unlock(&q->lock);
}

void http_quota_leave(struct http_quota *q, struct http_origin origin, bool vouched)
{
    pthread_mutex_lock(&q->lock);
    assert(q->connections > 0);
    q->connections--;
    if (!vouched)
        leave_origin(q, &origin);
    pthread_mutex_unlock(&q->lock);
}

size_t http_quota_connections(struct http_quota *q)
{
    pthread_mutex_lock(&q->lock);
    size_t count = q->connections;
    pthread_mutex_unlock(&q->lock);
    return count;
}

bool http_quota_hold(struct http_quota *q, enum http_share share, size_t before, size_t now,
                     size_t max)
{
    atomic_size_t *held = &q->held_bytes[share];
    if (now <= before) {
        atomic_fetch_sub(held, before - now);
        return true;
    }
    size_t more = now - before;
    if (atomic_fetch_add(held, more) + more <= max)
        return true;
    atomic_fetch_sub(held, more);
    return false;
}
