/* silences.h - which alerts are not to be sent for a while.
 *
 * A silence belongs to all servers, as the settings of a queue do: the owner of the first partition
 * makes and lifts it, the store keeps it, and the others read it again (engine_settings_begin) when
 * they see that settings have changed, which their member thread looks for every second. Whether an
 * alert is to be sent is decided once, when it is raised (alerts.c): one that was raised under a
 * silence stays `silenced`, and one that was raised before is sent as it would have been.
 *
 * A silence is the same from its commit until it is forgotten, and changes of a turn stand in that
 * turn until its commit: there is nothing to undo, and what one turn silences and raises is sent.
 * One that has ended counts no more from that moment on; its row goes with the next turn of the
 * owner of the first partition. */
#pragma once
#include "base/map.h"
#include "base/vec.h"
#include "job/command/command.h"

struct engine;

struct silences {
    struct map by_id;    /* owned: struct silence */
    int64_t end_next_ms; /* when the first of them ends, by the wall clock; 0: there is none */
};

struct turn_silences {
    VEC(struct silence_change) changes; /* in the order in which they were decided */
};

void silences_free(struct silences *s);
/* The silence that keeps alerts of this key from being sent now; 0: none does. */
uint64_t silences_over(const struct engine *e, struct str key);
/* Forgets those that have ended, where that is ours to do. */
void silences_step(struct engine *e);
/* The turn is durable. */
void silences_commit(struct engine *e);
/* All settings have been read: those that were not among them were lifted by another server. */
void silences_read(struct engine *e);
void decide_silence(struct engine *e, struct command *cmd);
void decide_lift_silence(struct engine *e, struct command *cmd);
