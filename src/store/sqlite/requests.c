#include "store/sqlite/requests.h"
#include "base/mem.h"
#include "store/sql/row.h"

#include <stdlib.h>
#include <string.h>

/* Not negative, so that its order is the same in C and in SQLite. Kept in the file: str_hash is the
 * same everywhere and for ever. */
static int64_t print_of(struct str key)
{
    return (int64_t)(str_hash(key) >> 1);
}

/* The map's values are the numbers of rows themselves, which begin with 1. */
static uint64_t fresh_id(const struct requests *r, int64_t print)
{
    return (uint64_t)(uintptr_t)map_get(&r->fresh, (uint64_t)print);
}

static void fresh_put(struct requests *r, int64_t print)
{
    uintptr_t number = (uintptr_t)r->newest;
    void *value;
    memcpy(&value, &number, sizeof value);
    map_put(&r->fresh, (uint64_t)print, value);
}

void requests_end(struct requests *r, bool committed)
{
    if (r->changed && (!committed || r->moved)) {
        map_free(&r->fresh);
        r->loaded = committed; /* moved: there are none that are fresh */
    }
    if (r->changed && !committed)
        r->ends_ms = 0;
    r->changed = r->moved = false;
}

/* ---- reading */

/* Of two rows with one print the older is in memory: the other one was put into the table at
 * once. */
static enum rc load_fresh(struct requests *r, struct db *db, struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(db, SQL_LOAD_REQUESTS);
    stmt_u64(&stmt, r->newest);
    for (;;) {
        bool found;
        TRY(stmt_next(&stmt, &found, err));
        if (!found)
            return RC_OK;
        struct row row = stmt_row(&stmt, NULL);
        r->newest = row_u64(&row);
        int64_t print = print_of(row_text(&row));
        if (fresh_id(r, print) == 0)
            fresh_put(r, print);
    }
}

static enum rc load(struct requests *r, struct db *db, struct err *err)
{
    if (r->loaded)
        return RC_OK;
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(db, SQL_REQUEST_MARK);
    bool found;
    map_free(&r->fresh);
    TRY(stmt_next(&stmt, &found, err));
    struct row row = stmt_row(&stmt, NULL);
    r->newest = found ? row_u64(&row) : 0;
    if (!found || row.bad)
        return err_set(err, RC_CORRUPT, "%s: its table request_mark is corrupt", db->path);
    TRY(load_fresh(r, db, err));
    r->loaded = true;
    return RC_OK;
}

/* A row as it stands. */
struct request {
    uint64_t id; /* 0: there is none */
    uint64_t holder;
    int64_t until_ms;
    struct str note;
    bool bad;
};

static enum rc read_one(struct stmt *stmt, struct arena *arena, struct request *ret_request,
                        struct err *err)
{
    bool found;
    *ret_request = (struct request){0};
    TRY(stmt_next(stmt, &found, err));
    if (found) {
        struct row row = stmt_row(stmt, arena);
        ret_request->id = row_u64(&row);
        ret_request->holder = row_u64(&row);
        ret_request->until_ms = row_i64(&row);
        ret_request->note = row_text(&row);
        ret_request->bad = row.bad;
    }
    stmt_end(stmt);
    return RC_OK;
}

static enum rc look_up(struct requests *r, struct db *db, struct str key, struct arena *arena,
                       struct request *ret_request, struct err *err)
{
    TRY(load(r, db, err));
    int64_t print = print_of(key);
    uint64_t id = fresh_id(r, print);
    *ret_request = (struct request){0};
    if (id != 0) {
        struct stmt stmt = db_stmt(db, SQL_READ_REQUEST);
        stmt_u64(&stmt, id);
        stmt_text(&stmt, key);
        TRY(read_one(&stmt, arena, ret_request, err));
    }
    if (ret_request->id == 0) {
        struct stmt stmt = db_stmt(db, SQL_FIND_REQUEST);
        stmt_i64(&stmt, print);
        stmt_text(&stmt, key);
        TRY(read_one(&stmt, arena, ret_request, err));
    }
    return RC_OK;
}

/* ---- changing */

static enum rc put_print(struct db *db, int64_t print, uint64_t id, struct err *err)
{
    struct stmt stmt = db_stmt(db, SQL_PUT_PRINT);
    stmt_i64(&stmt, print);
    stmt_u64(&stmt, id);
    return stmt_done(&stmt, err);
}

static enum rc insert(struct requests *r, struct db *db, const struct claim *claim, struct err *err)
{
    int64_t print = print_of(claim->key);
    struct stmt stmt = db_stmt(db, SQL_INSERT_REQUEST);
    stmt_u64(&stmt, ++r->newest);
    stmt_text(&stmt, claim->key);
    stmt_u64(&stmt, claim->holder);
    stmt_i64(&stmt, claim->until_ms);
    stmt_text(&stmt, claim->note);
    TRY(stmt_done(&stmt, err));
    if (claim->until_ms < r->ends_ms)
        r->ends_ms = claim->until_ms;
    if (fresh_id(r, print) != 0)
        return put_print(db, print, r->newest, err);
    fresh_put(r, print);
    return RC_OK;
}

static enum rc delete_rows(struct db *db, uint64_t first, uint64_t last, struct err *err)
{
    struct stmt stmt = db_stmt(db, SQL_DELETE_REQUESTS);
    stmt_u64(&stmt, first);
    stmt_u64(&stmt, last);
    return stmt_done(&stmt, err);
}

/* At the end, where its own end is: a row that lasts must not stand before others that have
 * ended. */
static enum rc replace(struct requests *r, struct db *db, const struct request *old,
                       const struct claim *claim, struct err *err)
{
    r->changed = true;
    if (old->id != 0)
        TRY(delete_rows(db, old->id, old->id, err));
    return insert(r, db, claim, err);
}

enum rc requests_take(struct requests *r, struct db *db, const struct claim *claim, int64_t now_ms,
                      struct arena *arena, struct answer *ret_answer, bool *ret_taken,
                      struct err *err)
{
    struct request request;
    TRY(look_up(r, db, claim->key, arena, &request, err));
    if (request.bad)
        return err_set(err, RC_CONFLICT, "%s: the claim on '%.*s' is corrupt", db->path,
                       STR_ARG(claim->key)); /* refuses that command alone */
    ret_answer->holder = request.holder;
    ret_answer->note = request.note;
    *ret_taken = request.id == 0 || (request.until_ms > 0 && request.until_ms <= now_ms);
    return *ret_taken ? replace(r, db, &request, claim, err) : RC_OK;
}

enum rc requests_put(struct requests *r, struct db *db, const struct claim *claim, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct request request;
    TRY(look_up(r, db, claim->key, &arena, &request, err));
    if (request.id == 0 || request.until_ms != claim->until_ms)
        return replace(r, db, &request, claim, err);
    r->changed = true;
    struct stmt stmt = db_stmt(db, SQL_UPDATE_REQUEST);
    stmt_u64(&stmt, claim->holder);
    stmt_text(&stmt, claim->note);
    stmt_u64(&stmt, request.id);
    return stmt_done(&stmt, err);
}

enum rc requests_release(struct requests *r, struct db *db, const struct claim *claim,
                         struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct request request;
    TRY(look_up(r, db, claim->key, &arena, &request, err));
    if (request.id == 0 || request.holder != claim->holder)
        return RC_OK;
    r->changed = true;
    return delete_rows(db, request.id, request.id, err);
}

/* ---- at the end of a transaction */

/* The last of the first `max` rows before which all have ended; 0: not even the first one has.
 * *ret_ends_ms: when the next one will. */
static enum rc find_ended(struct db *db, int64_t now_ms, size_t max, uint64_t *ret_last,
                          int64_t *ret_ends_ms, struct err *err)
{
    CLEANUP(stmt_end) struct stmt stmt = db_stmt(db, SQL_OLDEST_REQUESTS);
    *ret_last = 0;
    stmt_u64(&stmt, max + 1);
    for (size_t i = 0;; i++) {
        bool found;
        TRY(stmt_next(&stmt, &found, err));
        *ret_ends_ms = INT64_MAX;
        if (!found)
            return RC_OK;
        struct row row = stmt_row(&stmt, NULL);
        uint64_t id = row_u64(&row);
        int64_t until_ms = row_i64(&row);
        *ret_ends_ms = until_ms > 0 ? until_ms : INT64_MAX;
        if (until_ms == 0 || until_ms > now_ms || i == max)
            return RC_OK;
        *ret_last = id;
    }
}

static enum rc delete_ended(struct requests *r, struct db *db, int64_t now_ms, size_t max,
                            struct err *err)
{
    uint64_t last;
    if (r->ends_ms > now_ms)
        return RC_OK;
    TRY(find_ended(db, now_ms, max, &last, &r->ends_ms, err));
    r->changed |= last > 0;
    return last > 0 ? delete_rows(db, 0, last, err) : RC_OK;
}

static int by_print(const void *a, const void *b)
{
    uint64_t left = ((const struct map_slot *)a)->key;
    uint64_t right = ((const struct map_slot *)b)->key;
    return left < right ? -1 : left > right;
}

static enum rc put_prints(struct requests *r, struct db *db, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct map_slot *slots = ARENA_ARRAY(&arena, struct map_slot, r->fresh.len);
    size_t len = 0;
    MAP_EACH(&r->fresh, slot) slots[len++] = *slot;
    qsort(slots, len, sizeof *slots, by_print);
    for (size_t i = 0; i < len; i++)
        TRY(put_print(db, (int64_t)slots[i].key, (uint64_t)(uintptr_t)slots[i].value, err));
    return RC_OK;
}

/* Prints of rows that are gone leave a slice at a time. Rows go in the order of their ids, so those
 * before the oldest are gone; and prints are spread evenly, so a part of their range is that part
 * of them. Four times as many are looked at as came, so at most a few in ten mean nothing. */
static enum rc clean_prints(struct requests *r, struct db *db, struct err *err)
{
    CLEANUP(stmt_end) struct stmt oldest = db_stmt(db, SQL_OLDEST_REQUESTS);
    bool found;
    stmt_u64(&oldest, 1);
    TRY(stmt_next(&oldest, &found, err));
    struct row row = stmt_row(&oldest, NULL);
    uint64_t first = found ? row_u64(&row) : r->newest + 1;
    stmt_end(&oldest);
    uint64_t slices = (r->newest + 1 - first) / (4 * REQUESTS_FRESH) + 1;
    int64_t width = (int64_t)(INT64_MAX / slices);
    int64_t until = r->clean_at > INT64_MAX - width ? INT64_MAX : r->clean_at + width;
    struct stmt stmt = db_stmt(db, SQL_CLEAN_PRINTS);
    stmt_i64(&stmt, r->clean_at);
    stmt_i64(&stmt, until);
    stmt_u64(&stmt, first);
    TRY(stmt_done(&stmt, err));
    r->clean_at = until == INT64_MAX ? 0 : until;
    return RC_OK;
}

static enum rc move_fresh(struct requests *r, struct db *db, struct err *err)
{
    TRY(put_prints(r, db, err));
    TRY(clean_prints(r, db, err));
    struct stmt stmt = db_stmt(db, SQL_PUT_REQUEST_MARK);
    stmt_u64(&stmt, r->newest);
    r->changed = r->moved = true;
    return stmt_done(&stmt, err);
}

enum rc requests_sweep(struct requests *r, struct db *db, int64_t now_ms, size_t max,
                       struct err *err)
{
    TRY(delete_ended(r, db, now_ms, max, err));
    return r->loaded && r->fresh.len >= REQUESTS_FRESH ? move_fresh(r, db, err) : RC_OK;
}
