/* statement.h - the statements of an SQL store, by number.
 *
 * SQL is written by hand, in src/store/NAME/sql/, one file for each area. scripts/embed makes of
 * it, during the build, "store/NAME/statements.h" with an enum of all statements, and a table of
 * their texts. So a new statement is a block in such a file, and its use in C; one that is missing
 * on either side is an error of the build. A file is a sequence of blocks, each of which begins
 * with a line of its own:
 *
 *     -- name: find_met            a statement: SQL_FIND_MET or Q_FIND_MET in C
 *     -- columns: worker           a list of columns: id key, name, queues, …
 *     -- token: job.fits           a text that several statements have in common
 *
 * All files of a store share one set of tokens. Within a statement, and within a token,
 *
 *     {job.fits}                   is the text of that token,
 *     {worker.columns}             id, name, queues, …
 *     {worker.columns w}           w.id, w.name, w.queues, …
 *     {worker.values}              the same as parameters: :id, :name, …
 *     {worker.set}                 name = excluded.name, …, without columns that are marked `key`
 *     {worker.set :}               name = :name, …
 *     {DEPENDENCY_MET}             a number: of an enum, or any other constant of tokens.h.
 *
 * Where the columns of a list have types (`id bigint key`), {worker.values} is $1::bigint,
 * $2::text, … and {worker.arrays 3} is $3::bigint[], $4::text[], … A database that numbers its
 * parameters gets those that are written :by_name numbered in the order in which they first appear.
 * Comments are left out of the text.
 *
 * A record whose fields are listed in C (job/record/record_fields.h) needs no list of columns: the
 * same tokens are made of its fields, {alert.progress.set :} of one group alone, and
 * {alert.key+progress.columns} of several. A list that may be empty is written with the comma in
 * front of it: {, job_indexed.columns}; with a + behind it, as in {, job_indexed.arrays +}, its
 * numbers go on where those of the fields before it ended. What a row has that is nothing special
 * is said by {job_row.rare}, {job_row.usual}, {exec.progress.reset} and {job_row.row.sparse}: see
 * enum fields_form. */
#pragma once
#include "job/record/fields.h"

/* How the fields of a record are written; `skip` is how many parameters come before them. */
enum fields_form {
    FIELDS_COLUMNS, /* id, name; or when `with` is w: w.id, w.name */
    FIELDS_NAMED,   /* :id, :name */
    FIELDS_VALUES,  /* $1::bigint, $2::text */
    FIELDS_ARRAYS,  /* $1::bigint[], $2::text[] */
    FIELDS_SET,     /* name = excluded.name, without keys; `with` takes the place of `excluded`, and
                     * may be : or $ for parameters */
    /* Of those that are not FIELD_TOLD, with what is usual in place of a parameter: */
    FIELDS_RARE,   /* name, team, as FIELDS_COLUMNS */
    FIELDS_USUAL,  /* NULL, '' */
    FIELDS_RESET,  /* name = NULL, team = '' */
    FIELDS_SPARSE, /* name, nullif(team, ''): NULL is what most rows have; `with` as in columns */
};

/* A stretch of text; or fields; or a number. */
struct statement_piece {
    const char *text;
    int64_t number;
    const struct fields *fields;
    enum fields_form form;
    unsigned groups; /* FIELD_ANY: all */
    size_t skip;
    bool goes_on;     /* numbered behind the fields before it */
    const char *with; /* NULL: nothing was said */
    bool comma;       /* in front, unless there are no fields */
};

struct statement {
    const char *name; /* "find_met": as the SQL file and error messages spell it */
    unsigned file;    /* which one, by the store's enum of files */
    const struct statement_piece *pieces;
    size_t piece_count;
};

/* Its SQL, in the arena, with a NUL behind it. */
struct str statement_text(const struct statement *statement, struct arena *arena);
