/* routes.h - a request's way to its handler: which route, who may call it, which server decides. */
#pragma once
#include "job/command/command_facts.h"
#include "server/call/request.h"

/* Answers a request that was sent to another server and got no answer: it may have been done. */
enum command_repeat routes_repeat(const struct request *r);

/* Looks at the head alone: finds the route, checks the caller's role and what it accepts. False
 * when it has answered: no such thing, or not for this caller. A body that comes with it need not
 * be read then. */
bool routes_admit(struct request *r, bool body_follows);
/* Counts a key that is none. False: its address tried too many, and the request is answered. */
bool routes_allow_wrong_key(struct request *r);
/* Hands a request that was admitted to its handler, here or on the server that has to decide. */
void routes_serve(struct request *r);
/* To its handler, here, from the beginning. */
void routes_handle(struct request *r);
