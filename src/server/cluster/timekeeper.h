/* timekeeper.h - reads the clocks, and makes the process go by what follows from them
 * (server/cluster/timing.h).
 *
 * One thread of a process keeps its time: alone with its store the one that decides, in a cluster
 * the member's. All others ask (loop/clock.h). */
#pragma once
#include "loop/clock.h"
#include "server/cluster/timing.h"
#include "server/config/options.h"

struct timekeeper {
    struct timing timing;
    int64_t told_skew_ms;
};

struct time_rules timekeeper_rules(const struct server_options *options);

/* See timing.h: the calls of the same names. */
void timekeeper_begin(struct timekeeper *t, const struct time_rules *rules, int64_t newest_ms);
/* Takes a sample when a second has passed. True: a step was accepted. */
bool timekeeper_look(struct timekeeper *t);
void timekeeper_enter(struct timekeeper *t, const struct time_rules *rules, int64_t newest_ms,
                      const struct time_answer *answer, const struct time_company *company);
bool timekeeper_sample(struct timekeeper *t, const struct time_answer *answer,
                       const struct time_company *company);
bool timekeeper_back(struct timekeeper *t, const struct time_answer *answer,
                     const struct time_company *company);
