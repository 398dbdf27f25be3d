/* turn.h - one step of a server: ask, decide, commit, publish.
 *
 * A turn joins the engine, which decides, and the store, which remembers. It has no thread, no
 * clock and no network of its own, so the simulator runs the very same turns; `decider.h` is the
 * thread that runs them in a server. */
#pragma once
#include "base/log.h"
#include "engine/core/engine.h"
#include "server/turn/phase.h"
#include "store/store.h"

struct turn {
    struct engine *engine; /* owned */
    struct store *store;
    struct ownership owned;
    struct arena arena;           /* of one turn; reset by the next */
    struct turn_reading *reading; /* owned: what the engine's reading of documents needs */
    struct arena kept;            /* events of the parts of a turn that had to be divided */
    size_t quarantined; /* executions that make no sense: neither acted upon nor deleted */
    struct mail_waiting mail_told; /* what the log said last; only the numbers count */
    enum rc broken;                /* why no turn can follow */
    const struct delta *refused; /* by the store, in the last try; NULL: it did not come to that */
    /* Asked before a commit, when there is one to ask; false: the right to decide has ended, and
     * the turn is undone as RC_BUSY. */
    bool (*may_keep)(void *arg);
    void *may_keep_arg;
    /* Told that a phase begins; kept: with PHASE_PUBLISH, what was committed, NULL: nothing had to
     * be. NULL: nobody measures. */
    void (*on_phase)(void *arg, enum turn_phase phase, const struct delta *kept);
    void *on_phase_arg;
    log_about *about; /* of lines about a command, which is its argument; NULL: nothing besides */
    /* Told, after the commit, which executions ended in a trace that is to be told about. NULL:
     * nobody is. */
    void (*on_ended)(void *arg, const struct ended_trace *ended, size_t count);
    void *on_ended_arg;
};

/* Loads what is due of what is owned, with a new engine: t is empty, or was closed. A record that
 * makes no sense is logged, counted and left out. A server that owns nothing knows the settings,
 * and can answer polls. */
enum rc turn_load(struct turn *t, struct store *store, const struct ownership *owned,
                  const struct engine_options *options, struct moment now, struct err *err);
/* Owns the store's partitions for node before that. */
enum rc turn_open(struct turn *t, struct store *store, struct str node,
                  const struct engine_options *options, struct moment now, struct err *err);
void turn_close(struct turn *t);
/* For whoever will load anew: the numbers that were given out since own was told its floors. */
void turn_raise_floors(const struct turn *t, struct ownership *own);

/* The news of a turn, for other threads; valid until the next one. */
struct turn_news {
    struct list done; /* commands that are answered, of this turn or parked before */
    const struct event *events;
    size_t event_count;
    bool committed;  /* the store has taken something, so it takes commits */
    uint64_t mailed; /* bits: partitions elsewhere that were told something, and would look later */
};

/* Runs one turn over the commands. RC_OK: they are durable and answered, or parked in the engine.
 * Otherwise nothing happened, the commands are still the caller's, and the code says what to do:
 * RC_BUSY, RC_FULL, RC_IO: try again later; RC_DEPOSED, RC_CORRUPT, RC_UNKNOWN, RC_CONFLICT: this
 * server must not decide any more and has to start anew.
 *
 * When the store calls the turn a contradiction, it is undone and divided until the one command is
 * found that cannot be kept; that one is answered with the reason, all others are kept. An
 * execution that the store knows otherwise than memory does is quarantined on the way. */
enum rc turn_run(struct turn *t, struct command *const *commands, size_t count, struct moment now,
                 struct turn_news *ret_news, struct err *err);

/* One turn while the store takes nothing, over commands that work in an outage: running leases are
 * renewed and polls answered, in memory only. Cannot fail. */
void turn_run_outage(struct turn *t, struct command *const *commands, size_t count,
                     struct moment now, struct turn_news *ret_news);

/* The same for no partitions, without asking the store: for a server that cannot load its own. */
void turn_idle(struct turn *t, struct store *store, uint32_t partitions,
               const struct engine_options *options, struct moment now);

/* Between turns: reads again what somebody decided, perhaps through another server. */
enum rc turn_settings(struct turn *t, struct err *err);

/* Whether the command is this server's to decide: about what it owns, or about nothing in
 * particular. Nothing else may come into a turn. */
bool turn_is_ours(const struct turn *t, const struct command *cmd);

/* Makes a commit that changes nothing anybody could see: RC_OK when the store takes commits. */
enum rc turn_probe(struct turn *t, struct err *err);
