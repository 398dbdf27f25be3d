/* api_slots.c - what became of every slot of a job's schedule, and which lie ahead.
 *
 * Newest first, in three stretches: slots behind the one that is ahead are computed from the
 * schedule as it is now; what was decided stands in the job's executions, one record for each slot
 * or for a range that was skipped together; of what is older than `history_keep_ms` nobody knows
 * more than how many slots the schedule, as it is now, has there. */
#include "base/vec.h"
#include "loop/clock.h"
#include "server/api/api.h"
#include "server/turn/rules.h"
#include "wire/spec/spec_json.h"

#include <inttypes.h>
#include <stdio.h>

enum {
    AHEAD_DEFAULT = 100, /* slots ahead that are listed when no `until` is given */
    AHEAD_MAX = 10000,   /* and that one may reach over */
    SCAN_MAX = 10000,    /* records that one answer looks at */
    PAGE_LEN = 500,
    UNFINISHED_MAX = SPEC_OVERLAP_QUEUE_MAX + 16,
    CURSOR_BYTES_MAX = 48,
};

static const int64_t DAY_MS = 86400000;

/* Where a page goes on. */
struct place {
    bool in_records;
    int64_t before_ms; /* ahead: slots before this one; in records: the oldest slot that was seen */
    uint64_t before_exec; /* in records: ids below this one; 0: from the newest */
};

struct slots_call {
    int64_t from_ms;
    int64_t until_ms; /* not included */
    bool has_until;
    int64_t now_ms;
    struct place at;
    struct field_errors errors;

    /* Of the job; on the query thread. */
    struct job_rec job;
    const struct schedule *schedule; /* NULL: it runs once */
    struct json_writer w;
    size_t left; /* room on the page */
    struct place next;
    bool more;
};

/* ---- parameters */

/* "a1785542400000" or "r1785542400000.17". */
static bool cursor_parse(struct str text, struct place *ret_place)
{
    struct str id = text;
    bool in_records = str_take_char(&id, 'r');
    if (!in_records && !str_take_char(&id, 'a'))
        return false;
    struct str moment = str_cut(&id, '.');
    *ret_place = (struct place){.in_records = in_records};
    return str_to_i64(moment, &ret_place->before_ms) &&
           (in_records ? id.ptr != NULL && str_to_u64(id, &ret_place->before_exec)
                       : id.ptr == NULL);
}

static void put_cursor(struct slots_call *q)
{
    char text[CURSOR_BYTES_MAX];
    if (!q->more) {
        json_put_null(&q->w, "next_cursor");
        return;
    }
    if (q->next.in_records)
        snprintf(text, sizeof text, "r%" PRId64 ".%" PRIu64, q->next.before_ms,
                 q->next.before_exec);
    else
        snprintf(text, sizeof text, "a%" PRId64, q->next.before_ms);
    json_put_str(&q->w, "next_cursor", str_c(text));
}

static void stop_at(struct slots_call *q, struct place place)
{
    q->more = true;
    q->next = place;
}

/* ---- entries */

struct entry {
    const char *outcome;
    int64_t slot_ms;
    int64_t last_ms; /* 0: only the one */
    uint64_t count;
    const struct exec_rec *exec; /* NULL: none that is known */
};

static void put_entry(struct slots_call *q, const struct entry *entry)
{
    struct json_writer *w = &q->w;
    const struct exec_rec *x = entry->exec;
    json_open(w);
    json_put_str(w, "outcome", str_c(entry->outcome));
    json_put_when(w, "slot", entry->slot_ms);
    json_put_when(w, "slot_last", entry->last_ms);
    json_put_int(w, "count", (int64_t)entry->count);
    if (x != NULL) {
        json_put_id(w, "execution_id", ID_EXEC, x->id);
        json_put_str(w, "status", exec_state_name(x->state));
        json_put_text(w, "reason", x->state == EXEC_SKIPPED ? x->error : STR(""));
    } else {
        json_put_null(w, "execution_id");
        json_put_null(w, "status");
        json_put_null(w, "reason");
    }
    json_close(w);
    q->left--;
}

/* ---- ahead: what the schedule says */

static enum rc read_ahead(struct request *r, struct reader *reader, struct slots_call *q,
                          struct slot *ret_slot, bool *ret_found)
{
    struct filter filter = {.job_id = q->job.id, .unfinished = true};
    struct exec_page page;
    *ret_found = false;
    TRY(reader->ops->execs(reader, &filter, &(struct page){.limit = UNFINISHED_MAX}, r->arena,
                           &page, &r->err));
    for (size_t i = 0; i < page.count && !*ret_found; i++) {
        const struct exec_rec *x = &page.execs[i];
        *ret_found = x->origin == ORIGIN_SLOT && x->state == EXEC_SCHEDULED && x->retry_of == 0;
        if (*ret_found)
            *ret_slot = schedule_slot(q->schedule, x->slot_ms, x->nominal_ms);
    }
    return RC_OK;
}

static enum rc fail_ahead(struct request *r, struct slots_call *q, uint64_t count)
{
    field_error(&q->errors, r->arena, STR("until"),
                "is %" PRIu64 " slots ahead; at most %d can be listed", count, AHEAD_MAX);
    r->errors = &q->errors;
    return RC_INVALID;
}

static enum rc put_ahead(struct request *r, struct reader *reader, struct slots_call *q)
{
    struct slot slot;
    bool found;
    TRY(read_ahead(r, reader, q, &slot, &found));
    if (!found || !schedule_next(q->schedule, &slot, &slot))
        return RC_OK;
    if (q->from_ms > slot.at_ms && !schedule_after(q->schedule, q->from_ms - 1, &slot))
        return RC_OK;
    int64_t end_ms = q->at.before_ms < q->until_ms ? q->at.before_ms : q->until_ms;
    struct slot_range range = schedule_range(q->schedule, &slot, end_ms - 1);
    if (!q->has_until && range.count > AHEAD_DEFAULT)
        range.count = AHEAD_DEFAULT;
    if (range.count > AHEAD_MAX)
        return fail_ahead(r, q, range.count);
    int64_t *slots = ARENA_ARRAY(r->arena, int64_t, range.count);
    for (size_t i = 0; i < range.count; i++) {
        slots[i] = slot.at_ms;
        (void)schedule_next(q->schedule, &slot, &slot);
    }
    for (size_t i = range.count; i-- > 0;) {
        if (q->left == 0) {
            stop_at(q, (struct place){.before_ms = slots[i] + 1});
            return RC_OK;
        }
        put_entry(q, &(struct entry){"planned", slots[i], 0, 1, NULL});
    }
    return RC_OK;
}

/* ---- records: what was decided */

/* A run that somebody asked for is none of the schedule's, and one that was run again has the slot
 * of the first. */
static bool is_of_slot(const struct exec_rec *x)
{
    return x->origin != ORIGIN_REQUEST && x->retry_of == 0;
}

static void put_record(struct slots_call *q, const struct exec_rec *x)
{
    bool ahead = x->state == EXEC_SCHEDULED;
    if (ahead && q->job.state == JOB_PAUSED)
        return; /* nobody knows until it is resumed */
    put_entry(q, &(struct entry){
                     .outcome = ahead                      ? "planned"
                                : x->state == EXEC_SKIPPED ? "skipped"
                                                           : "fired",
                     .slot_ms = x->slot_ms,
                     .last_ms = x->slot_last_ms,
                     .count = x->slot_count > 0 ? x->slot_count : 1,
                     .exec = x,
                 });
}

/* False when the page is full, or everything older is of no interest: *ret_done. */
static bool take_record(struct slots_call *q, const struct exec_rec *x, bool *ret_done)
{
    int64_t last_ms = x->slot_last_ms > 0 ? x->slot_last_ms : x->slot_ms;
    if (!is_of_slot(x))
        return true;
    *ret_done = last_ms < q->from_ms;
    if (*ret_done)
        return false;
    if (x->slot_ms < q->until_ms && q->left == 0)
        return false;
    if (x->slot_ms < q->until_ms)
        put_record(q, x);
    q->next.before_ms = x->slot_ms;
    return true;
}

/* *ret_end: there are no older records. */
static enum rc put_records(struct request *r, struct reader *reader, struct slots_call *q,
                           bool *ret_end)
{
    struct filter filter = {.job_id = q->job.id};
    struct page page = {.before = q->at.in_records ? q->at.before_exec : 0, .limit = PAGE_LEN};
    q->next = (struct place){true, q->at.in_records ? q->at.before_ms : q->now_ms, page.before};
    *ret_end = false;
    for (size_t scanned = 0; scanned < SCAN_MAX; scanned += PAGE_LEN) {
        struct exec_page found;
        bool done = false;
        TRY(reader->ops->execs(reader, &filter, &page, r->arena, &found, &r->err));
        for (size_t i = 0; i < found.count; i++) {
            if (!take_record(q, &found.execs[i], &done)) {
                q->more = !done;
                return RC_OK;
            }
            q->next.before_exec = found.execs[i].id;
        }
        *ret_end = found.next == 0;
        if (*ret_end)
            return RC_OK;
        page.before = q->next.before_exec = found.next;
    }
    q->more = true;
    return RC_OK;
}

/* ---- what is kept no longer */

static void put_unknown(struct slots_call *q, int64_t keep_ms)
{
    struct slot first;
    int64_t begin_ms = q->from_ms > q->job.created_ms ? q->from_ms : q->job.created_ms;
    int64_t end_ms = q->next.before_ms < q->until_ms ? q->next.before_ms : q->until_ms;
    if (keep_ms == 0 || q->schedule == NULL)
        return;
    if (end_ms > q->now_ms - keep_ms)
        end_ms = q->now_ms - keep_ms;
    if (begin_ms >= end_ms || !schedule_after_any(q->schedule, begin_ms - 1, &first))
        return;
    struct slot_range range = schedule_range(q->schedule, &first, end_ms - 1);
    if (range.count == 0)
        return;
    if (q->left == 0) {
        q->more = true;
        return;
    }
    int64_t last_ms = range.count > 1 ? range.last.at_ms : 0;
    put_entry(q, &(struct entry){"unknown", range.first.at_ms, last_ms, range.count, NULL});
}

/* ---- the call */

static enum rc read_schedule(struct request *r, struct slots_call *q)
{
    struct spec spec;
    struct rules rules;
    TRY(spec_read(q->job.spec, r->arena, &spec, &r->err));
    TRY(rules_make(r->server->zones, &spec, r->arena, &rules, &r->err));
    q->schedule = rules.expects ? NULL : rules.schedule;
    return RC_OK;
}

static enum rc put_all(struct request *r, struct reader *reader, struct slots_call *q)
{
    bool end = false;
    bool ahead = q->schedule != NULL && q->job.state == JOB_ACTIVE && !q->at.in_records;
    if (ahead)
        TRY(put_ahead(r, reader, q));
    if (q->more)
        return RC_OK;
    TRY(put_records(r, reader, q, &end));
    if (end)
        put_unknown(q, r->server->options->engine.history_keep_ms);
    return RC_OK;
}

static void look_slots(struct request *r, struct reader *reader)
{
    struct slots_call *q = r->own;
    r->rc = reader->ops->job(reader, r->cmd.target.id, r->arena, &q->job, &r->err);
    if (r->rc == RC_OK)
        r->rc = read_schedule(r, q);
    if (r->rc != RC_OK)
        return;
    q->w = JSON_WRITER(&r->body);
    q->left = r->list.page.limit;
    json_open(&q->w);
    json_key(&q->w, "slots");
    json_open_array(&q->w);
    r->rc = put_all(r, reader, q);
    if (r->rc != RC_OK)
        return;
    json_close_array(&q->w);
    put_cursor(q);
    json_close(&q->w);
}

void api_job_slots(struct request *r)
{
    static const char *const known[] = {"from", "until", "limit", "cursor", NULL};
    struct slots_call *q = ARENA_NEW(r->arena, struct slots_call);
    struct str cursor;
    struct str ignored;
    if (!request_params_known(r, known) || !request_path_id(r, ID_JOB, &r->cmd.target.id))
        return;
    q->now_ms = clock_wall_ms();
    q->from_ms = q->now_ms - DAY_MS;
    q->has_until = http_request_param(r->http, STR("until"), &ignored);
    q->at.before_ms = INT64_MAX;
    request_page(r, &q->errors);
    request_moment(r, "from", &q->from_ms, &q->errors);
    q->until_ms = (q->from_ms > q->now_ms ? q->from_ms : q->now_ms) + DAY_MS;
    request_moment(r, "until", &q->until_ms, &q->errors);
    if (q->errors.count == 0 && q->from_ms >= q->until_ms)
        field_error(&q->errors, r->arena, STR("from"), "must be before until");
    if (http_request_param(r->http, STR("cursor"), &cursor) && !cursor_parse(cursor, &q->at))
        field_error(&q->errors, r->arena, STR("cursor"), "is not a next_cursor of this list");
    if (q->errors.count > 0) {
        request_fail_fields(r, &q->errors);
        return;
    }
    r->own = q;
    request_to_query(r, look_slots);
}
