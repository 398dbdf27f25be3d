"""Reading on PostgreSQL: few connections, lists that find everything, reads that survive a lost backend."""

import concurrent.futures
import pathlib
import subprocess

from belfry import BELFRY, Server, main, tests_of
from postgres import Postgres
from protocol import Worker

CONNECTIONS_MAX = 8
WORKERS = 12
HISTORY = pathlib.Path(__file__).parent.parent / "bench" / "history.sql"
PAST = 6000

calm = Postgres(sync=False)


def connections(name):
    return int(calm.sql("SELECT count(*) FROM pg_stat_activity "
                        f"WHERE datname = '{name}' AND application_name = 'belfry'"))


def migrated(name):
    """The URL of a new database that has the schema and no server."""
    url = calm.database(name)
    subprocess.run([BELFRY, "migrate", "--store", url], check=True, timeout=60, capture_output=True)
    return url


def get(server, path):
    status, body = server.api("GET", path)
    assert status == 200, (path, status, body)
    return body


def test_connections_are_few_whatever_the_number_of_workers():
    with Server("--store", calm.database("few"), "--set",
                "alert_webhooks=http://127.0.0.1:9/none") as server:
        workers = [Worker(server) for _ in range(WORKERS)]
        jobs = [server.submit("--", "echo", "hello") for _ in range(5)]
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            paths = ["/jobs", "/executions", "/stats", "/dead-letters", f"/jobs/{jobs[0]}"] * 20
            list(pool.map(lambda path: get(server, path), paths))
        for job in jobs:
            server.wait_for_status(job, "completed")
        assert len(workers) == WORKERS
        assert 3 < connections("few") <= CONNECTIONS_MAX, connections("few")


def test_a_lost_backend_is_no_matter_to_who_reads():
    with Server("--store", calm.database("lost")) as server:
        job = server.submit("--", "echo", "hello")
        server.wait_for_status(job, "completed")
        execution = server.newest_execution(job)["execution_id"]
        for _ in range(5):
            assert calm.terminate_all() > 0
            for path in ("/jobs", f"/jobs/{job}", "/executions", f"/executions/{execution}",
                         f"/executions/{execution}/logs", "/dead-letters", "/failures"):
                get(server, path)


def walk(server, path, key):
    """All pages of a list."""
    found, cursor = [], ""
    while True:
        page = get(server, path + ("&" if "?" in path else "?") + "limit=500" + cursor)
        found += page[key]
        if not page.get("next_cursor"):
            return found
        cursor = f"&cursor={page['next_cursor']}"


def test_a_past_of_thousands_is_listed_and_reported():
    url = migrated("past")
    subprocess.run(["psql", "-Xq", "-v", f"rows={PAST}", "-v", "days=20", "-f", str(HISTORY), url],
                   check=True, timeout=120, capture_output=True)
    with Server("--no-worker", "--store", url) as server:
        executions = walk(server, "/executions", "executions")
        ids = [e["execution_id"] for e in executions]
        assert len(ids) == PAST and ids == sorted(set(ids), reverse=True)
        failed = walk(server, "/executions?status=failed", "executions")
        assert 0 < len(failed) < PAST / 10
        assert {e["status"] for e in failed} == {"failed"}
        assert len(walk(server, "/dead-letters", "dead_letters")) == len(failed)
        jobs = walk(server, "/jobs?status=failed", "jobs")
        assert len(jobs) == len(failed)
        cron, = walk(server, "/jobs?name=cron-7", "jobs")
        slots = walk(server, f"/jobs/{cron['job_id']}/executions", "executions")
        assert len(slots) == PAST // 10 // 200
        total = get(server, "/stats")["executions"]
        assert total["completed"] + total["failed"] == PAST, total
        assert get(server, "/failures?start_date=2020-01-01")["total"] == PAST


def test_output_of_old_weeks_goes_as_a_whole():
    """What trim does where it can: a week that is over is emptied at once. Without a server, which would
    do the same in its own time."""
    migrated("weeks")
    calm.sql("""
        CREATE TABLE belfry.chunk_w100 PARTITION OF belfry.chunk
            FOR VALUES FROM ((100 * 604800000::bigint) << 22) TO ((101 * 604800000::bigint) << 22);
        INSERT INTO belfry.chunk (exec_id, token, seq, attempt, stream, at_ms, bytes)
        SELECT ((100 * 604800000::bigint + i) << 22), 1, 1, 1, 1,
            1577836800000 + 100 * 604800000::bigint + i, 'x' FROM generate_series(1, 500) i;
        ANALYZE belfry.chunk_w100""", "weeks")
    middle = "1577836800000 + 100 * 604800000::bigint + 250"
    assert calm.sql(f"SELECT belfry.trim_chunks({middle})", "weeks") == "0"
    after = "1577836800000 + 101 * 604800000::bigint"
    assert calm.sql(f"SELECT belfry.trim_chunks({after})", "weeks") == "500"
    assert calm.sql("SELECT count(*) FROM belfry.chunk", "weeks") == "0"
    assert calm.sql(f"SELECT belfry.trim_chunks({after})", "weeks") == "0"


if __name__ == "__main__":
    main(tests_of(globals()), shared=calm)
