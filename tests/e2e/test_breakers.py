"""Breakers: what keeps failing is left alone for a while, and its jobs wait without burning attempts."""

from belfry import Server, main, tests_of, wait_for
from protocol import API, Stream, Worker, call, expect, submit

server = Server("--no-worker")  # an open breaker rests for half a minute: longer than any look at it


def breaker(target, own=server):
    """As the list shows it; None when it is not there."""
    found = [b for b in expect(200, own, "GET", "/breakers")["breakers"] if b["target"] == target]
    return found[0] if found else None


def fail(worker, handler, times, own=server):
    for _ in range(times):
        submit(own, handler=handler, retry={"max_retries": 0})
        lease, = worker.poll(free=1)["leases"]
        worker.finish(lease, "failed")


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
        own.stop()  # enough was seen of its rest: a shorter one counts for it at once
        own.flags += ("--set", "breaker_rest_ms=400")
        own.start()
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


def test_commands_have_the_name_of_what_they_call():
    with Server() as own:
        for _ in range(5):
            job, _ = submit(own, command="sh -c false.sh; exit 1", retry={"max_retries": 0})
            own.wait_for_status(job, "failed")
        assert breaker("command:false.sh", own)["state"] == "open"
        job, _ = submit(own, command="true")
        own.wait_for_status(job, "completed")  # another target


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
