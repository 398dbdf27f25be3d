/* run_order.h - what to run, between the lease and the start.
 *
 * A worker may be given leases faster than it can fork. A run that waits is a copy of its lease,
 * which goes away as soon as the command has started. */
#pragma once
#include "job/spec.h"
#include "worker/run/run.h"
#include "worker/run/run_files.h"

struct run_order {
    struct arena arena;
    struct poll_lease lease;
    struct spec spec;
    int64_t deadline_ms; /* boot clock: the spawner ends it by then; 0: never */
};

/* RC_CORRUPT when the lease's spec cannot be read, RC_INVALID when it is not for this worker. */
enum rc run_order_new(const struct poll_lease *lease, struct run_order **ret_order,
                      struct err *err);
void run_order_free(struct run_order *order);

/* Makes the files (their paths live in arena), with what the attempt before has left, and has the
 * spawner run the command as run_id. The reading ends of its standard output and error are the
 * caller's. Files that were made before it failed are the caller's to remove; files->dir is NULL
 * when there are none. */
enum rc run_order_launch(struct run_order *order, struct run_host *host, uint64_t run_id,
                         struct str checkpoint, struct run_files *ret_files, struct arena *arena,
                         int ret_taps[2], struct err *err);
