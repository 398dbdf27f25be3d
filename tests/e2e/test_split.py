"""Servers and workers that lose sight of the database or of each other: no healthy run is stopped while
somebody may still keep it alive, and no execution runs twice at once."""

import contextlib
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import time

from belfry import BELFRY, PATIENCE_S, Stopwatch, free_port, main, tests_of, wait_for
from cluster import LEASE_S, Cluster, Node, Postgres
from proxy import Proxy

POSTGRES = Postgres()


def behind(proxy, store):
    """The URL of a store that is reached through a proxy."""
    return store.replace(f":{POSTGRES.port}/", f":{proxy.port}/")


def gated(where, number):
    """A command that says when it begins and ends, and waits in between for a file called gate."""
    return (f"echo began {number} >> {where}/lines; until [ -e {where}/gate ]; do sleep 0.1; done; "
            f"echo ended {number} >> {where}/lines")


def submit(server, command, **spec):
    status, job = server.api("POST", "/jobs", {"command": command, "retry": {"max_retries": 0}, **spec})
    assert status == 201, job
    return job["job_id"]


def copied_key(first, node):
    """The node, with the key of the first."""
    node.copy_key(first)
    return node


def start_gated(server, where, numbers):
    jobs = [submit(server, gated(where, number)) for number in numbers]

    def run():
        lines = (where / "lines").read_text().split("\n") if (where / "lines").exists() else []
        return all(f"began {number}" in lines for number in numbers)
    wait_for(run, "all to run")
    return jobs


def check_ended_once(server, where, jobs):
    """All end, and none was begun twice, stopped or taken for lost."""
    (where / "gate").touch()
    for job in jobs:
        execution = server.wait_for_status(job, "completed", "failed")
        assert execution["status"] == "completed" and len(execution["attempts"]) == 1, execution
        assert execution.get("lost", 0) == 0, execution
    lines = sorted((where / "lines").read_text().split("\n")[:-1])
    assert lines == sorted(f"{word} {number}" for word in ("began", "ended") for number in range(len(jobs)))


def test_a_server_that_lost_only_its_database_stops_no_run():
    store = POSTGRES.database()
    with tempfile.TemporaryDirectory() as dir, Proxy(POSTGRES.port) as wire:
        where = pathlib.Path(dir)
        a, b = Node("a", behind(wire, store)), Node("b", store)
        with a, copied_key(a, b):
            wait_for(lambda: sorted(b.shares().values()) == [8, 8], "equal shares")
            jobs = start_gated(a, where, range(4))
            wire.sever()
            wait_for(lambda: b.shares() == {"b": 16}, "b to take over")
            jobs += start_gated(b, where, range(4, 12))
            time.sleep(8)  # a is asked by both workers all the time, and knows nothing of b's leases
            wire.mend()
            check_ended_once(b, where, jobs)


def processes_of_postgres():
    """Its postmaster first, so that it makes no others meanwhile."""
    master = int((POSTGRES.dir / "data" / "postmaster.pid").read_text().split("\n")[0])
    yield master
    yield from map(int, pathlib.Path(f"/proc/{master}/task/{master}/children").read_text().split())


def signal_postgres(signum):
    for pid in processes_of_postgres():
        try:
            if os.getuid() == 0 or os.stat(f"/proc/{pid}").st_uid == os.getuid():
                os.kill(pid, signum)
        except ProcessLookupError:
            pass


def test_a_store_of_one_partition_is_no_exception():
    store = POSTGRES.database()
    with tempfile.TemporaryDirectory() as dir, Proxy(POSTGRES.port) as wire:
        where = pathlib.Path(dir)
        a, b = Node("a", behind(wire, store), "--set", "partitions=1"), Node("b", store)
        with a, copied_key(a, b):
            jobs = start_gated(a, where, range(2))
            wire.sever()
            wait_for(lambda: b.shares() == {"b": 1}, "b to take over")
            jobs += start_gated(b, where, range(2, 6))
            time.sleep(8)
            wire.mend()
            check_ended_once(b, where, jobs)


def test_a_database_that_hangs_for_longer_than_a_lease_costs_no_run():
    with tempfile.TemporaryDirectory() as dir, Cluster(POSTGRES, 2) as (a, b):
        where = pathlib.Path(dir)
        jobs = start_gated(a, where, range(4))
        signal_postgres(signal.SIGSTOP)
        try:
            time.sleep(28)  # a lease is 20 s
        finally:
            signal_postgres(signal.SIGCONT)
        wait_for(lambda: sorted(b.shares().values()) == [8, 8], "both to be there again")
        check_ended_once(b, where, jobs)


def test_a_server_that_is_told_to_end_does_not_wait_for_a_database_that_hangs():
    with Node("a", POSTGRES.database(), "--no-worker") as a:
        over = threading.Event()

        def submit_all_the_time():  # so that the database stops under a commit
            while not over.is_set():
                with contextlib.suppress(OSError):
                    a.api("POST", "/jobs", {"command": "true"})
        clients = [threading.Thread(target=submit_all_the_time) for _ in range(2)]
        for client in clients:
            client.start()
        wait_for(lambda: a.api("GET", "/jobs")[1]["jobs"], "the first job")
        signal_postgres(signal.SIGSTOP)
        try:
            time.sleep(0.5)
            with Stopwatch() as watch:
                assert a.stop() == 0
            print(f"it ended after {watch.elapsed_s:.1f} s")
            assert watch.elapsed_s < 16, watch.elapsed_s  # an answer is waited for 20 s, if nothing hurries
        finally:
            signal_postgres(signal.SIGCONT)
            over.set()
        for client in clients:
            client.join()


def unsure(store):
    """{owner: longest wait that its partitions have on record}"""
    rows = POSTGRES.sql("SELECT split_part(owner, '/', 1), max(unsure_ms) FROM belfry.partition GROUP BY 1",
                        store.rsplit("/", 1)[1])
    return {owner: int(ms) for owner, ms in (row.split("|") for row in rows.split("\n"))}


def test_who_starts_again_in_its_data_directory_need_not_wait():
    """A stranger waits for the grace and a lease of whoever died; its successor knows that it is dead."""
    store = POSTGRES.database()
    with Node("a", store, "--no-worker") as a:
        second = subprocess.run([BELFRY, "server", "--store", store, "--listen", "127.0.0.1:0", "--node", "twin"],
                                cwd=a.dir, env=a.env, text=True, capture_output=True, timeout=PATIENCE_S)
        assert second.returncode == 1 and "is in use by another belfry server" in second.stderr, second
        a.kill()
        a.start()
        assert (a.shares(), unsure(store)) == ({"a": 16}, {"a": 0}), (a.shares(), unsure(store))
        with copied_key(a, Node("b", store, "--no-worker")) as b:
            wait_for(lambda: b.shares() == {"a": 8, "b": 8}, "equal shares")
            assert unsure(store) == {"a": 0, "b": 0}
            a.kill()
            wait_for(lambda: b.shares() == {"b": 16}, "b to take over")
            wait_for(lambda: unsure(store) == {"b": 0}, "b to know that there were no leases")
            a.start()


# While public.gate has a row, nobody gets beyond the rates when it loads its partitions.
SLOW_LOAD = """
ALTER TABLE belfry.rate RENAME TO rate_of_then;
CREATE TABLE public.gate AS SELECT true AS shut;
CREATE FUNCTION public.rates() RETURNS SETOF belfry.rate_of_then LANGUAGE plpgsql AS $$
BEGIN
    WHILE EXISTS (SELECT FROM public.gate) LOOP PERFORM pg_sleep(0.05); END LOOP;
    RETURN QUERY SELECT * FROM belfry.rate_of_then;
END $$;
CREATE VIEW belfry.rate AS SELECT * FROM public.rates();
"""


def test_who_loads_for_longer_than_its_lease_keeps_what_it_has():
    """It renews while it loads what it took when it came: the others see that it is there."""
    store = POSTGRES.database()

    def ask(text):
        return POSTGRES.sql(text, store.rsplit("/", 1)[1])

    def owners():
        return ask("SELECT DISTINCT split_part(owner, '/', 1) FROM belfry.partition")

    def loads_for_ms():
        return int(ask("SELECT seen_ms - started_ms FROM belfry.node WHERE name = 'a'") or 0)
    with Node("a", store, "--no-worker") as a:
        assert a.stop() == 0
        ask(SLOW_LOAD)
        loading = threading.Thread(target=a.start)
        loading.start()
        wait_for(lambda: owners() == "a", "a to take all")
        with copied_key(a, Node("b", store, "--no-worker")) as b:
            wait_for(lambda: owners() == "b" or loads_for_ms() > 1500 * LEASE_S, "a to load for longer than its lease")
            assert owners() == "a" and loading.is_alive(), owners()
            ask("DELETE FROM public.gate")
            loading.join()
            wait_for(lambda: b.shares() == {"a": 8, "b": 8}, "equal shares")


# As short as the rule for clusters lets them be: a poll of half a second, two for a takeover, one to stop, and
# three to spare.
BRIEF = ("--set", "lease_ms=7s", "--set", "park_ms=500ms", "--set", "outage_grace_ms=8s", "--no-worker",
         "--set", "node_lease_ms=2s")


class Worker:
    """`belfry worker`, which is told of one server only and hears of the others by its replies."""

    def __init__(self, server):
        self.log_path = server.dir / f"worker-{free_port()}.log"
        self.args = [BELFRY, "worker", "--server", server.url, "--slots", "2", "--token-file",
                     str(server.data / "worker.key")]
        self.env = server.env

    def __enter__(self):
        with open(self.log_path, "w") as log:
            self.process = subprocess.Popen(self.args, env=self.env, stdout=log, stderr=log)
        return self

    def __exit__(self, kind, *_):
        if kind is not None:
            print(self.log_path.read_text()[-4000:])
        self.process.terminate()
        try:
            self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise


def stamps_of(path):
    """{process: (first, last)}: when it was alive, by the boot clock."""
    stamps = {}
    for line in path.read_text().split("\n")[:-1]:
        process, at_s = line.split()
        first, _ = stamps.get(process, (float(at_s), None))
        stamps[process] = first, float(at_s)
    return stamps


def test_no_execution_runs_twice_at_once_when_the_cluster_is_split():
    """{a, its worker} | {database, b, its worker}: a keeps the run alive for its grace, and b waits for that."""
    store = POSTGRES.database()
    with contextlib.ExitStack() as stack:
        where = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        to_database = stack.enter_context(Proxy(POSTGRES.port))
        a, b = Node("a", behind(to_database, store), *BRIEF), Node("b", store, *BRIEF)
        wires = [to_database]
        for node in (a, b):
            wire = stack.enter_context(Proxy(node.port))
            node.flags += ("--advertise", f"http://127.0.0.1:{wire.port}")
            wires.append(wire)
            stack.enter_context(node if node is a else copied_key(a, b))
        wait_for(lambda: sorted(b.shares().values()) == [8, 8], "equal shares")
        with Worker(a):
            job = submit(a, f"while :; do read up _ < /proc/uptime; echo $$ $up >> {where}/stamps; sleep 0.1; "
                            "done", retry={"max_retries": 1})
            a.wait_for_status(job, "running")
            wait_for((where / "stamps").exists, "its first sign of life")
            wires[0].sever()  # else the database might be waited for
            for wire in wires[1:]:
                wire.cut()
            with Worker(b):
                wait_for(lambda: b.shares() == {"b": 16}, "b to take over")
                wait_for(lambda: len(stamps_of(where / "stamps")) == 2, "the run at the other worker")
                time.sleep(2)
                first, second = sorted(stamps_of(where / "stamps").values())
                print(f"one ended {second[0] - first[1]:.1f} s before the other began")
                assert first[1] < second[0], (first, second)
                for wire in wires:
                    wire.mend()
                assert b.api("DELETE", f"/jobs/{job}")[0] == 200
                b.wait_for_status(job, "cancelled", "failed")


if __name__ == "__main__":
    main(tests_of(globals()), POSTGRES)
