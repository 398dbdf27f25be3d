/* stats.h - what a server under test says about itself: the part of GET /stats that we need. */
#pragma once
#include "job/record/record.h"

struct stats {
    uint64_t workers;
    uint64_t completed; /* executions */
    struct store_cost cost;
};

/* Whether GET /cluster says that so many servers have equal shares of all there is. */
bool stats_are_even(struct str body, uint32_t servers);

enum rc stats_parse(struct str body, struct stats *ret_stats, struct err *err);
