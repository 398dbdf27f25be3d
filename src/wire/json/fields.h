/* fields.h - JSON objects read into structs, by table.
 *
 * A message is described by a table: for each member its name, its kind, its limits, and where in
 * the struct it goes. Reading checks everything and collects all problems, each with the path of
 * its field. A rule that the kinds cannot express (two fields that exclude each other, a text or a
 * list) is a function of the message's own (FIELD_OWN). A null counts as absent where a field is
 * optional.
 *
 *     static const struct field held_fields[] = {
 *         {FIELD("execution_id", struct poll_held, exec_id), .kind = FIELD_ID, .prefix = ID_EXEC},
 *         {FIELD("token", struct poll_held, token), .kind = FIELD_INT, .min = 1, .max = INT64_MAX},
 *     };
 *
 * A table whose fields are asked for afterwards (was it there?) has an enum of its places:
 * `[TOKEN] = {...}` and `fields_seen(seen, TOKEN)`. */
#pragma once
#include "base/words.h"
#include "wire/json/json.h"
#include "wire/json/problem.h"

/* One reading of one document. */
struct fields {
    struct arena *arena;         /* of what is built, also of the messages */
    struct field_errors *errors; /* borrowed */
    bool lenient; /* unknown members are passed over: an older reader survives a newer writer */
    bool stored;  /* was accepted once, and stays good, whatever a line may hold by now */
};

/* Where a value stands: a member (key) or an item (index) of what stands at parent. Lives on the
 * stack of the reader; text is made of it only when there is a problem to report. */
struct field_place {
    const struct field_place *parent; /* NULL: the document itself */
    struct str key;                   /* a NULL pointer: an item */
    size_t index;
};

/* Reads one value into *into, the member's address (or the whole struct, when the field names
 * none). */
typedef void field_fn(const struct fields *f, const struct field_place *at,
                      const struct json *value, void *into);

enum field_kind {
    FIELD_TEXT,     /* struct str, of min to max bytes */
    FIELD_LINE,     /* the same, without control characters */
    FIELD_WORD,     /* the same, of letters, digits and _.:- */
    FIELD_PATH,     /* the same, of letters, digits and _.:-/ */
    FIELD_WORDS,    /* an array of at most max FIELD_WORD: pointer and count */
    FIELD_PATHS,    /* the same, of FIELD_PATH */
    FIELD_INT,      /* a whole number from min to max; 32 or 64 bits, signed or not */
    FIELD_BOOL,     /* bool */
    FIELD_ID,       /* uint64_t, as text behind prefix; never 0 */
    FIELD_WHEN,     /* int64_t milliseconds, as RFC 3339 text; min 1: later than 1970 began */
    FIELD_DURATION, /* int64_t milliseconds from min to max, as text with units */
    FIELD_ONE_OF,   /* unsigned or an enum: the value of one of .words */
    FIELD_RAW,      /* struct str: any value, as it was written */
    FIELD_LIST,     /* an array of at most max objects, read by .items: pointer and count */
    FIELD_OWN,      /* by .read */
    FIELD_LATER,    /* known by name, not yet supported: always refused */
};

struct field_list;

struct field {
    struct str name;
    enum field_kind kind;
    bool required;
    uint16_t size;         /* of the member, unless it is an array */
    uint32_t offset;       /* of the member */
    uint32_t count_offset; /* arrays: of the size_t beside the pointer */
    int64_t min;
    int64_t max;
    union {
        const char *prefix;
        const struct words *words;
        field_fn *read;
        const struct field_list *items;
    };
};

/* The fields of the objects in an array. */
struct field_list {
    const struct field *fields;
    size_t field_count;
    size_t item_bytes;
    const void *blank; /* an item before reading; NULL: all zero */
};

/* The beginning of a table's entry: the name and the place. */
#define FIELD(text, type, member)                                                                  \
    .name = STR_INIT(text), .offset = offsetof(type, member), .size = sizeof(((type *)NULL)->member)
/* The same for an array: the pointer and the size_t that counts. */
#define FIELD_ARRAY(text, type, member, count_member)                                              \
    .name = STR_INIT(text), .offset = offsetof(type, member),                                      \
    .count_offset = offsetof(type, count_member)

enum {
    FIELDS_MAX = 64,            /* in a table: the answer of fields_read has a bit for each */
    FIELD_WORD_BYTES_MAX = 200, /* of one of FIELD_WORDS or FIELD_PATHS */
};

/* Reads an object into *into; bit i of the answer says whether fields[i] was there. Problems go to
 * f->errors. */
uint64_t fields_read(const struct fields *f, const struct field_place *at,
                     const struct json *object, const struct field *fields, size_t count,
                     void *into);

/* Reads one value into its member of the struct at base. */
void fields_value(const struct fields *f, const struct field_place *at, const struct json *value,
                  const struct field *field, void *base);

/* Whether the field at this place of the table was there, by the answer of fields_read. */
static inline bool fields_seen(uint64_t seen, unsigned place)
{
    return (seen >> place & 1) != 0;
}

/* Reports a problem of the value at `at` (NULL: of the document). */
void fields_fail(const struct fields *f, const struct field_place *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* True when value is of this kind; reports "must be a string, not a number" when it is not. */
bool fields_kind(const struct fields *f, const struct field_place *at, const struct json *value,
                 enum json_kind kind);
/* True when value is text of min to max bytes, made of what kind (FIELD_TEXT, LINE, WORD, PATH)
 * allows; reports when it is not. */
bool fields_text(const struct fields *f, const struct field_place *at, const struct json *value,
                 enum field_kind kind, int64_t min, int64_t max);
