"""100,000 jobs cancelled by a filter while 2,000 others a second are submitted, start and end.

The others are sent on a plan that does not wait for answers, so a server that falls behind is seen as
late starts and as fewer ends a second, not as fewer submissions.

    BELFRY=build/belfry BENCH_PROGRAMS= /usr/bin/python3 tests/bench/actions.py [sqlite|postgres] [RUNS]
"""

import contextlib
import http.client
import json
import queue
import subprocess
import sys
import threading
import time

import postgres
import rig

CANCELS = 100000
PER_S = 2000
BATCH = 20
CLIENTS = 16
QUIET_S = 5  # before the action begins, to compare with


def now_us():
    return time.monotonic_ns() // 1000


class Others:
    """The jobs beside the action, and the notes of the worker that runs them."""

    def __init__(self, server, slots):
        self.server, self.slots = server, slots
        self.plan = queue.SimpleQueue()
        self.late_us = []  # (when it was to start, how late it did)
        self.over = threading.Event()
        self.failed = None

    def __enter__(self):
        self.worker = subprocess.Popen(
            [rig.BELFRY, "bench", "--role", "worker", "--server",
             f"http://127.0.0.1:{self.server.port}", "--token-file",
             self.server.data / "worker.key", "--slots", str(self.slots)], stdout=subprocess.PIPE)
        self.threads = [threading.Thread(target=self.listen)]
        self.threads += [threading.Thread(target=self.send) for _ in range(CLIENTS)]
        self.threads.append(threading.Thread(target=self.pace))
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        for _ in range(CLIENTS):
            self.plan.put(None)
        for thread in self.threads[1:]:
            thread.join()
        self.worker.terminate()
        self.threads[0].join()
        self.worker.wait()

    def pace(self):
        begun = now_us()
        for number in range(1 << 30):
            due = begun + number * BATCH * 1000000 // PER_S
            if self.over.wait(max(0, due - now_us()) / 1e6):
                return
            self.plan.put(due)

    def send(self):
        connection = self.server.connect()
        while (due := self.plan.get()) is not None:
            job = '{"handler":"bench","queue":"others","payload":{"sent_us":%d}}' % due
            try:
                self.server.call(connection, "POST", "/jobs/batch",
                                 '{"jobs":[%s]}' % ",".join([job] * BATCH))
            except (OSError, SystemExit, http.client.HTTPException) as error:
                self.failed = error
                return
        connection.close()

    def listen(self):
        for line in self.worker.stdout:
            fields = line.split()
            if int(fields[1]) > 0:
                self.late_us.append((now_us(), int(fields[1])))

    def figures(self, begin_us, end_us):
        """Started jobs a second, and the 99th percentile of how late, in milliseconds."""
        late = sorted(late for at, late in list(self.late_us) if begin_us <= at < end_us)
        if not late:
            return 0.0, float("inf")
        return len(late) * 1e6 / (end_us - begin_us), late[len(late) * 99 // 100] / 1000


def submit_waiting(server):
    connection = server.connect()
    body = '{"jobs":[%s]}' % ",".join(['{"handler":"nobody","queue":"waiting"}'] * 500)
    for _ in range(CANCELS // 500):
        server.call(connection, "POST", "/jobs/batch", body)
    connection.close()


def cancel_all(server):
    """The operation when it is over, and the moments between which it ran."""
    connection = server.connect()
    begun = now_us()
    operation = server.call(connection, "POST", "/jobs/actions", json.dumps(
        {"action": "cancel", "filter": {"queue": "waiting"}}))
    while operation["status"] == "running":
        time.sleep(0.05)
        operation = server.call(connection, "GET", "/operations/" + operation["operation_id"])
    ended = now_us()
    connection.close()
    if operation["done"] != CANCELS:
        raise SystemExit(f"the action came to another end: {operation}")
    return begun, ended


def measure_one(server):
    submit_waiting(server)
    with Others(server, 2000) as others:
        time.sleep(2)
        quiet = now_us()
        time.sleep(QUIET_S)
        begun, ended = cancel_all(server)
        time.sleep(2)
        if others.failed is not None:
            raise SystemExit(f"a submission failed: {others.failed}")
        before_per_s, before_p99 = others.figures(quiet, quiet + QUIET_S * 1000000)
        per_s, p99 = others.figures(begun, ended)
    return {"cancels_per_s": CANCELS * 1e6 / (ended - begun), "others_per_s": per_s,
            "start_p99_ms": p99, "others_before_per_s": before_per_s,
            "start_before_p99_ms": before_p99}


@contextlib.contextmanager
def store(name):
    if name == "sqlite":
        yield None
    else:
        with postgres.server() as url:
            yield url


def run(name):
    """One measurement on a database of its own."""
    with store(name) as url, rig.temp_dir() as folder:
        flags = ["--no-worker"] + (["--store", url] if url else [])
        with rig.Server(folder, *flags) as server:
            return measure_one(server)


def measure(runs, record, say):
    for name in ("sqlite", "postgres"):
        for number in range(runs):
            say(f"actions on {name}, run {number + 1} of {runs}")
            found = run(name)
            record(f"{name}: cancels/s by a filter", found["cancels_per_s"], at_least=5000)
            record("  other jobs/s meanwhile, of 2,000", found["others_per_s"], at_least=1950)
            record("  their start, p99", found["start_p99_ms"], "ms", 1, at_most=50)


def main():
    name = sys.argv[1] if len(sys.argv) > 1 else "sqlite"
    for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 1):
        print("  ".join(f"{key} {value:.1f}" for key, value in run(name).items()), flush=True)


if __name__ == "__main__":
    main()
