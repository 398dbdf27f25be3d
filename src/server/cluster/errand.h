/* errand.h - a command of the server's own.
 *
 * It goes to the decider as requests do, with an arena that it brings along. Mostly nobody waits
 * for its answer. */
#pragma once
#include "server/call/request.h"

struct errand {
    struct request request;
    struct arena arena;
    /* Takes the errand with its answer, on the thread that gave it; NULL: it is freed. */
    void (*take_ended)(struct errand *errand);
};

struct errand *errand_new(enum command_kind kind);
/* A zeroed one, perhaps in something larger. */
void errand_init(struct errand *errand, enum command_kind kind);
void errand_free(struct errand *errand);
/* Ends it when that request is one; else false. */
bool errand_end(struct request *r);
