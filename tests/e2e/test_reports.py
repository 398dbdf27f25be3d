"""Reports: how things went, for a job, a queue, an owner or all together, over hours and days."""

import datetime

from belfry import Server, main, tests_of
from protocol import API, Worker, call, expect, names, submit

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


def test_numbers_survive_a_kill():
    with Server("--no-worker") as own:
        worker = Worker(own)
        submit(own)
        lease, = worker.poll(free=1)["leases"]
        assert worker.finish(lease)
        own.kill()
        own.start()
        assert expect(200, own, "GET", "/successes")["succeeded"] == 1


if __name__ == "__main__":
    main(tests_of(globals()), shared=server)
