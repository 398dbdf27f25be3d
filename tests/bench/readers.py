"""What a hundred readers of the live feed cost those who run jobs, or a scrape of the metrics each second.

Life and starts are measured in pairs, with 100 readers of `GET /events?view=summary` and without, beginning
with the other one each time. Starts are those of 2,000 jobs a second that are sent on a plan (actions.py). With
`scrapes` there are rows of 100 queues, which one reader asks for each second.

    BELFRY=build/belfry BENCH_PROGRAMS= /usr/bin/python3 tests/bench/readers.py [scrapes] [PAIRS]
"""

import contextlib
import http.client
import json
import selectors
import socket
import statistics
import subprocess
import sys
import time

import actions
import profile
import rig

READERS = 100
SCRAPES = "scrapes" in sys.argv
WITH = "with scrapes" if SCRAPES else f"{READERS} readers"
JOBS = 400000
# The load is over when /stats says so, which is as old as readers let it be by default.
FRESH = ("--set", "stats_age_ms=20ms")
STARTS_S = 8


def read_for_ever(port, key):
    """The readers, in a process of their own. Says so when all of them have been answered."""
    looks = selectors.DefaultSelector()
    for _ in range(READERS):
        stream = socket.create_connection(("127.0.0.1", port))
        stream.sendall(b"GET /api/v1/events?view=summary HTTP/1.1\r\nHost: x\r\n"
                       b"Accept: text/event-stream\r\nAuthorization: Bearer " + key.encode() + b"\r\n\r\n")
        if not stream.recv(65536).startswith(b"HTTP/1.1 200"):
            raise SystemExit("a reader was refused")
        looks.register(stream, selectors.EVENT_READ)
    print("reading", flush=True)
    while True:
        for at, _ in looks.select():
            if not at.fileobj.recv(1 << 20):
                raise SystemExit("a stream ended")


def scrape_for_ever(port, key):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    headers = {"Authorization": "Bearer " + key, "Accept-Encoding": "gzip"}
    while True:
        connection.request("GET", "/metrics", headers=headers)
        answer = connection.getresponse()
        if answer.status != 200 or not answer.read():
            raise SystemExit("a scrape was refused")
        print("reading", flush=True)
        time.sleep(1)


def fill(server):
    """Rows of 100 queues."""
    later = {"handler": "none", "schedule": {"delay": "1h"}}
    jobs = [{**later, "queue": f"queue-{i}"} for i in range(100)]
    server.call(server.connect(), "POST", "/jobs/batch", json.dumps({"jobs": jobs}).encode())


@contextlib.contextmanager
def readers(server, wanted):
    if SCRAPES:
        fill(server)
    if not wanted:
        yield
        return
    command = [sys.executable, __file__, "--scrape" if SCRAPES else "--read", str(server.port), server.key()]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        yield
        if process.poll() is not None:
            raise SystemExit("the readers ended before their time")
        process.kill()


def life(wanted):
    """Jobs a second, and microseconds of the server's processor for each."""
    with rig.temp_dir() as folder, rig.Server(folder, "--no-worker", *FRESH) as server, \
            readers(server, wanted):
        before = rig.cpu_s(server.process.pid)
        begun = time.monotonic()
        profile.run_load(server, JOBS)
        took = time.monotonic() - begun
        return JOBS / took, (rig.cpu_s(server.process.pid) - before) * 1e6 / JOBS


def start_p99_ms(wanted):
    with rig.temp_dir() as folder, rig.Server(folder, "--no-worker", *FRESH) as server, \
            readers(server, wanted):
        with actions.Others(server, 2000) as others:
            time.sleep(2)
            begun = actions.now_us()
            time.sleep(STARTS_S)
            return others.figures(begun, actions.now_us())[1]


def measure(pairs):
    found = {False: [], True: []}
    for pair in range(pairs):
        for wanted in (pair % 2 == 1, pair % 2 == 0):
            rate, cpu_us = life(wanted)
            late_ms = start_p99_ms(wanted)
            found[wanted].append((rate, cpu_us, late_ms))
            print(f"{WITH if wanted else 'without':>12}  {rate:8.0f} jobs/s  {cpu_us:6.1f} us a job  "
                  f"start p99 {late_ms:6.2f} ms", flush=True)
    ratios = [with_them[0] / without[0] for with_them, without in zip(found[True], found[False])]
    print(f"life with readers, part of without: median {statistics.median(ratios):.3f}, "
          f"{min(ratios):.3f} to {max(ratios):.3f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--read"]:
        read_for_ever(int(sys.argv[2]), sys.argv[3])
    if sys.argv[1:2] == ["--scrape"]:
        scrape_for_ever(int(sys.argv[2]), sys.argv[3])
    measure(int(sys.argv[-1]) if sys.argv[-1].isdigit() else 5)
