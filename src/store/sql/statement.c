#include "store/sql/statement.h"
#include "base/buf.h"

#include <assert.h>

enum { STATEMENT_BYTES_MAX = 1 << 16 }; /* the longest has 6 KB */

/* ---- fields of a record */

static const char *type_of(const struct field *field)
{
    return field->kind == FIELD_TEXT ? "text" : field->kind == FIELD_BOOL ? "boolean" : "bigint";
}

static void add_name(struct buf *text, const struct statement_piece *piece,
                     const struct field *field)
{
    buf_printf(text, "%s%s%s", piece->with == NULL ? "" : piece->with,
               piece->with == NULL ? "" : ".", field->column);
}

static bool is_nulled(const struct field *field)
{
    return (field->groups & (FIELD_NULLED | FIELD_NULLED_PG)) != 0;
}

/* As its table has it. */
static void add_usual(struct buf *text, const struct field *field)
{
    if (is_nulled(field))
        buf_add(text, STR("NULL"));
    else if (field->kind == FIELD_TEXT)
        buf_add(text, STR("''"));
    else if (field->kind == FIELD_BOOL)
        buf_add(text, field->usual != 0 ? STR("true") : STR("false"));
    else
        buf_add_i64(text, field->usual);
}

static void add_set(struct buf *text, const struct statement_piece *piece,
                    const struct field *field, size_t number)
{
    struct str with = str_c(piece->with == NULL ? "excluded" : piece->with);
    buf_printf(text, "%s = ", field->column);
    if (piece->form == FIELDS_RESET)
        add_usual(text, field);
    else if (str_eq(with, STR(":")))
        buf_printf(text, ":%s", field->column);
    else if (str_eq(with, STR("$")))
        buf_printf(text, "$%zu::%s", number, type_of(field));
    else
        buf_printf(text, "%.*s.%s", STR_ARG(with), field->column);
}

static void add_sparse(struct buf *text, const struct statement_piece *piece,
                       const struct field *field)
{
    if (!is_nulled(field))
        buf_add(text, STR("nullif("));
    add_name(text, piece, field);
    if (is_nulled(field))
        return;
    buf_add(text, STR(", "));
    add_usual(text, field);
    buf_add(text, STR(")"));
}

static void add_field(struct buf *text, const struct statement_piece *piece,
                      const struct field *field, size_t number)
{
    switch (piece->form) {
    case FIELDS_COLUMNS:
    case FIELDS_RARE: add_name(text, piece, field); return;
    case FIELDS_NAMED: buf_printf(text, ":%s", field->column); return;
    case FIELDS_VALUES: buf_printf(text, "$%zu::%s", number, type_of(field)); return;
    case FIELDS_ARRAYS: buf_printf(text, "$%zu::%s[]", number, type_of(field)); return;
    case FIELDS_SET:
    case FIELDS_RESET: add_set(text, piece, field, number); return;
    case FIELDS_USUAL: add_usual(text, field); return;
    case FIELDS_SPARSE: add_sparse(text, piece, field); return;
    }
}

static bool has_field(const struct statement_piece *piece, const struct field *field)
{
    if (!field_is_in(field, piece->groups))
        return false;
    switch (piece->form) {
    case FIELDS_COLUMNS:
    case FIELDS_NAMED:
    case FIELDS_VALUES:
    case FIELDS_ARRAYS: return true;
    case FIELDS_SET: return (field->groups & FIELD_KEY) == 0;
    case FIELDS_RARE:
    case FIELDS_USUAL:
    case FIELDS_RESET:
    case FIELDS_SPARSE: return (field->groups & FIELD_TOLD) == 0;
    }
    return false;
}

/* Returns the number of its last parameter, when that of the fields before was `last`. */
static size_t add_fields(struct buf *text, const struct statement_piece *piece, size_t last)
{
    size_t first = piece->goes_on ? last : piece->skip;
    size_t count = 0;
    for (size_t i = 0; i < piece->fields->len; i++) {
        const struct field *field = &piece->fields->items[i];
        if (!has_field(piece, field))
            continue;
        if (count > 0 || piece->comma)
            buf_add(text, STR(", "));
        count++;
        add_field(text, piece, field, first + count);
    }
    return piece->form == FIELDS_ARRAYS || piece->form == FIELDS_VALUES ? first + count : last;
}

/* ---- the whole */

struct str statement_text(const struct statement *statement, struct arena *arena)
{
    CLEANUP(buf_free) struct buf text = BUF(STATEMENT_BYTES_MAX);
    size_t last = 0; /* parameter that fields were numbered with */
    for (size_t i = 0; i < statement->piece_count; i++) {
        const struct statement_piece *piece = &statement->pieces[i];
        if (piece->text != NULL)
            buf_add(&text, str_c(piece->text));
        else if (piece->fields != NULL)
            last = add_fields(&text, piece, last);
        else
            buf_add_i64(&text, piece->number);
    }
    assert(!text.overflow);
    return arena_str(arena, buf_str(&text));
}
