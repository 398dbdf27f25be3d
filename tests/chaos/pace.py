"""Jobs by the thousand for a handler that does nothing, and how they fare: when they start, how many are done.

The worker is that of `belfry bench`, which tells for each job how long ago its client sent it (both go by the
monotonic clock of the machine), and how many it has run.
"""

import http.client
import itertools
import json
import statistics
import subprocess
import threading
import time

from belfry import BELFRY, wait_for

SLOTS = 2000
TICK_S = 0.01  # between two batches of steady work
BATCH = 500  # of full load
BACKLOG_MAX = 20000  # at which full load waits for the worker
CLIENTS = 4
SLICES = 10  # of a phase: company for a moment spoils one of them, and the median is asked


class Pace:
    """Use it as a context: the worker lives as long."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.starts = []  # ms from sending to start, of steady work
        self.calls = 0  # of the handler
        self.sent = 0  # jobs that were acknowledged
        self.lock = threading.Lock()
        self.worker = None
        self.reader = threading.Thread(target=self.read)

    def __enter__(self):
        urls = ",".join(node.url for node in self.cluster.nodes)
        self.worker = subprocess.Popen(
            [BELFRY, "bench", "--role", "worker", "--server", urls, "--token-file",
             str(self.cluster.key_path("worker.key")), "--slots", str(SLOTS)],
            env=self.cluster.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.reader.start()
        return self

    def __exit__(self, *_):
        self.worker.terminate()
        self.worker.wait(60)
        self.reader.join()

    def read(self):
        for line in self.worker.stdout:
            calls, start_us, *_ = map(int, line.split())
            if start_us > 0:
                self.starts.append(start_us / 1000)
            self.calls = calls

    def connect(self, number):
        node = self.cluster.nodes[number % len(self.cluster.nodes)]
        return http.client.HTTPConnection(node.host, node.port, timeout=60)

    def submit(self, connection, jobs):
        connection.request("POST", "/api/v1/jobs/batch", json.dumps({"jobs": jobs}),
                           {"Authorization": "Bearer " + self.cluster.key(),
                            "Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status == 200, f"a batch was answered {answer.status}: {text[:200]}"
        with self.lock:
            self.sent += len(jobs)

    def finish(self):
        wait_for(lambda: self.calls == self.sent, "all jobs to run", 60)

    # ---- a steady stream

    def steady(self, rate, seconds):
        """So many jobs a second; the 99th percentile of their start, in ms: the median of ten slices."""
        connections = itertools.cycle([self.connect(i) for i in range(len(self.cluster.nodes))])
        first, jobs, begun = len(self.starts), 0, time.monotonic()
        while (elapsed := time.monotonic() - begun) < seconds:
            due = int(elapsed * rate) - jobs
            if due > 0:
                sent_us = time.monotonic_ns() // 1000
                self.submit(next(connections),
                            [{"handler": "bench", "payload": {"sent_us": sent_us}}] * due)
                jobs += due
            time.sleep(TICK_S)
        self.finish()
        starts = self.starts[first:]
        size = len(starts) // SLICES
        slices = [sorted(starts[i * size:(i + 1) * size]) for i in range(SLICES)]
        return statistics.median(part[size * 99 // 100] for part in slices)

    # ---- as much as there can be

    def push(self, number, over):
        connection, jobs = self.connect(number), [{"handler": "bench"}] * BATCH
        while not over.is_set():
            if self.sent - self.calls > BACKLOG_MAX:
                time.sleep(0.005)
            else:
                self.submit(connection, jobs)

    def full(self, seconds):
        """Jobs a second in each tenth of the time, with as many as the servers can take."""
        over, rates = threading.Event(), []
        threads = [threading.Thread(target=self.push, args=(i, over)) for i in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for _ in range(SLICES):
            before, begun = self.calls, time.monotonic()
            time.sleep(seconds / SLICES)
            rates.append((self.calls - before) / (time.monotonic() - begun))
        over.set()
        for thread in threads:
            thread.join()
        self.finish()
        return rates
