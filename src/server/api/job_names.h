/* job_names.h - dependencies on jobs that are there already, by their names.
 *
 * A name in depends_on means a job of the same submission, and only when that has none of the name
 * one of the store. Those are looked up before the turn, which is told their ids. */
#pragma once
#include "server/call/request.h"

/* go_on, with the ids of the jobs that the submissions in r->cmd name; at once when they name none.
 * Names that nobody has stay as they are: the turn refuses them. */
void job_names_resolve(struct request *r, request_step *go_on);
