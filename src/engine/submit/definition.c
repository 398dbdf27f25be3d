/* definition.c - what was submitted about a job, as the engine keeps it. */
#include "engine/submit/definition.h"
#include "base/mem.h"
#include "engine/core/model.h"
#include "engine/ready/forget.h"
#include "engine/ready/queues.h"
#include "engine/ready/ready.h"
#include "engine/time/calendars.h"

#include <stdlib.h>
#include <string.h>

/* Nothing in it is of one job alone. A cron schedule may be older than its job: where that begins
 * follows from the slot that is ahead. */
static bool is_common(size_t text_len, const struct rules *rules)
{
    const struct schedule *s = rules->schedule;
    return text_len == 0 && rules->calendar_count == 0 && rules->unique.key.len == 0 &&
           (s == NULL || (s->kind == SCHEDULE_CRON && rules->stagger_ms == 0));
}

static size_t schedule_bytes(const struct definition *def)
{
    return def->schedule == NULL ? 0 : sizeof *def->schedule;
}

/* All that it says. Bytes that differ by chance would keep two apart that are the same, no more. */
static struct str key_of(const struct definition *def)
{
    const char *from = (const char *)&def->version;
    return str_of(from, (size_t)(def->tail - from) + schedule_bytes(def));
}

static void set_schedule(struct definition *def, const struct job_rec *rec,
                         const struct rules *rules)
{
    if (rules->schedule == NULL)
        return;
    def->schedule = (struct schedule *)def->tail;
    *def->schedule = *rules->schedule;
    def->schedule->start_ms = def->common ? 0 : rec->created_ms;
    def->schedule->stagger_ms = schedule_stagger_ms(rec->id, rules->stagger_ms);
}

static void set_texts(struct definition *def, const struct job_rec *rec, size_t len)
{
    struct buf text = {.ptr = def->tail + schedule_bytes(def), .cap = len, .max = len};
    buf_add(&text, rec->spec);
    buf_add(&text, rec->payload);
    def->spec_len = (uint32_t)rec->spec.len;
    def->payload_len = (uint32_t)rec->payload.len;
}

/* The one that is there already instead, if there is one. */
static struct definition *share(struct engine *e, struct definition *take_def)
{
    struct definition *same = strmap_get(&e->definitions, key_of(take_def));
    if (same == NULL) {
        strmap_put(&e->definitions, key_of(take_def), take_def);
        return take_def;
    }
    ready_leave(&e->ready, take_def->track);
    queue_leave(e, take_def->queue);
    free(take_def);
    same->users++;
    return same;
}

static struct unique_rule *own_unique(const struct unique_rule *rule)
{
    if (rule->key.len == 0)
        return NULL;
    struct unique_rule *own = mem_new(sizeof *own + rule->key.len);
    char *key = (char *)(own + 1);
    memcpy(key, rule->key.ptr, rule->key.len);
    *own = *rule;
    own->key.ptr = key;
    return own;
}

struct definition *definition_new(struct engine *e, const struct job_rec *rec,
                                  const struct rules *rules, size_t lanes_max)
{
    struct track *track = ready_join(&e->ready, rules, lanes_max);
    if (track == NULL)
        return NULL;
    bool keep = rec->spec.len + rec->payload.len <= e->options.keep_bytes_max;
    size_t len = keep ? rec->spec.len + rec->payload.len : 0;
    size_t schedule_len = rules->schedule == NULL ? 0 : sizeof *rules->schedule;
    struct definition *def = mem_new(sizeof *def + schedule_len + len);
    def->users = 1;
    def->common = is_common(len, rules);
    def->version = rec->version;
    def->priority = rules->priority;
    def->queue = queue_use(e, rules->queue);
    def->track = track;
    queue_join(e, def->queue, track->lane);
    def->retry = rules->retry;
    def->timeout_ms = rules->timeout_ms;
    def->unique = own_unique(&rules->unique);
    def->misfire = rules->misfire;
    def->overlap = rules->overlap;
    def->delayed = rules->delayed;
    def->start_within_ms = rules->start_within_ms;
    def->expires_in_ms = rules->expires_in_ms;
    def->sla = rules->sla;
    def->calendars = calendars_join(e, rules);
    set_schedule(def, rec, rules);
    set_texts(def, len > 0 ? rec : &(struct job_rec){0}, len);
    return def->common ? share(e, def) : def;
}

struct definition *definition_wanted(struct engine *e, const struct job_rec *rec,
                                     const struct rules *rules, struct err *err)
{
    if (queue_admit(e, rules->queue, err) != RC_OK)
        return NULL;
    struct definition *def = definition_new(e, rec, rules, e->options.lanes_max);
    if (def == NULL)
        err_set(err, RC_BUSY, "there are as many queues and handlers as there may be");
    return def;
}

void definition_free(struct engine *e, struct definition *def)
{
    if (--def->users > 0)
        return;
    if (def->common)
        strmap_remove(&e->definitions, key_of(def));
    ready_leave(&e->ready, def->track);
    queue_leave(e, def->queue);
    calendars_leave(e, def->calendars);
    free(def->unique);
    free(def);
}

struct definition *definition_in_zone(struct engine *e, const struct definition *def,
                                      const struct zone *zone)
{
    size_t len = sizeof *def + schedule_bytes(def) + def->spec_len + def->payload_len;
    struct definition *same = mem_dup(def, len);
    same->users = 1;
    same->schedule = (struct schedule *)same->tail;
    same->schedule->clock.zone = zone;
    same->calendars = calendars_copy(def->calendars);
    same->queue->users++;
    ready_stay(same->track);
    return same->common ? share(e, same) : same;
}

struct str definition_spec(const struct definition *def)
{
    return str_of(def->tail + schedule_bytes(def), def->spec_len);
}

struct str definition_payload(const struct definition *def)
{
    return str_of(def->tail + schedule_bytes(def) + def->spec_len, def->payload_len);
}
