"""Actions on many jobs or executions: a filter or ids, as an operation that goes on by itself, can be
watched and cancelled, and survives the servers that carry it out."""

import urllib.parse

from belfry import Server, main, tests_of, wait_for
from cluster import Cluster, Postgres
from protocol import API, Worker, call, expect, names, submit

server = Server("--no-worker", "--set", "breaker_percent=0")


def act(own, what, status=202, headers=None, **body):
    answer = call(own, "POST", f"{API}/{what}/actions", body, headers=headers or {})
    assert answer.status == status, answer
    return answer.json


def over(own, operation):
    def look():
        shown = expect(200, own, "GET", "/operations/" + operation["operation_id"])
        return shown if shown["status"] != "running" else None
    return wait_for(look, "the operation")


def many(own, count, **job):
    job.setdefault("handler", "nobody")
    answer = expect(200, own, "POST", "/jobs/batch", {"jobs": [job] * count})
    return [result["job_id"] for result in answer["results"]]


def statuses(own, queue):
    jobs = expect(200, own, "GET", f"/jobs?queue={queue}&limit=1000")["jobs"]
    return sorted(job["status"] for job in jobs)


def refused(field, what, status=400, **body):
    problem = act(server, what, status, **body)
    assert field in [error["field"] for error in problem["errors"]], problem


def test_jobs_are_cancelled_by_a_filter():
    queue, other = next(names), next(names)
    made = many(server, 30, queue=queue)
    kept = many(server, 3, queue=other)
    dry = act(server, "jobs", 200, action="cancel", filter={"queue": queue}, dry_run=True)
    assert dry["count"] == 30 and dry["at_least"] is False, dry
    assert len(dry["first"]) == 10 and set(dry["first"]) <= set(made), dry
    begun = act(server, "jobs", action="cancel", filter={"queue": queue})
    assert (begun["kind"], begun["of"], begun["total"]) == ("cancel", "jobs", 30), begun
    done = over(server, begun)
    assert (done["status"], done["done"], done["refused"]) == ("done", 30, 0), done
    assert done["filter"] == {"queue": [queue]} and done["refusals"] == [], done
    assert statuses(server, queue) == ["cancelled"] * 30
    assert statuses(server, other) == ["active"] * 3, kept
    listed = expect(200, server, "GET", "/operations")["operations"]
    assert listed[0] == {key: done[key] for key in done if key != "refusals"}, listed[0]


def test_jobs_are_paused_resumed_and_triggered_once_each():
    queue = next(names)
    every = {"every": "1h"}
    made = many(server, 5, queue=queue, schedule=every)
    for action, status in (("pause", "paused"), ("resume", "active")):
        done = over(server, act(server, "jobs", action=action, filter={"queue": [queue]}))
        assert done["done"] == 5, done
        assert statuses(server, queue) == [status] * 5
    expect(200, server, "POST", f"/jobs/{made[0]}/pause")
    done = over(server, act(server, "jobs", action="trigger", filter={"queue": queue}))
    assert (done["done"], done["refused"]) == (4, 1), done
    assert done["refusals"][0]["id"] == made[0] and "paused" in done["refusals"][0]["detail"], done
    for job in made[1:]:
        runs = expect(200, server, "GET", f"/jobs/{job}/executions")["executions"]
        assert sorted(run["status"] for run in runs) == ["queued", "scheduled"], runs


def test_filters_take_names_tags_and_several_queues():
    queue, other = next(names), next(names)
    prefix = next(names)
    first = many(server, 1, queue=queue, name=prefix + "-a", tags={"env": "prod", "app": "x"})
    many(server, 1, queue=queue, name=prefix + "-b", tags={"env": "prod"})
    many(server, 1, queue=other, name=prefix + "-c", tags={"env": "dev"})

    def count(**which):
        return act(server, "jobs", 200, action="cancel", filter=which, dry_run=True)["count"]
    assert count(name=prefix + "*") == 3
    assert count(name=prefix + "-b") == 1
    assert count(name="*" + prefix[1:] + "-b") == 1
    assert count(queue=[queue, other]) == 3
    assert count(queue=queue, tag="env:prod") == 2
    assert count(queue=queue, tag=["env:prod", "app:x"]) == 1
    assert count(queue=queue, owner="admin") == 2 and count(queue=queue, owner="nobody") == 0
    assert count(queue=queue, status="paused") == 0 and count(queue=queue, status="active") == 2
    assert count(queue=queue, created_before="2001-01-01T00:00:00Z") == 0
    done = over(server, act(server, "jobs", action="cancel", filter={"tag": ["app:x"], "queue": queue}))
    assert done["done"] == 1, done
    assert expect(200, server, "GET", "/jobs/" + first[0])["status"] == "cancelled"


def test_an_action_takes_what_the_list_shows():
    queue, prefix = next(names), next(names)
    for tail in "abc":
        many(server, 1, queue=queue, name=f"{prefix}-{tail}", tags={"env": "prod", "n": tail})
    many(server, 1, queue=queue, tags={"env": "dev"})
    queries = [{"queue": queue}, {"queue": queue, "tag": "env:prod"}, {"name": prefix + "-*"},
               {"name": prefix + "-b"}, {"queue": queue, "tag": ["env:prod", "n:c"]},
               {"queue": queue, "status": ["active", "paused"]}, {"queue": queue, "owner": "admin"},
               {"queue": queue, "created_after": "2020-01-01T00:00:00Z"}]
    for query in queries:
        pairs = [(key, one) for key, value in query.items()
                 for one in (value if isinstance(value, list) else [value])]
        shown = expect(200, server, "GET", "/jobs?" + urllib.parse.urlencode(pairs))["jobs"]
        dry = act(server, "jobs", 200, action="cancel", filter=query, dry_run=True)
        assert sorted(dry["first"]) == sorted(job["job_id"] for job in shown) != [], (query, dry)
        if "status" in query:
            continue
        runs = expect(200, server, "GET", "/executions?" + urllib.parse.urlencode(pairs))["executions"]
        dry = act(server, "executions", 200, action="cancel", filter=query, dry_run=True)
        assert sorted(dry["first"]) == sorted(run["execution_id"] for run in runs), (query, dry)
    worker = Worker(server, handlers=[prefix])
    submit(server, handler=prefix, queue=queue)
    lease, = worker.take()
    done = over(server, act(server, "executions", action="cancel",
                            filter={"worker": worker.id, "status": "running"}))
    assert done["done"] == 1 and done["filter"] == {"status": ["running"], "worker": worker.id}, done
    worker.finish(lease, "stopped")
    done = over(server, act(server, "jobs", action="cancel", filter={"name": prefix + "-*"}))
    assert done["done"] == 3 and done["filter"] == {"name": prefix + "-*"}, done


def test_ids_are_told_apart_from_what_is_not_there():
    made = many(server, 3)
    gone = "job_0000000000001"
    expect(200, server, "DELETE", "/jobs/" + made[2])
    dry = act(server, "jobs", 200, action="pause", ids=made + [gone], dry_run=True)
    assert dry["count"] == 4, dry
    done = over(server, act(server, "jobs", action="pause", ids=made + [gone, made[0]]))
    assert (done["ids"], done["total"], done["done"], done["refused"]) == (4, 4, 2, 2), done
    told = {refusal["id"]: refusal["detail"] for refusal in done["refusals"]}
    assert "no job" in told[gone] and "already ended" in told[made[2]], told


def test_names_and_parts_of_ids_are_taken_for_ids():
    first, second = next(names), next(names)
    for name in (first, second):
        submit(server, handler="nobody", name=name)
    ids = [expect(200, server, "GET", "/jobs/" + name)["job_id"] for name in (first, second)]
    dry = act(server, "jobs", 200, action="pause", ids=["name:" + first, second], dry_run=True)
    assert dry["count"] == 2 and set(dry["first"]) == set(ids), dry
    done = over(server, act(server, "jobs", action="pause", ids=["…" + ids[1][-10:], ids[0], first]))
    assert (done["ids"], done["done"]) == (2, 2), done
    done = over(server, act(server, "executions", action="cancel", filter={"job": first}))
    assert (done["done"], done["filter"]) == (1, {"job": ids[0]}), done
    run = expect(200, server, "GET", f"/jobs/{ids[1]}/executions")["executions"][0]["execution_id"]
    done = over(server, act(server, "executions", action="cancel", ids=[run[:-1]]))
    assert (done["ids"], done["done"]) == (1, 1), done
    for body in ({"ids": [ids[0], "no one"]}, {"ids": ["no one"] * 101}, {"ids": ["exec_0"]}):
        problem = act(server, "jobs", 400, action="pause", **body)
        assert problem["errors"][0]["field"].startswith("ids["), problem
    refused("filter.job", "executions", action="cancel", filter={"job": "no one"})
    refused("ids[0]", "executions", action="cancel", ids=[first])
    problem = call(server, "POST", API + "/dead-letters/retry", {"filter": {"job": "no one"}})
    assert [e["field"] for e in problem.json["errors"]] == ["filter.job"], problem
    body = {"filter": {"job": first}, "dry_run": True}
    assert expect(200, server, "POST", "/dead-letters/retry", body)["count"] == 0


def test_executions_are_cancelled_and_dead_letters_run_again():
    queue, handler = next(names), next(names)
    worker = Worker(server, handlers=[handler])
    for _ in range(3):
        submit(server, handler=handler, queue=queue, retry={"max_retries": 0})
        lease, = worker.take()
        worker.finish(lease, "failed")
    dead = [e["execution_id"] for e in
            expect(200, server, "GET", f"/executions?queue={queue}&status=failed")["executions"]]
    expect(201, server, "POST", f"/executions/{dead[0]}/retry")
    done = over(server, act(server, "executions", action="retry", ids=dead))
    assert (done["done"], done["refused"]) == (2, 1), done
    assert done["refusals"][0]["id"] == dead[0], done
    assert "run again" in done["refusals"][0]["detail"], done
    done = over(server, act(server, "executions", action="cancel",
                            filter={"queue": queue, "status": ["queued", "running"]}))
    assert done["done"] == 3, done
    submit(server, handler=handler, queue=queue, retry={"max_retries": 0})
    worker.finish(worker.take()[0], "failed")
    done = over(server, act(server, "executions", action="retry",
                            filter={"queue": queue, "status": "failed", "class": "unknown"}))
    assert done["done"] == 1 and done["of"] == "executions", done


def test_a_key_makes_one_operation():
    queue = next(names)
    many(server, 2, queue=queue)
    key = {"Idempotency-Key": next(names)}
    first = act(server, "jobs", headers=key, action="cancel", filter={"queue": queue})
    over(server, first)
    many(server, 2, queue=queue)
    again = act(server, "jobs", headers=key, action="cancel", filter={"queue": queue})
    assert again["operation_id"] == first["operation_id"] and again["status"] == "done", again
    again = act(server, "jobs", headers=key, filter={"queue": [queue]}, action="cancel")
    assert again["operation_id"] == first["operation_id"], "the same in other words"
    act(server, "jobs", 422, headers=key, action="pause", filter={"queue": queue})
    assert statuses(server, queue) == ["active", "active", "cancelled", "cancelled"]


def test_nonsense_is_refused_by_name():
    refused("filter", "jobs", action="cancel")
    refused("filter", "jobs", action="cancel", filter={})
    refused("filter", "jobs", action="cancel", filter={"name": "*"})
    refused("all", "jobs", action="cancel", filter={"queue": "a"}, all=True)
    refused("action", "jobs", action="explode", all=True)
    refused("action", "executions", action="pause", all=True)
    refused("ids", "jobs", action="cancel", ids=[])
    refused("ids", "jobs", action="cancel", ids=["job_0000000000001"], filter={"queue": "a"})
    refused("ids", "jobs", action="cancel", ids=["job_0000000000001"] * 10001)
    refused("ids[0]", "jobs", action="cancel", ids=["exec_0000000000001"])
    refused("filter.status", "jobs", action="cancel", filter={"status": "completed"})
    refused("filter.status", "executions", action="cancel", filter={"status": "failed"})
    refused("filter.status", "executions", action="retry", filter={"status": ["failed", "queued"]})
    refused("filter.tag", "executions", action="retry", filter={"tag": "a:b"})
    refused("filter.queue", "jobs", action="cancel", filter={"queue": None})
    refused("filter.colour", "jobs", action="cancel", filter={"colour": "red"})
    refused("filter.created_before", "jobs", action="cancel",
            filter={"created_after": "2026-01-02T00:00:00Z", "created_before": "2026-01-01T00:00:00Z"})
    for field, value in (("phase", "waiting"), ("finished_after", "2026-01-01T00:00:00Z")):
        refused("filter." + field, "jobs", action="cancel", filter={field: value})
    for field, value in (("class", "disk_error"), ("worker", "wrk_0000000000001"),
                         ("fingerprint", "00000000000a"), ("finished_before", "2026-01-01T00:00:00Z")):
        refused("filter." + field, "executions", action="cancel", filter={field: value})
    for field, value in (("team", "a"), ("worker", "wrk_0000000000001"),
                         ("started_after", "2026-01-01T00:00:00Z")):
        refused("filter." + field, "executions", action="retry", filter={field: value})
    refused("filter.queue[1]", "jobs", action="cancel", filter={"queue": ["a", ""]})
    refused("filter.owner", "jobs", action="cancel", filter={"owner": ["a", "b"]})
    expect(404, server, "GET", "/operations/op_0000000000001")
    expect(404, server, "POST", "/operations/op_0000000000001/cancel")


def test_an_operation_goes_on_after_a_crash_and_can_be_cancelled():
    queue = next(names)
    with Server("--no-worker", "--set", "operation_step_max=1") as own:
        many(own, 400, queue=queue)
        begun = act(own, "jobs", action="cancel", filter={"queue": queue})
        own.kill()
        own.start()
        done = over(own, begun)
        assert (done["done"], done["refused"]) == (400, 0), done
        assert statuses(own, queue) == ["cancelled"] * 400
        other = next(names)
        many(own, 1000, queue=other)
        begun = act(own, "jobs", action="pause", filter={"queue": other})
        stopped = expect(200, own, "POST", f"/operations/{begun['operation_id']}/cancel")
        assert stopped["status"] == "cancelled" and stopped["finished_at"], stopped
        assert statuses(own, other).count("paused") == stopped["done"] < 1000, stopped
        expect(200, own, "POST", f"/operations/{begun['operation_id']}/cancel")
        done = over(own, act(own, "jobs", action="resume", filter={"queue": other}))
        assert done["done"] == stopped["done"], done
        expect(409, own, "POST", f"/operations/{done['operation_id']}/cancel")


def test_the_command_line_acts_on_many():
    with Server("--no-worker") as own:
        many(own, 3, queue="a", tags={"env": "prod"})
        many(own, 2, queue="b")
        dry = own.cli("cancel", "--filter", "queue=a,queue=b,tag=env:prod", "--dry-run")
        assert dry.returncode == 0 and dry.stdout.splitlines()[0] == "3", dry
        assert len(dry.stdout.splitlines()) == 4, dry
        done = own.cli("pause", "--filter", "queue=a,queue=b", "--yes")
        assert done.returncode == 0 and done.stdout == "5 done, 0 refused\n", done
        tried = own.cli("trigger", "--filter", "queue=b", "--yes")
        assert tried.returncode == 1 and "2 refused" in tried.stdout, tried
        assert "paused" in tried.stdout.splitlines()[1], tried
        assert own.cli("resume", "--all", "--yes").stdout == "5 done, 0 refused\n"
        assert own.cli("cancel", "--executions", "--filter", "queue=b", "--yes").returncode == 0
        assert statuses(own, "b") == ["cancelled"] * 2
        asks = own.cli("cancel", "--all")
        assert asks.returncode == 2 and "--yes" in asks.stderr, asks
        assert own.cli("cancel", "--filter", "queue", "--yes").returncode == 2
        assert own.cli("cancel", "--filter", "colour=red", "--yes").returncode == 2
        assert own.cli("cancel", "job_0000000000001", "--all", "--yes").returncode == 2
        assert own.cli("retry", "--all", "--yes", "--payload", "1").returncode == 2
        assert own.cli("pause", "--all", "--yes", "--reason", "r").returncode == 2
        assert own.cli("trigger", "a", "b", "--wait").returncode == 2
        first, second, third = many(own, 3, queue="c")
        assert own.cli("pause", first, second).stdout == "2 done, 0 refused\n"
        done = own.cli("cancel", first, third, "job_0000000000001")
        assert done.returncode == 1 and done.stdout.startswith("2 done, 1 refused\n"), done
        run = own.newest_execution(second)["execution_id"]
        assert own.cli("cancel", run, run, "--dry-run").stdout == f"1\n{run}\n"
        assert own.cli("cancel", run, run).stdout == "1 done, 0 refused\n"
        assert own.cli("cancel", run, "no-such").returncode == 2
        listed = own.cli("operations")
        assert listed.returncode == 0 and "trigger" in listed.stdout, listed
        newest = expect(200, own, "GET", "/operations")["operations"][0]["operation_id"]
        assert newest in own.cli("operations", "show", newest).stdout
        assert own.cli("operations", "cancel", newest).returncode == 1  # it is done


def test_operations_with_large_filters_are_listed():
    tags = [f"k{i}:" + "v" * 990 for i in range(100)]
    with Server("--no-worker") as own:
        for _ in range(45):
            over(own, act(own, "jobs", action="cancel", filter={"tag": tags}))
        assert len(expect(200, own, "GET", "/operations")["operations"]) == 45


def test_three_servers_do_their_parts_and_a_takeover_goes_on():
    queue = next(names)
    with Postgres() as postgres, Cluster(postgres, 3, "--no-worker", "--set",
                                         "operation_step_max=2") as nodes:
        first, second, third = nodes
        made = many(first, 900, queue=queue) + many(second, 900, queue=queue)
        made += many(third, 900, queue=queue)
        begun = act(second, "jobs", action="cancel", filter={"queue": queue})
        assert begun["total"] == 2700, begun
        named = act(second, "jobs", action="pause", ids=made[:30])
        assert (named["ids"], named["total"]) == (30, 30), named
        third.kill()
        assert over(first, named)["ids"] == 30
        done = over(first, begun)
        assert (done["done"], done["refused"], done["status"]) == (2700, 0, "done"), done
        assert expect(200, first, "GET", "/operations/" + begun["operation_id"]) == done
        for job in made[::100]:
            assert expect(200, first, "GET", "/jobs/" + job)["status"] == "cancelled"


if __name__ == "__main__":
    main(tests_of(globals()), shared=server)
