/* unique.c - work that is there once.
 *
 * Of all jobs that name a key, one at a time holds it: while it waits for its first start, or until
 * it is over. So the time in which it is held has one beginning and one end, and what comes back to
 * its queue after a lost lease need not ask for a key that somebody else may have by then.
 *
 * After success a key may be kept for a while. No job holds it then: the claim has an end, and its
 * note says what a submission that meets it is told (kept_note), so the job itself may be forgotten
 * by then and any server may decide. The store sees to it that no two of them decide at once
 * (ASK_CLAIM).
 *
 * The claim in the store decides, also about jobs that are not in memory. In between, within a
 * turn, a key may pass from one job to the next: its holder in memory follows from the values of
 * the executions (unique_held), and is looked at first. */
#include "engine/submit/unique.h"
#include "base/plant.h"
#include "base/when.h"
#include "engine/core/commands.h"
#include "engine/core/exec.h"
#include "engine/core/load.h"
#include "engine/core/model.h"

#include <inttypes.h>

/* ---- who holds it */

bool unique_held(const struct exec *x)
{
    const struct unique_rule *rule = x->job->v.def->rules.unique;
    if (rule == NULL || exec_is_final(x->v.state))
        return false;
    return !rule->until_start || x->v.lease.token == 0;
}

void unique_place(struct engine *e, struct exec *x)
{
    if (unique_held(x) && strmap_get(&e->uniques, x->job->v.def->rules.unique->key) == NULL)
        strmap_put(&e->uniques, x->job->v.def->rules.unique->key, x);
}

void unique_unplace(struct engine *e, struct exec *x)
{
    const struct unique_rule *rule = x->job->v.def->rules.unique;
    if (rule != NULL && strmap_get(&e->uniques, rule->key) == x)
        strmap_remove(&e->uniques, rule->key);
}

/* ---- keys that are kept */

#define KEPT STR("kept ")

static bool is_success(enum exec_state state)
{
    return state == EXEC_COMPLETED || state == EXEC_DEDUPLICATED;
}

static int64_t keep_ms(const struct engine *e, const struct unique_rule *rule)
{
    if (rule->until_start)
        return 0;
    return rule->has_keep ? rule->keep_ms : e->options.unique_keep_ms;
}

/* x ended in this turn, with success. */
static struct unique_kept kept_by(const struct engine *e, const struct exec *x)
{
    return (struct unique_kept){
        .job_id = x->job->id,
        .exec_id = x->id,
        .created_ms = x->job->created_ms,
        .until_ms = e->now_ms + keep_ms(e, x->job->v.def->rules.unique),
    };
}

static struct str kept_note(struct arena *arena, const struct unique_kept *kept)
{
    return arena_printf(arena, "%.*s%" PRIu64 " %" PRId64 " %" PRId64, STR_ARG(KEPT), kept->exec_id,
                        kept->created_ms, kept->until_ms);
}

static bool read_kept(const struct answer *claim, struct unique_kept *ret_kept)
{
    struct str rest = claim->note;
    if (!str_starts(rest, KEPT))
        return false;
    rest = str_from(rest, KEPT.len);
    ret_kept->job_id = claim->holder;
    return str_to_u64(str_cut(&rest, ' '), &ret_kept->exec_id) &&
           str_to_i64(str_cut(&rest, ' '), &ret_kept->created_ms) &&
           str_to_i64(rest, &ret_kept->until_ms);
}

static bool keep(struct engine *e, const struct exec *x)
{
    const struct unique_rule *rule = x->job->v.def->rules.unique;
    if (!is_success(x->v.state) || keep_ms(e, rule) == 0)
        return false;
    const struct unique_kept kept = kept_by(e, x);
    *VEC_PUSH(e->turn.arena, &e->turn.claims) =
        (struct claim){.kind = CLAIM_UNIQUE,
                       .key = rule->key,
                       .holder = kept.job_id,
                       .until_ms = kept.until_ms,
                       .note = kept_note(e->turn.arena, &kept)};
    return true;
}

void unique_release(struct engine *e, const struct exec *x)
{
    if (PLANTED(unique_not_freed_on_cancel) && x->v.state == EXEC_CANCELLED)
        return;
    if (keep(e, x) && !PLANTED(unique_kept_not_stored))
        return;
    *VEC_PUSH(e->turn.arena, &e->turn.released) = (struct claim){
        .kind = CLAIM_UNIQUE, .key = x->job->v.def->rules.unique->key, .holder = x->job->id};
}

/* ---- asking */

/* The note says in which turn it was taken: see is_of_this_turn. */
static struct claim claim_of(struct engine *e, struct arena *arena, struct str key, uint64_t job_id)
{
    return (struct claim){
        .kind = CLAIM_UNIQUE,
        .key = key,
        .holder = job_id,
        .note = arena_printf(arena, "%" PRIu64, e->newest.turn + 1),
    };
}

void unique_ask(struct engine *e, struct command *cmd, const struct unique_rule *rule,
                uint64_t job_id, struct unique_asked *asked, struct question_list *list)
{
    *asked = (struct unique_asked){0};
    if (rule->key.len == 0)
        return;
    asked->claim = ask_apart(e, cmd, list);
    asked->claim->kind = ASK_CLAIM;
    asked->claim->claim = claim_of(e, cmd->arena, rule->key, job_id);
    asked->claim->now_ms = e->now_ms;
}

void unique_ask_holder(struct engine *e, struct command *cmd, struct unique_asked *asked,
                       struct question_list *list)
{
    struct unique_kept kept;
    if (asked->claim == NULL || asked->claim->answer.holder == asked->claim->claim.holder ||
        read_kept(&asked->claim->answer, &kept) ||
        map_get(&e->jobs, asked->claim->answer.holder) != NULL)
        return;
    asked->holder = ask_apart(e, cmd, list);
    *asked->holder = (struct question){.kind = ASK_JOB, .id = asked->claim->answer.holder};
}

/* ---- deciding */

enum rc unique_taken(struct err *err, struct str key, uint64_t job_id)
{
    char id[ID_TEXT_MAX];
    id_format(id, ID_JOB, job_id);
    return err_set(err, RC_CONFLICT, "the unique key '%.*s' is held by the unfinished job %s",
                   STR_ARG(str_head(key, SPEC_NAME_MAX)), id);
}

/* The submission wants the work done, and this run will not do it. */
static enum rc unique_stopping(struct err *err, struct str key, uint64_t job_id)
{
    char id[ID_TEXT_MAX];
    id_format(id, ID_JOB, job_id);
    return err_set(err, RC_STOPPING,
                   "the unique key '%.*s' is held by the job %s, which is being cancelled; submit "
                   "again when that is over",
                   STR_ARG(str_head(key, SPEC_NAME_MAX)), id);
}

enum rc unique_refuse_kept(struct err *err, struct str key, const struct unique_kept *kept)
{
    char id[ID_TEXT_MAX];
    char until[WHEN_TEXT_MAX];
    id_format(id, ID_JOB, kept->job_id);
    return err_set(err, RC_CONFLICT,
                   "the unique key '%.*s' is kept until %s by the job %s, which has succeeded",
                   STR_ARG(str_head(key, SPEC_NAME_MAX)), when_format(until, kept->until_ms).ptr,
                   id);
}

bool unique_is_elsewhere(const struct engine *e, const struct unique_asked *asked)
{
    struct unique_kept kept;
    return asked->claim != NULL && !read_kept(&asked->claim->answer, &kept) &&
           !partition_has(&e->owned, asked->claim->answer.holder);
}

/* Taken for something that this turn has refused since: else it would be in memory. Other servers
 * count turns of their own. */
static bool is_of_this_turn(const struct engine *e, const struct question *claim)
{
    uint64_t turn;
    return partition_has(&e->owned, claim->answer.holder) &&
           str_to_u64(claim->answer.note, &turn) && turn == e->newest.turn + 1;
}

static enum rc adopt_holder(struct engine *e, const struct answer *a, struct err *err)
{
    if (a->job_count > 0 && adopt_job(e, &a->jobs[0], err) == NULL)
        return err->rc;
    return a->newest == NULL || adopt_exec(e, a->newest, err) != NULL ? RC_OK : err->rc;
}

enum rc unique_find(struct engine *e, const struct unique_rule *rule,
                    const struct unique_asked *asked, struct exec **ret_holder, struct err *err)
{
    const struct question *claim = asked->claim;
    *ret_holder = NULL;
    if (unique_is_elsewhere(e, asked)) /* never into memory: it would be given out here, too */
        return unique_taken(err, rule->key, claim->answer.holder);
    *ret_holder = strmap_get(&e->uniques, rule->key);
    if (*ret_holder != NULL || claim->answer.holder == claim->claim.holder)
        return RC_OK;
    if (map_get(&e->jobs, claim->answer.holder) != NULL || is_of_this_turn(e, claim))
        return RC_OK; /* its holder has given it up in this turn */
    struct unique_kept kept;
    if (read_kept(&claim->answer, &kept))
        return RC_OK;
    if (asked->holder != NULL)
        TRY(adopt_holder(e, &asked->holder->answer, err));
    *ret_holder = strmap_get(&e->uniques, rule->key);
    return *ret_holder != NULL ? RC_OK : unique_taken(err, rule->key, claim->answer.holder);
}

/* The job ended in this turn: the store still says that it holds the key. */
static bool is_kept_since(const struct engine *e, uint64_t job_id, struct unique_kept *ret_kept)
{
    const struct job *job = map_get(&e->jobs, job_id);
    if (job == NULL)
        return false;
    LIST_EACH(&job->execs, node)
    {
        const struct exec *x = CONTAINER_OF(node, struct exec, sibling);
        if (is_success(x->v.state) && keep_ms(e, job->v.def->rules.unique) > 0) {
            *ret_kept = kept_by(e, x);
            return true;
        }
    }
    return false;
}

bool unique_is_kept(const struct engine *e, const struct unique_rule *rule,
                    const struct unique_asked *asked, struct unique_kept *ret_kept)
{
    const struct question *claim = asked->claim;
    if (claim == NULL || claim->answer.holder == claim->claim.holder ||
        strmap_get(&e->uniques, rule->key) != NULL)
        return false;
    return read_kept(&claim->answer, ret_kept) || is_kept_since(e, claim->answer.holder, ret_kept);
}

bool unique_kept_by_itself(const struct question *claim)
{
    struct unique_kept kept;
    return claim->answer.holder == claim->claim.holder && read_kept(&claim->answer, &kept);
}

/* A key that the store gave to a job may have passed to another one within the turn, and back. */
void unique_take(struct engine *e, const struct unique_rule *rule, uint64_t job_id,
                 const struct unique_asked *asked)
{
    e->turn.keys_passed |= asked->claim->answer.holder != job_id;
    if (e->turn.keys_passed || unique_kept_by_itself(asked->claim))
        *VEC_PUSH(e->turn.arena, &e->turn.claims) = claim_of(e, e->turn.arena, rule->key, job_id);
}

static enum rc replace(struct engine *e, const struct command *cmd, const struct submission *item,
                       struct exec *holder, struct err *err)
{
    char id[ID_TEXT_MAX];
    if (exec_is_leased(holder->v.state))
        return unique_taken(err, item->rules.unique.key, holder->job->id);
    id_format(id, ID_JOB, item->job_id);
    exec_cancel(e, holder, cmd->actor, arena_printf(e->turn.arena, "replaced by %s", id));
    return RC_OK;
}

enum rc unique_meet(struct engine *e, const struct command *cmd, struct submission *item,
                    struct exec *holder, struct err *err)
{
    switch (item->rules.unique.on_conflict) {
    case CONFLICT_REPLACE: return replace(e, cmd, item, holder, err);
    case CONFLICT_REJECT: return unique_taken(err, item->rules.unique.key, holder->job->id);
    case CONFLICT_RETURN: break;
    }
    if (holder->v.state == EXEC_STOPPING)
        return unique_stopping(err, item->rules.unique.key, holder->job->id);
    item->existing = true;
    item->job_id = holder->job->id;
    item->exec_id = holder->id;
    item->state = holder->job->v.state;
    item->created_ms = holder->job->created_ms;
    item->due_ms = holder->v.due_ms;
    return RC_OK;
}

enum rc unique_meet_kept(struct submission *item, const struct unique_kept *kept, struct err *err)
{
    switch (item->rules.unique.on_conflict) {
    case CONFLICT_REPLACE: return RC_OK;
    case CONFLICT_REJECT: return unique_refuse_kept(err, item->rules.unique.key, kept);
    case CONFLICT_RETURN: break;
    }
    item->existing = true;
    item->job_id = kept->job_id;
    item->exec_id = kept->exec_id;
    item->state = JOB_COMPLETED;
    item->created_ms = kept->created_ms;
    item->due_ms = 0;
    return RC_OK;
}

/* Read, and not taken into memory. */
static enum rc return_elsewhere(struct submission *item, struct err *err)
{
    const struct question *holder = item->unique.holder;
    if (holder == NULL || holder->answer.job_count == 0 || holder->answer.newest == NULL)
        return unique_taken(err, item->rules.unique.key, item->unique.claim->answer.holder);
    const struct job_rec *job = &holder->answer.jobs[0];
    const struct exec_rec *exec = holder->answer.newest;
    if (exec->state == EXEC_STOPPING)
        return unique_stopping(err, item->rules.unique.key, job->id);
    item->existing = true;
    item->job_id = job->id;
    item->exec_id = exec->id;
    item->state = job->state;
    item->created_ms = job->created_ms;
    item->due_ms = exec->due_ms;
    return RC_OK;
}

enum rc unique_meet_elsewhere(struct submission *item, struct err *err)
{
    char id[ID_TEXT_MAX];
    uint64_t holder = item->unique.claim->answer.holder;
    switch (item->rules.unique.on_conflict) {
    case CONFLICT_REPLACE:
        return err_set(err, RC_DEPOSED,
                       "the unique key is held by %s, about which another server decides; submit "
                       "this one by itself",
                       id_format(id, ID_JOB, holder).ptr);
    case CONFLICT_REJECT: return unique_taken(err, item->rules.unique.key, holder);
    case CONFLICT_RETURN: break;
    }
    return return_elsewhere(item, err);
}
