#include "cli/top/terminal.h"
#include "base/buf.h"
#include "base/mem.h"
#include "cli/cells.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    FRAME_BYTES_MAX = 1 << 22,
    KEYS_MAX = 252, /* whole keys of three or four bytes, however many come at once */
    ROWS_USUAL = 24,
    COLS_USUAL = 80,
    SIZE_MAX_CELLS = 1000, /* more than anybody reads */
    PATIENCE_MS = 1000,    /* with a terminal that takes nothing, at the end */
};

/* The other screen, no cursor, no wrapping; and back. */
static const char enter_text[] = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
static const char leave_text[] = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";
#define FRAME_BEGIN STR("\x1b[?2026h") /* terminals that know it show nothing in between */
#define FRAME_END STR("\x1b[?2026l")

static const int watched[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP, SIGCONT};
static const int crashes[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGQUIT};

struct terminal {
    uv_tty_t out;
    uv_tty_t in;
    bool has_in;
    uv_signal_t signals[COUNT_OF(watched)];
    struct terminal_calls calls;
    struct buf shown; /* the newest frame */
    struct buf frame; /* that is being written */
    uv_write_t write;
    bool writing;
    bool missed; /* a frame came meanwhile */
    bool closing;
    size_t open; /* handles */
    char keys[KEYS_MAX];
};

static volatile sig_atomic_t taken; /* the terminal is ours */

/* ---- taking it and giving it back */

/* Also from a signal handler: nothing but system calls. */
static void give_back(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    if (!taken)
        return;
    taken = 0;
    if (poll(&out, 1, PATIENCE_MS) == 1 &&
        write(STDOUT_FILENO, leave_text, sizeof leave_text - 1) < 0) {
        /* It is gone: nothing to give back. */
    }
    uv_tty_reset_mode();
}

static void on_crash(int signum)
{
    give_back();
    raise(signum); /* SA_RESETHAND: as if this handler had not been there */
}

static void catch_crashes(void)
{
    struct sigaction action = {.sa_handler = on_crash, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < COUNT_OF(crashes); i++)
        sigaction(crashes[i], &action, NULL);
    atexit(give_back);
}

static void take(struct terminal *t)
{
    if (t->has_in)
        uv_tty_set_mode(&t->in, UV_TTY_MODE_RAW);
    taken = 1;
    buf_clear(&t->shown);
    if (write(STDOUT_FILENO, enter_text, sizeof enter_text - 1) < 0)
        t->calls.on_end(t->calls.arg, 0);
}

static void release(struct terminal *t)
{
    if (t->has_in)
        uv_tty_set_mode(&t->in, UV_TTY_MODE_NORMAL); /* or it would not be made raw again */
    give_back();
}

void terminal_suspend(struct terminal *t)
{
    release(t);
    kill(getpid(), SIGSTOP); /* what SIGTSTP does by itself */
    take(t);
    t->calls.on_change(t->calls.arg);
}

/* ---- events */

static void on_signal(uv_signal_t *handle, int signum)
{
    struct terminal *t = handle->data;
    switch (signum) {
    case SIGWINCH:
        buf_clear(&t->shown); /* terminals wrap or cut what is there */
        t->calls.on_change(t->calls.arg);
        break;
    case SIGTSTP: terminal_suspend(t); break;
    case SIGCONT: /* of a SIGSTOP that nobody told us of */
        release(t);
        take(t);
        t->calls.on_change(t->calls.arg);
        break;
    default: t->calls.on_end(t->calls.arg, signum); break;
    }
}

static void give_room(uv_handle_t *handle, size_t wanted, uv_buf_t *ret_room)
{
    struct terminal *t = handle->data;
    (void)wanted;
    *ret_room = uv_buf_init(t->keys, KEYS_MAX);
}

static void on_read(uv_stream_t *stream, ssize_t len, const uv_buf_t *room)
{
    struct terminal *t = stream->data;
    if (len < 0)
        t->calls.on_end(t->calls.arg, 0);
    else if (len > 0)
        t->calls.on_keys(t->calls.arg, str_of(room->base, (size_t)len));
}

/* ---- frames */

void terminal_size(struct terminal *t, size_t *ret_rows, size_t *ret_cols)
{
    int cols = 0;
    int rows = 0;
    if (uv_tty_get_winsize(&t->out, &cols, &rows) != 0 || cols <= 0 || rows <= 0) {
        rows = ROWS_USUAL;
        cols = COLS_USUAL;
    }
    *ret_rows = (size_t)(rows < SIZE_MAX_CELLS ? rows : SIZE_MAX_CELLS);
    *ret_cols = (size_t)(cols < SIZE_MAX_CELLS ? cols : SIZE_MAX_CELLS);
}

/* Without what sets colours. */
static size_t visible_width(struct str line)
{
    size_t width = 0;
    while (line.len > 0) {
        size_t next = 0;
        if (line.ptr[0] == '\x1b') {
            (void)str_cut(&line, 'm');
            continue;
        }
        line = str_from(line, cells_next(line, &next));
        width += next;
    }
    return width;
}

/* Each line is put in its place, and what is behind it erased; behind a line that fills the screen
 * there is nothing, and the cursor stands on its last character. */
static void print_frame(struct buf *out, struct str lines, size_t cols)
{
    buf_add(out, FRAME_BEGIN);
    for (size_t row = 1; lines.len > 0; row++) {
        struct str line = str_cut(&lines, '\n');
        buf_printf(out, "\x1b[%zu;1H", row);
        buf_add(out, line);
        buf_add(out, STR("\x1b[0m"));
        if (visible_width(line) < cols)
            buf_add(out, STR("\x1b[K"));
    }
    buf_add(out, FRAME_END);
}

static void on_written(uv_write_t *write, int status)
{
    struct terminal *t = write->data;
    t->writing = false;
    if (t->closing)
        return;
    if (status < 0)
        t->calls.on_end(t->calls.arg, 0);
    else if (t->missed)
        t->calls.on_change(t->calls.arg);
}

void terminal_show(struct terminal *t, struct str lines)
{
    size_t rows;
    size_t cols;
    t->missed = t->writing;
    if (t->writing || t->closing || str_eq(lines, buf_str(&t->shown)))
        return;
    buf_clear(&t->shown);
    buf_add(&t->shown, lines);
    terminal_size(t, &rows, &cols);
    buf_clear(&t->frame);
    print_frame(&t->frame, lines, cols);
    uv_buf_t piece = uv_buf_init(t->frame.ptr, (unsigned)t->frame.len);
    t->write.data = t;
    t->writing = uv_write(&t->write, (uv_stream_t *)&t->out, &piece, 1, on_written) == 0;
    if (!t->writing)
        t->calls.on_end(t->calls.arg, 0);
}

/* ---- life */

static void on_closed(uv_handle_t *handle)
{
    struct terminal *t = handle->data;
    if (--t->open > 0)
        return;
    buf_free(&t->shown);
    buf_free(&t->frame);
    free(t);
}

static void watch(struct terminal *t, uv_loop_t *loop)
{
    for (size_t i = 0; i < COUNT_OF(watched); i++) {
        uv_signal_init(loop, &t->signals[i]);
        t->signals[i].data = t;
        t->open++;
        uv_signal_start(&t->signals[i], on_signal, watched[i]);
    }
}

enum rc terminal_open(uv_loop_t *loop, const struct terminal_calls *calls,
                      struct terminal **ret_terminal, struct err *err)
{
    struct terminal *t = MEM_NEW(struct terminal);
    t->calls = *calls;
    t->shown = t->frame = BUF(FRAME_BYTES_MAX);
    int failed = uv_tty_init(loop, &t->out, STDOUT_FILENO, 0);
    if (failed != 0) {
        free(t);
        return err_set(err, RC_IO, "cannot use the terminal: %s", uv_strerror(failed));
    }
    t->out.data = t;
    t->open = 1;
    if (uv_guess_handle(STDIN_FILENO) == UV_TTY &&
        uv_tty_init(loop, &t->in, STDIN_FILENO, 1) == 0) {
        t->in.data = t;
        t->has_in = true;
        t->open++;
    }
    watch(t, loop);
    catch_crashes();
    take(t);
    if (t->has_in)
        uv_read_start((uv_stream_t *)&t->in, give_room, on_read);
    *ret_terminal = t;
    return RC_OK;
}

void terminal_close(struct terminal *t)
{
    if (t == NULL)
        return;
    t->closing = true;
    release(t);
    uv_close((uv_handle_t *)&t->out, on_closed);
    if (t->has_in)
        uv_close((uv_handle_t *)&t->in, on_closed);
    for (size_t i = 0; i < COUNT_OF(watched); i++)
        uv_close((uv_handle_t *)&t->signals[i], on_closed);
}
