/* report.c - `belfry report`: how things went, side by side, as a table, JSON or CSV. */
#include "cli/api.h"
#include "cli/commands.h"
#include "cli/csv.h"
#include "cli/view.h"

enum { QUERY_BYTES_MAX = 1 << 13, CSV_BYTES_MAX = 1 << 24, FIELDS_MAX = 12, LIMIT_DEFAULT = 20 };

enum by { BY_JOB, BY_QUEUE, BY_TEAM, BY_OWNER };

struct report_args {
    struct cli_common common;
    unsigned by;
    const char *since;
    const char *until;
    const char *queue;
    const char *team;
    const char *owner;
    const char *sort;
    int64_t limit;
};

#define AT(member) offsetof(struct report_args, member)
static const struct opt table[] = {
    {"by", 0, OPT_CHOICE, "job|queue|team|owner", AT(by), "what a line is about (queue)"},
    {"since", 0, OPT_TEXT, "WHEN", AT(since), "from then on: 7d, 24h, 2026-11-01 or a time (7d)"},
    {"until", 0, OPT_TEXT, "WHEN", AT(until), "up to then (now)"},
    {"queue", 0, OPT_TEXT, "Q", AT(queue), "with --by job: only jobs of this queue"},
    {"team", 0, OPT_TEXT, "T", AT(team), "… of this team"},
    {"owner", 0, OPT_TEXT, "O", AT(owner), "… of this owner"},
    {"sort", 0, OPT_TEXT, "WORD", AT(sort), "what comes first: see above"},
    {"limit", 0, OPT_NUMBER, "N", AT(limit), "lines, up to 1000; the others are added up (20)"},
    CLI_SERVER_OPTS,
    {"output", 'o', OPT_CHOICE, "table|json|csv", CLI_COMMON_AT(format), "how to print (table)"},
    OPT_HELP(struct cli_common, help),
};

static const struct opts opts = {
    "report", "failures|successes|sla|slowest [options]",
    "Prints how things went, a line for each queue, team, owner or recurring job, and what\n"
    "that was in the same stretch of time before it. Jobs that run once count for their queue,\n"
    "team and owner, and have no line of their own. More than a day is counted in days (UTC).\n"
    "\n"
    "  failures   what failed, and of which class most; --sort failed, rate, total, key\n"
    "  successes  what succeeded, and how long it took; --sort succeeded, rate, total, key\n"
    "  sla        which SLAs were met; --sort violated, rate, overrun, total, key\n"
    "  slowest    what took longest; --sort average, time, completed, key\n"
    "\n"
    "The first word is what counts without --sort; `rate` begins with the worst. CSV is as\n"
    "RFC 4180 says, with a line of titles; text that a spreadsheet would take for a formula\n"
    "begins with an apostrophe.",
    table, COUNT_OF(table)};

/* ---- what each report prints */

#define NUMBER(title_, key_)                                                                       \
    {                                                                                              \
        {.title = (title_), .right = true}, VIEW_TEXT, (key_)                                      \
    }
#define RATE(title_, key_)                                                                         \
    {                                                                                              \
        {.title = (title_), .right = true}, VIEW_RATE, (key_)                                      \
    }
#define TIME(title_, key_)                                                                         \
    {                                                                                              \
        {.title = (title_), .right = true}, VIEW_DURATION, (key_)                                  \
    }
#define LABEL                                                                                      \
    {                                                                                              \
        {.title = NULL, .flexible = true}, VIEW_TEXT, "label"                                      \
    } /* titled by what it is */

static const struct view_field failure_fields[] = {
    LABEL,
    NUMBER("TOTAL", "total"),
    NUMBER("FAILED", "failed"),
    RATE("RATE", "rate"),
    RATE("BEFORE", "previous.rate"),
    {{.title = "MOSTLY", .flexible = true}, VIEW_TEXT, "top_class"},
};

static const struct view_field success_fields[] = {
    LABEL,
    NUMBER("TOTAL", "total"),
    NUMBER("SUCCEEDED", "succeeded"),
    RATE("RATE", "rate"),
    RATE("BEFORE", "previous.rate"),
    TIME("P50", "p50_duration_ms"),
    TIME("P95", "p95_duration_ms"),
    TIME("MAX", "max_duration_ms"),
};

static const struct view_field sla_fields[] = {
    LABEL,
    NUMBER("TOTAL", "total"),
    NUMBER("MET", "met"),
    NUMBER("VIOLATED", "violated"),
    RATE("RATE", "rate"),
    RATE("BEFORE", "previous.rate"),
    TIME("OVERRUN", "average_overrun_ms"),
    NUMBER("EXCEEDED", "exceeded_expected"),
};

static const struct view_field slowest_fields[] = {
    LABEL,
    NUMBER("COMPLETED", "completed"),
    TIME("AVERAGE", "average_duration_ms"),
    TIME("BEFORE", "previous.average_duration_ms"),
    TIME("P50", "p50_duration_ms"),
    TIME("P95", "p95_duration_ms"),
    TIME("MAX", "max_duration_ms"),
    TIME("TOGETHER", "total_duration_ms"),
};

/* Columns of CSV behind `row`, `key` and `name`: members of a line, and of the time before it. */
#define CSV_PREVIOUS "previous."
static const char *const failure_csv[] = {
    "total",          "failed",          "rate",          "top_class",
    "previous.total", "previous.failed", "previous.rate", NULL};
static const char *const success_csv[] = {"total",
                                          "succeeded",
                                          "deduplicated",
                                          "rate",
                                          "average_duration_ms",
                                          "p50_duration_ms",
                                          "p95_duration_ms",
                                          "max_duration_ms",
                                          "previous.total",
                                          "previous.succeeded",
                                          "previous.rate",
                                          NULL};
static const char *const sla_csv[] = {"total",
                                      "met",
                                      "violated",
                                      "rate",
                                      "average_duration_ms",
                                      "overruns",
                                      "average_overrun_ms",
                                      "average_violation_percentage",
                                      "exceeded_expected",
                                      "uncounted_expected",
                                      "previous.total",
                                      "previous.violated",
                                      "previous.rate",
                                      NULL};
static const char *const slowest_csv[] = {"completed",
                                          "average_duration_ms",
                                          "total_duration_ms",
                                          "p50_duration_ms",
                                          "p95_duration_ms",
                                          "max_duration_ms",
                                          "previous.completed",
                                          "previous.average_duration_ms",
                                          NULL};

static const struct report {
    struct str name;
    const struct view_field *fields;
    size_t field_count;
    const char *const *csv;
    const char *nothing;
} reports[] = {
    {STR_INIT("failures"), failure_fields, COUNT_OF(failure_fields), failure_csv, "nothing failed"},
    {STR_INIT("successes"), success_fields, COUNT_OF(success_fields), success_csv, "nothing ended"},
    {STR_INIT("sla"), sla_fields, COUNT_OF(sla_fields), sla_csv, "nothing with an SLA ended"},
    {STR_INIT("slowest"), slowest_fields, COUNT_OF(slowest_fields), slowest_csv,
     "nothing completed"},
};

static const struct report *find_report(struct str name)
{
    for (size_t i = 0; i < COUNT_OF(reports); i++) {
        if (str_eq(name, reports[i].name))
            return &reports[i];
    }
    return NULL;
}

/* ---- for people */

/* A line with one more member: what people call it. */
static struct json labelled(const struct json *line, struct str label, struct arena *arena)
{
    struct json copy = *line;
    struct json_member *members = ARENA_ARRAY(arena, struct json_member, line->count + 1);
    for (size_t i = 0; i < line->count; i++)
        members[i] = line->members[i];
    members[copy.count++] = (struct json_member){
        .key = STR("label"), .value = {.kind = JSON_STRING, .string = label, .raw = label}};
    copy.members = members;
    return copy;
}

static void add_line(struct view *view, const struct json *line, struct str label)
{
    struct json copy;
    if (line == NULL || line->kind != JSON_OBJECT)
        return;
    copy = labelled(line, label, view->arena);
    view_add_row(view, &copy);
}

static struct str name_of(const struct json *row)
{
    struct str name = api_text(row, STR("name"));
    return name.len > 0 ? name : api_text(row, STR("key"));
}

static void print_when(struct cli *cli, const struct json *answer)
{
    struct str from = api_text(answer, STR("from"));
    struct str until = api_text(answer, STR("until"));
    if (from.len >= 16 && until.len >= 16)
        cli_print_line(arena_printf(&cli->arena, "%.10s %.5sZ to %.10s %.5sZ", from.ptr,
                                    from.ptr + 11, until.ptr, until.ptr + 11));
}

static void print_notes(struct cli *cli, const struct json *answer)
{
    const struct json *notes = json_get(answer, STR("notes"));
    struct str since = api_text(answer, STR("counted_since"));
    for (size_t i = 0; notes != NULL && notes->kind == JSON_ARRAY && i < notes->count; i++) {
        if (notes->items[i].kind == JSON_STRING)
            cli_print_line(view_one_line(notes->items[i].string, &cli->arena));
    }
    if (since.len >= 16)
        cli_print_line(
            arena_printf(&cli->arena, "counted since %.10s %.5sZ only", since.ptr, since.ptr + 11));
}

static void print_table(struct cli *cli, const struct report *report, enum by by,
                        const struct json *answer)
{
    static const char *const titles[] = {"JOB", "QUEUE", "TEAM", "OWNER"};
    struct view_field fields[FIELDS_MAX];
    CLEANUP(view_free) struct view view = {0};
    for (size_t i = 0; i < report->field_count; i++)
        fields[i] = report->fields[i];
    fields[0].column.title = titles[by];
    view_start(&view, fields, report->field_count, &cli->arena);
    const struct json *rows = json_get(answer, STR("rows"));
    size_t count = rows != NULL && rows->kind == JSON_ARRAY ? rows->count : 0;
    const struct json *others = json_get(answer, STR("other_keys"));
    for (size_t i = 0; i < count; i++)
        add_line(&view, &rows->items[i], name_of(&rows->items[i]));
    if (others != NULL && others->kind == JSON_INT && others->integer > 0)
        add_line(&view, json_get(answer, STR("others")),
                 arena_printf(&cli->arena, "(%.*s others)", STR_ARG(others->raw)));
    if (count > 0)
        add_line(&view, json_get(answer, STR("total")), STR("(all)"));
    print_when(cli, answer);
    view_print(&view, report->nothing);
    print_notes(cli, answer);
}

/* ---- for spreadsheets */

static void add_member(struct csv *csv, const struct json *line, struct str path)
{
    if (str_starts(path, STR(CSV_PREVIOUS))) {
        line = json_get(line, STR("previous"));
        path = str_from(path, sizeof CSV_PREVIOUS - 1);
    }
    const struct json *value = json_get(line, path);
    if (value == NULL || value->kind == JSON_NULL)
        csv_add_value(csv, STR(""));
    else
        csv_add_value(csv, value->kind == JSON_STRING ? value->string : value->raw);
}

static void add_csv_line(struct csv *csv, const struct report *report, struct str kind,
                         const struct json *line)
{
    csv_add_value(csv, kind);
    csv_add_text(csv, api_text(line, STR("key")));
    csv_add_text(csv, api_text(line, STR("name")));
    for (const char *const *path = report->csv; *path != NULL; path++)
        add_member(csv, line, str_c(*path));
    csv_end_row(csv);
}

static void add_titles(struct csv *csv, const struct report *report, struct arena *arena)
{
    csv_add_value(csv, STR("row"));
    csv_add_value(csv, STR("key"));
    csv_add_value(csv, STR("name"));
    for (const char *const *path = report->csv; *path != NULL; path++) {
        struct str title = arena_str(arena, str_c(*path));
        if (str_starts(title, STR(CSV_PREVIOUS)))
            title = arena_printf(arena, "previous_%s", *path + sizeof CSV_PREVIOUS - 1);
        csv_add_value(csv, title);
    }
    csv_end_row(csv);
}

static enum rc print_csv(struct cli *cli, const struct report *report, const struct json *answer,
                         struct err *err)
{
    CLEANUP(buf_free) struct buf text = BUF(CSV_BYTES_MAX);
    struct csv csv = {.out = &text};
    const struct json *rows = json_get(answer, STR("rows"));
    add_titles(&csv, report, &cli->arena);
    for (size_t i = 0; rows != NULL && rows->kind == JSON_ARRAY && i < rows->count; i++)
        add_csv_line(&csv, report, STR("key"), &rows->items[i]);
    add_csv_line(&csv, report, STR("others"), json_get(answer, STR("others")));
    add_csv_line(&csv, report, STR("total"), json_get(answer, STR("total")));
    if (text.overflow)
        return err_set(err, RC_IO, "the report is too large");
    cli_print(buf_str(&text));
    return RC_OK;
}

/* ---- the command */

static enum rc ask(struct cli *cli, const struct report_args *args, const struct report *report,
                   struct json *ret_answer, struct err *err)
{
    static const char *const words[] = {"job", "queue", "team", "owner"};
    CLEANUP(buf_free) struct buf query = BUF(QUERY_BYTES_MAX);
    api_add_param(&query, "by", words[args->by]);
    api_add_param(&query, "since", args->since);
    api_add_param(&query, "until", args->until);
    api_add_param(&query, "queue", args->queue);
    api_add_param(&query, "team", args->team);
    api_add_param(&query, "owner", args->owner);
    api_add_param(&query, "sort", args->sort);
    buf_printf(&query, "&limit=%lld", (long long)args->limit);
    return api_get(cli,
                   arena_printf(&cli->arena, "/reports/%.*s?%.*s", STR_ARG(report->name),
                                STR_ARG(buf_str(&query))),
                   ret_answer, err);
}

static enum rc run(struct cli *cli, const void *arg, struct err *err)
{
    const struct report_args *args = arg;
    const struct report *report = NULL;
    struct json answer;
    if (cli->words.count == 1)
        report = find_report(str_c(cli->words.items[0]));
    if (report == NULL)
        return err_set(err, RC_INVALID, "takes one of failures, successes, sla and slowest");
    TRY(ask(cli, args, report, &answer, err));
    if (cli->format == CLI_CSV)
        return print_csv(cli, report, &answer, err);
    if (cli->format == CLI_JSON)
        cli_print_line(answer.raw);
    else
        print_table(cli, report, (enum by)args->by, &answer);
    return RC_OK;
}

int report_command(int argc, char **argv)
{
    struct report_args args = {.by = BY_QUEUE, .limit = LIMIT_DEFAULT};
    return cli_main(&opts, argc, argv, &args.common, run);
}
