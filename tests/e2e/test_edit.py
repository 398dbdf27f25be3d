"""Jobs that are edited: PATCH with If-Match, PUT by name, and `belfry apply`."""

import concurrent.futures
import datetime
import json
import urllib.error
import urllib.parse
import urllib.request

from belfry import PATIENCE_S, Server, main, tests_of, wait_for

server = Server()
_names = 0


def call(method, path, body=None, raw=None, **headers):
    """(status, document, ETag) of a call; headers are spelled with underscores."""
    request = urllib.request.Request(
        server.url + "/api/v1" + path, method=method,
        data=raw if raw is not None else None if body is None else json.dumps(body).encode(),
        headers={"Authorization": "Bearer " + server.key(), "Content-Type": "application/json",
                 **{name.replace("_", "-"): value for name, value in headers.items()}})
    try:
        answer = urllib.request.urlopen(request, timeout=PATIENCE_S)
    except urllib.error.HTTPError as refusal:
        answer = refusal
    with answer:
        return answer.status, json.loads(answer.read()), answer.headers.get("ETag")


def patch(job_id, version, body, **headers):
    return call("PATCH", f"/jobs/{job_id}", body, If_Match=f'"{version}"', **headers)


def put(name, body, query="", **headers):
    return call("PUT", f"/jobs/by-name/{urllib.parse.quote(name, safe='')}{query}", body, **headers)


def new_name():
    global _names
    _names += 1
    return f"job {_names}/ä"


def create(**document):
    status, job, _ = call("POST", "/jobs", {"command": ["true"], **document})
    assert status == 201, job
    return job["job_id"]


def later(**document):
    """A job that will not run while the test does."""
    return create(schedule={"delay": "8h"}, **document)


def fields_of(problem):
    return [error["field"] for error in problem["errors"]]


def when(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


# ---- PATCH


def test_a_patch_changes_what_it_names_and_nothing_else():
    job = later(tags={"a": "1", "b": "2"}, payload={"x": 1, "y": 2}, timeout="1h", priority=7)
    before = server.job(job)
    status, answer, tag = patch(job, 1, {"queue": "mail", "timeout": None,
                                         "tags": {"b": None, "c": "3"}, "payload": {"y": None}})
    assert (status, tag) == (200, '"2"'), answer
    assert answer["changed"] is True and answer["version"] == 2, answer
    assert sorted(answer["changed_fields"]) == ["payload", "queue", "tags", "timeout"], answer
    after = server.job(job)
    assert after["queue"] == "mail" and after["timeout"] is None, after
    assert after["tags"] == {"a": "1", "c": "3"} and after["payload"] == {"x": 1}, after
    assert after["version"] == 2 and after["changed_at"] is not None, after
    assert before["changed_at"] is None, before
    assert after["priority"] == 7 and after["next_run_at"] == before["next_run_at"], after
    assert after["current_execution"]["queue"] == "mail", after
    edit = after["transitions"][-1]
    assert (edit["event"], edit["actor"]) == ("edit", "key:admin"), edit
    assert edit["reason"].startswith("version 2: "), edit
    _, listed = server.api("GET", "/jobs?queue=mail&tag=c:3")
    assert [j["job_id"] for j in listed["jobs"]] == [job], listed


def test_a_patch_to_another_kind_of_work_says_what_must_become_null():
    job = later()
    for change, blamed in (({"handler": "h"}, "command"), ({"schedule": {"every": "1h"}}, "schedule.")):
        status, problem, _ = patch(job, 1, change)
        assert status == 400, problem
        if blamed == "command":
            assert [(e["field"], "null" in e["message"]) for e in problem["errors"]] == [(blamed, True)], problem
    status, answer, _ = patch(job, 1, {"handler": "h", "command": None})
    assert (status, answer["changed_fields"]) == (200, ["command", "handler"]), answer


def test_get_tells_the_version_as_etag():
    job = later()
    assert call("GET", f"/jobs/{job}")[2].startswith('"1.')


def test_the_type_of_a_merge_patch_is_taken_by_its_name_too():
    job = later()
    kind = {"Content_Type": "application/merge-patch+json"}
    assert patch(job, 1, {"priority": 1}, **kind)[0] == 200
    assert put(new_name(), {"command": "true"}, **kind)[0] == 415
    assert patch(job, 2, {"priority": 2}, Content_Type="text/plain")[0] == 415


def test_without_if_match_nothing_is_changed():
    job = later()
    status, problem, _ = call("PATCH", f"/jobs/{job}", {"priority": 1})
    assert (status, problem["code"]) == (428, "precondition_required"), problem
    assert "version" in problem["detail"], problem
    for text in ("1", '"1', '"1", "2"', 'W/"1"', '""'):
        status, problem, _ = call("PATCH", f"/jobs/{job}", {"priority": 1}, If_Match=text)
        assert status == 400 and fields_of(problem) == ["If-Match"], (text, problem)
    for text in ('"2"', '"0"', '"abc"', '"99999999999999999999"', '"-1"'):
        status, problem, _ = call("PATCH", f"/jobs/{job}", {"priority": 1}, If_Match=text)
        assert (status, problem["code"]) == (412, "precondition_failed"), (text, problem)
    assert server.job(job)["version"] == 1
    assert call("PATCH", f"/jobs/{job}", {"priority": 1}, If_Match="*")[0] == 200


def test_a_patch_that_says_what_is_so_already_changes_nothing():
    job = later(timeout="1h", payload={"a": 1, "b": [1.0]})
    status, answer, tag = patch(job, 1, {"timeout": "60m", "payload": {"b": [1]}, "priority": 500})
    assert (status, tag, answer["changed"]) == (200, '"1"', False), answer
    assert answer["changed_fields"] == [] and len(server.job(job)["transitions"]) == 1


def test_bad_patches_are_refused_by_field():
    job = later(name=new_name())
    for body, fields in (({"queue": "no such!"}, ["queue"]), ({"status": "paused"}, ["status"]),
                         ({"name": "other"}, ["name"]), ({"name": None}, ["name"]),
                         ({"command": None}, ["command"]), ({"priority": 1001}, ["priority"]),
                         ({"schedule": {"every": "1m", "delay": None}}, ["schedule"]),
                         ({"schedule": {"every": "1m"}}, ["schedule"]),
                         ({"depends_on": [{"job": job}]}, ["depends_on"]),
                         ({"retry": {"max_retries": -1}}, ["retry.max_retries"])):
        status, problem, _ = patch(job, 1, body)
        assert status == 400 and fields_of(problem) == fields, (body, problem)
    for raw in (b"", b"[]", b"nothing", b'"text"', b'{"a":1,"a":2}'):
        assert call("PATCH", f"/jobs/{job}", raw=raw, If_Match='"1"')[0] in (400, 411), raw
    assert patch("job_0000000000001", 1, {})[0] == 404
    assert call("PATCH", f"/jobs/{job}?x=1", {}, If_Match='"1"')[0] == 400
    assert server.job(job)["version"] == 1


def test_of_many_patches_of_one_version_exactly_one_wins():
    job = later()
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        for version in (1, 2, 3):
            answers = list(pool.map(
                lambda i, v=version: patch(job, v, {"priority": 100 * v + i}), range(12)))
            assert sorted(a[0] for a in answers) == [200] + [412] * 11, answers
            winner = next(i for i, a in enumerate(answers) if a[0] == 200)
            after = server.job(job)
            assert after["priority"] == 100 * version + winner, after
            assert after["version"] == version + 1, after


def test_what_is_over_cannot_be_edited():
    job = later()
    assert server.api("DELETE", f"/jobs/{job}")[0] == 200
    status, problem, _ = patch(job, 1, {"priority": 1})
    assert (status, problem["code"]) == (409, "conflict"), problem


def test_a_planned_run_moves_and_one_that_has_begun_does_not():
    job = later()
    status, answer, _ = patch(job, 1, {"schedule": {"delay": "2h"}})
    assert status == 200, answer
    due = when(answer["next_runs"][0])
    assert abs(due - when(server.job(job)["changed_at"]) - 7200) < 0.01, answer
    assert server.job(job)["current_execution"]["slot"] == answer["next_runs"][0]
    status, answer, _ = patch(job, 2, {"schedule": None, "command": ["sleep", "60"]})
    assert status == 200, answer
    server.wait_for_status(job, "running")
    status, problem, _ = patch(job, 3, {"schedule": {"delay": "2h"}})
    assert status == 409, problem
    status, answer, _ = patch(job, 3, {"queue": "elsewhere"})  # the run goes on
    assert status == 200 and answer["next_runs"] == [], answer
    assert server.newest_execution(job)["status"] == "running"
    assert server.newest_execution(job)["queue"] == "elsewhere"
    assert server.api("DELETE", f"/jobs/{job}")[0] == 200
    server.wait_for_status(job, "cancelled")


def test_a_changed_schedule_begins_with_the_edit():
    job = create(schedule={"every": "1h"})
    status, answer, _ = patch(job, 1, {"schedule": {"every": "7m"}})
    assert status == 200, answer
    changed = when(server.job(job)["changed_at"])
    assert [round(when(t) - changed) for t in answer["next_runs"]] == [420 * i for i in range(1, 6)]
    status, answer, _ = patch(job, 2, {"schedule": {"every": None, "cron": "0 3 * * *"}})
    assert status == 200 and answer["schedule_text"] == "at 03:00 every day (UTC)", answer
    before = server.job(job)["next_run_at"]
    status, answer, _ = patch(job, 3, {"queue": "mail"})
    assert answer["next_runs"][0] == before == server.job(job)["next_run_at"], answer
    _, listed = server.api("GET", f"/jobs/{job}/executions")
    assert [e["status"] for e in listed["executions"]] == ["scheduled"], listed


def test_the_new_definition_is_what_runs():
    job = later(command=["echo", "old"], payload={"big": "x" * 5000})
    assert patch(job, 1, {"command": ["sh", "-c", "cat"], "payload": {"big": None, "n": 7},
                          "schedule": None})[0] == 200
    execution = server.wait_for_status(job, "completed")
    text = wait_for(
        lambda: server.api("GET", f"/executions/{execution['execution_id']}/logs")[1], "output")
    assert text.strip() == '{"n":7}', text


# ---- PUT


def test_put_creates_replaces_and_leaves_alone():
    name = new_name()
    document = {"command": ["true"], "schedule": {"every": "1h"}, "tags": {"a": "1", "b": "2"}}
    status, first, tag = put(name, document)
    assert (status, tag, first["version"]) == (201, '"1"', 1), first
    assert len(first["next_runs"]) == 5 and first["schedule_text"] == "every 1h", first
    assert server.job(first["job_id"])["name"] == name
    same = {"tags": {"b": "2", "a": "1"}, "schedule": {"every": "60m"}, "command": ["true"],
            "name": name, "priority": 500}
    status, second, tag = put(name, same)
    assert (status, tag, second["changed"]) == (200, '"1"', False), second
    assert second["job_id"] == first["job_id"] and second["next_runs"] == first["next_runs"]
    status, third, tag = put(name, {**document, "queue": "mail"})
    assert (status, tag, third["changed_fields"]) == (200, '"2"', ["queue"]), third
    assert third["next_runs"] == first["next_runs"], third
    status, fourth, _ = put(name, {"command": ["true"], "schedule": {"every": "1h"}})
    assert sorted(fourth["changed_fields"]) == ["queue", "tags"], fourth  # a whole document
    assert server.api("DELETE", f"/jobs/{first['job_id']}")[0] == 200
    status, fifth, _ = put(name, document)
    assert status == 201 and fifth["job_id"] != first["job_id"], fifth


def test_put_obeys_its_conditions():
    name = new_name()
    document = {"command": "true", "schedule": {"delay": "1h"}}
    assert put(name, document, If_Match='"1"')[0] == 412
    assert put(name, document, If_Match="*")[0] == 412
    assert put(name, document, If_None_Match='"1"')[0] == 400
    assert put(name, document, If_None_Match="*", If_Match="*")[0] == 400
    assert put(name, document, If_None_Match="*")[0] == 201
    assert put(name, document, If_None_Match="*")[0] == 412
    assert put(name, {**document, "priority": 1}, If_Match='"2"')[0] == 412
    assert put(name, {**document, "priority": 1}, If_Match='"1"')[0] == 200
    assert put(name, document, If_Match="1")[0] == 400


def test_bad_puts_are_refused_by_field():
    name = new_name()
    document = {"command": "true", "schedule": {"delay": "1h"}}
    for body, fields in (({**document, "name": "other"}, ["name"]), ({**document, "name": 7}, ["name"]),
                         ({"priority": 1}, ["command"]), ({**document, "queue": "!"}, ["queue"])):
        status, problem, _ = put(name, body)
        assert status == 400 and fields_of(problem) == fields, (body, problem)
    assert put("x" * 201, document)[0] == 400
    assert call("PUT", "/jobs/by-name/%zz", document)[0] == 400
    assert put(name, document, "?dry_run=perhaps")[0] == 400
    status, first, _ = put(name, document)
    assert status == 201, first
    status, problem, _ = put(name, {"command": "true", "schedule": {"every": "1h"}})
    assert status == 400 and fields_of(problem) == ["schedule"], problem
    status, problem, _ = put(name, {**document, "depends_on": [{"job": first["job_id"]}]})
    assert status == 400 and fields_of(problem) == ["depends_on"], problem


def test_dependencies_may_be_repeated_and_not_changed():
    first, name = later(), new_name()
    document = {"command": "true", "depends_on": [{"job": first, "type": "completion"}]}
    status, made, _ = put(name, document)
    assert status == 201, made
    assert put(name, document)[1]["changed"] is False
    status, answer, _ = put(name, {**document, "priority": 3})
    assert status == 200 and answer["changed_fields"] == ["priority"], answer
    assert patch(made["job_id"], 2, {"priority": 4})[0] == 200
    for body in ({"command": "true"}, {"command": "true", "depends_on": [{"job": first}]}):
        status, problem, _ = put(name, body)
        assert status == 400 and fields_of(problem) == ["depends_on"], problem
    assert server.job(made["job_id"])["depends_on"][0]["job"] == first


def test_of_many_puts_of_one_name_one_creates_and_none_is_lost():
    name = new_name()
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(
            lambda i: put(name, {"command": "true", "schedule": {"every": "1h"},
                                 "priority": i // 2}), range(12)))
    assert sorted(a[0] for a in answers) == [200] * 11 + [201], answers
    assert len({a[1]["job_id"] for a in answers}) == 1, answers
    changes = [a[1]["version"] for a in answers if a[1]["changed"]]
    assert sorted(changes) == list(range(1, len(changes) + 1)), answers
    job = server.job(answers[0][1]["job_id"])
    last = next(i for i, a in enumerate(answers) if a[1]["version"] == len(changes)
                and a[1]["changed"])
    assert (job["version"], job["priority"]) == (len(changes), last // 2), (job, answers)


def test_an_edited_job_is_the_same_after_a_crash():
    job = create(schedule={"every": "1h"}, name=new_name())
    assert patch(job, 1, {"queue": "mail", "schedule": {"every": "2h"}})[0] == 200
    before = server.job(job)
    server.kill()
    server.start()
    assert server.job(job) == before
    assert patch(job, 2, {"queue": "default"})[0] == 200


# ---- apply


def apply(documents, *args, stdin=None):
    path = server.dir / "jobs.json"
    path.write_text(documents if isinstance(documents, str) else json.dumps(documents))
    return server.cli("apply", "-f", str(path), *args, stdin=stdin)


def results_of(done):
    """{name: (result, changed fields)} of `apply -o json`."""
    return {job["name"]: (job["result"], job.get("changed_fields"))
            for job in json.loads(done.stdout)["jobs"]}


def daily(name, **more):
    return {"name": name, "command": ["true"], "schedule": {"cron": "0 3 * * *"}, **more}


def test_apply_creates_then_changes_and_then_leaves_alone():
    a, b = new_name(), new_name()
    done = apply([daily(a), daily(b, tags={"env": "prod"})], "-o", "json", "--set", "one")
    assert done.returncode == 0, done
    assert results_of(done) == {a: ("created", []), b: ("created", [])}, done.stdout
    assert done.stderr == "2 created, 0 changed, 0 unchanged, 0 failed, 0 cancelled\n", done.stderr
    again = apply({"jobs": [daily(a), daily(b, tags={"env": "prod"})]}, "--set", "one")
    assert [line.split()[0] for line in again.stdout.splitlines()] == [
        "RESULT", "unchanged", "unchanged"], again.stdout
    lines = json.dumps(daily(a, queue="mail")) + "\n\n" + json.dumps(daily(b, timeout="1h"))
    third = apply(lines, "-o", "json", "--set", "one")
    assert results_of(third) == {a: ("changed", ["queue"]), b: ("changed", ["timeout"])}
    _, listed = server.api("GET", "/jobs?tag=belfry.apply:one")
    assert {job["name"] for job in listed["jobs"]} == {a, b}, listed


def job_named(name):
    return call("GET", "/jobs/by-name/" + urllib.parse.quote(name, safe=""))[1]


def test_apply_leaves_alone_what_a_document_leaves_out_and_null_removes():
    name = new_name()
    whole = daily(name, tags={"env": "prod", "app": "x"}, description="d", priority=700,
                  payload={"a": 1, "b": {"c": None}})
    assert results_of(apply([whole], "-o", "json")) == {name: ("created", [])}
    assert results_of(apply([whole], "-o", "json")) == {name: ("unchanged", [])}
    part = {"name": name, "queue": "mail", "description": None, "tags": {"app": None, "env": "test"},
            "payload": {"a": None}}
    dry = apply([part], "-o", "json", "--dry-run")
    assert set(results_of(dry)[name][1]) == {"queue", "description", "tags", "payload"}, dry
    assert results_of(apply([part], "-o", "json"))[name][0] == "changed"
    assert results_of(apply([part], "-o", "json")) == {name: ("unchanged", [])}
    job = job_named(name)
    assert (job["queue"], job["priority"], job["description"]) == ("mail", 700, None), job
    assert job["tags"] == {"env": "test", "belfry.apply": "default"}, job
    assert job["payload"] == {"b": {}} and job["command"] == ["true"], job
    done = apply([daily(name)], "-o", "json", "--replace")
    assert set(results_of(done)[name][1]) == {"queue", "priority", "tags", "payload"}, done
    assert job_named(name)["priority"] == 500 and job_named(name)["tags"] == {"belfry.apply": "default"}
    refused = apply([daily(name, tags=None)])
    assert refused.returncode == 1 and "--replace" in refused.stderr, refused


def test_apply_makes_a_job_where_there_is_none_and_beside_one_that_is_over():
    name = new_name()
    missing = apply([{"name": name, "queue": "mail"}], "-o", "json")
    assert missing.returncode == 1 and results_of(missing)[name][0] == "failed", missing
    assert results_of(apply([daily(name, queue=None)], "-o", "json"))[name][0] == "created"
    first = job_named(name)["job_id"]
    assert call("DELETE", f"/jobs/{first}")[0] == 200
    dry = apply([daily(name)], "-o", "json", "--dry-run")
    assert results_of(dry)[name][0] == "created" and job_named(name)["job_id"] == first, dry
    assert results_of(apply([daily(name)], "-o", "json"))[name][0] == "created"
    assert job_named(name)["job_id"] != first and server.job(first)["status"] == "cancelled"
    assert results_of(apply([daily(name)], "-o", "json"))[name][0] == "unchanged"


def test_apply_twice_of_what_waits_for_others_by_name_changes_nothing():
    first, second = new_name(), new_name()
    both = [{"name": first, "command": ["true"], "schedule": {"delay": "1h"}},
            {"name": second, "command": ["true"], "depends_on": [{"job": first}]}]
    assert set(r for r, _ in results_of(apply(both, "-o", "json")).values()) == {"created"}
    again = apply(both, "-o", "json")
    assert {n: r for n, (r, _) in results_of(again).items()}[second] == "unchanged", again.stdout


def test_apply_says_why_a_change_cannot_be_made():
    name = new_name()
    once = {"name": name, "command": ["sleep", "30"]}
    assert results_of(apply([once], "-o", "json"))[name][0] == "created"
    wait_for(lambda: server.job(job_named(name)["job_id"])["last_execution"]["status"] == "running",
             "the run")
    late = apply([dict(once, schedule={"delay": "1h"})], "-o", "json")
    told = json.loads(late.stdout)["jobs"][0]
    assert told["result"] == "failed" and "begun" in told["error"], told
    assert call("DELETE", "/jobs/" + job_named(name)["job_id"])[0] == 200


def test_a_dry_run_says_what_would_happen_and_does_nothing():
    a, b, c = new_name(), new_name(), new_name()
    assert apply([daily(a), daily(c)], "--set", "dry").returncode == 0
    done = apply([daily(a, queue="mail"), daily(b)], "--set", "dry", "--dry-run", "--prune")
    assert done.returncode == 0, done
    assert [line.split()[1] for line in done.stdout.splitlines()[1:]] == [
        "change", "create", "cancel"], done.stdout
    assert "queue" in done.stdout.splitlines()[1], done.stdout
    assert done.stderr.startswith("dry run: 1 created, 1 changed, 0 unchanged"), done.stderr
    again = apply([daily(a), daily(c)], "--set", "dry", "-o", "json")
    assert set(r for r, _ in results_of(again).values()) == {"unchanged"}, again.stdout
    wrong = apply([daily(a, queue="!")], "--dry-run")
    assert wrong.returncode == 1 and "failed" in wrong.stdout and "queue" in wrong.stdout, wrong


def test_prune_cancels_what_an_earlier_apply_made_and_nothing_else():
    a, b, other, mine = new_name(), new_name(), new_name(), new_name()
    by_hand = server.submit("--name", mine, "--in", "1h", "--", "true")
    assert apply([daily(other)], "--set", "others").returncode == 0
    assert apply([daily(a), daily(b)], "--set", "ours").returncode == 0
    _, listed = server.api("GET", "/jobs?tag=belfry.apply:ours")
    ids = {job["name"]: job["job_id"] for job in listed["jobs"]}
    assert server.api("POST", f"/jobs/{ids[b]}/pause")[0] == 200
    refused = apply([daily(a)], "--set", "ours", "--prune")
    assert refused.returncode == 2 and "--yes" in refused.stderr, refused
    assert server.job(ids[b])["status"] == "paused"
    done = apply([daily(a)], "--set", "ours", "--prune", "--yes", "-o", "json")
    assert results_of(done) == {a: ("unchanged", []), b: ("cancelled", [])}, done
    assert server.job(ids[b])["status"] == "cancelled"
    assert server.job(ids[a])["status"] == server.job(by_hand)["status"] == "active"
    _, listed = server.api("GET", "/jobs?status=active&tag=belfry.apply:others")
    assert [job["name"] for job in listed["jobs"]] == [other], listed
    everything = apply([], "--set", "ours", "--prune", "--yes")
    assert everything.returncode == 0 and server.job(ids[a])["status"] == "cancelled", everything


def test_apply_goes_on_when_a_job_fails():
    a, b = new_name(), new_name()
    done = apply([daily(a, queue="no!"), daily(b)], "-o", "json")
    assert done.returncode == 1, done
    assert results_of(done)[a][0] == "failed" and results_of(done)[b][0] == "created", done.stdout


def test_files_that_make_no_sense_are_refused_before_anything_happens():
    name = new_name()
    for text, words in (('[{"command": "true"}]', "needs a name"), ("[1]", "must be an object"),
                        (json.dumps([daily(name), daily(name)]), "twice"), ("{", "line"),
                        ('{"jobs": 1}', "array"), ('{"jobs": [], "x": 1}', "nothing else"),
                        (json.dumps([daily(name, tags=[])]), "tags"), ("7", "array"),
                        (json.dumps([daily(name, tags={"belfry.apply": "x"})]), "--set")):
        done = apply(text)
        assert done.returncode == 1 and words in done.stderr, (text, done)
    assert server.api("GET", "/jobs?name=" + urllib.parse.quote(name))[1]["jobs"] == []
    assert server.cli("apply").returncode == 2
    assert server.cli("apply", "-f", "nowhere.json").returncode == 1
    assert apply([], "--set", "").returncode == 2
    gone = apply([daily(name)], "--url", "http://127.0.0.1:1")
    assert gone.returncode == 5, gone


def versions(job_id):
    status, answer, _ = call("GET", f"/jobs/{job_id}/versions")
    assert status == 200, answer
    return answer["versions"]


def rollback(job_id, version, **headers):
    return call("POST", f"/jobs/{job_id}/rollback", {"version": version}, **headers)


def test_versions_are_kept_and_one_can_be_had_again():
    job_id = create(name=new_name(), schedule={"every": "1h"}, priority=7, payload={"n": 1})
    only, = versions(job_id)
    assert (only["version"], only["actor"]) == (1, "key:admin"), only
    assert only["document"]["priority"] == 7 and only["document"]["payload"] == {"n": 1}, only
    status, answer, _ = rollback(job_id, 1)
    assert (status, answer["changed"], answer["version"]) == (200, False, 1), answer
    assert patch(job_id, 1, {"description": "new", "priority": 9})[0] == 200
    assert patch(job_id, 2, {"payload": {"n": 2}, "tags": {"a": "b"}})[0] == 200
    told = versions(job_id)
    assert [v["version"] for v in told] == [3, 2, 1], told
    assert {v["actor"] for v in told} == {"key:admin"}, told
    assert told[0]["document"]["payload"] == {"n": 2}, told
    status, answer, etag = rollback(job_id, 1, If_Match='"3"')
    assert status == 200 and answer["version"] == 4 and etag == '"4"', (answer, etag)
    assert set(answer["changed_fields"]) == {"description", "priority", "payload", "tags"}, answer
    job = call("GET", f"/jobs/{job_id}")[1]
    assert (job["priority"], job["payload"]) == (7, {"n": 1}) and not job.get("tags"), job
    assert not job.get("description"), job
    assert versions(job_id)[0]["document"] == only["document"]
    status, answer, _ = rollback(job_id, 1)
    assert (status, answer["changed"], answer["version"]) == (200, False, 4), answer
    assert rollback(job_id, 2, If_Match='"3"')[0] == 412
    status, answer, _ = rollback(job_id, 17)
    assert status == 404 and "version 17" in answer["detail"], answer
    assert rollback(job_id, 0)[0] == 400
    assert call("POST", f"/jobs/{job_id}/rollback", {})[0] == 400
    assert call("DELETE", f"/jobs/{job_id}")[0] == 200
    assert rollback(job_id, 2)[0] == 409
    assert call("GET", "/jobs/job_0000000000001/versions")[0] == 404


def test_versions_are_listed_page_by_page():
    job_id = create(schedule={"every": "1h"}, priority=1)
    other = create(schedule={"every": "1h"}, priority=1)
    assert call("GET", f"/jobs/{job_id}/versions?limit=1")[1]["next_cursor"] is None
    for version in range(1, 20):
        assert patch(job_id, version, {"priority": version + 1})[0] == 200
    all_of_them = versions(job_id)
    assert [v["version"] for v in all_of_them] == list(range(20, 0, -1))
    for limit in (1, 3, 8, 10, 19, 20):
        found, query = [], f"limit={limit}"
        while query:
            status, page, _ = call("GET", f"/jobs/{job_id}/versions?{query}")
            assert status == 200 and 0 < len(page["versions"]) <= limit, page
            found += page["versions"]
            cursor = page["next_cursor"]
            query = cursor and f"limit={limit}&cursor={cursor}"
        assert found == all_of_them, limit
    cursor = call("GET", f"/jobs/{job_id}/versions?limit=5")[1]["next_cursor"]
    assert cursor and call("GET", f"/jobs/{other}/versions?cursor={cursor}")[0] == 400
    assert call("GET", f"/jobs/{job_id}/versions?cursor=x")[0] == 400
    assert rollback(job_id, 10)[0] == 200 and rollback(job_id, 30)[0] == 404
    shown = server.cli("history", job_id, "--limit", "2")
    assert shown.returncode == 0 and len(shown.stdout.splitlines()) == 3 and "more" in shown.stderr, shown
    assert len(server.cli("history", job_id, "--all").stdout.splitlines()) == 22


def test_a_rollback_to_a_calendar_that_is_gone_is_refused():
    assert call("PUT", "/calendars/old-days", {
        "policy": "skip",
        "windows": [{"from": "2030-01-01T00:00:00Z", "to": "2030-01-02T00:00:00Z"}]})[0] < 300
    job_id = create(schedule={"every": "1h"}, calendars=["old-days"])
    assert patch(job_id, 1, {"calendars": None})[0] == 200
    assert call("DELETE", "/calendars/old-days")[0] == 200
    status, answer, _ = rollback(job_id, 1)
    assert status == 400 and "old-days" in json.dumps(answer), answer
    assert call("GET", f"/jobs/{job_id}")[1]["version"] == 2


def test_versions_on_the_command_line():
    job_id = create(schedule={"every": "1h"}, priority=1)
    assert patch(job_id, 1, {"priority": 2})[0] == 200
    shown = server.cli("history", job_id)
    assert shown.returncode == 0 and len(shown.stdout.splitlines()) == 3, shown
    done = server.cli("rollback", job_id, "1")
    assert done.returncode == 0 and done.stdout == f"{job_id} has version 3\n", done
    assert server.cli("rollback", job_id).returncode == 2
    assert server.cli("rollback", job_id, "99").returncode == 3


if __name__ == "__main__":
    main(tests_of(globals()), server)
