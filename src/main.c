/* main.c - picks a command and hands over. */
#include "base/map.h"
#include "bench/command.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "plan/command.h"
#include "server/command.h"
#include "server/docs.h"
#include "web/pages.h"
#include "worker/command.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

static int server(int argc, char **argv);
static int help(int argc, char **argv);
static int docs(int argc, char **argv);

static const struct command commands[] = {
    {"server", server, "run a server, with a worker inside"},
    {"worker", worker_command, "run work that a server gives out"},
    {"submit", submit_command, "submit a job"},
    {"jobs", jobs_command, "list jobs"},
    {"executions", executions_command, "list runs of jobs"},
    {"queues", queues_command, "list queues; pause, resume or limit one"},
    {"alerts", alerts_command, "list alerts: events that need attention"},
    {"ack", ack_command, "acknowledge an alert: somebody looks after it"},
    {"silence", silence_command, "keep alerts of a key from being sent for a while"},
    {"silences", silences_command, "list silences of alerts; lift one"},
    {"breakers", breakers_command, "list what keeps failing and is left alone; reset one"},
    {"teams", teams_command, "list teams; limit one"},
    {"dead-letters", dead_letters_command, "list what failed for good; retry or discard it"},
    {"operations", operations_command, "list what is done with many; show or cancel one"},
    {"rejected", rejected_command, "list what SQL submitted and could not be made a job"},
    {"calendars", calendars_command, "list calendars; import, put, show or delete one"},
    {"workers", workers_command, "list workers"},
    {"nodes", nodes_command, "list the servers that share the store"},
    {"show", show_command, "show all about a job, an execution or a worker"},
    {"plan", plan_command, "say what will run, and how it will fare"},
    {"graph", graph_command, "show which jobs wait for each other"},
    {"slots", slots_command, "list the slots of a schedule and what became of them"},
    {"explain", explain_command, "say why a job does not run"},
    {"logs", logs_command, "print what a command printed"},
    {"top", top_command, "show how things stand, as they change"},
    {"events", events_command, "print what happens, as it happens"},
    {"report", report_command, "print how things went, by job, queue, team or owner"},
    {"series", series_command, "print how a number went over time"},
    {"scaling", scaling_command, "print how many slots a queue could use"},
    {"dashboard", dashboard_command, "print a link that signs a browser in"},
    {"stats", stats_command, "print how many there are of what"},
    {"settings", settings_command, "list the settings of servers, and where they come from"},
    {"diagnostics", diagnostics_command, "print what is wrong with servers, and what to do"},
    {"me", me_command, "say which key this is, and what it may do"},
    {"cancel", cancel_command, "cancel a job or an execution"},
    {"pause", pause_command, "keep a job from running"},
    {"resume", resume_command, "let a paused job run again"},
    {"cordon", cordon_command, "give a worker nothing new; its process stays"},
    {"uncordon", uncordon_command, "let a cordoned worker take work again"},
    {"extend-sla", extend_sla_command, "give what runs of a job more time"},
    {"trigger", trigger_command, "run a job now, whatever its schedule says"},
    {"retry", retry_command, "run a finished execution once more"},
    {"exec", exec_command, "run a command here, and tell a job how it went"},
    {"ping", ping_command, "tell a job how a run elsewhere went"},
    {"history", history_command, "list the definitions that a job has had"},
    {"rollback", rollback_command, "give a job a definition again that it had"},
    {"cron", cron_command, "explain a cron expression"},
    {"apply", apply_command, "make the jobs that a file describes"},
    {"import", import_command, "make jobs of a crontab"},
    {"migrate", migrate_command, "make or bring up to date a database for many servers"},
    {"bench", bench_command, "measure what this machine can do"},
    {"version", version_command, "print the version"},
    {"help", help, "explain a command"},
    {"docs", docs, NULL}, /* of use to the pages in docs/ only */
};

enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static int server(int argc, char **argv)
{
    return server_command(argc, argv, web_answer);
}

static int help(int argc, char **argv)
{
    return help_command(commands, COMMAND_COUNT, argc, argv);
}

static int docs(int argc, char **argv)
{
    static const struct docs_table others[] = {{"exits", cli_exits_print}};
    return docs_command(others, COUNT_OF(others), argc, argv);
}

/* A program that cannot have a random number has the time: still nothing that a client could
 * know. */
static void seed_maps(void)
{
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != (ssize_t)sizeof seed) {
        struct timespec now = {0};
        clock_gettime(CLOCK_MONOTONIC, &now);
        seed = (uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec ^ (uint64_t)getpid() << 16;
    }
    map_seed(seed);
}

int main(int argc, char **argv)
{
    seed_maps();
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return help(1, argv);
    const char *name = strcmp(argv[1], "--version") == 0 ? "version" : argv[1];
    const struct command *command = command_find(commands, COMMAND_COUNT, name);
    return command == NULL ? help_unknown(name) : command->run(argc - 1, argv + 1);
}
