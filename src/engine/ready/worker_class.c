#include "engine/ready/worker_class.h"
#include "base/buf.h"
#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>

void worker_classes_init(struct worker_classes *t)
{
    *t = (struct worker_classes){0};
    list_init(&t->idle);
}

void worker_classes_free(struct worker_classes *t)
{
    for (size_t i = 0; i < t->by_key.cap; i++)
        free(t->by_key.slots[i].value);
    strmap_free(&t->by_key);
}

/* "queues\0handlers\0y": no name holds a zero. */
static void add_key(struct buf *key, struct str queues, struct str handlers, bool runs_commands)
{
    buf_add(key, queues);
    buf_add_char(key, '\0');
    buf_add(key, handlers);
    buf_add_char(key, '\0');
    buf_add_char(key, runs_commands ? 'y' : 'n');
}

static size_t count_lines(struct str lines)
{
    size_t count = 0;
    for (size_t i = 0; i < lines.len; i++)
        count += lines.ptr[i] == '\n';
    return count;
}

static size_t count_lanes(const struct worker_class *worker_class)
{
    if (worker_class->queues.len == 0)
        return SIZE_MAX;
    return count_lines(worker_class->queues) *
           (count_lines(worker_class->handlers) + worker_class->runs_commands);
}

static struct str worker_class_key(const struct worker_class *worker_class)
{
    return str_of(worker_class->queues.ptr,
                  worker_class->queues.len + 1 + worker_class->handlers.len + 2);
}

struct worker_class *worker_class_join(struct worker_classes *t, struct str queues,
                                       struct str handlers, bool runs_commands)
{
    size_t len = queues.len + handlers.len + 3;
    struct worker_class *fresh = mem_new(sizeof *fresh + len);
    struct buf key = {.ptr = (char *)(fresh + 1), .cap = len, .max = len};
    add_key(&key, queues, handlers, runs_commands);
    struct worker_class *worker_class = strmap_get(&t->by_key, buf_str(&key));
    if (worker_class != NULL) {
        free(fresh);
    } else {
        worker_class = fresh;
        worker_class->queues = str_of(key.ptr, queues.len);
        worker_class->handlers = str_of(key.ptr + queues.len + 1, handlers.len);
        worker_class->runs_commands = runs_commands;
        worker_class->lane_count = count_lanes(worker_class);
        list_init(&worker_class->waiting);
        strmap_put(&t->by_key, worker_class_key(worker_class), worker_class);
    }
    worker_class->members++;
    return worker_class;
}

void worker_class_leave(struct worker_classes *t, struct worker_class *worker_class)
{
    assert(worker_class->members > 0);
    if (--worker_class->members > 0)
        return;
    assert(list_empty(&worker_class->waiting));
    strmap_remove(&t->by_key, worker_class_key(worker_class));
    free(worker_class);
}

static bool has_line(struct str lines, struct str want)
{
    while (lines.len > 0) {
        if (str_eq(str_cut(&lines, '\n'), want))
            return true;
    }
    return false;
}

bool worker_class_knows(const struct worker_class *worker_class, struct str handler)
{
    return handler.len == 0 ? worker_class->runs_commands
                            : has_line(worker_class->handlers, handler);
}

bool worker_class_serves(const struct worker_class *worker_class, struct str queue,
                         struct str handler)
{
    if (worker_class->queues.len > 0 && !has_line(worker_class->queues, queue))
        return false;
    return worker_class_knows(worker_class, handler);
}
