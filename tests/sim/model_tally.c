/* model_tally.c - what ended is counted for the reports, in that very turn, and nothing else is. */
#include "model.h"
#include "world.h"

#include <inttypes.h>

static uint64_t counted(const struct delta *delta, enum tally_scope scope, enum exec_state end)
{
    uint64_t count = 0;
    for (size_t i = 0; i < delta->tally_count; i++) {
        if (delta->tallies[i].scope == scope && delta->tallies[i].end == end)
            count += delta->tallies[i].count;
    }
    return count;
}

void tally_check(struct world *w, const struct delta *delta)
{
    static const enum exec_state ends[] = {EXEC_COMPLETED, EXEC_FAILED, EXEC_TIMEOUT,
                                           EXEC_DEDUPLICATED};
    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        uint64_t ended = 0;
        for (size_t j = 0; j < delta->exec_count; j++)
            ended += delta->execs[j].exec.state == ends[i];
        PROMISE(w,
                counted(delta, TALLY_ALL, ends[i]) == ended &&
                    counted(delta, TALLY_QUEUE, ends[i]) == ended,
                "%" PRIu64 " ended as %.*s, and reports count otherwise", ended,
                STR_ARG(exec_state_name(ends[i])));
    }
}
