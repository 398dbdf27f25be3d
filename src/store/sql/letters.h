/* letters.h - dead letters: the part of reading them that all SQL stores have in common.
 *
 * A store has one statement for each index (enum letter_list), which gives letters from a place on.
 * Here is which one it is, and what becomes of each row: a filter is looked at row by row beyond
 * its index, a reading ends when enough rows were looked at, and a row that makes no sense is left
 * out. */
#pragma once
#include "base/vec.h"
#include "store/sql/row.h"

/* ---- which statement */

enum letter_list {
    LETTERS_OF_JOB,
    LETTERS_OF_KIND, /* of one fingerprint */
    LETTERS_NAMED,
    LETTERS_OF_QUEUE,
    LETTERS_ALL,
    LETTER_LISTS
};

/* The index of which there are fewest, and its key: a number, or when that is 0 a text. */
struct letter_key {
    enum letter_list list;
    uint64_t number;
    struct str text;
};
struct letter_key letter_key(const struct letter_filter *filter);

/* Where a reading of all before a place begins; the exec_id of `before` is 0: of all. */
struct letter_place letter_start(const struct letter_filter *filter, struct letter_place before);

/* ---- readers: newest first, to a sink */

struct letter_walk {
    const struct letter_filter *filter;
    letter_sink *sink;
    void *arg;
    size_t left;              /* may still be looked at */
    struct letter_place last; /* that was looked at */
    bool enough;              /* the sink wants no more, or none are left */
};

/* The next row, which is not taken when it is enough. */
void letter_walk_row(struct letter_walk *walk, struct row row);
/* Only the place, also of a row that makes no sense otherwise. */
struct letter_place letter_row_place(struct row row);

/* ---- turns: ASK_LETTERS, oldest first */

struct letters_found {
    VEC(struct letter_rec) letters;
    size_t looked;
};

/* The next row. False when the limits were reached: the row was not looked at, and there is more.
 * */
bool letters_add(struct letters_found *found, struct question *q, struct row row,
                 struct arena *arena);
void letters_answer(const struct letters_found *found, struct question *q);
