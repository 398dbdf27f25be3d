"""GET /metrics: read strictly, by a parser of its own; held against what has happened, under load, in an outage,
by many scrapers, and over three servers."""

import gzip
import math
import re
import shutil
import socket
import sqlite3
import subprocess
import threading
import time
from pathlib import Path

from belfry import PATIENCE_S, SANITIZED, Server, free_port, main, tests_of, wait_for
from cluster import Cluster, Node, Postgres
from protocol import API, Worker, call, connect, expect, names, send, submit
from proxy import Proxy

TEXT = "text/plain; version=0.0.4; charset=utf-8"
OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
HEAD = re.compile(rf"# (HELP|TYPE|UNIT) ({NAME}) (.+)")
SAMPLE = re.compile(rf"({NAME})(\{{.*\}})? (\S+)")
LABEL = re.compile(rf'({NAME})="((?:[^"\\\n]|\\["\\n])*)"(,|$)')
VALUE = re.compile(r"-?\d+(\.\d+)?")


# ---- a parser that takes nothing but what the formats allow

def labels_of(text):
    """{name: value} of what stands between the braces."""
    found, at = {}, 0
    while at < len(text):
        match = LABEL.match(text, at)
        assert match and match[1] not in found, text
        found[match[1]] = re.sub(r"\\(.)", lambda m: {"n": "\n"}.get(m[1], m[1]), match[2])
        assert match[3] or match.end() == len(text), text
        at = match.end()
        assert match[3] != "," or at < len(text), text
    return found


def family_of(sample, families, openmetrics):
    """The family that a sample belongs to; the ending has to fit its type."""
    for family, kind in families.items():
        if kind == "histogram":
            if sample in (family + "_bucket", family + "_sum", family + "_count"):
                return family
        elif sample == family + ("_total" if openmetrics and kind == "counter" else ""):
            return family
    raise AssertionError(f"no family of {sample}")


class Scrape:
    """{(name, labels): value} of one answer, which has been checked in every line."""

    def __init__(self, text, openmetrics=False):
        self.values, self.types, self.text = {}, {}, text
        helped, order, ends = set(), [], text.endswith("\n")
        lines = text.split("\n")[:-1]
        assert ends and lines, text[-200:]
        if openmetrics:
            assert lines.pop() == "# EOF", text[-200:]
        for line in lines:
            head = HEAD.fullmatch(line)
            if head:
                what, family, rest = head.groups()
                if what == "HELP":
                    assert family not in helped, line
                    helped.add(family)
                elif what == "TYPE":
                    assert family in helped and family not in self.types, line
                    assert rest in ("counter", "gauge", "histogram"), line
                    self.types[family] = rest
                else:
                    assert openmetrics and family.endswith("_" + rest), line
                continue
            self.add(line, order, openmetrics)
        assert len(set(order)) == len(order), "lines of a family do not stand together"
        self.check_histograms()
        self.lines = len(text.split("\n")) - 1
        assert self["belfry_metrics_lines"] == self.lines, self.lines

    def add(self, line, order, openmetrics):
        sample = SAMPLE.fullmatch(line)
        assert sample and VALUE.fullmatch(sample[3]), line
        family = family_of(sample[1], self.types, openmetrics)
        if not order or order[-1] != family:
            order.append(family)
        if self.types[family] == "counter":
            assert sample[1].endswith("_total"), line
        key = sample[1], frozenset(labels_of((sample[2] or "{}")[1:-1]).items())
        assert key not in self.values, f"twice: {line}"
        self.values[key] = float(sample[3])

    def check_histograms(self):
        series = {}
        for (name, labels), value in self.values.items():
            if name.endswith("_bucket"):
                rest = frozenset(pair for pair in labels if pair[0] != "le")
                series.setdefault((name[:-len("_bucket")], rest), {})[dict(labels)["le"]] = value
        for (name, rest), buckets in series.items():
            counts = sorted((math.inf if le == "+Inf" else float(le), n) for le, n in buckets.items())
            assert len(counts) == 14 and counts[-1][0] == math.inf, (name, counts)
            assert all(a[1] <= b[1] for a, b in zip(counts, counts[1:])), (name, counts)
            assert self.values[name + "_count", rest] == counts[-1][1], (name, rest)
            assert self.values[name + "_sum", rest] >= 0, (name, rest)

    def __getitem__(self, name):
        return self.get(name)

    def get(self, name, **labels):
        """The value of a series; a sum where some of its labels are not named."""
        assert self.sum_of(name, **labels) is not None, f"no {name} {labels}"
        return self.sum_of(name, **labels)

    def sum_of(self, name, **labels):
        """The same; None where there is none."""
        found = [value for (key, own), value in self.values.items()
                 if key == name and labels.items() <= dict(own).items()]
        return sum(found) if found else None

    def labels(self, name, label):
        return {dict(own).get(label) for key, own in self.values if key == name}

    def counters(self):
        """Everything that may never fall."""
        ends = ("_total", "_bucket", "_sum", "_count")
        return {key: value for key, value in self.values.items()
                if key[0].endswith(ends) and key[0] != "belfry_pending_job_count"}


def scrape(server, openmetrics=False, **kwargs):
    answer = call(server, "GET", "/metrics", headers={"Accept": OPENMETRICS if openmetrics else "*/*"}, **kwargs)
    assert answer.status == 200, answer
    assert answer.headers["Content-Type"] == (OPENMETRICS if openmetrics else TEXT)
    return Scrape(answer.body.decode(), openmetrics)


def wait_for_value(server, value, name, **labels):
    """The first scrape in which the series has this value."""
    def reached():
        found = scrape(server)
        return found if found.sum_of(name, **labels) == value else None
    return wait_for(reached, f"{name} {labels} to be {value}")


def fill(server, count):
    """The scrape after a job of each of so many queues and handlers has run."""
    jobs = [{"queue": f"queue-{i:03}", "handler": f"handler-{i:03}"} for i in range(count)]
    results = expect(200, server, "POST", "/jobs/batch", {"jobs": jobs})["results"]
    assert all("job_id" in one for one in results)
    worker = Worker(server, slots=count, handlers=[job["handler"] for job in jobs])
    worker.poll(results=[(lease, "succeeded") for lease in worker.take(count)])
    return wait_for_value(server, count, "belfry_jobs_completed_total")


# ---- what has happened

def test_the_lives_of_jobs_are_counted():
    with Server("--slots", "2") as own:
        done = [submit(own, queue="mail")[0] for _ in range(3)]
        failed = submit(own, queue="mail", command=["false"], retry={"max_retries": 1, "policy": "immediate"})[0]
        later = submit(own, queue="later", schedule={"delay": "1h"})[0]
        dropped = submit(own, queue="later", schedule={"delay": "1h"})[0]
        for job in done:
            own.wait_for_status(job, "completed")
        own.wait_for_status(failed, "failed")
        expect(200, own, "DELETE", "/jobs/" + dropped)
        got = wait_for_value(own, 1, "belfry_dlq_depth", queue="mail")
        got = wait_for_value(own, 1, "belfry_queue_executions", queue="later", state="scheduled")
        for name, count in (("jobs_enqueued", 5), ("jobs_started", 5), ("jobs_completed", 3), ("jobs_failed", 1),
                            ("jobs_retried", 1), ("jobs_dead_lettered", 1), ("executions_added", 4)):
            assert got.get(f"belfry_{name}_total", queue="mail") == count, name
        assert got["belfry_jobs_submitted_total"] == 6
        assert got.get("belfry_jobs_cancelled_total", queue="later") == 1
        assert got.get("belfry_alerts_total", kind="job_failed") == 1
        assert got.get("belfry_execution_duration_seconds_count", queue="mail") == 5
        assert got.get("belfry_schedule_lag_seconds_count", queue="mail") == 4
        assert got.get("belfry_queue_wait_seconds_count", queue="mail") == 5
        assert got["belfry_pending_job_count"] == 1 and got["belfry_scheduler_is_leader"] == 1
        assert got["belfry_worker_slots"] == 2 and got["belfry_workers"] == 1
        assert got.get("belfry_http_requests_total", route=API + "/jobs", method="POST", **{"class": "2xx"}) == 6
        assert got["belfry_commit_duration_seconds_count"] == got["belfry_store_commits_total"]
        assert got.sum_of("belfry_store_round_trips_total") is None  # SQLite is no server
        assert got["belfry_turns_total"] > 0 and got["process_resident_memory_bytes"] > 1 << 20
        assert {"turn", "net", "metrics"} <= got.labels("belfry_thread_cpu_seconds_total", "thread")
        assert not {"job", "job_id", "owner", "execution"} & {label for _, own in got.values for label, _ in own}
        expect(200, own, "DELETE", "/jobs/" + later)


def test_gauges_say_what_waits_and_what_holds_it_back():
    with Server("--no-worker") as own:
        expect(200, own, "PUT", "/queues/slow", {"concurrency": 3})
        expect(200, own, "POST", "/queues/still/pause")
        for _ in range(5):
            submit(own, queue="slow", handler="h", breaker="smtp:a")
        submit(own, queue="still", concurrency={"key": "printer", "limit": 2})
        worker = Worker(own, slots=4, handlers=["h"])
        leases = worker.take(3)
        got = wait_for_value(own, 3, "belfry_queue_running", queue="slow")
        assert got.get("belfry_queue_depth", queue="slow") == 2
        assert got.get("belfry_queue_limit", queue="slow") == got.get("belfry_queue_limit_used", queue="slow") == 3
        assert got.get("belfry_queue_paused", queue="still") == 1 and got.get("belfry_queue_paused", queue="slow") == 0
        assert "still" not in got.labels("belfry_queue_limit", "queue")
        assert got["belfry_worker_slots_busy"] == 3 and got["belfry_worker_utilization"] == 0.75
        assert got["belfry_pending_job_count"] == 3
        assert got.get("belfry_limits", kind="concurrency") == 1 and got.get("belfry_limits_full", kind="concurrency") == 0
        assert got["belfry_cluster_partitions"] == 1 and got["belfry_executions_in_memory_max"] == 5000000
        assert 1 <= got["belfry_http_connections"] <= got["belfry_http_connections_max"]
        assert got.sum_of("belfry_alerts_pending") is None and got.sum_of("belfry_member_silent_seconds") is None
        assert got.get("belfry_circuit_breaker_state", target="smtp:a") == 0
        for lease in leases:
            assert worker.finish(lease)
        got = wait_for_value(own, 3, "belfry_handler_attempts_total", handler="h", outcome="completed")
        wait_for_value(own, 0, "belfry_queue_running", queue="slow")


def test_repeated_and_refused_submissions_are_told_apart():
    with Server("--no-worker") as own:
        for _ in range(2):
            call(own, "POST", API + "/jobs", {"command": ["true"]}, headers={"Idempotency-Key": "k"})
        expect(201, own, "POST", "/jobs", {"command": ["true"], "name": "n"})
        expect(409, own, "POST", "/jobs", {"command": ["true"], "name": "n"})
        got = wait_for_value(own, 2, "belfry_jobs_submitted_total")
        assert got["belfry_submissions_repeated_total"] == 1
        assert got["belfry_submissions_refused_total"] == 1


# ---- formats, keys, addresses

def test_both_formats_have_the_same_series():
    with Server() as own:
        own.wait_for_status(submit(own)[0], "completed")
        wait_for_value(own, 1, "belfry_jobs_completed_total", queue="default")
        text, openmetrics = scrape(own), scrape(own, openmetrics=True)
        assert text.values.keys() == openmetrics.values.keys()
        plain = call(own, "GET", "/metrics")
        assert plain.headers["Content-Encoding"] is None
        packed = call(own, "GET", "/metrics", headers={"Accept-Encoding": "gzip"})
        assert packed.headers["Content-Encoding"] == "gzip" and packed.headers["Vary"] == "Accept-Encoding"
        assert len(packed.body) * 4 < len(plain.body)
        assert Scrape(gzip.decompress(packed.body).decode()).values.keys() == text.values.keys()
        head = call(own, "HEAD", "/metrics")
        assert head.status == 200 and head.body == b""
        assert call(own, "GET", "/metrics?x=1").status == 400
        for accept in ("text/plain;version=0.0.4;q=0.5, */*;q=0.1", "application/json",
                       "application/openmetrics-text;q=0, text/plain"):
            assert call(own, "GET", "/metrics", headers={"Accept": accept}).headers["Content-Type"] == TEXT


def test_promtool_finds_nothing_but_the_name_that_dashboards_want():
    promtool = shutil.which("promtool")
    if promtool is None:
        print("promtool is not installed (package prometheus): its part is left out")
        return
    with Server() as own:
        own.wait_for_status(submit(own)[0], "completed")
        text = call(own, "GET", "/metrics").body
        done = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, check=False)
        found = [line for line in (done.stdout + done.stderr).decode().splitlines() if line]
        assert all("pending_job_count" in line for line in found), found


def test_a_key_is_needed_unless_it_is_said_otherwise():
    port = free_port()
    with Server("--no-worker", "--metrics-listen", f"127.0.0.1:{port}") as own:
        assert call(own, "GET", "/metrics", key=None).status == 401
        assert call(own, "GET", "/metrics", key="worker").status == 403
        main_port, own.port = own.port, port
        try:
            assert call(own, "GET", "/metrics", key=None).status == 401
            assert Scrape(call(own, "GET", "/metrics").body.decode())["belfry_build_info"] == 1
            for path in (API + "/jobs", "/healthz", "/", "/metrics/"):
                assert call(own, "GET", path).status == 404, path
            assert call(own, "POST", "/metrics", {}).status == 405
            assert call(own, "POST", API + "/jobs", {"command": ["true"]}).status == 404
        finally:
            own.port = main_port
    with Server("--no-worker", "--set", "metrics_open=true", "--set", "metrics_prefix=sched") as own:
        text = call(own, "GET", "/metrics", key=None).body.decode()
        assert "\nsched_turns_total " in text and "belfry_" not in text and "\nprocess_cpu_seconds_total " in text
        assert call(own, "GET", API + "/jobs", key=None).status == 401
    with Server("--no-worker", "--set", "metrics_prefix=") as own:
        assert "\nturns_total " in call(own, "GET", "/metrics").body.decode()


# ---- bad input

def test_hostile_names_do_not_break_out_of_their_labels():
    """Names have letters, digits and a few signs; what comes in as one, in a body or a path, is in no line. (That a
    label is escaped whatever it holds, metrics_test.c shows.)"""
    with Server("--no-worker") as own:
        for evil in ('x"} 1\nbelfry_evil 1', "back\\slash", "new\nline", "\u0000", "\ud83d\ude00"):
            for field in ("queue", "handler", "team", "breaker"):
                job = {"command": ["true"], field: evil} if field != "handler" else {field: evil}
                assert call(own, "POST", API + "/jobs", job).status == 400, (field, evil)
        for path in ("/queues/%FF%FE", "/queues/a%22b", "/queues/a%0Abelfry_evil%201", "/belfry_evil%22%0A"):
            assert call(own, "GET", API + path).status in (400, 404), path
        invalid = b'{"command": ["true"], "queue": "a\xff"}'
        assert call(own, "POST", API + "/jobs", invalid, headers={"Content-Type": "application/json"}).status == 400
        submit(own, queue="a.B:c-d_1", handler="h:1")
        got = wait_for_value(own, 1, "belfry_executions_added_total", queue="a.B:c-d_1")
        assert got.labels("belfry_executions_added_total", "queue") == {"a.B:c-d_1"}
        assert "evil" not in got.text


def test_ever_new_names_take_no_more_lines_than_there_may_be():
    most = 1200
    with Server("--no-worker", "--set", f"metrics_series_max={most}") as own:
        got = fill(own, 600)
        assert got.lines <= most, got.lines
        assert got.get("belfry_handler_attempts_total") == 600
        assert 1 < len(got.labels("belfry_jobs_completed_total", "queue")) <= 101
        assert got.get("belfry_jobs_completed_total", queue="other") > 400
        assert got.get("belfry_metrics_dropped_total", label="queue") > 400
        assert scrape(own, openmetrics=True).lines <= most


def test_a_scraper_that_never_reads_and_two_hundred_at_once_harm_nobody():
    with Server("--slots", "2") as own:
        fill(own, 100)
        request = f"GET /metrics HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {own.key()}\r\n\r\n".encode()
        mute = []
        for _ in range(20):
            mute.append(socket.create_connection(("127.0.0.1", own.port), PATIENCE_S))
            mute[-1].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            mute[-1].sendall(request)
        slow = socket.create_connection(("127.0.0.1", own.port), PATIENCE_S)
        slow.sendall(request)
        slow.settimeout(PATIENCE_S)
        connections = [connect(own) for _ in range(200)]
        threads, answers = [], []

        def ask(connection):
            answer = send(connection, own, "GET", "/metrics")
            answers.append((answer.status, answer.read().decode()))
            connection.close()
        for connection in connections:
            threads.append(threading.Thread(target=ask, args=(connection,)))
            threads[-1].start()
        own.wait_for_status(submit(own)[0], "completed")
        for thread in threads:
            thread.join(PATIENCE_S)
        assert len(answers) == 200 and {status for status, _ in answers} == {200}, answers[:1]
        for _, text in answers[::20]:
            Scrape(text)
        got = b""
        while b"belfry_metrics_lines " not in got.replace(b"# HELP belfry_metrics_lines ", b""):
            piece = slow.recv(256)
            assert piece, got[-200:]
            got += piece
        for one in (*mute, slow):
            one.close()
        if not SANITIZED:  # no more than an answer for each who asked
            peak = int(re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{own.process.pid}/status").read_text())[1]) << 10
            assert peak < (64 << 20) + 221 * len(answers[0][1]), peak


# ---- under load, and without a store

def test_counters_never_fall_and_end_up_at_the_truth():
    with Server("--no-worker") as own:
        over, seen = threading.Event(), []

        def watch():
            while not over.is_set():
                seen.append(scrape(own))
        watcher = threading.Thread(target=watch)
        watcher.start()
        worker = Worker(own, slots=500, handlers=["h"])
        for _ in range(4):
            jobs = [{"handler": "h", "queue": f"q{i % 7}"} for i in range(500)]
            expect(200, own, "POST", "/jobs/batch", {"jobs": jobs})
            leases = worker.take(500)
            worker.poll(results=[(lease, "failed" if i % 10 == 0 else "succeeded", {"error": "x", "permanent": True})
                                 if i % 10 == 0 else (lease, "succeeded") for i, lease in enumerate(leases)])
        truth = expect(200, own, "GET", "/stats")["executions"]
        got = wait_for_value(own, truth["completed"], "belfry_jobs_completed_total")
        over.set()
        watcher.join()
        assert len(seen) > 1
        for before, after in zip(seen, seen[1:]):
            later = after.counters()
            for key, value in before.counters().items():
                assert later[key] >= value, (key, value, later[key])
        assert truth["completed"] >= 1800
        assert got["belfry_jobs_submitted_total"] == 2000
        assert got["belfry_jobs_started_total"] == got["belfry_queue_wait_seconds_count"] == 2000
        assert got["belfry_handler_attempts_total"] == 2000


def test_a_scrape_of_ten_thousand_lines_is_cheap():
    with Server("--no-worker") as own:
        fill(own, 100)
        wait_for(lambda: scrape(own).lines > 8000, "the gauges of all queues")
        got = scrape(own)
        assert len(got.text) * 10000 / got.lines < 1200000, (len(got.text), got.lines)
        if SANITIZED:
            return
        rounds, before = 20, got["process_cpu_seconds_total"]
        for _ in range(rounds):
            call(own, "GET", "/metrics", headers={"Accept-Encoding": "gzip"})
        took_ms = (scrape(own)["process_cpu_seconds_total"] - before) / (rounds + 1) * 1000
        print(f"a scrape of {got.lines} lines: {len(got.text)} bytes, {took_ms:.1f} ms of processor time, gzip included")
        assert took_ms * 10000 / got.lines < 20, took_ms


def test_metrics_are_there_while_the_database_is_not():
    with Postgres() as postgres, Cluster(postgres, 1) as (own,):
        own.wait_for_status(submit(own)[0], "completed")
        wait_for_value(own, 1, "belfry_jobs_completed_total", queue="default")
        postgres.stop("immediate")
        try:
            began = time.monotonic()
            got = wait_for_value(own, 1, "belfry_store_unavailable")
            assert got["belfry_store_outages_total"] == 1 and got["belfry_jobs_completed_total"] == 1
            assert time.monotonic() - began < PATIENCE_S
        finally:
            postgres.start()
        got = wait_for_value(own, 0, "belfry_store_unavailable")
        assert got["belfry_store_outages_total"] >= 1


# ---- a second opinion

def test_a_slot_that_nothing_was_decided_about_is_found():
    """None is missing whatever happens to schedules; then one is taken out of the store behind the server's back."""
    def checked(count):
        wait_for(lambda: scrape(own)["belfry_schedules_checked_total"] >= count, f"{count} schedules to be checked")
    with Server("--slots", "2") as own:
        own.complaints = own.complaints[:-1]
        plain, paused, edited, _ = (submit(own, name=name, schedule={"every": "1s"})[0]
                                    for name in ("plain", "paused", "edited", "dense"))
        expect(200, own, "POST", f"/jobs/{paused}/pause")
        wait_for(lambda: len(runs(own, plain)) >= 3, "three runs")
        expect(200, own, "POST", f"/jobs/{paused}/resume")
        expect(200, own, "PATCH", "/jobs/" + edited, {"schedule": {"every": "2s"}}, headers={"If-Match": '"1"'})
        wait_for(lambda: len(runs(own, plain)) >= 6, "six runs")
        checked(8)
        assert scrape(own)["belfry_slots_without_outcome"] == 0
        own.stop()
        database = sqlite3.connect(own.data / "belfry.db")
        with database:
            lost = database.execute("SELECT id FROM history WHERE job_id = (SELECT job_id FROM history ORDER BY id LIMIT 1) "
                                    "ORDER BY id LIMIT 1 OFFSET 2").fetchone()
            assert database.execute("DELETE FROM history WHERE id = ?", lost).rowcount == 1
            lose_one_of_many(database, "dense")
        database.close()
        own.start()
        wait_for_value(own, 2, "belfry_slots_without_outcome")
        assert "slots of a schedule have no record" in own.log_path.read_text()


def lose_one_of_many(database, name, count=12000):
    """Makes the past of that schedule, which has a slot each second, longer by so many, and takes one of the newest
    records away."""
    database.row_factory = sqlite3.Row
    rows = [dict(row) for row in database.execute(
        "SELECT h.* FROM history h JOIN job j ON j.id = h.job_id WHERE j.name = ? ORDER BY h.id", (name,))]
    first, columns = rows[0], ", ".join(rows[0])
    assert rows[1]["id"] - first["id"] > count  # no execution is older than its job, so they stand between these two
    more = [{**first, "id": first["id"] + k, "first": 0, "slot_ms": first["slot_ms"] - (count - k) * 1000,
             "nominal_ms": first["nominal_ms"] - (count - k) * 1000} for k in range(1, count + 1)]
    database.execute("DELETE FROM history WHERE id = ?", (first["id"],))
    database.executemany(f"INSERT INTO history ({columns}) VALUES ({', '.join('?' * len(first))})",
                         [tuple(row.values()) for row in more])
    assert database.execute("DELETE FROM history WHERE id = ?", (rows[2]["id"],)).rowcount == 1


def runs(server, job):
    return expect(200, server, "GET", f"/jobs/{job}/executions?status=completed")["executions"]


# ---- many servers

def test_sums_over_three_servers_are_the_truth():
    with Postgres() as postgres, Cluster(postgres, 3, "--no-worker") as nodes:
        def total(name, **labels):
            return sum(scrape(node).sum_of(name, **labels) or 0 for node in nodes)
        queue = next(names)
        first = Worker(nodes[0], slots=30, handlers=["h"])
        expect(200, nodes[0], "PUT", f"/queues/{queue}", {"concurrency": 1000})
        for node in nodes:
            for _ in range(3):
                jobs = [{"handler": "h", "queue": queue}] * 10
                expect(200, node, "POST", "/jobs/batch", {"jobs": jobs})
        for name, value in (("jobs_submitted_total", 90), ("queue_depth", 90), ("queue_limit", 1000),
                            ("partitions_owned", 16), ("workers", 1), ("worker_slots", 30),
                            ("pending_job_count", 90)):
            labels = {"queue": queue} if name.startswith("queue") else {}
            wait_for(lambda: total("belfry_" + name, **labels) == value, f"the sum of {name} to be {value}")
        assert all(scrape(node)["belfry_scheduler_is_leader"] == 1 for node in nodes)
        before = [scrape(node)["belfry_store_round_trips_total"] for node in nodes]
        wait_for(lambda: all(scrape(node)["belfry_store_round_trips_total"] > count
                             for node, count in zip(nodes, before)), "every server to have asked its database")
        assert {scrape(node)["belfry_cluster_servers"] for node in nodes} == {3}
        assert all(0 <= scrape(node)["belfry_member_silent_seconds"] < PATIENCE_S for node in nodes)
        for node in nodes:
            mine = Worker(node, slots=30, handlers=["h"]) if node is not nodes[0] else first
            leases = mine.poll(free=30)["leases"]
            mine.poll(results=[(lease, "succeeded") for lease in leases])
        truth = nodes[0].api("GET", "/stats")[1]["executions"]["completed"]
        assert truth > 0
        wait_for(lambda: total("belfry_jobs_completed_total", queue=queue) == truth, "the sum to be the truth")
        wait_for(lambda: total("belfry_handler_attempts_total", handler="h") == truth, "the same by handler")


def test_a_server_that_is_cut_off_from_its_database_leaves_the_numbers_to_the_others():
    with Postgres() as postgres, Proxy(postgres.port) as wire:
        store, queue = postgres.database(), next(names)
        a, b = (Node("a", store.replace(f":{postgres.port}/", f":{wire.port}/"), "--no-worker"),
                Node("b", store, "--no-worker"))

        def total(name, **labels):
            return sum(scrape(node).sum_of(name, **labels) or 0 for node in (a, b))
        with a:
            b.copy_key(a)
            with b:
                wait_for(lambda: sorted(b.shares().values()) == [8, 8], "equal shares")
                expect(200, a, "PUT", f"/queues/{queue}", {"concurrency": 7})
                for node in (a, b):
                    expect(200, node, "POST", "/jobs/batch", {"jobs": [{"handler": "h", "queue": queue}] * 20})
                wait_for(lambda: total("belfry_queue_depth", queue=queue) == 40, "both halves")
                wire.sever()
                wait_for(lambda: b.shares() == {"b": 16}, "b to take over")
                wait_for(lambda: scrape(b).get("belfry_queue_depth", queue=queue) == 40, "b to tell of all")
                alone = scrape(a)
                assert alone["belfry_store_unavailable"] == 1
                assert alone["belfry_partitions_owned"] == alone["belfry_scheduler_is_leader"] == 0
                assert alone["belfry_cluster_partitions"] == 16
                for name, value in (("queue_depth", 40), ("queue_limit", 7), ("pending_job_count", 40)):
                    assert total("belfry_" + name) == value, name
                assert alone["belfry_executions_added_total"] > 0
                wire.mend()
                wait_for(lambda: scrape(a)["belfry_partitions_owned"] == 8, "a to come back")
                wait_for(lambda: total("belfry_queue_depth", queue=queue) == 40, "both halves again")


if __name__ == "__main__":
    main(tests_of(globals()))
