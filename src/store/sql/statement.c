#include "store/sql/statement.h"
#include "base/buf.h"

#include <assert.h>

enum { STATEMENT_BYTES_MAX = 1 << 16 }; /* the longest has 6 KB */

/* ---- fields of a record */

static const char *type_of(const struct field *field)
{
    return field->kind == FIELD_TEXT ? "text" : field->kind == FIELD_BOOL ? "boolean" : "bigint";
}

static void add_set(struct buf *text, const struct statement_piece *piece,
                    const struct field *field, size_t number)
{
    struct str with = str_c(piece->with == NULL ? "excluded" : piece->with);
    if (str_eq(with, STR(":")))
        buf_printf(text, "%s = :%s", field->column, field->column);
    else if (str_eq(with, STR("$")))
        buf_printf(text, "%s = $%zu::%s", field->column, number, type_of(field));
    else
        buf_printf(text, "%s = %.*s.%s", field->column, STR_ARG(with), field->column);
}

static void add_field(struct buf *text, const struct statement_piece *piece,
                      const struct field *field, size_t number)
{
    switch (piece->form) {
    case FIELDS_COLUMNS:
        buf_printf(text, "%s%s%s", piece->with == NULL ? "" : piece->with,
                   piece->with == NULL ? "" : ".", field->column);
        return;
    case FIELDS_NAMED: buf_printf(text, ":%s", field->column); return;
    case FIELDS_VALUES: buf_printf(text, "$%zu::%s", number, type_of(field)); return;
    case FIELDS_ARRAYS: buf_printf(text, "$%zu::%s[]", number, type_of(field)); return;
    case FIELDS_SET: add_set(text, piece, field, number); return;
    }
}

static void add_fields(struct buf *text, const struct statement_piece *piece)
{
    size_t count = 0;
    for (size_t i = 0; i < piece->fields->len; i++) {
        const struct field *field = &piece->fields->items[i];
        if (!field_is_in(field, piece->groups) ||
            (piece->form == FIELDS_SET && (field->groups & FIELD_KEY) != 0))
            continue;
        if (count > 0 || piece->comma)
            buf_add(text, STR(", "));
        count++;
        add_field(text, piece, field, piece->skip + count);
    }
}

/* ---- the whole */

struct str statement_text(const struct statement *statement, struct arena *arena)
{
    CLEANUP(buf_free) struct buf text = BUF(STATEMENT_BYTES_MAX);
    for (size_t i = 0; i < statement->piece_count; i++) {
        const struct statement_piece *piece = &statement->pieces[i];
        if (piece->text != NULL)
            buf_add(&text, str_c(piece->text));
        else if (piece->fields != NULL)
            add_fields(&text, piece);
        else
            buf_add_i64(&text, piece->number);
    }
    assert(!text.overflow);
    return arena_str(arena, buf_str(&text));
}
