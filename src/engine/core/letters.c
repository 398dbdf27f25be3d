/* letters.c - dead letters: written when an execution fails for good, taken away when somebody has
 * decided about it. The engine keeps none in memory: a command that needs one asks the store. */
#include "engine/core/letters.h"
#include "base/plant.h"
#include "engine/core/commands.h"
#include "engine/core/exec.h"
#include "engine/core/model.h"
#include "engine/ready/forget.h"

#include <assert.h>

bool exec_is_dead(const struct exec *x)
{
    bool failed = x->v.state == EXEC_FAILED || x->v.state == EXEC_TIMEOUT;
    return failed && x->origin != ORIGIN_PING; /* which nobody here can run again */
}

/* The line by which its last attempt is recognised; see failure_fingerprint. */
static struct str line_of(struct engine *e, const struct attempt_rec *attempt)
{
    char text[FAILURE_LINE_BYTES_MAX];
    struct str line = failure_line(attempt->tail);
    if (line.len == 0)
        line = attempt->error;
    return arena_str(e->turn.arena, failure_normalise(line, text));
}

struct letter_rec letter_of(struct engine *e, const struct touched *t)
{
    const struct exec *x = t->exec;
    assert(exec_is_dead(x) && t->attempt > 0);
    const struct attempt_rec *last = &e->turn.attempts.items[t->attempt - 1];
    return (struct letter_rec){
        .place = {x->v.finished_ms, x->id},
        .job_id = x->job->id,
        .state = x->v.state,
        .queue = x->job->v.def->rules.queue->name,
        .name = job_name(x->job),
        .reason = PLANTED(dead_letter_without_reason) ? LETTER_NONE : t->why,
        .class = last->class,
        .fingerprint = last->fingerprint,
        .line = line_of(e, last),
        .error = t->error,
        .attempts = x->v.attempts,
        .lost = x->v.lost,
    };
}

bool letter_is_gone(const struct engine *e, struct letter_place place)
{
    for (size_t i = 0; i < e->turn.letters_gone.len; i++) {
        if (letter_order(e->turn.letters_gone.items[i].place, place) == 0)
            return true;
    }
    return false;
}

bool letter_take(struct engine *e, const struct letter_rec *letter)
{
    if (letter_is_gone(e, letter->place))
        return false;
    if (!PLANTED(letter_outlives_retry))
        *VEC_PUSH(e->turn.arena, &e->turn.letters_gone) =
            (struct gone_letter){letter->place, queue_use(e, letter->queue), letter->state};
    return true;
}

const struct letter_rec *letter_asked(const struct engine *e, const struct command *cmd)
{
    const struct answer *a = cmd->question_count > 0 ? &cmd->questions[0].answer : NULL;
    bool there = a != NULL && a->letter_count > 0 && !letter_is_gone(e, a->letters[0].place);
    return there ? a->letters : NULL;
}

void decide_discard(struct engine *e, struct command *cmd)
{
    const struct letter_rec *letter = letter_asked(e, cmd);
    if (letter == NULL) {
        command_fail(e, cmd, RC_NOT_FOUND, "the execution is not among the dead letters");
        return;
    }
    letter_take(e, letter);
    cmd->reply.exec_id = letter->place.exec_id;
    cmd->reply.job_id = letter->job_id;
    cmd->reply.exec_state = letter->state;
    command_done(e, cmd);
}
