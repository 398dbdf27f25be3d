/* teams.h - limits over all jobs of a team. */
#pragma once
#include "job/command/command.h"

struct engine;
struct limit;

struct team_rec team_record(const struct limit *team);
void decide_team(struct engine *e, struct command *cmd);
void decide_teams(struct engine *e, struct command *cmd);
