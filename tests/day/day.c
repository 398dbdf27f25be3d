#include "day.h"
#include "worker/link/credits.h"

#include <math.h>

#define DAY_MS (24 * HOUR_MS)

enum {
    SHARES = 16,   /* partitions of several servers */
    TURN_MS = 250, /* servers take turns at being first, as with session.c */
};

/* A run under way. */
struct run {
    struct heap_node node;
    struct crew_member *crew;
    size_t server;
    struct poll_lease lease;
    struct run *next; /* among those whose results have to be told */
    enum outcome outcome;
};

/* A worker: its polls to each server, and what it runs. */
struct crew_member {
    uint32_t slots;
    uint32_t running;
    struct {
        struct fake fake;
        struct asked *poll; /* NULL: none is under way */
        uint32_t backlog;
        struct run *ended;
    } at[SERVERS_MAX];
};

int64_t day_now_ms(const struct day *d)
{
    return d->worlds[0].now_ms;
}

/* ---- dice */

static double dice(struct day *d)
{
    return ((double)rng_below(&d->rng, 1 << 30) + 0.5) / (1 << 30);
}

static int64_t draw_ms(struct day *d, struct length length)
{
    const double sigma = 0.7;
    double turn = cos(6.283185307179586 * dice(d));
    double normal = sqrt(-2 * log(dice(d))) * turn;
    switch (length.spread) {
    case SPREAD_NONE: break;
    case SPREAD_LOGNORMAL: return 1 + (int64_t)((double)length.ms * exp(sigma * normal));
    case SPREAD_TWO: return rng_below(&d->rng, 5) == 0 ? 10 * length.ms : length.ms;
    }
    return length.ms;
}

/* ---- beginning and end */

static struct partition_set share_of(size_t servers, size_t server)
{
    if (servers == 1)
        return partition_all(1);
    struct partition_set set = {.count = SHARES};
    for (size_t p = 0; p < SHARES; p++)
        set.bits |= p % servers == server ? UINT64_C(1) << p : 0;
    return set;
}

void day_init(struct day *d, size_t servers, uint64_t seed)
{
    *d = (struct day){.servers = servers, .rng.state = seed};
    d->crews = mem_new(CREWS_MAX * sizeof *d->crews);
    struct engine_options options = engine_defaults;
    options.lease_ms = 60 * DAY_MS; /* no worker is ever in doubt, nor polls because of the time */
    options.park_ms = options.forget_ms = 30 * DAY_MS;
    options.mail_ms = servers > 1 ? 30 * DAY_MS : 0;
    options.alerts_keep_ms = options.tallies_keep_ms = 0;
    options.history_keep_ms = options.letters_keep_ms = 0;
    options.alerts.slow_pct = 0;
    for (size_t i = 0; i < servers; i++) {
        world_init_part(&d->worlds[i], &options, share_of(servers, i));
        d->worlds[i].table.box = servers > 1 ? &d->box : NULL;
        d->box.tables[i] = &d->worlds[i].table;
    }
}

static void runs_free(struct run *run)
{
    while (run != NULL) {
        struct run *next = run->next;
        free(run);
        run = next;
    }
}

void day_free(struct day *d)
{
    for (uint32_t i = 0; i < d->ends.len; i++)
        free(CONTAINER_OF(d->ends.items[i].node, struct run, node));
    heap_free(&d->ends);
    for (size_t i = 0; i < d->crew_count; i++) {
        for (size_t s = 0; s < d->servers; s++)
            runs_free(d->crews[i].at[s].ended);
    }
    for (size_t i = 0; i < d->servers; i++)
        world_free(&d->worlds[i]);
    free(d->crews);
    map_free(&d->by_exec);
    map_free(&d->by_job);
    arena_free(&d->box.arena);
    arena_free(&d->arena);
}

/* ---- turns, and what comes of them */

static void turn(struct day *d, struct world *w)
{
    if (d->box.rows.len > 0)
        engine_mail(w->engine);
    w->delta = *world_decide(w);
    world_commit(w);
    d->turns++;
}

static struct length length_of(struct day *d, const struct poll_lease *lease)
{
    const struct length *repeated = map_get(&d->by_job, lease->job_id);
    return repeated == NULL ? (struct length){1000, SPREAD_NONE} : *repeated;
}

static void start_run(struct day *d, struct crew_member *c, size_t server,
                      const struct poll_lease *lease)
{
    struct run *run = MEM_NEW(struct run);
    *run = (struct run){
        .crew = c,
        .server = server,
        .lease = {.exec_id = lease->exec_id, .token = lease->token, .job_id = lease->job_id},
        .outcome = OUTCOME_SUCCEEDED,
    };
    if (c->running == c->slots) { /* two servers used one slot at the same moment */
        run->outcome = OUTCOME_RETURNED;
        run->next = c->at[server].ended;
        c->at[server].ended = run;
        return;
    }
    struct watched *watched = map_get(&d->by_exec, lease->exec_id);
    int64_t took_ms = watched == NULL ? draw_ms(d, length_of(d, lease)) : watched->length_ms;
    if (watched != NULL)
        watched->start_ms = day_now_ms(d);
    c->running++;
    heap_push(&d->ends, &run->node, (uint64_t)(day_now_ms(d) + took_ms), ++d->runs);
}

/* Takes the answer of the newest poll. */
static bool hear(struct day *d, struct crew_member *c, size_t server)
{
    struct asked *poll = c->at[server].poll;
    if (poll == NULL || poll->answers == 0)
        return false;
    const struct poll_reply *reply = &poll->cmd.reply.poll;
    assert_int_equal(poll->cmd.reply.rc, RC_OK);
    c->at[server].backlog = reply->backlog;
    c->at[server].poll = NULL;
    fake_take(&c->at[server].fake, poll);
    for (size_t i = 0; i < reply->lease_count; i++)
        start_run(d, c, server, &reply->leases[i]);
    asked_free(poll);
    return true;
}

static void tell_results(struct crew_member *c, size_t server, struct asked *poll)
{
    struct run *run = c->at[server].ended;
    for (const struct run *one = run; one != NULL; one = one->next)
        add_result(poll, &one->lease, one->outcome);
    c->at[server].ended = NULL;
    runs_free(run);
}

static bool poll_one(struct day *d, struct crew_member *c, size_t server)
{
    struct credit credits[SERVERS_MAX];
    uint32_t free = c->slots - c->running;
    for (size_t i = 0; i < d->servers; i++)
        credits[i] = (struct credit){
            .usable = true,
            .backlog = c->at[i].backlog,
            .out = c->at[i].poll == NULL ? 0 : c->at[i].poll->cmd.poll.free,
        };
    credits_spread(credits, d->servers, free, (uint64_t)(day_now_ms(d) / TURN_MS));
    if (c->at[server].poll != NULL && c->at[server].ended == NULL &&
        !credits_moved(credits, d->servers, free, server))
        return false;
    for (struct run *run = c->at[server].ended; run != NULL; run = run->next)
        fake_drop(&c->at[server].fake, run->lease.exec_id);
    struct asked *before = c->at[server].poll;
    uint32_t offer = credits_offer(credits, d->servers, free, server);
    struct asked *poll = ask_poll(&d->worlds[server], &c->at[server].fake, offer);
    poll->cmd.poll.wait_ms = 30 * DAY_MS;
    tell_results(c, server, poll);
    c->at[server].poll = poll;
    turn(d, &d->worlds[server]);
    if (before != NULL)
        asked_free(before);
    return true;
}

/* All that happens at this moment, until nothing more comes of it. */
static void settle(struct day *d)
{
    bool again = true;
    while (again) {
        again = false;
        for (size_t i = 0; i < d->servers; i++) {
            if (world_wait_ms(&d->worlds[i]) == 0 || d->worlds[i].command_count > 0) {
                turn(d, &d->worlds[i]);
                again = true;
            }
        }
        for (size_t i = 0; d->box.rows.len > 0 && i < d->servers; i++)
            turn(d, &d->worlds[i]);
        for (size_t i = 0; i < d->crew_count; i++) {
            for (size_t s = 0; s < d->servers; s++)
                again |= hear(d, &d->crews[i], s);
            for (size_t s = 0; s < d->servers; s++)
                again |= poll_one(d, &d->crews[i], s);
        }
    }
}

static void end_runs(struct day *d)
{
    while (d->ends.len > 0 && heap_min(&d->ends)->key <= (uint64_t)day_now_ms(d)) {
        struct run *run = CONTAINER_OF(heap_min(&d->ends)->node, struct run, node);
        heap_remove(&d->ends, &run->node);
        run->crew->running--;
        run->next = run->crew->at[run->server].ended;
        run->crew->at[run->server].ended = run;
    }
}

void day_live(struct day *d, int64_t until_ms)
{
    settle(d);
    while (day_now_ms(d) < until_ms) {
        int64_t wait_ms = until_ms - day_now_ms(d);
        for (size_t i = 0; i < d->servers; i++) {
            int64_t own_ms = world_wait_ms(&d->worlds[i]);
            wait_ms = own_ms < wait_ms ? own_ms : wait_ms;
        }
        if (d->ends.len > 0 && (int64_t)heap_min(&d->ends)->key - day_now_ms(d) < wait_ms)
            wait_ms = (int64_t)heap_min(&d->ends)->key - day_now_ms(d);
        for (size_t i = 0; i < d->servers; i++)
            world_wake(&d->worlds[i], wait_ms);
        end_runs(d);
        settle(d);
    }
}

/* ---- what there is to do, and who does it */

void day_hire(struct day *d, struct skills skills, size_t count)
{
    for (size_t n = 0; n < count; n++) {
        assert_true(d->crew_count < CREWS_MAX);
        struct crew_member *c = &d->crews[d->crew_count++];
        c->slots = skills.slots;
        struct asked *asked = ask_register(&d->worlds[0], &skills);
        turn(d, &d->worlds[0]);
        uint64_t id = asked->cmd.reply.worker_id;
        const struct worker_rec rec =
            *(struct worker_rec *)map_get(&d->worlds[0].table.workers, id);
        for (size_t s = 0; s < d->servers; s++) {
            c->at[s].fake.id = id;
            if (s > 0)
                engine_load_worker(d->worlds[s].engine, &rec);
        }
        asked_free(asked);
    }
    settle(d);
}

void day_limit(struct day *d, const char *queue, uint32_t concurrency)
{
    for (size_t s = 0; s < d->servers; s++) {
        struct asked *asked = ask(&d->worlds[s], CMD_QUEUE);
        asked->cmd.queue = (struct queue_wish){
            .name = str_c(queue), .set_concurrency = true, .concurrency = concurrency};
        turn(d, &d->worlds[s]);
        asked_free(asked);
    }
}

static void watch(struct day *d, const struct submission *item, struct length length, int category)
{
    struct watched *x = ARENA_NEW(&d->arena, struct watched);
    *x = (struct watched){
        .exec_id = item->exec_id,
        .length_ms = draw_ms(d, length),
        .asked_ms = day_now_ms(d),
        .told_ms = item->estimate.at_ms,
        .category = category,
    };
    *VEC_PUSH(&d->arena, &d->watched) = x;
    map_put(&d->by_exec, x->exec_id, x);
}

void day_submit(struct day *d, size_t server, const struct wish *wishes, size_t count,
                struct length length, int category)
{
    struct world *w = &d->worlds[server];
    struct asked *asked = ask_submit_all(w, wishes, count);
    asked->cmd.submit.estimate = true;
    turn(d, w);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(asked->cmd.submit.items[i].rc, RC_OK);
        watch(d, &asked->cmd.submit.items[i], length, category);
    }
    asked_free(asked);
    settle(d);
}

void day_repeat(struct day *d, size_t server, struct wish wish, struct length length)
{
    struct asked *asked = ask_submit_all(&d->worlds[server], &wish, 1);
    turn(d, &d->worlds[server]);
    assert_int_equal(asked->cmd.submit.items[0].rc, RC_OK);
    struct length *kept = ARENA_NEW(&d->arena, struct length);
    *kept = length;
    map_put(&d->by_job, asked->cmd.submit.items[0].job_id, kept);
    asked_free(asked);
    settle(d);
}
