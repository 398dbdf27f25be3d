/* source.h - what `belfry top` shows, kept up to date: the summary of events as it comes, and lists
 * and series that are asked for again and again. When the server is lost it is tried until it is
 * back; meanwhile what it said last stays. */
#pragma once
#include "cli/api.h"
#include "cli/top/screen.h"

#include <uv.h>

struct source;

/* on_change is called by the loop when there is something that had better be seen at once: the
 * first numbers, the server lost or found. */
struct source *source_new(uv_loop_t *loop, struct cli *cli, int64_t interval_ms,
                          void (*on_change)(void *arg), void *arg);
/* The loop must run once more. NULL is fine. */
void source_free(struct source *s);
/* Time for a new screen: rates are told since the call before. */
void source_step(struct source *s);
struct top_data source_data(const struct source *s);
/* Why the server is lost; empty: it is not. */
struct str source_lost(const struct source *s);
/* RC_OK, or why it makes no sense to try again: the key is not good. */
enum rc source_refused(const struct source *s, struct err *err);

/* Everything once, from blocking calls; a series that is not known is left out. */
enum rc source_once(struct cli *cli, struct top_data *ret_data, struct err *err);
