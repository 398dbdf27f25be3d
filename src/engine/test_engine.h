/* test_engine.h - drives an engine by hand, for its tests.
 *
 * A `struct world` is an engine, the time, a table in the place of a store, and the commands of
 * the turn that is being put together. `world_turn` decides them twice: the first decision is
 * undone, which must leave no trace, and the second must come to the same delta as the first, ids
 * apart. Then it commits, keeps the delta in the table, and compares the table with what the engine
 * holds. So every test of every behaviour is also one of undo. */
#pragma once
#include "base/mem.h"
#include "engine/test_check.h"

#define MINUTE_MS INT64_C(60000)
#define HOUR_MS INT64_C(3600000)

/* A command and what became of it. */
struct asked {
    struct command cmd;
    struct arena arena;
    unsigned answers; /* how often it came back: 0 while it is parked, then 1 for ever */
    struct list_node node;
};

struct world {
    struct engine *engine;
    struct engine_options options;
    struct table table;
    struct partition_set owned; /* all there is, unless the test is about one of several servers */
    int64_t now_ms;             /* wall clock */
    int64_t booted_ms; /* wall clock: when the boot clock began; moves when the clock is set */
    struct list asked; /* all that were not forgotten */
    struct command *commands[4096];
    size_t command_count;
    struct arena arena; /* of the turn */
    /* What the last turn came to. Texts of jobs that ended in it are gone. */
    struct delta delta;
    const struct event *events;
    size_t event_count;
    bool relaxed; /* leaves out the checks that look at everything */
};

/* ---- specs: the rules as text, "queue|handler|priority|retries|policy|delay|
 * concurrency key|limit|rate key|limit|per|every|cron|overlap|misfire policy|grace|limit|stagger|
 * timeout|retry_on|team|start_within|expires_in|sla expected|max|policy|unique key|until start|
 * on conflict|calendars|…" */

static inline int64_t cut_number(struct str *rest)
{
    int64_t value = -1;
    assert_true(str_to_i64(str_cut(rest, '|'), &value));
    return value;
}

/* NULL when there is none; cron goes by UTC. */
static inline const struct schedule *test_schedule(struct arena *arena, int64_t every_ms,
                                                   struct str text)
{
    struct schedule *schedule = ARENA_NEW(arena, struct schedule);
    struct cron cron;
    struct str zone;
    struct err err;
    if (every_ms > 0) {
        *schedule = schedule_every(0, every_ms);
        return schedule;
    }
    if (text.len == 0)
        return NULL;
    assert_int_equal(cron_parse(text, &(struct cron_options){0}, &cron, &zone, &err), RC_OK);
    *schedule = schedule_cron(0, &cron, &(struct cron_clock){.zone = zone_utc()});
    return schedule;
}

/* "name,name=hold" */
static inline const struct calendar_wish *test_calendars(struct arena *arena, struct str text,
                                                         size_t *ret_count)
{
    VEC(struct calendar_wish) wishes = {0};
    while (text.len > 0) {
        struct str one = str_cut(&text, ',');
        struct calendar_wish *wish = VEC_PUSH(arena, &wishes);
        wish->name = str_cut(&one, '=');
        wish->has_policy = one.len > 0;
        assert_true(one.len == 0 || calendar_policy_parse(one, &wish->policy));
    }
    *ret_count = wishes.len;
    return wishes.items;
}

/* A document is a policy and spans of seconds since 1970: "hold 100-200 300-400". */
static inline enum rc read_calendar(void *arg, const struct calendar_rec *rec, struct arena *arena,
                                    struct almanac *ret_almanac, struct err *err)
{
    (void)arg;
    struct calendar_draft draft = {.arena = arena};
    struct str rest = rec->document;
    *ret_almanac = (struct almanac){0};
    if (!calendar_policy_parse(str_cut(&rest, ' '), &ret_almanac->policy))
        return err_set(err, RC_INVALID, "a damaged calendar");
    while (rest.len > 0) {
        struct str span = str_cut(&rest, ' ');
        int64_t begin_s = -1;
        int64_t end_s = -1;
        assert_true(str_to_i64(str_cut(&span, '-'), &begin_s) && str_to_i64(span, &end_s));
        TRY(calendar_add_moments(&draft, (struct calendar_span){begin_s, end_s}, err));
    }
    ret_almanac->entry_count = (uint32_t)draft.entry_count;
    ret_almanac->calendar = calendar_make(&draft);
    return RC_OK;
}

static inline enum rc read_rules(void *arg, const struct job_rec *job, struct arena *arena,
                                 struct rules *ret_rules, struct err *err)
{
    (void)arg;
    struct str rest = job->spec;
    if (str_eq(rest, STR("damaged")))
        return err_set(err, RC_CORRUPT, "a damaged spec");
    *ret_rules = (struct rules){.queue = str_cut(&rest, '|'), .handler = str_cut(&rest, '|')};
    ret_rules->priority = (int32_t)cut_number(&rest);
    ret_rules->retry = (struct retry){
        .max_retries = (uint32_t)cut_number(&rest),
        .policy = (enum retry_policy)cut_number(&rest),
        .delay_ms = cut_number(&rest),
        .max_delay_ms = HOUR_MS,
    };
    ret_rules->concurrency.key = str_cut(&rest, '|');
    ret_rules->concurrency.limit = (uint32_t)cut_number(&rest);
    ret_rules->rate.key = str_cut(&rest, '|');
    ret_rules->rate.limit = (uint32_t)cut_number(&rest);
    ret_rules->rate.per_ms = cut_number(&rest);
    int64_t every_ms = cut_number(&rest);
    struct str cron = str_cut(&rest, '|');
    ret_rules->overlap = (enum overlap)cut_number(&rest);
    ret_rules->misfire.policy = (enum misfire_policy)cut_number(&rest);
    ret_rules->misfire.grace_ms = cut_number(&rest);
    ret_rules->misfire.limit = (uint32_t)cut_number(&rest);
    ret_rules->stagger_ms = cut_number(&rest);
    ret_rules->timeout_ms = cut_number(&rest);
    ret_rules->retry.retry_on = (uint32_t)cut_number(&rest);
    ret_rules->team = str_cut(&rest, '|');
    ret_rules->start_within_ms = cut_number(&rest);
    ret_rules->expires_in_ms = cut_number(&rest);
    ret_rules->sla.expected_ms = cut_number(&rest);
    ret_rules->sla.max_ms = cut_number(&rest);
    ret_rules->sla.policy = (enum sla_policy)cut_number(&rest);
    ret_rules->unique.key = str_cut(&rest, '|');
    ret_rules->unique.until_start = cut_number(&rest) != 0;
    ret_rules->unique.on_conflict = (enum on_conflict)cut_number(&rest);
    ret_rules->schedule = test_schedule(arena, every_ms, cron);
    ret_rules->calendars = test_calendars(arena, str_cut(&rest, '|'), &ret_rules->calendar_count);
    return RC_OK;
}

/* ---- the world */

static inline struct moment world_now(const struct world *w)
{
    return (struct moment){.wall_ms = w->now_ms, .boot_ms = w->now_ms - w->booted_ms};
}

static inline int64_t world_wait_ms(const struct world *w)
{
    return engine_wait_ms(w->engine, world_now(w));
}

/* Somebody sets the wall clock forward, or back. */
static inline void world_set_clock(struct world *w, int64_t by_ms)
{
    w->now_ms += by_ms;
    w->booted_ms += by_ms;
}

static inline void world_init_part(struct world *w, const struct engine_options *options,
                                   struct partition_set owned)
{
    memset(w, 0, sizeof *w);
    w->options = *options;
    w->owned = w->table.owned = owned;
    w->options.read_rules = read_rules;
    w->options.read_calendar = read_calendar;
    w->now_ms = INT64_C(1800000000000);
    w->booted_ms = w->now_ms - MINUTE_MS;
    w->engine = engine_new(&w->options);
    engine_load_begin(w->engine, world_now(w), owned, 0, 0);
    list_init(&w->asked);
}

static inline void world_init(struct world *w, const struct engine_options *options)
{
    world_init_part(w, options, partition_all(1));
}

/* The cleanup of a test's world. */
static inline void world_free(struct world *w)
{
    LIST_EACH(&w->asked, node)
    {
        struct asked *asked = CONTAINER_OF(node, struct asked, node);
        arena_free(&asked->arena);
        free(asked);
    }
    engine_free(w->engine);
    table_free(&w->table);
    arena_free(&w->arena);
}

#define WORLD_WITH(name, options)                                                                  \
    CLEANUP(world_free) struct world name;                                                         \
    world_init(&name, &(options))
#define WORLD(name) WORLD_WITH(name, engine_defaults)

static inline void asked_free(struct asked *asked)
{
    assert_int_equal(asked->answers, 1);
    list_remove(&asked->node);
    arena_free(&asked->arena);
    free(asked);
}

static inline struct asked *ask(struct world *w, enum command_kind kind)
{
    struct asked *asked = MEM_NEW(struct asked);
    asked->cmd.kind = kind;
    asked->cmd.arena = &asked->arena;
    asked->cmd.actor = STR("key:admin");
    list_push_back(&w->asked, &asked->node);
    assert_true(w->command_count < COUNT_OF(w->commands));
    w->commands[w->command_count++] = &asked->cmd;
    return asked;
}

static inline void world_check(struct world *w)
{
    check_places(w->engine);
    check_lanes(w->engine);
    check_tracks(w->engine);
    check_permits(w->engine);
    check_nobody_waits_in_vain(w->engine);
    check_same(w->engine, &w->table);
    check_names(&w->table);
    check_uniques(w->engine, &w->table);
    check_edges(w->engine, &w->table);
    check_homes(w->engine, &w->table);
    if (w->relaxed)
        return;
    check_slots(&w->table);
    check_counters(w->engine, &w->table);
}

/* ---- a turn */

static inline const struct delta *decide_all(struct world *w)
{
    arena_reset(&w->arena);
    engine_begin(w->engine, world_now(w), &w->arena);
    for (unsigned round = 0;; round++) {
        struct question_list list = {0};
        engine_ask_own(w->engine, round, &list);
        for (size_t i = 0; i < w->command_count; i++)
            engine_ask(w->engine, w->commands[i], round, &list);
        for (size_t i = 0; i < list.len; i++)
            table_answer(&w->table, list.items[i]);
        if (list.len == 0)
            break;
    }
    engine_tick(w->engine);
    for (size_t i = 0; i < w->command_count; i++)
        engine_decide(w->engine, w->commands[i]);
    return engine_seal(w->engine);
}

/* Shows the first line that differs; the whole would be pages. */
static inline void assert_same_text(const struct buf *expected, const struct buf *found)
{
    struct str left = buf_str(expected);
    struct str right = buf_str(found);
    assert_false(expected->overflow || found->overflow);
    while (left.len > 0 || right.len > 0) {
        struct str left_line = str_cut(&left, '\n');
        struct str right_line = str_cut(&right, '\n');
        if (!str_eq(left_line, right_line))
            fail_msg("expected\n%.*s\nfound\n%.*s\n", STR_ARG(str_head(left_line, 450)),
                     STR_ARG(str_head(right_line, 450)));
    }
}

enum { TEXT_MAX = 64 << 20 };

/* Decides, and makes it undone. ret_delta: what was decided. */
static inline void decide_and_undo(struct world *w, struct buf *ret_delta)
{
    CLEANUP(buf_free) struct buf before = BUF(TEXT_MAX);
    CLEANUP(buf_free) struct buf after = BUF(TEXT_MAX);
    engine_dump(w->engine, &before);
    print_delta(ret_delta, &w->arena, decide_all(w), w->table.newest_id);
    engine_undo(w->engine);
    table_abort(&w->table);
    engine_dump(w->engine, &after);
    assert_same_text(&before, &after);
}

static inline void commit(struct world *w)
{
    struct list done;
    list_init(&done);
    if (delta_is_empty(&w->delta)) {
        assert_int_equal(w->delta.counter_count, 0);
        table_abort(&w->table);
    } else {
        table_keep(&w->table, &w->delta);
    }
    engine_commit(w->engine, &done, &w->events, &w->event_count);
    for (struct list_node *node; (node = list_pop_front(&done)) != NULL;) {
        struct command *cmd = CONTAINER_OF(node, struct command, node);
        CONTAINER_OF(cmd, struct asked, cmd)->answers++;
    }
    w->command_count = 0;
}

static inline void world_turn(struct world *w)
{
    CLEANUP(buf_free) struct buf first = BUF(TEXT_MAX);
    CLEANUP(buf_free) struct buf second = BUF(TEXT_MAX);
    decide_and_undo(w, &first);
    w->delta = *decide_all(w);
    print_delta(&second, &w->arena, &w->delta, w->table.newest_id);
    assert_same_text(&first, &second);
    commit(w);
    world_check(w);
}

static inline void world_pass(struct world *w, int64_t ms)
{
    w->now_ms += ms;
    world_turn(w);
}

static inline int operation_by_id(const void *a, const void *b)
{
    const struct operation_rec *left = a;
    const struct operation_rec *right = b;
    return left->id < right->id ? -1 : left->id > right->id;
}

static inline void load_operations(struct world *w)
{
    struct table *t = &w->table;
    struct operation_rec *all = ARENA_ARRAY(&t->arena, struct operation_rec, t->operations.len);
    size_t len = 0;
    MAP_EACH(&t->operations, slot) all[len++] = *(const struct operation_rec *)slot->value;
    if (len > 0)
        qsort(all, len, sizeof *all, operation_by_id);
    for (size_t i = 0; i < len; i++)
        engine_load_operation(w->engine, &all[i]);
}

/* The server dies and another one loads what the table remembers. Parked polls are dropped. */
static inline void world_restart(struct world *w)
{
    struct list parked;
    struct err err;
    list_init(&parked);
    engine_unpark(w->engine, &parked);
    for (struct list_node *node; (node = list_pop_front(&parked)) != NULL;) {
        struct command *cmd = CONTAINER_OF(node, struct command, node);
        CONTAINER_OF(cmd, struct asked, cmd)->answers++;
    }
    engine_free(w->engine);
    w->engine = engine_new(&w->options);
    int64_t until_ms =
        engine_load_begin(w->engine, world_now(w), w->owned, w->table.newest_id, w->table.turn);
    for (size_t i = 0; i < w->table.counters.len; i++)
        engine_load_counter(w->engine, &w->table.counters.items[i]);
    for (size_t i = 0; i < w->table.queues.cap; i++) {
        if (w->table.queues.slots[i].value != NULL)
            engine_load_queue(w->engine, w->table.queues.slots[i].value);
    }
    for (size_t i = 0; i < w->table.breakers.cap; i++) {
        if (w->table.breakers.slots[i].value != NULL)
            engine_load_breaker(w->engine, w->table.breakers.slots[i].value);
    }
    for (size_t i = 0; i < w->table.teams.cap; i++) {
        if (w->table.teams.slots[i].value != NULL)
            engine_load_team(w->engine, w->table.teams.slots[i].value);
    }
    for (size_t i = 0; i < w->table.rates.cap; i++) {
        if (w->table.rates.slots[i].value != NULL)
            engine_load_rate(w->engine, w->table.rates.slots[i].value);
    }
    load_operations(w);
    for (size_t i = 0; i < w->table.calendars.cap; i++) {
        if (w->table.calendars.slots[i].value != NULL)
            assert_int_equal(
                engine_load_calendar(w->engine, w->table.calendars.slots[i].value, &err), 0);
    }
    MAP_EACH(&w->table.workers, slot) engine_load_worker(w->engine, slot->value);
    for (size_t i = 0; i < w->table.permits.cap; i++) {
        if (w->table.permits.slots[i].value != NULL)
            engine_load_permit(w->engine, w->table.permits.slots[i].value);
    }
    MAP_EACH(&w->table.live, slot)
    {
        const struct exec_rec *x = slot->value;
        if (!partition_has(&w->owned, x->id))
            continue;
        if (exec_is_waiting(x->state) && x->due_ms > until_ms &&
            !(x->state == EXEC_RETRYING && x->origin != ORIGIN_ONCE) &&
            !(x->state == EXEC_SCHEDULED && x->ready_ms > 0))
            continue;
        assert_int_equal(engine_load_job(w->engine, map_get(&w->table.jobs, x->job_id), &err), 0);
        assert_int_equal(engine_load_exec(w->engine, x, &err), 0);
    }
    for (size_t i = 0; i < w->table.depends.cap; i++) {
        if (w->table.depends.slots[i].value != NULL)
            engine_load_dependency(w->engine, w->table.depends.slots[i].value);
    }
    for (size_t i = 0; i < w->table.waiters.cap; i++) {
        if (w->table.waiters.slots[i].value != NULL)
            engine_load_waiter(w->engine, w->table.waiters.slots[i].value);
    }
}

/* A server that owns these partitions is in charge from now on. */
static inline void world_own(struct world *w, struct partition_set owned)
{
    w->owned = w->table.owned = owned;
    world_restart(w);
}

/* ---- commands about jobs */

struct wish {
    char unused; /* so that SUBMIT(w) may wish for nothing */
    const char *name;
    const char *queue;   /* NULL: "default" */
    const char *handler; /* NULL: a command */
    int32_t priority;    /* 0: the default; -1: really 0 */
    uint32_t retries;
    enum retry_policy policy;
    int64_t retry_ms;
    enum when_kind when;
    int64_t when_ms;
    const char *key; /* of a concurrency limit */
    uint32_t limit;
    const char *team;
    const char *rate; /* the key of one */
    uint32_t starts;
    int64_t per_ms;
    int64_t every_ms;
    const char *cron;
    enum overlap overlap;
    struct misfire misfire; /* all zero: the default */
    int64_t stagger_ms;
    int64_t timeout_ms;
    uint32_t retry_on; /* bits by class */
    int64_t start_within_ms;
    int64_t expires_in_ms;
    struct sla sla;
    const char *unique; /* the key */
    bool until_start;
    enum on_conflict on_conflict;
    const char *once;      /* the key of the request */
    const char *hash;      /* of the request; NULL: "h" */
    const char *calendars; /* as test_calendars reads them */
    size_t spec_bytes;     /* at least so long */
    const struct dependency_wish *after;
    size_t after_count; /* 0: one, when there is one */
};

static inline void fill_submission(struct asked *asked, struct submission *item,
                                   const struct wish *wish)
{
    item->rules = (struct rules){
        .queue = str_c(wish->queue == NULL ? "default" : wish->queue),
        .handler = str_c(wish->handler),
        .team = str_c(wish->team),
        .priority = wish->priority > 0    ? wish->priority
                    : wish->priority == 0 ? SPEC_PRIORITY_DEFAULT
                                          : 0,
        .retry = {.max_retries = wish->retries,
                  .policy = wish->policy,
                  .delay_ms = wish->retry_ms,
                  .max_delay_ms = HOUR_MS,
                  .retry_on = wish->retry_on},
        .timeout_ms = wish->timeout_ms,
        .concurrency = {.key = str_c(wish->key), .limit = wish->limit},
        .rate = {.key = str_c(wish->rate), .limit = wish->starts, .per_ms = wish->per_ms},
        .schedule = test_schedule(&asked->arena, wish->every_ms, str_c(wish->cron)),
        .overlap = wish->overlap,
        .misfire = wish->misfire.limit == 0 ? misfire_default : wish->misfire,
        .stagger_ms = wish->stagger_ms,
        .start_within_ms = wish->start_within_ms,
        .expires_in_ms = wish->expires_in_ms,
        .sla = wish->sla,
        .unique = {str_c(wish->unique), wish->until_start, wish->on_conflict},
    };
    item->rules.calendars =
        test_calendars(&asked->arena, str_c(wish->calendars), &item->rules.calendar_count);
    item->once.key = str_c(wish->once);
    item->once.hash = str_c(wish->hash == NULL ? "h" : wish->hash);
    const struct misfire *misfire = &item->rules.misfire;
    item->name = str_c(wish->name);
    item->owner = STR("admin");
    item->team = item->rules.team;
    item->tags = STR("\na:b\n");
    item->payload = STR("{\"n\":1}");
    item->when = wish->when;
    item->when_ms = wish->when_ms;
    if (wish->after != NULL) {
        size_t count = wish->after_count > 0 ? wish->after_count : 1;
        item->depends_on = ARENA_ARRAY(&asked->arena, struct dependency_wish, count);
        memcpy(item->depends_on, wish->after, count * sizeof *wish->after);
        item->depends_count = count;
    }
    item->spec = arena_printf(
        &asked->arena,
        "%.*s|%.*s|%" PRId32 "|%" PRIu32 "|%d|%" PRId64 "|%.*s|%" PRIu32 "|%.*s|%" PRIu32
        "|%" PRId64 "|%" PRId64 "|%s|%d|%d|%" PRId64 "|%" PRIu32 "|%" PRId64 "|%" PRId64 "|%" PRIu32
        "|%.*s|%" PRId64 "|%" PRId64 "|%" PRId64 "|%" PRId64 "|%d|%.*s|%d|%d|%s|%*s",
        STR_ARG(item->rules.queue), STR_ARG(item->rules.handler), item->rules.priority,
        wish->retries, (int)wish->policy, wish->retry_ms, STR_ARG(item->rules.concurrency.key),
        wish->limit, STR_ARG(item->rules.rate.key), wish->starts, wish->per_ms, wish->every_ms,
        wish->cron == NULL ? "" : wish->cron, (int)wish->overlap, (int)misfire->policy,
        misfire->grace_ms, misfire->limit, wish->stagger_ms, wish->timeout_ms, wish->retry_on,
        STR_ARG(item->rules.team), wish->start_within_ms, wish->expires_in_ms,
        wish->sla.expected_ms, wish->sla.max_ms, (int)wish->sla.policy,
        STR_ARG(item->rules.unique.key), wish->until_start, (int)wish->on_conflict,
        wish->calendars == NULL ? "" : wish->calendars, (int)wish->spec_bytes, "");
}

static inline struct asked *ask_submit_all(struct world *w, const struct wish *wishes, size_t count)
{
    struct asked *asked = ask(w, CMD_SUBMIT);
    asked->cmd.submit.items = ARENA_ARRAY(&asked->arena, struct submission, count);
    asked->cmd.submit.count = count;
    for (size_t i = 0; i < count; i++)
        fill_submission(asked, &asked->cmd.submit.items[i], &wishes[i]);
    for (size_t i = 0; i < count; i++)
        asked->cmd.submit.items[i].number = i;
    return asked;
}

static inline struct submission *ask_submit_one(struct world *w, struct wish wish)
{
    return ask_submit_all(w, &wish, 1)->cmd.submit.items;
}

#define SUBMIT(world, ...) ask_submit_one((world), (struct wish){.unused = 0, __VA_ARGS__})

static inline struct asked *ask_about(struct world *w, enum command_kind kind, uint64_t id)
{
    struct asked *asked = ask(w, kind);
    asked->cmd.target.id = id;
    return asked;
}

/* document NULL: deletes it. */
static inline struct asked *ask_put_calendar(struct world *w, const char *name,
                                             const char *document)
{
    struct asked *asked = ask(w, CMD_CALENDAR);
    asked->cmd.calendar.name = arena_str(&asked->arena, str_c(name));
    asked->cmd.calendar.forget = document == NULL;
    asked->cmd.calendar.document = arena_str(&asked->arena, str_c(document));
    return asked;
}

static inline const struct exec *exec_of(const struct world *w, uint64_t id)
{
    return map_get(&w->engine->execs, id);
}

/* In memory, in the table or in its history; EXEC_NONE when there is no such execution. */
static inline enum exec_state state_of(const struct world *w, uint64_t id)
{
    const struct exec_rec *x = map_get(&w->table.live, id);
    if (x == NULL)
        x = map_get(&w->table.history, id);
    return x == NULL ? EXEC_NONE : x->state;
}

static inline enum job_state job_state_of(const struct world *w, uint64_t id)
{
    const struct job_rec *job = map_get(&w->table.jobs, id);
    return job == NULL ? JOB_NONE : job->state;
}

static inline const struct attempt_rec *attempt_of(const struct world *w, uint64_t id,
                                                   uint64_t token)
{
    return map_get(&w->table.attempts, attempt_key(id, token));
}

/* ---- workers that do as a test says */

struct fake {
    uint64_t id;
    uint64_t seq;
    struct poll_held held[1024]; /* what it says it runs */
    size_t held_count;
};

struct skills {
    char unused;
    uint32_t slots;
    const char *queues;   /* comma-separated; NULL: all */
    const char *handlers; /* comma-separated */
    bool no_commands;
};

static inline size_t split(struct arena *arena, const char *list, const struct str **ret_items)
{
    VEC(struct str) items = {0};
    struct str rest = str_c(list);
    while (rest.len > 0)
        *VEC_PUSH(arena, &items) = str_cut(&rest, ',');
    *ret_items = items.items;
    return items.len;
}

static inline struct asked *ask_register(struct world *w, const struct skills *skills)
{
    struct asked *asked = ask(w, CMD_REGISTER);
    struct hello *hello = &asked->cmd.hello;
    hello->name = STR("host-1/4711");
    hello->slots = skills->slots;
    hello->runs_commands = !skills->no_commands;
    hello->queue_count = split(&asked->arena, skills->queues, &hello->queues);
    hello->handler_count = split(&asked->arena, skills->handlers, &hello->handlers);
    return asked;
}

/* Takes a turn. */
static inline struct fake hire_one(struct world *w, struct skills skills)
{
    struct asked *asked = ask_register(w, &skills);
    world_turn(w);
    assert_int_equal(asked->answers, 1);
    return (struct fake){.id = asked->cmd.reply.worker_id};
}

#define HIRE(world, ...) hire_one((world), (struct skills){.unused = 0, __VA_ARGS__})

/* The next poll of the fake: lists what it holds. */
static inline struct asked *ask_poll(struct world *w, struct fake *f, uint32_t free)
{
    struct asked *asked = ask(w, CMD_POLL);
    struct poll_held *held = ARENA_ARRAY(&asked->arena, struct poll_held, f->held_count + 1);
    memcpy(held, f->held, f->held_count * sizeof *held);
    asked->cmd.poll = (struct poll){
        .worker_id = f->id,
        .seq = ++f->seq,
        .free = free,
        .wait_ms = HOUR_MS, /* parked as long as the server likes */
        .held = held,
        .held_count = f->held_count,
    };
    return asked;
}

static inline void fake_drop(struct fake *f, uint64_t exec_id)
{
    for (size_t i = 0; i < f->held_count; i++) {
        if (f->held[i].exec_id == exec_id)
            f->held[i--] = f->held[--f->held_count];
    }
}

/* Adds a result to a poll, whose fake no longer holds the lease. */
static inline struct poll_result *add_result(struct asked *asked, const struct poll_lease *lease,
                                             enum outcome outcome)
{
    struct poll *poll = &asked->cmd.poll;
    struct poll_result *results =
        ARENA_ARRAY(&asked->arena, struct poll_result, poll->result_count + 1);
    if (poll->result_count > 0)
        memcpy(results, poll->results, poll->result_count * sizeof *results);
    struct poll_result *last = &results[poll->result_count++];
    *last = (struct poll_result){
        .exec_id = lease->exec_id,
        .token = lease->token,
        .outcome = outcome,
        .usage = {.exit_code = outcome == OUTCOME_SUCCEEDED ? 0 : 3, .log_seq = 9},
        .result = outcome == OUTCOME_SUCCEEDED ? STR("{\"rows\":12}") : STR(""),
        .error = outcome == OUTCOME_SUCCEEDED ? STR("") : STR("exit code 3"),
    };
    poll->results = results;
    return last;
}

static inline struct asked *ask_report(struct world *w, struct fake *f,
                                       const struct poll_lease *lease, enum outcome outcome)
{
    fake_drop(f, lease->exec_id);
    struct asked *asked = ask_poll(w, f, 0);
    add_result(asked, lease, outcome);
    return asked;
}

/* The fake starts what the reply gives it. */
static inline void fake_take(struct fake *f, const struct asked *asked)
{
    const struct poll_reply *reply = &asked->cmd.reply.poll;
    for (size_t i = 0; i < reply->lease_count; i++) {
        fake_drop(f, reply->leases[i].exec_id);
        assert_true(f->held_count < COUNT_OF(f->held));
        f->held[f->held_count++] =
            (struct poll_held){reply->leases[i].exec_id, reply->leases[i].token};
    }
}

/* Polls for one lease, which must come at once, and starts it. Takes a turn. */
static inline struct poll_lease fake_lease(struct world *w, struct fake *f)
{
    struct asked *asked = ask_poll(w, f, 1);
    world_turn(w);
    assert_int_equal(asked->answers, 1);
    assert_int_equal(asked->cmd.reply.poll.lease_count, 1);
    fake_take(f, asked);
    return asked->cmd.reply.poll.leases[0];
}

/* The same, and says once that it runs. Takes two turns; the last poll stays parked. */
static inline struct poll_lease fake_start(struct world *w, struct fake *f)
{
    struct poll_lease lease = fake_lease(w, f);
    ask_poll(w, f, 0);
    world_turn(w);
    return lease;
}

static inline bool was_accepted(const struct asked *asked)
{
    assert_int_equal(asked->answers, 1);
    assert_int_equal(asked->cmd.reply.poll.verdict_count, 1);
    return asked->cmd.reply.poll.verdicts[0].accepted;
}
