/* merged_events.h - what happens in the whole cluster, as one stream.
 *
 * Every server has a ring of what happened in its partitions. This follows all of them, ourselves
 * among them, and writes what comes as it comes: in the order of each server, in no order between
 * two. An event's id names the place in every server's ring ("NODE=NUMBER;NODE=NUMBER"), so a
 * reader who comes back, to whichever server, misses nothing and sees nothing twice; a server that
 * was started anew, or has forgotten where the reader was, sends a reset, as one alone does. So
 * does one that joins. */
#pragma once
#include "server/call/request.h"

/* True when r is taken care of; false when there is nobody else, or somebody else asks. */
bool events_all(struct request *r);
