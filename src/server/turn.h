/* turn.h - one step of a server: ask, decide, commit, publish.
 *
 * A turn joins the engine, which decides, and the store, which remembers. It has no thread, no
 * clock and no network of its own, so the simulator runs the very same turns; `decider.h` is the
 * thread that runs them in a server. */
#pragma once
#include "engine/engine.h"
#include "store/store.h"

struct turn {
    struct engine *engine; /* owned */
    struct store *store;
    struct ownership owned;
    struct arena arena; /* of one turn; reset by the next */
};

/* Owns the store's partition for node and loads what is due. A record that makes no sense is
 * logged and left out. */
enum rc turn_open(struct turn *t, struct store *store, struct str node,
                  const struct engine_options *options, struct moment now, struct err *err);
void turn_close(struct turn *t);

/* What a turn has to tell, valid until the next one. */
struct turn_news {
    struct list done; /* commands that are answered, of this turn or parked before */
    const struct event *events;
    size_t event_count;
};

/* Runs one turn over the commands. RC_OK: they are durable and answered, or parked in the engine.
 * Otherwise nothing happened, the commands are still the caller's, and the code says what to do:
 * RC_BUSY, RC_FULL, RC_IO: try again later; RC_DEPOSED, RC_CORRUPT, RC_UNKNOWN: this server must
 * not decide any more and has to start anew. */
enum rc turn_run(struct turn *t, struct command *const *commands, size_t count, struct moment now,
                 struct turn_news *ret_news, struct err *err);
