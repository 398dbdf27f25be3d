/* list_model.h - what lists should show, by the model. */
#pragma once
#include "model.h"

struct ids {
    uint64_t *items;
    size_t len;
};

int ids_newest_first(const void *a, const void *b);

/* Empty is any. */
bool list_fits(struct str wanted, struct str text);
bool list_has_tag(struct str tags, struct str tag);
/* As far as the records themselves tell, and one tag. */
bool list_job_fits(const struct job_rec *job, const struct filter *f);
bool list_exec_fits(const struct exec_rec *exec, const struct filter *f);
/* Newest first. */
struct ids list_expected_jobs(struct world *w, const struct model *m, const struct filter *f);
struct ids list_expected_execs(struct world *w, const struct model *m, const struct filter *f);

/* By states (that many there are), and whatever else the records tell. */
struct filter list_random_filter(struct rng *rng, uint64_t states);
