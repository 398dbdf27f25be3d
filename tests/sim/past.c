#include "past.h"
#include "base/mem.h"
#include "coverage.h"
#include "world.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    FOLLOW_MIN_MS = 3000, /* so long the standby keeps up, at least, … */
    FOLLOW_MAX_MS = 60000,
    LAG_MAX_MS = 15000, /* … and so long it lags, at most */
    AGAIN_MS = 20,
};

/* A token that a worker was given. */
struct given {
    uint64_t token;
    uint64_t worker_id;
    bool lost; /* with the turn that granted it */
};

/* ---- remembering */

static void copy_block(void *arg, char *bytes, size_t len)
{
    struct sim_past *p = arg;
    p->blocks = mem_resize(p->blocks, (p->block_count + 1) * sizeof *p->blocks);
    p->blocks[p->block_count++] = (struct past_block){bytes, mem_dup(bytes, len), len};
}

static struct map *map_at(struct model *m, size_t at)
{
    struct map *maps[] = {&m->job_by_id, &m->exec_by_id, &m->worker_by_id, &m->applied};
    return maps[at];
}

static void remember(struct world *w)
{
    struct sim_past *p = &w->past;
    p->model = w->model;
    arena_each(w->model.arena, copy_block, p);
    for (size_t i = 0; i < COUNT_OF(p->maps); i++) {
        MAP_EACH(map_at(&w->model, i), slot) map_put(&p->maps[i], slot->key, slot->value);
    }
    p->remembered = true;
}

/* ---- going back */

struct asked_for {
    struct wish *wishes;
    size_t wish_count;
    const struct model_plan **plans;
    size_t plan_count;
};

/* People have asked for it, whatever became of that. */
static void put_wishes(struct model *m, const struct asked_for *all)
{
    for (size_t i = m->wishes.len; i < all->wish_count; i++) {
        struct wish *wish = VEC_PUSH(m->arena, &m->wishes);
        *wish = all->wishes[i];
        wish->job_id = 0;
        wish->acknowledged = false;
    }
    for (size_t i = m->plans.len; i < all->plan_count; i++)
        *VEC_PUSH(m->arena, &m->plans) = all->plans[i];
}

/* Who has lost nothing hears of the settings as they are when others have found out. */
static void put_times(struct world *w, const struct model *now)
{
    struct model *m = &w->model;
    m->turn = now->turn;
    m->loads = now->loads;
    m->loaded_ms = now->loaded_ms;
    m->newest_ms = now->newest_ms;
    m->settings_ms = w->boot_ms + w->scene.node_lease_ms;
    for (size_t i = 0; i < m->calendars.len; i++)
        m->calendars.items[i].changed_ms = m->settings_ms;
}

static void restore(struct world *w)
{
    struct sim_past *p = &w->past;
    struct model now = w->model;
    struct asked_for all = {
        .wishes = mem_dup(now.wishes.items, now.wishes.len * sizeof *now.wishes.items),
        .wish_count = now.wishes.len,
        .plans = mem_dup(now.plans.items, now.plans.len * sizeof(struct model_plan *)),
        .plan_count = now.plans.len,
    };
    for (size_t i = 0; i < p->block_count; i++)
        memcpy(p->blocks[i].at, p->blocks[i].copy, p->blocks[i].len);
    w->model = p->model;
    for (size_t i = 0; i < COUNT_OF(p->maps); i++) {
        *map_at(&w->model, i) = p->maps[i];
        p->maps[i] = (struct map){0};
        map_free(map_at(&now, i));
    }
    put_wishes(&w->model, &all);
    put_times(w, &now);
    free(all.wishes);
    free(all.plans);
}

static void lose_tokens(struct world *w)
{
    MAP_EACH(&w->past.tokens, slot)
    {
        struct given *given = slot->value;
        struct model_exec *x = model_exec(&w->model, slot->key);
        given->lost = x == NULL || model_attempt(x, given->token) == NULL;
    }
}

/* It has kept something, or taken something, that is not there any more. */
static bool has_lost(const struct sim_server *s)
{
    const struct mem_sent sent = {.own = s->turn.owned};
    struct err err;
    return s->up && (store_mem_lost(s->door->inner) > 0 ||
                     store_mem_arrives(s->door->inner, &sent, &err) != RC_OK);
}

static void go_back(struct world *w, void *what, uint64_t no)
{
    for (size_t i = 0; i < w->server_count; i++) {
        if (w->servers[i].in_turn) {
            agenda_add(w, w->boot_ms + AGAIN_MS, go_back, what, no);
            return;
        }
    }
    size_t jobs = w->model.jobs.len;
    store_mem_fail_over(w->doors[0].inner);
    restore(w);
    SAY(w, "database", "a standby takes over, and %zu jobs are lost", jobs - w->model.jobs.len);
    w->past.gone_back = true;
    w->past.back_ms = w->boot_ms;
    lose_tokens(w);
    inbox_go_back(w);
    for (size_t i = 0; i < w->server_count; i++) {
        w->servers[i].astray = has_lost(&w->servers[i]);
        if (w->servers[i].astray) {
            saw(SAW_GONE_BACK);
            SAY(w, w->servers[i].name, "believes in turns that are lost");
        }
    }
}

static void fall_behind(struct world *w, void *what, uint64_t no)
{
    SAY(w, "database", "its standby lags from now on");
    remember(w);
    store_mem_lag(w->doors[0].inner);
    agenda_add(w, w->boot_ms + pick_ms(w, 1, LAG_MAX_MS), go_back, what, no);
}

void past_begin(struct world *w)
{
    if (!w->scene.lags)
        return;
    store_mem_stand_by(w->doors[0].inner);
    agenda_add(w, pick_ms(w, FOLLOW_MIN_MS, FOLLOW_MAX_MS), fall_behind, NULL, 0);
}

void past_free(struct world *w)
{
    struct sim_past *p = &w->past;
    for (size_t i = 0; i < p->block_count; i++)
        free(p->blocks[i].copy);
    free(p->blocks);
    for (size_t i = 0; i < COUNT_OF(p->maps); i++)
        map_free(&p->maps[i]);
    map_free(&p->tokens);
}

/* ---- promises */

void past_granted(struct world *w, const struct command *poll, uint64_t exec_id, uint64_t token)
{
    struct given *given = map_get(&w->past.tokens, exec_id);
    if (!w->scene.lags)
        return;
    if (given == NULL) {
        given = ARENA_NEW(&w->arena, struct given);
        map_put(&w->past.tokens, exec_id, given);
    }
    bool again = token == given->token && poll->poll.worker_id == given->worker_id && !given->lost;
    PROMISE(w, token > given->token || again,
            "%s is given away with token %" PRIu64 ", and %" PRIu64 " was given before",
            exec_label(w, exec_id), token, given->token);
    *given = (struct given){.token = token, .worker_id = poll->poll.worker_id};
}

void past_noticed(struct sim_server *s, uint64_t turns)
{
    SAY(s->world, s->name, "finds that %" PRIu64 " turns are lost", turns);
    s->lost_turns += turns > 0 ? turns : 1;
    s->world->past.noticed = true;
}

void past_keep(struct world *w, const struct delta *delta)
{
    for (size_t i = 0; i < delta->alert_count; i++)
        w->past.told |= str_eq(delta->alerts[i].key, STR("turns_lost"));
}

void past_check_turn(const struct sim_server *s, int64_t began_ms)
{
    struct world *w = s->world;
    PROMISE(w, !s->astray || began_ms <= w->past.back_ms + w->scene.node_lease_ms,
            "%s has not found that turns are lost for %" PRId64 " ms", s->name,
            began_ms - w->past.back_ms);
}

bool past_is_ghost(const struct world *w, uint64_t exec_id, uint64_t token)
{
    struct model_exec *x = w->past.gone_back ? model_exec(&w->model, exec_id) : NULL;
    return w->past.gone_back && (x == NULL || model_attempt(x, token) == NULL);
}

bool past_is_answer_lost(const struct world *w, const struct call *call)
{
    return w->past.gone_back && (call->astray || call->replied_ms <= w->past.back_ms);
}

void past_check(struct world *w)
{
    PROMISE(w, !w->past.noticed || w->past.told, "turns are lost, and nobody was told");
}
