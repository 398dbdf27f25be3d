/* feed_numbers.h - the numbers in a tick: of this server, and of the others that tell theirs.
 *
 * Each server is a source with the sums that it tells and a row for each queue. A source tells only
 * the rows that have changed since it told them last, so a thousand idle queues cost nothing on the
 * way; added up they are what readers see, with the queues first that changed most. Belongs to one
 * thread. */
#pragma once
#include "base/arena.h"
#include "base/list.h"
#include "base/map.h"
#include "wire/message/stats_json.h"

enum { TICK_QUEUES = 50, SOURCE_SILENT_MS = 3000 };

struct feed_numbers {
    struct list sources; /* the first is this server */
    struct strmap rows;  /* owned: the sums over all sources, by queue */
    uint64_t round;
};

void feed_numbers_init(struct feed_numbers *n);
void feed_numbers_free(struct feed_numbers *n);

/* What this server knows now. */
void feed_numbers_own(struct feed_numbers *n, const struct stats_view *stats,
                      const struct stats_moment *moment);
/* What another one told, in a tick of its own. boot_ms: when it was heard. */
void feed_numbers_heard(struct feed_numbers *n, struct str name, struct str tick, int64_t boot_ms,
                        struct arena *arena);
/* Its stream has broken off: the next one begins with all of its rows. */
void feed_numbers_lost(struct feed_numbers *n, struct str name);
/* So have all of them. */
void feed_numbers_alone(struct feed_numbers *n);
/* Sources that are not among these do not count, nor do those that have been silent; reports those
 * of these that do not. */
size_t feed_numbers_missing(struct feed_numbers *n, const struct str *names, size_t count,
                            int64_t boot_ms, struct str *ret_missing);

/* A tick for readers. Changes are those since the last call. */
void feed_numbers_print(struct feed_numbers *n, const struct str *missing, size_t missing_count,
                        struct buf *out, struct arena *arena);
/* A tick for another server: this one's rows that changed, or all (which it says: "whole"). */
void feed_numbers_print_own(const struct feed_numbers *n, bool all, struct buf *out);
