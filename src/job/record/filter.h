/* filter.h - which jobs or executions are meant: by a list, and by what is done to many at once.
 *
 * One struct for both, made from parameters by name and text (`filter_set`, then `filter_check`),
 * and one pure predicate (`filter_fits`) that says what it means. Stores and whoever walks records
 * in memory may find candidates as they like; what they give is what the predicate lets through. It
 * looks at facts, of which some cost a read of their own: `filter_needs` says which of them this
 * filter asks for, and the others may be left out.
 *
 *     struct filter f = {0};
 *     TRY(filter_set(&f, FILTER_OF_EXECS, STR("status"), STR("failed"), arena, err));
 *     TRY(filter_check(&f, FILTER_OF_EXECS, &name, err));
 *     if (filter_fits(&f, &(struct filter_facts){.exec = exec, .job = job, .attempt = newest}))
 *
 * A filter outlives its request as text (`filter_print`, `filter_read`), and is told from others by
 * a hash. Its own texts are borrowed from the arena that it was read into. */
#pragma once
#include "base/arena.h"
#include "job/failure.h"
#include "job/filter_params.h"
#include "job/job_fields.h"
#include "job/phase.h"
#include "job/state.h"

struct attempt_rec;
struct exec_rec;
struct job_rec;

/* The things that a filter is about. */
enum filter_of { FILTER_OF_JOBS = 1, FILTER_OF_EXECS = 2, FILTER_OF_BOTH = 3 };

/* ---- the parameters */

enum filter_repeats { FILTER_ONCE, FILTER_OR, FILTER_AND };

struct filter_param {
    struct str name;
    enum filter_of of;
    enum filter_repeats repeats;
};
extern const struct filter_param filter_params[FILTER_PARAM_COUNT];
/* How often a parameter of a filter of these may be given, fields of jobs too; false when there is
 * no such one. */
bool filter_repeats(enum filter_of of, struct str name, enum filter_repeats *ret_repeats);

/* ---- the struct */

/* A value that the document of a job must have. */
struct filter_value {
    struct str key;
    struct str value; /* as the canonical text has it; "null": no such member */
};

/* A line of JOB_FIELDS becomes code where lists can be restricted by it, and it has a column. */
#define FILTER_IN_NO(code)
#define FILTER_IN_JOBS(code) code
#define FILTER_IN_BOTH(code) code
#define FILTER_KEPT_COLUMN(code) code
#define FILTER_KEPT_INDEXED(code) code
#define FILTER_KEPT_DOCUMENT(code)
#define FILTER_KEPT_APART(code)
#define FILTER_MEMBER(name, kind, bounds, printed, kept, filter, ...)                              \
    FILTER_IN_##filter(FILTER_KEPT_##kept(struct str name;))

enum { FILTER_TAGS_MAX = 100 };

/* From the first moment on, and before the second one; 0: not restricted on that side. What has no
 * such moment (it has not started) is in none that is restricted. */
struct filter_span {
    int64_t after_ms;
    int64_t before_ms;
};

/* Empty or zero members do not restrict. */
struct filter {
    uint32_t states; /* a bit for each enum job_state or exec_state (FILTER_STATE) */
    uint32_t phases; /* jobs only: a bit for each enum phase */
    /* name is the whole name; queue may be several of them, a line each. Fields that are INDEXED
     * are as the canonical text has them. Of executions these are their job's, but for queue. */
    JOB_FIELDS(FILTER_MEMBER)
    struct str pattern; /* of a name, in which * stands for any text, and \* for itself */
    struct str owner;
    struct str tags;                     /* "key:value", a line each: all of them */
    const struct filter_value *document; /* jobs only */
    size_t document_count;
    uint64_t job_id; /* executions only, as are all members up to `unfinished` */
    uint64_t worker_id;
    enum failure_class class;
    uint64_t fingerprint;
    struct filter_span started;
    bool unfinished; /* those that are not over */
    struct filter_span created;
    struct filter_span finished;
};

#define FILTER_STATE(state) (UINT32_C(1) << (state))
/* Users see one state where there are two: a filter by running also means stopping. */
#define FILTER_RUNNING (FILTER_STATE(EXEC_RUNNING) | FILTER_STATE(EXEC_STOPPING))
/* Of executions that are over. */
#define FILTER_FINAL                                                                               \
    (FILTER_STATE(EXEC_COMPLETED) | FILTER_STATE(EXEC_FAILED) | FILTER_STATE(EXEC_TIMEOUT) |       \
     FILTER_STATE(EXEC_CANCELLED) | FILTER_STATE(EXEC_SKIPPED) | FILTER_STATE(EXEC_EXPIRED) |      \
     FILTER_STATE(EXEC_DEDUPLICATED))
static inline bool filter_has_state(const struct filter *f, unsigned state)
{
    return f->states == 0 || (f->states >> state & 1) != 0;
}

/* Any of its queues, or none is named. */
bool filter_has_queue(const struct filter *f, struct str queue);

/* The members that are made from JOB_FIELDS, for code that goes over all. */
#define FILTER_COUNT(name, kind, bounds, printed, kept, filter, ...)                               \
    FILTER_IN_##filter(FILTER_KEPT_##kept(+1))
enum { FILTER_COLUMNS = JOB_FIELDS(FILTER_COUNT) };
struct filter_column {
    enum job_field_id field;
    size_t offset;
};
extern const struct filter_column filter_columns[FILTER_COLUMNS];
struct str filter_column_text(const struct filter *filter, size_t column);
void filter_column_set(struct filter *filter, size_t column, struct str text);
/* Whether it is kept INDEXED. */
bool filter_column_is_indexed(size_t column);

/* ---- making one */

/* Adds one parameter. RC_NOT_FOUND: a filter of these has none of that name (or it is a field that
 * has no column, whose value `spec_filter_value` makes); RC_INVALID: err continues a sentence that
 * begins with the name. Text is copied. */
enum rc filter_set(struct filter *f, enum filter_of of, struct str name, struct str value,
                   struct arena *arena, struct err *err);
/* Adds a value of the document, which is borrowed. */
void filter_add_document(struct filter *f, struct str key, struct str value, struct arena *arena);
/* After the last parameter: what cannot be combined, what nothing can fit, and spans that end
 * before they begin. *ret_name is the parameter that err continues. */
enum rc filter_check(const struct filter *f, enum filter_of of, struct str *ret_name,
                     struct err *err);

/* Lines of "name=value" in an order of its own; the same text for filters that mean the same. */
void filter_print(const struct filter *f, enum filter_of of, struct buf *out);
/* The text that was printed. */
enum rc filter_read(struct str text, enum filter_of of, struct arena *arena,
                    struct filter *ret_filter, struct err *err);
/* The same for filters with the same text, in every version that prints it so. */
uint64_t filter_hash(const struct filter *f, enum filter_of of);
bool filter_is_empty(const struct filter *f);

/* ---- asking it */

/* Facts that are not in the record itself. */
enum filter_need {
    FILTER_NEEDS_JOB = 1,     /* of an execution: its job, without its document */
    FILTER_NEEDS_ATTEMPT = 2, /* of an execution: its newest attempt that has ended */
    FILTER_NEEDS_PHASE = 4,   /* of a job */
};
unsigned filter_needs(const struct filter *f, enum filter_of of);
/* The part of it that the record itself tells. */
struct filter filter_plain(const struct filter *f, enum filter_of of);
/* A bit for each state that those which fit may have, all that the filter says taken together. */
uint32_t filter_states(const struct filter *f, enum filter_of of);

struct filter_facts {
    const struct exec_rec *exec;       /* NULL: it is a job that is asked about */
    const struct job_rec *job;         /* that one, with its document; of an execution: see above */
    const struct attempt_rec *attempt; /* NULL: none has ended, or nobody needs to know */
    enum phase phase;
};
bool filter_fits(const struct filter *f, const struct filter_facts *facts);
/* For those who look at columns alone: the parts of it. */
bool filter_name_fits(struct str pattern, struct str name);

/* The part of a pattern in front of its first *, when nothing stands behind that: names that begin
 * with it are those that fit. False: it has another form. The text is the arena's. */
bool filter_prefix(const struct filter *f, struct arena *arena, struct str *ret_prefix);
/* The smallest text behind all that begin so, by bytes; empty: there is none. */
struct str filter_prefix_end(struct str prefix, struct arena *arena);
