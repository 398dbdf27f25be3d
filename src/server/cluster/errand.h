/* errand.h - a command of the server's own, for whose answer nobody waits.
 *
 * It goes to the decider as requests do, with an arena that it brings along. */
#pragma once
#include "server/call/request.h"

struct errand {
    struct request request;
    struct arena arena;
};

struct errand *errand_new(enum command_kind kind);
void errand_free(struct errand *errand);
/* Frees it when that request is one; else false. */
bool errand_end(struct request *r);
