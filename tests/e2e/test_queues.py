"""Queues and limits: what holds work back, for how long, and who said so. Where commands run for
real they are their own witnesses: each notes when it began and when it ended."""

import datetime
import itertools
import json
import time

from belfry import Server, main, tests_of, wait_for
from protocol import API, Stream, Worker, call, expect, names, submit

server = Server("--no-worker", "--set", "priority_age_ms=10")


def queue(name, own=server):
    return expect(200, own, "GET", "/queues/" + name)


def refused(status, method, path, body=None, *fields):
    """A problem that blames exactly these fields; returns what it says about the first."""
    answer = call(server, method, API + path, body)
    assert answer.status == status, (method, path, answer)
    errors = answer.json.get("errors", [])
    assert [e["field"] for e in errors] == list(fields), answer
    return errors[0]["message"] if errors else answer.json["detail"]


def milliseconds(text):
    return int(datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000 + 0.5)


class Witness:
    """A file in which commands note when they begin and end; they end once the gate is open."""

    def __init__(self, own):
        self.path = own.dir / next(names)
        self.path.touch()
        self.gate = own.dir / next(names)

    def command(self):
        note = f"$BELFRY_JOB_ID $(date +%s%N)\" >> {self.path}"
        return f'echo "+1 {note}; until [ -e {self.gate} ]; do sleep 0.02; done; echo "-1 {note}'

    def wait_for_begun(self, count):
        wait_for(lambda: len(self.notes()) >= count, f"{count} commands to begin")

    def notes(self):
        """[(nanoseconds, +1 or -1, job)…] in order."""
        lines = map(str.split, self.path.read_text().splitlines())
        return sorted((int(at), int(step), job) for step, job, at in lines)

    def most_at_once(self):
        now = most = 0
        for _, step, _ in self.notes():
            now += step
            most = max(most, now)
        assert now == 0, "not all have ended"
        return most


def finish_all(own, jobs):
    for job in jobs:
        assert own.wait_for_status(job, "completed", "failed")["status"] == "completed"


# ---- coming and going

def test_a_refused_job_makes_no_queue():
    name = next(names)
    submit(server, name=name)
    answer = call(server, "POST", API + "/jobs", {"command": "true", "name": name, "queue": name})
    assert answer.status == 409, answer
    refused(404, "GET", "/queues/" + name)


def test_a_queue_without_work_is_deleted_with_its_settings():
    name = next(names)
    path = "/queues/" + name
    expect(200, server, "POST", path + "/pause")
    job, _ = submit(server, queue=name)
    assert "unfinished executions: 1, dead letters: 0" in refused(409, "DELETE", path)
    expect(200, server, "DELETE", "/jobs/" + job)
    before = expect(200, server, "GET", "/stats")["jobs"]
    assert expect(200, server, "DELETE", path)["name"] == name
    refused(404, "GET", path)
    refused(404, "DELETE", path)
    refused(404, "DELETE", "/queues/nobody-knows-it")
    assert expect(200, server, "GET", "/stats")["jobs"] == before
    submit(server, queue=name)
    assert queue(name)["paused"] is False


def test_empty_queues_lock_nobody_out_also_after_a_restart():
    with Server("--no-worker", "--set", "queues_max=20") as own:
        for i in range(50):
            job, _ = submit(own, queue=f"q{i}")
            expect(200, own, "DELETE", "/jobs/" + job)
        own.kill()
        own.start()
        for i in range(20):
            submit(own, queue=f"p{i}")
        answer = call(own, "POST", API + "/jobs", {"command": "true", "queue": "one-more"})
        assert (answer.status, answer.json["code"]) == (409, "limit_reached"), answer
        submit(own)
        assert expect(200, own, "GET", "/stats")["jobs"]["cancelled"] == 50


def test_queues_that_nobody_needs_are_forgotten_in_time():
    with Server("--no-worker", "--set", "queues_keep_ms=500ms") as own:
        job, _ = submit(own, queue="mail")
        expect(200, own, "DELETE", "/jobs/" + job)
        expect(200, own, "PUT", "/queues/slow", {"concurrency": 3})
        wait_for(lambda: call(own, "GET", API + "/queues/mail").status == 404, "it to be forgotten")
        assert [q["name"] for q in expect(200, own, "GET", "/queues")["queues"]] == ["slow"]
        assert expect(200, own, "GET", "/jobs?queue=mail")["jobs"][0]["job_id"] == job


# ---- looking

def test_a_queue_shows_what_is_in_it():
    name = next(names)
    refused(404, "GET", "/queues/" + name)
    submit(server, queue=name, schedule={"delay": "1h"})
    submit(server, queue=name, priority=100)
    worker = Worker(server, queues=[name])
    submit(server, queue=name, priority=1000, retry={"max_retries": 1, "delay": "1h"})
    time.sleep(0.1)
    lease, = worker.poll(free=1)["leases"]
    shown = queue(name)
    assert (shown["scheduled"], shown["queued"], shown["running"]) == (1, 1, 1), shown
    assert shown["depth"] == 2 and shown["retrying"] == 0 and shown["oldest_age_ms"] >= 100, shown
    assert shown["concurrency"] is None and shown["paused"] is False, shown
    assert shown["paused_at"] is shown["paused_by"] is shown["changed_at"] is None, shown
    worker.finish(lease, "failed")
    shown = queue(name)
    assert (shown["running"], shown["retrying"], shown["depth"]) == (0, 1, 3), shown


def test_queues_are_listed_by_name_and_in_pages():
    mine = [f"list-{n}" for n in ("a", "b", "c")]
    for name in reversed(mine):
        expect(200, server, "POST", f"/queues/{name}/pause")
    page = expect(200, server, "GET", "/queues?limit=1000&count=true")
    listed = [q["name"] for q in page["queues"]]
    assert listed == sorted(listed) and set(mine) <= set(listed), listed
    assert page["next_cursor"] is None and page["total"] == len(listed), page
    assert page["total_is_estimate"] is False
    walked, cursor = [], ""
    while cursor is not None:
        page = expect(200, server, "GET", "/queues?limit=2" + cursor)
        assert 0 < len(page["queues"]) <= 2, page
        walked += [q["name"] for q in page["queues"]]
        cursor = page["next_cursor"] and "&cursor=" + page["next_cursor"]
    assert walked == listed, walked
    refused(400, "GET", "/queues?limit=0", None, "limit")
    refused(400, "GET", "/queues?limit=1001", None, "limit")
    refused(400, "GET", "/queues?cursor=a%20b", None, "cursor")
    refused(400, "GET", "/queues?status=paused", None, "status")


# ---- deciding

def test_a_decision_says_when_and_by_whom():
    name = next(names)
    paused = expect(200, server, "POST", f"/queues/{name}/pause")
    assert paused["paused"] is True and paused["paused_by"] == "key:admin", paused
    assert paused["changed_at"] == paused["paused_at"], paused
    assert abs(milliseconds(paused["paused_at"]) - time.time() * 1000) < 60000, paused
    time.sleep(0.01)
    assert expect(200, server, "POST", f"/queues/{name}/pause", {}) == paused  # nothing to change
    limited = expect(200, server, "PUT", "/queues/" + name, {"concurrency": 3})
    assert limited["concurrency"] == 3 and limited["paused_at"] == paused["paused_at"], limited
    assert limited["changed_at"] > paused["changed_at"], (paused, limited)
    time.sleep(0.01)
    resumed = expect(200, server, "POST", f"/queues/{name}/resume")
    assert resumed["paused"] is False and resumed["concurrency"] == 3, resumed
    assert resumed["paused_at"] is resumed["paused_by"] is None, resumed
    assert resumed["changed_by"] == "key:admin" and resumed["changed_at"] > limited["changed_at"]
    lifted = expect(200, server, "PUT", "/queues/" + name, {"concurrency": None})
    assert lifted["concurrency"] is None and queue(name) == lifted, lifted


def test_decisions_are_told_to_those_who_watch():
    name = next(names)
    with Stream(server, "/events") as stream:
        expect(200, server, "POST", f"/queues/{name}/pause")
        expect(200, server, "POST", f"/queues/{name}/pause")
        expect(200, server, "PUT", "/queues/" + name, {"concurrency": 2})
        expect(200, server, "POST", f"/queues/{name}/resume")
        told = list(itertools.islice((data for _, kind, data in stream if kind == "queue"), 3))
    assert [data["event"] for data in told] == ["pause", "limit", "resume"], told
    assert [data["paused"] for data in told] == [True, True, False], told
    assert [data["concurrency"] for data in told] == [None, 2, 2], told
    assert {(data["queue"], data["actor"]) for data in told} == {(name, "key:admin")}, told


def test_a_name_in_a_path_is_checked_as_in_a_job():
    expect(200, server, "POST", "/queues/a.B%3Ac-d_1/pause")
    assert queue("a.B:c-d_1")["name"] == "a.B:c-d_1"
    for bad in ("a%20b", "a%2Fb", "%C3%A4", "q" * 201, "a+b", "a%0Ab"):
        for method, tail, body in (("GET", "", None), ("PUT", "", {"concurrency": 1}),
                                   ("POST", "/pause", None), ("POST", "/resume", None)):
            refused(400, method, f"/queues/{bad}{tail}", body, "queue")
    assert "hexadecimal" in refused(400, "GET", "/queues/a%zz", None, "queue")
    refused(404, "GET", "/queues/")
    refused(404, "POST", "/queues//pause")


def test_what_makes_no_sense_is_refused_with_its_field():
    name = next(names)
    for bad in (0, -1, 1000001, 1.5, "3", True, [], {}):
        refused(400, "PUT", "/queues/" + name, {"concurrency": bad}, "concurrency")
    assert "null" in refused(400, "PUT", "/queues/" + name, {}, "concurrency")
    refused(400, "PUT", "/queues/" + name, {"concurrency": 1, "paused": True}, "paused")
    refused(400, "PUT", "/queues/" + name, [])
    refused(400, "PUT", "/queues/" + name, b"")
    refused(400, "PUT", f"/queues/{name}?force=1", {"concurrency": 1}, "force")
    refused(400, "POST", f"/queues/{name}/pause", {"reason": "x"}, "reason")
    refused(400, "DELETE", f"/queues/{name}?force=1", None, "force")
    refused(404, "GET", "/queues/" + name)  # nothing of this made it exist
    refused(404, "POST", f"/queues/{name}/resume")
    refused(404, "PUT", "/queues/" + name, {"concurrency": None})


def test_bad_limits_of_a_job_are_refused_with_their_fields():
    def job(**more):
        return {"command": "true", **more}
    good = {"key": "k", "limit": 1}
    for bad, field in (({"key": "k", "limit": 0}, "limit"), ({"key": "k", "limit": 1000001}, "limit"),
                       ({"key": "k", "limit": "1"}, "limit"), ({"key": "k"}, "limit"),
                       ({"limit": 1}, "key"), ({"key": "", "limit": 1}, "key"),
                       ({"key": "a\nb", "limit": 1}, "key"), ({"key": "k" * 201, "limit": 1}, "key"),
                       ({"key": None, "limit": 1}, "key"), ({**good, "per": "1s"}, "per"),
                       ({**good, "burst": 2}, "burst")):
        refused(400, "POST", "/jobs", job(concurrency=bad), "concurrency." + field)
    for bad, field in (({**good}, "per"), ({**good, "per": "0s"}, "per"), ({**good, "per": "1"}, "per"),
                       ({**good, "per": 60}, "per"), ({**good, "per": "4000d"}, "per"),
                       ({"limit": 1, "per": "1s"}, "key"), ({"key": "k", "limit": 0, "per": "1s"}, "limit"),
                       ({**good, "per": "1s", "burst": 1}, "burst")):
        refused(400, "POST", "/jobs", job(rate=bad), "rate." + field)
    refused(400, "POST", "/jobs", job(concurrency=3), "concurrency")
    refused(400, "POST", "/jobs", job(rate={}), "rate.key", "rate.limit", "rate.per")
    created, _ = submit(server, queue=next(names), concurrency=good, rate={**good, "per": "60s"})
    shown = expect(200, server, "GET", "/jobs/" + created)
    assert shown["concurrency"] == good and shown["rate"] == {**good, "per": "1m"}, shown


# ---- pausing

def test_a_paused_queue_holds_its_work_whatever_is_killed():
    with Server("--slots", "2") as own:
        paused = expect(200, own, "POST", "/queues/mail/pause")
        held = own.submit("--queue", "mail", "--", "true")
        finish_all(own, [own.submit("--queue", "other", "--", "true")])
        own.kill()
        own.start()
        shown = queue("mail", own)
        assert shown["paused"] is True and shown["queued"] == 1, shown
        assert [shown[k] for k in ("paused_at", "paused_by")] == [
            paused[k] for k in ("paused_at", "paused_by")], (paused, shown)
        # Work that came later is done: the worker is back, and the held one was passed over.
        finish_all(own, [own.submit("--queue", "other", "--", "true")])
        run = own.newest_execution(held)
        assert run["status"] == "queued" and run["started_at"] is None, run
        expect(200, own, "POST", "/queues/mail/resume")
        finish_all(own, [held])


# ---- limits

def test_no_more_of_a_key_run_at_once_than_it_allows():
    with Server("--slots", "8") as own:
        limited, free = Witness(own), Witness(own)
        work = [{"command": limited.command(), "queue": f"q{i % 2}",
                 "concurrency": {"key": "customer-42", "limit": 3}} for i in range(12)]
        work += [{"command": free.command(), "concurrency": {"key": "another", "limit": 9}}
                 for _ in range(5)]
        results = expect(200, own, "POST", "/jobs/batch", {"jobs": work})["results"]
        free.wait_for_begun(5)  # those who wait for a key take no slot from others
        limited.wait_for_begun(3)
        free.gate.touch()
        finish_all(own, [result["job_id"] for result in results[12:]])  # and get none when there are some
        limited.gate.touch()
        finish_all(own, [result["job_id"] for result in results])
        assert limited.most_at_once() == 3, limited.notes()


def test_no_more_of_a_queue_run_at_once_than_its_limit():
    with Server("--slots", "8") as own:
        witness = Witness(own)
        expect(200, own, "PUT", "/queues/mail", {"concurrency": 2})
        work = [{"command": witness.command(), "queue": "mail"} for _ in range(8)]
        results = expect(200, own, "POST", "/jobs/batch", {"jobs": work})["results"]
        witness.wait_for_begun(2)
        assert queue("mail", own)["running"] == 2
        own.kill()  # a limit and its permits outlive that
        own.start()
        finish_all(own, [own.submit("--", "true")])  # the worker is back, and takes what it may
        witness.gate.touch()
        finish_all(own, [result["job_id"] for result in results])
        assert witness.most_at_once() == 2, witness.notes()


def test_starts_of_a_rate_are_spaced():
    with Server("--slots", "8") as own:
        witness = Witness(own)
        witness.gate.touch()
        work = [{"command": witness.command(), "rate": {"key": "smtp", "limit": 10, "per": "2s"}}
                for _ in range(6)]
        results = expect(200, own, "POST", "/jobs/batch", {"jobs": work})["results"]
        jobs = [result["job_id"] for result in results]
        finish_all(own, jobs)
        starts = {job: milliseconds(own.newest_execution(job)["started_at"]) for job in jobs}
        ordered = sorted(starts.values())
        gaps = [b - a for a, b in zip(ordered, ordered[1:])]
        assert min(gaps) >= 200, gaps
        for at, step, job in witness.notes():  # and nobody ran before it was allowed to
            assert step < 0 or at >= starts[job] * 1000000, (at, starts[job])


def test_a_rate_is_not_forgotten_when_the_server_dies():
    with Server("--slots", "8") as own:
        rate = {"key": "smtp", "limit": 1, "per": "3s"}
        first, _ = submit(own, rate=rate)
        finish_all(own, [first])
        second, _ = submit(own, rate=rate)
        own.kill()
        own.start()
        finish_all(own, [second])
        starts = [milliseconds(own.newest_execution(job)["started_at"]) for job in (first, second)]
        assert starts[1] - starts[0] >= 3000, starts


# ---- order

def test_waiting_is_worth_priority():
    """A point each 10 ms here: a quarter of a second is worth more than ten points, and less than a
    thousand."""
    name = next(names)
    _, old = submit(server, queue=name, priority=0)
    time.sleep(0.25)
    _, newer = submit(server, queue=name, priority=10)
    _, urgent = submit(server, queue=name, priority=1000)
    leases = Worker(server, queues=[name]).poll(free=3)["leases"]
    order = [lease["execution_id"] for lease in leases]
    assert order == [urgent, old, newer], (order, [urgent, old, newer])


def test_a_very_slow_age_is_order_by_priority_alone():
    with Server("--no-worker", "--set", "priority_age_ms=365d") as own:
        _, old = submit(own, priority=500)
        time.sleep(0.05)
        _, newer = submit(own, priority=501)
        lease, = Worker(own).poll(free=1)["leases"]
        assert lease["execution_id"] == newer != old


# ---- the command line

def test_the_command_line_lists_pauses_resumes_and_limits():
    name = "cli-" + next(names)

    def run(*args, code=0):
        done = server.cli("queues", *args)
        assert done.returncode == code, done
        return done.stdout if code == 0 else done.stderr
    assert run("pause", name) == f"{name} paused, no limit\n"
    assert run("limit", name, "3") == f"{name} paused, at most 3 at once\n"
    assert json.loads(run("resume", name, "-o", "json"))["paused"] is False
    job = server.submit("--queue", name, "--", "true")
    row, = [line.split() for line in run("--all").splitlines() if line.startswith(name)]
    assert row[:4] == [name, "1", "0", "3"], row
    listed = json.loads(run("--all", "-o", "json"))["queues"]
    assert [q for q in listed if q["name"] == name][0]["concurrency"] == 3
    assert len(json.loads(run("--limit", "1", "-o", "json"))["queues"]) == 1
    assert run("limit", name, "none") == f"{name} open, no limit\n"
    for usage in (("pause",), ("pause", name, "x"), ("limit", name), ("limit", name, "few"),
                  ("limit", name, "-1"), ("stop", name), ("pause", "")):
        assert "belfry help queues" in run(*usage, code=2), usage
    assert "between 1 and" in run("limit", name, "0", code=2)
    assert "letters, digits" in run("pause", "a/b c", code=2)
    assert "no queue" in run("resume", "cli-nobody-knows", code=3)
    assert "unfinished executions: 1" in run("delete", name, code=1)
    assert server.cli("cancel", job).returncode == 0
    assert run("delete", name) == f"{name} deleted\n"
    assert "no queue" in run("delete", name, code=3)
    assert "belfry help queues" in run("delete", code=2)


def test_submit_takes_limits():
    job = server.job(server.submit("--queue", next(names), "--concurrency", "a=b=2",
                                   "--rate", "smtp=100/1m", "--", "true"))
    assert job["concurrency"] == {"key": "a=b", "limit": 2}, job
    assert job["rate"] == {"key": "smtp", "limit": 100, "per": "1m"}, job
    for option, values in (("--concurrency", ("k", "=2", "k=", "k=x", "k=1/1s")),
                           ("--rate", ("k=1", "k=1/", "k=/1s", "1/1s"))):
        for value in values:
            done = server.cli("submit", option, value, "--", "true")
            assert done.returncode == 2 and f"{option} takes KEY=N" in done.stderr, done
    done = server.cli("submit", "--rate", "k=1/soon", "--", "true")
    assert done.returncode == 2 and "duration" in done.stderr, done
    assert server.cli("submit", "-f", "-", "--rate", "k=1/1s", stdin="{}").returncode == 2


if __name__ == "__main__":
    main(tests_of(globals()), shared=server)
