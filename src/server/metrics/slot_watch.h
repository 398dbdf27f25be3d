/* slot_watch.h - looks for slots of schedules that nothing was decided about.
 *
 * There should be none: the turn that ends a slot puts the next one ahead. So this is a second
 * opinion, from the records alone. A thousand schedules a minute are compared with their records
 * of the last day, a few at a time, by a thread that answers queries; what is found is in the log
 * and in `slots_without_outcome`, until a later look does not find it any more. Schedules that
 * were edited are looked at from the edit on, and all of them from the newest step of the clock
 * on, and as far back as history is kept; of one with a slot every 8 s or more often, the newest
 * ten thousand records. Each server looks at jobs that it owns. */
#pragma once
#include <stdint.h>

struct server;
struct slot_watch;

struct slot_watch *slot_watch_new(struct server *server);
/* When no mail of it can be under way any more. NULL is fine. */
void slot_watch_free(struct slot_watch *w);
/* Sends the next few to a query thread, when it is time to. By one thread. */
void slot_watch_look(struct slot_watch *w);
/* When to call that: monotonic clock. */
int64_t slot_watch_next_us(const struct slot_watch *w);
