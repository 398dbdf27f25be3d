/* teams.c - limits over all jobs of a team, in whatever queue.
 *
 * A team is a limit like those by key (limit.h), with leases counted the same way; only that how
 * many it may have is decided about the team, durably, and not said by each job. A team of which
 * there are no jobs in memory, and about which nobody decided anything, is not known. */
#include "engine/ready/teams.h"
#include "engine/core/commands.h"
#include "engine/core/model.h"
#include "engine/core/undo.h"
#include "engine/ready/limit.h"
#include "engine/ready/limit_remote.h"
#include "engine/ready/queues.h"
#include "engine/ready/ready.h"

#include <stdlib.h>

struct team_rec team_record(const struct limit *team)
{
    return (struct team_rec){
        .name = team->key,
        .concurrency = team->v.max,
        .changed_ms = team->v.changed_ms,
        .changed_by = team->v.changed_by,
    };
}

void engine_load_team(struct engine *e, const struct team_rec *rec)
{
    struct limit *team = limit_join(&e->ready.limits, LIMIT_TEAM, rec->name);
    struct limit_values to = team->v;
    permits_limited(e, to.max, rec->concurrency);
    to.max = rec->concurrency;
    to.changed_ms = rec->changed_ms;
    to.changed_by = *name_keep(e, rec->changed_by);
    team->reading = e->readings;
    ready_limit(&e->ready, team, &to);
    limit_leave(&e->ready.limits, team); /* its jobs join it as they come */
}

/* The store no longer says anything about it. */
static void void_team(struct engine *e, struct limit *team)
{
    struct limit_values to = team->v;
    to.max = 0;
    to.changed_ms = 0;
    to.changed_by = (struct str){0};
    (void)limit_join(&e->ready.limits, LIMIT_TEAM, team->key); /* it stays meanwhile */
    ready_limit(&e->ready, team, &to);
    limit_leave(&e->ready.limits, team);
}

void teams_read(struct engine *e)
{
    const struct strmap *limits = &e->ready.limits.by_key;
    for (size_t i = 0; i < limits->cap; i++) {
        struct limit *team = limits->slots[i].value;
        if (team == NULL || team->kind != LIMIT_TEAM || team->v.changed_ms == 0 ||
            team->reading == e->readings)
            continue;
        void_team(e, team);
        i = SIZE_MAX; /* it may be gone, and others have moved: from the beginning */
    }
}

static struct team_view view_of(const struct limit *team, struct arena *arena)
{
    struct team_view view = {.team = team_record(team), .running = team->held - team->lent};
    view.team.name = arena_str(arena, view.team.name);
    view.team.changed_by = arena_str(arena, view.team.changed_by);
    return view;
}

static void limit_team(struct engine *e, struct limit *team, const struct command *cmd)
{
    struct limit_values to = team->v;
    permits_limited(e, to.max, cmd->team.concurrency);
    to.max = cmd->team.concurrency;
    to.changed_ms = e->now_ms;
    to.changed_by = *name_keep(e, cmd->actor);
    touch_limit(e, team)->durable = true;
    ready_limit(&e->ready, team, &to);
}

void decide_team(struct engine *e, struct command *cmd)
{
    struct limits *limits = &e->ready.limits;
    struct limit *team = limit_join(limits, LIMIT_TEAM, cmd->team.name);
    bool changes = cmd->team.set_concurrency && cmd->team.concurrency != team->v.max;
    bool is_known = team->members > 1 || team->v.changed_ms != 0;
    if (changes)
        limit_team(e, team, cmd);
    if (changes || is_known) {
        struct team_view *view = ARENA_NEW(cmd->arena, struct team_view);
        *view = view_of(team, cmd->arena);
        cmd->reply.teams = view;
        cmd->reply.team_count = 1;
        command_done(e, cmd);
    } else {
        command_fail(e, cmd, RC_NOT_FOUND, "there is no team '%.*s'", STR_ARG(cmd->team.name));
    }
    limit_leave(limits, team);
}

static int by_name(const void *a, const void *b)
{
    const struct team_view *left = a;
    const struct team_view *right = b;
    return str_cmp(left->team.name, right->team.name);
}

void decide_teams(struct engine *e, struct command *cmd)
{
    const struct strmap *limits = &e->ready.limits.by_key;
    struct team_view *views = ARENA_ARRAY(cmd->arena, struct team_view, limits->len);
    size_t len = 0;
    for (size_t i = 0; i < limits->cap; i++) {
        const struct limit *limit = limits->slots[i].value;
        if (limit != NULL && limit->kind == LIMIT_TEAM)
            views[len++] = view_of(limit, cmd->arena);
    }
    if (len > 0)
        qsort(views, len, sizeof *views, by_name);
    cmd->reply.teams = views;
    cmd->reply.team_count = len;
    command_done(e, cmd);
}
