#include "server/view/job_view.h"
#include "job/record/runs.h"
#include "server/view/job_warnings.h"
#include "wire/spec/spec_json.h"

static struct str words(const struct job_rec *job, struct arena *arena, struct spec *ret_spec)
{
    struct err ignored;
    *ret_spec = (struct spec){0};
    if (spec_read(job->spec, arena, ret_spec, &ignored) != RC_OK)
        return STR("");
    return spec_schedule_text(ret_spec, job->created_ms, arena);
}

/* ---- many at once */

/* Jobs of a page of which something is asked, and which of them they are. */
struct asked {
    uint64_t *ids;
    size_t *places;
    size_t count;
};

static struct asked asked_of(size_t most, struct arena *arena)
{
    return (struct asked){.ids = ARENA_ARRAY(arena, uint64_t, most + 1),
                          .places = ARENA_ARRAY(arena, size_t, most + 1)};
}

static void ask(struct asked *asked, uint64_t id, size_t place)
{
    asked->ids[asked->count] = id;
    asked->places[asked->count++] = place;
}

/* Nothing of a job that ran once and was not cancelled outlives its end. */
static bool may_have_runs(const struct job_rec *job, bool recurs)
{
    return recurs || (job->state != JOB_COMPLETED && job->state != JOB_FAILED);
}

static void view_unfinished(struct job_view *view, const struct job_rec *job, bool recurs,
                            const struct exec_page *runs)
{
    const struct exec_rec *next = runs_next(job->state, recurs, runs->execs, runs->count);
    view->current = view->last = runs_current(runs->execs, runs->count);
    view->phase = runs_phase(job->state, runs->execs, runs->count);
    if (!recurs && view->current == NULL) /* of one that runs once, also what lies ahead */
        view->current = view->last = runs_ahead(runs->execs, runs->count);
    if (next != NULL)
        view->next_run_ms = next->due_ms;
    const struct exec_rec *ahead = runs_ahead(runs->execs, runs->count);
    if (ahead != NULL && ahead->origin == ORIGIN_PING && job->state != JOB_PAUSED)
        view->ping_due_ms = ahead->due_ms;
}

static enum rc read_unfinished(struct reader *reader, const struct job_rec *jobs,
                               const struct asked *asked, const bool *recurs, struct arena *arena,
                               struct job_view *views, struct err *err)
{
    struct exec_page *runs = ARENA_ARRAY(arena, struct exec_page, asked->count + 1);
    if (asked->count == 0)
        return RC_OK;
    TRY(reader->ops->runs(reader, asked->ids, asked->count, true, RUNS_UNFINISHED_MAX, arena, runs,
                          err));
    for (size_t i = 0; i < asked->count; i++) {
        size_t place = asked->places[i];
        view_unfinished(&views[place], &jobs[place], recurs[place], &runs[i]);
    }
    return RC_OK;
}

/* The newest of those that are over. */
static enum rc read_ended(struct reader *reader, const struct asked *asked, struct arena *arena,
                          struct job_view *views, struct err *err)
{
    struct exec_page *runs = ARENA_ARRAY(arena, struct exec_page, asked->count + 1);
    if (asked->count == 0)
        return RC_OK;
    TRY(reader->ops->runs(reader, asked->ids, asked->count, false, 1, arena, runs, err));
    for (size_t i = 0; i < asked->count; i++)
        views[asked->places[i]].last = runs[i].count > 0 ? &runs[i].execs[0] : NULL;
    return RC_OK;
}

enum rc job_views_read_short(struct reader *reader, const struct job_rec *jobs, size_t count,
                             struct arena *arena, struct job_view *ret_views, struct err *err)
{
    struct asked unfinished = asked_of(count, arena);
    struct asked ended = asked_of(count, arena);
    bool *recurs = ARENA_ARRAY(arena, bool, count + 1);
    for (size_t i = 0; i < count; i++) {
        struct spec spec;
        ret_views[i] = (struct job_view){.schedule_text = words(&jobs[i], arena, &spec)};
        ret_views[i].phase = job_phase(jobs[i].state, EXEC_NONE, false);
        recurs[i] = spec_recurs(&spec);
        if (may_have_runs(&jobs[i], recurs[i]))
            ask(&unfinished, jobs[i].id, i);
    }
    TRY(read_unfinished(reader, jobs, &unfinished, recurs, arena, ret_views, err));
    for (size_t i = 0; i < count; i++) {
        if (recurs[i] && ret_views[i].last == NULL)
            ask(&ended, jobs[i].id, i);
    }
    return read_ended(reader, &ended, arena, ret_views, err);
}

enum rc job_outcomes_read(struct reader *reader, const struct job_rec *jobs, size_t count,
                          struct arena *arena, struct job_view *views, struct err *err)
{
    uint64_t *ids = ARENA_ARRAY(arena, uint64_t, count + 1);
    struct exec_page *runs = ARENA_ARRAY(arena, struct exec_page, count + 1);
    struct last_outcomes *outcomes = ARENA_ARRAY(arena, struct last_outcomes, count + 1);
    for (size_t i = 0; i < count; i++)
        ids[i] = jobs[i].id;
    if (count > 0)
        TRY(reader->ops->runs(reader, ids, count, false, LAST_OUTCOMES_MAX, arena, runs, err));
    for (size_t i = 0; i < count; i++) {
        outcomes[i] = (struct last_outcomes){runs[i].execs, runs[i].count};
        views[i].outcomes = &outcomes[i];
    }
    return RC_OK;
}

enum rc job_paces_read(struct reader *reader, const struct job_rec *jobs, size_t count,
                       int64_t now_ms, struct arena *arena, struct job_view *views, struct err *err)
{
    CLEANUP(arena_free) struct arena scratch = {0}; /* a kilobyte for each job */
    struct job_pace *paces = ARENA_ARRAY(arena, struct job_pace, count + 1);
    struct tally_sum *sums = ARENA_ARRAY(&scratch, struct tally_sum, count + 1);
    struct str *keys = ARENA_ARRAY(&scratch, struct str, count + 1);
    int64_t until = now_ms / TALLY_HOUR_MS + 1;
    for (size_t i = 0; i < count; i++) {
        char key[ID_TEXT_MAX];
        keys[i] = arena_str(&scratch, id_format(key, ID_JOB, jobs[i].id));
    }
    TRY(reader->ops->tally(reader, TALLY_JOB, keys, count, until - JOB_PACE_DAYS * 24, until, sums,
                           err));
    for (size_t i = 0; i < count; i++) {
        paces[i] =
            (struct job_pace){sums[i].completed > 0, sketch_quantile(&sums[i].durations, 500)};
        views[i].pace = &paces[i];
    }
    return RC_OK;
}

enum rc job_upstreams_read(struct reader *reader, const struct job_rec *jobs, size_t count,
                           struct arena *arena, struct job_view *views, struct err *err)
{
    struct job_waits *waits = ARENA_ARRAY(arena, struct job_waits, count + 1);
    for (size_t i = 0; i < count; i++) {
        struct dependency_rec *upstreams;
        TRY(reader->ops->dependencies(reader, jobs[i].id, SIDE_UPSTREAMS, SPEC_DEPENDS_MAX, arena,
                                      &upstreams, &waits[i].upstream_count, err));
        waits[i].upstreams = upstreams;
        views[i].waits = &waits[i];
    }
    return RC_OK;
}

enum rc exec_names_read(struct reader *reader, const struct exec_rec *execs, size_t count,
                        struct arena *arena, struct str *ret_names, struct err *err)
{
    uint64_t *ids = ARENA_ARRAY(arena, uint64_t, count + 1);
    struct job_rec *jobs = ARENA_ARRAY(arena, struct job_rec, count + 1);
    for (size_t i = 0; i < count; i++)
        ids[i] = execs[i].job_id;
    if (count > 0)
        TRY(reader->ops->heads(reader, ids, count, arena, jobs, err));
    for (size_t i = 0; i < count; i++)
        ret_names[i] = jobs[i].name;
    return RC_OK;
}

/* ---- one */

/* With all there is to it; not one that is gone by now, or whose time has not come. */
static enum rc read_last_run(struct reader *reader, uint64_t exec_id, struct arena *arena,
                             struct job_view *view, struct err *err)
{
    struct exec_rec *exec = ARENA_NEW(arena, struct exec_rec);
    struct last_run *run = ARENA_NEW(arena, struct last_run);
    struct attempt_rec *attempts;
    enum rc rc =
        reader->ops->exec(reader, exec_id, arena, exec, &attempts, &run->attempt_count, err);
    if (rc != RC_OK)
        return rc == RC_NOT_FOUND ? RC_OK : rc;
    run->exec = exec;
    run->attempts = attempts;
    view->last = exec;
    view->last_run = exec->state == EXEC_SCHEDULED ? NULL : run;
    return RC_OK;
}

enum rc job_view_read(struct reader *reader, const struct job_rec *job, struct arena *arena,
                      struct job_view *ret_view, struct err *err)
{
    struct spec spec;
    struct warning *warnings;
    TRY(job_views_read_short(reader, job, 1, arena, ret_view, err));
    (void)words(job, arena, &spec);
    TRY(job_warnings_read(reader, job->id, &spec, arena, &warnings, &ret_view->warning_count, err));
    ret_view->warnings = warnings;
    uint64_t last = ret_view->last != NULL ? ret_view->last->id
                    : spec_recurs(&spec)   ? 0
                                           : job->last_exec;
    return last == 0 ? RC_OK : read_last_run(reader, last, arena, ret_view, err);
}
