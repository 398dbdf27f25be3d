#include "engine/ready/trade.h"
#include "base/buf.h"
#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>

void trades_init(struct trades *t)
{
    *t = (struct trades){0};
    list_init(&t->idle);
}

void trades_free(struct trades *t)
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

static size_t count_lanes(const struct trade *trade)
{
    if (trade->queues.len == 0)
        return SIZE_MAX;
    return count_lines(trade->queues) * (count_lines(trade->handlers) + trade->runs_commands);
}

static struct str trade_key(const struct trade *trade)
{
    return str_of(trade->queues.ptr, trade->queues.len + 1 + trade->handlers.len + 2);
}

struct trade *trade_join(struct trades *t, struct str queues, struct str handlers,
                         bool runs_commands)
{
    size_t len = queues.len + handlers.len + 3;
    struct trade *fresh = mem_new(sizeof *fresh + len);
    struct buf key = {.ptr = (char *)(fresh + 1), .cap = len, .max = len};
    add_key(&key, queues, handlers, runs_commands);
    struct trade *trade = strmap_get(&t->by_key, buf_str(&key));
    if (trade != NULL) {
        free(fresh);
    } else {
        trade = fresh;
        trade->queues = str_of(key.ptr, queues.len);
        trade->handlers = str_of(key.ptr + queues.len + 1, handlers.len);
        trade->runs_commands = runs_commands;
        trade->lane_count = count_lanes(trade);
        list_init(&trade->waiting);
        strmap_put(&t->by_key, trade_key(trade), trade);
    }
    trade->members++;
    return trade;
}

void trade_leave(struct trades *t, struct trade *trade)
{
    assert(trade->members > 0);
    if (--trade->members > 0)
        return;
    assert(list_empty(&trade->waiting));
    strmap_remove(&t->by_key, trade_key(trade));
    free(trade);
}

static bool has_line(struct str lines, struct str want)
{
    while (lines.len > 0) {
        if (str_eq(str_cut(&lines, '\n'), want))
            return true;
    }
    return false;
}

bool trade_knows(const struct trade *trade, struct str handler)
{
    return handler.len == 0 ? trade->runs_commands : has_line(trade->handlers, handler);
}

bool trade_serves(const struct trade *trade, struct str queue, struct str handler)
{
    if (trade->queues.len > 0 && !has_line(trade->queues, queue))
        return false;
    return trade_knows(trade, handler);
}
