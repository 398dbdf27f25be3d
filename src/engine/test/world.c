#include "engine/test/world.h"

#include "engine/test/check.h"
#include "engine/test/delta_text.h"
#include "engine/test/wish.h"

struct moment world_now(const struct world *w)
{
    return (struct moment){
        .wall_ms = w->now_ms,
        .boot_ms = w->now_ms - w->booted_ms,
        .stepped_ms = w->stepped_ms,
        .shaken_ms = w->shaken_ms,
        .unsure = w->unsure,
    };
}

int64_t world_wait_ms(const struct world *w)
{
    return engine_wait_ms(w->engine, world_now(w));
}

void world_set_clock(struct world *w, int64_t by_ms)
{
    w->now_ms += by_ms;
    w->booted_ms += by_ms;
}

void world_step(struct world *w, int64_t by_ms)
{
    world_set_clock(w, by_ms);
    w->stepped_ms += by_ms;
    w->table.repeats |= by_ms < 0;
    if (by_ms > HOUR_MS || by_ms < -HOUR_MS)
        w->shaken_ms = w->now_ms;
}

void world_init_part(struct world *w, const struct engine_options *options,
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

void world_init(struct world *w, const struct engine_options *options)
{
    world_init_part(w, options, partition_all(1));
}

void world_free(struct world *w)
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

void asked_free(struct asked *asked)
{
    assert_int_equal(asked->answers, 1);
    list_remove(&asked->node);
    arena_free(&asked->arena);
    free(asked);
}

struct asked *ask(struct world *w, enum command_kind kind)
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

void world_check(struct world *w)
{
    check_places(w->engine);
    check_table(w->engine, &w->table);
    if (!w->relaxed)
        check_history(w->engine, &w->table);
}

const struct delta *world_decide(struct world *w)
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

void assert_same_text(const struct buf *expected, const struct buf *found)
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

void world_decide_and_undo(struct world *w, struct buf *ret_delta)
{
    CLEANUP(buf_free) struct buf before = BUF(TEXT_MAX);
    CLEANUP(buf_free) struct buf after = BUF(TEXT_MAX);
    engine_dump(w->engine, &before);
    print_delta(ret_delta, &w->arena, world_decide(w), w->table.newest_id);
    engine_undo(w->engine);
    table_abort(&w->table);
    engine_dump(w->engine, &after);
    assert_same_text(&before, &after);
}

void world_commit(struct world *w)
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

void world_turn(struct world *w)
{
    CLEANUP(buf_free) struct buf first = BUF(TEXT_MAX);
    CLEANUP(buf_free) struct buf second = BUF(TEXT_MAX);
    world_decide_and_undo(w, &first);
    w->delta = *world_decide(w);
    print_delta(&second, &w->arena, &w->delta, w->table.newest_id);
    assert_same_text(&first, &second);
    world_commit(w);
    world_check(w);
}

void world_wake(struct world *w, int64_t ms)
{
    w->now_ms += ms;
    w->engine->boot_ms = world_now(w).boot_ms;
}

void world_pass(struct world *w, int64_t ms)
{
    world_wake(w, ms);
    world_turn(w);
}

void world_sleep(struct world *w, int64_t ms)
{
    w->now_ms += ms;
    world_turn(w);
}

static int operation_by_id(const void *a, const void *b)
{
    const struct operation_rec *left = a;
    const struct operation_rec *right = b;
    return left->id < right->id ? -1 : left->id > right->id;
}

static void load_operations(struct world *w)
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

void world_restart(struct world *w)
{
    engine_free(world_replace(w));
}

/* Polls that wait are answered by nobody. */
static void drop_parked(struct world *w)
{
    struct list parked;
    list_init(&parked);
    engine_unpark(w->engine, &parked);
    for (struct list_node *node; (node = list_pop_front(&parked)) != NULL;) {
        struct command *cmd = CONTAINER_OF(node, struct command, node);
        CONTAINER_OF(cmd, struct asked, cmd)->answers++;
    }
}

#define EACH_VALUE(map, i)                                                                         \
    for (size_t i = 0; i < (map).cap; i++)                                                         \
        if ((map).slots[i].value != NULL)

static void load_settings(struct world *w)
{
    struct err err;
    for (size_t i = 0; i < w->table.counters.len; i++)
        engine_load_counter(w->engine, &w->table.counters.items[i]);
    EACH_VALUE(w->table.queues, i)
    engine_load_queue(w->engine, w->table.queues.slots[i].value);
    EACH_VALUE(w->table.breakers, i)
    engine_load_breaker(w->engine, w->table.breakers.slots[i].value);
    EACH_VALUE(w->table.teams, i)
    engine_load_team(w->engine, w->table.teams.slots[i].value);
    EACH_VALUE(w->table.rates, i)
    engine_load_rate(w->engine, w->table.rates.slots[i].value);
    load_operations(w);
    EACH_VALUE(w->table.calendars, i)
    assert_int_equal(engine_load_calendar(w->engine, w->table.calendars.slots[i].value, &err), 0);
    MAP_EACH(&w->table.silences, slot) engine_load_silence(w->engine, slot->value);
}

static bool is_near(const struct exec_rec *x, int64_t until_ms)
{
    return !exec_is_waiting(x->state) || x->due_ms <= until_ms ||
           (x->state == EXEC_RETRYING && x->origin != ORIGIN_ONCE) ||
           (x->state == EXEC_SCHEDULED && x->ready_ms > 0);
}

static void load_work(struct world *w, int64_t until_ms)
{
    struct err err;
    MAP_EACH(&w->table.workers, slot)
    {
        if (partition_has(&w->owned, slot->key)) /* others come with their first poll */
            engine_load_worker(w->engine, slot->value);
    }
    EACH_VALUE(w->table.permits, i)
    engine_load_permit(w->engine, w->table.permits.slots[i].value);
    MAP_EACH(&w->table.live, slot)
    {
        const struct exec_rec *x = slot->value;
        if (!partition_has(&w->owned, x->id) || !is_near(x, until_ms))
            continue;
        assert_int_equal(engine_load_job(w->engine, map_get(&w->table.jobs, x->job_id), &err), 0);
        assert_int_equal(engine_load_exec(w->engine, x, &err), 0);
    }
    EACH_VALUE(w->table.depends, i)
    engine_load_dependency(w->engine, w->table.depends.slots[i].value);
    EACH_VALUE(w->table.waiters, i)
    engine_load_waiter(w->engine, w->table.waiters.slots[i].value);
}

struct engine *world_replace(struct world *w)
{
    struct engine *former = w->engine;
    drop_parked(w);
    w->engine = engine_new(&w->options);
    int64_t until_ms =
        engine_load_begin(w->engine, world_now(w), w->owned, w->table.newest_id, w->table.turn);
    if (w->table.clock.at_ms != 0)
        engine_load_clock(w->engine, &w->table.clock);
    if (w->owned.count > 1)
        engine_load_terms(w->engine, w->epochs, w->unsure_until_ms, w->alive_ms);
    load_settings(w);
    load_work(w, until_ms);
    return former;
}

void world_own(struct world *w, struct partition_set owned)
{
    w->owned = w->table.owned = owned;
    world_restart(w);
}
