#include "cli/table.h"
#include "base/mem.h"
#include "cli/cells.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    WIDTH_DEFAULT = 80,
    WIDTH_MAX = 10000,
    FLEXIBLE_MIN = 8, /* narrower than this, a column tells nothing */
    GAP = 2,
};

#define ELLIPSIS STR("\xe2\x80\xa6")
#define COLOUR_OFF STR("\x1b[0m")

/* The widths of one print; 0: the column is left out. */
struct layout {
    size_t width[TABLE_COLUMNS_MAX];
};

void table_free(struct table *t)
{
    free(t->cells);
    *t = (struct table){0};
}

void table_add(struct table *t, struct str cell)
{
    if (t->cell_count == t->cell_cap) {
        t->cell_cap = t->cell_cap == 0 ? 64 : t->cell_cap * 2;
        t->cells = mem_resize(t->cells, t->cell_cap * sizeof *t->cells);
    }
    t->cells[t->cell_count++] = cell;
}

/* ---- how wide each column is */

static struct layout natural_layout(const struct table *t)
{
    struct layout layout = {0};
    for (size_t i = 0; i < t->column_count; i++)
        layout.width[i] = cells_width(str_c(t->columns[i].title));
    for (size_t i = 0; i < t->cell_count; i++) {
        size_t *width = &layout.width[i % t->column_count];
        size_t cell = cells_width(t->cells[i]);
        *width = cell > *width ? cell : *width;
    }
    return layout;
}

static size_t total_width(const struct table *t, const struct layout *layout)
{
    size_t total = 0;
    for (size_t i = 0; i < t->column_count; i++) {
        if (layout->width[i] > 0)
            total += layout->width[i] + (total > 0 ? GAP : 0);
    }
    return total;
}

/* Takes one from the widest flexible column; false when all are as narrow as they may be. */
static bool narrow(const struct table *t, struct layout *layout)
{
    size_t widest = t->column_count;
    for (size_t i = 0; i < t->column_count; i++) {
        bool can = t->columns[i].flexible && layout->width[i] > FLEXIBLE_MIN;
        if (can && (widest == t->column_count || layout->width[i] > layout->width[widest]))
            widest = i;
    }
    if (widest == t->column_count)
        return false;
    layout->width[widest]--;
    return true;
}

/* Leaves out the last optional column; false when there is none left. */
static bool leave_out(const struct table *t, struct layout *layout)
{
    for (size_t i = t->column_count; i-- > 0;) {
        if (t->columns[i].optional && layout->width[i] > 0) {
            layout->width[i] = 0;
            return true;
        }
    }
    return false;
}

/* Every column that is left out makes room, so the others start again from their full width. */
static struct layout fit(const struct table *t, size_t width)
{
    const struct layout natural = natural_layout(t);
    struct layout kept = natural;
    for (;;) {
        struct layout layout = kept;
        while (width > 0 && total_width(t, &layout) > width && narrow(t, &layout))
            ;
        if (width == 0 || total_width(t, &layout) <= width || !leave_out(t, &kept))
            return layout;
    }
}

/* ---- printing */

static void add_blanks(struct buf *out, size_t count)
{
    buf_printf(out, "%*s", (int)count, "");
}

void table_add_status(struct buf *out, struct paper paper, struct str status)
{
    static const struct {
        struct str word;
        struct str colour;
    } colours[] = {
        {STR_INIT("completed"), STR_INIT("\x1b[32m")}, {STR_INIT("failed"), STR_INIT("\x1b[31m")},
        {STR_INIT("timeout"), STR_INIT("\x1b[31m")},   {STR_INIT("running"), STR_INIT("\x1b[36m")},
        {STR_INIT("active"), STR_INIT("\x1b[36m")},    {STR_INIT("retrying"), STR_INIT("\x1b[33m")},
        {STR_INIT("paused"), STR_INIT("\x1b[33m")},    {STR_INIT("skipped"), STR_INIT("\x1b[33m")},
        {STR_INIT("cancelled"), STR_INIT("\x1b[33m")}, {STR_INIT("draining"), STR_INIT("\x1b[33m")},
        {STR_INIT("cordoned"), STR_INIT("\x1b[33m")},  {STR_INIT("away"), STR_INIT("\x1b[31m")},
    };
    struct str colour = STR("");
    for (size_t i = 0; paper.colour && i < COUNT_OF(colours); i++) {
        if (str_eq(colours[i].word, status))
            colour = colours[i].colour;
    }
    buf_add(out, colour);
    buf_add(out, status);
    if (colour.len > 0)
        buf_add(out, COLOUR_OFF);
}

static void print_cell(const struct column *column, struct str cell, size_t width,
                       struct paper paper, struct buf *out)
{
    size_t len = cells_width(cell);
    bool too_long = len > width;
    struct str shown = too_long ? cells_cut(cell, width - 1) : cell;
    if (column->right && !too_long)
        add_blanks(out, width - len);
    if (column->status)
        table_add_status(out, paper, cell);
    else
        buf_add(out, shown);
    if (too_long) {
        buf_add(out, ELLIPSIS);
        add_blanks(out, width - 1 - cells_width(shown)); /* half of a wide character */
    } else if (!column->right) {
        add_blanks(out, width - len);
    }
}

static void end_line(struct buf *out)
{
    while (out->len > 0 && out->ptr[out->len - 1] == ' ')
        out->len--;
    buf_add_char(out, '\n');
}

/* cells is a row, or NULL for the titles. */
static void print_row(const struct table *t, const struct layout *layout, const struct str *cells,
                      struct paper paper, struct buf *out)
{
    bool first = true;
    for (size_t i = 0; i < t->column_count; i++) {
        struct column column = t->columns[i];
        if (layout->width[i] == 0)
            continue;
        if (!first)
            add_blanks(out, GAP);
        first = false;
        column.status = column.status && cells != NULL;
        print_cell(&column, cells != NULL ? cells[i] : str_c(column.title), layout->width[i], paper,
                   out);
    }
    end_line(out);
}

void table_print(const struct table *t, struct paper paper, struct buf *out)
{
    assert(t->column_count > 0 && t->column_count <= TABLE_COLUMNS_MAX);
    assert(t->cell_count % t->column_count == 0);
    struct layout layout = fit(t, paper.width);
    print_row(t, &layout, NULL, paper, out);
    for (size_t i = 0; i < t->cell_count; i += t->column_count)
        print_row(t, &layout, &t->cells[i], paper, out);
}

/* ---- the terminal */

static size_t terminal_width(void)
{
    struct winsize size;
    uint64_t columns;
    if (str_to_u64(str_c(getenv("COLUMNS")), &columns) && columns > 0 && columns < WIDTH_MAX)
        return (size_t)columns;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return WIDTH_DEFAULT;
}

struct paper table_paper(void)
{
    const char *no_colour = getenv("NO_COLOR");
    if (!isatty(STDOUT_FILENO))
        return (struct paper){0};
    return (struct paper){
        .width = terminal_width(),
        .colour = no_colour == NULL || no_colour[0] == '\0',
    };
}
