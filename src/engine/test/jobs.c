#include "engine/test/jobs.h"

struct asked *ask_submit_all(struct world *w, const struct wish *wishes, size_t count)
{
    struct asked *asked = ask(w, CMD_SUBMIT);
    asked->cmd.submit.items = ARENA_ARRAY(&asked->arena, struct submission, count);
    asked->cmd.submit.count = count;
    for (size_t i = 0; i < count; i++)
        wish_fill(&asked->arena, &asked->cmd.submit.items[i], &wishes[i]);
    for (size_t i = 0; i < count; i++)
        asked->cmd.submit.items[i].number = i;
    return asked;
}

struct submission *ask_submit_one(struct world *w, struct wish wish)
{
    return ask_submit_all(w, &wish, 1)->cmd.submit.items;
}

struct asked *ask_about(struct world *w, enum command_kind kind, uint64_t id)
{
    struct asked *asked = ask(w, kind);
    asked->cmd.target.id = id;
    return asked;
}

struct asked *ask_edit_to(struct world *w, uint64_t id, uint32_t version, bool replan,
                          struct wish wish)
{
    struct asked *asked = ask(w, CMD_EDIT_JOB);
    struct submission *item = ARENA_NEW(&asked->arena, struct submission);
    wish_fill(&asked->arena, item, &wish);
    asked->cmd.edit.id = id;
    asked->cmd.edit.version = version;
    asked->cmd.edit.replan = replan;
    asked->cmd.edit.what = STR("queue, schedule");
    asked->cmd.edit.item = item;
    return asked;
}

struct asked *ask_put_calendar(struct world *w, const char *name, const char *document)
{
    struct asked *asked = ask(w, CMD_CALENDAR);
    asked->cmd.calendar.name = arena_str(&asked->arena, str_c(name));
    asked->cmd.calendar.forget = document == NULL;
    asked->cmd.calendar.document = arena_str(&asked->arena, str_c(document));
    return asked;
}

const struct exec *exec_of(const struct world *w, uint64_t id)
{
    return map_get(&w->engine->execs, id);
}

enum exec_state state_of(const struct world *w, uint64_t id)
{
    const struct exec_rec *x = map_get(&w->table.live, id);
    if (x == NULL)
        x = map_get(&w->table.history, id);
    return x == NULL ? EXEC_NONE : x->state;
}

enum job_state job_state_of(const struct world *w, uint64_t id)
{
    const struct job_rec *job = map_get(&w->table.jobs, id);
    return job == NULL ? JOB_NONE : job->state;
}

const struct attempt_rec *attempt_of(const struct world *w, uint64_t id, uint64_t token)
{
    return map_get(&w->table.attempts, attempt_key(id, token));
}
