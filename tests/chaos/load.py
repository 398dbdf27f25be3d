"""Steady work for a cluster, and the judgement afterwards.

Clients submit jobs that append a line to a file; schedules do the same for every slot. A client asks
any server; when it gets no answer it asks another one with the same idempotency key, so every
submission is acknowledged once, however often it was sent. The files are the witnesses: they are read
without belfry, and compared with what belfry says.
"""

import collections
import http.client
import json
import random
import threading
import time
import urllib.parse

TRY_S = 10
GIVE_UP_S = 120


class Caller:
    """Calls of one thread, on kept connections, to whichever server answers. Who gets no answer asks another
    server at once, on a new connection; who is told when to come back comes back then."""

    def __init__(self, cluster, rng):
        self.cluster = cluster
        self.rng = rng
        self.connections = {}
        self.errors = collections.Counter()  # what a client saw before it tried again
        self.surfaced = []  # what a client saw that tries again only once: both errors

    def once(self, node, method, path, body=None, key=None):
        """(status, document, seconds to wait before the next try), or raises OSError or
        http.client.HTTPException."""
        connection = self.connections.get(node.name)
        if connection is None:
            connection = http.client.HTTPConnection(node.host, node.port, timeout=TRY_S)
            self.connections[node.name] = connection
        headers = {"Authorization": "Bearer " + self.cluster.key(),
                   "Content-Type": "application/json"}
        if key is not None:
            headers["Idempotency-Key"] = key
        try:
            connection.request(method, "/api/v1" + path,
                               None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException):
            for kept in self.connections.values():  # the others may be as old
                kept.close()
            self.connections.clear()
            raise
        wait_s = float(answer.headers.get("Retry-After", 0.05))
        return answer.status, json.loads(text) if text else None, wait_s

    def call(self, method, path, body=None, key=None, good=(200, 201, 204)):
        """The document, from any server, tried until one gives a good answer."""
        deadline = time.monotonic() + GIVE_UP_S
        nodes = self.rng.sample(self.cluster.nodes, len(self.cluster.nodes))
        seen = []
        while True:
            try:
                status, document, wait_s = self.once(nodes[0], method, path, body, key)
                if status in good:
                    return document
                if 400 <= status < 500 and status not in (404, 409, 429):
                    raise AssertionError(f"{method} {path}: {status} {document}")
                seen.append(f"{nodes[0].name}: {status} {document}")
                self.errors[status] += 1
            except (OSError, http.client.HTTPException) as error:
                wait_s = 0 if not seen else 0.05
                seen.append(f"{nodes[0].name}: {error!r}")
                self.errors[type(error).__name__] += 1
            if len(seen) == 2:
                self.surfaced.append(f"{method} {path}: {seen[0]}; then {seen[1]}")
            if time.monotonic() > deadline:
                raise AssertionError(f"{method} {path} got no good answer: {dict(self.errors)}")
            time.sleep(wait_s)
            nodes = nodes[1:] + nodes[:1]


class Load:
    """Clients in threads. Between start and stop they submit at a steady rate."""

    def __init__(self, cluster, seed, rate=60, clients=6, schedules=200, every_s=5):
        self.cluster = cluster
        self.witness = cluster.dir / "jobs.txt"
        self.slots = cluster.dir / "slots.txt"
        for path in (self.witness, self.slots):
            path.touch()
            path.chmod(0o666)
        self.seed = seed
        self.rate = rate / clients
        self.every_s = every_s
        self.acknowledged = []
        self.errors = collections.Counter()
        self.surfaced = []  # what clients saw that try again only once
        self.failure = None
        self.over = threading.Event()
        self.lock = threading.Lock()
        self.schedules = self.make_schedules(schedules)
        self.threads = [threading.Thread(target=self.submit, args=(i,)) for i in range(clients)]

    def command(self, path):
        # One write(2) of one short line: appends of several processes do not mix.
        return ["/bin/sh", "-c", "echo $BELFRY_JOB_ID $BELFRY_EXECUTION_ID $BELFRY_TOKEN_FENCE "
                f"$BELFRY_SLOT >> {path}"]

    def make_schedules(self, count):
        caller = Caller(self.cluster, random.Random(self.seed))
        made = []
        for at in range(0, count, 100):
            jobs = [{"name": f"slot-{i}", "command": self.command(self.slots),
                     "schedule": {"every": f"{self.every_s}s"}, "misfire": {"policy": "all"},
                     "overlap": "parallel", "queue": f"s{i % 5}"}
                    for i in range(at, min(at + 100, count))]
            answer = caller.call("POST", "/jobs/batch", {"jobs": jobs}, f"schedules-{at}")
            made += [result["job_id"] for result in answer["results"]]
        return made

    def submit(self, number):
        rng = random.Random(self.seed * 1000 + number)
        caller = Caller(self.cluster, rng)
        n = 0
        due = time.monotonic()
        try:
            while not self.over.is_set():
                job = {"command": self.command(self.witness), "queue": f"q{rng.randrange(5)}",
                       "retry": {"max_retries": 5, "delay": "100ms"}}
                answer = caller.call("POST", "/jobs", job, f"client-{number}-{n}")
                with self.lock:
                    self.acknowledged.append(answer["job_id"])
                n += 1
                due = max(due + 1 / self.rate, time.monotonic() - 1)
                time.sleep(max(0, due - time.monotonic()))
        except Exception as error:  # the judge will tell
            self.failure = error
        with self.lock:
            self.errors.update(caller.errors)
            self.surfaced += caller.surfaced

    def start(self):
        for thread in self.threads:
            thread.start()

    def stop(self):
        self.over.set()
        for thread in self.threads:
            thread.join()
        if self.failure is not None:
            raise self.failure


def lines_of(path):
    """(job, execution, token, slot) as the jobs wrote them."""
    return [tuple(line.split()) for line in path.read_text().splitlines()]


class Judge:
    """What must be true when everything is over."""

    def __init__(self, load):
        self.load = load
        self.caller = Caller(load.cluster, random.Random(0))
        self.counts = {}

    def executions(self, job_id):
        found = []
        cursor = ""
        while True:
            page = self.caller.call("GET", f"/jobs/{job_id}/executions?limit=1000{cursor}")
            found += page["executions"]
            if not page["next_cursor"]:
                return found
            cursor = "&cursor=" + urllib.parse.quote(page["next_cursor"])

    def wait_until_done(self, patience_s=180):
        """Every acknowledged job is over; schedules are paused, and their runs are over."""
        for job_id in self.load.schedules:
            self.caller.call("POST", f"/jobs/{job_id}/pause", {})
        deadline = time.monotonic() + patience_s
        waiting = list(self.load.acknowledged)
        while waiting:
            waiting = [j for j in waiting
                       if self.caller.call("GET", f"/jobs/{j}")["status"] == "active"]
            if waiting and time.monotonic() > deadline:
                raise AssertionError(f"{len(waiting)} jobs are not over, the first is {waiting[0]}: "
                                     f"{self.caller.call('GET', f'/jobs/{waiting[0]}/explain')}")

    def judge_jobs(self):
        """Each acknowledged job ran, and one result was accepted."""
        ran = collections.defaultdict(list)
        for job, execution, token, _ in lines_of(self.load.witness):
            ran[job].append((execution, token))
        assert len(set(self.load.acknowledged)) == len(self.load.acknowledged), "an id was given twice"
        accepted = 0
        for job_id in self.load.acknowledged:
            assert job_id in ran, f"{job_id} was acknowledged and never ran"
            assert len(set(ran[job_id])) == len(ran[job_id]), f"{job_id} ran twice under one token"
            executions = self.executions(job_id)
            assert len(executions) == 1, f"{job_id} has {len(executions)} executions"
            whole = self.caller.call("GET", "/executions/" + executions[0]["execution_id"])
            assert whole["status"] == "completed", f"{job_id}: {whole}"
            good = [a for a in whole["attempts"] if a["outcome"] == "succeeded"]
            assert len(good) == 1, f"{job_id}: {len(good)} accepted results"
            accepted += 1
        self.counts["jobs acknowledged"] = len(self.load.acknowledged)
        self.counts["results accepted"] = accepted
        self.counts["runs"] = sum(len(runs) for runs in ran.values())

    def judge_slots(self):
        """Each slot has one outcome, and those that fired ran."""
        ran = collections.defaultdict(set)
        for job, execution, _, _ in lines_of(self.load.slots):
            ran[job].add(execution)
        slots = skipped = 0
        for job_id in self.load.schedules:
            records = sorted((e for e in self.executions(job_id) if e["origin"] == "slot"),
                             key=lambda e: e["slot"])
            expected = None
            for record in records:
                first = seconds(record["slot"])
                assert expected is None or abs(first - expected) < 0.0005, (
                    f"{job_id}: a slot at {first} where {expected} is next")
                last = seconds(record["slot_last"]) if record["slot_last"] else first
                count = record["slot_count"]
                assert abs(last - first - (count - 1) * self.load.every_s) < 0.0005, record
                expected = last + self.load.every_s
                slots += count
                if record["status"] == "skipped":
                    skipped += count
                elif record["status"] == "completed":
                    assert record["execution_id"] in ran[job_id], f"{record} did not run"
        self.counts["slots"] = slots
        self.counts["of which skipped"] = skipped

    def judge(self):
        self.wait_until_done()
        self.judge_jobs()
        self.judge_slots()
        return self.counts


def seconds(text):
    """Of an RFC 3339 time in UTC."""
    whole, fraction = text.rstrip("Z").split(".")
    return time.mktime(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) + int(fraction) / 1000
