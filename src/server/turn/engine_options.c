#include "server/turn/engine_options.h"

struct engine_options engine_options_of(const struct server_options *options, struct zones *zones)
{
    struct engine_options engine = engine_defaults;
    engine.rules_arg = zones;
    engine.lease_ms = (int64_t)options->lease_ms;
    engine.park_ms = (int64_t)options->park_ms;
    engine.horizon_ms = (int64_t)options->horizon_ms;
    engine.once_ms = (int64_t)options->idempotency_ms;
    engine.point_ms = (int64_t)options->priority_age_ms;
    engine.alerts = (struct alert_rules){
        .job_failed = options->alert_job_failed,
        .worker_lost = options->alert_worker_lost,
        .breaker_open = options->alert_breaker_open,
        .sla = options->alert_sla,
        .start_late = options->alert_start_late,
        .deliver = options->alert_webhooks[0] != '\0',
        .quiet_ms = (int64_t)options->alert_quiet_ms,
        .queue_age_ms = (int64_t)options->alert_queue_age_ms,
        .depth_warning = options->alert_depth_warning,
        .depth_critical = options->alert_depth_critical,
        .window_ms = (int64_t)options->alert_window_ms,
        .dead_letters = options->alert_dead_letters,
        .rate_calls_min = options->alert_rate_calls_min,
        .rate_warning_pct = (uint32_t)options->alert_rate_warning,
        .rate_critical_pct = (uint32_t)options->alert_rate_critical,
        .slow_pct = (uint32_t)options->alert_slow,
        .slow_min_ms = (int64_t)options->alert_slow_min_ms,
        .slow_runs_min = options->alert_slow_runs_min,
    };
    engine.breaker = (struct breaker_rule){
        .window_ms = (int64_t)options->breaker_window_ms,
        .calls_min = (uint32_t)options->breaker_calls_min,
        .percent = (uint32_t)options->breaker_percent,
        .rest_ms = (int64_t)options->breaker_rest_ms,
    };
    engine.kill_grace_ms = (int64_t)options->kill_grace_ms;
    engine.lost_max = (uint32_t)options->lost_max;
    engine.retry_after_max_ms = (int64_t)options->retry_after_max_ms;
    engine.history_keep_ms = (int64_t)options->history_keep_ms;
    engine.letters_keep_ms = (int64_t)options->dead_letters_keep_ms;
    engine.alerts_keep_ms = (int64_t)options->alerts_keep_ms;
    engine.delete_wait_ms = (int64_t)options->clock_delete_wait_ms;
    engine.tallies_keep_ms = (int64_t)options->tallies_keep_ms;
    engine.live_max = options->live_max;
    engine.lanes_max = options->lanes_max;
    engine.queues_max = options->queues_max;
    engine.queues_keep_ms = options->queues_keep_ms;
    engine.workers_max = options->workers_max;
    engine.forget_ms = (int64_t)options->forget_ms;
    engine.payload_bytes_max = options->payload_bytes_max;
    engine.document_bytes_max = options->request_bytes_max;
    return engine;
}
