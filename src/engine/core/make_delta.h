/* make_delta.h - the records that a turn leaves to be kept. */
#pragma once

struct engine;

/* Fills e->turn.delta with the difference between before and after of all that was touched. */
void make_delta(struct engine *e);
