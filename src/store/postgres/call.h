/* call.h - one use of a statement: its parameters in binary, its result. Inside of pg.h. */
#pragma once
#include "store/postgres/pg.h"

enum { USE_PARAMS_MAX = 48 };

struct pg_column {
    char type;
    char *bytes; /* in the arena: the array as PostgreSQL reads it */
    size_t len;
    size_t cap;
};

struct pg_call {
    struct pg *pg;
    struct pg_call *next;
    enum query query;
    bool prepares;
    bool sent;
    PGresult *result; /* owned; NULL: not answered yet */

    size_t count; /* parameters */
    const char *values[USE_PARAMS_MAX];
    int lengths[USE_PARAMS_MAX];

    struct pg_column *columns; /* NULL while parameters are plain ones */
    size_t column_count;
    size_t at; /* the field of the record to be filled next, or behind those the column */
    size_t rows;

    struct pg_column *records; /* NULL: none. One array, of this type: */
    size_t records_at;         /* which parameter they are */
    enum pg_type type;
    const char *fields; /* their types */
    size_t field_count;
    size_t row_at; /* where the row begins that is being filled */
};

/* Turns columns into parameters; before it is sent. */
void pg_call_seal(struct pg_call *use);
