/* depends_replan.c - a job that runs once and waits for slots is planned for another moment.
 *
 * By its rules (depends_slots.c) it waits for the latest slot of an upstream at or before its own
 * moment. So what was met for the former moment says nothing about the new one: every rule counts
 * anew, those that wait and those that were met.
 *
 * A rule that is met has left memory, and its row says the same as that of a plain dependency which
 * is met. The edit asks the store for both (ASK_MET); where the upstream recurs it was a rule,
 * since whether a job recurs never changes. A plain dependency stays met, whatever became of its
 * upstream. The row is a standing rule again with the commit of the edit: a server that dies behind
 * that asks for the new moment when it starts, and one that dies before it has not edited
 * anything. */
#include "engine/depend/depends_replan.h"
#include "base/map.h"
#include "base/plant.h"
#include "engine/core/model.h"
#include "engine/core/undo.h"
#include "engine/depend/depends.h"
#include "engine/depend/depends_slots.h"

void depends_ask_met(struct engine *e, struct command *cmd, struct question_list *list)
{
    cmd->edit.met = ARENA_NEW(cmd->arena, struct question);
    *cmd->edit.met = (struct question){.kind = ASK_MET, .id = cmd->edit.id};
    *VEC_PUSH(e->turn.arena, list) = cmd->edit.met;
}

/* A blocked execution waits by the rule at once, a scheduled one when it is due. */
static void stand_again(struct engine *e, struct exec *x, struct edge *rule)
{
    if (x->v.state == EXEC_BLOCKED)
        depends_ask_for(e, x, rule);
}

/* Rules that were met in this very turn are still in memory. Notes all that are. */
static void renew_known(struct engine *e, struct exec *x, struct map *ret_known)
{
    const struct rulebook *st = map_get(&e->depends.rulebooks, x->job->id);
    if (st == NULL)
        return;
    LIST_EACH(&st->rules, node)
    {
        struct edge *rule = CONTAINER_OF(node, struct edge, sibling);
        map_put(ret_known, rule->upstream, rule);
        if (rule->v.state != DEPENDENCY_MET)
            continue;
        edge_change(e, rule, (struct edge_values){.state = DEPENDENCY_PER_SLOT});
        stand_again(e, x, rule);
    }
}

static void renew_kept(struct engine *e, struct exec *x, const struct dependency_rec *met)
{
    const struct edge_values standing = {.state = DEPENDENCY_PER_SLOT};
    struct edge *rule = edge_new(e, met, NULL, NULL, &standing);
    touch_new(touch_edge(e, rule), true)->durable = true;
    stand_again(e, x, rule);
}

void depends_replanned(struct engine *e, const struct command *cmd, struct exec *x)
{
    CLEANUP(map_free) struct map known = {0};
    const struct answer *a = &cmd->edit.met->answer;
    depends_moved(e, x);
    if (PLANTED(met_rule_stays_met))
        return;
    renew_known(e, x, &known);
    for (size_t i = 0; i < a->job_count; i++) {
        if (map_get(&known, a->met[i].upstream) == NULL && depends_recurs(e, &a->jobs[i]))
            renew_kept(e, x, &a->met[i]);
    }
}
