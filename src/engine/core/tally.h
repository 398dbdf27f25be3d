/* tally.h - the numbers for reports. */
#pragma once

struct engine;

/* Adds the executions that ended in this turn to the delta's tallies. */
void tally_seal(struct engine *e);
