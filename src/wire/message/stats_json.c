#include "wire/message/stats_json.h"
#include "base/arena.h"

#include <stdlib.h>

void totals_add(struct totals *tally, const struct counter *counter)
{
    if (counter->kind == COUNTER_JOBS && counter->state < JOB_STATES)
        tally->jobs[counter->state] += counter->value;
    else if (counter->kind == COUNTER_EXECS && counter->state < EXEC_STATES)
        tally->execs[counter->state == EXEC_STOPPING ? EXEC_RUNNING : counter->state] +=
            counter->value; /* users know no stopping state */
    else if (counter->kind == COUNTER_LETTERS)
        tally->letters += counter->value;
}

static void put_job_states(struct json_writer *w, const struct totals *tally)
{
    for (int i = JOB_NONE + 1; i < JOB_STATES; i++) {
        json_key_str(w, job_state_name((enum job_state)i));
        json_int(w, tally->jobs[i]);
    }
}

static void put_exec_states(struct json_writer *w, const struct totals *tally)
{
    for (int i = EXEC_NONE + 1; i < EXEC_STATES; i++) {
        if (i == EXEC_STOPPING)
            continue;
        json_key_str(w, exec_state_name((enum exec_state)i));
        json_int(w, tally->execs[i]);
    }
}

void stats_print_queue(struct json_writer *w, struct str queue, const struct totals *tally)
{
    json_open(w);
    json_put_str(w, "queue", queue);
    put_exec_states(w, tally);
    json_put_int(w, "dead_letters", tally->letters);
    json_close(w);
}

bool stats_parse_queue(const struct json *doc, struct str *ret_queue, struct totals *ret_tally)
{
    const struct json *name = json_get(doc, STR("queue"));
    *ret_tally = (struct totals){.letters = 0};
    if (name == NULL || name->kind != JSON_STRING)
        return false;
    *ret_queue = name->string;
    for (int i = EXEC_NONE + 1; i < EXEC_STATES; i++) {
        const struct json *count = json_get(doc, exec_state_name((enum exec_state)i));
        if (i != EXEC_STOPPING && count != NULL && count->kind == JSON_INT)
            ret_tally->execs[i] = count->integer;
    }
    const struct json *letters = json_get(doc, STR("dead_letters"));
    if (letters != NULL && letters->kind == JSON_INT)
        ret_tally->letters = letters->integer;
    return true;
}

static int compare_queues(const void *a, const void *b)
{
    const struct counter *left = a;
    const struct counter *right = b;
    return str_cmp(left->queue, right->queue);
}

/* Sorted by queue, so that what belongs together stands together. */
static const struct counter *sort_counters(const struct stats_view *stats, struct arena *arena)
{
    size_t count = stats->counter_count;
    struct counter *sorted = ARENA_ARRAY(arena, struct counter, count);
    for (size_t i = 0; i < count; i++)
        sorted[i] = stats->counters[i];
    qsort(sorted, count, sizeof *sorted, compare_queues);
    return sorted;
}

static void put_queues(struct json_writer *w, const struct counter *sorted, size_t count)
{
    json_key(w, "queues");
    json_open_array(w);
    for (size_t i = 0; i < count;) {
        struct str queue = sorted[i].queue;
        struct totals tally = {.jobs = {0}};
        for (; i < count && str_eq(sorted[i].queue, queue); i++)
            totals_add(&tally, &sorted[i]);
        if (queue.len == 0)
            continue; /* of queues that were forgotten: they count in the sums alone */
        stats_print_queue(w, queue, &tally);
    }
    json_close_array(w);
}

static void put_sums(struct json_writer *w, const struct stats_view *stats,
                     const struct stats_moment *moment)
{
    struct totals total = {.jobs = {0}};
    for (size_t i = 0; i < stats->counter_count; i++)
        totals_add(&total, &stats->counters[i]);
    json_put_when(w, "time", moment->now_ms);
    json_put_when(w, "as_of", moment->as_of_ms);
    json_put_int(w, "uptime_ms", moment->uptime_ms);
    json_key(w, "jobs");
    json_open(w);
    put_job_states(w, &total);
    json_close(w);
    json_key(w, "executions");
    json_open(w);
    put_exec_states(w, &total);
    json_close(w);
    json_put_int(w, "dead_letters", total.letters);
}

static void put_servers_own(struct json_writer *w, const struct stats_view *stats)
{
    json_key(w, "workers");
    json_open(w);
    json_put_int(w, "count", (int64_t)stats->worker_count);
    json_put_int(w, "slots", (int64_t)stats->slots);
    json_put_int(w, "busy", (int64_t)stats->busy);
    json_close(w);
    json_put_int(w, "quarantined", (int64_t)stats->quarantined);
    json_key(w, "inbox");
    json_open(w);
    json_put_int(w, "waiting", (int64_t)stats->mail_waiting);
    json_put_int(w, "unknown", (int64_t)stats->mail_unknown);
    json_close(w);
    json_key(w, "store");
    json_open(w);
    json_put_int(w, "commits", (int64_t)stats->cost.commits);
    json_put_int(w, "syncs", (int64_t)stats->cost.syncs);
    json_put_int(w, "sync_ms", (int64_t)(stats->cost.sync_us / 1000));
    json_close(w);
}

void stats_print(struct json_writer *w, const struct stats_view *stats,
                 const struct stats_moment *moment, struct arena *arena)
{
    json_open(w);
    put_sums(w, stats, moment);
    put_queues(w, sort_counters(stats, arena), stats->counter_count);
    put_servers_own(w, stats);
    json_close(w);
}

void stats_print_sums(struct json_writer *w, const struct stats_view *stats,
                      const struct stats_moment *moment)
{
    json_open(w);
    put_sums(w, stats, moment);
    put_servers_own(w, stats);
    json_close(w);
}
