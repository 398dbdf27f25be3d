/* report_json.h - how things went, as the API shows it. */
#pragma once
#include "job/record/ranking.h"
#include "wire/json/json.h"

/* From one hour up to, without, another; wall clock. */
struct report_range {
    int64_t from_ms;
    int64_t until_ms;
};

/* The members that both reports begin with; the object is the caller's. */
void report_print_head(struct json_writer *w, const struct report_range *range,
                       const struct tally_sum *sum);
/* failed, rate, by_class. */
void report_print_failures(struct json_writer *w, const struct tally_sum *sum);
/* One key of many: {"key", "succeeded", "deduplicated", "failed", "rate"}. */
void report_print_rate(struct json_writer *w, struct str key, const struct tally_sum *sum);
/* succeeded, and how many of those were deduplicated; rate, average and quantiles of those that
 * ran. */
void report_print_successes(struct json_writer *w, const struct tally_sum *sum);

/* What a report of many says of a key, of several keys, or of an earlier time. */
void report_print_numbers(struct json_writer *w, enum report_kind kind, const struct ranked *line);
/* What only a single key has: classes of failures, quantiles. */
void report_print_details(struct json_writer *w, enum report_kind kind,
                          const struct tally_sum *sum);
/* "failures", "successes", "sla", "slowest". */
struct str report_kind_name(enum report_kind kind);
