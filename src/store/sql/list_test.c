#include "base/id.h"
#include "base/test/test.h"
#include "store/sql/list.h"

static const struct page page = {.limit = 10};

TEST(a_window_is_widened_by_the_drift_on_both_sides)
{
    struct filter filter = {.created.after_ms = ID_EPOCH_MS + 1000,
                            .created.before_ms = ID_EPOCH_MS + 5000};
    struct window w = window_of_jobs(&filter, &page, 300);
    assert_int_equal(id_time_ms(w.id_min), ID_EPOCH_MS + 700);
    assert_int_equal(id_time_ms(w.id_end), ID_EPOCH_MS + 5300);
    assert_int_equal(w.scan_max, LIST_SCAN_MAX);
}

TEST(a_page_of_both_tables_looks_at_half_as_many_rows_of_each)
{
    struct filter all = {0};
    struct filter unfinished = {.unfinished = true};
    struct filter failed = {.states = FILTER_STATE(EXEC_FAILED)};
    assert_int_equal(window_of_execs(&all, &page, 0).scan_max, LIST_SCAN_MAX / 2);
    assert_int_equal(window_of_execs(&unfinished, &page, 0).scan_max, LIST_SCAN_MAX);
    assert_int_equal(window_of_execs(&failed, &page, 0).scan_max, LIST_SPARSE_MAX);
}

TEST(rows_below_the_floor_of_any_table_wait_for_the_next_page)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct exec_rec live[] = {{.id = 9}, {.id = 4}};
    struct exec_rec history[] = {{.id = 8}, {.id = 7}, {.id = 6}};
    struct stretch all[] = {{.execs = live, .count = 2},
                            {.execs = history, .count = 3, .floor = 6}};
    struct exec_page merged = stretch_merge(all, COUNT_OF(all), 10, &arena);
    assert_int_equal(merged.count, 4);
    assert_int_equal(merged.execs[0].id, 9);
    assert_int_equal(merged.execs[3].id, 6);
    assert_int_equal(merged.next, 6);
}

TEST(a_page_that_is_full_goes_on_behind_its_last_row)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct exec_rec live[] = {{.id = 9}, {.id = 4}};
    struct exec_rec history[] = {{.id = 8}};
    struct stretch all[] = {{.execs = live, .count = 2}, {.execs = history, .count = 1}};
    struct exec_page merged = stretch_merge(all, COUNT_OF(all), 2, &arena);
    assert_int_equal(merged.count, 2);
    assert_int_equal(merged.next, 8);
}
