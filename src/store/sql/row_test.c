#include "base/log.h"

#include "base/test/test.h"
#include "store/sql/row.h"

#include <string.h>

/* Rows of a store that is an array of cells. */
enum { CELLS_MAX = 20 };

static struct cell number(int64_t value)
{
    return (struct cell){.kind = CELL_NUMBER, .number = value};
}

static struct cell text(const char *bytes)
{
    return (struct cell){.kind = CELL_TEXT, .len = (uint32_t)strlen(bytes), .bytes = bytes};
}

static struct cell null(void)
{
    return (struct cell){.kind = CELL_NULL};
}

static struct cell array_cell(const struct row *row, int at)
{
    const struct cell *cells = row->from;
    assert_true(at < CELLS_MAX);
    return cells[at];
}

static struct row_origin array_origin(const struct row *row)
{
    (void)row;
    return (struct row_origin){"array", "cells", "test"};
}

static struct row array_row(const struct cell *cells, struct arena *arena)
{
    static const struct row_kind kind = {array_cell, array_origin};
    return (struct row){.kind = &kind, .from = cells, .arena = arena};
}

static bool reads_team(const struct cell *cells)
{
    struct team_rec team;
    struct row row = array_row(cells, NULL);
    return row_team(&row, &team);
}

TEST(a_record_is_read_column_by_column)
{
    const struct cell cells[CELLS_MAX] = {text("mail"), number(7), number(1700), text("ann")};
    struct team_rec team;
    struct row row = array_row(cells, NULL);
    assert_true(row_team(&row, &team));
    assert_true(str_eq(team.name, STR("mail")));
    assert_ptr_equal(team.name.ptr, cells[0].bytes);
    assert_int_equal(team.concurrency, 7);
    assert_int_equal(team.changed_ms, 1700);
    assert_true(str_eq(team.changed_by, STR("ann")));
}

TEST(text_is_copied_for_who_keeps_it)
{
    CLEANUP(arena_free) struct arena arena = {0};
    char name[] = "mail";
    const struct cell cells[CELLS_MAX] = {text(name), number(7), number(1700), text("ann")};
    struct team_rec team;
    struct row row = array_row(cells, &arena);
    assert_true(row_team(&row, &team));
    name[0] = 'j';
    assert_true(str_eq(team.name, STR("mail")));
}

TEST(what_makes_no_sense_in_its_place_is_refused)
{
    const struct cell good[CELLS_MAX] = {text("mail"), number(7), number(1700), text("ann")};
    const struct cell hostile[] = {
        null(), {.kind = CELL_ODD}, {.kind = CELL_BLOB}, number(-1), number(INT64_MAX)};
    assert_true(reads_team(good));
    for (size_t column = 0; column < 4; column++) {
        for (size_t i = 0; i < COUNT_OF(hostile); i++) {
            struct cell cells[CELLS_MAX];
            memcpy(cells, good, sizeof cells);
            cells[column] = hostile[i];
            assert_false(reads_team(cells));
        }
    }
}

TEST(a_damaged_row_still_tells_its_id)
{
    const struct cell cells[CELLS_MAX] = {number(9), text("ann"), null()};
    struct key_rec key;
    struct row row = array_row(cells, NULL);
    assert_false(row_key(&row, &key));
    assert_int_equal(key.id, 9);
}

TEST(a_counter_has_the_states_of_its_kind)
{
    struct cell cells[CELLS_MAX] = {number(COUNTER_JOBS), text("mail"), number(JOB_STATES - 1),
                                    number(-3)};
    struct counter counter;
    struct row row = array_row(cells, NULL);
    assert_true(row_counter(&row, &counter));
    assert_int_equal(counter.value, -3);
    cells[2] = number(JOB_STATES);
    row = array_row(cells, NULL);
    assert_false(row_counter(&row, &counter));
}

TEST(a_usage_that_is_one_text_counts_whole)
{
    struct cell cells[CELLS_MAX] = {
        number(1),  number(2), number(1), number(3), number(10), number(20), number(OUTCOMES - 1),
        text("no"), number(0), number(0), text("")};
    for (size_t i = 11; i < 18; i++)
        cells[i] = number(0);
    cells[18] = text("1 9 3 4 5 6 7");
    struct attempt_rec attempt;
    struct row row = array_row(cells, NULL);
    assert_true(row_attempt(&row, &attempt));
    assert_int_equal(attempt.usage.signal, 9);
    assert_int_equal(attempt.usage.log_seq, 7);
    cells[18] = text("1 9 3");
    row = array_row(cells, NULL);
    assert_false(row_attempt(&row, &attempt));
}

TEST(what_is_usual_stands_for_a_null_alone)
{
    const struct cell cells[CELLS_MAX] = {null(), number(5), number(11), text("5")};
    struct row row = array_row(cells, NULL);
    assert_int_equal(row_range_or(&row, 500, 0, 10), 500);
    assert_int_equal(row_range_or(&row, 500, 0, 10), 5);
    assert_false(row.bad);
    assert_int_equal(row_range_or(&row, 500, 0, 10), 0);
    assert_true(row.bad);
    row.bad = false;
    assert_int_equal(row_u64_or_null(&row), 0);
    assert_true(row.bad);
}

static int begin(void **state)
{
    (void)state;
    log_set_level(LOG_ERROR); /* damage is warned about, on purpose, many times */
    return 0;
}

TEST_GROUP(begin, NULL)
