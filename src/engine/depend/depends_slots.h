/* depends_slots.h - dependencies where one of the two jobs recurs. */
#pragma once
#include "engine/depend/depends.h"

struct question_list;

/* A question of this turn about the upstream of an edge. */
struct slot_asked {
    struct edge *edge;
    const struct question *question;
};

/* The time of x has come, and nothing of its own job is in its way. True: it is blocked now until
 * its upstreams are over, or was skipped because that can never be. */
bool depends_begin(struct engine *e, struct exec *x);
/* Makes x wait by this rule, and ask for which slot. */
void depends_ask_for(struct engine *e, struct exec *x, struct edge *rule);
/* Asks the store which slot each unresolved execution waits for, a page at a time. */
void depends_ask_slots(struct engine *e, struct question_list *list);
/* Decides by the answers, before anything else of the turn: memory and answers are of one time. */
void depends_answer(struct engine *e);
/* The job of this record waits for pings. */
bool depends_expects(struct engine *e, const struct job_rec *rec);
/* It has a schedule. */
bool depends_recurs(struct engine *e, const struct job_rec *rec);
