/* Thousands of random turns, each decided, undone, decided again and committed (`world_turn`), by
 * workers that lose replies, repeat themselves, forget and lie.
 *
 * The seed is the first argument or BELFRY_SEED, else 1; BELFRY_TURNS says how many turns. */
#include "engine/test/fake.h"

#include "base/test/test.h"
#include "engine/test/jobs.h"

enum { FAKES = 6, REMEMBERED = 64, DEPENDS_MAX = 3 };

static struct rng seed;
static uint64_t turn_count = 4000;

struct chaos {
    struct world w;
    struct rng rng;
    struct fake fakes[FAKES]; /* id 0: not hired */
    struct asked *polls[FAKES];
    /* Some of the ids and leases that were seen, to come back to. */
    uint64_t jobs[REMEMBERED];
    uint64_t execs[REMEMBERED];
    struct poll_lease leases[REMEMBERED];
    size_t accepted;
    size_t edited;
};

static size_t below(struct chaos *c, size_t count)
{
    return (size_t)rng_below(&c->rng, count);
}

static bool chance(struct chaos *c, unsigned percent)
{
    return below(c, 100) < percent;
}

/* ---- jobs */

static struct wish random_wish(struct chaos *c)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    static const char *const queues[] = {"default", "mail", "slow", "odd", "one", "two"};
    static const char *const handlers[] = {"x", "y", "z"};
    static const char *const breakers[] = {"smtp", "imap", "handler:x", "none"};
    static const int64_t delays_ms[] = {1, 1000, 10000, 20000, 20000, 60000, 200000};
    struct wish wish = {
        .queue = queues[below(c, chance(c, 90) ? 3 : COUNT_OF(queues))],
        .priority = (int32_t)below(c, 4) * 250,
        .retries = (uint32_t)below(c, 4),
        .policy = (enum retry_policy)below(c, 4),
        .retry_ms = chance(c, 50) ? 1000 : 40000,
        .spec_bytes = chance(c, 10) ? 5000 : 0,
    };
    if (chance(c, 20)) {
        wish.sla.max_ms = 1000 + (int64_t)below(c, 60000);
        wish.sla.expected_ms = chance(c, 50) ? 0 : 1 + (int64_t)below(c, 1000);
        wish.sla.policy = (enum sla_policy)below(c, SLA_POLICIES);
    }
    if (chance(c, 25)) {
        wish.key = names[below(c, 2)];
        wish.limit = 1 + (uint32_t)below(c, 3);
    }
    if (chance(c, 30))
        wish.team = names[below(c, 2)];
    if (chance(c, 15)) {
        wish.rate = names[below(c, COUNT_OF(names))];
        wish.starts = chance(c, 30) ? 10000 : 1 + (uint32_t)below(c, 4);
        wish.per_ms = chance(c, 50) ? 1000 : 20000;
    }
    if (chance(c, 15)) {
        wish.expires_in_ms = chance(c, 50) ? 2000 : 30000;
        wish.start_within_ms = chance(c, 50) ? 1000 : 0;
    }
    if (chance(c, 20))
        wish.name = names[below(c, COUNT_OF(names))];
    if (chance(c, 40))
        wish.handler = handlers[below(c, COUNT_OF(handlers))];
    if (chance(c, 40))
        wish.breaker = breakers[below(c, COUNT_OF(breakers))];
    if (chance(c, 4)) {
        wish.every_ms = chance(c, 50) ? 1000 : 20000;
        wish.overlap = (enum overlap)below(c, 4);
        wish.misfire = (struct misfire){(enum misfire_policy)below(c, 3), 60000, 5};
    } else if (chance(c, 40)) {
        wish.when = chance(c, 50) ? WHEN_DELAY : WHEN_AT;
        wish.when_ms = delays_ms[below(c, COUNT_OF(delays_ms))];
        if (wish.when == WHEN_AT)
            wish.when_ms += c->w.now_ms / 1000 * 1000 - 5000;
    }
    return wish;
}

/* On jobs that exist, have ended or never were, on this batch's, and sometimes on itself. */
static void random_dependencies(struct chaos *c, struct wish *wish, struct dependency_wish *after,
                                size_t batch_count)
{
    wish->after = after;
    wish->after_count = 1 + below(c, DEPENDS_MAX);
    for (size_t i = 0; i < wish->after_count; i++) {
        after[i] = (struct dependency_wish){
            .type = (enum dependency_type)(1 + below(c, 3)),
            .job_id = chance(c, 60) ? c->jobs[below(c, REMEMBERED)] : 0,
            .number = below(c, batch_count),
            .name = str_c(chance(c, 20) ? "a" : NULL),
        };
    }
}

static void random_submit(struct chaos *c)
{
    struct wish wishes[5];
    struct dependency_wish after[COUNT_OF(wishes)][DEPENDS_MAX];
    size_t count = 1 + below(c, COUNT_OF(wishes));
    for (size_t i = 0; i < count; i++)
        wishes[i] = random_wish(c);
    for (size_t i = 0; i < count; i++) {
        if (chance(c, 30))
            random_dependencies(c, &wishes[i], after[i], count);
    }
    ask_submit_all(&c->w, wishes, count);
}

static void random_extension(struct chaos *c)
{
    struct asked *asked = ask_about(&c->w, CMD_EXTEND_SLA, c->jobs[below(c, REMEMBERED)]);
    asked->cmd.target.by_ms = 1 + (int64_t)below(c, 20000);
    asked->cmd.target.reason = STR("slow");
    asked->cmd.target.approver = STR("ada");
}

static void random_target(struct chaos *c)
{
    switch (below(c, 9)) {
    case 8: random_extension(c); break;
    case 2: ask_about(&c->w, CMD_PAUSE_JOB, c->jobs[below(c, REMEMBERED)]); break;
    case 3:
    case 4: ask_about(&c->w, CMD_RESUME_JOB, c->jobs[below(c, REMEMBERED)]); break;
    case 5: ask_about(&c->w, CMD_TRIGGER_JOB, c->jobs[below(c, REMEMBERED)]); break;
    case 0: ask_about(&c->w, CMD_CANCEL_JOB, c->jobs[below(c, REMEMBERED)]); break;
    case 1: ask_about(&c->w, CMD_CANCEL_EXEC, c->execs[below(c, REMEMBERED)]); break;
    default: ask_about(&c->w, CMD_RETRY_EXEC, c->execs[below(c, REMEMBERED)]); break;
    }
}

/* Mostly made from the newest version, and mostly of the same kind as it is. */
static void random_edit(struct chaos *c)
{
    uint64_t id = c->jobs[below(c, REMEMBERED)];
    const struct job_rec *rec = map_get(&c->w.table.jobs, id);
    struct wish wish = random_wish(c);
    struct rules rules;
    if (rec != NULL && chance(c, 90)) {
        assert_int_equal(read_rules(NULL, rec, &c->w.table.arena, &rules, NULL), RC_OK);
        if (rules.schedule == NULL)
            wish.every_ms = 0;
        else if (wish.every_ms == 0)
            wish.every_ms = chance(c, 50) ? 1000 : 30000;
        if (wish.misfire.limit == 0)
            wish.misfire = misfire_default;
        if (rules.schedule != NULL && chance(c, 30))
            wish.stagger_ms = 5000;
    }
    uint32_t version = rec == NULL ? 1 : rec->version;
    ask_edit_to(&c->w, id, chance(c, 95) ? version : version + 1, chance(c, 50), wish);
    if (chance(c, 30)) /* and again, in the same turn */
        ask_edit_to(&c->w, id, version + 1, chance(c, 50), wish);
}

static void random_explain(struct chaos *c)
{
    if (chance(c, 50))
        ask_about(&c->w, CMD_EXPLAIN_JOB, c->jobs[below(c, REMEMBERED)]);
    else
        ask_about(&c->w, CMD_EXPLAIN_EXEC, c->execs[below(c, REMEMBERED)]);
}

static void random_queue(struct chaos *c)
{
    static const char *const queues[] = {"default", "mail", "slow"};
    struct asked *asked = ask(&c->w, chance(c, 10) ? CMD_QUEUES : CMD_QUEUE);
    if (asked->cmd.kind == CMD_QUEUES)
        return;
    asked->cmd.queue = (struct queue_wish){
        .name = str_c(queues[below(c, COUNT_OF(queues))]),
        .run = chance(c, 20)   ? QUEUE_PAUSE
               : chance(c, 70) ? QUEUE_RESUME
                               : QUEUE_LEAVE,
        .set_concurrency = chance(c, 30),
        .concurrency = (uint32_t)below(c, 4),
    };
}

static void random_team(struct chaos *c)
{
    static const char *const teams[] = {"a", "b", "nobody"};
    struct asked *asked = ask(&c->w, chance(c, 10) ? CMD_TEAMS : CMD_TEAM);
    if (asked->cmd.kind == CMD_TEAMS)
        return;
    asked->cmd.team = (struct team_wish){
        .name = str_c(teams[below(c, COUNT_OF(teams))]),
        .set_concurrency = chance(c, 70),
        .concurrency = (uint32_t)below(c, 4),
    };
}

/* ---- workers */

static void random_register(struct chaos *c)
{
    static const struct skills skills[] = {
        {.slots = 4},
        {.slots = 4, .queues = "default,mail"},
        {.slots = 2, .handlers = "x,y", .no_commands = true},
        {.slots = 3, .queues = "slow,odd", .handlers = "z"},
    };
    ask_register(&c->w, &skills[below(c, COUNT_OF(skills))]);
}

static void random_results(struct chaos *c, struct fake *f, struct asked *poll)
{
    static const enum outcome outcomes[] = {
        OUTCOME_SUCCEEDED, OUTCOME_SUCCEEDED, OUTCOME_SUCCEEDED, OUTCOME_FAILED,
        OUTCOME_PERMANENT, OUTCOME_TIMEOUT,   OUTCOME_STOPPED,   OUTCOME_RETURNED,
    };
    size_t count = below(c, 4);
    for (size_t i = 0; i < count; i++) {
        struct poll_lease lease = c->leases[below(c, REMEMBERED)]; /* perhaps another's, or old */
        if (f->held_count > 0 && chance(c, 80)) {
            struct poll_held held = f->held[below(c, f->held_count)];
            lease.exec_id = held.exec_id;
            lease.token = held.token;
        }
        fake_drop(f, lease.exec_id);
        add_result(poll, &lease, outcomes[below(c, COUNT_OF(outcomes))]);
    }
}

static void random_poll(struct chaos *c)
{
    size_t i = below(c, FAKES);
    struct fake *f = &c->fakes[i];
    if (f->id == 0)
        return;
    if (chance(c, 3))
        f->held_count = 0; /* all its processes died */
    if (chance(c, 5) && f->seq > 0)
        f->seq--; /* says its last poll again */
    if (chance(c, 2) && f->seq > 1)
        f->seq -= 2; /* a poll from long ago */
    if (chance(c, 5))
        f->held[f->held_count++] = (struct poll_held){c->execs[below(c, REMEMBERED)], 1};
    struct asked *poll = ask_poll(&c->w, f, (uint32_t)below(c, 4));
    poll->cmd.poll.wait_ms = chance(c, 10) ? 0 : chance(c, 20) ? 700 : HOUR_MS;
    if (chance(c, 60))
        random_results(c, f, poll);
    c->polls[i] = poll;
}

static void random_about_worker(struct chaos *c)
{
    const struct fake *f = &c->fakes[below(c, FAKES)];
    struct asked *asked = ask_about(&c->w, chance(c, 80) ? CMD_HANGUP : CMD_DRAIN, f->id);
    if (asked->cmd.kind == CMD_HANGUP)
        asked->cmd.target.seq = f->seq;
}

static void random_cordon(struct chaos *c)
{
    static const enum command_kind kinds[] = {CMD_CORDON, CMD_UNCORDON, CMD_UNCORDON, CMD_WORKER};
    struct asked *asked =
        ask_about(&c->w, kinds[below(c, COUNT_OF(kinds))], c->fakes[below(c, FAKES)].id);
    asked->cmd.target.reason = chance(c, 50) ? STR("new disk") : STR("");
}

static void random_command(struct chaos *c)
{
    size_t kind = below(c, 118);
    if (kind < 25)
        random_submit(c);
    else if (kind < 75)
        random_poll(c);
    else if (kind < 87)
        random_target(c);
    else if (kind < 91)
        random_register(c);
    else if (kind < 95)
        random_about_worker(c);
    else if (kind < 98)
        random_queue(c);
    else if (kind < 100)
        ask(&c->w, chance(c, 50) ? CMD_STATS : CMD_WORKERS);
    else if (kind < 103)
        random_team(c);
    else if (kind < 106)
        random_explain(c);
    else if (kind < 114)
        random_edit(c);
    else
        random_cordon(c);
}

/* ---- what came of it */

static void look_at_poll(struct chaos *c, struct asked *asked)
{
    const struct poll_reply *reply = &asked->cmd.reply.poll;
    const struct poll *poll = &asked->cmd.poll;
    assert_true(reply->lease_count <= poll->free);
    assert_int_equal(reply->verdict_count, asked->cmd.reply.rc == RC_OK ? poll->result_count : 0);
    for (size_t i = 0; i < reply->lease_count; i++)
        c->leases[below(c, REMEMBERED)] = reply->leases[i];
    for (size_t i = 0; i < reply->verdict_count; i++) {
        const struct poll_verdict *verdict = &reply->verdicts[i];
        c->accepted += verdict->accepted;
        if (verdict->accepted && poll->results[i].outcome == OUTCOME_SUCCEEDED) {
            enum exec_state state = state_of(&c->w, verdict->exec_id);
            assert_true(state == EXEC_COMPLETED || state == EXEC_CANCELLED);
        }
    }
    for (size_t i = 0; i < FAKES; i++) {
        if (c->fakes[i].id != poll->worker_id)
            continue;
        if (asked->cmd.reply.rc == RC_NOT_FOUND)
            c->fakes[i] = (struct fake){0};
        else if (chance(c, 90)) /* or the reply is lost */
            fake_take(&c->fakes[i], asked);
    }
}

static void look_at(struct chaos *c, struct asked *asked)
{
    const struct command *cmd = &asked->cmd;
    if (cmd->kind == CMD_POLL) {
        look_at_poll(c, asked);
    } else if (cmd->kind == CMD_REGISTER) {
        c->fakes[below(c, FAKES)] = (struct fake){.id = cmd->reply.worker_id};
    } else if (cmd->kind == CMD_EDIT_JOB) {
        c->edited += cmd->reply.rc == RC_OK;
    } else if (cmd->kind == CMD_RETRY_EXEC && cmd->reply.rc == RC_OK) {
        c->execs[below(c, REMEMBERED)] = cmd->reply.exec_id;
    }
    for (size_t i = 0; cmd->kind == CMD_SUBMIT && i < cmd->submit.count; i++) {
        if (cmd->submit.items[i].rc != RC_OK)
            continue;
        c->jobs[below(c, REMEMBERED)] = cmd->submit.items[i].job_id;
        c->execs[below(c, REMEMBERED)] = cmd->submit.items[i].exec_id;
    }
}

/* Everything but polls is answered by its own turn, and nothing twice. */
static void look_at_answers(struct chaos *c)
{
    LIST_EACH(&c->w.asked, node)
    {
        struct asked *asked = CONTAINER_OF(node, struct asked, node);
        if (asked->answers == 0) {
            assert_int_equal(asked->cmd.kind, CMD_POLL);
            continue;
        }
        look_at(c, asked);
        asked_free(asked);
    }
}

/* Jobs with a schedule, and what waits for one that is paused, would fill the world for good. */
static void make_room(struct chaos *c)
{
    const struct map *execs = &c->w.engine->execs;
    size_t at = execs->cap > 0 ? below(c, execs->cap) : 0;
    if (execs->len > 60 && execs->slots[at].value != NULL)
        ask_about(&c->w, CMD_CANCEL_JOB, ((const struct exec *)execs->slots[at].value)->job->id);
}

static void random_turn(struct chaos *c)
{
    size_t count = below(c, 12);
    make_room(c);
    for (size_t i = 0; i < count; i++)
        random_command(c);
    if (chance(c, 30))
        c->w.now_ms += (int64_t)below(c, chance(c, 1) ? 2 * HOUR_MS : chance(c, 10) ? 30000 : 2000);
    else if (chance(c, 20))
        c->w.now_ms += world_wait_ms(&c->w);
    if (chance(c, 2))
        world_set_clock(&c->w, (int64_t)below(c, 6 * HOUR_MS) - 3 * HOUR_MS);
    world_turn(&c->w);
    look_at_answers(c);
}

static struct engine_options narrow_options(void)
{
    struct engine_options options = engine_defaults;
    options.horizon_ms = 30000;
    options.near_ms = 2000;
    options.waiting_max = 12;
    options.forget_ms = 60000;
    options.live_max = 80;
    options.lanes_max = 12;
    options.due_max = 5;
    options.load_max = 3;
    return options;
}

TEST(a_turn_that_is_undone_leaves_no_trace_and_is_decided_the_same_again)
{
    struct engine_options options = narrow_options();
    struct chaos *c = MEM_NEW(struct chaos);
    c->rng = seed;
    world_init(&c->w, &options);
    for (uint64_t i = 0; i < turn_count; i++) {
        c->w.relaxed = i % 64 != 0;
        random_turn(c);
        if (chance(c, 1) && chance(c, 20)) {
            world_restart(&c->w);
            look_at_answers(c);
        }
    }
    print_message("%zu jobs, %zu executions ended, %zu results accepted, %" PRIu64
                  " turns kept, %zu dependencies, %zu edits\n",
                  c->w.table.jobs.len, c->w.table.history.len, c->accepted, c->w.table.turn,
                  c->w.table.depends.len, c->edited);
    assert_true(c->w.table.history.len > turn_count / 10);
    assert_true(c->w.table.depends.len > turn_count / 10);
    assert_true(c->edited > turn_count / 20);
    world_free(&c->w);
    free(c);
}

static int begin(void **state)
{
    (void)state;
    const char *turns = getenv("BELFRY_TURNS");
    seed = test_rng();
    if (turns != NULL)
        assert_true(str_to_u64(str_c(turns), &turn_count));
    return 0;
}

TEST_GROUP(begin, NULL)
