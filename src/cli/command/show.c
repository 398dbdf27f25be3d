#include "base/id.h"
#include "cli/api.h"
#include "cli/commands.h"
#include "cli/view.h"
#include "job/job_fields.h"

#include <string.h>

enum { WHY_BYTES_MAX = 1 << 16 };

static const struct opt table[] = {CLI_COMMON_OPTS};

static const struct opts opts = {"show", "ID [options]",
                                 "Shows everything about a job, an execution or a worker (wrk_…).",
                                 table, COUNT_OF(table)};

#define LINE(label, kind, key)                                                                     \
    {                                                                                              \
        {.title = label}, kind, key                                                                \
    }

/* One of the two: a moment, or why nobody can say. */
#define STARTS_LINES                                                                               \
    LINE("starts", VIEW_WHEN, "estimated_start_time"), LINE("starts", VIEW_TEXT, "starts_unknown")

static const struct view_field job_lines[] = {
    LINE("job", VIEW_TEXT, "job_id"),
    LINE("name", VIEW_TEXT, "name"),
    LINE("description", VIEW_TEXT, "description"),
    LINE("status", VIEW_STATUS, "status"),
    LINE("phase", VIEW_TEXT, "phase"),
    LINE("why", VIEW_TEXT, "why"),
    STARTS_LINES,
    LINE("runs", VIEW_WORK, ""),
    LINE("schedule", VIEW_TEXT, "schedule_text"),
    LINE("next run", VIEW_WHEN, "next_run_at"),
    LINE("ping due", VIEW_WHEN, "ping_due_at"),
    LINE("expects", VIEW_PAIRS, "expect"),
    LINE("overlap", VIEW_TEXT, "overlap"),
    LINE("misfire", VIEW_PAIRS, "misfire"),
    LINE("stagger", VIEW_TEXT, "stagger"),
    LINE("working dir", VIEW_TEXT, "working_dir"),
    LINE("environment", VIEW_PAIRS, "env"),
    LINE("payload", VIEW_JSON, "payload"),
    LINE("queue", VIEW_TEXT, "queue"),
    LINE("team", VIEW_TEXT, "team"),
    LINE("priority", VIEW_TEXT, "priority"),
    LINE("tags", VIEW_PAIRS, "tags"),
    LINE("timeout", VIEW_TEXT, "timeout"),
    LINE("late after", VIEW_TEXT, "start_within"),
    LINE("expires in", VIEW_TEXT, "expires_in"),
    LINE("retries", VIEW_TEXT, "retry.max_retries"),
    LINE("sla", VIEW_PAIRS, "sla"),
    LINE("breaker", VIEW_TEXT, "breaker"),
    LINE("owner", VIEW_TEXT, "owner"),
    LINE("created", VIEW_WHEN, "created_at"),
    LINE("version", VIEW_TEXT, "version"),
    LINE("changed", VIEW_WHEN, "changed_at"),
    LINE("finished", VIEW_WHEN, "finished_at"),
};

static const struct view_field execution_lines[] = {
    LINE("execution", VIEW_TEXT, "execution_id"),
    LINE("job", VIEW_TEXT, "job_id"),
    LINE("name", VIEW_TEXT, "job_name"),
    LINE("origin", VIEW_TEXT, "origin"),
    LINE("slot", VIEW_WHEN, "slot"),
    LINE("local time", VIEW_TEXT, "nominal_time"),
    LINE("last slot", VIEW_WHEN, "slot_last"),
    LINE("retry of", VIEW_TEXT, "retry_of"),
    LINE("trace", VIEW_TEXT, "trace_id"),
    LINE("status", VIEW_STATUS, "status"),
    LINE("why", VIEW_TEXT, "why"),
    STARTS_LINES,
    LINE("queue", VIEW_TEXT, "queue"),
    LINE("priority", VIEW_TEXT, "priority"),
    LINE("worker", VIEW_TEXT, "worker_id"),
    LINE("created", VIEW_WHEN, "created_at"),
    LINE("due", VIEW_WHEN, "due_at"),
    LINE("next attempt", VIEW_WHEN, "next_attempt_at"),
    LINE("started", VIEW_WHEN, "started_at"),
    LINE("finished", VIEW_WHEN, "finished_at"),
    LINE("took", VIEW_DURATION, "duration_ms"),
    LINE("attempts", VIEW_TEXT, "attempt_count"),
    LINE("lost", VIEW_COUNT, "lost_count"),
    LINE("returned", VIEW_COUNT, "returned_count"),
    LINE("sla broken", VIEW_TEXT, "sla.broken"),
    LINE("sla expected exceeded", VIEW_TEXT, "sla.exceeded_expected"),
    LINE("sla extended", VIEW_DURATION, "sla.extended_ms"),
    LINE("error", VIEW_WHY, ""),
    LINE("result", VIEW_JSON, "result"),
};

static const struct view_field worker_lines[] = {
    LINE("worker", VIEW_TEXT, "worker_id"),
    LINE("name", VIEW_TEXT, "name"),
    LINE("status", VIEW_STATUS, "status"),
    LINE("draining", VIEW_TEXT, "draining"),
    LINE("cordoned", VIEW_WHEN, "cordoned_at"),
    LINE("by", VIEW_TEXT, "cordoned_by"),
    LINE("reason", VIEW_TEXT, "cordon_reason"),
    LINE("slots", VIEW_TEXT, "slots"),
    LINE("busy", VIEW_TEXT, "busy"),
    LINE("free", VIEW_TEXT, "free"),
    LINE("queues", VIEW_WORDS, "queues"),
    LINE("handlers", VIEW_WORDS, "handlers"),
    LINE("commands", VIEW_TEXT, "commands"),
    LINE("registered", VIEW_WHEN, "registered_at"),
    LINE("seen", VIEW_WHEN, "seen_at"),
};

static const struct view_field run_columns[] = {
    {{.title = "EXECUTION"}, VIEW_TEXT, "execution_id"},
    {{.title = "JOB", .flexible = true}, VIEW_TEXT, "job_name"},
    {{.title = "ATTEMPT", .right = true}, VIEW_TEXT, "attempt"},
    {{.title = "STARTED"}, VIEW_WHEN, "started_at"},
    {{.title = "LEASE UNTIL", .optional = true}, VIEW_WHEN, "lease_until"},
    {{.title = "QUEUE", .flexible = true, .optional = true}, VIEW_TEXT, "queue"},
};

static const struct view_field execution_columns[] = {
    {{.title = "EXECUTION"}, VIEW_TEXT, "execution_id"},
    {{.title = "STATUS"}, VIEW_STATUS, "status"},
    {{.title = "SLOT", .optional = true}, VIEW_WHEN, "slot"},
    {{.title = "TOOK", .right = true}, VIEW_DURATION, "duration_ms"},
    {{.title = "ERROR", .flexible = true, .optional = true}, VIEW_WHY, ""},
    {{.title = "STARTED", .optional = true}, VIEW_WHEN, "started_at"},
    {{.title = "TRIES", .right = true, .optional = true}, VIEW_TEXT, "attempt_count"},
};

static const struct view_field attempt_columns[] = {
    {{.title = "ATTEMPT", .right = true}, VIEW_TEXT, "attempt"},
    {{.title = "OUTCOME"}, VIEW_TEXT, "outcome"},
    {{.title = "CLASS"}, VIEW_TEXT, "error_class"},
    {{.title = "EXIT", .right = true}, VIEW_TEXT, "exit_code"},
    {{.title = "SIGNAL", .right = true}, VIEW_TEXT, "signal"},
    {{.title = "TOOK", .right = true}, VIEW_DURATION, "duration_ms"},
    {{.title = "CPU", .right = true, .optional = true}, VIEW_DURATION, "cpu_ms"},
    {{.title = "MEMORY", .right = true, .optional = true}, VIEW_BYTES, "peak_memory_bytes"},
    {{.title = "OUTPUT", .right = true, .optional = true}, VIEW_BYTES, "output_bytes"},
    {{.title = "ERROR", .flexible = true, .optional = true}, VIEW_TEXT, "error"},
};

static const struct view_field sla_columns[] = {
    {{.title = "AT"}, VIEW_WHEN, "at"},
    {{.title = "SLA"}, VIEW_TEXT, "kind"},
    {{.title = "EXPECTED", .right = true}, VIEW_DURATION, "expected_ms"},
    {{.title = "MAX", .right = true}, VIEW_DURATION, "max_ms"},
    {{.title = "ACTUAL", .right = true}, VIEW_DURATION, "actual_ms"},
    {{.title = "OVER %", .right = true}, VIEW_COUNT, "overrun_percent"},
    {{.title = "ACTION"}, VIEW_TEXT, "action"},
    {{.title = "APPROVER", .flexible = true, .optional = true}, VIEW_TEXT, "approver"},
};

static const struct view_field dependency_columns[] = {
    {{.title = "JOB"}, VIEW_TEXT, "job"},
    {{.title = "TYPE"}, VIEW_TEXT, "type"},
    {{.title = "STATE"}, VIEW_TEXT, "state"},
};

static const struct view_field transition_columns[] = {
    {{.title = "AT"}, VIEW_WHEN, "at"},
    {{.title = "EVENT"}, VIEW_TEXT, "event"},
    {{.title = "STATUS"}, VIEW_STATUS, "status"},
    {{.title = "BY", .flexible = true}, VIEW_TEXT, "actor"},
    {{.title = "REASON", .flexible = true, .optional = true}, VIEW_TEXT, "reason"},
};

/* Nothing at all when there is nothing in it. */
static void print_section(struct cli *cli, const char *title, const struct json *items,
                          const struct view_field *columns, size_t count)
{
    CLEANUP(view_free) struct view view;
    view_start(&view, columns, count, &cli->arena);
    if (items == NULL || items->kind != JSON_ARRAY || items->count == 0)
        return;
    for (size_t i = 0; i < items->count; i++)
        view_add_row(&view, &items->items[i]);
    cli_print_line(STR(""));
    cli_print_line(str_c(title));
    view_print(&view, "");
}

static void print_transitions(struct cli *cli, const struct json *thing)
{
    print_section(cli, "what happened", json_get(thing, STR("transitions")), transition_columns,
                  COUNT_OF(transition_columns));
}

static void print_warnings(struct cli *cli, const struct json *job)
{
    const struct json *warnings = json_get(job, STR("warnings"));
    for (size_t i = 0; warnings != NULL && warnings->kind == JSON_ARRAY && i < warnings->count; i++)
        cli_print_line(arena_printf(&cli->arena, "%swarning: %.*s", i == 0 ? "\n" : "",
                                    STR_ARG(api_text(&warnings->items[i], STR("text")))));
}

static bool has_line(const char *key)
{
    for (size_t i = 0; i < COUNT_OF(job_lines); i++) {
        if (strcmp(job_lines[i].key, key) == 0)
            return true;
    }
    return false;
}

/* Plain fields that have no line above are shown behind those, under their own names. */
static void print_job(struct cli *cli, const struct json *job)
{
    struct view_field lines[COUNT_OF(job_lines) + JOB_FIELD_COUNT];
    size_t count = COUNT_OF(job_lines);
    memcpy(lines, job_lines, sizeof job_lines);
    for (size_t i = 0; i < JOB_FIELD_COUNT; i++) {
        const char *key = job_fields[i].key.ptr;
        if (job_fields[i].kind < JOB_KIND_RAW && !has_line(key))
            lines[count++] = (struct view_field)LINE(key, VIEW_TEXT, key);
    }
    view_print_page(lines, count, job, &cli->arena);
}

static enum rc show_job(struct cli *cli, const struct json *job, struct str id, struct err *err)
{
    struct json executions;
    struct str path = arena_printf(&cli->arena, "/jobs/%.*s/executions", STR_ARG(id));
    TRY(api_get(cli, path, &executions, err));
    print_job(cli, job);
    print_warnings(cli, job);
    print_section(cli, "waits for", json_get(job, STR("depends_on")), dependency_columns,
                  COUNT_OF(dependency_columns));
    print_section(cli, "awaited by", json_get(job, STR("dependants")), dependency_columns,
                  COUNT_OF(dependency_columns));
    print_section(cli, "executions", json_get(&executions, STR("executions")), execution_columns,
                  COUNT_OF(execution_columns));
    print_transitions(cli, job);
    return RC_OK;
}

/* The last lines of the newest attempt that left some, each made harmless for a terminal. */
static void print_tail(struct cli *cli, const struct json *attempts)
{
    struct str tail = {0};
    for (size_t i = 0; attempts != NULL && attempts->kind == JSON_ARRAY && i < attempts->count;
         i++) {
        struct str text = api_text(&attempts->items[i], STR("error_tail"));
        tail = text.len > 0 ? text : tail;
    }
    if (tail.len == 0)
        return;
    cli_print_line(STR(""));
    cli_print_line(STR("last lines of its error output"));
    while (tail.len > 0)
        cli_print_line(view_one_line(str_cut(&tail, '\n'), &cli->arena));
}

static enum rc show_execution(struct cli *cli, const struct json *execution)
{
    view_print_page(execution_lines, COUNT_OF(execution_lines), execution, &cli->arena);
    print_section(cli, "attempts", json_get(execution, STR("attempts")), attempt_columns,
                  COUNT_OF(attempt_columns));
    print_tail(cli, json_get(execution, STR("attempts")));
    print_section(cli, "SLA", json_get(execution, STR("sla_events")), sla_columns,
                  COUNT_OF(sla_columns));
    print_transitions(cli, execution);
    return RC_OK;
}

/* A run that only waits for its time is as it should be, and the page says when that is. */
static bool is_held_back(const struct json *blockers)
{
    if (blockers == NULL || blockers->kind != JSON_ARRAY || blockers->count == 0)
        return false;
    return blockers->count > 1 ||
           !str_eq(api_text(&blockers->items[0], STR("kind")), STR("scheduled"));
}

/* When it is likely to start. Nothing while it runs or is over, which the status says. */
static void put_start(struct cli *cli, struct json_writer *w, const struct json *explanation)
{
    struct str at = api_text(explanation, STR("estimated_start_time"));
    struct str reason = api_text(explanation, STR("estimated_start_reason"));
    if (at.len > 0)
        json_put_str(w, "estimated_start_time", at);
    else if (reason.len > 0 && !str_eq(reason, STR("started")) &&
             !str_eq(reason, STR("finished")) && !str_eq(reason, STR("ping")))
        json_put_str(w, "starts_unknown",
                     arena_printf(&cli->arena, "not known: %.*s", STR_ARG(reason)));
}

/* Why it waits and until when, as more members. Without an answer the rest is shown all the
 * same. */
static void add_why(struct cli *cli, const struct cli_target *target, struct json *thing)
{
    const struct json *finished = json_get(thing, STR("finished_at"));
    struct json answer;
    struct err ignored;
    if (finished == NULL || finished->kind != JSON_NULL ||
        api_explain(cli, target, &answer, &ignored) != RC_OK)
        return;
    CLEANUP(buf_free) struct buf text = BUF(thing->raw.len + WHY_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&text);
    struct json both;
    json_open(&w);
    if (is_held_back(json_get(&answer, STR("blockers"))))
        json_put_str(&w, "why", api_text(&answer, STR("summary")));
    put_start(cli, &w, &answer);
    json_raw_members(&w, thing->raw);
    json_close(&w);
    if (!text.overflow && json_parse_by(&json_from_server, arena_str(&cli->arena, buf_str(&text)),
                                        &cli->arena, &both, &ignored) == RC_OK)
        *thing = both;
}

static bool is_worker(const struct cli *cli)
{
    return cli->words.count == 1 && str_starts(str_c(cli->words.items[0]), STR(ID_WORKER));
}

static enum rc show_worker(struct cli *cli, struct err *err)
{
    struct str id;
    struct json worker;
    TRY(api_worker_id(cli, str_c(cli->words.items[0]), &id, err));
    TRY(api_get(cli, arena_printf(&cli->arena, "/workers/%.*s", STR_ARG(id)), &worker, err));
    if (cli->format == CLI_JSON) {
        cli_print_line(worker.raw);
        return RC_OK;
    }
    view_print_page(worker_lines, COUNT_OF(worker_lines), &worker, &cli->arena);
    print_section(cli, "runs", json_get(&worker, STR("executions")), run_columns,
                  COUNT_OF(run_columns));
    return RC_OK;
}

static enum rc show(struct cli *cli, const void *args, struct err *err)
{
    (void)args;
    struct cli_target target;
    struct json thing;
    if (is_worker(cli))
        return show_worker(cli, err);
    TRY(api_target(cli, &target, err));
    struct str path = arena_printf(&cli->arena, "/%s/%.*s",
                                   target.is_execution ? "executions" : "jobs", STR_ARG(target.id));
    TRY(api_get(cli, path, &thing, err));
    if (cli->format == CLI_JSON) {
        cli_print_line(thing.raw);
        return RC_OK;
    }
    add_why(cli, &target, &thing);
    return target.is_execution ? show_execution(cli, &thing)
                               : show_job(cli, &thing, target.id, err);
}

int show_command(int argc, char **argv)
{
    struct cli_common args = {0};
    return cli_main(&opts, argc, argv, &args, show);
}
