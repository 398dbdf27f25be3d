/* apply.c - `belfry apply`: makes the server's jobs what a file says they are. */
#include "cli/api.h"
#include "cli/apply_file.h"
#include "cli/commands.h"
#include "cli/table.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { OUT_BYTES_MAX = 1 << 28, PATH_BYTES_MAX = 4096, SET_BYTES_MAX = 200, NAMED_MAX = 10 };

struct apply_args {
    struct cli_common common;
    const char *file;
    const char *set;
    bool dry_run;
    bool replace;
    bool prune;
    bool yes;
};

#define AT(member) offsetof(struct apply_args, member)
static const struct opt options[] = {
    {"file", 'f', OPT_TEXT, "FILE", AT(file), "the jobs, as JSON; - reads stdin"},
    {"dry-run", 0, OPT_FLAG, NULL, AT(dry_run), "say what would happen, and do nothing"},
    {"replace", 0, OPT_FLAG, NULL, AT(replace),
     "a document is all of a job: fields that it leaves out are removed"},
    {"prune", 0, OPT_FLAG, NULL, AT(prune),
     "cancel what an earlier apply made and is no longer there"},
    {"set", 0, OPT_TEXT, "NAME", AT(set), "which jobs belong together, for --prune (default)"},
    {"yes", 'y', OPT_FLAG, NULL, AT(yes), "cancel without asking"},
    CLI_COMMON_OPTS,
};

static const struct opts opts = {
    "apply", "-f FILE [options]",
    "Makes the jobs that a file describes: creates those that are missing, changes those that\n"
    "differ, and leaves the others alone. Fields that a job of the file leaves out stay as they\n"
    "are, and null removes one. The file is an array of jobs, {\"jobs\": [...]}, or one job on each\n"
    "line; each has a name. Jobs are marked with the tag belfry.apply, and --prune\n"
    "touches no others. A job that runs once and is over is made again. Exits with 1 when a job\n"
    "failed.",
    options, COUNT_OF(options)};

enum result { CREATED, CHANGED, UNCHANGED, FAILED, CANCELLED, RESULTS };

static const char *const words[RESULTS] = {"created", "changed", "unchanged", "failed",
                                           "cancelled"};
static const char *const wishes[RESULTS] = {"would create", "would change", "unchanged", "failed",
                                            "would cancel"};

/* The result for a job. */
struct outcome {
    enum result result;
    struct str name;
    struct str job_id; /* empty: none */
    struct str note;   /* the differences, or the error */
};

struct apply {
    struct cli *cli;
    const struct apply_args *args;
    struct apply_file file;
    struct outcome *outcomes; /* in the run's arena */
    size_t outcome_count;
    size_t counts[RESULTS];
    struct outcome *strangers; /* of this set, and not in the file */
    size_t stranger_count;
    size_t stranger_cap;
};

static void apply_free(struct apply *apply)
{
    apply_file_free(&apply->file);
}

/* ---- one job */

/* Names of fields as one line. */
static struct str join_names(struct apply *apply, const struct json *names)
{
    struct str line = STR("");
    for (size_t i = 0; names != NULL && names->kind == JSON_ARRAY && i < names->count; i++)
        line = arena_printf(&apply->cli->arena, "%.*s%s%.*s", STR_ARG(line), i > 0 ? ", " : "",
                            STR_ARG(names->items[i].string));
    return line;
}

static struct outcome outcome_of(struct apply *apply, const struct apply_job *job,
                                 const struct json *answer)
{
    const struct json *changed = json_get(answer, STR("changed"));
    const struct json *names = json_get(answer, STR("changed_fields"));
    bool is_same = changed != NULL && changed->kind == JSON_BOOL && !changed->boolean;
    return (struct outcome){
        .result = is_same         ? UNCHANGED
                  : names == NULL ? CREATED
                                  : CHANGED,
        .name = job->name,
        .job_id = api_text(answer, STR("job_id")),
        .note = join_names(apply, names),
    };
}

/* The error will meet all other jobs as well. */
static bool is_hopeless(enum rc rc)
{
    return rc == RC_UNREACHABLE || rc == RC_DENIED || rc == RC_TIMEOUT;
}

static void add(struct apply *apply, struct outcome outcome)
{
    apply->outcomes[apply->outcome_count++] = outcome;
    apply->counts[outcome.result]++;
}

/* A job that is over stays as it is beside the new one. Somebody else may make one, or it may end,
 * between two calls; what is still in conflict then is a change that cannot be made. */
static enum rc patch_or_create(struct cli *cli, struct str path, const struct apply_job *job,
                               struct json *ret_answer, struct err *err)
{
    for (int tries = 0;; tries++) {
        struct err why = {0};
        enum rc rc = api_call_if(cli, "If-Match", "PATCH", path, job->document, ret_answer, &why);
        if (rc != RC_NOT_FOUND && rc != RC_CONFLICT) {
            *err = why;
            return rc;
        }
        struct str details = cli->details;
        cli->details = STR("");
        rc = api_call_if(cli, "If-None-Match", "PUT", path, job->fresh, ret_answer, err);
        if (rc != RC_STALE)
            return rc;
        if (tries == 1) {
            cli->details = details;
            *err = why;
            return why.rc;
        }
    }
}

static enum rc apply_one(struct apply *apply, const struct apply_job *job, struct err *err)
{
    struct cli *cli = apply->cli;
    CLEANUP(buf_free) struct buf path = BUF(PATH_BYTES_MAX);
    struct json answer;
    buf_add(&path, STR("/jobs/by-name/"));
    api_add_encoded(&path, arena_printf(&cli->arena, "%.*s", STR_ARG(job->name)).ptr);
    if (apply->args->dry_run)
        buf_add(&path, STR("?dry_run=true"));
    enum rc rc = apply->args->replace
                     ? api_call(cli, "PUT", buf_str(&path), job->document, &answer, err)
                     : patch_or_create(cli, buf_str(&path), job, &answer, err);
    if (is_hopeless(rc))
        return rc;
    if (rc == RC_OK) {
        add(apply, outcome_of(apply, job, &answer));
        return RC_OK;
    }
    struct str why = arena_printf(&cli->arena, "%s", err->text);
    add(apply, (struct outcome){.result = FAILED, .name = job->name, .note = why});
    cli->details = STR("");
    return RC_OK;
}

/* ---- what is no longer there */

static void look_at(void *arg, const struct json *job)
{
    struct apply *apply = arg;
    struct str name = api_text(job, STR("name"));
    if (strmap_get(&apply->file.names, name) != NULL)
        return;
    if (apply->stranger_count == apply->stranger_cap) {
        size_t cap = apply->stranger_cap == 0 ? 16 : 2 * apply->stranger_cap;
        struct outcome *more = ARENA_ARRAY(&apply->cli->arena, struct outcome, cap);
        for (size_t i = 0; i < apply->stranger_count; i++)
            more[i] = apply->strangers[i];
        apply->strangers = more;
        apply->stranger_cap = cap;
    }
    apply->strangers[apply->stranger_count++] =
        (struct outcome){.result = CANCELLED, .name = name, .job_id = api_text(job, STR("job_id"))};
}

static enum rc find_strangers(struct apply *apply, struct err *err)
{
    static const char *const states[] = {"active", "paused"};
    struct cli *cli = apply->cli;
    for (size_t i = 0; i < COUNT_OF(states); i++) {
        CLEANUP(buf_free) struct buf query = BUF(PATH_BYTES_MAX);
        api_add_param(&query, "status", states[i]);
        api_add_param(&query, "tag",
                      arena_printf(&cli->arena, APPLY_TAG ":%s", apply->args->set).ptr);
        struct api_list list = {.path = "/jobs", .key = "jobs", .query = buf_str(&query)};
        TRY(api_list(cli, &list, look_at, apply, NULL, err));
    }
    return RC_OK;
}

static bool is_agreed(const struct apply *apply)
{
    char line[16];
    if (apply->args->yes || apply->stranger_count == 0)
        return true;
    fprintf(stderr, "cancel %zu jobs that are no longer in %s (", apply->stranger_count,
            apply->args->file);
    for (size_t i = 0; i < apply->stranger_count && i < NAMED_MAX; i++)
        fprintf(stderr, "%s%.*s", i > 0 ? ", " : "", STR_ARG(apply->strangers[i].name));
    fprintf(stderr, "%s)? [y/N] ", apply->stranger_count > NAMED_MAX ? ", ..." : "");
    return fgets(line, sizeof line, stdin) != NULL && (line[0] == 'y' || line[0] == 'Y');
}

static enum rc prune(struct apply *apply, struct err *err)
{
    struct cli *cli = apply->cli;
    TRY(find_strangers(apply, err));
    if (!apply->args->dry_run && !is_agreed(apply)) {
        fprintf(stderr, "nothing was cancelled\n");
        return RC_OK;
    }
    for (size_t i = 0; i < apply->stranger_count; i++) {
        struct outcome *stranger = &apply->strangers[i];
        struct json answer;
        struct str path = arena_printf(&cli->arena, "/jobs/%.*s", STR_ARG(stranger->job_id));
        enum rc rc =
            apply->args->dry_run ? RC_OK : api_call(cli, "DELETE", path, STR(""), &answer, err);
        if (is_hopeless(rc))
            return rc;
        if (rc != RC_OK && rc != RC_CONFLICT) { /* it may have ended by itself */
            stranger->result = FAILED;
            stranger->note = arena_printf(&cli->arena, "%s", err->text);
        }
        apply->counts[stranger->result]++;
    }
    cli->details = STR("");
    return RC_OK;
}

/* ---- telling */

static struct str word_of(const struct apply *apply, enum result result)
{
    return str_c(apply->args->dry_run ? wishes[result] : words[result]);
}

static void add_rows(const struct apply *apply, struct table *table, const struct outcome *outcomes,
                     size_t count)
{
    for (size_t i = 0; i < count; i++) {
        table_add(table, word_of(apply, outcomes[i].result));
        table_add(table, outcomes[i].name);
        table_add(table, outcomes[i].job_id);
        table_add(table, outcomes[i].note);
    }
}

static void print_table(const struct apply *apply, size_t cancelled)
{
    static const struct column columns[] = {
        {.title = "RESULT"},
        {.title = "NAME", .flexible = true},
        {.title = "JOB"},
        {.title = "WHAT", .flexible = true},
    };
    CLEANUP(table_free) struct table table = TABLE(columns, COUNT_OF(columns));
    CLEANUP(buf_free) struct buf out = BUF(OUT_BYTES_MAX);
    add_rows(apply, &table, apply->outcomes, apply->outcome_count);
    add_rows(apply, &table, apply->strangers, cancelled);
    if (table.cell_count > 0)
        table_print(&table, table_paper(), &out);
    cli_print(buf_str(&out));
}

static void print_outcomes(struct json_writer *w, const struct outcome *outcomes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        json_open(w);
        json_put_str(w, "name", outcomes[i].name);
        json_put_str(w, "result", str_c(words[outcomes[i].result]));
        json_put_text(w, "job_id", outcomes[i].job_id);
        if (outcomes[i].result == FAILED) {
            json_put_str(w, "error", outcomes[i].note);
        } else {
            struct str names = outcomes[i].note;
            json_key(w, "changed_fields");
            json_open_array(w);
            while (names.len > 0)
                json_str(w, str_trim(str_cut(&names, ',')));
            json_close_array(w);
        }
        json_close(w);
    }
}

static void print_json(const struct apply *apply, size_t cancelled)
{
    CLEANUP(buf_free) struct buf out = BUF(OUT_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&out);
    json_open(&w);
    json_put_bool(&w, "dry_run", apply->args->dry_run);
    json_key(&w, "jobs");
    json_open_array(&w);
    print_outcomes(&w, apply->outcomes, apply->outcome_count);
    print_outcomes(&w, apply->strangers, cancelled);
    json_close_array(&w);
    for (size_t i = 0; i < RESULTS; i++)
        json_put_int(&w, words[i], (int64_t)apply->counts[i]);
    json_close(&w);
    cli_print_line(buf_str(&out));
}

static void tell(const struct apply *apply)
{
    size_t cancelled =
        apply->counts[CANCELLED] > 0 || apply->args->dry_run ? apply->stranger_count : 0;
    if (apply->cli->format == CLI_JSON)
        print_json(apply, cancelled);
    else
        print_table(apply, cancelled);
    fprintf(stderr, "%s%zu created, %zu changed, %zu unchanged, %zu failed, %zu cancelled\n",
            apply->args->dry_run ? "dry run: " : "", apply->counts[CREATED], apply->counts[CHANGED],
            apply->counts[UNCHANGED], apply->counts[FAILED], apply->counts[CANCELLED]);
}

/* ---- the whole */

static enum rc check(const struct cli *cli, const struct apply_args *args, struct err *err)
{
    bool from_stdin = args->file != NULL && strcmp(args->file, "-") == 0;
    TRY(cli_no_words(cli, err));
    if (args->file == NULL)
        return err_set(err, RC_INVALID, "-f FILE is needed: what to apply");
    if (args->set[0] == '\0' || strlen(args->set) > SET_BYTES_MAX)
        return err_set(err, RC_INVALID, "--set must have 1 to %d bytes", SET_BYTES_MAX);
    if (args->prune && !args->yes && !args->dry_run && (from_stdin || !isatty(STDIN_FILENO)))
        return err_set(
            err, RC_INVALID,
            "--prune asks before it cancels, and there is no terminal to ask on: add --yes");
    return RC_OK;
}

static enum rc run(struct cli *cli, const void *arg, struct err *err)
{
    CLEANUP(apply_free) struct apply apply = {.cli = cli, .args = arg};
    TRY(check(cli, apply.args, err));
    TRY(apply_file_read(cli, apply.args->file, apply.args->set, apply.args->replace, &apply.file,
                        err));
    apply.outcomes = ARENA_ARRAY(&cli->arena, struct outcome, apply.file.count);
    enum rc rc = RC_OK;
    for (size_t i = 0; i < apply.file.count && rc == RC_OK; i++)
        rc = apply_one(&apply, &apply.file.jobs[i], err);
    if (rc == RC_OK && apply.args->prune)
        rc = prune(&apply, err);
    tell(&apply);
    cli->exit_code = apply.counts[FAILED] > 0 ? CLI_FAILED : CLI_OK;
    return rc;
}

int apply_command(int argc, char **argv)
{
    struct apply_args args = {.set = "default"};
    return cli_main(&opts, argc, argv, &args.common, run);
}
