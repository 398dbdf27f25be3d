"""A store in trouble: full disks, missing files, damaged rows, files of another version.

The disk is a real one: a small tmpfs where we may mount, and a limit on the size of files, which
needs no rights, everywhere.
"""

import contextlib
import json
import os
import pathlib
import resource
import shutil
import sqlite3
import subprocess
import tempfile
import time

from belfry import Server, main, tests_of, wait_for
from protocol import API, Later, Worker, call, execution, expect, submit

LEASE_S = 3
# Short leases, so that a run whose lease is not renewed is lost while we watch; but none when the machine
# stands still for a moment.
FLAGS = ("--no-worker", "--set", f"lease_ms={LEASE_S}s", "--set", "park_ms=300ms")


class Here(Server):
    """A server whose key is known even when its files are gone."""

    def start(self):
        super().start()
        self.keys = {name: super(Here, self).key(name) for name in ("admin.key", "worker.key")}

    def key(self, name="admin.key"):
        return self.keys[name]

    def log(self, part):
        """The lines of the log that contain this."""
        return [line for line in self.log_path.read_text().splitlines() if part in line]

    def readiness(self):
        answer = call(self, "GET", "/readyz", key=None)
        return answer.status, answer.json.get("detail", "")


@contextlib.contextmanager
def small_disk(data):
    """8 MB, or None where this machine does not let us mount."""
    data.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m,mode=700", "tmpfs", str(data)],
                             capture_output=True, check=False).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(data)], check=True)


def fill(disk):
    """Takes all that is left, and returns what gives it back."""
    ballast = disk / "ballast"
    with open(ballast, "wb", buffering=0) as f:
        with contextlib.suppress(OSError):
            while True:
                f.write(b"x" * 65536)
        with contextlib.suppress(OSError):
            while True:
                f.write(b"x")
    return ballast.unlink


def limit_files(server):
    """No file of the server may grow any more; returns what allows it again."""
    pid = server.process.pid
    before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    largest = max(f.stat().st_size for f in server.data.iterdir() if f.is_file())
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (largest, before[1]))
    return lambda: resource.prlimit(pid, resource.RLIMIT_FSIZE, before)


def submit_until_refused(server):
    """Ids of the jobs that were acknowledged, and the answer that ended it. What the log of the
    database has room for is still taken."""
    taken = []
    job = {"command": ["true"], "queue": "nobody", "payload": "x" * 50000}
    for _ in range(1000):
        answer = call(server, "POST", API + "/jobs", job)
        if answer.status != 201:
            return taken, answer
        taken.append(answer.json["job_id"])
    raise AssertionError("the disk was never full")


def check_full_disk(server, make_full):
    worker = Worker(server, slots=2, queues=["mine"])
    submit(server, queue="mine")
    submit(server, queue="mine")
    run, done = worker.take(2)
    make_room = make_full()
    taken, refusal = submit_until_refused(server)
    problem = refusal.json
    assert refusal.status == 507 and problem["code"] == "full", refusal
    assert "room" in problem["detail"], problem

    # Both runs live on: one is renewed by name, the other by the result that nobody can keep yet.
    until = time.monotonic() + LEASE_S + 1
    while time.monotonic() < until:
        answer = worker.poll(running=[run], results=[(done, "succeeded")], wait_ms=300)
        assert not answer["stop"] and not answer["results"], answer
        status, detail = server.readiness()
        assert status == 503 and "full" in detail, (status, detail)
    assert call(server, "GET", "/healthz", key=None).status == 200
    assert call(server, "GET", API + "/stats").status == 200
    assert call(server, "GET", API + "/operations").status == 200  # what is stored can be read
    for path in ("/queues", "/teams", "/breakers"):  # refused, and not empty
        assert call(server, "GET", API + path).status == 507, path
    assert call(server, "POST", API + "/workers", {"name": "n", "slots": 1}, key="worker").status == 507
    assert len(server.log("takes no commits")) == 1, server.log("takes no commits")
    assert not server.log("takes commits again")

    parked = Later(worker.poll, running=[run], results=[(done, "succeeded")], wait_ms=300)
    make_room()
    wait_for(lambda: server.readiness()[0] == 200, "the server to be ready by itself")
    parked.get()
    assert worker.finish(done) and worker.finish(run)
    for lease in (run, done):
        assert execution(server, lease["execution_id"])["status"] == "completed"
        assert len(execution(server, lease["execution_id"])["attempts"]) == 1, "it was never lost"
    for job_id in taken:
        assert server.job(job_id)["status"] == "active"
    submit(server, queue="nobody")
    assert len(server.log("takes commits again")) == 1
    assert len(server.log("takes no commits")) == 1


def test_a_full_disk_refuses_keeps_runs_alive_and_passes():
    root = pathlib.Path(tempfile.mkdtemp(prefix="belfry-e2e-"))
    with small_disk(root / "belfry-data") as mounted:
        if not mounted:
            print("     this machine does not let us mount: left to the limit on files")
            shutil.rmtree(root)
            return
        with Here(*FLAGS, cwd=root) as server:
            check_full_disk(server, lambda: fill(server.data))


def test_a_limit_on_files_is_a_full_disk_too():
    with Here(*FLAGS) as server:
        check_full_disk(server, lambda: limit_files(server))


def test_without_grace_leases_end():
    with Here(*FLAGS, "--set", "outage_grace_ms=0") as server:
        worker = Worker(server, slots=1, queues=["mine"])
        submit(server, queue="mine")
        [lease] = worker.take()
        make_room = limit_files(server)
        submit_until_refused(server)
        wait_for(lambda: worker.send({"seq": 99, "free": 0}).status == 507, "polls to be refused")
        time.sleep(LEASE_S + 0.5)  # the lease ends while nobody can write it down
        make_room()
        wait_for(lambda: server.readiness()[0] == 200, "the server to be ready by itself")
        wait_for(lambda: execution(server, lease["execution_id"])["status"] == "queued", "the loss")


# ---- files that go away

def test_deleted_files_are_noticed_and_nothing_more_is_promised():
    with Here(*FLAGS) as server:
        submit(server)
        shutil.rmtree(server.data)
        wait_for(lambda: server.readiness()[0] == 503, "the server to notice")
        said = server.log("was deleted or moved")
        assert len(said) == 1 and str(server.data) in said[0], said
        answer = call(server, "POST", API + "/jobs", {"command": ["true"]})
        assert answer.status == 503 and "deleted or moved" in answer.json["detail"], answer


def test_files_that_come_back_are_used_again():
    with Here(*FLAGS) as server:
        job_id, _ = submit(server)
        aside = server.dir / "aside"
        os.rename(server.data, aside)
        wait_for(lambda: server.readiness()[0] == 503, "the server to notice")
        os.rename(aside, server.data)
        wait_for(lambda: server.readiness()[0] == 200, "the server to go on")
        other_id, _ = submit(server)
        server.kill()
        server.start()
        assert server.job(job_id)["status"] == server.job(other_id)["status"] == "active"


def test_a_restart_forgets_no_payload():
    with Here(*FLAGS) as server:
        payload = {"to": "ops@example.org"}
        submit(server, queue="q", payload=payload)
        _, again = submit(server, queue="q", payload=payload)
        server.kill()
        server.start()
        worker = Worker(server, queues=["q"])
        leases = worker.take(2)
        assert [lease.get("payload") for lease in leases] == [payload, payload], leases
        assert all(worker.finish(lease) for lease in leases)
        expect(201, server, "POST", f"/executions/{again}/retry")
        [lease] = worker.take()
        assert lease.get("payload") == payload, lease


# ---- files that make no sense

def database(server):
    return contextlib.closing(sqlite3.connect(server.data / "belfry.db", isolation_level=None))


def number(server, text):
    """The number that an id stands for: the rowid it is kept under."""
    with database(server) as db:
        rows = [row[0] for row in db.execute("SELECT id FROM live")]
    with_text = [row for row in rows if text.split("_")[1] == encode(row)]
    assert len(with_text) == 1, (text, rows)
    return with_text[0]


def encode(value):
    """As base/id.c: 13 digits of Crockford's base 32."""
    digits = "0123456789abcdefghjkmnpqrstvwxyz"
    return "".join(digits[value >> shift & 31] for shift in range(60, -1, -5))


def quarantined(server):
    return expect(200, server, "GET", "/stats")["quarantined"]


def test_damaged_rows_are_counted_named_and_left_alone():
    with Here(*FLAGS) as server:
        execs = [submit(server, queue="q", payload={"n": "x" * 5000})[1] for _ in range(6)]
        rows = [number(server, e) for e in execs]
        assert quarantined(server) == 0
        server.kill()
        with database(server) as db:
            db.execute("UPDATE live SET state = 99 WHERE id = ?", rows[:1])
            db.execute("UPDATE document SET spec = '{\"command\": 5}' WHERE job_id = "
                       "(SELECT job_id FROM live WHERE id = ?)", rows[1:2])
            db.execute("DELETE FROM document WHERE job_id = "
                       "(SELECT job_id FROM live WHERE id = ?)", rows[2:3])
            db.execute("UPDATE document SET payload = '{\"n\":' WHERE job_id = "
                       "(SELECT job_id FROM live WHERE id = ?)", rows[3:4])
        server.start()
        assert quarantined(server) == 3
        worker = Worker(server, queues=["q"])
        leases = worker.poll(free=10)["leases"]
        assert [lease["execution_id"] for lease in leases] == execs[4:], leases
        assert all(lease["payload"] == {"n": "x" * 5000} for lease in leases)
        assert quarantined(server) == 4  # the payload is read only when it is needed
        for lease in leases:
            assert worker.finish(lease)
        for _ in range(20):
            assert not worker.poll(free=10)["leases"]
        for damaged in execs[:4]:
            assert len(server.log(f'"execution_id":"{damaged}"')) == 1, damaged
        assert call(server, "GET", API + "/executions/" + execs[0]).status == 500
        assert server.readiness()[0] == 200


def test_a_row_that_vanishes_under_a_running_server_stops_nobody_else():
    with Here(*FLAGS) as server:
        execs = [submit(server, queue="q")[1] for _ in range(3)]
        with database(server) as db:
            db.execute("DELETE FROM live WHERE id = ?", (number(server, execs[1]),))
        worker = Worker(server, queues=["q"])
        leases = worker.take(2)
        assert [lease["execution_id"] for lease in leases] == [execs[0], execs[2]]
        assert all(worker.finish(lease) for lease in leases)
        assert quarantined(server) == 1
        assert len(server.log(f'"execution_id":"{execs[1]}"')) == 1
        assert server.process.poll() is None


def test_a_claim_that_makes_no_sense_is_refused_alone():
    with Here(*FLAGS) as server:
        submit(server, name="nightly")
        with database(server) as db:
            db.execute("UPDATE claim SET holder = -5")
        answer = call(server, "POST", API + "/jobs", {"command": ["true"], "name": "nightly"})
        assert answer.status == 409 and "is corrupt" in answer.json["detail"], answer
        submit(server, name="weekly")
        assert server.readiness()[0] == 200


def test_files_of_a_newer_version_are_refused_by_both_numbers():
    with Here(*FLAGS) as server:
        job_id, _ = submit(server)
        server.stop()
        for name in ("belfry.db", "logs.db"):
            with contextlib.closing(sqlite3.connect(server.data / name)) as db:
                version = db.execute("PRAGMA user_version").fetchone()[0]
                db.execute("PRAGMA user_version = 4711")
            before = (server.data / name).read_bytes()
            with open(server.log_path, "ab") as log:
                refused = subprocess.run(
                    server.process.args, env=server.env, cwd=server.dir, stdin=subprocess.DEVNULL,
                    stdout=log, stderr=log, timeout=30, check=False)
            said = json.loads(server.log_path.read_text().splitlines()[-1])["error"]
            assert refused.returncode == 1
            assert name in said and "version 4711" in said and f"up to {version}" in said, said
            assert (server.data / name).read_bytes() == before, "a file that it does not know"
            with contextlib.closing(sqlite3.connect(server.data / name)) as db:
                db.execute(f"PRAGMA user_version = {version}")
        server.start()
        assert server.job(job_id)["status"] == "active"


if __name__ == "__main__":
    main(tests_of(globals()))
