/* terminal.h - a terminal that belongs to one full-screen program for a while.
 *
 * Frames are written whole and never wait: while the terminal is slow, frames are left out. It is
 * given back as it was on every way out: terminal_close, exit, a crash; while the program is
 * suspended it is given back, too. One at a time. */
#pragma once
#include "base/err.h"
#include "base/str.h"

#include <uv.h>

struct terminal;

/* Called by the loop. */
struct terminal_calls {
    void (*on_keys)(void *arg, struct str bytes);
    void (*on_change)(void *arg); /* of its size, or it can be written to again */
    /* SIGINT, SIGTERM, SIGHUP; 0: the terminal is gone. */
    void (*on_end)(void *arg, int signum);
    void *arg;
};

/* Of stdout, and stdin where that is one. */
enum rc terminal_open(uv_loop_t *loop, const struct terminal_calls *calls,
                      struct terminal **ret_terminal, struct err *err);
void terminal_size(struct terminal *t, size_t *ret_rows, size_t *ret_cols);
/* Lines, each ended by \n, as many as there are rows and none wider than the columns. */
void terminal_show(struct terminal *t, struct str lines);
/* Gives it back and stops this program, until a shell lets it go on. */
void terminal_suspend(struct terminal *t);
/* The loop must run once more. NULL is fine. */
void terminal_close(struct terminal *t);
