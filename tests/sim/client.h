/* client.h - the people of the day: they submit, cancel, run again, pause, limit, drain, and look.
 *
 * Each submission is written down as a wish before it is sent; its payload names the wish, so that
 * the model knows in the store whose job it is. */
#pragma once
#include "net.h"

/* One action, drawn at random. */
void client_act(struct world *w);
/* The same submission once more, as another wish: what a repeated request is to a server. */
void client_submit_again(struct world *w, struct call *copy, const struct command *cmd);
/* The same for an edit. */
void client_edit_again(struct world *w, struct call *copy, const struct command *cmd);
/* A job of each name: whoever finds it in use must find the job that has it. */
void client_want_names(struct world *w);
/* Resumes all that is paused. */
void client_tidy_up(struct world *w);
