#!/usr/bin/python3
"""Hours of bad luck in minutes: a real cluster on a real PostgreSQL, and everything that can break.

    chaos.py [SCENARIO...]      those below, or all but the one that the night has time for

    CHAOS_SEED (the time)       repeats the same choices
    CHAOS_SCALE (1)             multiplies how long each scenario lasts; 0.1 tries them out
    CHAOS_REPORT                a file for the report; tests/night/chaos.txt under `make chaos`

In every scenario clients submit and schedules fire all the time; afterwards the files that the jobs
wrote are compared with what was acknowledged (load.py).
"""

import contextlib
import os
import random
import statistics
import subprocess
import sys
import time
import traceback

from cluster import Cluster, Island
from load import Judge, Load
from pace import Pace
from belfry import wait_for
from postgres import Postgres

SEED = int(os.environ.get("CHAOS_SEED", time.time_ns() % 1000000))
SCALE = float(os.environ.get("CHAOS_SCALE", 1))
NODE_LEASE_S = 5
MANY_CONNECTIONS = ("max_connections=400",)
BY_NIGHT = ("held_open_at_full_load",)
TRUSTED = ("--allow-plaintext-remote",)  # the network of the tests

scenarios = {}


def scenario(function):
    scenarios[function.__name__] = function
    return function


@contextlib.contextmanager
def under_load(postgres, notes, url=None, **options):
    """A cluster under load; afterwards, without further trouble, everything is judged."""
    with Cluster(url or postgres.url, **options) as cluster:
        load = Load(cluster, SEED)
        load.start()
        yield cluster, load
        load.stop()
        for process in [*cluster.nodes, *cluster.workers]:
            process.check()
        for node in cluster.nodes:
            if not node.lives():
                node.start()
        notes.update(Judge(load).judge())
        notes["errors that clients saw and retried"] = dict(load.errors)
        notes["of which more than once"] = len(load.surfaced)


def lasts(seconds):
    """Yields the time that is left, until it is over."""
    end = time.monotonic() + seconds * SCALE
    while (left := end - time.monotonic()) > 0:
        yield left


@scenario
def kills(notes):
    """kill -9 of a random server every few seconds for two minutes."""
    rng = random.Random(SEED)
    with Postgres() as postgres, under_load(postgres, notes) as (cluster, _):
        count = 0
        for _ in lasts(120):
            node = rng.choice(cluster.nodes)
            node.kill()
            time.sleep(rng.uniform(0.1, 4))
            node.start()
            time.sleep(rng.uniform(1, 4))
            count += 1
        notes["servers killed"] = count


@scenario
def pause(notes):
    """A server is stopped for three lease times, and continued."""
    rng = random.Random(SEED)
    with Postgres() as postgres, under_load(postgres, notes) as (cluster, _):
        for i, _ in enumerate(lasts(60)):
            node = rng.choice(cluster.nodes)
            node.pause()
            time.sleep(3 * NODE_LEASE_S)
            node.go_on()
            time.sleep(NODE_LEASE_S)
            notes["servers paused"] = i + 1


@scenario
def database_restarts(notes):
    """PostgreSQL is killed and started again."""
    with Postgres() as postgres, under_load(postgres, notes) as (_, __):
        for i, _ in enumerate(lasts(60)):
            postgres.kill()
            time.sleep(1)
            postgres.start()
            time.sleep(8)
            notes["databases killed"] = i + 1


@scenario
def failover(notes):
    """The primary dies, its synchronous replica is promoted."""
    with Postgres() as primary, primary.replica(synchronous=True) as replica:
        url = f"postgres://postgres@127.0.0.1:{primary.port},127.0.0.1:{replica.port}/postgres"
        with under_load(primary, notes, url=url) as (cluster, load):
            time.sleep(15 * SCALE)
            primary.kill()
            replica.promote()
            writable = time.monotonic()
            before = len(load.acknowledged)
            wait_for(lambda: len(load.acknowledged) > before + 5, "writes to resume")
            notes["writes resumed after"] = f"{time.monotonic() - writable:.2f} s"
            time.sleep(15 * SCALE)
        assert float(notes["writes resumed after"].split()[0]) < 5, notes


@scenario
def rude_neighbours(notes):
    """Backends are terminated, five a second; 300 foreign connections and an open transaction are in the way."""
    with Postgres(settings=MANY_CONNECTIONS) as postgres, under_load(postgres, notes) as (_, __):
        with postgres.idle_connections(300), postgres.open_transaction():
            ended, due = 0, time.monotonic()
            for _ in lasts(60):
                ended += postgres.terminate_one("belfry")
                due += 0.2
                time.sleep(max(0, due - time.monotonic()))
            notes["backends terminated"] = ended


def paced(postgres):
    """A cluster for jobs by the thousand."""
    return Cluster(postgres.url, workers=0)


@scenario
def held_open(notes):
    """A transaction that wrote stays open, at 2,000 jobs a second: they start as soon as without it."""
    with Postgres() as postgres, paced(postgres) as cluster, Pace(cluster) as pace:
        pace.steady(2000, max(5, 10 * SCALE))  # a warm database
        clean = pace.steady(2000, 300 * SCALE)
        with postgres.open_transaction():
            held = pace.steady(2000, 300 * SCALE)
    notes["start p99 without, with"] = f"{clean:.1f} ms, {held:.1f} ms"
    notes["times"] = f"{held / clean:.2f}"
    assert held <= 1.2 * clean, notes


@scenario
def held_open_at_full_load(notes):
    """The same with as many jobs as there can be: at least half of them, and not fewer and fewer."""
    with Postgres() as postgres, paced(postgres) as cluster, Pace(cluster) as pace:
        pace.full(max(5, 10 * SCALE))
        clean = statistics.mean(pace.full(60 * SCALE))
        with postgres.open_transaction():
            rates = pace.full(600 * SCALE)
    half = len(rates) // 2
    early, late = statistics.mean(rates[:half]), statistics.mean(rates[half:])
    notes["jobs/s without it"] = f"{clean:.0f}"
    notes["jobs/s with it, by tenths of the time"] = " ".join(f"{rate:.0f}" for rate in rates)
    assert (early + late) / 2 >= clean / 2, notes
    assert late >= 0.9 * early, notes


def cut_off(notes, bridge):
    with Postgres(settings=["listen_addresses=*"]) as postgres, Island(postgres) as island:
        postgres.admit("10.231.7.0/24")
        with under_load(postgres, notes, island=island, flags=TRUSTED) as (_, __):
            for i, _ in enumerate(lasts(60)):
                island.cut(bridge)
                time.sleep(3 * NODE_LEASE_S)
                island.mend(bridge)
                time.sleep(NODE_LEASE_S)
                notes["times cut off"] = i + 1


@scenario
def cut_off_from_database(notes):
    """A server loses PostgreSQL and keeps its workers."""
    cut_off(notes, "database")


@scenario
def cut_off_from_workers(notes):
    """A server loses workers, clients and other servers, and keeps PostgreSQL."""
    cut_off(notes, "others")


@scenario
def rolling_restart(notes):
    """All servers are restarted one after the other; who retries once sees no error."""
    with Postgres() as postgres, under_load(postgres, notes) as (cluster, load):
        for i, _ in enumerate(lasts(45)):
            node = cluster.nodes[i % len(cluster.nodes)]
            assert node.end() == 0, f"{node.name} did not end well: {node.log}"
            node.start_and_wait()
            time.sleep(2)
            notes["servers restarted"] = i + 1
    assert not load.surfaced, (len(load.surfaced), load.surfaced[:3])


def commit():
    return subprocess.run(["git", "describe", "--always", "--dirty", "--exclude", "*"], text=True,
                          capture_output=True, check=False).stdout.strip() or "unknown"


def main():
    chosen = sys.argv[1:] or [name for name in scenarios if name not in BY_NIGHT]
    unknown = [name for name in chosen if name not in scenarios]
    if unknown:
        print(f"chaos: no scenario {unknown[0]}; there are: {' '.join(scenarios)}", file=sys.stderr)
        sys.exit(2)
    report = [f"date     {time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())}",
              f"commit   {commit()}", f"seed     {SEED}", f"scale    {SCALE:g}", ""]
    failed = 0
    for name in chosen:
        notes = {}
        begun = time.monotonic()
        print(f"chaos: {name}: {scenarios[name].__doc__}", flush=True)
        try:
            scenarios[name](notes)
            verdict = "ok"
        except Exception:
            traceback.print_exc(file=sys.stdout)
            verdict = "FAIL"
            failed += 1
        report.append(f"{verdict:<5} {name} ({time.monotonic() - begun:.0f} s): "
                      f"{scenarios[name].__doc__}")
        report += [f"      {what}: {value}" for what, value in notes.items()]
        print("\n".join(report[-len(notes) - 1:]), flush=True)
    report.insert(4, f"verdict  {len(chosen) - failed} passed, {failed} failed")
    if "CHAOS_REPORT" in os.environ:
        with open(os.environ["CHAOS_REPORT"], "w", encoding="utf-8") as out:
            out.write("Chaos\n\n" + "\n".join(report) + "\n")
    print(f"{len(chosen) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
