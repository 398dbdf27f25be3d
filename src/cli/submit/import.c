/* import.c - `belfry import crontab FILE`: the jobs of a crontab, and what became of each line. */
#include "cli/api.h"
#include "cli/commands.h"
#include "cli/crontab.h"
#include "cli/crontab_document.h"
#include "cli/submit/batch.h"
#include "cli/table.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { OUT_BYTES_MAX = 1 << 26 };

struct import_args {
    struct cli_common common;
    const char *timezone;
    const char *prefix;
    bool system;
    bool dry_run;
};

#define AT(member) offsetof(struct import_args, member)
static const struct opt table[] = {
    {"system", 0, OPT_FLAG, NULL, AT(system), "there is a column for the user, as in /etc/crontab"},
    {"tz", 0, OPT_TEXT, "ZONE", AT(timezone), "where no CRON_TZ is set (this machine's zone)"},
    {"prefix", 0, OPT_TEXT, "TEXT", AT(prefix), "what names of jobs begin with (the file's name)"},
    {"dry-run", 0, OPT_FLAG, NULL, AT(dry_run), "print the jobs, one on each line, create none"},
    CLI_COMMON_OPTS,
};

static const struct opts opts = {
    "import", "crontab FILE|- [options]",
    "Makes jobs of the entries of a crontab, and says what it could not keep. Each behaves as it\n"
    "did with cron: it is not retried, runs beside one that is not over, and what was missed while\n"
    "the server was down stays missed. Exits with 1 when a line was refused.",
    table, COUNT_OF(table)};

/* ---- what to read, and how */

/* The zone of this machine, which is what cron goes by: a link into the zone files. */
static struct str machine_zone(struct arena *arena)
{
    static const char root[] = "zoneinfo/";
    char path[PATH_MAX];
    ssize_t len = readlink("/etc/localtime", path, sizeof path - 1);
    path[len > 0 ? len : 0] = '\0';
    const char *name = strstr(path, root);
    return name == NULL ? STR("UTC") : arena_str(arena, str_c(name + sizeof root - 1));
}

static struct str file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return str_c(slash == NULL ? path : slash + 1);
}

/* Files of the system have a column for the user, whoever forgets to say so. */
static bool is_system_path(const char *path)
{
    return strcmp(path, "/etc/crontab") == 0 || str_starts(str_c(path), STR("/etc/cron.d/"));
}

static enum rc read_crontab(struct cli *cli, const struct import_args *args,
                            struct crontab *ret_crontab, struct err *err)
{
    struct str text;
    if (cli->words.count != 2 || strcmp(cli->words.items[0], "crontab") != 0)
        return err_set(err, RC_INVALID, "takes the word crontab and a file, or - for stdin");
    const char *path = cli->words.items[1];
    bool is_stdin = strcmp(path, "-") == 0;
    struct crontab_options options = {
        .system = args->system || is_system_path(path),
        .timezone = args->timezone != NULL ? str_c(args->timezone) : machine_zone(&cli->arena),
        .prefix = args->prefix != NULL ? str_c(args->prefix)
                  : is_stdin           ? STR("crontab")
                                       : file_name(path),
    };
    TRY(cli_read_file(cli, path, CRONTAB_BYTES_MAX, &text, err));
    return crontab_parse(text, &options, &cli->arena, ret_crontab, err);
}

/* ---- what became of it */

struct import {
    struct cli *cli;
    const struct crontab *crontab;
    size_t told; /* entries about which the server has spoken; it does so in order */
    struct table jobs;
    size_t created;
    size_t refused;
};

static void import_free(struct import *import)
{
    table_free(&import->jobs);
}

static void print_remarks(const struct crontab *crontab)
{
    for (size_t i = 0; i < crontab->remark_count; i++) {
        const struct crontab_remark *remark = &crontab->remarks[i];
        fprintf(stderr, "line %zu: %s%.*s\n", remark->line, remark->refused ? "refused: " : "",
                STR_ARG(remark->text));
    }
}

static void print_created(struct import *import, const struct crontab_entry *entry, struct str id)
{
    struct arena *arena = &import->cli->arena;
    if (import->cli->format == CLI_JSON) {
        CLEANUP(buf_free) struct buf out = BUF(OUT_BYTES_MAX);
        struct json_writer w = JSON_WRITER(&out);
        json_open(&w);
        json_put_int(&w, "line", (int64_t)entry->line);
        json_put_str(&w, "job_id", id);
        json_put_str(&w, "name", entry->name);
        json_close(&w);
        cli_print_line(buf_str(&out));
        return;
    }
    table_add(&import->jobs, arena_printf(arena, "%zu", entry->line));
    table_add(&import->jobs, id);
    table_add(&import->jobs, entry->name);
    table_add(&import->jobs, entry->cron);
    table_add(&import->jobs, entry->timezone);
}

static void take_result(void *arg, size_t line, const struct json *result, const struct err *err)
{
    struct import *import = arg;
    struct cli *cli = import->cli;
    const struct crontab_entry *entry = &import->crontab->entries[import->told++];
    if (err == NULL) {
        import->created++;
        print_created(import, entry, api_text(result, STR("job_id")));
        return;
    }
    import->refused++;
    fprintf(stderr, "line %zu: refused: %s\n%.*s", line, err->text, STR_ARG(cli->details));
    cli->details = STR("");
}

static void print_table(const struct import *import)
{
    CLEANUP(buf_free) struct buf out = BUF(OUT_BYTES_MAX);
    if (import->jobs.cell_count > 0)
        table_print(&import->jobs, table_paper(), &out);
    cli_print(buf_str(&out));
}

/* ---- the whole */

static enum rc submit_all(struct import *import, struct err *err)
{
    struct cli *cli = import->cli;
    CLEANUP(batch_free) struct batch *batch = batch_new(cli, take_result, import);
    for (size_t i = 0; i < import->crontab->entry_count; i++) {
        const struct crontab_entry *entry = &import->crontab->entries[i];
        TRY(batch_add(batch, entry->line, crontab_document(entry, &cli->arena), err));
    }
    return batch_send(batch, err);
}

static void print_documents(struct import *import)
{
    for (size_t i = 0; i < import->crontab->entry_count; i++)
        cli_print_line(crontab_document(&import->crontab->entries[i], &import->cli->arena));
    import->created = import->crontab->entry_count;
}

static enum rc import(struct cli *cli, const void *arg, struct err *err)
{
    static const struct column columns[] = {
        {.title = "LINE", .right = true},
        {.title = "JOB"},
        {.title = "NAME", .flexible = true},
        {.title = "CRON", .flexible = true},
        {.title = "TIME ZONE", .flexible = true, .optional = true},
    };
    const struct import_args *args = arg;
    struct crontab crontab = {0};
    TRY(read_crontab(cli, args, &crontab, err));
    CLEANUP(import_free)
    struct import import = {.cli = cli,
                            .crontab = &crontab,
                            .jobs = TABLE(columns, COUNT_OF(columns)),
                            .refused = crontab.refused_count};
    print_remarks(&crontab);
    if (args->dry_run)
        print_documents(&import);
    else
        TRY(submit_all(&import, err));
    print_table(&import);
    fprintf(stderr, "%s %zu, refused %zu\n", args->dry_run ? "would create" : "created",
            import.created, import.refused);
    cli->exit_code = import.refused > 0 ? CLI_FAILED : CLI_OK;
    return RC_OK;
}

int import_command(int argc, char **argv)
{
    struct import_args args = {0};
    return cli_main(&opts, argc, argv, &args.common, import);
}
