/* rows.c - the rows of a plan in an order, beside those of another plan, and why a plan fails. */
#include "cli/view.h"
#include "plan/report.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- order */

static uint64_t trouble_of(const struct counts *c)
{
    return c->late + c->overlaps + counts_skipped(c) + c->never + c->sla_expected + c->sla_max +
           c->cut;
}

static int by_trouble(const void *a, const void *b)
{
    const struct score_row *left = *(const struct score_row *const *)a;
    const struct score_row *right = *(const struct score_row *const *)b;
    uint64_t left_trouble = trouble_of(&left->counts);
    uint64_t right_trouble = trouble_of(&right->counts);
    if (left_trouble != right_trouble)
        return left_trouble > right_trouble ? -1 : 1;
    if (left->counts.firings != right->counts.firings)
        return left->counts.firings > right->counts.firings ? -1 : 1;
    return str_cmp(left->name, right->name);
}

const struct score_row **rows_sorted(const struct score *t, enum report_by by, struct arena *arena,
                                     size_t *ret_count)
{
    size_t all = by == BY_QUEUE ? t->queues.len : t->rows.len;
    struct score_row *const *rows = by == BY_QUEUE ? t->queues.items : t->rows.items;
    const struct score_row **sorted = ARENA_ARRAY(arena, const struct score_row *, all + 1);
    *ret_count = 0;
    for (size_t i = 0; i < all; i++) {
        if (rows[i]->counts.firings > 0 || rows[i]->counts.held > 0)
            sorted[(*ret_count)++] = rows[i];
    }
    if (*ret_count > 0)
        qsort(sorted, *ret_count, sizeof(struct score_row *), by_trouble);
    return sorted;
}

/* ---- beside another plan */

const struct score_row *row_like(const struct score *t, const struct score_row *row)
{
    return strmap_get(&t->rows_by_name, row->name);
}

bool row_is_worse(const struct counts *before, const struct counts *after)
{
    return after->late > before->late || after->overlaps > before->overlaps ||
           counts_skipped(after) > counts_skipped(before) || after->never > before->never ||
           after->sla_expected > before->sla_expected || after->sla_max > before->sla_max ||
           after->wait_max_ms >= before->wait_max_ms + PLAN_WAIT_MS;
}

/* ---- failing on purpose */

struct failing {
    unsigned bit;
    const char *word; /* as users write it */
    const char *what; /* "12 firings are …" */
};

static const struct failing failings[] = {
    {FAIL_OVERLAP, "overlap", "meet a run of their own job that is not over"},
    {FAIL_LATE, "late", "start late"},
    {FAIL_SKIPPED, "skipped", "are skipped"},
};

enum rc fail_on_parse(const char *text, unsigned *ret_bits, struct err *err)
{
    struct str rest = str_c(text);
    *ret_bits = 0;
    do {
        struct str word = str_trim(str_cut(&rest, ','));
        unsigned bit = 0;
        for (size_t i = 0; i < COUNT_OF(failings); i++)
            bit |= str_eq(word, str_c(failings[i].word)) ? failings[i].bit : 0;
        if (bit == 0)
            return err_set(err, RC_INVALID, "--fail-on takes overlap, late and skipped, not '%.*s'",
                           STR_ARG(word));
        *ret_bits |= bit;
    } while (rest.ptr != NULL);
    return RC_OK;
}

static uint64_t value_of(const struct counts *c, unsigned bit)
{
    return bit == FAIL_OVERLAP ? c->overlaps : bit == FAIL_LATE ? c->late : counts_skipped(c);
}

/* Of the rows that are worse than before, by how much; *ret_worst: the one that is worst. */
static uint64_t sum_worse(const struct report *r, unsigned bit, const struct score_row **ret_worst)
{
    static const struct counts none = {0};
    const struct plan *plan = r->after != NULL ? r->after : r->before;
    uint64_t sum = 0;
    uint64_t most = 0;
    for (size_t i = 0; i < plan->score.rows.len; i++) {
        const struct score_row *row = plan->score.rows.items[i];
        const struct score_row *old = r->after == NULL ? NULL : row_like(&r->before->score, row);
        uint64_t before = value_of(old != NULL ? &old->counts : &none, bit);
        uint64_t after = value_of(&row->counts, bit);
        uint64_t more = after > before ? after - before : 0;
        sum += more;
        if (more > most)
            *ret_worst = row;
        most = more > most ? more : most;
    }
    return sum;
}

struct str fail_reason(const struct report *r, unsigned bits, struct arena *arena)
{
    const struct plan *plan = r->after != NULL ? r->after : r->before;
    struct str text = STR("");
    if (bits != 0 && plan->end.why != STOP_END)
        return STR("the plan stopped before its end, so nobody can say");
    for (size_t i = 0; i < COUNT_OF(failings); i++) {
        const struct score_row *worst = NULL;
        uint64_t sum = (bits & failings[i].bit) == 0 ? 0 : sum_worse(r, failings[i].bit, &worst);
        if (sum == 0)
            continue;
        text = arena_printf(arena, "%.*s%s%" PRIu64 "%s %s (most of '%.*s')", STR_ARG(text),
                            text.len > 0 ? "; " : "", sum, r->after != NULL ? " more" : "",
                            failings[i].what, STR_ARG(view_one_line(worst->name, arena)));
    }
    return text;
}
