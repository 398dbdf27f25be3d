#include "worker/command.h"
#include "base/log.h"
#include "job/job_env.h"
#include "job/poll.h"
#include "loop/file.h"
#include "loop/guard.h"
#include "loop/usage.h"
#include "worker/worker.h"

#include <stdio.h>
#include <stdlib.h>

enum { SLOTS_DEFAULT = 8 }; /* as the worker inside a server */

struct worker_args {
    const char *server;
    const char *token_file;
    int64_t slots;
    struct opt_list queues;
    struct opt_list env;
    const char *name;
    const char *lock;
    unsigned log_level;  /* enum log_level */
    unsigned log_format; /* enum log_format */
    bool help;
};

#define AT(member) offsetof(struct worker_args, member)
static const struct opt table[] = {
    {"server", 0, OPT_TEXT, "URL[,URL…]", AT(server),
     "the server, or some of several (BELFRY_URL, http://127.0.0.1:7420)"},
    {"token-file", 0, OPT_TEXT, "FILE", AT(token_file),
     "the worker's key (BELFRY_TOKEN, worker.key in the data directory)"},
    {"slots", 0, OPT_NUMBER, "N", AT(slots), "how many runs at once (8)"},
    {"queue", 0, OPT_LIST, "Q", AT(queues), "take from this queue only; many times (all)"},
    {"env", 0, OPT_LIST, "NAME", AT(env), "a variable that commands get, too; many times"},
    {"name", 0, OPT_TEXT, "TEXT", AT(name), "what people call it (host name and process id)"},
    {"lock", 0, OPT_TEXT, "FILE", AT(lock), "leave quietly when another worker holds this file"},
    {"log-level", 0, OPT_CHOICE, "debug|info|warn|error", AT(log_level),
     "what it says about itself on stderr (info)"},
    {"log-format", 0, OPT_CHOICE, "json|text|logfmt", AT(log_format),
     "the form of these lines (json)"},
    {"label", 0, OPT_LATER, "K=V", 0, NULL},
    OPT_HELP(struct worker_args, help),
};

static const struct opts opts = {
    "worker", "[--server URL[,URL…]] [options]",
    "Asks a server for work and runs it, until SIGTERM or Ctrl-C: the first one lets what\n"
    "runs finish, a second one ends it at once. Opens no port.",
    table, COUNT_OF(table)};

static const char *server_url(const struct worker_args *args)
{
    const char *variable = getenv("BELFRY_URL");
    if (args->server != NULL)
        return args->server;
    return variable != NULL && variable[0] != '\0' ? variable : "http://127.0.0.1:7420";
}

static enum rc check(const struct worker_args *args, const struct opt_words *words, struct err *err)
{
    if (words->count > 0)
        return err_set(err, RC_INVALID, "unexpected argument '%s'", words->items[0]);
    if (args->slots < 1 || args->slots > POLL_SLOTS_MAX)
        return err_set(err, RC_INVALID, "--slots takes a number from 1 to %d", POLL_SLOTS_MAX);
    for (size_t i = 0; i < args->env.count; i++) {
        if (job_env_check(str_c(args->env.items[i]), err) != RC_OK)
            return err_note(err, "--env");
    }
    return RC_OK;
}

static const struct str *texts_of(const struct opt_list *list, struct arena *arena)
{
    struct str *texts = ARENA_ARRAY(arena, struct str, list->count);
    for (size_t i = 0; i < list->count; i++)
        texts[i] = str_c(list->items[i]);
    return texts;
}

static enum rc fill(const struct worker_args *args, const char *url, struct arena *arena,
                    struct worker_options *ret_options, struct err *err)
{
    *ret_options = (struct worker_options){
        .url = str_c(url),
        .token_file = str_c(args->token_file),
        .name = str_c(args->name),
        .slots = (uint32_t)args->slots,
        .queues = texts_of(&args->queues, arena),
        .queue_count = args->queues.count,
        .env = texts_of(&args->env, arena),
        .env_count = args->env.count,
        .lock_path = args->lock,
        .drain_timeout_ms = WORKER_DRAIN_TIMEOUT_MS,
    };
    if (file_read_key(args->token_file, "worker.key", arena, &ret_options->token, err))
        return err_note(err, "no key (see --token-file)");
    return RC_OK;
}

int worker_command(int argc, char **argv)
{
    CLEANUP(arena_free) struct arena arena = {0};
    struct worker_args args = {.slots = SLOTS_DEFAULT, .log_level = LOG_INFO};
    struct worker_options options;
    struct opt_words words;
    struct err err;
    guard_process();
    if (opts_parse(&opts, argc, argv, &args, &words, &arena, &err))
        return usage_refuse(&opts, &err);
    if (args.help)
        return usage_help(&opts, NULL);
    const char *url = server_url(&args);
    if (check(&args, &words, &err))
        return usage_refuse(&opts, &err);
    if (fill(&args, url, &arena, &options, &err)) {
        fprintf(stderr, "belfry worker: %s\n", err.text);
        return EXIT_FAILURE;
    }
    log_set_who("worker");
    log_set_level((enum log_level)args.log_level);
    log_set_format((enum log_format)args.log_format);
    guard_warn_of_root();
    return worker_main(&options);
}
