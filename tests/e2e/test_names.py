"""Names, and parts of ids, wherever an id is taken."""

import urllib.parse

from belfry import Server, main, tests_of
from protocol import API, Worker, call, expect, names, submit

server = Server("--no-worker")
UNKNOWN_JOB = "job_0000000000001"


def path(text, *rest):
    return "/".join(["/jobs", urllib.parse.quote(text, safe=""), *rest])


def id_of(text):
    return expect(200, server, "GET", path(text))["job_id"]


def refused(status, method, where, body=None):
    answer = call(server, method, API + where, body)
    assert answer.status == status, answer
    return answer.json


def end(job):
    expect(200, server, "DELETE", path(job))


# ---- names

def test_a_name_means_its_unfinished_job_and_else_the_newest_that_ended():
    name = next(names)
    refused(404, "GET", path(name))
    first, _ = submit(server, name=name)
    assert id_of(name) == first
    end(name)
    assert id_of(name) == first
    second, _ = submit(server, name=name)
    assert id_of(name) == second
    end(first)  # again; the one that is unfinished stays
    assert id_of(name) == second
    end(name)
    assert id_of(name) == second


def test_every_call_about_a_job_takes_its_name():
    name = next(names) + " a/b ü?#"
    job, execution = submit(server, name=name, handler=next(names), sla={"expected": "1h", "max": "2h"})
    quoted = urllib.parse.quote(name, safe="")
    for base in (path(name), "/jobs/by-name/" + quoted, path("name:" + name)):
        assert expect(200, server, "GET", base)["job_id"] == job
        for report in ("executions", "explain", "sla-events", "slots", "sla-compliance", "failures", "successes",
                       "versions"):
            expect(200, server, "GET", f"{base}/{report}")
        assert expect(200, server, "POST", base + "/pause")["status"] == "paused"
        assert expect(200, server, "POST", base + "/resume", {"reason": "x"})["job_id"] == job
        answer = call(server, "PATCH", API + base, {"priority": 7}, headers={"If-Match": "*"})
        assert answer.status == 200, answer
        page = expect(200, server, "GET", base + "/executions")
        assert [e["execution_id"] for e in page["executions"]] == [execution]
    parameter = urllib.parse.quote_plus(name)
    page = expect(200, server, "GET", f"/executions?limit=5&job={parameter}")
    assert [e["execution_id"] for e in page["executions"]] == [execution]
    assert expect(200, server, "GET", f"/dead-letters?job={parameter}")["dead_letters"] == []
    problem = refused(400, "GET", "/executions?job=" + next(names))
    assert [e["field"] for e in problem["errors"]] == ["job"], problem
    assert expect(200, server, "DELETE", "/jobs/by-name/" + quoted)["job_id"] == job


def test_a_run_that_is_asked_for_by_name_is_of_the_job_that_has_it():
    name = next(names)
    job, _ = submit(server, name=name, handler=next(names), schedule={"every": "1h"})
    run = expect(201, server, "POST", f"/jobs/by-name/{name}/trigger")
    assert run["job_id"] == job
    end(name)


def test_the_whole_text_is_a_name_first():
    tricky = ["by-name", "name:" + next(names), "job_" + next(names), "…4jh80c", "job_01k5d2", "50%", "..."]
    for name in tricky:
        job, _ = submit(server, name=name)
        assert id_of("name:" + name) == job
        assert expect(200, server, "GET", "/jobs/by-name/" + urllib.parse.quote(name))["job_id"] == job
        if name != "by-name":  # a word of the path
            assert id_of(name) == job
        end(job)


def test_a_name_that_looks_like_an_id_is_refused():
    for name in (UNKNOWN_JOB, "exec_0000000000001", "wrk_0000000000001"):
        problem = refused(400, "POST", "/jobs", {"command": ["true"], "name": name})
        assert [e["field"] for e in problem["errors"]] == ["name"], problem
    submit(server, command=["true"], name="job_000000000000")
    problem = refused(404, "GET", path(UNKNOWN_JOB))
    assert UNKNOWN_JOB in problem["detail"]
    assert "exec_0000000000001" in refused(404, "GET", path("exec_0000000000001"))["detail"]


def test_what_nothing_is_called_says_so():
    assert "nobody" in refused(404, "GET", path("nobody"))["detail"]
    assert "nobody" in refused(404, "POST", "/jobs/by-name/nobody/pause")["detail"]
    assert "nobody" in refused(404, "GET", "/executions/nobody")["detail"]
    assert call(server, "GET", API + "/jobs/%zz").status == 400
    assert call(server, "GET", API + "/jobs/by-name/").status == 404
    assert call(server, "GET", API + "/jobs/by-name/x/y").status == 404


# ---- parts of ids

def test_a_part_of_an_id_means_the_one_that_has_it():
    job, execution = submit(server)
    assert id_of("…" + job[-12:]) == job
    assert id_of("..." + job[-10:]) == job
    assert id_of("job_…" + job[-12:]) == job
    assert id_of(job[:-1]) == job or "may be any of" in refused(400, "GET", path(job[:-1]))["detail"]
    for part in ("…" + execution[-12:], "exec_..." + execution[-12:]):
        found = expect(200, server, "GET", "/executions/" + urllib.parse.quote(part))
        assert found["execution_id"] == execution
    expect(200, server, "POST", path("…" + job[-12:], "pause"))
    end("…" + job[-12:])


def test_a_part_that_is_too_short_or_of_nothing_is_not_found():
    job, _ = submit(server)
    for part in (job[-12:], "…" + job[-5:], job[:9], "…zzzzzz", "job_7zzzzz"):
        refused(404, "GET", path(part))
    end(job)


def test_a_part_of_several_ids_is_refused_with_ten_of_them():
    results = expect(200, server, "POST", "/jobs/batch",
                     {"jobs": [{"command": ["true"], "queue": next(names)}] * 30})["results"]
    jobs = [r["job_id"] for r in results]
    problem = refused(400, "GET", path(jobs[0][:12]))
    named = [word.strip(",") for word in problem["detail"].split() if word.startswith("job_")]
    assert len(named) == 10 and "…" in problem["detail"], problem
    assert [e["field"] for e in problem["errors"]] == ["id"], problem
    for job in jobs:
        end(job)


# ---- dependencies

def test_a_job_waits_for_another_by_its_name():
    name, queue = next(names), next(names)
    first, _ = submit(server, name=name, handler=queue, queue=queue)
    for text in (name, "name:" + name):
        waits, _ = submit(server, handler=queue, queue=queue, depends_on=[{"job": text}])
        shown = expect(200, server, "GET", path(waits))["depends_on"]
        assert [d["job"] for d in shown] == [first], shown
        end(waits)
    problem = refused(400, "POST", "/jobs",
                      {"command": ["true"], "depends_on": [{"job": "nobody"}]})
    assert "nobody" in problem["detail"], problem
    end(first)


def test_a_name_means_a_job_of_the_same_batch_first():
    name, queue = next(names), next(names)
    outer, _ = submit(server, name=name + "-outer", handler=queue, queue=queue)
    old, _ = submit(server, name=name, handler=queue, queue=queue)
    end(old)
    batch = [{"name": name, "handler": queue, "queue": queue},
             {"handler": queue, "queue": queue,
              "depends_on": [{"job": name}, {"job": name + "-outer", "type": "completion"}]}]
    results = expect(200, server, "POST", "/jobs/batch", {"jobs": batch})["results"]
    shown = expect(200, server, "GET", path(results[1]["job_id"]))["depends_on"]
    assert {d["job"] for d in shown} == {results[0]["job_id"], outer}, shown


def test_a_key_that_was_used_by_name_is_answered_again():
    name, queue, key = next(names), next(names), next(names)
    first, _ = submit(server, name=name, handler=queue, queue=queue)
    body = {"handler": queue, "queue": queue, "depends_on": [{"job": name}], "idempotency_key": key}
    made = expect(201, server, "POST", "/jobs", body)
    end(first)
    submit(server, name=name, handler=queue, queue=queue)
    again = call(server, "POST", API + "/jobs", body)
    assert again.status == 201 and again.json["job_id"] == made["job_id"], again


def test_no_call_looks_for_more_than_a_hundred_names():
    name = next(names)
    submit(server, name=name)
    many = "&".join([f"job={name}"] * 101)
    for where in ("/executions?", "/events?view=summary&"):
        problem = refused(400, "GET", where + many)
        assert [(e["field"], e["message"]) for e in problem["errors"]] == \
            [("job", "must not be there more than 100 times")], problem
    end(name)


def test_a_name_in_a_path_is_utf_8_as_it_is_in_a_document():
    for bad in ("%ff", "a%C3", "%ED%A0%80"):
        problem = refused(400, "PUT", "/jobs/by-name/" + bad, {"handler": next(names)})
        assert [e["field"] for e in problem["errors"]] == ["name"], problem
        refused(404, "GET", "/jobs/by-name/" + bad)


# ---- the command line

def cli(*args):
    done = server.cli(*args)
    assert done.returncode == 0, done
    return done.stdout


def test_the_command_line_takes_names_and_parts_of_ids():
    name, queue = next(names) + " nightly", next(names)
    job, execution = submit(server, name=name, handler=queue, queue=queue)
    for text in (name, "name:" + name, "…" + job[-12:]):
        assert job in cli("show", text)
        assert cli("pause", text) == f"{job} paused\n"
        assert cli("resume", text) == f"{job} active\n"
        assert execution in cli("explain", "-o", "json", text)
    assert execution in cli("show", "…" + execution[-12:])
    assert execution in cli("executions", "--job", name)
    worker = Worker(server, handlers=[queue], queues=[queue])
    lease, = worker.take()
    worker.finish(lease)
    after = cli("submit", "--after", name, "--", "true").strip()
    after_failure = cli("submit", "--after", "completion:" + name, "--", "true").strip()
    for waits in (after, after_failure):
        assert expect(200, server, "GET", path(waits))["depends_on"][0]["job"] == job
    done = server.cli("show", "nobody")
    assert done.returncode == 3 and "nobody" in done.stderr, done


if __name__ == "__main__":
    main(tests_of(globals()), server)
