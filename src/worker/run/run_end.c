#include "worker/run/run_end.h"
#include "base/when.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

/* The system's words, as they stand in the middle of a sentence. */
static void add_errno(struct buf *out, int error)
{
    const char *text = strerror(error);
    buf_printf(out, ": %c%s", tolower((unsigned char)text[0]), text + 1);
}

static enum outcome judge_unstarted(const struct run_end *end, struct buf *error)
{
    if (end->step == SPAWN_STEP_CHDIR)
        buf_printf(error, "cannot enter '%.*s'", STR_ARG(end->working_dir));
    else if (end->step == SPAWN_STEP_EXEC)
        buf_printf(error, "cannot run '%.*s'", STR_ARG(end->program));
    else
        buf_printf(error, "cannot start a process");
    add_errno(error, end->error);
    return OUTCOME_FAILED;
}

/* A command that was running may have killed the spawner; one that had not started did not. */
static enum outcome judge_broken(const struct run_end *end, struct buf *error)
{
    if (!end->started) {
        buf_printf(error, "not started: the worker's spawner process had died");
        return OUTCOME_RETURNED;
    }
    buf_printf(error, "the worker's spawner process died, and every command of the worker with it");
    return OUTCOME_STOPPED;
}

static enum outcome judge_cut(const struct run_end *end, struct buf *error)
{
    char text[WHEN_TEXT_MAX];
    switch (end->cut) {
    case RUN_CUT_TIMEOUT:
        duration_format(text, end->timeout_ms);
        buf_printf(error, "timed out after %s", text);
        return OUTCOME_TIMEOUT;
    case RUN_CUT_STOPPED: buf_add(error, end->reason); return OUTCOME_STOPPED;
    case RUN_CUT_RETURNED:
        buf_printf(error, "ended because its worker is leaving");
        return OUTCOME_RETURNED;
    case RUN_CUT_LOST:
        buf_printf(error, "killed because its lease could not be renewed in time");
        return OUTCOME_RETURNED;
    case RUN_CUT_BROKEN: return judge_broken(end, error);
    case RUN_CUT_NONE: break;
    }
    return OUTCOME_NONE;
}

static enum outcome judge_exit(int code, struct buf *error)
{
    if (code == 0)
        return OUTCOME_SUCCEEDED;
    buf_printf(error, "exit code %d", code);
    if (code == FAILURE_EXIT_RETRY)
        buf_printf(error, " (asks for a retry)");
    if (code == FAILURE_EXIT_PERMANENT)
        buf_printf(error, " (permanent)");
    return code == FAILURE_EXIT_PERMANENT ? OUTCOME_PERMANENT : OUTCOME_FAILED;
}

/* A lost lease means SIGKILL, which no command survives to exit: one that did exit was faster,
 * while we were asleep perhaps, and its word counts. */
static bool was_cut(const struct run_end *end)
{
    if (end->cut == RUN_CUT_LOST && end->started && end->step == 0)
        return !WIFEXITED(end->wait_status);
    return end->cut != RUN_CUT_NONE;
}

enum outcome run_end_judge(const struct run_end *end, struct buf *error)
{
    if (was_cut(end))
        return judge_cut(end, error);
    if (end->unready.len > 0) {
        buf_printf(error, "cannot prepare the attempt: %.*s", STR_ARG(end->unready));
        return OUTCOME_FAILED;
    }
    if (end->step != 0)
        return judge_unstarted(end, error);
    if (WIFEXITED(end->wait_status))
        return judge_exit(WEXITSTATUS(end->wait_status), error);

    int signum = WTERMSIG(end->wait_status);
    const char *name = sigabbrev_np(signum);
    buf_printf(error, "killed by signal %d", signum);
    if (name != NULL) /* real-time signals have none */
        buf_printf(error, " (SIG%s)", name);
    if (signum == SIGKILL && end->oom_killed)
        buf_printf(error, ": out of memory");
    return OUTCOME_FAILED;
}

enum poll_code run_end_code(const struct run_end *end, enum outcome outcome)
{
    bool died = end->cut == RUN_CUT_BROKEN && outcome == OUTCOME_STOPPED;
    return died ? POLL_CODE_SPAWNER_DIED : POLL_CODE_NONE;
}

struct failure run_end_classify(const struct run_end *end, enum outcome outcome)
{
    if (outcome != OUTCOME_FAILED && outcome != OUTCOME_PERMANENT && outcome != OUTCOME_TIMEOUT)
        return (struct failure){.class = FAILURE_NONE};
    if (end->unready.len > 0) /* nothing that the job did */
        return (struct failure){FAILURE_UNKNOWN, PERMANENT_NO};
    struct usage usage;
    run_end_usage(end, &usage);
    return failure_classify(&(struct failure_facts){
        .timed_out = outcome == OUTCOME_TIMEOUT,
        .oom_killed = end->oom_killed,
        .spawn_errno = end->step == 0 ? 0 : end->error,
        .spawn_own = end->step == SPAWN_STEP_CHDIR || end->step == SPAWN_STEP_EXEC,
        .exit_code = usage.exit_code,
        .signal = usage.signal,
        .tail = end->tail,
    });
}

/* As a shell has it. */
enum { EXIT_NOT_EXECUTABLE = 126, EXIT_NOT_FOUND = 127 };

static int exit_code_of(const struct run_end *end, bool ran)
{
    if (end->step == SPAWN_STEP_EXEC && !was_cut(end))
        return end->error == ENOENT || end->error == ENOTDIR ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
    return ran && WIFEXITED(end->wait_status) ? WEXITSTATUS(end->wait_status) : -1;
}

void run_end_usage(const struct run_end *end, struct usage *usage)
{
    bool ran = end->started && end->step == 0 && end->cut != RUN_CUT_BROKEN;
    usage->exit_code = exit_code_of(end, ran);
    usage->signal = ran && WIFSIGNALED(end->wait_status) ? WTERMSIG(end->wait_status) : 0;
}
