/* test_edit.h - edits of jobs, for the engine's tests. */
#pragma once
#include "engine/test_engine.h"

/* Another definition for a job, made from that version; replan: when it runs is another wish, too. */
static inline struct asked *ask_edit_to(struct world *w, uint64_t id, uint32_t version, bool replan,
                                        struct wish wish)
{
    struct asked *asked = ask(w, CMD_EDIT_JOB);
    struct submission *item = ARENA_NEW(&asked->arena, struct submission);
    fill_submission(asked, item, &wish);
    asked->cmd.edit.id = id;
    asked->cmd.edit.version = version;
    asked->cmd.edit.replan = replan;
    asked->cmd.edit.what = STR("queue, schedule");
    asked->cmd.edit.item = item;
    return asked;
}

#define EDIT(world, id, version, replan, ...)                                                      \
    ask_edit_to((world), (id), (version), (replan), (struct wish){.unused = 0, __VA_ARGS__})
