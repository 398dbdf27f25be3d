"""The HTTP API for people and programs: keys, problems, jobs, executions, lists, and the server
itself. The worker's side and the streams are in test_protocol.py."""

import re
import shutil
import socket
import stat
import subprocess

from belfry import BELFRY, PATIENCE_S, Server, main, tests_of, wait_for
from protocol import API, Worker, call, connect, execution, expect, names, raw, send, submit

UNKNOWN_JOB = "job_0000000000001"
UNKNOWN_EXECUTION = "exec_0000000000001"
UNKNOWN_WORKER = "wrk_0000000000001"
TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")

ADMIN_CALLS = [
    ("GET", "/workers"), ("POST", f"/workers/{UNKNOWN_WORKER}/drain"), ("POST", "/jobs"),
    ("POST", "/jobs/batch"), ("GET", "/jobs"), ("GET", f"/jobs/{UNKNOWN_JOB}"),
    ("DELETE", f"/jobs/{UNKNOWN_JOB}"), ("GET", f"/jobs/{UNKNOWN_JOB}/executions"),
    ("POST", f"/jobs/{UNKNOWN_JOB}/pause"), ("POST", f"/jobs/{UNKNOWN_JOB}/resume"),
    ("POST", f"/jobs/{UNKNOWN_JOB}/trigger"),
    ("GET", "/executions"), ("GET", f"/executions/{UNKNOWN_EXECUTION}"),
    ("POST", f"/executions/{UNKNOWN_EXECUTION}/cancel"),
    ("POST", f"/executions/{UNKNOWN_EXECUTION}/retry"),
    ("GET", f"/executions/{UNKNOWN_EXECUTION}/logs"), ("GET", "/events"), ("GET", "/stats"),
    ("GET", "/queues"), ("GET", "/queues/q"), ("PUT", "/queues/q"), ("POST", "/queues/q/pause"),
    ("POST", "/queues/q/resume")]
WORKER_CALLS = [
    ("POST", "/workers"), ("POST", f"/workers/{UNKNOWN_WORKER}/poll"),
    ("POST", f"/workers/{UNKNOWN_WORKER}/logs")]

server = Server("--no-worker")  # one for all tests, each of which keeps to names of its own


def is_problem(answer, status, code, *fields):
    """A problem of the documented form that blames exactly these fields."""
    assert answer.status == status, answer
    assert answer.headers["Content-Type"] == "application/problem+json", answer.headers
    problem = answer.json
    assert problem["status"] == status and problem["code"] == code, problem
    assert problem["type"] == "about:blank" and problem["title"] and problem["detail"], problem
    assert {e["field"] for e in problem.get("errors", [])} == set(fields), problem
    return problem


def refused(status, code, method, path, body=None, *fields, **kwargs):
    return is_problem(call(server, method, API + path, body, **kwargs), status, code, *fields)


def ids(page):
    return [job["job_id"] for job in page["jobs"]]


def list_jobs(query):
    return expect(200, server, "GET", "/jobs?" + query)


# ---- what is still to come, and who is asking

def test_what_is_promised_and_not_there_says_so():
    for path in ("/tasks", "/secrets/x", "/groups/g/close"):
        for method in ("GET", "POST"):
            problem = is_problem(call(server, method, API + path), 501, "not_implemented")
            assert "not supported by this version yet" in problem["detail"], problem
    refused(404, "not_found", "GET", "/tasks/a/b")
    refused(404, "not_found", "GET", "/anything")


def test_a_timeout_by_default_is_for_jobs_that_are_submitted_without_one():
    with Server("--no-worker", "--set", "timeout_default=5m") as own:
        job, _ = submit(own, name="plain")
        longer, _ = submit(own, timeout="2h")
        assert expect(200, own, "GET", f"/jobs/{job}")["timeout"] == "5m"
        assert expect(200, own, "GET", f"/jobs/{longer}")["timeout"] == "2h"
        put = expect(200, own, "PUT", "/jobs/by-name/plain", {"command": ["true"]})
        assert not put["changed"], put
        answer = call(own, "PATCH", f"{API}/jobs/{job}", {"timeout": None}, headers={"If-Match": "*"})
        assert answer.json["changed_fields"] == ["timeout"], answer


def test_a_key_is_told_what_it_may_call():
    for key in ("admin", "worker"):
        me = expect(200, server, "GET", "/me", key=key)
        assert (me["key"], me["role"], me["actor"]) == (key, key, "key:" + key), me
        calls = {(c["method"], c["path"]) for c in me["calls"]}
        assert (("POST", API + "/jobs") in calls) == (key == "admin")
        assert (("POST", API + "/workers/{}/poll") in calls) == (key == "worker")
        assert ("GET", "/healthz") in calls and ("POST", API + "/cluster/mail") not in calls
    refused(401, "unauthenticated", "GET", "/me", key=None)


# ---- keys

def test_without_a_good_key_nothing_is_told():
    """An address that has tried ten wrong keys within a minute is told only that (test_sessions.py)."""
    calls = ADMIN_CALLS + WORKER_CALLS
    for method, path in calls:
        for key in (None, "Basic " + server.key(), server.key()):  # not meant as keys: not counted
            answer = call(server, method, API + path, key=key)
            is_problem(answer, 401, "unauthenticated")
            assert answer.headers["WWW-Authenticate"] == "Bearer"
    with Server("--no-worker") as own:
        wrong = ["Bearer bfk_wrong", "Bearer"]
        for tried, (method, path) in enumerate(calls):
            answer = call(own, method, API + path, key=wrong[tried % len(wrong)])
            is_problem(answer, *((401, "unauthenticated") if tried < 10 else (429, "busy")))


def test_a_key_opens_its_own_doors_only():
    for method, path in ADMIN_CALLS:
        refused(403, "denied", method, path, key="worker")
    for method, path in WORKER_CALLS:
        refused(403, "denied", method, path, key="admin")


def test_the_scheme_of_a_key_is_read_in_any_case():
    assert call(server, "GET", API + "/stats", key="bearer " + server.key()).status == 200


def test_keys_are_for_their_owner_alone_and_stored_hashed():
    assert stat.S_IMODE(server.data.stat().st_mode) == 0o700
    for name in ("admin.key", "worker.key"):
        assert stat.S_IMODE((server.data / name).stat().st_mode) == 0o600
        key = server.key(name).encode()
        holders = [p.name for p in server.data.iterdir() if p.is_file() and key in p.read_bytes()]
        assert holders == [name], holders
    assert server.key() != server.key("worker.key")


def test_health_needs_no_key():
    assert call(server, "GET", "/healthz", key=None).json == {"status": "ok"}
    assert call(server, "GET", "/readyz", key=None).json == {"status": "ready"}
    assert re.match(r"^\d+\.\d+\.\d+$", call(server, "GET", "/version", key=None).json["version"])
    assert call(server, "GET", "/openapi.json", key=None).json["openapi"].startswith("3.1")


# ---- the form of requests

def test_what_is_not_there_is_not_found():
    for path in ("/api", "/api/v1", "/api/v1/", "/api/v2/jobs", "/api/v1/jobs/", "/nope",
                 "/api/v1/jobs/x/y/z", "/healthz/", "//healthz"):
        is_problem(call(server, "GET", path), 404, "not_found")
    for method, path in ADMIN_CALLS + WORKER_CALLS:
        if "0001" in path and not path.endswith(("/logs", "/poll", f"{UNKNOWN_JOB}/executions")):
            refused(404, "not_found", method, path)
    for path in ("/jobs/batch", "/jobs/x", "/jobs/" + UNKNOWN_EXECUTION, "/jobs/JOB_0000000000001",
                 "/executions/" + UNKNOWN_JOB, "/executions/exec_1", "/executions/x/logs"):
        refused(404, "not_found", "GET", path)
    refused(404, "not_found", "POST", f"/workers/{UNKNOWN_WORKER}/poll", {"seq": 1, "free": 0},
            key="worker")


def test_a_path_says_which_methods_it_takes():
    for method in ("PUT", "PATCH", "DELETE"):
        answer = call(server, method, API + "/jobs")
        is_problem(answer, 405, "method_not_allowed")
        assert set(answer.headers["Allow"].split(", ")) == {"GET", "HEAD", "POST"}
    answer = call(server, "OPTIONS", API + f"/jobs/{UNKNOWN_JOB}", key=None)
    assert answer.status == 204 and answer.body == b""
    assert set(answer.headers["Allow"].split(", ")) == {"GET", "HEAD", "PATCH", "DELETE"}
    is_problem(call(server, "OPTIONS", "/nope"), 404, "not_found")
    is_problem(call(server, "POST", "/healthz"), 405, "method_not_allowed")


def test_head_answers_like_get_without_the_body():
    for path in ("/healthz", API + "/jobs?limit=1", API + "/nope"):
        get, head = call(server, "GET", path), call(server, "HEAD", path)
        assert head.body == b"" and head.status == get.status
        assert head.headers["Content-Type"] == get.headers["Content-Type"]
        assert int(head.headers["Content-Length"]) > 0


def test_head_of_a_stream_ends_and_the_connection_goes_on():
    _, execution_id = submit(server, queue=next(names))
    connection = connect(server)
    for path in ("/events", f"/executions/{execution_id}/logs?follow=true"):
        answer = send(connection, server, "HEAD", API + path)
        assert answer.status == 200 and answer.read() == b""
        assert answer.getheader("Content-Type") == "text/event-stream"
    answer = send(connection, server, "GET", "/healthz")
    assert answer.status == 200, answer.read()
    connection.close()


def test_a_body_must_be_json():
    job = b'{"command": "true"}'
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/jsonp"):
        refused(415, "unsupported_media_type", "POST", "/jobs", job, headers={"Content-Type": kind})
    for kind in ("application/json", "Application/JSON; charset=utf-8"):
        expect(201, server, "POST", "/jobs", job, headers={"Content-Type": kind})
    for body in (b"", b"{", b"[]", b'"x"', b"null", b'{"command": "true"} x', b"\xff",
                 b'{"command": "\\u0000"}', b'{"command": "a", "command": "b"}',
                 b"[" * 100000, b'{"command": "true", "priority": 1e999}'):
        refused(400, "invalid", "POST", "/jobs", body)


def test_limits_of_a_request_are_answered():
    is_problem(raw(server, b"POST /api/v1/jobs HTTP/1.1\r\nHost: x\r\n"
                           b"Content-Length: 99000000\r\n\r\n"), 413, "too_large")
    is_problem(raw(server, b"GET /" + b"x" * 40000 + b" HTTP/1.1\r\nHost: x\r\n\r\n"),
               414, "uri_too_long")
    is_problem(raw(server, b"GET / HTTP/1.1\r\nHost: x\r\nA: " + b"x" * 40000 + b"\r\n\r\n"),
               431, "headers_too_large")
    is_problem(raw(server, b"GET / HTTP/1.1\r\nHost: x\r\nExpect: tea\r\n\r\n"),
               417, "expectation_failed")
    is_problem(raw(server, b"BREW / HTTP/1.1\r\nHost: x\r\n\r\n"), 501, "not_implemented")
    is_problem(raw(server, b"GET / HTTP/3.0\r\nHost: x\r\n\r\n"), 505, "http_version")
    is_problem(raw(server, b"GET / HTTP/1.1\r\n\r\n"), 400, "invalid")


def test_a_slow_request_is_given_up():
    with Server("--no-worker", "--set", "head_timeout_ms=150", "--set", "body_timeout_ms=150") as own:
        is_problem(raw(own, b"GET /healthz HTTP/1.1\r\nHo"), 408, "timeout")
        head = f"POST /api/v1/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {own.key()}\r\n"
        is_problem(raw(own, head.encode() + b"Content-Length: 9\r\n\r\n{"), 408, "timeout")


def test_too_many_connections_are_told_to_come_back():
    with Server("--no-worker", "--set", "net_threads=1", "--set", "connections_max=1") as own:
        def turned_away(held):
            head = f"GET /healthz HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {own.key()}\r\n\r\n"
            held.sendall(head.encode())  # it is served, and stays: it is no stranger
            held.recv(4096)
            answer = call(own, "GET", "/healthz")
            is_problem(answer, 503, "busy")
            return int(answer.headers["Retry-After"]) > 0
        with socket.create_connection(("127.0.0.1", own.port), PATIENCE_S) as held:
            assert turned_away(held)
        wait_for(lambda: call(own, "GET", "/healthz").status == 200, "room for another connection")


def test_fewer_connections_than_threads_are_still_some():
    with Server("--no-worker", "--set", "net_threads=4", "--set", "connections_max=1") as own:
        # One each: the connection that saw it ready may still be closing.
        wait_for(lambda: call(own, "GET", "/healthz").status == 200, "room for a connection")


def test_a_port_is_not_shared_with_another_server():
    other = Server("--no-worker")
    second = subprocess.run(
        [BELFRY, "server", "--no-worker", "--listen", f"127.0.0.1:{server.port}"], cwd=other.dir,
        env=other.env, capture_output=True, text=True, timeout=PATIENCE_S)
    shutil.rmtree(other.dir)
    assert second.returncode == 1 and "in use" in second.stderr, second


def test_every_request_has_an_id_of_its_own():
    seen = {refused(404, "not_found", "GET", "/nope")["request_id"] for _ in range(20)}
    assert len(seen) == 20


def test_parameters_are_never_passed_over():
    for path in ("/jobs?job=" + UNKNOWN_JOB, "/jobs?limits=5", "/jobs?=x",
                 "/executions?phase=running", "/jobs?class=timeout", "/jobs?started_after=2026-01-01T00:00:00Z",
                 f"/jobs/{UNKNOWN_JOB}/executions?name=x", f"/jobs/{UNKNOWN_JOB}/executions?job={UNKNOWN_JOB}",
                 f"/jobs/{UNKNOWN_JOB}?expand=all", f"/executions/{UNKNOWN_EXECUTION}?x=1",
                 f"/executions/{UNKNOWN_EXECUTION}/logs?since=1", "/events?owner=x", "/stats?x=1",
                 "/workers?status=active", "/jobs?owner=a&owner=b", "/jobs?queue=", "/jobs?name=a&name=b",
                 "/jobs?name=%zz", "/jobs?tag=%4", "/jobs?limit"):
        name = re.match(r"[^?]*\?([^=]*)", path).group(1)
        refused(400, "invalid", "GET", path, None, name)
    refused(400, "invalid", "POST", "/jobs?dry_run=true", {"command": "true"}, "dry_run")
    refused(400, "invalid", "DELETE", f"/jobs/{UNKNOWN_JOB}?force=true", None, "force")


# ---- creating

def test_a_job_is_created_and_shown():
    name, queue = next(names), next(names)
    document = {
        "name": name, "description": "d", "command": ["echo", "", "ü"], "env": {"A": "1", "B": ""},
        "working_dir": "/tmp", "schedule": {"delay": "90m"}, "priority": 7, "queue": queue,
        "timeout": "1h30m", "tags": {"team": "a b"},
        "retry": {"max_retries": 0, "policy": "fixed", "delay": "5s", "max_delay": "10s", "jitter": 1}}
    created = expect(201, server, "POST", "/jobs", {**document, "payload": {"n": [1, None, "x"]}})
    assert list(created) == ["job_id", "execution_id", "status", "created_at",
                             "estimated_start_time", "estimated_start_reason", "schedule_text",
                             "next_runs"]
    assert created["status"] == "active" and TIME.match(created["created_at"])
    assert created["next_runs"] == [created["estimated_start_time"]] != [created["created_at"]]
    assert created["schedule_text"] == "once, 1h30m after it was submitted"

    job = expect(200, server, "GET", "/jobs/" + created["job_id"])
    document["schedule"] = {"delay": "1h30m"}
    assert {key: job[key] for key in document} == document
    assert job["payload"] == {"n": [1, None, "x"]} and job["owner"] == "admin"
    assert job["status"] == "active" and job["version"] == 1 and job["finished_at"] is None
    assert job["next_run_at"] == created["estimated_start_time"] and job["retry_count"] == 0
    assert job["current_execution"]["execution_id"] == created["execution_id"]
    assert job["current_execution"]["status"] == "scheduled"
    assert [(t["event"], t["status"], t["actor"]) for t in job["transitions"]] == [
        ("create", "active", "key:admin")]


def test_defaults_are_filled_in():
    job = expect(200, server, "GET", "/jobs/" + submit(server, command="true | false")[0])
    assert job["command"] == "true | false" and job["priority"] == 500
    assert job["retry"] == {"max_retries": 3, "policy": "exponential", "delay": "1s",
                            "max_delay": "1h", "jitter": 0.3}
    assert job["queue"] == "default" and job["current_execution"]["status"] == "queued"
    for absent in ("payload", "env", "tags", "schedule", "handler"):
        assert absent not in job, absent
    for null in ("name", "description", "team", "timeout"):
        assert job[null] is None, null


def test_null_counts_as_absent():
    job_id, _ = submit(server, name=None, timeout=None, payload=None, retry=None, schedule=None)
    assert expect(200, server, "GET", "/jobs/" + job_id)["timeout"] is None


def test_a_moment_that_has_passed_means_now():
    def create(at):
        return expect(201, server, "POST", "/jobs", {"command": "true", "queue": next(names),
                                                     "schedule": {"at": at}})
    past = create("2020-01-01T00:00:00+02:00")
    assert past["next_runs"] == [past["created_at"]]
    assert past["estimated_start_time"] is None and past["estimated_start_reason"] == "no_worker"
    assert "2019-12-31T22:00:00.000Z" in past["schedule_text"]
    future = create("2999-12-31T23:59:59.5Z")
    assert future["estimated_start_time"] == "2999-12-31T23:59:59.500Z"
    assert execution(server, future["execution_id"])["due_at"] == future["estimated_start_time"]


def test_all_bad_fields_are_named_at_once():
    refused(400, "invalid", "POST", "/jobs", {
        "command": ["", 5], "priority": 1001, "retry": {"max_retries": -1, "speed": 1},
        "env": {"A=B": "x", "C": 1}, "timeout": "soon", "colour": "red"},
        "command[0]", "command[1]", "priority", "retry.max_retries", "retry.speed", "env.A=B",
        "env.C", "timeout", "colour")


def test_each_field_has_its_limits():
    for field, value in [
            ("name", ""), ("name", "x" * 201), ("name", "a\nb"), ("description", "x" * 4097),
            ("env", []), ("env", {"A": "x" * 70000, "B": "x" * 70000}), ("working_dir", ""),
            ("working_dir", "x" * 4097), ("schedule", {}), ("schedule", "now"), ("priority", 1.5),
            ("priority", -1), ("priority", "high"), ("queue", "a b"), ("queue", "x" * 201),
            ("timeout", "0s"), ("timeout", "4000d"), ("timeout", 60), ("retry", 3), ("tags", {"": "x"}),
            ("tags", {str(i): "" for i in range(65)}), ("payloads", 1)]:
        refused(400, "invalid", "POST", "/jobs", {"command": "true", field: value}, field)
    for field, value in [("command", []), ("command", ""), ("command", 5), ("handler", "a b"),
                         ("command", ["x" * 70000, "x" * 70000])]:
        refused(400, "invalid", "POST", "/jobs", {field: value}, field)


def test_fields_that_exclude_each_other_are_refused():
    for job, field in [
            ({}, "command"), ({"command": "true", "handler": "h"}, "handler"),
            ({"schedule": {"at": "2030-01-01T00:00:00Z", "delay": "1s"}}, "schedule"),
            ({"retry": {"delay": "2s", "max_delay": "1s"}}, "retry.delay")]:
        body = {"command": "true", **job} if job else {}
        refused(400, "invalid", "POST", "/jobs", body, field)


def test_no_more_than_twenty_fields_are_blamed():
    answer = call(server, "POST", API + "/jobs", {f"field_{i}": 1 for i in range(100)})
    assert answer.status == 400 and len(answer.json["errors"]) == 20


def test_features_that_are_not_there_are_refused_by_name():
    later = {
        "http": {"url": "https://example.org"}, "container": {"image": "x"}, "task": "t",
        "resources": {"cpu_cores": 1}, "labels": {"region": "eu"},
        "at_most_once": False,
        "secrets": {"A": "b"}, "user": "nobody", "sandbox": "none"}
    for field, value in later.items():
        for given in (value, None):
            problem = refused(400, "invalid", "POST", "/jobs", {"command": "true", field: given}, field)
            assert "not supported" in problem["detail"], problem


def test_a_payload_has_a_limit():
    fits = {"command": "true", "payload": "x" * ((1 << 20) - 2)}  # and its quotes
    expect(201, server, "POST", "/jobs", fits)
    fits["payload"] += "x"
    refused(413, "too_large", "POST", "/jobs", fits)


def test_a_name_is_taken_while_its_job_lives():
    name = next(names)
    job_id, _ = submit(server, name=name)
    problem = refused(409, "conflict", "POST", "/jobs", {"name": name, "command": "true"})
    assert job_id in problem["detail"], problem
    expect(200, server, "DELETE", "/jobs/" + job_id)
    submit(server, name=name)


# ---- batches

def test_a_batch_answers_each_job_in_order():
    name = next(names)
    jobs = [{"command": "true", "name": name}, {"command": "true", "priority": 5000}, 7,
            {"command": "true", "name": name}, {"command": "true", "payload": "x" * (2 << 20)},
            {"command": "true", "task": "t"}, {"command": "true", "priority": 3}]
    results = expect(200, server, "POST", "/jobs/batch", {"jobs": jobs})["results"]
    assert [r.get("code", "created") for r in results] == [
        "created", "invalid", "invalid", "conflict", "too_large", "invalid", "created"]
    assert [r.get("status") for r in results] == [None, 400, 400, 409, 413, 400, None]
    assert [e["field"] for e in results[1]["errors"]] == ["priority"]
    for result, job in ((results[0], jobs[0]), (results[6], jobs[6])):
        assert set(result) == {"job_id", "execution_id"}
        shown = expect(200, server, "GET", "/jobs/" + result["job_id"])
        assert {key: shown[key] for key in job} == job


def test_a_batch_has_a_form_and_a_limit():
    assert expect(200, server, "POST", "/jobs/batch", {"jobs": []}) == {"results": []}
    for body, field in (({}, "jobs"), ({"jobs": {}}, "jobs"), ({"jobs": [], "atomic": True}, "atomic")):
        refused(400, "invalid", "POST", "/jobs/batch", body, field)
    bad = {"command": "true", "priority": -1}
    results = expect(200, server, "POST", "/jobs/batch", {"jobs": [bad] * 10000})["results"]
    assert len(results) == 10000 and {r["code"] for r in results} == {"invalid"}
    refused(413, "too_large", "POST", "/jobs/batch", {"jobs": [bad] * 10001})


# ---- cancelling and running again

def test_deleting_a_job_cancels_it_and_what_waits():
    job_id, execution_id = submit(server, queue=next(names))
    answer = expect(200, server, "DELETE", "/jobs/" + job_id)
    assert answer["job_id"] == job_id and answer["status"] == "cancelled"
    job = expect(200, server, "GET", "/jobs/" + job_id)
    assert job["status"] == "cancelled" and job["finished_at"] == answer["cancelled_at"]
    assert job["current_execution"] is None and job["next_run_at"] is None
    run = execution(server, execution_id)
    assert run["status"] == "cancelled" and run["finished_at"] == answer["cancelled_at"]
    assert expect(200, server, "DELETE", "/jobs/" + job_id) == answer  # asked twice, done once
    assert len(expect(200, server, "GET", "/jobs/" + job_id)["transitions"]) == 2


def test_a_finished_job_cannot_be_cancelled():
    queue = next(names)
    job_id, execution_id = submit(server, queue=queue)
    worker = Worker(server, queues=[queue])
    assert worker.finish(worker.take()[0])
    refused(409, "conflict", "DELETE", "/jobs/" + job_id)
    refused(409, "conflict", "POST", f"/executions/{execution_id}/cancel")


def test_an_execution_is_cancelled_with_a_reason():
    job_id, execution_id = submit(server, schedule={"delay": "1h"})
    path = f"/executions/{execution_id}/cancel"
    refused(400, "invalid", "POST", path, {"why": "x"}, "why")
    refused(400, "invalid", "POST", path, {"reason": 1}, "reason")
    refused(400, "invalid", "POST", path, {"reason": "x" * 401}, "reason")
    refused(415, "unsupported_media_type", "POST", path, b"x", headers={"Content-Type": "text/plain"})
    answer = expect(200, server, "POST", path, {"reason": "no\tneed\n0\tcreate"})
    assert answer["execution_id"] == execution_id and answer["job_id"] == job_id
    assert answer["status"] == "cancelled" and answer["stopping"] is False
    run = execution(server, execution_id)
    assert run["status"] == "cancelled" and run["due_at"] is None
    step = run["transitions"][-1]
    assert len(run["transitions"]) == 2 and step["actor"] == "key:admin", run["transitions"]
    assert (step["event"], step["reason"]) == ("cancel", "no need 0 create")
    assert expect(200, server, "GET", "/jobs/" + job_id)["status"] == "cancelled"
    refused(409, "conflict", "POST", path)


def test_a_finished_execution_runs_again():
    name, queue = next(names), next(names)
    job_id, first = submit(server, name=name, queue=queue)
    refused(409, "conflict", "POST", f"/executions/{first}/retry")
    refused(409, "conflict", "POST", f"/dead-letters/{first}/retry")
    expect(200, server, "POST", f"/executions/{first}/cancel")
    refused(404, "not_found", "POST", f"/dead-letters/{first}/retry")
    answer = expect(201, server, "POST", f"/executions/{first}/retry")
    assert answer == {"execution_id": answer["execution_id"], "job_id": job_id, "status": "queued",
                      "retry_of": first}
    second = execution(server, answer["execution_id"])
    assert second["retry_of"] == first and second["status"] == "queued"
    job = expect(200, server, "GET", "/jobs/" + job_id)
    assert job["status"] == "active" and job["finished_at"] is None
    assert job["last_execution_id"] == answer["execution_id"]
    refused(409, "conflict", "POST", f"/executions/{first}/retry")
    listed = expect(200, server, "GET", f"/jobs/{job_id}/executions")["executions"]
    assert [e["execution_id"] for e in listed] == [answer["execution_id"], first]
    refused(409, "conflict", "POST", "/jobs", {"command": "true", "name": name})


def test_running_again_needs_the_name():
    name = next(names)
    job_id, first = submit(server, name=name)
    expect(200, server, "DELETE", "/jobs/" + job_id)
    other, _ = submit(server, name=name)
    assert other in refused(409, "conflict", "POST", f"/executions/{first}/retry")["detail"]


# ---- lists

def test_each_filter_chooses_by_itself():
    name, queue, tag = next(names), next(names), next(names)
    old, _ = submit(server, queue=queue)
    job_id, execution_id = submit(server, name=name, queue=queue, tags={"k": tag, "l": "1"})
    moment = expect(200, server, "GET", "/jobs/" + job_id)["created_at"]
    expect(200, server, "DELETE", "/jobs/" + old)
    assert ids(list_jobs("name=" + name)) == [job_id]
    assert ids(list_jobs("queue=" + queue)) == [job_id, old]
    assert ids(list_jobs(f"tag=k:{tag}")) == [job_id]
    assert ids(list_jobs(f"tag=k:{tag[:-1]}")) == [] == ids(list_jobs(f"tag=x:{tag}"))
    assert job_id in ids(list_jobs("owner=admin&limit=1000"))
    assert ids(list_jobs("owner=worker")) == []
    assert old in ids(list_jobs("status=cancelled&limit=1000"))
    assert job_id not in ids(list_jobs("status=cancelled&limit=1000"))
    assert job_id in ids(list_jobs(f"created_after={moment}"))
    assert job_id not in ids(list_jobs(f"created_before={moment}&limit=1000"))
    assert ids(list_jobs("created_after=2999-01-01T00:00:00Z")) == []
    assert ids(list_jobs("created_before=1970-01-01T00:00:00Z")) == []
    executions = expect(200, server, "GET", f"/executions?job={job_id}")["executions"]
    assert [e["execution_id"] for e in executions] == [execution_id]
    executions = expect(200, server, "GET", f"/executions?queue={queue}&status=queued")["executions"]
    assert [e["execution_id"] for e in executions] == [execution_id]


def test_filters_add_up():
    name, queue, tag = next(names), next(names), next(names)
    job_id, execution_id = submit(server, name=name, queue=queue, tags={tag: "a b"})
    submit(server, queue=queue, tags={tag: "a b"})
    fits = (f"status=active&queue={queue}&owner=admin&name={name}&tag={tag}:a+b"
            "&created_after=2020-01-01T00:00:00Z&created_before=2999-01-01T00:00:00%2B01:00")
    assert ids(list_jobs(fits)) == [job_id]
    for other in (fits.replace("active", "failed"), fits.replace("admin", "worker"),
                  fits.replace(name, next(names)), fits.replace("a+b", "a"),
                  fits.replace("2020", "2998"), fits.replace("2999", "2021")):
        assert ids(list_jobs(other)) == [], other
    query = f"/executions?job={job_id}&queue={queue}&status=queued&created_after=2020-01-01T00:00:00Z"
    executions = expect(200, server, "GET", query)["executions"]
    assert [e["execution_id"] for e in executions] == [execution_id]
    assert expect(200, server, "GET", query.replace("queued", "running"))["executions"] == []


def test_filters_that_make_no_sense_are_refused():
    for query, field in (("status=queued", "status"), ("tag=k", "tag"), ("limit=0", "limit"),
                         ("limit=1001", "limit"), ("limit=-1", "limit"), ("limit=x", "limit"),
                         ("created_after=yesterday", "created_after"), ("count=1", "count"),
                         ("created_before=2026-13-01T00:00:00Z", "created_before")):
        refused(400, "invalid", "GET", "/jobs?" + query, None, field)
    refused(400, "invalid", "GET", "/executions?status=active", None, "status")
    refused(400, "invalid", "GET", "/executions?job=x", None, "job")


def test_lists_leave_out_what_is_long():
    queue = next(names)
    submit(server, queue=queue, payload={"a": 1})
    job = list_jobs("queue=" + queue)["jobs"][0]
    assert job["command"] == ["true"] and "payload" not in job and "transitions" not in job
    run = expect(200, server, "GET", "/executions?queue=" + queue)["executions"][0]
    assert not {"attempts", "result", "transitions"} & set(run)


def page_through(path, key, between):
    """All ids of a list, page by page; between is called after each page."""
    found, cursor = [], ""
    while cursor is not None:
        page = expect(200, server, "GET", path + (f"&cursor={cursor}" if cursor else ""))
        found += [item["job_id"] for item in page[key]]
        cursor = page["next_cursor"]
        between()
    return found


def test_paging_shows_each_job_once_while_others_come():
    queue = next(names)
    job = {"command": "true", "queue": queue}
    results = expect(200, server, "POST", "/jobs/batch", {"jobs": [job] * 500})["results"]
    created = [r["job_id"] for r in results]
    assert len(set(created)) == 500

    def disturb():
        fresh = expect(200, server, "POST", "/jobs/batch", {"jobs": [job] * 20})["results"]
        expect(200, server, "DELETE", "/jobs/" + fresh[0]["job_id"])
    for path, key in ((f"/jobs?queue={queue}&limit=37", "jobs"),
                      (f"/executions?queue={queue}&limit=61", "executions")):
        before = [j for j in page_through(path, key, lambda: None)]
        assert len(before) == len(set(before)) and set(created) <= set(before)
        assert page_through(path, key, disturb) == before


def test_paging_executions_joins_running_and_finished_ones():
    queue = next(names)
    jobs = [{"command": "true", "queue": queue}] * 60
    created = expect(200, server, "POST", "/jobs/batch", {"jobs": jobs})["results"]
    for result in created[::3]:
        expect(200, server, "DELETE", "/jobs/" + result["job_id"])
    found = page_through(f"/executions?queue={queue}&limit=7", "executions", lambda: None)
    assert found == [r["job_id"] for r in reversed(created)]


def test_a_cursor_belongs_to_its_list_and_its_filters():
    queue = next(names)
    for _ in range(3):
        submit(server, queue=queue)
    query = f"queue={queue}&limit=1"
    cursor = list_jobs(query)["next_cursor"]
    assert len(list_jobs(f"queue={queue}&limit=2&cursor={cursor}")["jobs"]) == 2
    last = list_jobs(f"queue={queue}&limit=2&cursor={cursor}")["next_cursor"]
    assert last is None
    for forged in ("x", cursor[:-1], cursor + "0", cursor[:-1] + ("0" if cursor[-1] != "0" else "1"),
                   "0" * len(cursor), cursor.upper(), UNKNOWN_JOB):
        refused(400, "invalid", "GET", f"/jobs?{query}&cursor={forged}", None, "cursor")
    for other in (f"/jobs?limit=1&cursor={cursor}", f"/jobs?queue={queue}x&cursor={cursor}",
                  f"/jobs?{query}&status=active&cursor={cursor}", f"/executions?{query}&cursor={cursor}"):
        refused(400, "invalid", "GET", other, None, "cursor")


def test_counting_is_exact_by_queue_and_status():
    queue, tag = next(names), next(names)
    made = [submit(server, queue=queue, tags={tag: "1"})[0] for _ in range(3)]
    expect(200, server, "DELETE", "/jobs/" + made[0])

    def count(path):
        page = expect(200, server, "GET", path + "&count=true&limit=1")
        return page["total"], page["total_is_estimate"]
    assert count(f"/jobs?queue={queue}") == (3, False)
    assert count(f"/jobs?queue={queue}&status=active") == (2, False)
    assert count(f"/jobs?queue={queue}&status=cancelled") == (1, False)
    assert count(f"/executions?queue={queue}") == (3, False)
    assert count(f"/executions?queue={queue}&status=queued") == (2, False)
    assert count(f"/jobs?queue={queue}&tag={tag}:1")[1] is True
    assert "total" not in list_jobs(f"queue={queue}&count=false")


# ---- numbers

def test_stats_count_everything():
    queue = next(names)
    worker = Worker(server, slots=3, queues=[queue])
    before = expect(200, server, "GET", "/stats")
    for _ in range(3):
        submit(server, queue=queue)
    worker.take()
    after = expect(200, server, "GET", "/stats")
    assert TIME.match(after["time"]) and after["uptime_ms"] >= before["uptime_ms"] >= 0
    assert after["jobs"]["active"] == before["jobs"]["active"] + 3
    assert after["executions"]["running"] == before["executions"]["running"] + 1
    mine = [q for q in after["queues"] if q["queue"] == queue]
    assert [(q["queued"], q["running"]) for q in mine] == [(2, 1)]
    assert [q["queue"] for q in after["queues"]] == sorted(q["queue"] for q in after["queues"])
    assert after["workers"]["busy"] == before["workers"]["busy"] + 1
    assert after["workers"]["slots"] >= 3


# ---- the server itself

def run_server(*flags):
    """A server that is expected to end by itself."""
    return subprocess.run([BELFRY, "server", "--no-worker", *flags], env=server.env, cwd=server.dir,
                          capture_output=True, text=True, timeout=PATIENCE_S, check=False)


def test_listening_beyond_this_machine_must_be_asked_for():
    for host in ("0.0.0.0", "[::]", "192.0.2.1"):
        done = run_server("--data", "elsewhere", "--listen", f"{host}:0")
        assert done.returncode == 1 and "--allow-plaintext-remote" in done.stderr, done
    assert not (server.dir / "elsewhere").exists()
    own = Server("--no-worker", "--allow-plaintext-remote")
    own.flags += ("--listen", f"0.0.0.0:{own.port}")
    with own:
        assert "without encryption" in own.log_path.read_text()


def test_a_second_server_on_the_same_data_is_refused():
    done = run_server("--data", str(server.data), "--listen", "127.0.0.1:0")
    assert done.returncode == 1 and "in use by another belfry server" in done.stderr, done
    assert server.is_ready()


def test_a_port_in_use_is_refused():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = run_server("--data", "port-taken", "--listen", "127.0.0.1:%d" % taken.getsockname()[1])
    assert done.returncode == 1 and "in use" in done.stderr, done


def test_sigterm_ends_a_server_in_order_and_nothing_is_forgotten():
    with Server("--no-worker") as own:
        job_id, _ = submit(own, queue="q")
        cursor_of = [submit(own, queue="q")[0] for _ in range(2)]
        page = expect(200, own, "GET", "/jobs?queue=q&limit=1")
        key = own.key()
        held = [connect(own) for _ in range(3)]  # idle, and in the middle of things
        held[1].request("GET", "/healthz")
        send(held[2], own, "GET", API + "/events")
        assert own.stop() == 0
        own.start()
        assert own.key() == key
        rest = expect(200, own, "GET", f"/jobs?queue=q&limit=2&cursor={page['next_cursor']}")
        assert ids(page) + ids(rest) == [cursor_of[1], cursor_of[0], job_id]
        assert expect(200, own, "GET", "/jobs?queue=q&count=true")["total"] == 3


def test_a_server_that_has_just_begun_can_be_ended():
    for _ in range(10):  # leaving the context fails when its worker was left behind
        with Server() as own:
            assert own.stop() == 0


def test_a_second_signal_ends_a_server_at_once():
    with Server("--set", "kill_grace_ms=100") as own:
        job_id, _ = submit(own, command="exec sleep 60")
        own.wait_for_status(job_id, "running")
        own.process.terminate()
        wait_for(lambda: call(own, "GET", "/readyz").status == 503, "the drain")
        own.process.terminate()
        assert own.process.wait(PATIENCE_S) == 0
        own.start()  # finds the run again, so that it can be ended
        expect(200, own, "DELETE", "/jobs/" + job_id)
        own.wait_for_status(job_id, "cancelled")


def test_a_draining_server_takes_no_jobs_and_waits_for_what_runs():
    with Server() as own:
        gate = own.dir / "gate"
        job_id, _ = submit(own, command=f"while ! [ -e {gate} ]; do sleep 0.02; done")
        own.wait_for_status(job_id, "running")
        own.process.terminate()
        wait_for(lambda: call(own, "GET", "/readyz").status == 503, "the drain")
        for path in ("/jobs", "/jobs/batch"):
            answer = call(own, "POST", API + path, {"command": "true"})
            is_problem(answer, 503, "busy")
            assert int(answer.headers["Retry-After"]) > 0
        is_problem(call(own, "GET", "/readyz"), 503, "busy")
        gate.touch()
        assert own.process.wait(PATIENCE_S) == 0
        own.start()
        assert own.newest_execution(job_id)["status"] == "completed"


if __name__ == "__main__":
    main(tests_of(globals()), shared=server)
