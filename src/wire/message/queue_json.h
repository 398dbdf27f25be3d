/* queue_json.h - queues as the API shows them, and what may be asked of one.
 *
 * Printing writes one JSON object as docs/protocol.md has it; the caller decides what stands around
 * it. Reading checks everything and reports all problems, each with its field. */
#pragma once
#include "job/command/command.h"
#include "wire/json/json.h"
#include "wire/json/problem.h"

void queue_view_print(struct json_writer *w, const struct queue_view *view);
/* A change of a queue, and its state since. */
void queue_event_print(struct json_writer *w, const struct event *event);

/* RC_INVALID when no job could name such a queue; the problem is one of the field `queue`. */
enum rc queue_name_check(struct str name, struct arena *arena, struct field_errors *errors);

/* {"concurrency": N} or {"concurrency": null}, into the wish. RC_INVALID when it is neither. */
enum rc queue_limit_parse(const struct json *doc, struct arena *arena, struct queue_wish *wish,
                          struct field_errors *errors);
