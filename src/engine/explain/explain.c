#include "engine/explain/explain.h"
#include "engine/core/commands.h"
#include "engine/core/jobs.h"
#include "engine/core/load.h"
#include "engine/estimate/estimate.h"
#include "engine/ready/silence.h"
#include "engine/time/calendars.h"
#include "engine/time/deadlines.h"
#include "engine/time/slots.h"
#include "job/record/trail.h"

#include <inttypes.h>

enum { ERROR_SHOWN_MAX = 200 }; /* bytes of a failure's text; the execution has all of it */

/* ---- what must be known
 *
 * Memory holds how things stand, but not how they came to: who paused a job, why an attempt failed.
 * A person is asking, so the store may be asked each time. */

static void ask_one(struct engine *e, struct command *cmd, enum question_kind kind, uint64_t id,
                    struct question_list *list)
{
    struct question *q = command_ask(e, cmd, list);
    q->kind = kind;
    q->id = id;
}

/* Of a job's executions the one that people mean when they ask why it does not run: one that could,
 * else one that does, else the one ahead; and of equals the oldest. */
static const struct exec *choose(const struct job *job)
{
    static const uint8_t order[EXEC_STATES] = {
        [EXEC_QUEUED] = 1,       [EXEC_RETRYING] = 2,  [EXEC_BLOCKED] = 3,   [EXEC_STOPPING] = 4,
        [EXEC_RUNNING] = 5,      [EXEC_SCHEDULED] = 6, [EXEC_COMPLETED] = 7, [EXEC_FAILED] = 7,
        [EXEC_TIMEOUT] = 7,      [EXEC_CANCELLED] = 7, [EXEC_SKIPPED] = 7,   [EXEC_EXPIRED] = 7,
        [EXEC_DEDUPLICATED] = 7,
    };
    const struct exec *best = NULL;
    LIST_EACH(&job->execs, node)
    {
        const struct exec *x = CONTAINER_OF(node, struct exec, sibling);
        if (best == NULL || order[x->v.state] < order[best->v.state])
            best = x;
        if (best->v.state == EXEC_QUEUED)
            break; /* none is better, however many there are */
    }
    return best;
}

/* The places of a command's questions. */
enum {
    ASKED_TARGET,
    ASKED_JOB_TRAIL,
    ASKED_EXEC_TRAIL,                /* of the execution that is the target … */
    ASKED_NEWEST = ASKED_EXEC_TRAIL, /* … or the newest one of a job that has no unfinished one … */
    ASKED_NEWEST_TRAIL = ASKED_NEWEST + 1, /* … and its trail */
};

/* All that memory holds of a job comes before the slot ahead, which it may not hold. */
static void ask_about_job(struct engine *e, struct command *cmd, struct question_list *list)
{
    const struct job *job = map_get(&e->jobs, cmd->target.id);
    if (job != NULL)
        ask_one(e, cmd, ASK_EXEC, choose(job)->id, list);
    else
        ask_one(e, cmd, ASK_AHEAD, cmd->target.id, list);
}

void ask_explain(struct engine *e, struct command *cmd, unsigned round, struct question_list *list)
{
    bool about_job = cmd->kind == CMD_EXPLAIN_JOB;
    if (round == 0 && about_job) {
        ask_about_job(e, cmd, list);
        return;
    }
    if (round == 0) {
        ask_one(e, cmd, ASK_EXEC, cmd->target.id, list);
        return;
    }
    const struct answer *a = &cmd->questions[ASKED_TARGET].answer;
    if (round == 1 && a->job_count > 0) {
        ask_one(e, cmd, ASK_TRAIL, a->jobs[0].id, list);
        if (!about_job)
            ask_one(e, cmd, ASK_TRAIL, cmd->target.id, list);
        else if (a->newest == NULL && (a->exec == NULL || exec_is_final(a->exec->state)))
            ask_one(e, cmd, ASK_EXEC, a->jobs[0].last_exec, list);
    } else if (round == 2 && about_job && cmd->question_count > ASKED_NEWEST) {
        ask_one(e, cmd, ASK_TRAIL, a->jobs[0].last_exec, list);
    }
}

/* ---- the scene */

void scene_add(struct scene *s, struct blocker blocker)
{
    *VEC_PUSH(s->arena, &s->blockers) = blocker;
}

struct str scene_when(const struct scene *s, int64_t at_ms)
{
    char text[WHEN_TEXT_MAX];
    when_format(text, at_ms);
    return arena_printf(s->arena, "%.10s %.8sZ", text, text + sizeof "2026-11-16T" - 1);
}

struct str scene_id(const struct scene *s, const char *prefix, uint64_t id)
{
    char text[ID_TEXT_MAX];
    return arena_str(s->arena, id_format(text, prefix, id));
}

/* The newest step of this name (empty: of any), in what is stored or in what this turn adds. */
static bool find_step(struct str stored, const struct touched *touched, struct str event,
                      struct trail_step *ret_step)
{
    struct str parts[] = {stored, touched == NULL ? STR("") : touched->steps};
    bool found = false;
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        for (struct trail_step step; trail_next(&parts[i], &step);) {
            if (event.len > 0 && !str_eq(step.event, event))
                continue;
            *ret_step = step;
            found = true;
        }
    }
    return found;
}

/* ": why", or nothing. */
static struct str because(const struct scene *s, struct str reason)
{
    if (reason.len == 0)
        return STR("");
    return arena_printf(s->arena, ": %.*s", STR_ARG(str_head(reason, ERROR_SHOWN_MAX)));
}

/* ---- somebody holds it back */

static void explain_job_paused(struct scene *s)
{
    struct trail_step step = {.actor = STR("somebody")};
    if (s->job->v.state != JOB_PAUSED)
        return;
    (void)find_step(s->job_trail, s->job->touched, STR("pause"), &step);
    struct str id = scene_id(s, ID_JOB, s->job->id);
    scene_add(s, (struct blocker){
                     .kind = BLOCKER_JOB_PAUSED,
                     .text = arena_printf(s->arena,
                                          "the job was paused at %.*s by %.*s%.*s; resume it: "
                                          "belfry resume %.*s",
                                          STR_ARG(scene_when(s, step.at_ms)), STR_ARG(step.actor),
                                          STR_ARG(because(s, step.reason)), STR_ARG(id)),
                     .since_ms = step.at_ms,
                     .by = arena_str(s->arena, step.actor),
                 });
}

static void explain_queue_paused(struct scene *s)
{
    const struct queue *q = s->job->v.def->rules.queue;
    if (!q->v.paused)
        return;
    scene_add(s, (struct blocker){
                     .kind = BLOCKER_QUEUE_PAUSED,
                     .text = arena_printf(s->arena,
                                          "the queue '%.*s' was paused at %.*s by %.*s; resume it: "
                                          "belfry queues resume %.*s",
                                          STR_ARG(q->name), STR_ARG(scene_when(s, q->v.paused_ms)),
                                          STR_ARG(q->v.paused_by), STR_ARG(q->name)),
                     .since_ms = q->v.paused_ms,
                     .by = arena_str(s->arena, q->v.paused_by),
                     .queue = arena_str(s->arena, q->name),
                 });
}

/* ---- its time has not come */

static struct str stagger_words(const struct scene *s)
{
    char text[WHEN_TEXT_MAX];
    int64_t stagger_ms = s->exec->v.due_ms - s->exec->v.slot_ms;
    if (s->job->v.def->schedule == NULL || stagger_ms <= 0)
        return STR("");
    return arena_printf(s->arena, " (its slot of %.*s and %.*s of stagger)",
                        STR_ARG(scene_when(s, s->exec->v.slot_ms)),
                        STR_ARG(duration_format(text, stagger_ms)));
}

/* Its calendars, as they stand now, may hold or skip it when its time comes. */
static struct str outlook_words(const struct scene *s, int64_t due_ms)
{
    struct ruling then = calendars_rule(s->job, due_ms);
    if (then.verdict == CALENDAR_FREE)
        return STR("");
    return arena_printf(s->arena, ", and will be %s then: %.*s",
                        then.verdict == CALENDAR_SKIPS ? "skipped" : "held",
                        STR_ARG(ruling_words(s->arena, &then)));
}

static void explain_scheduled(struct scene *s)
{
    int64_t due_ms = s->exec->v.due_ms;
    scene_add(s, (struct blocker){
                     .kind = BLOCKER_SCHEDULED,
                     .text = arena_printf(s->arena, "it is scheduled for %.*s%.*s%.*s",
                                          STR_ARG(scene_when(s, due_ms)), STR_ARG(stagger_words(s)),
                                          STR_ARG(outlook_words(s, due_ms))),
                     .until_ms = due_ms,
                 });
}

/* Nothing here starts it. */
static void explain_ping(struct scene *s)
{
    char late[WHEN_TEXT_MAX];
    int64_t due_ms = s->exec->v.due_ms;
    int64_t late_ms = s->engine->now_ms - due_ms;
    struct str since = scene_when(s, s->exec->created_ms);
    struct str until = scene_when(s, due_ms);
    struct str text =
        s->exec->v.late && late_ms > 0
            ? arena_printf(s->arena,
                           "no ping has come since %.*s: it was due by %.*s and is %.*s late",
                           STR_ARG(since), STR_ARG(until),
                           STR_ARG(duration_format(late, late_ms - late_ms % 1000)))
            : arena_printf(s->arena, "it waits for a ping, which is due by %.*s%s", STR_ARG(until),
                           s->exec->v.sla_marks & SLA_MISSED ? "; the newest one told of a failure"
                                                             : "");
    scene_add(s, (struct blocker){
                     .kind = BLOCKER_PING,
                     .text = text,
                     .until_ms = s->exec->v.late ? 0 : due_ms,
                     .since_ms = s->exec->created_ms,
                 });
}

static void explain_calendar(struct scene *s)
{
    const struct exec_values *v = &s->exec->v;
    struct ruling now = calendars_rule(s->job, s->engine->now_ms);
    struct str name = now.verdict == CALENDAR_FREE ? STR("") : now.calendar;
    struct str text = now.unreadable
                          ? ruling_words(s->arena, &now)
                          : arena_printf(s->arena,
                                         "the calendar '%.*s' holds it since %.*s, until %.*s; a "
                                         "run that is asked for is not held: belfry trigger",
                                         STR_ARG(name), STR_ARG(scene_when(s, v->ready_ms)),
                                         STR_ARG(scene_when(s, v->due_ms)));
    scene_add(s, (struct blocker){
                     .kind = BLOCKER_CALENDAR,
                     .text = text,
                     .until_ms = v->due_ms,
                     .since_ms = v->ready_ms,
                     .calendar = arena_str(s->arena, name),
                 });
}

/* Why its last attempt failed: in this turn, or as the store has it. */
static struct str last_error(const struct scene *s)
{
    const struct touched *t = s->exec->touched;
    if (t != NULL && t->error.len > 0)
        return t->error;
    return s->record == NULL ? STR("") : s->record->error;
}

static void explain_retry(struct scene *s)
{
    const struct exec_values *v = &s->exec->v;
    scene_add(s, (struct blocker){
                     .kind = BLOCKER_RETRY,
                     .text = arena_printf(s->arena,
                                          "attempt %" PRIu32 " of %" PRIu32
                                          " failed%.*s; the next one begins at %.*s",
                                          v->attempts, s->job->v.def->rules.retry.max_retries + 1,
                                          STR_ARG(because(s, last_error(s))),
                                          STR_ARG(scene_when(s, v->due_ms))),
                     .until_ms = v->due_ms,
                     .used = v->attempts,
                     .limit = s->job->v.def->rules.retry.max_retries + 1,
                 });
}

/* ---- other runs of its job */

static int64_t count_blocked_before(const struct exec *x)
{
    int64_t count = 0;
    LIST_EACH(&x->job->execs, node)
    {
        const struct exec *other = CONTAINER_OF(node, struct exec, sibling);
        count += other->v.state == EXEC_BLOCKED && other->id < x->id;
    }
    return count;
}

static void explain_overlap(struct scene *s)
{
    const struct exec *other = slot_under_way(s->job, s->exec);
    if (other == NULL || s->exec->waits_for > 0)
        return;
    uint64_t *execs = ARENA_ARRAY(s->arena, uint64_t, 1);
    execs[0] = other->id;
    int64_t ahead = count_blocked_before(s->exec);
    struct str others =
        ahead == 0 ? STR("") : arena_printf(s->arena, ", and %" PRId64 " more before it", ahead);
    struct str id = scene_id(s, ID_EXEC, other->id);
    scene_add(s, (struct blocker){
                     .kind = BLOCKER_OVERLAP,
                     .text = arena_printf(
                         s->arena, "it waits until %.*s of the same job %s (overlap: %.*s)%.*s",
                         STR_ARG(id), other->v.state == EXEC_STOPPING ? "has stopped" : "is over",
                         STR_ARG(overlap_name(s->job->v.def->rules.overlap)), STR_ARG(others)),
                     .execs = execs,
                     .exec_count = 1,
                     .ahead = ahead,
                 });
}

/* ---- other jobs */

static void explain_dependencies(struct scene *s)
{
    struct str text = STR("it waits for");
    uint32_t named = 0;
    uint32_t waits_for = s->exec->waits_for;
    uint64_t *execs = ARENA_ARRAY(s->arena, uint64_t, BLOCKER_EXECS_MAX);
    size_t exec_count = 0;
    if (waits_for == 0)
        return;
    LIST_EACH(&s->job->edges, node)
    {
        const struct edge *edge = CONTAINER_OF(node, struct edge, sibling);
        if (edge->exec != s->exec || edge->v.state != DEPENDENCY_WAITING ||
            named == BLOCKER_EXECS_MAX)
            continue;
        text = arena_printf(s->arena, "%.*s%s the %.*s of %.*s", STR_ARG(text),
                            named > 0 ? "," : "", STR_ARG(dependency_type_name(edge->type)),
                            STR_ARG(scene_id(s, ID_JOB, edge->upstream)));
        named++;
        if (edge->v.asking || edge->v.target == edge->upstream)
            continue;
        execs[exec_count++] = edge->v.target;
        text = arena_printf(s->arena, "%.*s (its slot %.*s)", STR_ARG(text),
                            STR_ARG(scene_id(s, ID_EXEC, edge->v.target)));
    }
    if (waits_for > named)
        text = arena_printf(s->arena, "%.*s, and of %" PRIu32 " more", STR_ARG(text),
                            waits_for - named);
    scene_add(s, (struct blocker){
                     .kind = BLOCKER_DEPENDENCY,
                     .text = text,
                     .ahead = waits_for,
                     .execs = execs,
                     .exec_count = exec_count,
                 });
}

/* ---- it runs, or did */

static void explain_stopping(struct scene *s)
{
    struct trail_step step = {.actor = STR("somebody")};
    if (!find_step(s->exec_trail, s->exec->touched, exec_event_name(EV_CANCEL), &step))
        (void)find_step(s->job_trail, s->job->touched, STR("cancel"), &step);
    struct str worker = scene_id(s, ID_WORKER, s->exec->v.lease.worker_id);
    scene_add(s, (struct blocker){
                     .kind = BLOCKER_STOPPING,
                     .text = arena_printf(
                         s->arena,
                         "%.*s asked to stop it%.*s; it is over when %.*s says so, "
                         "or is not heard any more",
                         STR_ARG(step.actor), STR_ARG(because(s, step.reason)), STR_ARG(worker)),
                     .since_ms = step.at_ms,
                     .by = arena_str(s->arena, step.actor),
                 });
}

/* How an execution ended, whoever knows it. */
struct ending {
    uint64_t id;
    enum exec_state state;
    int64_t at_ms;
    const struct touched *touched;
};

static struct ending ending_of(const struct scene *s)
{
    const struct exec *x = s->exec;
    if (x != NULL)
        return (struct ending){x->id, x->v.state, x->v.finished_ms, x->touched};
    return (struct ending){s->record->id, s->record->state, s->record->finished_ms, NULL};
}

static void explain_finished(struct scene *s)
{
    struct ending end = ending_of(s);
    bool cancelled = end.state == EXEC_CANCELLED; /* not who obeyed, but who asked */
    struct trail_step step = {0};
    if (!cancelled || !find_step(s->exec_trail, end.touched, exec_event_name(EV_CANCEL), &step))
        (void)find_step(s->exec_trail, end.touched, STR(""), &step);
    bool well = end.state == EXEC_COMPLETED;
    struct str id = scene_id(s, ID_EXEC, end.id);
    struct str again =
        well ? STR("") : arena_printf(s->arena, "; run it again: belfry retry %.*s", STR_ARG(id));
    scene_add(s, (struct blocker){
                     .kind = BLOCKER_FINISHED,
                     .text = arena_printf(s->arena, "it is over since %.*s: %.*s%.*s%.*s",
                                          STR_ARG(scene_when(s, end.at_ms)),
                                          STR_ARG(exec_state_name(end.state)),
                                          STR_ARG(because(s, step.reason)), STR_ARG(again)),
                     .since_ms = end.at_ms,
                     .by = arena_str(s->arena, step.actor),
                 });
}

/* A job with a schedule of which nothing is ahead. */
static void explain_no_slots(struct scene *s)
{
    struct trail_step step = {0};
    struct str text = STR("its schedule has no more slots");
    if (job_is_over(s->job->v.state) && find_step(s->job_trail, s->job->touched, STR(""), &step))
        text = arena_printf(s->arena, "the job is over since %.*s: %.*s%.*s",
                            STR_ARG(scene_when(s, step.at_ms)), STR_ARG(step.state),
                            STR_ARG(because(s, step.reason)));
    scene_add(s, (struct blocker){
                     .kind = BLOCKER_FINISHED,
                     .text = text,
                     .since_ms = step.at_ms,
                     .by = arena_str(s->arena, step.actor),
                 });
}

/* It was running when another server had it; whether it still does, nobody has said here. */
static void explain_unheard(struct scene *s)
{
    const struct lease *lease = &s->exec->v.lease;
    /* By the boot clock, as it will end. */
    int64_t until_ms = s->engine->now_ms + lease->ends_ms - s->engine->boot_ms;
    struct str worker = scene_id(s, ID_WORKER, lease->worker_id);
    struct str when = scene_when(s, until_ms);
    scene_add(s, (struct blocker){
                     .kind = BLOCKER_UNHEARD,
                     .text = arena_printf(
                         s->arena,
                         "%.*s had it, and has not been heard since this server took over; it may "
                         "run there until %.*s, and nobody else is given it before",
                         STR_ARG(worker), STR_ARG(when)),
                     .until_ms = until_ms,
                 });
}

/* ---- all of it */

/* Blockers of everything that has yet to run, then those that its own state adds. */
static void explain_waiting(struct scene *s)
{
    enum exec_state state = s->exec->v.state;
    explain_job_paused(s);
    if (s->exec->origin == ORIGIN_PING) { /* of a job that is paused none is missed */
        if (s->job->v.state != JOB_PAUSED)
            explain_ping(s);
        return;
    }
    explain_queue_paused(s);
    if (exec_is_held(s->exec))
        explain_calendar(s);
    else if (state == EXEC_SCHEDULED)
        explain_scheduled(s);
    else if (state == EXEC_RETRYING)
        explain_retry(s);
    else if (state == EXEC_BLOCKED)
        explain_overlap(s);
    explain_dependencies(s);
    (void)explain_unserved(s);
    if (state == EXEC_QUEUED)
        explain_ready(s);
}

static void explain_all(struct scene *s)
{
    const struct exec *x = s->exec;
    if (x == NULL && s->record == NULL)
        explain_no_slots(s);
    else if (x == NULL || exec_is_final(x->v.state))
        explain_finished(s);
    else if (x->v.state == EXEC_STOPPING)
        explain_stopping(s);
    else if (x->v.state != EXEC_RUNNING)
        explain_waiting(s);
    else if (lease_is_unseen(&x->v.lease))
        explain_unheard(s);
}

static struct str summarise(const struct scene *s)
{
    size_t count = s->blockers.len;
    const struct exec *x = s->exec;
    if (count == 1)
        return s->blockers.items[0].text;
    if (count > 1)
        return arena_printf(s->arena, "%zu things hold it back; first of all: %.*s", count,
                            STR_ARG(s->blockers.items[0].text));
    if (!exec_is_leased(x->v.state))
        return STR("nothing holds it back: the next worker that asks is given it");
    return arena_printf(s->arena, "it runs on %.*s since %.*s",
                        STR_ARG(scene_id(s, ID_WORKER, x->v.lease.worker_id)),
                        STR_ARG(scene_when(s, x->v.started_ms)));
}

static const struct answer *answer_at(const struct command *cmd, size_t place)
{
    return place < cmd->question_count ? &cmd->questions[place].answer : NULL;
}

/* From the store: the execution is over, or its last attempt failed, and why. */
static const struct exec_rec *find_record(const struct command *cmd, const struct exec *x)
{
    const struct answer *target = answer_at(cmd, ASKED_TARGET);
    const struct answer *newest = answer_at(cmd, ASKED_NEWEST);
    const struct exec_rec *told[] = {target->newest, target->exec};
    for (size_t i = 0; x != NULL && i < COUNT_OF(told); i++) {
        if (told[i] != NULL && told[i]->id == x->id)
            return told[i];
    }
    if (cmd->kind == CMD_EXPLAIN_EXEC)
        return target->exec;
    return newest == NULL ? NULL : newest->exec;
}

static struct scene set_scene(const struct engine *e, const struct command *cmd,
                              const struct job *job)
{
    bool about_job = cmd->kind == CMD_EXPLAIN_JOB;
    const struct answer *job_trail = answer_at(cmd, ASKED_JOB_TRAIL);
    const struct answer *exec_trail =
        answer_at(cmd, about_job ? ASKED_NEWEST_TRAIL : ASKED_EXEC_TRAIL);
    struct scene s = {.engine = e, .arena = cmd->arena, .job = job};
    s.exec = about_job ? choose(job) : map_get(&e->execs, cmd->target.id);
    s.record = find_record(cmd, s.exec);
    if (about_job && s.exec == NULL && job->v.def->schedule != NULL)
        s.record = NULL; /* of many that are over none is the one to speak of */
    if (job_trail != NULL)
        s.job_trail = job_trail->trail;
    if (exec_trail != NULL)
        s.exec_trail = exec_trail->trail;
    return s;
}

static void reply(struct engine *e, struct command *cmd, const struct scene *s)
{
    struct explanation *explanation = ARENA_NEW(cmd->arena, struct explanation);
    *explanation = (struct explanation){
        .summary = summarise(s),
        .blockers = s->blockers.items,
        .blocker_count = s->blockers.len,
        .expires_ms =
            s->exec == NULL || expiry_ms(s->exec) == NO_DEADLINE_MS ? 0 : expiry_ms(s->exec),
        .estimate = s->exec != NULL
                        ? estimate_start(e, s->exec)
                        : (struct estimate){.reason = blocker_kind_name(BLOCKER_FINISHED)},
    };
    cmd->reply.explanation = explanation;
    cmd->reply.job_id = s->job->id;
    cmd->reply.version = s->job->v.def->rules.version;
    cmd->reply.job_state = s->job->v.state;
    if (s->exec != NULL || s->record != NULL) {
        cmd->reply.exec_id = s->exec != NULL ? s->exec->id : s->record->id;
        cmd->reply.exec_state = s->exec != NULL ? s->exec->v.state : s->record->state;
    }
}

/* NULL: the command has failed. */
static const struct job *find_job(struct engine *e, struct command *cmd)
{
    bool was_in_memory =
        cmd->kind == CMD_EXPLAIN_JOB && cmd->questions[ASKED_TARGET].kind == ASK_EXEC;
    return was_in_memory ? map_get(&e->jobs, cmd->target.id) : adopt_answer(e, cmd);
}

void decide_explain(struct engine *e, struct command *cmd)
{
    const struct job *job = find_job(e, cmd);
    if (job == NULL)
        return;
    struct scene s = set_scene(e, cmd, job);
    explain_all(&s);
    reply(e, cmd, &s);
    command_done(e, cmd);
}
