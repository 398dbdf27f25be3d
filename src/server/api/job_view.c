#include "server/api/job_view.h"
#include "server/api/job_warnings.h"
#include "wire/message/spec_json.h"

/* Of a job with `overlap: queue` the newest ones only wait; the one that runs is behind them. */
enum { UNFINISHED_MAX = SPEC_OVERLAP_QUEUE_MAX + 16 };

static enum rc read_execs(struct reader *reader, const struct job_rec *job, bool unfinished,
                          size_t limit, struct arena *arena, struct exec_page *ret_page,
                          struct err *err)
{
    struct filter filter = {.job_id = job->id, .unfinished = unfinished};
    return reader->ops->execs(reader, &filter, &(struct page){.limit = limit}, arena, ret_page,
                              err);
}

static const struct exec_rec *newest_begun(const struct exec_page *page)
{
    for (size_t i = 0; i < page->count; i++) {
        if (page->execs[i].state != EXEC_SCHEDULED)
            return &page->execs[i];
    }
    return NULL;
}

/* The newest one under way; one that waits for it only when there is none. */
static const struct exec_rec *find_current(const struct exec_page *page)
{
    for (size_t i = 0; i < page->count; i++) {
        if (page->execs[i].state != EXEC_SCHEDULED && page->execs[i].state != EXEC_BLOCKED)
            return &page->execs[i];
    }
    return newest_begun(page);
}

static int64_t due_ahead_ms(const struct exec_page *page)
{
    for (size_t i = 0; i < page->count; i++) {
        if (page->execs[i].state == EXEC_SCHEDULED)
            return page->execs[i].due_ms;
    }
    return 0;
}

static enum rc view_recurring(struct reader *reader, const struct job_rec *job, struct arena *arena,
                              struct job_view *view, struct err *err)
{
    struct exec_page unfinished;
    struct exec_page newest;
    TRY(read_execs(reader, job, true, UNFINISHED_MAX, arena, &unfinished, err));
    view->current = view->last = find_current(&unfinished);
    view->next_run_ms = due_ahead_ms(&unfinished);
    if (view->last != NULL)
        return RC_OK;
    TRY(read_execs(reader, job, false, 2, arena, &newest, err)); /* one of them is ahead */
    view->last = newest_begun(&newest);
    return RC_OK;
}

/* Its newest execution is the only one that can be unfinished. */
static enum rc view_once(struct reader *reader, const struct job_rec *job, struct arena *arena,
                         struct job_view *view, struct err *err)
{
    struct exec_rec *last = ARENA_NEW(arena, struct exec_rec);
    struct attempt_rec *attempts;
    size_t count;
    enum rc rc = reader->ops->exec(reader, job->last_exec, arena, last, &attempts, &count, err);
    if (rc != RC_OK)
        return rc == RC_NOT_FOUND ? RC_OK : rc;
    view->last = last;
    if (!exec_is_final(last->state)) {
        view->current = last;
        view->next_run_ms = last->due_ms;
    }
    return RC_OK;
}

static enum rc view_runs(struct reader *reader, const struct job_rec *job, bool recurs,
                         struct arena *arena, struct job_view *view, struct err *err)
{
    enum rc rc = recurs ? view_recurring(reader, job, arena, view, err)
                        : view_once(reader, job, arena, view, err);
    if (job->state == JOB_PAUSED)
        view->next_run_ms = 0; /* nobody knows until it is resumed */
    return rc;
}

static struct str words(const struct job_rec *job, struct arena *arena, struct spec *ret_spec)
{
    struct err ignored;
    *ret_spec = (struct spec){0};
    if (spec_read(job->spec, arena, ret_spec, &ignored) != RC_OK)
        return STR("");
    return spec_schedule_text(ret_spec, job->created_ms, arena);
}

/* Mostly the two newest tell it all, in one read: one is ahead, the other came before it. Runs that
 * somebody asked for since may hide the one ahead. */
static enum rc view_newest(struct reader *reader, const struct job_rec *job, struct arena *arena,
                           struct job_view *view, struct err *err)
{
    struct exec_page newest;
    TRY(read_execs(reader, job, false, 2, arena, &newest, err));
    view->last = newest_begun(&newest);
    view->next_run_ms = due_ahead_ms(&newest);
    if (view->next_run_ms == 0 && job->finished_ms == 0)
        return view_runs(reader, job, true, arena, view, err);
    if (job->state == JOB_PAUSED)
        view->next_run_ms = 0;
    return RC_OK;
}

enum rc job_view_read(struct reader *reader, const struct job_rec *job, struct arena *arena,
                      struct job_view *ret_view, struct err *err)
{
    struct spec spec;
    struct warning *warnings;
    *ret_view = (struct job_view){.schedule_text = words(job, arena, &spec)};
    TRY(job_warnings_read(reader, job->id, &spec, arena, &warnings, &ret_view->warning_count, err));
    ret_view->warnings = warnings;
    return view_runs(reader, job, spec_recurs(&spec), arena, ret_view, err);
}

enum rc job_view_read_short(struct reader *reader, const struct job_rec *job, struct arena *arena,
                            struct job_view *ret_view, struct err *err)
{
    struct spec spec;
    *ret_view = (struct job_view){.schedule_text = words(job, arena, &spec)};
    if (spec_recurs(&spec))
        return view_newest(reader, job, arena, ret_view, err);
    if (spec.when == WHEN_NOW || job->finished_ms != 0)
        return RC_OK;
    return view_runs(reader, job, false, arena, ret_view, err);
}
