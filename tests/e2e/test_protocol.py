"""The worker's side of the API, spoken by a worker made of a few lines of Python, and the streams:
output and events."""

import socket
import time

from belfry import Server, main, tests_of, wait_for
from protocol import (API, LONG_MS, Later, Stream, Worker, call, connect, execution, expect, frame, hold,
                      names, result, send, submit)

UNKNOWN_WORKER = "wrk_0000000000001"
UNKNOWN_EXECUTION = "exec_0000000000001"

# One for all tests, each of which keeps to a queue of its own. Polls may wait longer than any test.
# Without breakers: what fails here fails on purpose, and is called again at once.
server = Server("--no-worker", "--set", "park_ms=60s", "--set", "breaker_percent=0")


def worker_with(count=1, slots=10, **job):
    """A worker that holds this many new executions, and its leases."""
    queue = next(names)
    for _ in range(count):
        submit(server, queue=queue, **job)
    worker = Worker(server, slots=slots, queues=[queue])
    return worker, worker.take(count)


def refused(status, code, path, body, *fields, key="worker"):
    answer = call(server, "POST", API + path, body, key=key)
    assert answer.status == status and answer.json["code"] == code, answer
    assert [e["field"] for e in answer.json.get("errors", [])] == list(fields), answer
    return answer.json


# ---- registration

def test_a_worker_registers_and_is_shown():
    queue = next(names)
    worker = Worker(server, slots=3, name="host-1/4711", queues=[queue, "b"], handlers=["m/x"])
    assert worker.welcome == {"worker_id": worker.id, "lease_ms": 20000, "park_ms": 60000,
                              "kill_grace_ms": 10000, "output_bytes_max": 16 << 20,
                              "checkpoint_bytes_max": 1 << 20, "checkpoint_ms": 5000,
                              "outage_grace_ms": 60000, "forget_ms": 300000}
    shown = [w for w in expect(200, server, "GET", "/workers")["workers"] if w["worker_id"] == worker.id]
    assert len(shown) == 1
    assert {k: v for k, v in shown[0].items() if not k.endswith("_at")} == {
        "worker_id": worker.id, "name": "host-1/4711", "status": "active", "slots": 3, "busy": 0, "free": 3,
        "queues": [queue, "b"], "handlers": ["m/x"], "commands": False, "cordoned_by": None,
        "cordon_reason": None}


def test_a_registration_is_checked():
    good = {"name": "n", "slots": 1}
    for wrong, field in (({"name": ""}, "name"), ({"slots": 0}, "slots"), ({"slots": 10001}, "slots"),
                         ({"queues": ["a b"]}, "queues[0]"), ({"handlers": "h"}, "handlers"),
                         ({"commands": "yes"}, "commands"), ({"labels": {}}, "labels")):
        refused(400, "invalid", "/workers", {**good, **wrong}, field)
    refused(400, "invalid", "/workers", {}, "name", "slots")


def test_a_worker_nobody_knows_must_register_again():
    path = f"/workers/{UNKNOWN_WORKER}/poll"
    assert "register" in refused(404, "not_found", path, {"seq": 1, "free": 1})["detail"]
    refused(404, "not_found", "/workers/x/poll", {"seq": 1, "free": 1})
    answer = call(server, "POST", API + f"/workers/{UNKNOWN_WORKER}/drain")
    assert answer.status == 404, answer


# ---- polls

def test_a_poll_is_checked():
    worker = Worker(server)
    path, held = f"/workers/{worker.id}/poll", {"execution_id": UNKNOWN_EXECUTION, "token": 1}
    good = {"seq": 1, "free": 0}
    for wrong, field in (
            ({"seq": 0}, "seq"), ({"free": -1}, "free"), ({"wait_ms": -1}, "wait_ms"),
            ({"running": {}}, "running"), ({"running": [{**held, "token": 0}]}, "running[0].token"),
            ({"running": [{**held, "execution_id": "x"}]}, "running[0].execution_id"),
            ({"results": [{**held, "outcome": "lost"}]}, "results[0].outcome"),
            ({"results": [{**held, "outcome": "failed", "x": 1}]}, "results[0].x"),
            ({"results": [{**held, "outcome": "failed", "error": "x" * 4097}]}, "results[0].error"),
            ({"results": [{**held, "outcome": "succeeded", "result": "x" * (256 << 10)}]},
             "results[0].result"),
            ({"hurry": True}, "hurry")):
        refused(400, "invalid", path, {**good, **wrong}, field)
    refused(400, "invalid", path, {}, "seq", "free")


def test_a_lease_has_all_that_a_run_needs():
    queue = next(names)
    job_id, execution_id = submit(server, queue=queue, command=["a", "b"], payload={"x": [1.50]},
                                  env={"A": "1"}, timeout="5s")
    worker = Worker(server, queues=[queue])
    answer = worker.poll(free=1)
    assert answer["stop"] == [] and answer["results"] == [] and answer["drain"] is False
    lease, = answer["leases"]
    run = execution(server, execution_id)
    assert lease["execution_id"] == execution_id and lease["job_id"] == job_id
    assert lease["token"] == 1 == lease["attempt"] and lease["ttl_ms"] == 20000
    assert lease["slot"] == run["slot"] and lease["payload"] == {"x": [1.5]}
    assert lease["spec"]["command"] == ["a", "b"] and lease["spec"]["timeout"] == "5s"
    assert lease["spec"]["env"] == {"A": "1"} and lease["spec"]["retry"]["max_retries"] == 3
    assert run["status"] == "running" and run["worker_id"] == worker.id and run["token"] == 1


def test_a_large_definition_reaches_the_worker_whole():
    queue = next(names)
    payload = {"text": "ü" * 100000}
    submit(server, queue=queue, payload=payload, env={"LONG": "x" * 100000})
    lease, = Worker(server, queues=[queue]).poll(free=1)["leases"]
    assert lease["payload"] == payload and lease["spec"]["env"] == {"LONG": "x" * 100000}


def test_work_comes_by_priority_and_only_to_those_who_can_do_it():
    queue, other, handler = next(names), next(names), next(names)
    for priority in (1, 1000, 500, 500):
        submit(server, queue=queue, priority=priority)
    submit(server, queue=other)
    submit(server, queue=queue, handler=handler, priority=0)
    submit(server, queue=queue, handler=handler + "/other", priority=0)
    leases = Worker(server, queues=[queue], slots=100).poll(free=100)["leases"]
    assert [lease["spec"]["priority"] for lease in leases] == [1000, 500, 500, 1]
    assert [lease["execution_id"] for lease in leases[1:3]] == sorted(
        lease["execution_id"] for lease in leases[1:3])
    leases = Worker(server, handlers=[handler]).poll(free=100)["leases"]
    assert [lease["spec"]["handler"] for lease in leases] == [handler]
    assert Worker(server, queues=[other]).poll(free=0)["leases"] == []


def test_no_more_is_given_than_there_is_room_for():
    queue = next(names)
    for _ in range(5):
        submit(server, queue=queue)
    worker = Worker(server, queues=[queue])
    first = worker.poll(free=2)["leases"]
    second = worker.poll(free=2, running=first)["leases"]
    assert len(first) == 2 == len(second)
    taken = {lease["execution_id"] for lease in first + second}
    assert len(taken) == 4


def test_a_lease_that_got_lost_is_sent_again():
    queue = next(names)
    _, execution_id = submit(server, queue=queue)
    worker = Worker(server, queues=[queue])
    first = worker.poll(free=1)["leases"]
    again = worker.poll(free=1)["leases"]
    assert again == first and first[0]["token"] == 1
    worker.poll(running=again)
    run = execution(server, execution_id)
    assert run["attempt_count"] == 1 and run["lost_count"] == 0 and run["attempts"] == []


def test_a_lease_that_got_lost_is_taken_back_when_there_is_no_room():
    queue = next(names)
    _, execution_id = submit(server, queue=queue)
    worker = Worker(server, queues=[queue])
    worker.poll(free=1)
    assert worker.poll(free=0)["leases"] == []
    run = execution(server, execution_id)
    assert run["status"] == "queued" and run["attempt_count"] == 0 and run["lost_count"] == 0
    assert [a["outcome"] for a in run["attempts"]] == ["returned"]
    lease, = Worker(server, queues=[queue]).poll(free=1)["leases"]
    assert lease["token"] == 2 and lease["attempt"] == 1


def test_a_run_that_its_worker_no_longer_lists_is_lost():
    worker, (lease,) = worker_with()
    worker.poll(free=0)
    run = execution(server, lease["execution_id"])
    assert run["status"] == "queued" and run["lost_count"] == 1 and run["attempt_count"] == 0
    assert [a["outcome"] for a in run["attempts"]] == ["lost"]


def test_a_repeated_poll_gives_nothing_twice():
    queue = next(names)
    submit(server, queue=queue)
    worker = Worker(server, queues=[queue])
    poll = {"seq": 1, "free": 1, "wait_ms": 0, "running": [], "results": []}
    first, second = worker.send(poll), worker.send(poll)
    assert first.status == 200 == second.status
    assert first.json["leases"] == second.json["leases"] and len(first.json["leases"]) == 1


def test_a_repeated_result_counts_once():
    worker, (lease,) = worker_with()
    poll = {"seq": 9, "free": 0, "results": [result(lease, "succeeded")]}
    assert worker.send(poll).json["results"] == [{**hold(lease), "accepted": True}]
    # The reply may have been lost: whoever asks again is told that the result is in.
    assert worker.send(poll).json["results"] == [{**hold(lease), "accepted": True}]
    later = {"seq": 10, "free": 0, "results": [result(lease, "succeeded"), result(lease, "failed")]}
    assert [v["accepted"] for v in worker.send(later).json["results"]] == [True, False]
    run = execution(server, lease["execution_id"])
    assert run["status"] == "completed" and len(run["attempts"]) == 1


def test_an_old_poll_is_stale():
    worker = Worker(server)
    assert worker.send({"seq": 5, "free": 0}).status == 200
    answer = worker.send({"seq": 4, "free": 0})
    assert answer.status == 409 and answer.json["code"] == "stale", answer
    assert worker.send({"seq": 5, "free": 0}).status == 200


def test_a_poll_waits_for_work():
    queue = next(names)
    worker = Worker(server, queues=[queue])
    waiting = worker.park(free=1)
    _, execution_id = submit(server, queue=queue)
    assert [lease["execution_id"] for lease in waiting.get()["leases"]] == [execution_id]


def test_a_poll_does_not_wait_for_ever():
    assert Worker(server, queues=[next(names)]).poll(free=1, wait_ms=50) == {
        "leases": [], "stop": [], "results": [], "drain": False}


def test_a_newer_poll_ends_one_that_waits():
    queue = next(names)
    worker = Worker(server, queues=[queue])
    waiting = worker.park(free=1)
    worker.poll(free=1)
    assert waiting.get()["leases"] == []


def test_leases_too_large_for_one_reply_come_with_the_next():
    """More than a client takes in one answer; the server has to stop before."""
    count, queue = 70, next(names)
    for _ in range(count):
        submit(server, queue=queue, payload="x" * 1_000_000)
    worker = Worker(server, slots=count, queues=[queue])
    held, replies = {}, 0
    while len(held) < count:
        leases = worker.poll(free=count - len(held), running=held.values())["leases"]
        assert 0 < sum(len(x["payload"]) for x in leases) < 48 << 20
        assert not held.keys() & {x["execution_id"] for x in leases}
        held.update((x["execution_id"], x) for x in leases)
        replies += 1
    assert replies > 1 and all(x["token"] == 1 for x in held.values())


def test_work_is_not_given_to_a_worker_that_hung_up():
    with Server("--no-worker", "--set", "park_ms=60s", "--set", "net_threads=1") as own:
        gone, there = Worker(own), Worker(own)
        before = gone.seen_at()
        wait_for(lambda: expect(200, own, "GET", "/stats")["time"] > before, "a millisecond")
        connection = connect(own)
        connection.connect()
        lost = Later(send, connection, own, "POST", f"{API}/workers/{gone.id}/poll",
                     {"seq": 1, "free": 1, "wait_ms": LONG_MS}, "worker")
        wait_for(lambda: gone.seen_at() != before, "the poll to arrive")
        waiting = there.park(free=1)
        connection.sock.shutdown(socket.SHUT_RDWR)
        lost.thread.join()
        for _ in range(2):  # through the same thread: by then it has seen the hangup
            call(own, "GET", "/healthz")
        _, execution_id = submit(own)
        assert [(x["execution_id"], x["token"]) for x in waiting.get()["leases"]] == [(execution_id, 1)]


# ---- results

def test_a_success_ends_the_job_with_its_result():
    worker, (lease,) = worker_with(name=next(names))
    usage = {"exit_code": 0, "cpu_ms": 12, "peak_memory_bytes": 9437184, "output_bytes": 120,
             "dropped_bytes": 3, "log_seq": 0}
    assert worker.finish(lease, result={"rows": [1, 2.50, None]}, **usage)
    run = execution(server, lease["execution_id"])
    assert run["status"] == "completed" and run["result"] == {"rows": [1, 2.5, None]}
    assert run["worker_id"] is None and run["error"] is None and run["duration_ms"] >= 0
    attempt, = run["attempts"]
    assert attempt["outcome"] == "succeeded" and attempt["worker_id"] == worker.id
    assert {k: attempt[k] for k in usage if k != "log_seq"} == {
        k: v for k, v in usage.items() if k != "log_seq"}
    assert attempt["signal"] is None and attempt["error"] is None
    assert [t["event"] for t in run["transitions"]] == ["create", "lease", "succeed"]
    job = expect(200, server, "GET", "/jobs/" + lease["job_id"])
    assert job["status"] == "completed" and job["current_execution"] is None
    assert job["finished_at"] == run["finished_at"]


def test_failures_are_retried_until_attempts_run_out():
    worker, (lease,) = worker_with(retry={"max_retries": 2, "policy": "immediate"})
    for attempt in (1, 2, 3):
        assert lease["attempt"] == attempt == lease["token"]
        assert worker.finish(lease, "failed", exit_code=attempt, error=f"no {attempt}")
        if attempt < 3:
            lease, = wait_for(lambda: worker.poll(free=1, wait_ms=LONG_MS)["leases"], "the next attempt")
            worker.poll(running=[lease])
    run = execution(server, lease["execution_id"])
    assert run["status"] == "failed" and run["error"] == "no 3" and run["attempt_count"] == 3
    assert [(a["attempt"], a["exit_code"], a["error"]) for a in run["attempts"]] == [
        (1, 1, "no 1"), (2, 2, "no 2"), (3, 3, "no 3")]
    job = expect(200, server, "GET", "/jobs/" + lease["job_id"])
    assert job["status"] == "failed" and job["retry_count"] == 2


def test_a_retry_waits_as_long_as_its_policy_says():
    worker, (lease,) = worker_with(retry={"max_retries": 1, "delay": "1h", "max_delay": "2h", "jitter": 0})
    assert worker.finish(lease, "failed", signal=9)
    run = execution(server, lease["execution_id"])
    assert run["status"] == "retrying" and run["attempts"][0]["signal"] == 9
    assert run["attempts"][0]["exit_code"] is None
    assert run["due_at"][11:13] == f"{(int(run['attempts'][0]['ended_at'][11:13]) + 1) % 24:02}"
    assert worker.poll(free=1)["leases"] == []
    expect(200, server, "DELETE", "/jobs/" + lease["job_id"])
    assert execution(server, lease["execution_id"])["status"] == "cancelled"


def test_each_outcome_leads_somewhere_else():
    outcomes = {"permanent": ("failed", 1, 0), "timeout": ("timeout", 1, 0),
                "failed": ("failed", 1, 0), "returned": ("queued", 0, 0), "stopped": ("queued", 0, 1)}
    worker, leases = worker_with(len(outcomes), retry={"max_retries": 0})
    answer = worker.poll(results=[(lease, outcome) for lease, outcome in zip(leases, outcomes)])
    assert [r["accepted"] for r in answer["results"]] == [True] * len(outcomes)
    for lease, (outcome, expected) in zip(leases, outcomes.items()):
        run = execution(server, lease["execution_id"])
        assert (run["status"], run["attempt_count"], run["lost_count"]) == expected, outcome
        assert run["attempts"][0]["outcome"] == outcome


def test_permanent_failures_are_not_retried():
    worker, (lease,) = worker_with(retry={"max_retries": 5, "policy": "immediate"})
    assert worker.finish(lease, "permanent", error="no such program")
    assert execution(server, lease["execution_id"])["status"] == "failed"


def test_results_without_a_right_to_report_are_refused():
    worker, (lease,) = worker_with()
    stranger = Worker(server)
    assert stranger.finish(lease) is False
    assert worker.poll(running=[lease], results=[({**lease, "token": 2}, "succeeded")])["results"] == [
        {"execution_id": lease["execution_id"], "token": 2, "accepted": False}]
    unknown = {"execution_id": UNKNOWN_EXECUTION, "token": 1}
    assert worker.poll(running=[lease], results=[(unknown, "failed")])["results"] == [
        {**unknown, "accepted": False}]
    assert execution(server, lease["execution_id"])["status"] == "running"
    assert worker.finish(lease) is True
    assert worker.finish(lease, "failed") is False
    assert stranger.finish(lease) is False


def test_what_a_worker_holds_without_a_right_it_must_stop():
    _, (lease,) = worker_with()
    stranger = Worker(server)
    waiting = stranger.poll(wait_ms=LONG_MS, running=[lease])
    assert [hold(stop) for stop in waiting["stop"]] == [hold(lease)]
    assert waiting["stop"][0]["reason"]


# ---- cancelling and draining

def test_a_cancelled_run_is_stopped_at_once():
    worker, (lease,) = worker_with()
    waiting = worker.park(running=[lease])
    answer = expect(200, server, "POST", f"/executions/{lease['execution_id']}/cancel")
    assert answer["status"] == "running" and answer["stopping"] is True
    stop, = waiting.get()["stop"]
    assert hold(stop) == hold(lease) and stop["reason"]
    run = execution(server, lease["execution_id"])
    assert run["status"] == "running" and run["stopping"] is True
    listed = expect(200, server, "GET", f"/executions?job={lease['job_id']}&status=running")
    assert [e["stopping"] for e in listed["executions"]] == [True]
    assert worker.finish(lease, "stopped", signal=15)
    run = execution(server, lease["execution_id"])
    assert run["status"] == "cancelled" and run["stopping"] is False
    assert run["attempts"][0]["outcome"] == "stopped" and run["attempts"][0]["signal"] == 15


def test_a_stop_is_repeated_until_the_run_is_gone():
    worker, (lease,) = worker_with()
    expect(200, server, "DELETE", "/jobs/" + lease["job_id"])
    for _ in range(2):
        assert [hold(s) for s in worker.poll(running=[lease])["stop"]] == [hold(lease)]
    assert expect(200, server, "GET", "/jobs/" + lease["job_id"])["status"] == "cancelled"
    assert worker.finish(lease, "succeeded")  # it was faster; cancelled it stays
    assert execution(server, lease["execution_id"])["status"] == "cancelled"


def test_a_draining_worker_gets_nothing_new():
    queue = next(names)
    worker = Worker(server, queues=[queue])
    waiting = worker.park(free=1)
    answer = expect(200, server, "POST", f"/workers/{worker.id}/drain")
    assert answer == {"worker_id": worker.id, "status": "draining"}
    assert waiting.get()["drain"] is True
    submit(server, queue=queue)
    answer = worker.poll(free=1)
    assert answer["drain"] is True and answer["leases"] == []
    shown = [w for w in expect(200, server, "GET", "/workers")["workers"] if w["worker_id"] == worker.id]
    assert shown[0]["status"] == "draining"
    assert len(Worker(server, queues=[queue]).poll(free=1)["leases"]) == 1


# ---- leases and time; short ones end while we watch, but not when the machine stands still for a moment

BRIEF = ("--no-worker", "--set", "lease_ms=2s")


def test_a_silent_worker_loses_its_run_and_cannot_report_it():
    with Server(*BRIEF) as own:
        _, execution_id = submit(own)
        silent, other = Worker(own), Worker(own)
        lease, = silent.take()
        assert lease["ttl_ms"] == 2000
        again, = wait_for(lambda: other.poll(free=1, wait_ms=LONG_MS)["leases"], "the lease to end")
        assert again["execution_id"] == execution_id and again["token"] == 2 and again["attempt"] == 1
        other.poll(running=[again])
        assert silent.finish(lease) is False
        assert [hold(s) for s in silent.poll(running=[lease])["stop"]] == [hold(lease)]
        assert other.finish(again)
        run = execution(own, execution_id)
        assert run["lost_count"] == 1 and [a["outcome"] for a in run["attempts"]] == ["lost", "succeeded"]


def test_a_late_success_counts_when_nobody_else_has_begun():
    with Server(*BRIEF) as own:
        _, execution_id = submit(own)
        worker = Worker(own)
        lease, = worker.take()
        wait_for(lambda: execution(own, execution_id)["status"] == "queued", "the lease to end")
        assert worker.finish(lease, result="late") is True
        run = execution(own, execution_id)
        assert run["status"] == "completed" and run["result"] == "late"
        assert [a["outcome"] for a in run["attempts"]] == ["succeeded"]


def test_listing_a_run_keeps_its_lease():
    with Server(*BRIEF) as own:
        _, execution_id = submit(own)
        worker = Worker(own)
        lease, = worker.take()
        end = time.monotonic() + 3  # longer than a lease
        while time.monotonic() < end:
            assert worker.poll(running=[lease], wait_ms=200)["stop"] == []
        assert worker.finish(lease)
        assert execution(own, execution_id)["lost_count"] == 0


def test_runs_outlive_a_server_that_dies():
    with Server("--no-worker") as own:
        for _ in range(3):
            submit(own, queue="q")
        worker = Worker(own, queues=["q"])
        held, = worker.take()
        ended, = worker.poll(free=1, running=[held])["leases"]
        own.kill()
        own.start()
        answer = worker.poll(free=1, running=[held, ended], results=[])
        assert answer["stop"] == [] and len(answer["leases"]) == 1
        third, = answer["leases"]
        answer = worker.poll(results=[(lease, "succeeded") for lease in (held, ended, third)])
        assert [r["accepted"] for r in answer["results"]] == [True] * 3
        assert expect(200, own, "GET", "/jobs?queue=q&status=completed&count=true")["total"] == 3


def test_a_payload_outlives_a_server_that_dies_and_comes_with_every_run():
    with Server("--no-worker") as own:
        submit(own, queue="q", payload={"month": 11})
        own.kill()
        own.start()
        worker = Worker(own, queues=["q"])
        first, = worker.take()
        assert first["payload"] == {"month": 11}, first
        worker.finish(first)
        expect(201, own, "POST", f"/executions/{first['execution_id']}/retry")
        again, = worker.take()
        assert again["payload"] == {"month": 11}, again
        assert again["spec"] == first["spec"]


# ---- output

def output(execution_id, query=""):
    answer = call(server, "GET", f"{API}/executions/{execution_id}/logs{query}")
    assert answer.status == 200, answer
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    return answer.body


def test_output_is_kept_as_it_was_printed():
    worker, (lease,) = worker_with(retry={"policy": "immediate"})
    worker.upload(frame(lease, 1, b"out\n"), frame(lease, 2, b"err\xff\n", "stderr"), frame(lease, 3, b""))
    worker.upload(frame(lease, 2, b"err\xff\n", "stderr"), frame(lease, 4, b"gone\n", "note"))
    assert worker.finish(lease, "failed", log_seq=4)
    second, = wait_for(lambda: worker.poll(free=1, wait_ms=LONG_MS)["leases"], "the next attempt")
    worker.upload(frame(second, 1, b"again"))
    run = lease["execution_id"]
    assert output(run) == b"out\nerr\xff\ngone\nagain"
    assert output(run, "?stream=stdout") == b"out\nagain"
    assert output(run, "?stream=stderr") == b"err\xff\n" and output(run, "?stream=note") == b"gone\n"
    assert output(run, "?attempt=2") == b"again" and output(run, "?attempt=3") == b""
    assert output(run, "?attempt=1&stream=stdout&follow=false") == b"out\n"


def test_output_parameters_are_checked():
    _, run = submit(server, queue=next(names))
    assert output(run) == b""
    for query, field in (("stream=both", "stream"), ("attempt=0", "attempt"), ("attempt=x", "attempt"),
                         ("follow=yes", "follow"), ("lines=5", "lines")):
        answer = call(server, "GET", f"{API}/executions/{run}/logs?{query}")
        assert answer.status == 400 and answer.json["errors"][0]["field"] == field, answer
    answer = call(server, "GET", f"{API}/executions/{run}/logs?follow=true", headers={"Last-Event-ID": "x"})
    assert answer.status == 400, answer
    for query in ("", "?follow=true"):
        answer = call(server, "GET", f"{API}/executions/{UNKNOWN_EXECUTION}/logs{query}")
        assert answer.status == 404 and answer.json["code"] == "not_found", answer


def test_uploads_are_checked():
    worker, (lease,) = worker_with()
    good = frame(lease, 1, b"kept\n")
    for bad in (b"x", good[:-1], good.replace(b" 5\n", b" 4\n"), good.replace(b" 5\n", b" 6\n"),
                good.replace(b"stdout", b"stdin"), good.replace(b"exec_", b"job_"),
                good.replace(b" 1 1 1 ", b" 0 1 1 "), frame(lease, 0, b""), good.replace(b" ", b"  ")):
        answer = worker.upload(good, bad, status=400)
        assert answer.json["detail"].startswith("frame "), answer
    assert output(lease["execution_id"]) == b""  # all or nothing
    answer = call(server, "POST", f"{API}/workers/{worker.id}/logs", good, key="worker",
                  headers={"Content-Type": "text/plain"})
    assert answer.status == 415, answer
    worker.upload(frame(lease, 1, b"x" * ((1 << 20) + 1)), status=413)
    worker.upload()
    worker.upload(good)
    assert output(lease["execution_id"]) == b"kept\n"


def test_output_is_taken_only_from_those_who_were_given_the_lease():
    worker, (lease,) = worker_with()
    stranger, (own,) = worker_with()
    unknown = {"execution_id": UNKNOWN_EXECUTION, "token": 1, "attempt": 1}
    for sender, wrong in ((stranger, lease), (worker, {**lease, "token": 2}), (worker, unknown)):
        mine = own if sender is stranger else lease
        answer = sender.upload(frame(mine, 1, b"good\n"), frame(wrong, 1, b"bad\n"), status=409)
        assert answer.json["code"] == "conflict" and "never given" in answer.json["detail"], answer
    nobody = call(server, "POST", f"{API}/workers/{UNKNOWN_WORKER}/logs", frame(lease, 1, b"bad"),
                  key="worker", headers={"Content-Type": "application/x-belfry-log"})
    assert nobody.status == 409, nobody
    assert output(lease["execution_id"]) == b"" == output(own["execution_id"])  # all or nothing
    worker.upload(frame(lease, 1, b"good\n"))
    assert output(lease["execution_id"]) == b"good\n"


def test_late_output_of_a_lease_that_is_over_is_still_taken():
    worker, (lease,) = worker_with(retry={"max_retries": 1, "policy": "immediate"})
    worker.finish(lease, "failed", log_seq=1)
    other = Worker(server, queues=[execution(server, lease["execution_id"])["queue"]])
    second, = wait_for(lambda: other.poll(free=1, wait_ms=LONG_MS)["leases"], "the next attempt")
    worker.upload(frame(lease, 1, b"late "))  # while another has the execution
    other.upload(frame(second, 1, b"second "))
    assert other.finish(second, log_seq=2)
    other.upload(frame(second, 2, b"very late"))  # after its end
    assert output(lease["execution_id"]) == b"late second very late"


def test_followed_output_comes_as_it_is_printed_and_ends():
    worker, (lease,) = worker_with()
    worker.upload(frame(lease, 1, b"one\n"))
    path = f"/executions/{lease['execution_id']}/logs?follow=true"
    with Stream(server, path) as stream:
        assert next(stream) == ("1.1", "log", {"attempt": 1, "stream": "stdout", "text": "one\n",
                                               "at": "2026-11-16T08:00:00.123Z"})
        worker.upload(frame(lease, 2, b"two \xfft\nwo\r\n", "stderr"))
        assert next(stream)[2]["text"] == "two \ufffdt\nwo\r\n"
        worker.finish(lease, log_seq=3)
        worker.upload(frame(lease, 3, b"three"))  # late, but the end waits for it
        assert [(i, e, d.get("text")) for i, e, d in stream] == [
            ("1.3", "log", "three"), ("1.3", "end", None)]
    for last_id, rest in ((None, ["1.1", "1.2", "1.3", "1.3"]), ("1.1", ["1.2", "1.3", "1.3"]),
                          ("1.3", ["1.3"]), ("7.0", None)):
        with Stream(server, path, last_id) as stream:
            events = list(stream)
            assert events[-1][1:] == ("end", {"status": "completed"})
            assert rest is None or [e[0] for e in events] == rest, events


def test_following_may_be_for_one_stream_or_attempt():
    worker, (lease,) = worker_with()
    worker.upload(frame(lease, 1, b"a"), frame(lease, 2, b"b", "stderr"), frame(lease, 3, b"c", "note"))
    worker.finish(lease, log_seq=3)
    path = f"/executions/{lease['execution_id']}/logs?follow=true"
    for query, texts in (("&stream=stderr", ["b"]), ("&attempt=1", ["a", "b", "c"]), ("&attempt=2", [])):
        with Stream(server, path + query) as stream:
            assert [d["text"] for _, event, d in stream if event == "log"] == texts


def test_following_what_never_ran_ends_with_it():
    _, run = submit(server, queue=next(names))
    with Stream(server, f"/executions/{run}/logs?follow=true") as stream:
        expect(200, server, "POST", f"/executions/{run}/cancel")
        assert [e[1:] for e in stream] == [("end", {"status": "cancelled"})]


def test_much_output_arrives_whole_and_in_order():
    worker, (lease,) = worker_with()
    pieces = [b"%06d " % i + b"x" * 8000 + b"\n" for i in range(600)]
    for start in range(0, 600, 100):
        worker.upload(*(frame(lease, i + 1, pieces[i]) for i in range(start, start + 100)))
    worker.finish(lease, log_seq=600)
    assert output(lease["execution_id"]) == b"".join(pieces)
    with Stream(server, f"/executions/{lease['execution_id']}/logs?follow=true", "1.100") as stream:
        texts = [d["text"] for _, event, d in stream if event == "log"]
    assert texts == [piece.decode() for piece in pieces[100:]]


# ---- events

def of_queue(stream, queue, count):
    """The next events about a queue; others may come between."""
    found = []
    while len(found) < count:
        number, event, data = next(stream)
        if data.get("queue") == queue:
            found.append((number, event, data))
    return found


def test_events_tell_what_happens_and_can_be_resumed():
    queue = next(names)
    with Stream(server, "/events") as stream:
        job_id, run = submit(server, queue=queue)
        created, = of_queue(stream, queue, 1)
        worker = Worker(server, queues=[queue])
        worker.finish(worker.take()[0])
        rest = of_queue(stream, queue, 2)
    assert created[1] == "execution" and created[2]["execution_id"] == run
    assert created[2]["job_id"] == job_id and created[2]["at"]
    steps = [(d["event"], d["status"]) for _, _, d in [created] + rest]
    assert steps == [("create", "queued"), ("lease", "running"), ("succeed", "completed")]
    assert int(created[0]) < int(rest[0][0]) < int(rest[1][0])
    with Stream(server, "/events", created[0]) as stream:
        assert of_queue(stream, queue, 2) == rest


def test_a_reader_that_missed_something_is_told_to_start_anew():
    for last_id in ("1", "x", "99999999999999999999", "18446744073709551615"):
        with Stream(server, "/events", last_id) as stream:
            number, event, data = next(stream)
            assert event == "reset" and data == {}, (last_id, event)
            queue = next(names)
            submit(server, queue=queue)
            (after, _, _), = of_queue(stream, queue, 1)
            assert int(after) > int(number)


def test_events_of_before_a_restart_are_known_to_be_missed():
    with Server("--no-worker") as own:
        with Stream(own, "/events") as stream:
            submit(own)
            last_id = next(stream)[0]
        own.stop()
        own.start()
        with Stream(own, "/events", last_id) as stream:
            assert next(stream)[1] == "reset"


def test_many_readers_hear_the_same():
    queue = next(names)
    streams = [Stream(server, "/events") for _ in range(20)]
    for _ in range(50):
        submit(server, queue=queue)
    heard = [of_queue(stream, queue, 50) for stream in streams]
    assert all(events == heard[0] for events in heard)
    for stream in streams:
        stream.__exit__()


if __name__ == "__main__":
    main(tests_of(globals()), shared=server)
