#include "base/mem.h"
#include "store/mem/mem.h"
#include "store/mem/rows.h"

#include <assert.h>
#include <stdlib.h>

static void free_rows(struct mem_store *m)
{
    MAP_EACH(&m->jobs, slot)
    kept_job_free(slot->value);
    MAP_EACH(&m->live, slot)
    kept_exec_free(slot->value);
    MAP_EACH(&m->history, slot)
    kept_exec_free(slot->value);
    MAP_EACH(&m->workers, slot)
    kept_worker_free(slot->value);
    for (size_t i = 0; i < m->queues.cap; i++)
        kept_queue_free(m->queues.slots[i].value);
    for (size_t i = 0; i < m->teams.cap; i++)
        kept_team_free(m->teams.slots[i].value);
    for (size_t i = 0; i < m->rates.cap; i++)
        kept_rate_free(m->rates.slots[i].value);
    for (size_t i = 0; i < m->calendars.cap; i++)
        kept_calendar_free(m->calendars.slots[i].value);
    for (size_t i = 0; i < m->calendar_use_count; i++)
        kept_text_free(&m->calendar_uses[i].calendar);
    free(m->calendar_uses);
    strmap_free(&m->calendars);
    strmap_free(&m->queues);
    strmap_free(&m->teams);
    for (size_t i = 0; i < m->dependencies.cap; i++)
        free(m->dependencies.slots[i].value);
    for (size_t i = 0; i < m->tallies.cap; i++)
        kept_tally_free(m->tallies.slots[i].value);
    strmap_free(&m->tallies);
    MAP_EACH(&m->sla_events, slot)
    kept_sla_event_free(slot->value);
    map_free(&m->sla_events);
    MAP_EACH(&m->alerts, slot)
    kept_alert_free(slot->value);
    map_free(&m->alerts);
    MAP_EACH(&m->silences, slot)
    kept_silence_free(slot->value);
    map_free(&m->silences);
    for (size_t i = 0; i < PARTITIONS_MAX; i++) {
        for (size_t j = 0; j < m->breakers[i].cap; j++)
            kept_breaker_free(m->breakers[i].slots[j].value);
        strmap_free(&m->breakers[i]);
    }
    strmap_free(&m->rates);
    strmap_free(&m->dependencies);
    map_free(&m->jobs);
    map_free(&m->live);
    map_free(&m->history);
    map_free(&m->workers);
    MAP_EACH(&m->letters, slot) kept_letter_free(slot->value);
    mem_free_versions(m);
    for (size_t i = 0; i < PARTITIONS_MAX; i++) {
        MAP_EACH(&m->operations[i], slot) kept_operation_free(slot->value);
        map_free(&m->operations[i]);
    }
    map_free(&m->letters);
}

static void free_lists(struct mem_store *m)
{
    MAP_EACH(&m->attempts, slot)
    {
        struct attempt_list *list = slot->value;
        for (size_t i = 0; i < list->count; i++)
            kept_texts_free(&attempt_fields, &list->attempts[i]);
        free(list->attempts);
        free(list);
    }
    MAP_EACH(&m->logs, slot)
    {
        struct chunk_list *list = slot->value;
        for (size_t i = 0; i < list->count; i++)
            kept_text_free(&list->chunks[i].bytes);
        free(list->chunks);
        free(list);
    }
    MAP_EACH(&m->checkpoints, slot)
    {
        struct checkpoint *checkpoint = slot->value;
        kept_text_free(&checkpoint->bytes);
        free(checkpoint);
    }
    map_free(&m->attempts);
    map_free(&m->logs);
    map_free(&m->checkpoints);
}

static void free_claims(struct mem_store *m)
{
    for (size_t kind = 0; kind < CLAIM_KINDS; kind++) {
        struct strmap *claims = &m->claims[kind];
        for (size_t i = 0; i < claims->cap; i++) {
            kept_claim_free(claims->slots[i].value);
        }
        strmap_free(claims);
    }
}

void mem_tables_free(struct mem_store *m)
{
    if (m->standby != NULL)
        mem_tables_free(m->standby);
    free_rows(m);
    free_lists(m);
    free_claims(m);
    mem_free_inbox(m);
    mem_members_free(m);
    for (size_t i = 0; i < m->counter_count; i++)
        kept_text_free(&m->counters[i].queue);
    free(m->counters);
    for (size_t i = 0; i < m->key_count; i++)
        mem_key_drop(&m->keys[i]);
    free(m->keys);
    free(m->kept);
    free(m->lost);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

static void close_handle(struct store *store)
{
    struct mem_handle *h = handle_of(store);
    struct mem_store *m = h->m;
    size_t at = 0;
    mem_abort(store);
    while (m->handles[at] != h)
        at++;
    m->handles[at] = m->handles[--m->handle_count];
    if (m->handle_count == 0)
        mem_tables_free(m);
    free(h->taken);
    free(h);
}

#define MEM_OPS                                                                                    \
    .own = mem_own, .admit = mem_admit, .fetch = mem_fetch, .commit = mem_commit,                  \
    .abort = mem_abort, .settle = mem_settle, .load = mem_load, .settings = mem_settings,          \
    .check = mem_check, .keys = mem_keys, .key_put = mem_key_put,                                  \
    .key_sign_out = mem_key_sign_out, .reader = mem_reader_open, .logs = mem_logs_open,            \
    .cost = mem_cost, .close = close_handle

static const struct store_ops alone_ops = {MEM_OPS};
static const struct store_ops shared_ops = {MEM_OPS, .member = mem_member_open};

struct mem_store *mem_tables_new(uint32_t partitions)
{
    struct mem_store *m = MEM_NEW(struct mem_store);
    m->partition_count = partitions;
    pthread_mutex_init(&m->lock, NULL);
    return m;
}

static struct store *handle_new(struct mem_store *m, const struct store_ops *handle_ops)
{
    struct mem_handle *h = MEM_NEW(struct mem_handle);
    assert(m->handle_count < MEM_HANDLES_MAX);
    *h = (struct mem_handle){.store.ops = handle_ops, .m = m};
    m->handles[m->handle_count++] = h;
    return &h->store;
}

struct store *store_mem_open(void)
{
    return handle_new(mem_tables_new(1), &alone_ops);
}

void store_mem_open_shared(uint32_t partitions, store_clock *clock, void *arg,
                           struct store **ret_handles, size_t count)
{
    struct mem_store *m = mem_tables_new(partitions);
    m->clock = clock;
    m->clock_arg = arg;
    for (size_t i = 0; i < count; i++)
        ret_handles[i] = handle_new(m, &shared_ops);
}
