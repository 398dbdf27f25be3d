/* later.h - the commands and calls that users were promised and that this version does not have.
 *
 * The change that adds one takes it out here, and tests say so. Fields that are still to come stand
 * beside the others, in job_fields.h. */
#pragma once
#include "base/later.h"

#define LATER_COMMANDS                                                                             \
    "api|archive|audit|backup|completion|context|diff|doctor|drain|edit|exec|"                     \
    "groups|keys|login|move|progress|release|report|restore|roles|secrets|tasks|tls|top|wait|"     \
    "webhooks"

/* Below /api/v1; {} stands for one part. */
#define LATER_PATHS(P)                                                                             \
    P("/executions/{}/complete")                                                                   \
    P("/executions/{}/fail")                                                                       \
    P("/executions/{}/progress")                                                                   \
    P("/logs/search")                                                                              \
    P("/workers/{}/allocations")                                                                   \
    P("/tasks")                                                                                    \
    P("/tasks/{}")                                                                                 \
    P("/keys")                                                                                     \
    P("/keys/{}")                                                                                  \
    P("/secrets")                                                                                  \
    P("/secrets/{}")                                                                               \
    P("/audit")                                                                                    \
    P("/archive")                                                                                  \
    P("/groups/{}")                                                                                \
    P("/groups/{}/close")                                                                          \
    P("/groups/{}/cancel")                                                                         \
    P("/groups/{}/retry")                                                                          \
    P("/teams/{}/usage")                                                                           \
    P("/breakers/{}")                                                                              \
    P("/scaling")
