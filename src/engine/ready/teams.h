/* teams.h - limits over all jobs of a team. */
#pragma once
#include "job/command/command.h"

struct engine;
struct limit;

struct team_rec team_record(const struct limit *team);
void decide_team(struct engine *e, struct command *cmd);
void decide_teams(struct engine *e, struct command *cmd);
/* Settings were read again: teams that were not among them have none. Nothing deletes those of a
 * team; but a database that goes back to an older state may have lost them, and who kept nothing
 * since then loads nothing anew. */
void teams_read(struct engine *e);
