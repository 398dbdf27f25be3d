#include "wire/message/report_json.h"

/* A part of a whole, to five digits; null when nothing ended. */
static void put_rate(struct json_writer *w, uint64_t part, uint64_t whole)
{
    json_key(w, "rate");
    if (whole == 0) {
        json_null(w);
        return;
    }
    uint64_t per_100000 = part * 100000 / whole;
    json_double(w, (double)per_100000 / 100000);
}

/* The work was done, whichever attempt did it. */
static uint64_t succeeded(const struct tally_sum *sum)
{
    return sum->completed + sum->deduplicated;
}

static uint64_t total(const struct tally_sum *sum)
{
    return succeeded(sum) + sum->failed;
}

void report_print_head(struct json_writer *w, const struct report_range *range,
                       const struct tally_sum *sum)
{
    json_put_when(w, "from", range->from_ms);
    json_put_when(w, "until", range->until_ms);
    json_put_int(w, "total", (int64_t)total(sum));
}

void report_print_failures(struct json_writer *w, const struct tally_sum *sum)
{
    json_put_int(w, "failed", (int64_t)sum->failed);
    put_rate(w, sum->failed, total(sum));
    json_key(w, "by_class");
    json_open(w);
    for (size_t i = FAILURE_NONE + 1; i < FAILURE_CLASSES; i++) {
        if (sum->by_class[i] > 0)
            json_put_int(w, failure_name((enum failure_class)i).ptr, (int64_t)sum->by_class[i]);
    }
    json_close(w);
}

static void put_quantile(struct json_writer *w, const char *key, const struct tally_sum *sum,
                         uint32_t permille)
{
    if (sum->completed == 0)
        json_put_null(w, key);
    else
        json_put_int(w, key, (int64_t)sketch_quantile(&sum->durations, permille));
}

void report_print_successes(struct json_writer *w, const struct tally_sum *sum)
{
    json_put_int(w, "succeeded", (int64_t)succeeded(sum));
    json_put_int(w, "deduplicated", (int64_t)sum->deduplicated);
    put_rate(w, succeeded(sum), total(sum));
    if (sum->completed == 0)
        json_put_null(w, "average_duration_ms");
    else
        json_put_int(w, "average_duration_ms", (int64_t)(sum->sum_ms / sum->completed));
    put_quantile(w, "p50_duration_ms", sum, 500);
    put_quantile(w, "p95_duration_ms", sum, 950);
    put_quantile(w, "p99_duration_ms", sum, 990);
}

void report_print_rate(struct json_writer *w, struct str key, const struct tally_sum *sum)
{
    json_open(w);
    json_put_str(w, "key", key);
    json_put_int(w, "succeeded", (int64_t)succeeded(sum));
    json_put_int(w, "deduplicated", (int64_t)sum->deduplicated);
    json_put_int(w, "failed", (int64_t)sum->failed);
    put_rate(w, succeeded(sum), total(sum));
    json_close(w);
}
