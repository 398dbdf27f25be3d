/* ranking.h - the keys of a scope side by side, and which of them a report shows.
 *
 * Numbers of keys come row by row, in any order, and are added up. Then the keys that a report is
 * about are sorted by what it asks for, the first of them are shown, and all the rest is one sum,
 * so that a report has a size whatever there is. Lives in an arena, but for its index. */
#pragma once
#include "base/map.h"
#include "base/vec.h"
#include "job/record/tally.h"

enum report_kind { REPORT_FAILURES, REPORT_SUCCESSES, REPORT_SLA, REPORT_SLOWEST, REPORT_KINDS };

/* Keys that are told apart, about 40 MB of them; what comes under more is part of the others. */
enum { RANKING_KEYS_MAX = 200000 };

/* Numbers of one key, or of several. */
struct ranked {
    struct str key;
    struct str name; /* the caller's; empty: none */
    uint64_t completed;
    uint64_t deduplicated;
    uint64_t failed;
    uint64_t sum_ms; /* of those completed */
    struct tally_events sla[TALLY_SLA_KINDS];
    bool left_out; /* the caller's: it does not fit, and counts nowhere */
};

/* An order that a report can have: by what its keys weigh, the heaviest first. */
struct ranking_order {
    struct str word;
    unsigned kinds; /* bits by enum report_kind: reports that have it */
    double (*weight)(const struct ranked *line);
};

struct ranking {
    struct arena *arena;
    struct strmap index; /* owned */
    VEC(struct ranked *) lines;
    struct ranked *last;   /* the newest row went to */
    struct ranked beyond;  /* of no key, or of one beyond the limit */
    bool is_cut;           /* there were such keys */
    struct ranked **shown; /* after ranking_sort: those that are shown, the first one first, … */
    size_t shown_count;
    struct ranked others; /* … all others, … */
    size_t others_count;  /* … so many keys, … */
    struct ranked total;  /* … and both together */
};

struct ranking ranking_new(struct arena *arena);
void ranking_free(struct ranking *ranking); /* also usable as CLEANUP(ranking_free) */

/* A row of a scope, as a store hands it over: see tally_sink. The text is copied. */
void ranking_add(struct ranking *ranking, const struct tally *row);
/* Chooses at most `max` lines to show, and adds up the others. */
void ranking_sort(struct ranking *ranking, enum report_kind kind, const struct ranking_order *order,
                  size_t max);

/* NULL: the report has no order of that name. An empty word is the report's usual order. */
const struct ranking_order *ranking_order_find(enum report_kind kind, struct str word);
/* The words of all that it has: "failed, rate, total, key". */
struct str ranking_orders(enum report_kind kind, struct arena *arena);

/* Executions that ended, of reports other than that of SLAs; and those that had an SLA. */
uint64_t ranked_ended(const struct ranked *line);
uint64_t ranked_slas(const struct ranked *line);
