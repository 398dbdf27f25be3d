#include "client_wishes.h"
#include "choice.h"
#include "wire/spec/spec_json.h"
#include "world.h"

#include <inttypes.h>

static const struct str owners[] = {STR_INIT("admin"), STR_INIT("ci")};
static const struct str tags[] = {STR_INIT(""), STR_INIT("\nteam:ops\n"),
                                  STR_INIT("\nenv:prod\nteam:ops\n")};
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
    size_t first = pick(w, COUNT_OF(calendar_words));
    size_t count = 1 + pick(w, 2);
    if (!chance(w, w->scene.calendar_permille))
        return;
    for (size_t i = 0; i < count; i++) {
        wishes[i].name = calendar_words[(first + i) % COUNT_OF(calendar_words)];
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
        wish->name = PICK(w, name_words);
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
    rule.has_keep = !rule.until_start && pick(w, 2) == 0;
    rule.keep_ms = rule.has_keep ? pick_ms(w, 0, 40000) : 0;
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

/* Few names, so that several jobs share one, a handler's among them. */
static struct breaker_wish draw_breaker(struct world *w)
{
    switch (pick(w, 8)) {
    case 0: return (struct breaker_wish){.none = true};
    case 1: return (struct breaker_wish){0};
    case 2:
    case 3: return (struct breaker_wish){.name = STR("handler:send")};
    default: return (struct breaker_wish){.name = STR("smtp")};
    }
}

static struct wish draw_wish(struct world *w)
{
    struct wish wish = {0};
    wish.owner = PICK(w, owners);
    wish.tags = PICK(w, tags);
    wish.rules.queue = some_queue(w);
    wish.rules.handler = pick(w, 3) == 0 ? STR("send") : STR("");
    wish.rules.breaker = draw_breaker(w);
    wish.rules.priority = (int32_t)pick(w, 4) * 300;
    wish.rules.retry = draw_retry(w);
    if (chance(w, w->scene.timeout_permille))
        wish.rules.timeout_ms = pick_ms(w, 100, 12000);
    if (chance(w, w->scene.sla_permille))
        wish.rules.sla = draw_sla(w);
    wish.rules.concurrency = draw_limit(w, false);
    wish.rules.rate = draw_limit(w, true);
    wish.rules.team = PICK(w, team_words);
    draw_deadlines(w, &wish.rules);
    if (chance(w, w->scene.named_permille))
        wish.name = PICK(w, name_words);
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
        const struct model_job *job = model_job(m, wait->job_id);
        bool known = wait->job_id == 0 || (job != NULL && !model_expects(m, job));
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
        .work = wish->rules.expects ? WORK_PING
                : command           ? WORK_ARGV
                                    : WORK_HANDLER,
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
        .breaker = wish->rules.breaker,
    };
    if (wish->rules.schedule != NULL || wish->when == WHEN_DELAY) { /* `at` is for the submission */
        spec.when = wish->when;
        spec.when_ms = wish->when_ms;
    }
    if (wish->rules.expects)
        spec.expect.every_ms = wish->rules.schedule->every_ms;
    if (wish->rules.schedule != NULL) {
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
    struct str spec = wish->back ? wish->spec : spec_of(w, wish, arena);
    if (!wish->back)
        wish->payload = arena_printf(m->arena, "{\"n\":%zu}", m->wishes.len);
    wish->spec = wish->edits == 0 ? (struct str){0} : arena_str(m->arena, spec);
    wish->rules.delayed = wish->when == WHEN_DELAY;
    *VEC_PUSH(m->arena, &m->wishes) = *wish;
    *item = (struct submission){
        .name = wish->name,
        .owner = wish->owner,
        .team = wish->rules.team,
        .tags = wish->tags,
        .spec = spec,
        .payload = wish->payload,
        .rules = wish->rules,
        .when = wish->when,
        .when_ms = wish->when_ms,
    };
}

struct str client_trace(struct world *w, uint64_t number)
{
    if (number % 3 == 0)
        return STR("");
    return arena_printf(w->model.arena, "00-%016" PRIx64 "%016" PRIx64 "-%016" PRIx64 "-0%d%s",
                        number, number, number, (int)(number % 2), number % 5 == 0 ? " a=1" : "");
}

static void wish_for(struct world *w, struct wish wish, struct call *call, struct submission *item)
{
    struct model *m = &w->model;
    if (item == call->cmd.submit.items) /* one for all of them */
        call->cmd.trace = client_trace(w, m->wishes.len);
    wish.trace = call->cmd.trace;
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

void client_submit(struct world *w)
{
    struct call *call = call_new(w, CMD_SUBMIT, STR("key:admin"));
    size_t count = 1 + pick(w, 3);
    bool duplicates = chance(w, w->scene.once_permille) || chance(w, w->scene.unique_permille);
    call->cmd.submit.items = ARENA_ARRAY(&call->arena, struct submission, count);
    call->cmd.submit.count = count;
    call->cmd.submit.estimate = true;
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

void client_submit_one(struct world *w, const struct wish *wish)
{
    struct call *call = call_new(w, CMD_SUBMIT, STR("key:admin"));
    call->cmd.submit.items = ARENA_ARRAY(&call->arena, struct submission, 1);
    call->cmd.submit.count = 1;
    wish_for(w, *wish, call, call->cmd.submit.items);
    SAY(w, "client", "submits j%zu", w->model.wishes.len - 1);
    net_send(w, call);
}

struct str client_document(struct world *w, size_t *ret_wish)
{
    struct wish wish = draw_wish(w);
    struct submission item;
    wish.owner = STR("sql");
    wish.tags = STR("");
    if (wish.rules.schedule == NULL)
        wish.when = WHEN_NOW;
    *ret_wish = w->model.wishes.len;
    carry(w, &wish, w->model.arena, &item);
    return arena_printf(w->model.arena, "{\"payload\":%.*s,%.*s", STR_ARG(item.payload),
                        STR_ARG(str_from(item.spec, 1)));
}

void client_want_names(struct world *w)
{
    struct call *call = call_new(w, CMD_SUBMIT, STR("key:admin"));
    call->cmd.submit.items = ARENA_ARRAY(&call->arena, struct submission, COUNT_OF(name_words));
    call->cmd.submit.count = COUNT_OF(name_words);
    for (size_t i = 0; i < COUNT_OF(name_words); i++) {
        struct wish wish = {
            .name = name_words[i], .owner = owners[0], .rules.queue = queue_words[0]};
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
    copy->cmd.submit.estimate = cmd->submit.estimate;
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

/* ---- editing */

static void send_edit(struct world *w, struct call *call, struct wish *wish)
{
    call->cmd.edit.item = ARENA_NEW(&call->arena, struct submission);
    carry(w, wish, &call->arena, call->cmd.edit.item);
    call->cmd.edit.id = wish->edits;
    call->cmd.edit.version = wish->version;
    call->cmd.edit.replan = wish->replan;
    call->cmd.edit.what = arena_printf(&call->arena, "{\"n\":%zu}", w->model.wishes.len - 1);
}

void client_edit_again(struct world *w, struct call *copy, const struct command *cmd)
{
    struct wish wish = w->model.wishes.items[edit_no(cmd)];
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

static struct wish draw_edit(struct world *w, const struct model_job *job, bool replan)
{
    struct wish wish = *model_wish(&w->model, job);
    wish.edits = job->rec.id;
    wish.replan = wish.back = false;
    wish.wait_count = 0;
    wish.version = pick(w, 20) == 0 ? job->rec.version - 1 : job->rec.version;
    if (pick(w, 2) == 0)
        wish.rules.queue = some_queue(w);
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
        wish.rules.team = PICK(w, team_words);
    if (pick(w, 4) == 0)
        draw_deadlines(w, &wish.rules);
    if (pick(w, 3) == 0)
        wish.rules.breaker = draw_breaker(w);
    if (pick(w, 3) == 0) {
        wish.rules.calendar_count = 0;
        draw_calendars(w, &wish);
    }
    if (wish.rules.schedule != NULL && pick(w, 3) == 0) {
        wish.rules.stagger_ms = pick_ms(w, 0, 8000);
        wish.rules.overlap = (enum overlap)pick(w, OVERLAP_REPLACE + 1);
        wish.rules.misfire = draw_misfire(w);
    }
    if (replan || pick(w, 2) == 0)
        draw_replan(w, &wish);
    return wish;
}

/* The job of what was granted last; 0: nothing was. */
static uint64_t some_at_work(struct world *w)
{
    const struct model_exec *x = model_exec(&w->model, some_running(w));
    return x == NULL ? 0 : x->rec.job_id;
}

static void edit(struct world *w, uint64_t id, bool replan)
{
    const struct model_job *job = model_job(&w->model, id);
    if (job != NULL && model_expects(&w->model, job))
        return; /* little of it can be edited */
    struct wish wish = {.edits = id, .version = 1, .rules.queue = queue_words[0]};
    if (job != NULL)
        wish = draw_edit(w, job, replan);
    else
        wish.rules.retry = draw_retry(w);
    struct call *call = call_new(w, CMD_EDIT_JOB, STR("key:admin"));
    send_edit(w, call, &wish);
    SAY(w, "client", "edits %s, version %" PRIu32 "%s", job_label(w, id), wish.version,
        wish.replan ? ", also when it runs" : "");
    net_send(w, call);
}

void client_roll_back(struct world *w)
{
    const struct model_job *job = model_job(&w->model, some_edited(w));
    if (job == NULL || job->versions.len == 0)
        return;
    const struct model_version *to = &job->versions.items[pick(w, job->versions.len - 1)];
    struct wish wish = versions_wish_back(w, job, to);
    struct call *call = call_new(w, CMD_EDIT_JOB, STR("key:admin"));
    send_edit(w, call, &wish);
    SAY(w, "client", "gives %s its version %" PRIu32 " again", job_label(w, job->rec.id),
        to->version);
    net_send(w, call);
}

void client_edit(struct world *w)
{
    uint64_t id = pick(w, 3) == 0   ? some_held(w)
                  : pick(w, 4) == 0 ? some_at_work(w)
                  : pick(w, 4) == 0 ? some_paused(w)
                  : pick(w, 3) == 0 ? some_job(w)
                                    : some_recurring(w);
    edit(w, id, false);
}

/* A job that runs once, behind two that recur. */
static void submit_behind_slots(struct world *w)
{
    struct wish wish = {.owner = owners[0]};
    wish.rules.queue = PICK(w, queue_words);
    struct model_wait *waits = ARENA_ARRAY(w->model.arena, struct model_wait, 2);
    wish.waits = waits;
    for (size_t i = 0; i < 2; i++) {
        uint64_t id = some_recurring(w);
        const struct model_job *job = model_job(&w->model, id);
        if (job == NULL || model_expects(&w->model, job) || (i == 1 && waits[0].job_id == id))
            return;
        waits[wish.wait_count++] = (struct model_wait){
            .job_id = id, .type = pick(w, 3) == 0 ? DEPENDS_SUCCESS : DEPENDS_COMPLETION};
    }
    wish.rules.retry = draw_retry(w);
    struct call *call = call_new(w, CMD_SUBMIT, STR("key:admin"));
    call->cmd.submit.items = ARENA_ARRAY(&call->arena, struct submission, 1);
    call->cmd.submit.count = 1;
    wish_for(w, wish, call, call->cmd.submit.items);
    net_send(w, call);
}

void client_replan_blocked(struct world *w)
{
    uint64_t id = some_blocked(w);
    if (id != 0)
        edit(w, id, true);
    else if (w->scene.waiting_permille > 0)
        submit_behind_slots(w);
}
