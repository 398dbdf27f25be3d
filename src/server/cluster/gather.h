/* gather.h - answers that all servers give together.
 *
 * A question to one server is asked of all servers that are there, ourselves among them, and put
 * together (wire/json/merge_json.h). A server that does not answer in time is named in the answer,
 * under "missing"; the numbers are then those of the others. */
#pragma once
#include "server/call/request.h"

/* Asks all, and lets the route's handler give our own part. False: there is nobody else to ask, or
 * somebody else asks. */
bool gather_all(struct request *r);
/* For the server that has changed what belongs to all, and is to answer with it: asks the others
 * what target tells (GET), and adds only their numbers to our own answer, since what was decided
 * they hear later. */
void gather_numbers(struct request *r, struct str target, struct str own);
/* Our own part: instead of answering, when r->gathering is set. */
void gather_own(struct request *r, const struct http_answer *answer);
