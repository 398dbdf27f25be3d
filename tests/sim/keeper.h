/* keeper.h - a simulated server without its store, or without the right to decide: server/turn/keeper.c and
 * the outage of server/turn/decider.c, without their clock.
 *
 * Polls are answered in memory for a grace, so that no run dies of it; everything else is told to come
 * again. One of several servers names what it keeps and says nothing else, by the engine that knows:
 * while another is loaded, or could not be, that is the one before it. */
#pragma once
#include "server.h"

/* Answers all that waits. */
void keeper_step(struct sim_server *s);
/* In the middle of a turn, while the database hangs: answers the polls that wait. */
void keeper_wait(struct sim_server *s);
/* Whoever is parked polls again. */
void keeper_let_go(struct sim_server *s);

/* The engine is to be replaced: it speaks until another one is loaded, … */
void keeper_adopt(struct sim_server *s);
/* … which inherits what it knew. */
void keeper_pass_on(struct sim_server *s);
/* The process is gone. */
void keeper_forget(struct sim_server *s);
