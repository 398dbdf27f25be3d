/* resolve.h - names, and parts of ids, where a path has the id of a job or an execution, and where
 * the parameter `job` of a GET has the id of a job.
 *
 * Any server resolves them, since all read the same store, and the request goes on with the id in
 * its path: to the owner of that id, if that is another one. So a name that is given to another job
 * meanwhile changes nothing about what this request means. What has the form of an id is one and is
 * not looked up, which most requests are. */
#pragma once
#include "server/call/request.h"

/* Its route has an id in its path, or it has the parameter, and no id stands there. Cheap. */
bool resolve_is_needed(const struct request *r);
/* Then: go_on, with ids in r->id, the path and the query, unless a problem was answered. */
void resolve_path(struct request *r, request_step *go_on);

/* On a query thread: the id that a text stands for. RC_NOT_FOUND; RC_INVALID, with r->errors, when
 * it may be one of several. Text is as it was meant, not encoded. */
enum rc resolve_job(struct request *r, struct reader *reader, struct str text, const char *field,
                    uint64_t *ret_id);
