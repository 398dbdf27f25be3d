#include "base/test/test.h"
#include "job/record/record_fields.h"
#include "store/postgres/statements.h"
#include "store/sql/statement.h"
#include "store/sqlite/statements.h"

#include <ctype.h>
#include <string.h>

TEST(numbers_stand_where_they_were_named)
{
    CLEANUP(arena_free) struct arena arena = {0};
    static const struct statement_piece pieces[] = {
        {.text = "SELECT 1 WHERE a = "}, {.number = 0}, {.text = " OR a = "}, {.number = 5}};
    static const struct statement statement = {"find_a", 0, pieces, COUNT_OF(pieces)};
    struct str text = statement_text(&statement, &arena);
    assert_string_equal(text.ptr, "SELECT 1 WHERE a = 0 OR a = 5");
    assert_int_equal(text.len, strlen(text.ptr));
}

static const char *text_of(struct arena *arena, struct statement_piece piece)
{
    const struct statement statement = {"put_rate", 0, &piece, 1};
    return statement_text(&statement, arena).ptr;
}

TEST(fields_of_a_record_become_columns_and_parameters)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct statement_piece piece = {.fields = &rate_fields, .with = "r"};
    assert_string_equal(text_of(&arena, piece), "r.key, r.next_us, r.interval_us");
    piece = (struct statement_piece){.fields = &rate_fields, .form = FIELDS_NAMED};
    assert_string_equal(text_of(&arena, piece), ":key, :next_us, :interval_us");
    piece = (struct statement_piece){.fields = &rate_fields, .form = FIELDS_VALUES, .skip = 1};
    assert_string_equal(text_of(&arena, piece), "$2::text, $3::bigint, $4::bigint");
    piece.form = FIELDS_ARRAYS;
    assert_string_equal(text_of(&arena, piece), "$2::text[], $3::bigint[], $4::bigint[]");
}

TEST(a_comma_stands_in_front_of_fields_only)
{
    CLEANUP(arena_free) struct arena arena = {0};
    const struct fields none = {.items = rate_fields.items};
    struct statement_piece piece = {.fields = &rate_fields, .comma = true};
    assert_string_equal(text_of(&arena, piece), ", key, next_us, interval_us");
    piece.fields = &none;
    assert_string_equal(text_of(&arena, piece), "");
}

TEST(a_key_is_never_set)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct statement_piece piece = {.fields = &rate_fields, .form = FIELDS_SET};
    assert_string_equal(text_of(&arena, piece),
                        "next_us = excluded.next_us, interval_us = excluded.interval_us");
    piece.fields = &alert_fields;
    piece.groups = FIELD_PROGRESS;
    piece.with = ":";
    assert_string_equal(text_of(&arena, piece), "state = :state");
    piece.with = "$";
    assert_string_equal(text_of(&arena, piece), "state = $1::bigint");
}

TEST(several_groups_come_in_the_order_of_the_list)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct statement_piece piece = {.fields = &worker_fields, .groups = FIELD_PROGRESS | FIELD_KEY};
    assert_string_equal(text_of(&arena, piece), "id, draining");
}

TEST(what_is_usual_stands_for_fields_that_are_not_told)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct statement_piece piece = {
        .fields = &job_row_fields, .groups = FIELD_BIRTH | FIELD_END, .form = FIELDS_RARE};
    assert_string_equal(text_of(&arena, piece), "state, name, finished_ms");
    piece.form = FIELDS_USUAL;
    assert_string_equal(text_of(&arena, piece), "1, NULL, 0");
    piece.form = FIELDS_RESET;
    assert_string_equal(text_of(&arena, piece), "state = 1, name = NULL, finished_ms = 0");
    piece.form = FIELDS_SPARSE;
    piece.with = "j";
    assert_string_equal(text_of(&arena, piece),
                        "nullif(j.state, 1), j.name, nullif(j.finished_ms, 0)");
    piece = (struct statement_piece){
        .fields = &job_row_fields, .groups = FIELD_BULK, .form = FIELDS_USUAL};
    assert_string_equal(text_of(&arena, piece), "''");
}

TEST(numbers_go_on_behind_the_fields_before)
{
    CLEANUP(arena_free) struct arena arena = {0};
    static const struct statement_piece pieces[] = {
        {.fields = &rate_fields, .form = FIELDS_ARRAYS, .groups = FIELD_PROGRESS, .skip = 1},
        {.text = " and "},
        {.fields = &rate_fields, .form = FIELDS_VALUES, .groups = FIELD_KEY, .goes_on = true}};
    static const struct statement statement = {"put_rates", 0, pieces, COUNT_OF(pieces)};
    assert_string_equal(statement_text(&statement, &arena).ptr,
                        "$2::bigint[], $3::bigint[] and $4::text");
}

/* A brace that is left would be a token which was not expanded; arrays begin with a number. */
static void assert_expanded(const struct statement *statement)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct str text = statement_text(statement, &arena);
    assert_true(text.len > 0);
    for (size_t i = 0; i + 1 < text.len; i++) {
        if (text.ptr[i] == '{' && isalpha((unsigned char)text.ptr[i + 1]))
            fail_msg("%s: %.*s", statement->name, STR_ARG(text));
    }
}

TEST(no_statement_keeps_a_token)
{
    for (size_t i = 0; i < SQL_COUNT; i++)
        assert_expanded(&sqlite_statements[i]);
    for (size_t i = 0; i < Q_COUNT; i++)
        assert_expanded(&postgres_statements[i]);
}
