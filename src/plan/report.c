/* report.c - a plan in tables of 80 columns. */
#include "plan/report.h"
#include "base/when.h"
#include "cli/cells.h"
#include "cli/table.h"
#include "cli/view.h"

#include <inttypes.h>
#include <string.h>

enum { OUT_BYTES_MAX = 64 << 20, NOTES_PRINTED = 10, LINE_CELLS = 79 };

static struct str number(struct arena *arena, uint64_t value)
{
    return value == 0 ? STR("-") : arena_printf(arena, "%" PRIu64, value);
}

/* To the second where that is long. */
static struct str span(struct arena *arena, int64_t ms)
{
    char text[WHEN_TEXT_MAX];
    if (ms < PLAN_WAIT_MS)
        return STR("-");
    return arena_str(arena, duration_format(text, ms / 1000 * 1000));
}

/* "2026-11-16 08:00:00Z" */
static struct str moment(struct arena *arena, int64_t at_ms)
{
    char text[WHEN_TEXT_MAX];
    struct str when = when_format(text, at_ms);
    return arena_printf(arena, "%.10s %.8sZ", when.ptr, when.ptr + 11);
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* A sentence over as many lines as it takes, those behind the first set in. */
static void add_wrapped(struct buf *out, struct str text, const char *indent)
{
    size_t column = 0;
    while (text.len > 0) {
        struct str word = str_cut(&text, ' ');
        size_t width = cells_width(word);
        if (column > 0 && column + 1 + width > LINE_CELLS) {
            buf_printf(out, "\n%s", indent);
            column = str_c(indent).len;
        } else if (column > 0) {
            buf_add_char(out, ' ');
            column++;
        }
        buf_add(out, word);
        column += width;
    }
    buf_add_char(out, '\n');
}

/* ---- the head */

static const struct plan *plan_of(const struct report *r)
{
    return r->after != NULL ? r->after : r->before;
}

static void print_stop(const struct report *r, const struct plan *plan, struct buf *out)
{
    struct arena *arena = &r->cli->arena;
    struct str at = moment(arena, plan->end.at_ms);
    if (plan->end.why == STOP_END)
        return;
    struct str why =
        plan->end.why == STOP_FIRINGS
            ? arena_printf(arena, "after %" PRIu64 " firings (--firings-max)", plan->score.firings)
            : arena_printf(arena, "since more than %" PRId64 " MiB of runs wait by then",
                           PLAN_BYTES_MAX >> 20);
    add_wrapped(out,
                arena_printf(arena,
                             "STOPPED at %.*s, %.*s: what lies behind is not in these numbers.",
                             STR_ARG(at), STR_ARG(why)),
                "");
}

static struct str longest(const struct counts *c, struct arena *arena)
{
    if (c->wait_max_ms < PLAN_WAIT_MS)
        return STR("");
    return arena_printf(arena, " (the longest %.*s, due %.*s)",
                        STR_ARG(span(arena, c->wait_max_ms)),
                        STR_ARG(moment(arena, c->wait_max_at_ms)));
}

/* What became of them, as far as there are any. */
static struct str overlaps(const struct counts *c, struct arena *arena)
{
    const struct {
        const char *word;
        uint64_t count;
    } parts[] = {{"skipped", c->skips[SKIP_OVERLAP]},
                 {"queued", c->queued},
                 {"replaced", c->replaced},
                 {"parallel", c->parallel}};
    struct str text = STR("");
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        if (parts[i].count > 0)
            text = arena_printf(arena, "%.*s%s%" PRIu64 " %s", STR_ARG(text),
                                text.len > 0 ? ", " : " (", parts[i].count, parts[i].word);
    }
    return text.len == 0 ? text : arena_printf(arena, "%.*s)", STR_ARG(text));
}

static void print_played(const struct report *r, const struct plan *plan, struct buf *out)
{
    const struct counts *c = &plan->score.all;
    struct arena *arena = &r->cli->arena;
    add_wrapped(out,
                arena_printf(arena, "%" PRIu64 " start, %" PRIu64 " wait%.*s.", c->starts, c->waits,
                             STR_ARG(longest(c, arena))),
                "");
    add_wrapped(out,
                arena_printf(arena,
                             "%" PRIu64 " late, %" PRIu64 " skipped, %" PRIu64 " overlap%s%.*s.",
                             c->late, counts_skipped(c), c->overlaps, plural(c->overlaps),
                             STR_ARG(overlaps(c, arena))),
                "");
    buf_printf(out, "At most %u run at once", plan->score.peak);
    if (plan->score.peak > 0)
        buf_printf(out, " (%.*s)", STR_ARG(moment(arena, plan->score.peak_at_ms)));
    buf_printf(out, "; there %s %" PRIu64 " slot%s.\n", plan->end.slots == 1 ? "is" : "are",
               plan->end.slots, plural(plan->end.slots));
}

static void print_head(const struct report *r, struct buf *out)
{
    const struct plan *plan = plan_of(r);
    const struct score *s = &plan->score;
    struct arena *arena = &r->cli->arena;
    buf_printf(out, "From %.*s to %.*s: %" PRIu64 " firing%s.\n",
               STR_ARG(moment(arena, s->window.from_ms)),
               STR_ARG(moment(arena, s->window.until_ms)), s->all.firings, plural(s->all.firings));
    print_stop(r, plan, out);
    if (!plan->firings_only) {
        print_played(r, plan, out);
        return;
    }
    add_wrapped(out,
                arena_printf(arena,
                             "%" PRIu64 " skipped and %" PRIu64
                             " held by calendars; workers and limits were not looked at.",
                             counts_skipped(&s->all), s->all.held),
                "");
}

/* ---- what should be known about it */

/* A remark of its own, when there is anything to count. */
static void remark(const struct report *r, struct buf *out, uint64_t count, const char *what)
{
    if (count > 0)
        add_wrapped(out, arena_printf(&r->cli->arena, "- %" PRIu64 " %s", count, what), "  ");
}

/* The same with the name of the job that has most of it. */
static void remark_most(const struct report *r, struct buf *out, size_t member, const char *what)
{
    const struct score *s = &plan_of(r)->score;
    const struct score_row *most = NULL;
    uint64_t count = 0;
    uint64_t largest = 0;
    for (size_t i = 0; i < s->rows.len; i++) {
        uint64_t value;
        memcpy(&value, (const char *)&s->rows.items[i]->counts + member, sizeof value);
        most = value > largest ? s->rows.items[i] : most;
        largest = value > largest ? value : largest;
        count += value;
    }
    if (most == NULL)
        return;
    struct str name = view_one_line(most->name, &r->cli->arena);
    remark(r, out, count,
           arena_printf(&r->cli->arena, "%s (most of '%.*s')", what, STR_ARG(name)).ptr);
}

static void remark_durations(const struct report *r, struct buf *out)
{
    char text[WHEN_TEXT_MAX];
    (void)duration_format(text, r->assume_ms);
    remark(r, out, r->world->jobs_recurring - r->world->jobs_measured,
           arena_printf(&r->cli->arena,
                        "recurring jobs without history: runs are taken to last %s (--assume)",
                        text)
               .ptr);
}

static void print_remarks(const struct report *r, struct buf *out)
{
    const struct plan *plan = plan_of(r);
    const struct counts *c = &plan->score.all;
    const struct world *world = r->world;
    if (!plan->firings_only) {
        remark_durations(r, out);
        if (plan->end.slots == 0)
            buf_add(out,
                    STR("- no worker takes work, so nothing new starts; --slots N assumes some\n"));
        remark_most(r, out, offsetof(struct counts, never), "ready by then, and not started");
        remark_most(r, out, offsetof(struct counts, sla_expected),
                    "at risk of their SLA: over later than `expected` after they were due");
        remark_most(r, out, offsetof(struct counts, sla_max),
                    "over later than the `max` of their SLA after they were due");
        remark_most(r, out, offsetof(struct counts, cut),
                    "usually take longer than their timeout, which ends them");
        remark(r, out, c->held, "held by a calendar, and due when that ends");
        remark(r, out, plan->end.left_out, "executions left out: they make no sense");
        remark(r, out, world->workers_out, "workers left out: they are away, draining or cordoned");
    }
    remark(r, out, world->jobs_paused, "jobs paused: nothing of them starts");
    remark(r, out, world->queues_paused, "queues paused: nothing in them starts");
    remark(r, out, world->jobs_unread, "jobs left out: their definition cannot be read here");
}

static void print_notes(const struct report *r, struct buf *out)
{
    const struct plan_notes *notes = r->notes;
    struct arena *arena = &r->cli->arena;
    size_t shown = notes->count < NOTES_PRINTED ? notes->count : NOTES_PRINTED;
    for (size_t i = 0; i < shown; i++) {
        const struct plan_note *n = &notes->items[i];
        struct str name = view_one_line(n->job, arena);
        add_wrapped(out, arena_printf(arena, "- '%.*s': %.*s", STR_ARG(name), STR_ARG(n->text)),
                    "  ");
    }
    remark(r, out, notes->count - shown + notes->left_out,
           "more firings that a change of the clock touches (-o json shows 100)");
}

/* ---- tables */

static const struct column played_columns[] = {
    {.title = "JOB", .flexible = true},  {.title = "QUEUE", .flexible = true, .optional = true},
    {.title = "FIRINGS", .right = true}, {.title = "WAIT", .right = true},
    {.title = "LONGEST", .right = true}, {.title = "LATE", .right = true},
    {.title = "OVERLAP", .right = true}, {.title = "SKIPPED", .right = true},
    {.title = "SLA", .right = true},
};

static const struct column counted_columns[] = {
    {.title = "JOB", .flexible = true},  {.title = "QUEUE", .flexible = true, .optional = true},
    {.title = "FIRINGS", .right = true}, {.title = "SKIPPED", .right = true},
    {.title = "HELD", .right = true},
};

static void add_numbers(struct table *table, const struct counts *c, bool firings_only,
                        struct arena *arena)
{
    table_add(table, number(arena, c->firings));
    if (firings_only) {
        table_add(table, number(arena, counts_skipped(c)));
        table_add(table, number(arena, c->held));
        return;
    }
    table_add(table, number(arena, c->waits));
    table_add(table, span(arena, c->wait_max_ms));
    table_add(table, number(arena, c->late));
    table_add(table, number(arena, c->overlaps));
    table_add(table, number(arena, counts_skipped(c)));
    table_add(table, number(arena, c->sla_expected > c->sla_max ? c->sla_expected : c->sla_max));
}

static void print_rest(struct buf *out, size_t shown, size_t count)
{
    if (shown < count)
        buf_printf(out, "%zu more; --rows 0 shows all of them\n", count - shown);
}

static size_t rows_shown(const struct report *r, size_t count)
{
    return r->rows_max > 0 && count > r->rows_max ? (size_t)r->rows_max : count;
}

static void print_rows(const struct report *r, struct buf *out)
{
    const struct plan *plan = plan_of(r);
    struct arena *arena = &r->cli->arena;
    struct column columns[COUNT_OF(played_columns)];
    size_t count = plan->firings_only ? COUNT_OF(counted_columns) : COUNT_OF(played_columns);
    bool queues = r->by == BY_QUEUE;
    for (size_t i = 0; i < count; i++)
        columns[i] = plan->firings_only ? counted_columns[i] : played_columns[i];
    columns[1].flexible = true;
    CLEANUP(table_free)
    struct table table = TABLE(queues ? columns + 1 : columns, queues ? count - 1 : count);
    size_t row_count;
    const struct score_row **rows = rows_sorted(&plan->score, r->by, arena, &row_count);
    size_t shown = rows_shown(r, row_count);
    for (size_t i = 0; i < shown; i++) {
        if (!queues)
            table_add(&table, view_one_line(rows[i]->name, arena));
        table_add(&table, rows[i]->queue);
        add_numbers(&table, &rows[i]->counts, plan->firings_only, arena);
    }
    columns[1].optional = !queues;
    buf_add_char(out, '\n');
    if (shown > 0)
        table_print(&table, table_paper(), out);
    print_rest(out, shown, row_count);
}

static void print_steps(const struct report *r, struct buf *out)
{
    static const struct column columns[] = {
        {.title = "FROM"},
        {.title = "FIRINGS", .right = true},
        {.title = "WAIT", .right = true},
        {.title = "LONGEST", .right = true},
        {.title = "LATE", .right = true},
        {.title = "OVERLAP", .right = true},
        {.title = "SKIPPED", .right = true},
        {.title = "AT ONCE", .right = true},
    };
    static const struct column few[] = {
        {.title = "FROM"},
        {.title = "FIRINGS", .right = true},
        {.title = "SKIPPED", .right = true},
        {.title = "HELD", .right = true},
    };
    const struct plan *plan = plan_of(r);
    const struct score *t = &plan->score;
    struct arena *arena = &r->cli->arena;
    bool only = plan->firings_only;
    CLEANUP(table_free)
    struct table table = TABLE(only ? few : columns, only ? COUNT_OF(few) : COUNT_OF(columns));
    for (size_t i = 0; i < t->step_count; i++) {
        const struct counts *c = &t->steps[i].counts;
        table_add(&table, moment(arena, t->window.from_ms + (int64_t)i * t->window.step_ms));
        table_add(&table, number(arena, c->firings));
        if (!only) {
            table_add(&table, number(arena, c->waits));
            table_add(&table, span(arena, c->wait_max_ms));
            table_add(&table, number(arena, c->late));
            table_add(&table, number(arena, c->overlaps));
        }
        table_add(&table, number(arena, counts_skipped(c)));
        table_add(&table, number(arena, only ? c->held : t->steps[i].peak));
    }
    buf_add_char(out, '\n');
    table_print(&table, table_paper(), out);
}

/* ---- before and after */

static struct str both(struct arena *arena, uint64_t before, uint64_t after)
{
    if (before == after)
        return number(arena, after);
    return arena_printf(arena, "%" PRIu64 ">%" PRIu64, before, after);
}

static struct str both_spans(struct arena *arena, int64_t before_ms, int64_t after_ms)
{
    struct str before = span(arena, before_ms);
    struct str after = span(arena, after_ms);
    return str_eq(before, after)
               ? after
               : arena_printf(arena, "%.*s>%.*s", STR_ARG(before), STR_ARG(after));
}

static bool is_same(const struct counts *a, const struct counts *b)
{
    return a->firings == b->firings && a->waits == b->waits && a->late == b->late &&
           a->overlaps == b->overlaps && counts_skipped(a) == counts_skipped(b) &&
           a->wait_max_ms / 1000 == b->wait_max_ms / 1000 && a->sla_expected == b->sla_expected;
}

static void add_both(struct table *table, struct str name, const char *verdict,
                     const struct counts *old, const struct counts *next, struct arena *arena)
{
    table_add(table, name);
    table_add(table, both(arena, old->firings, next->firings));
    table_add(table, both(arena, old->waits, next->waits));
    table_add(table, both_spans(arena, old->wait_max_ms, next->wait_max_ms));
    table_add(table, both(arena, old->late, next->late));
    table_add(table, both(arena, old->overlaps, next->overlaps));
    table_add(table, both(arena, counts_skipped(old), counts_skipped(next)));
    table_add(table, str_c(verdict));
}

static void print_both(const struct report *r, struct buf *out)
{
    static const struct column columns[] = {
        {.title = "JOB", .flexible = true},  {.title = "FIRINGS", .right = true},
        {.title = "WAIT", .right = true},    {.title = "LONGEST", .right = true},
        {.title = "LATE", .right = true},    {.title = "OVERLAP", .right = true},
        {.title = "SKIPPED", .right = true}, {.title = ""},
    };
    static const struct counts none = {0};
    struct arena *arena = &r->cli->arena;
    CLEANUP(table_free) struct table table = TABLE(columns, COUNT_OF(columns));
    size_t count;
    size_t differ = 0;
    const struct score_row **rows = rows_sorted(&r->after->score, BY_JOB, arena, &count);
    add_both(&table, STR("(all)"), "", &r->before->score.all, &r->after->score.all, arena);
    for (size_t i = 0; i < count; i++) {
        const struct score_row *old = row_like(&r->before->score, rows[i]);
        const struct counts *before = old != NULL ? &old->counts : &none;
        if (is_same(before, &rows[i]->counts) || ++differ > rows_shown(r, SIZE_MAX))
            continue;
        add_both(&table, view_one_line(rows[i]->name, arena),
                 rows[i]->is_new                          ? "new"
                 : row_is_worse(before, &rows[i]->counts) ? "worse"
                                                          : "",
                 before, &rows[i]->counts, arena);
    }
    buf_printf(
        out, "\n%zu job%s changed, %zu new (before>after; jobs that fare as before are left out)\n",
        r->changes->edited, plural(r->changes->edited), r->changes->added);
    table_print(&table, table_paper(), out);
    print_rest(out, rows_shown(r, SIZE_MAX) < differ ? rows_shown(r, SIZE_MAX) : differ, differ);
}

void report_print(const struct report *r)
{
    CLEANUP(buf_free) struct buf out = BUF(OUT_BYTES_MAX);
    print_head(r, &out);
    if (r->after != NULL)
        print_stop(r, r->before, &out);
    print_remarks(r, &out);
    print_notes(r, &out);
    if (r->after != NULL)
        print_both(r, &out);
    else if (r->by == BY_HOUR)
        print_steps(r, &out);
    else
        print_rows(r, &out);
    heat_print(&plan_of(r)->score, &out);
    cli_print(buf_str(&out));
}
