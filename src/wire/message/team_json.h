/* team_json.h - teams as the API shows them, and what may be asked of one. As queue_json.h is for
 * queues. */
#pragma once
#include "job/command/command.h"
#include "wire/json/json.h"
#include "wire/json/problem.h"

void team_view_print(struct json_writer *w, const struct team_view *view);

/* RC_INVALID when no job could name such a team; the problem is one of the field `team`. */
enum rc team_name_check(struct str name, struct arena *arena, struct field_errors *errors);

/* {"concurrency": N} or {"concurrency": null}, into the wish. RC_INVALID when it is neither. */
enum rc team_limit_parse(const struct json *doc, struct arena *arena, struct team_wish *wish,
                         struct field_errors *errors);
