/* explain_json.h - why something does not run, as the API tells it.
 *
 * {"job_id", "execution_id": ID|null, "status", "summary", "blockers": [{"kind", "text", "until":
 * TIME|null, …}], "warnings": […]}; what else a blocker has depends on its kind, see
 * docs/protocol.md. */
#pragma once
#include "job/command/command.h"
#include "job/warning.h"
#include "wire/json/json.h"

/* The members estimated_start_time and estimated_start_reason; one of them is null. */
void estimate_put(struct json_writer *w, const struct estimate *estimate);
void blocker_print(struct json_writer *w, const struct blocker *blocker);
/* The reply of a command that was to explain something, and could. */
void explanation_print(struct json_writer *w, const struct command *cmd,
                       const struct warning *warnings, size_t warning_count);
