#include "plan/player.h"
#include "plan/hands.h"
#include "plan/shelf.h"

#include <inttypes.h>
#include <malloc.h>

/* Longer than any plan: nothing of this kind ends, or is looked for. */
static const int64_t FOR_EVER_MS = INT64_C(100) * 366 * 86400000;

enum {
    LOOK_TURNS = 4096, /* between two looks at the memory, and two words about the progress */
    STILL_TURNS_MAX = 1000000, /* without time going on; the longest burst has some thousands */
};

struct player {
    const struct world *world;
    const struct player_wish *wish;
    struct score *score;
    struct hands *hands;
    struct shelf *shelf;
    struct turn turn;
    struct moment now;
    uint64_t turns;
    struct arena arena;
    struct map changed; /* struct changed, by job */
    struct strmap made; /* the same, by name: jobs that the file has and the world has not */
    const struct change *submitting;
    bool is_open;
};

/* A job that the file has. */
struct changed {
    const struct change *change;
    uint64_t id;
};

/* ---- how long runs take */

static const struct change *change_of(const struct player *p, uint64_t job_id)
{
    const struct changed *changed = p->changed.len == 0 ? NULL : map_get(&p->changed, job_id);
    return changed == NULL ? NULL : changed->change;
}

static void note_change(struct player *p, const struct change *change, uint64_t id)
{
    struct changed *changed = ARENA_NEW(&p->arena, struct changed);
    bool is_new = change->job == NULL;
    *changed = (struct changed){change, id};
    map_put(&p->changed, id, changed);
    if (is_new)
        strmap_put(&p->made, change->name, changed);
    score_define(p->score, id, change->name, &change->item.rules, is_new);
}

/* A run that would take longer than its timeout is over when that is. */
static int64_t length_of(void *arg, uint64_t job_id, uint64_t exec_id)
{
    const struct player *p = arg;
    const struct change *change = change_of(p, job_id);
    const struct world_job *job = change != NULL ? change->job : world_job(p->world, job_id);
    int64_t timeout_ms = change != NULL ? change->spec.timeout_ms
                         : job != NULL  ? job->rules.timeout_ms
                                        : 0;
    int64_t ms = job != NULL && job->p50_ms >= 0 ? job->p50_ms : p->wish->assume_ms;
    if (timeout_ms > 0 && ms > timeout_ms) {
        score_cut(p->score, exec_id);
        return timeout_ms;
    }
    return ms;
}

/* ---- the engine */

/* As a server's, without all that is of no use here: nothing is kept, nobody is alerted, leases and
 * polls do not end, and everything that is unfinished is in memory. */
static struct engine_options options_of(const struct world *world)
{
    struct engine_options o = engine_defaults;
    o.lease_ms = o.park_ms = o.forget_ms = FOR_EVER_MS;
    o.horizon_ms = o.near_ms = FOR_EVER_MS;
    o.waiting_max = SIZE_MAX / 2;
    o.queues_keep_ms = 0;
    o.alerts = (struct alert_rules){0};
    o.letters_keep_ms = o.history_keep_ms = o.alerts_keep_ms = o.tallies_keep_ms = 0;
    o.queues_max = o.lanes_max = o.workers_max = SIZE_MAX / 2;
    o.calendars_max = world->calendars.len + 1;
    o.keep_bytes_max = 0;
    o.rules_arg = world->zones;
    return o;
}

static void on_delta(void *arg, const struct delta *delta)
{
    struct player *p = arg;
    for (size_t i = 0; p->submitting != NULL && i < delta->job_count; i++) {
        if (delta->jobs[i].kind == CHANGE_INSERT)
            note_change(p, p->submitting, delta->jobs[i].job.id);
    }
    score_delta(p->score, delta);
}

static enum rc begin(struct player *p, struct err *err)
{
    struct engine_options options = options_of(p->world);
    struct str extra = p->wish->changes != NULL ? p->wish->changes->handlers : STR("");
    p->now = (struct moment){.wall_ms = p->world->now_ms, .boot_ms = FOR_EVER_MS};
    score_begin(p->score);
    p->hands = hands_new(p->world, p->wish->slots, extra, length_of, p);
    p->shelf = shelf_new(p->world, p->hands, on_delta, p);
    p->is_open = true;
    return turn_open(&p->turn, shelf_store(p->shelf), STR("plan"), &options, p->now, err);
}

static void end(struct player *p)
{
    if (p->is_open)
        turn_close(&p->turn);
    if (p->shelf != NULL)
        shelf_free(p->shelf);
    hands_free(p->hands);
    map_free(&p->changed);
    strmap_free(&p->made);
    arena_free(&p->arena);
}

static enum rc step(struct player *p, struct command *const *commands, size_t count,
                    struct err *err)
{
    struct turn_news news;
    score_now(p->score, p->now.wall_ms);
    TRY(turn_run(&p->turn, commands, count, p->now, &news, err));
    hands_take(p->hands, &news.done, p->now.wall_ms);
    p->turns++;
    return RC_OK;
}

/* ---- what the file changes */

/* As a server does it: a name means the job that has it by now. */
static void resolve_names(struct player *p, struct arena *arena, struct submission *item)
{
    struct dependency_wish *wishes =
        ARENA_ARRAY(arena, struct dependency_wish, item->depends_count + 1);
    for (size_t i = 0; i < item->depends_count; i++) {
        wishes[i] = item->depends_on[i];
        const struct changed *made =
            wishes[i].name.len == 0 ? NULL : strmap_get(&p->made, wishes[i].name);
        const struct world_job *job = wishes[i].name.len == 0 || made != NULL
                                          ? NULL
                                          : world_job_named(p->world, wishes[i].name);
        if (made != NULL)
            wishes[i].job_id = made->id;
        else if (job != NULL)
            wishes[i].job_id = job->rec.id;
    }
    item->depends_on = wishes;
}

/* What the engine fills in is a copy: the same file may be played again. */
static enum rc submit(struct player *p, const struct change *change, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct submission item = change->item;
    struct command cmd = {.kind = CMD_SUBMIT, .actor = STR("plan"), .arena = &arena};
    struct command *list = &cmd;
    resolve_names(p, &arena, &item);
    cmd.submit.items = &item;
    cmd.submit.count = 1;
    p->submitting = change;
    enum rc rc = step(p, &list, 1, err);
    p->submitting = NULL;
    if (rc != RC_OK)
        return rc;
    *err = cmd.reply.rc != RC_OK || item.rc == RC_OK ? cmd.reply.err : *item.err;
    return cmd.reply.rc != RC_OK ? cmd.reply.rc : item.rc;
}

static enum rc edit(struct player *p, const struct change *change, struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct submission item = change->item;
    struct command cmd = {.kind = CMD_EDIT_JOB, .actor = STR("plan"), .arena = &arena};
    struct command *list = &cmd;
    cmd.edit.id = change->job->rec.id;
    cmd.edit.version = change->job->rec.version;
    cmd.edit.replan = change->replan;
    cmd.edit.what = STR("plan");
    cmd.edit.item = &item;
    note_change(p, change, change->job->rec.id);
    TRY(step(p, &list, 1, err));
    *err = cmd.reply.err;
    return cmd.reply.rc;
}

static enum rc apply(struct player *p, struct err *err)
{
    struct changes *changes = p->wish->changes;
    for (size_t i = 0; changes != NULL && i < changes->items.len; i++) {
        const struct change *change = &changes->items.items[i];
        if (!change->differs)
            continue;
        if ((change->job == NULL ? submit : edit)(p, change, err) != RC_OK) {
            err_note(err, "job '%.*s'", STR_ARG(change->name));
            return err->rc = RC_CORRUPT;
        }
    }
    return RC_OK;
}

/* ---- on */

static int64_t bytes_used(void)
{
    struct mallinfo2 all = mallinfo2();
    return (int64_t)(all.uordblks + all.hblkhd);
}

/* The next moment at which anything happens. */
static int64_t next_ms(const struct player *p)
{
    int64_t wait_ms = engine_wait_ms(p->turn.engine, p->now);
    int64_t end_ms = hands_next_ms(p->hands);
    if (hands_want_turn(p->hands))
        return p->now.wall_ms;
    int64_t at_ms = wait_ms < FOR_EVER_MS ? p->now.wall_ms + wait_ms : INT64_MAX;
    return at_ms < end_ms ? at_ms : end_ms;
}

static void go_to(struct player *p, int64_t at_ms)
{
    if (at_ms <= p->now.wall_ms)
        return;
    p->now.boot_ms += at_ms - p->now.wall_ms;
    p->now.wall_ms = at_ms;
}

/* STOP_END: go on. */
static enum stop_reason look_around(const struct player *p)
{
    if (p->score->firings >= p->wish->firings_max)
        return STOP_FIRINGS;
    if (p->turns % LOOK_TURNS != 0)
        return STOP_END;
    if (p->wish->on_progress != NULL)
        p->wish->on_progress(p->wish->arg, p->now.wall_ms, p->score->firings);
    return bytes_used() > PLAN_BYTES_MAX ? STOP_MEMORY : STOP_END;
}

static enum rc play(struct player *p, enum stop_reason *ret_why, struct err *err)
{
    uint64_t still = 0;
    *ret_why = STOP_END;
    while (*ret_why == STOP_END) {
        size_t count;
        int64_t at_ms = next_ms(p);
        if (at_ms >= p->score->window.until_ms)
            break;
        still = at_ms > p->now.wall_ms ? 0 : still + 1;
        if (still > STILL_TURNS_MAX)
            return err_set(err, RC_CORRUPT,
                           "the engine wants a turn again and again; this is a bug");
        go_to(p, at_ms);
        struct command *const *polls = hands_polls(p->hands, p->now.wall_ms, &count);
        TRY(step(p, polls, count, err));
        *ret_why = look_around(p);
    }
    return RC_OK;
}

enum rc player_run(const struct world *world, const struct player_wish *wish, struct score *score,
                   struct player_end *ret_end, struct err *err)
{
    CLEANUP(end) struct player p = {.world = world, .wish = wish, .score = score};
    *ret_end = (struct player_end){.why = STOP_END};
    TRY(begin(&p, err));
    TRY(apply(&p, err));
    TRY(play(&p, &ret_end->why, err));
    ret_end->at_ms = ret_end->why == STOP_END ? score->window.until_ms : p.now.wall_ms;
    ret_end->slots = hands_view(p.hands).slots;
    ret_end->turns = p.turns;
    ret_end->left_out = p.turn.quarantined;
    score_now(score, ret_end->at_ms);
    score_end(score);
    return RC_OK;
}
