#include "job/record/ranking.h"

#include <stdlib.h>

/* ---- weights */

uint64_t ranked_ended(const struct ranked *line)
{
    return line->completed + line->deduplicated + line->failed;
}

uint64_t ranked_slas(const struct ranked *line)
{
    return line->sla[TALLY_SLA_MET].count + line->sla[TALLY_SLA_BROKEN].count;
}

static double part_of(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : (double)part / (double)whole;
}

static double by_failed(const struct ranked *line)
{
    return (double)line->failed;
}

static double by_failure_rate(const struct ranked *line)
{
    return part_of(line->failed, ranked_ended(line));
}

static double by_succeeded(const struct ranked *line)
{
    return (double)(line->completed + line->deduplicated);
}

static double by_ended(const struct ranked *line)
{
    return (double)ranked_ended(line);
}

static double by_average(const struct ranked *line)
{
    return part_of(line->sum_ms, line->completed);
}

static double by_time(const struct ranked *line)
{
    return (double)line->sum_ms;
}

static double by_completed(const struct ranked *line)
{
    return (double)line->completed;
}

static double by_broken(const struct ranked *line)
{
    return (double)line->sla[TALLY_SLA_BROKEN].count;
}

static double by_broken_rate(const struct ranked *line)
{
    return part_of(line->sla[TALLY_SLA_BROKEN].count, ranked_slas(line));
}

static double by_overrun(const struct ranked *line)
{
    return (double)line->sla[TALLY_SLA_OVERRUN].sum_ms;
}

static double by_slas(const struct ranked *line)
{
    return (double)ranked_slas(line);
}

static double by_key(const struct ranked *line)
{
    (void)line;
    return 0;
}

#define OF(kind) (1U << REPORT_##kind)
#define EVERY (OF(FAILURES) | OF(SUCCESSES) | OF(SLA) | OF(SLOWEST))

/* The first of a report is its usual order. A rate puts first what needs a look: the most failures,
 * the fewest successes, the fewest SLAs that were met. */
static const struct ranking_order orders[] = {
    {STR_INIT("failed"), OF(FAILURES), by_failed},
    {STR_INIT("succeeded"), OF(SUCCESSES), by_succeeded},
    {STR_INIT("violated"), OF(SLA), by_broken},
    {STR_INIT("average"), OF(SLOWEST), by_average},
    {STR_INIT("time"), OF(SLOWEST), by_time},
    {STR_INIT("completed"), OF(SLOWEST), by_completed},
    {STR_INIT("rate"), OF(FAILURES) | OF(SUCCESSES), by_failure_rate},
    {STR_INIT("rate"), OF(SLA), by_broken_rate},
    {STR_INIT("overrun"), OF(SLA), by_overrun},
    {STR_INIT("total"), OF(FAILURES) | OF(SUCCESSES), by_ended},
    {STR_INIT("total"), OF(SLA), by_slas},
    {STR_INIT("key"), EVERY, by_key},
};

const struct ranking_order *ranking_order_find(enum report_kind kind, struct str word)
{
    for (size_t i = 0; i < COUNT_OF(orders); i++) {
        if ((orders[i].kinds >> kind & 1) != 0 && (word.len == 0 || str_eq(word, orders[i].word)))
            return &orders[i];
    }
    return NULL;
}

struct str ranking_orders(enum report_kind kind, struct arena *arena)
{
    struct str words = STR("");
    for (size_t i = 0; i < COUNT_OF(orders); i++) {
        if ((orders[i].kinds >> kind & 1) != 0)
            words = arena_printf(arena, "%.*s%s%.*s", STR_ARG(words), words.len > 0 ? ", " : "",
                                 STR_ARG(orders[i].word));
    }
    return words;
}

/* ---- adding up */

struct ranking ranking_new(struct arena *arena)
{
    return (struct ranking){.arena = arena};
}

void ranking_free(struct ranking *ranking)
{
    strmap_free(&ranking->index);
}

/* A store's rows of one key mostly follow each other. */
static struct ranked *line_of(struct ranking *ranking, struct str key)
{
    if (key.len == 0)
        return &ranking->beyond;
    if (ranking->last != NULL && str_eq(ranking->last->key, key))
        return ranking->last;
    struct ranked *line = strmap_get(&ranking->index, key);
    if (line != NULL)
        return ranking->last = line;
    if (ranking->lines.len >= RANKING_KEYS_MAX) {
        ranking->is_cut = true;
        return &ranking->beyond;
    }
    line = ARENA_NEW(ranking->arena, struct ranked);
    line->key = arena_str(ranking->arena, key);
    strmap_put(&ranking->index, line->key, line);
    *VEC_PUSH(ranking->arena, &ranking->lines) = line;
    return ranking->last = line;
}

void ranking_add(struct ranking *ranking, const struct tally *row)
{
    struct ranked *line = line_of(ranking, row->key);
    if (tally_is_sla(row->scope)) {
        if (row->bucket < TALLY_SLA_KINDS) {
            line->sla[row->bucket].count += row->count;
            line->sla[row->bucket].sum_ms += row->sum_ms;
        }
    } else if (row->end == EXEC_COMPLETED) {
        line->completed += row->count;
        line->sum_ms += row->sum_ms;
    } else if (row->end == EXEC_DEDUPLICATED) {
        line->deduplicated += row->count;
    } else {
        line->failed += row->count;
    }
}

static void add_line(struct ranked *sum, const struct ranked *line)
{
    sum->completed += line->completed;
    sum->deduplicated += line->deduplicated;
    sum->failed += line->failed;
    sum->sum_ms += line->sum_ms;
    for (size_t i = 0; i < TALLY_SLA_KINDS; i++) {
        sum->sla[i].count += line->sla[i].count;
        sum->sla[i].sum_ms += line->sla[i].sum_ms;
    }
}

/* ---- sorting */

/* The report has something to say about the key. */
static bool is_about(enum report_kind kind, const struct ranked *line)
{
    switch (kind) {
    case REPORT_FAILURES: return line->failed > 0;
    case REPORT_SUCCESSES: return ranked_ended(line) > 0;
    case REPORT_SLA: return ranked_slas(line) + line->sla[TALLY_SLA_OVERRUN].count > 0;
    default: return line->completed > 0;
    }
}

struct weighed {
    double weight;
    struct ranked *line;
};

static int heaviest_first(const void *a, const void *b)
{
    const struct weighed *left = a;
    const struct weighed *right = b;
    if (left->weight != right->weight)
        return left->weight > right->weight ? -1 : 1;
    return str_cmp(left->line->key, right->line->key);
}

void ranking_sort(struct ranking *ranking, enum report_kind kind, const struct ranking_order *order,
                  size_t max)
{
    struct weighed *sorted = ARENA_ARRAY(ranking->arena, struct weighed, ranking->lines.len + 1);
    size_t count = 0;
    ranking->others = ranking->beyond;
    for (size_t i = 0; i < ranking->lines.len; i++) {
        struct ranked *line = ranking->lines.items[i];
        if (line->left_out)
            continue;
        if (is_about(kind, line))
            sorted[count++] = (struct weighed){order->weight(line), line};
        else
            add_line(&ranking->others, line);
        add_line(&ranking->total, line);
    }
    add_line(&ranking->total, &ranking->beyond);
    qsort(sorted, count, sizeof *sorted, heaviest_first);
    ranking->shown_count = count < max ? count : max;
    ranking->others_count = count - ranking->shown_count;
    ranking->shown = ARENA_ARRAY(ranking->arena, struct ranked *, ranking->shown_count + 1);
    for (size_t i = 0; i < ranking->shown_count; i++)
        ranking->shown[i] = sorted[i].line;
    for (size_t i = ranking->shown_count; i < count; i++)
        add_line(&ranking->others, sorted[i].line);
}
