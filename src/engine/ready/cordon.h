/* cordon.h - a worker that is given nothing new.
 *
 * A person cordons a worker, and it gets no new leases until a person lifts that. All else goes on:
 * what it runs, its polls, its reports. A cordon is part of the worker's record, so it outlives
 * servers. Where there are several, the home of the worker (the owner of its id) decides about it,
 * and the others read it with the settings. */
#pragma once
#include "job/command/command.h"

struct engine;
struct worker;

/* Never changed: another one takes its place. */
struct cordon {
    int64_t since_ms;
    struct str by;
    struct str reason; /* may be empty */
    char bytes[];      /* both texts */
};

/* As the record has it; NULL: it has none. To be freed with free(). */
struct cordon *cordon_of(const struct worker_rec *rec);
void cordon_record(const struct cordon *cordon, struct worker_rec *ret_rec);

/* A worker keeps its cordon when its process is another one, which has named it as its predecessor:
 * it goes into the record of the new one. The former stays cordoned (a worker's word cannot lift
 * what a person decided), and is forgotten like any other. */
void cordon_inherit(struct engine *e, const struct command *hello, struct worker_rec *ret_rec);
/* Another process has taken the place of this one: it is looked after anew. */
void cordon_passed_on(struct engine *e, struct worker *former);

void decide_cordon(struct engine *e, struct command *cmd);
void decide_uncordon(struct engine *e, struct command *cmd);

/* Between turns, all settings have been read: workers of other servers whose cordon was not among
 * them have none any more. */
void cordons_read(struct engine *e);
