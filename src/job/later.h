/* later.h - the commands and calls that users were promised and that this version does not have.
 *
 * The change that adds one takes it out here, and tests say so. Fields that are still to come stand
 * beside the others, in job_fields.h. */
#pragma once
#include "base/later.h"

#define LATER_COMMANDS                                                                             \
    "api|archive|audit|backup|completion|context|diff|doctor|drain|edit|"                          \
    "groups|keys|login|move|progress|release|restore|roles|secrets|tasks|tls|wait|"                \
    "webhooks"

/* {} stands for one part. */
#define LATER_PATHS(P)                                                                             \
    P("/api/v1/executions/{}/complete")                                                            \
    P("/api/v1/executions/{}/fail")                                                                \
    P("/api/v1/executions/{}/progress")                                                            \
    P("/api/v1/logs/search")                                                                       \
    P("/api/v1/workers/{}/allocations")                                                            \
    P("/api/v1/tasks")                                                                             \
    P("/api/v1/tasks/{}")                                                                          \
    P("/api/v1/keys")                                                                              \
    P("/api/v1/keys/{}")                                                                           \
    P("/api/v1/secrets")                                                                           \
    P("/api/v1/secrets/{}")                                                                        \
    P("/api/v1/audit")                                                                             \
    P("/api/v1/archive")                                                                           \
    P("/api/v1/groups/{}")                                                                         \
    P("/api/v1/groups/{}/close")                                                                   \
    P("/api/v1/groups/{}/cancel")                                                                  \
    P("/api/v1/groups/{}/retry")                                                                   \
    P("/api/v1/teams/{}/usage")                                                                    \
    P("/api/v1/breakers/{}")
