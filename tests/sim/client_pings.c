#include "client_pings.h"
#include "choice.h"
#include "client_wishes.h"
#include "model.h"
#include "net.h"
#include "trace.h"

enum {
    PING_DAYS = 7, /* one day in so many, … */
    PING_DAY = 3,
    PING_GAP_MS = 4000,
    PINGED_MAX = 4, /* jobs at a time */
};

bool pings_day(const struct world *w)
{
    return w->seed % PING_DAYS == PING_DAY && !w->scene.clocks && w->scene.storms_ms == 0 &&
           !w->scene.lags;
}

static void submit(struct world *w)
{
    struct wish wish = {.owner = STR("admin"), .when = WHEN_PING, .tags = STR("")};
    struct schedule *wait = ARENA_NEW(w->model.arena, struct schedule);
    *wait = schedule_every(0, pick_ms(w, SPEC_EVERY_MIN_MS, 3 * PING_GAP_MS));
    wish.rules = (struct rules){
        .queue = some_queue(w),
        .team = PICK(w, team_words),
        .priority = (int32_t)pick(w, 4) * 300,
        .retry = retry_default,
        .misfire = misfire_default,
        .schedule = wait,
        .expects = true,
    };
    if (pick(w, 3) == 0)
        wish.name = PICK(w, name_words);
    client_submit_one(w, &wish);
}

/* Sometimes of one that is over, or that is run here. */
static void ping(struct world *w, const struct model_job *job)
{
    struct call *call = call_new(w, CMD_PING, STR("key:admin"));
    struct ping *ping = ARENA_NEW(w->model.arena, struct ping); /* the call may be repeated */
    ping->failed = pick(w, 4) == 0;
    ping->exit_code = ping->failed;
    call->cmd.target.id = pick(w, 20) == 0 ? some_job(w) : job->rec.id;
    call->cmd.target.ping = ping;
    SAY(w, "client", "pings %s: %s", job_label(w, call->cmd.target.id),
        ping->failed ? "failure" : "success");
    net_send(w, call);
}

static void act(struct world *w, void *what, uint64_t no)
{
    const struct model *m = &w->model;
    size_t count = 0;
    if (w->healing)
        return;
    for (size_t i = 0; i < m->jobs.len; i++) {
        const struct model_job *job = m->jobs.items[i];
        if (!model_expects(m, job) || job_is_over(job->rec.state))
            continue;
        count++;
        if (pick(w, 3) == 0)
            ping(w, job);
    }
    if (count < PINGED_MAX && pick(w, 3) == 0)
        submit(w);
    agenda_add(w, w->boot_ms + pick_ms(w, 0, PING_GAP_MS), act, what, no);
}

void pings_begin(struct world *w)
{
    if (pings_day(w))
        agenda_add(w, 0, act, NULL, 0);
}
