/* server.h - `belfry server`: everything that a server is, from start to end. */
#pragma once
#include "server/config/options.h"

/* Runs until SIGTERM or SIGINT (drains, exit code 0; the second one leaves at once) or until it
 * cannot go on (exit code 1, and a log line that says why). */
int server_main(const struct server_options *options);
