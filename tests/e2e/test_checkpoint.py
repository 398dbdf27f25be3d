"""Checkpoints: what an attempt writes to BELFRY_CHECKPOINT_FILE, the next one finds, whatever died in
between. First the calls, by a worker made of a few lines of Python; then real commands and kills."""

import contextlib
import os
import pathlib
import signal
import sqlite3
import subprocess
import tempfile
import time

from belfry import BELFRY, PATIENCE_S, Server, main, processes_of, tests_of, wait_for
from protocol import API, LONG_MS, Worker, call, execution, expect, names, submit

BYTES = {"Content-Type": "application/octet-stream"}
AGAIN = {"max_retries": 3, "policy": "immediate"}
BINARY = bytes(range(256)) * 3

# For the calls; the commands have servers of their own.
server = Server("--no-worker", "--set", "park_ms=60s")


def put(worker, lease, data, token=None):
    path = f"{API}/workers/{worker.id}/checkpoints/{lease['execution_id']}"
    return call(worker.server, "PUT", f"{path}?token={token or lease['token']}", data, "worker", BYTES)


def fetch(worker, lease, token=None):
    path = f"{API}/workers/{worker.id}/checkpoints/{lease['execution_id']}"
    return call(worker.server, "GET", f"{path}?token={token or lease['token']}", key="worker")


def shown(on, execution_id):
    """The checkpoint as people see it; None: there is none."""
    answer = call(on, "GET", f"{API}/executions/{execution_id}/checkpoint")
    if answer.status == 404:
        return None
    assert answer.status == 200 and answer.headers["Content-Type"] == BYTES["Content-Type"], answer
    return answer.body


def leased(on=server, **job):
    """A worker and the lease it holds."""
    queue = next(names)
    submit(on, queue=queue, **job)
    worker = Worker(on, queues=[queue])
    return worker, worker.take()[0]


def refused(answer, status, code):
    assert answer.status == status and answer.json["code"] == code, answer
    return answer.json["detail"]


# ---- the calls

def test_the_next_attempt_finds_what_the_one_before_has_left():
    first, lease = leased(retry=AGAIN)
    assert fetch(first, lease).status == 204 and shown(server, lease["execution_id"]) is None
    for data in (b"older", BINARY):
        assert put(first, lease, data).status == 204
        assert shown(server, lease["execution_id"]) == data
    assert first.finish(lease, "failed")
    second = Worker(server, queues=[execution(server, lease["execution_id"])["queue"]])
    again, = wait_for(lambda: second.poll(free=1, wait_ms=LONG_MS)["leases"], "the next attempt")
    answer = fetch(second, again)
    assert answer.status == 200 and answer.body == BINARY, answer
    assert answer.headers["Content-Type"] == BYTES["Content-Type"]
    assert call(server, "HEAD", f"{API}/executions/{lease['execution_id']}/checkpoint").status == 200


def test_who_asks_for_bytes_is_given_bytes():
    worker, lease = leased()
    for accept, status in ((BYTES["Content-Type"], 200), ("application/json", 406)):
        asked = {"Accept": accept}
        own = f"{API}/workers/{worker.id}/checkpoints/{lease['execution_id']}?token={lease['token']}"
        assert call(server, "PUT", own, b"some", "worker", BYTES | asked).status == 204
        assert call(server, "GET", own, key="worker", headers=asked).status == status
        path = f"{API}/executions/{lease['execution_id']}/checkpoint"
        assert call(server, "GET", path, headers=asked).status == status


def test_an_empty_body_takes_it_back():
    worker, lease = leased()
    put(worker, lease, b"here")
    assert put(worker, lease, b"").status == 204
    assert fetch(worker, lease).status == 204 and shown(server, lease["execution_id"]) is None


def test_only_the_holder_of_the_lease_may_put_and_fetch():
    worker, lease = leased(retry=AGAIN)
    put(worker, lease, b"mine")
    stranger, other = leased()
    for answer in (put(stranger, lease, b"x"), fetch(stranger, lease), put(worker, other, b"x"),
                   put(worker, lease, b"x", token=2), fetch(worker, lease, token=2)):
        assert "never given" in refused(answer, 409, "conflict")
    unknown = {"execution_id": "exec_0000000000001", "token": 1}
    refused(put(worker, unknown, b"x"), 409, "conflict")
    assert shown(server, lease["execution_id"]) == b"mine"
    assert shown(server, other["execution_id"]) is None


def test_whoever_was_overtaken_is_refused():
    first, lease = leased(retry=AGAIN)
    put(first, lease, b"first")
    assert first.finish(lease, "failed")
    assert put(first, lease, b"late").status == 204  # nobody else has begun
    assert "no longer" in refused(fetch(first, lease), 409, "stale")
    second = Worker(server, queues=[execution(server, lease["execution_id"])["queue"]])
    again, = wait_for(lambda: second.poll(free=1, wait_ms=LONG_MS)["leases"], "the next attempt")
    assert "no longer" in refused(put(first, lease, b"too late"), 409, "stale")
    refused(put(first, lease, b""), 409, "stale")
    assert fetch(second, again).body == b"late"
    put(second, again, b"second")
    assert second.finish(again, "permanent")
    refused(put(second, again, b"after the end"), 409, "stale")
    assert shown(server, lease["execution_id"]) == b"second"


def test_a_checkpoint_has_a_limit_and_a_form():
    worker, lease = leased()
    assert put(worker, lease, b"x" * (1 << 20)).status == 204
    detail = refused(put(worker, lease, b"x" * ((1 << 20) + 1)), 413, "too_large")
    assert "checkpoint_bytes_max" in detail
    assert shown(server, lease["execution_id"]) == b"x" * (1 << 20)
    path = f"{API}/workers/{worker.id}/checkpoints/{lease['execution_id']}"
    for query in ("", "?token=0", "?token=x", "?token=1&token=1"):
        answer = call(server, "PUT", path + query, b"x", "worker", BYTES)
        assert answer.status == 400 and answer.json["errors"][0]["field"] == "token", answer
    assert call(server, "PUT", path + "?token=1", {"a": 1}, "worker").status == 415


def test_a_checkpoint_goes_when_nobody_needs_it_any_more():
    with Server("--no-worker") as own:
        done, failed, open_ = (leased(own, retry=AGAIN) for _ in range(3))
        for worker, lease in (done, failed, open_):
            assert put(worker, lease, b"here").status == 204
        assert done[0].finish(done[1], "succeeded")
        assert failed[0].finish(failed[1], "permanent")
        own.kill()
        own.start()  # which looks for what is left over
        wait_for(lambda: shown(own, done[1]["execution_id"]) is None, "the checkpoint to go")
        assert shown(own, failed[1]["execution_id"]) == b"here"  # somebody may want to know why
        assert shown(own, open_[1]["execution_id"]) == b"here"


def test_a_checkpoint_of_an_execution_that_may_go_on_is_never_too_old():
    with Server("--no-worker", "--set", "logs_keep_ms=60s") as own:
        failed, open_ = (leased(own, retry=AGAIN) for _ in range(2))
        for worker, lease in (failed, open_):
            assert put(worker, lease, b"here").status == 204
        assert failed[0].finish(failed[1], "permanent")
        own.stop()
        with contextlib.closing(sqlite3.connect(own.data / "logs.db")) as db, db:
            db.execute("UPDATE checkpoint SET at_ms = at_ms - 61000")
        own.start()
        wait_for(lambda: shown(own, failed[1]["execution_id"]) is None, "the checkpoint to go")
        assert shown(own, open_[1]["execution_id"]) == b"here"


# ---- commands

# Looks are frequent, so that what is written is saved while we watch.
FAST = ("--set", "checkpoint_ms=100ms")
# And leases short, so that what is lost comes back; but no run is lost when the machine stands still
# for a moment between two polls.
LOSING = (*FAST, "--set", "lease_ms=3s", "--set", "park_ms=100ms")

# The first attempt leaves something and goes on; the others print what they find, in hexadecimal.
LEAVE = "od -An -tx1 -v $BELFRY_CHECKPOINT_FILE && exit 0; printf 'half\\000way\\377' > new && " \
        "mv new $BELFRY_CHECKPOINT_FILE; "
LEFT = b"half\0way\xff"


def run(on, then, **job):
    """(job id, execution id) of a command that leaves something, and then."""
    created = expect(201, on, "POST", "/jobs", {"command": "cd $(dirname $BELFRY_CHECKPOINT_FILE); "
                                                           + LEAVE + then, "retry": AGAIN, **job})
    return created["job_id"], created["execution_id"]


def found(on, job_id, execution_id, attempts):
    """Waits for the end, and checks that the last attempt has found it."""
    done = on.wait_for_status(job_id, "completed", "failed")
    logs = call(on, "GET", f"{API}/executions/{execution_id}/logs?stream=stdout").body
    assert bytes.fromhex(logs.decode()) == LEFT, (logs, done)
    assert [a["outcome"] for a in done["attempts"]] == attempts, done["attempts"]
    return done


def saved(on, execution_id, data=LEFT):
    wait_for(lambda: shown(on, execution_id) == data, "the checkpoint to be saved")


@contextlib.contextmanager
def belfry_worker(on, cleans_up=True):
    """A worker with a temporary directory of its own, as on another machine."""
    with tempfile.TemporaryDirectory(prefix="belfry-worker-") as temp:
        with open(on.log_path, "ab") as log:
            process = subprocess.Popen(
                [BELFRY, "worker", "--server", on.url, "--slots", "1"], cwd=temp,
                env={**on.env, "TMPDIR": temp}, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True)
        try:
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.terminate()
            process.wait(PATIENCE_S)
            wait_for(lambda: not cleans_up or not os.listdir(temp), "the directory to be empty")


def test_a_failed_command_finds_its_checkpoint_again():
    with Server(*FAST) as own:
        job, execution_id = run(own, "exit 1")
        found(own, job, execution_id, ["failed", "succeeded"])


def test_its_last_state_counts_also_when_nobody_looked_in_between():
    with Server("--set", "checkpoint_ms=1h") as own:
        slow, slow_execution = run(own, "exec sleep 1000", timeout="2s")
        job, execution_id = run(own, "exit 75")
        found(own, job, execution_id, ["failed", "succeeded"])
        found(own, slow, slow_execution, ["timeout", "succeeded"])


def test_a_checkpoint_survives_a_worker_killed_with_9():
    with Server(*LOSING) as own:
        job, execution_id = run(own, "exec sleep 1000")
        saved(own, execution_id)
        os.kill(int((own.data / "worker.lock").read_text()), signal.SIGKILL)
        found(own, job, execution_id, ["lost", "succeeded"])


def test_another_worker_elsewhere_finds_it():
    with Server("--no-worker", *LOSING) as own:
        with belfry_worker(own, cleans_up=False) as first:  # nobody is left who could
            job, execution_id = run(own, "exec sleep 1000")
            saved(own, execution_id)
            spawners = [pid for pid in processes_of(own.data) if pathlib.Path(
                f"/proc/{pid}/comm").read_text().strip() == "belfry-spawner"]
            for pid in (first.pid, *spawners):
                os.kill(pid, signal.SIGKILL)
        with belfry_worker(own):
            found(own, job, execution_id, ["lost", "succeeded"])


def test_a_worker_that_loses_its_lease_leaves_it_to_the_next():
    with Server("--no-worker", *LOSING) as own:
        with belfry_worker(own) as first, belfry_worker(own) as second:
            job, execution_id = run(own, "exec sleep 1000")
            saved(own, execution_id)
            token = execution(own, execution_id)["token"]
            holder = first if has_command(first) else second
            holder.send_signal(signal.SIGSTOP)
            found(own, job, execution_id, ["lost", "succeeded"])
            holder.send_signal(signal.SIGCONT)
            assert execution(own, execution_id)["token"] == token + 1


def has_command(worker):
    """True when a command runs below this worker."""
    children = {}
    for entry in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError, IndexError):
            stat = (entry / "stat").read_text().rpartition(")")[2].split()
            children.setdefault(int(stat[1]), []).append(int(entry.name))
    return any(children.get(spawner) for spawner in children.get(worker.pid, []))


def test_a_checkpoint_survives_a_server_killed_with_9():
    with Server(*FAST) as own:
        flag = own.dir / "flag"
        job, execution_id = run(own, f"until [ -e {flag} ]; do sleep 0.05; done; exit 1")
        saved(own, execution_id)
        own.kill()
        own.start()
        assert shown(own, execution_id) == LEFT
        flag.touch()
        found(own, job, execution_id, ["failed", "succeeded"])


def test_what_was_written_while_the_server_was_away_is_not_lost():
    with Server("--set", "checkpoint_ms=100ms") as own:
        flag, gone = own.dir / "flag", own.dir / "gone"
        job, execution_id = run(
            own, f"mv $BELFRY_CHECKPOINT_FILE new; echo early > $BELFRY_CHECKPOINT_FILE; "
                 f"until [ -e {flag} ]; do sleep 0.05; done; mv new $BELFRY_CHECKPOINT_FILE; "
                 f"touch {gone}; exit 1")
        saved(own, execution_id, b"early\n")
        own.kill()
        flag.touch()
        wait_for(gone.exists, "the command to end")
        time.sleep(0.5)  # the worker tries, in vain; without it the test would show less
        own.start()
        found(own, job, execution_id, ["failed", "succeeded"])


def test_one_that_is_too_large_is_noted_and_the_one_before_stays():
    with Server(*FAST, "--set", "checkpoint_bytes_max=2KiB") as own:
        flag = own.dir / "flag"
        job, execution_id = run(
            own, f"until [ -e {flag} ]; do sleep 0.05; done; head -c 2049 /dev/zero > new; "
                 f"mv new $BELFRY_CHECKPOINT_FILE; exit 1")
        saved(own, execution_id)
        flag.touch()
        found(own, job, execution_id, ["failed", "succeeded"])
        notes = call(own, "GET", f"{API}/executions/{execution_id}/logs?stream=note").body.decode()
        assert "the checkpoint was not saved: 2049 bytes are more than 2048" in notes, notes


if __name__ == "__main__":
    main(tests_of(globals()), shared=server)
