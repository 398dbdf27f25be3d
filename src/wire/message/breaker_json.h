/* breaker_json.h - breakers as the API shows them. */
#pragma once
#include "job/command/command.h"
#include "wire/json/json.h"
#include "wire/json/problem.h"

void breaker_view_print(struct json_writer *w, const struct breaker_view *view);
/* That one opened, let a probe through, or closed. */
void breaker_event_print(struct json_writer *w, const struct event *event);

/* {"target": "handler:mail"}. RC_INVALID when it is something else. */
enum rc breaker_target_parse(const struct json *doc, struct arena *arena, struct str *ret_target,
                             struct field_errors *errors);
