"""Whether a change made belfry slower: two builds measured in turn on one machine.

    BENCH_PROGRAMS= BELFRY=new /usr/bin/python3 tests/bench/compare.py OLD NEW [--runs 7] [--only life,latency]
    ... --only memory,start --rows 10000000

`memory` is what a waiting execution takes in the server, `start` is from the fork to ready with so many jobs
planned; both on SQLite, on files that the old build made.

Each round runs the old build, the new one and the old one again, beginning with another of them each time.
The third column is what the machine's own noise makes of equal programs: a difference within it says
nothing. Above 1 the new build is better, whatever the unit. Nothing else should run meanwhile.
"""

import argparse
import json
import statistics
import subprocess
import sys

import postgres
import rig

# What is measured: the name of a measurement, its options, the field and whether more is better.
FIGURES = {
    "life": (["--jobs", "200000"], {"jobs_per_s": True, "all_cpu_us_per_job": False}),
    "submit": (["--jobs", "150000"], {"jobs_per_s": True, "all_cpu_us_per_job": False}),
    "latency": (["--seconds", "6"], {"start_p50_ms": False}),
    "memory": ([], {"bytes_per_waiting": False}),
    "start": ([], {"ready_ms": False}),
}
BENCHED = ["life", "submit", "latency"]  # the others are measured here


def bench(binary, name, options):
    text = subprocess.run([binary, "bench", name, "-o", "json", *options], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    return json.loads(text)[name]


def submit_many(server, count, schedule):
    connection = server.connect()
    batch = ",".join(['{"handler":"later"%s}' % schedule] * 10000)
    for _ in range(count // 10000):
        server.call(connection, "POST", "/jobs/batch", '{"jobs":[%s]}' % batch)
    connection.close()


def memory_per_waiting(binary, count=200_000):
    """Bytes of the server for each execution that waits for a worker."""
    with rig.temp_dir() as folder, rig.Server(folder, "--no-worker", binary=binary) as server:
        pid = server.process.pid
        submit_many(server, 10_000, "")
        before = rig.resident_mb(pid)
        submit_many(server, count, "")
        return (rig.resident_mb(pid) - before) * 1024 * 1024 / count


def in_turn(builds, runs):
    """The numbers of the builds, so many rounds of them, each round beginning with another."""
    for run in range(runs):
        for i in range(len(builds)):
            yield (run + i) % len(builds)


def measure_memory(builds, runs, samples):
    figures = samples.setdefault(("SQLite", "memory", "bytes_per_waiting"), ([], [], []))
    for build in in_turn(builds, runs):
        figures[build].append(memory_per_waiting(builds[build]))


def measure_start(builds, runs, rows, samples):
    """One directory with so many jobs for next year: each build starts on it in turn."""
    with rig.temp_dir() as folder:
        server = rig.Server(folder, "--no-worker", binary=builds[0])
        server.start()
        submit_many(server, rows, ',"schedule":{"delay":"365d"}')
        server.stop()
        figures = samples.setdefault(("SQLite", "start", "ready_ms"), ([], [], []))
        for build in in_turn(builds, runs):
            server.binary = builds[build]
            server.start()
            server.stop()
            figures[build].append(server.ready_ms)


def one_round(builds, first, names, store, samples):
    order = [(first + i) % len(builds) for i in range(len(builds))]
    for name in names:
        options, fields = FIGURES[name]
        for build in order:
            figures = bench(builds[build], name, options + store)
            for field in fields:
                key = ("PostgreSQL" if store else "SQLite", name, field)
                samples.setdefault(key, ([], [], []))[build].append(figures[field])


def ratio(before, after, more_is_better):
    quotient = statistics.median(after) / statistics.median(before)
    return quotient if more_is_better else 1 / quotient


def report(samples):
    print(f"{'':42}{'old':>12}{'new':>12}{'new/old':>10}{'old/old':>10}{'pairs':>8}")
    for (store, name, field), (old, new, again) in samples.items():
        more = FIGURES[name][1][field]
        both = old + again
        pairs = [(n / o if more else o / n) for o, n in zip(old, new)]
        print(f"{store + ' ' + name + ' ' + field:42}{statistics.median(both):12.2f}"
              f"{statistics.median(new):12.2f}{ratio(both, new, more):10.3f}"
              f"{ratio(old, again, more):10.3f}{statistics.median(pairs):8.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--only", default=",".join(BENCHED))
    parser.add_argument("--stores", default="sqlite,postgres")
    parser.add_argument("--rows", type=int, default=10_000_000)
    arguments = parser.parse_args()
    builds, only = [arguments.old, arguments.new, arguments.old], arguments.only.split(",")
    names, samples = [name for name in only if name in BENCHED], {}
    if "memory" in only:
        measure_memory(builds, arguments.runs, samples)
    if "start" in only:
        measure_start(builds, arguments.runs, arguments.rows, samples)
    if names:
        measure_bench(builds, names, arguments, samples)
    report(samples)


def measure_bench(builds, names, arguments, samples):
    with postgres.server() as url:
        bench(arguments.new, "life", ["--store", url + "/postgres"])  # fills the log's files once
        for run in range(arguments.runs):
            print(f"round {run + 1} of {arguments.runs}", file=sys.stderr, flush=True)
            if "sqlite" in arguments.stores:
                one_round(builds, run % 3, names, [], samples)
            if "postgres" in arguments.stores:
                one_round(builds, run % 3, names, ["--store", url + "/postgres"], samples)


main()
