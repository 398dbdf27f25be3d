/* claims.c - keys that one holder has at a time.
 *
 * A key is never decided from a read: the insert decides, and then everybody is told who has it. All keys
 * of a round go in one statement, in their order, so that two servers which want the same ones do not wait
 * for each other in a circle. */
#include "base/vec.h"
#include "store/postgres/postgres.h"
#include "store/postgres/row.h"

#include <stdlib.h>

/* One key of a round, and the questions that want it, in the order they were asked. */
struct wanted {
    struct question *first; /* the only one that can get it */
    size_t at;              /* where it stands in the round's sorted list */
    size_t count;
};

struct round {
    struct question **sorted; /* by key, then as they were asked */
    size_t count;
    struct wanted *keys;
    size_t key_count;
};

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

static struct round round_of(struct question *const *questions, size_t count, struct arena *arena)
{
    struct round r = {.sorted = ARENA_ARRAY(arena, struct question *, count),
                      .keys = ARENA_ARRAY(arena, struct wanted, count)};
    for (size_t i = 0; i < count; i++) {
        if (questions[i]->kind == ASK_CLAIM)
            r.sorted[r.count++] = questions[i];
    }
    sort(r.sorted, r.count, arena);
    for (size_t i = 0; i < r.count; i++) {
        if (i == 0 || by_key(&r.sorted[i - 1], &r.sorted[i]) != 0)
            r.keys[r.key_count++] = (struct wanted){.first = r.sorted[i], .at = i};
        r.keys[r.key_count - 1].count++;
    }
    return r;
}

static void bind_claim(struct pg_use *use, const struct claim *claim)
{
    pg_i64(use, claim->kind);
    pg_text(use, claim->key);
    pg_u64(use, claim->holder);
    pg_i64(use, claim->until_ms);
    pg_text(use, claim->note);
}

static struct pg_use *ask_holders(struct pg *pg, const struct round *r)
{
    struct pg_use *use = pg_use(pg, Q_CLAIM_HOLDERS);
    pg_columns(use, "it", r->key_count);
    for (size_t i = 0; i < r->key_count; i++) {
        pg_i64(use, r->keys[i].first->claim.kind);
        pg_text(use, r->keys[i].first->claim.key);
    }
    return use;
}

static void answer_all(const struct round *r, const struct wanted *key, uint64_t holder,
                       struct str note)
{
    for (size_t i = key->at; i < key->at + key->count; i++) {
        struct question *q = r->sorted[i];
        q->answer.holder = holder;
        if (holder != q->claim.holder)
            q->answer.note = note;
    }
}

/* Gives out the answers; *ret_open gets the keys that have to be tried again: their holder's time is over,
 * or they were given back between the two statements. */
static enum rc read_holders(struct postgres_store *s, const struct round *r,
                            const struct pg_use *holders, struct arena *arena,
                            struct round *ret_open, struct err *err)
{
    bool *seen = ARENA_ARRAY(arena, bool, r->key_count);
    for (size_t i = 0; i < pg_rows(holders); i++) {
        struct pg_row row = pg_row_of(holders, i, arena);
        uint64_t at = pg_row_u64(&row) - 1;
        uint64_t holder = pg_row_u64(&row);
        struct str note = pg_row_text(&row);
        int64_t until_ms = pg_row_i64(&row);
        if (row.bad || at >= r->key_count)
            return err_set(err, RC_CONFLICT, "%s: a claim makes no sense", s->place.label);
        const struct wanted *key = &r->keys[at];
        /* One of the same holder that has ended gives way as any other. */
        bool ours = holder == key->first->claim.holder && until_ms == key->first->claim.until_ms;
        if (!ours && until_ms > 0 && until_ms <= key->first->now_ms)
            continue;
        seen[at] = true;
        answer_all(r, key, holder, note);
        if (ours && holder > s->taken_id)
            s->taken_id = holder;
    }
    *ret_open = (struct round){.sorted = r->sorted,
                               .keys = ARENA_ARRAY(arena, struct wanted, r->key_count)};
    for (size_t i = 0; i < r->key_count; i++) {
        if (!seen[i])
            ret_open->keys[ret_open->key_count++] = r->keys[i];
    }
    return RC_OK;
}

enum { CLAIM_TRIES = 4 };

static enum rc take(struct postgres_store *s, const struct round *r, struct arena *arena,
                    struct round *ret_open, struct err *err)
{
    struct pg *pg = &s->pg;
    PG_CLEAR(pg);
    struct pg_use *ended = pg_use(pg, Q_TAKE_ENDED_CLAIMS);
    pg_columns(ended, "itiiti", r->key_count);
    struct pg_use *insert = pg_use(pg, Q_TAKE_CLAIMS);
    pg_records(insert, PG_NEW_CLAIM, "itiit", r->key_count);
    for (size_t i = 0; i < r->key_count; i++) {
        bind_claim(ended, &r->keys[i].first->claim);
        pg_i64(ended, r->keys[i].first->now_ms);
        bind_claim(insert, &r->keys[i].first->claim);
    }
    struct pg_use *holders = ask_holders(pg, r);
    TRY(pg_run(pg, err));
    s->taken_claims += pg_changed(insert) + pg_changed(ended);
    return read_holders(s, r, holders, arena, ret_open, err);
}

void postgres_ask_claims(struct postgres_store *s, struct question *const *questions, size_t count,
                         struct arena *arena, struct claims_asked *ret_asked)
{
    struct round *r = ARENA_NEW(arena, struct round);
    *r = round_of(questions, count, arena);
    *ret_asked = (struct claims_asked){.round = r};
    if (r->key_count == 0)
        return;
    ret_asked->insert = pg_use(&s->pg, Q_TAKE_CLAIMS);
    pg_records(ret_asked->insert, PG_NEW_CLAIM, "itiit", r->key_count);
    for (size_t i = 0; i < r->key_count; i++)
        bind_claim(ret_asked->insert, &r->keys[i].first->claim);
}

/* All keys were free, as they nearly always are: nobody needs to be asked who has them. */
static void answer_taken(struct postgres_store *s, const struct round *r)
{
    for (size_t i = 0; i < r->key_count; i++) {
        uint64_t holder = r->keys[i].first->claim.holder;
        answer_all(r, &r->keys[i], holder, r->keys[i].first->claim.note);
        if (holder > s->taken_id)
            s->taken_id = holder;
    }
}

void postgres_read_claims(struct postgres_store *s, struct claims_asked *asked, struct arena *arena)
{
    if (asked->insert == NULL)
        return;
    uint64_t taken = pg_changed(asked->insert);
    s->taken_claims += taken;
    if (taken < asked->round->key_count)
        return; /* all are tried again, by postgres_end_claims: what we have we keep */
    answer_taken(s, asked->round);
    asked->round = ARENA_NEW(arena, struct round); /* of none */
}

enum rc postgres_end_claims(struct postgres_store *s, struct claims_asked *asked,
                            struct arena *arena, struct err *err)
{
    struct round open = *asked->round;
    for (int i = 0; i < CLAIM_TRIES && asked->insert != NULL && open.key_count > 0; i++) {
        struct round next;
        TRY(take(s, &open, arena, &next, err));
        open = next;
    }
    if (asked->insert != NULL && open.key_count > 0)
        return err_set(err, RC_BUSY, "%s: a claim changes hands too often", s->place.label);
    return RC_OK;
}

/* ---- within a delta */

void postgres_keep_claims(struct postgres_store *s, const struct delta *delta)
{
    struct pg *pg = &s->pg;
    if (delta->claim_count > 0) {
        struct pg_use *put = pg_use(pg, Q_PUT_CLAIMS);
        pg_columns(put, "itiit", delta->claim_count);
        for (size_t i = 0; i < delta->claim_count; i++)
            bind_claim(put, &delta->claims[i]);
    }
    if (delta->released_count > 0) {
        struct pg_use *release = pg_use(pg, Q_RELEASE_CLAIMS);
        pg_columns(release, "iti", delta->released_count);
        for (size_t i = 0; i < delta->released_count; i++) {
            pg_i64(release, delta->released[i].kind);
            pg_text(release, delta->released[i].key);
            pg_u64(release, delta->released[i].holder);
        }
    }
    struct pg_use *sweep = pg_use(pg, Q_SWEEP_CLAIMS);
    pg_i64(sweep, delta->claims_now_ms);
    pg_u64(sweep, CLAIM_SWEEP + 2 * s->taken_claims);
}
