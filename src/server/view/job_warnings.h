/* job_warnings.h - what is odd about a job, found in its newest runs when somebody looks.
 *
 * Nothing is kept for it: the newest completed runs of a job are found by an index, and looking at
 * a hundred of them costs less than writing something down with each. */
#pragma once
#include "job/spec.h"
#include "job/warning.h"
#include "store/store.h"

/* In arena. None for a job that runs once. */
enum rc job_warnings_read(struct reader *reader, uint64_t job_id, const struct spec *spec,
                          struct arena *arena, struct warning **ret_warnings, size_t *ret_count,
                          struct err *err);
