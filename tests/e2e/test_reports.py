"""Reports: how things went, for a job, a queue, an owner or all together, over hours and days."""

import csv
import datetime
import io
import json

from belfry import Server, main, tests_of
from cluster import Cluster, Postgres
from protocol import API, Worker, call, expect, names, submit
from strange import Strange

server = Server("--no-worker", "--set", "breaker_percent=0")


def run(worker, outcomes, **job):
    """One job for each outcome; the id of the last."""
    for outcome in outcomes:
        job_id, _ = submit(server, retry={"max_retries": 0}, **job)
        lease, = worker.poll(free=1)["leases"]
        more = {"error_class": "network_error", "error": "no route"} if outcome == "failed" else {}
        assert worker.finish(lease, outcome, **more)
    return job_id


def test_a_queue_tells_what_failed_and_how():
    queue = next(names)
    run(Worker(server, queues=[queue]), ["succeeded"] * 3 + ["failed"], queue=queue)
    told = expect(200, server, "GET", f"/queues/{queue}/failures")
    assert (told["total"], told["failed"], told["rate"]) == (4, 1, 0.25), told
    assert told["by_class"] == {"network_error": 1}, told
    assert [r["status"] for r in told["recent"]] == ["failed"], told
    told = expect(200, server, "GET", f"/queues/{queue}/successes")
    assert (told["total"], told["succeeded"], told["rate"]) == (4, 3, 0.75), told
    assert told["p50_duration_ms"] <= told["p95_duration_ms"] <= told["p99_duration_ms"], told
    assert told["average_duration_ms"] >= 0, told


def test_all_together_and_an_owner_count_the_same():
    queue = next(names)
    before = expect(200, server, "GET", "/failures")["total"]
    owner = expect(200, server, "GET", "/jobs/" + run(
        Worker(server, queues=[queue]), ["succeeded", "failed"], queue=queue))["owner"]
    assert expect(200, server, "GET", "/failures")["total"] == before + 2
    assert expect(200, server, "GET", f"/owners/{owner}/failures")["failed"] >= 1
    assert expect(200, server, "GET", f"/owners/{owner}/successes")["succeeded"] >= 1


def test_a_team_is_counted_over_all_queues():
    queue, team = next(names), next(names)
    run(Worker(server, queues=[queue]), ["succeeded", "failed"], queue=queue, team=team)
    told = expect(200, server, "GET", f"/teams/{team}/failures")
    assert (told["total"], told["failed"]) == (2, 1) and "recent" not in told, told
    rates = expect(200, server, "GET", "/success-rates?by=team")["success_rates"]
    assert [r["rate"] for r in rates if r["key"] == team] == [0.5], rates


def test_a_job_that_ran_once_and_one_that_recurs():
    queue = next(names)
    worker = Worker(server, queues=[queue])
    once = run(worker, ["failed"], queue=queue)
    told = expect(200, server, "GET", f"/jobs/{once}/failures")
    assert (told["total"], told["failed"], told["rate"]) == (1, 1, 1), told
    assert told["recent"][0]["job_id"] == once, told
    job, _ = submit(server, queue=queue, schedule={"every": "1h"})
    for outcome in ("succeeded", "succeeded", "failed"):
        expect(201, server, "POST", f"/jobs/{job}/trigger", {})
        lease, = worker.poll(free=1)["leases"]
        assert worker.finish(lease, outcome, **({"permanent": True} if outcome == "failed" else {}))
    told = expect(200, server, "GET", f"/jobs/{job}/successes")
    assert (told["total"], told["succeeded"], told["rate"]) == (3, 2, 0.66666), told


def test_a_range_is_of_whole_hours_and_checked():
    queue = next(names)
    run(Worker(server, queues=[queue]), ["succeeded"], queue=queue)
    past = f"/queues/{queue}/successes?start_date=2020-01-01&end_date=2020-02-01T10:30:00Z"
    told = expect(200, server, "GET", past)
    assert told["total"] == 0 and told["rate"] is told["p95_duration_ms"] is None, told
    assert (told["from"], told["until"]) == ("2020-01-01T00:00:00.000Z", "2020-02-01T11:00:00.000Z")
    today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    assert expect(200, server, "GET", f"/queues/{queue}/successes?start_date={today}")["total"] == 1
    for bad in ("start_date=soon", "end_date=2020-13-01", "start_date=2021-01-01&end_date=2020-01-01",
                "from=2020-01-01"):
        assert call(server, "GET", f"{API}/successes?{bad}").status == 400, bad
    assert call(server, "GET", f"{API}/jobs/job_0000000000000/failures").status == 404


def test_rates_stand_side_by_side():
    good, bad = next(names), next(names)
    run(Worker(server, queues=[good]), ["succeeded"], queue=good)
    run(Worker(server, queues=[bad]), ["failed"] * 5, queue=bad)
    told = expect(200, server, "GET", "/success-rates?by=queue")
    rates = {r["key"]: r["rate"] for r in told["success_rates"]}
    assert rates[good] == 1 and rates[bad] == 0 and told["complete"], told
    assert list(rates).index(bad) < list(rates).index(good), "what fails most comes first"
    for by in ("", "?by=colour"):
        assert call(server, "GET", f"{API}/success-rates{by}").status == 400, by


def report(own, kind, **params):
    query = "&".join(f"{key}={value}" for key, value in params.items())
    return expect(200, own, "GET", f"/reports/{kind}?{query}")


def row_of(told, key):
    return next((row for row in told["rows"] if row["key"] == key), None)


def run_recurring(own, worker, outcomes, **job):
    job_id, _ = submit(own, schedule={"every": "1h"}, retry={"max_retries": 0}, **job)
    for outcome in outcomes:
        expect(201, own, "POST", f"/jobs/{job_id}/trigger", {})
        lease, = worker.poll(free=1)["leases"]
        assert worker.finish(lease, outcome)
    return job_id


def test_a_report_ranks_and_adds_up_the_others():
    with Server("--no-worker", "--set", "breaker_percent=0") as own:
        counts = {"q1": 3, "q2": 1, "q3": 2}
        for queue, failed in counts.items():
            worker = Worker(own, queues=[queue])
            for outcome in ["failed"] * failed + ["succeeded"]:
                submit(own, queue=queue, team="team-" + queue, retry={"max_retries": 0})
                lease, = worker.poll(free=1)["leases"]
                assert worker.finish(lease, outcome)
        told = report(own, "failures", limit=2)
        assert [(row["key"], row["failed"]) for row in told["rows"]] == [("q1", 3), ("q3", 2)], told
        assert (told["other_keys"], told["others"]["failed"], told["total"]["total"]) == (1, 1, 9)
        assert told["rows"][0]["previous"] == {"total": 0, "failed": 0, "rate": None}, told
        assert told["rows"][0]["by_class"] == {told["rows"][0]["top_class"]: 3}, told
        rates = [row["key"] for row in report(own, "successes", sort="rate", since="24h")["rows"]]
        assert rates == ["q1", "q3", "q2"], rates
        slowest = report(own, "slowest", by="team")
        assert {row["key"] for row in slowest["rows"]} == {"team-q1", "team-q2", "team-q3"}
        assert all(row["p50_duration_ms"] <= row["max_duration_ms"] for row in slowest["rows"])
        assert report(own, "failures", since="2020-01-01", until="2020-02-01")["rows"] == []


def test_a_report_by_job_knows_names_and_jobs_that_are_gone():
    with Server("--no-worker", "--set", "breaker_percent=0", "--set", "history_keep_ms=1h") as own:
        worker = Worker(own, queues=["a", "b"])
        named = run_recurring(own, worker, ["succeeded", "failed"], queue="a", name="named")
        plain = run_recurring(own, worker, ["failed"] * 2, queue="b")
        told = report(own, "failures", by="job")
        assert [(r["key"], r["name"], r["failed"]) for r in told["rows"]] == [
            (plain, None, 2), (named, "named", 1)], told
        assert "recurring" in told["notes"][0], told
        told = report(own, "failures", by="job", queue="a")
        assert [row["key"] for row in told["rows"]] == [named] and told["total"]["total"] == 2, told
        expect(200, own, "DELETE", "/jobs/" + named)
        assert row_of(report(own, "failures", by="job"), named)["failed"] == 1
        for query in ("by=colour", "since=soon", "since=1h&until=2h", "sort=average", "limit=0",
                      "limit=1001", "queue=a", "by=team&owner=x", "colour=red"):
            assert call(own, "GET", f"{API}/reports/failures?{query}").status == 400, query


def count_slas(own):
    worker = Worker(own, queues=["mail"])
    sla = {"max": "1h"}
    submit(own, queue="mail", team="ops", sla=sla)
    lease, = worker.poll(free=1)["leases"]
    assert worker.finish(lease)
    run_recurring(own, worker, ["succeeded"], queue="mail", team="ops", sla=sla)


def test_slas_are_counted_by_queue_team_and_owner():
    with Server("--no-worker") as own:
        count_slas(own)
        owner = expect(200, own, "GET", "/jobs")["jobs"][0]["owner"]
        for by, key in (("queue", "mail"), ("team", "ops"), ("owner", owner)):
            told = report(own, "sla", by=by)
            row = row_of(told, key)
            assert (row["total"], row["met"], row["violated"], row["rate"]) == (2, 2, 0, 1), told
            assert told["counted_since"] and told["previous"] is None, told
        told = report(own, "sla", by="job")
        assert told["rows"][0]["total"] == 1 and told["counted_since"] is None, told
        own.kill()
        own.start()
        assert row_of(report(own, "sla", by="team"), "ops")["met"] == 2


def test_a_report_is_printed_as_table_json_and_csv():
    with Server("--no-worker") as own:
        worker = Worker(own, queues=["mail"])
        run_recurring(own, worker, ["succeeded"] * 2, queue="mail", name="=cmd()", team="-x")
        shown = own.cli("report", "slowest", "--by", "job", "--since", "24h")
        assert shown.returncode == 0 and "=cmd()" in shown.stdout, shown
        assert max(len(line) for line in shown.stdout.splitlines()) <= 100, shown.stdout
        assert json.loads(own.cli("report", "sla", "-o", "json").stdout)["report"] == "sla"
        shown = own.cli("report", "successes", "--by", "job", "-o", "csv")
        rows = list(csv.DictReader(io.StringIO(shown.stdout)))
        assert rows[0]["row"] == "key" and rows[0]["name"] == "'=cmd()", rows
        assert rows[0]["succeeded"] == "2" and rows[-1]["row"] == "total", rows
        by_team = own.cli("report", "successes", "--by", "team", "-o", "csv").stdout
        assert list(csv.DictReader(io.StringIO(by_team)))[0]["key"] == "'-x"
        for wrong in ([], ["nothing"], ["sla", "more"], ["sla", "--by", "colour"],
                      ["sla", "--since", "soon"], ["sla", "--sort", "average"]):
            assert own.cli("report", *wrong).returncode == 2, wrong
        assert own.cli("report", "sla", "--url", "http://127.0.0.1:1").returncode == 5


def test_every_server_reports_about_all():
    with Postgres() as postgres, Cluster(postgres, 2, "--no-worker") as nodes:
        for node in nodes:
            count_slas(node)
        for node in nodes:
            assert report(node, "sla", by="team")["total"]["met"] == 4
            assert report(node, "successes", since="1h")["total"]["succeeded"] == 4
            assert report(node, "slowest", by="job")["total"]["completed"] == 2


def test_numbers_survive_a_kill():
    with Server("--no-worker") as own:
        worker = Worker(own)
        submit(own)
        lease, = worker.poll(free=1)["leases"]
        assert worker.finish(lease)
        own.kill()
        own.start()
        assert expect(200, own, "GET", "/successes")["succeeded"] == 1


def test_notes_that_no_server_gives_are_survived():
    done = Strange(failures={"notes": [5, {}, "\x1b[2J cut"]}).cli(server, "report", "failures")
    assert done.returncode == 0 and "cut" in done.stdout and "\x1b" not in done.stdout, done


if __name__ == "__main__":
    main(tests_of(globals()), shared=server)
