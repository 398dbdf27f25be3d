#include "engine/core/silences.h"
#include "base/mem.h"
#include "base/plant.h"
#include "base/when.h"
#include "engine/core/commands.h"
#include "engine/core/model.h"
#include "engine/time/steps.h"
#include "job/record/record_fields.h"

#include <stdlib.h>
#include <string.h>

struct silence {
    struct silence_rec rec; /* its texts are behind the struct */
    uint32_t reading;       /* the newest of engine.readings that had it */
};

/* ---- memory */

void silences_free(struct silences *s)
{
    MAP_EACH(&s->by_id, slot) free(slot->value);
    map_free(&s->by_id);
}

static struct str move_text(char **at, struct str text)
{
    struct str moved = str_of(*at, text.len);
    if (text.len > 0)
        memcpy(*at, text.ptr, text.len);
    *at += text.len;
    return moved;
}

static struct silence *silence_new(const struct silence_rec *rec)
{
    struct silence *silence =
        mem_new(sizeof *silence + rec->key.len + rec->reason.len + rec->actor.len);
    char *text = (char *)(silence + 1);
    silence->rec = *rec;
    silence->rec.key = move_text(&text, rec->key);
    silence->rec.reason = move_text(&text, rec->reason);
    silence->rec.actor = move_text(&text, rec->actor);
    return silence;
}

/* The moment at which there is something to forget. */
static void find_next_end(struct silences *s)
{
    s->end_next_ms = 0;
    MAP_EACH(&s->by_id, slot)
    {
        const struct silence *silence = slot->value;
        if (s->end_next_ms == 0 || silence->rec.until_ms < s->end_next_ms)
            s->end_next_ms = silence->rec.until_ms;
    }
}

static void keep(struct engine *e, const struct silence_rec *rec)
{
    struct silence *silence = map_get(&e->silences.by_id, rec->id);
    if (silence == NULL) { /* else it is read again, and is what it was */
        silence = silence_new(rec);
        map_put(&e->silences.by_id, rec->id, silence);
    }
    silence->reading = e->readings;
}

static void forget(struct engine *e, uint64_t id)
{
    free(map_remove(&e->silences.by_id, id));
}

void engine_load_silence(struct engine *e, const struct silence_rec *rec)
{
    if (PLANTED(silence_lost_on_load))
        return;
    keep(e, rec);
    find_next_end(&e->silences);
}

void silences_read(struct engine *e)
{
    struct silences *s = &e->silences;
    for (size_t i = 0; i < s->by_id.cap;) {
        const struct silence *silence = s->by_id.slots[i].value;
        if (silence == NULL || silence->reading == e->readings) {
            i++;
            continue;
        }
        forget(e, silence->rec.id); /* moves another one here, or all of them */
        i = 0;
    }
    find_next_end(s);
}

void silences_commit(struct engine *e)
{
    for (size_t i = 0; i < e->turn.silences.changes.len; i++) {
        const struct silence_change *change = &e->turn.silences.changes.items[i];
        if (change->forget)
            forget(e, change->silence.id);
        else
            keep(e, &change->silence);
    }
    if (e->turn.silences.changes.len > 0)
        find_next_end(&e->silences);
}

/* ---- what they say */

/* Of several the one with the smallest id, so that the same turn decides the same again. */
uint64_t silences_over(const struct engine *e, struct str key)
{
    uint64_t over = 0;
    if (e->silences.by_id.len == 0)
        return 0;
    MAP_EACH(&e->silences.by_id, slot)
    {
        const struct silence_rec *rec = &((const struct silence *)slot->value)->rec;
        bool fits =
            PLANTED(silence_by_whole_key) ? str_eq(rec->key, key) : alert_key_fits(rec->key, key);
        bool holds = silence_holds(rec, e->now_ms) || PLANTED(silence_without_end);
        if (fits && holds && (over == 0 || rec->id < over))
            over = rec->id;
    }
    return over;
}

static bool goes(const struct engine *e, uint64_t id)
{
    for (size_t i = 0; i < e->turn.silences.changes.len; i++) {
        const struct silence_change *change = &e->turn.silences.changes.items[i];
        if (change->forget && change->silence.id == id)
            return true;
    }
    return false;
}

static void let_go(struct engine *e, const struct silence_rec *rec)
{
    *VEC_PUSH(e->turn.arena, &e->turn.silences.changes) =
        (struct silence_change){.forget = true, .silence = {.id = rec->id}};
}

/* Not while the clock may be wrong: a silence that ended by it may hold again. */
void silences_step(struct engine *e)
{
    const struct silences *s = &e->silences;
    if (s->end_next_ms == 0 || e->now_ms < s->end_next_ms || e->turn.away ||
        !partition_has_bucket(&e->owned, 0) || steps_hold_deletions(e))
        return;
    MAP_EACH(&s->by_id, slot)
    {
        const struct silence_rec *rec = &((const struct silence *)slot->value)->rec;
        if (!silence_holds(rec, e->now_ms) && !goes(e, rec->id))
            let_go(e, rec);
    }
}

/* ---- commands */

/* Those that hold, also the ones of this turn. */
static size_t count_holding(const struct engine *e)
{
    size_t count = 0;
    MAP_EACH(&e->silences.by_id, slot)
    {
        const struct silence_rec *rec = &((const struct silence *)slot->value)->rec;
        count += silence_holds(rec, e->now_ms) && !goes(e, rec->id);
    }
    for (size_t i = 0; i < e->turn.silences.changes.len; i++)
        count += !e->turn.silences.changes.items[i].forget;
    return count;
}

void decide_silence(struct engine *e, struct command *cmd)
{
    const struct silence_wish *wish = &cmd->silence_wish;
    int64_t until_ms = wish->for_ms > 0 ? e->now_ms + wish->for_ms : wish->until_ms;
    char until[WHEN_TEXT_MAX];
    char last[WHEN_TEXT_MAX];
    when_format(until, until_ms);
    if (until_ms <= e->now_ms) {
        command_fail(e, cmd, RC_INVALID, "until: %s has passed; name a time to come", until);
        return;
    }
    if (until_ms - e->now_ms > SILENCE_MAX_MS) {
        command_fail(e, cmd, RC_INVALID,
                     "until: a silence ends within 365 days, by %s at the latest; what is never to "
                     "be told is a setting of the server (alert_…)",
                     when_format(last, e->now_ms + SILENCE_MAX_MS).ptr);
        return;
    }
    if (count_holding(e) >= e->options.silences_max) {
        command_fail(e, cmd, RC_LIMITED,
                     "there are as many silences as there may be (silences_max is %zu); lift one "
                     "with DELETE /alerts/silences/ID",
                     e->options.silences_max);
        return;
    }
    cmd->reply.silence = (struct silence_rec){
        .id = id_next(&e->ids, e->now_ms, e->bucket),
        .key = wish->key,
        .until_ms = until_ms,
        .reason = wish->reason,
        .actor = cmd->actor,
        .created_ms = e->now_ms,
    };
    struct silence_change change = {.silence = cmd->reply.silence};
    fields_copy(&silence_fields, &change.silence, e->turn.arena);
    *VEC_PUSH(e->turn.arena, &e->turn.silences.changes) = change;
    command_done(e, cmd);
}

void decide_lift_silence(struct engine *e, struct command *cmd)
{
    const struct silence *silence = map_get(&e->silences.by_id, cmd->target.id);
    if (silence == NULL || !silence_holds(&silence->rec, e->now_ms) || goes(e, silence->rec.id)) {
        command_fail(e, cmd, RC_NOT_FOUND,
                     "there is no silence %s; it was lifted, or has ended by itself",
                     ID_TEXT(ID_SILENCE, cmd->target.id));
        return;
    }
    cmd->reply.silence = silence->rec;
    fields_copy(&silence_fields, &cmd->reply.silence, cmd->arena);
    let_go(e, &silence->rec);
    command_done(e, cmd);
}
