#include "job/record/letter.h"

#include <assert.h>

struct str letter_reason_name(enum letter_reason reason)
{
    static const struct str names[LETTER_REASONS] = {
        [LETTER_NONE] = STR_INIT("none"),
        [LETTER_EXHAUSTED] = STR_INIT("exhausted"),
        [LETTER_PERMANENT] = STR_INIT("permanent"),
        [LETTER_NOT_RETRIED] = STR_INIT("not_retried"),
        [LETTER_QUARANTINED] = STR_INIT("quarantined"),
    };
    assert(reason < LETTER_REASONS);
    return names[reason];
}

static bool text_fits(struct str wanted, struct str text)
{
    return wanted.len == 0 || str_eq(wanted, text);
}

bool letter_fits(const struct letter_filter *f, const struct letter_rec *letter)
{
    return text_fits(f->queue, letter->queue) && text_fits(f->name, letter->name) &&
           (f->class == FAILURE_NONE || f->class == letter->class) &&
           (f->fingerprint == 0 || f->fingerprint == letter->fingerprint) &&
           (f->job_id == 0 || f->job_id == letter->job_id) &&
           letter->place.died_ms >= f->died_after_ms &&
           (f->died_before_ms == 0 || letter->place.died_ms < f->died_before_ms);
}

struct letter_place letter_filter_end(const struct letter_filter *f)
{
    if (f->died_before_ms == 0)
        return (struct letter_place){INT64_MAX, INT64_MAX};
    return (struct letter_place){.died_ms = f->died_before_ms};
}

bool letter_filter_is_span(const struct letter_filter *f)
{
    return f->queue.len + f->name.len == 0 && f->class == FAILURE_NONE && f->fingerprint == 0 &&
           f->job_id == 0;
}

bool letter_filter_is_empty(const struct letter_filter *f)
{
    return letter_filter_is_span(f) && f->died_after_ms == 0 && f->died_before_ms == 0;
}

int letter_order(struct letter_place a, struct letter_place b)
{
    if (a.died_ms != b.died_ms)
        return a.died_ms < b.died_ms ? -1 : 1;
    return a.exec_id < b.exec_id ? -1 : a.exec_id > b.exec_id;
}
