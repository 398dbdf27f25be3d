/* api.h - the handlers behind the routes, one per call of docs/protocol.md.
 *
 * A handler reads its request, sends it where it can be served, and prints what comes back. It
 * decides nothing: what may happen to a job is the engine's business. */
#pragma once
#include "server/call/request.h"

request_step api_job_create, api_job_batch, api_job, api_job_delete,
    api_job_run_or_not;                                                      /* api_jobs.c */
request_step api_job_patch, api_job_put, api_job_rollback, api_job_versions; /* api_edit.c */
request_step api_execution, api_execution_cancel, api_retry, api_job_trigger, api_job_ping,
    api_execution_fence; /* api_executions.c */
request_step api_events; /* api_streams.c */
request_step api_checkpoint_put, api_checkpoint_fetch,
    api_execution_checkpoint; /* api_checkpoints.c */
request_step api_alerts, api_alert_ack, api_silences, api_silence, api_silence_create,
    api_silence_delete, api_rejected, api_jobs, api_executions,
    api_job_executions;                                  /* api_lists.c */
request_step api_schedule_forecast;                      /* api_forecast.c */
request_step api_timeline;                               /* api_timeline.c */
request_step api_job_slots;                              /* api_slots.c */
request_step api_job_sla_events;                         /* api_lists.c */
request_step api_job_extend_sla, api_job_sla_compliance; /* api_sla.c */
request_step api_explanation, api_job_graph;             /* api_explain.c */
request_step api_schedule_preview;                       /* api_schedule.c */
request_step api_workers, api_worker_register, api_worker_poll, api_worker_logs, api_worker_drain,
    api_worker, api_worker_cordon, api_worker_uncordon; /* api_workers.c */
request_step api_job_failures, api_job_successes, api_queue_failures, api_queue_successes,
    api_owner_failures, api_owner_successes, api_team_failures, api_team_successes, api_failures,
    api_successes; /* api_reports.c */
request_step api_report_failures, api_report_successes, api_report_sla, api_report_slowest,
    api_success_rates;                        /* api_rankings.c */
request_step api_breakers, api_breaker_reset; /* api_queues.c */
request_step api_letters, api_letter_groups, api_letter, api_letter_discard, api_letters_retry,
    api_letters_discard; /* api_letters.c */
request_step api_job_actions, api_execution_actions, api_operations, api_operation,
    api_operation_cancel; /* api_operations.c */
request_step api_queues, api_queue, api_queue_change, api_queue_delete, api_queue_pause,
    api_queue_resume;                              /* api_queues.c */
request_step api_teams, api_team, api_team_change; /* api_teams.c */
request_step api_calendars, api_calendar, api_calendar_put,
    api_calendar_delete;   /* api_calendars.c */
request_step api_blockers; /* api_system.c */
request_step api_series;   /* api_series.c */
void api_series_merge(struct request *r, const struct json *docs, size_t count);
request_step api_session_code, api_session_begin, api_session_end;
request_step api_me, api_stats, api_healthz, api_readyz, api_version,
    api_openapi; /* api_system.c */
