#include "engine/ready/cordon.h"
#include "base/mem.h"
#include "base/plant.h"
#include "engine/core/commands.h"
#include "engine/core/model.h"
#include "engine/core/undo.h"
#include "engine/ready/worker_views.h"
#include "engine/ready/workers.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- the value */

static struct str put_text(char *at, struct str text)
{
    if (text.len > 0)
        memcpy(at, text.ptr, text.len);
    return str_of(at, text.len);
}

struct cordon *cordon_of(const struct worker_rec *rec)
{
    if (rec->cordoned_ms == 0)
        return NULL;
    struct cordon *cordon = mem_new(sizeof *cordon + rec->cordoned_by.len + rec->cordon_reason.len);
    cordon->since_ms = rec->cordoned_ms;
    cordon->by = put_text(cordon->bytes, rec->cordoned_by);
    cordon->reason = put_text(cordon->bytes + cordon->by.len, rec->cordon_reason);
    return cordon;
}

void cordon_record(const struct cordon *cordon, struct worker_rec *ret_rec)
{
    if (cordon == NULL)
        return;
    ret_rec->cordoned_ms = cordon->since_ms;
    ret_rec->cordoned_by = cordon->by;
    ret_rec->cordon_reason = cordon->reason;
}

/* ---- putting it in place, in a turn and between turns */

/* The one that was there is freed, unless undo may put it back: then commit frees it. */
static void set(struct engine *e, struct worker *w, struct cordon *take_cordon)
{
    struct cordon *old = w->v.cordon;
    w->v.cordon = take_cordon;
    e->worker_classes.counted_ms = 0; /* slots that can be given work are other ones now */
    if (w->touched == NULL || w->touched->before.worker.cordon != old)
        free(old);
}

/* Its poll stays parked, without slots to fill. */
static void close_worker(struct engine *e, struct worker *w, struct cordon *take_cordon)
{
    set(e, w, take_cordon);
    worker_unplace(e, w);
    w->v.offered = 0;
    worker_place(e, w);
    if (w->turn.cmd != NULL)
        w->turn.free = 0;
}

/* A poll that is parked offers no slots, so it is answered at once: the next one says how many are
 * free. A worker without one may have been silent for longer than others are remembered. */
static void open_worker(struct engine *e, struct worker *w)
{
    set(e, w, NULL);
    worker_set_parked(e, w, w->v.parked, e->boot_ms);
    if (w->turn.cmd != NULL)
        w->turn.answer = true;
}

/* ---- commands */

static struct worker *find(struct engine *e, struct command *cmd)
{
    struct worker *w = map_get(&e->workers, cmd->target.id);
    if (w != NULL && !w->v.gone)
        return w;
    command_fail(e, cmd, RC_NOT_FOUND, "no such worker");
    return NULL;
}

static void answer(struct engine *e, struct command *cmd, const struct worker *w)
{
    struct worker_view *view = ARENA_NEW(cmd->arena, struct worker_view);
    *view = worker_view_of(e, w, cmd->arena);
    cmd->reply.workers = view;
    cmd->reply.worker_count = 1;
    command_done(e, cmd);
}

/* One that is cordoned twice keeps the first time, actor and reason. */
void decide_cordon(struct engine *e, struct command *cmd)
{
    struct worker *w = find(e, cmd);
    if (w == NULL)
        return;
    if (w->v.cordon == NULL) {
        touch_worker(e, w)->durable |= partition_has(&e->owned, w->id);
        close_worker(e, w,
                     cordon_of(&(struct worker_rec){
                         .cordoned_ms = e->now_ms,
                         .cordoned_by = cmd->actor,
                         .cordon_reason = cmd->target.reason,
                     }));
    }
    answer(e, cmd, w);
}

void decide_uncordon(struct engine *e, struct command *cmd)
{
    struct worker *w = find(e, cmd);
    if (w == NULL)
        return;
    if (w->v.cordon != NULL) {
        touch_worker(e, w)->durable |= partition_has(&e->owned, w->id);
        open_worker(e, w);
    }
    answer(e, cmd, w);
}

/* ---- the next process of the same worker */

void cordon_passed_on(struct engine *e, struct worker *former)
{
    former->v.followed = true;
    if (!former->v.gone)
        worker_set_parked(e, former, former->v.parked, e->boot_ms);
}

void cordon_inherit(struct engine *e, const struct command *hello, struct worker_rec *ret_rec)
{
    struct worker *w = map_get(&e->workers, hello->hello.replaces);
    const struct worker_rec *rec =
        hello->question_count > 0 ? hello->questions[0].answer.worker : NULL;
    if (w == NULL && rec != NULL) {
        ret_rec->cordoned_ms = rec->cordoned_ms;
        ret_rec->cordoned_by = rec->cordoned_by;
        ret_rec->cordon_reason = rec->cordon_reason;
    }
    if (w == NULL || w->v.cordon == NULL)
        return;
    cordon_record(w->v.cordon, ret_rec);
    touch_worker(e, w);
    cordon_passed_on(e, w);
}

/* ---- workers of other servers */

/* Its home decides: a record of ours is younger than what was read. */
static bool is_read(const struct engine *e, const struct worker *w)
{
    return !w->v.gone && !partition_has(&e->owned, w->id) && !PLANTED(cordon_of_others_unread);
}

void engine_load_cordon(struct engine *e, const struct worker_rec *rec)
{
    assert(!in_turn(e));
    struct worker *w = map_get(&e->workers, rec->id);
    if (w == NULL || !is_read(e, w))
        return; /* its first poll brings its record */
    w->reading = e->readings;
    close_worker(e, w, cordon_of(rec));
}

void cordons_read(struct engine *e)
{
    MAP_EACH(&e->workers, slot)
    {
        struct worker *w = slot->value;
        if (w->v.cordon != NULL && w->reading != e->readings && is_read(e, w))
            open_worker(e, w);
    }
}
