"""Filters of lists, phases, and what a job shows of its newest run: alone and among three servers."""

import urllib.parse

from belfry import Server, main, tests_of, wait_for
from cluster import Cluster, Postgres
from protocol import API, Worker, call, execution, expect, names, submit

server = Server("--no-worker")  # one for all tests, each of which keeps to names of its own
FAR = "2999-01-01T00:00:00Z"


def listed(what, _server=None, **params):
    """The ids on all pages; a parameter that is a list is repeated."""
    key = {"jobs": "job_id", "executions": "execution_id"}[what]
    query, found, cursor = urllib.parse.urlencode(params, doseq=True), [], None
    while True:
        page = expect(200, _server or server, "GET",
                      f"/{what}?{query}" + (f"&cursor={cursor}" if cursor else ""))
        found += [item[key] for item in page[what]]
        cursor = page["next_cursor"]
        if cursor is None:
            return found


def refused(path, *fields):
    answer = call(server, "GET", API + path)
    assert answer.status == 400, (path, answer)
    assert [e["field"] for e in answer.json["errors"]] == list(fields), (path, answer.json)


def test_names_have_stars():
    base = next(names)
    ends = ["-report", "-reports", "*", "-x-report"]
    jobs = [submit(server, name=base + end)[0] for end in ends]
    for pattern, fitting in ((base + "-report", [0]), (base + "-report*", [1, 0]), (base + "*", [3, 2, 1, 0]),
                             (base + "*report", [3, 0]), (f"*{base[1:]}-*report*", [3, 1, 0]),
                             (base + "\\*", [2]), (base + "-*-*", [3]), (base + "x*", [])):
        assert listed("jobs", name=pattern) == [jobs[i] for i in fitting], pattern
        runs = [execution(server, e)["job_id"] for e in listed("executions", name=pattern)]
        assert runs == [jobs[i] for i in fitting], pattern


def test_what_a_database_takes_for_a_pattern_is_text():
    base = next(names)
    jobs = {end: submit(server, name=base + end)[0] for end in ("-a%b", "-a_b", "-a\\b", "-axb", "-A%b", "-é", "-ê")}
    for pattern, fitting in (("-a%b", ["-a%b"]), ("-a%*", ["-a%b"]), ("-a_*", ["-a_b"]), ("-a\\*b", []),
                             ("-a\\b", ["-a\\b"]), ("*\\b", ["-a\\b"]), ("-é*", ["-é"]),
                             ("-a*b", ["-axb", "-a\\b", "-a_b", "-a%b"]),
                             ("%*", []), ("-*%*", ["-A%b", "-a%b"])):
        assert listed("jobs", name=base + pattern) == [jobs[end] for end in fitting], pattern


def test_a_cursor_belongs_to_its_list_and_filter():
    queue = next(names)
    job = [submit(server, queue=queue, name=next(names))[0] for _ in range(3)][0]
    lists = ("/jobs?", "/executions?", f"/jobs?queue={queue}&", f"/executions?queue={queue}&", f"/jobs?team={queue}&",
             f"/jobs?name={queue}&", f"/jobs/{job}/executions?", f"/jobs/{job}/sla-events?", "/alerts?",
             "/submissions/rejected?")
    cursors = [expect(200, server, "GET", path + "limit=1")["next_cursor"] for path in lists[:4]]
    for mine, cursor in zip(lists, cursors):
        for path in lists:
            status = call(server, "GET", f"{API}{path}cursor={cursor}").status
            assert status == (200 if path == mine else 400), (mine, path)


def test_a_thousand_queues_are_no_problem():
    queue = next(names)
    job, run = submit(server, queue=queue)
    many = [f"{queue}.{i}" for i in range(200)] + [queue]
    assert listed("jobs", queue=many) == [job] and listed("executions", queue=many * 4) == [run]
    page = expect(200, server, "GET", "/jobs?count=true&" + "&".join("queue=" + q for q in many))
    assert (page["total"], page["total_is_estimate"]) == (1, False), page


def test_what_is_repeated_means_or_and_for_tags_and():
    one, two, tag = next(names), next(names), next(names)
    a = submit(server, queue=one, tags={tag: "1", "x": "y"})[0]
    b = submit(server, queue=two, tags={tag: "1"})[0]
    expect(200, server, "DELETE", "/jobs/" + b)
    assert listed("jobs", queue=[one, two]) == [b, a]
    assert listed("jobs", queue=[one, two], status=["active", "paused"]) == [a]
    assert listed("jobs", queue=[one, two], status=["active", "cancelled"]) == [b, a]
    assert listed("jobs", tag=[f"{tag}:1"]) == [b, a]
    assert listed("jobs", tag=[f"{tag}:1", "x:y"]) == [a]
    assert len(listed("executions", queue=[one, two], status=["queued", "cancelled", "failed"])) == 2
    assert len(listed("executions", queue=[one, two], status=["cancelled", "failed"])) == 1
    assert len(listed("executions", tag=[f"{tag}:1", "x:y"])) == 1
    assert len(listed("executions", tag=f"{tag}:1", queue=two)) == 1


def test_executions_are_found_by_their_job():
    name, team = next(names), next(names)
    job, run = submit(server, name=name, team=team)
    submit(server, name=name + "x", team=team + "x")
    for params in ({"name": name}, {"team": team}, {"team": team, "owner": "admin"}):
        assert listed("executions", **params) == [run], params
    assert listed("executions", team=team, owner="nobody") == []
    assert listed("executions", name=name + "y") == []
    assert execution(server, run)["job_name"] == name
    assert expect(200, server, "GET", f"/executions?job={job}")["executions"][0]["job_name"] == name


def test_executions_are_found_by_how_they_failed_and_by_their_worker():
    queue, handler = next(names), next(names)
    runs = [submit(server, queue=queue, handler=handler, retry={"max_retries": retries})[1]
            for retries in (0, 3, 0)]
    worker = Worker(server, queues=[queue], handlers=[handler], commands=False)
    leases = {lease["execution_id"]: lease for lease in worker.take(3)}
    assert listed("executions", worker=worker.id) == runs[::-1]
    worker.poll(results=[
        (leases[runs[0]], "failed", {"error_class": "disk_error", "error_tail": "full"}),
        (leases[runs[1]], "failed", {"error_class": "network_error", "error_tail": "no route"}),
        (leases[runs[2]], "succeeded")])
    assert listed("executions", queue=queue, **{"class": "disk_error"}) == [runs[0]]
    assert listed("executions", queue=queue, **{"class": "network_error"}) == [runs[1]]
    assert listed("executions", queue=queue, **{"class": "timeout"}) == []
    print_ = execution(server, runs[0])["attempts"][0]["fingerprint"]
    assert listed("executions", fingerprint=print_) == [runs[0]]
    assert listed("executions", fingerprint=print_, status="running") == []
    assert listed("executions", worker=worker.id) == runs[::-1]
    assert listed("executions", worker="wrk_0000000000001") == []


def test_spans_of_starts_and_ends():
    queue, handler = next(names), next(names)
    done, waiting = [submit(server, queue=queue, handler=handler) for _ in range(2)]
    worker = Worker(server, queues=[queue], handlers=[handler], commands=False)
    worker.finish(worker.take(1)[0], "succeeded")
    told = execution(server, done[1])
    for when in ("started", "finished"):
        at = told[when + "_at"]
        assert listed("executions", queue=queue, **{when + "_after": at}) == [done[1]]
        assert listed("executions", queue=queue, **{when + "_before": at}) == []
        assert listed("executions", queue=queue, **{when + "_before": FAR}) == [done[1]]
    assert listed("jobs", queue=queue, finished_before=FAR) == [done[0]]
    assert listed("jobs", queue=queue, finished_after=told["finished_at"]) == [done[0]]
    assert waiting[0] in listed("jobs", queue=queue)


def test_what_makes_no_sense_is_refused():
    later, earlier = "2026-02-01T00:00:00Z", "2026-01-01T00:00:00Z"
    for what, when in (("jobs", "created"), ("jobs", "finished"), ("executions", "created"),
                       ("executions", "started"), ("executions", "finished")):
        refused(f"/{what}?{when}_after={later}&{when}_before={earlier}", when + "_before")
        refused(f"/{what}?{when}_after={later}&{when}_before={later}", when + "_before")
    refused("/jobs?phase=sleeping", "phase")
    refused("/executions?class=bad", "class")
    refused("/executions?fingerprint=x", "fingerprint")
    refused("/executions?worker=job_0000000000001", "worker")
    refused("/executions?class=timeout&status=completed", "class")
    refused("/executions?job=job_0000000000001&name=a", "job")
    refused("/jobs?phase=failed&status=paused", "phase")
    refused(f"/jobs?status=active&finished_after={earlier}", "status")
    refused(f"/executions?status=running&finished_after={earlier}", "status")
    refused("/jobs?name=%FF", "name")
    refused("/jobs?queue=a%0Ab", "queue")
    refused("/jobs?" + "&".join(f"tag=a:{i}" for i in range(101)), "tag")


def phase(job_id):
    return expect(200, server, "GET", "/jobs/" + job_id)["phase"]


def test_the_phase_says_what_a_job_does():
    queue, handler = next(names), next(names)
    jobs = {}

    def add(kind, **fields):
        jobs[kind] = submit(server, queue=queue, handler=handler, **fields)[0]

    add("running")
    add("retrying", retry={"max_retries": 3, "delay": "1h", "jitter": 0})
    add("completed")
    add("failed", retry={"max_retries": 0})
    worker = Worker(server, queues=[queue], handlers=[handler], commands=False)
    leases = {lease["job_id"]: lease for lease in worker.take(4)}
    worker.poll(running=[leases[jobs["running"]]],
                results=[(leases[jobs["retrying"]], "failed"), (leases[jobs["failed"]], "failed"),
                         (leases[jobs["completed"]], "succeeded")])
    add("waiting")
    add("scheduled", schedule={"delay": "1h"})
    add("blocked", depends_on=[{"job": jobs["running"], "type": "success"}])
    add("paused", schedule={"delay": "1h"})
    add("cancelled")
    expect(200, server, "POST", f"/jobs/{jobs['paused']}/pause")
    expect(200, server, "DELETE", "/jobs/" + jobs["cancelled"])
    for kind, job in jobs.items():
        assert phase(job) == kind, (kind, job)
        assert listed("jobs", queue=queue, phase=kind) == [job], kind
    page = expect(200, server, "GET", f"/jobs?queue={queue}")["jobs"]
    assert {job["job_id"]: job["phase"] for job in page} == {job: kind for kind, job in jobs.items()}
    some = listed("jobs", queue=queue, phase=["running", "failed"])
    assert sorted(some) == sorted([jobs["running"], jobs["failed"]])
    recurring = submit(server, queue=queue, schedule={"every": "1h"})[0]
    assert phase(recurring) == "scheduled"
    expect(201, server, "POST", f"/jobs/{recurring}/trigger")
    assert phase(recurring) == "waiting"
    expect(200, server, "DELETE", "/jobs/" + jobs["running"])
    assert phase(jobs["running"]) == "running"  # until its worker says that it is gone


def test_a_job_shows_its_newest_run():
    queue, handler = next(names), next(names)
    job, run = submit(server, queue=queue, handler=handler, name=next(names),
                      retry={"max_retries": 1, "policy": "immediate"})
    assert expect(200, server, "GET", "/jobs/" + job)["last_execution"]["attempts"] == []
    worker = Worker(server, queues=[queue], handlers=[handler], commands=False)
    worker.finish(worker.take(1)[0], "failed", error_class="disk_error", error_tail="full")
    last = expect(200, server, "GET", "/jobs/" + job)["last_execution"]
    assert last["execution_id"] == run and len(last["attempts"]) == 1, last
    assert (last["error_class"], last["error_tail"], last["result"]) == ("disk_error", "full", None)
    leases = []
    wait_for(lambda: leases.extend(worker.poll(free=1)["leases"]) or leases, "the second attempt")
    worker.finish(leases[0], "succeeded", result={"n": 1})
    last = expect(200, server, "GET", "/jobs/" + job)["last_execution"]
    assert last["status"] == "completed" and last["result"] == {"n": 1}, last
    assert last["error_class"] is None and len(last["attempts"]) == 2, last
    later = submit(server, queue=queue, schedule={"delay": "1h"})[0]
    assert expect(200, server, "GET", "/jobs/" + later)["last_execution"] is None


def test_a_total_says_when_it_was_so():
    queue = next(names)
    submit(server, queue=queue)
    page = expect(200, server, "GET", f"/jobs?queue={queue}&queue={queue}x&count=true")
    assert (page["total"], page["total_is_estimate"]) == (1, False), page
    assert page["as_of"] <= expect(200, server, "GET", "/stats")["time"]
    page = expect(200, server, "GET", f"/jobs?queue={queue}&phase=waiting&count=true")
    assert page["total_is_estimate"], page


def refusal(path):
    answer = call(server, "GET", API + path)
    assert answer.status == 400 and answer.json["errors"][0]["field"] == "fields", (path, answer)
    return answer.json["errors"][0]["message"]


def test_fields_show_a_part():
    queue, name = next(names), next(names)
    job, run = submit(server, queue=queue, name=name, payload={"status": [1]}, tags={"a": "b"})
    whole = expect(200, server, "GET", f"/jobs/{job}")
    for wanted in ("job_id", "status,name", "name,status,name", "payload,warnings,depends_on", "tags,next_run_at",
                   "last_execution,phase"):
        told = expect(200, server, "GET", f"/jobs/{name}?fields={wanted}")
        assert told == {key: whole[key] for key in wanted.split(",")}, (wanted, told)
    assert expect(200, server, "GET", f"/jobs/by-name/{name}?fields=job_id") == {"job_id": job}
    assert expect(200, server, "GET", f"/jobs/{job}?fields=description,sla") == {"description": None}
    page = expect(200, server, "GET", f"/jobs?queue={queue}&fields=job_id%2Cphase,queue&count=true")
    assert page["jobs"] == [{"job_id": job, "phase": "waiting", "queue": queue}] and page["total"] == 1, page
    assert expect(200, server, "GET", f"/jobs?queue={queue}&fields=status")["jobs"] == [{"status": "active"}]
    whole = expect(200, server, "GET", f"/executions/{run}")
    for wanted in ("execution_id", "attempts,status", "payload,job_name"):
        told = expect(200, server, "GET", f"/executions/{run}?fields={wanted}")
        assert told == {key: whole[key] for key in wanted.split(",")}, (wanted, told)
    for path in (f"/executions?queue={queue}&", f"/jobs/{job}/executions?"):
        assert expect(200, server, "GET", path + "fields=job_name,job_id")["executions"] == [
            {"job_id": job, "job_name": name}], path
        assert expect(200, server, "GET", path + "fields=token")["executions"] == [{"token": whole["token"]}]


def test_a_page_with_other_fields_goes_on_from_the_same_cursor():
    queue = next(names)
    jobs = [submit(server, queue=queue)[0] for _ in range(3)]
    page = expect(200, server, "GET", f"/jobs?queue={queue}&limit=2&fields=queue")
    rest = expect(200, server, "GET", f"/jobs?queue={queue}&limit=2&fields=job_id&cursor={page['next_cursor']}")
    assert rest["jobs"] == [{"job_id": jobs[0]}], rest


def test_fields_that_are_none_are_refused_by_name():
    job, run = submit(server, queue=next(names))
    for path, wanted in (("/jobs", "nam"), (f"/jobs/{job}", "idempotency_key"), (f"/jobs/{job}", "attempts"),
                         ("/executions", "name"), (f"/executions/{run}", "last_outcomes")):
        assert f"'{wanted}' is not a field of" in refusal(f"{path}?fields=status,{wanted}")
    for path, wanted in (("/jobs", "payload"), ("/executions", "attempts"), (f"/jobs/{job}/executions", "result")):
        assert f"'{wanted}' is shown of one" in refusal(f"{path}?fields={wanted}")
    assert refusal("/jobs?fields=") == "must not be empty"
    for wanted in (",", "status,", "%20status", "*", "%22", "job_id." + "x" * 500):
        assert "is not a field" in refusal(f"/jobs?fields={wanted}"), wanted
    refused("/jobs?fields=status&fields=name", "fields")
    refused("/alerts?fields=status", "fields")


def run_next(worker, outcome):
    leases = []
    wait_for(lambda: leases.extend(worker.poll(free=1)["leases"]) or leases, "something to run")
    worker.finish(leases[0], outcome)


def test_the_last_outcomes_are_ten():
    queue, handler = next(names), next(names)
    job, run = submit(server, queue=queue, handler=handler, retry={"max_retries": 0})
    worker = Worker(server, queues=[queue], handlers=[handler], commands=False)
    runs = [run]
    for _ in range(3):
        run_next(worker, "failed")
        runs.insert(0, expect(201, server, "POST", f"/executions/{runs[0]}/retry")["execution_id"])
    run_next(worker, "succeeded")
    told = expect(200, server, "GET", f"/jobs/{job}?fields=last_outcomes")["last_outcomes"]
    assert [one["execution_id"] for one in told] == runs, told
    assert [one["status"] for one in told] == ["completed"] + ["failed"] * 3, told
    recurring = submit(server, queue=queue, handler=handler, schedule={"every": "1h"})[0]
    for _ in range(12):
        made = expect(201, server, "POST", f"/jobs/{recurring}/trigger")["execution_id"]
        expect(200, server, "POST", f"/executions/{made}/cancel")
    page = expect(200, server, "GET", f"/jobs?queue={queue}&fields=job_id,last_outcomes&limit=100")["jobs"]
    assert [one["job_id"] for one in page] == [recurring, job] and page[1]["last_outcomes"] == told, page
    newest = expect(200, server, "GET", f"/jobs/{recurring}/executions?status=cancelled&limit=10")["executions"]
    assert page[0]["last_outcomes"] == [
        {key: one[key] for key in ("execution_id", "status", "finished_at", "duration_ms")} for one in newest]
    assert "at most 100" in refusal("/jobs?fields=last_outcomes&limit=101")
    assert "last_outcomes" not in expect(200, server, "GET", f"/jobs/{job}")


def test_a_list_tells_how_long_runs_take_and_what_jobs_wait_for():
    queue, handler = next(names), next(names)
    first = submit(server, queue=queue, handler=handler, schedule={"every": "1h"})[0]
    second = submit(server, queue=queue, schedule={"every": "1h"}, depends_on=[{"job": first}])[0]
    expect(201, server, "POST", f"/jobs/{first}/trigger")
    run_next(Worker(server, queues=[queue], handlers=[handler], commands=False), "succeeded")
    page = expect(200, server, "GET", f"/jobs?queue={queue}&fields=job_id,p50_duration_ms,depends_on&limit=100")["jobs"]
    assert page[1].pop("p50_duration_ms") >= 0
    assert page == [
        {"job_id": second, "p50_duration_ms": None,
         "depends_on": [{"job": first, "type": "success", "state": "per_slot"}]},
        {"job_id": first, "depends_on": []}], page
    assert expect(200, server, "GET", f"/jobs/{second}?fields=p50_duration_ms") == {"p50_duration_ms": None}
    for name in ("p50_duration_ms", "depends_on"):
        assert "at most 100" in refusal(f"/jobs?fields={name}&limit=101")


def test_three_servers_give_the_same_answers():
    with Postgres() as postgres, Cluster(postgres, 3, "--no-worker") as nodes:
        jobs = [submit(nodes[i % 3], queue="q", name=f"job-{i}", tags={"i": str(i)})[0] for i in range(9)]
        for job in jobs[:3]:
            expect(200, nodes[0], "DELETE", "/jobs/" + job)
        for node in nodes:
            def same():
                page = expect(200, node, "GET", "/jobs?queue=q&status=active&status=paused&count=true")
                return (page["total"], page["total_is_estimate"]) == (6, False)
            wait_for(same, "the total of all servers")
            assert sorted(listed("jobs", node, name="job-*")) == sorted(jobs)
            assert sorted(listed("jobs", node, phase="waiting")) == sorted(jobs[3:])
            assert sorted(listed("jobs", node, phase="cancelled")) == sorted(jobs[:3])
            assert listed("jobs", node, tag="i:4") == [jobs[4]]
            assert len(listed("executions", node, name="job-*", status=["queued", "cancelled"])) == 9
            assert len(listed("executions", node, owner="admin", limit=2)) == 9
            page = expect(200, node, "GET", "/jobs?status=cancelled&fields=name,last_outcomes")["jobs"]
            assert [[one["status"] for one in job["last_outcomes"]] for job in page] == [["cancelled"]] * 3, page


if __name__ == "__main__":
    main(tests_of(globals()), shared=server)
