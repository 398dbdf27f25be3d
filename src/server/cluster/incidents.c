#include "server/cluster/incidents.h"
#include "base/mem.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Two rings: `count` have been there since the start, the newest INCIDENTS_KEPT still are. */
struct incidents {
    pthread_mutex_t lock;
    size_t takeover_count;
    size_t outage_count;
    uint64_t takeovers_by_why[TAKEOVER_WHYS];
    struct takeover takeovers[INCIDENTS_KEPT];
    struct store_outage outages[INCIDENTS_KEPT];
};

struct str takeover_why_name(enum takeover_why why)
{
    static const struct str names[TAKEOVER_WHYS] = {
        [TAKEOVER_FREE] = STR_INIT("free"),     [TAKEOVER_GIVEN] = STR_INIT("given"),
        [TAKEOVER_SILENT] = STR_INIT("silent"), [TAKEOVER_REPLACED] = STR_INIT("replaced"),
        [TAKEOVER_GONE] = STR_INIT("gone"),
    };
    assert(why < TAKEOVER_WHYS);
    return names[why];
}

struct incidents *incidents_new(void)
{
    struct incidents *in = MEM_NEW(struct incidents);
    pthread_mutex_init(&in->lock, NULL);
    return in;
}

void incidents_free(struct incidents *in)
{
    if (in == NULL)
        return;
    pthread_mutex_destroy(&in->lock);
    free(in);
}

void incidents_note_takeover(struct incidents *in, const struct takeover *takeover)
{
    pthread_mutex_lock(&in->lock);
    in->takeovers[in->takeover_count++ % INCIDENTS_KEPT] = *takeover;
    in->takeovers_by_why[takeover->why]++;
    pthread_mutex_unlock(&in->lock);
}

/* NULL: there was none yet. Under the lock. */
static struct store_outage *newest_outage(struct incidents *in)
{
    size_t count = in->outage_count;
    return count == 0 ? NULL : &in->outages[(count - 1) % INCIDENTS_KEPT];
}

static bool goes_on(const struct store_outage *outage)
{
    return outage != NULL && outage->until_ms == 0;
}

void incidents_begin_outage(struct incidents *in, int64_t now_ms, const struct err *why)
{
    pthread_mutex_lock(&in->lock);
    if (!goes_on(newest_outage(in)))
        in->outages[in->outage_count++ % INCIDENTS_KEPT] =
            (struct store_outage){.from_ms = now_ms, .why = *why};
    pthread_mutex_unlock(&in->lock);
}

void incidents_end_outage(struct incidents *in, int64_t now_ms)
{
    pthread_mutex_lock(&in->lock);
    struct store_outage *newest = newest_outage(in);
    if (goes_on(newest))
        newest->until_ms = now_ms > newest->from_ms ? now_ms : newest->from_ms;
    pthread_mutex_unlock(&in->lock);
}

struct outage_count incidents_count(struct incidents *in, uint64_t ret_takeovers[TAKEOVER_WHYS])
{
    pthread_mutex_lock(&in->lock);
    struct outage_count count = {in->outage_count, goes_on(newest_outage(in))};
    memcpy(ret_takeovers, in->takeovers_by_why, sizeof in->takeovers_by_why);
    pthread_mutex_unlock(&in->lock);
    return count;
}

static size_t kept(size_t count)
{
    return count < INCIDENTS_KEPT ? count : INCIDENTS_KEPT;
}

size_t incidents_takeovers(struct incidents *in, struct arena *arena, struct takeover **ret_list)
{
    struct takeover *list = ARENA_ARRAY(arena, struct takeover, INCIDENTS_KEPT);
    pthread_mutex_lock(&in->lock);
    size_t count = in->takeover_count;
    for (size_t i = 0; i < kept(count); i++)
        list[i] = in->takeovers[(count - 1 - i) % INCIDENTS_KEPT];
    pthread_mutex_unlock(&in->lock);
    *ret_list = list;
    return kept(count);
}

size_t incidents_outages(struct incidents *in, struct arena *arena, struct store_outage **ret_list)
{
    struct store_outage *list = ARENA_ARRAY(arena, struct store_outage, INCIDENTS_KEPT);
    pthread_mutex_lock(&in->lock);
    size_t count = in->outage_count;
    for (size_t i = 0; i < kept(count); i++)
        list[i] = in->outages[(count - 1 - i) % INCIDENTS_KEPT];
    pthread_mutex_unlock(&in->lock);
    *ret_list = list;
    return kept(count);
}
