/* definition.c - what was submitted about a job, as the engine keeps it. */
#include "base/mem.h"
#include "engine/internal.h"

#include <stdlib.h>

static struct schedule *own_schedule(const struct job_rec *rec, const struct rules *rules)
{
    if (rules->schedule == NULL)
        return NULL;
    struct schedule *own = mem_dup(rules->schedule, sizeof *own);
    own->start_ms = rec->created_ms;
    own->stagger_ms = schedule_stagger_ms(rec->id, rules->stagger_ms);
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
    struct definition *def = mem_new(sizeof *def + len);
    if (keep) {
        struct buf text = {.ptr = def->text, .cap = len, .max = len};
        buf_add(&text, rec->spec);
        buf_add(&text, rec->payload);
        def->spec_len = (uint32_t)rec->spec.len;
        def->payload_len = (uint32_t)rec->payload.len;
    }
    def->version = rec->version;
    def->priority = rules->priority;
    def->queue = queue_of(e, rules->queue);
    def->track = track;
    queue_join(e, def->queue, track->lane);
    def->retry = rules->retry;
    def->timeout_ms = rules->timeout_ms;
    def->schedule = own_schedule(rec, rules);
    def->misfire = rules->misfire;
    def->overlap = rules->overlap;
    return def;
}

struct definition *definition_wanted(struct engine *e, const struct job_rec *rec,
                                     const struct rules *rules, const char **ret_why)
{
    *ret_why = "there are as many queues as there may be";
    if (strmap_get(&e->queues, rules->queue) == NULL && e->queues.len >= e->options.queues_max)
        return NULL;
    *ret_why = "there are as many queues and handlers as there may be";
    return definition_new(e, rec, rules, e->options.lanes_max);
}

void definition_free(struct engine *e, struct definition *def)
{
    ready_leave(&e->ready, def->track);
    free(def->schedule);
    free(def);
}

struct str definition_spec(const struct definition *def)
{
    return str_of(def->text, def->spec_len);
}

struct str definition_payload(const struct definition *def)
{
    return str_of(def->text + def->spec_len, def->payload_len);
}
