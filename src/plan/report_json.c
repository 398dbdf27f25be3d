/* report_json.c - a plan for programs. */
#include "base/id.h"
#include "plan/report.h"

enum { OUT_BYTES_MAX = 256 << 20 };

static void put_skips(struct json_writer *w, const struct counts *c)
{
    static const char *const names[SKIP_REASONS] = {
        [SKIP_OVERLAP] = "overlap",
        [SKIP_CALENDAR] = "calendar",
        [SKIP_MISSED] = "missed",
        [SKIP_OTHER] = "other",
    };
    json_put_int(w, "skipped", (int64_t)counts_skipped(c));
    json_key(w, "skipped_by");
    json_open(w);
    for (size_t i = 0; i < SKIP_REASONS; i++)
        json_put_int(w, names[i], (int64_t)c->skips[i]);
    json_close(w);
}

static void put_played(struct json_writer *w, const struct counts *c)
{
    json_put_int(w, "starts", (int64_t)c->starts);
    json_put_int(w, "waits", (int64_t)c->waits);
    json_put_int(w, "wait_ms", c->wait_ms);
    json_put_int(w, "wait_max_ms", c->wait_max_ms);
    json_put_when(w, "wait_max_at", c->wait_max_at_ms);
    json_put_int(w, "late", (int64_t)c->late);
    json_put_int(w, "never_started", (int64_t)c->never);
    json_put_int(w, "expired", (int64_t)c->expired);
    json_put_int(w, "overlaps", (int64_t)c->overlaps);
    json_key(w, "overlapped");
    json_open(w);
    json_put_int(w, "skipped", (int64_t)c->skips[SKIP_OVERLAP]);
    json_put_int(w, "queued", (int64_t)c->queued);
    json_put_int(w, "replaced", (int64_t)c->replaced);
    json_put_int(w, "parallel", (int64_t)c->parallel);
    json_close(w);
    json_put_int(w, "sla_expected_at_risk", (int64_t)c->sla_expected);
    json_put_int(w, "sla_max_at_risk", (int64_t)c->sla_max);
    json_put_int(w, "cut_by_timeout", (int64_t)c->cut);
    json_put_int(w, "busy_ms", c->busy_ms);
}

static void put_counts(struct json_writer *w, const struct counts *c, bool firings_only)
{
    json_put_int(w, "firings", (int64_t)c->firings);
    json_put_int(w, "held", (int64_t)c->held);
    put_skips(w, c);
    if (!firings_only)
        put_played(w, c);
}

static void put_rows(struct json_writer *w, const struct report *r, const struct plan *plan,
                     enum report_by by)
{
    size_t count;
    const struct score_row **rows = rows_sorted(&plan->score, by, &r->cli->arena, &count);
    json_open_array(w);
    for (size_t i = 0; i < count; i++) {
        json_open(w);
        json_put_str(w, "name", rows[i]->name);
        if (by == BY_JOB) {
            if (rows[i]->id != 0 && !rows[i]->is_new)
                json_put_id(w, "job_id", ID_JOB, rows[i]->id);
            else
                json_put_null(w, "job_id");
            json_put_str(w, "queue", rows[i]->queue);
            json_put_bool(w, "new", rows[i]->is_new);
        }
        json_put_bool(w, "paused", rows[i]->paused);
        put_counts(w, &rows[i]->counts, plan->firings_only);
        json_close(w);
    }
    json_close_array(w);
}

static void put_steps(struct json_writer *w, const struct plan *plan)
{
    const struct score *t = &plan->score;
    json_open_array(w);
    for (size_t i = 0; i < t->step_count; i++) {
        json_open(w);
        json_put_when(w, "at", t->window.from_ms + (int64_t)i * t->window.step_ms);
        put_counts(w, &t->steps[i].counts, plan->firings_only);
        if (!plan->firings_only)
            json_put_int(w, "running_max", t->steps[i].peak);
        json_close(w);
    }
    json_close_array(w);
}

static void put_stop(struct json_writer *w, const struct plan *plan)
{
    static const char *const why[] = {
        [STOP_END] = NULL, [STOP_FIRINGS] = "firings_max", [STOP_MEMORY] = "memory"};
    json_put_when(w, "stopped_at", plan->end.why == STOP_END ? 0 : plan->end.at_ms);
    if (plan->end.why == STOP_END)
        json_put_null(w, "stopped_by");
    else
        json_put_str(w, "stopped_by", str_c(why[plan->end.why]));
}

static void put_plan(struct json_writer *w, const struct report *r, const struct plan *plan)
{
    json_open(w);
    put_stop(w, plan);
    if (!plan->firings_only) {
        json_put_int(w, "slots", (int64_t)plan->end.slots);
        json_put_int(w, "running_max", plan->score.peak);
        json_put_when(w, "running_max_at", plan->score.peak_at_ms);
    }
    json_key(w, "totals");
    json_open(w);
    put_counts(w, &plan->score.all, plan->firings_only);
    json_close(w);
    json_key(w, "jobs");
    put_rows(w, r, plan, BY_JOB);
    json_key(w, "queues");
    put_rows(w, r, plan, BY_QUEUE);
    json_key(w, "steps");
    put_steps(w, plan);
    json_close(w);
}

static void put_notes(struct json_writer *w, const struct plan_notes *notes)
{
    json_key(w, "notes");
    json_open_array(w);
    for (size_t i = 0; i < notes->count; i++) {
        json_open(w);
        json_put_when(w, "at", notes->items[i].at_ms);
        json_put_str(w, "job", notes->items[i].job);
        json_put_str(w, "text", notes->items[i].text);
        json_close(w);
    }
    json_close_array(w);
    json_put_int(w, "notes_left_out", (int64_t)notes->left_out);
}

static void put_world(struct json_writer *w, const struct report *r)
{
    const struct world *world = r->world;
    json_key(w, "world");
    json_open(w);
    json_put_int(w, "jobs", (int64_t)world->jobs.len);
    json_put_int(w, "jobs_recurring", (int64_t)world->jobs_recurring);
    json_put_int(w, "jobs_with_history", (int64_t)world->jobs_measured);
    json_put_int(w, "assumed_ms", r->assume_ms);
    json_put_int(w, "jobs_paused", (int64_t)world->jobs_paused);
    json_put_int(w, "queues_paused", (int64_t)world->queues_paused);
    json_put_int(w, "jobs_left_out", (int64_t)world->jobs_unread);
    json_put_int(w, "workers_left_out", (int64_t)world->workers_out);
    json_close(w);
}

static void put_worse(struct json_writer *w, const struct report *r)
{
    static const struct counts none = {0};
    json_key(w, "worse");
    json_open_array(w);
    for (size_t i = 0; i < r->after->score.rows.len; i++) {
        const struct score_row *row = r->after->score.rows.items[i];
        const struct score_row *old = row_like(&r->before->score, row);
        if (row_is_worse(old != NULL ? &old->counts : &none, &row->counts))
            json_str(w, row->name);
    }
    json_close_array(w);
}

void report_print_json(const struct report *r)
{
    CLEANUP(buf_free) struct buf out = BUF(OUT_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&out);
    const struct score_window *window = &r->before->score.window;
    json_open(&w);
    json_put_when(&w, "now", r->world->now_ms);
    json_put_when(&w, "from", window->from_ms);
    json_put_when(&w, "until", window->until_ms);
    json_put_int(&w, "step_ms", window->step_ms);
    json_put_bool(&w, "firings_only", r->before->firings_only);
    put_world(&w, r);
    put_notes(&w, r->notes);
    json_key(&w, r->after != NULL ? "before" : "plan");
    put_plan(&w, r, r->before);
    if (r->after != NULL) {
        json_key(&w, "after");
        put_plan(&w, r, r->after);
        json_put_int(&w, "jobs_changed", (int64_t)r->changes->edited);
        json_put_int(&w, "jobs_new", (int64_t)r->changes->added);
        put_worse(&w, r);
    }
    json_put_text(&w, "failed_on", r->failed);
    json_close(&w);
    cli_print_line(buf_str(&out));
}
