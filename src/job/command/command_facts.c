#include "job/command/command_facts.h"
#include "base/id.h"

#include <assert.h>

enum { NO, YES };

/* clang-format off */
#define ROW(place, repeat, about, key, outage, reply) \
    {PLACE_##place, REPEAT_##repeat, ABOUT_##about, key, outage, REPLY_##reply}
static const struct command_facts table[] = {
    /*                         decided by  repeat    about   key  outage  reply */
    [CMD_SUBMIT]         = ROW(ANY_OWNER,  NEVER,    NO_ID,  YES, NO,     DONE),
    [CMD_CANCEL_JOB]     = ROW(OWNER,      FREELY,   JOB,    NO,  NO,     RUN),
    [CMD_CANCEL_EXEC]    = ROW(OWNER,      IN_DOUBT, EXEC,   NO,  NO,     RUN),
    [CMD_RETRY_EXEC]     = ROW(OWNER,      NEVER,    EXEC,   YES, NO,     RUN),
    [CMD_PAUSE_JOB]      = ROW(OWNER,      FREELY,   JOB,    NO,  NO,     RUN),
    [CMD_RESUME_JOB]     = ROW(OWNER,      FREELY,   JOB,    NO,  NO,     RUN),
    [CMD_TRIGGER_JOB]    = ROW(OWNER,      NEVER,    JOB,    YES, NO,     RUN),
    /* Once it was done, the version that it was made from is an old one. */
    [CMD_EDIT_JOB]       = ROW(OWNER,      IN_DOUBT, JOB,    NO,  NO,     RUN),
    [CMD_EXTEND_SLA]     = ROW(OWNER,      NEVER,    JOB,    NO,  NO,     RUN),
    [CMD_EXPLAIN_JOB]    = ROW(OWNER,      FREELY,   JOB,    NO,  NO,     RUN),
    [CMD_EXPLAIN_EXEC]   = ROW(OWNER,      FREELY,   EXEC,   NO,  NO,     RUN),
    [CMD_REGISTER]       = ROW(ANY_OWNER,  NEVER,    NO_ID,  NO,  NO,     WORKER),
    [CMD_POLL]           = ROW(ASKED,      NEVER,    NO_ID,  NO,  YES,    POLL),
    [CMD_HANGUP]         = ROW(ASKED,      NEVER,    NO_ID,  NO,  YES,    DONE),
    [CMD_DRAIN]          = ROW(OWNER,      FREELY,   WORKER, NO,  NO,     WORKER),
    [CMD_WORKERS]        = ROW(ALL,        FREELY,   NO_ID,  NO,  YES,    WORKERS),
    [CMD_QUEUE]          = ROW(FIRST,      FREELY,   NO_ID,  NO,  NO,     QUEUES),
    [CMD_QUEUES]         = ROW(ALL,        FREELY,   NO_ID,  NO,  NO,     QUEUES),
    [CMD_TEAM]           = ROW(FIRST,      FREELY,   NO_ID,  NO,  NO,     TEAMS),
    [CMD_TEAMS]          = ROW(ALL,        FREELY,   NO_ID,  NO,  NO,     TEAMS),
    [CMD_BREAKERS]       = ROW(ALL,        FREELY,   NO_ID,  NO,  NO,     BREAKERS),
    [CMD_RESET_BREAKER]  = ROW(ALL_OWNERS, NEVER,    NO_ID,  NO,  NO,     BREAKERS),
    [CMD_ALERT_SENT]     = ROW(OWNER,      NEVER,    ALERT,  NO,  NO,     DONE),
    [CMD_ALERT_ACK]      = ROW(OWNER,      FREELY,   ALERT,  NO,  NO,     ALERT),
    [CMD_SILENCE]        = ROW(FIRST,      NEVER,    NO_ID,  NO,  NO,     SILENCE),
    [CMD_LIFT_SILENCE]   = ROW(FIRST,      IN_DOUBT, NO_ID,  NO,  NO,     SILENCE),
    [CMD_RETRY_LETTER]   = ROW(OWNER,      NEVER,    LETTER, YES, NO,     RUN),
    [CMD_DISCARD_LETTER] = ROW(OWNER,      IN_DOUBT, LETTER, NO,  NO,     RUN),
    [CMD_OPERATE]        = ROW(ANY_OWNER,  NEVER,    NO_ID,  YES, NO,     OPERATION),
    [CMD_CANCEL_OPERATION] = ROW(OWNER,    FREELY,   OPERATION, NO, NO,   OPERATION),
    [CMD_CALENDAR]       = ROW(FIRST,      FREELY,   NO_ID,  NO,  NO,     CALENDAR),
    [CMD_FENCE]          = ROW(OWNER,      FREELY,   EXEC,   NO,  NO,     DONE),
    [CMD_STATS]          = ROW(ALL,        FREELY,   NO_ID,  NO,  YES,    STATS),
    [CMD_WAITS]          = ROW(ALL,        FREELY,   NO_ID,  NO,  NO,     WAITS),
    [CMD_WORKER]         = ROW(ALL,        FREELY,   NO_ID,  NO,  YES,    WORKERS),
    [CMD_CORDON]         = ROW(OWNER,      FREELY,   WORKER, NO,  NO,     WORKERS),
    [CMD_UNCORDON]       = ROW(OWNER,      FREELY,   WORKER, NO,  NO,     WORKERS),
    [CMD_PING]           = ROW(OWNER,      NEVER,    JOB,    YES, NO,     RUN),
};
/* clang-format on */
static_assert(COUNT_OF(table) == COMMAND_KINDS, "each kind of command has a row");

const struct command_facts *command_facts(enum command_kind kind)
{
    assert(kind < COMMAND_KINDS && table[kind].place != 0);
    return &table[kind];
}

static bool only_looks(const struct command *cmd)
{
    if (cmd->kind == CMD_QUEUE)
        return cmd->queue.run == QUEUE_LEAVE && !cmd->queue.set_concurrency && !cmd->queue.forget;
    return cmd->kind == CMD_TEAM && !cmd->team.set_concurrency;
}

enum command_place command_place(const struct command *cmd)
{
    return only_looks(cmd) ? PLACE_ALL : command_facts(cmd->kind)->place;
}

uint64_t command_id(const struct command *cmd)
{
    assert(command_facts(cmd->kind)->subject != ABOUT_NO_ID);
    switch (cmd->kind) {
    case CMD_EDIT_JOB: return cmd->edit.id;
    case CMD_ALERT_SENT: return cmd->alert.id;
    default: return cmd->target.id;
    }
}

const char *command_id_prefix(enum command_subject subject)
{
    static const char *const prefixes[] = {
        [ABOUT_JOB] = ID_JOB,       [ABOUT_EXEC] = ID_EXEC,   [ABOUT_LETTER] = ID_EXEC,
        [ABOUT_WORKER] = ID_WORKER, [ABOUT_ALERT] = ID_ALERT, [ABOUT_OPERATION] = ID_OPERATION,
    };
    assert(subject > ABOUT_NO_ID && subject < COUNT_OF(prefixes));
    return prefixes[subject];
}
