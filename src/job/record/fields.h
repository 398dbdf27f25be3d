/* fields.h - the fields of a record as a list that code can walk.
 *
 * A record is stated once, as a macro with a line for each field (record_fields.h):
 *
 *     #define TEAM_FIELDS(F, T)                                                \
 *         F(T, name,        name,        KEY,  F_TEXT)                         \
 *         F(T, concurrency, concurrency, EDIT, F_U32)
 *
 * which tells the member of the struct, the column of the stores, the group and the kind. Columns
 * and parameters in SQL ({team.columns}: store/sql/statement.h), binding, reading with distrust,
 * keeping, copying and freeing are made of it, so a new field of such a record is its member, a
 * line here and a migration for each store.
 *
 * Groups say when a field is written: KEY tells one record from another, BIRTH is written once,
 * PROGRESS by changes of state, EDIT when a person changes it. A statement may name some groups
 * ({alert.progress.set :}, {job_row.key+edit.columns}), and a field may be in several: IN2(BIRTH,
 * MOVED). The order of the lines is that of columns and parameters, and of reading, which goes by
 * position: a store that selects `*` from a view, or sends rows of a type, depends on it.
 *
 * The list may also be expanded into straight-line code, with another F, where walking it shows in
 * a measurement. Fields of a kind that is missing here get a kind of their own, with its bounds. */
#pragma once
#include "base/arena.h"
#include "base/when.h"

enum field_kind {
    FIELD_U64,
    FIELD_I64,
    FIELD_U32,
    FIELD_I32,
    FIELD_ENUM, /* of 4 bytes */
    FIELD_BOOL,
    FIELD_TEXT,
};

/* Bits, since a field may be in several groups, and several may be asked for at once. */
enum field_group {
    FIELD_ANY = 0, /* asked for: every field */
    FIELD_KEY = 1 << 0,
    FIELD_BIRTH = 1 << 1,
    FIELD_PROGRESS = 1 << 2,
    FIELD_EDIT = 1 << 3,
    FIELD_DOCUMENT = 1 << 4, /* what was submitted, as text */
    FIELD_BULK = 1 << 5,     /* written with the others, read by statements that ask for it */
    FIELD_ASIDE = 1 << 6,    /* has parameters, or statements, of its own */
    FIELD_END = 1 << 7,      /* what is known when it is over */
    FIELD_TRAIL = 1 << 8,    /* grows by the steps of changes */
    FIELD_MOVED = 1 << 9,    /* of BIRTH, but an edit changes it */
    FIELD_ERROR = 1 << 10,   /* as PROGRESS, but an empty one keeps what is there */
    FIELD_MARK = 1 << 11,    /* as PROGRESS, but gone with the end */
    FIELD_FOUND = 1 << 12,   /* no column: queries find out */

    /* What many statements have in common: all of a job in front of its trail, … */
    FIELD_HEAD = FIELD_KEY | FIELD_BIRTH | FIELD_PROGRESS | FIELD_EDIT | FIELD_END,
    FIELD_LIVE = FIELD_BIRTH | FIELD_PROGRESS | FIELD_ERROR, /* … and of an execution. */
    /* Columns that are read as a record, by position. */
    FIELD_ROW = FIELD_HEAD | FIELD_LIVE | FIELD_DOCUMENT | FIELD_FOUND | FIELD_MARK,

    /* Beside those: */
    FIELD_TOLD = 1 << 16,     /* has a value of its own in nearly every row; the others are rare:
                               * short statements leave them out, and they have what is usual */
    FIELD_NULLED = 1 << 17,   /* what is usual is a NULL in tables, … */
    FIELD_NULLED_PG = 1 << 18 /* … or in PostgreSQL's alone, whose views say the value */
};

#define FIELD_IN2(a, b) (FIELD_##a | FIELD_##b)
#define FIELD_IN3(a, b, c) (FIELD_##a | FIELD_##b | FIELD_##c)

struct field {
    const char *column;
    size_t offset;   /* of the member */
    unsigned groups; /* enum field_group */
    enum field_kind kind;
    int64_t min; /* of a number; a row with another one makes no sense */
    int64_t max;
    int64_t usual; /* of a number; the usual text is empty */
};

struct fields {
    size_t bytes; /* of the record */
    const struct field *items;
    size_t len;
};

/* Kinds, with their bounds and what is usual: 0 unless the name says USUALLY. */
#define F_ID FIELD_U64, 1, INT64_MAX, 0
#define F_U64 FIELD_U64, 0, INT64_MAX, 0
#define F_I64 FIELD_I64, INT64_MIN, INT64_MAX, 0
#define F_U32 FIELD_U32, 0, UINT32_MAX, 0
#define F_U32_TO(max) FIELD_U32, 0, max, 0
#define F_U32_USUALLY(usual) FIELD_U32, 0, UINT32_MAX, usual
#define F_I32 FIELD_I32, INT32_MIN, INT32_MAX, 0
#define F_I32_USUALLY(usual) FIELD_I32, INT32_MIN, INT32_MAX, usual
#define F_MS FIELD_I64, 0, WHEN_MAX_MS, 0 /* a moment that can be printed, or 0 */
#define F_RANGE(min, max) FIELD_I64, min, max, 0
#define F_ENUM(min, max) FIELD_ENUM, min, max, 0
#define F_ENUM_USUALLY(min, max, usual) FIELD_ENUM, min, max, usual
#define F_BOOL FIELD_BOOL, 0, 1, 0
#define F_BOOL_USUALLY(usual) FIELD_BOOL, 0, 1, usual
#define F_TEXT FIELD_TEXT, 0, 0, 0

/* For straight-line code of a list: FIELD_IS_USUAL(kind)(member, usual). */
#define FIELD_IS_USUAL(kind) IS_##kind
#define IS_FIELD_U64(member, usual) ((member) == (usual))
#define IS_FIELD_I64(member, usual) ((member) == (usual))
#define IS_FIELD_U32(member, usual) ((member) == (usual))
#define IS_FIELD_I32(member, usual) ((member) == (usual))
#define IS_FIELD_ENUM(member, usual) ((member) == (usual))
#define IS_FIELD_BOOL(member, usual) ((member) == (usual))
#define IS_FIELD_TEXT(member, usual) ((member).len == 0)

/* Numbers beyond INT64_MAX, which databases do not have, are taken for that. */
int64_t field_number(const struct field *field, const void *record);
void field_set_number(const struct field *field, void *record, int64_t value);
/* The text itself, to be read or replaced. */
struct str field_text(const struct field *field, const void *record);
void field_set_text(const struct field *field, void *record, struct str text);

/* Whether it is in one of these groups; FIELD_ANY: it is. */
static inline bool field_is_in(const struct field *field, unsigned groups)
{
    return groups == FIELD_ANY || (field->groups & groups) != 0;
}

/* Whether it is a NULL in a table where `nulled` is: FIELD_NULLED, and which others mean one. */
bool field_is_nulled(const struct field *field, unsigned nulled, const void *record);

/* Takes the fields of these groups from another record; texts stay the other's. */
void fields_take(const struct fields *fields, unsigned groups, void *record, const void *from);
/* Replaces every text by a copy in the arena. */
void fields_copy(const struct fields *fields, void *record, struct arena *arena);
