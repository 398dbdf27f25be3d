/* definition.c - what was submitted about a job, as the engine keeps it. */
#include "engine/submit/definition.h"
#include "base/mem.h"
#include "engine/core/model.h"
#include "engine/ready/forget.h"
#include "engine/ready/queues.h"
#include "engine/ready/ready.h"
#include "engine/time/calendars.h"

#include <assert.h>
#include <stddef.h>
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

/* The schedule stands right behind the rules, so both are one key. */
static struct str key_of(const struct definition *def)
{
    static_assert(offsetof(struct definition, tail) ==
                      offsetof(struct definition, rules) + sizeof def->rules,
                  "a gap between rules and tail would be part of the key");
    return str_of((const char *)&def->rules, sizeof def->rules + schedule_bytes(def));
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
    def->rules.spec_len = (uint32_t)rec->spec.len;
    def->rules.payload_len = (uint32_t)rec->payload.len;
}

/* The one that is there already instead, if there is one. */
static struct definition *share(struct engine *e, struct definition *take_def)
{
    struct definition *same = strmap_get(&e->definitions, key_of(take_def));
    if (same == NULL) {
        strmap_put(&e->definitions, key_of(take_def), take_def);
        return take_def;
    }
    ready_leave(&e->ready, take_def->rules.track);
    queue_leave(e, take_def->rules.queue);
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
    def->rules.version = rec->version;
    def->rules.priority = rules->priority;
    def->rules.queue = queue_use(e, rules->queue);
    def->rules.track = track;
    queue_join(e, def->rules.queue, track->lane);
    def->rules.retry = rules->retry;
    def->rules.timeout_ms = rules->timeout_ms;
    def->rules.unique = own_unique(&rules->unique);
    def->rules.misfire = rules->misfire;
    def->rules.overlap = rules->overlap;
    def->rules.expects = rules->expects;
    def->rules.delayed = rules->delayed;
    def->rules.start_within_ms = rules->start_within_ms;
    def->rules.expires_in_ms = rules->expires_in_ms;
    def->rules.sla = rules->sla;
    def->rules.calendars = calendars_join(e, rules);
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
    assert(def->users > 0);
    if (--def->users > 0)
        return;
    if (def->common)
        strmap_remove(&e->definitions, key_of(def));
    ready_leave(&e->ready, def->rules.track);
    queue_leave(e, def->rules.queue);
    calendars_leave(e, def->rules.calendars);
    free(def->rules.unique);
    free(def);
}

struct definition *definition_in_zone(struct engine *e, const struct definition *def,
                                      const struct zone *zone)
{
    size_t len = sizeof *def + schedule_bytes(def) + def->rules.spec_len + def->rules.payload_len;
    struct definition *same = mem_dup(def, len);
    same->users = 1;
    same->schedule = (struct schedule *)same->tail;
    same->schedule->clock.zone = zone;
    same->rules.calendars = calendars_copy(def->rules.calendars);
    same->rules.queue->users++;
    ready_stay(same->rules.track);
    return same->common ? share(e, same) : same;
}

struct str definition_spec(const struct definition *def)
{
    return str_of(def->tail + schedule_bytes(def), def->rules.spec_len);
}

struct str definition_payload(const struct definition *def)
{
    return str_of(def->tail + schedule_bytes(def) + def->rules.spec_len, def->rules.payload_len);
}
