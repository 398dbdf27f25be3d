#include "cli/api.h"
#include "cli/cells.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "cli/view.h"

static const struct opt table[] = {CLI_COMMON_OPTS};

static const struct opts opts = {
    "explain", "ID [options]",
    "Says why a job or an execution does not run: everything that holds it back, with what\n"
    "would lift it, and when.",
    table, COUNT_OF(table)};

enum { PRINT_BYTES_MAX = 1 << 20, INDENT = 4, NARROW = 20 };

static const struct view_field head_lines[] = {
    {{.title = "job"}, VIEW_TEXT, "job_id"},
    {{.title = "execution"}, VIEW_TEXT, "execution_id"},
    {{.title = "status"}, VIEW_STATUS, "status"},
    {{.title = "expires"}, VIEW_TEXT, "expires_at"},
    {{.title = "starts"}, VIEW_TEXT, "estimated_start_time"},
};

/* The words of a text in lines no wider than the paper, each behind an indent. A word that is wider
 * than that has a line of its own: half an id or half a command is of no use. */
static void add_wrapped(struct buf *out, struct str text, size_t width)
{
    size_t column = 0;
    while (text.len > 0) {
        struct str word = str_cut(&text, ' ');
        size_t wide = cells_width(word);
        bool fits = width < NARROW || column + 1 + wide <= width;
        if (column > 0 && fits) {
            buf_add_char(out, ' ');
            column += 1 + wide;
        } else {
            buf_printf(out, "%s%*s", column > 0 ? "\n" : "", INDENT, "");
            column = INDENT + wide;
        }
        buf_add(out, word);
    }
    buf_add_char(out, '\n');
}

static void print_blockers(struct cli *cli, const struct json *blockers)
{
    static const struct view_field kind = {{.title = ""}, VIEW_TEXT, "kind"};
    static const struct view_field text = {{.title = ""}, VIEW_TEXT, "text"};
    CLEANUP(buf_free) struct buf out = BUF(PRINT_BYTES_MAX);
    size_t width = table_paper().width;
    for (size_t i = 0; i < blockers->count; i++) {
        struct str name = view_text(&kind, &blockers->items[i], &cli->arena);
        buf_printf(&out, "\n%.*s\n", STR_ARG(name));
        add_wrapped(&out, view_text(&text, &blockers->items[i], &cli->arena), width);
    }
    cli_print(buf_str(&out));
}

static void print_warnings(struct cli *cli, const struct json *warnings)
{
    for (size_t i = 0; warnings != NULL && warnings->kind == JSON_ARRAY && i < warnings->count; i++)
        cli_print_line(arena_printf(&cli->arena, "\nwarning: %.*s",
                                    STR_ARG(api_text(&warnings->items[i], STR("text")))));
}

static enum rc explain(struct cli *cli, const void *args, struct err *err)
{
    (void)args;
    struct cli_target target;
    struct json answer;
    TRY(api_target(cli, &target, err));
    TRY(api_explain(cli, &target, &answer, err));
    if (cli->format == CLI_JSON) {
        cli_print_line(answer.raw);
        return RC_OK;
    }
    view_print_page(head_lines, COUNT_OF(head_lines), &answer, &cli->arena);
    const struct json *blockers = json_get(&answer, STR("blockers"));
    if (blockers != NULL && blockers->kind == JSON_ARRAY && blockers->count > 0) {
        print_blockers(cli, blockers);
    } else {
        cli_print_line(STR(""));
        cli_print_line(api_text(&answer, STR("summary")));
    }
    print_warnings(cli, json_get(&answer, STR("warnings")));
    return RC_OK;
}

int explain_command(int argc, char **argv)
{
    struct cli_common args = {0};
    return cli_main(&opts, argc, argv, &args, explain);
}
