"""How long `belfry plan` takes: a month of 1,000 schedules played by the engine, and a year of them counted.

The mix fires some 345,000 times a month: two thirds once a day, some every hour, few every five minutes; in
five time zones and twenty queues, each third with an overlap policy of its own, each seventh under one of three
limits, each fiftieth behind another job. A tenth are overrun by `--assume`, so there is waiting and skipping.
"""

import json
import os
import random
import resource
import subprocess
import time

import rig

SCHEDULES = 1000
ZONES = ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "UTC", "Australia/Lord_Howe"]


def schedule(dice, rng):
    minute, hour = rng.randrange(60), rng.randrange(24)
    if dice < 0.68:
        return {"cron": f"{minute} {hour} * * *", "timezone": rng.choice(ZONES)}
    if dice < 0.94:
        return {"cron": f"{minute} * * * *", "timezone": rng.choice(ZONES)}
    if dice < 0.988:
        return {"every": f"{rng.randrange(20, 120)}m"}
    return {"cron": "*/5 * * * *"}


def documents():
    rng = random.Random(1)
    for i in range(SCHEDULES):
        job = {"name": f"job-{i}", "command": ["true"], "queue": f"q{i % 20}", "schedule": schedule(i / SCHEDULES, rng),
               "overlap": ["skip", "queue", "parallel"][i % 3]}
        if i % 7 == 0:
            job["concurrency"] = {"key": f"k{i % 3}", "limit": 3}
        if i % 50 == 1:
            job["depends_on"] = [{"job": f"job-{i - 1}"}]
        yield job


def submit(server):
    connection = server.connect()
    reply = server.call(connection, "POST", "/jobs/batch", json.dumps({"jobs": list(documents())}))
    if not all("job_id" in r for r in reply["results"]):
        raise SystemExit("a job was refused")
    connection.close()


def plan(server, *arguments):
    """The plan, how long it took, and the processor time of the command line."""
    environment = {**os.environ, "BELFRY_URL": f"http://127.0.0.1:{server.port}", "BELFRY_TOKEN": server.key()}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.monotonic()
    text = subprocess.run([rig.BELFRY, "plan", "-o", "json", *arguments], check=True, stdout=subprocess.PIPE,
                          text=True, env=environment).stdout
    took_s = time.monotonic() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return json.loads(text)["plan"], took_s, cpu_s


def measure(record, runs):
    with rig.temp_dir() as folder, rig.Server(folder, "--no-worker") as server:
        submit(server)
        for _ in range(runs):
            month, took_s, cpu_s = plan(server, "--until", "30d", "--slots", "20", "--assume", "6m")
            record("plan: a month of 1,000 schedules", took_s, "s", 2, at_most=20)
            record("  firings", month["totals"]["firings"])
            record("  of them wait", month["totals"]["waits"])
            record("  processor", cpu_s, "s", 2)
            year, took_s, cpu_s = plan(server, "--until", "365d", "--firings-only")
            record("plan --firings-only: a year of them", took_s, "s", 2, at_most=10)
            record("  firings", year["totals"]["firings"])
            record("  processor", cpu_s, "s", 2)
