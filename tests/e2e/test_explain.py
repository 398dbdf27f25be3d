"""Why something does not run: a case for each blocker that can be met from outside, and for several
at once. What lifts a blocker is tried where that is quick: then it is gone."""

import datetime
import json
import os
import pty
import subprocess
import time

from belfry import BELFRY, Server, main, tests_of
from cluster import Cluster, Postgres
from protocol import API, Worker, call, expect, names, submit

server = Server("--no-worker")


def explain(of):
    """of: the id of a job or of an execution."""
    where = "executions" if of.startswith("exec_") else "jobs"
    return expect(200, server, "GET", f"/{where}/{of}/explain")


def only(job, kind):
    """The one thing that holds the job back, which must be of this kind."""
    told = explain(job)
    assert [b["kind"] for b in told["blockers"]] == [kind], told
    assert told["summary"] == told["blockers"][0]["text"], told
    return told["blockers"][0]


def kinds(job):
    return [b["kind"] for b in explain(job)["blockers"]]


def seconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def own_queue(**hello):
    """A queue of one's own, and a worker that serves it."""
    name = next(names)
    return name, Worker(server, queues=[name], commands=True, **hello)


# ---- somebody holds it back

def test_a_paused_queue_says_by_whom_and_what_lifts_it():
    queue, _ = own_queue()
    paused = expect(200, server, "POST", f"/queues/{queue}/pause")
    job, execution = submit(server, queue=queue)
    told = explain(job)
    assert (told["job_id"], told["execution_id"], told["status"]) == (job, execution, "queued"), told
    blocker = only(job, "queue_paused")
    assert blocker["queue"] == queue and blocker["by"] == "key:admin", blocker
    assert blocker["since"] == paused["paused_at"] and blocker["until"] is None, blocker
    command = blocker["text"].split("belfry ")[1].split()
    assert server.cli(*command).returncode == 0
    assert explain(job)["blockers"] == [] and "nothing holds it back" in explain(job)["summary"]


def test_a_paused_job_says_by_whom_and_what_lifts_it():
    queue, _ = own_queue()
    job, _ = submit(server, queue=queue, schedule={"every": "1h"})
    expect(200, server, "POST", f"/jobs/{job}/pause", {"reason": "the disk is full"})
    assert kinds(job) == ["job_paused", "scheduled"]
    blocker = explain(job)["blockers"][0]
    assert blocker["by"] == "key:admin" and ": the disk is full; resume it" in blocker["text"], blocker
    assert abs(seconds(blocker["since"]) - time.time()) < 60, blocker
    assert server.cli(*blocker["text"].split("belfry ")[1].split()).returncode == 0
    only(job, "scheduled")


# ---- its time has not come

def test_a_job_for_later_says_when_also_beyond_the_horizon():
    queue, _ = own_queue()
    for delay, ahead_s in ("10m", 600), ("30d", 30 * 86400):
        job, execution = submit(server, queue=queue, schedule={"delay": delay})
        until = seconds(only(job, "scheduled")["until"])
        assert abs(until - time.time() - ahead_s) < 60, (delay, until)
        assert only(execution, "scheduled") == only(job, "scheduled")


def test_a_retry_says_when_and_why_the_last_attempt_failed():
    queue, worker = own_queue()
    job, _ = submit(server, queue=queue, retry={"max_retries": 2, "policy": "fixed", "delay": "1h",
                                                "max_delay": "2h"})
    lease, = worker.take()
    worker.finish(lease, "failed", error="the disk is full")
    blocker = only(job, "retry")
    assert "attempt 1 of 3 failed: the disk is full" in blocker["text"], blocker
    assert (blocker["used"], blocker["limit"]) == (1, 3), blocker
    assert 3500 < seconds(blocker["until"]) - time.time() < 2 * 3600, blocker


def test_a_run_behind_another_of_its_job_names_that():
    queue, worker = own_queue()
    job, _ = submit(server, queue=queue, schedule={"every": "1h"}, overlap="queue")
    for _ in range(3):
        expect(201, server, "POST", f"/jobs/{job}/trigger")
    lease, = worker.take()
    told = explain(job)
    assert told["status"] == "blocked", told
    assert only(job, "overlap")["executions"] == [lease["execution_id"]], told
    assert explain(lease["execution_id"])["blockers"] == []
    runs = expect(200, server, "GET", f"/jobs/{job}/executions")["executions"]
    last = max(x["execution_id"] for x in runs if x["status"] == "blocked")
    assert only(last, "overlap")["ahead"] == 1
    worker.finish(lease)
    assert only(last, "overlap")["executions"] == [told["execution_id"]]


# ---- workers

def test_who_could_run_it_but_is_not_there_is_told():
    alone = Server("--no-worker")
    with alone:
        job, _ = submit(alone)
        told, = expect(200, alone, "GET", f"/jobs/{job}/explain")["blockers"]
        assert told["kind"] == "no_worker", told
        Worker(alone, handlers=["sms"], commands=False)
        told, = expect(200, alone, "GET", f"/jobs/{job}/explain")["blockers"]
        assert told["kind"] == "no_commands", told
    queue, _ = own_queue(handlers=["sms"])
    job, _ = submit(server, queue=queue, handler="send_email")
    assert only(job, "no_handler")["handler"] == "send_email"
    unserved = next(names)
    job, _ = submit(server, queue=unserved, handler="sms")
    assert only(job, "queue_unserved")["queue"] == unserved


def test_workers_that_are_busy_or_leave_are_told():
    queue, worker = own_queue(slots=1)
    submit(server, queue=queue)
    lease, = worker.take()
    job, _ = submit(server, queue=queue)
    blocker = only(job, "workers_busy")
    assert (blocker["used"], blocker["limit"]) == (1, 1), blocker
    expect(200, server, "POST", f"/workers/{worker.id}/drain")
    only(job, "workers_draining")
    worker.finish(lease)


# ---- limits

def test_a_limit_says_who_holds_it():
    queue, worker = own_queue()
    key = next(names)
    for _ in range(3):
        submit(server, queue=queue, concurrency={"key": key, "limit": 3})
    leases = worker.take(3)
    job, _ = submit(server, queue=queue, concurrency={"key": key, "limit": 3})
    blocker = only(job, "concurrency")
    assert (blocker["key"], blocker["used"], blocker["limit"]) == (key, 3, 3), blocker
    assert sorted(blocker["executions"]) == sorted(x["execution_id"] for x in leases), blocker
    expect(200, server, "PUT", "/queues/" + queue, {"concurrency": 2})
    assert kinds(job) == ["queue_full", "concurrency"]
    worker.poll(running=leases[1:], results=[(leases[0], "succeeded")])
    full = only(job, "queue_full")
    assert (full["queue"], full["used"], full["limit"]) == (queue, 2, 2), full


def test_a_rate_says_when_the_next_start_is_allowed():
    queue, worker = own_queue()
    rate = {"key": next(names), "limit": 1, "per": "1h"}
    submit(server, queue=queue, rate=rate)
    worker.take()
    job, _ = submit(server, queue=queue, rate=rate)
    blocker = only(job, "rate")
    assert blocker["key"] == rate["key"], blocker
    assert 3500 < seconds(blocker["until"]) - time.time() < 3700, blocker


def test_who_stands_before_it_is_counted():
    queue, worker = own_queue(slots=1)
    jobs = [submit(server, queue=queue)[0] for _ in range(4)]
    worker.take()
    told = explain(jobs[3])
    assert [b["kind"] for b in told["blockers"]] == ["workers_busy", "behind"], told
    assert told["blockers"][1]["ahead"] == 2, told
    assert told["blockers"][1]["ahead_is_min"] is False, told


# ---- several at once

def test_three_at_once_are_all_told_and_lifted_one_by_one():
    queue = next(names)
    key = next(names)
    other, worker = own_queue()
    submit(server, queue=other, concurrency={"key": key, "limit": 1})
    lease, = worker.take()
    expect(200, server, "POST", f"/queues/{queue}/pause")
    job, _ = submit(server, queue=queue, concurrency={"key": key, "limit": 1})
    assert kinds(job) == ["queue_paused", "queue_unserved", "concurrency"]
    assert explain(job)["summary"].startswith("3 things hold it back"), explain(job)
    worker.finish(lease)
    assert kinds(job) == ["queue_paused", "queue_unserved"]
    Worker(server, queues=[queue])
    only(job, "queue_paused")
    expect(200, server, "POST", f"/queues/{queue}/resume")
    assert kinds(job) == []


# ---- what runs, and what is over

def test_what_runs_stops_and_is_over_says_so():
    queue, worker = own_queue()
    job, execution = submit(server, queue=queue)
    lease, = worker.take()
    told = explain(job)
    assert told["status"] == "running" and told["blockers"] == [], told
    assert told["summary"].startswith(f"it runs on {worker.id} since "), told
    expect(200, server, "POST", f"/executions/{execution}/cancel", {"reason": "a mistake"})
    blocker = only(execution, "stopping")
    assert "key:admin asked to stop it: a mistake" in blocker["text"], blocker
    worker.finish(lease, "stopped")
    for of in job, execution:
        blocker = only(of, "finished")
        assert ": cancelled: a mistake" in blocker["text"], blocker
        assert blocker["by"] == "key:admin", blocker


def test_what_is_not_there_or_asked_wrongly_is_refused():
    for path in "/jobs/job_0000000000001/explain", "/executions/exec_0000000000001/explain":
        assert call(server, "GET", API + path).status == 404
    job, _ = submit(server)
    assert call(server, "GET", f"{API}/jobs/{job}/explain?deep=true").status == 400
    assert call(server, "POST", f"{API}/jobs/{job}/explain").status == 405
    assert call(server, "GET", f"{API}/jobs/{job}/explain", key="worker").status == 403


# ---- the command line

def on_terminal(columns, *args):
    """What a command prints to a terminal of that width."""
    mine, its = pty.openpty()
    env = {**os.environ, "COLUMNS": str(columns), "NO_COLOR": "1", "BELFRY_URL": server.url,
           "BELFRY_TOKEN": server.key()}
    subprocess.run([BELFRY, *args], stdin=subprocess.DEVNULL, stdout=its, env=env, check=True)
    os.close(its)
    text = b""
    try:
        while piece := os.read(mine, 65536):
            text += piece
    except OSError:  # the terminal is closed: that is all
        pass
    os.close(mine)
    return text.decode().replace("\r\n", "\n")


def test_the_command_line_tells_it_within_the_terminal():
    queue = next(names)
    Worker(server, queues=["elsewhere"])
    expect(200, server, "POST", f"/queues/{queue}/pause")
    job, execution = submit(server, queue=queue, handler="send_email")
    done = server.cli("explain", job)
    assert done.returncode == 0, done
    lines = done.stdout.splitlines()
    assert lines[:3] == [f"job        {job}", f"execution  {execution}", "status     queued"], lines
    assert "queue_paused" in lines and "no_handler" in lines, lines
    narrow = on_terminal(60, "explain", execution)
    assert max(map(len, narrow.splitlines())) <= 60, narrow
    assert narrow.split() == done.stdout.split(), (narrow, done.stdout)
    assert expect(200, server, "GET", f"/jobs/{job}/explain") == \
        json.loads(server.cli("explain", job, "-o", "json").stdout)
    assert server.cli("explain", "job_0000000000001").returncode == 3
    assert server.cli("explain").returncode == 2


def test_show_says_why_a_thing_waits_and_nothing_of_it_when_it_does_not():
    queue, worker = own_queue()
    expect(200, server, "POST", f"/queues/{queue}/pause")
    job, execution = submit(server, queue=queue)
    for of in job, execution:
        why, = [line for line in server.cli("show", of).stdout.splitlines()
                if line.startswith("why ")]
        assert why.split(None, 1)[1] == explain(of)["summary"], why
    expect(200, server, "POST", f"/queues/{queue}/resume")
    lease, = worker.take()
    assert "\nwhy " not in server.cli("show", job).stdout
    worker.finish(lease)
    assert "\nwhy " not in server.cli("show", job).stdout
    later, _ = submit(server, queue=queue, schedule={"delay": "1h"})  # as it should be
    assert "\nwhy " not in server.cli("show", later).stdout


def test_an_estimate_is_near_what_happens():
    with Server("--slots", "2") as own:
        document = {"command": ["sleep", "0.5"], "queue": "line"}
        first = expect(201, own, "POST", "/jobs", document)
        own.wait_for_status(first["job_id"], "completed")
        free = expect(201, own, "POST", "/jobs", document)
        assert free["estimated_start_time"] == free["created_at"], free
        own.wait_for_status(free["job_id"], "completed")
        made = [expect(201, own, "POST", "/jobs", document) for _ in range(13)]
        asked = expect(200, own, "GET", f"/jobs/{made[-1]['job_id']}/explain")
        assert asked["estimated_start_reason"] is None, asked
        said = seconds(made[-1]["estimated_start_time"])
        ended = own.wait_for_status(made[-1]["job_id"], "completed")
        waited = seconds(ended["started_at"]) - seconds(made[-1]["created_at"])
        off = said - seconds(ended["started_at"])
        assert waited > 2 and abs(off) < 0.6 + waited / 3, (waited, off)
        expect(200, own, "POST", "/queues/line/pause")
        paused = expect(201, own, "POST", "/jobs", document)
        assert paused["estimated_start_time"] is None, paused
        assert paused["estimated_start_reason"] == "queue_paused", paused


def estimated(of, on=None):
    """(estimated_start_time, estimated_start_reason) as GET /jobs/{id} has them when they are named."""
    told = expect(200, on or server, "GET", f"/jobs/{of}?fields=estimated_start_time,estimated_start_reason")
    assert list(told) == ["estimated_start_time", "estimated_start_reason"], told
    return tuple(told.values())


def test_a_job_says_when_it_is_likely_to_start():
    queue, worker = own_queue(handlers=["estimated"])
    base = next(names)
    later, _ = submit(server, queue=queue, schedule={"at": "2100-01-01T00:00:00Z"}, name=base)
    job, _ = submit(server, queue=queue, handler="estimated")
    nobody, _ = submit(server, queue=base, handler="estimated")
    assert estimated(later) == estimated(f"by-name/{base}") == ("2100-01-01T00:00:00.000Z", None)
    assert estimated(nobody) == (None, "no_worker")
    assert "\nstarts " in server.cli("show", later).stdout
    assert "not known: no_worker" in server.cli("show", nobody).stdout
    expect(200, server, "POST", f"/jobs/{nobody}/pause")
    assert estimated(nobody) == (None, "job_paused")
    lease = worker.take()[0]
    assert estimated(job) == (None, "started")
    assert "\nstarts " not in server.cli("show", job).stdout
    worker.finish(lease)
    assert estimated(job) == (None, "finished")
    assert "estimated_start_time" not in expect(200, server, "GET", f"/jobs/{later}")
    assert "not in lists" in call(server, "GET", API + "/jobs?fields=estimated_start_time").json["detail"]
    assert call(server, "GET", API + "/jobs/job_0000000000001?fields=estimated_start_time").status == 404


def test_every_server_says_when_a_job_is_likely_to_start():
    with Postgres() as postgres, Cluster(postgres, 3, "--no-worker") as nodes:
        jobs = [submit(nodes[i % 3], schedule={"at": f"21{i:02}-01-01T00:00:00Z"})[0] for i in range(6)]
        for node in nodes:
            for i, job in enumerate(jobs):
                assert estimated(job, node) == (f"21{i:02}-01-01T00:00:00.000Z", None)


if __name__ == "__main__":
    main(tests_of(globals()), shared=server)
