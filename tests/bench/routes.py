#!/usr/bin/python3
"""Every GET route beside a past of ten million executions, on SQLite and on PostgreSQL.

    BENCH_ONLY=history make bench            as a part of all figures
    tests/bench/routes.py URL KEY [RUNS]     of a server that runs, whatever it holds

A route is asked with filters that fit much, little and nothing, and with each order. The first answer is told apart
from the slowest of those after it, which are warm: on SQLite the server has just been started, and the page cache
has forgotten its files. A GET route of openapi.json that is
neither asked here nor excepted below ends the measurement, so that none is forgotten.
"""

import http.client
import json
import os
import pathlib
import re
import sqlite3
import sys
import time
import urllib.parse

SQL = pathlib.Path(__file__).parent / "history_sqlite.sql"
DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
LIMIT_MS = 200
PLANNED, WAITING = 10000, 1000

# Routes that are not asked, and why.
EXCEPTED = {
    "/api/v1/workers/{worker_id}": "no worker is connected; what it runs is in memory",
    "/api/v1/events": "a stream without an end",
    "/api/v1/executions/{execution_id}/fence": "asks the turn, for a lease that is held",
    "/api/v1/workers/{worker_id}/checkpoints/{execution_id}": "for the worker that has the lease",
}


# ---- a SQLite store with a past


def id_text(prefix, number):
    return prefix + "".join(DIGITS[number >> (60 - 5 * place) & 31] for place in range(13))


def statements():
    text = ""
    for line in SQL.read_text().splitlines(keepends=True):
        text += "" if line.startswith("--") else line
        if text.strip() and sqlite3.complete_statement(text):
            yield text
            text = ""


def fill_sqlite(path, rows, days):
    """Of a server that is not running."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.create_function("id_text", 2, id_text, deterministic=True)
    for pragma in ("synchronous = OFF", "cache_size = -500000", "locking_mode = EXCLUSIVE"):
        connection.execute(f"PRAGMA {pragma}").fetchall()
    triggers = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    values = {"rows": rows, "days": days, "now_ms": int(time.time() * 1000)}
    connection.execute("BEGIN")
    for name, _ in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    for statement in statements():
        connection.execute(statement, values)
    for _, sql in triggers:
        connection.execute(sql)
    connection.execute("COMMIT")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.close()


def forget_files(folder):
    """What the page cache has of them, as far as it is written."""
    for path in pathlib.Path(folder).rglob("*"):
        if not path.is_file():
            continue
        descriptor = os.open(path, os.O_RDONLY)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


# ---- calls


class Client:
    def __init__(self, url, key):
        self.connection = http.client.HTTPConnection(urllib.parse.urlsplit(url).netloc, timeout=60)
        self.headers = {"Authorization": "Bearer " + key, "Content-Type": "application/json"}

    def ask(self, method, path, body=None):
        """The status and the text."""
        path = path if path.startswith("/openapi") else "/api/v1" + path
        self.connection.request(method, path, body if body is None else json.dumps(body), self.headers)
        response = self.connection.getresponse()
        return response.status, response.read()

    def get(self, method, path, body=None):
        status, text = self.ask(method, path, body)
        if status >= 300:
            raise SystemExit(f"{method} {path}: {status} {text[:300]}")
        return json.loads(text)


def at(days):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + days * 86400))


def add_present(client):
    """Beside the past: jobs that are planned and that wait, and one of each thing that is read by its id."""
    for start in range(0, PLANNED, 1000):
        client.get("POST", "/jobs/batch", {"jobs": [
            {"handler": "nobody", "name": f"planned-{i % 500}", "schedule": {"at": at(1 + i / PLANNED)}}
            for i in range(start, start + 1000)]})
    for start in range(0, WAITING, 1000):
        client.get("POST", "/jobs/batch", {"jobs": [{"handler": "nobody", "queue": "queue-3"}] * 1000})
    client.get("PUT", "/calendars/holidays", {"policy": "skip", "dates": ["2030-12-25"]})
    client.get("PUT", "/teams/team-3", {"concurrency": 100})
    document = {"handler": "nobody", "calendars": ["holidays"], "schedule": {"cron": "*/5 * * * *"}}
    for priority in range(20):
        client.get("PUT", "/jobs/by-name/edited", {**document, "priority": priority})
    client.get("POST", "/jobs/actions", {"action": "pause", "filter": {"name": "planned-7"}})


LISTS_OF_JOBS = (
    "", "status=failed", "status=cancelled", "status=active", "status=completed", "queue=nowhere",
    "queue=queue-3&queue=queue-4", "owner=nobody", "owner=owner-7", "tag=env:none", "tag=env:prod",
    "tag=env:none&tag=a:b", "team=team-3", "name=name-77", "name=cron-7", "name=nobody", "name=name-7*",
    "name=n*", "name=*77*", "name=x*", "name=*", "count=true", "count=true&status=failed",
    "count=true&queue=queue-3", "phase=running", "phase=scheduled&phase=waiting", "phase=failed",
    "status=failed&status=cancelled", "created_after=2020-01-01T00:00:00Z&status=paused",
    "finished_after=2999-01-01T00:00:00Z", "limit=500", "fields=job_id,last_outcomes&limit=100",
    "fields=job_id,name", "team=team-3&tag=env:none&owner=nobody")
SORTED = (
    "", "limit=500", "queue=nowhere", "owner=nobody", "tag=env:none", "team=team-3", "created_after=2999-01-01T00:00:00Z",
    "phase=running", "phase=scheduled", "status=active", "name=name-77", "name=planned-*", "name=n*",
    "name=*77*", "name=x*", "fields=job_id,name")
SORTED_BY_NAME = ("status=failed", "status=cancelled", "status=paused", "count=true", "phase=failed")
LISTS_OF_EXECUTIONS = (
    "", "status=failed", "status=cancelled", "status=completed", "status=running", "status=scheduled",
    "status=failed&status=timeout", "queue=nowhere", "queue=nowhere&queue=elsewhere", "name=cron-7",
    "name=cron-*", "name=nobody", "owner=nobody", "team=team-3", "tag=env:none", "tag=env:prod", "class=timeout",
    "class=user_error&status=failed", "fingerprint=0123456789ab", "worker=wrk_0000000000001", "limit=500",
    "started_after=2999-01-01T00:00:00Z", "finished_after=2999-01-01T00:00:00Z", "count=true",
    "count=true&status=failed&queue=queue-3", "fields=execution_id,status")
LETTERS = ("", "queue=nowhere", "queue=queue-3", "name=nobody", "class=timeout", "fingerprint=0123456789ab",
           "count=true", "limit=500", "class=user_error")


def paths(client):
    """(template, path) of everything that is asked."""
    def first(path, kind, member):
        page = client.get("GET", path)
        while not page[kind]:  # it ended early: go on
            page = client.get("GET", f"{path}&cursor={page['next_cursor']}")
        return page[kind][0][member]

    cron = first("/jobs?name=cron-7&limit=1", "jobs", "job_id")
    once = first("/jobs?name=name-77&limit=1", "jobs", "job_id")
    edited = first("/jobs?name=edited&limit=1", "jobs", "job_id")
    planned = first("/jobs?name=planned-3&limit=1", "jobs", "job_id")
    waiting = first("/jobs?phase=waiting&limit=1", "jobs", "job_id")
    letter = first("/dead-letters?limit=1", "dead_letters", "execution_id")
    queued = first("/executions?status=queued&limit=1", "executions", "execution_id")
    past, month = at(-10), f"start_date={at(-28)[:10]}&end_date={at(0)[:10]}"

    def lists(path, queries):
        return [(path, path + ("?" + query if query else "")) for query in queries]

    yield from lists("/jobs", LISTS_OF_JOBS)
    for sort in ("name", "next_run_at"):
        yield from lists("/jobs", [f"sort={sort}&{query}".rstrip("&") for query in SORTED])
    yield from lists("/jobs", [f"sort=name&{query}" for query in SORTED_BY_NAME])
    yield from lists("/executions", LISTS_OF_EXECUTIONS)
    yield from lists("/dead-letters", LETTERS)
    yield from lists("/dead-letters/fingerprints", LETTERS[:5])
    for path in (f"/jobs?created_before={past}", f"/executions?created_before={past}",
                 f"/executions?created_before={past}&status=failed", f"/jobs?created_before={past}&status=failed",
                 f"/dead-letters?created_before={past}", "/jobs?sort=name&limit=500",
                 "/jobs?sort=next_run_at&limit=500"):
        template = path.split("?")[0]
        yield template, path
        cursor = client.get("GET", path)["next_cursor"]
        if cursor:
            yield template, f"{path}&cursor={cursor}"
    for job in (cron, once, edited, planned, waiting):
        one = "/jobs/{job_id}"
        for tail in ("", "?fields=status,last_outcomes", "/versions", "/executions", "/executions?status=failed",
                     "/executions?count=true", "/explain", "/sla-events", "/sla-compliance", "/failures", "/successes",
                     f"/failures?{month}", f"/successes?{month}"):
            yield one + tail.split("?")[0], f"/jobs/{job}{tail}"
    for job in (cron, edited):
        for query in ("", f"?from={at(-1)}&until={at(1)}", f"?from={at(-20)}&until={at(0)}&limit=500"):
            yield "/jobs/{job_id}/slots", f"/jobs/{job}/slots{query}"
    yield "/jobs/by-name/{name}", "/jobs/by-name/edited"
    for execution in (letter, queued):
        for tail in ("", "/explain", "/logs", "/checkpoint"):
            yield "/executions/{execution_id}" + tail, f"/executions/{execution}{tail}"
    yield "/dead-letters/{execution_id}", f"/dead-letters/{letter}"
    for prefix, what in (("", ""), ("/queues/{queue}", "/queues/default"), ("/teams/{team}", "/teams/team-3"),
                         ("/owners/{owner}", "/owners/owner-1")):
        for report in ("failures", "successes"):
            yield f"{prefix}/{report}", f"{what}/{report}"
            yield f"{prefix}/{report}", f"{what}/{report}?{month}"
    for by in ("queue", "owner", "team", "job"):
        yield "/success-rates", f"/success-rates?by={by}"
        yield "/success-rates", f"/success-rates?by={by}&{month}"
    for days in (1, 7, 30):
        yield "/schedule/forecast", f"/schedule/forecast?from={at(0)}&until={at(days)}&step=1d"
    yield "/schedule/forecast", f"/schedule/forecast?from={at(0)}&until={at(1)}&step=1h&queue=default"
    yield "/schedule/preview", "/schedule/preview?cron=0+0+29+2+*&count=10"
    for metric, since in (("depth", "1h"), ("completed", "1h"), ("completed", "14d"), ("failed", "14d")):
        yield from lists("/series", [f"metric={metric}&since={since}", f"metric={metric}&since={since}&queue=default"])
    yield from lists("/queues", ("", "count=true", "limit=5"))
    yield from lists("/teams", ("", "count=true"))
    yield from lists("/stats/blockers", ("", "queue=queue-3"))
    yield "/queues/{queue}", "/queues/default"
    yield "/teams/{team}", "/teams/team-3"
    yield "/calendars/{calendar}", "/calendars/holidays"
    operation = first("/operations", "operations", "operation_id")
    yield "/operations/{operation_id}", f"/operations/{operation}"
    for path in ("/calendars", "/alerts", "/submissions/rejected", "/breakers", "/operations", "/me", "/cluster",
                 "/settings", "/diagnostics", "/stats", "/workers", "/openapi.json"):
        yield path, path


def check_complete(client, templates):
    document = client.get("GET", "/openapi.json")
    asked = {("" if t.startswith("/openapi") else "/api/v1") + re.sub(r"\{[^}]*\}", "{}", t) for t in templates}
    missing = [path for path, calls in document["paths"].items()
               if "get" in calls and re.sub(r"\{[^}]*\}", "{}", path) not in asked and path not in EXCEPTED
               and path not in ("/healthz", "/readyz", "/version")]
    if missing:
        raise SystemExit("routes that are not measured: " + ", ".join(missing))


def took_ms(client, path):
    begun = time.monotonic()
    status, text = client.ask("GET", path)
    if status >= 300 and status != 404:  # a job that ran once has no slots, and no output was kept
        raise SystemExit(f"GET {path}: {status} {text[:300]}")
    return (time.monotonic() - begun) * 1000


def measure(client, runs=3):
    """[(path, first_ms, warm_ms)] of all routes, in the order in which they are asked."""
    calls = list(dict.fromkeys(paths(client)))
    check_complete(client, [template for template, _ in calls])
    figures = []
    for _, path in calls:
        first_ms = took_ms(client, path)
        figures.append((path, first_ms, max(took_ms(client, path) for _ in range(runs))))
    return figures


def record_all(store, figures, record):
    """As figures of `make bench`; the slowest warm one decides."""
    for path, first_ms, warm_ms in figures:
        record(f"    {store}: {path}", warm_ms, "ms", 1)
    record(f"{store}, ten million rows of history: slowest GET, warm", max(row[2] for row in figures), "ms", 1,
           at_most=LIMIT_MS)
    record("  first", max(row[1] for row in figures), "ms", 1)


def measure_sqlite(rows, record, say):
    """On a store of its own; called by bench_figures.py with its tools."""
    import rig  # whose environment main() does not need
    with rig.temp_dir() as folder, rig.Server(folder, "--no-worker") as server:
        server.stop()
        say(f"SQLite: {rows} rows of history")
        fill_sqlite(folder / "belfry.db", rows, 20)
        server.start()
        add_present(Client(f"http://127.0.0.1:{server.port}", server.key()))
        server.stop()  # what it has in memory of the file is gone, too
        forget_files(folder)
        server.start()
        record_all("SQLite", measure(Client(f"http://127.0.0.1:{server.port}", server.key())), record)


def main():
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    figures = measure(Client(sys.argv[1], sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 3)
    for path, first_ms, warm_ms in sorted(figures, key=lambda row: row[2]):
        print(f"{first_ms:8.1f} {warm_ms:8.1f}  {path}")
    print(f"{len(figures)} calls, {sum(row[2] >= LIMIT_MS for row in figures)} of them {LIMIT_MS} ms or more when warm")


if __name__ == "__main__":
    main()
