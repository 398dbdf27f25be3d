/* calendar_json.h - calendars as JSON documents.
 *
 *     {"dates": ["2026-12-25", "2026-12-24/2027-01-01"],
 *      "weekly": ["Sat 00:00-Mon 06:00"],
 *      "windows": [{"from": "2026-11-20T22:00", "to": "2026-11-21T04:00"}]}
 *
 * All members may be missing; `job/calendar.h` says what the texts mean. All problems are reported at
 * once. */
#pragma once
#include "job/calendar.h"
#include "wire/json.h"
#include "wire/problem.h"

/* RC_INVALID when there is a problem; errors, which starts zeroed, says which. Lives in arena. */
enum rc calendar_parse(const struct json *doc, struct arena *arena, struct calendar *ret_calendar,
                       struct field_errors *errors);
