/* resolve.h - names, and parts of ids, where a path has the id of a job or an execution, where the
 * parameters `job` and `execution` of a GET have one, and where a body has.
 *
 * Any server resolves them, since all read the same store, and the request goes on with the id in
 * its path: to the owner of that id, if that is another one. So a name that is given to another job
 * meanwhile changes nothing about what this request means. What has the form of an id is one and is
 * not looked up, which most requests are. */
#pragma once
#include "base/vec.h"
#include "server/call/request.h"

/* Its route has an id in its path, or it has the parameter, and no id stands there. Cheap. */
bool resolve_is_needed(const struct request *r);
/* Then: go_on, with ids in r->id, the path and the query, unless a problem was answered. */
void resolve_path(struct request *r, request_step *go_on);

/* On a query thread: the id that a text stands for. RC_NOT_FOUND; RC_INVALID, with r->errors, when
 * it may be one of several. Text is as it was meant, not encoded. */
enum rc resolve_job(struct request *r, struct reader *reader, struct str text, const char *field,
                    uint64_t *ret_id);

/* A text of a JSON body that has the place of an id and is none. */
struct resolve_text {
    struct str raw; /* where it stands in the body */
    struct str text;
    bool is_exec;
    const char *field; /* that a problem blames */
};

struct resolve_texts {
    VEC(struct resolve_text) all; /* in the order of the body */
};

/* Adds value when it is a text and no id; what else it may be is for its handler to judge. */
void resolve_add(struct request *r, struct resolve_texts *texts, const struct json *value,
                 bool is_exec, const char *field);
/* Its member `key`, if doc is an object and has one. */
void resolve_add_member(struct request *r, struct resolve_texts *texts, const struct json *doc,
                        struct str key, bool is_exec, const char *field);
/* go_on, with the ids in the body instead, unless a problem was answered; at once without any. */
void resolve_body(struct request *r, const struct resolve_texts *texts, request_step *go_on);
