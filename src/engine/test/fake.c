#include "engine/test/fake.h"

#include "engine/test/wish.h"

static size_t split(struct arena *arena, const char *list, const struct str **ret_items)
{
    VEC(struct str) items = {0};
    struct str rest = str_c(list);
    while (rest.len > 0)
        *VEC_PUSH(arena, &items) = str_cut(&rest, ',');
    *ret_items = items.items;
    return items.len;
}

struct asked *ask_register(struct world *w, const struct skills *skills)
{
    struct asked *asked = ask(w, CMD_REGISTER);
    struct hello *hello = &asked->cmd.hello;
    hello->name = STR("host-1/4711");
    hello->slots = skills->slots;
    hello->boot_id = str_c(skills->boot_id);
    hello->replaces = skills->replaces;
    hello->runs_commands = !skills->no_commands;
    hello->queue_count = split(&asked->arena, skills->queues, &hello->queues);
    hello->handler_count = split(&asked->arena, skills->handlers, &hello->handlers);
    return asked;
}

struct fake hire_one(struct world *w, struct skills skills)
{
    struct asked *asked = ask_register(w, &skills);
    world_turn(w);
    assert_int_equal(asked->answers, 1);
    return (struct fake){.id = asked->cmd.reply.worker_id};
}

struct asked *ask_poll(struct world *w, struct fake *f, uint32_t free)
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
        .heard = f->heard,
    };
    return asked;
}

void fake_drop(struct fake *f, uint64_t exec_id)
{
    for (size_t i = 0; i < f->held_count; i++) {
        if (f->held[i].exec_id == exec_id)
            f->held[i--] = f->held[--f->held_count];
    }
}

struct poll_result *add_result(struct asked *asked, const struct poll_lease *lease,
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

struct asked *ask_report(struct world *w, struct fake *f, const struct poll_lease *lease,
                         enum outcome outcome)
{
    fake_drop(f, lease->exec_id);
    struct asked *asked = ask_poll(w, f, 0);
    add_result(asked, lease, outcome);
    return asked;
}

void fake_take(struct fake *f, const struct asked *asked)
{
    const struct poll_reply *reply = &asked->cmd.reply.poll;
    for (size_t i = 0; i < reply->lease_count; i++) {
        fake_drop(f, reply->leases[i].exec_id);
        assert_true(f->held_count < COUNT_OF(f->held));
        f->held[f->held_count++] =
            (struct poll_held){reply->leases[i].exec_id, reply->leases[i].token};
    }
}

struct poll_lease fake_lease(struct world *w, struct fake *f)
{
    struct asked *asked = ask_poll(w, f, 1);
    world_turn(w);
    assert_int_equal(asked->answers, 1);
    assert_int_equal(asked->cmd.reply.poll.lease_count, 1);
    fake_take(f, asked);
    return asked->cmd.reply.poll.leases[0];
}

struct poll_lease fake_start(struct world *w, struct fake *f)
{
    struct poll_lease lease = fake_lease(w, f);
    ask_poll(w, f, 0);
    world_turn(w);
    return lease;
}

bool was_accepted(const struct asked *asked)
{
    assert_int_equal(asked->answers, 1);
    assert_int_equal(asked->cmd.reply.poll.verdict_count, 1);
    return asked->cmd.reply.poll.verdicts[0].accepted;
}
