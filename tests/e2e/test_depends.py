"""Jobs that wait for other jobs: in order, across a crash, and never in a circle."""

import time

from belfry import Server, main, tests_of, wait_for
from protocol import API, Worker, call, expect, names, submit

server = Server("--no-worker")


def after(job, kind="success"):
    return {"job": job, "type": kind}


def batch(*jobs, own=server):
    """What became of each; a command of no importance unless it has one."""
    body = {"jobs": [{"command": ["true"], **job} for job in jobs]}
    return expect(200, own, "POST", "/jobs/batch", body)["results"]


def job_of(job_id, own=server):
    return expect(200, own, "GET", "/jobs/" + job_id)


def execution_of(job_id, own=server):
    path = f"/jobs/{job_id}/executions?limit=1"
    newest = expect(200, own, "GET", path)["executions"][0]["execution_id"]
    return expect(200, own, "GET", "/executions/" + newest)


def status_of(job_id, own=server):
    return execution_of(job_id, own)["status"]


def refusal(**job):
    answer = call(server, "POST", API + "/jobs", {"command": ["true"], **job})
    assert answer.status == 400, answer
    return answer.json


def only_lease(worker):
    return worker.take()[0]


def test_a_dependant_waits_for_the_success_of_another_job():
    queue = next(names)
    first, _ = submit(server, queue=queue)
    second, _ = submit(server, queue=queue, depends_on=[after(first)])
    assert status_of(second) == "blocked"
    assert job_of(second)["depends_on"] == [{"job": first, "type": "success", "state": "waiting"}]
    assert job_of(first)["dependants"] == [{"job": second, "type": "success", "state": "waiting"}]
    worker = Worker(server, queues=[queue])
    lease = only_lease(worker)
    assert lease["job_id"] == first
    # The same poll that reports the end of the first brings the second.
    answer = worker.poll(free=1, results=[(lease, "succeeded")])
    assert [one["job_id"] for one in answer["leases"]] == [second], answer
    assert job_of(second)["depends_on"][0]["state"] == "met"
    assert worker.finish(answer["leases"][0])


def test_each_type_waits_for_its_own_end():
    expected = {"succeeded": ("queued", "skipped", "queued"),
                "permanent": ("skipped", "queued", "queued"),
                None: ("skipped", "skipped", "queued")}  # cancelled
    for outcome, statuses in expected.items():
        queue = next(names)
        first, _ = submit(server, queue=queue)
        waiting = [submit(server, queue="never", depends_on=[after(first, kind)])[0]
                   for kind in ("success", "failure", "completion")]
        if outcome is None:
            expect(200, server, "DELETE", "/jobs/" + first)
        else:
            worker = Worker(server, queues=[queue])
            assert worker.finish(only_lease(worker), outcome)
        late = [submit(server, queue="never", depends_on=[after(first, kind)])[0]
                for kind in ("success", "failure", "completion")]
        assert tuple(map(status_of, waiting)) == statuses, outcome
        assert tuple(map(status_of, late)) == statuses, outcome


def test_what_can_never_run_is_skipped_with_the_reason():
    first, _ = submit(server, queue="never")
    second, _ = submit(server, queue="never", depends_on=[after(first)])
    third, _ = submit(server, queue="never", depends_on=[after(second)])
    expect(200, server, "DELETE", "/jobs/" + first)
    for job, upstream in ((second, first), (third, second)):
        last = execution_of(job)["transitions"][-1]
        assert last["event"] == "skip" and last["status"] == "skipped", last
        assert upstream in last["reason"] and "cancelled" in last["reason"], last
        assert job_of(job)["status"] == "cancelled"
        assert job_of(job)["depends_on"][0]["state"] == "impossible"


def test_jobs_of_a_batch_name_one_another():
    queue = next(names)
    load = next(names)
    results = batch({"queue": queue, "depends_on": [after("#2"), after("name:" + load)]},
                    {"queue": queue, "name": load, "depends_on": [after("#2")]},
                    {"queue": queue})
    worker = Worker(server, queues=[queue])
    for i in (2, 1, 0):
        lease = only_lease(worker)
        assert lease["job_id"] == results[i]["job_id"], (i, lease)
        assert worker.finish(lease)


def test_a_number_counts_documents_also_those_that_are_refused():
    results = batch({"priority": -1}, {"queue": "never"}, {"queue": "never", "depends_on": [after("#1")]},
                    {"depends_on": [after("#0")]})
    assert results[0]["status"] == 400 and results[3]["status"] == 400, results
    assert "#0" in results[3]["detail"] and "refused" in results[3]["detail"], results[3]
    assert job_of(results[2]["job_id"])["depends_on"][0]["job"] == results[1]["job_id"]


def test_a_cycle_through_a_batch_is_refused_and_named():
    a, c = next(names), next(names)
    results = batch({"name": a, "depends_on": [after("#1")]}, {"depends_on": [after("name:" + c)]},
                    {"name": c, "depends_on": [after("#0")]}, {"queue": "never"})
    for refused in results[:3]:
        assert refused["status"] == 400, refused
        assert f"cycle: '{a}' waits for #1 waits for '{c}' waits for '{a}'" in refused["detail"]
    assert "job_id" in results[3]
    submit(server, queue="never", name=a)  # the name was not kept


def test_a_job_cannot_wait_for_itself():
    assert "cycle: #0 waits for #0" in refusal(depends_on=[after("#0")])["detail"]
    name = next(names)
    assert "cycle" in refusal(name=name, depends_on=[after("name:" + name)])["detail"]


def test_bad_dependencies_are_refused():
    unknown = "job_0000000000001"
    assert unknown in refusal(depends_on=[after(unknown)])["detail"]
    assert "twice" in refusal(depends_on=[after(submit(server, queue="never")[0])] * 2)["detail"]
    assert "no job has the name 'load'" in refusal(depends_on=[after("load")])["detail"]
    assert refusal(depends_on=[after("#x")])["errors"][0]["field"] == "depends_on[0].job"
    assert refusal(depends_on=[after("#0", "done")])["errors"][0]["field"] == "depends_on[0].type"
    assert refusal(depends_on=[{}])["errors"][0]["field"] == "depends_on[0].job"
    assert refusal(depends_on="job")["errors"][0]["field"] == "depends_on"
    too_many = refusal(depends_on=[after(f"#{i}") for i in range(100_000)])
    assert "10000" in too_many["errors"][0]["message"], too_many
    assert unknown in refusal(schedule={"every": "1h"}, depends_on=[after(unknown)])["detail"]
    name = next(names)
    loop = refusal(name=name, schedule={"every": "1h"}, depends_on=[after("name:" + name)])
    assert "cycle" in loop["detail"], loop


def slots_of(job_id, own=server):
    """Executions of slots by their slot; those ahead are left out."""
    found = expect(200, own, "GET", f"/jobs/{job_id}/executions?limit=1000")["executions"]
    return {one["slot"]: one for one in found
            if one["origin"] == "slot" and one["status"] != "scheduled"}


def test_each_slot_waits_for_the_slot_of_the_other_job():
    queue, own = next(names), server
    every_second = {"cron": "* * * * * *", "seconds": True}
    up, _ = submit(own, queue=queue, schedule=every_second, overlap="parallel")
    down, _ = submit(own, queue=queue, schedule=every_second, overlap="parallel",
                     depends_on=[after(up)])
    bad, _ = submit(own, queue=queue, schedule=every_second, overlap="parallel",
                    depends_on=[after(up, "failure")])
    assert job_of(down)["depends_on"] == [{"job": up, "type": "success", "state": "per_slot"}]
    worker = Worker(own, queues=[queue])
    seen, leases = set(), []
    deadline = time.monotonic() + 60
    while len(seen) < 2:
        assert time.monotonic() < deadline, seen
        done = [(lease, "succeeded") for lease in leases]
        leases = worker.poll(free=10, wait_ms=1000, results=done)["leases"]
        for lease in leases:
            if lease["job_id"] == down:  # only after the slot of the same second is over
                assert slots_of(up)[lease["slot"]]["status"] == "completed", lease
                seen.add(lease["slot"])
            assert lease["job_id"] in (up, down), lease
    worker.poll(results=[(lease, "succeeded") for lease in leases])
    for job_id in (up, down, bad):
        expect(200, own, "DELETE", "/jobs/" + job_id)
    skipped = [one for one in slots_of(bad).values() if one["status"] == "skipped"]
    assert skipped and up in skipped[0]["error"], skipped
    assert job_of(down)["depends_on"][0]["state"] == "moot"


def test_what_a_slot_waits_for_is_explained_and_survives_a_crash():
    queue = next(names)
    with Server("--no-worker") as own:
        up, _ = submit(own, queue=queue)
        down, _ = submit(own, queue=queue, schedule={"every": "1s"}, depends_on=[after(up)])
        idle, _ = submit(own, queue=queue, schedule={"every": "1h"})
        once, _ = submit(own, queue=queue, depends_on=[after(idle)])
        wait_for(lambda: slots_of(down, own), "a slot")
        wait_for(lambda: status_of(once, own) == "queued", "nothing to wait for")
        first = min(slots_of(down, own).items())[1]
        assert first["status"] == "blocked", first
        own.kill()
        own.start()
        why = expect(200, own, "GET", f"/executions/{first['execution_id']}/explain")
        assert why["blockers"][0]["kind"] == "dependency" and up in why["summary"], why
        worker = Worker(own, queues=[queue])
        given = {lease["job_id"]: lease for lease in worker.take(2)}
        done = [(lease, "succeeded") for lease in given.values()]
        answer = worker.poll(free=1, results=done)
        assert [one["execution_id"] for one in answer["leases"]] == [first["execution_id"]], answer


def test_a_time_of_its_own_holds_a_dependant_too():
    first, _ = submit(server, queue="never")
    second, _ = submit(server, queue="never", schedule={"delay": "1h"},
                       depends_on=[after(first, "completion")])
    assert status_of(second) == "blocked"
    expect(200, server, "DELETE", "/jobs/" + first)
    assert status_of(second) == "scheduled"


def test_the_command_line_submits_and_shows_dependencies():
    first = server.submit("--queue", "never", "--", "true")
    second = server.submit("--queue", "never", "--after", first, "--", "true")
    third = server.submit("--queue", "never", "--after", "failure:" + first,
                          "--after", "completion:" + second, "--", "true")
    kinds = {one["job"]: one["type"] for one in job_of(third)["depends_on"]}
    assert kinds == {first: "failure", second: "completion"}
    shown = server.cli("show", second).stdout
    assert "waits for" in shown and first in shown and "awaited by" in shown and third in shown
    refused = server.cli("submit", "--after", "sooner:" + first, "--", "true")
    assert refused.returncode != 0 and f"the name 'sooner:{first}'" in refused.stderr


def test_nothing_is_lost_by_a_crash_between_two_ends():
    with Server("--no-worker") as own:
        first, _ = submit(own)
        later, _ = submit(own, schedule={"delay": "3d"})
        both, _ = submit(own, depends_on=[after(first), after(later, "completion")])
        chain, _ = submit(own, depends_on=[after(both)])
        own.kill()
        own.start()
        worker = Worker(own)
        assert worker.finish(only_lease(worker))
        own.kill()
        own.start()
        assert [one["state"] for one in job_of(both, own)["depends_on"]] == ["met", "waiting"]
        expect(200, own, "DELETE", "/jobs/" + later)
        assert status_of(both, own) == "queued" and status_of(chain, own) == "blocked"
        own.kill()
        own.start()
        worker = Worker(own)
        for job in (both, chain):
            lease = only_lease(worker)
            assert lease["job_id"] == job
            assert worker.finish(lease)


def test_a_chain_and_a_fan_of_a_thousand_run_for_real():
    """Through the store: each of the last hundred depends on one before, the very last on all."""
    queue = next(names)
    count = 1000
    jobs = [{"queue": queue} for _ in range(count - 100)]
    jobs += [{"queue": queue, "depends_on": [after(f"#{i - 1}")]} for i in range(count - 100, count)]
    jobs.append({"queue": queue, "depends_on": [after(f"#{i}") for i in range(count)]})
    results = batch(*jobs)
    assert all("job_id" in one for one in results), results[-1]
    worker = Worker(server, slots=1000, queues=[queue])
    done = 0
    leases = worker.poll(free=1000)["leases"]
    while leases:
        done += len(leases)
        last = leases
        leases = worker.poll(free=1000, results=[(lease, "succeeded") for lease in leases])["leases"]
    assert done == count + 1 and [one["job_id"] for one in last] == [results[-1]["job_id"]]
    assert len(job_of(results[-1]["job_id"])["depends_on"]) == count


if __name__ == "__main__":
    main(tests_of(globals()), shared=server)
