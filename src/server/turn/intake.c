#include "server/turn/intake.h"

/* ---- answers */

void answers_send(struct list *done)
{
    for (struct list_node *node; (node = list_pop_front(done)) != NULL;) {
        struct command *cmd = CONTAINER_OF(node, struct command, node);
        struct request *r = CONTAINER_OF(cmd, struct request, cmd);
        if (!errand_end(r))
            request_send_home(r);
    }
}

void answers_give_up(struct command *const *commands, size_t count, const struct err *err)
{
    struct list done;
    list_init(&done);
    for (size_t i = 0; i < count; i++) {
        commands[i]->reply.rc = err->rc == RC_FULL ? RC_FULL : RC_BUSY;
        err_set(&commands[i]->reply.err, commands[i]->reply.rc, "%s", err->text);
        list_push_back(&done, &commands[i]->node);
    }
    answers_send(&done);
}

/* Answers what another server has to decide. */
static void refuse_foreign(struct command *cmd)
{
    struct list done;
    list_init(&done);
    cmd->reply.rc = RC_DEPOSED;
    err_set(&cmd->reply.err, RC_DEPOSED, "another server decides about this now; try again");
    list_push_back(&done, &cmd->node);
    answers_send(&done);
}

/* ---- sending */

void intake_init(struct intake *in, size_t mailbox_max)
{
    list_init(&in->waiting);
    in->box = mailbox_new(mailbox_max);
}

void intake_free(struct intake *in)
{
    mailbox_free(in->box);
}

enum rc intake_send(struct intake *in, struct request *r)
{
    return mailbox_send(in->box, &r->parcel.mail);
}

void intake_send_errand(struct intake *in, struct errand *take_errand)
{
    struct command *cmd = &take_errand->request.cmd;
    if (mailbox_send_always(in->box, &take_errand->request.parcel.mail) == RC_OK)
        return;
    cmd->reply.rc = err_set(&cmd->reply.err, RC_SHUTDOWN, "the server is shutting down");
    (void)errand_end(&take_errand->request);
}

void intake_nudge(struct intake *in)
{
    if (!atomic_exchange(&in->nudged, true))
        (void)mailbox_send_always(in->box, &in->nudge); /* closed: it ends anyway */
}

/* ---- taking */

/* A nudge has done its work when it was seen; the next one may come. */
static bool drop_nudge(struct intake *in, struct turn *turn, const struct list_node *node)
{
    if (node != &in->nudge.node)
        return false;
    atomic_store(&in->nudged, false);
    engine_mail(turn->engine);
    return true;
}

void intake_take(struct intake *in, struct turn *turn)
{
    mailbox_take_all(in->box, &in->waiting);
    /* Only where it stands is looked at, never into it: it may be on its way into the box again. */
    if (list_first(&in->waiting) == &in->nudge.node)
        drop_nudge(in, turn, list_pop_front(&in->waiting));
}

static size_t weight(const struct command *cmd)
{
    return cmd->kind == CMD_SUBMIT ? cmd->submit.count : 1;
}

size_t intake_gather(struct intake *in, struct turn *turn, bool any, struct command **ret_commands)
{
    size_t count = 0;
    size_t submissions = 0;
    while (count < TURN_COMMANDS_MAX && submissions < TURN_SUBMISSIONS_MAX) {
        struct list_node *node = list_pop_front(&in->waiting);
        if (node == NULL)
            break;
        if (drop_nudge(in, turn, node))
            continue;
        struct mail *mail = CONTAINER_OF(node, struct mail, node);
        struct request *r = CONTAINER_OF(mail, struct request, parcel.mail);
        if (!any && !turn_is_ours(turn, &r->cmd)) {
            refuse_foreign(&r->cmd);
            continue;
        }
        ret_commands[count++] = &r->cmd;
        submissions += weight(&r->cmd);
    }
    return count;
}

size_t intake_take_polls(struct intake *in, struct command **ret_polls, size_t max)
{
    struct list rest;
    size_t count = 0;
    list_init(&rest);
    mailbox_take_all(in->box, &in->waiting);
    for (struct list_node *node; (node = list_pop_front(&in->waiting)) != NULL;) {
        struct mail *mail = CONTAINER_OF(node, struct mail, node);
        struct request *r = CONTAINER_OF(mail, struct request, parcel.mail);
        bool is_poll = node != &in->nudge.node && r->cmd.kind == CMD_POLL;
        if (is_poll && count < max)
            ret_polls[count++] = &r->cmd;
        else
            list_push_back(&rest, node);
    }
    list_splice_back(&in->waiting, &rest);
    return count;
}

void intake_put_back(struct intake *in, struct command *const *commands, size_t count)
{
    struct list first;
    list_init(&first);
    for (size_t i = 0; i < count; i++) {
        struct request *r = CONTAINER_OF(commands[i], struct request, cmd);
        list_push_back(&first, &r->parcel.mail.node);
    }
    list_splice_back(&first, &in->waiting);
    list_splice_back(&in->waiting, &first);
}
