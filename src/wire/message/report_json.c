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

static void put_classes(struct json_writer *w, const struct tally_sum *sum)
{
    json_key(w, "by_class");
    json_open(w);
    for (size_t i = FAILURE_NONE + 1; i < FAILURE_CLASSES; i++) {
        if (sum->by_class[i] > 0)
            json_put_int(w, failure_name((enum failure_class)i).ptr, (int64_t)sum->by_class[i]);
    }
    json_close(w);
}

void report_print_failures(struct json_writer *w, const struct tally_sum *sum)
{
    json_put_int(w, "failed", (int64_t)sum->failed);
    put_rate(w, sum->failed, total(sum));
    put_classes(w, sum);
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

/* ---- many side by side */

struct str report_kind_name(enum report_kind kind)
{
    static const struct str names[REPORT_KINDS] = {
        [REPORT_FAILURES] = STR_INIT("failures"),
        [REPORT_SUCCESSES] = STR_INIT("successes"),
        [REPORT_SLA] = STR_INIT("sla"),
        [REPORT_SLOWEST] = STR_INIT("slowest"),
    };
    return names[kind];
}

static void put_average(struct json_writer *w, const char *key, uint64_t sum, uint64_t count)
{
    if (count == 0)
        json_put_null(w, key);
    else
        json_put_int(w, key, (int64_t)(sum / count));
}

static void print_sla_numbers(struct json_writer *w, const struct ranked *line)
{
    const struct tally_events *sla = line->sla;
    uint64_t all = ranked_slas(line);
    uint64_t marked = sla[TALLY_SLA_EXCEEDED].count + sla[TALLY_SLA_EXPECTED].count;
    json_put_int(w, "total", (int64_t)all);
    json_put_int(w, "met", (int64_t)sla[TALLY_SLA_MET].count);
    json_put_int(w, "violated", (int64_t)sla[TALLY_SLA_BROKEN].count);
    put_rate(w, sla[TALLY_SLA_MET].count, all);
    put_average(w, "average_duration_ms", sla[TALLY_SLA_MET].sum_ms + sla[TALLY_SLA_BROKEN].sum_ms,
                all);
    json_put_int(w, "overruns", (int64_t)sla[TALLY_SLA_OVERRUN].count);
    put_average(w, "average_overrun_ms", sla[TALLY_SLA_OVERRUN].sum_ms,
                sla[TALLY_SLA_OVERRUN].count);
    const struct tally_events *over = &sla[TALLY_SLA_PERCENT];
    uint64_t hundredths = over->count > 0 ? over->sum_ms / over->count : 0;
    json_key(w, "average_violation_percentage");
    if (over->count == 0)
        json_null(w);
    else
        json_double(w, (double)hundredths / 100);
    json_put_int(w, "exceeded_expected", (int64_t)sla[TALLY_SLA_EXCEEDED].count);
    json_put_int(w, "uncounted_expected", marked < all ? (int64_t)(all - marked) : 0);
}

void report_print_numbers(struct json_writer *w, enum report_kind kind, const struct ranked *line)
{
    uint64_t ended = ranked_ended(line);
    uint64_t good = line->completed + line->deduplicated;
    switch (kind) {
    case REPORT_SLA: print_sla_numbers(w, line); break;
    case REPORT_SLOWEST:
        json_put_int(w, "completed", (int64_t)line->completed);
        put_average(w, "average_duration_ms", line->sum_ms, line->completed);
        json_put_int(w, "total_duration_ms", (int64_t)line->sum_ms);
        break;
    case REPORT_SUCCESSES:
        json_put_int(w, "total", (int64_t)ended);
        json_put_int(w, "succeeded", (int64_t)good);
        json_put_int(w, "deduplicated", (int64_t)line->deduplicated);
        put_rate(w, good, ended);
        put_average(w, "average_duration_ms", line->sum_ms, line->completed);
        break;
    default:
        json_put_int(w, "total", (int64_t)ended);
        json_put_int(w, "failed", (int64_t)line->failed);
        put_rate(w, line->failed, ended);
    }
}

/* The class of most failures; null when none is known. */
static void print_top_class(struct json_writer *w, const struct tally_sum *sum)
{
    size_t top = FAILURE_NONE;
    for (size_t i = FAILURE_NONE + 1; i < FAILURE_CLASSES; i++) {
        if (sum->by_class[i] > (top == FAILURE_NONE ? 0 : sum->by_class[top]))
            top = i;
    }
    if (top == FAILURE_NONE)
        json_put_null(w, "top_class");
    else
        json_put_str(w, "top_class", failure_name((enum failure_class)top));
}

void report_print_details(struct json_writer *w, enum report_kind kind, const struct tally_sum *sum)
{
    if (kind == REPORT_FAILURES) {
        print_top_class(w, sum);
        put_classes(w, sum);
    } else if (kind != REPORT_SLA) {
        put_quantile(w, "p50_duration_ms", sum, 500);
        put_quantile(w, "p95_duration_ms", sum, 950);
        put_quantile(w, "max_duration_ms", sum, 1000);
    }
}
