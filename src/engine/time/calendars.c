/* calendars.c - times at which jobs are not to run.
 *
 * A calendar is asked when the time of a run has come, and never before: what is planned for a
 * holiday is planned, until the holiday is there or is not. Its ruling is carried out in that same
 * turn. To skip ends the run. To hold moves its due time to the end of the period; the execution
 * stays what it was, `scheduled`, so a job with a schedule goes on having exactly one ahead, and
 * slots.c decides about all that fell into the period when it is over.
 *
 * A change of a calendar changes which executions are held. So held executions stay in memory, and
 * in the heap `held`, by the number of changes that their due time takes into account. Those that
 * have not seen the newest come first there, and each turn looks at as many of them as it handles
 * timers. A million held jobs thereby take a hundred turns and not one endless one, and a start,
 * which does not know what was seen, looks at all.
 *
 * A run that somebody asks for, and further attempts of one that has begun, ask no calendar. */
#include "engine/time/calendars.h"
#include "base/mem.h"
#include "base/plant.h"
#include "base/when.h"
#include "engine/core/commands.h"
#include "engine/core/exec.h"
#include "engine/core/model.h"
#include "engine/core/undo.h"
#include "engine/ready/cordon.h"
#include "engine/ready/forget.h"
#include "engine/ready/teams.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS_NAMED_MAX = 10, PREVIEW_MAX = 5 };

/* ---- by name */

static struct named_calendar *find(const struct engine *e, struct str name)
{
    return strmap_get(&e->calendars.by_name, name);
}

static struct named_calendar *find_or_make(struct engine *e, struct str name)
{
    struct named_calendar *calendar = find(e, name);
    if (calendar != NULL)
        return calendar;
    calendar = mem_new(sizeof *calendar + name.len);
    char *text = (char *)(calendar + 1);
    memcpy(text, name.ptr, name.len);
    calendar->name = str_of(text, name.len);
    strmap_put(&e->calendars.by_name, calendar->name, calendar);
    return calendar;
}

void book_free(struct book *book)
{
    if (book == NULL)
        return;
    arena_free(&book->arena);
    free(book);
}

void calendar_forget_if_unused(struct engine *e, struct named_calendar *calendar)
{
    if (calendar->users > 0 || calendar->v.book != NULL || calendar->touched != NULL)
        return;
    strmap_remove(&e->calendars.by_name, calendar->name);
    free(calendar);
}

void calendar_set(struct engine *e, struct named_calendar *calendar,
                  const struct calendar_values *to)
{
    e->calendars.book_count -= calendar->v.book != NULL;
    calendar->v = *to;
    e->calendars.book_count += calendar->v.book != NULL;
}

void calendars_free(struct engine *e)
{
    for (size_t i = 0; i < e->calendars.by_name.cap; i++) {
        struct named_calendar *calendar = e->calendars.by_name.slots[i].value;
        if (calendar != NULL)
            book_free(calendar->v.book);
        free(calendar);
    }
    strmap_free(&e->calendars.by_name);
}

/* ---- what a definition goes by */

struct calendar_list *calendars_join(struct engine *e, const struct rules *rules)
{
    if (rules->calendar_count == 0)
        return NULL;
    struct calendar_list *list =
        mem_new(sizeof *list + rules->calendar_count * sizeof list->items[0]);
    for (size_t i = 0; i < rules->calendar_count; i++) {
        const struct calendar_wish *wish = &rules->calendars[i];
        struct named_calendar *calendar = find_or_make(e, wish->name);
        calendar->users++;
        list->items[list->count++] =
            (struct calendar_ref){calendar, wish->has_policy, wish->policy};
    }
    return list;
}

struct calendar_list *calendars_copy(const struct calendar_list *list)
{
    if (list == NULL)
        return NULL;
    for (size_t i = 0; i < list->count; i++)
        list->items[i].calendar->users++;
    return mem_dup(list, sizeof *list + list->count * sizeof list->items[0]);
}

void calendars_leave(struct engine *e, struct calendar_list *list)
{
    for (size_t i = 0; list != NULL && i < list->count; i++) {
        struct named_calendar *calendar = list->items[i].calendar;
        assert(calendar->users > 0);
        calendar->users--;
        calendar_forget_if_unused(e, calendar);
    }
    free(list);
}

enum rc calendars_check(const struct engine *e, const struct rules *rules, struct err *err)
{
    for (size_t i = 0; i < rules->calendar_count; i++) {
        const struct named_calendar *calendar = find(e, rules->calendars[i].name);
        if (calendar == NULL || calendar->v.book == NULL)
            return err_set(err, RC_INVALID, "calendars: there is no calendar '%.*s'",
                           STR_ARG(rules->calendars[i].name));
    }
    return RC_OK;
}

/* ---- what they say */

static const struct zone *zone_of(const struct schedule *schedule)
{
    return schedule != NULL && schedule->clock.zone != NULL ? schedule->clock.zone : zone_utc();
}

struct ruling calendars_rule(const struct job *job, int64_t at_ms)
{
    const struct calendar_list *list = job->v.def->rules.calendars;
    struct almanac_use uses[SPEC_CALENDARS_MAX];
    if (list == NULL)
        return (struct ruling){.verdict = CALENDAR_FREE};
    assert(list->count <= SPEC_CALENDARS_MAX);
    for (size_t i = 0; i < list->count; i++) {
        const struct calendar_ref *ref = &list->items[i];
        const struct book *book = ref->calendar->v.book;
        uses[i] = (struct almanac_use){.name = ref->calendar->name};
        if (book != NULL) {
            uses[i].almanac = &book->almanac;
            uses[i].policy = ref->has_policy ? ref->policy : book->almanac.policy;
        }
    }
    return almanac_ruling(uses, list->count, zone_of(job->v.def->schedule), at_ms);
}

struct str ruling_words(struct arena *arena, const struct ruling *ruling)
{
    char until[WHEN_TEXT_MAX];
    if (ruling->unreadable)
        return arena_printf(arena, "calendar '%.*s' cannot be read; put it anew",
                            STR_ARG(ruling->calendar));
    return arena_printf(arena, "calendar '%.*s', until %s", STR_ARG(ruling->calendar),
                        when_format(until, ruling->until_ms).ptr);
}

bool exec_is_held(const struct exec *x)
{
    return x->v.state == EXEC_SCHEDULED && x->v.ready_ms > 0;
}

/* ---- what follows */

void calendar_hold(struct engine *e, struct exec *x, const struct ruling *ruling)
{
    if (!exec_is_held(x) || x->v.due_ms != ruling->until_ms) {
        exec_move(e, x,
                  &(struct move){.event = EV_HOLD,
                                 .actor = SERVER,
                                 .reason = ruling_words(e->turn.arena, ruling),
                                 .due_ms = ruling->until_ms});
        return;
    }
    touch_exec(e, x); /* as it was, and nothing to keep */
    struct exec_values to = x->v;
    to.looked = e->calendars.changes;
    exec_set(e, x, &to);
}

bool calendar_stops(struct engine *e, struct exec *x)
{
    struct ruling now = calendars_rule(x->job, e->now_ms);
    if (now.verdict == CALENDAR_HOLDS)
        calendar_hold(e, x, &now);
    else if (now.verdict == CALENDAR_SKIPS)
        exec_move(e, x,
                  &(struct move){.event = EV_SKIP,
                                 .actor = SERVER,
                                 .reason = ruling_words(e->turn.arena, &now)});
    return now.verdict != CALENDAR_FREE;
}

static struct exec *first_unseen(const struct engine *e)
{
    const struct heap_item *first =
        PLANTED(held_not_looked_at) ? NULL : heap_min(&e->calendars.held);
    return first == NULL || first->key >= e->calendars.changes
               ? NULL
               : CONTAINER_OF(first->node, struct exec, ready);
}

bool calendars_want_turn(const struct engine *e)
{
    return first_unseen(e) != NULL;
}

void calendars_look(struct engine *e)
{
    struct exec *x;
    for (size_t left = e->options.due_max; left > 0 && (x = first_unseen(e)) != NULL; left--)
        exec_come_due(e, x);
}

void calendars_edited(struct engine *e, struct job *job)
{
    LIST_EACH(&job->execs, node)
    {
        struct exec *x = CONTAINER_OF(node, struct exec, sibling);
        if (!exec_is_held(x))
            continue;
        touch_exec(e, x);
        struct exec_values to = x->v;
        to.looked = 0;
        exec_set(e, x, &to);
    }
}

void calendars_preview(struct engine *e, struct command *cmd, struct submission *item,
                       const struct job *job)
{
    const struct schedule *schedule = job->v.def->schedule;
    struct slot slot;
    (void)e;
    item->notes = NULL;
    item->note_count = 0;
    if (job->v.def->rules.calendars == NULL || schedule == NULL || !schedule_first(schedule, &slot))
        return;
    struct slot_note *notes = ARENA_ARRAY(cmd->arena, struct slot_note, PREVIEW_MAX);
    item->notes = notes;
    for (int i = 0; i < PREVIEW_MAX; i++) {
        struct ruling ruling = calendars_rule(job, schedule_due_ms(schedule, &slot));
        ruling.calendar = arena_str(cmd->arena, ruling.calendar);
        if (ruling.verdict != CALENDAR_FREE)
            notes[item->note_count++] = (struct slot_note){slot.at_ms, ruling};
        if (!schedule_next(schedule, &slot, &slot))
            return;
    }
}

/* ---- the record */

static void note_uses(struct engine *e, const struct job *job, const struct calendar_list *list,
                      bool forget)
{
    for (size_t i = 0; list != NULL && i < list->count; i++)
        *VEC_PUSH(e->turn.arena, &e->turn.calendar_uses) =
            (struct calendar_use){forget, list->items[i].calendar->name, job->id};
}

void calendars_seal(struct engine *e, const struct touched *t)
{
    const struct job_values *before = &t->before.job;
    const struct job_values *after = &t->job->v;
    bool did = t->stored && !job_is_over(before->state);
    bool does = !job_is_over(after->state);
    if (did == does && before->def == after->def)
        return;
    if (did)
        note_uses(e, t->job, before->def->rules.calendars, true);
    if (does)
        note_uses(e, t->job, after->def->rules.calendars, false);
}

struct calendar_change calendar_changed(const struct touched *t)
{
    const struct book *book = t->calendar->v.book;
    struct calendar_change change = {
        .forget = book == NULL,
        .calendar = {.name = t->calendar->name},
    };
    if (book == NULL)
        return change;
    change.calendar.version = book->version;
    change.calendar.policy = book->almanac.policy;
    change.calendar.entry_count = book->almanac.entry_count;
    change.calendar.document = t->result;
    change.calendar.changed_ms = book->changed_ms;
    change.calendar.changed_by = book->changed_by;
    return change;
}

static struct book *book_read(struct engine *e, const struct calendar_rec *rec, struct err *err)
{
    struct book *book = MEM_NEW(struct book);
    if (e->options.read_calendar(e->options.rules_arg, rec, &book->arena, &book->almanac, err) !=
        RC_OK) {
        book_free(book);
        return NULL;
    }
    book->version = rec->version;
    book->changed_ms = rec->changed_ms;
    book->changed_by = arena_str(&book->arena, rec->changed_by);
    return book;
}

void engine_settings_begin(struct engine *e)
{
    assert(!in_turn(e));
    e->readings++;
}

void engine_settings_end(struct engine *e)
{
    for (size_t i = 0; i < e->calendars.by_name.cap;) {
        struct named_calendar *calendar = e->calendars.by_name.slots[i].value;
        if (calendar == NULL || calendar->v.book == NULL || calendar->reading == e->readings) {
            i++;
            continue;
        }
        size_t cap = e->calendars.by_name.cap;
        book_free(calendar->v.book);
        calendar_set(e, calendar, &(struct calendar_values){NULL});
        calendar_forget_if_unused(e, calendar); /* another may come into its slot: look again */
        e->calendars.changes++;
        if (e->calendars.by_name.cap != cap)
            i = 0; /* all have moved */
    }
    queues_read(e);
    teams_read(e);
    cordons_read(e);
    silences_read(e);
}

enum rc engine_load_calendar(struct engine *e, const struct calendar_rec *calendar, struct err *err)
{
    struct named_calendar *known = find(e, calendar->name);
    struct book *old = known == NULL ? NULL : known->v.book;
    if (known != NULL)
        known->reading = e->readings;
    if (old != NULL && old->version == calendar->version && old->changed_ms == calendar->changed_ms)
        return RC_OK; /* read again, and nothing is new about it */
    struct book *book = book_read(e, calendar, err);
    e->calendars.changes++; /* held slots have seen fewer */
    if (book == NULL)
        return err->rc;
    if (PLANTED(blackout_ignored_after_restart))
        book->almanac.calendar = (struct calendar){0};
    known = find_or_make(e, calendar->name);
    known->reading = e->readings;
    calendar_set(e, known, &(struct calendar_values){book});
    book_free(old);
    return RC_OK;
}

/* ---- commands */

void ask_calendar(struct engine *e, struct command *cmd, struct question_list *list)
{
    if (!cmd->calendar.forget)
        return;
    struct question *q = command_ask(e, cmd, list);
    q->kind = ASK_CALENDAR;
    q->name = cmd->calendar.name;
    q->limit = JOBS_NAMED_MAX + 1;
}

/* Another book, or none, takes the place of the one that is there. */
static void replace(struct engine *e, struct named_calendar *calendar, struct book *take_book,
                    struct str document)
{
    struct touched *t = touch_calendar(e, calendar);
    struct book *old = calendar->v.book;
    t->durable = true;
    t->result = document;
    calendar_set(e, calendar, &(struct calendar_values){take_book});
    if (old != t->before.calendar.book) /* of an earlier command of this turn */
        book_free(old);
    e->calendars.changes++;
}

static void put(struct engine *e, struct command *cmd)
{
    struct named_calendar *calendar = find(e, cmd->calendar.name);
    const struct book *old = calendar == NULL ? NULL : calendar->v.book;
    const struct calendar_rec rec = {
        .name = cmd->calendar.name,
        .version = old == NULL ? 1 : old->version + 1,
        .document = cmd->calendar.document,
        .changed_ms = e->now_ms,
        .changed_by = cmd->actor,
    };
    if (old == NULL && e->calendars.book_count >= e->options.calendars_max) {
        command_fail(e, cmd, RC_LIMITED,
                     "there are as many calendars as there may be (%zu); delete one",
                     e->options.calendars_max);
        return;
    }
    struct book *book = book_read(e, &rec, &cmd->reply.err);
    if (book == NULL) {
        cmd->reply.rc = cmd->reply.err.rc;
        command_done(e, cmd);
        return;
    }
    replace(e, find_or_make(e, cmd->calendar.name), book, cmd->calendar.document);
    cmd->reply.calendar_version = rec.version;
    command_done(e, cmd);
}

static void name_jobs(struct buf *out, const struct answer *a)
{
    for (size_t i = 0; i < a->id_count && i < JOBS_NAMED_MAX; i++) {
        char id[ID_TEXT_MAX];
        id_format(id, ID_JOB, a->ids[i]);
        buf_printf(out, "%s%s", i > 0 ? ", " : ": ", id);
    }
    if (a->id_count > JOBS_NAMED_MAX)
        buf_add(out, STR(" and others"));
}

static void forget(struct engine *e, struct command *cmd)
{
    struct named_calendar *calendar = find(e, cmd->calendar.name);
    const struct answer *a = &cmd->questions[0].answer;
    char bytes[ERR_TEXT_MAX / 2];
    struct buf jobs = {.ptr = bytes, .cap = sizeof bytes, .max = sizeof bytes};
    if (calendar == NULL || (calendar->v.book == NULL && calendar->users == 0)) {
        command_fail(e, cmd, RC_NOT_FOUND, "there is no calendar '%.*s'",
                     STR_ARG(cmd->calendar.name));
        return;
    }
    if (calendar->users > 0 || a->id_count > 0) {
        name_jobs(&jobs, a);
        command_fail(e, cmd, RC_CONFLICT, "jobs that are not over go by the calendar '%.*s'%.*s",
                     STR_ARG(cmd->calendar.name), STR_ARG(buf_str(&jobs)));
        return;
    }
    replace(e, calendar, NULL, STR(""));
    command_done(e, cmd);
}

void decide_calendar(struct engine *e, struct command *cmd)
{
    if (cmd->calendar.forget)
        forget(e, cmd);
    else
        put(e, cmd);
}
