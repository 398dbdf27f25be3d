/* checkpoints.h - keeping what attempts leave for the next ones. Part of the tail thread.
 *
 * One thread takes them in and hands them out, and asks the record whose lease it is each time. So
 * a worker that has fetched a checkpoint can be sure that nobody changes it behind its back: its
 * own lease was committed before it asked, and whoever had the one before is refused from then
 * on. */
#pragma once
#include "server/output/followers.h"

/* Mail: a request with a checkpoint_call. */
void checkpoints_serve(struct parcel *parcel);
/* Deletes, a page at a time, what nobody needs any more: the checkpoints of executions that were
 * completed, and those of other ended ones when they are as old as output may get. One that may
 * still have a next attempt is kept, however old. */
void checkpoints_sweep(struct output_log *t);
