/* grant.h - work meets workers. */
#pragma once

struct engine;
struct exec;
struct worker;

void grant_all(struct engine *e);
/* Sends a lease that got lost on its way once more, good for a full term from now. */
void grant_again(struct engine *e, struct worker *w, struct exec *x);
/* Answers the polls of this turn that have something to hear, and parks the others. */
void polls_close(struct engine *e);
