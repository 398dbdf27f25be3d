#!/usr/bin/python3
"""Writes the dashboards beside it, from the tables below.

    deploy/grafana/dashboards.py         writes belfry-*.json
    deploy/grafana/dashboards.py check   says which of them differ from what it would write, and ends with 1 then

A panel is a line: title, what it shows as (T time series, S one number, B a bar for each), unit, width of 24 columns,
and queries with what each is called. `@` in a query stands for the matcher of the clusters that were chosen, `$queue`
and `$instance` for those of their lists. Names are checked by tests/e2e/test_rules.py.
"""

import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
KINDS = {"T": ("timeseries", 8), "S": ("stat", 4), "B": ("bargauge", 8)}  # and how high
UNITS = {"": "short", "s": "s", "bytes": "bytes", "%": "percentunit", "/s": "ops", "cores": "short", "clock": "s"}


def rate(name, by=None, matchers="@"):
    return f"sum{' by (' + by + ')' if by else ''} (rate({name}{{{matchers}}}[$__rate_interval]))"


def quantile(q, name, by="le", matchers="@"):
    return f"histogram_quantile({q}, sum by ({by}) (rate({name}_bucket{{{matchers}}}[$__rate_interval])))"


OVERVIEW = [
    ("Servers", "S", "", 4, {"servers": "max(belfry_cluster_servers{@})"}),
    ("Waiting", "S", "", 4, {"ready": "sum(belfry_queue_depth{@})"}),
    ("Running", "S", "", 4, {"running": "sum(belfry_queue_running{@})"}),
    ("Slots in use", "S", "%", 4, {"in use": "sum(belfry_worker_slots_busy{@}) / sum(belfry_worker_slots{@})"}),
    ("Dead letters", "S", "", 4, {"dead letters": "sum(belfry_dlq_depth{@})"}),
    ("Slots of schedules without an outcome", "S", "", 4, {"slots": "sum(belfry_slots_without_outcome{@})"}),
    ("What happens", "T", "/s", 12, {
        "submitted": rate("belfry_jobs_submitted_total"),
        "started": rate("belfry_jobs_started_total"),
        "completed": rate("belfry_jobs_completed_total"),
        "retried": rate("belfry_jobs_retried_total"),
        "failed": rate("belfry_jobs_failed_total"),
    }),
    ("What waits and runs", "T", "", 12, {
        "{{state}}": "sum by (state) (belfry_queue_executions{@})",
    }),
    ("Start lag", "T", "s", 8, {
        "p50": quantile(0.5, "belfry_schedule_lag_seconds"),
        "p99": quantile(0.99, "belfry_schedule_lag_seconds"),
    }),
    ("Late starts: share over 5 s (objective: 1 %)", "T", "%", 8, {
        "1 hour": "cluster:belfry_starts_late:ratio1h{@}",
        "1 day": "cluster:belfry_starts_late:ratio1d{@}",
        "3 days": "cluster:belfry_starts_late:ratio3d{@}",
    }),
    ("Failures: share of what ended (objective: 0.1 %)", "T", "%", 8, {
        "1 hour": "cluster:belfry_jobs_failed:ratio1h{@}",
        "1 day": "cluster:belfry_jobs_failed:ratio1d{@}",
        "3 days": "cluster:belfry_jobs_failed:ratio3d{@}",
    }),
    ("Alerts that belfry raised", "T", "", 12, {
        "{{kind}}": "sum by (kind) (increase(belfry_alerts_total{@}[1h])) > 0",
    }),
    ("What did not run", "T", "/s", 12, {
        "cancelled": rate("belfry_jobs_cancelled_total"),
        "skipped": rate("belfry_jobs_skipped_total"),
        "expired": rate("belfry_jobs_expired_total"),
        "deduplicated": rate("belfry_jobs_deduplicated_total"),
    }),
]

QUEUES = [
    ("Depth", "T", "", 12, {"{{queue}}": 'sum by (queue) (belfry_queue_depth{@,queue=~"$queue"})'}),
    ("Age of the first in line", "T", "s", 12, {
        "{{queue}}": 'max by (queue) (belfry_queue_oldest_age_seconds{@,queue=~"$queue"})'}),
    ("Became ready", "T", "/s", 8, {
        "{{queue}}": rate("belfry_jobs_enqueued_total", "queue", '@,queue=~"$queue"')}),
    ("Started", "T", "/s", 8, {"{{queue}}": rate("belfry_jobs_started_total", "queue", '@,queue=~"$queue"')}),
    ("Failed for good", "T", "/s", 8, {"{{queue}}": rate("belfry_jobs_failed_total", "queue", '@,queue=~"$queue"')}),
    ("Start lag, p99", "T", "s", 8, {"{{queue}}": 'queue:belfry_schedule_lag_seconds:p99_5m{@,queue=~"$queue"}'}),
    ("Wait for a worker, p99", "T", "s", 8, {"{{queue}}": 'queue:belfry_queue_wait_seconds:p99_5m{@,queue=~"$queue"}'}),
    ("Duration, p95", "T", "s", 8, {
        "{{queue}}": 'queue:belfry_execution_duration_seconds:p95_5m{@,queue=~"$queue"}'}),
    ("Use of limits", "B", "%", 8, {
        "{{queue}}": 'sum by (queue) (belfry_queue_limit_used{@,queue=~"$queue"})'
                     ' / sum by (queue) (belfry_queue_limit{@,queue=~"$queue"})'}),
    ("Paused", "B", "", 8, {"{{queue}}": 'max by (queue) (belfry_queue_paused{@,queue=~"$queue"}) > 0'}),
    ("Dead letters", "B", "", 8, {"{{queue}}": 'sum by (queue) (belfry_dlq_depth{@,queue=~"$queue"}) > 0'}),
    ("Keys of limits", "T", "", 12, {"{{kind}}": "sum by (kind) (belfry_limits{@})"}),
    ("Keys of limits that are full", "T", "", 12, {"{{kind}}": "sum by (kind) (belfry_limits_full{@})"}),
    ("SLAs: warnings and violations", "T", "/s", 12, {
        "{{queue}}: warning": rate("belfry_sla_warnings_total", "queue", '@,queue=~"$queue"'),
        "{{queue}}: violated": rate("belfry_sla_violations_total", "queue", '@,queue=~"$queue"')}),
    ("Teams: running, and their limits", "T", "", 12, {
        "{{team}}": "sum by (team) (belfry_team_running{@})",
        "{{team}}: limit": "max by (team) (belfry_team_limit{@})"}),
]

WORKERS = [
    ("Workers", "T", "", 8, {"{{state}}": "sum by (state) (belfry_workers{@})"}),
    ("Slots", "T", "", 8, {
        "all": "sum(belfry_worker_slots{@})",
        "busy": "sum(belfry_worker_slots_busy{@})"}),
    ("Use of slots", "T", "%", 8, {"in use": "cluster:belfry_worker_utilization:ratio{@}"}),
    ("Leases lost and given back", "T", "/s", 8, {
        "lost": rate("belfry_leases_lost_total"),
        "given back": rate("belfry_leases_returned_total")}),
    ("Polls that wait for work", "T", "", 8, {"polls": "sum(belfry_polls_parked{@})"}),
    ("Silent workers", "T", "%", 8, {"silent": "cluster:belfry_workers_silent:ratio{@}"}),
    ("Attempts by handler", "T", "/s", 12, {"{{handler}}": rate("belfry_handler_attempts_total", "handler")}),
    ("Attempts that failed, by handler", "T", "/s", 12, {
        "{{handler}}": rate("belfry_handler_attempts_total", "handler", '@,outcome=~"failed|retried"')}),
    ("Slots that each handler takes on average", "T", "", 12, {
        "{{handler}}": rate("belfry_handler_run_seconds_total", "handler")}),
    ("Circuit breakers (1: open)", "B", "", 12, {
        "{{target}}": "max by (target) (belfry_circuit_breaker_state{@}) > 0"}),
]

I = '@,instance=~"$instance"'
CLUSTER = [
    ("Partitions", "T", "", 8, {"{{instance}}": f"belfry_partitions_owned{{{I}}}"}),
    ("Takeovers", "T", "", 8, {"{{why}}": f"sum by (why) (increase(belfry_takeovers_total{{{I}}}[5m])) > 0"}),
    ("Versions", "B", "", 8, {"{{version}}": "count by (version) (belfry_build_info{@})"}),
    ("Calls by class", "T", "/s", 8, {"{{class}}": rate("belfry_http_requests_total", "class", I)}),
    ("Calls without polls, p99", "T", "s", 8, {
        "{{instance}}": quantile(0.99, "belfry_http_request_duration_seconds", "instance, le",
                                 I + ',route!~".*/poll"')}),
    ("Calls that were slow", "T", "/s", 8, {
        "{{instance}}": rate("belfry_http_slow_requests_total", "instance", I)}),
    ("Silent for longest, of the other servers", "T", "s", 8, {
        "{{instance}}": f"belfry_member_silent_seconds{{{I}}}"}),
    ("Room that is taken", "T", "%", 8, {
        "{{instance}}: connections": f"belfry_http_connections{{{I}}} / belfry_http_connections_max{{{I}}}",
        "{{instance}}: executions": f"belfry_executions_in_memory{{{I}}} / belfry_executions_in_memory_max{{{I}}}"}),
    ("Calls sent on", "T", "/s", 8, {"{{instance}}": rate("belfry_forwarded_calls_total", "instance", I)}),
    ("Where turns spend time", "T", "cores", 8, {"{{phase}}": rate("belfry_turn_phase_seconds_total", "phase", I)}),
    ("Commands in a turn", "T", "", 8, {
        "{{instance}}": rate("belfry_turn_commands_total", "instance", I) + " / "
                        + rate("belfry_turns_total", "instance", I)}),
    ("Age of the turn's numbers", "T", "s", 8, {"{{instance}}": f"belfry_numbers_age_seconds{{{I}}}"}),
    ("Processor", "T", "cores", 8, {"{{instance}}": f"rate(process_cpu_seconds_total{{{I}}}[$__rate_interval])"}),
    ("Processor by thread", "T", "cores", 8, {"{{thread}}": rate("belfry_thread_cpu_seconds_total", "thread", I)}),
    ("Memory", "T", "bytes", 8, {"{{instance}}": f"process_resident_memory_bytes{{{I}}}"}),
    ("Connections and streams", "T", "", 8, {
        "{{instance}}": f"belfry_http_connections{{{I}}}",
        "{{instance}}: streams": f"belfry_http_streams{{{I}}}"}),
    ("Executions in memory", "T", "", 8, {"{{instance}}": f"belfry_executions_in_memory{{{I}}}"}),
    ("Clock: ahead by", "T", "clock", 8, {"{{instance}}": f"belfry_clock_skew_seconds{{{I}}}"}),
]

DATABASE = [
    ("Takes commits (0: no)", "S", "", 6, {"takes commits": "1 - max(belfry_store_unavailable{@})"}),
    ("Outages within a day", "S", "", 6, {"outages": "max(increase(belfry_store_outages_total{@}[1d]))"}),
    ("Corrupt rows", "S", "", 6, {"executions": "sum(belfry_executions_quarantined{@})"}),
    ("Rows that wait in the inbox", "S", "", 6, {"rows": "max(belfry_inbox_waiting{@})"}),
    ("Commits", "T", "/s", 8, {"{{instance}}": rate("belfry_store_commits_total", "instance", I)}),
    ("How long commits take", "T", "s", 8, {
        "p50": quantile(0.5, "belfry_commit_duration_seconds", "le", I),
        "p99": quantile(0.99, "belfry_commit_duration_seconds", "le", I)}),
    ("Answers of PostgreSQL that were waited for", "T", "/s", 8, {
        "{{instance}}": rate("belfry_store_round_trips_total", "instance", I)}),
    ("Waits for the disk", "T", "/s", 8, {"{{instance}}": rate("belfry_store_syncs_total", "instance", I)}),
    ("How long a wait for the disk takes", "T", "s", 8, {
        "{{instance}}": rate("belfry_store_sync_seconds_total", "instance", I) + " / "
                        + rate("belfry_store_syncs_total", "instance", I)}),
    ("Output kept", "T", "bytes", 8, {"a second": rate("belfry_output_bytes_total", "instance", I)}),
    ("Files", "T", "bytes", 12, {"{{instance}}: {{file}}": f"belfry_file_bytes{{{I}}}"}),
    ("Free room", "T", "%", 12, {
        "{{instance}}": f"belfry_disk_free_bytes{{{I}}} / belfry_disk_size_bytes{{{I}}}"}),
]

BOARDS = {  # name: title, panels, variables beside the cluster {label: metric}
    "overview": ("Overview", OVERVIEW, {}),
    "queues": ("Queues", QUEUES, {"queue": "belfry_queue_depth"}),
    "workers": ("Workers", WORKERS, {}),
    "cluster": ("Cluster", CLUSTER, {"instance": "belfry_build_info"}),
    "database": ("Database", DATABASE, {"instance": "belfry_build_info"}),
}
SOURCE = {"type": "prometheus", "uid": "${source}"}


def variable(label, metric):
    return {"name": label, "type": "query", "datasource": SOURCE, "query": f"label_values({metric}, {label})",
            "refresh": 2, "sort": 1, "multi": True, "includeAll": True, "allValue": ".*",
            "current": {"text": ["All"], "value": ["$__all"]}}


def panels(rows):
    """The panels from left to right and from top to bottom; those beside each other are equally high."""
    x = y = 0
    for number, (title, kind, unit, width, queries) in enumerate(rows, 1):
        shown_as, height = KINDS[kind]
        yield {
            "id": number, "title": title, "type": shown_as, "datasource": SOURCE,
            "gridPos": {"x": x, "y": y, "w": width, "h": height},
            "fieldConfig": {"defaults": {"unit": UNITS[unit], **({} if unit == "clock" else {"min": 0})},
                            "overrides": []},
            "targets": [{"refId": chr(ord("A") + i), "expr": query.replace("@", 'cluster=~"$cluster"'),
                         "legendFormat": legend} for i, (legend, query) in enumerate(queries.items())],
        }
        x += width
        if x == 24:
            x, y = 0, y + height
        assert x < 24, f"{title} does not fit into its row"
    assert x == 0, "the last row is not full"


def board(name):
    title, rows, variables = BOARDS[name]
    return {
        "uid": f"belfry-{name}", "title": f"belfry: {title}", "tags": ["belfry"], "schemaVersion": 38,
        "editable": True, "refresh": "30s", "time": {"from": "now-3h", "to": "now"},
        "links": [{"type": "dashboards", "tags": ["belfry"], "title": "belfry", "asDropdown": True, "keepTime": True,
                   "includeVars": True}],
        "templating": {"list": [
            {"name": "source", "type": "datasource", "query": "prometheus"},
            variable("cluster", "belfry_build_info"),
            *(variable(label, metric) for label, metric in variables.items())]},
        "panels": list(panels(rows)),
    }


def text_of(document):
    """JSON with a line for each panel."""
    lines = [f"  {json.dumps(key)}: " + (json.dumps(value) if key != "panels" else
             "[\n" + ",\n".join("    " + json.dumps(panel) for panel in value) + "\n  ]")
             for key, value in document.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main():
    only_check, bad = sys.argv[1:] == ["check"], 0
    if sys.argv[1:] and not only_check:
        sys.exit(__doc__)
    wanted = {HERE / f"belfry-{name}.json": text_of(board(name)) for name in BOARDS}
    for path in sorted(set(HERE.glob("*.json")) | set(wanted)):
        if not only_check:
            path.write_text(wanted[path])
        elif path not in wanted or not path.exists() or path.read_text() != wanted[path]:
            print(f"deploy/grafana/{path.name} is not what deploy/grafana/dashboards.py writes")
            bad = 1
    sys.exit(bad)


if __name__ == "__main__":
    main()
