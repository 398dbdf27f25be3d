#include "client.h"
#include "choice.h"
#include "client_alerts.h"
#include "client_wishes.h"
#include "promises.h"
#include "world.h"

#include <inttypes.h>

static void send_target(struct world *w, enum command_kind kind, uint64_t id, const char *words,
                        const char *label)
{
    struct call *call = call_new(w, kind, STR("key:admin"));
    call->cmd.target.id = id;
    SAY(w, "client", "%s %s", words, label);
    net_send(w, call);
}

/* With a payload of its own, now and then. */
static void send_again(struct world *w, enum command_kind kind, uint64_t id, const char *words)
{
    struct call *call = call_new(w, kind, STR("key:admin"));
    call->cmd.target.id = id;
    call->cmd.trace = client_trace(w, call->no);
    if (pick(w, 3) == 0) /* the text lives as long as the day: the call may be repeated */
        call->cmd.target.payload = arena_printf(w->model.arena, "[%zu]", (size_t)pick(w, 1000));
    SAY(w, "client", "%s %s%s", words, exec_label(w, id),
        call->cmd.target.payload.len > 0 ? ", with another payload" : "");
    net_send(w, call);
}

static void drain(struct world *w)
{
    const struct sim_worker *k = &w->workers[pick(w, w->scene.workers)];
    if (pick(w, 10) == 0)
        send_target(w, CMD_DRAIN, 4711, "drains", "nobody");
    else if (k->registered)
        send_target(w, CMD_DRAIN, k->id, "drains", k->label);
}

/* One that is cordoned, if there is one and `cordoned`; else any. */
static const struct sim_worker *choose_worker(struct world *w, bool cordoned)
{
    size_t first = pick(w, w->scene.workers);
    for (size_t i = 0; i < w->scene.workers && cordoned; i++) {
        const struct sim_worker *k = &w->workers[(first + i) % w->scene.workers];
        const struct model_worker *known = k->registered ? model_worker(&w->model, k->id) : NULL;
        if (known != NULL && known->rec.cordoned_ms > 0)
            return k;
    }
    return &w->workers[first];
}

static void send_about_worker(struct world *w, enum command_kind kind, const char *words)
{
    const struct sim_worker *k = choose_worker(w, kind == CMD_UNCORDON);
    if (pick(w, 10) == 0)
        send_target(w, kind, 4711, words, "nobody");
    else if (k->registered)
        send_target(w, kind, k->id, words, k->label);
}

static void look(struct world *w, enum command_kind kind)
{
    net_send(w, call_new(w, kind, STR("key:admin")));
}

static void change_queue(struct world *w)
{
    struct call *call = call_new(w, CMD_QUEUE, STR("key:admin"));
    struct queue_wish *wish = &call->cmd.queue;
    wish->name = pick(w, 8) == 0 ? STR("nowhere") : some_queue(w);
    wish->run = pick(w, 3) == 0 && w->scene.pauses ? QUEUE_PAUSE : QUEUE_RESUME;
    if (w->cluster && pick(w, 3) == 0)
        wish->run = QUEUE_LEAVE;
    wish->set_concurrency = chance(w, w->scene.limit_permille);
    wish->concurrency = (uint32_t)pick(w, 4);
    if (pick(w, 4) == 0)
        *wish = (struct queue_wish){.name = wish->name}; /* only looks */
    if (pick(w, 4) == 0)
        *wish = (struct queue_wish){.name = wish->name, .forget = true};
    SAY(w, "client", "asks for '%.*s' to be %s, limit %" PRIu32, STR_ARG(wish->name),
        wish->forget               ? "deleted"
        : wish->run == QUEUE_PAUSE ? "paused"
                                   : "open",
        wish->concurrency);
    net_send(w, call);
}

static void reset_breaker(struct world *w)
{
    static const struct str targets[] = {STR_INIT("handler:send"), STR_INIT("smtp"),
                                         STR_INIT("handler:nobody")};
    struct call *call = call_new(w, CMD_RESET_BREAKER, STR("key:admin"));
    call->cmd.breaker.target = PICK(w, targets);
    SAY(w, "client", "resets '%.*s'", STR_ARG(call->cmd.breaker.target));
    net_send(w, call);
}

/* More time for something that runs, when there is such a thing. */
static void extend_sla(struct world *w)
{
    const struct model *m = &w->model;
    struct call *call = call_new(w, CMD_EXTEND_SLA, STR("key:admin"));
    call->cmd.target.id = some_job(w);
    for (size_t i = pick(w, m->execs.len + 1); i < m->execs.len; i++) {
        const struct model_exec *x = m->execs.items[i];
        if (x->rec.state == EXEC_RUNNING && x->sla.since_ms > 0) {
            call->cmd.target.id = x->rec.job_id;
            call->cmd.target.exec_id = pick(w, 2) == 0 ? 0 : x->rec.id;
            break;
        }
    }
    call->cmd.target.by_ms = pick_ms(w, 1, 5000);
    call->cmd.target.reason = STR("a slow day");
    call->cmd.target.approver = STR("ada");
    SAY(w, "client", "wants more time for %s", job_label(w, call->cmd.target.id));
    net_send(w, call);
}

static void change_team(struct world *w)
{
    struct call *call = call_new(w, CMD_TEAM, STR("key:admin"));
    struct team_wish *wish = &call->cmd.team;
    wish->name =
        pick(w, 8) == 0 ? STR("nobody") : team_words[1 + pick(w, COUNT_OF(team_words) - 1)];
    wish->set_concurrency = pick(w, 4) != 0;
    wish->concurrency = chance(w, w->scene.limit_permille) ? (uint32_t)pick(w, 4) : 0;
    SAY(w, "client", "asks for team '%.*s' to have limit %" PRIu32, STR_ARG(wish->name),
        wish->concurrency);
    net_send(w, call);
}

/* Times around now; some long over, some that begin where others end. */
static void change_calendar(struct world *w)
{
    struct model *m = &w->model;
    struct call *call = call_new(w, CMD_CALENDAR, STR("key:admin"));
    struct model_plan *plan = ARENA_NEW(m->arena, struct model_plan);
    int64_t at_ms = world_now(w).wall_ms / 1000 * 1000 - pick_ms(w, 0, 40) * 1000;
    plan->policy = (enum calendar_policy)pick(w, CALENDAR_POLICIES);
    plan->span_count = pick(w, COUNT_OF(plan->spans) + 1);
    for (size_t i = 0; i < plan->span_count; i++) {
        plan->spans[i].from_ms = at_ms;
        plan->spans[i].to_ms = at_ms + pick_ms(w, 1, 60) * 1000;
        at_ms = plan->spans[i].to_ms + pick_ms(w, 0, 2) * 15000;
    }
    *VEC_PUSH(m->arena, &m->plans) = plan;
    call->cmd.calendar.name = PICK(w, calendar_words);
    call->cmd.calendar.forget = pick(w, 6) == 0;
    call->cmd.calendar.document = calendars_document(m, plan, m->arena);
    SAY(w, "client", "%s the calendar %.*s: %.*s", call->cmd.calendar.forget ? "deletes" : "puts",
        STR_ARG(call->cmd.calendar.name), STR_ARG(call->cmd.calendar.document));
    net_send(w, call);
}

/* Sometimes beside other work, so that one turn may take both: jobs that go by it, and others like
 * it. */
static void change_calendars(struct world *w)
{
    bool much = pick(w, 3) == 0;
    if (much) {
        client_submit(w);
        change_calendar(w);
        client_submit(w);
    }
    change_calendar(w);
    if (much)
        client_submit(w);
}

/* Beside other work, so that one turn may take both. */
static void run_cancelled_again(struct world *w)
{
    uint64_t exec = some_cancelled(w);
    client_submit(w);
    send_again(w, CMD_RETRY_EXEC, exec, "runs again");
    client_submit(w);
}

static void pause_job(struct world *w)
{
    uint64_t job = pick(w, 3) == 0 ? some_job(w) : some_recurring(w);
    if (w->scene.pauses)
        send_target(w, CMD_PAUSE_JOB, job, "pauses", job_label(w, job));
}

static void resume_job(struct world *w)
{
    uint64_t job = some_paused(w);
    send_target(w, CMD_RESUME_JOB, job, "resumes", job_label(w, job));
}

static void trigger_job(struct world *w)
{
    struct call *call = call_new(w, CMD_TRIGGER_JOB, STR("key:admin"));
    call->cmd.target.id = pick(w, 3) == 0 ? some_job(w) : some_recurring(w);
    call->cmd.trace = client_trace(w, call->no);
    if (pick(w, 4) == 0)
        call->cmd.target.payload = arena_printf(w->model.arena, "[%zu]", (size_t)pick(w, 1000));
    SAY(w, "client", "runs %s now%s", job_label(w, call->cmd.target.id),
        call->cmd.target.payload.len > 0 ? ", with a payload" : "");
    net_send(w, call);
}

static void cancel_recurring(struct world *w)
{
    uint64_t job = some_recurring(w);
    send_target(w, CMD_CANCEL_JOB, job, "cancels", job_label(w, job));
}

/* What somebody may do besides, and how often beside the others. */
static const struct {
    uint32_t weight;
    void (*act)(struct world *w);
} acts[] = {
    {40, pause_job},        {50, resume_job},           {50, trigger_job},
    {30, cancel_recurring}, {110, run_cancelled_again}, {10, reset_breaker},
    {60, change_queue},     {30, change_team},          {20, extend_sla},
    {40, client_alerts},
};

/* Somebody changes when things run. */
static void meddle(struct world *w)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < COUNT_OF(acts); i++)
        sum += acts[i].weight;
    uint64_t dice = pick(w, sum);
    size_t at = 0;
    while (dice >= acts[at].weight)
        dice -= acts[at++].weight;
    acts[at].act(w);
}

/* ---- dead letters */

static void operate(struct world *w)
{
    struct call *call = call_new(w, CMD_OPERATE, STR("key:admin"));
    const struct model_exec *x = model_exec(&w->model, some_letter(w));
    struct letter_filter *f = &call->cmd.operate.filter;
    call->cmd.operate.kind = pick(w, 6) == 0 ? OPERATION_DISCARD : OPERATION_RETRY;
    if (pick(w, 5) == 0)
        f->queue = PICK(w, queue_words);
    if (pick(w, 10) == 0)
        f->name = PICK(w, name_words);
    if (x != NULL && x->is_letter && pick(w, 10) == 0)
        f->class = x->letter.class;
    if (x != NULL && x->is_letter && pick(w, 10) == 0)
        f->fingerprint = x->letter.fingerprint;
    if (x != NULL && pick(w, 12) == 0)
        f->job_id = x->rec.job_id;
    SAY(w, "client", "asks for many dead letters to be %s",
        call->cmd.operate.kind == OPERATION_RETRY ? "run again" : "discarded");
    net_send(w, call);
}

/* The texts live as long as the day. */
static void act_on_some(struct world *w, struct call *call)
{
    struct buf ids = {.max = 10 * ID_DIGITS};
    bool jobs = operation_is_about_jobs(call->cmd.operate.kind);
    uint64_t last = 0;
    for (int i = 0; i < 4; i++) { /* in their order, as the API has them */
        uint64_t id = jobs ? some_job(w) : some_exec(w);
        char text[ID_TEXT_MAX];
        if (id > last)
            buf_add(&ids, id_format(text, "", id));
        last = id > last ? id : last;
    }
    call->cmd.operate.by_ids = true;
    call->cmd.operate.ids = arena_str(w->model.arena, buf_str(&ids));
    buf_free(&ids);
}

static void act_on_many(struct world *w)
{
    static const enum operation_kind kinds[] = {
        OPERATION_PAUSE_JOBS,   OPERATION_RESUME_JOBS,  OPERATION_RESUME_JOBS,
        OPERATION_TRIGGER_JOBS, OPERATION_TRIGGER_JOBS, OPERATION_CANCEL_JOBS,
        OPERATION_CANCEL_EXECS, OPERATION_RETRY_EXECS,
    };
    struct call *call = call_new(w, CMD_OPERATE, STR(OPERATOR));
    struct filter f = {0};
    call->cmd.operate.kind = PICK(w, kinds);
    if (call->cmd.operate.kind == OPERATION_PAUSE_JOBS && !w->scene.pauses)
        call->cmd.operate.kind = OPERATION_RESUME_JOBS;
    if (pick(w, 4) == 0)
        act_on_some(w, call);
    else if (pick(w, 4) == 0)
        f.name = PICK(w, name_words);
    else if (pick(w, 4) > 0)
        f.queue = PICK(w, queue_words);
    if (!call->cmd.operate.by_ids)
        call->cmd.operate.which = operation_filter_text(call->cmd.operate.kind, &f, w->model.arena);
    SAY(w, "client", "asks for many: %.*s %.*s",
        STR_ARG(operation_kind_name(call->cmd.operate.kind)),
        STR_ARG(operation_subject_name(call->cmd.operate.kind)));
    net_send(w, call);
}

static void cancel_operation(struct world *w)
{
    uint64_t id = operations_some(&w->model, pick(w, 1000));
    struct call *call = call_new(w, CMD_CANCEL_OPERATION, STR(OPERATOR));
    call->cmd.target.id = id;
    SAY(w, "client", "cancels an operation");
    net_send(w, call);
}

static void bury(struct world *w)
{
    uint64_t dice = pick(w, 10);
    uint64_t letter = pick(w, 6) == 0 ? some_exec(w) : some_letter(w);
    if (operations_run(&w->model) && pick(w, 8) == 0)
        cancel_operation(w);
    else if (dice < 3)
        send_again(w, CMD_RETRY_LETTER, letter, "gives another chance to");
    else if (dice < 4)
        send_target(w, CMD_DISCARD_LETTER, letter, "discards", exec_label(w, letter));
    else if (dice < 9)
        operate(w);
    else if (pick(w, 3) > 0)
        act_on_many(w);
    else
        cancel_operation(w);
}

/* One that was deleted by a server while another took a job that goes by it, or that was lost. It is put anew, and
 * excludes nothing. */
static void put_missing(struct world *w)
{
    struct model *m = &w->model;
    for (size_t i = 0; w->cluster && i < COUNT_OF(calendar_words); i++) {
        if (model_has_calendar(m, calendar_words[i]) || !calendars_are_needed(w, calendar_words[i]))
            continue;
        struct call *call = call_new(w, CMD_CALENDAR, STR("key:admin"));
        struct model_plan *plan = ARENA_NEW(m->arena, struct model_plan);
        *VEC_PUSH(m->arena, &m->plans) = plan;
        call->cmd.calendar.name = calendar_words[i];
        call->cmd.calendar.document = calendars_document(m, plan, m->arena);
        SAY(w, "client", "puts the calendar %.*s anew", STR_ARG(calendar_words[i]));
        net_send(w, call);
    }
}

void client_tidy_up(struct world *w)
{
    for (size_t i = 0; i < w->model.workers.len; i++) {
        const struct model_worker *worker = w->model.workers.items[i];
        if (!worker->forgotten && worker->rec.cordoned_ms > 0)
            send_target(w, CMD_UNCORDON, worker->rec.id, "uncordons", "a worker");
    }
    const struct model *m = &w->model;
    put_missing(w);
    for (size_t i = 0; i < m->queues.len; i++) {
        struct call *call =
            m->queues.items[i].paused ? call_new(w, CMD_QUEUE, STR("key:admin")) : NULL;
        if (call == NULL)
            continue;
        call->cmd.queue = (struct queue_wish){.name = m->queues.items[i].name, .run = QUEUE_RESUME};
        net_send(w, call);
    }
    for (size_t i = 0; i < m->jobs.len; i++) {
        const struct job_rec *job = &m->jobs.items[i]->rec;
        if (job->state == JOB_PAUSED)
            send_target(w, CMD_RESUME_JOB, job->id, "resumes", job_label(w, job->id));
    }
}

/* All at once, so that one turn takes many, and some of them twice. */
static void hurry(struct world *w)
{
    for (int i = 0; i < 5; i++)
        client_submit(w);
}

static void ask_fence(struct world *w, uint64_t exec)
{
    const struct model_exec *x = model_exec(&w->model, exec);
    struct call *call = call_new(w, CMD_FENCE, STR("key:worker"));
    call->cmd.target.id = exec;
    call->cmd.target.seq = x == NULL ? 1 : x->rec.token - (x->rec.token > 0 && pick(w, 4) == 0);
    net_send(w, call);
}

static void change_definition(struct world *w)
{
    if (w->scene.rolls_back && pick(w, 2) == 0)
        client_roll_back(w);
    else
        client_edit(w);
}

void client_act(struct world *w)
{
    uint64_t dice = pick(w, w->scene.calendar_permille > 0 ? 160 : 154);
    uint64_t job = some_job(w);
    uint64_t exec = dice % 2 == 0 ? some_running(w) : some_exec(w);
    if (dice >= 154)
        change_calendars(w);
    else if (dice >= 144)
        client_replan_blocked(w);
    else if (dice >= 126)
        bury(w);
    else if (dice >= 120)
        change_definition(w);
    else if (dice >= 100)
        meddle(w);
    else if (dice < 49)
        client_submit(w);
    else if (dice < 50)
        hurry(w);
    else if (dice < 58)
        send_target(w, CMD_CANCEL_JOB, job, "cancels", job_label(w, job));
    else if (dice < 66)
        send_target(w, CMD_CANCEL_EXEC, exec, "cancels", exec_label(w, exec));
    else if (dice < 76)
        send_again(w, CMD_RETRY_EXEC, exec, "runs again");
    else if (dice < 78)
        drain(w);
    else if (dice < 84)
        look(w, pick(w, 6) == 0 ? CMD_WAITS : CMD_STATS);
    else if (dice < 86)
        look(w, pick(w, 2) == 0 ? CMD_QUEUES : pick(w, 2) == 0 ? CMD_BREAKERS : CMD_TEAMS);
    else if (dice < 87)
        send_about_worker(w, CMD_CORDON, "cordons");
    else if (dice < 88)
        send_about_worker(w, CMD_UNCORDON, "uncordons");
    else if (dice < 89)
        send_about_worker(w, CMD_WORKER, "asks about");
    else if (dice < 90)
        look(w, CMD_WORKERS);
    else if (dice < 92)
        send_target(w, CMD_EXPLAIN_JOB, job, "asks why", job_label(w, job));
    else if (dice < 93)
        ask_fence(w, exec);
    else if (dice < 95)
        send_target(w, CMD_EXPLAIN_EXEC, exec, "asks why", exec_label(w, exec));
    else
        promise_reads(w);
}
