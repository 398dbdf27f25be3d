#include "digest.h"
#include "base/buf.h"
#include "engine/test/delta_text.h"
#include "job/command/command_facts.h"

#include <inttypes.h>

enum { TEXT_MAX = 1 << 28 };

/* Order counts: what came before is part of the text. */
static void add(struct digest *d, struct buf *text)
{
    buf_printf(text, "after %" PRIu64, d->sum);
    d->sum = str_hash(buf_str(text));
    arena_reset(&d->scratch);
}

void digest_delta(struct digest *d, const struct delta *delta)
{
    struct buf text = {.max = TEXT_MAX};
    if (!d->wanted)
        return;
    print_delta(&text, &d->scratch, delta, UINT64_MAX);
    add(d, &text);
    buf_free(&text);
}

static void print_poll(struct buf *out, const struct poll_reply *poll)
{
    for (size_t i = 0; i < poll->lease_count; i++)
        buf_printf(out, "lease %" PRIu64 " %" PRIu64 "\n", poll->leases[i].exec_id,
                   poll->leases[i].token);
    for (size_t i = 0; i < poll->stop_count; i++)
        buf_printf(out, "stop %" PRIu64 " %" PRIu64 "\n", poll->stops[i].exec_id,
                   poll->stops[i].token);
}

/* All numbers of an answer; those that it does not have are 0. */
struct numbers {
    uint64_t job_id;
    int job_state;
    uint32_t version;
    uint64_t exec_id;
    int exec_state;
    uint64_t worker_id;
    size_t workers, queues, breakers, teams;
    uint64_t operation_id;
};

static struct numbers numbers_of(const struct command *cmd)
{
    switch (command_facts(cmd->kind)->reply) {
    case REPLY_RUN:
        return (struct numbers){
            .job_id = cmd->reply.job_id,
            .job_state = (int)cmd->reply.job_state,
            .version = cmd->reply.version,
            .exec_id = cmd->reply.exec_id,
            .exec_state = (int)cmd->reply.exec_state,
        };
    case REPLY_WORKER: return (struct numbers){.worker_id = cmd->reply.worker_id};
    case REPLY_WORKERS: return (struct numbers){.workers = cmd->reply.worker_count};
    case REPLY_QUEUES: return (struct numbers){.queues = cmd->reply.queue_count};
    case REPLY_BREAKERS: return (struct numbers){.breakers = cmd->reply.breaker_count};
    case REPLY_TEAMS: return (struct numbers){.teams = cmd->reply.team_count};
    case REPLY_OPERATION: return (struct numbers){.operation_id = cmd->reply.operation_id};
    default: return (struct numbers){0};
    }
}

void digest_answer(struct digest *d, const struct command *cmd)
{
    struct buf text = {.max = TEXT_MAX};
    if (!d->wanted)
        return;
    struct numbers n = numbers_of(cmd);
    buf_printf(
        &text,
        "command %d: %d %s job %" PRIu64 " %d v%" PRIu32 " exec %" PRIu64 " %d worker %" PRIu64
        " %zu workers %zu queues %zu breakers %zu teams operation %" PRIu64 "\n",
        (int)cmd->kind, (int)cmd->reply.rc, cmd->reply.rc != RC_OK ? cmd->reply.err.text : "",
        n.job_id, n.job_state, n.version, n.exec_id, n.exec_state, n.worker_id, n.workers, n.queues,
        n.breakers, n.teams, n.operation_id);
    if (cmd->kind == CMD_POLL)
        print_poll(&text, &cmd->reply.poll);
    for (size_t i = 0; cmd->kind == CMD_SUBMIT && i < cmd->submit.count; i++)
        buf_printf(&text, "item %d %" PRIu64 " %d\n", (int)cmd->submit.items[i].rc,
                   cmd->submit.items[i].job_id, cmd->submit.items[i].existing);
    add(d, &text);
    buf_free(&text);
}
