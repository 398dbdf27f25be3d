/* worker_versions.h - which versions of workers are connected to this server.
 *
 * A worker of belfry names its version with every call (User-Agent). It is looked at once for each
 * connection, when that has shown a worker's key, and the connection counts until it closes. So
 * polls cost nothing, a server that was started anew knows soon, and a worker that is gone does not
 * count. From any thread. */
#pragma once
#include "base/arena.h"

#include <stdatomic.h>

enum { WORKER_VERSIONS_MAX = 16, WORKER_VERSION_BYTES = 24 };

/* Workers that name no version, or too many different ones, have an empty text. */
struct worker_version {
    char text[WORKER_VERSION_BYTES];
    size_t connections;
};

struct worker_versions;

struct worker_versions *worker_versions_new(void);
void worker_versions_free(struct worker_versions *v); /* NULL is fine */

/* Where a connection with that header counts: "belfry/0.1.0". Anything else is no version. */
atomic_size_t *worker_versions_of(struct worker_versions *v, struct str user_agent);
/* Those with connections, in no order; says how many. */
size_t worker_versions_look(struct worker_versions *v, struct arena *arena,
                            struct worker_version **ret_versions);
