/* job_edit.h - what a document would make of a job that is there.
 *
 * A merge patch is applied to the job as it was submitted, a whole document takes its place; either
 * way the result is read and checked as a submission is. Differences are found by comparing the
 * canonical prints of both, so that a document which says the same in other words changes
 * nothing. */
#pragma once
#include "server/call/request.h"

struct job_edit {
    struct spec spec;
    struct submission item;
    struct str differs; /* names of fields, ", " between them; empty: it says what the job is */
    bool replan;        /* the schedule is among the changes */
};

enum job_edit_kind {
    EDIT_WHOLE, /* a document, which is all that the job is to be */
    EDIT_PATCH,
    EDIT_BACK, /* a version that the job had */
};

/* The dependencies of the job, as its store has them. */
struct job_upstreams {
    const struct dependency_rec *items; /* by the id waited for, growing */
    const struct str *names;            /* of these jobs; empty: it has none, or is forgotten */
    size_t count;
};

/* A definition and its payload as one document. */
struct str job_edit_text(struct request *r, struct str spec, struct str payload);

/* RC_INVALID fills errors, any other failure err. A patch may be silent about what the job waits
 * for, and so may a version that the job had; a document may not. */
enum rc job_edit_make(struct request *r, const struct job_rec *job,
                      const struct job_upstreams *upstreams, const struct json *doc,
                      enum job_edit_kind kind, struct job_edit *ret_edit,
                      struct field_errors *errors, struct err *err);
