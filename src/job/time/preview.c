#include "job/time/preview.h"
#include "base/date.h"
#include "base/vec.h"
#include "base/when.h"
#include "job/time/cron_match.h"

enum { DAY_S = 86400, TEXT_BYTES_MAX = 8192, CLOCK_TEXT = 16 };

static int32_t offset_at(const struct schedule *s, int64_t at_ms)
{
    if (s->clock.zone == NULL)
        return 0;
    return zone_span(s->clock.zone, at_ms / 1000 - (at_ms % 1000 < 0)).offset_s;
}

/* ---- words */

struct str preview_words(const struct schedule *s, struct str zone_name, struct arena *arena)
{
    CLEANUP(buf_free) struct buf out = BUF(TEXT_BYTES_MAX);
    char text[WHEN_TEXT_MAX];
    switch (s->kind) {
    case SCHEDULE_ONCE:
        buf_add(&out, STR("once, at "));
        buf_add(&out, when_format(text, s->start_ms));
        break;
    case SCHEDULE_EVERY:
        buf_add(&out, STR("every "));
        buf_add(&out, duration_format(text, s->every_ms));
        break;
    default: cron_text(&s->cron, &out); buf_printf(&out, " (%.*s)", STR_ARG(zone_name));
    }
    return arena_str(arena, buf_str(&out));
}

/* "02:30", or "02:30:15" when there are seconds; ret_text holds CLOCK_TEXT. */
static const char *clock_text(char *ret_text, int64_t local_s)
{
    struct buf out = {.ptr = ret_text, .cap = CLOCK_TEXT - 1, .max = CLOCK_TEXT - 1};
    unsigned at = (unsigned)(((local_s % DAY_S) + DAY_S) % DAY_S);
    buf_printf(&out, "%02u:%02u", at / 3600, at / 60 % 60);
    if (at % 60 != 0)
        buf_printf(&out, ":%02u", at % 60);
    ret_text[out.len] = '\0';
    return ret_text;
}

/* ---- notes */

/* One change of the clock. The local times that it skips or repeats are [from, to). */
struct change {
    int64_t at_s;
    int32_t before_s; /* offsets */
    int32_t after_s;
    int64_t from;
    int64_t to;
    uint64_t count; /* how many promises that is about */
    int64_t first;  /* of them */
};

static struct str change_words(const struct change *c, bool gap, struct arena *arena)
{
    char old_text[CLOCK_TEXT];
    char new_text[CLOCK_TEXT];
    struct date day = date_from_days((c->at_s + c->before_s) / DAY_S);
    return arena_printf(arena, "clocks go %s from %s to %s on %04d-%02u-%02u",
                        gap ? "forward" : "back", clock_text(old_text, c->at_s + c->before_s),
                        clock_text(new_text, c->at_s + c->after_s), (int)day.year, day.month,
                        day.day);
}

/* "02:30 does not exist", "4 times from 02:00 to 02:45 do not exist" */
static struct str promise_words(const struct schedule *s, const struct change *c,
                                const char *verb_one, const char *verb_many, struct arena *arena)
{
    char first[CLOCK_TEXT];
    char last[CLOCK_TEXT];
    (void)clock_text(first, c->first);
    if (c->count == 1)
        return arena_printf(arena, "%s %s", first, verb_one);
    (void)clock_text(last, cron_match_last(&s->cron, c->from, c->to));
    return arena_printf(arena, "%llu times from %s to %s %s", (unsigned long long)c->count, first,
                        last, verb_many);
}

static struct preview_note gap_note(const struct schedule *s, const struct change *c,
                                    struct arena *arena)
{
    char text[CLOCK_TEXT];
    struct str change = change_words(c, true, arena);
    struct str promise = promise_words(s, c, "does not exist", "do not exist", arena);
    const char *end = clock_text(text, c->at_s + c->after_s);
    struct str what =
        s->cron.real_time || s->clock.gap == CRON_GAP_SKIP
            ? STR("no run")
            : arena_printf(arena, c->count == 1 ? "it runs at %s" : "they run once, at %s", end);
    return (struct preview_note){c->at_s * 1000,
                                 arena_printf(arena, "%.*s, so %.*s: %.*s", STR_ARG(change),
                                              STR_ARG(promise), STR_ARG(what))};
}

static struct preview_note fold_note(const struct schedule *s, const struct change *c,
                                     struct arena *arena)
{
    static const char *const one[] = {"it runs the first time", "it runs the second time",
                                      "it runs both times"};
    static const char *const many[] = {"they run the first time", "they run the second time",
                                       "they run both times"};
    enum cron_fold fold = s->cron.real_time ? CRON_FOLD_BOTH : s->clock.fold;
    struct str change = change_words(c, false, arena);
    struct str promise = promise_words(s, c, "comes up twice", "come up twice", arena);
    int64_t at_s = c->first - (fold == CRON_FOLD_SECOND ? c->after_s : c->before_s);
    return (struct preview_note){at_s * 1000, arena_printf(arena, "%.*s, so %.*s: %s",
                                                           STR_ARG(change), STR_ARG(promise),
                                                           (c->count == 1 ? one : many)[fold])};
}

/* The note about one change, when some promise is touched by it. */
static bool note_of(const struct schedule *s, const struct zone_span *before,
                    const struct zone_span *after, struct arena *arena,
                    struct preview_note *ret_note)
{
    bool gap = after->offset_s > before->offset_s;
    struct change c = {
        .at_s = after->begin_s,
        .before_s = before->offset_s,
        .after_s = after->offset_s,
        .from = after->begin_s + (gap ? before : after)->offset_s,
        .to = after->begin_s + (gap ? after : before)->offset_s,
    };
    c.count = cron_match_count(&s->cron, c.from, c.to);
    if (c.count == 0)
        return false;
    c.first = cron_match(&s->cron, c.from);
    *ret_note = gap ? gap_note(s, &c, arena) : fold_note(s, &c, arena);
    return true;
}

/* A run of the first pass lies before its change, so changes are looked at a little beyond the last
 * run. */
static void add_notes(const struct schedule *s, int64_t from_ms, int64_t to_ms, struct arena *arena,
                      struct preview *p)
{
    VEC(struct preview_note) notes = {0};
    int64_t from_s = from_ms / 1000 - 1;
    int64_t to_s = to_ms / 1000 + 2 * DAY_S;
    struct zone_span span = zone_span(s->clock.zone, from_s);
    while (span.end_s < to_s && notes.len < PREVIEW_NOTES_MAX) {
        struct zone_span next = zone_span(s->clock.zone, span.end_s);
        struct preview_note note;
        if (note_of(s, &span, &next, arena, &note) && note.at_ms > from_ms && note.at_ms <= to_ms)
            *VEC_PUSH(arena, &notes) = note;
        span = next;
    }
    p->notes = notes.items;
    p->note_count = notes.len;
}

void preview_make(const struct schedule *s, struct str zone_name, int64_t from_ms, size_t count,
                  struct arena *arena, struct preview *ret_preview)
{
    struct preview p = {.text = preview_words(s, zone_name, arena), .zone_name = zone_name};
    struct slot slot;
    p.runs = ARENA_ARRAY(arena, struct preview_run, count);
    bool more = count > 0 && schedule_after(s, from_ms, &slot);
    while (more) {
        int64_t at_ms = schedule_due_ms(s, &slot);
        p.runs[p.run_count++] = (struct preview_run){at_ms, offset_at(s, at_ms)};
        more = p.run_count < count && schedule_next(s, &slot, &slot);
    }
    if (s->kind == SCHEDULE_CRON && p.run_count > 0)
        add_notes(s, from_ms, slot.at_ms, arena, &p);
    *ret_preview = p;
}
