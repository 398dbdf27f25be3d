/* batch.h - many jobs, submitted a thousand at a time.
 *
 * Jobs come one by one, each with the number of the line it stands for, and go out in calls of
 * /jobs/batch that a server takes whole. The result of each is told in the same order. A refused
 * job costs the others nothing. */
#pragma once
#include "cli/cli.h"
#include "wire/json/json.h"

struct batch;

/* Called with the answer of the server for the job of that line; err is NULL when it was taken,
 * else says why it was not, with the fields to blame in cli->details. */
typedef void batch_sink(void *arg, size_t line, const struct json *result, const struct err *err);

struct batch *batch_new(struct cli *cli, batch_sink *sink, void *arg);
void batch_free(struct batch **batch); /* for CLEANUP(batch_free) */

/* document must be JSON. Sends what came before when there is no room for more. */
enum rc batch_add(struct batch *batch, size_t line, struct str document, struct err *err);
/* Sends what is left. */
enum rc batch_send(struct batch *batch, struct err *err);
