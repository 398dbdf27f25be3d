#include "cli/list.h"
#include "cli/api.h"

#include <inttypes.h>
#include <stdio.h>

enum { QUERY_BYTES_MAX = 1 << 16 };

/* One run of a list. */
struct run {
    struct list_args args; /* first: cli_main knows only this */
    const struct listing *listing;
};

/* Tags are KEY=VALUE for people, as in `submit`, and KEY:VALUE in the API. */
static const char *tag_param(const char *tag, struct arena *arena)
{
    struct str value = str_c(tag);
    struct str key = str_cut(&value, '=');
    if (value.ptr == NULL)
        return tag;
    return arena_printf(arena, "%.*s:%.*s", STR_ARG(key), STR_ARG(value)).ptr;
}

void list_add_params(struct buf *query, const char *name, const struct opt_list *values,
                     struct arena *arena)
{
    for (size_t i = 0; i < values->count; i++) {
        bool is_tag = str_eq(str_c(name), STR("tag"));
        api_add_param(query, name, is_tag ? tag_param(values->items[i], arena) : values->items[i]);
    }
}

#define ADD_FIELD(name, kind, bounds, printed, kept, filter, ...)                                  \
    LISTS_JOBS_##filter(list_add_params(&query, #name, &args->name, arena);)
#define ADD_ONCE(name) api_add_param(&query, #name, args->name);
#define ADD_OR(name) list_add_params(&query, #name, &args->name, arena);
#define ADD_AND(name) list_add_params(&query, #name, &args->name, arena);
#define ADD_PARAM(name, of, repeats, ...) ADD_##repeats(name)

/* Fields of jobs are given once, but for the queue. */
static enum rc check_once(const char *name, const struct opt_list *values, struct err *err)
{
    if (values->count > 1 && !str_eq(str_c(name), STR("queue")))
        return err_set(err, RC_INVALID, "--%s is given twice", name);
    return RC_OK;
}

#define CHECK_FIELD(name, kind, bounds, printed, kept, filter, ...)                                \
    LISTS_JOBS_##filter(TRY(check_once(#name, &args->name, err));)

static enum rc check_fields(const struct list_args *args, struct err *err)
{
    JOB_FIELDS(CHECK_FIELD)
    return RC_OK;
}

static struct str query_of(const struct list_args *args, struct arena *arena)
{
    CLEANUP(buf_free) struct buf query = BUF(QUERY_BYTES_MAX);
    buf_add(&query, args->own);
    JOB_FIELDS(ADD_FIELD)
    FILTER_PARAMS(ADD_PARAM)
    api_add_param(&query, "from", args->from);
    api_add_param(&query, "until", args->until);
    api_add_param(&query, "sort", args->sort);
    return arena_str(arena, buf_str(&query));
}

static void add_row(void *arg, const struct json *item)
{
    view_add_row(arg, item);
}

/* Apart from the table, which scripts read. */
static void tell_rest(const struct listing *listing, const struct api_rest *rest)
{
    if (rest->more)
        fprintf(stderr, "belfry %s: %" PRIu64 " shown, there are more: --all lists everything\n",
                listing->opts.command, rest->given);
}

static enum rc print_table(struct cli *cli, const struct listing *listing,
                           const struct api_list *list, struct err *err)
{
    CLEANUP(view_free) struct view view;
    view_start(&view, listing->fields, listing->field_count, &cli->arena);
    struct api_rest rest;
    TRY(api_list(cli, list, add_row, &view, &rest, err));
    view_print(&view, listing->nothing);
    (void)fflush(stdout); /* on a terminal or in a file of both, the note stands below the table */
    tell_rest(listing, &rest);
    return RC_OK;
}

static void print_item(void *arg, const struct json *item)
{
    bool *first = arg;
    if (!*first)
        cli_print(STR(",\n"));
    *first = false;
    cli_print(item->raw);
}

/* As the API says it: null at the end, and nothing in lists that come in one piece. */
static void print_cursor(const struct api_list *list, struct str cursor)
{
    CLEANUP(buf_free) struct buf text = BUF(QUERY_BYTES_MAX);
    struct json_writer w = JSON_WRITER(&text);
    if (list->whole)
        return;
    if (cursor.len > 0)
        json_str(&w, cursor);
    else
        json_null(&w);
    cli_print(STR(",\"next_cursor\":"));
    cli_print(buf_str(&text));
}

static enum rc print_json(struct cli *cli, const struct api_list *list, struct err *err)
{
    bool first = true;
    cli_print(arena_printf(&cli->arena, "{\"%s\":[", list->key));
    struct api_rest rest;
    TRY(api_list(cli, list, print_item, &first, &rest, err));
    cli_print(STR("]"));
    print_cursor(list, rest.cursor);
    cli_print_line(STR("}"));
    return RC_OK;
}

enum rc list_print(struct cli *cli, const struct listing *listing, const struct list_args *args,
                   struct err *err)
{
    if (args->limit == 0)
        return err_set(err, RC_INVALID, "--limit takes a number from 1; --all lists everything");
    TRY(check_fields(args, err));
    struct api_list list = {
        .path = listing->path,
        .key = listing->key,
        .query = query_of(args, &cli->arena),
        .limit = args->all ? 0 : (uint64_t)args->limit,
        .whole = listing->whole,
    };
    if (cli->format == CLI_JSON)
        return print_json(cli, &list, err);
    return print_table(cli, listing, &list, err);
}

static enum rc list_of_job(struct cli *cli, const struct run *run, struct err *err)
{
    struct listing listing = *run->listing;
    struct cli_target target;
    TRY(api_target(cli, &target, err));
    TRY(cli_is_job(&target, listing.opts.command, err));
    listing.path =
        arena_printf(&cli->arena, "/jobs/%.*s%s", STR_ARG(target.id), listing.of_job).ptr;
    return list_print(cli, &listing, &run->args, err);
}

static enum rc run_list(struct cli *cli, const void *args, struct err *err)
{
    const struct run *run = args;
    if (run->listing->of_job != NULL)
        return list_of_job(cli, run, err);
    TRY(cli_no_words(cli, err));
    return list_print(cli, run->listing, &run->args, err);
}

int list_main(const struct listing *listing, int argc, char **argv)
{
    struct run run = {.args = {.limit = LIST_LIMIT_DEFAULT}, .listing = listing};
    return cli_main(&listing->opts, argc, argv, &run.args.common, run_list);
}
