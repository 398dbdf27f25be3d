#include "base/mem.h"
#include "store/postgres/postgres.h"
#include "store/sql/row.h"

#include <poll.h>
#include <stdlib.h>

/* ---- what is owned, as parameters */

size_t postgres_owned_count(const struct ownership *own)
{
    struct partition_set set = ownership_set(own);
    return partition_set_len(&set);
}

uint32_t postgres_lowest(const struct ownership *own)
{
    uint64_t bits = ownership_set(own).bits;
    return bits == 0 ? 0 : (uint32_t)__builtin_ctzll(bits);
}

void postgres_bind_owned(struct pg_call *use, const struct ownership *own)
{
    pg_columns(use, "ii", own->partitions);
    for (uint32_t p = 0; p < own->partitions; p++) {
        if (own->epochs[p] == 0)
            continue;
        pg_i64(use, p);
        pg_u64(use, own->epochs[p]);
    }
}

void postgres_bind_set(struct pg_call *use, const struct ownership *own)
{
    pg_i64(use, own->partitions);
    pg_i64(use, (int64_t)ownership_set(own).bits);
}

enum rc postgres_deposed(struct err *err)
{
    return err_set(err, RC_DEPOSED, "another server took one of our partitions");
}

/* ---- who we are */

void postgres_set_owner(struct postgres_store *s, struct str start)
{
    if (str_eq(postgres_owner(s), start))
        return; /* so the member never writes what a turn may be reading */
    free(s->owner);
    s->owner = mem_dup(start.ptr, start.len);
}

struct str postgres_owner(const struct postgres_store *s)
{
    return s->owner == NULL ? STR("") : str_c(s->owner);
}

/* ---- the turn's transaction */

enum rc postgres_turn_begin(struct postgres_store *s, const struct ownership *own,
                            struct pg_call **ret_fence, struct err *err)
{
    *ret_fence = NULL;
    if (s->in_turn && s->pg.in_transaction)
        return RC_OK; /* under the share locks since: no other server can have become the owner */
    if (s->in_turn) {
        postgres_turn_abort(s);
        return err_set(err, RC_BUSY, "%s: the connection was lost within a turn", s->place.label);
    }
    pg_clear(&s->pg);
    pg_hurry(&s->pg);
    TRY(pg_connect(&s->pg, err)); /* tells whether there is a pooler, which BEGIN must know */
    s->in_turn = true;
    s->asked = marks_ask(&s->marks);
    s->taken_claims = 0;
    s->taken_id = 0;
    s->taken.len = s->taken.cap = 0;
    arena_reset(&s->taken_arena);
    pg_begin(&s->pg);
    if (own == NULL)
        return RC_OK;
    *ret_fence = pg_call(&s->pg, Q_CHECK_EPOCHS);
    pg_text(*ret_fence, postgres_owner(s));
    pg_text(*ret_fence, str_c(s->writer));
    pg_u64(*ret_fence, s->asked.turn);
    postgres_bind_owned(*ret_fence, own);
    return RC_OK;
}

enum rc postgres_turn_check(struct postgres_store *s, const struct ownership *own,
                            const struct pg_call *fence, struct err *err)
{
    if (fence == NULL || pg_rows(fence) == postgres_owned_count(own))
        return RC_OK;
    postgres_turn_abort(s);
    return postgres_deposed(err);
}

void postgres_turn_abort(struct postgres_store *s)
{
    s->in_turn = false;
    pg_rollback(&s->pg);
}

/* ---- owning */

/* A server renews its row every second, so this is long enough to see whether it is there. */
enum { OWN_PAUSE_MS = 250, OWN_WATCH_MS = 2500 };

static void bind_all_ids(struct pg_call *use)
{
    pg_columns(use, "i", PARTITIONS_MAX);
    for (int64_t p = 0; p < PARTITIONS_MAX; p++)
        pg_i64(use, p);
}

/* The answer of count_partitions. */
struct crowd {
    uint32_t partitions;
    int64_t heard_ms; /* when an owner was heard of for the last time */
};

static enum rc read_crowd(const struct pg_call *use, struct crowd *ret_crowd, struct err *err)
{
    struct row row = pg_row(use, 0, NULL);
    struct crowd crowd = {.partitions = row_u32(&row)};
    row.at++;
    crowd.heard_ms = row_ms(&row);
    if (row.bad || crowd.partitions == 0 || crowd.partitions > PARTITIONS_MAX)
        return err_set(err, RC_CORRUPT, "%s: the partitions are corrupt", pg_label(use));
    *ret_crowd = crowd;
    return RC_OK;
}

enum rc postgres_read_taken(const struct pg_call *taken, const struct pg_call *floors,
                            const struct pg_call *all, struct ownership *own, struct err *err)
{
    struct crowd crowd;
    TRY(read_crowd(all, &crowd, err));
    own->partitions = crowd.partitions;
    own->deprived = 0;
    for (size_t i = 0; i < pg_rows(taken); i++) {
        struct row row = pg_row(taken, i, NULL);
        uint32_t id = row_u32(&row);
        uint64_t epoch = row_u64(&row);
        int64_t unsure_ms = row_i64(&row);
        bool deprived = row_bool(&row);
        if (row.bad || id >= crowd.partitions || epoch == 0)
            return err_set(err, RC_CORRUPT, "%s: a partition's row is corrupt", pg_label(taken));
        own->epochs[id] = epoch;
        own->unsure_ms[id] = unsure_ms;
        own->deprived |= (uint64_t)deprived << id;
    }
    for (size_t i = 0; i < pg_rows(floors); i++) {
        struct row row = pg_row(floors, i, NULL);
        uint64_t turn = row_u64(&row);
        uint64_t newest_id = row_u64(&row);
        row.at++;
        uint64_t token = row_u64(&row);
        if (row.bad)
            return err_set(err, RC_CORRUPT, "%s: a partition's row is corrupt", pg_label(floors));
        own->turn_floor = turn > own->turn_floor ? turn : own->turn_floor;
        own->id_floor = newest_id > own->id_floor ? newest_id : own->id_floor;
        own->token_floor = token > own->token_floor ? token : own->token_floor;
    }
    return RC_OK;
}

void postgres_bind_terms(struct pg_call *use, const struct node_rec *me)
{
    pg_text(use, me->replaces);
    pg_i64(use, me->lease_ms);
    pg_i64(use, me->grace_ms);
    pg_i64(use, NODE_UNSAID_MS);
}

static int64_t drift_of(const struct pg_call *floors)
{
    int64_t most = 0;
    for (size_t i = 0; i < pg_rows(floors); i++) {
        struct row row = pg_row(floors, i, NULL);
        row.at = 2;
        int64_t drift_ms = row_i64(&row);
        most = drift_ms > most ? drift_ms : most;
    }
    return most;
}

/* One try; *ret_heard_ms tells when an owner was heard of last. */
static enum rc own_once(struct postgres_store *s, struct str start, struct ownership *ret_owned,
                        int64_t *ret_heard_ms, struct err *err)
{
    struct pg *pg = &s->pg;
    PG_CLEAR(pg);
    pg_clear(pg);
    TRY(pg_connect(pg, err));
    pg_begin(pg);
    struct pg_call *taken = pg_call(pg, Q_TAKE_PARTITIONS);
    pg_text(taken, start);
    pg_i64(taken, s->lease_ms);
    postgres_bind_terms(taken, &(struct node_rec){0});
    bind_all_ids(taken);
    struct pg_call *floors = pg_call(pg, Q_RAISE_FLOORS);
    pg_text(floors, start);
    bind_all_ids(floors);
    pg_text(pg_call(pg, Q_FORGET_TURNS), start);
    struct pg_call *all = pg_call(pg, Q_COUNT_PARTITIONS);
    pg_text(all, start);
    TRY(pg_commit(pg, err));
    struct ownership own = {0};
    struct crowd crowd;
    TRY(postgres_read_taken(taken, floors, all, &own, err));
    TRY(read_crowd(all, &crowd, err));
    s->newest_id = own.id_floor;
    s->drift_ms = drift_of(floors);
    *ret_heard_ms = crowd.heard_ms;
    *ret_owned = own;
    return RC_OK;
}

static enum rc pause(struct postgres_store *s, struct err *err)
{
    struct pg_call *use = pg_call(&s->pg, Q_PAUSE);
    pg_i64(use, OWN_PAUSE_MS);
    enum rc rc = pg_run(&s->pg, err);
    pg_clear(&s->pg);
    return rc;
}

/* A server that was killed has its partitions until its lease is over. A server that starts again
 * meets its own shadow: no server renews, and waiting helps. Where one renews, all is taken, and we
 * are one more. */
enum rc postgres_own(struct store *store, struct str node, struct ownership *ret_owned,
                     struct err *err)
{
    struct postgres_store *s = postgres_of(store);
    postgres_turn_abort(s);
    postgres_set_owner(s, node);
    postgres_forget_places(s);
    s->in_doubt = false; /* kept or not, it is under an older epoch */
    int64_t first_heard_ms = 0;
    for (int64_t waited_ms = 0;; waited_ms += OWN_PAUSE_MS) {
        int64_t heard_ms;
        TRY(own_once(s, node, ret_owned, &heard_ms, err));
        if (first_heard_ms == 0)
            first_heard_ms = heard_ms;
        bool others_live = heard_ms > first_heard_ms;
        bool watched = waited_ms >= s->lease_ms + OWN_WATCH_MS;
        if (postgres_owned_count(ret_owned) > 0 || others_live || watched)
            return RC_OK;
        TRY(pause(s, err));
    }
}

/* ---- settling */

enum { SETTLE_WAIT_MS = 1000, SETTLE_PAUSE_MS = 100 };

/* After a connection was lost under a commit there is mostly no server for a moment. It is worth
 * waiting for: a server that cannot settle has to tell its clients that the outcome is unknown. */
static enum rc connect_patiently(struct pg *pg, struct err *err)
{
    enum rc rc = pg_connect(pg, err);
    for (int ms = 0; rc == RC_BUSY && ms < SETTLE_WAIT_MS; ms += SETTLE_PAUSE_MS) {
        if (!pg_pause(pg, SETTLE_PAUSE_MS))
            break;
        rc = pg_connect(pg, err);
    }
    return rc;
}

/* The partitions that are owned now may be others than those it was sent under (a load settles,
 * too), so holding the rows of that may not wait for it; this does, and comes before anybody
 * looks. */
static void call_lost(struct postgres_store *s)
{
    struct pg_call *lost = pg_call(&s->pg, Q_SETTLE_LOST);
    pg_text(lost, str_c(s->writer));
    pg_u64(lost, s->doubt_turn);
    pg_u64(lost, s->tries);
    pg_i64(lost, s->doubt_partition);
    pg_u64(lost, s->doubt_epoch);
}

/* The rows are taken exclusively, which waits for the end of the commit in doubt where it is under
 * way; if it has not begun yet (a backend that was stopped before it read our words), the row that
 * calls it lost stands in its way. After this commit the answer is final, also after a failover. */
enum rc postgres_settle(struct store *store, const struct ownership *own, uint64_t turn,
                        enum settled *ret_settled, struct err *err)
{
    struct postgres_store *s = postgres_of(store);
    struct pg *pg = &s->pg;
    PG_CLEAR(pg);
    postgres_turn_abort(s);
    const struct mark_asked asked = marks_ask(&s->marks);
    TRY(s->in_doubt ? connect_patiently(pg, err) : pg_connect(pg, err));
    pg_begin(pg);
    struct pg_call *held = pg_call(pg, Q_HOLD_PARTITIONS);
    pg_text(held, postgres_owner(s));
    postgres_bind_owned(held, own);
    if (turn != 0 && turn == s->doubt_turn)
        call_lost(s);
    struct pg_call *kept = pg_call(pg, Q_SETTLE);
    pg_text(kept, str_c(s->writer));
    TRY(pg_commit(pg, err));
    if (pg_rows(held) != postgres_owned_count(own))
        return postgres_deposed(err);
    struct row row = pg_row(kept, 0, NULL);
    uint64_t newest = row_u64(&row);
    *ret_settled = turn <= newest || turn <= own->turn_floor ? SETTLED_KEPT : SETTLED_LOST;
    if (turn != 0 && turn == newest && turn == s->doubt_turn)
        marks_keep(&s->marks, &asked, turn);
    s->in_doubt = s->in_doubt && turn != s->doubt_turn;
    return row.bad ? err_set(err, RC_CORRUPT, "%s: turns are corrupt", s->place.label) : RC_OK;
}
