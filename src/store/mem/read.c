#include "base/id.h"
#include "base/mem.h"
#include "base/plant.h"
#include "store/mem/mem.h"
#include "store/mem/rows.h"

#include <stdlib.h>
#include <string.h>

struct mem_reader {
    struct reader reader;
    struct mem_store *m; /* borrowed */
};

struct mem_store *mem_reader_store(struct reader *reader)
{
    return ((struct mem_reader *)(void *)reader)->m;
}

/* ---- one thing */

static enum rc read_job(struct reader *reader, uint64_t id, struct arena *arena,
                        struct job_rec *ret_job, struct err *err)
{
    struct mem_store *m = mem_reader_store(reader);
    pthread_mutex_lock(&m->lock);
    const struct job_rec *job = map_get(&m->jobs, id);
    if (job != NULL)
        *ret_job = copy_job(arena, *job);
    pthread_mutex_unlock(&m->lock);
    return job != NULL ? RC_OK
                       : err_set(err, RC_NOT_FOUND, "there is no job %s", ID_TEXT(ID_JOB, id));
}

static void copy_attempts(const struct mem_store *m, uint64_t exec_id, struct arena *arena,
                          struct attempt_rec **ret_attempts, size_t *ret_count)
{
    const struct attempt_list *list = map_get(&m->attempts, exec_id);
    size_t count = list == NULL ? 0 : list->count;
    struct attempt_rec *copies = ARENA_ARRAY(arena, struct attempt_rec, count);
    for (size_t i = 0; i < count; i++) {
        copies[i] = list->attempts[i];
        fields_copy(&attempt_fields, &copies[i], arena);
    }
    *ret_attempts = copies;
    *ret_count = count;
}

static enum rc read_exec(struct reader *reader, uint64_t id, struct arena *arena,
                         struct exec_rec *ret_exec, struct attempt_rec **ret_attempts,
                         size_t *ret_count, struct err *err)
{
    struct mem_store *m = mem_reader_store(reader);
    pthread_mutex_lock(&m->lock);
    const struct exec_rec *exec = map_get(&m->live, id);
    if (exec == NULL)
        exec = map_get(&m->history, id);
    if (exec != NULL) {
        *ret_exec = copy_exec(arena, *exec);
        copy_attempts(m, id, arena, ret_attempts, ret_count);
    }
    pthread_mutex_unlock(&m->lock);
    return exec != NULL
               ? RC_OK
               : err_set(err, RC_NOT_FOUND, "there is no execution %s", ID_TEXT(ID_EXEC, id));
}

static enum rc read_grant(struct reader *reader, uint64_t exec_id, uint64_t token,
                          struct grant *ret_grant, struct err *err)
{
    struct mem_store *m = mem_reader_store(reader);
    (void)err;
    *ret_grant = (struct grant){0};
    pthread_mutex_lock(&m->lock);
    const struct exec_rec *exec = map_get(&m->live, exec_id);
    const struct attempt_list *list = map_get(&m->attempts, exec_id);
    if (exec != NULL)
        *ret_grant =
            (struct grant){.live = true, .newest = exec->token, .holder_id = exec->worker_id};
    for (size_t i = 0; list != NULL && i < list->count; i++) {
        if (list->attempts[i].token == token)
            ret_grant->past_id = list->attempts[i].worker_id;
    }
    pthread_mutex_unlock(&m->lock);
    return RC_OK;
}

static enum rc read_dependencies(struct reader *reader, uint64_t job_id, enum dependency_side side,
                                 size_t max, struct arena *arena,
                                 struct dependency_rec **ret_dependencies, size_t *ret_count,
                                 struct err *err)
{
    struct mem_store *m = mem_reader_store(reader);
    (void)err;
    pthread_mutex_lock(&m->lock);
    struct dependency_rec *found = ARENA_ARRAY(arena, struct dependency_rec, m->dependencies.len);
    size_t count = 0;
    for (size_t i = 0; i < m->dependencies.cap; i++) {
        const struct dependency_rec *rec = m->dependencies.slots[i].value;
        if (rec != NULL && (side == SIDE_UPSTREAMS ? rec->dependant : rec->upstream) == job_id)
            found[count++] = *rec;
    }
    pthread_mutex_unlock(&m->lock);
    qsort(found, count, sizeof *found, dependency_by_ids); /* one of the two is the same in all */
    *ret_dependencies = found;
    *ret_count = count < max ? count : max;
    return RC_OK;
}

static enum rc read_calendar(struct reader *reader, struct str name, struct arena *arena,
                             struct calendar_rec *ret_calendar, struct err *err)
{
    struct mem_store *m = mem_reader_store(reader);
    pthread_mutex_lock(&m->lock);
    const struct calendar_rec *found = strmap_get(&m->calendars, name);
    if (found != NULL)
        *ret_calendar = copy_calendar(arena, *found);
    pthread_mutex_unlock(&m->lock);
    return found != NULL ? RC_OK
                         : err_set(err, RC_NOT_FOUND, "there is no calendar '%.*s'", STR_ARG(name));
}

static int calendar_by_name(const void *a, const void *b)
{
    return str_cmp(((const struct calendar_rec *)a)->name, ((const struct calendar_rec *)b)->name);
}

static enum rc read_calendars(struct reader *reader, struct arena *arena,
                              struct calendar_rec **ret_calendars, size_t *ret_count,
                              struct err *err)
{
    struct mem_store *m = mem_reader_store(reader);
    (void)err;
    pthread_mutex_lock(&m->lock);
    struct calendar_rec *found = ARENA_ARRAY(arena, struct calendar_rec, m->calendars.len);
    size_t count = 0;
    for (size_t i = 0; i < m->calendars.cap; i++) {
        const struct calendar_rec *rec = m->calendars.slots[i].value;
        if (rec == NULL)
            continue;
        found[count] = *rec;
        found[count].document = STR("");
        found[count] = copy_calendar(arena, found[count]);
        count++;
    }
    pthread_mutex_unlock(&m->lock);
    if (count > 0)
        qsort(found, count, sizeof *found, calendar_by_name);
    *ret_calendars = found;
    *ret_count = count;
    return RC_OK;
}

/* ---- lists: walk everything, sort, cut */

static int job_newest_first(const void *a, const void *b)
{
    uint64_t left = (*(const struct job_rec *const *)a)->id;
    uint64_t right = (*(const struct job_rec *const *)b)->id;
    return left > right ? -1 : left < right;
}

static int exec_newest_first(const void *a, const void *b)
{
    return exec_by_id(b, a);
}

static enum rc list_jobs(struct reader *reader, const struct filter *filter,
                         const struct page *page, struct arena *arena, struct job_page *ret_page,
                         struct err *err)
{
    struct mem_store *m = mem_reader_store(reader);
    struct filter plain = filter_plain(filter, FILTER_OF_JOBS);
    (void)err;
    pthread_mutex_lock(&m->lock);
    const struct job_rec **found = ARENA_ARRAY(arena, const struct job_rec *, m->jobs.len);
    size_t count = 0;
    MAP_EACH(&m->jobs, slot)
    {
        const struct job_rec *job = slot->value;
        if (mem_on_page(page, job->id) && filter_fits(&plain, &(struct filter_facts){.job = job}))
            found[count++] = job;
    }
    qsort(found, count, sizeof(struct job_rec *), job_newest_first);
    if (PLANTED(list_skips_one) && page->before != 0 && count > 0) {
        found++;
        count--;
    }
    size_t shown = count < page->limit ? count : page->limit;
    struct job_rec *jobs = ARENA_ARRAY(arena, struct job_rec, shown);
    for (size_t i = 0; i < shown; i++)
        jobs[i] = copy_job(arena, job_brief(found[i]));
    pthread_mutex_unlock(&m->lock);
    uint64_t next = count > shown && shown > 0 ? jobs[shown - 1].id : 0;
    *ret_page = (struct job_page){.jobs = jobs, .count = shown, .next = next};
    return RC_OK;
}

/* Their records are borrowed from the tables. */
struct sorting {
    VEC(struct sorted_job) jobs;
};

static int place_order(const struct sort_place *a, const struct sort_place *b)
{
    int names = str_cmp(a->name, b->name);
    if (names != 0)
        return names;
    if (a->due_ms != b->due_ms)
        return a->due_ms < b->due_ms ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

static int sorted_order(const void *a, const void *b)
{
    const struct sorted_job *left = a;
    const struct sorted_job *right = b;
    return place_order(&left->place, &right->place);
}

static void gather_named(const struct mem_store *m, const struct sort_place *after,
                         struct arena *arena, struct sorting *found)
{
    MAP_EACH(&m->jobs, slot)
    {
        const struct job_rec *job = slot->value;
        struct sort_place place = {.name = job->name, .id = job->id};
        if (job->name.len > 0 && place_order(&place, after) > 0)
            *VEC_PUSH(arena, &found->jobs) = (struct sorted_job){.job = *job, .place = place};
    }
}

static void gather_ahead(const struct mem_store *m, const struct sort_place *after,
                         struct arena *arena, struct sorting *found)
{
    MAP_EACH(&m->live, slot)
    {
        const struct exec_rec *exec = slot->value;
        const struct job_rec *job = map_get(&m->jobs, exec->job_id);
        struct sort_place place = {.due_ms = exec->due_ms, .id = exec->id};
        bool waits = exec->state == EXEC_SCHEDULED || exec->state == EXEC_RETRYING;
        if (waits && job != NULL && place_order(&place, after) > 0)
            *VEC_PUSH(arena, &found->jobs) = (struct sorted_job){*job, *exec, place};
    }
}

static enum rc list_sorted(struct reader *reader, enum job_sort sort,
                           const struct sort_place *after, size_t max, struct arena *arena,
                           struct sorted_page *ret_page, struct err *err)
{
    struct mem_store *m = mem_reader_store(reader);
    struct sorting found = {0};
    (void)err;
    pthread_mutex_lock(&m->lock);
    if (sort == SORT_NAME)
        gather_named(m, after, arena, &found);
    else
        gather_ahead(m, after, arena, &found);
    struct sorted_job *jobs = found.jobs.items;
    size_t count = found.jobs.len < max ? found.jobs.len : max;
    if (count > 0)
        qsort(jobs, found.jobs.len, sizeof *jobs, sorted_order);
    for (size_t i = 0; i < count; i++) {
        jobs[i].job = copy_job(arena, job_brief(&jobs[i].job));
        if (sort == SORT_NEXT_RUN)
            jobs[i].exec = copy_exec(arena, exec_brief(&jobs[i].exec));
        jobs[i].place.name = sort == SORT_NAME ? jobs[i].job.name : (struct str){0};
    }
    pthread_mutex_unlock(&m->lock);
    *ret_page = (struct sorted_page){.jobs = jobs, .count = count, .more = count == max};
    if (count > 0)
        ret_page->last = jobs[count - 1].place;
    return RC_OK;
}

static size_t gather_execs(struct map *from, const struct filter *filter, const struct page *page,
                           const struct exec_rec **to)
{
    size_t count = 0;
    MAP_EACH(from, slot)
    {
        const struct exec_rec *exec = slot->value;
        if (mem_on_page(page, exec->id) &&
            filter_fits(filter, &(struct filter_facts){.exec = exec}))
            to[count++] = exec;
    }
    return count;
}

static enum rc list_execs(struct reader *reader, const struct filter *filter,
                          const struct page *page, struct arena *arena, struct exec_page *ret_page,
                          struct err *err)
{
    struct mem_store *m = mem_reader_store(reader);
    (void)err;
    pthread_mutex_lock(&m->lock);
    size_t max = m->live.len + m->history.len;
    const struct exec_rec **found = ARENA_ARRAY(arena, const struct exec_rec *, max);
    struct filter plain = filter_plain(filter, FILTER_OF_EXECS);
    size_t count = gather_execs(&m->live, &plain, page, found);
    count += gather_execs(&m->history, &plain, page, found + count);
    qsort(found, count, sizeof(struct exec_rec *), exec_newest_first);
    size_t shown = count < page->limit ? count : page->limit;
    struct exec_rec *execs = ARENA_ARRAY(arena, struct exec_rec, shown);
    for (size_t i = 0; i < shown; i++)
        execs[i] = copy_exec(arena, exec_brief(found[i]));
    pthread_mutex_unlock(&m->lock);
    uint64_t next = count > shown && shown > 0 ? execs[shown - 1].id : 0;
    *ret_page = (struct exec_page){.execs = execs, .count = shown, .next = next};
    return RC_OK;
}

static void tell_ran(struct map *from, const struct ran_query *q, const struct mem_store *m,
                     ran_sink *sink, void *arg)
{
    MAP_EACH(from, slot)
    {
        const struct exec_rec *x = slot->value;
        const struct attempt_list *list = map_get(&m->attempts, x->id);
        bool runs = x->state == EXEC_RUNNING || x->state == EXEC_STOPPING;
        struct ran_rec ran = {
            .id = x->id,
            .job_id = x->job_id,
            .state = x->state,
            .queue = x->queue,
            .origin = x->origin,
            .retry_of = x->retry_of,
            .created_ms = x->created_ms,
            .slot_ms = x->slot_ms,
            .ready_ms = x->ready_ms,
            .started_ms = x->started_ms,
            .starts = x->attempts + x->lost + x->returned,
            .finished_ms = x->finished_ms,
            .worker_id =
                runs || list == NULL ? x->worker_id : list->attempts[list->count - 1].worker_id,
        };
        if ((runs || x->finished_ms > 0) && ran_fits(q, &ran))
            sink(arg, &ran);
    }
}

static enum rc read_ran(struct reader *reader, const struct ran_query *q, ran_sink *sink, void *arg,
                        bool *ret_whole, struct err *err)
{
    struct mem_store *m = mem_reader_store(reader);
    (void)err;
    pthread_mutex_lock(&m->lock);
    tell_ran(&m->live, q, m, sink, arg);
    tell_ran(&m->history, q, m, sink, arg);
    *ret_whole = m->live.len <= q->scan_max && m->history.len <= q->scan_max;
    pthread_mutex_unlock(&m->lock);
    return RC_OK;
}

static int alert_newest_first(const void *a, const void *b)
{
    uint64_t left = (*(struct alert_rec *const *)a)->id;
    uint64_t right = (*(struct alert_rec *const *)b)->id;
    return left < right ? 1 : left > right ? -1 : 0;
}

static struct alert_rec copy_alert(struct arena *arena, struct alert_rec alert)
{
    fields_copy(&alert_fields, &alert, arena);
    return alert;
}

static enum rc list_alerts(struct reader *reader, enum alert_state state, const struct page *page,
                           struct arena *arena, struct alert_page *ret_page, struct err *err)
{
    struct mem_store *m = mem_reader_store(reader);
    (void)err;
    pthread_mutex_lock(&m->lock);
    struct alert_rec **found = ARENA_ARRAY(arena, struct alert_rec *, m->alerts.len + 1);
    size_t count = 0;
    MAP_EACH(&m->alerts, slot)
    {
        struct alert_rec *alert = slot->value;
        if (mem_on_page(page, alert->id) && (state == 0 || alert->state == state))
            found[count++] = alert;
    }
    qsort(found, count, sizeof(struct alert_rec *), alert_newest_first);
    size_t shown = count < page->limit ? count : page->limit;
    struct alert_rec *alerts = ARENA_ARRAY(arena, struct alert_rec, shown);
    for (size_t i = 0; i < shown; i++)
        alerts[i] = copy_alert(arena, *found[i]);
    pthread_mutex_unlock(&m->lock);
    uint64_t next = count > shown && shown > 0 ? alerts[shown - 1].id : 0;
    *ret_page = (struct alert_page){.alerts = alerts, .count = shown, .next = next};
    return RC_OK;
}

static int silence_by_id(const void *a, const void *b)
{
    uint64_t left = ((const struct silence_rec *)a)->id;
    uint64_t right = ((const struct silence_rec *)b)->id;
    return left < right ? -1 : left > right;
}

static enum rc read_silences(struct reader *reader, struct arena *arena,
                             struct silence_rec **ret_silences, size_t *ret_count, struct err *err)
{
    struct mem_store *m = mem_reader_store(reader);
    size_t count = 0;
    (void)err;
    pthread_mutex_lock(&m->lock);
    struct silence_rec *found = ARENA_ARRAY(arena, struct silence_rec, m->silences.len + 1);
    MAP_EACH(&m->silences, slot)
    {
        found[count] = *(const struct silence_rec *)slot->value;
        fields_copy(&silence_fields, &found[count++], arena);
    }
    pthread_mutex_unlock(&m->lock);
    qsort(found, count, sizeof *found, silence_by_id);
    *ret_silences = found;
    *ret_count = count;
    return RC_OK;
}

static void close_reader(struct reader *reader)
{
    free(reader);
}

static const struct reader_ops ops = {
    .find_named = mem_find_named,
    .find_ids = mem_find_ids,
    .job = read_job,
    .exec = read_exec,
    .grant = read_grant,
    .dependencies = read_dependencies,
    .letter = mem_read_letter,
    .letters = mem_read_letters,
    .letter_groups = mem_group_letters,
    .live = mem_read_live,
    .operations = mem_read_operations,
    .versions = mem_read_versions,
    .calendar = read_calendar,
    .calendars = read_calendars,
    .jobs = list_jobs,
    .execs = list_execs,
    .sorted = list_sorted,
    .ran = read_ran,
    .heads = mem_read_heads,
    .standings = mem_read_standings,
    .newest_attempts = mem_read_newest_attempts,
    .runs = store_read_runs,
    .alerts = list_alerts,
    .silences = read_silences,
    .tally = mem_read_tally,
    .tallies = mem_read_tallies,
    .sla_since = mem_read_sla_since,
    .counters = mem_read_counters,
    .sla_events = mem_list_sla_events,
    .rejected = mem_read_rejected,
    .about = mem_read_about,
    .close = close_reader,
};

enum rc mem_reader_open(struct store *store, struct reader **ret_reader, struct err *err)
{
    (void)err;
    struct mem_reader *r = MEM_NEW(struct mem_reader);
    *r = (struct mem_reader){.reader.ops = &ops, .m = mem_of(store)};
    *ret_reader = &r->reader;
    return RC_OK;
}
