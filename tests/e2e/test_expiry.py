"""What does not start in time: late, and then over."""

import time

from belfry import Server, main, tests_of, wait_for
from protocol import API, Stream, Worker, call, execution, expect, names, submit

server = Server("--no-worker")


def refused(**job):
    answer = call(server, "POST", API + "/jobs", {"command": ["true"], **job})
    assert answer.status == 400, answer
    return answer.json["errors"][0]


def wait_for_status(own, execution_id, status):
    wait_for(lambda: execution(own, execution_id)["status"] == status, f"it to be {status}")
    return execution(own, execution_id)


def test_what_nobody_starts_in_time_expires():
    job_id, run_id = submit(server, queue=next(names), expires_in="300ms")
    run = wait_for_status(server, run_id, "expired")
    assert run["error"] == ("it expires after 300ms, and has not started: it waits for a worker"), run
    assert run["transitions"][-1]["event"] == "overdue" and run["started_at"] is None, run
    job = expect(200, server, "GET", "/jobs/" + job_id)
    assert (job["status"], job["expires_in"]) == ("cancelled", "300ms"), job
    listed = expect(200, server, "GET", "/executions?status=expired")["executions"]
    assert run_id in [one["execution_id"] for one in listed], listed
    assert expect(200, server, "GET", "/stats")["executions"]["expired"] >= 1


def test_what_has_started_does_not_expire():
    queue = next(names)
    worker = Worker(server, queues=[queue])
    waiting = worker.park(free=1)  # so that it starts as it is submitted, however slow we are
    _, run_id = submit(server, queue=queue, expires_in="500ms", start_within="300ms")
    lease, = waiting.get()["leases"]
    worker.poll(running=[lease])
    _, other = submit(server, queue=next(names), expires_in="501ms")
    wait_for_status(server, other, "expired")
    assert worker.finish(lease)
    run = execution(server, run_id)
    assert run["status"] == "completed" and not run["start_late"], run


def test_a_late_start_is_told_once():
    queue = next(names)
    with Stream(server, "/events") as events:
        _, run_id = submit(server, queue=queue, start_within="200ms")
        told = next(about for _, _, about in events if about.get("event") == "start_late"
                    and about["execution_id"] == run_id)
        assert told["status"] == "queued", told
    worker = Worker(server, queues=[queue])
    assert worker.finish(worker.take()[0])
    run = execution(server, run_id)
    steps = [step["event"] for step in run["transitions"]]
    assert run["start_late"] and steps.count("start_late") == 1, run
    assert steps.index("start_late") < steps.index("lease"), steps
    alert, = [a for a in expect(200, server, "GET", "/alerts?limit=1000")["alerts"]
              if a["execution_id"] == run_id]
    assert (alert["kind"], alert["level"], alert["queue"]) == ("start_late", "warning", queue), alert
    assert f"belfry explain {run_id}" in alert["text"], alert


def test_explain_tells_when_it_expires():
    job_id, run_id = submit(server, queue=next(names), expires_in="1h")
    why = expect(200, server, "GET", f"/jobs/{job_id}/explain")
    assert why["expires_at"] > execution(server, run_id)["slot"], why
    job_id, _ = submit(server, queue=next(names))
    assert expect(200, server, "GET", f"/jobs/{job_id}/explain")["expires_at"] is None


def test_time_goes_on_while_nobody_is_there():
    with Server("--no-worker") as own:
        _, paused = submit(own, queue="halted", expires_in="1s")
        expect(200, own, "POST", "/queues/halted/pause")
        recurs, _ = submit(own, schedule={"every": "1s"}, overlap="parallel", expires_in="500ms")
        own.kill()
        time.sleep(1.5)  # nothing can be waited for while it is down
        own.start()
        assert wait_for_status(own, paused, "expired")["finished_at"]

        def outcomes():
            path = f"/jobs/{recurs}/executions?limit=1000"
            return [one["status"] for one in expect(200, own, "GET", path)["executions"]]
        wait_for(lambda: outcomes().count("expired") >= 2, "slots to expire")
        assert set(outcomes()) <= {"expired", "scheduled", "queued", "skipped"}, outcomes()


def test_a_slot_that_is_run_again_keeps_its_slot():
    queue = next(names)
    job_id, _ = submit(server, queue=queue, schedule={"every": "1s"}, overlap="parallel")
    worker = Worker(server, queues=[queue])
    path = f"/jobs/{job_id}/executions?status=queued"
    wait_for(lambda: expect(200, server, "GET", path)["executions"], "a slot")
    lease = worker.take()[0]
    assert worker.finish(lease)
    again = expect(201, server, "POST", f"/executions/{lease['execution_id']}/retry")
    run = execution(server, again["execution_id"])
    assert (run["slot"], run["origin"]) == (lease["slot"], "request"), run
    expect(200, server, "DELETE", "/jobs/" + job_id)
    _, first = submit(server, queue=next(names), schedule={"at": "2031-01-01T00:00:00Z"})
    expect(200, server, "POST", f"/executions/{first}/cancel")
    again = expect(201, server, "POST", f"/executions/{first}/retry")
    run = execution(server, again["execution_id"])
    assert (run["slot"], run["status"]) == ("2031-01-01T00:00:00.000Z", "queued"), run


def test_bad_deadlines_are_refused_by_name():
    assert refused(expires_in="soon")["field"] == "expires_in"
    assert refused(expires_in="0s")["message"] == "must be at least 1ms"
    assert refused(start_within=300)["field"] == "start_within"
    assert refused(expires_in="4000d")["message"] == "must be at most 3660d"
    crossed = refused(start_within="2h", expires_in="1h")
    assert crossed == {"field": "start_within", "message": "must be shorter than expires_in"}, crossed


if __name__ == "__main__":
    main(tests_of(globals()), shared=server)
