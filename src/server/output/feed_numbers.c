#include "server/output/feed_numbers.h"
#include "base/mem.h"
#include "wire/json/merge_json.h"

#include <stdlib.h>
#include <string.h>

enum { SUMS_BYTES_MAX = 64 << 10 };

/* Of one queue: in a source, or in the sum of all. */
struct row {
    struct str queue; /* owned, behind the struct */
    struct totals now;
    struct totals before; /* in the sum: at the last tick */
    uint64_t round;       /* the newest in which it was told of */
    bool changed;         /* in a source: in the newest round */
};

struct source {
    struct list_node node;
    struct str name;    /* owned, behind the struct; empty: this server */
    struct strmap rows; /* owned */
    struct buf sums;    /* owned: an object, as text */
    int64_t heard_ms;   /* boot clock */
    bool whole;         /* another server's: every row is known, since all of them were told */
    bool absent;        /* silent, or no member: it does not count. Its stream may go on with what
                           changes, so what it told before is kept until that has broken off. */
};

/* ---- rows */

static struct row *row_of(struct strmap *rows, struct str queue)
{
    struct row *row = strmap_get(rows, queue);
    if (row != NULL)
        return row;
    row = mem_new(sizeof *row + queue.len);
    memcpy(row + 1, queue.ptr, queue.len);
    row->queue = str_of((char *)(row + 1), queue.len);
    strmap_put(rows, row->queue, row);
    return row;
}

static void rows_free(struct strmap *rows)
{
    for (size_t i = 0; i < rows->cap; i++)
        free(rows->slots[i].value);
    strmap_free(rows);
}

static void row_set(struct row *row, const struct totals *now, uint64_t round)
{
    row->changed = memcmp(&row->now, now, sizeof *now) != 0;
    row->now = *now;
    row->round = round;
}

static bool is_zero(const struct totals *totals)
{
    static const struct totals zero;
    return memcmp(totals, &zero, sizeof zero) == 0;
}

/* What was not told of in this round is gone: it is told as nothing once, and then forgotten. */
static void sweep(struct strmap *rows, uint64_t round)
{
    size_t i = 0;
    while (i < rows->cap) {
        struct row *row = rows->slots[i].value;
        if (row == NULL || row->round == round) {
            i++;
        } else if (!is_zero(&row->now)) {
            row_set(row, &(struct totals){.letters = 0}, row->round);
            i++;
        } else {
            size_t cap = rows->cap;
            strmap_remove(rows, row->queue); /* what follows may move here, … */
            free(row);
            i = rows->cap == cap ? i : 0; /* … or all of it */
        }
    }
}

/* A queue that another server has forgotten is told as nothing. */
static void forget_zeros(struct strmap *rows)
{
    for (size_t i = 0; i < rows->cap; i++) {
        struct row *row = rows->slots[i].value;
        if (row != NULL)
            row->round = is_zero(&row->now) ? 0 : 1;
    }
    sweep(rows, 1);
}

/* ---- sources */

static struct source *source_new(struct feed_numbers *n, struct str name)
{
    struct source *s = mem_new(sizeof *s + name.len);
    if (name.len > 0)
        memcpy(s + 1, name.ptr, name.len);
    s->name = str_of((char *)(s + 1), name.len);
    s->sums = BUF(SUMS_BYTES_MAX);
    list_push_back(&n->sources, &s->node);
    return s;
}

static void source_free(struct source *s)
{
    list_remove(&s->node);
    rows_free(&s->rows);
    buf_free(&s->sums);
    free(s);
}

static struct source *own_of(const struct feed_numbers *n)
{
    return CONTAINER_OF(list_first(&n->sources), struct source, node);
}

static struct source *find_source(struct feed_numbers *n, struct str name)
{
    LIST_EACH(&n->sources, node)
    {
        struct source *s = CONTAINER_OF(node, struct source, node);
        if (str_eq(s->name, name))
            return s;
    }
    return NULL;
}

void feed_numbers_init(struct feed_numbers *n)
{
    *n = (struct feed_numbers){.round = 0};
    list_init(&n->sources);
    source_new(n, STR(""));
}

void feed_numbers_free(struct feed_numbers *n)
{
    while (!list_empty(&n->sources))
        source_free(CONTAINER_OF(list_first(&n->sources), struct source, node));
    rows_free(&n->rows);
}

void feed_numbers_own(struct feed_numbers *n, const struct stats_view *stats,
                      const struct stats_moment *moment)
{
    struct source *s = own_of(n);
    n->round++;
    for (size_t i = 0; i < stats->counter_count;) { /* those of one queue stand together */
        struct str queue = stats->counters[i].queue;
        struct totals totals = {.letters = 0};
        for (; i < stats->counter_count && str_eq(stats->counters[i].queue, queue); i++)
            totals_add(&totals, &stats->counters[i]);
        memset(totals.jobs, 0, sizeof totals.jobs); /* rows are about executions */
        if (queue.len > 0)
            row_set(row_of(&s->rows, queue), &totals, n->round);
    }
    sweep(&s->rows, n->round);
    buf_clear(&s->sums);
    struct json_writer w = JSON_WRITER(&s->sums);
    stats_print_sums(&w, stats, moment);
}

static bool is_whole(const struct json *tick)
{
    const struct json *whole = json_get(tick, STR("whole"));
    return whole != NULL && whole->kind == JSON_BOOL && whole->boolean;
}

/* All rows follow: what was known before may be of a queue that is gone. False when rows are
 * changed that are not known. */
static bool begin_rows(struct source *s, bool whole)
{
    if (whole) {
        rows_free(&s->rows);
        s->rows = (struct strmap){.len = 0};
    }
    s->whole |= whole;
    return s->whole;
}

void feed_numbers_heard(struct feed_numbers *n, struct str name, struct str tick, int64_t boot_ms,
                        struct arena *arena)
{
    struct err err;
    struct json doc;
    struct source *s = find_source(n, name);
    if (json_parse_by(&json_from_server, tick, arena, &doc, &err) != RC_OK ||
        doc.kind != JSON_OBJECT) { /* another version, perhaps: it is missing */
        feed_numbers_lost(n, name);
        return;
    }
    if (s == NULL)
        s = source_new(n, name);
    if (!begin_rows(s, is_whole(&doc)))
        return;
    s->heard_ms = boot_ms;
    buf_clear(&s->sums);
    struct json_writer w = JSON_WRITER(&s->sums);
    json_open(&w);
    for (size_t i = 0; i < doc.count; i++) {
        const struct json_member *member = &doc.members[i];
        if (str_eq(member->key, STR("queues")) || str_eq(member->key, STR("whole")))
            continue;
        json_key_str(&w, member->key);
        json_raw(&w, member->value.raw);
    }
    json_close(&w);
    const struct json *queues = json_get(&doc, STR("queues"));
    for (size_t i = 0; queues != NULL && queues->kind == JSON_ARRAY && i < queues->count; i++) {
        struct str queue;
        struct totals totals;
        if (!stats_parse_queue(&queues->items[i], &queue, &totals))
            continue;
        row_set(row_of(&s->rows, queue), &totals, 0);
    }
    forget_zeros(&s->rows);
}

void feed_numbers_lost(struct feed_numbers *n, struct str name)
{
    struct source *s = find_source(n, name);
    if (s != NULL)
        source_free(s);
}

void feed_numbers_alone(struct feed_numbers *n)
{
    LIST_EACH(&n->sources, node)
    {
        struct source *s = CONTAINER_OF(node, struct source, node);
        if (s != own_of(n))
            source_free(s);
    }
}

size_t feed_numbers_missing(struct feed_numbers *n, const struct str *names, size_t count,
                            int64_t boot_ms, struct str *ret_missing)
{
    size_t missing = 0;
    LIST_EACH(&n->sources, node)
    {
        struct source *s = CONTAINER_OF(node, struct source, node);
        bool known = s->name.len == 0;
        for (size_t i = 0; i < count; i++)
            known = known || str_eq(s->name, names[i]);
        bool silent = s->name.len > 0 && boot_ms - s->heard_ms > SOURCE_SILENT_MS;
        s->absent = !known || silent || (s->name.len > 0 && !s->whole);
    }
    for (size_t i = 0; i < count; i++) {
        const struct source *s = find_source(n, names[i]);
        if (s == NULL || s->absent)
            ret_missing[missing++] = names[i];
    }
    return missing;
}

/* ---- the sum */

static void add_totals(struct totals *to, const struct totals *from)
{
    for (size_t i = 0; i < EXEC_STATES; i++)
        to->execs[i] += from->execs[i];
    to->letters += from->letters;
}

static void add_up(struct feed_numbers *n)
{
    n->round++;
    for (size_t i = 0; i < n->rows.cap; i++) {
        struct row *row = n->rows.slots[i].value;
        if (row == NULL)
            continue;
        row->before = row->now;
        row->now = (struct totals){.letters = 0};
    }
    LIST_EACH(&n->sources, node)
    {
        const struct source *s = CONTAINER_OF(node, struct source, node);
        for (size_t i = 0; i < s->rows.cap && !s->absent; i++) {
            const struct row *from = s->rows.slots[i].value;
            if (from == NULL)
                continue;
            struct row *row = row_of(&n->rows, from->queue);
            add_totals(&row->now, &from->now);
            row->round = n->round;
        }
    }
    sweep(&n->rows, n->round);
}

/* What makes one row more interesting than another. */
struct ranked {
    const struct row *row;
    int64_t change;
    int64_t unfinished;
};

static struct ranked rank(const struct row *row)
{
    struct ranked r = {.row = row, .change = llabs(row->now.letters - row->before.letters)};
    for (int i = EXEC_NONE + 1; i < EXEC_STATES; i++) {
        r.change += llabs(row->now.execs[i] - row->before.execs[i]);
        if (!exec_is_final((enum exec_state)i))
            r.unfinished += row->now.execs[i];
    }
    return r;
}

static int by_rank(const void *a, const void *b)
{
    const struct ranked *left = a;
    const struct ranked *right = b;
    if (left->change != right->change)
        return left->change > right->change ? -1 : 1;
    if (left->unfinished != right->unfinished)
        return left->unfinished > right->unfinished ? -1 : 1;
    return str_cmp(left->row->queue, right->row->queue);
}

static void put_queues(const struct feed_numbers *n, struct json_writer *w, struct arena *arena)
{
    struct ranked *all = ARENA_ARRAY(arena, struct ranked, n->rows.len + 1);
    size_t count = 0;
    for (size_t i = 0; i < n->rows.cap; i++) {
        if (n->rows.slots[i].value != NULL)
            all[count++] = rank(n->rows.slots[i].value);
    }
    qsort(all, count, sizeof *all, by_rank);
    json_key(w, "queues");
    json_open_array(w);
    for (size_t i = 0; i < count && i < TICK_QUEUES; i++)
        stats_print_queue(w, all[i].row->queue, &all[i].row->now);
    json_close_array(w);
    json_put_int(w, "queue_count", (int64_t)count);
}

static void put_sums(const struct feed_numbers *n, struct json_writer *w, struct arena *arena)
{
    struct err err;
    size_t max = 0;
    size_t count = 0;
    LIST_EACH(&n->sources, node)
    {
        max++;
    }
    struct json *docs = ARENA_ARRAY(arena, struct json, max);
    LIST_EACH(&n->sources, node)
    {
        const struct source *s = CONTAINER_OF(node, struct source, node);
        if (!s->absent && s->sums.len > 0 &&
            json_parse(buf_str(&s->sums), arena, &docs[count], &err) == RC_OK)
            count++;
    }
    if (count == 1)
        json_raw_members(w, docs[0].raw);
    else
        merge_json_members(w, docs, count, 0, arena);
}

void feed_numbers_print(struct feed_numbers *n, const struct str *missing, size_t missing_count,
                        struct buf *out, struct arena *arena)
{
    struct json_writer w = JSON_WRITER(out);
    add_up(n);
    json_open(&w);
    put_sums(n, &w, arena);
    put_queues(n, &w, arena);
    if (missing_count > 0) {
        json_key(&w, "missing");
        json_open_array(&w);
        for (size_t i = 0; i < missing_count; i++)
            json_str(&w, missing[i]);
        json_close_array(&w);
    }
    json_close(&w);
}

void feed_numbers_print_own(const struct feed_numbers *n, bool all, struct buf *out)
{
    struct json_writer w = JSON_WRITER(out);
    const struct source *s = own_of(n);
    json_open(&w);
    json_raw_members(&w, buf_str(&s->sums));
    json_put_bool(&w, "whole", all);
    json_key(&w, "queues");
    json_open_array(&w);
    for (size_t i = 0; i < s->rows.cap; i++) {
        const struct row *row = s->rows.slots[i].value;
        if (row != NULL && (all || row->changed))
            stats_print_queue(&w, row->queue, &row->now);
    }
    json_close_array(&w);
    json_close(&w);
}
