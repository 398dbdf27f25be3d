"""Breakers: what keeps failing is left alone for a while, and its jobs wait without burning attempts."""

import contextlib
import json
import sqlite3

from belfry import ROOT, Server, main, tests_of, wait_for
from protocol import API, Stream, Worker, call, expect, submit

server = Server("--no-worker")  # an open breaker rests for half a minute: longer than any look at it


def breaker(target, own=server):
    """As the list shows it; None when it is not there."""
    found = [b for b in expect(200, own, "GET", "/breakers")["breakers"] if b["target"] == target]
    return found[0] if found else None


def fail(worker, handler, times, own=server, **job):
    for _ in range(times):
        submit(own, handler=handler, retry={"max_retries": 0}, **job)
        lease, = worker.poll(free=1)["leases"]
        worker.finish(lease, "failed")


def change_store(own, *statements):
    """Of a server that is stopped."""
    with contextlib.closing(sqlite3.connect(own.data / "belfry.db")) as db:
        for statement in statements:
            db.execute(statement)
        db.commit()


def migrate_again(own, name):
    """What this migration does to a store that has all the later ones."""
    script = (ROOT / "src/store/sqlite/migrations" / name).read_text()
    with contextlib.closing(sqlite3.connect(own.data / "belfry.db")) as db:
        newest = db.execute("PRAGMA user_version").fetchone()[0]
        db.executescript(script + f"PRAGMA user_version = {newest};")


def end_rest(own):
    """Rests are long, so that nothing depends on being fast; this one is over with the next start."""
    own.stop()
    change_store(own, "UPDATE breaker SET until_ms = 0")
    own.start()


def patch(own, job, change, version=1):
    return expect(200, own, "PATCH", "/jobs/" + job, change, headers={
        "If-Match": f'"{version}"', "Content-Type": "application/merge-patch+json"})


def failures_of(target, own):
    return (breaker(target, own) or {"failures": 0})["failures"]


def test_a_failing_handler_is_left_alone_then_probed_then_trusted_again():
    with Server("--no-worker") as own:
        worker = Worker(own, handlers=["mail"], slots=8)
        with Stream(own, "/events") as events:
            fail(worker, "mail", 5, own)
            told = next(data for _, kind, data in events if kind == "breaker")
            assert (told["target"], told["state"]) == ("handler:mail", "open"), told
        shown = breaker("handler:mail", own)
        assert (shown["state"], shown["calls"], shown["failures"]) == ("open", 5, 5), shown
        assert shown["opened_at"] and shown["probe_at"] and "probe" not in shown, shown

        jobs = [submit(own, handler="mail")[0] for _ in range(3)]
        assert breaker("handler:mail", own)["waiting"] == 3
        assert worker.poll(free=8)["leases"] == [], "it is left alone"
        end_rest(own)
        probe, = wait_for(lambda: worker.poll(free=8)["leases"], "the probe")
        assert worker.poll(free=7, running=[probe])["leases"] == [], "only one is tried"
        shown = breaker("handler:mail", own)
        assert (shown["state"], shown["probe"]) == ("half_open", probe["execution_id"]), shown
        worker.finish(probe, "succeeded")
        assert breaker("handler:mail", own)["state"] == "closed"
        assert len(worker.poll(free=8)["leases"]) == 2
        done = [expect(200, own, "GET", "/jobs/" + job)["retry_count"] for job in jobs]
        assert done == [0, 0, 0], "waiting costs no attempt"


def test_explain_says_what_fails_and_when_it_is_tried_again():
    with Server("--no-worker") as own:
        worker = Worker(own, handlers=["mail"], slots=2)
        fail(worker, "mail", 5, own)
        job, _ = submit(own, handler="mail")
        told = expect(200, own, "GET", f"/jobs/{job}/explain")
        why, = [b for b in told["blockers"] if b["kind"] == "breaker"]
        assert why["key"] == "handler:mail" and why["until"] and why["since"], why
        assert "belfry breakers reset handler:mail" in why["text"], why
        listed = own.cli("breakers")
        assert "handler:mail" in listed.stdout and "open" in listed.stdout, listed
        reset = own.cli("breakers", "reset", "handler:mail")
        assert reset.returncode == 0 and reset.stdout == "handler:mail is closed\n", reset
        assert len(worker.poll(free=2)["leases"]) == 1


def test_an_open_breaker_survives_a_kill():
    with Server("--no-worker") as own:
        worker = Worker(own, handlers=["mail"], slots=2)
        fail(worker, "mail", 5, own)
        opened = breaker("handler:mail", own)
        job, _ = submit(own, handler="mail")
        own.kill()
        own.start()
        shown = breaker("handler:mail", own)
        assert shown["state"] == "open" and shown["opened_at"] == opened["opened_at"], shown
        kinds = [b["kind"] for b in expect(200, own, "GET", f"/jobs/{job}/explain")["blockers"]]
        assert "breaker" in kinds, kinds


def test_a_command_has_none_unless_its_job_names_one():
    with Server() as own:
        for name in (None, "smtp"):
            for _ in range(6 if name is None else 5):
                job, _ = submit(own, command="exit 1", retry={"max_retries": 0}, breaker=name)
                own.wait_for_status(job, "failed")
            shown = expect(200, own, "GET", "/breakers")["breakers"]
            assert [b["target"] for b in shown] == ([] if name is None else ["smtp"]), shown
        assert shown[0]["state"] == "open", shown
        waits = own.submit("--breaker", "smtp", "--", "true")
        for flags in ((), ("--breaker", "imap"), ("--breaker", "none")):
            own.wait_for_status(own.submit(*flags, "--", "true"), "completed")
        assert own.job(waits)["status"] == "active"
        told = own.cli("explain", waits).stdout
        assert "'smtp' keeps failing (5 of 5 lately)" in told, told
        assert "breaker" in own.cli("show", waits).stdout and own.job(waits)["breaker"] == "smtp"
        assert own.cli("breakers", "reset", "smtp").returncode == 0
        own.wait_for_status(waits, "completed")


def test_documents_say_it_everywhere():
    job, _ = submit(server, handler="documents", breaker=False)
    assert expect(200, server, "GET", "/jobs/" + job)["breaker"] is False
    patch(server, job, {"breaker": "smtp"})
    assert expect(200, server, "GET", "/jobs/" + job)["breaker"] == "smtp"
    patch(server, job, {"breaker": None}, version=2)
    assert "breaker" not in expect(200, server, "GET", "/jobs/" + job)
    for wish in ("b", False):
        put = {"command": ["true"], "breaker": wish, "schedule": {"every": "1h"}}
        answer = call(server, "PUT", API + "/jobs/by-name/named", put)
        assert answer.status in (200, 201), answer
        shown = expect(200, server, "GET", "/jobs/" + answer.json["job_id"])
        assert shown["breaker"] == wish, shown
    batch = {"jobs": [{"handler": "documents", "breaker": "x"}, {"handler": "documents", "breaker": 3}]}
    results = expect(200, server, "POST", "/jobs/batch", batch)["results"]
    assert "job_id" in results[0] and "job_id" not in results[1], results
    for bad in (True, 3, "", "a b", "x" * 201, ["a"], {}):
        answer = call(server, "POST", API + "/jobs", {"command": "true", "breaker": bad})
        assert answer.status == 400 and b"breaker" in answer.body, (bad, answer)
    assert server.cli("submit", "--breaker", "a b", "--", "true").returncode == 2


def test_failures_of_the_jobs_own_making_do_not_count():
    with Server("--no-worker") as own:
        worker = Worker(own, handlers=["mail"], slots=8)
        fail(worker, "mail", 4, own)
        for outcome, more in (("permanent", {}), ("failed", {"error_class": "user_error"}),
                              ("failed", {"error_class": "not_found"})):
            submit(own, handler="mail")
            assert worker.finish(worker.take()[0], outcome, **more)
        shown = breaker("handler:mail", own)
        assert (shown["state"], shown["calls"], shown["failures"]) == ("closed", 4, 4), shown
        fail(worker, "mail", 1, own)
        assert breaker("handler:mail", own)["state"] == "open"
        for _ in range(3):
            submit(own, handler="mail")
        end_rest(own)
        probe, = wait_for(lambda: worker.poll(free=8)["leases"], "the probe")
        assert worker.finish(probe, "permanent")
        assert (breaker("handler:mail", own) or {"state": "closed"})["state"] == "closed"
        assert len(worker.poll(free=8)["leases"]) == 2


def test_another_probe_goes_when_the_first_takes_long():
    with Server("--no-worker", "--set", "breaker_rest_ms=300") as own:
        worker = Worker(own, handlers=["mail"], slots=8)
        fail(worker, "mail", 5, own)
        for _ in range(3):
            submit(own, handler="mail")
        probes = []

        def two_go():
            probes.extend(worker.poll(free=1, running=probes)["leases"])
            return len(probes) == 2

        wait_for(two_go, "a second probe beside the first")
        assert breaker("handler:mail", own)["state"] == "half_open"
        assert worker.finish(probes[0])
        assert breaker("handler:mail", own)["state"] == "closed"


def test_what_runs_is_charged_to_what_it_was_started_for():
    with Server("--no-worker") as own:
        worker = Worker(own, handlers=["mail"], slots=8)
        for target in ("old", "new"):  # which both stay known by
            submit(own, handler="mail", breaker=target, schedule={"delay": "10m"})
        for kills in (False, True):
            job, _ = submit(own, handler="mail", breaker="old", retry={"max_retries": 0})
            lease, = worker.take()
            patch(own, job, {"breaker": "new"})
            before = failures_of("old", own)
            if kills:
                own.kill()  # what was counted is forgotten, the charge is not
                own.start()
                before = 0
            assert worker.finish(lease, "failed")
            assert (failures_of("old", own), failures_of("new", own)) == (before + 1, 0), kills


def test_breakers_by_program_are_forgotten_by_an_upgrade():
    with Server("--no-worker") as own:
        worker = Worker(own, handlers=["mail"], slots=8)
        fail(worker, "mail", 5, own)
        job, _ = submit(own, command=["/opt/backup.sh"])
        own.stop()
        change_store(own, "ALTER TABLE live DROP COLUMN charged",  # as the version before has it
                     "INSERT INTO breaker SELECT 'command:backup.sh', state, opened_ms, until_ms, probe FROM breaker")
        migrate_again(own, "0025_breakers.sql")
        own.start()
        shown = expect(200, own, "GET", "/breakers")["breakers"]
        assert [b["target"] for b in shown] == ["handler:mail"], shown
        told = expect(200, own, "GET", f"/jobs/{job}/explain")
        assert "breaker" not in [b["kind"] for b in told["blockers"]], json.dumps(told)


def test_without_a_percentage_nothing_is_left_alone():
    with Server("--no-worker", "--set", "breaker_percent=0") as own:
        worker = Worker(own, handlers=["mail"], slots=2)
        fail(worker, "mail", 12, own)
        assert expect(200, own, "GET", "/breakers")["breakers"] == []


def test_resetting_names_a_target():
    for body, status in (({}, 400), ({"target": ""}, 400), ({"target": 7}, 400),
                         ({"target": "handler:nobody"}, 404), ({"target": "x", "more": 1}, 400)):
        answer = call(server, "POST", API + "/breakers/reset", body)
        assert answer.status == status, (body, answer)
    assert server.cli("breakers", "reset", "handler:nobody").returncode == 3
    assert server.cli("breakers", "reset").returncode == 2
    assert server.cli("breakers", "open", "x").returncode == 2


if __name__ == "__main__":
    main(tests_of(globals()), shared=server)
