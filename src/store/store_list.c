/* store_list.c - lists by more than a store finds by itself: candidates are read in chunks, and the
 * filter's predicate is asked about each of them. */
#include "base/vec.h"
#include "job/record/runs.h"
#include "store/store.h"

enum {
    CHUNK_ROWS = 256,                    /* are read at a time … */
    CHUNKS_BYTES_MAX = 1 << 24,          /* … until those that were read take so much memory */
    CHUNKS_SCAN_MAX = LIST_SCAN_MAX / 2, /* as many rows, whose texts travel here, … */
    LOOK_SCAN_MAX = LIST_SPARSE_MAX,     /* … or fewer when another row has to be read for each */
};

enum rc store_read_runs(struct reader *reader, const uint64_t *job_ids, size_t count,
                        bool unfinished, size_t max, struct arena *arena,
                        struct exec_page *ret_pages, struct err *err)
{
    struct filter filter = {.unfinished = unfinished, .states = unfinished ? 0 : FILTER_FINAL};
    for (size_t i = 0; i < count; i++) {
        filter.job_id = job_ids[i];
        TRY(reader->ops->execs(reader, &filter, &(struct page){.limit = max}, arena, &ret_pages[i],
                               err));
    }
    return RC_OK;
}

/* How far a page of so many rows looks. */
struct reading {
    struct page next;
    size_t rows;
    size_t rows_max;
    size_t bytes_max;
};

static struct reading reading_of(const struct page *page, unsigned needs, const struct arena *arena)
{
    return (struct reading){
        .next = {.before = page->before, .limit = CHUNK_ROWS},
        .rows_max = needs == 0 ? CHUNKS_SCAN_MAX : LOOK_SCAN_MAX,
        .bytes_max = arena->used_bytes + CHUNKS_BYTES_MAX,
    };
}

/* A chunk that is not full looked at enough rows. */
static bool goes_on(struct reading *reading, size_t count, const struct arena *arena)
{
    reading->rows += count;
    return reading->next.before != 0 && count == CHUNK_ROWS && reading->rows < reading->rows_max &&
           arena->used_bytes < reading->bytes_max;
}

/* ---- jobs */

/* What a store does not look at. */
static bool jobs_need_a_look(const struct filter *f)
{
    bool many_tags = str_index(f->tags, '\n') < f->tags.len;
    return f->document_count > 0 || f->pattern.len > 0 || f->phases != 0 || many_tags;
}

/* The jobs that a page shows. */
struct shown_jobs {
    VEC(struct job_rec) jobs;
    size_t limit;
};

static enum rc read_phases(struct reader *reader, const struct job_page *chunk, struct arena *arena,
                           enum phase **ret_phases, struct err *err)
{
    uint64_t *ids = ARENA_ARRAY(arena, uint64_t, chunk->count + 1);
    struct exec_page *runs = ARENA_ARRAY(arena, struct exec_page, chunk->count + 1);
    enum phase *phases = ARENA_ARRAY(arena, enum phase, chunk->count + 1);
    for (size_t i = 0; i < chunk->count; i++)
        ids[i] = chunk->jobs[i].id;
    TRY(reader->ops->runs(reader, ids, chunk->count, true, RUNS_UNFINISHED_MAX, arena, runs, err));
    for (size_t i = 0; i < chunk->count; i++)
        phases[i] = runs_phase(chunk->jobs[i].state, runs[i].execs, runs[i].count);
    *ret_phases = phases;
    return RC_OK;
}

/* Adds those that fit; false when there is one that the page has no room for. */
static bool show_jobs(struct shown_jobs *shown, const struct filter *filter,
                      const struct job_page *chunk, const enum phase *phases, struct arena *arena)
{
    for (size_t i = 0; i < chunk->count; i++) {
        struct filter_facts facts = {.job = &chunk->jobs[i]};
        if (phases != NULL)
            facts.phase = phases[i];
        if (!filter_fits(filter, &facts))
            continue;
        if (shown->jobs.len == shown->limit)
            return false;
        *VEC_PUSH(arena, &shown->jobs) = chunk->jobs[i];
    }
    return true;
}

enum rc store_list_jobs(struct reader *reader, const struct filter *filter, const struct page *page,
                        struct arena *arena, struct job_page *ret_page, struct err *err)
{
    if (!jobs_need_a_look(filter))
        return reader->ops->jobs(reader, filter, page, arena, ret_page, err);
    unsigned needs = filter_needs(filter, FILTER_OF_JOBS);
    struct shown_jobs shown = {.limit = page->limit};
    struct reading reading = reading_of(page, needs, arena);
    struct job_page chunk;
    bool room;
    do {
        enum phase *phases = NULL;
        TRY(reader->ops->jobs(reader, filter, &reading.next, arena, &chunk, err));
        if (needs & FILTER_NEEDS_PHASE)
            TRY(read_phases(reader, &chunk, arena, &phases, err));
        room = show_jobs(&shown, filter, &chunk, phases, arena);
        reading.next.before = room ? chunk.next : shown.jobs.items[shown.limit - 1].id;
    } while (room && goes_on(&reading, chunk.count, arena));
    *ret_page = (struct job_page){shown.jobs.items, shown.jobs.len, reading.next.before};
    return RC_OK;
}

/* ---- executions */

struct shown_execs {
    VEC(struct exec_rec) execs;
    size_t limit;
};

/* What the predicate wants to know about a chunk. NULL: it does not. */
struct chunk_facts {
    struct job_rec *jobs;
    struct attempt_rec *attempts;
};

static enum rc read_facts(struct reader *reader, const struct exec_page *chunk, unsigned needs,
                          struct arena *arena, struct chunk_facts *facts, struct err *err)
{
    uint64_t *ids = ARENA_ARRAY(arena, uint64_t, chunk->count + 1);
    *facts = (struct chunk_facts){0};
    if (needs & FILTER_NEEDS_JOB) {
        facts->jobs = ARENA_ARRAY(arena, struct job_rec, chunk->count + 1);
        for (size_t i = 0; i < chunk->count; i++)
            ids[i] = chunk->execs[i].job_id;
        TRY(reader->ops->heads(reader, ids, chunk->count, arena, facts->jobs, err));
    }
    if (needs & FILTER_NEEDS_ATTEMPT) {
        facts->attempts = ARENA_ARRAY(arena, struct attempt_rec, chunk->count + 1);
        for (size_t i = 0; i < chunk->count; i++)
            ids[i] = chunk->execs[i].id;
        TRY(reader->ops->newest_attempts(reader, ids, chunk->count, arena, facts->attempts, err));
    }
    return RC_OK;
}

static bool show_execs(struct shown_execs *shown, const struct filter *filter,
                       const struct exec_page *chunk, const struct chunk_facts *of_chunk,
                       struct arena *arena)
{
    for (size_t i = 0; i < chunk->count; i++) {
        struct filter_facts facts = {.exec = &chunk->execs[i]};
        if (of_chunk->jobs != NULL && of_chunk->jobs[i].id != 0)
            facts.job = &of_chunk->jobs[i];
        if (of_chunk->attempts != NULL && of_chunk->attempts[i].exec_id != 0)
            facts.attempt = &of_chunk->attempts[i];
        if (!filter_fits(filter, &facts))
            continue;
        if (shown->execs.len == shown->limit)
            return false;
        *VEC_PUSH(arena, &shown->execs) = chunk->execs[i];
    }
    return true;
}

/* A whole name that one job has, or none, is as good as that job's id. */
static enum rc find_by_name(struct reader *reader, struct filter *filter, struct arena *arena,
                            bool *ret_none, struct err *err)
{
    struct filter named = {.name = filter->name};
    struct job_page page;
    *ret_none = false;
    if (filter->name.len == 0)
        return RC_OK;
    TRY(reader->ops->jobs(reader, &named, &(struct page){.limit = 2}, arena, &page, err));
    *ret_none = page.count == 0 && page.next == 0;
    if (page.count == 1 && page.next == 0)
        filter->job_id = page.jobs[0].id;
    return RC_OK;
}

enum rc store_list_execs(struct reader *reader, const struct filter *filter,
                         const struct page *page, struct arena *arena, struct exec_page *ret_page,
                         struct err *err)
{
    unsigned needs = filter_needs(filter, FILTER_OF_EXECS);
    if (needs == 0)
        return reader->ops->execs(reader, filter, page, arena, ret_page, err);
    struct filter narrow = *filter;
    struct shown_execs shown = {.limit = page->limit};
    struct reading reading = reading_of(page, needs, arena);
    struct exec_page chunk;
    bool room;
    bool none;
    *ret_page = (struct exec_page){0};
    TRY(find_by_name(reader, &narrow, arena, &none, err));
    if (none)
        return RC_OK;
    do {
        struct chunk_facts facts;
        TRY(reader->ops->execs(reader, &narrow, &reading.next, arena, &chunk, err));
        TRY(read_facts(reader, &chunk, needs, arena, &facts, err));
        room = show_execs(&shown, filter, &chunk, &facts, arena);
        reading.next.before = room ? chunk.next : shown.execs.items[shown.limit - 1].id;
    } while (room && goes_on(&reading, chunk.count, arena));
    *ret_page = (struct exec_page){shown.execs.items, shown.execs.len, reading.next.before};
    return RC_OK;
}

/* ---- alerts */

struct shown_alerts {
    VEC(struct alert_rec) alerts;
    size_t limit;
};

static bool show_alerts(struct shown_alerts *shown, const struct alert_filter *filter,
                        const struct alert_page *chunk, struct arena *arena)
{
    for (size_t i = 0; i < chunk->count; i++) {
        if (!alert_fits(filter, &chunk->alerts[i]))
            continue;
        if (shown->alerts.len == shown->limit)
            return false;
        *VEC_PUSH(arena, &shown->alerts) = chunk->alerts[i];
    }
    return true;
}

enum rc store_list_alerts(struct reader *reader, const struct alert_filter *filter,
                          const struct page *page, struct arena *arena, struct alert_page *ret_page,
                          struct err *err)
{
    bool pending = filter->states == 1U << ALERT_PENDING;
    struct shown_alerts shown = {.limit = page->limit};
    struct reading reading = reading_of(page, 0, arena);
    struct alert_page chunk;
    bool room;
    do {
        TRY(reader->ops->alerts(reader, pending ? ALERT_PENDING : 0, &reading.next, arena, &chunk,
                                err));
        room = show_alerts(&shown, filter, &chunk, arena);
        reading.next.before = room ? chunk.next : shown.alerts.items[shown.limit - 1].id;
    } while (room && goes_on(&reading, chunk.count, arena));
    *ret_page = (struct alert_page){shown.alerts.items, shown.alerts.len, reading.next.before};
    return RC_OK;
}
