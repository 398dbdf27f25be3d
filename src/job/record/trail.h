/* trail.h - the record that every state change leaves: when, what, by whom, why.
 *
 * A trail is text, one line per step, tab-separated: milliseconds, event, new state, actor, reason.
 * Stores append to it and never look inside; it is kept in the row of the execution (or job) that
 * it is about, so a step costs no row of its own. Control characters in actor and reason become
 * spaces, so a line is always a line. */
#pragma once
#include "base/buf.h"

struct trail_step {
    int64_t at_ms;
    struct str event;
    struct str state;
    struct str actor;  /* "key:admin", "worker:wrk_…", "server" */
    struct str reason; /* a sentence; may be empty */
};

enum { TRAIL_REASON_MAX = 400 }; /* longer reasons are cut */

void trail_add(struct buf *trail, const struct trail_step *step);
/* Takes the next step off *rest; false at the end. A line that does not parse is skipped. */
bool trail_next(struct str *rest, struct trail_step *ret_step);
