#include "server/metrics/slot_watch.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "loop/clock.h"
#include "server/call/queries.h"
#include "server/call/request.h"
#include "server/cluster/membership.h"
#include "server/metrics/metrics.h"
#include "server/metrics/slot_gaps.h"
#include "server/turn/rules.h"
#include "store/sorted.h"
#include "wire/spec/spec_json.h"

#include <stdlib.h>

enum {
    STEP_US = 3000000, /* twenty times a minute … */
    STEP_SCHEDULES = 50,
    STEP_RECORDS = 10000, /* … and no more than some hundredths of a processor */
    /* Of one schedule the newest, which are less than a day's where it has a slot every 8 s or
     * more often: each pass looks at those that came since the one before, and at most of them
     * again. */
    SCHEDULE_RECORDS = 10000,
    RECORDS_PAGE = 1000,
    DAY_MS = 24 * 3600 * 1000,
    MISSED_MAX = 1000, /* schedules; the log has the others, too */
};

/* A schedule with slots that have no record, as of its newest check. */
struct missed {
    uint64_t job_id;
    uint64_t count;
    int64_t checked_ms; /* wall clock */
};

struct slot_watch {
    struct server *server;
    atomic_bool under_way; /* the request is with a query thread, or on its way back */
    int64_t next_us;
    struct request request;
    struct arena arena; /* of one step */
    /* The query thread's, whichever it is. */
    struct sort_place after; /* go on behind it; zeroed: from the beginning */
    size_t records;          /* read in this step */
    struct missed missed[MISSED_MAX];
    size_t missed_len;
};

/* ---- one schedule */

/* Records of the last day, and the newest one before that, as far back as SCHEDULE_RECORDS reach.
 * They come newest first, and the next slot's record is made when one is over: however many there
 * are, none is missing among them. */
static enum rc read_records(struct slot_watch *w, struct reader *reader, uint64_t job_id,
                            int64_t from_ms, struct exec_page *ret_all)
{
    const struct filter filter = {.job_id = job_id};
    struct page page = {.limit = RECORDS_PAGE};
    VEC(struct exec_rec) all = {0};
    for (bool whole = false; !whole && all.len < SCHEDULE_RECORDS;) {
        struct exec_page found;
        TRY(reader->ops->execs(reader, &filter, &page, &w->arena, &found, &w->request.err));
        w->records += found.count + 1;
        for (size_t i = 0; i < found.count && !whole; i++) {
            *VEC_PUSH(&w->arena, &all) = found.execs[i];
            whole = found.execs[i].origin == ORIGIN_SLOT && found.execs[i].slot_ms < from_ms;
        }
        whole |= found.next == 0;
        page.before = found.next;
    }
    *ret_all = (struct exec_page){.execs = all.items, .count = all.len};
    return RC_OK;
}

static enum rc find_gap(struct slot_watch *w, struct reader *reader, const struct job_rec *job,
                        const struct schedule *schedule, struct slot_gap *ret_gap)
{
    struct exec_page all;
    *ret_gap = (struct slot_gap){0};
    TRY(read_records(w, reader, job->id, clock_wall_ms() - DAY_MS, &all));
    const struct slot_floor floor = {
        .changed_ms = job->changed_ms,
        .stepped_ms = clock_steps().at_ms,
        .keep_ms = (int64_t)w->server->options->engine.history_keep_ms,
    };
    int64_t now_ms = clock_wall_ms(); /* what was deleted before they were read is older */
    *ret_gap = slot_gaps_find(schedule, all.execs, all.count, &floor, now_ms, &w->arena);
    return RC_OK;
}

static void tell(const struct job_rec *job, const struct slot_gap *gap)
{
    char id[ID_TEXT_MAX];
    char at[WHEN_TEXT_MAX];
    log_error("slots of a schedule have no record: nothing was decided about them", "job_id",
              id_format(id, ID_JOB, job->id).ptr, "first", when_format(at, gap->first_ms).ptr,
              "count", LOG_NUMBER(gap->count), NULL);
}

static struct missed *find_missed(struct slot_watch *w, uint64_t job_id)
{
    for (size_t i = 0; i < w->missed_len; i++) {
        if (w->missed[i].job_id == job_id)
            return &w->missed[i];
    }
    return NULL;
}

/* A gap that is found again is not told again. */
static void note(struct slot_watch *w, const struct job_rec *job, const struct slot_gap *gap)
{
    struct missed *missed = find_missed(w, job->id);
    if (missed == NULL && gap->count == 0)
        return;
    if (missed == NULL || gap->count > missed->count)
        tell(job, gap);
    if (missed == NULL && w->missed_len < MISSED_MAX)
        missed = &w->missed[w->missed_len++];
    if (missed != NULL)
        *missed = (struct missed){job->id, gap->count, clock_wall_ms()};
}

/* Jobs that are over are not looked at again, and those that others own are theirs to tell. */
static uint64_t count_missed(struct slot_watch *w)
{
    const struct membership *m = w->server->membership;
    uint64_t count = 0;
    size_t kept = 0;
    for (size_t i = 0; i < w->missed_len; i++) {
        struct missed missed = w->missed[i];
        if (missed.count == 0 || clock_wall_ms() - missed.checked_ms > DAY_MS ||
            (m != NULL && !membership_owns(m, missed.job_id)))
            continue;
        w->missed[kept++] = missed;
        count += missed.count;
    }
    w->missed_len = kept;
    return count;
}

/* A record may be on its way from one table to another while it is looked for, so a second look
 * has to find the same. */
static enum rc check_schedule(struct slot_watch *w, struct reader *reader,
                              const struct job_rec *job, const struct schedule *schedule)
{
    struct slot_gap first;
    struct slot_gap second = {0};
    TRY(find_gap(w, reader, job, schedule, &first));
    if (first.count > 0)
        TRY(find_gap(w, reader, job, schedule, &second));
    note(w, job, &second);
    return RC_OK;
}

/* A definition that cannot be read has no slots. */
static enum rc check_job(struct slot_watch *w, struct reader *reader, const struct job_rec *job)
{
    struct request *r = &w->request;
    struct spec spec;
    struct rules rules;
    if (job->state != JOB_ACTIVE || spec_read(job->spec, &w->arena, &spec, &r->err) != RC_OK ||
        rules_make(w->server->zones, &spec, &w->arena, &rules, &r->err) != RC_OK ||
        !spec_has_slots(&spec))
        return RC_OK;
    metrics_checked(w->server->metrics, 1);
    return check_schedule(w, reader, job, rules.schedule);
}

/* ---- some of them */

static bool is_ours(const struct slot_watch *w, const struct exec_rec *x)
{
    const struct membership *m = w->server->membership;
    return x->origin == ORIGIN_SLOT && x->retry_of == 0 && x->state == EXEC_SCHEDULED &&
           (m == NULL || membership_owns(m, x->id));
}

/* Each schedule that goes on has one execution ahead. They are gone through in the order in which
 * they become due, and then anew; one that has become due meanwhile may come twice. */
static enum rc check_some(struct slot_watch *w, struct reader *reader)
{
    struct sorted_page page;
    TRY(reader->ops->sorted(reader, SORT_NEXT_RUN, &w->after, STEP_SCHEDULES, &w->arena, &page,
                            &w->request.err));
    w->records = 0;
    for (size_t i = 0; i < page.count; i++) {
        if (w->records >= STEP_RECORDS)
            return RC_OK; /* the next step goes on here */
        const struct sort_place *place = &page.jobs[i].place;
        w->after = (struct sort_place){.due_ms = place->due_ms, .id = place->id};
        if (is_ours(w, &page.jobs[i].exec))
            TRY(check_job(w, reader, &page.jobs[i].job));
    }
    w->after = (struct sort_place){0};
    if (page.more)
        w->after = (struct sort_place){.due_ms = page.last.due_ms, .id = page.last.id};
    return RC_OK;
}

/* Nothing follows from a store that does not answer: the next step tries again. */
static void look(struct request *r, struct reader *reader)
{
    struct slot_watch *w = CONTAINER_OF(r, struct slot_watch, request);
    (void)check_some(w, reader);
    metrics_missed_slots(w->server->metrics, count_missed(w));
    arena_reset(&w->arena);
}

static void come_home(struct request *r)
{
    atomic_store(&CONTAINER_OF(r, struct slot_watch, request)->under_way, false);
}

void slot_watch_look(struct slot_watch *w)
{
    int64_t now_us = clock_mono_us();
    if (now_us < w->next_us)
        return;
    w->next_us = now_us + STEP_US;
    if (atomic_load(&w->server->net_count) == 0 || atomic_exchange(&w->under_way, true))
        return;
    w->request = (struct request){
        .arena = &w->arena,
        .server = w->server,
        .net = w->server->nets[0],
        .look = look,
        .home = come_home,
    };
    if (queries_send(w->server->queries, &w->request) != RC_OK)
        atomic_store(&w->under_way, false); /* there is enough to do, or the server ends */
}

int64_t slot_watch_next_us(const struct slot_watch *w)
{
    return w->next_us;
}

struct slot_watch *slot_watch_new(struct server *server)
{
    struct slot_watch *w = MEM_NEW(struct slot_watch);
    w->server = server;
    w->next_us = clock_mono_us() + STEP_US;
    return w;
}

void slot_watch_free(struct slot_watch *w)
{
    if (w == NULL)
        return;
    arena_free(&w->arena);
    free(w);
}
