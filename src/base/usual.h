/* usual.h - how long runs take, learnt from those that have ended.
 *
 * The mean, of the newest hundred or so: each run counts as much as the others until there are
 * that many, and older ones fade from then on. A line of many runs takes as long as their mean
 * says, however different they are. And the newest thirty-two as they were: how different they
 * are says when single slots become free. Plain values: no clock, no allocation. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { USUAL_LENGTHS = 32 };

/* All zero: nothing is known. */
struct usual {
    float mean_ms;
    float longest_ms;
    uint32_t runs;               /* all there were */
    float newest[USUAL_LENGTHS]; /* the run with number n at n modulo so many */
};

void usual_learn(struct usual *u, int64_t took_ms);

static inline bool usual_is_known(const struct usual *u)
{
    return u->runs > 0;
}

/* Lengths that differ as the newest runs did and whose mean is the usual one, in an order in
 * which any few of them that follow one another are a fair choice. None is longer than the
 * longest so far. */
void usual_lengths(const struct usual *u, double ret_ms[static USUAL_LENGTHS]);

/* How much longer a run will take that has taken so long already. Of many runs, each should be
 * given another number: the answers then differ as the runs do. */
double usual_rest_ms(const double lengths_ms[static USUAL_LENGTHS], double took_ms, size_t number);
