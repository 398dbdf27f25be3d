#include "server/turn/outage.h"
#include "base/log.h"

/* A disk on the brink takes a small commit and refuses a large one; that is one story to tell, not
 * one a second. */
static void say_begin(struct outage *o, int64_t now_us)
{
    o->said = now_us >= o->next_say_us;
    if (!o->said)
        return;
    o->next_say_us = now_us + OUTAGE_SAY_US;
    log_error("the store takes no commits; changes are refused until it does", "code",
              rc_name(o->why.rc), "error", o->why.text, NULL);
}

void outage_note(struct outage *o, const struct err *why, int64_t now_us)
{
    o->why = *why;
    o->next_try_us = now_us + OUTAGE_TRY_US;
    if (o->on)
        return;
    o->on = true;
    o->since_us = now_us;
    say_begin(o, now_us);
}

void outage_end(struct outage *o, int64_t now_us)
{
    if (!o->on)
        return;
    o->on = false;
    if (o->said)
        log_info("the store takes commits again", "after_ms",
                 LOG_NUMBER((now_us - o->since_us) / 1000), NULL);
}

bool outage_may_try(const struct outage *o, int64_t now_us)
{
    return !o->on || now_us >= o->next_try_us;
}

bool outage_has_grace(const struct outage *o, int64_t grace_ms, int64_t now_us)
{
    return o->on && now_us - o->since_us <= grace_ms * 1000;
}
