/* batch.h - jobs of one submission that depend on one another. */
#pragma once
#include "engine/core/engine.h"

/* The items' numbers in an order in which each comes after those it waits for. Items in a circle,
 * or behind one, are refused. */
const size_t *batch_order(struct engine *e, struct command *cmd);
