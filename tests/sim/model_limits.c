/* model_limits.c - what holds work back, counted anew each time from leases and starts. */
#include "coverage.h"
#include "model.h"
#include "world.h"

#include <inttypes.h>

static const struct rules *rules_of(const struct model *m, const struct model_exec *x)
{
    return &model_wish(m, x->job)->rules;
}

/* ---- queues */

bool model_settings_known(const struct world *w, int64_t boot_ms)
{
    return !w->cluster || boot_ms > w->model.settings_ms + w->scene.node_lease_ms;
}

/* So long mail is on its way, and so long a permit or a pass waits for a worker (engine/ready/limit_remote.c). */
enum { MAIL_MS = 1000, IDLE_MS = 10000 };

/* From when on a limit of a queue or a team holds, after settings were changed:
 *
 * - every server that decides has heard of it after the lease of a node, and in its next turn tells the home what
 *   runs already; a server may be frozen in between, for three such leases;
 * - the home reads that within MAIL_MS. Until then it knows less than runs, and grants too much;
 * - such a grant is read within MAIL_MS, and waits for a worker for IDLE_MS at most (engine/ready/limit_remote.c); so does what
 *   was granted before the limit was lowered. Then the permit goes back.
 *
 * What was loaded in the meantime begins anew: a takeover says who holds something, and the home reads that. */
static bool limits_settled(const struct world *w, int64_t boot_ms)
{
    int64_t heard_ms = w->model.settings_ms + 4 * w->scene.node_lease_ms;
    return !w->cluster || boot_ms > heard_ms + 2 * MAIL_MS + IDLE_MS;
}

struct queue_rec model_queue(const struct model *m, struct str name)
{
    for (size_t i = 0; i < m->queues.len; i++) {
        if (str_eq(m->queues.items[i].name, name))
            return m->queues.items[i];
    }
    return (struct queue_rec){.name = name};
}

/* What nobody asked to be changed stays as it is. */
static void check_queue_wishes(struct world *w, const struct queue_rec *rec,
                               const struct turn_view *view)
{
    struct queue_rec before = model_queue(&w->model, rec->name);
    bool run = rec->paused == before.paused;
    bool limit = rec->concurrency == before.concurrency;
    for (size_t i = 0; i < view->count; i++) {
        const struct command *cmd = view->commands[i];
        if (cmd->kind != CMD_QUEUE || !str_eq(cmd->queue.name, rec->name))
            continue;
        run |= cmd->queue.run != QUEUE_LEAVE;
        limit |= cmd->queue.set_concurrency;
    }
    PROMISE(w, run && limit, "%.*s was changed in a way that nobody asked for", STR_ARG(rec->name));
}

void limits_keep_queue(struct world *w, const struct queue_rec *rec, const struct turn_view *view)
{
    struct model *m = &w->model;
    struct queue_rec *kept = NULL;
    check_queue_wishes(w, rec, view);
    for (size_t i = 0; i < m->queues.len; i++) {
        if (str_eq(m->queues.items[i].name, rec->name))
            kept = &m->queues.items[i];
    }
    if (kept == NULL)
        kept = VEC_PUSH(m->arena, &m->queues);
    *kept = *rec;
    kept->name = arena_str(m->arena, rec->name);
    kept->paused_by = arena_str(m->arena, rec->paused_by);
    kept->changed_by = arena_str(m->arena, rec->changed_by);
    PROMISE(w, (rec->paused_ms != 0) == rec->paused && (rec->paused_by.len > 0) == rec->paused,
            "a queue is paused by nobody, or somebody paused it and it is not");
}

size_t model_queue_leases(const struct model *m, struct str name)
{
    size_t count = 0;
    for (size_t i = 0; i < m->execs.len; i++)
        count += model_is_leased(m, m->execs.items[i]) &&
                 str_eq(rules_of(m, m->execs.items[i])->queue, name);
    return count;
}

/* ---- teams */

struct team_rec model_team(const struct model *m, struct str name)
{
    for (size_t i = 0; i < m->teams.len; i++) {
        if (str_eq(m->teams.items[i].name, name))
            return m->teams.items[i];
    }
    return (struct team_rec){.name = name};
}

void limits_keep_team(struct world *w, const struct team_rec *rec)
{
    struct model *m = &w->model;
    struct team_rec *kept = NULL;
    for (size_t i = 0; i < m->teams.len; i++) {
        if (str_eq(m->teams.items[i].name, rec->name))
            kept = &m->teams.items[i];
    }
    if (kept == NULL)
        kept = VEC_PUSH(m->arena, &m->teams);
    *kept = *rec;
    kept->name = arena_str(m->arena, rec->name);
    kept->changed_by = arena_str(m->arena, rec->changed_by);
    PROMISE(w, rec->changed_ms != 0 && rec->changed_by.len > 0, "nobody changed a team");
}

size_t model_team_leases(const struct model *m, struct str name)
{
    size_t count = 0;
    for (size_t i = 0; i < m->execs.len; i++)
        count += model_is_leased(m, m->execs.items[i]) &&
                 str_eq(rules_of(m, m->execs.items[i])->team, name);
    return count;
}

/* There is one, and it is reached. */
static bool team_is_full(const struct model *m, struct str name)
{
    uint32_t concurrency = name.len == 0 ? 0 : model_team(m, name).concurrency;
    return concurrency > 0 && model_team_leases(m, name) >= concurrency;
}

/* ---- limits by key */

size_t model_key_leases(const struct model *m, struct str key)
{
    size_t count = 0;
    for (size_t i = 0; i < m->execs.len; i++)
        count += model_is_leased(m, m->execs.items[i]) &&
                 str_eq(rules_of(m, m->execs.items[i])->concurrency.key, key);
    return count;
}

static bool same_limit(const struct limit_rule *a, const struct limit_rule *b)
{
    return str_eq(a->key, b->key) && a->limit == b->limit && a->per_ms == b->per_ms;
}

bool model_needs_permits(const struct world *w, const struct model_exec *x)
{
    const struct rules *rules = rules_of(&w->model, x);
    return w->cluster && (rules->concurrency.key.len > 0 || rules->rate.key.len > 0 ||
                          model_queue(&w->model, rules->queue).concurrency > 0 ||
                          model_team(&w->model, rules->team).concurrency > 0);
}

bool model_same_limits(const struct world *w, const struct model_exec *a,
                       const struct model_exec *b)
{
    const struct rules *left = rules_of(&w->model, a);
    const struct rules *right = rules_of(&w->model, b);
    return same_limit(&left->concurrency, &right->concurrency) &&
           same_limit(&left->rate, &right->rate) && str_eq(left->team, right->team) &&
           breakers_same(left, right);
}

/* An edit has given the key to what runs already. Its home reads of that within MAIL_MS; a permit that was granted
 * before is read within MAIL_MS as well, and goes back when no worker came for IDLE_MS. */
static bool joined_lately(const struct world *w, const struct model_exec *x)
{
    return w->cluster && exec_is_leased(x->rec.state) && x->job->edited_ms > 0 &&
           w->boot_ms <= x->job->edited_ms + 2 * MAIL_MS + IDLE_MS;
}

/* Jobs that share a key may each tolerate another number. Of those granted in one turn the ones
 * that tolerate least must have gone first: so many leases were there when this one came last. */
static size_t leases_at_grant(const struct world *w, const struct model_exec *granted)
{
    const struct model *m = &w->model;
    const struct limit_rule *rule = &rules_of(m, granted)->concurrency;
    size_t count = model_key_leases(m, rule->key);
    for (size_t i = 0; i < m->execs.len; i++) {
        const struct model_exec *x = m->execs.items[i];
        const struct limit_rule *other = &rules_of(m, x)->concurrency;
        if (!str_eq(other->key, rule->key))
            continue;
        count -= model_was_granted(m, x) ? other->limit > rule->limit : joined_lately(w, x);
    }
    return count;
}

/* The same of a queue and of a team, whose limits bind all that are in them. */
static size_t queue_leases_at_grant(const struct world *w, struct str name)
{
    const struct model *m = &w->model;
    size_t count = model_queue_leases(m, name);
    for (size_t i = 0; i < m->execs.len; i++) {
        const struct model_exec *x = m->execs.items[i];
        count -=
            str_eq(rules_of(m, x)->queue, name) && !model_was_granted(m, x) && joined_lately(w, x);
    }
    return count;
}

static size_t team_leases_at_grant(const struct world *w, struct str name)
{
    const struct model *m = &w->model;
    size_t count = model_team_leases(m, name);
    for (size_t i = 0; i < m->execs.len; i++) {
        const struct model_exec *x = m->execs.items[i];
        count -=
            str_eq(rules_of(m, x)->team, name) && !model_was_granted(m, x) && joined_lately(w, x);
    }
    return count;
}

static struct model_rate *find_rate(const struct model *m, struct str key)
{
    for (size_t i = 0; i < m->rates.len; i++) {
        if (str_eq(m->rates.items[i].key, key))
            return &m->rates.items[i];
    }
    return NULL;
}

static int64_t interval_us(const struct limit_rule *rule)
{
    return rule->per_ms * 1000 / rule->limit;
}

/* Whole milliseconds until the next start. */
static int64_t interval_ms(const struct model_rate *rate)
{
    return (rate->interval_us + 999) / 1000;
}

/* A server that starts knows the moment of the next start by the wall clock alone: when that was set
 * since, there is nothing to hold it to. */
static bool is_certain(const struct world *w, const struct model_rate *rate)
{
    return rate->loads == w->model.loads || rate->skew_ms == w->skew_ms;
}

/* A start for which a clock that was set back has not come to the moment of the one before counts
 * from that moment. */
static int64_t more_ms(const struct world *w, const struct model_rate *before)
{
    return before->key.len > 0 && before->skew_ms != w->skew_ms ? interval_ms(before) + 1 : 0;
}

/* A pass may be used a while after its home let it through, so two starts may come together; but there
 * are no more of them than passes. */
static void start_rate_of_many(struct world *w, const struct model_exec *x,
                               const struct turn_view *view)
{
    struct model *m = &w->model;
    const struct limit_rule *rule = &rules_of(m, x)->rate;
    struct model_rate *rate = find_rate(m, rule->key);
    if (rate == NULL) {
        rate = VEC_PUSH(m->arena, &m->rates);
        *rate = (struct model_rate){
            .key = rule->key, .interval_us = interval_us(rule), .first_ms = view->now.wall_ms};
    }
    int64_t frozen_ms = 3 * w->scene.node_lease_ms;
    int64_t for_ms = view->now.wall_ms - rate->first_ms + MAIL_MS + IDLE_MS + frozen_ms;
    PROMISE(w, ++rate->count <= for_ms / interval_ms(rate) + 1,
            "%" PRId64 " of the rate '%.*s' started within %" PRId64 " ms", rate->count,
            STR_ARG(rule->key), for_ms);
}

static void start_rate(struct world *w, const struct model_exec *x, const struct turn_view *view)
{
    struct model *m = &w->model;
    const struct limit_rule *rule = &rules_of(m, x)->rate;
    struct model_rate *rate = find_rate(m, rule->key);
    if (rate == NULL) {
        rate = VEC_PUSH(m->arena, &m->rates);
        *rate = (struct model_rate){0};
    } else {
        int64_t gap_ms = view->now.boot_ms - rate->started_ms;
        if (rate->loads != m->loads)
            saw(SAW_RATE_AFTER_RESTART);
        PROMISE(w, gap_ms >= interval_ms(rate) || !is_certain(w, rate),
                "%s started %" PRId64 " ms after another of its rate, which takes %" PRId64,
                exec_label(w, x->rec.id), gap_ms, interval_ms(rate));
    }
    *rate = (struct model_rate){
        .key = rule->key,
        .started_ms = view->now.boot_ms,
        .interval_us = interval_us(rule),
        .skew_ms = w->skew_ms,
        .more_ms = more_ms(w, rate),
        .loads = m->loads,
    };
}

/* ---- both */

void limits_granted(struct world *w, const struct model_exec *x, const struct turn_view *view)
{
    const struct rules *rules = rules_of(&w->model, x);
    struct queue_rec queue = model_queue(&w->model, rules->queue);
    PROMISE(w, x->job->rec.state != JOB_PAUSED, "%s was granted while its job is paused",
            exec_label(w, x->rec.id));
    PROMISE(w, !queue.paused || !model_settings_known(w, view->now.boot_ms),
            "%s was granted while its queue is paused", exec_label(w, x->rec.id));
    PROMISE(w,
            queue.concurrency == 0 || !limits_settled(w, view->now.boot_ms) ||
                queue_leases_at_grant(w, rules->queue) <= queue.concurrency,
            "%s was granted, and its queue of %" PRIu32 " has %zu leases", exec_label(w, x->rec.id),
            queue.concurrency, queue_leases_at_grant(w, rules->queue));
    struct team_rec team = model_team(&w->model, rules->team);
    PROMISE(w,
            team.concurrency == 0 || !limits_settled(w, view->now.boot_ms) ||
                team_leases_at_grant(w, rules->team) <= team.concurrency,
            "%s was granted, and its team of %" PRIu32 " has %zu leases", exec_label(w, x->rec.id),
            team.concurrency, team_leases_at_grant(w, rules->team));
    if (rules->concurrency.key.len > 0)
        PROMISE(w, leases_at_grant(w, x) <= rules->concurrency.limit,
                "%s was granted as number %zu of at most %" PRIu32, exec_label(w, x->rec.id),
                leases_at_grant(w, x), rules->concurrency.limit);
    if (rules->rate.key.len > 0 && w->cluster)
        start_rate_of_many(w, x, view);
    else if (rules->rate.key.len > 0)
        start_rate(w, x, view);
}

/* From the newest start, or from a restart: that may have to wait as long again, when the clock was
 * set back. */
static bool rate_is_shut(const struct world *w, struct str key)
{
    const struct model_rate *rate = find_rate(&w->model, key);
    if (rate == NULL)
        return false;
    bool restarted = rate->loads != w->model.loads;
    int64_t from_ms = restarted ? w->model.loaded_ms : rate->started_ms;
    return w->boot_ms <= from_ms + interval_ms(rate) + rate->more_ms + 1;
}

bool model_is_held(const struct world *w, const struct model_exec *x)
{
    const struct rules *rules = rules_of(&w->model, x);
    struct queue_rec queue = model_queue(&w->model, rules->queue);
    if (!model_settings_known(w, w->boot_ms) || model_needs_permits(w, x))
        return true; /* by something that is over, perhaps */
    if (x->job->rec.state == JOB_PAUSED || queue.paused || team_is_full(&w->model, rules->team))
        return true;
    if (queue.concurrency > 0 && model_queue_leases(&w->model, rules->queue) >= queue.concurrency)
        return true;
    if (rules->concurrency.key.len > 0 &&
        model_key_leases(&w->model, rules->concurrency.key) >= rules->concurrency.limit)
        return true;
    if (breakers_hold(w, x))
        return true;
    return rules->rate.key.len > 0 && rate_is_shut(w, rules->rate.key);
}
