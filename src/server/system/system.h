/* system.h - the calls that tell about the servers themselves: which there are and what they lived
 * through, by which settings they go, and what is wrong with them.
 *
 * Each server answers for itself, all of them are asked, and the one that was asked puts the
 * answers side by side (merged.h). None of it goes through the turn, so it also answers while the
 * store does not; but for what queues could use, which are numbers of the board. */
#pragma once
#include "server/call/request.h"

request_step api_cluster, api_cluster_wake, api_cluster_mail; /* cluster_page.c */
request_step api_settings;                                    /* settings_page.c */
request_step api_diagnostics;                                 /* diagnostics.c */
request_step api_scaling;                                     /* scaling.c */

void api_cluster_merge(struct request *r, const struct json *docs, size_t count);
void api_settings_merge(struct request *r, const struct json *docs, size_t count);
void api_diagnostics_merge(struct request *r, const struct json *docs, size_t count);
void api_scaling_merge(struct request *r, const struct json *docs, size_t count);
