#include "bench/command.h"
#include "base/log.h"
#include "base/opts.h"
#include "bench/harness/bench_worker.h"
#include "bench/harness/machine.h"
#include "bench/measure/forks.h"
#include "bench/measure/measure.h"
#include "job/poll.h"
#include "loop/file.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    EXIT_USAGE = 2,
    HELP_BYTES_MAX = 1 << 16,
    CLIENTS_MAX = 1000,
    BATCH_MAX = 10000, /* what the API takes in one request */
};

enum role { ROLE_NONE, ROLE_WORKER, ROLE_FORKS };

struct bench_args {
    int64_t jobs;
    int64_t backlog;
    int64_t seconds;
    int64_t clients;
    int64_t batch;
    int64_t slots;
    bool keys;
    unsigned durability;
    const char *store;
    bool here;
    int64_t servers;
    const char *tmp;
    unsigned format; /* enum report_format */
    bool help;
    /* Of the processes that we start ourselves. */
    unsigned role; /* enum role */
    const char *server;
    const char *token_file;
};

static const char *const durabilities[] = {"full", "normal"};

#define AT(member) offsetof(struct bench_args, member)
static const struct opt table[] = {
    {"jobs", 0, OPT_NUMBER, "N", AT(jobs),
     "stop after so many jobs (life 200000, submit 100000, and so on)"},
    {"seconds", 0, OPT_NUMBER, "N", AT(seconds),
     "stop after so long (life 60, submit 10, latency 30, schedules 120)"},
    {"backlog", 0, OPT_NUMBER, "N", AT(backlog), "jobs for later that the server has already (0)"},
    {"clients", 0, OPT_NUMBER, "N", AT(clients), "connections of submit (64)"},
    {"batch", 0, OPT_NUMBER, "N", AT(batch), "jobs per request of life (500)"},
    {"slots", 0, OPT_NUMBER, "N", AT(slots), "jobs the worker takes at once (2000)"},
    {"keys", 0, OPT_FLAG, NULL, AT(keys), "life and submit: each job with an idempotency key"},
    {"durability", 0, OPT_CHOICE, "full|normal", AT(durability), "of the server (full)"},
    {"store", 0, OPT_TEXT, "URL", AT(store),
     "postgres://…: measure on that server, in databases made for it (SQLite)"},
    {"here", 0, OPT_FLAG, NULL, AT(here),
     "in the database of --store, beside what it holds; no server may run"},
    {"servers", 0, OPT_NUMBER, "N", AT(servers), "that share the database of --store (1)"},
    {"tmp", 0, OPT_TEXT, "DIR", AT(tmp), "where the databases are made (TMPDIR, /tmp)"},
    {"output", 'o', OPT_CHOICE, "table|json", AT(format), "how to print (table)"},
    {"role", 0, OPT_CHOICE, "none|worker|forks", AT(role), NULL},
    {"server", 0, OPT_TEXT, "URL", AT(server), NULL},
    {"token-file", 0, OPT_TEXT, "FILE", AT(token_file), NULL},
    OPT_HELP(struct bench_args, help),
};

static const struct opts opts = {
    "bench",
    "[life|submit|latency|burst|flood|limits|commands|schedules|storm|rescue|\n"
    "       mixed|held]... [options]",
    "Measures belfry on this machine: starts a server and a worker of its own, on a database\n"
    "of its own that is removed afterwards, and counts its rows before it believes a figure.\n"
    "\n"
    "  life      jobs that do nothing, from being submitted in batches to being completed\n"
    "  submit    single submissions by many clients, each durable before it is answered\n"
    "  latency   from sending a job to its start, one at a time on an idle server\n"
    "  burst     how late jobs start that are all due at one moment\n"
    "  flood     the same for many more, due within one second\n"
    "  limits    what limits cost that hold nothing back\n"
    "  commands  jobs that run a program, against running it without belfry\n"
    "  schedules how late jobs start that recur every minute; only when it is asked for\n"
    "  storm     how retries arrive of jobs that all fail, and what an attempt costs; likewise\n"
    "  rescue    from the end of a dead worker's lease to the next start; likewise\n"
    "  mixed     jobs of all kinds, in two parts; likewise\n"
    "  held      the same, with a transaction held open on PostgreSQL during the second part;\n"
    "            likewise\n"
    "\n"
    "Other settings of the server are taken from BELFRY_* variables as always.",
    table, COUNT_OF(table)};

/* ---- arguments */

static enum rc check_range(const char *name, int64_t value, int64_t max, struct err *err)
{
    if (value >= 1 && value <= max)
        return RC_OK;
    return err_set(err, RC_INVALID, "--%s takes a number from 1 to %lld", name, (long long)max);
}

static enum rc check(const struct bench_args *args, const struct opt_words *words, struct err *err)
{
    TRY(check_range("clients", args->clients, CLIENTS_MAX, err));
    TRY(check_range("batch", args->batch, BATCH_MAX, err));
    TRY(check_range("slots", args->slots, POLL_SLOTS_MAX, err));
    if (args->store != NULL && !str_starts(str_c(args->store), STR("postgres")))
        return err_set(err, RC_INVALID, "--store takes postgres://…; without it SQLite is used");
    if (args->here && args->store == NULL)
        return err_set(err, RC_INVALID, "--here says nothing without --store");
    TRY(check_range("servers", args->servers, STAGE_SERVERS_MAX, err));
    if (args->servers > 1 && args->store == NULL)
        return err_set(err, RC_INVALID, "servers share a --store of postgres://…, not SQLite");
    for (size_t i = 0; i < words->count; i++) {
        if (measure_find(str_c(words->items[i])) == NULL)
            return err_set(err, RC_INVALID, "'%s' is nothing that can be measured",
                           words->items[i]);
    }
    return RC_OK;
}

static const char *tmp_root(const struct bench_args *args)
{
    const char *variable = getenv("TMPDIR");
    if (args->tmp != NULL)
        return args->tmp;
    return variable != NULL && variable[0] != '\0' ? variable : "/tmp";
}

/* ---- running */

static enum rc report_machine(struct report *report, const struct measure_options *options,
                              struct err *err)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct machine machine;
    TRY(machine_look(options->tmp_root, &arena, &machine, err));
    report_section(report, "machine");
    report_text(report, "belfry", STR(BELFRY_VERSION));
    report_text(report, "kernel", machine.kernel);
    report_text(report, "cpu", machine.cpu);
    report_count(report, "cores", machine.cores);
    report_count(report, "memory_mib", machine.memory_bytes >> 20);
    report_figure(report, "load_before", machine.load, 2);
    report_text(report, "file_system", machine.file_system);
    report_figure(report, "synced_write_p50_ms", (double)machine.sync_us / 1e3, 3);
    report_text(report, "store", options->store == NULL ? STR("sqlite") : STR("postgresql"));
    report_count(report, "servers", options->servers);
    report_text(report, "durability", str_c(options->durability));
    report_count(report, "slots", options->slots);
    report_count(report, "clients", options->clients);
    report_count(report, "batch", options->batch);
    return RC_OK;
}

static enum rc run_all(const struct measure_options *options, const struct opt_words *words,
                       struct report *report, struct err *err)
{
    TRY(report_machine(report, options, err));
    for (size_t i = 0; i < words->count; i++)
        TRY(measure_run(measure_find(str_c(words->items[i])), options, report, err));
    for (size_t i = 0; words->count == 0 && measure_at(i) != NULL; i++)
        TRY(measure_run(measure_at(i), options, report, err));
    return RC_OK;
}

static int bench(const struct bench_args *args, const struct opt_words *words)
{
    struct report report;
    struct err err;
    struct measure_options options = {
        .tmp_root = tmp_root(args),
        .store = args->store,
        .here = args->here,
        .servers = (uint32_t)args->servers,
        .durability = durabilities[args->durability],
        .slots = (uint32_t)args->slots,
        .clients = (uint32_t)args->clients,
        .batch = (uint32_t)args->batch,
        .keys = args->keys,
        .backlog = (uint64_t)args->backlog,
        .jobs = (uint64_t)args->jobs,
        .seconds = args->seconds,
    };
    report_begin(&report, (enum report_format)args->format);
    enum rc rc = run_all(&options, words, &report, &err);
    report_end(&report);
    if (rc == RC_OK)
        return EXIT_SUCCESS;
    fprintf(stderr, "belfry bench: %s\n", err.text);
    return EXIT_FAILURE;
}

static int run_role(const struct bench_args *args)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct err err;
    struct role_options options = {.url = str_c(args->server), .slots = (uint32_t)args->slots};
    log_set_who("bench worker");
    log_set_level(LOG_WARN);
    if (file_read_key(args->token_file, "worker.key", &arena, &options.token, &err)) {
        log_error("no key", "error", err.text, NULL);
        return EXIT_FAILURE;
    }
    return role_main(&options);
}

static int print_help(void)
{
    CLEANUP(buf_free) struct buf page = BUF(HELP_BYTES_MAX);
    opts_help(&opts, &page);
    return fwrite(page.ptr, 1, page.len, stdout) == page.len ? EXIT_SUCCESS : EXIT_FAILURE;
}

int bench_command(int argc, char **argv)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct bench_args args = {.clients = 64, .batch = 500, .slots = 2000, .servers = 1};
    struct opt_words words;
    struct err err;
    if (opts_parse(&opts, argc, argv, &args, &words, &arena, &err) || check(&args, &words, &err)) {
        fprintf(stderr, "belfry bench: %s\ntry 'belfry help bench'\n", err.text);
        return EXIT_USAGE;
    }
    if (args.help)
        return print_help();
    switch ((enum role)args.role) {
    case ROLE_WORKER: return run_role(&args);
    case ROLE_FORKS: return forks_main((uint64_t)args.jobs, (uint64_t)args.slots);
    case ROLE_NONE: break;
    }
    return bench(&args, &words);
}
