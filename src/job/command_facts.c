#include "job/command_facts.h"
#include "base/id.h"

#include <assert.h>

enum { NO, YES };

/* clang-format off */
static const struct command_facts table[] = {
    /*                      decided by        sent again       is about      key  in an outage */
    [CMD_SUBMIT]         = {PLACE_ANY_OWNER,  REPEAT_NEVER,    ABOUT_NO_ID,  YES, NO},
    [CMD_CANCEL_JOB]     = {PLACE_OWNER,      REPEAT_FREELY,   ABOUT_JOB,    NO,  NO},
    [CMD_CANCEL_EXEC]    = {PLACE_OWNER,      REPEAT_IN_DOUBT, ABOUT_EXEC,   NO,  NO},
    [CMD_RETRY_EXEC]     = {PLACE_OWNER,      REPEAT_NEVER,    ABOUT_EXEC,   YES, NO},
    [CMD_PAUSE_JOB]      = {PLACE_OWNER,      REPEAT_FREELY,   ABOUT_JOB,    NO,  NO},
    [CMD_RESUME_JOB]     = {PLACE_OWNER,      REPEAT_FREELY,   ABOUT_JOB,    NO,  NO},
    [CMD_TRIGGER_JOB]    = {PLACE_OWNER,      REPEAT_NEVER,    ABOUT_JOB,    YES, NO},
    /* Once it was done, the version that it was made from is an old one. */
    [CMD_EDIT_JOB]       = {PLACE_OWNER,      REPEAT_IN_DOUBT, ABOUT_JOB,    NO,  NO},
    [CMD_EXTEND_SLA]     = {PLACE_OWNER,      REPEAT_NEVER,    ABOUT_JOB,    NO,  NO},
    [CMD_EXPLAIN_JOB]    = {PLACE_OWNER,      REPEAT_FREELY,   ABOUT_JOB,    NO,  NO},
    [CMD_EXPLAIN_EXEC]   = {PLACE_OWNER,      REPEAT_FREELY,   ABOUT_EXEC,   NO,  NO},
    [CMD_REGISTER]       = {PLACE_ANY_OWNER,  REPEAT_NEVER,    ABOUT_NO_ID,  NO,  NO},
    [CMD_POLL]           = {PLACE_ASKED,      REPEAT_NEVER,    ABOUT_NO_ID,  NO,  YES},
    [CMD_HANGUP]         = {PLACE_ASKED,      REPEAT_NEVER,    ABOUT_NO_ID,  NO,  YES},
    [CMD_DRAIN]          = {PLACE_OWNER,      REPEAT_FREELY,   ABOUT_WORKER, NO,  NO},
    [CMD_WORKERS]        = {PLACE_ALL,        REPEAT_FREELY,   ABOUT_NO_ID,  NO,  YES},
    [CMD_QUEUE]          = {PLACE_FIRST,      REPEAT_FREELY,   ABOUT_NO_ID,  NO,  NO},
    [CMD_QUEUES]         = {PLACE_ALL,        REPEAT_FREELY,   ABOUT_NO_ID,  NO,  NO},
    [CMD_TEAM]           = {PLACE_FIRST,      REPEAT_FREELY,   ABOUT_NO_ID,  NO,  NO},
    [CMD_TEAMS]          = {PLACE_ALL,        REPEAT_FREELY,   ABOUT_NO_ID,  NO,  NO},
    [CMD_BREAKERS]       = {PLACE_ALL,        REPEAT_FREELY,   ABOUT_NO_ID,  NO,  NO},
    [CMD_RESET_BREAKER]  = {PLACE_ALL_OWNERS, REPEAT_NEVER,    ABOUT_NO_ID,  NO,  NO},
    [CMD_ALERT_SENT]     = {PLACE_OWNER,      REPEAT_NEVER,    ABOUT_ALERT,  NO,  NO},
    [CMD_RETRY_LETTER]   = {PLACE_OWNER,      REPEAT_NEVER,    ABOUT_LETTER, YES, NO},
    [CMD_DISCARD_LETTER] = {PLACE_OWNER,      REPEAT_IN_DOUBT, ABOUT_LETTER, NO,  NO},
    [CMD_OPERATE]        = {PLACE_ALL_OWNERS, REPEAT_NEVER,    ABOUT_NO_ID,  NO,  NO},
    [CMD_OPERATIONS]     = {PLACE_ALL,        REPEAT_FREELY,   ABOUT_NO_ID,  NO,  NO},
    [CMD_CALENDAR]       = {PLACE_FIRST,      REPEAT_FREELY,   ABOUT_NO_ID,  NO,  NO},
    [CMD_FENCE]          = {PLACE_OWNER,      REPEAT_FREELY,   ABOUT_EXEC,   NO,  NO},
    [CMD_STATS]          = {PLACE_ALL,        REPEAT_FREELY,   ABOUT_NO_ID,  NO,  YES},
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
