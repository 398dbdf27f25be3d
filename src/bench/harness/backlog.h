/* backlog.h - a server that has much to do later: what its memory and its file look like in life.
 *
 * Jobs for moments to come, none of which arrives while we measure. Half of them are due within
 * the hour (from twenty minutes on), so that the server holds them in memory; the other half is
 * spread over the year behind it, and stays in the store. */
#pragma once
#include "bench/harness/load.h"

/* Submits so many and waits until all are acknowledged. */
enum rc backlog_make(struct fixture *fixture, uint64_t jobs, struct load *ret_load,
                     struct err *err);
