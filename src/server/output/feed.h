/* feed.h - the summary of what happens, for many readers (`GET /events?view=summary`).
 *
 * Once a second all of them are sent a tick: the numbers of `/stats`, printed once. Readers that
 * name jobs, executions or queues are sent events about those, too; they are grouped by their
 * filter into channels, so an event is looked at once and printed once for each filter, and not for
 * each reader. Above feed_events_max events a second a channel only counts, and says how many
 * (`changed`); a reader that is too slow is told the same. Nothing is numbered or resumed: a reader
 * who comes back begins with a tick, which says how things stand.
 *
 * Among other servers each reader is told of all: see feed_link.h. Channels of their own serve the
 * other servers with what happens here and nothing else. While nobody reads, nothing is done.
 *
 * Part of the tail's thread. */
#pragma once
#include "server/output/output_log.h"

struct feed;

struct feed *feed_new(struct output_log *t);
/* When the tail's thread, and the decider's, have ended. NULL is fine. */
void feed_free(struct feed *feed);

/* Begins f's answer. RC_BUSY: there are feed_readers_max already. */
enum rc feed_join(struct feed *feed, struct follow *f, struct err *err);
void feed_leave(struct feed *feed, struct follow *f);
/* Any of those who read, or NULL. */
struct follow *feed_first(struct feed *feed);

/* Something happened here. */
void feed_event(struct feed *feed, const struct event *event);
/* Sends what was printed, and begins a tick when one is due. */
void feed_pump(struct feed *feed);
/* When a tick is due: boot clock; INT64_MAX: nobody reads. */
int64_t feed_next_ms(const struct feed *feed);
