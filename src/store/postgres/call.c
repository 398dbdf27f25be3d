#include "store/postgres/call.h"
#include "store/postgres/text.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

/* Integers of the wire are big-endian. */
static void put_be32(char *at, uint32_t value)
{
    uint32_t big = htobe32(value);
    memcpy(at, &big, sizeof big);
}

static void put_be64(char *at, uint64_t value)
{
    uint64_t big = htobe64(value);
    memcpy(at, &big, sizeof big);
}

/* ---- arrays */

enum { ARRAY_HEAD = 20 }; /* dimensions, flags, type, length, lower bound */

static uint32_t oid_of(char type)
{
    switch (type) {
    case 'i': return 20;   /* bigint */
    case 't': return 25;   /* text */
    case 'b': return 17;   /* bytea */
    case 'u': return 2950; /* uuid */
    default: return 16;    /* boolean */
    }
}

static char *column_room(struct arena *arena, struct pg_column *column, size_t bytes)
{
    if (column->len + bytes > column->cap) {
        size_t cap = 2 * column->cap + bytes;
        char *more = arena_bytes(arena, cap);
        memcpy(more, column->bytes, column->len);
        column->bytes = more;
        column->cap = cap;
    }
    char *at = column->bytes + column->len;
    column->len += bytes;
    return at;
}

void pg_columns(struct pg_call *use, const char *types, size_t rows)
{
    assert(use->columns == NULL);
    use->column_count = strlen(types);
    assert(use->count + use->column_count <= USE_PARAMS_MAX);
    use->columns = ARENA_ARRAY(&use->pg->arena, struct pg_column, use->column_count);
    for (size_t i = 0; i < use->column_count; i++) {
        struct pg_column *column = &use->columns[i];
        size_t each = types[i] == 'i' ? 12 : types[i] == 'o' ? 5 : 24;
        *column = (struct pg_column){.type = types[i], .cap = ARRAY_HEAD + rows * each};
        column->bytes = arena_bytes(&use->pg->arena, column->cap);
        column->len = ARRAY_HEAD;
    }
}

const char *pg_types(struct pg *pg, const char *before, const struct fields *fields,
                     unsigned groups, const char *behind)
{
    size_t size = strlen(before) + fields->len + strlen(behind) + 1;
    char *types = arena_bytes(&pg->arena, size);
    size_t len = (size_t)snprintf(types, size, "%s", before);
    for (size_t i = 0; i < fields->len; i++) {
        const struct field *field = &fields->items[i];
        if (field_is_in(field, groups))
            types[len++] = field->kind == FIELD_TEXT ? 't' : field->kind == FIELD_BOOL ? 'o' : 'i';
    }
    (void)snprintf(types + len, size - len, "%s", behind);
    return types;
}

void pg_records(struct pg_call *use, enum pg_type type, const char *types, size_t rows)
{
    enum { GUESS = 24 }; /* bytes of a field: a number takes 16, text any */
    assert(use->columns == NULL && use->records == NULL && use->count < USE_PARAMS_MAX);
    struct arena *arena = &use->pg->arena;
    struct pg_column *records = ARENA_NEW(arena, struct pg_column);
    records->cap = ARRAY_HEAD + rows * strlen(types) * GUESS;
    records->bytes = arena_bytes(arena, records->cap);
    records->len = ARRAY_HEAD;
    use->records = records;
    use->type = type;
    use->fields = types;
    use->field_count = strlen(types);
    use->records_at = use->count++; /* later parameters go into it, or into columns */
}

static void put_array_head(char *at, uint32_t type, size_t rows)
{
    put_be32(at, 1);
    put_be32(at + 4, 0);
    put_be32(at + 8, type);
    put_be32(at + 12, (uint32_t)rows);
    put_be32(at + 16, 1);
}

/* Each time it is sent: another connection may know the type by another number. */
static void seal_records(struct pg_call *use)
{
    assert(use->at == 0 && "a row was not filled to its end");
    put_array_head(use->records->bytes, use->pg->types[use->type], use->rows);
    use->values[use->records_at] = use->records->bytes;
    use->lengths[use->records_at] = (int)use->records->len;
}

void pg_call_seal(struct pg_call *use)
{
    if (use->records != NULL)
        seal_records(use);
    for (size_t i = 0; i < use->column_count; i++) {
        struct pg_column *column = &use->columns[i];
        assert(use->at == 0 && "a row was not filled to its end");
        put_array_head(column->bytes, oid_of(column->type), use->rows);
        use->values[use->count] = column->bytes;
        use->lengths[use->count++] = (int)column->len;
    }
    use->column_count = 0;
}

/* ---- values */

static void next_place(struct pg_call *use)
{
    if (++use->at == use->field_count + use->column_count) {
        use->at = 0;
        use->rows++;
    }
}

/* A record is its length and how many fields it has; each of those its type, its length and its
 * bytes. */
static char *record_room(struct pg_call *use, char type, size_t bytes)
{
    struct pg_column *records = use->records;
    struct arena *arena = &use->pg->arena;
    assert(use->fields[use->at] == type);
    if (use->at == 0) {
        use->row_at = records->len;
        put_be32(column_room(arena, records, 8) + 4, (uint32_t)use->field_count);
    }
    char *at = column_room(arena, records, 8 + bytes);
    put_be32(at, oid_of(type));
    put_be32(at + 4, (uint32_t)bytes);
    if (use->at + 1 == use->field_count)
        put_be32(records->bytes + use->row_at, (uint32_t)(records->len - use->row_at - 4));
    next_place(use);
    return at + 8;
}

/* Where a value of so many bytes goes: into its column, behind its length, or beside. */
static char *room(struct pg_call *use, char type, size_t bytes)
{
    struct arena *arena = &use->pg->arena;
    if (use->at < use->field_count)
        return record_room(use, type, bytes);
    if (use->columns == NULL) {
        assert(use->count < USE_PARAMS_MAX);
        char *at = arena_bytes(arena, bytes == 0 ? 1 : bytes);
        use->values[use->count] = at;
        use->lengths[use->count++] = (int)bytes;
        return at;
    }
    struct pg_column *column = &use->columns[use->at - use->field_count];
    assert(column->type == type);
    (void)type;
    char *at = column_room(arena, column, 4 + bytes);
    put_be32(at, (uint32_t)bytes);
    next_place(use);
    return at + 4;
}

void pg_i64(struct pg_call *use, int64_t value)
{
    put_be64(room(use, 'i', 8), (uint64_t)value);
}

void pg_u64(struct pg_call *use, uint64_t value)
{
    pg_i64(use, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

void pg_bool(struct pg_call *use, bool value)
{
    *room(use, 'o', 1) = value;
}

static void put_bytes(struct pg_call *use, char type, struct str bytes)
{
    char *at = room(use, type, bytes.len);
    if (bytes.len > 0)
        memcpy(at, bytes.ptr, bytes.len);
}

void pg_text(struct pg_call *use, struct str text)
{
    put_bytes(use, 't', pg_text_encode(&use->pg->arena, text));
}

struct str pg_joined(struct pg_call *use, struct str a, struct str b)
{
    char *both = arena_bytes(&use->pg->arena, a.len + b.len + 1);
    if (a.len > 0)
        memcpy(both, a.ptr, a.len);
    if (b.len > 0)
        memcpy(both + a.len, b.ptr, b.len);
    return str_of(both, a.len + b.len);
}

void pg_blob(struct pg_call *use, struct str bytes)
{
    put_bytes(use, 'b', bytes);
}

static unsigned hex_digit(char c)
{
    assert((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'));
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

void pg_uuid(struct pg_call *use, struct str hex)
{
    enum { BYTES = 16 };
    assert(hex.len == 2 * BYTES);
    char *at = room(use, 'u', BYTES);
    for (size_t i = 0; i < BYTES; i++)
        at[i] = (char)(hex_digit(hex.ptr[2 * i]) << 4 | hex_digit(hex.ptr[2 * i + 1]));
}

void pg_null(struct pg_call *use)
{
    if (use->at < use->field_count) {
        put_be32(record_room(use, use->fields[use->at], 0) - 4, UINT32_MAX);
        return;
    }
    if (use->columns == NULL) {
        assert(use->count < USE_PARAMS_MAX);
        use->values[use->count] = NULL;
        use->lengths[use->count++] = 0;
        return;
    }
    char *at = room(use, use->columns[use->at - use->field_count].type, 0);
    put_be32(at - 4, UINT32_MAX); /* a length of -1 */
}

void pg_text_or_null(struct pg_call *use, struct str text)
{
    if (text.len > 0)
        pg_text(use, text);
    else
        pg_null(use);
}

void pg_i64_or_null(struct pg_call *use, int64_t value)
{
    if (value != 0)
        pg_i64(use, value);
    else
        pg_null(use);
}

void pg_record(struct pg_call *use, const struct fields *fields, unsigned groups,
               const void *record)
{
    for (size_t i = 0; i < fields->len; i++) {
        const struct field *field = &fields->items[i];
        if (!field_is_in(field, groups))
            continue;
        if (field_is_nulled(field, FIELD_NULLED | FIELD_NULLED_PG, record))
            pg_null(use);
        else if (field->kind == FIELD_TEXT)
            pg_text(use, field_text(field, record));
        else if (field->kind == FIELD_BOOL)
            pg_bool(use, field_number(field, record) != 0);
        else
            pg_i64(use, field_number(field, record));
    }
}

/* ---- results */

size_t pg_rows(const struct pg_call *use)
{
    return (size_t)PQntuples(use->result);
}

const char *pg_label(const struct pg_call *use)
{
    return use->pg->place->label;
}

uint64_t pg_changed(const struct pg_call *use)
{
    uint64_t count = 0;
    (void)str_to_u64(str_c(PQcmdTuples(use->result)), &count);
    return count;
}
