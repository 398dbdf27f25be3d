/* top.c - `belfry top`: the numbers of a server on a screen, as they change. */
#include "base/when.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "cli/top/source.h"
#include "cli/top/terminal.h"

#include <assert.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum {
    INTERVAL_USUAL_MS = 2000,
    INTERVAL_MIN_MS = 100,
    INTERVAL_MAX_MS = 3600000,
    FILTER_BYTES_MAX = 200,
    FRAME_BYTES_MAX = 1 << 26,
    KEY_CTRL_C = 3,
    KEY_BACKSPACE = 8,
    KEY_CTRL_Z = 26,
    KEY_ESCAPE = 27,
    KEY_DELETE = 127,
};

struct top_args {
    struct cli_common common;
    const char *interval;
};

#define AT(member) offsetof(struct top_args, member)
static const struct opt table[] = {
    {"interval", 0, OPT_TEXT, "DURATION", AT(interval), "between two screens (2s)"},
    CLI_COMMON_OPTS,
};

static const struct opts opts = {
    "top", "[options]",
    "Shows how things stand, as they change: queues, rates, lag, workers, the runs that take\n"
    "longest, the newest failures, servers and their database. `?` lists the keys. Without a\n"
    "terminal, or with -o json, everything is printed once.",
    table, COUNT_OF(table)};

struct top {
    struct cli *cli;
    uv_loop_t loop;
    uv_timer_t draw;
    struct terminal *terminal;
    struct source *source;
    struct top_view view;
    struct buf filter;
    struct buf lines;
    struct arena arena; /* of one screen */
    size_t last;        /* the largest view.first, as of the newest screen */
    bool leaving;
    int signum; /* to die of */
};

/* ---- screens */

static void draw(struct top *t)
{
    struct top_data data = source_data(t->source);
    if (t->leaving || t->terminal == NULL)
        return;
    arena_reset(&t->arena);
    buf_clear(&t->lines);
    terminal_size(t->terminal, &t->view.rows, &t->view.cols);
    t->view.filter = buf_str(&t->filter);
    t->view.lost = source_lost(t->source);
    t->last = screen_print(&data, &t->view, &t->arena, &t->lines);
    terminal_show(t->terminal, buf_str(&t->lines));
}

static void leave(struct top *t, int signum)
{
    if (t->leaving)
        return;
    t->leaving = true;
    t->signum = signum;
    uv_stop(&t->loop);
}

static void on_change(void *arg)
{
    struct top *t = arg;
    struct err ignored;
    if (t->source == NULL)
        return;
    if (source_refused(t->source, &ignored) != RC_OK)
        leave(t, 0);
    draw(t);
}

static void on_draw(uv_timer_t *timer)
{
    struct top *t = timer->data;
    source_step(t->source);
    draw(t);
}

static void on_end(void *arg, int signum)
{
    leave(arg, signum == SIGINT ? 0 : signum);
}

/* ---- keys */

static void type_key(struct top *t, char key)
{
    switch (key) {
    case '\r':
    case '\n': t->view.typing = false; break;
    case KEY_ESCAPE:
        t->view.typing = false;
        buf_clear(&t->filter);
        break;
    case KEY_BACKSPACE:
    case KEY_DELETE:
        while (t->filter.len > 0 && ((unsigned char)t->filter.ptr[--t->filter.len] & 0xc0) == 0x80)
            ;
        break;
    default:
        if ((unsigned char)key >= ' ' && t->filter.len < FILTER_BYTES_MAX)
            buf_add_char(&t->filter, key);
        break;
    }
    t->view.first = 0;
}

static void scroll(struct top *t, bool down, size_t by)
{
    size_t first = t->view.first < t->last ? t->view.first : t->last;
    if (down)
        t->view.first = t->last - first > by ? first + by : t->last;
    else
        t->view.first = first > by ? first - by : 0;
}

static void press(struct top *t, char key)
{
    size_t page = t->view.rows / 2 + 1;
    switch (key) {
    case 'q':
    case 'Q': leave(t, 0); break;
    case 's': t->view.sort = (t->view.sort + 1) % TOP_SORTS; break;
    case 'S': t->view.sort = (t->view.sort + TOP_SORTS - 1) % TOP_SORTS; break;
    case 'r': t->view.reversed = !t->view.reversed; break;
    case '/': t->view.typing = true; break;
    case '?':
    case 'h': t->view.help = !t->view.help; break;
    case 'k': scroll(t, false, 1); break;
    case 'j': scroll(t, true, 1); break;
    case 'b': scroll(t, false, page); break;
    case ' ': scroll(t, true, page); break;
    case 'g': t->view.first = 0; break;
    case KEY_ESCAPE:
        t->view.help = false;
        t->view.first = 0;
        buf_clear(&t->filter);
        break;
    default: break;
    }
}

/* ESC [ … and a letter or ~: a key that is no character. False: it is none. */
static bool take_sequence(struct top *t, struct str *bytes)
{
    if (bytes->len < 3 || bytes->ptr[0] != KEY_ESCAPE ||
        (bytes->ptr[1] != '[' && bytes->ptr[1] != 'O'))
        return false;
    size_t end = 2;
    while (end < bytes->len && (unsigned char)bytes->ptr[end] < '@')
        end++;
    char last = end < bytes->len ? bytes->ptr[end] : 0;
    char first = bytes->ptr[2];
    size_t page = t->view.rows / 2 + 1;
    if (last == 'A' || last == 'B')
        scroll(t, last == 'B', 1);
    else if (last == '~' && (first == '5' || first == '6'))
        scroll(t, first == '6', page);
    else if (last == 'H')
        t->view.first = 0;
    *bytes = str_from(*bytes, end < bytes->len ? end + 1 : end);
    return true;
}

static void on_keys(void *arg, struct str bytes)
{
    struct top *t = arg;
    while (bytes.len > 0 && !t->leaving) {
        char key = bytes.ptr[0];
        if (take_sequence(t, &bytes))
            continue;
        bytes = str_from(bytes, 1);
        if (key == KEY_CTRL_C)
            leave(t, 0);
        else if (key == KEY_CTRL_Z)
            terminal_suspend(t->terminal);
        else if (t->view.typing)
            type_key(t, key);
        else
            press(t, key);
    }
    draw(t);
}

/* ---- life */

static void close_all(struct top *t)
{
    terminal_close(t->terminal);
    source_free(t->source);
    uv_close((uv_handle_t *)&t->draw, NULL);
    uv_run(&t->loop, UV_RUN_DEFAULT);
    int failed = uv_loop_close(&t->loop);
    assert(failed == 0); /* all handles are closed */
    (void)failed;
    buf_free(&t->filter);
    buf_free(&t->lines);
    arena_free(&t->arena);
}

static enum rc run_live(struct top *t, int64_t interval_ms, struct err *err)
{
    const struct terminal_calls calls = {on_keys, on_change, on_end, t};
    if (uv_loop_init(&t->loop) != 0)
        return err_set(err, RC_IO, "no event loop");
    uv_timer_init(&t->loop, &t->draw);
    t->draw.data = t;
    enum rc rc = terminal_open(&t->loop, &calls, &t->terminal, err);
    if (rc == RC_OK) {
        t->source = source_new(&t->loop, t->cli, interval_ms, on_change, t);
        uv_timer_start(&t->draw, on_draw, (uint64_t)interval_ms, (uint64_t)interval_ms);
        if (!t->leaving)
            uv_run(&t->loop, UV_RUN_DEFAULT);
        rc = source_refused(t->source, err);
    }
    close_all(t);
    return rc;
}

static enum rc live(struct cli *cli, int64_t interval_ms, struct err *err)
{
    struct json ignored;
    struct top t = {
        .cli = cli,
        .view = {.colour = table_paper().colour, .url = cli->url},
        .filter = BUF(FILTER_BYTES_MAX),
        .lines = BUF(FRAME_BYTES_MAX),
    };
    TRY(api_get(cli, STR("/stats"), &ignored, err)); /* one that was never there is told at once */
    enum rc rc = run_live(&t, interval_ms, err);
    if (t.signum != 0) { /* what it was sent for, now that the terminal is as it was */
        signal(t.signum, SIG_DFL);
        raise(t.signum);
    }
    return rc;
}

static void print_json(struct cli *cli, const struct top_data *data)
{
    CLEANUP(buf_free) struct buf out = BUF(FRAME_BYTES_MAX);
    const struct json *lists[] = {data->running, data->failures};
    static const char *const names[] = {"running", "failures"};
    buf_printf(&out, "{\"stats\":%.*s", STR_ARG(data->tick->raw));
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        const struct json *items = json_get(lists[i], STR("executions"));
        buf_printf(&out, ",\"%s\":%.*s", names[i], STR_ARG(items == NULL ? STR("[]") : items->raw));
    }
    buf_printf(&out, ",\"workers\":%.*s,\"cluster\":%.*s,\"series\":[", STR_ARG(data->workers->raw),
               STR_ARG(data->cluster->raw));
    for (size_t i = 0; i < TOP_SERIES_COUNT; i++)
        buf_printf(&out, "%s%.*s", i > 0 ? "," : "", STR_ARG(data->series[i]->raw));
    buf_add(&out, STR("]}"));
    (void)cli;
    cli_print_line(buf_str(&out));
}

static enum rc once(struct cli *cli, struct err *err)
{
    CLEANUP(buf_free) struct buf out = BUF(FRAME_BYTES_MAX);
    struct top_data data;
    struct top_view view = {.rows = 0, .url = cli->url};
    TRY(source_once(cli, &data, err));
    if (cli->format == CLI_JSON) {
        print_json(cli, &data);
        return RC_OK;
    }
    screen_print(&data, &view, &cli->arena, &out);
    cli_print(buf_str(&out));
    return RC_OK;
}

static enum rc top(struct cli *cli, const void *arg, struct err *err)
{
    const struct top_args *args = arg;
    const char *kind = getenv("TERM");
    int64_t interval_ms = INTERVAL_USUAL_MS;
    TRY(cli_no_words(cli, err));
    if (args->interval != NULL && duration_parse(str_c(args->interval), &interval_ms, err))
        return err_note(err, "--interval");
    if (interval_ms < INTERVAL_MIN_MS || interval_ms > INTERVAL_MAX_MS)
        return err_set(err, RC_INVALID, "--interval must be between 100ms and 1h");
    bool moves = kind != NULL && kind[0] != '\0' && strcmp(kind, "dumb") != 0;
    bool is_screen = uv_guess_handle(1) == UV_TTY && moves && cli->format != CLI_JSON;
    return is_screen ? live(cli, interval_ms, err) : once(cli, err);
}

int top_command(int argc, char **argv)
{
    struct top_args args = {.interval = NULL};
    return cli_main(&opts, argc, argv, &args.common, top);
}
