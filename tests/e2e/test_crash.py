"""Kill everything, all the time: what was acknowledged runs, and its result is accepted once.

Fifty clients submit while the server is killed with -9 twenty times and its worker ten times. The
jobs themselves are the witnesses: each appends a line to a file of its own making. Afterwards the
database is read as it is, without belfry.
"""

import collections
import http.client
import json
import os
import pathlib
import random
import signal
import sqlite3
import tempfile
import threading
import time

from belfry import Server, main, processes_of, tests_of, wait_for

JOBS = int(os.environ.get("BELFRY_CRASH_JOBS", 10000))
CLIENTS = 50
SERVER_KILLS = 20
WORKER_KILLS = 10
PATIENCE_S = 300
SEED = int(os.environ.get("BELFRY_SEED", time.time_ns() % 1000000))


class Clients:
    """Threads that submit until enough was acknowledged. What got no answer is asked again as
    another job: the first may exist or not, nobody promised anything about it."""

    def __init__(self, server, witness):
        self.server = server
        self.key = server.key()
        self.left = JOBS
        self.lock = threading.Lock()
        self.acknowledged = []
        self.document = json.dumps({
            # One write(2) of one short line: appends of several processes do not mix.
            "command": f"echo $BELFRY_JOB_ID >> {witness}",
            "retry": {"max_retries": 0},
        })
        self.threads = [threading.Thread(target=self.run) for _ in range(CLIENTS)]

    def take(self):
        with self.lock:
            self.left -= 1
            return self.left >= 0

    def run(self):
        connection = None
        while self.take():
            while True:
                try:
                    connection = connection or http.client.HTTPConnection(
                        "127.0.0.1", self.server.port, timeout=30)
                    connection.request("POST", "/api/v1/jobs", self.document, {
                        "Authorization": "Bearer " + self.key,
                        "Content-Type": "application/json"})
                    answer = connection.getresponse()
                    body = json.loads(answer.read())
                    if answer.status == 201:
                        with self.lock:
                            self.acknowledged.append(body["job_id"])
                        break
                    assert answer.status == 503, body
                except (OSError, http.client.HTTPException, ValueError):
                    if connection is not None:
                        connection.close()
                    connection = None
                time.sleep(0.01)  # a moment for the server to come back


def worker_pid(server):
    try:
        pid = int((server.data / "worker.lock").read_text())
        os.kill(pid, 0)
        return pid
    except (OSError, ValueError):
        return None


def kill_worker(server):
    pid = wait_for(lambda: worker_pid(server), "a worker to be there")
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def workers_of(server):
    """Workers that run beside the server; the spawner of each is a part of it."""
    found = []
    for pid in processes_of(server.data):
        try:
            proc = pathlib.Path(f"/proc/{pid}")
            if (b"\0worker\0" in (proc / "cmdline").read_bytes()
                    and (proc / "comm").read_text().strip() != "belfry-spawner"):
                found.append(pid)
        except OSError:
            pass  # it ended while we looked
    return found


def strike(server, rng):
    """The kills, in random order, with some work between them."""
    blows = ["server"] * SERVER_KILLS + ["worker"] * WORKER_KILLS
    rng.shuffle(blows)
    for blow in blows:
        time.sleep(rng.uniform(0.1, 0.6))
        if blow == "worker":
            kill_worker(server)
        else:
            server.kill()
            server.start()


def unfinished(server):
    _, stats = server.api("GET", "/stats")
    return sum(stats["executions"][s] for s in ("scheduled", "queued", "running", "retrying"))


def check_witness(witness, acknowledged):
    runs = collections.Counter(witness.read_text().split())
    missing = [job for job in acknowledged if runs[job] == 0]
    assert not missing, f"{len(missing)} acknowledged jobs never ran, such as {missing[:3]}"
    twice = sum(1 for count in runs.values() if count > 1)
    print(f"     {sum(runs.values())} runs of {len(runs)} jobs, {twice} jobs ran more than once")


def check_database(data, acknowledged):
    db = sqlite3.connect(f"file:{data}/belfry.db?mode=ro", uri=True)
    one = lambda sql: db.execute(sql).fetchone()[0]
    assert one("SELECT count(*) FROM live") == 0
    jobs, distinct = db.execute("SELECT count(*), count(DISTINCT job_id) FROM history").fetchone()
    assert jobs == distinct == one("SELECT count(*) FROM job") >= len(acknowledged)
    assert one("SELECT count(*) FROM history WHERE state != 6") == 0, "6 is completed"
    accepted = db.execute("""SELECT count(*), count(DISTINCT exec_id) FROM (
                                 SELECT exec_id FROM attempt WHERE outcome = 1
                                 UNION ALL
                                 SELECT id FROM history WHERE attempt_outcome = 1)
                             """).fetchone()  # 1 is succeeded
    assert accepted == (jobs, jobs), f"{accepted} accepted results of {jobs} executions"
    assert one("SELECT coalesce(sum(value), 0) FROM counter WHERE kind = 2") == jobs
    lost = one("SELECT coalesce(sum(lost), 0) FROM history")
    print(f"     {jobs} jobs in the database, {len(acknowledged)} acknowledged, {lost} leases lost")
    db.close()


def test_nothing_acknowledged_is_lost_whatever_is_killed():
    print(f"     BELFRY_SEED={SEED}")
    rng = random.Random(SEED)
    with tempfile.TemporaryDirectory(prefix="belfry-crash-") as temp:
        witness = pathlib.Path(temp) / "witness"
        work = pathlib.Path(temp) / "tmp"
        work.mkdir()
        # Short leases, so that what a killed worker held comes back while we watch.
        server = Server("--set", "lease_ms=4000", "--set", "park_ms=1000", "--slots", "16",
                        env={"TMPDIR": str(work)})
        with server:
            clients = Clients(server, witness)
            for thread in clients.threads:
                thread.start()
            strike(server, rng)
            for thread in clients.threads:
                thread.join(PATIENCE_S)
            wait_for(lambda: unfinished(server) == 0, "everything to finish", PATIENCE_S)
            assert len(clients.acknowledged) == len(set(clients.acknowledged)) == JOBS
            wait_for(lambda: workers_of(server) == [worker_pid(server)],
                     "one worker only, the one that holds the lock")
            assert server.stop() == 0
            assert not list(work.iterdir()), "temporary files are left"
            check_witness(witness, clients.acknowledged)
            check_database(server.data, clients.acknowledged)
        # Leaving the context fails when a process is left.


main(tests_of(globals()))
