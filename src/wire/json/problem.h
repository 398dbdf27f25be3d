/* problem.h - what a client is told when something is wrong (RFC 9457).
 *
 * A problem has a status, a code word for programs, a sentence for people, and, when fields are to
 * blame, one entry for each of them: a reader of JSON collects all it finds (`struct field_errors`)
 * so that a user mends a document once and not field by field. */
#pragma once
#include "base/arena.h"
#include "wire/json/json.h"

enum { FIELD_ERRORS_MAX = 20 }; /* people read no more, and a hostile document has thousands */

struct field_error {
    struct str field;   /* its path: "retry.max_retries", "command[2]" */
    struct str message; /* continues a sentence that begins with the field: "must be a string" */
};

struct field_errors {
    struct field_error items[FIELD_ERRORS_MAX];
    size_t count;
};

/* Adds one; beyond FIELD_ERRORS_MAX nothing happens. field is copied and cut when it is very long;
 * both texts live in arena. */
void field_error(struct field_errors *errors, struct arena *arena, struct str field,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));
/* One sentence about all of them: "priority must be between 0 and 1000 (and 2 more)". Empty when
 * there are none. */
struct str field_errors_text(const struct field_errors *errors, struct arena *arena);

/* Every problem there is, by status. Programs go by the code; 409 has several. */
struct problem_kind {
    int status;
    const char *code;
    const char *title; /* of the status, for people */
    uint32_t rcs;      /* a bit for each enum rc that is answered so; 0: it has none of its own */
    const char *when;  /* Markdown, for the docs */
};
extern const struct problem_kind problem_kinds[];
extern const size_t problem_kind_count;
/* The table as Markdown. */
void problem_kinds_print(struct buf *out);

int problem_status(enum rc rc);        /* 404 for RC_NOT_FOUND; 500 when it is our own fault */
const char *problem_code(enum rc rc);  /* "not_found" */
const char *problem_title(int status); /* "Not Found" */
const char *problem_word(int status);  /* the usual code of a status: 405 "method_not_allowed" */

/* The whole document. code may be NULL: the status's usual one. request_id and errors may be empty
 * (errors also NULL) and are left out then. */
void problem_print(struct buf *out, int status, const char *code, struct str detail,
                   struct str request_id, const struct field_errors *errors);
/* The same as one value of a larger document (the results of a batch). */
void problem_write(struct json_writer *w, int status, const char *code, struct str detail,
                   struct str request_id, const struct field_errors *errors);
