/* preview_json.h - the preview of a schedule as the API and the command line print it. */
#pragma once
#include "job/time/preview.h"
#include "wire/json/json.h"

/* {"schedule_text", "timezone", "next_runs": [TIME], "next_runs_local": [TIME with offset],
 * "notes": [{"at", "text"}]} */
/* Its members, within an object that is open. */
void preview_put(struct json_writer *w, const struct preview *preview);
void preview_print(struct json_writer *w, const struct preview *preview);
