"""An ordinary day in little time, over and over: jobs of every kind, readers, rude clients, a worker
of its own and one beside the server. Memory and descriptors are written down as it goes; after a
warm-up they must not grow, and in the end everything that was asked for has been done.

    SOAK_SECONDS (300) how long; BELFRY_SEED repeats the same day; BELFRY is the program.
"""

import os
import pathlib
import random
import socket
import statistics
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

from belfry import PATIENCE_S, Server, main, wait_for
from protocol import API, Stream, Worker, call, expect

SECONDS = float(os.environ.get("SOAK_SECONDS", 300))
SEED = int(os.environ.get("BELFRY_SEED", time.time_ns() % 1000000))
JUDGED_FROM_S = 240
MIB = 1 << 20
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
FINAL = ("completed", "failed", "timeout", "cancelled")

server = Server("--slots", "4", env={"BELFRY_LOGS_KEEP_MS": "60s", "BELFRY_KILL_GRACE_MS": "200ms"})


class Day:
    """What the threads share: until when, what was done, and what went wrong."""

    def __init__(self):
        self.ends = time.monotonic() + SECONDS
        self.lock = threading.Lock()
        self.counts = {}
        self.jobs = []  # ids of commands
        self.failure = None
        self.all_done = False

    def goes_on(self):
        return time.monotonic() < self.ends and self.failure is None

    def count(self, what, n=1):
        with self.lock:
            self.counts[what] = self.counts.get(what, 0) + n


def commands(day, rng):
    """Short commands of every fate, some of them cancelled or run again."""
    texts = ["echo hello", "exit 3", "sleep 0.05", "head -c 300000 /dev/zero", "sleep 30",
             "kill -9 $$", "echo '{\"n\": 1}' > $BELFRY_RESULT_FILE", "cat"]
    while day.goes_on():
        job = {"command": rng.choice(texts), "payload": {"n": rng.random()}, "timeout": "300ms",
               "retry": {"max_retries": rng.randrange(2), "delay": "20ms"},
               "priority": rng.randrange(1000), "queue": f"q{rng.randrange(20)}"}
        if rng.random() < 0.2:
            job["schedule"] = {"delay": f"{rng.randrange(2000)}ms"}
        created = expect(201, server, "POST", "/jobs", job)
        day.jobs.append(created["job_id"])
        day.count("commands")
        if rng.random() < 0.2:
            call(server, "DELETE", API + "/jobs/" + rng.choice(day.jobs))
            day.count("cancels")
        if rng.random() < 0.1:
            call(server, "POST", f"{API}/executions/{created['execution_id']}/retry")
        time.sleep(0.02)


def batches(day, rng):
    while day.goes_on():
        retry = {"max_retries": 1, "delay": "50ms"}
        jobs = [{"handler": "soak", "payload": [i] * rng.randrange(30), "retry": retry}
                for i in range(200)]
        results = expect(200, server, "POST", "/jobs/batch", {"jobs": jobs})["results"]
        day.count("handler jobs", len([r for r in results if "job_id" in r]))
        time.sleep(0.2)


def handler(day, rng):
    """Takes all there is and says what became of it, until nothing is left."""
    worker = Worker(server, slots=1000, handlers=["soak"])
    leases = []
    while (day.goes_on() or not day.all_done) and day.failure is None:
        results = [(lease, rng.choice(["succeeded"] * 9 + ["failed"])) for lease in leases]
        answer = worker.poll(free=1000, wait_ms=200, results=results)
        assert all(verdict["accepted"] for verdict in answer["results"]), answer["results"]
        day.count("results", len(results))
        leases = answer["leases"]


def readers(day, rng):
    while day.goes_on():
        page = expect(200, server, "GET", f"/jobs?limit={rng.randrange(1, 100)}"
                      f"&status=completed&queue=q{rng.randrange(20)}")
        if page["jobs"]:
            job_id = rng.choice(page["jobs"])["job_id"]
            expect(200, server, "GET", "/jobs/" + job_id)
            run = expect(200, server, "GET", f"/jobs/{job_id}/executions?limit=1")["executions"][0]
            with Stream(server, f"/executions/{run['execution_id']}/logs?follow=true") as stream:
                for _, event, _ in stream:
                    if event == "end" or rng.random() < 0.3:
                        break
        expect(200, server, "GET", "/stats")
        with Stream(server, "/events") as stream:
            next(stream)
        day.count("rounds of reading")


def rude(day, rng):
    """Breaks off, talks nonsense, hangs around."""
    texts = [b"GET / HTTP/1.1\r\nHost", b"\x16\x03\x01", b"POST /api/v1/jobs HTTP/1.1\r\nHost: x\r\n"
             b"Content-Length: 1000000\r\n\r\n", b"GET /api/v1/events HTTP/1.1\r\nHost: x\r\n"
             b"Authorization: Bearer " + server.key().encode() + b"\r\n\r\n", b"\r\n" * 10000]
    hanging = []
    while day.goes_on():
        client = socket.create_connection(("127.0.0.1", server.port), PATIENCE_S)
        client.sendall(rng.choice(texts))
        hanging.append(client)
        if len(hanging) > 20:
            hanging.pop(rng.randrange(20)).close()
        day.count("rude connections")
        time.sleep(0.01)
    for client in hanging:
        client.close()


class Watch:
    """Samples of resident memory and descriptors of server and worker."""

    def __init__(self):
        self.pids = {"server": server.process.pid,
                     "worker": int((server.data / "worker.lock").read_text())}
        self.samples = {who: [] for who in self.pids}

    def look(self):
        for who, pid in self.pids.items():
            with open(f"/proc/{pid}/statm") as statm:
                resident = int(statm.read().split()[1]) * PAGE_BYTES
            self.samples[who].append((resident, len(os.listdir(f"/proc/{pid}/fd"))))

    def check(self):
        """The last quarter must look like the second one. Caches fill within the first minute, so
        that a short run can say nothing about memory."""
        for who, samples in self.samples.items():
            quarter = len(samples) // 4
            early, late = samples[quarter:2 * quarter], samples[3 * quarter:]
            memory = [statistics.median(s[0] for s in part) / MIB for part in (early, late)]
            files = [statistics.median(s[1] for s in part) for part in (early, late)]
            short = SECONDS < JUDGED_FROM_S
            print(f"{who}: memory {memory[0]:.1f} then {memory[1]:.1f} MiB"
                  f"{' (too short a run to judge)' if short else ''}, "
                  f"descriptors {files[0]:.0f} then {files[1]:.0f}")
            assert short or memory[1] < 1.1 * memory[0] + 8, f"the memory of the {who} grows"
            assert files[1] <= files[0] + 10, f"the descriptors of the {who} grow"


def guarded(day, what, rng):
    try:
        what(day, rng)
    except Exception as failure:
        day.failure = day.failure or failure
        raise


def test_a_long_day_leaves_memory_and_descriptors_as_they_were():
    print(f"BELFRY_SEED={SEED}, {SECONDS:.0f} s")
    day = Day()
    wait_for(lambda: (server.data / "worker.lock").exists(), "the worker")
    wait_for(lambda: (server.data / "worker.lock").read_text().strip(), "the worker's number")
    watch = Watch()
    worker, *others = [threading.Thread(target=guarded, args=(day, what, random.Random(SEED + i)))
                       for i, what in enumerate((handler, commands, commands, batches, readers, rude))]
    for thread in (worker, *others):
        thread.start()
    while day.goes_on():
        watch.look()
        time.sleep(min(2, SECONDS / 50))
    for thread in others:
        thread.join()
    try:
        stats = wait_for(lambda: (s := expect(200, server, "GET", "/stats"))["jobs"]["active"] == 0
                         and s, "all jobs to end", 120)
    finally:
        day.all_done = True
        worker.join()
    if day.failure is not None:
        raise day.failure
    asked = day.counts["commands"] + day.counts["handler jobs"]
    assert sum(stats["jobs"].values()) == asked, (stats["jobs"], day.counts)
    print(", ".join(f"{n} {what}" for what, n in sorted(day.counts.items())))
    watch.check()


if __name__ == "__main__":
    main([test_a_long_day_leaves_memory_and_descriptors_as_they_were], shared=server)
