"""Teams: whose jobs they are, and how many of them run at once. And jobs that take longer than the
time between their slots."""

import time

from belfry import Server, main, tests_of
from protocol import API, Worker, call, expect, names, submit

server = Server("--no-worker")


def team(name):
    return expect(200, server, "GET", "/teams/" + name)


def limit(name, concurrency):
    return expect(200, server, "PUT", "/teams/" + name, {"concurrency": concurrency})


def test_a_limit_holds_in_all_queues_and_says_who_holds_it():
    name, handler = next(names), next(names)
    limit(name, 2)
    jobs = [submit(server, handler=handler, team=name, queue=f"q{i}-{handler}")[0] for i in range(3)]
    other, _ = submit(server, handler=handler, team=next(names))
    worker = Worker(server, slots=8, handlers=[handler])
    leases = worker.poll(free=8)["leases"]
    held = {lease["job_id"] for lease in leases}
    assert held == {jobs[0], jobs[1], other}, leases
    assert team(name)["running"] == 2 and team(name)["concurrency"] == 2
    answer = expect(200, server, "GET", f"/jobs/{jobs[2]}/explain")
    blocker = answer["blockers"][0]
    assert blocker["kind"] == "team_limit" and blocker["team"] == name, answer
    assert (blocker["used"], blocker["limit"]) == (2, 2)
    assert len(blocker["executions"]) == 2 and name in blocker["text"]
    text = server.cli("explain", jobs[2]).stdout
    assert "team_limit" in text, text
    limit(name, None)
    assert len(worker.poll(free=5, running=leases)["leases"]) == 1
    assert team(name)["concurrency"] is None and team(name)["changed_by"] == "key:admin"


def test_a_limit_outlives_a_restart():
    name = next(names)
    before = limit(name, 3)
    server.stop()
    server.start()
    assert team(name) == before


def test_jobs_are_found_by_their_team():
    name = next(names)
    job, _ = submit(server, team=name)
    submit(server)
    found = expect(200, server, "GET", f"/jobs?team={name}&count=true")
    assert [j["job_id"] for j in found["jobs"]] == [job] and found["jobs"][0]["team"] == name
    assert found["total_is_estimate"] is True
    assert expect(200, server, "GET", "/jobs/" + job)["team"] == name


def test_teams_are_listed_by_name_page_by_page():
    mine = sorted(next(names) for _ in range(3))
    for name in mine:
        limit(name, 1)
    seen, cursor = [], ""
    while cursor is not None:
        page = expect(200, server, "GET", "/teams?limit=2" + (f"&cursor={cursor}" if cursor else ""))
        seen += [t["name"] for t in page["teams"]]
        cursor = page["next_cursor"]
    assert seen == sorted(seen) and set(mine) <= set(seen), seen
    whole = expect(200, server, "GET", "/teams?count=true")
    assert whole["total"] == len(whole["teams"]) == len(seen)


def test_bad_teams_are_refused():
    for body, field in (({}, "concurrency"), ({"concurrency": 0}, "concurrency"),
                        ({"concurrency": 1, "pause": True}, "pause")):
        answer = call(server, "PUT", API + "/teams/a", body)
        assert answer.status == 400 and answer.json["errors"][0]["field"] == field, answer
    for bad in ("two words", "", 7, "x" * 201):
        answer = call(server, "POST", API + "/jobs", {"command": "true", "team": bad})
        assert answer.status == 400 and answer.json["errors"][0]["field"] == "team", answer
    assert call(server, "GET", API + "/teams/nobody-" + next(names)).status == 404
    assert call(server, "GET", API + "/teams/%zz").status == 400
    assert call(server, "GET", API + "/teams?cursor=%20").status == 400


def test_the_command_line_lists_and_limits_teams():
    name = next(names)
    assert server.cli("teams", "limit", name, "4").stdout.strip() == f"{name} at most 4 at once"
    assert name in server.cli("teams", "--all").stdout
    assert server.cli("teams", "limit", name, "none").stdout.strip() == f"{name} no limit"
    job = server.cli("submit", "--team", name, "--", "true").stdout.strip()
    assert job in server.cli("jobs", "--team", name).stdout
    assert name in server.cli("show", job).stdout
    assert server.cli("teams", "limit", name, "many").returncode == 2
    assert server.cli("teams", "pause", name).returncode == 2


def test_a_job_that_is_slower_than_it_recurs_is_flagged():
    handler = next(names)
    job, _ = submit(server, handler=handler, schedule={"every": "1s"}, overlap="parallel")
    assert expect(200, server, "GET", "/jobs/" + job)["warnings"] == []
    worker = Worker(server, slots=20, handlers=[handler])
    leases = []
    while len(leases) < 3:
        leases += worker.poll(free=20, running=leases, wait_ms=5000)["leases"]
    time.sleep(1.3)  # that is what the runs take
    worker.poll(results=[(lease, "succeeded") for lease in leases])
    expect(200, server, "DELETE", "/jobs/" + job)
    warning, = expect(200, server, "GET", "/jobs/" + job)["warnings"]
    assert warning["code"] == "slower_than_interval" and warning["interval_ms"] == 1000
    assert warning["p95_ms"] > 1000 and warning["runs"] >= 3, warning
    assert expect(200, server, "GET", f"/jobs/{job}/explain")["warnings"] == [warning]
    assert warning["text"] in server.cli("show", job).stdout
    assert "warning: " in server.cli("explain", job).stdout


if __name__ == "__main__":
    main(tests_of(globals()), server)
