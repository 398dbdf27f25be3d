#include "cli/list.h"
#include "cli/api.h"

enum { QUERY_BYTES_MAX = 1 << 16 };

/* What one run of a list is about. */
struct run {
    struct list_args args; /* first: cli_main knows only this */
    const struct listing *listing;
};

/* Tags are KEY=VALUE for people, as in `submit`, and KEY:VALUE in the API. */
static const char *tag_param(const char *tag, struct arena *arena)
{
    if (tag == NULL)
        return NULL;
    struct str value = str_c(tag);
    struct str key = str_cut(&value, '=');
    if (value.ptr == NULL)
        return tag;
    return arena_printf(arena, "%.*s:%.*s", STR_ARG(key), STR_ARG(value)).ptr;
}

static struct str query_of(const struct list_args *args, struct arena *arena)
{
    CLEANUP(buf_free) struct buf query = BUF(QUERY_BYTES_MAX);
    api_add_param(&query, "status", args->status);
    api_add_param(&query, "queue", args->queue);
    api_add_param(&query, "owner", args->owner);
    api_add_param(&query, "team", args->team);
    api_add_param(&query, "name", args->name);
    api_add_param(&query, "tag", tag_param(args->tag, arena));
    api_add_param(&query, "job", args->job);
    api_add_param(&query, "class", args->class);
    api_add_param(&query, "fingerprint", args->fingerprint);
    return arena_str(arena, buf_str(&query));
}

static void add_row(void *arg, const struct json *item)
{
    view_add_row(arg, item);
}

static enum rc print_table(struct cli *cli, const struct listing *listing,
                           const struct api_list *list, struct err *err)
{
    CLEANUP(view_free) struct view view;
    view_start(&view, listing->fields, listing->field_count, &cli->arena);
    TRY(api_list(cli, list, add_row, &view, err));
    view_print(&view, listing->nothing);
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

static enum rc print_json(struct cli *cli, const struct api_list *list, struct err *err)
{
    bool first = true;
    cli_print(arena_printf(&cli->arena, "{\"%s\":[", list->key));
    TRY(api_list(cli, list, print_item, &first, err));
    cli_print_line(STR("]}"));
    return RC_OK;
}

enum rc list_print(struct cli *cli, const struct listing *listing, const struct list_args *args,
                   struct err *err)
{
    if (args->limit == 0)
        return err_set(err, RC_INVALID, "--limit takes a number from 1; --all lists everything");
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

static enum rc run_list(struct cli *cli, const void *args, struct err *err)
{
    const struct run *run = args;
    TRY(cli_no_words(cli, err));
    return list_print(cli, run->listing, &run->args, err);
}

int list_main(const struct listing *listing, int argc, char **argv)
{
    struct run run = {.args = {.limit = LIST_LIMIT_DEFAULT}, .listing = listing};
    return cli_main(&listing->opts, argc, argv, &run.args.common, run_list);
}
