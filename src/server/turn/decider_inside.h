/* decider_inside.h - what decider.c and decider_cluster.c know of each other; no other file
 * includes it. Everything here belongs to the turn thread, except where a member is atomic. */
#pragma once
#include "server/cluster/membership.h"
#include "server/cluster/timekeeper.h"
#include "server/turn/commit_times.h"
#include "server/turn/decider.h"
#include "server/turn/keeper.h"
#include "server/turn/outage.h"
#include "server/turn/retired.h"

struct decider {
    struct server *server;
    struct thread *thread;
    struct intake intake;
    struct mailbox *keeps; /* owned: requests that want something kept beside the turns */
    struct turn turn;
    struct outage outage;
    struct timekeeper time; /* alone: of this machine's clock */
    int64_t next_look_us;   /* at the files of the store */
    int64_t next_zones_us;  /* at those of time zones */
    struct commit_times commits;
    enum turn_phase phase;         /* that the thread is in; TURN_PHASES: between turns … */
    int64_t phase_us;              /* … since then, by the monotonic clock */
    int64_t step_us;               /* when the turn began, and … */
    int64_t spent_us[TURN_PHASES]; /* … how long its phases took, repeated ones added up */
    int64_t next_gauges_us;        /* the next numbers for metrics */
    atomic_bool failed;
    atomic_uint_least64_t kept;  /* commits, see decider_commits */
    atomic_bool proof_wanted;    /* by decider_prove */
    atomic_int_least64_t end_us; /* from then on nothing is waited for; 0: it does not end */

    /* in a cluster */
    struct membership *membership; /* NULL: there is no other server */
    struct engine_options options;
    struct ownership owned;
    struct ownership numbers; /* only its floors: the ids and turns that earlier engines gave out */
    uint64_t serial;          /* of the newest news from the membership */
    uint64_t settings_version; /* that was read last */
    uint64_t doubt;            /* a ticket: the membership must answer before any turn; 0: none */
    int64_t doubt_us;          /* when the doubt began */
    uint64_t lost_turns;       /* turns that the store lost, of which an alert is due */
    bool stale;                /* memory may be wrong: load it again */
    bool unloaded;             /* it could not be loaded; the engine knows nothing */
    bool stirred;              /* a turn is due although no command waits */
    struct retired *retired;   /* owned: former engines, which answers may still borrow from */
    struct keeper keeper;      /* of leases, while nothing may be decided */
};

/* ---- decider.c */

/* False: this server could not renew its membership, so another may own its partitions by now.
 * Takes a struct decider, and is called by struct turn. */
bool decider_may_decide(void *decider);
/* The turn was loaded: from now on it asks and tells this decider. */
void decider_attach_turn(struct decider *d);
/* Begins an outage for that reason, or goes on with the one under way. */
void decider_begin_outage(struct decider *d, const struct err *err);
/* The same; then all that waits is answered as far as that needs no store. */
void decider_run_outage(struct decider *d, const struct err *err);

/* ---- decider_cluster.c */

/* Looks at what the cluster says, before a turn: loads the partitions that are ours now, reads
 * settings that other servers changed. False: no turn may run yet, since it is in doubt what we
 * own. */
bool decider_follow_cluster(struct decider *d);
/* True when rc, of a commit, says that another server may own our partitions. */
bool decider_is_doubt(const struct decider *d, enum rc rc);
/* The store does not know us as the owner of all that this turn was about (its commands wait until
 * the next view says who is), or cannot say what became of it (then they are answered, since they
 * may have been kept). */
void decider_begin_doubt(struct decider *d, struct command **commands, size_t count,
                         const struct err *err);
/* Answers all parked polls, which come again. An engine that is about to go says nothing about what
 * this server owns. */
void decider_unpark(struct decider *d);
/* Logs which partitions were loaded, since begin_us by the monotonic clock. */
void decider_tell_loaded(const struct decider *d, int64_t begin_us);
/* Lets the store call us while it waits, so that polls are answered meanwhile. Does nothing for a
 * server that is alone. */
void decider_be_patient(struct decider *d);
