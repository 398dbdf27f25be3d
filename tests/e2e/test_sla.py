"""SLAs: limits are told once and kept over a restart, strict ones end the run, somebody may give more
time, and reports count."""

import json

from belfry import Server, main, tests_of, wait_for
from protocol import Stream, Worker, execution, expect, submit

server = Server("--slots", "4", env={"BELFRY_KILL_GRACE_MS": "300ms", "BELFRY_BREAKER_PERCENT": "0"})
SLEEP = ["sleep", "60"]
LONG = {"expected": "20m", "max": "30m"}
MORE = {"by": "30m", "reason": "the end of the month", "approver": "ada"}


def running(own=server, **job):
    """(job id, execution id) of a job once it runs."""
    job_id, execution_id = submit(own, **{"command": SLEEP, **job})
    own.wait_for_status(job_id, "running")
    return job_id, execution_id


def kinds(execution_id, own=server):
    return [event["kind"] for event in execution(own, execution_id)["sla_events"]]


def told(execution_id, *wanted, own=server):
    wait_for(lambda: kinds(execution_id, own) == list(wanted), f"{wanted} of {execution_id}")


def alerts(execution_id, own=server):
    found = expect(200, own, "GET", "/alerts?limit=1000")["alerts"]
    return [(a["kind"], a["level"]) for a in found if a.get("execution_id") == execution_id]


def extend(status, job_id, own=server, **body):
    return expect(status, own, "POST", f"/jobs/{job_id}/extend-sla", {**MORE, **body})


def compliance(job_id, query="", status=200):
    return expect(status, server, "GET", f"/jobs/{job_id}/sla-compliance{query}")


# ---- documents

def test_an_sla_comes_back_as_it_was_given():
    job_id, _ = submit(server, command=["true"], sla={"max": "1h"})
    assert server.job(job_id)["sla"] == {"max": "1h", "policy": "flexible"}
    strict = {"expected": "30m", "max": "1h", "policy": "strict"}
    job_id, _ = submit(server, command=["true"], sla=strict)
    assert server.job(job_id)["sla"] == strict


def test_a_senseless_sla_is_refused_with_the_field():
    for sla, field in (({}, "sla"), ({"policy": "strict"}, "sla"), ("1h", "sla"),
                       ({"max": 5}, "sla.max"), ({"max": "0s"}, "sla.max"),
                       ({"max": "-1m"}, "sla.max"), ({"expected": "99999d"}, "sla.expected"),
                       ({"expected": "2h", "max": "1h"}, "sla.expected"),
                       ({"max": "1h", "policy": "lenient"}, "sla.policy"),
                       ({"max": "1h", "grace": "1m"}, "sla.grace")):
        problem = expect(400, server, "POST", "/jobs", {"command": "true", "sla": sla})
        assert [e["field"] for e in problem["errors"]] == [field], (sla, problem)


# ---- limits

def test_flexible_is_told_and_goes_on():
    with Stream(server, "/events") as events:
        job_id, execution_id = running(name="flexible", sla={"expected": "50ms", "max": "100ms"})
        told(execution_id, "warning", "violation")
        seen = []
        for _, kind, data in events:
            if kind == "sla" and data["execution_id"] == execution_id:
                seen.append(data["kind"])
            if len(seen) == 2:
                break
        assert seen == ["warning", "violation"], seen
    shown = execution(server, execution_id)
    assert shown["status"] == "running" and not shown["stopping"]
    assert shown["sla"]["violated"] and shown["sla"]["broken"], shown["sla"]
    warning, violation = shown["sla_events"]
    assert warning["expected_ms"] == 50 and warning["actual_ms"] >= 50, warning
    assert warning["action"] == "alert" and violation["action"] == "critical_alert"
    assert alerts(execution_id) == [("sla_violated", "critical"), ("sla_warning", "warning")]
    listed = expect(200, server, "GET", f"/jobs/{job_id}/sla-events?limit=1")
    assert [e["kind"] for e in listed["sla_events"]] == ["violation"]
    rest = expect(200, server, "GET",
                  f"/jobs/{job_id}/sla-events?limit=1&cursor={listed['next_cursor']}")
    assert [e["kind"] for e in rest["sla_events"]] == ["warning"] and rest["next_cursor"] is None
    assert server.cli("cancel", job_id).returncode == 0


def test_warning_only_is_no_more_than_a_warning():
    job_id, execution_id = running(name="mild", sla={"max": "50ms", "policy": "warning_only"})
    told(execution_id, "violation")
    assert alerts(execution_id) == [("sla_violated", "warning")]
    assert server.cli("cancel", job_id).returncode == 0


def test_strict_ends_the_run_and_tries_again():
    job_id, _ = submit(server, command=SLEEP, sla={"max": "100ms", "policy": "strict"},
                       retry={"max_retries": 1, "policy": "immediate"})
    ended = server.wait_for_status(job_id, "timeout")
    assert [a["outcome"] for a in ended["attempts"]] == ["timeout", "timeout"], ended
    for attempt in ended["attempts"]:
        assert attempt["error_class"] == "timeout", attempt
        assert attempt["error"] == "SLA max of 100ms exceeded", attempt
    assert kinds(ended["execution_id"]) == ["violation", "end"] * 2
    assert ended["sla_events"][-1]["overrun_ms"] >= 0


def test_a_limit_is_told_once_over_a_restart():
    with Server("--slots", "1") as own:
        job_id, execution_id = running(own, sla={"expected": "50ms", "max": "2s"})
        told(execution_id, "warning", own=own)
        own.kill()
        own.start()
        told(execution_id, "warning", "violation", own=own)
        assert own.cli("cancel", job_id).returncode == 0
        own.wait_for_status(job_id, "cancelled")
        assert kinds(execution_id, own) == ["warning", "violation", "end"]


def test_the_clock_goes_on_with_another_worker():
    with Server("--no-worker") as own:
        _, execution_id = submit(own, sla=LONG)
        lost = Worker(own)
        first = lost.take()[0]
        since = execution(own, execution_id)["sla"]["since"]
        lost.poll()  # as if it had forgotten its run
        assert execution(own, execution_id)["lost_count"] == 1
        second = Worker(own).take()[0]
        assert second["execution_id"] == first["execution_id"] == execution_id
        assert execution(own, execution_id)["sla"]["since"] == since


# ---- more time

def test_more_time_is_kept_with_who_agreed():
    job_id, execution_id = running(sla=LONG)
    answer = extend(200, job_id)
    assert answer["execution_id"] == execution_id and answer["extended_ms"] == 1800000, answer
    shown = execution(server, execution_id)
    event, = shown["sla_events"]
    assert event["kind"] == "extension" and event["max_ms"] == 3600000, event
    assert event["approver"] == "ada" and event["reason"] == MORE["reason"], event
    step, = [t for t in shown["transitions"] if t["event"] == "sla_extension"]
    assert step["reason"] == "SLA extended by 30m, approved by ada: the end of the month", step
    assert step["actor"] == event["actor"] == "key:admin", (step, event)
    assert extend(200, job_id, execution=execution_id[:-1])["extended_ms"] == 3600000
    assert server.cli("cancel", job_id).returncode == 0


def test_a_wish_for_more_time_is_checked():
    job_id, _ = running(sla=LONG)
    for body, field in (({"by": "0s"}, "by"), ({"by": None}, "by"), ({"by": "9999999d"}, "by"),
                        ({"reason": ""}, "reason"), ({"reason": "x" * 201}, "reason"),
                        ({"approver": "a\nb"}, "approver"), ({"approver": "x" * 101}, "approver"),
                        ({"execution": "job_1"}, "execution"), ({"for": "1h"}, "for")):
        problem = extend(400, job_id, **body)
        assert [e["field"] for e in problem["errors"]] == [field], (body, problem)
    for missing in MORE:
        body = {k: v for k, v in MORE.items() if k != missing}
        problem = expect(400, server, "POST", f"/jobs/{job_id}/extend-sla", body)
        assert [e["field"] for e in problem["errors"]] == [missing], problem
    assert server.cli("cancel", job_id).returncode == 0


def test_nothing_is_extended_that_does_not_run():
    over, _ = submit(server, command=["true"], sla=LONG)
    server.wait_for_status(over, "completed")
    assert "already ended" in extend(409, over)["detail"]
    later, _ = submit(server, command=["true"], sla=LONG, schedule={"delay": "1h"})
    assert "nothing of the job runs" in extend(409, later)["detail"]
    plain, _ = running()
    assert "no SLA" in extend(409, plain)["detail"]
    broken, execution_id = running(sla={"max": "20ms"})
    told(execution_id, "violation")
    assert "exceeded already" in extend(409, broken)["detail"]
    extend(404, "job_0000000000000")
    for job_id in (later, plain, broken):
        assert server.cli("cancel", job_id).returncode == 0


def test_the_command_line_knows_slas():
    job_id = server.submit("--sla-expected", "20m", "--sla-max", "30m", "--sla-policy", "strict",
                           "--", *SLEEP)
    found = server.wait_for_status(job_id, "running")
    asked = ("--by", "5m", "--reason", "slow disk", "--approver", "bob")
    done = server.cli("extend-sla", job_id, *asked, "-o", "json")
    assert done.returncode == 0 and json.loads(done.stdout)["extended_ms"] == 300000, done
    shown = server.cli("show", found["execution_id"]).stdout
    assert "extension" in shown and "approved by bob: slow disk" in shown, shown
    assert "policy=strict" in server.cli("show", job_id).stdout
    assert server.cli("extend-sla", job_id, "--by", "5m").returncode == 2
    assert server.cli("cancel", job_id).returncode == 0
    server.wait_for_status(job_id, "cancelled")
    assert server.cli("extend-sla", job_id, *asked).returncode == 1


# ---- reports

def test_a_report_counts_what_ended():
    job_id, _ = submit(server, command=["sleep", "0.3"], sla={"expected": "5ms", "max": "10ms"},
                       schedule={"every": "1s"}, overlap="parallel")

    def report():
        found = compliance(job_id)
        return found if found["total"] >= 2 else None
    found = wait_for(report, "two runs")
    assert server.cli("cancel", job_id).returncode == 0
    assert found["met"] == 0 and found["violated"] == found["total"] and found["rate"] == 0, found
    assert found["average_duration_ms"] >= 200 and found["average_overrun_ms"] >= 190, found
    assert found["exceeded_expected"] == found["total"] and found["uncounted_expected"] == 0, found
    assert found["average_violation_percentage"] >= 1900, found
    assert found["cut"] is False
    past = compliance(job_id, "?start_date=2001-01-01&end_date=2002-01-01")
    assert past["total"] == 0 and past["rate"] is None, past
    assert past["start_date"] == "2001-01-01T00:00:00.000Z", past
    assert past["end_date"] == "2002-01-01T00:00:00.000Z", past


def test_a_job_in_time_has_met_its_sla():
    job_id, _ = submit(server, command=["true"], sla={"max": "1h"})
    server.wait_for_status(job_id, "completed")
    found = compliance(job_id)
    assert (found["total"], found["met"], found["rate"]) == (1, 1, 1), found
    assert found["average_overrun_ms"] is None, found


def test_what_took_longer_than_expected_is_counted():
    job_id, _ = submit(server, command=["sleep", "0.3"], sla={"expected": "100ms"})
    ended = server.wait_for_status(job_id, "completed")
    assert ended["sla"]["exceeded_expected"] and ended["sla"]["broken"], ended["sla"]
    warning, end = ended["sla_events"]
    assert (warning["kind"], end["kind"]) == ("warning", "end"), ended["sla_events"]
    assert end["overrun_ms"] >= 150 and end["sla_violation_percentage"] >= 150, end
    found = compliance(job_id)
    assert (found["violated"], found["exceeded_expected"], found["uncounted_expected"]) == (1, 1, 0)
    assert found["average_violation_percentage"] == end["sla_violation_percentage"], (found, end)
    job_id, _ = submit(server, command=["sleep", "0.3"], sla={"expected": "100ms", "max": "1h"})
    ended = server.wait_for_status(job_id, "completed")
    assert ended["sla"]["exceeded_expected"] and not ended["sla"]["broken"], ended["sla"]
    assert [e["sla_violation_percentage"] for e in ended["sla_events"]] == [None], ended
    found = compliance(job_id)
    assert (found["violated"], found["exceeded_expected"]) == (0, 1), found
    assert found["average_violation_percentage"] is None, found


def test_the_dates_of_a_report_are_checked():
    job_id, _ = submit(server, command=["true"])
    for query, field in (("?start_date=yesterday", "start_date"), ("?end_date=2026-13-01", "end_date"),
                         ("?end_date=2026-02-30", "end_date"),
                         ("?start_date=2026-02-02&end_date=2026-02-01", "start_date"),
                         ("?from=2026-01-01", "from")):
        problem = compliance(job_id, query, status=400)
        assert [e["field"] for e in problem["errors"]] == [field], (query, problem)
    compliance("job_0000000000000", status=404)
    assert compliance(job_id, "?start_date=2026-01-01T00:00:00Z")["total"] == 0


if __name__ == "__main__":
    main(tests_of(globals()), server)
