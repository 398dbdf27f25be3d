/* forget.c - queues come with their work, and go when nobody needs them any more.
 *
 * A queue is needed while it has unfinished executions or dead letters, while somebody has decided
 * something about it (a pause, a limit), and while something in memory names it: a definition, or
 * the home of permits elsewhere. All others are idle. An idle one is still shown, with its numbers,
 * until it was idle for queues_keep_ms (memory only: a start counts from its own beginning), until
 * a new queue would be one too many, or until somebody deletes it. Its numbers go on counting under
 * the empty name, so that totals never fall; history, reports and alerts name queues by text and
 * stay as they are. A queue that was made for a submission that is then refused, or whose turn is
 * undone, was never there.
 *
 * Numbers are kept by partition, that of the execution or job which is counted. So among several
 * servers each knows whether its own partitions still need a queue, and forgets it there without a
 * question. The settings of a queue are for the owner of the first partition to delete; it asks the
 * store for the numbers of all partitions, and tells the others (INBOX_FORGET), who forget their
 * part if nothing is left in it. */
#include "engine/ready/forget.h"
#include "base/plant.h"
#include "engine/core/commands.h"
#include "engine/core/letters.h"
#include "engine/core/mail.h"
#include "engine/core/model.h"
#include "engine/core/undo.h"
#include "engine/ready/queues.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FORGET_PAGE = 100 }; /* queues that a turn looks at because of their age */

/* ---- by name, and by use */

struct queue *queue_find(const struct engine *e, struct str name)
{
    struct queue *q = strmap_get(&e->queues.by_name, name);
    return q == NULL || q->v.gone ? NULL : q;
}

/* A queue that this turn had forgotten comes back, without its settings. */
struct queue *queue_of(struct engine *e, struct str name)
{
    struct queue *q = strmap_get(&e->queues.by_name, name);
    if (q == NULL)
        return queue_new(e, name);
    if (q->v.gone)
        queue_set(e, q, &(struct queue_values){0});
    return q;
}

struct queue *queue_use(struct engine *e, struct str name)
{
    struct queue *q = queue_of(e, name);
    q->users++;
    return q;
}

static void drop_if_new(struct engine *e, struct queue *q)
{
    if (q->users > 0 || q->known || q->touched != NULL || PLANTED(refused_leaves_queue))
        return;
    assert(list_empty(&q->lanes) && !list_linked(&q->changed) && !list_linked(&q->idle));
    strmap_remove(&e->queues.by_name, q->name);
    free(q);
}

void queue_leave(struct engine *e, struct queue *q)
{
    assert(q->users > 0);
    if (--q->users == 0)
        drop_if_new(e, q);
}

void queue_undone(struct engine *e, struct queue *q)
{
    drop_if_new(e, q);
}

/* ---- which are idle */

static bool has_numbers(const struct queue *q)
{
    int64_t any = q->now.jobs[JOB_ACTIVE] | q->now.jobs[JOB_PAUSED];
    for (int i = EXEC_NONE + 1; i < EXEC_STATES; i++) {
        any |= q->now.letters[i];
        if (!exec_is_final((enum exec_state)i))
            any |= q->now.execs[i];
    }
    return any != 0;
}

static bool has_settings(const struct queue *q)
{
    return q->v.paused || q->v.concurrency > 0;
}

static bool is_idle(const struct queue *q)
{
    return !has_settings(q) && (PLANTED(busy_queue_forgotten) || !has_numbers(q));
}

void queue_look(struct engine *e, struct queue *q)
{
    if (q == &e->queues.forgotten)
        return;
    list_remove(&q->idle);
    if (!is_idle(q))
        return;
    q->idle_ms = e->boot_ms;
    list_push_back(&e->queues.idle, &q->idle);
}

void queues_read(struct engine *e)
{
    static const struct queue_values none;
    for (size_t i = 0; i < e->queues.by_name.cap; i++) {
        struct queue *q = e->queues.by_name.slots[i].value;
        if (q == NULL || q->v.changed_ms == 0 || q->reading == e->readings)
            continue;
        queue_set(e, q, &none);
        queue_look(e, q);
    }
}

/* ---- forgetting */

static void forget(struct engine *e, struct queue *q)
{
    touch_queue(e, q)->durable = true;
    queue_set(e, q, &(struct queue_values){.gone = true});
}

static bool may_go(const struct queue *q)
{
    return !q->v.gone && q->users == 0 && is_idle(q);
}

/* One that was used in vain was idle all the same, and is looked at later, behind the others. */
static void put_off(struct engine *e, struct queue *q)
{
    list_remove(&q->idle);
    q->idle_ms = e->boot_ms;
    list_push_back(&e->queues.idle, &q->idle);
}

/* Those before it were looked at in this turn. */
static struct list_node *first_idle(const struct engine *e)
{
    return e->turn.idle_next != NULL ? e->turn.idle_next : e->queues.idle.head.next;
}

void queues_step(struct engine *e)
{
    for (size_t i = 0; i < FORGET_PAGE && queues_wait_ms(e, e->boot_ms) <= 0; i++) {
        struct list_node *first = first_idle(e);
        struct queue *q = CONTAINER_OF(first, struct queue, idle);
        e->turn.idle_next = first->next;
        if (may_go(q))
            forget(e, q);
        else
            put_off(e, q);
    }
}

int64_t queues_wait_ms(const struct engine *e, int64_t boot_ms)
{
    struct list_node *first = first_idle(e);
    if (e->options.queues_keep_ms == 0 || first == &e->queues.idle.head)
        return INT64_MAX;
    return CONTAINER_OF(first, struct queue, idle)->idle_ms + e->options.queues_keep_ms - boot_ms;
}

/* The one that was idle for longest makes room. */
static bool make_room(struct engine *e)
{
    struct list_node *at = first_idle(e);
    for (; at != &e->queues.idle.head; at = at->next) {
        struct queue *q = CONTAINER_OF(at, struct queue, idle);
        if (!may_go(q))
            continue;
        e->turn.idle_next = at->next;
        forget(e, q);
        return true;
    }
    e->turn.idle_next = at;
    return false;
}

/* Jobs that name no queue are always taken. */
enum rc queue_admit(struct engine *e, struct str name, struct err *err)
{
    if (queue_find(e, name) != NULL || str_eq(name, SPEC_QUEUE) ||
        e->queues.by_name.len - e->queues.gone_count < e->options.queues_max || make_room(e))
        return RC_OK;
    return err_set(err, RC_LIMITED,
                   "there are as many queues with work or settings as there may be: queues_max is "
                   "%zu; delete queues (belfry queues delete NAME), or raise the setting",
                   e->options.queues_max);
}

void numbers_add(struct numbers *to, const struct numbers *add)
{
    for (int i = 0; i < JOB_STATES; i++)
        to->jobs[i] += add->jobs[i];
    for (int i = 0; i < EXEC_STATES; i++) {
        to->execs[i] += add->execs[i];
        to->letters[i] += add->letters[i];
    }
}

void queue_commit(struct engine *e, struct queue *q)
{
    assert(q->touched == NULL);
    q->known = true;
    if (!q->v.gone) {
        queue_look(e, q);
        return;
    }
    e->queues.gone_count--;
    numbers_add(&e->queues.forgotten.now, &q->now);
    strmap_remove(&e->queues.by_name, q->name);
    list_remove(&q->idle);
    list_push_back(&e->queues.buried, &q->idle);
}

void queues_bury(struct engine *e)
{
    for (struct list_node *node; (node = list_pop_front(&e->queues.buried)) != NULL;)
        free(CONTAINER_OF(node, struct queue, idle));
}

/* ---- deleting */

void ask_delete_queue(struct engine *e, struct command *cmd, struct question_list *list)
{
    if (!cmd->queue.forget || cmd->own)
        return;
    struct question *q = command_ask(e, cmd, list);
    q->kind = ASK_QUEUE;
    q->name = cmd->queue.name;
}

struct need {
    int64_t unfinished;
    int64_t letters;
    bool known;
};

static bool was_in(const struct exec *x, const struct queue *q)
{
    const struct job *job = x->job;
    return (job->touched != NULL ? job->touched->before.job.def : job->v.def)->rules.queue == q;
}

static bool is_unfinished(enum exec_state state)
{
    return state != EXEC_NONE && !exec_is_final(state);
}

/* The store's answer, with the changes of earlier commands of this turn. */
static void add_turn(const struct engine *e, const struct queue *q, struct need *need)
{
    for (size_t i = 0; i < e->turn.touched.len; i++) {
        const struct touched *t = e->turn.touched.items[i];
        if (t->thing != THING_EXEC)
            continue;
        const struct exec *x = t->exec;
        bool is_in = x->job->v.def->rules.queue == q;
        need->unfinished -= was_in(x, q) && t->stored && is_unfinished(t->before.exec.state);
        need->unfinished += is_in && is_unfinished(x->v.state);
        need->letters += is_in && exec_is_dead(x);
    }
    for (size_t i = 0; i < e->turn.letters_gone.len; i++)
        need->letters -= e->turn.letters_gone.items[i].queue == q;
}

static struct need need_of(const struct engine *e, const struct command *cmd, const struct queue *q)
{
    const struct answer *a = &cmd->questions[0].answer;
    struct need need = {.known = q != NULL && queue_is_known(q)};
    for (size_t i = 0; i < a->counter_count; i++) {
        const struct counter *c = &a->counters[i];
        need.known = true;
        if (c->kind == COUNTER_LETTERS)
            need.letters += c->value;
        else if (c->kind == COUNTER_EXECS && is_unfinished((enum exec_state)c->state))
            need.unfinished += c->value;
    }
    if (q != NULL)
        add_turn(e, q, &need);
    need.known |= need.unfinished + need.letters > 0;
    return need;
}

static void tell_others(struct engine *e, const struct command *cmd)
{
    for (uint32_t i = 0; i < e->owned.count; i++) {
        if (e->owned.bits >> i & 1)
            continue;
        struct inbox_rec *rec =
            mail_send(e, INBOX_FORGET, partition_first_bucket(e->owned.count, i));
        rec->name = arena_str(e->turn.arena, cmd->queue.name);
        rec->actor = arena_str(e->turn.arena, cmd->actor);
    }
}

/* Another server has deleted the queue: it goes here, too, unless it has work or newer settings. */
static void delete_own_part(struct engine *e, struct command *cmd)
{
    struct queue *q = queue_find(e, cmd->queue.name);
    if (q != NULL && q->users == 0 && !has_numbers(q) && q->v.changed_ms < cmd->queue.deleted_ms)
        forget(e, q);
    command_done(e, cmd);
}

void delete_queue(struct engine *e, struct command *cmd)
{
    if (cmd->own) {
        delete_own_part(e, cmd);
        return;
    }
    struct str name = cmd->queue.name;
    struct queue *q = queue_find(e, name);
    struct need need = need_of(e, cmd, q);
    if (!need.known) {
        command_fail(e, cmd, RC_NOT_FOUND, "there is no queue '%.*s'", STR_ARG(name));
    } else if (need.unfinished > 0 || need.letters > 0) {
        command_fail(e, cmd, RC_CONFLICT,
                     "the queue '%.*s' is needed (unfinished executions: %" PRId64
                     ", dead letters: %" PRId64
                     "): wait for its jobs or cancel them (belfry jobs --queue %.*s), "
                     "run its dead letters again or discard them, and then delete it",
                     STR_ARG(name), need.unfinished, need.letters, STR_ARG(name));
    } else if (q != NULL && q->users > 0) {
        command_fail(e, cmd, RC_BUSY, "the last work of the queue is ending right now; try again");
    } else {
        if (q != NULL) {
            queue_tell(e, q, QUEUE_DELETED, *name_keep(e, cmd->actor));
            forget(e, q);
        }
        tell_others(e, cmd);
        command_done(e, cmd);
    }
}
