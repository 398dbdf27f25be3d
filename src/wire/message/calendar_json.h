/* calendar_json.h - calendars as JSON documents.
 *
 *     {"policy": "hold", "timezone": "Europe/Berlin", "description": "office is closed",
 *      "dates": ["2026-12-25", "2026-12-24/2027-01-01"],
 *      "weekly": ["Sat 00:00-Mon 06:00"],
 *      "windows": [{"from": "2026-11-20T22:00", "to": "2026-11-21T04:00"}],
 *      "ical": "BEGIN:VCALENDAR ..."}
 *
 * All members may be missing; `job/time/calendar.h` says what the texts mean, `job/time/ical.h`
 * what is understood of an iCalendar file, `job/time/almanac.h` what a policy is (skip, unless it
 * is said). Without a timezone, here or as X-WR-TIMEZONE in the file, local times are those of the
 * job that asks. All problems are reported at once. */
#pragma once
#include "job/record/record.h"
#include "job/time/almanac.h"
#include "job/time/ical.h"
#include "wire/json/json.h"
#include "wire/json/problem.h"

enum { CALENDAR_DOCUMENT_BYTES_MAX = 2 << 20 }; /* as text: an .ics of 1 MiB with its escapes */

/* RC_INVALID when there is a problem; errors, which starts zeroed, says which. The facts have the
 * events of the iCalendar file that were left out. Lives in arena, and borrows its zones. */
enum rc calendar_parse(const struct json *doc, const struct ical_zones *zones, struct arena *arena,
                       struct almanac *ret_almanac, struct ical_facts *ret_facts,
                       struct field_errors *errors);
/* The same from text that was checked when it came; RC_INVALID says what is wrong with it now. */
enum rc calendar_read(struct str text, const struct ical_zones *zones, struct arena *arena,
                      struct almanac *ret_almanac, struct ical_facts *ret_facts, struct err *err);

/* FIELD_WORD, as in a path: `calendar` is the field that is complained about. */
enum rc calendar_name_check(struct str name, struct arena *arena, struct field_errors *errors);
/* One of them as the API shows it; with its document when rec has it, and with the warnings of
 * facts, which may be NULL, when there are any. */
void calendar_rec_print(struct json_writer *w, const struct calendar_rec *rec,
                        const struct ical_facts *facts);
