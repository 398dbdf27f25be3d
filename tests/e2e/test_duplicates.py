"""What comes twice: requests, work, effects; and runs that are not the owner any more."""

import threading

from belfry import Server, main, tests_of, wait_for
from protocol import API, Worker, call, execution, expect, names, submit

server = Server("--no-worker")


def post(body, key=None, own=server, path="/jobs"):
    headers = {} if key is None else {"Idempotency-Key": key}
    return call(own, "POST", API + path, body, headers=headers)


def job(**fields):
    return {"command": ["true"], "queue": "nobody", **fields}


def unique(key, **rule):
    return job(unique={"key": key, **rule})


def status_of(job_id):
    return expect(200, server, "GET", "/jobs/" + job_id)["status"]


def execution_of(job_id, own=server):
    path = f"/jobs/{job_id}/executions?limit=1"
    newest = expect(200, own, "GET", path)["executions"][0]["execution_id"]
    return expect(200, own, "GET", "/executions/" + newest)


# ---- requests


def test_the_same_key_and_body_get_the_first_answer_again():
    for body in (job(schedule={"delay": "1h"}),
                 job(schedule={"cron": "0 3 * * *", "timezone": "Europe/Berlin"}, stagger="10m")):
        key = next(names)
        first = post(body, key)
        assert first.status == 201 and first.headers["Idempotency-Replayed"] is None, first
        again = post(body, key)
        assert again.status == 201 and again.body == first.body, (first, again)
        assert again.headers["Idempotency-Replayed"] == "true"


def test_the_same_in_other_words_is_the_same():
    key = next(names)
    first = post({"command": ["true"], "queue": "nobody", "timeout": "60s"}, key)
    again = post({"timeout": "1m", "queue": "nobody", "command": ["true"], "priority": 500}, key)
    assert again.body == first.body, again


def test_another_body_is_refused_and_the_key_stays():
    key = next(names)
    first = post(job(payload=1), key)
    refused = post(job(payload=2), key)
    assert refused.status == 422 and refused.json["code"] == "unprocessable", refused
    assert "Idempotency-Key" in refused.json["detail"]
    assert post(job(payload=1), key).json["job_id"] == first.json["job_id"]


def test_a_replay_outlives_the_job_and_a_crash_of_the_server():
    with Server("--no-worker") as own:
        key, body = next(names), job(name="once")
        first = post(body, key, own)
        expect(200, own, "DELETE", "/jobs/" + first.json["job_id"])
        own.kill()
        own.start()
        again = post(body, key, own)
        assert again.status == 201, again
        assert first.json["estimated_start_reason"] == "no_worker", first
        now = {"estimated_start_reason": "finished"}  # which is not of then
        assert again.json == {**first.json, **now}, (first, again)
        assert len(expect(200, own, "GET", "/jobs")["jobs"]) == 1
        # Its name was not taken for a job that was not made.
        assert post(body, None, own).status == 201


def test_a_refused_submission_leaves_its_key_free():
    key, name = next(names), next(names)
    holder = post(job(name=name)).json["job_id"]
    assert post(job(name=name), key).status == 409
    expect(200, server, "DELETE", "/jobs/" + holder)
    made = post(job(name=name), key)
    assert made.status == 201 and made.headers["Idempotency-Replayed"] is None, made


def test_keys_in_a_batch_count_one_by_one():
    first_key, second_key = next(names), next(names)
    alone = post(job(payload="a"), first_key)
    jobs = [job(payload="a", idempotency_key=first_key),
            job(payload="b", idempotency_key=second_key),
            job(payload="c", idempotency_key=second_key),
            job()]
    results = post({"jobs": jobs}, path="/jobs/batch").json["results"]
    assert results[0]["job_id"] == alone.json["job_id"] and results[0]["replayed"], results
    assert "job_id" in results[1] and "replayed" not in results[1]
    assert results[2]["status"] == 409 and results[2]["code"] == "in_progress", results[2]
    again = post({"jobs": jobs}, path="/jobs/batch").json["results"]
    assert again[1] == {**results[1], "replayed": True}
    assert again[2]["status"] == 422
    assert again[3]["job_id"] != results[3]["job_id"]


def test_the_key_of_a_batch_is_for_all_its_jobs():
    key, tag = next(names), next(names)
    body = {"jobs": [job(name=f"{tag}-a", tags={"t": tag}),
                     job(tags={"t": tag}, depends_on=[{"job": f"name:{tag}-a"}])]}
    first = post(body, key, path="/jobs/batch").json["results"]
    again = post(body, key, path="/jobs/batch").json["results"]
    assert [r["job_id"] for r in again] == [r["job_id"] for r in first], again
    assert len(expect(200, server, "GET", f"/jobs?tag=t:{tag}")["jobs"]) == 2


def test_what_failed_of_a_batch_can_come_again_and_finds_what_it_waits_for():
    key, name, upstream = next(names), next(names), next(names)
    holder = post(job(name=name)).json["job_id"]
    body = {"jobs": [job(name=upstream, queue=upstream),
                     job(name=name, depends_on=[{"job": "#0"}])]}
    first = post(body, key, path="/jobs/batch").json["results"]
    assert first[1]["status"] == 409, first
    worker = Worker(server, queues=[upstream])
    assert worker.finish(worker.take()[0])
    expect(200, server, "DELETE", "/jobs/" + holder)
    again = post(body, key, path="/jobs/batch").json["results"]
    assert again[0]["job_id"] == first[0]["job_id"] and again[0]["replayed"], again
    assert execution_of(again[1]["job_id"])["status"] == "queued"  # it was met before it came


def test_a_run_that_is_asked_for_keeps_its_payload_over_a_restart():
    with Server("--no-worker") as own:
        queue = next(names)
        worker = Worker(own, handlers=[queue], queues=[queue])
        job, _ = submit(own, handler=queue, queue=queue, payload={"n": 1}, schedule={"every": "1h"})
        run = expect(201, own, "POST", f"/jobs/{job}/trigger", {"payload": {"n": [2, "\u00fc"]}})["execution_id"]
        own.kill()
        own.start()
        assert execution(own, run)["payload"] == {"n": [2, "\u00fc"]}
        lease, = worker.take()
        assert (lease["execution_id"], lease["payload"]) == (run, {"n": [2, "\u00fc"]}), lease
        assert worker.finish(lease, "permanent", error="for good")
        assert execution(own, run)["payload"] == {"n": [2, "\u00fc"]}
        again = expect(201, own, "POST", f"/executions/{run}/retry")["execution_id"]
        lease, = worker.take()
        assert (lease["execution_id"], lease["payload"]) == (again, {"n": [2, "\u00fc"]}), lease


def test_trigger_and_retry_happen_once_per_key():
    queue, key = next(names), next(names)
    job_id, _ = submit(server, queue=queue, schedule={"cron": "0 3 1 1 *"}, overlap="parallel")
    path = f"/jobs/{job_id}/trigger"
    first = post(None, key, path=path)
    again = post(None, key, path=path)
    assert first.status == 201 and again.body == first.body, (first, again)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert post(None, next(names), path=path).json["execution_id"] != first.json["execution_id"]
    assert post(None, key, path=path.replace("trigger", "pause")).status == 400

    job_id, _ = submit(server, queue=next(names))
    expect(200, server, "DELETE", "/jobs/" + job_id)
    path = f"/executions/{execution_of(job_id)['execution_id']}/retry"
    assert post(None, key, path=path).status == 422
    key = next(names)
    first = post(None, key, path=path)
    expect(200, server, "DELETE", "/jobs/" + job_id)
    again = post(None, key, path=path)
    assert first.status == 201 and again.body == first.body, (first, again)
    assert status_of(job_id) == "cancelled"


def test_keys_that_are_none_are_refused_by_name():
    for key in ("k" * 256, "two words", ""):
        answer = post(job(), key)
        assert answer.status == 400, (key, answer)
        assert answer.json["errors"][0]["field"] == "Idempotency-Key", answer.json
    for key in ("k" * 256, "two words", "", "schön", 7):
        answer = post(job(idempotency_key=key))
        assert answer.json["errors"][0]["field"] == "idempotency_key", answer.json
    assert post(job(idempotency_key="a"), "a").status == 400
    assert post(job(), "k" * 255).status == 201
    worker = Worker(server)
    refused = call(server, "POST", f"{API}/workers/{worker.id}/drain",
                   headers={"Idempotency-Key": "k"})
    assert refused.status == 400 and "no place" in refused.json["detail"], refused


def test_keys_are_forgotten_after_their_time():
    with Server("--no-worker", "--set", "idempotency_ms=1s") as own:
        key = next(names)
        first = post(job(), key, own).json["job_id"]
        wait_for(lambda: post(job(), key, own).json["job_id"] != first, "the key to be forgotten")


def test_the_command_line_submits_once_per_key():
    args = ("--queue", "nobody", "--idempotency-key", next(names), "--", "true")
    assert server.submit(*args) == server.submit(*args)
    line = '{"command": ["true"], "queue": "nobody", "idempotency_key": "%s"}\n' % next(names)
    done = server.cli("submit", "-f", "-", stdin=line)
    again = server.cli("submit", "-f", "-", stdin=line + line.replace("true", "false"))
    assert again.stdout == done.stdout and again.returncode == 1, again
    assert "another request" in again.stderr


def test_who_got_no_answer_submits_again_and_makes_nothing_twice():
    """Clients whose server dies under their requests: whatever was kept of them, each job is there
    once when they have all come again."""
    clients, each = 4, 50
    with Server("--no-worker") as own:
        answered = []

        def work(client):
            for i in range(each):
                key = f"{client}-{i}"
                while True:
                    try:
                        answer = post(job(tags={"k": key}), key, own)
                    except OSError:
                        answer = None
                    if answer is not None and answer.status == 201:
                        answered.append((key, answer.json["job_id"]))
                        break
        threads = [threading.Thread(target=work, args=(client,)) for client in range(clients)]
        for thread in threads:
            thread.start()
        for share in (0.25, 0.6):
            wait_for(lambda: len(answered) >= share * clients * each, "some of the answers")
            own.kill()
            own.start()
        for thread in threads:
            thread.join()
        jobs = expect(200, own, "GET", "/jobs?limit=1000")["jobs"]
        assert sorted((one["tags"]["k"], one["job_id"]) for one in jobs) == sorted(answered)


# ---- unique work


def test_unique_work_is_returned_while_it_is_unfinished():
    queue, key = next(names), next(names)
    body = {**unique(key), "queue": queue}
    first = post(body)
    assert first.status == 201
    again = post(body)
    assert again.status == 200, again
    assert again.json == {"job_id": first.json["job_id"], "status": "active", "existing": True,
                          "execution_id": first.json["execution_id"],
                          "created_at": first.json["created_at"]}
    worker = Worker(server, queues=[queue])
    lease = worker.take()[0]
    assert post(body).json["job_id"] == first.json["job_id"]  # while it runs, too
    assert worker.finish(lease)
    assert post(body).status == 201
    shown = expect(200, server, "GET", "/jobs/" + first.json["job_id"])
    assert shown["unique"] == {"key": key, "while": ["queued", "running"],
                               "on_conflict": "return"}


def test_a_unique_key_is_free_after_every_end():
    queue, key = next(names), next(names)
    body = {**unique(key, on_conflict="reject"), "queue": queue, "retry": {"max_retries": 0}}
    worker = Worker(server, queues=[queue])
    for end in ("cancel", "succeeded", "failed", "stop"):
        made = post(body)
        assert made.status == 201, (end, made)
        refused = post(body)
        assert refused.status == 409 and made.json["job_id"] in refused.json["detail"], refused
        path = "/jobs/" + made.json["job_id"]
        if end == "cancel":
            expect(200, server, "DELETE", path)
            continue
        lease = worker.take()[0]
        if end == "stop":
            expect(200, server, "DELETE", path)
            assert post(body).status == 409  # its process may still be there
            end = "stopped"
        worker.poll(results=[(lease, end)])
    assert post(body).status == 201


def test_unique_work_that_is_being_cancelled_is_not_returned():
    queue, key = next(names), next(names)
    body = {**unique(key), "queue": queue}
    worker = Worker(server, queues=[queue])
    made = post(body).json["job_id"]
    lease = worker.take()[0]
    expect(200, server, "DELETE", "/jobs/" + made)
    refused = post(body)
    assert refused.status == 409 and refused.json["code"] == "stopping", refused
    assert made in refused.json["detail"], refused
    both = post({"jobs": [body, job()]}, path="/jobs/batch").json["results"]
    assert both[0]["status"] == 409 and both[0]["code"] == "stopping", both
    assert "job_id" in both[1], both
    worker.poll(results=[(lease, "stopped")])
    assert post(body).status == 201


def test_work_that_is_unique_until_it_starts():
    queue, key = next(names), next(names)
    body = {**unique(key, **{"while": ["queued"]}), "queue": queue}
    first = post(body).json["job_id"]
    assert post(body).json["job_id"] == first
    worker = Worker(server, queues=[queue], slots=2)
    lease = worker.take()[0]
    second = post(body)
    assert second.status == 201 and lease["job_id"] == first
    assert post(body).json["job_id"] == second.json["job_id"]


def test_unique_work_far_ahead_is_known_and_replaced():
    with Server("--no-worker", "--set", "horizon_ms=1s") as own:
        body = unique("far", on_conflict="replace")
        body["schedule"] = {"delay": "30d"}
        first = post({**body, "name": "far"}, own=own).json["job_id"]
        own.kill()
        own.start()
        returned = post(unique("far"), own=own)
        assert returned.status == 200 and returned.json["job_id"] == first, returned
        second = post({**body, "name": "far"}, own=own)  # which takes over the name, too
        assert second.status == 201, second
        shown = expect(200, own, "GET", "/jobs/" + first)
        assert shown["status"] == "cancelled", shown
        assert post(job(name="far"), own=own).status == 409
        assert post(unique("far"), own=own).json["job_id"] == second.json["job_id"]


def test_what_a_worker_has_is_not_replaced():
    queue, key = next(names), next(names)
    body = {**unique(key, on_conflict="replace"), "queue": queue}
    first = post(body).json["job_id"]
    second = post(body).json["job_id"]
    assert status_of(first) == "cancelled"
    assert second in execution_of(first)["transitions"][-1]["reason"]
    worker = Worker(server, queues=[queue])
    lease = worker.take()[0]
    refused = post(body)
    assert refused.status == 409 and second in refused.json["detail"], refused
    assert worker.finish(lease)


def test_running_unique_work_again_needs_its_key():
    body = unique(next(names), on_conflict="reject")
    first = post(body).json
    expect(200, server, "DELETE", "/jobs/" + first["job_id"])
    second = post(body).json
    path = f"/executions/{first['execution_id']}/retry"
    refused = post(None, path=path)
    assert refused.status == 409 and second["job_id"] in refused.json["detail"], refused
    expect(200, server, "DELETE", "/jobs/" + second["job_id"])
    assert post(None, path=path).status == 201
    assert post(body).status == 409


def test_a_unique_key_is_kept_after_success():
    with Server("--no-worker", "--set", "history_keep_ms=1s") as own:
        body = {**unique("kept", keep="7d"), "queue": "kept"}
        first = post(body, own=own).json
        worker = Worker(own, queues=["kept"])
        assert worker.finish(worker.take()[0])
        own.kill()
        own.start()
        done = post(body, own=own)
        assert done.status == 200, done
        assert done.json == {"job_id": first["job_id"], "status": "completed", "existing": True,
                             "execution_id": first["execution_id"],
                             "created_at": first["created_at"]}
        refused = post(unique("kept", on_conflict="reject"), own=own)
        assert refused.status == 409 and "is kept until" in refused.json["detail"], refused
        wait_for(lambda: call(own, "GET", API + "/jobs/" + first["job_id"]).status == 404,
                 "the job to be forgotten")
        assert post(body, own=own).json["job_id"] == first["job_id"]
        second = post({**body, "unique": {"key": "kept", "on_conflict": "replace"}}, own=own)
        assert second.status == 201, second
        assert post(body, own=own).json["job_id"] == second.json["job_id"]
        worker = Worker(own, queues=["kept"])
        assert worker.finish(worker.take()[0])
        assert post(body, own=own).status == 201  # that one did not ask for its key to be kept


def test_the_setting_keeps_unique_keys():
    with Server("--no-worker", "--set", "unique_keep=1h") as own:
        body = {**unique("k"), "queue": "kept", "retry": {"max_retries": 0}}
        first = post(body, own=own).json
        worker = Worker(own, queues=["kept"])
        assert worker.finish(worker.take()[0])
        assert post(body, own=own).json["job_id"] == first["job_id"]
        again = post(None, path=f"/executions/{first['execution_id']}/retry", own=own)
        assert again.status == 201, again  # its own key
        assert post(body, own=own).json["execution_id"] == again.json["execution_id"]
        worker.poll(results=[(worker.take()[0], "failed")])
        assert post(body, own=own).status == 201  # only success keeps it


def test_bad_rules_of_uniqueness_are_refused_by_field():
    for rule, field in (({}, "unique.key"), ({"key": ""}, "unique.key"),
                        ({"key": "k" * 201}, "unique.key"), ("k", "unique"),
                        ({"key": "k", "while": []}, "unique.while"),
                        ({"key": "k", "while": ["running"]}, "unique.while"),
                        ({"key": "k", "while": ["retrying"]}, "unique.while[0]"),
                        ({"key": "k", "while": ["queued", "queued"]}, "unique.while[1]"),
                        ({"key": "k", "on_conflict": "ignore"}, "unique.on_conflict"),
                        ({"key": "k", "keep": "soon"}, "unique.keep"),
                        ({"key": "k", "keep": "-1s"}, "unique.keep"),
                        ({"key": "k", "while": ["queued"], "keep": "7d"}, "unique.keep"),
                        ({"key": "k", "for": "1h"}, "unique.for")):
        answer = post(job(unique=rule))
        assert answer.status == 400, (rule, answer)
        assert [e["field"] for e in answer.json["errors"]] == [field], (rule, answer.json)
    answer = post(job(unique={"key": "k"}, schedule={"every": "1h"}))
    assert answer.status == 400 and "overlap" in answer.json["detail"], answer


# ---- effects, and fences


def fence(execution_id, token, key="worker", own=server):
    return call(own, "GET", f"{API}/executions/{execution_id}/fence?token={token}", key=key)


def test_a_token_owns_its_run_until_another_does():
    queue = next(names)
    job_id, _ = submit(server, queue=queue)
    worker = Worker(server, queues=[queue])
    lease = worker.take()[0]
    execution_id, token = lease["execution_id"], lease["token"]
    assert lease["idempotency_key"] == execution_id
    assert execution_of(job_id)["idempotency_key"] == execution_id
    assert fence(execution_id, token).status == 204
    assert fence(execution_id, token, "admin").status == 204
    refused = fence(execution_id, token + 1)
    assert refused.status == 409 and refused.json["code"] == "stale", refused
    expect(200, server, "DELETE", "/jobs/" + job_id)
    assert fence(execution_id, token).status == 409  # cancelled: nothing dangerous now
    worker.poll(results=[(lease, "stopped")])
    assert fence(execution_id, token).status == 409
    assert fence("exec_0000000000000", 1).status == 409
    assert fence("nonsense", 1).status == 404
    assert fence(execution_id, "x").status == 400
    assert call(server, "GET", f"{API}/executions/{execution_id}/fence").status == 400
    assert call(server, "GET", f"{API}/executions/{execution_id}/fence?token=1", key=None).status == 401


def test_work_that_a_lost_worker_did_is_not_delivered_again():
    with Server("--no-worker") as own:
        job_id, execution_id = submit(own)
        slow = Worker(own)
        lease = slow.take()[0]
        slow.poll()  # as if it had forgotten it: lost, at once
        other = Worker(own, slots=1)
        again, = other.poll(free=1)["leases"]
        assert again["execution_id"] == execution_id and again["token"] > lease["token"]
        assert fence(execution_id, lease["token"], own=own).status == 409
        late = slow.poll(results=[(lease, "succeeded")])
        assert not late["results"][0]["accepted"], late  # the other has it, and may be done, too
        own.kill()
        own.start()  # it remembers
        assert execution_of(job_id, own)["status"] == "running"
        other.poll(results=[(again, "failed")])  # it found the work done
        ended = execution_of(job_id, own)
        assert ended["status"] == "deduplicated" and ended["attempt_count"] == 1, ended
        assert expect(200, own, "GET", "/jobs/" + job_id)["status"] == "completed"
        assert "work is done" in ended["transitions"][-1]["reason"], ended
        found = expect(200, own, "GET", "/executions?status=deduplicated")["executions"]
        assert [one["execution_id"] for one in found] == [execution_id]
        told = expect(200, own, "GET", "/successes")  # the work was done
        assert (told["total"], told["succeeded"], told["deduplicated"], told["rate"]) == (1, 1, 1, 1), told
        assert told["average_duration_ms"] is told["p95_duration_ms"] is None, told
        assert expect(200, own, "GET", "/failures")["failed"] == 0
        rate, = expect(200, own, "GET", "/success-rates?by=queue")["success_rates"]
        assert (rate["succeeded"], rate["deduplicated"], rate["failed"]) == (1, 1, 0), rate


def test_a_command_is_given_the_key_of_its_effect():
    with Server() as own:
        job_id = own.submit("--", "sh", "-c", "echo $BELFRY_IDEMPOTENCY_KEY")
        ended = own.wait_for_status(job_id, "completed")
        assert own.cli("logs", job_id).stdout.strip() == ended["execution_id"]


if __name__ == "__main__":
    main(tests_of(globals()), server)
