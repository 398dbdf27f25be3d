/* Turns over a store that makes trouble on purpose. */
#include "base/log.h"

#include "base/mem.h"
#include "base/test/test.h"
#include "server/turn/turn.h"
#include "wire/spec/spec_json.h"

#include <assert.h>
#include <stdlib.h>

/* ---- a store that does as it is told: the memory store behind a gate */

struct gate {
    struct store store;
    struct store *inner;
    enum rc commit_rc; /* what commit says instead of doing it */
    size_t commits_ok; /* after so many more */
    size_t commits;
    struct str hated;   /* a job with this payload is a contradiction, … */
    uint64_t hated_job; /* … and so is any change of an execution of this one */
    struct str garbled; /* what fetch gives in place of the payload */
    size_t mail_read;   /* by what was kept */
    size_t rejected;
    enum rc fetch_rc;
    bool refuses_all;
    bool refuses_old; /* to delete what is too old */
};

static struct gate *gate_of(struct store *store)
{
    return (struct gate *)(void *)store;
}

static enum rc gate_own(struct store *s, struct str node, struct ownership *owned, struct err *err)
{
    return gate_of(s)->inner->ops->own(gate_of(s)->inner, node, owned, err);
}

static enum rc gate_admit(struct store *s, const struct ownership *own,
                          struct question *const *questions, size_t count, struct arena *arena,
                          struct err *err)
{
    struct store *inner = gate_of(s)->inner;
    return inner->ops->admit(inner, own, questions, count, arena, err);
}

static enum rc gate_fetch(struct store *s, uint64_t job_id, uint64_t exec_id, struct arena *arena,
                          struct str *ret_spec, struct str *ret_payload, struct err *err)
{
    struct gate *g = gate_of(s);
    if (g->fetch_rc != RC_OK)
        return err_set(err, g->fetch_rc, "told to fail");
    TRY(g->inner->ops->fetch(g->inner, job_id, exec_id, arena, ret_spec, ret_payload, err));
    if (g->garbled.len > 0)
        *ret_payload = g->garbled;
    return RC_OK;
}

static enum rc gate_commit(struct store *s, const struct ownership *own, const struct delta *delta,
                           struct err *err)
{
    struct gate *g = gate_of(s);
    g->commits++;
    if (g->refuses_all) {
        g->inner->ops->abort(g->inner);
        return err_set(err, RC_CONFLICT, "told to refuse everything");
    }
    if (g->refuses_old && delta->forgotten_count > 0) {
        g->inner->ops->abort(g->inner);
        return err_set(err, RC_CONFLICT, "a row that nobody can delete");
    }
    for (size_t i = 0; g->hated.len > 0 && i < delta->job_count; i++) {
        if (str_eq(delta->jobs[i].job.payload, g->hated)) {
            g->inner->ops->abort(g->inner);
            return err_set(err, RC_CONFLICT, "a job that nobody can keep");
        }
    }
    for (size_t i = 0; g->hated_job != 0 && i < delta->exec_count; i++) {
        if (delta->execs[i].exec.job_id == g->hated_job) {
            g->inner->ops->abort(g->inner);
            return err_set(err, RC_CONFLICT, "an execution that nobody can keep");
        }
    }
    if (g->commit_rc != RC_OK && g->commits_ok == 0) {
        g->inner->ops->abort(g->inner);
        return err_set(err, g->commit_rc, "told to fail");
    }
    g->commits_ok -= g->commit_rc != RC_OK;
    g->mail_read += delta->mail_read_count;
    g->rejected += delta->rejected_count;
    return g->inner->ops->commit(g->inner, own, delta, err);
}

static enum rc gate_settle(struct store *s, const struct ownership *own, uint64_t turn,
                           enum settled *ret_settled, struct err *err)
{
    struct gate *g = gate_of(s);
    if (g->refuses_all)
        return err_set(err, RC_CONFLICT, "told to refuse everything");
    return g->inner->ops->settle(g->inner, own, turn, ret_settled, err);
}

static void gate_abort(struct store *s)
{
    gate_of(s)->inner->ops->abort(gate_of(s)->inner);
}

static enum rc gate_load(struct store *s, const struct ownership *own, int64_t until_ms,
                         const struct load_sink *sink, struct err *err)
{
    return gate_of(s)->inner->ops->load(gate_of(s)->inner, own, until_ms, sink, err);
}

static const struct store_ops gate_ops = {
    .own = gate_own,
    .admit = gate_admit,
    .fetch = gate_fetch,
    .commit = gate_commit,
    .abort = gate_abort,
    .settle = gate_settle,
    .load = gate_load,
};

/* ---- a server in a nutshell */

struct world {
    struct gate gate;
    struct turn turn;
    struct arena arena;
    struct moment now;
    struct turn_news news;
    struct err err;
    uint64_t worker_id;
    uint64_t seq;
};

static int set_up(void **state)
{
    struct world *w = MEM_NEW(struct world);
    w->gate = (struct gate){.store.ops = &gate_ops, .inner = store_mem_open()};
    w->now = (struct moment){.wall_ms = 1763200000000, .boot_ms = 5000};
    assert_int_equal(
        turn_open(&w->turn, &w->gate.store, STR("test"), &engine_defaults, w->now, &w->err), RC_OK);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    turn_close(&w->turn);
    w->gate.inner->ops->close(w->gate.inner);
    arena_free(&w->arena);
    free(w);
    return 0;
}

static struct command *command(struct world *w, enum command_kind kind)
{
    struct command *cmd = ARENA_NEW(&w->arena, struct command);
    cmd->kind = kind;
    cmd->arena = &w->arena;
    cmd->actor = STR("key:admin");
    return cmd;
}

static struct command *submit(struct world *w, struct str payload)
{
    struct command *cmd = command(w, CMD_SUBMIT);
    struct submission *item = ARENA_NEW(&w->arena, struct submission);
    struct spec spec;
    assert_int_equal(spec_read(STR("{\"command\":[\"true\"]}"), &w->arena, &spec, &w->err), RC_OK);
    *item = (struct submission){
        .spec = spec_text(&spec, &w->arena), .payload = payload, .rules = spec_rules(&spec)};
    cmd->submit.items = item;
    cmd->submit.count = 1;
    return cmd;
}

static enum rc run(struct world *w, struct command **commands, size_t count)
{
    w->now.wall_ms += 10;
    w->now.boot_ms += 10;
    return turn_run(&w->turn, commands, count, w->now, &w->news, &w->err);
}

static void run_ok(struct world *w, struct command **commands, size_t count)
{
    enum rc rc = run(w, commands, count);
    if (rc != RC_OK)
        print_error("%s\n", w->err.text);
    assert_int_equal(rc, RC_OK);
}

static bool is_done(const struct world *w, const struct command *cmd)
{
    LIST_EACH(&w->news.done, node)
    {
        if (node == &cmd->node)
            return true;
    }
    return false;
}

static bool exists(struct world *w, const struct command *cmd)
{
    struct reader *reader;
    struct job_rec job;
    struct store *inner = w->gate.inner;
    assert_int_equal(inner->ops->reader(inner, &reader, NULL), RC_OK);
    enum rc rc = reader->ops->job(reader, cmd->submit.items[0].job_id, &w->arena, &job, NULL);
    reader->ops->close(reader);
    return rc == RC_OK;
}

static void hire(struct world *w)
{
    struct command *cmd = command(w, CMD_REGISTER);
    cmd->hello = (struct hello){.name = STR("n"), .runs_commands = true, .slots = 50};
    run_ok(w, &cmd, 1);
    w->worker_id = cmd->reply.worker_id;
}

static struct command *poll(struct world *w, uint32_t free, const struct poll_lease *held,
                            size_t count)
{
    struct command *cmd = command(w, CMD_POLL);
    struct poll_held *names = ARENA_ARRAY(&w->arena, struct poll_held, count + 1);
    for (size_t i = 0; i < count; i++)
        names[i] = (struct poll_held){held[i].exec_id, held[i].token};
    cmd->poll = (struct poll){.worker_id = w->worker_id,
                              .seq = ++w->seq,
                              .free = free,
                              .held = names,
                              .held_count = count};
    return cmd;
}

/* ---- contradictions */

TEST(only_the_command_that_cannot_be_kept_is_refused, set_up, tear_down)
{
    struct world *w = *state;
    struct command *all[37];
    w->gate.hated = STR("13");
    for (size_t i = 0; i < COUNT_OF(all); i++)
        all[i] = submit(w, i == 13 || i == 30 ? STR("13") : STR("1"));
    run_ok(w, all, COUNT_OF(all));
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        bool bad = i == 13 || i == 30;
        assert_true(is_done(w, all[i]));
        assert_int_equal(all[i]->reply.rc, bad ? RC_CONFLICT : RC_OK);
        assert_int_equal(exists(w, all[i]), !bad);
    }
    assert_string_equal(all[13]->reply.err.text, "a job that nobody can keep");
    assert_int_equal(w->news.event_count, COUNT_OF(all) - 2); /* nothing is told twice */
    assert_true(w->news.committed);
    assert_true(w->gate.commits < 40);
    run_ok(w, NULL, 0); /* and the server goes on */
}

/* It comes due, and cannot be kept: the others that are due with it are, and the server goes on. */
TEST(a_timer_that_cannot_be_kept_is_left_alone, set_up, tear_down)
{
    struct world *w = *state;
    struct command *all[37];
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        all[i] = submit(w, STR("1"));
        all[i]->submit.items[0].when = WHEN_DELAY;
        all[i]->submit.items[0].when_ms = 1000;
    }
    run_ok(w, all, COUNT_OF(all));
    hire(w);
    w->gate.hated_job = all[20]->submit.items[0].job_id;
    w->gate.commits = 0;
    w->now.wall_ms += 1000;
    w->now.boot_ms += 1000;
    run_ok(w, NULL, 0);
    assert_true(w->gate.commits < 40);
    run_ok(w, NULL, 0);
    assert_int_equal(w->turn.quarantined, 1);
    struct command *take = poll(w, 50, NULL, 0);
    run_ok(w, &take, 1);
    assert_int_equal(take->reply.poll.lease_count, COUNT_OF(all) - 1);
    /* Whoever loads it next meets it again, and lives. */
    turn_close(&w->turn);
    assert_int_equal(
        turn_open(&w->turn, &w->gate.store, STR("heir"), &engine_defaults, w->now, &w->err), RC_OK);
    run_ok(w, NULL, 0);
    run_ok(w, NULL, 0);
    assert_int_equal(w->turn.quarantined, 1);
}

/* Retention is not worth a server, nor what comes due beside it. */
TEST(what_cannot_be_deleted_is_nobodys_fault, set_up, tear_down)
{
    struct world *w = *state;
    struct command *old = submit(w, STR("1"));
    struct command *all[5];
    run_ok(w, &old, 1);
    struct command *cancel = command(w, CMD_CANCEL_JOB);
    cancel->target.id = old->submit.items[0].job_id;
    run_ok(w, &cancel, 1);
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        all[i] = submit(w, STR("1"));
        all[i]->submit.items[0].when = WHEN_DELAY;
        all[i]->submit.items[0].when_ms = engine_defaults.history_keep_ms + 1000;
    }
    run_ok(w, all, COUNT_OF(all));
    w->now.wall_ms += engine_defaults.history_keep_ms + 2000;
    w->now.boot_ms += engine_defaults.history_keep_ms + 2000;
    w->gate.refuses_old = true;
    for (size_t i = 0; i < 5; i++)
        run_ok(w, NULL, 0);
    assert_int_equal(w->turn.quarantined, 0);
    assert_true(exists(w, old));
    hire(w);
    struct command *take = poll(w, 50, NULL, 0);
    run_ok(w, &take, 1);
    assert_int_equal(take->reply.poll.lease_count, COUNT_OF(all));
    w->gate.refuses_old = false;
    w->now.wall_ms += 3600000;
    w->now.boot_ms += 3600000;
    run_ok(w, NULL, 0);
    run_ok(w, NULL, 0);
    assert_false(exists(w, old));
}

/* Then it is not their fault: neither is a timer left alone, nor a worker told that its results are
 * no good. */
TEST(a_store_that_refuses_everything_blames_nobody, set_up, tear_down)
{
    struct world *w = *state;
    struct command *all[5];
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        all[i] = submit(w, STR("1"));
        all[i]->submit.items[0].when = WHEN_DELAY;
        all[i]->submit.items[0].when_ms = 1000;
    }
    run_ok(w, all, COUNT_OF(all));
    hire(w);
    w->now.wall_ms += 1000;
    w->now.boot_ms += 1000;
    w->gate.refuses_all = true;
    struct command *take = poll(w, 50, NULL, 0);
    assert_int_equal(run(w, &take, 1), RC_IO);
    assert_int_equal(w->turn.quarantined, 0);
    w->gate.refuses_all = false;
    run_ok(w, &take, 1);
    assert_int_equal(take->reply.poll.lease_count, COUNT_OF(all));
}

/* Mail is read where there are several servers; this one meets no other. */
static enum rc gate_member(struct store *s, struct member **ret_member, struct err *err)
{
    (void)s;
    *ret_member = NULL;
    return err_set(err, RC_UNSUPPORTED, "told to fail");
}

static void put_mail(struct world *w, size_t count)
{
    struct inbox_rec mail[4] = {0};
    struct store *inner = w->gate.inner;
    struct delta delta = {.turn = 1000, .mail = mail, .mail_count = count};
    for (size_t i = 0; i < count; i++)
        mail[i] = (struct inbox_rec){.kind = INBOX_UNWAIT, .sent_ms = 1, .about = 1, .from = 2};
    assert_int_equal(inner->ops->commit(inner, &w->turn.owned, &delta, &w->err), RC_OK);
}

/* The mail that the same turn reads is not to blame, and is acted upon as any other. */
TEST(mail_is_not_rejected_for_a_timer_that_cannot_be_kept, set_up, tear_down)
{
    struct world *w = *state;
    struct store_ops ops = gate_ops;
    struct command *job = submit(w, STR("1"));
    ops.member = gate_member;
    w->gate.store.ops = &ops;
    turn_close(&w->turn);
    assert_int_equal(
        turn_open(&w->turn, &w->gate.store, STR("test"), &engine_defaults, w->now, &w->err), RC_OK);
    job->submit.items[0].when = WHEN_DELAY;
    job->submit.items[0].when_ms = 1000;
    run_ok(w, &job, 1);
    w->gate.hated_job = job->submit.items[0].job_id;
    put_mail(w, 4);
    w->now.wall_ms += 60000;
    w->now.boot_ms += 60000;
    for (int i = 0; i < 5; i++) {
        run_ok(w, NULL, 0);
        w->now.boot_ms += 10000;
    }
    assert_int_equal(w->turn.quarantined, 1);
    assert_int_equal(w->gate.mail_read, 4);
    assert_int_equal(w->gate.rejected, 0);
    w->gate.store.ops = &gate_ops;
}

TEST(trouble_on_the_way_is_told_to_the_rest, set_up, tear_down)
{
    struct world *w = *state;
    struct command *all[] = {submit(w, STR("1")), submit(w, STR("2")), submit(w, STR("13")),
                             submit(w, STR("4"))};
    w->gate.hated = STR("13");
    w->gate.commit_rc = RC_FULL;
    w->gate.commits_ok = 1; /* the first half fits on the disk */
    run_ok(w, all, COUNT_OF(all));
    assert_int_equal(all[0]->reply.rc, RC_OK);
    assert_int_equal(all[1]->reply.rc, RC_OK);
    assert_int_equal(all[2]->reply.rc, RC_CONFLICT);
    assert_int_equal(all[3]->reply.rc, RC_FULL);
    assert_true(exists(w, all[1]));
    assert_false(exists(w, all[3]));
    assert_true(is_done(w, all[3]));
    w->gate.commit_rc = RC_OK;
    run_ok(w, &all[3], 1);
    assert_true(exists(w, all[3]));
}

TEST(a_deposed_server_runs_no_turn_after_the_one_it_divided, set_up, tear_down)
{
    struct world *w = *state;
    struct command *all[] = {submit(w, STR("1")), submit(w, STR("13")), submit(w, STR("3"))};
    w->gate.hated = STR("13");
    w->gate.commit_rc = RC_DEPOSED;
    w->gate.commits_ok = 1;
    run_ok(w, all, COUNT_OF(all));
    assert_int_equal(all[0]->reply.rc, RC_OK);
    assert_int_equal(all[2]->reply.rc, RC_BUSY);
    w->gate.commit_rc = RC_OK;
    assert_int_equal(run(w, NULL, 0), RC_DEPOSED);
}

/* Ends an execution behind the engine's back, as a restored backup would. */
static void finish_behind_its_back(struct world *w, const struct command *cmd)
{
    struct store *inner = w->gate.inner;
    struct exec_change change = {
        .kind = CHANGE_FINISH,
        .exec = {.id = cmd->submit.items[0].exec_id,
                 .job_id = cmd->submit.items[0].job_id,
                 .state = EXEC_CANCELLED},
    };
    struct delta delta = {.turn = 1000, .execs = &change, .exec_count = 1};
    assert_int_equal(inner->ops->commit(inner, &w->turn.owned, &delta, &w->err), RC_OK);
}

TEST(an_execution_that_the_store_does_not_know_is_left_alone, set_up, tear_down)
{
    struct world *w = *state;
    struct command *jobs[] = {submit(w, STR("1")), submit(w, STR("2"))};
    hire(w);
    run_ok(w, jobs, 2);
    finish_behind_its_back(w, jobs[0]);
    struct command *all[] = {submit(w, STR("3")), poll(w, 5, NULL, 0)};
    run_ok(w, all, 2); /* the poll would be given both */
    assert_int_equal(w->turn.quarantined, 1);
    assert_int_equal(all[0]->reply.rc, RC_OK);
    assert_int_equal(all[1]->reply.rc, RC_OK);
    assert_int_equal(all[1]->reply.poll.lease_count, 2);
    assert_int_equal(all[1]->reply.poll.leases[0].exec_id, jobs[1]->submit.items[0].exec_id);
}

TEST(a_timer_that_meets_a_contradiction_blames_nobody, set_up, tear_down)
{
    struct world *w = *state;
    struct command *job = submit(w, STR("1"));
    hire(w);
    run_ok(w, &job, 1);
    struct command *first = poll(w, 1, NULL, 0);
    run_ok(w, &first, 1);
    assert_int_equal(first->reply.poll.lease_count, 1);
    finish_behind_its_back(w, job);
    for (int i = 0; i < 2; i++) {
        w->now.boot_ms += 8000;
        run_ok(w, NULL, 0); /* the server is awake … */
    }
    w->now.boot_ms += 8000; /* … when the lease has ended */
    struct command *other = submit(w, STR("2"));
    run_ok(w, &other, 1);
    assert_int_equal(other->reply.rc, RC_OK);
    assert_int_equal(w->turn.quarantined, 1);
}

/* ---- definitions */

static struct str large(struct world *w)
{
    char *text = arena_bytes(&w->arena, 9000);
    for (size_t i = 0; i < 9000; i++)
        text[i] = i == 0 || i == 8999 ? '"' : 'x';
    return str_of(text, 9000);
}

static void lease_large(struct world *w, size_t expected)
{
    struct command *job = submit(w, large(w));
    hire(w);
    run_ok(w, &job, 1);
    struct command *first = poll(w, 2, NULL, 0);
    run_ok(w, &first, 1);
    assert_int_equal(first->reply.poll.lease_count, expected);
}

TEST(a_definition_that_cannot_be_read_is_not_offered_again, set_up, tear_down)
{
    struct world *w = *state;
    w->gate.fetch_rc = RC_CORRUPT;
    lease_large(w, 0);
    assert_int_equal(w->turn.quarantined, 1);
    w->gate.fetch_rc = RC_OK;
    for (int i = 0; i < 3; i++) {
        struct command *again = poll(w, 2, NULL, 0);
        run_ok(w, &again, 1);
        assert_int_equal(again->reply.poll.lease_count, 0);
    }
    assert_int_equal(w->turn.quarantined, 1);
}

TEST(a_definition_that_no_worker_could_parse_is_not_sent, set_up, tear_down)
{
    struct world *w = *state;
    w->gate.garbled = STR("{\"n\":");
    lease_large(w, 0);
    assert_int_equal(w->turn.quarantined, 1);
}

TEST(a_disk_that_fails_once_costs_nothing_but_time, set_up, tear_down)
{
    struct world *w = *state;
    w->gate.fetch_rc = RC_IO;
    lease_large(w, 0);
    assert_int_equal(w->turn.quarantined, 0);
    w->gate.fetch_rc = RC_OK;
    struct command *again = poll(w, 2, NULL, 0);
    run_ok(w, &again, 1);
    assert_int_equal(again->reply.poll.lease_count, 1);
}

/* ---- without a store */

TEST(a_store_in_trouble_does_not_end_a_healthy_run, set_up, tear_down)
{
    struct world *w = *state;
    struct command *job = submit(w, STR("1"));
    hire(w);
    run_ok(w, &job, 1);
    struct command *first = poll(w, 1, NULL, 0);
    run_ok(w, &first, 1);
    struct poll_lease lease = first->reply.poll.leases[0];
    w->gate.commit_rc = RC_FULL;
    for (int i = 0; i < 10; i++) {
        struct command *all[] = {poll(w, 0, &lease, 1), submit(w, STR("2"))};
        w->now.boot_ms += 15000;
        assert_int_equal(run(w, all, 2), RC_FULL);
        turn_run_outage(&w->turn, all, 1, w->now, &w->news);
        assert_true(is_done(w, all[0]));
        assert_int_equal(all[0]->reply.rc, RC_OK);
        assert_int_equal(all[0]->reply.poll.stop_count, 0);
        assert_false(w->news.committed);
    }
    w->gate.commit_rc = RC_OK;
    struct command *last = poll(w, 0, &lease, 1);
    run_ok(w, &last, 1);
    assert_int_equal(last->reply.poll.stop_count, 0);
}

static int begin(void **state)
{
    (void)state;
    log_set_level(LOG_ERROR);
    return 0;
}

TEST_GROUP(begin, NULL)
