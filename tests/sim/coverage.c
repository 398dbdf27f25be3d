#include "coverage.h"

#include <assert.h>
#include <stdio.h>
#include <sys/mman.h>

static const char *const sighting_words[SIGHTING_KINDS] = {
#define SIGHTING_ROW(name, words) [SAW_##name] = (words),
    SIGHTINGS(SIGHTING_ROW)};

static struct seen {
    _Atomic uint64_t sightings[SIGHTING_KINDS];
    _Atomic uint64_t faults[FAULT_KINDS];
    _Atomic uint64_t steps[EXEC_EVENTS];
    _Atomic uint64_t outcomes[OUTCOMES];
    _Atomic uint64_t granted[COMMAND_KINDS]; /* answered with RC_OK */
    _Atomic uint64_t refused[COMMAND_KINDS];
} * seen;

void coverage_begin(void)
{
    seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert(seen != MAP_FAILED);
}

void saw(enum sight sighting)
{
    seen->sightings[sighting]++;
}

void saw_fault(enum fault fault)
{
    seen->faults[fault]++;
}

void saw_step(enum exec_event event)
{
    seen->steps[event]++;
}

void saw_outcome(enum outcome outcome)
{
    seen->outcomes[outcome]++;
}

void saw_answer(const struct command *cmd)
{
    if (cmd->reply.rc == RC_OK)
        seen->granted[cmd->kind]++;
    else
        seen->refused[cmd->kind]++;
}

static bool missed(uint64_t count, const char *what)
{
    if (count == 0)
        printf("never seen: %s\n", what);
    return count == 0;
}

static bool missed_words(uint64_t count, const char *what, struct str name)
{
    if (count == 0)
        printf("never seen: %s %.*s\n", what, STR_ARG(name));
    return count == 0;
}

static bool missed_answers(void)
{
    static const enum command_kind may_be_refused[] = {
        CMD_CANCEL_JOB,   CMD_CANCEL_EXEC, CMD_RETRY_EXEC,   CMD_POLL,           CMD_DRAIN,
        CMD_PAUSE_JOB,    CMD_RESUME_JOB,  CMD_TRIGGER_JOB,  CMD_QUEUE,          CMD_RESET_BREAKER,
        CMD_EDIT_JOB,     CMD_TEAM,        CMD_RETRY_LETTER, CMD_DISCARD_LETTER, CMD_CALENDAR,
        CMD_WORKER,       CMD_CORDON,      CMD_UNCORDON,     CMD_ALERT_ACK,      CMD_SILENCE,
        CMD_LIFT_SILENCE,
    };
    bool some = false;
    for (int i = CMD_SUBMIT; i < COMMAND_KINDS; i++) {
        if (seen->granted[i] == 0)
            printf("never seen: command %d of job/command/command.h is done; client.c sends it\n",
                   i);
        some |= seen->granted[i] == 0;
    }
    for (size_t i = 0; i < COUNT_OF(may_be_refused); i++) {
        if (seen->refused[may_be_refused[i]] == 0)
            printf("never seen: command %d of job/command/command.h is refused\n",
                   (int)may_be_refused[i]);
        some |= seen->refused[may_be_refused[i]] == 0;
    }
    return some;
}

bool coverage_is_full(bool cluster)
{
    bool some = false;
    for (int i = cluster ? SIGHTINGS_ALONE : 0; i < (cluster ? SIGHTING_KINDS : SIGHTINGS_ALONE);
         i++)
        some |= missed(seen->sightings[i], sighting_words[i]);
    for (int i = cluster ? FAULTS_ALONE : 0; i < (cluster ? FAULT_KINDS : FAULTS_ALONE); i++)
        some |= missed(seen->faults[i], fault_words((enum fault)i));
    if (cluster)
        return !some; /* the rest is for days with one server */
    some |= missed_answers();
    for (int i = 0; i < EXEC_EVENTS; i++)
        some |= missed_words(seen->steps[i], "the step", exec_event_name((enum exec_event)i));
    for (int i = OUTCOME_NONE + 1; i < OUTCOMES; i++)
        some |= missed_words(seen->outcomes[i], "the outcome", outcome_name((enum outcome)i));
    return !some;
}
