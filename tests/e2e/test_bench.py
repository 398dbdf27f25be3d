"""`belfry bench` in small: its figures are about jobs that can be counted, and it leaves nothing."""

import json
import os
import pathlib
import subprocess
import tempfile

from belfry import BELFRY, SANITIZED, main, processes_of, tests_of
from postgres import Postgres

JOBS = 100 if SANITIZED else 500


def bench(*args, env=()):
    """What it printed, after a look at what it left behind."""
    with tempfile.TemporaryDirectory(prefix="belfry-bench-") as temp:
        plain = {k: v for k, v in os.environ.items() if not k.startswith("BELFRY_")}
        done = subprocess.run([BELFRY, "bench", *args], text=True,
                              env={**plain, **dict(env), "TMPDIR": temp},
                              capture_output=True, timeout=120, check=False)
        assert not list(pathlib.Path(temp).iterdir()), "a database was left"
        assert not processes_of(temp), "a process was left"
    assert done.returncode == 0, done
    return done.stdout


def test_a_small_bench_counts_what_it_measured():
    report = json.loads(bench("--jobs", str(JOBS), "-o", "json"))
    assert report["machine"]["durability"] == "full", report["machine"]
    for name, completed in (("life", True), ("submit", False), ("latency", True)):
        figures = report[name]
        assert figures["jobs_acknowledged"] == figures["rows_job"] >= JOBS, (name, figures)
        ended = figures["jobs_acknowledged"] if completed else 0
        assert figures["rows_completed"] == figures["rows_attempt"] == ended, (name, figures)
        assert figures["seconds"] > 0 and figures["commits"] > 0, (name, figures)


def test_a_second_is_enough_for_a_thousand_jobs():
    # So many that it is also true when the machine stands still for a second meanwhile.
    figures = json.loads(bench("life", "--jobs", str(10 * JOBS), "-o", "json"))["life"]
    assert figures["jobs_per_s"] > (100 if SANITIZED else 1000), figures


def test_one_measurement_can_be_chosen_and_is_printed_for_people():
    text = bench("life", "--jobs", str(JOBS))
    assert "jobs per s" in text and "start p50" not in text, text


def test_failing_jobs_are_counted_with_all_their_attempts():
    figures = json.loads(bench("storm", "--jobs", "100", "--batch", "50", "-o", "json"))["storm"]
    assert figures["jobs_acknowledged"] == 200 and figures["retries"] == 300, figures
    assert figures["rows_completed"] == 100 and figures["rows_attempt"] == 500, figures
    assert figures["max_by_mean"] >= 1 and figures["failed_by_success"] > 0, figures


def test_what_a_dead_worker_had_is_run_by_another():
    figures = json.loads(bench("rescue", "--jobs", "100", "-o", "json",
                               env={"BELFRY_LEASE_MS": "4s", "BELFRY_PARK_MS": "500ms"}))["rescue"]
    assert figures["lease_ms"] == 4000 and figures["jobs_acknowledged"] == 100, figures
    assert figures["rows_completed"] == 100 and figures["rows_attempt"] == 200, figures
    assert figures["beyond_lease_p99_ms"] < (20000 if SANITIZED else 2000), figures


def test_servers_that_share_a_database_are_measured_together():
    with Postgres(sync=False) as database:
        report = json.loads(bench("life", "--jobs", str(JOBS), "--batch", "50", "--servers", "2", "--store",
                                  database.url, "-o", "json"))
    figures = report["life"]
    assert report["machine"]["servers"] == 2, report["machine"]
    assert figures["jobs_acknowledged"] == figures["rows_completed"] == JOBS, figures


def test_mixed_jobs_are_measured_beside_a_held_transaction():
    with Postgres(sync=False) as database:
        figures = json.loads(bench("held", "--jobs", "400", "--batch", "20", "--store", database.url,
                                   "-o", "json"))["held"]
    jobs = figures["jobs_acknowledged"]
    assert jobs == figures["rows_completed"] >= 400, figures
    assert figures["rows_attempt"] > jobs and figures["second_per_s"] > 0, figures


if __name__ == "__main__":
    main(tests_of(globals()))
