#include "engine/test/explain.h"

const struct explanation *explain(struct world *w, enum command_kind kind, uint64_t id)
{
    size_t live = engine_live_count(w->engine);
    struct asked *asked = ask_about(w, kind, id);
    world_turn(w);
    assert_int_equal(asked->answers, 1);
    assert_int_equal(asked->cmd.reply.rc, RC_OK);
    assert_true(delta_is_empty(&w->delta));               /* looking changes nothing … */
    assert_int_equal(engine_live_count(w->engine), live); /* … and leaves nothing behind */
    return asked->cmd.reply.explanation;
}

const struct explanation *explain_job(struct world *w, const struct submission *job)
{
    return explain(w, CMD_EXPLAIN_JOB, job->job_id);
}

const struct blocker *only(struct world *w, const struct submission *job, enum blocker_kind kind)
{
    const struct explanation *found = explain_job(w, job);
    assert_int_equal(found->blocker_count, 1);
    assert_int_equal(found->blockers[0].kind, kind);
    assert_true(str_eq(found->summary, found->blockers[0].text));
    return found->blockers;
}

const struct blocker *find(const struct explanation *found, enum blocker_kind kind)
{
    for (size_t i = 0; i < found->blocker_count; i++) {
        if (found->blockers[i].kind == kind)
            return &found->blockers[i];
    }
    return NULL;
}

void assert_says(struct str text, const char *words)
{
    for (size_t i = 0; i < text.len; i++) {
        if (str_starts(str_from(text, i), str_c(words)))
            return;
    }
    fail_msg("'%.*s' does not say '%s'", STR_ARG(text), words);
}

struct fake hire_parked(struct world *w, struct skills skills, uint32_t free)
{
    struct fake f = hire_one(w, skills);
    ask_poll(w, &f, free);
    world_turn(w);
    return f;
}

struct asked *ask_queue(struct world *w, const char *name, struct queue_wish wish)
{
    struct asked *asked = ask(w, CMD_QUEUE);
    wish.name = str_c(name);
    asked->cmd.queue = wish;
    return asked;
}

void pause_job(struct world *w, uint64_t id, const char *reason)
{
    ask_about(w, CMD_PAUSE_JOB, id)->cmd.target.reason = str_c(reason);
    world_turn(w);
}
