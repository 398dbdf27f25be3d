/* alert_json.h - alerts as the API shows them, and as webhooks get them. */
#pragma once
#include "job/record/alert.h"
#include "wire/json/json.h"

void alert_print(struct json_writer *w, const struct alert_rec *alert);
/* The body of a webhook: {"type": "alert.job_failed", "timestamp": …, "data": the alert}. */
void alert_message_print(struct json_writer *w, const struct alert_rec *alert);
