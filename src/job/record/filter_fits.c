/* filter_fits.c - what a filter means: the states, the facts that it asks for, the predicate. */
#include "job/record/filter_inside.h"
#include "job/record/record.h"
#include "job/spec_scan.h"

bool filter_has_line(struct str lines, struct str wanted)
{
    while (lines.len > 0) {
        if (str_eq(str_cut(&lines, '\n'), wanted))
            return true;
    }
    return false;
}

uint32_t filter_states(const struct filter *f, enum filter_of of)
{
    uint32_t states = f->states == 0 ? UINT32_MAX : f->states;
    uint32_t phases = 0;
    for (unsigned i = 1; i < PHASES; i++)
        phases |= f->phases >> i & 1 ? phase_states((enum phase)i) : 0;
    bool has_ended = (f->finished.after_ms | f->finished.before_ms) != 0;
    if (of == FILTER_OF_JOBS && f->phases != 0)
        states &= phases;
    if (of == FILTER_OF_JOBS && has_ended)
        states &=
            FILTER_STATE(JOB_COMPLETED) | FILTER_STATE(JOB_FAILED) | FILTER_STATE(JOB_CANCELLED);
    if (of == FILTER_OF_EXECS && (f->class != FAILURE_NONE || f->fingerprint != 0))
        states &= ~FILTER_STATE(EXEC_COMPLETED);
    if (of == FILTER_OF_EXECS && has_ended)
        states &= FILTER_FINAL;
    if (of == FILTER_OF_EXECS && f->unfinished)
        states &= ~FILTER_FINAL;
    return states;
}

unsigned filter_needs(const struct filter *f, enum filter_of of)
{
    unsigned needs = 0;
    bool asks_job = f->name.len + f->pattern.len + f->team.len + f->owner.len + f->tags.len > 0;
    bool asks_attempt = f->class != FAILURE_NONE || f->fingerprint != 0 || f->worker_id != 0;
    if (of == FILTER_OF_JOBS)
        return f->phases != 0 ? FILTER_NEEDS_PHASE : 0;
    needs |= asks_job ? FILTER_NEEDS_JOB : 0;
    needs |= asks_attempt ? FILTER_NEEDS_ATTEMPT : 0;
    return needs;
}

struct filter filter_plain(const struct filter *f, enum filter_of of)
{
    struct filter plain = *f;
    if (of == FILTER_OF_JOBS) {
        plain.phases = 0;
        return plain;
    }
    plain.name = plain.pattern = plain.team = plain.owner = plain.tags = (struct str){0};
    plain.class = FAILURE_NONE;
    plain.fingerprint = plain.worker_id = 0;
    return plain;
}

static bool text_fits(struct str wanted, struct str text)
{
    return wanted.len == 0 || str_eq(wanted, text);
}

static bool span_fits(struct filter_span span, int64_t at_ms)
{
    if (span.after_ms == 0 && span.before_ms == 0)
        return true;
    return at_ms != 0 && at_ms >= span.after_ms && (span.before_ms == 0 || at_ms < span.before_ms);
}

static bool tags_fit(struct str wanted, struct str tags)
{
    while (wanted.len > 0) {
        if (!filter_has_line(tags, str_cut(&wanted, '\n')))
            return false;
    }
    return true;
}

/* Filters that jobs and executions share. */
static bool job_fits(const struct filter *f, const struct job_rec *job)
{
    return text_fits(f->name, job->name) && text_fits(f->team, job->team) &&
           text_fits(f->owner, job->owner) && tags_fit(f->tags, job->tags) &&
           (f->pattern.len == 0 || filter_name_fits(f->pattern, job->name));
}

static bool document_fits(const struct filter *f, struct str spec)
{
    for (size_t i = 0; i < f->document_count; i++) {
        struct str value = spec_scan(spec, f->document[i].key);
        if (!str_eq(value.len > 0 ? value : STR("null"), f->document[i].value))
            return false;
    }
    for (size_t i = 0; i < FILTER_COLUMNS; i++) {
        struct str wanted = filter_column_text(f, i);
        if (filter_column_is_indexed(i) && wanted.len > 0 &&
            !str_eq(wanted, spec_scan(spec, job_fields[filter_columns[i].field].key)))
            return false;
    }
    return true;
}

static bool attempt_fits(const struct filter *f, const struct filter_facts *facts)
{
    static const struct attempt_rec none = {0};
    const struct attempt_rec *newest = facts->attempt != NULL ? facts->attempt : &none;
    uint64_t worker_id = facts->exec->worker_id != 0 ? facts->exec->worker_id : newest->worker_id;
    bool failed = facts->exec->state != EXEC_COMPLETED;
    return (f->worker_id == 0 || f->worker_id == worker_id) &&
           (f->class == FAILURE_NONE || (failed && f->class == newest->class)) &&
           (f->fingerprint == 0 || (failed && f->fingerprint == newest->fingerprint));
}

static bool exec_fits(const struct filter *f, const struct filter_facts *facts)
{
    const struct exec_rec *exec = facts->exec;
    unsigned needs = filter_needs(f, FILTER_OF_EXECS);
    return filter_has_state(f, exec->state) && !(f->unfinished && exec_is_final(exec->state)) &&
           filter_has_queue(f, exec->queue) && (f->job_id == 0 || f->job_id == exec->job_id) &&
           span_fits(f->created, exec->created_ms) && span_fits(f->started, exec->started_ms) &&
           span_fits(f->finished, exec->finished_ms) &&
           ((needs & FILTER_NEEDS_ATTEMPT) == 0 || attempt_fits(f, facts)) &&
           ((needs & FILTER_NEEDS_JOB) == 0 || (facts->job != NULL && job_fits(f, facts->job)));
}

bool filter_fits(const struct filter *f, const struct filter_facts *facts)
{
    if (facts->exec != NULL)
        return exec_fits(f, facts);
    const struct job_rec *job = facts->job;
    return filter_has_state(f, job->state) && filter_has_queue(f, job->queue) &&
           span_fits(f->created, job->created_ms) && span_fits(f->finished, job->finished_ms) &&
           job_fits(f, job) && document_fits(f, job->spec) &&
           (f->phases == 0 || (f->phases >> facts->phase & 1) != 0);
}
