/* mail_act.c - what is done about a row of the inbox.
 *
 * A row of a user's SQL becomes the command that could have come over HTTP, with its questions and
 * its answer, as operations do it. No client waits for that answer; so a row that cannot be carried
 * out is recorded as rejected, and never comes again. A row stays where it is only when the server
 * is too busy for it, when another request of the same turn has its key, and when only a newer
 * version knows its kind. */
#include "engine/core/mail.h"
#include "engine/core/model.h"
#include "engine/core/operations.h"
#include "engine/depend/depends_remote.h"
#include "engine/ready/limit_remote.h"
#include "engine/ready/ready.h"

/* ---- commands out of rows */

static void make_submit(struct engine *e, struct mail_row *row)
{
    struct command *cmd = &row->cmd;
    struct submission *item = ARENA_NEW(e->turn.arena, struct submission);
    struct err *err = &row->err;
    if (e->options.read_submission == NULL) {
        err_set(err, RC_UNSUPPORTED, "this server takes no jobs from SQL");
        return;
    }
    if (e->options.read_submission(e->options.rules_arg, row->rec, e->turn.arena, item, err) !=
        RC_OK)
        return;
    cmd->kind = CMD_SUBMIT;
    cmd->submit.items = item;
    cmd->submit.count = 1;
}

static void make_cancel(struct engine *e, struct mail_row *row)
{
    const struct inbox_rec *rec = row->rec;
    if (!partition_has(&e->owned, rec->about))
        return; /* goes to whom it concerns */
    struct command *cmd = &row->cmd;
    cmd->kind = CMD_CANCEL_JOB;
    cmd->target.id = rec->about;
    cmd->target.reason = rec->body;
}

static void make_forget(struct mail_row *row)
{
    struct command *cmd = &row->cmd;
    cmd->kind = CMD_QUEUE;
    cmd->queue = (struct queue_wish){
        .name = row->rec->name, .forget = true, .deleted_ms = row->rec->sent_ms};
}

void mail_prepare(struct engine *e, struct mail_row *row)
{
    row->cmd.own = true;
    row->cmd.actor = row->rec->actor;
    row->cmd.arena = e->turn.arena;
    if (row->rec->kind == INBOX_SUBMIT)
        make_submit(e, row);
    else if (row->rec->kind == INBOX_CANCEL)
        make_cancel(e, row);
    else if (row->rec->kind == INBOX_FORGET)
        make_forget(row);
}

/* ---- acting */

/* The number that its sender was told; a row that was sent on has another one. */
static uint64_t ticket_of(const struct inbox_rec *rec)
{
    bool sent_on = (rec->kind == INBOX_SUBMIT || rec->kind == INBOX_CANCEL) && rec->number > 0;
    return sent_on ? (uint64_t)rec->number : rec->id;
}

/* To whoever decides about that thing. */
static void send_on(struct engine *e, const struct inbox_rec *rec, uint64_t to)
{
    struct inbox_rec *on = VEC_PUSH(e->turn.arena, &e->turn.mail.sent);
    *on = *rec;
    on->id = 0;
    on->number = (int64_t)ticket_of(rec);
    on->bucket = id_bucket(to);
}

static void reject(struct engine *e, const struct inbox_rec *rec, const char *reason)
{
    struct str head = str_head(rec->body, REJECTED_HEAD_MAX);
    if (rec->kind == INBOX_CANCEL) {
        char id[ID_TEXT_MAX];
        head = arena_printf(e->turn.arena, "cancel %s", id_format(id, ID_JOB, rec->about).ptr);
    }
    e->bucket = partition_next_bucket(&e->owned, e->bucket);
    *VEC_PUSH(e->turn.arena, &e->turn.mail.rejected) = (struct rejected_rec){
        .id = id_next(&e->ids, e->now_ms, e->bucket),
        .at_ms = e->now_ms,
        .inbox_id = ticket_of(rec),
        .team = rec->name,
        .actor = rec->actor,
        .reason = arena_str(e->turn.arena, str_c(reason)),
        .head = head,
    };
}

static enum mail_fate submit(struct engine *e, struct mail_row *row)
{
    struct command *cmd = &row->cmd;
    if (cmd->kind == 0) {
        reject(e, row->rec, row->err.text);
        return MAIL_DONE;
    }
    engine_decide(e, cmd);
    const struct submission *item = cmd->submit.items;
    if (item->rc == RC_BUSY || item->rc == RC_PENDING || item->rc == RC_STOPPING) {
        row->err = *item->err;
        return MAIL_WAITS;
    }
    if (item->rc == RC_DEPOSED) /* by the holder of its unique key */
        send_on(e, row->rec, item->unique.claim->answer.holder);
    else if (item->rc != RC_OK)
        reject(e, row->rec, item->err->text);
    return MAIL_DONE;
}

/* Empty: of none, or there is no such job. */
static struct str team_of(const struct engine *e, const struct command *cmd)
{
    const struct job *job = map_get(&e->jobs, cmd->target.id);
    if (job != NULL) {
        const struct limit *team = job->v.def->rules.track->bars[BAR_TEAM].limit;
        return team == NULL ? STR("") : team->key;
    }
    const struct answer *a = cmd->question_count == 0 ? NULL : &cmd->questions[0].answer;
    return a == NULL || a->job_count == 0 ? STR("") : a->jobs[0].team;
}

static enum mail_fate cancel(struct engine *e, struct mail_row *row)
{
    struct command *cmd = &row->cmd;
    const struct inbox_rec *rec = row->rec;
    if (cmd->kind == 0) {
        send_on(e, rec, rec->about);
        return MAIL_DONE;
    }
    if (!str_eq(team_of(e, cmd), rec->name)) {
        reject(e, rec, "there is no such job in the team of this role");
        return MAIL_DONE;
    }
    engine_decide(e, cmd);
    if (cmd->reply.rc == RC_BUSY) {
        row->err = cmd->reply.err;
        return MAIL_WAITS;
    }
    if (cmd->reply.rc != RC_OK)
        reject(e, rec, cmd->reply.err.text);
    return MAIL_DONE;
}

enum mail_fate mail_act(struct engine *e, struct mail_row *row)
{
    const struct inbox_rec *rec = row->rec;
    if (rec->id == e->inbox.post.refuse_id) {
        reject(e, rec, e->inbox.fault.text);
        return MAIL_DONE;
    }
    switch (rec->kind) {
    case INBOX_SUBMIT: return submit(e, row);
    case INBOX_CANCEL: return cancel(e, row);
    case INBOX_WAIT: heard_wait(e, rec); return MAIL_DONE;
    case INBOX_UNWAIT: heard_unwait(e, rec); return MAIL_DONE;
    case INBOX_OVER: heard_over(e, rec); return MAIL_DONE;
    case INBOX_ASK: heard_ask(e, rec); return MAIL_DONE;
    case INBOX_GRANT: heard_grant(e, rec); return MAIL_DONE;
    case INBOX_FREE: heard_free(e, rec); return MAIL_DONE;
    case INBOX_KEEP: heard_keep(e, rec); return MAIL_DONE;
    case INBOX_FORGET: engine_decide(e, &row->cmd); return MAIL_DONE;
    case INBOX_OPERATE: return heard_operate(e, rec) ? MAIL_DONE : MAIL_STRANGE;
    case INBOX_STOP: heard_stop(e, rec); return MAIL_DONE;
    case INBOX_KINDS: break;
    }
    return MAIL_STRANGE;
}
