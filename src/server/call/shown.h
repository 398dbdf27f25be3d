/* shown.h - the parameter `fields`: which members of a job or an execution an answer shows. */
#pragma once
#include "server/call/request.h"
#include "wire/message/record_json.h"

/* For last_outcomes, p50_duration_ms and depends_on something is read for each job of a page. */
enum { SHOWN_READS_PAGE_MAX = 100 };

/* Into r->shown; of a list behind the reading of its `limit`. Problems are added to errors. */
void shown_read(struct request *r, const struct shown_members *members, bool is_list,
                struct field_errors *errors);
/* Of a call about one thing that has no other parameter; false: answered. */
bool shown_read_alone(struct request *r, const struct shown_members *members);

/* Of the object that was printed into r->body from there on (a comma may stand in front of it),
 * keeps the members that are asked for. */
void shown_keep(struct request *r, size_t from);
