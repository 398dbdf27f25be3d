#include "base/test/test.h"
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
