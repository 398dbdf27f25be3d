/* listings.c - the subcommands that do nothing but list: what each asks for and prints, in one
 * table. */
#include "cli/commands.h"
#include "cli/list.h"

enum listing_no { JOBS, EXECUTIONS, SLOTS, HISTORY, WORKERS, REJECTED };

/* ---- options */

static const struct opt plain_opts[] = {LIST_LIMIT_OPTS, CLI_COMMON_OPTS};

static const struct opt jobs_opts[] = {
    LIST_JOBS_OPTS{"sort", 0, OPT_TEXT, "ORDER", LIST_AT(sort),
                   "newest (the default), name, or next_run_at: those with a run ahead"},
    LIST_LIMIT_OPTS,
    CLI_COMMON_OPTS,
};

static const struct opt executions_opts[] = {
    LIST_EXECUTIONS_OPTS LIST_LIMIT_OPTS,
    CLI_COMMON_OPTS,
};

static const struct opt slots_opts[] = {
    {"from", 0, OPT_TEXT, "TIME", LIST_AT(from), "slots from this time on (a day ago)"},
    {"until", 0, OPT_TEXT, "TIME", LIST_AT(until), "slots before this time (a day ahead)"},
    LIST_LIMIT_OPTS,
    CLI_COMMON_OPTS,
};

/* ---- columns */

static const struct view_field jobs_fields[] = {
    {{.title = "JOB"}, VIEW_TEXT, "job_id"},
    {{.title = "STATUS"}, VIEW_STATUS, "status"},
    {{.title = "NAME", .flexible = true}, VIEW_TEXT, "name"},
    {{.title = "PHASE", .optional = true}, VIEW_TEXT, "phase"},
    {{.title = "NEXT RUN", .optional = true}, VIEW_WHEN, "next_run_at"},
    {{.title = "SCHEDULE", .flexible = true, .optional = true}, VIEW_TEXT, "schedule_text"},
    {{.title = "CREATED", .optional = true}, VIEW_WHEN, "created_at"},
    {{.title = "QUEUE", .flexible = true, .optional = true}, VIEW_TEXT, "queue"},
    {{.title = "COMMAND", .flexible = true, .optional = true}, VIEW_WORK, ""},
};

static const struct view_field executions_fields[] = {
    {{.title = "EXECUTION"}, VIEW_TEXT, "execution_id"},
    {{.title = "STATUS"}, VIEW_STATUS, "status"},
    {{.title = "TOOK", .right = true}, VIEW_DURATION, "duration_ms"},
    {{.title = "STARTED", .optional = true}, VIEW_WHEN, "started_at"},
    {{.title = "ERROR", .flexible = true, .optional = true}, VIEW_WHY, ""},
    {{.title = "SLOT", .optional = true}, VIEW_WHEN, "slot"},
    {{.title = "JOB", .optional = true}, VIEW_TEXT, "job_id"},
    {{.title = "NAME", .flexible = true, .optional = true}, VIEW_TEXT, "job_name"},
    {{.title = "TRIES", .right = true, .optional = true}, VIEW_TEXT, "attempt_count"},
    {{.title = "QUEUE", .flexible = true, .optional = true}, VIEW_TEXT, "queue"},
};

static const struct view_field slots_fields[] = {
    {{.title = "SLOT"}, VIEW_WHEN, "slot"},
    {{.title = "OUTCOME"}, VIEW_TEXT, "outcome"},
    {{.title = "STATUS", .optional = true}, VIEW_STATUS, "status"},
    {{.title = "COUNT", .right = true}, VIEW_TEXT, "count"},
    {{.title = "LAST", .optional = true}, VIEW_WHEN, "slot_last"},
    {{.title = "EXECUTION", .optional = true}, VIEW_TEXT, "execution_id"},
    {{.title = "REASON", .flexible = true, .optional = true}, VIEW_TEXT, "reason"},
};

static const struct view_field history_fields[] = {
    {{.title = "VERSION", .right = true}, VIEW_TEXT, "version"},
    {{.title = "AT"}, VIEW_WHEN, "at"},
    {{.title = "ACTOR", .flexible = true}, VIEW_TEXT, "actor"},
};

static const struct view_field workers_fields[] = {
    {{.title = "WORKER"}, VIEW_TEXT, "worker_id"},
    {{.title = "STATUS"}, VIEW_STATUS, "status"},
    {{.title = "BUSY", .right = true}, VIEW_TEXT, "busy"},
    {{.title = "SLOTS", .right = true}, VIEW_TEXT, "slots"},
    {{.title = "NAME", .flexible = true}, VIEW_TEXT, "name"},
    {{.title = "SEEN", .optional = true}, VIEW_WHEN, "seen_at"},
    {{.title = "QUEUES", .flexible = true, .optional = true}, VIEW_WORDS, "queues"},
    {{.title = "HANDLERS", .flexible = true, .optional = true}, VIEW_WORDS, "handlers"},
};

static const struct view_field rejected_fields[] = {
    {{.title = "AT"}, VIEW_WHEN, "at"},
    {{.title = "SUBMISSION", .right = true}, VIEW_TEXT, "submission"},
    {{.title = "TEAM", .optional = true}, VIEW_TEXT, "team"},
    {{.title = "BY", .optional = true}, VIEW_TEXT, "actor"},
    {{.title = "WHY", .flexible = true}, VIEW_TEXT, "reason"},
};

/* ---- the table */

/* clang-format off */
static const struct listing listings[] = {
    [JOBS] = {
        .opts = {"jobs", "[options]",
        "Lists jobs, the newest first or in another order (--sort). The status of a job is\n"
        "active, paused, completed, failed or cancelled; its phase says more: running, retrying,\n"
        "blocked, waiting, scheduled.\n"
        "A name may have a * for any text: --name 'nightly-*'.",
        jobs_opts, COUNT_OF(jobs_opts)},
        .path = "/jobs",
        .key = "jobs",
        .nothing = "no jobs",
        .fields = jobs_fields,
        .field_count = COUNT_OF(jobs_fields),
    },
    [EXECUTIONS] = {
        .opts = {"executions", "[options]",
        "Lists runs of jobs, the newest first. The status of a run is scheduled, blocked, queued,\n"
        "running, retrying, completed, failed, timeout, cancelled, skipped or expired. Slots that\n"
        "were skipped for one reason are one line, from the first of them on.",
        executions_opts, COUNT_OF(executions_opts)},
        .path = "/executions",
        .key = "executions",
        .nothing = "no executions",
        .fields = executions_fields,
        .field_count = COUNT_OF(executions_fields),
    },
    [SLOTS] = {
        .opts = {"slots", "JOB [options]",
        "Lists the slots of a job's schedule, the newest first, with what became of each: fired,\n"
        "with its execution, skipped, planned, or unknown when that is kept no longer. Slots that\n"
        "were skipped for one reason are one line, from the first of them on. Without --until a\n"
        "hundred of those ahead are listed.",
        slots_opts, COUNT_OF(slots_opts)},
        .of_job = "/slots",
        .key = "slots",
        .nothing = "no slots",
        .fields = slots_fields,
        .field_count = COUNT_OF(slots_fields),
    },
    [HISTORY] = {
        .opts = {"history", "JOB [options]",
        "Lists the versions of a job's definition, newest first, with who made them. -o json has\n"
        "each as it was. Only edits are written down; the newest 50 are kept (versions_keep).",
        plain_opts, COUNT_OF(plain_opts)},
        .of_job = "/versions",
        .key = "versions",
        .nothing = "no versions",
        .fields = history_fields,
        .field_count = COUNT_OF(history_fields),
    },
    [WORKERS] = {
        .opts = {"workers", "[options]", "Lists the workers that the server knows.",
        plain_opts, COUNT_OF(plain_opts)},
        .path = "/workers",
        .key = "workers",
        .whole = true,
        .nothing = "no workers",
        .fields = workers_fields,
        .field_count = COUNT_OF(workers_fields),
    },
    [REJECTED] = {
        .opts = {"rejected", "[options]",
        "Lists what was submitted out of SQL transactions (belfry.submit) and could not be\n"
        "made a job, newest first, with the number that belfry.submit returned and the reason.",
        plain_opts, COUNT_OF(plain_opts)},
        .path = "/submissions/rejected",
        .key = "rejected",
        .nothing = "nothing was rejected",
        .fields = rejected_fields,
        .field_count = COUNT_OF(rejected_fields),
    },
};
/* clang-format on */

int jobs_command(int argc, char **argv)
{
    return list_main(&listings[JOBS], argc, argv);
}

int executions_command(int argc, char **argv)
{
    return list_main(&listings[EXECUTIONS], argc, argv);
}

int slots_command(int argc, char **argv)
{
    return list_main(&listings[SLOTS], argc, argv);
}

int history_command(int argc, char **argv)
{
    return list_main(&listings[HISTORY], argc, argv);
}

int workers_command(int argc, char **argv)
{
    return list_main(&listings[WORKERS], argc, argv);
}

int rejected_command(int argc, char **argv)
{
    return list_main(&listings[REJECTED], argc, argv);
}
