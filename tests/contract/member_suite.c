/* Several servers on one store: who is there, who owns what, and what a former owner cannot do.
 * Stores that only one server can have open have none of it, and pass over these. */
#include "world.h"

enum { LEASE_MS = 5000 };

/* A server: a handle of its own, its row, and what it believes to own. */
struct peer {
    struct store *store;
    struct member *member;
    struct node_rec me;
    struct ownership own;
    uint64_t turn;
};

static bool is_shared(const struct world *w)
{
    return w->candidate->another != NULL;
}

static struct peer peer_new(struct world *w, const char *name, const char *start)
{
    struct peer p = {.me = {.name = str_c(name),
                            .start = str_c(start),
                            .address = STR("http://127.0.0.1:1"),
                            .version = STR("1.0"),
                            .clock_ms = T0}};
    p.store = w->candidate->another(w->place);
    assert_rc(p.store->ops->member(p.store, &p.member, &w->err), RC_OK);
    return p;
}

static void peer_free(struct peer *p)
{
    p->member->ops->close(p->member);
    p->store->ops->close(p->store);
}

/* Two servers that have just joined, and nobody owns anything. */
struct pair {
    struct peer a;
    struct peer b;
};

static enum rc try_renew(struct world *w, struct peer *p, struct cluster_view *ret_view)
{
    return p->member->ops->renew(p->member, &p->me, LEASE_MS, &w->arena, ret_view, &w->err);
}

static struct cluster_view renew(struct world *w, struct peer *p)
{
    struct cluster_view view = {0};
    assert_rc(try_renew(w, p, &view), RC_OK);
    return view;
}

static uint64_t take(struct world *w, struct peer *p, uint64_t wanted)
{
    assert_rc(p->member->ops->take(p->member, &p->me, wanted, LEASE_MS, &p->own, &w->err), RC_OK);
    return ownership_set(&p->own).bits;
}

static void give_back(struct world *w, struct peer *p, uint64_t partitions)
{
    assert_rc(p->member->ops->release(p->member, partitions, &p->own, &w->err), RC_OK);
}

static struct pair pair_new(struct world *w)
{
    struct pair pair = {peer_new(w, "a", "a-1"), peer_new(w, "b", "b-1")};
    /* The world's own handle has taken all that was free, as a first server does. */
    struct member *member;
    struct node_rec world = {.name = STR("world"), .start = STR("test")};
    assert_rc(w->store->ops->member(w->store, &member, &w->err), RC_OK);
    assert_rc(member->ops->leave(member, &world, &w->err), RC_OK);
    member->ops->close(member);
    renew(w, &pair.a);
    renew(w, &pair.b);
    return pair;
}

static void pair_free(struct pair *pair)
{
    peer_free(&pair->a);
    peer_free(&pair->b);
}

static void pass(struct world *w, int64_t by_ms)
{
    w->candidate->pass(w->place, by_ms);
}

static uint64_t all_of(const struct peer *p)
{
    return partition_all(p->own.partitions).bits;
}

/* An id in one of the buckets of a partition. */
static uint64_t id_in(struct world *w, const struct peer *p, uint32_t partition)
{
    return id_next(&w->ids, T0, partition_first_bucket(p->own.partitions, partition));
}

static struct job_change job_in(struct world *w, const struct peer *p, uint32_t partition)
{
    struct job_change job = new_job(w);
    job.job.id = id_in(w, p, partition);
    return job;
}

static enum rc commit_job(struct world *w, struct peer *p, const struct job_change *job)
{
    if (p->turn < p->own.turn_floor)
        p->turn = p->own.turn_floor;
    struct delta delta = {.turn = ++p->turn, .jobs = job, .job_count = 1};
    return p->store->ops->commit(p->store, &p->own, &delta, &w->err);
}

/* ---- who is there */

static void everybody_sees_who_is_there(void **state)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    pair.b.me.draining = true;
    pair.b.me.clock_ms = T0 + 77;
    renew(w, &pair.b);
    struct cluster_view view = renew(w, &pair.a);
    assert_int_equal(view.node_count, 2);
    assert_str(view.nodes[0].name, STR("a"));
    assert_str(view.nodes[1].name, STR("b"));
    assert_str(view.nodes[1].start, STR("b-1"));
    assert_str(view.nodes[1].address, STR("http://127.0.0.1:1"));
    assert_str(view.nodes[1].version, STR("1.0"));
    assert_true(view.nodes[1].draining);
    assert_int_equal(view.nodes[1].clock_ms, T0 + 77);
    assert_true(view.nodes[1].started_ms <= view.nodes[1].seen_ms);
    assert_true(view.nodes[1].seen_ms <= view.now_ms);
    assert_true(view.partition_count > 1);
    pair_free(&pair);
}

static void a_renewal_is_seen_and_a_start_stays(void **state)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    struct node_rec before = renew(w, &pair.a).nodes[0];
    pass(w, 1000);
    struct cluster_view view = renew(w, &pair.b);
    assert_true(view.now_ms - view.nodes[0].seen_ms >= 1000);
    view = renew(w, &pair.a);
    assert_true(view.now_ms - view.nodes[0].seen_ms < 1000);
    assert_true(view.nodes[0].started_ms <= before.started_ms); /* pass may have aged it */
    pair_free(&pair);
}

static void a_name_has_one_server(void **state)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    struct peer twin = peer_new(w, "a", "a-2");
    struct cluster_view view;
    assert_rc(try_renew(w, &twin, &view), RC_CONFLICT);
    assert_int_equal(renew(w, &pair.a).node_count, 2);

    pass(w, LEASE_MS + 1000); /* the first one is silent: its name is free */
    view = renew(w, &twin);
    assert_int_equal(view.node_count, 2);
    assert_str(view.nodes[0].start, STR("a-2"));
    assert_rc(try_renew(w, &pair.a, &view), RC_DEPOSED); /* and it is told so when it is back */
    pass(w, LEASE_MS + 1000);
    assert_rc(try_renew(w, &pair.a, &view), RC_DEPOSED); /* for good */
    peer_free(&twin);
    pair_free(&pair);
}

static void who_leaves_is_gone_with_all_it_had(void **state)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    uint64_t had = take(w, &pair.a, UINT64_MAX);
    assert_int_equal(had, all_of(&pair.a));
    assert_rc(pair.a.member->ops->leave(pair.a.member, &pair.a.me, &w->err), RC_OK);
    struct cluster_view view = renew(w, &pair.b);
    assert_int_equal(view.node_count, 1);
    for (size_t i = 0; i < view.partition_count; i++) {
        assert_str(view.partitions[i].owner, STR(""));
        assert_str(view.partitions[i].former, STR("a-1"));
    }
    assert_int_equal(take(w, &pair.b, UINT64_MAX), had); /* at once, without a lease to wait for */
    pair_free(&pair);
}

static void who_is_silent_for_long_and_owns_nothing_is_forgotten(void **state)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    struct peer third = peer_new(w, "c", "c-1");
    renew(w, &third);
    take(w, &pair.a, 1);
    pass(w, 60000);
    renew(w, &pair.b);
    assert_rc(pair.b.member->ops->forget(pair.b.member, 30000, &w->err), RC_OK);
    struct cluster_view view = renew(w, &pair.b);
    assert_int_equal(view.node_count, 2); /* a owns something, b is there, c is gone */
    assert_str(view.nodes[0].name, STR("a"));
    assert_str(view.nodes[1].name, STR("b"));
    peer_free(&third);
    pair_free(&pair);
}

/* ---- who owns what */

static void a_partition_has_one_owner(void **state)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    uint64_t mine = take(w, &pair.a, 0x5);
    assert_int_equal(mine, 0x5);
    uint64_t theirs = take(w, &pair.b, UINT64_MAX);
    assert_int_equal(theirs, all_of(&pair.b) & ~mine);
    assert_int_equal(take(w, &pair.a, UINT64_MAX), mine);
    struct cluster_view view = renew(w, &pair.a);
    for (uint32_t i = 0; i < view.partition_count; i++) {
        bool is_mine = mine >> i & 1;
        assert_str(view.partitions[i].owner, is_mine ? STR("a-1") : STR("b-1"));
        assert_int_equal(view.partitions[i].epoch,
                         is_mine ? pair.a.own.epochs[i] : pair.b.own.epochs[i]);
    }
    pair_free(&pair);
}

static void whoever_renews_keeps_what_it_has(void **state)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    take(w, &pair.a, 0x3);
    for (int i = 0; i < 3; i++) {
        pass(w, LEASE_MS - 1000);
        renew(w, &pair.a);
        assert_int_equal(take(w, &pair.b, 0x3), 0);
    }
    pair_free(&pair);
}

static void who_is_silent_can_be_deprived(void **state)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    take(w, &pair.a, 0x3);
    uint64_t epoch = pair.a.own.epochs[1];
    pass(w, LEASE_MS + 1000);
    renew(w, &pair.b);
    assert_int_equal(take(w, &pair.b, 0x2), 0x2);
    assert_true(pair.b.own.epochs[1] > epoch);
    struct cluster_view view = renew(w, &pair.b);
    assert_str(view.partitions[1].owner, STR("b-1"));
    assert_str(view.partitions[1].former, STR("a-1"));
    assert_str(view.partitions[0].owner, STR("a-1")); /* nobody wanted that */
    pair_free(&pair);
}

static void what_is_given_back_is_free(void **state)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    take(w, &pair.a, 0x7);
    uint64_t epoch = pair.a.own.epochs[2];
    give_back(w, &pair.a, 0x4);
    assert_int_equal(ownership_set(&pair.a.own).bits, 0x3);
    assert_int_equal(take(w, &pair.b, 0x7), 0x4);
    assert_true(pair.b.own.epochs[2] > epoch);
    struct job_change job = job_in(w, &pair.a, 0);
    assert_rc(commit_job(w, &pair.a, &job), RC_OK); /* with what is left */
    pair_free(&pair);
}

static void giving_back_what_was_taken_changes_nothing(void **state)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    take(w, &pair.a, 0x1);
    pass(w, LEASE_MS + 1000);
    renew(w, &pair.b);
    take(w, &pair.b, 0x1);
    give_back(w, &pair.a, 0x1);
    assert_str(renew(w, &pair.b).partitions[0].owner, STR("b-1"));
    struct job_change job = job_in(w, &pair.b, 0);
    assert_rc(commit_job(w, &pair.b, &job), RC_OK);
    pair_free(&pair);
}

static void owning_takes_only_what_is_free(void **state)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    take(w, &pair.a, 0x5);
    struct store *s = pair.b.store;
    assert_rc(s->ops->own(s, pair.b.me.start, &pair.b.own, &w->err), RC_OK);
    assert_int_equal(ownership_set(&pair.b.own).bits, all_of(&pair.b) & ~UINT64_C(0x5));
    struct job_change job = job_in(w, &pair.a, 0);
    assert_rc(commit_job(w, &pair.a, &job), RC_OK);
    pair_free(&pair);
}

/* ---- a former owner */

static void a_former_owner_can_do_nothing(void **state)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    take(w, &pair.a, 0x3);
    struct job_change first = job_in(w, &pair.a, 0);
    assert_rc(commit_job(w, &pair.a, &first), RC_OK);
    pass(w, LEASE_MS + 1000);
    renew(w, &pair.b);
    take(w, &pair.b, 0x2); /* one of two is enough */

    struct store *s = pair.a.store;
    enum settled settled;
    struct job_change job = job_in(w, &pair.a, 0);
    assert_rc(s->ops->admit(s, &pair.a.own, NULL, 0, &w->arena, &w->err), RC_DEPOSED);
    assert_rc(commit_job(w, &pair.a, &job), RC_DEPOSED);
    assert_rc(s->ops->settle(s, &pair.a.own, pair.a.turn, &settled, &w->err), RC_DEPOSED);
    assert_false(job_exists(w, job.job.id));
    renew(w, &pair.a); /* being back alone helps nothing */
    assert_rc(commit_job(w, &pair.a, &job), RC_DEPOSED);
    pair.a.own.epochs[1] = 0; /* leaving it out does */
    assert_rc(commit_job(w, &pair.a, &job), RC_OK);
    pair_free(&pair);
}

static void a_turn_under_way_ends_before_its_partitions_are_taken(void **state)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    take(w, &pair.a, 0x3);
    struct store *s = pair.a.store;
    assert_rc(s->ops->admit(s, &pair.a.own, NULL, 0, &w->arena, &w->err), RC_OK);
    pass(w, LEASE_MS + 1000);
    renew(w, &pair.b);
    assert_int_equal(take(w, &pair.b, UINT64_MAX) & 0x3, 0);
    struct job_change job = job_in(w, &pair.a, 0);
    assert_rc(commit_job(w, &pair.a, &job), RC_OK);
    assert_int_equal(take(w, &pair.b, 0x3) & 0x3, 0x3);
    job = job_in(w, &pair.a, 0);
    assert_rc(commit_job(w, &pair.a, &job), RC_DEPOSED);
    pair_free(&pair);
}

static void an_aborted_turn_holds_nobody_up(void **state)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    take(w, &pair.a, 0x3);
    struct store *s = pair.a.store;
    assert_rc(s->ops->admit(s, &pair.a.own, NULL, 0, &w->arena, &w->err), RC_OK);
    s->ops->abort(s);
    pass(w, LEASE_MS + 1000);
    renew(w, &pair.b);
    assert_int_equal(take(w, &pair.b, 0x3), 0x3);
    pair_free(&pair);
}

/* ---- what a successor is told */

static void a_successor_learns_ids_and_turns(void **state)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    take(w, &pair.a, 0x1);
    take(w, &pair.b, 0x2);
    struct job_change job = job_in(w, &pair.a, 0);
    for (int i = 0; i < 3; i++) {
        job = job_in(w, &pair.a, 0);
        assert_rc(commit_job(w, &pair.a, &job), RC_OK);
    }
    struct job_change other = job_in(w, &pair.b, 1);
    assert_rc(commit_job(w, &pair.b, &other), RC_OK);
    give_back(w, &pair.a, 0x1);
    take(w, &pair.b, 0x1);
    assert_true(pair.b.own.id_floor >= job.job.id);
    assert_true(pair.b.own.turn_floor >= pair.a.turn);

    struct peer third = peer_new(w, "c", "c-1");
    renew(w, &third);
    give_back(w, &pair.b, 0x2);
    take(w, &third, 0x2);
    assert_true(third.own.id_floor >= other.job.id);
    peer_free(&third);
    pair_free(&pair);
}

static void a_commit_is_settled_under_what_its_server_has(void **state)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    take(w, &pair.a, 0x3);
    take(w, &pair.b, 0xc);
    struct job_change job = job_in(w, &pair.b, 2);
    for (int i = 0; i < 5; i++) { /* its turns are not those of the other */
        job = job_in(w, &pair.b, 2);
        assert_rc(commit_job(w, &pair.b, &job), RC_OK);
    }
    struct store *s = pair.a.store;
    enum settled settled;
    job = job_in(w, &pair.a, 1);
    assert_rc(commit_job(w, &pair.a, &job), RC_OK);
    assert_rc(s->ops->settle(s, &pair.a.own, pair.a.turn, &settled, &w->err), RC_OK);
    assert_int_equal(settled, SETTLED_KEPT);
    assert_rc(s->ops->settle(s, &pair.a.own, pair.a.turn + 1, &settled, &w->err), RC_OK);
    assert_int_equal(settled, SETTLED_LOST);
    pair_free(&pair);
}

/* ---- what is asked is asked of what is owned */

static struct exec_change exec_in(struct world *w, const struct peer *p,
                                  const struct job_change *job, uint32_t partition,
                                  enum exec_state state)
{
    struct exec_change exec = new_exec(w, job, state);
    exec.exec.id = id_in(w, p, partition);
    return exec;
}

/* A job with an execution in a partition; returns the execution's id. */
static uint64_t submit_in(struct world *w, struct peer *p, uint32_t partition,
                          enum exec_state state)
{
    struct job_change job = job_in(w, p, partition);
    struct exec_change exec = exec_in(w, p, &job, partition, state);
    if (p->turn < p->own.turn_floor)
        p->turn = p->own.turn_floor;
    struct delta delta = {
        .turn = ++p->turn, .jobs = &job, .job_count = 1, .execs = &exec, .exec_count = 1};
    assert_rc(p->store->ops->commit(p->store, &p->own, &delta, &w->err), RC_OK);
    return exec.exec.id;
}

struct loaded {
    uint64_t jobs[8];
    size_t job_count;
    uint64_t execs[8];
    size_t exec_count;
    size_t queue_count;
    size_t team_count;
};

static enum rc on_job(void *arg, const struct job_rec *job, struct err *err)
{
    struct loaded *loaded = arg;
    (void)err;
    assert_true(loaded->job_count < COUNT_OF(loaded->jobs));
    loaded->jobs[loaded->job_count++] = job->id;
    return RC_OK;
}

static enum rc on_exec(void *arg, const struct exec_rec *exec, struct err *err)
{
    struct loaded *loaded = arg;
    (void)err;
    assert_true(loaded->exec_count < COUNT_OF(loaded->execs));
    loaded->execs[loaded->exec_count++] = exec->id;
    return RC_OK;
}

static enum rc on_queue(void *arg, const struct queue_rec *queue, struct err *err)
{
    struct loaded *loaded = arg;
    (void)err;
    assert_str(queue->name, STR("mail"));
    loaded->queue_count++;
    return RC_OK;
}

static enum rc on_team(void *arg, const struct team_rec *team, struct err *err)
{
    struct loaded *loaded = arg;
    (void)err;
    assert_str(team->name, STR("data"));
    loaded->team_count++;
    return RC_OK;
}

static struct loaded load(struct world *w, struct peer *p)
{
    struct loaded loaded = {0};
    struct load_sink sink = {.job = on_job, .exec = on_exec, .arg = &loaded};
    assert_rc(p->store->ops->load(p->store, &p->own, T0 + 1000, &sink, &w->err), RC_OK);
    return loaded;
}

static void a_server_loads_what_it_owns(void **state)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    take(w, &pair.a, 0x5);
    take(w, &pair.b, 0x2);
    uint64_t first = submit_in(w, &pair.a, 0, EXEC_QUEUED);
    uint64_t second = submit_in(w, &pair.b, 1, EXEC_QUEUED);
    uint64_t third = submit_in(w, &pair.a, 2, EXEC_SCHEDULED);
    struct loaded loaded = load(w, &pair.a);
    assert_int_equal(loaded.job_count, 2);
    assert_int_equal(loaded.exec_count, 2);
    assert_int_equal(loaded.execs[0], first);
    assert_int_equal(loaded.execs[1], third);
    loaded = load(w, &pair.b);
    assert_int_equal(loaded.exec_count, 1);
    assert_int_equal(loaded.execs[0], second);
    give_back(w, &pair.b, 0x2);
    take(w, &pair.a, 0x2);
    assert_int_equal(load(w, &pair.a).exec_count, 3);
    pair_free(&pair);
}

static void admit(struct world *w, struct peer *p, struct question *q)
{
    assert_rc(p->store->ops->admit(p->store, &p->own, &q, 1, &w->arena, &w->err), RC_OK);
    p->store->ops->abort(p->store);
}

static void what_is_due_or_old_is_asked_of_what_is_owned(void **state)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    take(w, &pair.a, 0x1);
    take(w, &pair.b, 0x2);
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

static void dead_letters_are_asked_of_what_is_owned(void **state)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    take(w, &pair.a, 0x1);
    take(w, &pair.b, 0x2);
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

static void a_key_has_one_holder_in_the_whole_store(void **state)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    take(w, &pair.a, 0x1);
    take(w, &pair.b, 0x2);
    struct job_change job = job_in(w, &pair.a, 0);
    assert_int_equal(claim(w, &pair.a, STR("nightly"), job.job.id), job.job.id);
    assert_rc(commit_job(w, &pair.a, &job), RC_OK);
    uint64_t other = id_in(w, &pair.b, 1);
    assert_int_equal(claim(w, &pair.b, STR("nightly"), other), job.job.id);
    pair.b.store->ops->abort(pair.b.store);
    pair_free(&pair);
}

static void a_turn_that_ends_without_a_commit_gives_its_keys_back(void **state)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    take(w, &pair.a, 0x1);
    take(w, &pair.b, 0x2);
    struct job_change job = job_in(w, &pair.a, 0);
    claim(w, &pair.a, STR("nightly"), job.job.id);
    pair.a.store->ops->abort(pair.a.store);
    uint64_t other = id_in(w, &pair.b, 1);
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

static void a_changed_setting_is_seen_by_everybody(void **state)
{
    struct world *w = *state;
    if (!is_shared(w))
        return;
    struct pair pair = pair_new(w);
    take(w, &pair.a, 0x1);
    take(w, &pair.b, 0x2);
    uint64_t before = renew(w, &pair.b).settings_version;
    submit_in(w, &pair.a, 0, EXEC_QUEUED);
    assert_int_equal(renew(w, &pair.b).settings_version, before); /* that is none */
    change_settings(w, &pair.a);
    uint64_t after = renew(w, &pair.b).settings_version;
    assert_true(after > before);
    struct loaded loaded = {0};
    struct load_sink sink = {.queue = on_queue, .team = on_team, .arg = &loaded};
    assert_rc(pair.b.store->ops->settings(pair.b.store, &sink, &w->err), RC_OK);
    assert_int_equal(loaded.queue_count, 1);
    assert_int_equal(loaded.team_count, 1);
    struct key_rec key = {.id = id_in(w, &pair.a, 0), .created_ms = T0};
    assert_rc(pair.a.store->ops->key_put(pair.a.store, &key, &w->err), RC_OK);
    assert_true(renew(w, &pair.b).settings_version > after);
    pair_free(&pair);
}

static const struct CMUnitTest tests[] = {
    PROMISE(everybody_sees_who_is_there),
    PROMISE(a_renewal_is_seen_and_a_start_stays),
    PROMISE(a_name_has_one_server),
    PROMISE(who_leaves_is_gone_with_all_it_had),
    PROMISE(who_is_silent_for_long_and_owns_nothing_is_forgotten),
    PROMISE(a_partition_has_one_owner),
    PROMISE(whoever_renews_keeps_what_it_has),
    PROMISE(who_is_silent_can_be_deprived),
    PROMISE(what_is_given_back_is_free),
    PROMISE(giving_back_what_was_taken_changes_nothing),
    PROMISE(owning_takes_only_what_is_free),
    PROMISE(a_former_owner_can_do_nothing),
    PROMISE(a_turn_under_way_ends_before_its_partitions_are_taken),
    PROMISE(an_aborted_turn_holds_nobody_up),
    PROMISE(a_successor_learns_ids_and_turns),
    PROMISE(a_commit_is_settled_under_what_its_server_has),
    PROMISE(a_server_loads_what_it_owns),
    PROMISE(what_is_due_or_old_is_asked_of_what_is_owned),
    PROMISE(dead_letters_are_asked_of_what_is_owned),
    PROMISE(a_key_has_one_holder_in_the_whole_store),
    PROMISE(a_turn_that_ends_without_a_commit_gives_its_keys_back),
    PROMISE(a_changed_setting_is_seen_by_everybody),
};

const struct suite member_suite = {tests, COUNT_OF(tests)};
