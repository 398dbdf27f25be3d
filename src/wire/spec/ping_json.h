/* ping_json.h - the body of POST /jobs/{id}/ping: how a run went that took place elsewhere. */
#pragma once
#include "job/ping.h"
#include "wire/json/fields.h"

/* {"outcome": "success"|"failure", "started_at", "exit_code", "output"}. Output beyond
 * PING_OUTPUT_MAX loses its beginning. */
enum rc ping_parse(const struct json *doc, struct arena *arena, struct ping *ret_ping,
                   struct field_errors *errors);
