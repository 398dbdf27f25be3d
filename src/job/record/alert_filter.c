#include "job/record/alert_filter.h"
#include "base/buf.h"
#include "base/id.h"
#include "base/when.h"

#include <inttypes.h>

enum { HASHED_BYTES_MAX = 1 << 20 };

const char *const alert_filter_repeats[] = {"state", "kind", "level", NULL};

/* ---- reading */

static enum rc add_word(uint32_t *bits, const struct words *words, struct str value,
                        struct arena *arena, struct err *err)
{
    unsigned bit;
    if (!words_parse(words, value, &bit))
        return err_set(err, RC_INVALID, "must be one of %.*s", STR_ARG(words_text(words, arena)));
    *bits |= 1U << bit;
    return RC_OK;
}

static enum rc set_moment(int64_t *ret_ms, struct str value, struct err *err)
{
    TRY(when_parse(value, ret_ms, err));
    if (*ret_ms <= 0)
        return err_set(err, RC_INVALID, "must be later than 1970 began");
    return RC_OK;
}

static enum rc set_job(struct alert_filter *f, struct str value, struct err *err)
{
    TRY(id_parse(value, ID_JOB, &f->job_id, err));
    return f->job_id != 0 ? RC_OK : err_set(err, RC_INVALID, "nothing has the id zero");
}

static enum rc set_acked(struct alert_filter *f, struct str value, struct err *err)
{
    bool acked = str_eq(value, STR("true"));
    if (!acked && !str_eq(value, STR("false")))
        return err_set(err, RC_INVALID, "must be true or false");
    f->acked = acked ? ALERT_ACKED : ALERT_ACKED_NOT;
    return RC_OK;
}

enum rc alert_filter_set(struct alert_filter *f, struct str name, struct str value,
                         struct arena *arena, struct err *err)
{
    enum { STATE, KIND, LEVEL, KEY, QUEUE, JOB, AFTER, BEFORE, ACKED, PARAMS };
    static const char *const names[PARAMS] = {ALERT_FILTER_PARAMS};
    size_t at = 0;
    while (at < PARAMS && !str_eq(str_c(names[at]), name))
        at++;
    if (at == PARAMS)
        return err_set(err, RC_NOT_FOUND, "is not a parameter of this call");
    if (value.len == 0)
        return err_set(err, RC_INVALID, "must not be empty");
    if (!str_is_utf8(value))
        return err_set(err, RC_INVALID, "must be UTF-8");
    switch (at) {
    case STATE: return add_word(&f->states, &alert_state_words, value, arena, err);
    case KIND: return add_word(&f->kinds, &alert_kind_words, value, arena, err);
    case LEVEL: return add_word(&f->levels, &alert_level_words, value, arena, err);
    case KEY: f->key = arena_str(arena, value); return RC_OK;
    case QUEUE: f->queue = arena_str(arena, value); return RC_OK;
    case JOB: return set_job(f, value, err);
    case AFTER: return set_moment(&f->after_ms, value, err);
    case BEFORE: return set_moment(&f->before_ms, value, err);
    default: return set_acked(f, value, err);
    }
}

enum rc alert_filter_check(const struct alert_filter *f, struct str *ret_name, struct err *err)
{
    *ret_name = STR("created_before");
    if (f->before_ms != 0 && f->before_ms <= f->after_ms)
        return err_set(err, RC_INVALID, "must be later than created_after");
    *ret_name = STR("acknowledged");
    if (f->acked == ALERT_ACKED && f->states == 1U << ALERT_PENDING)
        return err_set(err, RC_INVALID,
                       "cannot be combined with state=pending: what is acknowledged is not to be "
                       "sent any more");
    return RC_OK;
}

uint64_t alert_filter_hash(const struct alert_filter *f)
{
    CLEANUP(buf_free) struct buf text = BUF(HASHED_BYTES_MAX);
    buf_printf(&text, "%" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRId64 " %" PRId64 " %d",
               f->states, f->kinds, f->levels, f->job_id, f->after_ms, f->before_ms, (int)f->acked);
    buf_printf(&text, " %zu %.*s %.*s", f->key.len, STR_ARG(f->key), STR_ARG(f->queue));
    return str_hash(buf_str(&text));
}

/* ---- asking */

static bool has_bit(uint32_t bits, unsigned value)
{
    return bits == 0 || (bits & (1U << value)) != 0;
}

bool alert_fits(const struct alert_filter *f, const struct alert_rec *alert)
{
    return has_bit(f->states, alert->state) && has_bit(f->kinds, alert->kind) &&
           has_bit(f->levels, alert->level) &&
           (f->key.len == 0 || alert_key_fits(f->key, alert->key)) &&
           (f->queue.len == 0 || str_eq(f->queue, alert->queue)) &&
           (f->job_id == 0 || f->job_id == alert->job_id) &&
           (f->after_ms == 0 || alert->at_ms >= f->after_ms) &&
           (f->before_ms == 0 || alert->at_ms < f->before_ms) &&
           (f->acked == ALERT_ACKED_ANY || (f->acked == ALERT_ACKED) == (alert->acked_ms != 0));
}
