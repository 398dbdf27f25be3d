#!/usr/bin/python3
"""All of belfry's figures in one run, with the limits beside them; `make bench` starts it.

    BENCH_RUNS=3     how often what varies is measured; minimum, median and maximum are shown
    BENCH_ONLY=life,json    only these parts
    BENCH_MINUTES=10 how long the healthy run of `healthy` takes, which runs only when it is named

What each figure means stands in README.md. The exit code is 0 also when a target was missed: on a
machine with company that says more about the company.
"""

import collections
import datetime
import http.client
import json
import os
import resource
import socket
import statistics
import subprocess
import sys
import time

import actions
import cluster
import peers
import plan
import postgres
import rig
import routes

RUNS = int(os.environ.get("BENCH_RUNS", "3"))
ONLY = set(filter(None, os.environ.get("BENCH_ONLY", "").split(",")))
MILLION = int(os.environ.get("BENCH_MILLION", "1000000"))
PARKED = int(os.environ.get("BENCH_PARKED", "10000"))
MINUTES = float(os.environ.get("BENCH_MINUTES", "10"))

figures = collections.OrderedDict()  # (group, name): values, unit, decimals, at_least, at_most
group = ""  # the last name that was not indented
tables = {}  # what other programs printed
details = {}  # of the last run of each measurement of `belfry bench`


def say(text):
    print(text, file=sys.stderr, flush=True)


def record(name, value, unit="", decimals=0, at_least=None, at_most=None):
    """One more value of a figure. A target is kept or missed by the median. Indented names belong
    to the one before them that is not."""
    global group
    group = group if name.startswith(" ") else name
    entry = figures.setdefault((group, name), ([], unit, decimals, at_least, at_most))
    entry[0].append(value)


# ---- belfry against itself and its limits


def bench(*arguments):
    text = subprocess.run([rig.BELFRY, "bench", "-o", "json", *arguments], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    report = json.loads(text)
    prefix = "postgresql: " if "--store" in arguments else ""
    details.update({prefix + section: values for section, values in report.items()})
    return report


def measure_load():
    """What `belfry bench` measures, and beanstalkd right behind it."""
    for run in range(RUNS):
        say(f"load, run {run + 1} of {RUNS}")
        report = bench()
        life, submit, latency = report["life"], report["submit"], report["latency"]
        record("life, jobs/s", life["jobs_per_s"], at_least=30000)
        record("  the aim", life["jobs_per_s"], at_least=60000)
        record("  server processor us a job", life["server_cpu_us_per_job"], decimals=1)
        durable = peers.beanstalkd("-f50", 200000)
        record("  beanstalkd synced every 50 ms, jobs/s", durable)
        record("  times beanstalkd -f50", life["jobs_per_s"] / durable, decimals=2, at_least=1.0)
        each = peers.beanstalkd("-f0", 10000)
        record("  beanstalkd synced every time, jobs/s", each)
        record("  times beanstalkd -f0", life["jobs_per_s"] / each, decimals=1)
        record("single submissions, 64 clients, jobs/s", submit["jobs_per_s"], at_least=10000)
        record("  p99", submit["answer_p99_ms"], "ms", 1, at_most=25)
        record("idle submit to start, p50", latency["start_p50_ms"], "ms", 2, at_most=1)
        record("  p99", latency["start_p99_ms"], "ms", 2, at_most=5)
        record("2,000 due at one moment, late p99", report["burst"]["late_p99_ms"], "ms", 1,
               at_most=100)
        record("50,000 due in a second, all started after", report["flood"]["all_started_s"], "s",
               2, at_most=2)
        record("limits that hold nothing back, part of the speed",
               report["limits"]["part_of_unlimited"], decimals=2, at_least=0.9)
        record("  jobs/s", report["limits"]["limited_per_s"])
        record("commands, jobs/s", report["commands"]["jobs_per_s"])
        record("  bare fork, exec and wait, runs/s", report["commands"]["bare_per_s"])
        record("  part of the bare rate", report["commands"]["part_of_bare"], decimals=2,
               at_least=0.7)


def measure_backlog():
    """A job costs the same whether a million others are planned or none."""
    jobs = "200000"
    for run in range(max(1, RUNS // 2)):
        say(f"backlog, run {run + 1}")
        empty = bench("life", "--jobs", jobs)["life"]
        full = bench("life", "--jobs", jobs, "--backlog", str(MILLION))["life"]
        cost = full["server_cpu_us_per_job"] / empty["server_cpu_us_per_job"]
        record("with a million planned: life, jobs/s", full["jobs_per_s"])
        record("  cost of a job, times that of an empty server", cost, decimals=2, at_most=1.3)


def measure_postgres():
    postgres.measure(RUNS, bench, record, say)


def measure_cluster():
    cluster.measure(RUNS, bench, record, say)


def measure_actions():
    actions.measure(RUNS, record, say)


def measure_history():
    routes.measure_sqlite(10 * MILLION, record, say)
    postgres.measure_history(10 * MILLION, bench, record, say)


def submit_planned(server, count, first_ms, span_ms):
    connection = server.connect()
    batch = 10000
    for start in range(0, count, batch):
        jobs = []
        for i in range(start, min(start + batch, count)):
            at = datetime.datetime.fromtimestamp((first_ms + span_ms * i // count) / 1000,
                                                 datetime.timezone.utc)
            jobs.append('{"handler":"later","schedule":{"at":"%s"}}' %
                        at.isoformat(timespec="milliseconds").replace("+00:00", "Z"))
        reply = server.call(connection, "POST", "/jobs/batch", '{"jobs":[%s]}' % ",".join(jobs))
        if not all("job_id" in r for r in reply["results"]):
            raise SystemExit("a job was refused")
    connection.close()


def idle_percent(pid, seconds=5):
    before = rig.cpu_s(pid)
    time.sleep(seconds)
    return (rig.cpu_s(pid) - before) / seconds * 100


def measure_planned(name, first_ms, span_ms):
    """first_ms from now on, over span_ms."""
    say(f"{MILLION} jobs {name}")
    with rig.temp_dir() as folder, rig.Server(folder, "--no-worker") as server:
        submit_planned(server, MILLION, int(time.time() * 1000) + first_ms, span_ms)
        loaded = rig.resident_mb(server.process.pid)
        server.stop()
        server.start()
        pid = server.process.pid
        record(f"1,000,000 jobs {name}: resident", loaded, "MB", at_most=400)
        record("  restart to ready", server.ready_ms / 1000, "s", 2, at_most=5)
        record("  resident then", rig.resident_mb(pid), "MB", at_most=400)
        time.sleep(5)  # a start reads on after it is ready
        record("  idle processor", idle_percent(pid), "%", 2, at_most=1)


def submit_schedules(server, count, crons):
    """So many jobs on schedules, with a time zone each, in turn those of the list."""
    zones = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Tokyo", "Australia/Sydney"]
    connection = server.connect()
    batch = 10000
    for start in range(0, count, batch):
        jobs = ['{"handler":"later","schedule":{"cron":"%s","timezone":"%s"}}' %
                (crons[i % len(crons)], zones[i // len(crons) % len(zones)])
                for i in range(start, min(start + batch, count))]
        reply = server.call(connection, "POST", "/jobs/batch", '{"jobs":[%s]}' % ",".join(jobs))
        if not all("job_id" in r for r in reply["results"]):
            raise SystemExit("a job was refused")
    connection.close()


def measure_restart(name, server):
    server.start()
    record(f"1,000,000 schedules {name}: restart to ready", server.ready_ms / 1000, "s", 2,
           at_most=6)
    record("  resident then", rig.resident_mb(server.process.pid), "MB", at_most=600)


def measure_near_schedules():
    """All of them have a slot within the minute after the restart: the server holds them all. The
    submission has to be over by then, so the minute is chosen with time to spare."""
    lead_s = 60 + MILLION // 5000
    with rig.temp_dir() as folder, rig.Server(folder, "--no-worker") as server:
        slot_s = (int(time.time()) + lead_s) // 60 * 60 + 60
        submit_schedules(server, MILLION, [f"{slot_s // 60 % 60} * * * *"])
        server.stop()
        if time.time() > slot_s - 10:
            raise SystemExit("submitting took too long")
        time.sleep(max(0, slot_s - 40 - time.time()))
        measure_restart("in the next minute", server)


def measure_schedules():
    """A hundred thousand that fire every minute, and a million that wait."""
    for run in range(RUNS):
        say(f"schedules, run {run + 1} of {RUNS}")
        report = bench("schedules")["schedules"]
        record("100,000 schedules a minute, late p50", report["late_p50_ms"], "ms", 1)
        record("  p99", report["late_p99_ms"], "ms", 1, at_most=250)
        record("  server processor us a run", report["server_cpu_us_per_job"], decimals=1)
    say(f"{MILLION} schedules")
    with rig.temp_dir() as folder, rig.Server(folder, "--no-worker") as server:
        submit_schedules(server, MILLION, [f"{m} * * * *" for m in range(60)])
        server.stop()
        measure_restart("within the hour", server)
    measure_near_schedules()


def measure_million():
    day_ms = 24 * 3600 * 1000
    measure_planned("next year", 365 * day_ms, 365 * day_ms)
    measure_planned("within the hour", 15 * 60 * 1000, 40 * 60 * 1000)


def measure_plan():
    say("plans")
    plan.measure(record, RUNS)


# ---- when things go wrong


def measure_failures():
    """A hundred thousand jobs that fail and are tried again, and workers that die with leases. What a
    failed attempt costs the engine, and the server with everything around it."""
    for run in range(RUNS):
        say(f"failures, run {run + 1} of {RUNS}")
        engine = rig.numbers_of(rig.PROGRAMS / "engine_bench", "failures")
        record("engine alone: a failed attempt, times a success", engine["failed_by_success"],
               decimals=2, at_most=2)
        record("  processor us a failed attempt", engine["failed_attempt_us"], decimals=2)
        storm = bench("storm")["storm"]
        record("100,000 failing: retries, fullest second by mean", storm["max_by_mean"], decimals=2,
               at_most=3)
        record("  a failed attempt, times a success", storm["failed_by_success"], decimals=2,
               at_most=2)
        record("  server processor us a failed attempt", storm["server_cpu_us_failed_attempt"],
               decimals=1)
        rescue = bench("rescue")["rescue"]
        record("dead worker: lease end to next start, p99", rescue["beyond_lease_p99_ms"], "ms", 1,
               at_most=2000)


def submit_at_full_load(server, until):
    """Batches for the handler, as fast as they are done; how many jobs."""
    body = '{"jobs":[%s]}' % ",".join(['{"handler":"bench"}'] * 500)
    connection, jobs = server.connect(), 0
    while time.monotonic() < until:
        for _ in range(20):
            server.call(connection, "POST", "/jobs/batch", body)
            jobs += 500
        while server.call(connection, "GET", "/stats", None)["executions"]["queued"] > 20000:
            time.sleep(0.05)
    connection.close()
    return jobs


def measure_healthy():
    """Nobody dies, and everybody is as busy as can be: no lease may be taken for lost. Beside the load
    run commands that take longer than a lease."""
    say(f"healthy, {MINUTES:g} minutes")
    flags = ["--slots", "32", "--set", "history_keep_ms=10s"]
    with rig.temp_dir() as folder, rig.Server(folder, *flags) as server:
        connection = server.connect()
        long_runs = int(32 * (MINUTES * 2 + 1))
        sleeps = ",".join(['{"command":["sleep","30"],"queue":"long"}'] * long_runs)
        server.call(connection, "POST", "/jobs/batch", '{"jobs":[%s]}' % sleeps)
        connection.close()
        key = folder / "worker.key"
        with rig.running(rig.BELFRY, "bench", "--role", "worker", "--server",
                         f"http://127.0.0.1:{server.port}", "--token-file", key, "--slots", "2000",
                         stdout=subprocess.DEVNULL):
            begun = time.monotonic()
            jobs = submit_at_full_load(server, begun + MINUTES * 60)
            record("healthy under full load: jobs/s", jobs / (time.monotonic() - begun))
        connection = server.connect()
        told = server.call(connection, "GET", "/alerts?limit=1000", None)["alerts"]
        lost = [a for a in told if a["kind"] == "worker_lost"]
        record("  false rescues", sum(1 + a["repeats"] for a in lost), at_most=1)
        connection.close()


# ---- connections that wait


def measure_parked():
    say(f"{PARKED} parked polls")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    flags = ["--no-worker", "--set", "park_ms=120s", "--set", f"connections_max={2 * PARKED}"]
    with rig.temp_dir() as folder, rig.Server(folder, *flags) as server:
        key, sockets, pid = server.key("worker"), [], server.process.pid
        before = rig.resident_mb(pid)
        for number in range(PARKED):
            sockets.append(socket.create_connection(("127.0.0.1", server.port)))
            worker = post(sockets[-1], key, "/workers",
                          '{"name":"w%d","slots":1,"handlers":["h"]}' % number)["worker_id"]
            send(sockets[-1], key, f"/workers/{worker}/poll",
                 '{"seq":1,"free":1,"wait_ms":100000}')
        time.sleep(1)
        record("10,000 parked polls: more resident", rig.resident_mb(pid) - before, "MB", 1,
               at_most=64)
        answer_early(sockets)
        for s in sockets:
            s.close()


def answer_early(sockets):
    """None of them has been answered: they are all parked."""
    for s in sockets:
        s.setblocking(False)
        try:
            if s.recv(1) is not None:
                raise SystemExit("a poll was answered although nothing happened")
        except BlockingIOError:
            pass


def send(connection, key, path, body):
    connection.sendall(
        (f"POST /api/v1{path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n"
         f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}").encode())


def post(connection, key, path, body):
    send(connection, key, path, body)
    response = http.client.HTTPResponse(connection)
    response.begin()
    text = response.read()
    if response.status >= 300:
        raise SystemExit(f"POST {path}: {response.status} {text}")
    return json.loads(text)


# ---- starting, reading


def measure_empty():
    say("an empty server")
    with rig.temp_dir() as folder:
        for run in range(max(RUNS, 5)):
            with rig.Server(folder) as server:
                pid = server.process.pid
                if run > 0:
                    record("empty server: exec to ready", server.ready_ms, "ms", at_most=100)
                else:
                    record("empty server: first start, exec to ready", server.ready_ms, "ms",
                           at_most=100)
                time.sleep(0.3)
                record("  resident", rig.resident_mb(pid), "MB", 1, at_most=20)
                record("  its worker and spawner, together",
                       sum(map(rig.resident_mb, rig.children(pid))), "MB", 1)


def measure_reads():
    """GET /jobs/{id}, against nginx with a file of that size: two threads, two processes."""
    with rig.temp_dir() as folder, rig.Server(folder, "--no-worker") as server:
        connection = server.connect()
        job = server.call(connection, "POST", "/jobs", '{"handler":"nobody"}')["job_id"]
        connection.request("GET", f"/api/v1/jobs/{job}",
                           headers={"Authorization": "Bearer " + server.key()})
        body = connection.getresponse().read()
        connection.close()
        url = f"http://127.0.0.1:{server.port}/api/v1/jobs/{job}"
        headers = ["Authorization: Bearer " + server.key()]
        for run in range(max(RUNS, 3)):
            say(f"reads, run {run + 1}")
            ours = peers.wrk(url, 3, headers)
            theirs = peers.nginx(body, 2, lambda u: peers.wrk(u, 3))
            record("GET /jobs/{id}, requests/s", ours)
            record(f"  nginx, a file of {len(body)} bytes, requests/s", theirs)
            record("  part of nginx", ours / theirs, decimals=2, at_least=0.4)


def measure_json():
    for run in range(RUNS):
        say(f"json, run {run + 1}")
        got = rig.numbers_of(rig.PROGRAMS / "json_bench")
        record(f"JSON of {got['document_bytes']:.0f} bytes: parse", got["parse_ns"], "ns")
        record("  parse, times cJSON", got["parse_ratio"], decimals=2, at_least=2)
        record("  print", got["print_ns"], "ns")
        record("  print, times cJSON", got["print_ratio"], decimals=2, at_least=2)


def measure_modules():
    """Single modules, by programs that print tables of their own, without targets."""
    for program in sorted(rig.PROGRAMS.glob("*_bench")):
        if program.name in ("json_bench", "beanstalk_bench"):
            continue
        say(program.name)
        tables[program.name] = subprocess.run([program], check=True, stdout=subprocess.PIPE,
                                              text=True).stdout


# ---- the report

PARTS = [("load", measure_load), ("postgres", measure_postgres), ("cluster", measure_cluster),
         ("history", measure_history), ("actions", measure_actions),
         ("backlog", measure_backlog), ("million", measure_million),
         ("schedules", measure_schedules), ("plan", measure_plan), ("failures", measure_failures),
         ("healthy", measure_healthy), ("parked", measure_parked), ("empty", measure_empty),
         ("reads", measure_reads), ("json", measure_json), ("modules", measure_modules)]


def verdict(median, at_least, at_most):
    if at_least is not None:
        return f">= {at_least:g}", "PASS" if median >= at_least else "MISS"
    if at_most is not None:
        return f"< {at_most:g}", "PASS" if median < at_most else "MISS"
    return "", ""


def print_figures():
    print(f"{'':48} {'min':>10} {'median':>10} {'max':>10}  {'':3} {'target':>10}")
    missed = 0
    for (_, name), (values, unit, decimals, at_least, at_most) in figures.items():
        median = statistics.median(values)
        target, word = verdict(median, at_least, at_most)
        missed += word == "MISS"
        columns = " ".join(f"{v:>10.{decimals}f}" for v in (min(values), median, max(values)))
        print(f"{name:48} {columns}  {unit:3} {target:>10} {word}".rstrip())
    print(f"\n{missed} missed" if missed else "\nall targets met")


def print_details():
    for section, values in details.items():
        print(f"\n{section}")
        for name, value in values.items():
            print(f"  {name.replace('_', ' '):28} {value:>14}")


def main():
    begun = time.monotonic()
    for name, part in PARTS:
        if name in ONLY or (not ONLY and name != "healthy"):
            part()
    print(f"{RUNS} runs, {time.monotonic() - begun:.0f} s; "
          "a target is kept or missed by the median\n")
    print_figures()
    for name, text in tables.items():
        print(f"\n{name}\n{text}", end="")
    print("\nThe last run of each measurement of `belfry bench`:")
    print_details()


if __name__ == "__main__":
    main()
