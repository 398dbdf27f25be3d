/* json.h - strict JSON (RFC 8259): a reader that builds a tree in an arena, a writer that streams.
 *
 * The reader refuses everything that two readers might understand differently: duplicate keys,
 * bad UTF-8, lone surrogates, \u0000, numbers that are out of range, more than the given depth,
 * anything behind the value. RFC 8259 allows three of these; they are refused on purpose:
 *
 * - a lone surrogate ("\ud800") is no character and has no UTF-8: who keeps it must invent bytes;
 * - \u0000 is a character, but arguments, variables and file names end at it, so that a text with
 *   one would be checked whole and used cut off;
 * - of two members with one key some readers take the first and some the last.
 *
 * Values that belfry carries but does not read can be left as they are (struct json_rules).
 *
 * Integers are exact int64; a number with a fraction or an exponent is a double. Time and memory
 * are in proportion to the text (keys are sorted to find twins). Strings without escapes point into
 * the source, so the source must live as long as the tree. Errors say line and column. */
#pragma once
#include "base/arena.h"
#include "base/buf.h"

enum json_kind {
    JSON_NULL,
    JSON_BOOL,
    JSON_INT,
    JSON_DOUBLE,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT,
    JSON_SPAN, /* left unread by the rules: well formed, and there is only its text (raw) */
};

enum {
    JSON_DEPTH_MAX = 64,
    JSON_VALUES_MAX = 1 << 20, /* a batch of 10,000 jobs has some 400,000; a tree of these 40 MiB */
};

struct json_member;

struct json {
    enum json_kind kind;
    uint32_t count; /* of items or members */
    struct str raw; /* the value's own text in the source */
    union {
        bool boolean;
        int64_t integer;
        double number;
        struct str string;
        const struct json *items;
        const struct json_member *members;
    };
};

struct json_member {
    struct str key;
    struct json value;
};

/* RC_INVALID with "line 3, column 14: …" when text is not one JSON value; RC_TOO_LARGE when it has
 * more than JSON_VALUES_MAX. */
enum rc json_parse(struct str text, struct arena *arena, struct json *ret_value, struct err *err);

/* Exceptions from the usual way to read. */
struct json_rules {
    /* Objects, arrays and numbers under these keys, wherever they stand, become a JSON_SPAN: they
     * count neither towards the depth nor the values of the document, and may hold what is said in
     * json_scan.h. */
    const struct str *spans;
    size_t span_count;
    uint32_t span_depth_max; /* of each by its own count; JSON_ANY_DEPTH: any */
    bool any_number;         /* a number that is out of range is a JSON_SPAN */
};

/* Messages of users and workers: payload and result are spans of at most JSON_DEPTH_MAX. */
extern const struct json_rules json_from_user;
/* For texts that a server says, or has stored: each was checked when it came in, and is not judged
 * again. */
extern const struct json_rules json_from_server;

enum rc json_parse_by(const struct json_rules *rules, struct str text, struct arena *arena,
                      struct json *ret_value, struct err *err);

/* The member called key, or NULL; NULL too when object is NULL or not an object. */
const struct json *json_get(const struct json *object, struct str key);
const char *json_kind_name(enum json_kind kind); /* "a string", "an object" */
const char *json_value_name(const struct json *value);

/* The writer appends to a buf and keeps track of commas and nesting. Wrong nesting is a bug and
 * asserts. Text that is not UTF-8 is written with U+FFFD in place of each bad byte, and so is a
 * NUL: the output always reads back. */
struct json_writer {
    struct buf *out;
    uint32_t depth;
    bool need_comma;
    bool after_key;
};

#define JSON_WRITER(buf) ((struct json_writer){.out = (buf)})

void json_open(struct json_writer *w);                 /* { */
void json_close(struct json_writer *w);                /* } */
void json_open_array(struct json_writer *w);           /* [ */
void json_close_array(struct json_writer *w);          /* ] */
void json_key(struct json_writer *w, const char *key); /* our own: nothing to escape */
void json_key_str(struct json_writer *w, struct str key);
void json_str(struct json_writer *w, struct str value);
void json_int(struct json_writer *w, int64_t value);
void json_double(struct json_writer *w, double value); /* shortest form that reads back the same */
void json_bool(struct json_writer *w, bool value);
void json_null(struct json_writer *w);
void json_raw(struct json_writer *w, struct str text); /* trusted JSON text, as it is */
/* The members of an object, given as the trusted text of the whole object. */
void json_raw_members(struct json_writer *w, struct str object);
void json_id(struct json_writer *w, const char *prefix, uint64_t id);
void json_when(struct json_writer *w, int64_t at_ms); /* RFC 3339 text */

/* key and value in one call. */
void json_put_str(struct json_writer *w, const char *key, struct str value);
void json_put_int(struct json_writer *w, const char *key, int64_t value);
void json_put_bool(struct json_writer *w, const char *key, bool value);
void json_put_null(struct json_writer *w, const char *key);
void json_put_raw(struct json_writer *w, const char *key, struct str text);
void json_put_id(struct json_writer *w, const char *key, const char *prefix, uint64_t id);
/* null when the text is empty. */
void json_put_text(struct json_writer *w, const char *key, struct str text);
/* null when at_ms is 0: "not yet". */
void json_put_when(struct json_writer *w, const char *key, int64_t at_ms);
