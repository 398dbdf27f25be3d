/* reports.c - sums, counters, and what happened to SLAs and submissions. */
#include "base/mem.h"
#include "store/mem/mem.h"
#include "store/mem/rows.h"

#include <stdlib.h>
#include <string.h>

static bool in_hours(const struct tally *row, enum tally_scope scope, int64_t from_hour,
                     int64_t until_hour)
{
    return row != NULL && row->scope == scope && row->hour >= from_hour && row->hour < until_hour;
}

static struct tally_sum tally_of(const struct mem_store *m, enum tally_scope scope, struct str key,
                                 int64_t from_hour, int64_t until_hour)
{
    struct tally_sum sum = {0};
    for (size_t i = 0; i < m->tallies.cap; i++) {
        const struct tally *row = m->tallies.slots[i].value;
        if (in_hours(row, scope, from_hour, until_hour) && str_eq(row->key, key))
            tally_add(&sum, row);
    }
    return sum;
}

enum rc mem_read_tally(struct reader *reader, enum tally_scope scope, const struct str *keys,
                       size_t count, int64_t from_hour, int64_t until_hour,
                       struct tally_sum *ret_sums, struct err *err)
{
    struct mem_store *m = mem_reader_store(reader);
    (void)err;
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < count; i++)
        ret_sums[i] = tally_of(m, scope, keys[i], from_hour, until_hour);
    pthread_mutex_unlock(&m->lock);
    return RC_OK;
}

enum rc mem_read_tallies(struct reader *reader, enum tally_scope scope, int64_t from_hour,
                         int64_t until_hour, tally_sink *sink, void *arg, struct err *err)
{
    struct mem_store *m = mem_reader_store(reader);
    (void)err;
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < m->tallies.cap; i++) {
        const struct tally *row = m->tallies.slots[i].value;
        if (in_hours(row, scope, from_hour, until_hour))
            sink(arg, row);
    }
    pthread_mutex_unlock(&m->lock);
    return RC_OK;
}

enum rc mem_read_sla_since(struct reader *reader, int64_t *ret_ms, struct err *err)
{
    (void)reader;
    (void)err;
    *ret_ms = 0;
    return RC_OK;
}

static int counter_order(const void *a, const void *b)
{
    const struct counter *left = a;
    const struct counter *right = b;
    if (left->kind != right->kind)
        return left->kind < right->kind ? -1 : 1;
    int by_queue = str_cmp(left->queue, right->queue);
    if (by_queue != 0)
        return by_queue;
    return left->state < right->state ? -1 : left->state > right->state;
}

/* Adds up those that are the same, which partitions may each have, and leaves out what is zero. */
static size_t merge_counters(struct counter *sorted, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 && counter_order(&sorted[kept - 1], &sorted[i]) == 0) {
            sorted[kept - 1].value += sorted[i].value;
            continue;
        }
        if (kept > 0 && sorted[kept - 1].value == 0)
            kept--;
        sorted[kept++] = sorted[i];
    }
    return kept > 0 && sorted[kept - 1].value == 0 ? kept - 1 : kept;
}

struct counter *mem_counters(const struct mem_store *m, const struct partition_set *owned,
                             struct arena *arena, size_t *ret_count)
{
    struct counter *copies = ARENA_ARRAY(arena, struct counter, m->counter_count + 1);
    size_t count = 0;
    for (size_t i = 0; i < m->counter_count; i++) {
        if (owned->bits >> m->counters[i].partition & 1)
            copies[count++] = m->counters[i];
    }
    qsort(copies, count, sizeof *copies, counter_order);
    *ret_count = merge_counters(copies, count);
    return copies;
}

enum rc mem_read_counters(struct reader *reader, struct arena *arena, struct counter **ret_counters,
                          size_t *ret_count, struct err *err)
{
    struct mem_store *m = mem_reader_store(reader);
    struct partition_set all = partition_all(m->partition_count);
    (void)err;
    pthread_mutex_lock(&m->lock);
    struct counter *counters = mem_counters(m, &all, arena, ret_count);
    for (size_t i = 0; i < *ret_count; i++)
        counters[i].queue = arena_str(arena, counters[i].queue);
    pthread_mutex_unlock(&m->lock);
    *ret_counters = counters;
    return RC_OK;
}

static int event_newest_first(const void *a, const void *b)
{
    uint64_t left = (*(struct sla_event_rec *const *)a)->id;
    uint64_t right = (*(struct sla_event_rec *const *)b)->id;
    return left < right ? 1 : left > right ? -1 : 0;
}

static struct sla_event_rec copy_event(struct arena *arena, struct sla_event_rec event)
{
    fields_copy(&sla_event_fields, &event, arena);
    return event;
}

enum rc mem_list_sla_events(struct reader *reader, uint64_t job_id, uint64_t exec_id,
                            const struct page *page, struct arena *arena, struct sla_page *ret_page,
                            struct err *err)
{
    struct mem_store *m = mem_reader_store(reader);
    (void)err;
    pthread_mutex_lock(&m->lock);
    struct sla_event_rec **found =
        ARENA_ARRAY(arena, struct sla_event_rec *, m->sla_events.len + 1);
    size_t count = 0;
    MAP_EACH(&m->sla_events, slot)
    {
        struct sla_event_rec *event = slot->value;
        if (mem_on_page(page, event->id) &&
            (exec_id != 0 ? event->exec_id == exec_id : event->job_id == job_id))
            found[count++] = event;
    }
    qsort(found, count, sizeof(struct sla_event_rec *), event_newest_first);
    size_t shown = count < page->limit ? count : page->limit;
    struct sla_event_rec *events = ARENA_ARRAY(arena, struct sla_event_rec, shown);
    for (size_t i = 0; i < shown; i++)
        events[i] = copy_event(arena, *found[i]);
    pthread_mutex_unlock(&m->lock);
    uint64_t next = count > shown && shown > 0 ? events[shown - 1].id : 0;
    *ret_page = (struct sla_page){.events = events, .count = shown, .next = next};
    return RC_OK;
}

enum rc mem_read_rejected(struct reader *reader, const struct page *page, struct arena *arena,
                          struct rejected_page *ret_page, struct err *err)
{
    struct mem_store *m = mem_reader_store(reader);
    (void)err;
    pthread_mutex_lock(&m->lock);
    mem_list_rejected(m, page, arena, ret_page);
    pthread_mutex_unlock(&m->lock);
    return RC_OK;
}

enum rc mem_read_about(struct reader *reader, struct arena *arena, struct store_about *ret_about,
                       struct err *err)
{
    (void)reader;
    (void)arena;
    (void)err;
    *ret_about = (struct store_about){.kind = "memory", .place = STR("this process")};
    return RC_OK;
}
