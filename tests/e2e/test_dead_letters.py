"""Dead letters: what failed for good is there with its reason, can be run again or discarded, alone
or in numbers, and leaves in time; and so does what is over."""

from belfry import Server, main, tests_of, wait_for
from protocol import API, Worker, call, execution, expect, names, submit

# Failing is what these jobs are for: nothing is left alone because of it.
CALM = ("--set", "breaker_percent=0")
server = Server("--no-worker", *CALM)


def bury(own, worker, handler, outcome="failed", count=1, tail="", **job):
    """The executions of so many jobs that failed for good."""
    job.setdefault("retry", {"max_retries": 0})
    made = [submit(own, handler=handler, **job)[1] for _ in range(count)]
    buried = 0
    while buried < count:
        leases = worker.poll(free=10)["leases"]
        worker.poll(results=[(lease, outcome, {"error": "exit code 3", "error_tail": tail})
                             for lease in leases])
        buried += len(leases)
    return made


def new_worker(own=server):
    handler = next(names)
    return Worker(own, handlers=[handler]), handler


def letters(own=server, **params):
    query = "&".join(f"{k}={v}" for k, v in params.items())
    return expect(200, own, "GET", "/dead-letters?" + query)


def ids(page):
    return [letter["execution_id"] for letter in page["dead_letters"]]


def finished(own, operation):
    def look():
        shown = expect(200, own, "GET", "/operations/" + operation["operation_id"])
        return shown if shown["status"] == "done" else None
    return wait_for(look, "the operation")


def refused(status, field, method, path, body=None):
    answer = call(server, method, API + path, body)
    assert answer.status == status, (path, body, answer)
    if field is not None:
        fields = [error["field"] for error in answer.json["errors"]]
        assert field in fields, (path, body, fields)


def test_every_failure_for_good_is_a_letter_with_its_reason():
    worker, handler = new_worker()
    queue = next(names)
    exhausted, = bury(server, worker, handler, queue=queue, name=next(names),
                      tail="cannot reach 10.0.0.7: Connection refused\n")
    permanent, = bury(server, worker, handler, "permanent", queue=queue, retry={"max_retries": 3})
    timeout, = bury(server, worker, handler, "timeout", queue=queue, priority=7)
    page = letters(queue=queue, count="true")
    assert ids(page) == [timeout, permanent, exhausted], page
    assert (page["total"], page["total_is_estimate"]) == (3, False), page
    told = [(l["status"], l["reason"]) for l in page["dead_letters"]]
    assert told == [("timeout", "exhausted"), ("failed", "permanent"), ("failed", "exhausted")], told
    first = page["dead_letters"][2]
    assert first["error_class"] == "network_error" and first["attempt_count"] == 1, first
    assert first["error"] == "exit code 3" and first["owner"] and first["died_at"], first
    assert "Connection refused" in first["fingerprint_text"], first
    shown = expect(200, server, "GET", "/dead-letters/" + exhausted)
    assert shown["reason"] == "exhausted", shown
    assert shown["execution"]["attempts"][0]["fingerprint"] == first["fingerprint"], shown


def test_filters_pages_and_cursors():
    worker, handler = new_worker()
    queue, name = next(names), next(names)
    made = bury(server, worker, handler, queue=queue, count=5, tail="disk full: No space left on device\n")
    other, = bury(server, worker, handler, queue=queue, name=name)
    assert ids(letters(queue=queue, name=name)) == [other]
    assert ids(letters(queue=queue, **{"class": "disk_error"})) == made[::-1]
    letter = letters(queue=queue, name=name)["dead_letters"][0]
    assert ids(letters(queue=queue, fingerprint=letter["fingerprint"])) == [other]
    assert ids(letters(queue=queue, job=letter["job_id"])) == [other]
    assert ids(letters(queue=queue, created_before="2001-01-01T00:00:00Z")) == []
    assert len(ids(letters(queue=queue, created_after="2001-01-01T00:00:00Z"))) == 6
    seen, cursor = [], None
    while cursor != "":
        page = letters(queue=queue, limit=2, **({"cursor": cursor} if cursor else {}))
        seen += ids(page)
        if len(seen) == 2:  # what vanishes shifts nothing
            expect(200, server, "DELETE", "/dead-letters/" + seen[1])
        cursor = page["next_cursor"] or ""
    assert seen == [other] + made[::-1], seen
    first = letters(queue=queue, limit=1)
    forged = first["next_cursor"][:-1] + ("0" if first["next_cursor"][-1] != "0" else "1")
    refused(400, "cursor", "GET", f"/dead-letters?queue={queue}&cursor={forged}")
    refused(400, "cursor", "GET", f"/dead-letters?cursor={first['next_cursor']}")  # another filter
    for query, field in (("class=bad_luck", "class"), ("fingerprint=xyz", "fingerprint"),
                         ("job=7", "job"), ("job=job_0000000000000", "job"), ("limit=0", "limit"),
                         ("created_before=1969-01-01T00:00:00Z", "created_before"),
                         ("created_after=soon", "created_after")):
        refused(400, field, "GET", "/dead-letters?" + query)
    refused(400, None, "GET", "/dead-letters?color=red")


def test_groups_count_what_failed_in_the_same_way():
    worker, handler = new_worker()
    queue = next(names)
    made = bury(server, worker, handler, queue=queue, count=3, tail="job 17 broke\n")
    bury(server, worker, handler, queue=queue, count=1, tail="out of luck\n")
    told = expect(200, server, "GET", "/dead-letters/fingerprints?queue=" + queue)
    assert told["complete"] is True, told
    assert [g["count"] for g in told["fingerprints"]] == [3, 1], told
    assert told["fingerprints"][0]["newest_execution_id"] == made[-1], told
    assert "broke" in told["fingerprints"][0]["fingerprint_text"], told


def test_a_letter_can_be_run_again_once():
    worker, handler = new_worker()
    dead, = bury(server, worker, handler)
    again = expect(201, server, "POST", f"/dead-letters/{dead}/retry")
    assert again["retry_of"] == dead and again["status"] == "queued", again
    refused(404, None, "GET", "/dead-letters/" + dead)
    refused(404, None, "POST", f"/dead-letters/{dead}/retry")
    lease, = worker.take()
    assert lease["execution_id"] == again["execution_id"]
    refused(409, None, "POST", f"/dead-letters/{again['execution_id']}/retry")  # it runs
    worker.finish(lease, "succeeded")
    refused(404, None, "POST", f"/dead-letters/{again['execution_id']}/retry")  # it succeeded
    other, = bury(server, worker, handler)
    expect(201, server, "POST", f"/executions/{other}/retry")
    refused(404, None, "GET", "/dead-letters/" + other)
    worker.finish(worker.take()[0], "succeeded")


def test_a_letter_can_be_run_again_with_another_payload():
    worker, handler = new_worker()
    letter, = bury(server, worker, handler, payload={"n": 1})
    refused(400, "pay", "POST", f"/dead-letters/{letter}/retry", {"pay": 1})
    refused(413, None, "POST", f"/dead-letters/{letter}/retry", {"payload": "x" * (2 << 20)})
    again = expect(201, server, "POST", f"/dead-letters/{letter}/retry", {"payload": {"n": 2}})
    run = execution(server, again["execution_id"])
    assert run["payload"] == {"n": 2} and run["retry_of"] == letter, run
    assert run["transitions"][0]["reason"] == "run again with another payload", run
    assert execution(server, letter)["payload"] is None
    assert expect(200, server, "GET", "/jobs/" + run["job_id"])["payload"] == {"n": 1}
    server.kill()
    server.start()
    lease, = worker.poll(free=1)["leases"]
    assert lease["payload"] == {"n": 2} and lease["execution_id"] == again["execution_id"], lease
    assert worker.finish(lease, "permanent")
    # Who repeats that repeats its payload, one by one or with others, and also as an execution.
    many = expect(202, server, "POST", "/dead-letters/retry", {"filter": {"job": run["job_id"]}})
    assert finished(server, many)["done"] == 1
    lease, = worker.poll(free=1)["leases"]
    assert lease["payload"] == {"n": 2}, lease
    assert worker.finish(lease)
    expect(201, server, "POST", f"/executions/{lease['execution_id']}/retry", {"payload": [3]})
    lease, = worker.poll(free=1)["leases"]
    assert lease["payload"] == [3] and worker.finish(lease), lease


def test_the_payload_of_one_slot_is_not_that_of_the_next():
    worker, handler = new_worker()
    job, _ = submit(server, handler=handler, payload=[1], schedule={"every": "1h"},
                    retry={"max_retries": 0})

    def run(payload, outcome):
        lease, = worker.poll(free=1)["leases"]
        assert lease["payload"] == payload and worker.finish(lease, outcome), lease
        return lease["execution_id"]

    expect(201, server, "POST", f"/jobs/{job}/trigger", {})
    letter = run([1], "failed")
    expect(201, server, "POST", f"/dead-letters/{letter}/retry", {"payload": [2]})
    run([2], "succeeded")
    expect(201, server, "POST", f"/jobs/{job}/trigger", {})
    run([1], "succeeded")


def test_the_same_key_with_another_payload_is_refused():
    worker, handler = new_worker()
    letter, = bury(server, worker, handler, payload=[1])
    path, key = f"{API}/dead-letters/{letter}/retry", {"Idempotency-Key": next(names)}
    first = call(server, "POST", path, {"payload": [2]}, headers=key)
    assert first.status == 201, first
    assert call(server, "POST", path, {"payload": [2]}, headers=key).json == first.json
    assert call(server, "POST", path, {"payload": [3]}, headers=key).status == 422
    assert worker.finish(worker.take()[0])


def test_what_runs_is_not_run_again():
    worker, handler = new_worker()
    _, run = submit(server, handler=handler)
    lease, = worker.take()
    for path in (f"/executions/{run}/retry", f"/dead-letters/{run}/retry"):
        answer = call(server, "POST", API + path, {"payload": [1]})
        assert answer.status == 409 and answer.json["code"] == "conflict", answer
    assert execution(server, run)["status"] == "running"
    assert worker.finish(lease)


def test_what_cannot_be_run_again_says_why():
    worker, handler = new_worker()
    name = next(names)
    dead, = bury(server, worker, handler, name=name)
    job, _ = submit(server, handler=next(names), name=name)
    answer = call(server, "POST", f"{API}/dead-letters/{dead}/retry")
    assert answer.status == 409 and name in answer.json["detail"], answer
    expect(200, server, "DELETE", "/jobs/" + job)

    made = expect(201, server, "POST", "/jobs", {"handler": handler, "schedule": {"every": "1s"},
                                                 "retry": {"max_retries": 0}})
    lease, = wait_for(lambda: worker.poll(free=1)["leases"], "a slot")
    worker.finish(lease, "failed")
    expect(200, server, "DELETE", "/jobs/" + made["job_id"])
    answer = call(server, "POST", f"{API}/dead-letters/{lease['execution_id']}/retry")
    assert answer.status == 409 and "cancelled" in answer.json["detail"], answer
    assert ids(letters(job=made["job_id"])) == [lease["execution_id"]]


def test_discarding_leaves_the_history():
    worker, handler = new_worker()
    dead, = bury(server, worker, handler)
    told = expect(200, server, "DELETE", "/dead-letters/" + dead)
    assert told["execution_id"] == dead and told["discarded_at"], told
    refused(404, None, "DELETE", "/dead-letters/" + dead)
    assert execution(server, dead)["status"] == "failed"


def test_many_are_run_again_by_filter_with_a_preview():
    worker, handler = new_worker()
    queue, name = next(names), next(names)
    made = bury(server, worker, handler, queue=queue, count=23)
    taken, = bury(server, worker, handler, queue=queue, name=name)
    submit(server, handler=next(names), name=name)
    wish = {"filter": {"queue": queue}}
    preview = expect(200, server, "POST", "/dead-letters/retry", {**wish, "dry_run": True})
    assert preview == {"dry_run": True, "count": 24}, preview
    assert len(ids(letters(queue=queue))) == 24
    started = expect(202, server, "POST", "/dead-letters/retry", wish)
    assert started["total"] == 24 and started["kind"] == "retry", started
    assert started["filter"] == {"queue": queue}, started
    done = finished(server, started)
    assert (done["done"], done["refused"]) == (23, 1), done
    assert name in done["last_refusal"] and done["finished_at"], done
    assert ids(letters(queue=queue)) == [taken]
    leases = []
    while len(leases) < 23:
        leases += worker.poll(free=10, running=leases)["leases"][:23]
        worker.poll(results=[(lease, "succeeded") for lease in leases[-10:]])
    assert {execution(server, lease["execution_id"])["retry_of"] for lease in leases} == set(made)
    listed = expect(200, server, "GET", "/operations")["operations"]
    assert {key: done[key] for key in done if key != "refusals"} in listed, listed


def test_many_are_discarded_by_fingerprint():
    worker, handler = new_worker()
    queue = next(names)
    bury(server, worker, handler, queue=queue, count=12, tail="broken pipe\n")
    other, = bury(server, worker, handler, queue=queue, tail="some other thing\n")
    groups = expect(200, server, "GET", "/dead-letters/fingerprints?queue=" + queue)["fingerprints"]
    wish = {"filter": {"queue": queue, "fingerprint": groups[0]["fingerprint"]}}
    done = finished(server, expect(202, server, "POST", "/dead-letters/discard", wish))
    assert (done["total"], done["done"], done["refused"]) == (12, 12, 0), done
    assert ids(letters(queue=queue)) == [other]


def test_wishes_that_make_no_sense_are_refused():
    for path in ("/dead-letters/retry", "/dead-letters/discard"):
        for body, field in (({}, "filter"), ({"filter": {}}, "filter"), ({"all": False}, "filter"),
                            ({"filter": {"queue": ""}}, "filter.queue"),
                            ({"filter": {"class": "x"}}, "filter.class"),
                            ({"filter": {"fingerprint": "0"}}, "filter.fingerprint"),
                            ({"filter": {"job": "exec_1"}}, "filter.job"),
                            # What stands for "not given" inside must not be taken for everything.
                            ({"filter": {"queue": "x", "job": "job_0000000000000"}}, "filter.job"),
                            ({"filter": {"queue": "x", "created_before": "1970-01-01T00:00:00Z"}},
                             "filter.created_before"),
                            ({"filter": {"queue": "x", "created_before": "1969-12-31T23:59:59Z"}},
                             "filter.created_before"),
                            ({"filter": {"queue": "x", "fingerprint": None}}, "filter.fingerprint"),
                            ({"filter": {"color": "red"}}, "filter.color"),
                            ({"filter": {"queue": "x"}, "all": True}, "all"),
                            ({"filter": [], "dry_run": True}, "filter"),
                            ({"all": True, "dry_run": "yes"}, "dry_run"),
                            ({"all": True, "payload": {}}, "payload")):
            refused(400, field, "POST", path, body)
        refused(400, None, "POST", path)
    for unknown in ("exec_0000000000001", "exec_7zzzzzzzzzzzz", "job_0000000000001", "nonsense"):
        refused(404, None, "GET", "/dead-letters/" + unknown)
        refused(404, None, "DELETE", "/dead-letters/" + unknown)
        refused(404, None, "POST", f"/dead-letters/{unknown}/retry")
    refused(404, None, "GET", "/operations/op_0000000000001")
    refused(404, None, "GET", "/operations/1")
    refused(405, None, "PUT", "/dead-letters/exec_0000000000001")


def test_letters_and_operations_survive_a_kill():
    with Server("--no-worker", *CALM) as own:
        worker, handler = new_worker(own)
        bury(own, worker, handler, count=20)
        own.kill()
        own.start()
        page = letters(own, count="true", limit=100)
        assert len(ids(page)) == page["total"] == 20, page
        started = expect(202, own, "POST", "/dead-letters/retry", {"all": True})
        own.kill()
        own.start()
        done = finished(own, started)
        assert (done["done"], done["refused"]) == (20, 0), done
        assert ids(letters(own)) == []
        queued = expect(200, own, "GET", "/executions?status=queued&limit=100")["executions"]
        assert len(queued) == 20


def test_what_is_old_leaves():
    with Server("--no-worker", *CALM, "--set", "dead_letters_keep_ms=2s",
                "--set", "history_keep_ms=1s") as own:
        worker, handler = new_worker(own)
        waits, waiting = submit(own, handler=next(names))
        dead, = bury(own, worker, handler)
        job, well = submit(own, handler=handler)
        worker.finish(worker.take()[0], "succeeded")
        status = lambda path: call(own, "GET", API + path).status
        wait_for(lambda: status("/executions/" + well) == 404, "the end of a success")
        assert status("/jobs/" + job) == 404, "the job goes with its last execution"
        wait_for(lambda: status("/dead-letters/" + dead) == 404, "the end of a letter")
        wait_for(lambda: status("/executions/" + dead) == 404, "the end of its execution")
        for gone in (f"/dead-letters/{dead}/retry", f"/executions/{dead}/retry", f"/executions/{well}/retry"):
            assert call(own, "POST", API + gone).status == 404, gone
        assert status("/executions/" + waiting) == 200 and status("/jobs/" + waits) == 200
        stats = expect(200, own, "GET", "/stats")
        assert stats["dead_letters"] == 0, stats
        assert stats["executions"]["failed"] == 1, "numbers stay"


def test_the_command_line_lists_shows_retries_and_discards():
    with Server("--no-worker", *CALM) as own:
        worker, handler = new_worker(own)
        listed = own.cli("dead-letters")
        assert listed.stdout == "no dead letters\n", listed
        first, second, *rest = bury(own, worker, handler, count=6, queue="mail", tail="boom\n")
        listed = own.cli("dead-letters", "--queue", "mail")
        assert first in listed.stdout and "exhausted" in listed.stdout, listed
        shown = own.cli("dead-letters", "show", first)
        assert shown.returncode == 0 and "boom" in shown.stdout and "exhausted" in shown.stdout, shown
        groups = own.cli("dead-letters", "fingerprints")
        assert "boom" in groups.stdout and "6" in groups.stdout, groups
        again = own.cli("dead-letters", "retry", first)
        assert again.returncode == 0 and again.stdout.startswith("exec_"), again
        assert own.cli("dead-letters", "retry", second, "--payload", "{").returncode == 2
        assert own.cli("dead-letters", "discard", second, "--payload", "1").returncode == 2
        assert own.cli("dead-letters", "retry", "--queue", "mail", "--payload", "1").returncode == 2
        gone = own.cli("dead-letters", "discard", second)
        assert gone.stdout == f"{second} discarded\n", gone
        count = own.cli("dead-letters", "retry", "--queue", "mail", "--dry-run")
        assert count.stdout == "4\n", count
        unasked = own.cli("dead-letters", "retry", "--queue", "mail")
        assert unasked.returncode == 2 and "--yes" in unasked.stderr, unasked
        done = own.cli("dead-letters", "retry", "--queue", "mail", "--class", "unknown", "--yes")
        assert done.returncode == 0 and done.stdout == "4 run again\n", done
        none = own.cli("dead-letters", "discard", "--all", "--yes", "-o", "json")
        assert none.returncode == 0 and '"done":0' in none.stdout.replace(" ", ""), none
        assert own.cli("dead-letters", "retry").returncode == 2
        assert own.cli("dead-letters", "eat", "x").returncode == 2
        assert own.cli("dead-letters", "show").returncode == 2
        assert own.cli("dead-letters", "retry", second, "--queue", "mail").returncode == 2
        assert own.cli("dead-letters", "show", second).returncode == 3
        assert own.cli("dead-letters", "retry", "--class", "bad_luck", "--yes").returncode != 0


if __name__ == "__main__":
    main(tests_of(globals()), shared=server)
