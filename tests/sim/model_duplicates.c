/* model_duplicates.c - what comes twice: requests, unique work, effects. */
#include "coverage.h"
#include "model.h"
#include "world.h"

/* ---- requests: one job per key, while the key is known */

struct model_request *duplicates_request(struct model *m, struct str key)
{
    for (size_t i = 0; i < m->requests.len; i++) {
        if (str_eq(m->requests.items[i].key, key))
            return &m->requests.items[i];
    }
    return NULL;
}

static void keep_request(struct world *w, struct str key, const struct model_request *kept)
{
    struct model *m = &w->model;
    struct model_request *request = duplicates_request(m, key);
    PROMISE(w, request == NULL || request->until_ms <= m->newest_ms,
            "two requests with the key '%.*s' were kept", STR_ARG(key));
    if (request == NULL)
        request = VEC_PUSH(m->arena, &m->requests);
    *request = *kept;
    request->key = arena_str(m->arena, key);
    request->hash = arena_str(m->arena, kept->hash);
}

/* The newest that was kept under the key; NULL: none was. */
static struct model_kept *kept_under(struct model *m, struct str key)
{
    for (size_t i = m->kept.len; i-- > 0;) {
        if (str_eq(m->kept.items[i].key, key))
            return &m->kept.items[i];
    }
    return NULL;
}

/* Nobody may do again what has succeeded, while its key is kept. */
static void check_kept(struct world *w, const struct wish *wish, uint64_t job_id)
{
    const struct unique_rule *rule = &wish->rules.unique;
    const struct model_kept *kept = rule->key.len > 0 ? kept_under(&w->model, rule->key) : NULL;
    if (kept == NULL || kept->over_turn != 0)
        return;
    bool ended = kept->until_ms <= w->model.newest_ms;
    PROMISE(w, ended || rule->on_conflict == CONFLICT_REPLACE,
            "%s was made although its unique key '%.*s' is kept by %s", job_label(w, job_id),
            STR_ARG(rule->key), job_label(w, kept->job_id));
    saw(ended ? SAW_KEPT_ENDED : SAW_KEPT_TAKEN);
}

void duplicates_new_job(struct world *w, const struct wish *wish, uint64_t job_id,
                        const struct turn_view *view)
{
    check_kept(w, wish, job_id);
    if (wish->once.key.len > 0)
        keep_request(
            w, wish->once.key,
            &(struct model_request){.hash = wish->once.hash,
                                    .job_id = job_id,
                                    .until_ms = view->now.wall_ms + w->scene.engine.once_ms});
}

/* Of unique work that was there already the answer is kept as well: behind the hash, and the number
 * of the turn, its note has the job. */
void duplicates_claim(struct world *w, const struct claim *claim)
{
    struct str note = claim->note;
    struct model_request kept = {.hash = str_cut(&note, ' '), .until_ms = claim->until_ms};
    if (claim->kind != CLAIM_REQUEST)
        return;
    (void)str_cut(&note, ' ');
    str_to_u64(str_cut(&note, ' '), &kept.job_id);
    keep_request(w, claim->key, &kept);
}

/* Another submission with the same key in this turn: nobody can say what becomes of it. */
static bool is_asked_twice(const struct world *w, const struct submission *item)
{
    const struct turn_view *view = w->door->view;
    for (size_t i = 0; i < view->count; i++) {
        const struct command *cmd = view->commands[i];
        for (size_t k = 0; cmd->kind == CMD_SUBMIT && k < cmd->submit.count; k++) {
            const struct submission *other = &cmd->submit.items[k];
            if (other != item && str_eq(other->once.key, item->once.key))
                return true;
        }
    }
    return false;
}

/* Also when the job itself is too old to be there. */
void duplicates_check_replay(struct world *w, const struct submission *item)
{
    const struct model_request *request = duplicates_request(&w->model, item->once.key);
    saw(SAW_REPLAY);
    PROMISE(w,
            request != NULL && request->job_id == item->job_id &&
                str_eq(request->hash, item->once.hash),
            "the key '%.*s' brings back an answer that nobody was given", STR_ARG(item->once.key));
}

/* ---- unique work */

static bool has_key(const struct world *w, const struct model_exec *x, struct str key)
{
    return key.len > 0 && str_eq(model_wish(&w->model, x->job)->rules.unique.key, key);
}

static bool holds(const struct world *w, const struct model_exec *x)
{
    const struct unique_rule *rule = &model_wish(&w->model, x->job)->rules.unique;
    return rule->key.len > 0 && !exec_is_final(x->rec.state) &&
           (!rule->until_start || x->rec.token == 0);
}

/* When the turn began, or within it. */
static bool was_stopping(const struct world *w, const struct submission *item)
{
    for (size_t i = 0; i < w->model.execs.len; i++) {
        const struct model_exec *x = w->model.execs.items[i];
        if (has_key(w, x, item->rules.unique.key) &&
            (x->rec.state == EXEC_STOPPING || x->changed_turn >= w->door->view->turn))
            return true;
    }
    return w->cluster; /* it was elsewhere, and may be over by now */
}

void duplicates_check_refusal(struct world *w, const struct submission *item)
{
    const struct model_request *request = duplicates_request(&w->model, item->once.key);
    if (item->rc == RC_REUSED) {
        saw(SAW_KEY_REUSED);
        PROMISE(w, request != NULL && !str_eq(request->hash, item->once.hash),
                "the key '%.*s' was called used, and is not", STR_ARG(item->once.key));
    } else if (item->rc == RC_PENDING) {
        saw(SAW_PENDING);
        PROMISE(w, is_asked_twice(w, item), "'%.*s' was called pending, and nobody else asks",
                STR_ARG(item->once.key));
    } else if (item->rc == RC_STOPPING) {
        saw(SAW_STOPPING);
        PROMISE(w, was_stopping(w, item), "no run with the key '%.*s' is being stopped",
                STR_ARG(item->rules.unique.key));
    }
}

void duplicates_check_unique(struct world *w, const struct model_exec *x)
{
    struct str key = model_wish(&w->model, x->job)->rules.unique.key;
    for (size_t i = 0; holds(w, x) && i < w->model.execs.len; i++) {
        const struct model_exec *other = w->model.execs.items[i];
        PROMISE(w, other == x || !has_key(w, other, key) || !holds(w, other),
                "%s and %s both have the unique key '%.*s'", exec_label(w, x->rec.id),
                exec_label(w, other->rec.id), STR_ARG(key));
    }
}

static int64_t keep_ms(const struct world *w, const struct unique_rule *rule)
{
    if (rule->key.len == 0 || rule->until_start)
        return 0;
    return rule->has_keep ? rule->keep_ms : w->scene.engine.unique_keep_ms;
}

/* Another job took the key in the turn that is kept, and may be over as well. */
static bool is_taken_now(const struct world *w, const struct model_exec *x, struct str key)
{
    for (size_t i = 0; i < w->model.execs.len; i++) {
        const struct model_exec *other = w->model.execs.items[i];
        if (other->job != x->job && other->born_turn == w->model.turn && has_key(w, other, key))
            return true;
    }
    return false;
}

void duplicates_keep_key(struct world *w, const struct model_exec *x, const struct turn_view *view)
{
    struct model *m = &w->model;
    const struct unique_rule *rule = &model_wish(m, x->job)->rules.unique;
    bool succeeded = x->rec.state == EXEC_COMPLETED || x->rec.state == EXEC_DEDUPLICATED;
    struct model_kept *before = rule->key.len > 0 ? kept_under(m, rule->key) : NULL;
    if (before != NULL && before->over_turn == 0 && x->born_turn == m->turn)
        before->over_turn = m->turn;
    if (succeeded && keep_ms(w, rule) > 0 && !is_taken_now(w, x, rule->key))
        *VEC_PUSH(m->arena, &m->kept) =
            (struct model_kept){.key = rule->key,
                                .job_id = x->rec.job_id,
                                .until_ms = view->now.wall_ms + keep_ms(w, rule)};
}

/* Kept when the turn began, or until something happened within it. */
static bool was_kept(const struct world *w, struct str key, uint64_t job_id)
{
    const struct turn_view *view = w->door->view;
    for (size_t i = 0; i < w->model.kept.len; i++) {
        const struct model_kept *kept = &w->model.kept.items[i];
        if (str_eq(kept->key, key) && (job_id == 0 || kept->job_id == job_id) &&
            kept->until_ms > view->now.wall_ms &&
            (kept->over_turn == 0 || kept->over_turn >= view->turn))
            return true;
    }
    return false;
}

/* Held when the turn began, or by something that it made. */
bool duplicates_was_held(const struct world *w, const struct submission *item)
{
    for (size_t i = 0; i < w->model.execs.len; i++) {
        const struct model_exec *x = w->model.execs.items[i];
        if (has_key(w, x, item->rules.unique.key) &&
            (holds(w, x) || x->changed_turn >= w->door->view->turn))
            return true;
    }
    return was_kept(w, item->rules.unique.key, 0);
}

void duplicates_check_existing(struct world *w, const struct submission *item)
{
    const struct model_exec *x = model_exec(&w->model, item->exec_id);
    saw(SAW_EXISTING);
    if (was_kept(w, item->rules.unique.key, item->job_id)) {
        saw(SAW_KEPT);
        bool ended_now = x != NULL && x->changed_turn >= w->door->view->turn; /* perhaps after it */
        PROMISE(w, item->state == JOB_COMPLETED || (item->state == JOB_ACTIVE && ended_now),
                "unique work that has succeeded is called %.*s",
                STR_ARG(job_state_name(item->state)));
        return;
    }
    PROMISE(w,
            x != NULL && x->rec.job_id == item->job_id && has_key(w, x, item->rules.unique.key) &&
                (holds(w, x) || x->changed_turn >= w->door->view->turn),
            "unique work was said to be there, and is not");
    PROMISE(
        w, x->rec.state != EXEC_STOPPING || x->changed_turn >= w->door->view->turn || w->cluster,
        "unique work was said to be there, and is being cancelled: %s", exec_label(w, x->rec.id));
}

/* ---- effects */

static bool says_it_is_done(struct model_exec *x, const struct poll *poll)
{
    for (size_t i = 0; i < poll->result_count; i++) {
        const struct poll_result *result = &poll->results[i];
        const struct model_attempt *attempt =
            result->exec_id == x->rec.id ? model_attempt(x, result->token) : NULL;
        if (attempt != NULL && result->outcome == OUTCOME_SUCCEEDED &&
            result->token < x->rec.token && attempt->worker_id == poll->worker_id &&
            (attempt->outcome == OUTCOME_LOST || attempt->outcome == OUTCOME_RETURNED))
            return true;
    }
    return false;
}

void duplicates_check_effect(struct world *w, struct model_exec *x, const struct exec_rec *to,
                             const struct turn_view *view)
{
    bool said = x->rec.effect_done;
    PROMISE(w, to->effect_done || !said, "what %s has done is forgotten", exec_label(w, to->id));
    for (size_t i = 0; i < view->count && !said; i++)
        said = view->commands[i]->kind == CMD_POLL && says_it_is_done(x, &view->commands[i]->poll);
    PROMISE(w, said || !to->effect_done, "%s is called done, and nobody said so",
            exec_label(w, to->id));
}
