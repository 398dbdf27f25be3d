#include "plan/hands.h"
#include "base/mem.h"
#include "job/poll.h"

#include <stdlib.h>

static const int64_t FOR_EVER_MS = INT64_C(100) * 366 * 86400000;

enum { HANDLERS_BYTES_MAX = 16 << 20 };

/* A lease, until its result is told. */
struct run {
    struct heap_node end;
    uint64_t exec_id;
    uint64_t token;
    struct hand *hand;
    size_t place; /* among those of its hand */
    bool stopped;
    bool over;
};

/* One of two: the poll that is parked must live until the next one has taken its place. */
struct call {
    struct command cmd; /* first: an answer leads to its call */
    struct arena arena; /* owned */
    struct hand *hand;
};

struct hand {
    struct list_node wanting; /* to poll */
    uint64_t id;
    uint32_t slots;
    uint64_t seq;
    struct run **runs; /* owned, and the runs */
    size_t run_count;
    size_t run_cap;
    struct call calls[2];
};

struct hands {
    struct hand *hands; /* owned */
    size_t count;
    struct worker_rec *workers; /* owned */
    uint64_t *holders;          /* owned */
    uint64_t slots;
    struct arena arena; /* texts of workers */
    struct map runs;    /* struct run, by execution */
    struct heap ends;
    struct list wanting;
    struct command **polls; /* owned: as many as hands */
    run_length *length;
    void *arg;
};

/* ---- runs */

static void want(struct hands *h, struct hand *hand)
{
    if (!list_linked(&hand->wanting))
        list_push_back(&h->wanting, &hand->wanting);
}

static void add_run(struct hands *h, struct hand *hand, uint64_t exec_id, uint64_t token,
                    int64_t ends_ms)
{
    struct run *run = MEM_NEW(struct run);
    if (hand->run_count == hand->run_cap) {
        hand->run_cap = hand->run_cap == 0 ? 8 : 2 * hand->run_cap;
        hand->runs = mem_resize(hand->runs, hand->run_cap * sizeof(struct run *));
    }
    *run = (struct run){.exec_id = exec_id, .token = token, .hand = hand, .place = hand->run_count};
    hand->runs[hand->run_count++] = run;
    map_put(&h->runs, exec_id, run);
    heap_push(&h->ends, &run->end, (uint64_t)ends_ms, exec_id);
}

static void drop_run(struct hands *h, struct run *run)
{
    struct hand *hand = run->hand;
    struct run *last = hand->runs[--hand->run_count];
    hand->runs[run->place] = last;
    last->place = run->place;
    map_remove(&h->runs, run->exec_id);
    heap_remove(&h->ends, &run->end);
    free(run);
}

/* ---- who there is */

/* Every handler once, in no order that depends on a map. */
static void add_handler(struct buf *out, struct strmap *seen, struct str name)
{
    if (name.len == 0 || strmap_get(seen, name) != NULL)
        return;
    strmap_put(seen, name, out);
    if (out->len > 0)
        buf_add_char(out, '\n');
    buf_add(out, name);
}

static struct str all_handlers(struct hands *h, const struct world *world, struct str extra)
{
    CLEANUP(strmap_free) struct strmap seen = {0};
    CLEANUP(buf_free) struct buf out = BUF(HANDLERS_BYTES_MAX);
    for (size_t i = 0; i < world->jobs.len; i++)
        add_handler(&out, &seen, world->jobs.items[i]->rules.handler);
    while (extra.len > 0)
        add_handler(&out, &seen, str_cut(&extra, '\n'));
    return arena_str(&h->arena, buf_str(&out));
}

static size_t hands_of(uint64_t slots)
{
    return (size_t)((slots + HAND_SLOTS_MAX - 1) / HAND_SLOTS_MAX);
}

static void add_crew(struct hands *h, const struct world_crew *crew)
{
    uint64_t left = crew->slots;
    h->slots += crew->slots;
    while (left > 0) {
        struct hand *hand = &h->hands[h->count];
        uint32_t slots = (uint32_t)(left < HAND_SLOTS_MAX ? left : HAND_SLOTS_MAX);
        hand->id = h->count + 1; /* ids of workers need only differ */
        hand->slots = slots;
        h->workers[h->count++] = (struct worker_rec){
            .id = hand->id,
            .name = STR("plan"),
            .queues = crew->queues,
            .handlers = crew->handlers,
            .runs_commands = crew->runs_commands,
            .slots = slots,
        };
        left -= slots;
    }
}

/* Whoever has room takes a run that is under way; what finds none goes on at the last one, which
 * takes nothing new. */
static void hand_out(struct hands *h, const struct world *world)
{
    size_t next = 0;
    for (size_t i = 0; i < world->runs.len; i++) {
        const struct exec_rec *x = &world->runs.items[i];
        if (!exec_is_leased(x->state))
            continue;
        while (next + 1 < h->count && h->hands[next].run_count >= h->hands[next].slots)
            next++;
        int64_t ends_ms = x->started_ms + h->length(h->arg, x->job_id, x->id);
        if (ends_ms <= world->now_ms)
            ends_ms = world->now_ms + 1;
        h->holders[i] = h->hands[next].id;
        add_run(h, &h->hands[next], x->id, x->token, ends_ms);
    }
}

static size_t count_hands(const struct world *world, uint64_t slots)
{
    size_t count = hands_of(slots) + 1;
    for (size_t i = 0; slots == 0 && i < world->crews.len; i++)
        count += hands_of(world->crews.items[i].slots);
    return count;
}

struct hands *hands_new(const struct world *world, uint64_t slots, struct str extra,
                        run_length *length, void *arg)
{
    struct hands *h = MEM_NEW(struct hands);
    size_t most = count_hands(world, slots);
    *h = (struct hands){.length = length, .arg = arg};
    list_init(&h->wanting);
    h->hands = mem_new(most * sizeof *h->hands);
    h->workers = mem_new(most * sizeof *h->workers);
    h->polls = mem_new(most * sizeof *h->polls);
    h->holders = mem_new((world->runs.len + 1) * sizeof *h->holders);
    for (size_t i = 0; slots == 0 && i < world->crews.len; i++)
        add_crew(h, &world->crews.items[i]);
    if (slots > 0)
        add_crew(h, &(struct world_crew){.handlers = all_handlers(h, world, extra),
                                         .runs_commands = true,
                                         .slots = slots});
    h->hands[h->count].id = h->count + 1;
    h->workers[h->count] = (struct worker_rec){.id = h->count + 1, .name = STR("plan")};
    h->count++;
    hand_out(h, world);
    for (size_t i = 0; i < h->count; i++)
        want(h, &h->hands[i]);
    return h;
}

void hands_free(struct hands *h)
{
    if (h == NULL)
        return;
    for (size_t i = 0; i < h->count; i++) {
        struct hand *hand = &h->hands[i];
        for (size_t j = 0; j < hand->run_count; j++)
            free(hand->runs[j]);
        free(hand->runs);
        arena_free(&hand->calls[0].arena);
        arena_free(&hand->calls[1].arena);
    }
    free(h->hands);
    free(h->workers);
    free(h->polls);
    free(h->holders);
    map_free(&h->runs);
    heap_free(&h->ends);
    arena_free(&h->arena);
    free(h);
}

struct hands_view hands_view(const struct hands *h)
{
    return (struct hands_view){h->workers, h->count, h->holders, h->slots};
}

/* ---- polls */

int64_t hands_next_ms(const struct hands *h)
{
    const struct heap_item *first = heap_min(&h->ends);
    return first == NULL ? INT64_MAX : (int64_t)first->key;
}

bool hands_want_turn(const struct hands *h)
{
    return !list_empty(&h->wanting);
}

static void end_runs(struct hands *h, int64_t now_ms)
{
    const struct heap_item *first;
    while ((first = heap_min(&h->ends)) != NULL && (int64_t)first->key <= now_ms) {
        struct run *run = CONTAINER_OF(first->node, struct run, end);
        heap_remove(&h->ends, &run->end);
        run->over = true;
        want(h, run->hand);
    }
}

static struct command *make_poll(struct hands *h, struct hand *hand)
{
    struct call *call = &hand->calls[++hand->seq % 2];
    struct poll poll = {.worker_id = hand->id, .seq = hand->seq, .wait_ms = FOR_EVER_MS};
    arena_reset(&call->arena);
    struct poll_held *held = ARENA_ARRAY(&call->arena, struct poll_held, hand->run_count + 1);
    struct poll_result *results =
        ARENA_ARRAY(&call->arena, struct poll_result, hand->run_count + 1);
    for (size_t i = 0; i < hand->run_count;) {
        struct run *run = hand->runs[i];
        if (!run->over) {
            held[poll.held_count++] = (struct poll_held){run->exec_id, run->token};
            i++;
            continue;
        }
        results[poll.result_count++] = (struct poll_result){
            .exec_id = run->exec_id,
            .token = run->token,
            .outcome = run->stopped ? OUTCOME_STOPPED : OUTCOME_SUCCEEDED,
        };
        drop_run(h, run); /* the last one takes its place */
    }
    poll.held = held;
    poll.results = results;
    poll.free = hand->slots > hand->run_count ? hand->slots - (uint32_t)hand->run_count : 0;
    call->hand = hand;
    call->cmd = (struct command){.kind = CMD_POLL, .actor = STR("plan"), .arena = &call->arena};
    call->cmd.poll = poll;
    return &call->cmd;
}

struct command *const *hands_polls(struct hands *h, int64_t now_ms, size_t *ret_count)
{
    size_t count = 0;
    end_runs(h, now_ms);
    LIST_EACH(&h->wanting, node)
    {
        struct hand *hand = CONTAINER_OF(node, struct hand, wanting);
        list_remove(node);
        h->polls[count++] = make_poll(h, hand);
    }
    *ret_count = count;
    return h->polls;
}

static void take_reply(struct hands *h, struct hand *hand, const struct poll_reply *reply,
                       int64_t now_ms)
{
    for (size_t i = 0; i < reply->lease_count; i++) {
        const struct poll_lease *lease = &reply->leases[i];
        if (map_get(&h->runs, lease->exec_id) == NULL)
            add_run(h, hand, lease->exec_id, lease->token,
                    now_ms + h->length(h->arg, lease->job_id, lease->exec_id));
    }
    for (size_t i = 0; i < reply->stop_count; i++) {
        struct run *run = map_get(&h->runs, reply->stops[i].exec_id);
        if (run == NULL || run->token != reply->stops[i].token)
            continue;
        run->stopped = true;
        heap_set(&h->ends, &run->end, (uint64_t)now_ms, run->exec_id);
    }
}

void hands_take(struct hands *h, const struct list *done, int64_t now_ms)
{
    LIST_EACH(done, node)
    {
        struct command *cmd = CONTAINER_OF(node, struct command, node);
        if (cmd->kind != CMD_POLL)
            continue;
        struct call *call = CONTAINER_OF(cmd, struct call, cmd);
        if (cmd->reply.rc == RC_OK)
            take_reply(h, call->hand, &cmd->reply.poll, now_ms);
        if (cmd->poll.seq == call->hand->seq)
            want(h, call->hand);
    }
}
