/* measure.h - the things `belfry bench` can measure.
 *
 * Each measurement has a fixture of its own, so none inherits the backlog or the file of another.
 * Afterwards the server is ended in order and the rows of its database are counted: figures are
 * reported only when the database holds exactly what was acknowledged and run. */
#pragma once
#include "bench/harness/fixture.h"
#include "bench/harness/report.h"

struct measure;

struct measure_options {
    const char *tmp_root; /* as of struct fixture_options */
    const char *store;
    bool here;
    uint32_t servers;
    const char *durability;
    uint32_t slots;   /* of the worker */
    uint32_t clients; /* of single submissions */
    uint32_t batch;   /* jobs per request, where jobs are submitted in batches */
    bool keys;        /* life, submit: each job has an idempotency key of its own */
    uint64_t backlog; /* jobs for later that the server has got before it is measured */
    uint64_t jobs;    /* when to stop sending; 0: as many as the measurement likes */
    int64_t seconds;  /* whichever comes first; 0: likewise */
};

/* NULL when nothing is called so. */
const struct measure *measure_find(struct str name);
/* The one at this place, NULL behind the last of those that are measured unless others are asked
 * for. */
const struct measure *measure_at(size_t place);

/* RC_CORRUPT when the database disagrees with what was acknowledged. */
enum rc measure_run(const struct measure *m, const struct measure_options *options,
                    struct report *report, struct err *err);
