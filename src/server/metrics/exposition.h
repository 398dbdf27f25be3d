/* exposition.h - numbers as text: what a scrape answers.
 *
 * Two formats: Prometheus's text (version 0.0.4), and OpenMetrics 1.0 for those who take it. The
 * series and their values are the same in both. */
#pragma once
#include "base/buf.h"
#include "server/metrics/metrics.h"

#define TEXT_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define OPENMETRICS_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

struct exposition {
    struct str prefix; /* before names, with its underscore; may be empty */
    bool openmetrics;
};

/* Prints all rows of the copy, whose axes are complete. Says how many lines it takes, itself
 * included. */
void exposition_print(const struct exposition *x, struct metric_copy *copy, struct buf *out);
