/* command.h - `belfry plan`: what will run between two moments. Returns the exit code. */
#pragma once

int plan_command(int argc, char **argv);
