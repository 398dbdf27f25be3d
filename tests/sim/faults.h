/* faults.h - what may go wrong, and how often.
 *
 * Every seed draws a climate of its own: about half of the faults never strike on its day, the
 * others at a rate up to the one below. A day with everything at once would hide what only shows
 * when nothing else disturbs. A fault is a line here and a place that asks whether it strikes. */
#pragma once
#include "base/str.h"

/* name, most strikes in a thousand occasions, words */
#define FAULTS(X)                                                                                  \
    X(REQUEST_LOST, 100, "a request is lost")                                                      \
    X(REQUEST_REPEATED, 1000, "a request arrives twice")                                           \
    X(REQUEST_SLOW, 150, "a request is overtaken by later ones")                                   \
    X(REPLY_LOST, 150, "a reply is lost")                                                          \
    X(REPLY_SLOW, 150, "a reply is overtaken by later ones")                                       \
    X(HANGUP, 100, "a caller hangs up; the reply goes into a closed connection")                   \
    X(HANGUP_UNHEARD, 300, "the server does not hear that a caller is gone")                       \
    X(WORKER_CRASH, 60, "a worker dies")                                                           \
    X(WORKER_SLEEP, 60, "a worker sleeps, perhaps past its leases")                                \
    X(CLOCK_FORWARD, 30, "the wall clock leaps forward")                                           \
    X(CLOCK_BACK, 30, "the wall clock is set back")                                                \
    X(SERVER_CRASH, 80, "the server dies between two turns")                                       \
    X(TAKEOVER, 30, "another server takes the partition")                                          \
    X(OWN_FAILS, 300, "the store cannot be owned or loaded just now")                              \
    X(ADMIT_BUSY, 60, "admit says busy")                                                           \
    X(CRASH_BEFORE_ADMIT, 20, "the server dies before admit")                                      \
    X(CRASH_AFTER_ADMIT, 20, "the server dies after admit")                                        \
    X(COMMIT_BUSY, 80, "commit says busy; nothing was kept")                                       \
    X(COMMIT_FULL, 60, "commit says that the disk is full")                                        \
    X(COMMIT_IO, 40, "commit says that the disk failed; nothing was kept")                         \
    X(CRASH_BEFORE_COMMIT, 20, "the server dies before commit")                                    \
    X(CRASH_AFTER_COMMIT, 20, "the server dies after commit, before anybody was told")             \
    X(CRASH_BEFORE_ANSWERS, 30, "the server dies with its answers in hand")                        \
    X(UNKNOWN_KEPT, 40, "commit says unknown; it was kept")                                        \
    X(UNKNOWN_LOST, 40, "commit says unknown; it was lost")                                        \
    X(UNKNOWN_FOR_GOOD, 20, "commit says unknown, and nobody can settle it")                       \
    X(DEPOSED_BEFORE_ADMIT, 15, "the partition is taken before admit")                             \
    X(DEPOSED_BEFORE_COMMIT, 15, "the partition is taken between admit and commit")                \
    X(FETCH_FAILS, 200, "a large definition cannot be read")                                       \
    X(FREEZE, 200, "a server stops for a while, and goes on as if nothing had happened")           \
    X(ADRIFT, 100, "a server is cut off from the store")                                           \
    X(CUT_OFF, 100, "a server is cut off from everybody but the store")                            \
    X(CUT_WORKER, 100, "a worker and a server are cut off from each other")                        \
    X(SPLIT, 60, "a server and a worker are alone with each other")                                \
    X(HANG, 20, "the database answers nobody for a while")                                         \
    X(DIE_TOGETHER, 60, "a worker and a server die together")                                      \
    X(FREEZE_AFTER_ADMIT, 60, "a server stops for a while after admit")                            \
    X(FREEZE_BEFORE_COMMIT, 60, "a server stops for a while before commit")                        \
    X(FREEZE_AFTER_COMMIT, 40, "a server stops for a while after commit")

#define FAULT_ENUM(name, most, words) FAULT_##name,
enum fault { FAULTS(FAULT_ENUM) FAULT_KINDS, FAULT_NONE = FAULT_KINDS };
enum { FAULTS_ALONE = FAULT_FREEZE }; /* those from there on are for clusters */

struct world;

struct faults {
    uint32_t permille[FAULT_KINDS];
};

/* Draws the climate of the day. */
void faults_draw(struct world *w);
/* True when it strikes now; says so in the trace. Never while healing. */
bool fault_strikes(struct world *w, enum fault fault);
/* What is to go wrong in the coming turn, if the turn comes to it: one of first to last, or
 * FAULT_NONE. Whoever lets it happen says so by fault_happens. */
enum fault fault_of_turn(struct world *w, enum fault first, enum fault last);
void fault_happens(struct world *w, enum fault fault);
const char *fault_words(enum fault fault);
