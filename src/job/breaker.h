/* breaker.h - when to leave a target alone, as values.
 *
 * A target is what jobs call, by the name that they give it, or their handler's. When half of what
 * was tried lately has failed, trying more only burns attempts: the breaker opens, and work for the
 * target waits. After a rest it is half open, which lets one execution through, the probe; that one
 * decides whether it closes or rests again. A probe that takes longer than the rest has another one
 * sent after it, and so on: the first of them that ends decides. The engine keeps breakers
 * (engine/ready/breaker.h); this file only counts. */
#pragma once
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* Kept by number: append only. */
enum breaker_state {
    BREAKER_CLOSED, /* all is well */
    BREAKER_OPEN,
    BREAKER_HALF_OPEN,
    BREAKER_STATES
};

struct str breaker_state_name(enum breaker_state state);

struct breaker_rule {
    int64_t window_ms;  /* failures within it count */
    uint32_t calls_min; /* fewer of them say nothing */
    uint32_t percent;   /* of them failed: it opens; 0: there are no breakers */
    int64_t rest_ms;    /* how long it stays open */
};

/* Calls that ended lately, in two halves: the older one is dropped whole when the newer one is
 * full. So it sees between half a window and a whole one, at the price of five numbers. */
struct breaker_window {
    int64_t since_ms; /* the newer half began; any clock that does not go back */
    uint32_t calls;
    uint32_t failures;
    uint32_t calls_before; /* in the older half */
    uint32_t failures_before;
};

void breaker_count(struct breaker_window *w, const struct breaker_rule *rule, int64_t now_ms,
                   bool failed);
/* So many have failed that it is time to stop. */
bool breaker_trips(const struct breaker_window *w, const struct breaker_rule *rule);
