"""Workers that are given nothing new: real ones beside a server, on their own and in a cluster, and one that a test
speaks for."""

import contextlib
import json
import signal
import subprocess

from belfry import BELFRY, PATIENCE_S, Server, main, tests_of, wait_for
from cluster import LEASE_S, Cluster, Postgres, Shared
from protocol import API, LONG_MS, Worker, call, expect, names, submit

server = Server("--no-worker")
POSTGRES = Postgres()
TRIO = Shared(POSTGRES, lambda: Cluster(POSTGRES, 3, "--no-worker"))
UNKNOWN = "/workers/wrk_0000000000001"


def shown(own, worker_id):
    return expect(200, own, "GET", "/workers/" + worker_id)


def cordon(own, worker_id, reason=None):
    return expect(200, own, "POST", f"/workers/{worker_id}/cordon", reason and {"reason": reason})


def uncordon(own, worker_id):
    return expect(200, own, "POST", f"/workers/{worker_id}/uncordon")


def status_of(own, execution_id):
    return expect(200, own, "GET", "/executions/" + execution_id)["status"]


class RealWorker:
    """`belfry worker`, for as long as the with block; its id once it is registered."""

    def __init__(self, own, *flags):
        self.own, self.name = own, next(names)
        self.args = [BELFRY, "worker", "--server", own.url, "--slots", "2", "--name", self.name, *flags]

    def __enter__(self):
        self.process = subprocess.Popen(self.args, env=self.own.env, stderr=subprocess.DEVNULL)
        wait_for(self.ids, "the worker to register")
        self.id, = self.ids()
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(PATIENCE_S) == 0

    def ids(self):
        workers = expect(200, self.own, "GET", "/workers")["workers"]
        return [w["worker_id"] for w in workers if w["name"] == self.name]


class Gate:
    """Jobs that run until it is opened."""

    def __init__(self, own):
        self.path = own.dir / next(names)

    def command(self):
        return ["sh", "-c", f"until [ -e {self.path} ]; do sleep 0.05; done"]

    def open(self):
        self.path.touch()


# ---- one server

def test_a_worker_is_shown_with_what_it_runs():
    queue = next(names)
    worker = Worker(server, slots=3, queues=[queue])
    name = next(names)
    job, run = submit(server, queue=queue, name=name)
    lease, = worker.take()
    told = shown(server, worker.id)
    listed, = [w for w in expect(200, server, "GET", "/workers")["workers"] if w["worker_id"] == worker.id]
    assert {key: told[key] for key in listed if key != "seen_at"} == \
        {key: listed[key] for key in listed if key != "seen_at"}
    assert (told["slots"], told["busy"], told["free"], told["status"]) == (3, 1, 2, "active"), told
    assert told["draining"] is False and told["cordoned_at"] is None
    held, = told["executions"]
    assert held["lease_until"] > held["started_at"]
    assert {key: held[key] for key in held if not key.endswith(("_at", "_until"))} == {
        "execution_id": run, "job_id": job, "job_name": name, "queue": queue, "attempt": 1, "stopping": False}
    assert worker.finish(lease)
    assert shown(server, worker.id)["executions"] == []


def test_a_cordoned_worker_gets_nothing_new_and_ends_what_it_has():
    queue = next(names)
    worker = Worker(server, queues=[queue])
    submit(server, queue=queue)
    lease, = worker.take()
    waiting = worker.park(free=1, running=[lease])
    answer = cordon(server, worker.id, "new disk")
    assert (answer["status"], answer["cordoned_by"], answer["cordon_reason"]) == \
        ("cordoned", "key:admin", "new disk"), answer
    assert cordon(server, worker.id, "again") == answer, "the first time, actor and reason stay"
    told = shown(server, worker.id)
    assert (told["status"], told["busy"], told["cordoned_at"]) == ("cordoned", 1, answer["cordoned_at"]), told
    _, later = submit(server, queue=queue)
    assert worker.poll(free=5, running=[lease])["leases"] == []
    assert waiting.get()["leases"] == [], "its parked poll was offered something"
    poll = worker.poll(results=[(lease, "succeeded")])
    assert poll["results"][0]["accepted"] and poll["drain"] is False
    assert status_of(server, later) == "queued"
    back = worker.park(free=1)
    assert uncordon(server, worker.id)["cordoned_at"] is None
    assert uncordon(server, worker.id)["status"] == "active"
    leases = back.get()["leases"] or worker.poll(free=1, wait_ms=LONG_MS)["leases"]
    assert [x["execution_id"] for x in leases] == [later]


def test_what_waits_for_cordoned_workers_says_so():
    queue = next(names)
    worker = Worker(server, queues=[queue])
    answer = cordon(server, worker.id, "new disk")
    made = expect(201, server, "POST", "/jobs", {"command": ["true"], "queue": queue})
    assert made["estimated_start_time"] is None and made["estimated_start_reason"] == "workers_cordoned", made
    told = expect(200, server, "GET", f"/jobs/{made['job_id']}/explain")
    blocker, = told["blockers"]
    assert blocker["kind"] == "workers_cordoned" and blocker["by"] == "key:admin", blocker
    assert blocker["since"] == answer["cordoned_at"]
    assert worker.id in blocker["text"] and "new disk" in blocker["text"] and "uncordon" in blocker["text"]
    def counted():
        queues = expect(200, server, "GET", "/stats/blockers")
        return "workers_cordoned" in json.dumps(queues)
    wait_for(counted, "the numbers to say it")
    uncordon(server, worker.id)
    told = expect(200, server, "GET", f"/jobs/{made['job_id']}/explain")
    assert all(b["kind"] != "workers_cordoned" for b in told["blockers"]), told


def test_bad_calls_are_refused():
    worker = Worker(server, queues=[next(names)])
    path = f"/workers/{worker.id}"
    for method, unknown in (("GET", UNKNOWN), ("POST", UNKNOWN + "/cordon"), ("POST", UNKNOWN + "/uncordon"),
                            ("GET", "/workers/nobody"), ("POST", "/workers/job_0000000000001/cordon")):
        expect(404, server, method, unknown)
    for body in ({"reason": 7}, {"reason": "x" * 401}, {"why": "x"}):
        problem = expect(400, server, "POST", path + "/cordon", body)
        assert problem["errors"], problem
    expect(400, server, "POST", path + "/cordon?force=true")
    expect(400, server, "GET", path + "?x=1")
    expect(403, server, "POST", path + "/cordon", key="worker")
    expect(403, server, "GET", path, key="worker")
    assert shown(server, worker.id)["cordoned_at"] is None


def test_the_command_line_takes_names_and_parts_of_ids():
    name = next(names)
    worker = Worker(server, queues=[next(names)])
    named = expect(201, server, "POST", "/workers", {"name": name, "slots": 1, "commands": True}, key="worker")
    done = server.cli("cordon", name, "--reason", "new disk")
    assert done.stdout == f"{named['worker_id']} cordoned\n", done
    page = server.cli("show", named["worker_id"]).stdout
    assert "cordoned" in page and "key:admin" in page and "new disk" in page, page
    assert server.cli("uncordon", "…" + named["worker_id"][-8:]).stdout == f"{named['worker_id']} active\n"
    second = expect(201, server, "POST", "/workers", {"name": name, "slots": 1, "commands": True}, key="worker")
    done = server.cli("cordon", name)
    assert done.returncode == 2 and "2 workers" in done.stderr, done
    assert server.cli("cordon", "nobody-has-this-name").returncode == 3
    assert server.cli("cordon").returncode == 2
    for one in (named, second):
        assert shown(server, one["worker_id"])["cordoned_at"] is None
    done = server.cli("show", worker.id, "-o", "json")
    assert json.loads(done.stdout)["worker_id"] == worker.id


def test_a_cordon_outlives_server_and_worker():
    with Server() as own:
        own.wait_for_status(own.submit("--", "true"), "completed")
        def worker_inside():
            return expect(200, own, "GET", "/workers")["workers"]
        first = worker_inside()[0]["worker_id"]
        cordon(own, first, "new disk")
        own.kill()
        own.start()
        assert shown(own, first)["cordon_reason"] == "new disk"
        own.stop()
        own.start()
        def successor():
            return [w for w in worker_inside() if w["worker_id"] != first]
        second, = wait_for(successor, "the next worker")
        assert second["cordon_reason"] == "new disk", second
        job = own.submit("--", "true")
        told, = expect(200, own, "GET", f"/jobs/{job}/explain")["blockers"]
        assert told["kind"] == "workers_cordoned", told
        uncordon(own, second["worker_id"])
        own.wait_for_status(job, "completed")


def test_a_real_worker_ends_what_it_runs():
    with Server("--no-worker") as own, RealWorker(own) as worker:
        gate = Gate(own)
        job, run = submit(own, command=gate.command())
        wait_for(lambda: status_of(own, run) == "running", "the run")
        cordon(own, worker.id)
        _, later = submit(own, command=["true"])
        assert [x["execution_id"] for x in shown(own, worker.id)["executions"]] == [run]
        gate.open()
        own.wait_for_status(job, "completed")
        assert status_of(own, later) == "queued" and worker.process.poll() is None
        uncordon(own, worker.id)
        wait_for(lambda: status_of(own, later) == "completed", "the run that waited")


# ---- several

def one_for_each(nodes, **spec):
    """An execution that each of them owns."""
    runs = []
    for node in nodes:
        job, run = submit(node, **spec)
        assert node.owner_of(job) == node.name
        runs.append(run)
    return runs


def test_all_servers_of_a_cluster_keep_from_it():
    nodes = TRIO.made
    queue = next(names)
    with RealWorker(nodes[0], "--queue", queue) as worker:
        for run in one_for_each(nodes, queue=queue, command=["true"]):
            wait_for(lambda run=run: status_of(nodes[0], run) == "completed", "all servers to know the worker")
        gate = Gate(nodes[0])
        held = one_for_each(nodes[:2], queue=queue, command=gate.command())
        for run in held:
            wait_for(lambda run=run: status_of(nodes[2], run) == "running", "the runs")
        asked = next(n for n in nodes if n.name != nodes[0].owner_of(worker.id))
        answer = cordon(asked, worker.id, "new disk")
        for node in nodes:
            told = shown(node, worker.id)
            assert (told["status"], told["busy"], told["free"], told["cordoned_at"]) == \
                ("cordoned", 2, 0, answer["cordoned_at"]), told
            assert sorted(x["execution_id"] for x in told["executions"]) == sorted(held), told
        gate.open()
        def has_read(node):
            made = expect(201, node, "POST", "/jobs", {"command": ["true"], "queue": queue})
            return made["estimated_start_reason"] == "workers_cordoned"
        for run in held:
            wait_for(lambda run=run: status_of(nodes[0], run) == "completed", "the runs to end")
        for node in nodes:
            wait_for(lambda node=node: has_read(node), "all servers to have read it", patience_s=LEASE_S + PATIENCE_S)
        wait_for(lambda: shown(nodes[0], worker.id)["executions"] == [], "what was given before to end")
        later = one_for_each(nodes, queue=queue, command=["true"])
        assert [status_of(nodes[0], run) for run in later] == ["queued"] * 3
        uncordon(nodes[1], worker.id)
        for run in later:
            wait_for(lambda run=run: status_of(nodes[0], run) == "completed", "the runs that waited")


def test_a_cordon_outlives_the_home_of_its_worker():
    with Cluster(POSTGRES, 2, "--no-worker") as nodes:
        queue = next(names)
        with RealWorker(nodes[0], "--queue", queue) as worker:
            home = next(n for n in nodes if n.name == nodes[0].owner_of(worker.id))
            left = next(n for n in nodes if n is not home)
            cordon(home, worker.id, "new disk")
            home.kill()
            wait_for(lambda: left.shares().get(left.name) == 16, "the takeover")
            worker.own = left
            wait_for(lambda: call(left, "GET", f"{API}/workers/{worker.id}").status == 200, "the worker")
            assert shown(left, worker.id)["cordon_reason"] == "new disk"
            _, run = submit(left, queue=queue)
            wait_for(lambda: shown(left, worker.id)["status"] == "cordoned", "the worker to be heard")
            assert status_of(left, run) == "queued"
            uncordon(left, worker.id)
            wait_for(lambda: status_of(left, run) == "completed", "the run that waited")


@contextlib.contextmanager
def both():
    with server, TRIO:
        yield


if __name__ == "__main__":
    main(tests_of(globals()), both())
