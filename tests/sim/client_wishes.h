/* client_wishes.h - the jobs that the people of the day want, and how they change their minds.
 *
 * Each submission and each edit is written down as a wish before it is sent; its payload names the
 * wish, so that the model knows in the store whose job it is. */
#pragma once
#include "net.h"

struct wish;

/* A job as a document, for somebody's SQL, and its wish; the text is the day's. */
struct str client_document(struct world *w, size_t *ret_wish);
/* A few jobs, drawn at random: some wait for each other, some must not be there twice. */
void client_submit(struct world *w);
void client_submit_one(struct world *w, const struct wish *wish);
/* Another definition of one that is there, as far as anybody knows. */
void client_edit(struct world *w);
/* A definition that an edited job had before, as one reads it back. */
void client_roll_back(struct world *w);
/* Another moment for a job that runs once and waits for others; without one, submits one. */
void client_replan_blocked(struct world *w);
/* The same submission once more, as another wish: what a repeated request is to a server. */
/* A caller's trace, another one for each number; empty for some. It lives as long as the day. */
struct str client_trace(struct world *w, uint64_t number);
void client_submit_again(struct world *w, struct call *copy, const struct command *cmd);
/* The same for an edit. */
void client_edit_again(struct world *w, struct call *copy, const struct command *cmd);
/* A job of each name: whoever finds it in use must find the job that has it. */
void client_want_names(struct world *w);
