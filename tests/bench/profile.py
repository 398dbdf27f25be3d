#!/usr/bin/python3
"""Where the time of a job goes, from being submitted in a batch to being reported as done.

    make profile        builds belfry once more, with functions that can be told apart, and runs this

Two runs of the same load (batches of 500 for a handler that does nothing). In the first one every
thread's processor time is read from the kernel, apart for the program and for system calls. In the
second, smaller one callgrind counts the instructions of each function, and the program's own time
is shared out by them: instructions do not mind company on the machine. Waiting for the disk is no
processor time, and is told apart.
"""

import collections
import os
import pathlib
import re
import subprocess
import threading
import time

import rig

JOBS = int(os.environ.get("PROFILE_JOBS", "200000"))
TRACED_JOBS = 20000
BATCH = 500

# Thread, what it does, and the functions that do it. Inclusive, so none may call another.
PLACES = [
    ("turn", "commit: the log's pages", ["db_commit"]),
    ("turn", "store: jobs in", ["insert_job"]),
    ("turn", "store: live in", ["insert_exec"]),
    ("turn", "store: history in, live out", ["finish_exec"]),
    ("turn", "store: leases of what was there", ["update_exec"]),
    ("turn", "store: owner, counters, the rest",
     ["keep_turn", "add_counter", "check_epoch", "keep_attempt"]),
    ("turn", "gather and ask", ["gather", "engine_begin", "engine_ask", "engine_ask_due"]),
    ("turn", "decide", ["engine_tick", "engine_decide"]),
    ("turn", "seal: what is to be kept", ["engine_seal"]),
    ("turn", "publish: answers, leases, events", ["publish", "tail_tell", "send_done"]),
    ("net", "JSON of requests", ["json_parse", "spec_parse", "spec_text", "poll_parse"]),
    ("net", "JSON of answers", ["poll_reply_print", "print_results", "print_result"]),
    ("net", "keys", ["auth_find"]),
]


def submit(server, jobs):
    body = '{"jobs":[%s]}' % ",".join(['{"handler":"bench"}'] * BATCH)
    lock = threading.Lock()
    left = [jobs // BATCH]

    def client():
        connection = server.connect()
        while True:
            with lock:
                if left[0] == 0:
                    return
                left[0] -= 1
            server.call(connection, "POST", "/jobs/batch", body)

    clients = [threading.Thread(target=client) for _ in range(4)]
    for each in clients:
        each.start()
    for each in clients:
        each.join()


def run_load(server, jobs):
    """Returns when all are completed, with the worker's processor seconds."""
    with rig.running(rig.BELFRY, "bench", "--role", "worker", "--server",
                     f"http://127.0.0.1:{server.port}", "--token-file", server.data / "worker.key",
                     "--slots", 2000, stdout=subprocess.DEVNULL) as worker:
        submit(server, jobs)
        connection = server.connect()
        rig.wait_until(lambda: server.call(connection, "GET", "/stats")["executions"]["completed"]
                       >= jobs, "all jobs to be completed", 0.05)
        return rig.cpu_s(worker.pid), server.call(connection, "GET", "/stats")["store"]


def thread_us(pid):
    """Processor time of a process by the names of its threads: (name, "user" or "system")."""
    used = collections.Counter()
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        name = (task / "comm").read_text().strip()
        fields = (task / "stat").read_text().rpartition(")")[2].split()
        used[name, "user"] += int(fields[11]) / rig.TICKS_PER_S * 1e6
        used[name, "system"] += int(fields[12]) / rig.TICKS_PER_S * 1e6
    return used


def measure():
    with rig.temp_dir() as folder, rig.Server(folder, "--no-worker") as server:
        before = thread_us(server.process.pid)
        worker_s, cost = run_load(server, JOBS)
        used = thread_us(server.process.pid)
        used.subtract(before)
        return used, worker_s * 1e6, cost


def inclusive(path):
    """Instructions of each function and all it called."""
    text = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", path],
                          check=True, capture_output=True, text=True).stdout
    found = collections.Counter()
    for line in text.splitlines():
        match = re.match(r"\s*([\d,]+) .*?:([\w.]+?)(?:\.[a-z0-9.]+)?(?:'2)? \[", line)
        if match:
            name = match.group(2)
            found[name] = max(found[name], int(match.group(1).replace(",", "")))
    return found


def trace():
    """Instructions by thread (told apart by what only they call) and function."""
    with rig.temp_dir() as folder:
        out = folder / "callgrind.out"
        data = folder / "data"
        data.mkdir()
        wrapper = folder / "belfry"
        wrapper.write_text(f"#!/bin/sh\nexec valgrind -q --tool=callgrind "
                           f"--callgrind-out-file={out} {rig.BELFRY} \"$@\"\n")
        wrapper.chmod(0o755)
        with rig.Server(data, "--no-worker", "--set", "lease_ms=60s", binary=str(wrapper)) as server:
            run_load(server, TRACED_JOBS)
        return inclusive(out)


SYSTEM_CALLS = {"turn": "system calls: write the log, sync it, copy it into the file",
                "net": "system calls: sockets"}


def line(thread, what, us):
    print(f"{thread:8} {what:60} {us:8.2f}")


def print_thread(thread, user_us, system_us, counts, root):
    line(thread, "", user_us + system_us)
    rest = user_us
    for name, what, functions in PLACES:
        if name == thread and root:
            us = user_us * sum(counts[f] for f in functions) / root
            rest -= us
            line("", what, us)
    if thread in SYSTEM_CALLS:
        line("", "the rest", rest)
        line("", SYSTEM_CALLS[thread], system_us)


def main():
    used, worker_us, cost = measure()
    counts = trace()
    roots = {"turn": counts["decide"], "net": counts["uv_run"]}
    for thread in ("turn", "net", "tail", "query"):
        print_thread(thread, used[thread, "user"] / JOBS, used[thread, "system"] / JOBS, counts,
                     roots.get(thread))
    line("worker", "(a process of its own)", worker_us / JOBS)
    print(f"\nwaiting for the disk: {cost['sync_ms'] * 1000 / JOBS:.2f} us a job, "
          f"{cost['syncs']} syncs in {cost['commits']} commits")
    if os.environ.get("PROFILE_DUMP"):
        for name, instructions in counts.most_common(150):
            print(f"{instructions / TRACED_JOBS:12.0f} {name}")


if __name__ == "__main__":
    main()
