"""Whether a change made belfry slower: two builds measured in turn on one machine.

    BENCH_PROGRAMS= BELFRY=new /usr/bin/python3 tests/bench/compare.py OLD NEW [--runs 7] [--only life,latency]

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

# What is measured: the name of a measurement, its options, the field and whether more is better.
FIGURES = {
    "life": (["--jobs", "200000"], {"jobs_per_s": True, "all_cpu_us_per_job": False}),
    "submit": (["--jobs", "150000"], {"jobs_per_s": True, "all_cpu_us_per_job": False}),
    "latency": (["--seconds", "6"], {"start_p50_ms": False}),
}


def bench(binary, name, options):
    text = subprocess.run([binary, "bench", name, "-o", "json", *options], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    return json.loads(text)[name]


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
    parser.add_argument("--only", default=",".join(FIGURES))
    parser.add_argument("--stores", default="sqlite,postgres")
    arguments = parser.parse_args()
    builds, names = [arguments.old, arguments.new, arguments.old], arguments.only.split(",")
    samples = {}
    with postgres.server() as url:
        bench(arguments.new, "life", ["--store", url + "/postgres"])  # fills the log's files once
        for run in range(arguments.runs):
            print(f"round {run + 1} of {arguments.runs}", file=sys.stderr, flush=True)
            if "sqlite" in arguments.stores:
                one_round(builds, run % 3, names, [], samples)
            if "postgres" in arguments.stores:
                one_round(builds, run % 3, names, ["--store", url + "/postgres"], samples)
    report(samples)


main()
