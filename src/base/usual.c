#include "base/usual.h"

#include <stdlib.h>

enum {
    RUNS_MAX = 128 /* of the mean, which is then right within a tenth where runs are as different as
                       * usual; more would be slow to follow a change */
};

void usual_learn(struct usual *u, int64_t took_ms)
{
    float ms = took_ms > 0 ? (float)took_ms : 1;
    u->newest[u->runs % USUAL_LENGTHS] = ms;
    u->runs += u->runs < UINT32_MAX;
    u->mean_ms += (ms - u->mean_ms) / (float)(u->runs < RUNS_MAX ? u->runs : RUNS_MAX);
    u->longest_ms = ms > u->longest_ms ? ms : u->longest_ms;
}

static int by_length(const void *a, const void *b)
{
    float left = *(const float *)a;
    float right = *(const float *)b;
    return (left > right) - (left < right);
}

/* A number below thirty-two with its five bits reversed: those of neighbours are far apart. */
static size_t far_apart(size_t i)
{
    return (i & 1) << 4 | (i & 2) << 2 | (i & 4) | (i & 8) >> 2 | (i & 16) >> 4;
}

void usual_lengths(const struct usual *u, double ret_ms[static USUAL_LENGTHS])
{
    float sorted[USUAL_LENGTHS];
    size_t count = u->runs < USUAL_LENGTHS ? u->runs : USUAL_LENGTHS;
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sorted[i] = u->newest[i];
    qsort(sorted, count, sizeof *sorted, by_length);
    for (size_t i = 0; i < USUAL_LENGTHS; i++)
        sum += ret_ms[i] = sorted[far_apart(i) * count / USUAL_LENGTHS];
    for (size_t i = 0; i < USUAL_LENGTHS; i++) {
        ret_ms[i] *= u->mean_ms * USUAL_LENGTHS / sum;
        ret_ms[i] = ret_ms[i] > u->longest_ms ? u->longest_ms : ret_ms[i];
    }
}

double usual_rest_ms(const double lengths_ms[static USUAL_LENGTHS], double took_ms, size_t number)
{
    double longer[USUAL_LENGTHS];
    double mean = 0;
    size_t count = 0;
    for (size_t i = 0; i < USUAL_LENGTHS; i++) {
        mean += lengths_ms[i] / USUAL_LENGTHS;
        if (lengths_ms[i] > took_ms)
            longer[count++] = lengths_ms[i];
    }
    if (count > 0)
        return longer[number % count] - took_ms;
    return mean / 4; /* it has taken longer than all others: nothing is known but that it ends */
}
