/* feed_link.h - what other servers tell, for one filter of the feed.
 *
 * However many read it here, each other server is asked once: `GET /events?view=summary` with
 * the filter, in the name of this server. The streams live on the first net thread; what comes
 * is handed to the tail's thread by mail. A server that does not answer is tried for all filters
 * together, with a pause that grows (server/cluster/rest.h). */
#pragma once
#include "server/call/request.h"

struct feed_link;

/* An event of another server; without a kind: its stream has broken off. On the tail's thread;
 * texts are valid during the call. */
typedef void feed_hear(void *arg, struct str node, struct str kind, struct str data);

/* target is the path with its query. On the tail's thread, as all below. */
struct feed_link *feed_link_new(struct server *server, struct mailbox *tail_box, struct str target,
                                feed_hear *hear, void *arg);
/* Once a second: joins servers that have come, and again those that broke off. */
void feed_link_look(struct feed_link *link);
/* hear is not called any more. */
void feed_link_close(struct feed_link *take_link);
