"""Workers that serve several servers: one address is enough, whoever joins, leaves, dies or is cut off."""

import pathlib
import signal
import subprocess
import tempfile
import urllib.parse

from belfry import BELFRY, PATIENCE_S, Stopwatch, free_port, main, tests_of, wait_for
from cluster import Cluster, Node, Postgres, Shared

POSTGRES = Postgres()
TRIO = Shared(POSTGRES, lambda: Cluster(POSTGRES, 3, "--no-worker"))


class Worker:
    """`belfry worker` as a process of its own, with the key of a server's own worker."""

    def __init__(self, server, urls, slots=8):
        self.server = server
        self.args = [BELFRY, "worker", "--server", urls, "--slots", str(slots), "--token-file",
                     str(server.data / "worker.key")]
        self.log_path = server.dir / f"worker-{free_port()}.log"

    def __enter__(self):
        with open(self.log_path, "w") as log:
            self.process = subprocess.Popen(self.args, env=self.server.env, stdout=log, stderr=log)
        return self

    def __exit__(self, kind, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            kind = True
        if kind is not None:
            print(self.log_path.read_text()[-4000:])
        assert kind is not None or self.process.returncode == 0, self.process.returncode


def submit_at(server, command, **spec):
    """A job that this server owns."""
    status, job = server.api("POST", "/jobs", {"command": command, **spec})
    assert status == 201, job
    return job["job_id"]


def test_a_worker_that_knows_one_server_serves_all():
    nodes = TRIO.made
    with Worker(nodes[0], nodes[1].url):
        for round in range(3):
            jobs = [(node, submit_at(node, "echo hello")) for node in nodes]
            for node, job in jobs:
                assert node.wait_for_status(job, "completed", "failed")["status"] == "completed"
        status, answer = nodes[2].api("GET", "/workers")
        assert status == 200 and len(answer["workers"]) == 1, answer


def test_one_slot_is_enough_for_all_servers():
    nodes = TRIO.made
    with Worker(nodes[0], nodes[0].url, slots=1):
        jobs = [(node, submit_at(node, "sleep 0.1")) for node in nodes for _ in range(5)]
        for node, job in jobs:
            execution = node.wait_for_status(job, "completed", "failed")
            assert execution["status"] == "completed", execution
        with Stopwatch() as watch:
            for node in nodes:  # and none of them waits for an offer to come round
                node.wait_for_status(submit_at(node, "true"), "completed")
        assert watch.elapsed_s < 5, watch.elapsed_s


def test_a_killed_server_costs_its_runs_nothing():
    with tempfile.TemporaryDirectory() as where, \
            Cluster(POSTGRES, 3, "--no-worker") as (a, b, c), Worker(a, c.url):
        witness, gate = pathlib.Path(where) / "lines", pathlib.Path(where) / "gate"
        job = submit_at(b, f"echo began >> {witness}; until [ -e {gate} ]; do sleep 0.05; done; "
                           f"echo ended >> {witness}", retry={"max_retries": 0})
        b.wait_for_status(job, "running")
        b.kill()
        wait_for(lambda: a.shares() == {"a": 8, "c": 8}, "the others to take over")
        gate.touch()
        execution = a.wait_for_status(job, "completed", "failed")
        assert execution["status"] == "completed", execution
        assert len(execution["attempts"]) == 1, execution
        assert witness.read_text() == "began\nended\n"
        other = submit_at(a, "true")  # and it goes on working for the others
        assert c.wait_for_status(other, "completed", "failed")["status"] == "completed"
        b.start()
        late = submit_at(b, "true")
        assert b.wait_for_status(late, "completed", "failed")["status"] == "completed"


def test_a_server_that_joins_gets_workers():
    with Cluster(POSTGRES, 2, "--no-worker") as (a, b), Worker(a, a.url):
        a.wait_for_status(submit_at(b, "true"), "completed")
        late = Node("z", a.flags[1], "--no-worker")
        late.copy_key(a)
        with late:
            wait_for(lambda: late.shares().get("z", 0) > 0, "its share")
            job = submit_at(late, "echo from z")
            assert late.wait_for_status(job, "completed", "failed")["status"] == "completed"


def test_output_arrives_though_the_server_it_went_to_dies():
    with Cluster(POSTGRES, 2, "--no-worker") as (a, b), Worker(a, f"{b.url},{a.url}"):
        job = submit_at(a, "for i in 1 2 3 4 5 6 7 8; do echo line $i; sleep 0.3; done")
        wait_for(lambda: "line 2" in a.cli("logs", job).stdout, "some of its output")
        b.kill()
        execution = a.wait_for_status(job, "completed", "failed")
        assert execution["status"] == "completed", execution
        wait_for(lambda: a.cli("logs", job).stdout ==
                 "".join(f"line {i}\n" for i in range(1, 9)), "all of its output")
        b.start()


def test_a_poll_is_handed_on_to_the_server_it_is_meant_for():
    with Cluster(POSTGRES, 2, "--no-worker") as (a, b):
        key = a.key("worker.key")
        status, worker = a.api("POST", "/workers", {"name": "w", "slots": 2}, key=key)
        assert status == 201, worker
        path = f"/workers/{worker['worker_id']}/poll"
        job = submit_at(b, "true")
        status, direct = b.api("POST", path, {"seq": 1, "free": 1}, key=key)
        assert status == 200 and len(direct["leases"]) == 1, direct
        lease = {name: direct["leases"][0][name] for name in ("execution_id", "token")}
        there = path + "?server=" + urllib.parse.quote(b.url, safe="")
        status, relayed = a.api("POST", there, {"seq": 2, "free": 0, "running": [lease]}, key=key)
        assert status == 200 and relayed["server"] == b.url, relayed
        assert relayed["partitions"] == direct["partitions"], relayed
        assert sorted(relayed["servers"]) == sorted([a.url, b.url]), relayed
        assert direct["partitions"]["count"] == 16 and len(direct["partitions"]["owned"]) == 8, direct
        assert direct["backlog"] == 0, direct
        result = {**lease, "outcome": "succeeded", "exit_code": 0}
        status, own = a.api("POST", path, {"seq": 1, "free": 0, "results": [result]}, key=key)
        assert status == 200 and own["server"] == a.url and own["results"] == [], own
        status, relayed = a.api("POST", there, {"seq": 3, "free": 0, "results": [result]}, key=key)
        assert status == 200 and relayed["results"][0]["accepted"], relayed
        assert a.wait_for_status(job, "completed")["status"] == "completed"
        nowhere = path + "?server=" + urllib.parse.quote("http://127.0.0.1:1", safe="")
        assert a.api("POST", nowhere, {"seq": 4, "free": 0}, key=key)[0] == 503


def test_the_worker_beside_a_server_serves_all_of_them():
    with Cluster(POSTGRES, 1) as (a,):
        b = Node("b", a.flags[1], "--no-worker")
        b.copy_key(a)
        with b:
            wait_for(lambda: b.shares().get("b", 0) > 0, "its share")
            job = submit_at(b, "true")
            assert b.wait_for_status(job, "completed", "failed")["status"] == "completed"


if __name__ == "__main__":
    main(tests_of(globals()), TRIO)
