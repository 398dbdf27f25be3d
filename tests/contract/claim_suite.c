/* Claims with an end and a note: what idempotency keys and unique work stand on. */
#include "world.h"

#include <inttypes.h>

/* As the keys of all requests are. */
static struct str hashed(struct arena *arena, struct str key)
{
    uint64_t hash = str_hash(key);
    return arena_printf(arena, "%016" PRIx64 "%016" PRIx64, hash, ~hash);
}

static struct str key_number(struct arena *arena, size_t number)
{
    return hashed(arena, arena_printf(arena, "key %zu", number));
}

static struct question ask_request(struct str key, uint64_t holder, int64_t now_ms)
{
    return (struct question){
        .kind = ASK_CLAIM,
        .claim = {.kind = CLAIM_REQUEST,
                  .key = key,
                  .holder = holder,
                  .until_ms = now_ms + 1000,
                  .note = STR("first")},
        .now_ms = now_ms,
    };
}

/* Who has the key at that moment; asks on behalf of holder. */
static uint64_t who_has(struct world *w, struct str key, uint64_t holder, int64_t now_ms)
{
    struct question q = ask_request(key, holder, now_ms);
    world_admit(w, &q);
    return q.answer.holder;
}

static void keep_request(struct world *w, struct str key, uint64_t holder, int64_t now_ms)
{
    assert_int_equal(who_has(w, key, holder, now_ms), holder);
    world_commit(w, (struct delta){0});
}

PROMISE(kinds_of_claims_do_not_meet)
{
    struct world *w = *state;
    struct str key = hashed(&w->arena, STR("nightly"));
    assert_int_equal(world_claim(w, key, 7), 7);
    assert_int_equal(who_has(w, key, 8, T0), 8);
    struct question q = {.kind = ASK_CLAIM,
                         .claim = {.kind = CLAIM_UNIQUE, .key = key, .holder = 9}};
    world_admit(w, &q);
    assert_int_equal(q.answer.holder, 9);
}

PROMISE(a_claim_in_the_way_shows_its_note)
{
    struct world *w = *state;
    keep_request(w, hashed(&w->arena, STR("k")), 7, T0);
    world_reopen(w);
    struct question q = ask_request(hashed(&w->arena, STR("k")), 8, T0 + 1);
    q.claim.note = STR("second");
    world_admit(w, &q);
    assert_int_equal(q.answer.holder, 7);
    assert_str(q.answer.note, STR("first"));
}

PROMISE(a_claim_that_has_ended_gives_way)
{
    struct world *w = *state;
    keep_request(w, hashed(&w->arena, STR("k")), 7, T0);
    assert_int_equal(who_has(w, hashed(&w->arena, STR("k")), 8, T0 + 999), 7);
    assert_int_equal(who_has(w, hashed(&w->arena, STR("k")), 8, T0 + 1000), 8);
    world_commit(w, (struct delta){0});
    assert_int_equal(who_has(w, hashed(&w->arena, STR("k")), 9, T0 + 1999),
                     8); /* with an end of its own */
}

PROMISE(an_aborted_turn_leaves_an_ended_claim_as_it_was)
{
    struct world *w = *state;
    keep_request(w, hashed(&w->arena, STR("k")), 7, T0);
    assert_int_equal(who_has(w, hashed(&w->arena, STR("k")), 8, T0 + 1000), 8);
    w->store->ops->abort(w->store);
    assert_int_equal(who_has(w, hashed(&w->arena, STR("k")), 9, T0),
                     7); /* by a clock that was set back */
}

PROMISE(a_claim_without_an_end_lasts)
{
    struct world *w = *state;
    world_claim(w, STR("nightly"), 7);
    world_commit(w, (struct delta){.claims_now_ms = INT64_MAX});
    struct question q = {.kind = ASK_CLAIM,
                         .claim = {.kind = CLAIM_NAME, .key = STR("nightly"), .holder = 8},
                         .now_ms = INT64_MAX};
    world_admit(w, &q);
    assert_int_equal(q.answer.holder, 7);
}

PROMISE(a_delta_puts_a_claim_whoever_had_it)
{
    struct world *w = *state;
    keep_request(w, hashed(&w->arena, STR("k")), 7, T0);
    struct claim released = {
        .kind = CLAIM_REQUEST, .key = hashed(&w->arena, STR("k")), .holder = 7};
    struct claim put = {.kind = CLAIM_REQUEST,
                        .key = hashed(&w->arena, STR("k")),
                        .holder = 8,
                        .until_ms = T0 + 500,
                        .note = STR("put")};
    world_commit(w,
                 (struct delta){
                     .released = &released, .released_count = 1, .claims = &put, .claim_count = 1});
    world_reopen(w);
    struct question q = ask_request(hashed(&w->arena, STR("k")), 9, T0);
    world_admit(w, &q);
    assert_int_equal(q.answer.holder, 8);
    assert_str(q.answer.note, STR("put"));
    assert_int_equal(who_has(w, hashed(&w->arena, STR("k")), 9, T0 + 500), 9);
}

PROMISE(what_is_put_and_released_in_one_turn_is_free)
{
    struct world *w = *state;
    keep_request(w, hashed(&w->arena, STR("k")), 7, T0);
    struct claim put = {.kind = CLAIM_REQUEST, .key = hashed(&w->arena, STR("k")), .holder = 8};
    struct claim released[] = {
        {.kind = CLAIM_REQUEST, .key = hashed(&w->arena, STR("k")), .holder = 7}, put};
    world_commit(w,
                 (struct delta){
                     .released = released, .released_count = 2, .claims = &put, .claim_count = 1});
    assert_int_equal(who_has(w, hashed(&w->arena, STR("k")), 9, T0), 9);
}

/* Asked by a clock that stands at the beginning, what is there is not yet over. */
static size_t count_kept(struct world *w, size_t keys)
{
    size_t kept = 0;
    for (size_t i = 0; i < keys; i++)
        kept += who_has(w, key_number(&w->arena, i), 9999, T0) != 9999;
    w->store->ops->abort(w->store);
    return kept;
}

PROMISE(ended_claims_are_swept_a_few_at_a_time)
{
    enum { KEYS = 3 * CLAIM_SWEEP };
    struct world *w = *state;
    for (size_t i = 0; i < KEYS; i++)
        who_has(w, key_number(&w->arena, i), i + 1, T0 + (int64_t)i);
    world_commit(w, (struct delta){0});
    assert_int_equal(count_kept(w, KEYS), KEYS);

    struct worker_change worker = {.worker = {.id = world_id(w), .name = STR("w")}};
    struct delta delta = {.workers = &worker, .worker_count = 1, .claims_now_ms = T0 + 1000};
    world_commit(w, delta); /* one has ended */
    assert_int_equal(count_kept(w, KEYS), KEYS - 1);
    delta.claims_now_ms = T0 + 100000;
    world_commit(w, delta);
    assert_int_equal(count_kept(w, KEYS), KEYS - 1 - CLAIM_SWEEP);
    who_has(w, hashed(&w->arena, STR("one more")), 5000,
            T0 + 100000); /* who takes one sweeps two more */
    world_commit(w, delta);
    assert_int_equal(count_kept(w, KEYS), KEYS - 1 - CLAIM_SWEEP - (CLAIM_SWEEP + 2));
}

/* ---- unique work that is kept after its success */

static struct question ask_unique(struct str key, uint64_t holder, int64_t now_ms)
{
    return (struct question){.kind = ASK_CLAIM,
                             .claim = {.kind = CLAIM_UNIQUE, .key = key, .holder = holder},
                             .now_ms = now_ms};
}

static struct claim kept_unique(struct str key, uint64_t holder, int64_t until_ms)
{
    return (struct claim){.kind = CLAIM_UNIQUE,
                          .key = key,
                          .holder = holder,
                          .until_ms = until_ms,
                          .note = STR("kept")};
}

static void keep_unique(struct world *w, struct str key, uint64_t holder, int64_t until_ms)
{
    struct claim put = kept_unique(key, holder, until_ms);
    world_commit(w, (struct delta){.claims = &put, .claim_count = 1, .claims_now_ms = T0});
}

PROMISE(a_unique_key_may_have_an_end)
{
    struct world *w = *state;
    struct question q = ask_unique(STR("u"), 7, T0);
    world_admit(w, &q);
    assert_int_equal(q.answer.holder, 7);
    keep_unique(w, STR("u"), 7, T0 + 1000);
    world_reopen(w);
    q = ask_unique(STR("u"), 8, T0 + 999);
    world_admit(w, &q);
    assert_int_equal(q.answer.holder, 7);
    assert_str(q.answer.note, STR("kept"));
    q = ask_unique(STR("u"), 8, T0 + 1000);
    world_admit(w, &q);
    assert_int_equal(q.answer.holder, 8);
    world_commit(w, (struct delta){0});
    q = ask_unique(STR("u"), 9, INT64_MAX);
    world_admit(w, &q);
    assert_int_equal(q.answer.holder, 8); /* without an end */
}

/* So it knows that giving it back would give back what it had before. */
PROMISE(who_keeps_a_unique_key_is_shown_its_own_note)
{
    struct world *w = *state;
    keep_unique(w, STR("u"), 7, T0 + 1000);
    struct question q = ask_unique(STR("u"), 7, T0);
    q.claim.note = STR("new");
    world_admit(w, &q);
    assert_int_equal(q.answer.holder, 7);
    assert_str(q.answer.note, STR("kept"));
    w->store->ops->abort(w->store);
    q = ask_unique(STR("u"), 8, T0);
    world_admit(w, &q);
    assert_int_equal(q.answer.holder, 7);
}

PROMISE(a_unique_key_that_is_kept_may_be_put_to_another)
{
    struct world *w = *state;
    keep_unique(w, STR("u"), 7, T0 + 1000);
    struct question first = ask_unique(STR("u"), 8, T0);
    world_admit(w, &first);
    struct question second = ask_unique(STR("u"), 9, T0);
    world_admit(w, &second);
    assert_int_equal(first.answer.holder, 7);
    assert_int_equal(second.answer.holder, 7);
    struct claim put = {.kind = CLAIM_UNIQUE, .key = STR("u"), .holder = 9};
    world_commit(w, (struct delta){.claims = &put, .claim_count = 1});
    struct question q = ask_unique(STR("u"), 8, INT64_MAX);
    world_admit(w, &q);
    assert_int_equal(q.answer.holder, 9);
}

PROMISE(unique_keys_that_have_ended_are_swept_by_those_that_are_kept)
{
    enum { KEYS = CLAIM_SWEEP + 10 };
    struct world *w = *state;
    for (size_t i = 0; i < KEYS; i++)
        keep_unique(w, key_number(&w->arena, i), i + 1, T0 + 1 + (int64_t)i);
    struct claim put = kept_unique(STR("one more"), KEYS + 1, T0 + 100000);
    world_commit(w, (struct delta){.claims = &put, .claim_count = 1, .claims_now_ms = T0 + 10000});
    for (size_t i = 0; i < KEYS; i++) { /* asked by a clock that stands at the beginning */
        struct question q = ask_unique(key_number(&w->arena, i), 9999, T0);
        world_admit(w, &q);
        assert_int_equal(q.answer.holder, i < CLAIM_SWEEP + 2 ? 9999 : i + 1);
    }
    w->store->ops->abort(w->store);
}

PROMISE(unique_keys_that_have_ended_are_swept_by_a_commit_that_deletes_what_is_old)
{
    struct world *w = *state;
    uint64_t old = 4711;
    keep_unique(w, STR("u"), 7, T0 + 1);
    world_commit(w, (struct delta){.claims_now_ms = T0 + 10000});
    struct question there = ask_unique(STR("u"), 9, T0); /* by a clock that stands before its end */
    world_admit(w, &there);
    assert_int_equal(there.answer.holder, 7);
    w->store->ops->abort(w->store);
    world_commit(
        w, (struct delta){.forgotten = &old, .forgotten_count = 1, .claims_now_ms = T0 + 10000});
    struct question gone = ask_unique(STR("u"), 9, T0);
    world_admit(w, &gone);
    assert_int_equal(gone.answer.holder, 9);
    w->store->ops->abort(w->store);
}

/* Keys by the thousand, for holder number + 1, in one turn. */
static void take_many(struct world *w, size_t from, size_t count, int64_t now_ms)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct question *all = ARENA_ARRAY(&arena, struct question, count);
    struct question **asked = ARENA_ARRAY(&arena, struct question *, count);
    for (size_t i = 0; i < count; i++) {
        all[i] = ask_request(key_number(&arena, from + i), from + i + 1, now_ms);
        asked[i] = &all[i];
    }
    assert_int_equal(w->store->ops->admit(w->store, &w->own, asked, count, &arena, NULL), RC_OK);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(all[i].answer.holder, from + i + 1);
}

static size_t count_held(struct world *w, size_t from, size_t count, int64_t now_ms)
{
    size_t held = 0;
    for (size_t i = from; i < from + count; i++)
        held += who_has(w, key_number(&w->arena, i), UINT32_MAX, now_ms) == i + 1;
    w->store->ops->abort(w->store);
    return held;
}

/* More than a store may want to hold in memory. */
PROMISE(very_many_requests_are_each_remembered)
{
    enum { TURN = 5000, TURNS = 8, LOST = 5 };
    struct world *w = *state;
    for (size_t i = 0; i < TURNS; i++) {
        take_many(w, i * TURN, TURN, T0);
        if (i == LOST)
            w->store->ops->abort(w->store);
        else
            world_commit(w, (struct delta){0});
    }
    for (int again = 0; again < 2; again++) {
        for (size_t i = 0; i < TURNS; i++)
            assert_int_equal(count_held(w, i * TURN, TURN, T0), i == LOST ? 0 : TURN);
        world_reopen(w);
    }
}

PROMISE(requests_that_have_ended_come_again_any_number_of_times)
{
    enum { TURN = 300, DAYS = 12 };
    struct world *w = *state;
    for (size_t i = 0; i < DAYS; i++) { /* the same keys every day, and as many that are new */
        int64_t now_ms = T0 + (int64_t)i * 1000;
        take_many(w, 0, TURN, now_ms);
        take_many(w, (i + 1) * TURN, TURN, now_ms);
        world_commit(w, (struct delta){.claims_now_ms = now_ms});
        assert_int_equal(count_held(w, 0, TURN, now_ms + 999), TURN);
        assert_int_equal(count_held(w, (i + 1) * TURN, TURN, now_ms + 999), TURN);
        if (i % 3 == 0)
            world_reopen(w);
    }
}

PROMISE(what_is_known_about_an_effect_is_kept)
{
    struct world *w = *state;
    struct exec_rec exec = read_exec(w, world_submit(w, EXEC_RUNNING));
    assert_false(exec.effect_done);
    struct exec_change change = next_change(&exec, CHANGE_UPDATE, EXEC_RUNNING);
    change.exec.effect_done = true;
    world_commit(w, (struct delta){.execs = &change, .exec_count = 1});
    world_reopen(w);
    exec = read_exec(w, exec.id);
    assert_true(exec.effect_done);
    change = next_change(&exec, CHANGE_FINISH, EXEC_COMPLETED);
    world_commit(w, (struct delta){.execs = &change, .exec_count = 1});
    assert_true(read_exec(w, exec.id).effect_done);
}
