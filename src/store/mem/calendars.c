/* calendars.c - calendars, and which jobs go by them. */
#include "base/mem.h"
#include "store/mem/mem.h"
#include "store/mem/rows.h"

#include <inttypes.h>

/* Whether the delta deletes the calendar, or else puts it. */
static bool changes_calendar(const struct delta *delta, struct str name, bool forget)
{
    for (size_t i = 0; i < delta->calendar_count; i++) {
        const struct calendar_change *change = &delta->calendars[i];
        if (change->forget == forget && str_eq(change->calendar.name, name))
            return true;
    }
    return false;
}

static bool forgets_use(const struct delta *delta, const struct calendar_use *use)
{
    for (size_t i = 0; i < delta->calendar_use_count; i++) {
        const struct calendar_use *other = &delta->calendar_uses[i];
        if (other->forget && other->job_id == use->job_id && str_eq(other->calendar, use->calendar))
            return true;
    }
    return false;
}

enum rc mem_calendars_fit(const struct mem_store *m, const struct delta *delta, struct err *err)
{
    for (size_t i = 0; i < delta->calendar_use_count; i++) {
        struct str name = delta->calendar_uses[i].calendar;
        if (!delta->calendar_uses[i].forget && strmap_get(&m->calendars, name) == NULL &&
            !changes_calendar(delta, name, false))
            return err_set(err, RC_CONFLICT, "there is no calendar '%.*s'", STR_ARG(name));
    }
    for (size_t i = 0; i < m->calendar_use_count; i++) {
        const struct calendar_use *use = &m->calendar_uses[i];
        if (changes_calendar(delta, use->calendar, true) && !forgets_use(delta, use))
            return err_set(err, RC_CONFLICT, "job %" PRIu64 " goes by the calendar '%.*s'",
                           use->job_id, STR_ARG(use->calendar));
    }
    return RC_OK;
}

void mem_apply_calendar(struct mem_store *m, const struct calendar_change *change)
{
    kept_calendar_free(strmap_remove(&m->calendars, change->calendar.name));
    if (change->forget)
        return;
    struct calendar_rec *kept = kept_calendar(&change->calendar);
    strmap_put(&m->calendars, kept->name, kept);
}

void mem_apply_calendar_use(struct mem_store *m, const struct calendar_use *use)
{
    size_t at = 0;
    while (at < m->calendar_use_count && (m->calendar_uses[at].job_id != use->job_id ||
                                          !str_eq(m->calendar_uses[at].calendar, use->calendar)))
        at++;
    if (at < m->calendar_use_count && use->forget) {
        kept_text_free(&m->calendar_uses[at].calendar);
        m->calendar_uses[at] = m->calendar_uses[--m->calendar_use_count];
    } else if (at == m->calendar_use_count && !use->forget) {
        m->calendar_uses = mem_resize(m->calendar_uses, (at + 1) * sizeof *m->calendar_uses);
        m->calendar_uses[at] = *use;
        m->calendar_uses[at].calendar = kept_text(use->calendar);
        m->calendar_use_count++;
    }
}
