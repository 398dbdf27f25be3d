/* rest.h - whether to try a server that did not answer.
 *
 * Where many want the same of a server that may be dead, one of them tries it at a time, and
 * after each failure only when a pause is over that doubles up to REST_MAX_MS. Plain values;
 * times are of a clock that only runs. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum { REST_MIN_MS = 1000, REST_MAX_MS = 30000 };

struct rest {
    uint64_t pause_ms;  /* after the newest try that failed; 0: the server was heard since */
    uint64_t missed_ms; /* when that was, … */
    uint64_t again_ms;  /* … and when to try again */
};

/* True for a server that was missed: the caller tries it, and nobody else does before either of the
 * two below is said of it, for some ten seconds. */
bool rest_may_try(struct rest *rest, uint64_t now_ms);
void rest_heard(struct rest *rest);
/* It was not reached, or a stream of its broke off: each of those that a server had is missed
 * when it dies, which counts once. */
void rest_missed(struct rest *rest, uint64_t now_ms);
