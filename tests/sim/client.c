#include "client.h"
#include "promises.h"
#include "wire/spec_json.h"
#include "world.h"

#include <inttypes.h>
#include <string.h>

static const struct str queues[] = {STR_INIT("default"), STR_INIT("mail")};
static const struct str names[] = {STR_INIT("ada"), STR_INIT("bob"), STR_INIT("cyd")};
static const struct str owners[] = {STR_INIT("admin"), STR_INIT("ci")};
static const struct str tags[] = {STR_INIT(""), STR_INIT("\nteam:ops\n"),
                                  STR_INIT("\nenv:prod\nteam:ops\n")};

#define PICK(w, array) ((array)[pick((w), COUNT_OF(array))])

/* ---- submitting */

static struct retry draw_retry(struct world *w)
{
    struct retry retry = {.max_delay_ms = 5000};
    retry.max_retries = (uint32_t)pick(w, 4);
    retry.policy = (enum retry_policy)pick(w, RETRY_IMMEDIATE + 1);
    retry.delay_ms = pick_ms(w, 1, 2000);
    retry.jitter_permille = (uint32_t)pick(w, 2) * 300;
    return retry;
}

static struct wish draw_wish(struct world *w)
{
    struct wish wish = {0};
    wish.owner = PICK(w, owners);
    wish.tags = PICK(w, tags);
    wish.rules.queue = PICK(w, queues);
    wish.rules.handler = pick(w, 3) == 0 ? STR("send") : STR("");
    wish.rules.priority = (int32_t)pick(w, 4) * 300;
    wish.rules.retry = draw_retry(w);
    if (chance(w, w->scene.named_permille))
        wish.name = PICK(w, names);
    if (pick(w, 3) == 0) {
        wish.when = pick(w, 2) == 0 ? WHEN_AT : WHEN_DELAY;
        wish.when_ms = pick_ms(w, 0, w->scene.at_max_ms);
        if (wish.when == WHEN_AT) /* some of them are over already */
            wish.when_ms += world_now(w).wall_ms - w->scene.at_max_ms / 8;
    }
    return wish;
}

/* As a route would read it from a document. */
static struct str spec_of(const struct wish *wish, struct arena *arena)
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
        .priority = wish->rules.priority,
        .retry = wish->rules.retry,
    };
    return spec_text(&spec, arena);
}

/* Writes the wish down and fills in the submission that carries it. */
static void wish_for(struct world *w, struct wish wish, struct call *call, struct submission *item)
{
    struct model *m = &w->model;
    wish.job_id = 0;
    wish.acknowledged = false;
    wish.payload = arena_printf(m->arena, "{\"n\":%zu}", m->wishes.len);
    *VEC_PUSH(m->arena, &m->wishes) = wish;
    *item = (struct submission){
        .name = wish.name,
        .owner = wish.owner,
        .tags = wish.tags,
        .spec = spec_of(&wish, &call->arena),
        .payload = wish.payload,
        .rules = wish.rules,
        .when = wish.when,
        .when_ms = wish.when_ms,
    };
}

static void submit(struct world *w)
{
    struct call *call = call_new(w, CMD_SUBMIT, STR("key:admin"));
    size_t count = 1 + pick(w, 3);
    call->cmd.submit.items = ARENA_ARRAY(&call->arena, struct submission, count);
    call->cmd.submit.count = count;
    for (size_t i = 0; i < count; i++)
        wish_for(w, draw_wish(w), call, &call->cmd.submit.items[i]);
    SAY(w, "client", "submits %zu jobs: j%zu ...", count, w->model.wishes.len - count);
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
            .rules = from->rules,
            .when = from->when,
            .when_ms = from->when_ms,
        };
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

static uint64_t some_exec(struct world *w)
{
    const struct model *m = &w->model;
    return m->execs.len == 0 || pick(w, 50) == 0 ? 4711
                                                 : m->execs.items[some(w, m->execs.len)]->rec.id;
}

static void send_target(struct world *w, enum command_kind kind, uint64_t id, const char *words,
                        const char *label)
{
    struct call *call = call_new(w, kind, STR("key:admin"));
    call->cmd.target.id = id;
    SAY(w, "client", "%s %s", words, label);
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

void client_act(struct world *w)
{
    uint64_t dice = pick(w, 100);
    uint64_t job = some_job(w);
    uint64_t exec = some_exec(w);
    if (dice < 50)
        submit(w);
    else if (dice < 58)
        send_target(w, CMD_CANCEL_JOB, job, "cancels", job_label(w, job));
    else if (dice < 66)
        send_target(w, CMD_CANCEL_EXEC, exec, "cancels", exec_label(w, exec));
    else if (dice < 76)
        send_target(w, CMD_RETRY_EXEC, exec, "runs again", exec_label(w, exec));
    else if (dice < 78)
        drain(w);
    else if (dice < 84)
        look(w, CMD_STATS);
    else if (dice < 90)
        look(w, CMD_WORKERS);
    else
        promise_reads(w);
}
