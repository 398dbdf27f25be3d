/* engine_defaults.c - what the engine goes by when nobody says otherwise.
 *
 * Those that are settings of a server (server/config/settings.c) have their default here and
 * nowhere else. In a file of its own, so that settings can be read without linking the engine. */
#include "engine/core/engine.h"
#include "job/record/inbox.h"

const struct engine_options engine_defaults = {
    .lease_ms = 20000,
    .park_ms = 5000,
    .horizon_ms = 3600000,
    .near_ms = 60000,
    .waiting_max = 200000, /* some 80 MB */
    .forget_ms = 300000,
    .live_max = 5000000,
    .lanes_max = 10000,
    .queues_max = 10000,
    .queues_keep_ms = 86400000,
    .workers_max = 10000,
    .edges_max = 5000000,
    .kill_grace_ms = 10000,
    .lost_max = 3,
    .probation_ms = 30000,
    .retry_after_max_ms = 86400000,
    .calendars_max = 1000,
    .silences_max = 200, /* each alert that is raised is held against all of them */
    .once_ms = 86400000,
    .unique_keep_ms = 0, /* a key is free as soon as its work is over */
    .point_ms = 60000,
    .alerts = {.job_failed = true,
               .worker_lost = true,
               .breaker_open = true,
               .sla = true,
               .start_late = true,
               .missed = true,
               .quiet_ms = 600000,
               .queue_age_ms = 900000,
               .depth_warning = 100000,
               .depth_critical = 1000000,
               .window_ms = 300000,
               .dead_letters = 100,
               .rate_calls_min = 100,
               .rate_warning_pct = 1,
               .rate_critical_pct = 5,
               .slow_pct = 200,
               .slow_min_ms = 10000,
               .slow_runs_min = 20},
    .breaker = {.window_ms = 60000, .calls_min = 5, .percent = 50, .rest_ms = 30000},
    .keep_bytes_max = 4096,
    .due_max = 10000,
    .load_max = 10000,
    .operation_step_max = 200,
    .operation_per_s = 10000,
    .versions_keep = 50,
    .letters_keep_ms = INT64_C(30) * 86400000,
    .history_keep_ms = INT64_C(30) * 86400000,
    .alerts_keep_ms = INT64_C(30) * 86400000,
    .tallies_keep_ms = INT64_C(400) * 86400000, /* a year, and the one before to compare with */
    .delete_wait_ms = 86400000,
    .retain_rows_max =
        250, /* with the pause, 12,500 a second: more than anybody submits for long */
    .retain_pause_ms = 20,
    .inbox_page = INBOX_PAGE,
    .inbox_page_bytes = INBOX_PAGE_BYTES,
    .rejected_keep_ms = INT64_C(7) * 86400000,
};
