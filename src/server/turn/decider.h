/* decider.h - the one thread that decides: it owns the engine and the write connection.
 *
 * While a commit is under way commands pile up in its mailbox; the next turn takes them all. So
 * group commit needs no tuning: latency is one commit when idle, and throughput grows with load. */
#pragma once
#include "base/sketch.h"
#include "server/cluster/errand.h"

/* Owns and loads the store, then starts the thread. */
enum rc decider_start(struct server *server, struct decider **ret_decider, struct err *err);
/* From any thread. RC_BUSY when too much is waiting, RC_SHUTDOWN when going away; r is taken only
 * by RC_OK and comes home when its command is answered. */
enum rc decider_send(struct decider *d, struct request *r);
/* The same, to have r->keep called with the store between two turns. */
enum rc decider_keep(struct decider *d, struct request *r);
/* A parked poll's client has left: stop offering it work. */
void decider_hangup(struct decider *d, const struct request *r);
/* An alert was delivered, or given up. From any thread. */
void decider_alert_sent(struct decider *d, const struct alert_mark *mark);
/* There is news from the cluster, or mail in the store: look. From any thread. */
void decider_nudge(struct decider *d);
/* From any thread. It ends with its answer, also when the server is going away. */
void decider_send_errand(struct decider *d, struct errand *take_errand);
/* So many turns the store has kept, and commits that were asked for by decider_prove. From any
 * thread. */
uint64_t decider_commits(const struct decider *d);
/* Has a commit made that changes nothing, to see whether the store takes one. From any thread. */
void decider_prove(struct decider *d);
/* How long the commits of the last minute took, in microseconds. From any thread. */
void decider_commit_times(struct decider *d, struct sketch *ret_sketch);
/* Takes nothing new, answers everything that waits, and ends the thread. */
void decider_stop(struct decider *d);
/* After stop, and after the nets have stopped: answers borrow names from the engine. */
void decider_free(struct decider *d);
/* True when deciding became impossible and only a new start can help. */
bool decider_failed(const struct decider *d);
