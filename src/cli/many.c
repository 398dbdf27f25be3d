#include "cli/many.h"
#include "cli/api.h"
#include "job/filter_params.h"
#include "loop/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum { BODY_BYTES_MAX = 1 << 20, LOOK_US = 100000 };

bool many_is_meant(const struct cli *cli, const struct many_args *args)
{
    bool one = cli->words.count == 1;
    return args->filter != NULL || args->all || args->dry_run || (args->yes && !one) ||
           cli->words.count > 1;
}

enum rc many_refuses(bool given, const char *flag, struct err *err)
{
    if (!given)
        return RC_OK;
    return err_set(err, RC_INVALID, "%s is for one alone, not for many", flag);
}

static int64_t number(const struct json *object, struct str key)
{
    const struct json *value = json_get(object, key);
    return value != NULL && value->kind == JSON_INT ? value->integer : 0;
}

/* ---- asking for it */

enum repeats { ONCE, OR, AND };
#define PARAM(name_, of, repeats_, ...) {.name = STR_INIT(#name_), .repeats = repeats_},
static const struct {
    struct str name;
    enum repeats repeats;
} params[] = {FILTER_PARAMS(PARAM)};

/* Parameters that take several values; the server knows which of them the action takes. */
static bool is_list(struct str key)
{
    for (size_t i = 0; i < COUNT_OF(params); i++) {
        if (str_eq(params[i].name, key))
            return params[i].repeats != ONCE;
    }
    return str_eq(key, STR("queue"));
}

/* A key that comes again has several values: queue=a,queue=b. */
static bool came_before(struct str text, struct str key, struct str rest)
{
    struct str before = str_head(text, text.len - rest.len);
    while (before.len > 0) {
        struct str pair = str_cut(&before, ',');
        if (before.len > 0 && str_eq(str_cut(&pair, '='), key))
            return true;
    }
    return false;
}

static void put_values(struct json_writer *w, struct str text, struct str key)
{
    json_open_array(w);
    while (text.len > 0) {
        struct str pair = str_cut(&text, ',');
        if (str_eq(str_cut(&pair, '='), key))
            json_str(w, pair);
    }
    json_close_array(w);
}

static enum rc put_filter(struct json_writer *w, struct str text, struct err *err)
{
    struct str rest = text;
    while (rest.len > 0) {
        struct str pair = str_cut(&rest, ',');
        if (str_index(pair, '=') == pair.len)
            return err_set(err, RC_INVALID, "--filter: '%.*s' is not KEY=VALUE", STR_ARG(pair));
        struct str key = str_cut(&pair, '=');
        if (is_list(key) && came_before(text, key, rest))
            continue;
        json_key_str(w, key);
        if (is_list(key))
            put_values(w, text, key);
        else
            json_str(w, pair);
    }
    return RC_OK;
}

static void put_ids(struct json_writer *w, const struct cli *cli)
{
    json_key(w, "ids");
    json_open_array(w);
    for (size_t i = 0; i < cli->words.count; i++)
        json_str(w, str_c(cli->words.items[i]));
    json_close_array(w);
}

static enum rc body_of(struct cli *cli, const char *action, const struct many_args *args,
                       bool dry_run, struct str *ret_body, struct err *err)
{
    CLEANUP(buf_free) struct buf body = BUF(BODY_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&body);
    json_open(&w);
    json_put_str(&w, "action", str_c(action));
    if (args->filter != NULL) {
        json_key(&w, "filter");
        json_open(&w);
        TRY(put_filter(&w, str_c(args->filter), err));
        json_close(&w);
    }
    if (args->all)
        json_put_bool(&w, "all", true);
    if (cli->words.count > 0)
        put_ids(&w, cli);
    json_put_bool(&w, "dry_run", dry_run);
    json_close(&w);
    if (body.overflow)
        return err_set(err, RC_TOO_LARGE, "too many, or too long, for one request");
    *ret_body = arena_str(&cli->arena, buf_str(&body));
    return RC_OK;
}

enum rc many_ask(const char *question, bool *ret_go, struct err *err)
{
    char answer[8] = "";
    *ret_go = false;
    if (!isatty(STDIN_FILENO))
        return err_set(err, RC_INVALID, "%s: --yes is needed where nobody can be asked", question);
    fprintf(stderr, "%s? [y/N] ", question);
    if (fgets(answer, sizeof answer, stdin) != NULL)
        *ret_go = answer[0] == 'y' || answer[0] == 'Y';
    return RC_OK;
}

/* ---- following it */

static bool is_over(const struct json *operation)
{
    return !str_eq(api_text(operation, STR("status")), STR("running"));
}

static void show_progress(const struct json *operation)
{
    int64_t total = number(operation, STR("total"));
    if (!isatty(STDERR_FILENO))
        return;
    fprintf(stderr, "\r%" PRId64,
            number(operation, STR("done")) + number(operation, STR("refused")));
    if (total > 0)
        fprintf(stderr, " of %" PRId64, total);
    if (is_over(operation))
        fputc('\n', stderr);
}

enum rc many_follow(struct cli *cli, struct json *operation, struct err *err)
{
    struct str id = api_text(operation, STR("operation_id"));
    struct str path = arena_printf(&cli->arena, "/operations/%.*s", STR_ARG(id));
    show_progress(operation);
    while (!is_over(operation)) {
        clock_pause_us(LOOK_US); /* a client is not told that an operation has gone on */
        TRY(api_get(cli, path, operation, err));
        show_progress(operation);
    }
    return RC_OK;
}

static void print_outcome(struct cli *cli, const struct json *operation)
{
    const struct json *refusals = json_get(operation, STR("refusals"));
    int64_t refused = number(operation, STR("refused"));
    bool failed = str_eq(api_text(operation, STR("status")), STR("failed"));
    if (refused > 0 || failed)
        cli->exit_code = CLI_FAILED;
    if (cli->format == CLI_JSON) {
        cli_print_line(operation->raw);
        return;
    }
    cli_print_line(arena_printf(&cli->arena, "%" PRId64 " done, %" PRId64 " refused",
                                number(operation, STR("done")), refused));
    if (failed)
        cli_print_line(arena_printf(&cli->arena, "it was given up: %.*s",
                                    STR_ARG(api_text(operation, STR("last_refusal")))));
    for (size_t i = 0; refusals != NULL && i < refusals->count; i++) {
        struct str id = api_text(&refusals->items[i], STR("id"));
        struct str why = api_text(&refusals->items[i], STR("detail"));
        cli_print_line(arena_printf(&cli->arena, "%.*s: %.*s", STR_ARG(id), STR_ARG(why)));
    }
}

static void print_count(struct cli *cli, const struct json *answer)
{
    const struct json *least = json_get(answer, STR("at_least"));
    const struct json *first = json_get(answer, STR("first"));
    if (cli->format == CLI_JSON) {
        cli_print_line(answer->raw);
        return;
    }
    cli_print_line(
        arena_printf(&cli->arena, "%s%" PRId64,
                     least != NULL && least->kind == JSON_BOOL && least->boolean ? "at least " : "",
                     number(answer, STR("count"))));
    for (size_t i = 0; first != NULL && i < first->count; i++)
        cli_print_line(first->items[i].string);
}

enum rc many_act(struct cli *cli, const char *action, bool executions, const struct many_args *args,
                 struct err *err)
{
    const char *what = executions ? "executions" : "jobs";
    struct str path = arena_printf(&cli->arena, "/%s/actions", what);
    struct json answer;
    struct str body;
    bool go = args->yes || cli->words.count > 0; /* who names each of them means them */
    if (cli->words.count > 0 && (args->filter != NULL || args->all))
        return err_set(err, RC_INVALID, "an id and --filter or --all exclude each other");
    TRY(body_of(cli, action, args, true, &body, err));
    TRY(api_call(cli, "POST", path, body, &answer, err));
    int64_t count = number(&answer, STR("count"));
    if (args->dry_run) {
        print_count(cli, &answer);
        return RC_OK;
    }
    char question[100];
    (void)snprintf(question, sizeof question, "%s %" PRId64 " %s", action, count, what);
    if (!go && count > 0)
        TRY(many_ask(question, &go, err));
    if (!go && count > 0) {
        cli->exit_code = CLI_FAILED;
        cli_print_line(STR("nothing was done"));
        return RC_OK;
    }
    TRY(body_of(cli, action, args, false, &body, err));
    TRY(api_call(cli, "POST", path, body, &answer, err));
    TRY(many_follow(cli, &answer, err));
    print_outcome(cli, &answer);
    return RC_OK;
}
