/* mail.c - what partitions tell each other.
 *
 * A turn that was told that there is mail, or did not look for a while, asks for a page of it, acts
 * upon each row, and names the rows in its delta: they go in the commit of their effect. What a turn
 * wants from others goes out with its delta in the same way.
 *
 * What came from a user's SQL becomes the command that somebody could have sent over HTTP, with its
 * questions and its answer, as operations do it. Nobody waits for that answer; so what cannot be done is
 * written down where people can see it, and never comes again. Only what a server is too busy for stays
 * where it is. */
#include "engine/internal.h"
#include "engine/permits.h"

#include <string.h>

struct inbox_rec *mail_send(struct engine *e, enum inbox_kind kind, uint32_t bucket)
{
    struct inbox_rec *rec = VEC_PUSH(e->arena, &e->mail);
    *rec = (struct inbox_rec){.kind = kind, .bucket = bucket, .sent_ms = e->now_ms};
    return rec;
}

void engine_mail(struct engine *e)
{
    e->post.told = e->options.mail_ms > 0;
}

bool engine_mail_doubt(struct engine *e, const char *why)
{
    if (e->mail_looked == 0 || e->post.refuse)
        return false;
    e->post.told = true;
    e->post.page = e->mail_looked / 2;
    if (e->mail_looked == 1) {
        e->post.page = 1;
        e->post.refuse = true;
        err_set(&e->mail_fault, RC_CONFLICT, "the store does not take it: %s", why);
    }
    return true;
}

void mail_begin(struct engine *e)
{
    e->mail_looked = 0;
    e->post_before = e->post;
    e->reading = (struct mail_read){0};
    memset(&e->mail, 0, sizeof e->mail);
    memset(&e->mail_read, 0, sizeof e->mail_read);
    memset(&e->rejected, 0, sizeof e->rejected);
    memset(&e->permit_changes, 0, sizeof e->permit_changes);
}

void mail_undo(struct engine *e)
{
    e->post = e->post_before; /* nothing was read: the next turn looks again */
}

int64_t mail_wait_ms(const struct engine *e, int64_t boot_ms)
{
    if (e->options.mail_ms == 0 || e->owned.bits == 0)
        return INT64_MAX;
    return e->post.told ? 0 : e->post.look_ms - boot_ms;
}

/* ---- commands out of rows */

static void make_submit(struct engine *e, const struct inbox_rec *rec, size_t i)
{
    struct command *cmd = &e->reading.commands[i];
    struct submission *item = ARENA_NEW(e->arena, struct submission);
    struct err *err = &e->reading.errors[i];
    if (e->options.read_submission == NULL) {
        err_set(err, RC_UNSUPPORTED, "this server takes no jobs from SQL");
        return;
    }
    if (e->options.read_submission(e->options.rules_arg, rec, e->arena, item, err) != RC_OK)
        return;
    cmd->kind = CMD_SUBMIT;
    cmd->submit.items = item;
    cmd->submit.count = 1;
}

static void make_cancel(struct engine *e, const struct inbox_rec *rec, size_t i)
{
    if (!partition_has(&e->owned, rec->about))
        return; /* goes to whom it concerns */
    struct command *cmd = &e->reading.commands[i];
    cmd->kind = CMD_CANCEL_JOB;
    cmd->target.id = rec->about;
    cmd->target.reason = rec->body;
}

static void make_commands(struct engine *e)
{
    const struct answer *a = &e->reading.rows->answer;
    e->reading.commands = ARENA_ARRAY(e->arena, struct command, a->mail_count);
    e->reading.errors = ARENA_ARRAY(e->arena, struct err, a->mail_count);
    for (size_t i = 0; i < a->mail_count; i++) {
        struct command *cmd = &e->reading.commands[i];
        cmd->own = true;
        cmd->actor = a->mail[i].actor;
        cmd->arena = e->arena;
        if (a->mail[i].kind == INBOX_SUBMIT)
            make_submit(e, &a->mail[i], i);
        else if (a->mail[i].kind == INBOX_CANCEL)
            make_cancel(e, &a->mail[i], i);
    }
}

void mail_ask(struct engine *e, unsigned round, struct question_list *list)
{
    if (round == 0 && mail_wait_ms(e, e->boot_ms) <= 0) {
        e->reading.rows = ARENA_NEW(e->arena, struct question);
        *e->reading.rows = (struct question){.kind = ASK_INBOX,
                                             .limit = e->post.page > 0 ? e->post.page : INBOX_PAGE};
        *VEC_PUSH(e->arena, list) = e->reading.rows;
    }
    if (round == 0 || e->reading.rows == NULL)
        return;
    if (round == 1)
        make_commands(e);
    for (size_t i = 0; i < e->reading.rows->answer.mail_count; i++) {
        if (e->reading.commands[i].kind != 0)
            engine_ask(e, &e->reading.commands[i], round - 1, list);
    }
}

/* ---- acting */

static void reject(struct engine *e, const struct inbox_rec *rec, const char *reason)
{
    struct str head = str_head(rec->body, REJECTED_HEAD_MAX);
    if (rec->kind == INBOX_CANCEL) {
        char id[ID_TEXT_MAX];
        head = arena_printf(e->arena, "cancel %s", id_format(id, ID_JOB, rec->about).ptr);
    }
    e->bucket = partition_next_bucket(&e->owned, e->bucket);
    *VEC_PUSH(e->arena, &e->rejected) = (struct rejected_rec){
        .id = id_next(&e->ids, e->now_ms, e->bucket),
        .at_ms = e->now_ms,
        .inbox_id = rec->id,
        .team = rec->name,
        .actor = rec->actor,
        .reason = arena_str(e->arena, str_c(reason)),
        .head = head,
    };
}

/* False: not now. */
static bool submit(struct engine *e, const struct inbox_rec *rec, size_t i)
{
    struct command *cmd = &e->reading.commands[i];
    if (cmd->kind == 0) {
        reject(e, rec, e->reading.errors[i].text);
        return true;
    }
    engine_decide(e, cmd);
    const struct submission *item = cmd->submit.items;
    if (item->rc == RC_BUSY)
        return false;
    if (item->rc != RC_OK)
        reject(e, rec, item->err->text);
    return true;
}

/* Empty: of none, or there is no such job. */
static struct str team_of(const struct engine *e, const struct command *cmd)
{
    const struct job *job = map_get(&e->jobs, cmd->target.id);
    if (job != NULL) {
        const struct limit *team = job->v.def->track->bars[BAR_TEAM].limit;
        return team == NULL ? STR("") : team->key;
    }
    const struct answer *a = cmd->question_count == 0 ? NULL : &cmd->questions[0].answer;
    return a == NULL || a->job_count == 0 ? STR("") : a->jobs[0].team;
}

static bool cancel(struct engine *e, const struct inbox_rec *rec, size_t i)
{
    struct command *cmd = &e->reading.commands[i];
    if (cmd->kind == 0) {
        struct inbox_rec *on = VEC_PUSH(e->arena, &e->mail);
        *on = *rec;
        on->id = 0;
        on->bucket = id_bucket(rec->about);
        return true;
    }
    if (!str_eq(team_of(e, cmd), rec->name)) {
        reject(e, rec, "there is no such job in the team of this role");
        return true;
    }
    engine_decide(e, cmd);
    if (cmd->reply.rc == RC_BUSY)
        return false;
    if (cmd->reply.rc != RC_OK)
        reject(e, rec, cmd->reply.err.text);
    return true;
}

static bool act(struct engine *e, const struct inbox_rec *rec, size_t i)
{
    if (e->post.refuse) {
        reject(e, rec, e->mail_fault.text);
        return true;
    }
    switch (rec->kind) {
    case INBOX_SUBMIT: return submit(e, rec, i);
    case INBOX_CANCEL: return cancel(e, rec, i);
    case INBOX_WAIT: heard_wait(e, rec); return true;
    case INBOX_UNWAIT: heard_unwait(e, rec); return true;
    case INBOX_OVER: heard_over(e, rec); return true;
    case INBOX_ASK: heard_ask(e, rec); return true;
    case INBOX_GRANT: heard_grant(e, rec); return true;
    case INBOX_FREE: heard_free(e, rec); return true;
    case INBOX_KEEP: heard_keep(e, rec); return true;
    default: return true; /* of a newer version, which knows how to do without */
    }
}

void mail_step(struct engine *e)
{
    permits_announce(e);
    permits_count_running(e);
    if (e->reading.rows == NULL)
        return;
    const struct answer *a = &e->reading.rows->answer;
    e->mail_looked = a->mail_count;
    for (size_t i = 0; i < a->mail_count; i++) {
        if (act(e, &a->mail[i], i))
            *VEC_PUSH(e->arena, &e->mail_read) = a->mail[i].id;
    }
    /* What is left for later waits for the next look, and with it what is behind it. */
    e->post.told = a->more && e->mail_read.len == a->mail_count;
    e->post.page = 0;
    e->post.refuse = false;
    e->post.look_ms = e->boot_ms + e->options.mail_ms;
}
