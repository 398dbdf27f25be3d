#include "client.h"
#include "promises.h"
#include "wire/spec_json.h"
#include "world.h"

#include <inttypes.h>
#include <string.h>

static const struct str queues[] = {STR_INIT("default"), STR_INIT("mail")};
static const struct str teams[] = {STR_INIT(""), STR_INIT("data"), STR_INIT("web")};
static const struct str names[] = {STR_INIT("ada"), STR_INIT("bob"), STR_INIT("cyd")};
static const struct str owners[] = {STR_INIT("admin"), STR_INIT("ci")};
static const struct str tags[] = {STR_INIT(""), STR_INIT("\nteam:ops\n"),
                                  STR_INIT("\nenv:prod\nteam:ops\n")};

static const struct str calendars[] = {STR_INIT("feast"), STR_INIT("freeze")};
static const struct str unique_keys[] = {STR_INIT("import"), STR_INIT("report")};
static const struct str keys[] = {STR_INIT("db"), STR_INIT("sms")};

/* What recurs within a day of the simulator, which has minutes, and what hardly does. */
static const struct {
    struct str text;
    bool seconds;
} crons[] = {
    {STR_INIT("*/5 * * * * *"), true},  {STR_INIT("7,20,50 * * * * *"), true},
    {STR_INIT("30 */2 * * * *"), true}, {STR_INIT("* * * * *"), false},
    {STR_INIT("0 3 * * MON"), false},   {STR_INIT("0 0 29 2 *"), false},
};

#define PICK(w, array) ((array)[pick((w), COUNT_OF(array))])

/* ---- submitting */

static struct retry draw_retry(struct world *w)
{
    struct retry retry = {.max_delay_ms = 5000};
    retry.max_retries = (uint32_t)pick(w, 4);
    retry.policy = (enum retry_policy)pick(w, RETRY_IMMEDIATE + 1);
    retry.delay_ms = pick_ms(w, 1, 2000);
    retry.jitter_permille = (uint32_t)pick(w, 2) * 300;
    if (pick(w, 3) == 0) /* half of all classes, but never none of them */
        retry.retry_on = ((uint32_t)pick(w, 1U << FAILURE_CLASSES) & ~1U) | 1U << FAILURE_NETWORK;
    return retry;
}

static struct sla draw_sla(struct world *w)
{
    struct sla sla = {.policy = (enum sla_policy)pick(w, SLA_POLICIES)};
    sla.max_ms = pick(w, 4) == 0 ? 0 : pick_ms(w, 100, 12000);
    if (sla.max_ms == 0 || pick(w, 2) == 0)
        sla.expected_ms = pick_ms(w, 1, sla.max_ms > 0 ? sla.max_ms : 5000);
    return sla;
}

static struct limit_rule draw_limit(struct world *w, bool rate)
{
    struct limit_rule rule = {0};
    if (!chance(w, w->scene.limit_permille))
        return rule;
    rule.key = PICK(w, keys);
    rule.limit = 1 + (uint32_t)pick(w, 3);
    rule.per_ms = rate ? pick_ms(w, 1000, 6000) : 0;
    if (w->cluster) { /* all who share a key mean the same: a permit is older than its use */
        rule.limit = 1 + (uint32_t)((w->seed + (uint64_t)rule.key.ptr[0]) % 3);
        rule.per_ms = rate ? 3000 : 0;
    }
    return rule;
}

/* One or two of them, which are there or not. */
static void draw_calendars(struct world *w, struct wish *wish)
{
    struct calendar_wish *wishes = ARENA_ARRAY(w->model.arena, struct calendar_wish, 2);
    size_t first = pick(w, COUNT_OF(calendars));
    size_t count = 1 + pick(w, 2);
    if (!chance(w, w->scene.calendar_permille))
        return;
    for (size_t i = 0; i < count; i++) {
        wishes[i].name = calendars[(first + i) % COUNT_OF(calendars)];
        wishes[i].has_policy = pick(w, 4) == 0;
        wishes[i].policy = (enum calendar_policy)pick(w, CALENDAR_POLICIES);
    }
    wish->rules.calendars = wishes;
    wish->rules.calendar_count = count;
}

static struct misfire draw_misfire(struct world *w)
{
    struct misfire misfire = {.grace_ms = misfire_default.grace_ms};
    misfire.policy = (enum misfire_policy)pick(w, MISFIRE_SKIP + 1);
    misfire.limit = 1 + (uint32_t)pick(w, 6);
    if (pick(w, 3) == 0)
        misfire.grace_ms = pick_ms(w, 1000, 120000);
    return misfire;
}

static size_t recurring(const struct world *w)
{
    size_t count = 0;
    for (size_t i = 0; i < w->model.jobs.len; i++) {
        const struct model_job *job = w->model.jobs.items[i];
        count += job->schedule != NULL && !job_is_over(job->rec.state);
    }
    return count;
}

static void parse_cron(struct world *w, const struct wish *wish, struct spec *spec)
{
    struct err err = {0};
    struct str zone;
    spec->cron_text = wish->cron;
    spec->seconds = wish->seconds;
    spec->zone = STR("UTC");
    PROMISE(w,
            wish->when != WHEN_CRON ||
                !cron_parse(wish->cron, &(struct cron_options){.seconds = wish->seconds},
                            &spec->cron, &zone, &err),
            "'%.*s' is refused: %s", STR_ARG(wish->cron), err.text);
}

static void draw_recurrence(struct world *w, struct wish *wish)
{
    size_t cron = pick(w, COUNT_OF(crons));
    wish->when = pick(w, 2) == 0 ? WHEN_EVERY : WHEN_CRON;
    if (wish->when == WHEN_EVERY) {
        wish->when_ms = pick_ms(w, SPEC_EVERY_MIN_MS, 40000);
    } else {
        wish->cron = crons[cron].text;
        wish->seconds = crons[cron].seconds;
    }
    if (w->scene.named_permille > 0 && pick(w, 2) == 0) /* most people name what recurs */
        wish->name = PICK(w, names);
    wish->rules.overlap = (enum overlap)pick(w, OVERLAP_REPLACE + 1);
    wish->rules.misfire = draw_misfire(w);
    if (pick(w, 3) == 0)
        wish->rules.stagger_ms = pick_ms(w, 1, 8000);
    struct spec spec = {.when = wish->when, .when_ms = wish->when_ms};
    parse_cron(w, wish, &spec);
    struct schedule *schedule = ARENA_NEW(w->model.arena, struct schedule);
    *schedule = spec_schedule(&spec, zone_utc());
    wish->rules.schedule = schedule;
}

static void draw_deadlines(struct world *w, struct rules *rules)
{
    rules->expires_in_ms = rules->start_within_ms = 0;
    if (!chance(w, w->scene.deadline_permille))
        return;
    if (pick(w, 3) > 0)
        rules->expires_in_ms = pick_ms(w, 2, 60000);
    if (pick(w, 3) > 0)
        rules->start_within_ms =
            pick_ms(w, 1, rules->expires_in_ms > 0 ? rules->expires_in_ms - 1 : 20000);
}

/* A key of its own, or one that somebody has used: for the same, or for something else. */
static struct once draw_once(struct world *w)
{
    struct model *m = &w->model;
    struct once once = {.hash = STR("this")};
    const struct wish *before =
        m->wishes.len > 0 ? &m->wishes.items[m->wishes.len - 1 - pick(w, m->wishes.len) / 4] : NULL;
    if (before != NULL && before->once.key.len > 0) {
        once.key = before->once.key;
        if (pick(w, 4) == 0)
            once.hash = STR("that");
    } else {
        once.key = arena_printf(m->arena, "key:admin\nk%zu", m->wishes.len);
    }
    return once;
}

static struct unique_rule draw_unique(struct world *w)
{
    struct unique_rule rule = {.key = PICK(w, unique_keys)};
    rule.until_start = pick(w, 3) == 0;
    rule.on_conflict = (enum on_conflict)pick(w, CONFLICT_REJECT + 1);
    return rule;
}

/* Something that must not be there twice. Nothing of the same submission waits for it. */
static void draw_duplicates(struct world *w, struct wish *wish)
{
    if (pick(w, 2) == 0)
        wish->once = draw_once(w);
    if (wish->rules.schedule == NULL && chance(w, w->scene.unique_permille))
        wish->rules.unique = draw_unique(w);
}

static struct wish draw_wish(struct world *w)
{
    struct wish wish = {0};
    wish.owner = PICK(w, owners);
    wish.tags = PICK(w, tags);
    wish.rules.queue = PICK(w, queues);
    wish.rules.handler = pick(w, 3) == 0 ? STR("send") : STR("");
    wish.rules.target = wish.rules.handler.len > 0 ? STR("") : STR("true");
    wish.rules.priority = (int32_t)pick(w, 4) * 300;
    wish.rules.retry = draw_retry(w);
    if (chance(w, w->scene.timeout_permille))
        wish.rules.timeout_ms = pick_ms(w, 100, 12000);
    if (chance(w, w->scene.sla_permille))
        wish.rules.sla = draw_sla(w);
    wish.rules.concurrency = draw_limit(w, false);
    wish.rules.rate = draw_limit(w, true);
    wish.rules.team = PICK(w, teams);
    draw_deadlines(w, &wish.rules);
    if (chance(w, w->scene.named_permille))
        wish.name = PICK(w, names);
    if (pick(w, 4) == 0 && recurring(w) < w->scene.recurring_max) {
        draw_recurrence(w, &wish);
    } else if (pick(w, 3) == 0) {
        wish.when = pick(w, 2) == 0 ? WHEN_AT : WHEN_DELAY;
        wish.when_ms = pick_ms(w, 0, w->scene.at_max_ms);
        if (wish.when == WHEN_AT) /* some of them are over already */
            wish.when_ms += world_now(w).wall_ms - w->scene.at_max_ms / 8;
    }
    draw_calendars(w, &wish);
    return wish;
}

static uint64_t some_job(struct world *w);
static uint64_t some_recurring(struct world *w);

/* One or two jobs that are there, or that come behind it in its own submission. */
static void draw_waits(struct world *w, struct wish *wish, size_t behind)
{
    struct model *m = &w->model;
    struct model_wait *waits = ARENA_ARRAY(m->arena, struct model_wait, 2);
    if (!chance(w, w->scene.waiting_permille))
        return;
    for (size_t i = 0; i < 2; i++) {
        struct model_wait *wait = &waits[wish->wait_count];
        wait->type = (enum dependency_type)(DEPENDS_SUCCESS + (int)pick(w, 3));
        if (i == 0 && behind > 0 && pick(w, 2) == 0)
            wait->wish = m->wishes.len + 1 + pick(w, behind);
        else
            wait->job_id = pick(w, 3) == 0 ? some_recurring(w) : some_job(w);
        bool known = wait->job_id == 0 || model_job(m, wait->job_id) != NULL;
        bool twice = i == 1 && wish->wait_count == 1 && waits[0].job_id == wait->job_id;
        wish->wait_count += known && !twice;
    }
    wish->waits = waits;
}

/* As a route would read it from a document. */
static struct str spec_of(struct world *w, const struct wish *wish, struct arena *arena)
{
    static const struct str argv[] = {STR_INIT("true")};
    bool command = wish->rules.handler.len == 0;
    struct spec spec = {
        .name = wish->name,
        .work = command ? WORK_ARGV : WORK_HANDLER,
        .argv = argv,
        .argc = command ? 1 : 0,
        .handler = wish->rules.handler,
        .queue = wish->rules.queue,
        .team = wish->rules.team,
        .priority = wish->rules.priority,
        .retry = wish->rules.retry,
        .timeout_ms = wish->rules.timeout_ms,
        .sla = wish->rules.sla,
        .concurrency = wish->rules.concurrency,
        .rate = wish->rules.rate,
        .start_within_ms = wish->rules.start_within_ms,
        .expires_in_ms = wish->rules.expires_in_ms,
        .calendars = wish->rules.calendars,
        .calendar_count = wish->rules.calendar_count,
        .unique = wish->rules.unique,
    };
    if (wish->rules.schedule != NULL) { /* `at` and `delay` are a matter of the submission */
        spec.when = wish->when;
        spec.when_ms = wish->when_ms;
        spec.overlap = wish->rules.overlap;
        spec.misfire = wish->rules.misfire;
        spec.stagger_ms = wish->rules.stagger_ms;
        parse_cron(w, wish, &spec);
    }
    return spec_text(&spec, arena);
}

/* Writes the wish down and fills in what a command says of it. */
static void carry(struct world *w, struct wish *wish, struct arena *arena, struct submission *item)
{
    struct model *m = &w->model;
    wish->job_id = 0;
    wish->acknowledged = false;
    wish->payload = arena_printf(m->arena, "{\"n\":%zu}", m->wishes.len);
    *VEC_PUSH(m->arena, &m->wishes) = *wish;
    *item = (struct submission){
        .name = wish->name,
        .owner = wish->owner,
        .team = wish->rules.team,
        .tags = wish->tags,
        .spec = spec_of(w, wish, arena),
        .payload = wish->payload,
        .rules = wish->rules,
        .when = wish->when,
        .when_ms = wish->when_ms,
    };
}

static void wish_for(struct world *w, struct wish wish, struct call *call, struct submission *item)
{
    struct model *m = &w->model;
    carry(w, &wish, &call->arena, item);
    struct dependency_wish *depends_on =
        ARENA_ARRAY(&call->arena, struct dependency_wish, wish.wait_count);
    for (size_t i = 0; i < wish.wait_count; i++)
        depends_on[i] = (struct dependency_wish){
            .type = wish.waits[i].type,
            .job_id = wish.waits[i].job_id,
            .number =
                (size_t)(item - call->cmd.submit.items) + wish.waits[i].wish - (m->wishes.len - 1),
        };
    for (size_t i = 0; i < wish.wait_count; i++)
        SAY(w, "client", "j%zu waits for %s", m->wishes.len - 1,
            wish.waits[i].job_id != 0 ? job_label(w, wish.waits[i].job_id) : "its neighbour");
    item->number = (size_t)(item - call->cmd.submit.items);
    item->depends_on = depends_on;
    item->depends_count = wish.wait_count;
    item->once = wish.once;
}

static void submit(struct world *w)
{
    struct call *call = call_new(w, CMD_SUBMIT, STR("key:admin"));
    size_t count = 1 + pick(w, 3);
    bool duplicates = chance(w, w->scene.once_permille);
    call->cmd.submit.items = ARENA_ARRAY(&call->arena, struct submission, count);
    call->cmd.submit.count = count;
    for (size_t i = 0; i < count; i++) {
        struct wish wish = draw_wish(w);
        draw_waits(w, &wish, duplicates ? 0 : count - 1 - i);
        if (duplicates)
            draw_duplicates(w, &wish);
        wish_for(w, wish, call, &call->cmd.submit.items[i]);
    }
    SAY(w, "client", "submits %zu jobs: j%zu ...", count, w->model.wishes.len - count);
    net_send(w, call);
}

void client_want_names(struct world *w)
{
    struct call *call = call_new(w, CMD_SUBMIT, STR("key:admin"));
    call->cmd.submit.items = ARENA_ARRAY(&call->arena, struct submission, COUNT_OF(names));
    call->cmd.submit.count = COUNT_OF(names);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct wish wish = {.name = names[i], .owner = owners[0], .rules.queue = queues[0]};
        wish.rules.retry = draw_retry(w);
        wish_for(w, wish, call, &call->cmd.submit.items[i]);
    }
    SAY(w, "client", "wants every name");
    net_send(w, call);
}

void client_submit_again(struct world *w, struct call *copy, const struct command *cmd)
{
    size_t count = cmd->submit.count;
    copy->cmd.submit.items = ARENA_ARRAY(&copy->arena, struct submission, count);
    copy->cmd.submit.count = count;
    size_t first = w->model.wishes.len;
    for (size_t i = 0; i < count; i++) {
        const struct submission *from = &cmd->submit.items[i];
        struct wish wish = {
            .name = from->name,
            .owner = from->owner,
            .tags = from->tags,
            .once = {.key = from->once.key, .hash = from->once.hash},
            .rules = from->rules,
            .when = from->when,
            .when_ms = from->when_ms,
            .cron = w->model.wishes.items[wish_no(from)].cron,
            .seconds = w->model.wishes.items[wish_no(from)].seconds,
            .wait_count = from->depends_count,
            .waits = ARENA_ARRAY(w->model.arena, struct model_wait, from->depends_count),
        };
        for (size_t k = 0; k < from->depends_count; k++) {
            const struct dependency_wish *on = &from->depends_on[k];
            wish.waits[k] = (struct model_wait){
                .type = on->type, .job_id = on->job_id, .wish = first + on->number};
        }
        wish_for(w, wish, copy, &copy->cmd.submit.items[i]);
    }
    SAY(w, "client", "the repeat submits %zu jobs: j%zu ...", count, first);
}

/* ---- the rest */

/* Mostly one of the newest, which have more to lose; sometimes one that never was. */
static size_t some(struct world *w, size_t len)
{
    size_t recent = len < 12 ? len : 12;
    return pick(w, 3) == 0 ? pick(w, len) : len - 1 - pick(w, recent);
}

static uint64_t some_job(struct world *w)
{
    const struct model *m = &w->model;
    return m->jobs.len == 0 || pick(w, 50) == 0 ? 4711
                                                : m->jobs.items[some(w, m->jobs.len)]->rec.id;
}

/* One that recurs, when there is one. */
static uint64_t some_recurring(struct world *w)
{
    const struct model *m = &w->model;
    size_t from = pick(w, m->jobs.len + 1);
    for (size_t i = from; i < m->jobs.len; i++) {
        if (m->jobs.items[i]->schedule != NULL && !job_is_over(m->jobs.items[i]->rec.state))
            return m->jobs.items[i]->rec.id;
    }
    return some_job(w);
}

static uint64_t some_paused(struct world *w)
{
    const struct model *m = &w->model;
    for (size_t i = 0; i < m->jobs.len; i++) {
        if (m->jobs.items[i]->rec.state == JOB_PAUSED)
            return m->jobs.items[i]->rec.id;
    }
    return some_job(w);
}

static uint64_t some_exec(struct world *w)
{
    const struct model *m = &w->model;
    return m->execs.len == 0 || pick(w, 50) == 0 ? 4711
                                                 : m->execs.items[some(w, m->execs.len)]->rec.id;
}

/* The one that was granted last, perhaps so lately that its worker does not know. */
static uint64_t some_running(struct world *w)
{
    const struct model *m = &w->model;
    const struct model_exec *newest = NULL;
    for (size_t i = 0; i < m->execs.len; i++) {
        const struct model_exec *x = m->execs.items[i];
        if (x->rec.state == EXEC_RUNNING &&
            (newest == NULL || x->changed_turn > newest->changed_turn))
            newest = x;
    }
    return newest == NULL ? some_exec(w) : newest->rec.id;
}

/* Of a job that recurred until somebody cancelled it, when there is one. */
static uint64_t some_cancelled(struct world *w)
{
    const struct model *m = &w->model;
    size_t from = pick(w, m->jobs.len + 1) / 2;
    for (size_t i = from; i < m->jobs.len; i++) {
        const struct model_job *job = m->jobs.items[i];
        if (job->schedule != NULL && job_is_over(job->rec.state))
            return job->execs.items[pick(w, job->execs.len)]->rec.id;
    }
    return some_exec(w);
}

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

static void look(struct world *w, enum command_kind kind)
{
    net_send(w, call_new(w, kind, STR("key:admin")));
}

static void change_queue(struct world *w)
{
    struct call *call = call_new(w, CMD_QUEUE, STR("key:admin"));
    struct queue_wish *wish = &call->cmd.queue;
    wish->name = pick(w, 8) == 0 ? STR("nowhere") : PICK(w, queues);
    wish->run = pick(w, 3) == 0 && w->scene.pauses ? QUEUE_PAUSE : QUEUE_RESUME;
    if (w->cluster && pick(w, 3) == 0)
        wish->run = QUEUE_LEAVE;
    wish->set_concurrency = chance(w, w->cluster ? 300 : w->scene.limit_permille);
    wish->concurrency = (uint32_t)pick(w, 4) * (w->cluster ? 1000 : 1);
    if (pick(w, 4) == 0)
        *wish = (struct queue_wish){.name = wish->name}; /* only looks */
    SAY(w, "client", "asks for '%.*s' to be %s, limit %" PRIu32, STR_ARG(wish->name),
        wish->run == QUEUE_PAUSE ? "paused" : "open", wish->concurrency);
    net_send(w, call);
}

static void reset_breaker(struct world *w)
{
    static const struct str targets[] = {STR_INIT("handler:send"), STR_INIT("command:true"),
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

/* As the herald does, once somebody has taken it. */
static void mark_alert(struct world *w)
{
    const struct model *m = &w->model;
    if (m->alerts.len == 0)
        return;
    struct call *call = call_new(w, CMD_ALERT_SENT, STR("server"));
    call->cmd.alert = (struct alert_mark){m->alerts.items[pick(w, m->alerts.len)].id, ALERT_SENT};
    net_send(w, call);
}

static void change_team(struct world *w)
{
    struct call *call = call_new(w, CMD_TEAM, STR("key:admin"));
    struct team_wish *wish = &call->cmd.team;
    wish->name = pick(w, 8) == 0 ? STR("nobody") : teams[1 + pick(w, COUNT_OF(teams) - 1)];
    wish->set_concurrency = pick(w, 4) != 0;
    wish->concurrency =
        !w->cluster && chance(w, w->scene.limit_permille) ? (uint32_t)pick(w, 4) : 0;
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
    call->cmd.calendar.name = PICK(w, calendars);
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
        submit(w);
        change_calendar(w);
        submit(w);
    }
    change_calendar(w);
    if (much)
        submit(w);
}

/* Beside other work, so that one turn may take both. */
static void run_cancelled_again(struct world *w)
{
    uint64_t exec = some_cancelled(w);
    submit(w);
    send_again(w, CMD_RETRY_EXEC, exec, "runs again");
    submit(w);
}

/* ---- editing */

static void send_edit(struct world *w, struct call *call, struct wish *wish)
{
    call->cmd.edit.item = ARENA_NEW(&call->arena, struct submission);
    carry(w, wish, &call->arena, call->cmd.edit.item);
    call->cmd.edit.id = wish->edits;
    call->cmd.edit.version = wish->version;
    call->cmd.edit.replan = wish->replan;
    call->cmd.edit.what = STR("something");
}

void client_edit_again(struct world *w, struct call *copy, const struct command *cmd)
{
    struct wish wish = w->model.wishes.items[wish_no(cmd->edit.item)];
    send_edit(w, copy, &wish);
}

/* Another moment for a job that runs once, another rhythm for one that recurs. */
static void draw_replan(struct world *w, struct wish *wish)
{
    struct str name = wish->name;
    wish->replan = true;
    if (wish->rules.schedule != NULL) {
        draw_recurrence(w, wish);
        wish->name = name;
        return;
    }
    wish->when = (enum when_kind)pick(w, WHEN_DELAY + 1);
    wish->when_ms = pick_ms(w, 0, w->scene.at_max_ms);
    if (wish->when == WHEN_AT)
        wish->when_ms += world_now(w).wall_ms;
}

static struct wish draw_edit(struct world *w, const struct model_job *job)
{
    struct wish wish = *model_wish(&w->model, job);
    wish.edits = job->rec.id;
    wish.replan = false;
    wish.wait_count = 0;
    wish.version = pick(w, 20) == 0 ? job->rec.version - 1 : job->rec.version;
    if (pick(w, 2) == 0)
        wish.rules.queue = PICK(w, queues);
    if (pick(w, 2) == 0)
        wish.rules.priority = (int32_t)pick(w, 4) * 300;
    if (pick(w, 3) == 0)
        wish.rules.concurrency = draw_limit(w, false);
    if (pick(w, 3) == 0)
        wish.rules.rate = draw_limit(w, true);
    if (pick(w, 3) == 0)
        wish.rules.retry = draw_retry(w);
    if (pick(w, 3) == 0)
        wish.tags = PICK(w, tags);
    if (pick(w, 3) == 0)
        wish.rules.team = PICK(w, teams);
    if (pick(w, 4) == 0)
        draw_deadlines(w, &wish.rules);
    if (pick(w, 3) == 0) {
        wish.rules.calendar_count = 0;
        draw_calendars(w, &wish);
    }
    if (wish.rules.schedule != NULL && pick(w, 3) == 0) {
        wish.rules.stagger_ms = pick_ms(w, 0, 8000);
        wish.rules.overlap = (enum overlap)pick(w, OVERLAP_REPLACE + 1);
        wish.rules.misfire = draw_misfire(w);
    }
    if (pick(w, 2) == 0)
        draw_replan(w, &wish);
    return wish;
}

/* One whose slot a calendar holds, when there is one: its time has passed, and it is still ahead. */
static uint64_t some_held(struct world *w)
{
    const struct model *m = &w->model;
    for (size_t i = m->execs.len; i-- > 0;) {
        const struct model_exec *x = m->execs.items[i];
        if (model_is_held_by_calendar(&x->rec) && model_recurs(x))
            return x->rec.job_id;
    }
    return some_recurring(w);
}

static void edit(struct world *w)
{
    uint64_t id = pick(w, 3) == 0   ? some_held(w)
                  : pick(w, 4) == 0 ? some_paused(w)
                  : pick(w, 3) == 0 ? some_job(w)
                                    : some_recurring(w);
    const struct model_job *job = model_job(&w->model, id);
    struct wish wish = {.edits = id, .version = 1, .rules.queue = queues[0]};
    if (job != NULL)
        wish = draw_edit(w, job);
    else
        wish.rules.retry = draw_retry(w);
    struct call *call = call_new(w, CMD_EDIT_JOB, STR("key:admin"));
    send_edit(w, call, &wish);
    SAY(w, "client", "edits %s, version %" PRIu32 "%s", job_label(w, id), wish.version,
        wish.replan ? ", also when it runs" : "");
    net_send(w, call);
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
    uint64_t job = pick(w, 3) == 0 ? some_job(w) : some_recurring(w);
    send_target(w, CMD_TRIGGER_JOB, job, "runs now", job_label(w, job));
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
    {10, mark_alert},       {60, change_queue},         {30, change_team},
    {20, extend_sla},
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

static uint64_t some_letter(struct world *w)
{
    const struct model *m = &w->model;
    size_t from = pick(w, m->execs.len + 1);
    for (size_t i = 0; i < m->execs.len; i++) {
        const struct model_exec *x = m->execs.items[(from + i) % m->execs.len];
        if (x->is_letter)
            return x->rec.id;
    }
    return some_exec(w);
}

static void operate(struct world *w)
{
    struct call *call = call_new(w, CMD_OPERATE, STR("key:admin"));
    const struct model_exec *x = model_exec(&w->model, some_letter(w));
    struct letter_filter *f = &call->cmd.operate.filter;
    call->cmd.operate.kind = pick(w, 6) == 0 ? OPERATION_DISCARD : OPERATION_RETRY;
    if (pick(w, 5) == 0)
        f->queue = PICK(w, queues);
    if (pick(w, 10) == 0)
        f->name = PICK(w, names);
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

static void bury(struct world *w)
{
    uint64_t dice = pick(w, 10);
    uint64_t letter = pick(w, 6) == 0 ? some_exec(w) : some_letter(w);
    if (dice < 3)
        send_again(w, CMD_RETRY_LETTER, letter, "gives another chance to");
    else if (dice < 4)
        send_target(w, CMD_DISCARD_LETTER, letter, "discards", exec_label(w, letter));
    else if (dice < 9)
        operate(w);
    else
        look(w, CMD_OPERATIONS);
}

void client_tidy_up(struct world *w)
{
    const struct model *m = &w->model;
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
        submit(w);
}

static void ask_fence(struct world *w, uint64_t exec)
{
    const struct model_exec *x = model_exec(&w->model, exec);
    struct call *call = call_new(w, CMD_FENCE, STR("key:worker"));
    call->cmd.target.id = exec;
    call->cmd.target.seq = x == NULL ? 1 : x->rec.token - (x->rec.token > 0 && pick(w, 4) == 0);
    net_send(w, call);
}

void client_act(struct world *w)
{
    uint64_t dice = pick(w, w->scene.calendar_permille > 0 ? 150 : 144);
    uint64_t job = some_job(w);
    uint64_t exec = dice % 2 == 0 ? some_running(w) : some_exec(w);
    if (dice >= 144)
        change_calendars(w);
    else if (dice >= 126)
        bury(w);
    else if (dice >= 120)
        edit(w);
    else if (dice >= 100)
        meddle(w);
    else if (dice < 49)
        submit(w);
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
        look(w, CMD_STATS);
    else if (dice < 86)
        look(w, pick(w, 2) == 0 ? CMD_QUEUES : pick(w, 2) == 0 ? CMD_BREAKERS : CMD_TEAMS);
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
