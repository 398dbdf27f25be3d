/* alert_json.h - alerts as the API shows them, and as webhooks get them; silences, and what may be
 * asked about both. */
#pragma once
#include "job/command/command.h"
#include "wire/json/json.h"
#include "wire/json/problem.h"

void alert_print(struct json_writer *w, const struct alert_rec *alert);
/* The body of a webhook: {"type": "alert.job_failed", "timestamp": …, "data": the alert}. pages is
 * the address of the dashboard, without a slash at its end: data has the `url` of what the alert is
 * about there; empty: it has none. */
void alert_message_print(struct json_writer *w, const struct alert_rec *alert, struct str pages);
void silence_print(struct json_writer *w, const struct silence_rec *silence);

/* {"note": "…"}, or nothing. RC_INVALID when it is neither. */
enum rc alert_ack_parse(const struct json *doc, struct arena *arena, struct str *ret_note,
                        struct field_errors *errors);
/* {"key": "queue_old:*", "until": TIME or "for": "2h", "reason": "…"}. */
enum rc silence_parse(const struct json *doc, struct arena *arena, struct silence_wish *ret_wish,
                      struct field_errors *errors);
