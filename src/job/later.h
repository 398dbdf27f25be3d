/* later.h - the commands and calls that users were promised and that this version does not have.
 *
 * Whoever adds one takes it out here; one that is there and stands here does no harm. Fields that
 * are still to come stand beside the others, in job_fields.h. */
#pragma once
#include "base/later.h"

#define LATER_COMMANDS                                                                             \
    "api|archive|audit|backup|completion|context|dashboard|diff|doctor|drain|edit|events|exec|"    \
    "groups|history|keys|login|move|plan|progress|release|report|restore|roles|rollback|secrets|"  \
    "series|stats|tasks|tls|top|wait|webhooks"

/* Below /api/v1; {} stands for one part. */
#define LATER_PATHS(P)                                                                             \
    P("/jobs/actions")                                                                             \
    P("/executions/actions")                                                                       \
    P("/operations/{}/cancel")                                                                     \
    P("/jobs/{}/versions")                                                                         \
    P("/jobs/{}/rollback")                                                                         \
    P("/jobs/{}/slots")                                                                            \
    P("/jobs/{}/graph")                                                                            \
    P("/jobs/{}/logs")                                                                             \
    P("/executions/{}/complete")                                                                   \
    P("/executions/{}/fail")                                                                       \
    P("/executions/{}/progress")                                                                   \
    P("/logs/search")                                                                              \
    P("/workers/{}/allocations")                                                                   \
    P("/workers/{}/cordon")                                                                        \
    P("/workers/{}/uncordon")                                                                      \
    P("/tasks")                                                                                    \
    P("/tasks/{}")                                                                                 \
    P("/keys")                                                                                     \
    P("/keys/{}")                                                                                  \
    P("/secrets")                                                                                  \
    P("/secrets/{}")                                                                               \
    P("/audit")                                                                                    \
    P("/archive")                                                                                  \
    P("/settings")                                                                                 \
    P("/diagnostics")                                                                              \
    P("/schedule/forecast")                                                                        \
    P("/series")                                                                                   \
    P("/stats/blockers")                                                                           \
    P("/sessions")                                                                                 \
    P("/sessions/codes")                                                                           \
    P("/groups/{}")                                                                                \
    P("/groups/{}/close")                                                                          \
    P("/groups/{}/cancel")                                                                         \
    P("/groups/{}/retry")                                                                          \
    P("/teams/{}/usage")                                                                           \
    P("/breakers/{}")                                                                              \
    P("/scaling")
