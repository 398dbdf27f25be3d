/* operation_filter.c - what operations act upon: their filters, and what those let through. */
#include "base/id.h"
#include "job/record/operation.h"
#include "job/record/record.h"

#include <assert.h>

/* A filter that restricts nothing. An empty text is none: it is what is left of a lost one. */
#define EVERY_ONE "all=true\n"

/* ---- states */

#define JOBS_ACTIVE FILTER_STATE(JOB_ACTIVE)
#define JOBS_PAUSED FILTER_STATE(JOB_PAUSED)
#define EXECS_DEAD (FILTER_STATE(EXEC_FAILED) | FILTER_STATE(EXEC_TIMEOUT))

/* States in which there is something to do: what is stopping was cancelled before. A paused job is
 * triggered in vain, and that is told. */
static uint32_t states_of(enum operation_kind kind)
{
    switch (kind) {
    case OPERATION_PAUSE_JOBS: return JOBS_ACTIVE;
    case OPERATION_RESUME_JOBS: return JOBS_PAUSED;
    case OPERATION_CANCEL_JOBS:
    case OPERATION_TRIGGER_JOBS: return JOBS_ACTIVE | JOBS_PAUSED;
    case OPERATION_CANCEL_EXECS: return ~(FILTER_FINAL | FILTER_STATE(EXEC_STOPPING));
    case OPERATION_RETRY_EXECS: return EXECS_DEAD;
    default: return UINT32_MAX;
    }
}

bool operation_takes_state(const struct operation_rec *op, uint32_t state)
{
    return (states_of(op->kind) >> state & 1) != 0 && filter_has_state(&op->meant, state);
}

/* ---- filters */

/* An asterisk alone stands for any name, also for none. */
static bool is_any_name(struct str pattern)
{
    while (pattern.len > 0 && pattern.ptr[0] == '*')
        pattern = str_from(pattern, 1);
    return pattern.len == 0;
}

bool operation_filter_is_empty(const struct filter *filter)
{
    struct filter f = *filter;
    if (is_any_name(f.pattern))
        f.pattern = (struct str){0};
    return filter_is_empty(&f);
}

static bool is_bounded(struct filter_span span)
{
    return span.after_ms != 0 || span.before_ms != 0;
}

/* A parameter that lists take and an action does not, and why: err continues its name. */
struct refusal {
    const char *name;
    bool given;
    const char *why;
};

static enum rc refuse_one_of(const struct refusal *refusals, size_t count, struct str *ret_name,
                             struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        *ret_name = str_c(refusals[i].name);
        if (refusals[i].given)
            return err_set(err, RC_INVALID, "%s", refusals[i].why);
    }
    return RC_OK;
}

static enum rc check_of_jobs(const struct filter *f, struct str *ret_name, struct err *err)
{
    const char *over = "does not go with actions: nothing is done to jobs that are over";
    const struct refusal refusals[] = {
        {"status", (f->states & ~(JOBS_ACTIVE | JOBS_PAUSED)) != 0,
         "must be active or paused: nothing is done to jobs that are over"},
        {"finished_after", f->finished.after_ms != 0, over},
        {"finished_before", f->finished.before_ms != 0, over},
        {"phase", f->phases != 0,
         "does not go with actions: it changes with every run while an action goes on; act upon "
         "executions with that status, or upon jobs by their status"},
    };
    return refuse_one_of(refusals, COUNT_OF(refusals), ret_name, err);
}

static enum rc check_of_cancel(const struct filter *f, struct str *ret_name, struct err *err)
{
    const char *over = "does not go with cancel: what is over cannot be cancelled";
    const char *attempt = "does not go with cancel: it is told by attempts that have ended, which "
                          "an action does not look at";
    const struct refusal refusals[] = {
        {"status", (f->states & FILTER_FINAL) != 0,
         "must be one that is not over: nothing else can be cancelled"},
        {"finished_after", f->finished.after_ms != 0, over},
        {"finished_before", f->finished.before_ms != 0, over},
        {"class", f->class != FAILURE_NONE, attempt},
        {"fingerprint", f->fingerprint != 0, attempt},
        {"worker", f->worker_id != 0 && (f->states == 0 || (f->states & ~FILTER_RUNNING) != 0),
         "goes with cancel only beside \"status\": \"running\": whose others were last is told by "
         "attempts that have ended, which an action does not look at"},
    };
    return refuse_one_of(refusals, COUNT_OF(refusals), ret_name, err);
}

static enum rc check_of_retry(const struct filter *f, struct str *ret_name, struct err *err)
{
    const char *unknown = "does not go with retry: dead letters do not know it";
    const struct refusal refusals[] = {
        {"status", (f->states & ~EXECS_DEAD) != 0,
         "must be failed or timeout: dead letters are run again"},
        {"tag", f->tags.len > 0, unknown},
        {"team", f->team.len > 0, unknown},
        {"worker", f->worker_id != 0, unknown},
        {is_bounded(f->started) && f->started.after_ms == 0 ? "started_before" : "started_after",
         is_bounded(f->started), unknown},
    };
    return refuse_one_of(refusals, COUNT_OF(refusals), ret_name, err);
}

static enum rc check_of_kind(enum operation_kind kind, const struct filter *f, struct str *ret_name,
                             struct err *err)
{
    if (operation_is_about_jobs(kind))
        return check_of_jobs(f, ret_name, err);
    return kind == OPERATION_CANCEL_EXECS ? check_of_cancel(f, ret_name, err)
                                          : check_of_retry(f, ret_name, err);
}

enum rc operation_filter_check(enum operation_kind kind, const struct filter *filter,
                               struct str *ret_name, struct err *err)
{
    TRY(check_of_kind(kind, filter, ret_name, err));
    return filter_check(filter, operation_filter_of(kind), ret_name, err);
}

/* Of a filter whose text would be too long an empty text, which none is. */
struct str operation_filter_text(enum operation_kind kind, const struct filter *filter,
                                 struct arena *arena)
{
    CLEANUP(buf_free) struct buf out = BUF(OPERATION_FILTER_BYTES_MAX);
    filter_print(filter, operation_filter_of(kind), &out);
    if (out.overflow)
        return (struct str){0};
    return out.len == 0 ? STR(EVERY_ONE) : arena_str(arena, buf_str(&out));
}

/* A text that was cut short would let more through than was meant. */
static enum rc read_which(struct operation_rec *op, struct arena *arena, struct err *err)
{
    struct str name;
    if (str_eq(op->which, STR(EVERY_ONE)))
        return RC_OK;
    if (op->which.len == 0 || op->which.ptr[op->which.len - 1] != '\n')
        return err_set(err, RC_INVALID, "its filter was cut short, or is of another version");
    TRY(filter_read(op->which, operation_filter_of(op->kind), arena, &op->meant, err));
    if (check_of_kind(op->kind, &op->meant, &name, err) == RC_OK)
        return RC_OK;
    struct err why = *err;
    return err_set(err, RC_INVALID, "%.*s of its filter %s", STR_ARG(name), why.text);
}

enum rc operation_read(struct operation_rec *op, struct arena *arena, struct err *err)
{
    operation_renew(op, arena);
    op->meant = (struct filter){0};
    bool has_which = op->kind > OPERATION_OLD_LAST && !op->by_ids;
    return has_which ? read_which(op, arena, err) : RC_OK;
}

bool operation_needs_document(const struct operation_rec *op)
{
    bool needs = op->meant.document_count > 0;
    for (size_t i = 0; i < FILTER_COLUMNS; i++)
        needs |= filter_column_is_indexed(i) && filter_column_text(&op->meant, i).len > 0;
    return needs;
}

/* ---- what fits */

/* A job is met once for each execution of it that is not over. What is done to its state is done
 * once all the same; a run is asked for by the one that is ahead alone. */
static bool is_the_one(const struct operation_rec *op, const struct exec_rec *exec)
{
    bool ahead = exec->origin == ORIGIN_ONCE || exec->origin == ORIGIN_PING ||
                 (exec->origin == ORIGIN_SLOT && exec->state == EXEC_SCHEDULED);
    return op->kind != OPERATION_TRIGGER_JOBS || (ahead && exec->id < op->id);
}

bool operation_takes(const struct operation_rec *op, const struct job_rec *job,
                     const struct exec_rec *exec)
{
    bool jobs = operation_is_about_jobs(op->kind);
    const struct filter_facts facts = {.job = job, .exec = jobs ? NULL : exec};
    return (jobs ? job->id : exec->id) < op->id && is_the_one(op, exec) &&
           operation_takes_state(op, jobs ? (uint32_t)job->state : (uint32_t)exec->state) &&
           filter_fits(&op->meant, &facts);
}

/* The part of its execution, job and newest attempt that a letter has. */
static bool letter_is_meant(const struct operation_rec *op, const struct letter_rec *letter)
{
    const struct exec_rec exec = {.id = letter->place.exec_id,
                                  .job_id = letter->job_id,
                                  .state = letter->state,
                                  .queue = letter->queue,
                                  .created_ms = id_time_ms(letter->place.exec_id),
                                  .finished_ms = letter->place.died_ms};
    const struct job_rec job = {.id = letter->job_id, .name = letter->name, .owner = letter->owner};
    const struct attempt_rec attempt = {.class = letter->class, .fingerprint = letter->fingerprint};
    return filter_fits(&op->meant,
                       &(struct filter_facts){.exec = &exec, .job = &job, .attempt = &attempt});
}

bool operation_takes_letter(const struct operation_rec *op, const struct letter_rec *letter)
{
    return op->kind == OPERATION_RETRY_EXECS ? letter_is_meant(op, letter)
                                             : letter_fits(&op->filter, letter);
}

struct letter_filter operation_letters(const struct operation_rec *op)
{
    const struct filter *f = &op->meant;
    bool one_queue = str_index(f->queue, '\n') == f->queue.len;
    if (op->kind != OPERATION_RETRY_EXECS)
        return op->filter;
    return (struct letter_filter){.queue = one_queue ? f->queue : (struct str){0},
                                  .name = f->name,
                                  .class = f->class,
                                  .fingerprint = f->fingerprint,
                                  .job_id = f->job_id,
                                  .died_after_ms = f->finished.after_ms,
                                  .died_before_ms = f->finished.before_ms};
}
