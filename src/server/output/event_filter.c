#include "server/output/event_filter.h"
#include "base/id.h"
#include "wire/message/queue_json.h"

#include <stdlib.h>

enum { TEXT_BYTES_MAX = 256 << 10 };

static const struct str kind_names[EVENT_KINDS] = {
    [EVENT_EXECUTION] = STR_INIT("execution"),
    [EVENT_QUEUE] = STR_INIT("queue"),
    [EVENT_BREAKER] = STR_INIT("breaker"),
    [EVENT_SLA] = STR_INIT("sla"),
};

/* ---- reading */

static void add_id(struct map *ids, const char *name, const char *prefix, struct str value,
                   struct field_errors *errors, struct arena *arena)
{
    uint64_t id;
    if (id_parse(value, prefix, &id, NULL) == RC_OK)
        map_put(ids, id, ids); /* any pointer will do */
    else
        field_error(errors, arena, str_c(name), "must be an id like %s0s86ejspw0400", prefix);
}

static void add_kind(struct event_filter *f, struct str value, struct field_errors *errors,
                     struct arena *arena)
{
    for (unsigned i = 0; i < EVENT_KINDS; i++) {
        if (str_eq(value, kind_names[i])) {
            f->kinds |= 1U << i;
            return;
        }
    }
    field_error(errors, arena, STR("type"), "must be execution, queue, breaker or sla");
}

static void add_queue(struct event_filter *f, struct str value, struct field_errors *errors,
                      struct arena *arena)
{
    if (queue_name_check(value, arena, errors) != RC_OK || strmap_get(&f->queues, value) != NULL)
        return;
    struct str name = arena_str(&f->arena, value);
    strmap_put(&f->queues, name, f);
}

void event_filter_add(struct event_filter *f, const char *name, struct str value,
                      struct field_errors *errors, struct arena *arena)
{
    struct str which = str_c(name);
    if (str_eq(which, STR("job")))
        add_id(&f->jobs, name, ID_JOB, value, errors, arena);
    else if (str_eq(which, STR("execution")))
        add_id(&f->execs, name, ID_EXEC, value, errors, arena);
    else if (str_eq(which, STR("queue")))
        add_queue(f, value, errors, arena);
    else
        add_kind(f, value, errors, arena);
    if (f->jobs.len + f->execs.len + f->queues.len > FILTER_VALUES_MAX)
        field_error(errors, arena, which, "jobs, executions and queues must be at most %d together",
                    FILTER_VALUES_MAX);
}

static int by_id(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static void put_ids(struct event_filter *f, const struct map *ids, const char *name,
                    const char *prefix, struct buf *out)
{
    uint64_t *sorted = ARENA_ARRAY(&f->arena, uint64_t, ids->len + 1);
    size_t count = 0;
    MAP_EACH(ids, slot)
    {
        sorted[count++] = slot->key;
    }
    qsort(sorted, count, sizeof *sorted, by_id);
    for (size_t i = 0; i < count; i++)
        buf_printf(out, "&%s=%s", name, ID_TEXT(prefix, sorted[i]));
}

/* Names of queues need no encoding. */
static void put_queues(struct event_filter *f, struct buf *out)
{
    struct str *sorted = ARENA_ARRAY(&f->arena, struct str, f->queues.len + 1);
    size_t count = 0;
    for (size_t i = 0; i < f->queues.cap; i++) {
        if (f->queues.slots[i].value != NULL)
            sorted[count++] = f->queues.slots[i].key;
    }
    qsort(sorted, count, sizeof *sorted, by_text);
    for (size_t i = 0; i < count; i++)
        buf_printf(out, "&queue=%.*s", STR_ARG(sorted[i]));
}

void event_filter_end(struct event_filter *f)
{
    CLEANUP(buf_free) struct buf text = BUF(TEXT_BYTES_MAX);
    f->rights.all = true;
    put_ids(f, &f->jobs, "job", ID_JOB, &text);
    put_ids(f, &f->execs, "execution", ID_EXEC, &text);
    put_queues(f, &text);
    for (unsigned i = 0; i < EVENT_KINDS; i++) {
        if (f->kinds >> i & 1)
            buf_printf(&text, "&type=%.*s", STR_ARG(kind_names[i]));
    }
    f->text = arena_str(&f->arena, str_from(buf_str(&text), text.len > 0));
}

void event_filter_free(struct event_filter *f)
{
    map_free(&f->jobs);
    map_free(&f->execs);
    strmap_free(&f->queues);
    arena_free(&f->arena);
}

/* ---- deciding */

static enum event_kind kind_of(const struct event *event)
{
    if (event->breaker.len > 0)
        return EVENT_BREAKER;
    if (event->sla != 0)
        return EVENT_SLA;
    return event->queue_event == QUEUE_EVENT_NONE ? EVENT_EXECUTION : EVENT_QUEUE;
}

bool event_filter_names_nothing(const struct event_filter *f)
{
    return f->jobs.len + f->execs.len + f->queues.len == 0;
}

bool event_filter_is_empty(const struct event_filter *f)
{
    return event_filter_names_nothing(f) && f->kinds == 0;
}

bool event_rights_see(const struct event_rights *rights, const struct event *event)
{
    (void)event;
    return rights->all;
}

bool event_filter_fits(const struct event_filter *f, const struct event *event)
{
    if (!event_rights_see(&f->rights, event))
        return false;
    if (f->kinds != 0 && !(f->kinds >> kind_of(event) & 1))
        return false;
    return event_filter_names_nothing(f) ||
           (event->job_id != 0 && map_get(&f->jobs, event->job_id) != NULL) ||
           (event->exec_id != 0 && map_get(&f->execs, event->exec_id) != NULL) ||
           (event->queue.len > 0 && strmap_get(&f->queues, event->queue) != NULL);
}
