/* batch.c - jobs of one submission that depend on one another.
 *
 * They are decided so that each comes after those it waits for; those that wait for themselves,
 * directly or around a circle, are refused. Only new jobs can do that: one that exists cannot wait
 * for one that does not. Costs as much as there are jobs and dependencies. */
#include "engine/submit/batch.h"
#include "base/buf.h"
#include "engine/core/model.h"

enum {
    CYCLE_NAMED_MAX = 8, /* jobs of a circle that a refusal names */
    CYCLE_NAME_BYTES = 40,
    CYCLE_TEXT_BYTES = 512,
};

struct batch {
    struct arena *arena;
    struct submission *items;
    size_t count;
    size_t *missing; /* how many of the batch each still waits for */
    /* Its dependants: first dependant of each item, then next of each; 1-based, 0 ends. */
    size_t *first;
    size_t *next;
    size_t *who;
};

/* ---- which item a wish means */

static void index_names(const struct command *cmd, struct strmap *names)
{
    for (size_t i = cmd->submit.count; i-- > 0;) { /* of two with one name the first will have it */
        struct submission *item = &cmd->submit.items[i];
        if (item->name.len > 0) {
            strmap_remove(names, item->name);
            strmap_put(names, item->name, item);
        }
    }
}

/* Items stand in the order of their numbers. */
static size_t find_number(const struct command *cmd, uint64_t number)
{
    size_t low = 0;
    size_t high = cmd->submit.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (cmd->submit.items[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < cmd->submit.count && cmd->submit.items[low].number == number;
    return found ? low : SIZE_MAX;
}

static size_t find_item(const struct command *cmd, const struct strmap *names,
                        const struct dependency_wish *wish)
{
    if (wish->job_id != 0)
        return SIZE_MAX;
    if (wish->name.len == 0)
        return find_number(cmd, wish->number);
    const struct submission *item = strmap_get(names, wish->name);
    return item == NULL ? SIZE_MAX : (size_t)(item - cmd->submit.items);
}

/* How many dependencies within the batch there are. */
static size_t find_items(struct command *cmd)
{
    CLEANUP(strmap_free) struct strmap names = {0};
    bool indexed = false; /* once, also where nobody has a name */
    size_t found = 0;
    for (size_t i = 0; i < cmd->submit.count; i++) {
        const struct submission *item = &cmd->submit.items[i];
        for (size_t k = 0; k < item->depends_count; k++) {
            struct dependency_wish *wish = &item->depends_on[k];
            if (wish->name.len > 0 && !indexed)
                index_names(cmd, &names);
            indexed |= wish->name.len > 0;
            wish->item = find_item(cmd, &names, wish);
            found += wish->item != SIZE_MAX;
        }
    }
    return found;
}

/* ---- the order */

static struct batch batch_of(struct engine *e, struct command *cmd, size_t edges)
{
    struct batch b = {
        .arena = e->turn.arena,
        .items = cmd->submit.items,
        .count = cmd->submit.count,
        .missing = ARENA_ARRAY(e->turn.arena, size_t, cmd->submit.count),
        .first = ARENA_ARRAY(e->turn.arena, size_t, cmd->submit.count),
        .next = ARENA_ARRAY(e->turn.arena, size_t, edges + 1),
        .who = ARENA_ARRAY(e->turn.arena, size_t, edges + 1),
    };
    size_t edge = 0;
    for (size_t i = b.count; i-- > 0;) { /* the last first, so that lists have the first first */
        for (size_t k = 0; k < b.items[i].depends_count; k++) {
            size_t upstream = b.items[i].depends_on[k].item;
            if (upstream == SIZE_MAX)
                continue;
            edge++;
            b.who[edge] = i;
            b.next[edge] = b.first[upstream];
            b.first[upstream] = edge;
            b.missing[i]++;
        }
    }
    return b;
}

/* Those that wait for nothing of the batch, then those that wait for these, and so on. Returns how
 * many came; the others wait for themselves, or for some that do. */
static size_t sort(struct batch *b, size_t *order)
{
    size_t len = 0;
    for (size_t i = 0; i < b->count; i++) {
        if (b->missing[i] == 0)
            order[len++] = i;
    }
    for (size_t at = 0; at < len; at++) {
        for (size_t edge = b->first[order[at]]; edge != 0; edge = b->next[edge]) {
            if (--b->missing[b->who[edge]] == 0)
                order[len++] = b->who[edge];
        }
    }
    return len;
}

/* ---- circles */

/* One that it waits for and that did not come either. */
static size_t towards(const struct batch *b, size_t item)
{
    const struct submission *s = &b->items[item];
    for (size_t k = 0; k < s->depends_count; k++) {
        size_t upstream = s->depends_on[k].item;
        if (upstream != SIZE_MAX && b->missing[upstream] > 0)
            return upstream;
    }
    return item; /* never: it would have come */
}

static void name_item(struct buf *out, const struct submission *item)
{
    if (item->name.len > 0)
        buf_printf(out, "'%.*s'", STR_ARG(str_head(item->name, CYCLE_NAME_BYTES)));
    else
        buf_printf(out, "#%zu", item->number);
}

static struct str name_cycle(const struct batch *b, const size_t *next, size_t start)
{
    CLEANUP(buf_free) struct buf out = BUF(CYCLE_TEXT_BYTES);
    size_t len = 0;
    size_t at = start;
    do {
        if (len < CYCLE_NAMED_MAX) {
            name_item(&out, &b->items[at]);
            buf_add(&out, STR(" waits for "));
        }
        at = next[at];
        len++;
    } while (at != start);
    if (len > CYCLE_NAMED_MAX)
        buf_printf(&out, "… waits for (%zu jobs in all) ", len);
    name_item(&out, &b->items[start]);
    return arena_str(b->arena, buf_str(&out));
}

/* Walks from each that did not come until it meets its own trace, or that of a walk before. */
static void refuse_cycles(struct batch *b, struct command *cmd)
{
    size_t *next = ARENA_ARRAY(b->arena, size_t, b->count);
    size_t *walk = ARENA_ARRAY(b->arena, size_t, b->count);
    struct str *cycles = ARENA_ARRAY(b->arena, struct str, b->count);
    for (size_t i = 0; i < b->count; i++)
        next[i] = b->missing[i] > 0 ? towards(b, i) : i;
    for (size_t i = 0; i < b->count; i++) {
        size_t at = i;
        if (b->missing[i] == 0 || walk[i] != 0)
            continue;
        for (; walk[at] == 0; at = next[at])
            walk[at] = i + 1;
        struct str cycle = walk[at] == i + 1 ? name_cycle(b, next, at) : cycles[at];
        for (at = i; cycles[at].len == 0; at = next[at]) {
            struct submission *item = &b->items[at];
            cycles[at] = cycle;
            item->err = ARENA_NEW(cmd->arena, struct err);
            item->rc =
                err_set(item->err, RC_INVALID, "depends_on has a cycle: %.*s", STR_ARG(cycle));
        }
    }
}

const size_t *batch_order(struct engine *e, struct command *cmd)
{
    size_t *order = ARENA_ARRAY(e->turn.arena, size_t, cmd->submit.count);
    size_t edges = find_items(cmd);
    if (edges == 0) {
        for (size_t i = 0; i < cmd->submit.count; i++)
            order[i] = i;
        return order;
    }
    struct batch b = batch_of(e, cmd, edges);
    size_t len = sort(&b, order);
    if (len == b.count)
        return order;
    refuse_cycles(&b, cmd);
    for (size_t i = 0; i < b.count; i++) {
        if (b.missing[i] > 0)
            order[len++] = i;
    }
    return order;
}
