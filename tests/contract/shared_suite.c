/* A store that several servers share: what is asked of it is asked of what is owned, and some of it
 * belongs to everybody. Stores that only one server can have open pass over these. */
#include "loaded.h"
#include "peers.h"

/* ---- what is asked is asked of what is owned */

static struct exec_change exec_in(struct world *w, const struct peer *p,
                                  const struct job_change *job, uint32_t partition,
                                  enum exec_state state)
{
    struct exec_change exec = new_exec(w, job, state);
    exec.exec.id = peer_id_in(w, p, partition);
    return exec;
}

/* A job with an execution in a partition; returns the execution's id. */
static uint64_t submit_in(struct world *w, struct peer *p, uint32_t partition,
                          enum exec_state state)
{
    struct job_change job = peer_job_in(w, p, partition);
    struct exec_change exec = exec_in(w, p, &job, partition, state);
    if (p->turn < p->own.turn_floor)
        p->turn = p->own.turn_floor;
    struct delta delta = {
        .turn = ++p->turn, .jobs = &job, .job_count = 1, .execs = &exec, .exec_count = 1};
    assert_rc(p->store->ops->commit(p->store, &p->own, &delta, &w->err), RC_OK);
    return exec.exec.id;
}

static void load_of(struct world *w, struct peer *p, struct loaded *l)
{
    struct load_sink sink = loaded_sink(l);
    assert_rc(p->store->ops->load(p->store, &p->own, T0 + 1000, &sink, &w->err), RC_OK);
}

PROMISE(a_server_loads_what_it_owns)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    peer_take(w, &pair.a, 0x5);
    peer_take(w, &pair.b, 0x2);
    uint64_t first = submit_in(w, &pair.a, 0, EXEC_QUEUED);
    uint64_t second = submit_in(w, &pair.b, 1, EXEC_QUEUED);
    uint64_t third = submit_in(w, &pair.a, 2, EXEC_SCHEDULED);
    CLEANUP(loaded_free) struct loaded of_a = {0};
    load_of(w, &pair.a, &of_a);
    assert_int_equal(of_a.jobs.len, 2);
    assert_int_equal(of_a.execs.len, 2);
    assert_non_null(loaded_exec(&of_a, first));
    assert_non_null(loaded_exec(&of_a, third));
    CLEANUP(loaded_free) struct loaded of_b = {0};
    load_of(w, &pair.b, &of_b);
    assert_int_equal(of_b.execs.len, 1);
    assert_non_null(loaded_exec(&of_b, second));
    peer_give_back(w, &pair.b, 0x2);
    peer_take(w, &pair.a, 0x2);
    CLEANUP(loaded_free) struct loaded of_both = {0};
    load_of(w, &pair.a, &of_both);
    assert_int_equal(of_both.execs.len, 3);
    pair_free(&pair);
}

static void admit(struct world *w, struct peer *p, struct question *q)
{
    assert_rc(p->store->ops->admit(p->store, &p->own, &q, 1, &w->arena, &w->err), RC_OK);
    p->store->ops->abort(p->store);
}

PROMISE(what_is_due_or_old_is_asked_of_what_is_owned)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    peer_take(w, &pair.a, 0x1);
    peer_take(w, &pair.b, 0x2);
    uint64_t due[] = {submit_in(w, &pair.a, 0, EXEC_SCHEDULED),
                      submit_in(w, &pair.b, 1, EXEC_SCHEDULED)};
    uint64_t old[] = {submit_in(w, &pair.a, 0, EXEC_COMPLETED),
                      submit_in(w, &pair.b, 1, EXEC_COMPLETED)};
    struct peer *peers[] = {&pair.a, &pair.b};
    for (size_t i = 0; i < 2; i++) {
        struct question q = {.kind = ASK_DUE, .until_ms = T0 + 1000, .limit = 10};
        admit(w, peers[i], &q);
        assert_int_equal(q.answer.live_count, 1);
        assert_int_equal(q.answer.live[0].id, due[i]);
        q = (struct question){.kind = ASK_OLD, .until_ms = T0 + 1000, .limit = 10};
        admit(w, peers[i], &q);
        assert_int_equal(q.answer.old_count, 1);
        assert_int_equal(q.answer.old[0].id, old[i]);
    }
    pair_free(&pair);
}

static struct letter_rec letter_of(struct world *w, uint64_t exec_id)
{
    struct exec_rec exec = read_exec(w, exec_id);
    return (struct letter_rec){.place = {.died_ms = T0, .exec_id = exec_id},
                               .job_id = exec.job_id,
                               .state = EXEC_FAILED,
                               .queue = STR("default"),
                               .class = FAILURE_NETWORK};
}

PROMISE(dead_letters_are_asked_of_what_is_owned)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    peer_take(w, &pair.a, 0x1);
    peer_take(w, &pair.b, 0x2);
    struct peer *peers[] = {&pair.a, &pair.b};
    uint64_t ids[] = {submit_in(w, &pair.a, 0, EXEC_FAILED), submit_in(w, &pair.b, 1, EXEC_FAILED)};
    for (size_t i = 0; i < 2; i++) {
        struct letter_rec letter = letter_of(w, ids[i]);
        struct delta delta = {.turn = ++peers[i]->turn, .letters = &letter, .letter_count = 1};
        assert_rc(peers[i]->store->ops->commit(peers[i]->store, &peers[i]->own, &delta, &w->err),
                  RC_OK);
    }
    for (size_t i = 0; i < 2; i++) {
        struct question q = {.kind = ASK_LETTERS, .until_ms = T0 + 1000, .limit = 10};
        admit(w, peers[i], &q);
        assert_int_equal(q.answer.letter_count, 1);
        assert_int_equal(q.answer.letters[0].place.exec_id, ids[i]);
        assert_false(q.answer.more);
    }
    pair_free(&pair);
}

/* ---- what belongs to everybody */

static uint64_t claim(struct world *w, struct peer *p, struct str key, uint64_t holder)
{
    struct question q = {.kind = ASK_CLAIM,
                         .claim = {.kind = CLAIM_NAME, .key = key, .holder = holder}};
    struct question *asked = &q;
    assert_rc(p->store->ops->admit(p->store, &p->own, &asked, 1, &w->arena, &w->err), RC_OK);
    return q.answer.holder;
}

PROMISE(a_key_has_one_holder_in_the_whole_store)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    peer_take(w, &pair.a, 0x1);
    peer_take(w, &pair.b, 0x2);
    struct job_change job = peer_job_in(w, &pair.a, 0);
    assert_int_equal(claim(w, &pair.a, STR("nightly"), job.job.id), job.job.id);
    assert_rc(peer_commit_job(w, &pair.a, &job), RC_OK);
    uint64_t other = peer_id_in(w, &pair.b, 1);
    assert_int_equal(claim(w, &pair.b, STR("nightly"), other), job.job.id);
    pair.b.store->ops->abort(pair.b.store);
    pair_free(&pair);
}

static struct question ask_kept(uint64_t holder, int64_t now_ms)
{
    return (struct question){.kind = ASK_CLAIM,
                             .claim = {.kind = CLAIM_UNIQUE, .key = STR("u"), .holder = holder},
                             .now_ms = now_ms};
}

/* One that finds it kept may give it to another, so no second server may do that, too, nor take it
 * because it has ended by its own clock. */
PROMISE(one_server_at_a_time_decides_about_a_key_that_is_kept)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    peer_take(w, &pair.a, 0x1);
    peer_take(w, &pair.b, 0x2);
    struct claim put = {.kind = CLAIM_UNIQUE,
                        .key = STR("u"),
                        .holder = 7,
                        .until_ms = T0 + 1000,
                        .note = STR("n")};
    struct delta delta = {.turn = ++pair.a.turn, .claims = &put, .claim_count = 1};
    assert_rc(pair.a.store->ops->commit(pair.a.store, &pair.a.own, &delta, &w->err), RC_OK);
    struct question q = ask_kept(8, T0);
    struct question *asked = &q;
    assert_rc(pair.a.store->ops->admit(pair.a.store, &pair.a.own, &asked, 1, &w->arena, &w->err),
              RC_OK);
    assert_int_equal(q.answer.holder, 7);
    struct question late = ask_kept(9, T0 + 1000);
    asked = &late;
    enum rc there =
        pair.b.store->ops->admit(pair.b.store, &pair.b.own, &asked, 1, &w->arena, &w->err);
    put = (struct claim){.kind = CLAIM_UNIQUE, .key = STR("u"), .holder = 8};
    delta = (struct delta){.turn = ++pair.a.turn, .claims = &put, .claim_count = 1};
    enum rc here = pair.a.store->ops->commit(pair.a.store, &pair.a.own, &delta, &w->err);
    assert_true(there == RC_BUSY || (there == RC_OK && late.answer.holder == 9));
    assert_true(there == RC_OK || here == RC_OK || here == RC_BUSY);
    assert_false(there == RC_OK &&
                 here == RC_OK); /* a database ends the turn that idles, at last */
    pair.b.store->ops->abort(pair.b.store);
    pair.a.store->ops->abort(pair.a.store);
    late = ask_kept(9, T0);
    admit(w, &pair.b, &late);
    assert_int_equal(late.answer.holder, here == RC_OK ? 8 : 7);
    pair_free(&pair);
}

PROMISE(a_turn_that_ends_without_a_commit_gives_its_keys_back)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    peer_take(w, &pair.a, 0x1);
    peer_take(w, &pair.b, 0x2);
    struct job_change job = peer_job_in(w, &pair.a, 0);
    claim(w, &pair.a, STR("nightly"), job.job.id);
    pair.a.store->ops->abort(pair.a.store);
    uint64_t other = peer_id_in(w, &pair.b, 1);
    assert_int_equal(claim(w, &pair.b, STR("nightly"), other), other);
    pair.b.store->ops->abort(pair.b.store);
    pair_free(&pair);
}

static void change_settings(struct world *w, struct peer *p)
{
    struct queue_rec queue = {.name = STR("mail"), .paused = true, .changed_ms = T0};
    struct team_rec team = {.name = STR("data"), .concurrency = 3, .changed_ms = T0};
    struct delta delta = {
        .turn = ++p->turn, .queues = &queue, .queue_count = 1, .teams = &team, .team_count = 1};
    assert_rc(p->store->ops->commit(p->store, &p->own, &delta, &w->err), RC_OK);
}

static void silence(struct world *w, struct peer *p)
{
    struct silence_change change = {
        .silence = {.id = peer_id_in(w, p, 0), .key = STR("slow:*"), .until_ms = T0 + 1000}};
    struct delta delta = {.turn = ++p->turn, .silences = &change, .silence_count = 1};
    assert_rc(p->store->ops->commit(p->store, &p->own, &delta, &w->err), RC_OK);
}

static void count_in(struct world *w, struct peer *p, uint32_t partition, int64_t by)
{
    const struct counter counter = {COUNTER_EXECS, STR("mail"), EXEC_QUEUED, by, partition};
    struct delta delta = {.turn = ++p->turn, .counters = &counter, .counter_count = 1};
    assert_rc(p->store->ops->commit(p->store, &p->own, &delta, &w->err), RC_OK);
}

static void forget_mail(struct world *w, struct peer *p)
{
    const struct queue_gone gone = {STR("mail"), false, true};
    struct delta delta = {.turn = ++p->turn, .queues_gone = &gone, .queue_gone_count = 1};
    assert_rc(p->store->ops->commit(p->store, &p->own, &delta, &w->err), RC_OK);
}

/* 0: there is none. */
static int64_t queued_in(struct world *w, struct peer *p, struct str queue)
{
    CLEANUP(loaded_free) struct loaded l = {0};
    int64_t sum = 0;
    load_of(w, p, &l);
    for (size_t i = 0; i < l.counters.len; i++)
        sum += str_eq(l.counters.items[i].queue, queue) ? l.counters.items[i].value : 0;
    return sum;
}

PROMISE(numbers_go_with_the_partition_of_what_is_counted)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    peer_take(w, &pair.a, 0x5);
    peer_take(w, &pair.b, 0x2);
    count_in(w, &pair.a, 0, 3);
    count_in(w, &pair.a, 2, 4);
    count_in(w, &pair.b, 1, 5);
    assert_int_equal(queued_in(w, &pair.a, STR("mail")), 7);
    assert_int_equal(queued_in(w, &pair.b, STR("mail")), 5);
    peer_give_back(w, &pair.a, 0x4);
    peer_take(w, &pair.b, 0x4);
    assert_int_equal(queued_in(w, &pair.a, STR("mail")), 3);
    assert_int_equal(queued_in(w, &pair.b, STR("mail")), 9);
    count_in(w, &pair.b, 2, -4); /* what leaves is subtracted where it was added */
    forget_mail(w, &pair.a);
    assert_int_equal(queued_in(w, &pair.a, STR("mail")), 0);
    assert_int_equal(queued_in(w, &pair.a, STR("")), 3);
    assert_int_equal(queued_in(w, &pair.b, STR("mail")), 5);
    assert_int_equal(queued_in(w, &pair.b, STR("")), 0);
    pair_free(&pair);
}

PROMISE(a_changed_setting_is_seen_by_everybody)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    peer_take(w, &pair.a, 0x1);
    peer_take(w, &pair.b, 0x2);
    uint64_t before = peer_renew(w, &pair.b).settings_version;
    submit_in(w, &pair.a, 0, EXEC_QUEUED);
    assert_int_equal(peer_renew(w, &pair.b).settings_version, before); /* that is none */
    change_settings(w, &pair.a);
    uint64_t after = peer_renew(w, &pair.b).settings_version;
    assert_true(after > before);
    CLEANUP(loaded_free) struct loaded loaded = {0};
    struct load_sink sink = loaded_sink(&loaded);
    assert_rc(pair.b.store->ops->settings(pair.b.store, &sink, &w->err), RC_OK);
    assert_int_equal(loaded.queues.len, 1);
    assert_str(loaded.queues.items[0].name, STR("mail"));
    assert_int_equal(loaded.teams.len, 1);
    assert_str(loaded.teams.items[0].name, STR("data"));
    silence(w, &pair.a);
    assert_true(peer_renew(w, &pair.b).settings_version > after);
    assert_rc(pair.b.store->ops->settings(pair.b.store, &sink, &w->err), RC_OK);
    assert_int_equal(loaded.silences.len, 1);
    assert_str(loaded.silences.items[0].key, STR("slow:*"));
    after = peer_renew(w, &pair.b).settings_version;
    struct key_rec key = {.id = peer_id_in(w, &pair.a, 0), .created_ms = T0};
    assert_rc(pair.a.store->ops->key_put(pair.a.store, &key, &w->err), RC_OK);
    assert_true(peer_renew(w, &pair.b).settings_version > after);
    pair_free(&pair);
}
