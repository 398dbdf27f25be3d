#include "cli/api.h"
#include "cli/commands.h"
#include "cli/patience.h"
#include "wire/http/sse.h"

#include <stdio.h>

enum { QUERY_BYTES_MAX = 1 << 15, EVENT_BYTES_MAX = 16 << 20, EVENT_ID_MAX = 1 << 13 };

struct events_args {
    struct cli_common common;
    bool summary;
    struct opt_list jobs;
    struct opt_list executions;
    struct opt_list queues;
    struct opt_list types;
    const char *after;
    bool follow;
};

#define AT(member) offsetof(struct events_args, member)
static const struct opt table[] = {
    {"summary", 0, OPT_FLAG, NULL, AT(summary), "numbers once a second, and what is named"},
    {"job", 0, OPT_LIST, "JOB", AT(jobs), "events about this job, by id or name; may be repeated"},
    {"execution", 0, OPT_LIST, "ID", AT(executions), "… about this execution; may be repeated"},
    {"queue", 0, OPT_LIST, "Q", AT(queues), "… about this queue; may be repeated"},
    {"type", 0, OPT_LIST, "TYPE", AT(types), "only execution, queue, breaker or sla events"},
    {"after", 0, OPT_TEXT, "ID", AT(after), "what came after this event: `id` in -o json"},
    {"follow", 'f', OPT_FLAG, NULL, AT(follow), "until it is interrupted, as it does anyway"},
    CLI_COMMON_OPTS,
};

static const struct opts opts = {
    "events", "[options]",
    "Prints what happens, as it happens: an event a line, until it is interrupted. With\n"
    "--summary a line a second says how things stand, and what has no name is left out.\n"
    "When the server is gone, it waits for it and goes on behind the last event. A line that\n"
    "begins with `--` (the event `reset` in JSON) says that some may be missing there.",
    table, COUNT_OF(table)};

/* The printed columns, and where each stands. */
struct watch {
    struct cli *cli;
    struct arena arena; /* of one event */
    struct sse_reader reader;
    struct buf last_id;
    struct patience patience;
    struct err err;
};

static void watch_end(struct watch *w)
{
    arena_free(&w->arena);
    sse_reader_free(&w->reader);
    buf_free(&w->last_id);
}

/* The number at a path of two keys. */
static struct str number_at(const struct json *doc, struct str outer, struct str inner)
{
    const struct json *value = json_get(json_get(doc, outer), inner);
    return value == NULL ? STR("-") : value->raw;
}

static void print_tick(struct watch *w, const struct json *doc)
{
    static const char format[] = "%.*s  queued %.*s  running %.*s  completed %.*s  failed %.*s  "
                                 "busy %.*s of %.*s";
    struct str runs = STR("executions");
    struct str workers = STR("workers");
    cli_print_line(arena_printf(
        &w->arena, format, STR_ARG(api_text(doc, STR("time"))),
        STR_ARG(number_at(doc, runs, STR("queued"))), STR_ARG(number_at(doc, runs, STR("running"))),
        STR_ARG(number_at(doc, runs, STR("completed"))),
        STR_ARG(number_at(doc, runs, STR("failed"))), STR_ARG(number_at(doc, workers, STR("busy"))),
        STR_ARG(number_at(doc, workers, STR("slots")))));
}

/* The server was restarted, or so much has happened since that it remembers no further back. */
static void print_gap(void)
{
    cli_print_line(STR("-- events may be missing here: the server does not remember all of them"));
}

/* The event as it came, and its id, by which a later call can go on. */
static void print_json(const struct sse_event *event)
{
    CLEANUP(buf_free) struct buf line = BUF(EVENT_BYTES_MAX + EVENT_ID_MAX);
    struct json_writer w = JSON_WRITER(&line);
    json_open(&w);
    json_put_str(&w, "event", event->event);
    json_put_raw(&w, "data", event->data);
    if (event->id.len > 0)
        json_put_str(&w, "id", event->id);
    json_close(&w);
    cli_print_line(buf_str(&line));
}

/* "TIME  kind  key=value …", in the order of the document. */
static void print_plain(struct str kind, const struct json *doc)
{
    CLEANUP(buf_free) struct buf line = BUF(EVENT_BYTES_MAX);
    struct str at = api_text(doc, STR("at"));
    if (at.len > 0)
        buf_printf(&line, "%.*s  ", STR_ARG(at));
    buf_add(&line, kind);
    for (size_t i = 0; doc->kind == JSON_OBJECT && i < doc->count; i++) {
        const struct json_member *member = &doc->members[i];
        bool text = member->value.kind == JSON_STRING;
        if (str_eq(member->key, STR("at")) || member->value.kind == JSON_NULL)
            continue;
        buf_printf(&line, "  %.*s=%.*s", STR_ARG(member->key),
                   STR_ARG(text ? member->value.string : member->value.raw));
    }
    cli_print_line(buf_str(&line));
}

static enum rc print_event(struct watch *w, const struct sse_event *event, struct err *err)
{
    struct json doc;
    arena_reset(&w->arena);
    if (w->cli->format == CLI_JSON) {
        print_json(event);
    } else if (str_eq(event->event, STR("reset"))) {
        print_gap();
    } else {
        if (json_parse_by(&json_from_server, event->data, &w->arena, &doc, err))
            return err->rc = RC_CORRUPT;
        if (str_eq(event->event, STR("tick")))
            print_tick(w, &doc);
        else
            print_plain(event->event, &doc);
    }
    cli_flush(); /* a user is watching */
    return cli_written(err);
}

static void on_event(void *arg, const struct sse_event *event)
{
    struct watch *w = arg;
    if (w->err.rc != RC_OK)
        return;
    w->patience.failures = 0;
    buf_clear(&w->last_id);
    buf_add(&w->last_id, event->id);
    (void)print_event(w, event, &w->err); /* on_data asks for it */
}

static enum rc on_data(void *arg, struct str piece, struct err *err)
{
    struct watch *w = arg;
    if (sse_feed(&w->reader, piece, on_event, w, err))
        return err->rc = RC_CORRUPT;
    *err = w->err;
    return err->rc;
}

static enum rc watch_once(struct watch *w, struct str path, struct err *err)
{
    struct api_stream stream = {
        .path = path,
        .accept = STR(SSE_TYPE),
        .last_event_id = buf_str(&w->last_id),
        .on_data = on_data,
        .arg = w,
    };
    w->reader = sse_reader(EVENT_BYTES_MAX);
    enum rc rc = api_stream(w->cli, &stream, err);
    sse_reader_free(&w->reader);
    if (rc != RC_OK)
        return rc;
    return err_set(err, RC_UNREACHABLE, "%.*s broke off", STR_ARG(w->cli->url));
}

static void add_all(struct buf *query, const char *name, const struct opt_list *values)
{
    for (size_t i = 0; i < values->count; i++)
        api_add_param(query, name, values->items[i]);
}

static bool wait_for_server(struct watch *w, enum rc rc)
{
    if (w->patience.failures == 0 && (rc == RC_UNREACHABLE || rc == RC_TIMEOUT))
        fprintf(stderr, "belfry: lost the server, trying again\n");
    return patience_wait(&w->patience, rc);
}

/* It becomes a header of the request. */
static enum rc begin_after(struct watch *w, const struct events_args *args, struct err *err)
{
    struct str id = str_c(args->after);
    if (args->summary)
        return err_set(err, RC_INVALID, "--after does not go with --summary: a tick has no id");
    for (size_t i = 0; i < id.len; i++) {
        if (id.ptr[i] <= ' ' || id.ptr[i] > '~')
            return err_set(err, RC_INVALID, "--after takes the id of an event");
    }
    buf_add(&w->last_id, id);
    if (id.len == 0 || w->last_id.overflow)
        return err_set(err, RC_INVALID, "--after takes the id of an event");
    return RC_OK;
}

static enum rc events(struct cli *cli, const void *arg, struct err *err)
{
    const struct events_args *args = arg;
    CLEANUP(buf_free) struct buf query = BUF(QUERY_BYTES_MAX);
    CLEANUP(watch_end) struct watch w = {.cli = cli, .last_id = BUF(EVENT_ID_MAX)};
    enum rc rc;
    struct json ignored;
    TRY(cli_no_words(cli, err));
    if (args->after != NULL)
        TRY(begin_after(&w, args, err));
    TRY(api_get(cli, STR("/stats"), &ignored, err)); /* one that was never there is told at once */
    api_add_param(&query, "view", args->summary ? "summary" : NULL);
    add_all(&query, "job", &args->jobs);
    add_all(&query, "execution", &args->executions);
    add_all(&query, "queue", &args->queues);
    add_all(&query, "type", &args->types);
    struct str path = arena_printf(&cli->arena, "/events%s%.*s", query.len > 0 ? "?" : "",
                                   STR_ARG(buf_str(&query)));
    do
        rc = watch_once(&w, path, err);
    while (wait_for_server(&w, rc));
    return rc;
}

int events_command(int argc, char **argv)
{
    struct events_args args = {.summary = false};
    return cli_main(&opts, argc, argv, &args.common, events);
}
