/* heartbeat.h - tells a dead man's switch elsewhere that this server lives: posts to
 * `heartbeat_url`, every `heartbeat_ms`.
 *
 * A heartbeat says that jobs are decided and kept: it is sent by the server that owns the first
 * partition alone, and only when the store has kept something since the one before. Where nothing
 * else had to be kept, the turn thread is asked for a commit that changes nothing. So a server that
 * stands still, has lost its database or a full disk falls silent. It has a thread of its own: an
 * address that hangs keeps nothing else waiting. */
#pragma once
#include "server/call/context.h"

struct heartbeat;

/* *ret_heartbeat is NULL when there is nobody to tell. */
enum rc heartbeat_start(struct server *server, struct heartbeat **ret_heartbeat, struct err *err);
/* A post under way is given up within a second or so. NULL is fine. */
void heartbeat_stop(struct heartbeat *h);
