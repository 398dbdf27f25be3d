#include "cli/api.h"
#include "cli/submit.h"

#include <stdio.h>

enum {
    FILE_BYTES_MAX = 1 << 30,
    GROUP_JOBS_MAX = 1000,
    GROUP_BYTES_MAX = 8 << 20, /* half of what a server takes in one request by default */
};

/* Jobs on their way into one call of /jobs/batch. */
struct group {
    struct cli *cli;
    struct buf body;
    struct json_writer writer;
    size_t lines[GROUP_JOBS_MAX]; /* where each came from */
    size_t count;
    struct arena arena; /* of the line being checked */
};

static void group_free(struct group *g)
{
    buf_free(&g->body);
    arena_free(&g->arena);
}

static void group_open(struct group *g)
{
    buf_clear(&g->body);
    g->writer = JSON_WRITER(&g->body);
    g->count = 0;
    json_open(&g->writer);
    json_key(&g->writer, "jobs");
    json_open_array(&g->writer);
}

static void report(struct cli *cli, size_t line, const struct err *err)
{
    fprintf(stderr, "line %zu: %s\n%.*s", line, err->text, STR_ARG(cli->details));
    cli->details = STR("");
    cli->exit_code = CLI_FAILED;
}

static void print_result(struct cli *cli, size_t line, const struct json *result)
{
    struct err err;
    struct str id = api_text(result, STR("job_id"));
    if (id.len > 0) {
        cli_print_line(cli->format == CLI_JSON ? result->raw : id);
        return;
    }
    const struct json *status = json_get(result, STR("status"));
    int number = status != NULL && status->kind == JSON_INT ? (int)status->integer : 0;
    api_problem(cli, number, result, &err);
    report(cli, line, &err);
}

/* Sends what is there and starts anew. */
static enum rc group_send(struct group *g, struct err *err)
{
    struct json answer;
    if (g->count == 0)
        return RC_OK;
    json_close_array(&g->writer);
    json_close(&g->writer);
    TRY(api_call(g->cli, "POST", STR("/jobs/batch"), buf_str(&g->body), &answer, err));
    const struct json *results = json_get(&answer, STR("results"));
    if (results == NULL || results->kind != JSON_ARRAY || results->count != g->count)
        return err_set(err, RC_CORRUPT, "the server did not answer for each job");
    for (size_t i = 0; i < g->count; i++)
        print_result(g->cli, g->lines[i], &results->items[i]);
    group_open(g);
    return RC_OK;
}

static enum rc group_add(struct group *g, size_t line, struct str text, struct err *err)
{
    if (g->count == GROUP_JOBS_MAX || g->body.len + text.len > GROUP_BYTES_MAX)
        TRY(group_send(g, err));
    json_raw(&g->writer, text);
    g->lines[g->count++] = line;
    return RC_OK;
}

/* One document per line. A line that is not even JSON is reported here: in a batch it would spoil
 * the others. */
static enum rc submit_lines(struct cli *cli, struct str text, struct err *err)
{
    CLEANUP(group_free) struct group group = {.cli = cli, .body = BUF(FILE_BYTES_MAX)};
    group_open(&group);
    for (size_t number = 1; text.ptr != NULL; number++) {
        struct str line = str_trim(str_cut(&text, '\n'));
        struct json job;
        struct err wrong;
        if (line.len == 0)
            continue;
        arena_reset(&group.arena);
        if (json_parse(line, &group.arena, &job, &wrong))
            report(cli, number, &wrong);
        else
            TRY(group_add(&group, number, line, err));
    }
    return group_send(&group, err);
}

/* The file describes the jobs, so options that describe one have no place beside it. */
static enum rc check_alone(const struct cli *cli, const struct submit_args *args, struct err *err)
{
    bool described = args->name != NULL || args->queue != NULL || args->priority >= 0 ||
                     args->at != NULL || args->in != NULL || args->cron != NULL ||
                     args->every != NULL || args->tz != NULL || args->seconds ||
                     args->overlap != NULL || args->misfire != NULL || args->stagger != NULL ||
                     args->retries > 0 || args->timeout != NULL || args->concurrency != NULL ||
                     args->rate != NULL || args->env.count > 0 || args->tags.count > 0 ||
                     args->payload != NULL || args->handler != NULL || args->working_dir != NULL;
    if (described || cli->words.count > 0)
        return err_set(err, RC_INVALID,
                       "with -f the file describes the job, and nothing else does");
    return RC_OK;
}

static bool is_object(struct str text, struct arena *arena)
{
    struct json value;
    return json_parse(text, arena, &value, NULL) == RC_OK && value.kind == JSON_OBJECT;
}

/* True when the first or the last line is a document of its own: a broken document over several
 * lines begins and ends otherwise. */
static bool looks_like_lines(struct str text, struct arena *arena)
{
    struct str rest = str_trim(text);
    struct str first = str_cut(&rest, '\n');
    struct str last = first;
    while (rest.ptr != NULL)
        last = str_cut(&rest, '\n');
    return is_object(first, arena) || is_object(last, arena);
}

enum rc submit_file(struct cli *cli, const struct submit_args *args, struct err *err)
{
    struct str text;
    struct json whole;
    TRY(check_alone(cli, args, err));
    TRY(cli_read_file(cli, args->file, FILE_BYTES_MAX, &text, err));
    enum rc rc = json_parse(text, &cli->arena, &whole, err);
    if (rc == RC_OK) {
        rc = submit_one(cli, args, text, err);
    } else if (looks_like_lines(text, &cli->arena)) {
        if (args->wait)
            return err_set(err, RC_INVALID, "--wait follows one job; %s has many", args->file);
        rc = submit_lines(cli, text, err);
    } else {
        err_note(err, "%s", args->file);
    }
    /* What stands in a file is not a matter of usage. */
    return rc == RC_INVALID ? (err->rc = RC_CORRUPT) : rc;
}
