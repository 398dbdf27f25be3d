/* commands.h - the subcommands that talk to a server, and help.
 *
 * Each takes its arguments (argv[0] is its name) and returns the exit code; see cli.h for what the
 * codes mean. main.c puts them into one table with the daemons, from which `help` is made. */
#pragma once
#include <stddef.h>

int submit_command(int argc, char **argv);
int jobs_command(int argc, char **argv);
int executions_command(int argc, char **argv);
int alerts_command(int argc, char **argv);
int rejected_command(int argc, char **argv);
int operations_command(int argc, char **argv);
int breakers_command(int argc, char **argv);
int dead_letters_command(int argc, char **argv);
int queues_command(int argc, char **argv);
int teams_command(int argc, char **argv);
int calendars_command(int argc, char **argv);
int workers_command(int argc, char **argv);
int nodes_command(int argc, char **argv);
int graph_command(int argc, char **argv);
int slots_command(int argc, char **argv);
int show_command(int argc, char **argv);
int explain_command(int argc, char **argv);
int events_command(int argc, char **argv);
int top_command(int argc, char **argv);
int report_command(int argc, char **argv);
int series_command(int argc, char **argv);
int scaling_command(int argc, char **argv);
int stats_command(int argc, char **argv);
int dashboard_command(int argc, char **argv);
int settings_command(int argc, char **argv);
int diagnostics_command(int argc, char **argv);
int me_command(int argc, char **argv);
int logs_command(int argc, char **argv);
int ack_command(int argc, char **argv);
int silence_command(int argc, char **argv);
int silences_command(int argc, char **argv);
int cancel_command(int argc, char **argv);
int pause_command(int argc, char **argv);
int resume_command(int argc, char **argv);
int extend_sla_command(int argc, char **argv);
int cordon_command(int argc, char **argv);
int uncordon_command(int argc, char **argv);
int trigger_command(int argc, char **argv);
int retry_command(int argc, char **argv);
int exec_command(int argc, char **argv);
int ping_command(int argc, char **argv);
int history_command(int argc, char **argv);
int rollback_command(int argc, char **argv);
int cron_command(int argc, char **argv);
int apply_command(int argc, char **argv);
int import_command(int argc, char **argv);
int migrate_command(int argc, char **argv);
int version_command(int argc, char **argv);

struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary; /* NULL: no user needs it, and `help` leaves it out */
};

/* NULL when there is none of that name. */
const struct command *command_find(const struct command *commands, size_t count, const char *name);

/* `belfry help [COMMAND]`. */
int help_command(const struct command *commands, size_t count, int argc, char **argv);
/* For a name that is no command: says so, and whether it is promised. Returns the exit code. */
int help_unknown(const char *name);
