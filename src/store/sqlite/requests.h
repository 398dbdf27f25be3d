/* requests.h - idempotency keys: very many, random, and hardly ever asked for twice.
 *
 * In a table by key every new one would change a page of its own: 4 KB to the log and 4 KB to the
 * file for some 150 bytes. So rows are appended in the order in which they come, and are found by
 * prints, 63 bits of hash. Prints of the newest rows are in memory; when there are REQUESTS_FRESH
 * of them they go into table request_print all at once, in its own order, so that a page takes
 * many. A print only says where to look: the row says what is so.
 *
 * A key may be looked for before it is inserted, since the transaction has had the write lock from
 * its beginning, and there is one owner.
 *
 * Memory holds nothing that the file does not. Whenever a transaction that changed anything here
 * was not committed for certain, it is forgotten and read again. */
#pragma once
#include "base/map.h"
#include "store/sqlite/db.h"
#include "store/store.h"

enum { REQUESTS_FRESH = 16384 };

struct requests {
    bool loaded;
    bool changed;     /* by the transaction under way */
    bool moved;       /* it put the fresh ones into the table */
    struct map fresh; /* print -> id of its row, as a pointer: rows that the table does not have */
    uint64_t newest;  /* id of a row, used last */
    int64_t ends_ms;  /* no row ends before; 0: unknown */
    int64_t clean_at; /* how far request_print was cleaned of prints of rows that are gone */
};

/* The claim is the key's when nobody has it, or had it for a time that is over; else *ret_taken is
 * false and the answer is who has it, and the note. */
enum rc requests_take(struct requests *r, struct db *db, const struct claim *claim, int64_t now_ms,
                      struct arena *arena, struct answer *ret_answer, bool *ret_taken,
                      struct err *err);
/* The claim is the key's from now on, whoever had it. */
enum rc requests_put(struct requests *r, struct db *db, const struct claim *claim, struct err *err);
/* Only where the holder still is the one named. */
enum rc requests_release(struct requests *r, struct db *db, const struct claim *claim,
                         struct err *err);
/* At the end of each transaction: deletes the first `max` rows, as far as they have ended, and
 * moves prints when it is time. */
enum rc requests_sweep(struct requests *r, struct db *db, int64_t now_ms, size_t max,
                       struct err *err);
/* The transaction was committed, or it was not, or nobody knows. */
void requests_end(struct requests *r, bool committed);
