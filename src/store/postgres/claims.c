/* claims.c - keys that one holder has at a time.
 *
 * A key is never decided from a read: the insert decides, and then everybody is told who has it.
 * All keys of a round go in one statement, in their order, so that two servers which want the same
 * ones do not wait for each other in a circle.
 *
 * Names and unique work are in one table; idempotency keys, which are many and end, in another.
 * Unique work that is kept after its success ends, too: a round that meets such a key tries again
 * with what that takes. */
#include "base/vec.h"
#include "store/postgres/postgres.h"
#include "store/sql/row.h"

#include <stdlib.h>

/* One key of a round, and the questions that want it, in the order they were asked. */
struct wanted {
    struct question *first; /* the only one that can get it */
    size_t at;              /* where it stands in the round's sorted list */
    size_t count;
};

/* Keys of one table. */
struct round {
    bool of_requests;
    bool ends;                /* some that are in the way have an end */
    struct question **sorted; /* by key, then as they were asked */
    size_t count;
    struct wanted *keys;
    size_t key_count;
};

static bool is_request(const struct claim *claim)
{
    return claim->kind == CLAIM_REQUEST;
}

static int by_key(const void *a, const void *b)
{
    const struct question *x = *(struct question *const *)a;
    const struct question *y = *(struct question *const *)b;
    if (x->claim.kind != y->claim.kind)
        return x->claim.kind < y->claim.kind ? -1 : 1;
    return str_cmp(x->claim.key, y->claim.key);
}

/* qsort may change the order of equals, and who asks first has the key. */
static void sort(struct question **items, size_t count, struct arena *arena)
{
    if (count < 2)
        return;
    struct question **out = ARENA_ARRAY(arena, struct question *, count);
    size_t half = count / 2;
    sort(items, half, arena);
    sort(items + half, count - half, arena);
    for (size_t i = 0, a = 0, b = half; i < count; i++) {
        bool left = b == count || (a < half && by_key(&items[a], &items[b]) <= 0);
        out[i] = left ? items[a++] : items[b++];
    }
    for (size_t i = 0; i < count; i++)
        items[i] = out[i];
}

static struct round *round_of(struct question *const *questions, size_t count, bool of_requests,
                              struct arena *arena)
{
    struct round *r = ARENA_NEW(arena, struct round);
    *r = (struct round){.of_requests = of_requests,
                        .sorted = ARENA_ARRAY(arena, struct question *, count),
                        .keys = ARENA_ARRAY(arena, struct wanted, count)};
    for (size_t i = 0; i < count; i++) {
        if (questions[i]->kind == ASK_CLAIM && is_request(&questions[i]->claim) == of_requests)
            r->sorted[r->count++] = questions[i];
    }
    sort(r->sorted, r->count, arena);
    for (size_t i = 0; i < r->count; i++) {
        if (i == 0 || by_key(&r->sorted[i - 1], &r->sorted[i]) != 0)
            r->keys[r->key_count++] = (struct wanted){.first = r->sorted[i], .at = i};
        r->keys[r->key_count - 1].count++;
    }
    return r;
}

/* ---- statements */

static void bind_key(struct pg_call *use, const struct claim *claim)
{
    if (is_request(claim)) {
        pg_uuid(use, claim->key);
        return;
    }
    pg_i64(use, claim->kind);
    pg_text(use, claim->key);
}

static void bind_claim(struct pg_call *use, const struct claim *claim)
{
    bind_key(use, claim);
    pg_u64(use, claim->holder);
    pg_i64(use, claim->until_ms);
    pg_text(use, claim->note);
}

enum { HOPE_WORTH = 16 }; /* keys; a failure is a line in PostgreSQL's log, and a round trip more */

/* hopeful: it fails when one of them is taken, see take_free_requests. */
static struct pg_call *insert(struct pg *pg, const struct round *r, bool hopeful)
{
    enum query requests =
        hopeful && r->key_count >= HOPE_WORTH ? Q_TAKE_FREE_REQUESTS : Q_TAKE_REQUESTS;
    struct pg_call *use = pg_call(pg, r->of_requests ? requests : Q_TAKE_CLAIMS);
    if (r->of_requests)
        pg_columns(use, "uiit", r->key_count);
    else
        pg_records(use, PG_NEW_CLAIM, "itiit", r->key_count);
    for (size_t i = 0; i < r->key_count; i++)
        bind_claim(use, &r->keys[i].first->claim);
    return use;
}

static struct pg_call *take_ended(struct pg *pg, const struct round *r)
{
    struct pg_call *use = pg_call(pg, r->of_requests ? Q_TAKE_ENDED_REQUESTS : Q_TAKE_ENDED_CLAIMS);
    pg_columns(use, r->of_requests ? "uiiti" : "itiiti", r->key_count);
    for (size_t i = 0; i < r->key_count; i++) {
        bind_claim(use, &r->keys[i].first->claim);
        pg_i64(use, r->keys[i].first->now_ms);
    }
    return use;
}

static struct pg_call *ask_holders(struct pg *pg, const struct round *r, enum query query)
{
    struct pg_call *use = pg_call(pg, query);
    pg_columns(use, r->of_requests ? "u" : "it", r->key_count);
    for (size_t i = 0; i < r->key_count; i++)
        bind_key(use, &r->keys[i].first->claim);
    return use;
}

/* ---- lots: requests that the turn took, for the sweep that comes when they have ended */

static void remember(struct postgres_store *s, const struct claim *claim)
{
    struct arena *arena = &s->taken_arena;
    if (is_request(claim))
        *VEC_PUSH(arena, &s->taken) = (struct taken_request){.key = arena_str(arena, claim->key),
                                                             .until_ms = claim->until_ms};
}

/* Those of one turn end at one moment, mostly. */
static size_t ends_together(const struct taken_request *first, size_t count)
{
    size_t alike = 1;
    while (alike < count && first[alike].until_ms == first->until_ms)
        alike++;
    return alike;
}

static void keep_lots(struct postgres_store *s)
{
    for (size_t i = 0, count; i < s->taken.len; i += count) {
        const struct taken_request *first = &s->taken.items[i];
        count = ends_together(first, s->taken.len - i);
        struct pg_call *use = pg_call(&s->pg, Q_KEEP_LOTS);
        pg_i64(use, first->until_ms);
        pg_columns(use, "u", count);
        for (size_t k = 0; k < count; k++)
            pg_uuid(use, first[k].key);
    }
}

/* ---- answers */

static void took(struct postgres_store *s, const struct claim *claim)
{
    if (claim->holder > s->taken_id)
        s->taken_id = claim->holder;
    remember(s, claim);
}

/* is_new: the first question got it, so that one is not told of a claim that was there. */
static void answer_all(const struct round *r, const struct wanted *key, uint64_t holder,
                       struct str note, bool is_new)
{
    for (size_t i = key->at; i < key->at + key->count; i++) {
        struct question *q = r->sorted[i];
        q->answer.holder = holder;
        if (!is_new || holder != q->claim.holder)
            q->answer.note = note;
    }
}

/* How a claim that is in the way may end by itself. */
enum claim_end { CLAIM_LASTS, CLAIM_ENDS, CLAIM_ENDED };

static enum claim_end claim_end_of(int64_t until_ms, int64_t now_ms)
{
    return until_ms == 0 ? CLAIM_LASTS : until_ms <= now_ms ? CLAIM_ENDED : CLAIM_ENDS;
}

/* What a round has been told. */
struct told {
    bool *seen; /* by key: it has its answer */
    bool ends;  /* some that are in the way have an end */
};

/* Gives out the answers. One with an end that may pass to another is believed when it is locked. */
static enum rc read_holders(struct postgres_store *s, const struct round *r,
                            const struct pg_call *holders, bool locked, struct arena *arena,
                            struct told *told, struct err *err)
{
    for (size_t i = 0; i < pg_rows(holders); i++) {
        struct row row = pg_row(holders, i, arena);
        uint64_t at = row_u64(&row) - 1;
        uint64_t holder = row_u64(&row);
        struct str note = row_text(&row);
        int64_t until_ms = row_i64(&row);
        if (row.bad || at >= r->key_count)
            return err_set(err, RC_CONFLICT, "%s: a claim is corrupt", s->place.label);
        const struct wanted *key = &r->keys[at];
        /* One of the same holder that has ended gives way as any other. */
        bool ours = holder == key->first->claim.holder && until_ms == key->first->claim.until_ms;
        enum claim_end end = claim_end_of(until_ms, key->first->now_ms);
        if (told->seen[at])
            continue;
        told->ends |= !ours && end != CLAIM_LASTS;
        if (!ours && (end == CLAIM_ENDED || (end == CLAIM_ENDS && !r->of_requests && !locked)))
            continue;
        told->seen[at] = true;
        answer_all(r, key, holder, note, ours);
        if (ours)
            took(s, &key->first->claim);
    }
    return RC_OK;
}

/* The keys that have to be tried again: their holder's time is over, or they were given back
 * between the statements, or are kept and not locked yet. */
static struct round open_of(const struct round *r, const struct told *told, struct arena *arena)
{
    struct round open = {.of_requests = r->of_requests,
                         .ends = r->ends || told->ends,
                         .sorted = r->sorted,
                         .keys = ARENA_ARRAY(arena, struct wanted, r->key_count)};
    for (size_t i = 0; i < r->key_count; i++) {
        if (!told->seen[i])
            open.keys[open.key_count++] = r->keys[i];
    }
    return open;
}

enum { CLAIM_TRIES = 4 };

static enum rc take(struct postgres_store *s, const struct round *r, struct arena *arena,
                    struct round *ret_open, struct err *err)
{
    struct pg *pg = &s->pg;
    PG_CLEAR(pg);
    struct pg_call *ended = r->of_requests || r->ends ? take_ended(pg, r) : NULL;
    bool locks = r->ends && !r->of_requests;
    struct pg_call *locked = locks ? ask_holders(pg, r, Q_LOCK_KEPT_CLAIMS) : NULL;
    struct pg_call *taken = insert(pg, r, false);
    struct pg_call *holders =
        ask_holders(pg, r, r->of_requests ? Q_REQUEST_HOLDERS : Q_CLAIM_HOLDERS);
    struct told told = {.seen = ARENA_ARRAY(arena, bool, r->key_count)};
    TRY(pg_run(pg, err));
    s->taken_claims += pg_changed(taken) + (ended == NULL ? 0 : pg_changed(ended));
    if (locks)
        TRY(read_holders(s, r, locked, true, arena, &told, err));
    TRY(read_holders(s, r, holders, false, arena, &told, err));
    *ret_open = open_of(r, &told, arena);
    return RC_OK;
}

static enum rc take_open(struct postgres_store *s, const struct round *r, struct arena *arena,
                         struct err *err)
{
    struct round open = *r;
    for (int i = 0; i < CLAIM_TRIES && open.key_count > 0; i++) {
        struct round next;
        TRY(take(s, &open, arena, &next, err));
        open = next;
    }
    if (open.key_count > 0)
        return err_set(err, RC_BUSY, "%s: a claim changes hands too often", s->place.label);
    return RC_OK;
}

void postgres_ask_claims(struct postgres_store *s, struct question *const *questions, size_t count,
                         bool hopeful, struct arena *arena, struct claims_asked *ret_asked)
{
    *ret_asked = (struct claims_asked){0};
    for (int table = 0; table < CLAIM_TABLES; table++) {
        struct round *r = round_of(questions, count, table == 1, arena);
        ret_asked->rounds[table] = r;
        if (r->key_count > 0)
            ret_asked->inserts[table] = insert(&s->pg, r, hopeful);
    }
}

/* All keys were free, as they nearly always are: their holders need not be asked for. */
static void answer_taken(struct postgres_store *s, struct round *r)
{
    for (size_t i = 0; i < r->key_count; i++) {
        const struct claim *claim = &r->keys[i].first->claim;
        answer_all(r, &r->keys[i], claim->holder, claim->note, true);
        took(s, claim);
    }
    r->key_count = 0;
}

void postgres_read_claims(struct postgres_store *s, struct claims_asked *asked)
{
    for (int table = 0; table < CLAIM_TABLES; table++) {
        if (asked->inserts[table] == NULL)
            continue;
        uint64_t taken = pg_changed(asked->inserts[table]);
        s->taken_claims += taken;
        if (taken == asked->rounds[table]->key_count)
            answer_taken(s, asked->rounds[table]);
        /* Otherwise all are tried again, by postgres_end_claims: keys that we have we keep. */
    }
}

enum rc postgres_end_claims(struct postgres_store *s, struct claims_asked *asked,
                            struct arena *arena, struct err *err)
{
    for (int table = 0; table < CLAIM_TABLES; table++)
        TRY(take_open(s, asked->rounds[table], arena, err));
    return RC_OK;
}

/* ---- within a delta */

static size_t count_requests(const struct claim *claims, size_t count)
{
    size_t requests = 0;
    for (size_t i = 0; i < count; i++)
        requests += is_request(&claims[i]);
    return requests;
}

static void keep_claims(struct postgres_store *s, const struct delta *delta)
{
    struct pg *pg = &s->pg;
    size_t requests = count_requests(delta->claims, delta->claim_count);
    size_t others = delta->claim_count - requests;
    struct pg_call *put = others == 0 ? NULL : pg_call(pg, Q_PUT_CLAIMS);
    struct pg_call *put_requests = requests == 0 ? NULL : pg_call(pg, Q_PUT_REQUESTS);
    if (put != NULL)
        pg_columns(put, "itiit", others);
    if (put_requests != NULL)
        pg_columns(put_requests, "uiit", requests);
    for (size_t i = 0; i < delta->claim_count; i++) {
        bind_claim(is_request(&delta->claims[i]) ? put_requests : put, &delta->claims[i]);
        remember(s, &delta->claims[i]);
    }
}

static void keep_released(struct postgres_store *s, const struct delta *delta)
{
    struct pg *pg = &s->pg;
    size_t requests = count_requests(delta->released, delta->released_count);
    size_t others = delta->released_count - requests;
    struct pg_call *release = others == 0 ? NULL : pg_call(pg, Q_RELEASE_CLAIMS);
    struct pg_call *release_requests = requests == 0 ? NULL : pg_call(pg, Q_RELEASE_REQUESTS);
    if (release != NULL)
        pg_columns(release, "iti", others);
    if (release_requests != NULL)
        pg_columns(release_requests, "ui", requests);
    for (size_t i = 0; i < delta->released_count; i++) {
        const struct claim *claim = &delta->released[i];
        struct pg_call *use = is_request(claim) ? release_requests : release;
        bind_key(use, claim);
        pg_u64(use, claim->holder);
    }
}

#define KEEP(one, many, type, alone) keep_##many(s, delta);

void postgres_keep_claims(struct postgres_store *s, const struct delta *delta)
{
    DELTA_CLAIMS(KEEP)
    keep_lots(s);
    struct pg_call *sweep = pg_call(&s->pg, Q_SWEEP_REQUESTS);
    pg_i64(sweep, delta->claims_now_ms);
    pg_u64(sweep, CLAIM_SWEEP + 2 * s->taken_claims);
    if (!delta_sweeps_claims(delta))
        return;
    struct pg_call *sweep_claims = pg_call(&s->pg, Q_SWEEP_CLAIMS);
    pg_i64(sweep_claims, delta->claims_now_ms);
    pg_u64(sweep_claims, CLAIM_SWEEP + 2 * delta->claim_count);
}
