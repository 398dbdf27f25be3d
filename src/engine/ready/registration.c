/* registration.c - a worker says hello. */
#include "engine/ready/registration.h"
#include "engine/core/commands.h"
#include "engine/core/model.h"
#include "engine/ready/cordon.h"
#include "engine/ready/silence.h"

static struct str join_lines(struct arena *arena, const struct str *items, size_t count)
{
    size_t len = 0;
    for (size_t i = 0; i < count; i++)
        len += items[i].len + 1;
    struct buf out = {.ptr = arena_bytes(arena, len), .cap = len, .max = len};
    for (size_t i = 0; i < count; i++) {
        buf_add(&out, items[i]);
        buf_add_char(&out, '\n');
    }
    return buf_str(&out);
}

void ask_of_hello(struct engine *e, struct command *cmd, struct question_list *list)
{
    uint64_t replaces = cmd->hello.replaces;
    if (replaces == 0 || !e->shared || map_get(&e->workers, replaces) != NULL)
        return;
    struct question *q = command_ask(e, cmd, list);
    q->kind = ASK_WORKER;
    q->id = replaces;
}

/* The worker before this one, if it is dead for sure: it ran under the same kernel as this one,
 * which has its lock. Else 0. */
static uint64_t predecessor(const struct engine *e, const struct command *cmd)
{
    const struct hello *hello = &cmd->hello;
    const struct worker *w = map_get(&e->workers, hello->replaces);
    const struct worker_rec *rec = cmd->question_count > 0 ? cmd->questions[0].answer.worker : NULL;
    struct str boot_id = w != NULL ? worker_boot_id(w) : rec != NULL ? rec->boot_id : STR("");
    bool proven = hello->replaces != 0 && boot_id.len > 0 && str_eq(boot_id, hello->boot_id);
    return proven ? hello->replaces : 0;
}

void decide_register(struct engine *e, struct command *cmd)
{
    const struct hello *hello = &cmd->hello;
    if (e->owned.bits == 0) {
        command_fail(e, cmd, RC_BUSY, "this server owns nothing yet; try again in a moment");
        return;
    }
    if (e->workers.len >= e->options.workers_max) {
        command_fail(e, cmd, RC_BUSY, "there are as many workers as there may be (%zu)",
                     e->options.workers_max);
        return;
    }
    e->bucket = partition_next_bucket(&e->owned, e->bucket);
    struct worker_rec rec = {
        .id = id_next(&e->ids, e->now_ms, e->bucket),
        .name = hello->name,
        .queues = join_lines(e->turn.arena, hello->queues, hello->queue_count),
        .handlers = join_lines(e->turn.arena, hello->handlers, hello->handler_count),
        .runs_commands = hello->runs_commands,
        .slots = hello->slots,
        .registered_ms = e->now_ms,
        .boot_id = hello->boot_id,
        .replaces = predecessor(e, cmd),
    };
    cordon_inherit(e, cmd, &rec);
    struct worker *w = worker_new(e, &rec);
    touch_new(touch_worker(e, w), false);
    worker_place(e, w);
    if (rec.replaces != 0)
        silence_dead(e, rec.replaces);
    cmd->reply.worker_id = w->id;
    command_done(e, cmd);
}
