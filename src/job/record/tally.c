#include "job/record/tally.h"

bool tally_counts(enum exec_state end)
{
    return end == EXEC_COMPLETED || end == EXEC_DEDUPLICATED || end == EXEC_FAILED ||
           end == EXEC_TIMEOUT;
}

bool tally_is_sla(enum tally_scope scope)
{
    return scope >= TALLY_SLA && scope <= TALLY_SLA_TEAM;
}

void tally_add(struct tally_sum *sum, const struct tally *row)
{
    if (tally_is_sla(row->scope)) {
        if (row->bucket < TALLY_SLA_KINDS) {
            sum->sla[row->bucket].count += row->count;
            sum->sla[row->bucket].sum_ms += row->sum_ms;
        }
        return;
    }
    if (row->end == EXEC_DEDUPLICATED) {
        sum->deduplicated += row->count;
        return;
    }
    if (row->end != EXEC_COMPLETED) {
        sum->failed += row->count;
        if (row->bucket < FAILURE_CLASSES)
            sum->by_class[row->bucket] += row->count;
        return;
    }
    sum->completed += row->count;
    sum->sum_ms += row->sum_ms;
    sketch_put(&sum->durations, row->bucket, row->count);
}
