/* idempotency.c - requests that come again.
 *
 * A sender that got no answer cannot know whether its request was kept. So it gives each a key of
 * its own, and sends the same again. The key is claimed in the transaction of the turn that decides
 * the request, so that both are kept or neither is; the claim's note has all that the answer said,
 * and is valid for `once_ms`. A refused request gives its key back: nothing came of it, and asking
 * again may come to something else.
 *
 * Whether a claim is of the turn under way stands in its note, too. Its holder may yet be refused,
 * so nobody can be told what became of it: they are asked to come again. */
#include "engine/submit/idempotency.h"
#include "base/plant.h"
#include "engine/core/commands.h"
#include "engine/core/model.h"
#include "engine/submit/submit.h"
#include "engine/time/steps.h"

/* The contents of a note, behind the hash. */
struct answered {
    uint64_t turn;
    uint64_t job_id; /* or of an operation */
    uint64_t exec_id;
    int64_t at_ms;
    uint64_t state;    /* of the job for a submission, else of the execution */
    uint64_t existing; /* the submission met unique work */
};

/* Every request with a key needs one or two: printf would take longer than the store. */
static struct str note_print(struct arena *arena, struct str hash, const struct answered *a)
{
    enum { NUMBERS = 6, NUMBER_MAX = 21 }; /* with the space before it */
    const uint64_t numbers[NUMBERS] = {a->turn,  a->job_id,  a->exec_id, (uint64_t)a->at_ms,
                                       a->state, a->existing};
    size_t max = hash.len + NUMBERS * NUMBER_MAX;
    struct buf note = {.ptr = arena_bytes(arena, max), .cap = max, .max = max};
    buf_add(&note, hash);
    for (size_t i = 0; i < NUMBERS; i++) {
        buf_add_char(&note, ' ');
        buf_add_u64(&note, numbers[i]);
    }
    return buf_str(&note);
}

static bool note_read(struct str note, struct str *ret_hash, struct answered *ret_answered)
{
    uint64_t at_ms;
    *ret_hash = str_cut(&note, ' ');
    bool ok = str_to_u64(str_cut(&note, ' '), &ret_answered->turn);
    ok = ok && str_to_u64(str_cut(&note, ' '), &ret_answered->job_id);
    ok = ok && str_to_u64(str_cut(&note, ' '), &ret_answered->exec_id);
    ok = ok && str_to_u64(str_cut(&note, ' '), &at_ms);
    ok = ok && str_to_u64(str_cut(&note, ' '), &ret_answered->state);
    ok = ok && str_to_u64(note, &ret_answered->existing);
    ret_answered->at_ms = ok ? (int64_t)at_ms : 0;
    return ok;
}

/* ---- asking */

static void ask(struct engine *e, struct command *cmd, struct once *once, uint64_t holder,
                const struct answered *answered, struct question_list *list)
{
    once->asked = ask_apart(e, cmd, list);
    *once->asked = (struct question){
        .kind = ASK_CLAIM,
        .claim = {.kind = CLAIM_REQUEST,
                  .key = once->key,
                  .holder = holder,
                  .until_ms = e->now_ms + e->options.once_ms,
                  .note = note_print(cmd->arena, once->hash, answered)},
        .now_ms = steps_hold_deletions(e) ? 0 : e->now_ms, /* when the others end */
    };
}

void idempotency_ask(struct engine *e, struct command *cmd, struct question_list *list)
{
    cmd->once.asked = cmd->once.original = NULL;
    cmd->once.replayed = false;
    if (cmd->once.key.len > 0)
        ask(e, cmd, &cmd->once, id_next(&e->ids, e->now_ms, e->bucket),
            &(struct answered){.turn = e->newest.turn + 1}, list);
}

void idempotency_ask_item(struct engine *e, struct command *cmd, struct submission *item,
                          struct question_list *list)
{
    const struct answered answered = {
        .turn = e->newest.turn + 1,
        .job_id = item->job_id,
        .exec_id = item->exec_id,
        .at_ms = e->now_ms,
        .state = JOB_ACTIVE,
    };
    item->once.asked = item->once.original = NULL;
    item->once.replayed = false;
    if (item->once.key.len > 0)
        ask(e, cmd, &item->once, item->job_id, &answered, list);
}

void idempotency_ask_original(struct engine *e, struct command *cmd, struct submission *item,
                              struct question_list *list)
{
    struct answered answered;
    struct str hash;
    if (cmd->submit.count < 2 || !note_read(item->once.asked->answer.note, &hash, &answered) ||
        map_get(&e->jobs, answered.job_id) != NULL)
        return;
    item->once.original = ask_apart(e, cmd, list);
    *item->once.original = (struct question){.kind = ASK_JOB, .id = answered.job_id};
}

bool idempotency_was_asked(const struct once *once)
{
    return once->asked != NULL && once->asked->answer.holder != once->asked->claim.holder;
}

/* ---- deciding */

/* The answer that was given when the same was asked before. */
static enum rc recall(struct engine *e, const struct once *once, struct answered *ret_answered,
                      struct err *err)
{
    struct str hash;
    if (!note_read(once->asked->answer.note, &hash, ret_answered))
        return err_set(err, RC_CORRUPT, "what was answered to this Idempotency-Key makes no sense");
    /* Numbers of turns are a server's own, and so are the ids that it makes. */
    bool ours = partition_has(&e->owned, once->asked->answer.holder);
    if (ours && ret_answered->turn == e->newest.turn + 1)
        return err_set(err, RC_PENDING,
                       "a request with this Idempotency-Key is being decided; ask again");
    if (!str_eq(hash, once->hash))
        return err_set(err, RC_REUSED,
                       "this Idempotency-Key was used for another request; take a new one");
    return RC_OK;
}

static void remember(struct engine *e, const struct once *once, struct answered answered)
{
    struct claim claim = once->asked->claim;
    answered.turn = e->newest.turn + 1;
    claim.note = note_print(e->turn.arena, once->hash, &answered);
    *VEC_PUSH(e->turn.arena, &e->turn.claims) = claim;
}

static void forget(struct engine *e, const struct once *once)
{
    if (!PLANTED(idempotent_answer_of_rejected))
        give_back(e, once->asked);
}

bool idempotency_begin(struct engine *e, struct command *cmd)
{
    struct answered answered;
    struct err err;
    if (!idempotency_was_asked(&cmd->once))
        return true;
    if (recall(e, &cmd->once, &answered, &err) != RC_OK) {
        command_fail(e, cmd, err.rc, "%s", err.text);
        return false;
    }
    if (cmd->kind == CMD_OPERATE) {
        cmd->reply.operation_id = answered.job_id;
    } else {
        cmd->reply.job_id = answered.job_id;
        cmd->reply.exec_id = answered.exec_id;
        cmd->reply.exec_state = (enum exec_state)answered.state;
    }
    cmd->reply.at_ms = answered.at_ms;
    cmd->once.replayed = true;
    command_done(e, cmd);
    return false;
}

void idempotency_end(struct engine *e, struct command *cmd)
{
    if (cmd->once.asked == NULL)
        return;
    if (cmd->reply.rc != RC_OK)
        forget(e, &cmd->once);
    else if (cmd->kind == CMD_OPERATE)
        remember(e, &cmd->once, (struct answered){.job_id = cmd->reply.operation_id});
    else
        remember(e, &cmd->once,
                 (struct answered){.job_id = cmd->reply.job_id,
                                   .exec_id = cmd->reply.exec_id,
                                   .at_ms = cmd->reply.at_ms,
                                   .state = cmd->reply.exec_state});
}

/* When it was said to begin. All but the moment follows from what is asked again. */
static int64_t due_ms(const struct submission *item)
{
    if (item->rules.schedule == NULL)
        return submission_due_ms(item, item->created_ms);
    struct schedule schedule = *item->rules.schedule;
    struct slot first;
    schedule.start_ms = item->created_ms;
    schedule.stagger_ms = schedule_stagger_ms(item->job_id, item->rules.stagger_ms);
    return schedule_first(&schedule, &first) ? schedule_due_ms(&schedule, &first) : 0;
}

bool idempotency_begin_item(struct engine *e, struct command *cmd, struct submission *item)
{
    struct answered answered;
    struct err err;
    if (!idempotency_was_asked(&item->once))
        return true;
    if (recall(e, &item->once, &answered, &err) != RC_OK) {
        item->err = ARENA_NEW(cmd->arena, struct err);
        *item->err = err;
        item->rc = err.rc;
        return false;
    }
    item->rc = RC_OK;
    item->notes = NULL; /* effects of calendars are those of that moment */
    item->note_count = 0;
    item->job_id = answered.job_id;
    item->exec_id = answered.exec_id;
    item->created_ms = answered.at_ms;
    item->state = (enum job_state)answered.state;
    item->existing = answered.existing != 0;
    item->due_ms = due_ms(item);
    item->once.replayed = true;
    return false;
}

void idempotency_end_item(struct engine *e, struct submission *item)
{
    if (item->once.asked == NULL)
        return;
    if (item->rc != RC_OK)
        forget(e, &item->once);
    else if (item->existing)
        remember(e, &item->once,
                 (struct answered){.job_id = item->job_id,
                                   .exec_id = item->exec_id,
                                   .at_ms = item->created_ms,
                                   .state = item->state,
                                   .existing = 1});
}
