/* takeovers.h - from whom partitions were taken, and why, told from the view in which they were
 * still another server's. */
#pragma once
#include "server/cluster/incidents.h"
#include "store/store.h"

/* The name of the server of that start: by its row, else as the start begins. */
struct str takeovers_server_name(const struct cluster_view *v, struct str start);
/* Notes the partitions in `taken` (bits), a takeover for each server that had some of them. Of
 * those in `deprived` the owner had fallen silent; `replaces` is the start that we stand in for. */
void takeovers_note(struct incidents *in, const struct cluster_view *v, uint64_t taken,
                    uint64_t deprived, struct str replaces);
