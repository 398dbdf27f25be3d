"""Lists of jobs in other orders than the newest first: by name, by their next run; their cursors."""

import json
import random
import urllib.parse

from belfry import Server, main, tests_of
from cluster import Cluster, Postgres
from protocol import API, call, expect, names, submit

server = Server("--no-worker")  # one for all tests, each of which keeps to a queue of its own
CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz"


def listed(one=None, **params):
    """The ids on all pages."""
    query, found, cursor = urllib.parse.urlencode(params, doseq=True), [], None
    while True:
        page = expect(200, one or server, "GET", f"/jobs?{query}" + (f"&cursor={cursor}" if cursor else ""))
        found += [job["job_id"] for job in page["jobs"]]
        cursor = page["next_cursor"]
        if cursor is None:
            return found


def refusal(path, field):
    answer = call(server, "GET", API + path)
    assert answer.status == 400, (path, answer)
    assert [e["field"] for e in answer.json["errors"]] == [field], (path, answer.json)
    return answer.json["errors"][0]["message"]


def add_named(queue):
    """In the order of their names, which begin with the queue's; those without one as the list has them. A name may
    be used again once its job is over: the second one is."""
    ordered = ["-Zeta", "-alpha", "-alpha", "-alpha-2", "-beta", "-zeta", "-Äpfel", "-日本"]
    made = {1: submit(server, queue=queue, name=queue + ordered[1])[0]}
    expect(200, server, "DELETE", "/jobs/" + made[1])
    for i in random.sample([0, 2, 3, 4, 5, 6, 7], 7):
        made[i] = submit(server, queue=queue, name=queue + ordered[i])[0]
    nameless = [submit(server, queue=queue)[0] for _ in range(3)]
    return [made[i] for i in range(len(ordered))] + nameless[::-1]


def test_by_name_and_those_without_one_come_last():
    queue = next(names)
    expected = add_named(queue)
    for limit in (1, 2, 3, 8, 9, 100):
        assert listed(sort="name", queue=queue, limit=limit) == expected, limit
    assert listed(sort="newest", queue=queue) == listed(queue=queue) == sorted(expected, reverse=True)
    assert listed(sort="name", name=queue + "-alpha*", limit=2) == expected[1:4]
    assert listed(sort="name", name=queue + "-alpha", limit=1) == expected[1:3]
    assert listed(sort="name", queue=queue, name="*eta", limit=1) == [expected[0], expected[4], expected[5]]
    assert listed(sort="name", queue=queue, name="nobody*") == []
    assert listed(sort="name", queue=queue, status="cancelled") == [expected[1]]
    assert listed(sort="name", queue=queue, phase="waiting") == expected[:1] + expected[2:]
    page = expect(200, server, "GET", f"/jobs?sort=name&queue={queue}&count=true&fields=name&limit=2")
    assert page["total"] == len(expected), page
    assert [job["name"] for job in page["jobs"]] == [queue + "-Zeta", queue + "-alpha"], page


def test_by_the_next_run_and_only_those_that_have_one():
    queue = next(names)
    years = random.sample(range(2100, 2120), 8)
    planned = {year: submit(server, queue=queue, name=f"{queue}-{year}", schedule={"at": f"{year}-01-01T00:00:00Z"})[0]
               for year in years}
    recurring = submit(server, queue=queue, name=queue + "-cron", schedule={"cron": "0 0 1 1 *"})[0]
    submit(server, queue=queue)  # waits for a worker, and has nothing ahead
    paused = submit(server, queue=queue, schedule={"at": "2050-01-01T00:00:00Z"})[0]
    expect(200, server, "POST", f"/jobs/{paused}/pause")
    expected = [recurring] + [planned[year] for year in sorted(years)]
    for limit in (1, 3, 9, 100):
        assert listed(sort="next_run_at", queue=queue, limit=limit) == expected, limit
    jobs = expect(200, server, "GET", f"/jobs?sort=next_run_at&queue={queue}")["jobs"]
    moments = [job["next_run_at"] for job in jobs]
    assert None not in moments and moments == sorted(moments), moments
    assert listed(sort="next_run_at", queue=queue, name=queue + "-2*", status="active") == expected[1:]
    assert listed(sort="next_run_at", queue=queue, phase="scheduled") == expected
    expect(200, server, "POST", f"/jobs/{paused}/resume")
    assert listed(sort="next_run_at", queue=queue)[:2] == [recurring, paused]


def test_what_cannot_be_combined_is_refused():
    assert "newest, name and next_run_at" in refusal("/jobs?sort=owner", "sort")
    for rest in ("status=failed", "status=completed&status=paused", "phase=paused", "phase=active",
                 "finished_after=2020-01-01T00:00:00Z"):
        assert "run ahead" in refusal("/jobs?sort=next_run_at&" + rest, "sort")
    assert "sort=next_run_at" in refusal("/jobs?sort=next_run_at&count=true", "count")
    assert "sort" in str(call(server, "GET", API + "/jobs?sort=name&sort=name").json)
    for path in ("/executions?sort=name", "/queues?sort=name", "/alerts?sort=name"):
        assert call(server, "GET", API + path).status == 400, path


def test_a_cursor_belongs_to_its_order_and_is_not_made_by_hand():
    queue = next(names)
    for i in range(3):
        submit(server, queue=queue, name=f"{queue}-job-{i}", schedule={"at": f"21{i:02}-01-01T00:00:00Z"})
    submit(server, queue=queue, name=queue)
    lists = [f"/jobs?queue={queue}&", f"/jobs?queue={queue}&sort=name&", f"/jobs?queue={queue}&sort=next_run_at&",
             f"/jobs?queue={queue}&sort=name&name={queue}*&", "/jobs?sort=name&"]
    cursors = [expect(200, server, "GET", path + "limit=1")["next_cursor"] for path in lists]
    for mine, cursor in zip(lists, cursors):
        for path in lists:
            status = call(server, "GET", f"{API}{path}cursor={cursor}").status
            assert status == (200 if path == mine else 400), (mine, path)
    for path, cursor in list(zip(lists, cursors))[1:4]:
        forged = {cursor[:i] for i in range(len(cursor))} | {cursor + "0", cursor + "61", cursor * 40, cursor.upper()}
        for i in range(len(cursor)):
            digits = set("0123456789abcdef" if i >= 26 and "sort=name" in path else CROCKFORD) - {cursor[i]}
            forged.add(cursor[:i] + random.choice(sorted(digits)) + cursor[i + 1:])
        forged |= {cursor[:26] + key for key in ("00", "c3", "c328", "ff", "zz", "6", "%00", "é", "7" * 500)}
        for text in forged - {cursor, cursor.lower()} | {cursor.upper()}:
            answer = call(server, "GET", f"{API}{path}cursor={urllib.parse.quote(text)}")
            assert answer.status == 400 and "without cursor" in answer.json["detail"] or text == "", (path, text, answer)


def test_a_page_goes_on_while_jobs_come_and_go():
    queue = next(names)
    jobs = [submit(server, queue=queue, name=f"{queue}-{i:02}")[0] for i in range(9)]
    page = expect(200, server, "GET", f"/jobs?sort=name&queue={queue}&limit=3")
    expect(200, server, "DELETE", "/jobs/" + jobs[2])  # where the cursor stands
    submit(server, queue=queue, name=queue)  # before the cursor
    late = submit(server, queue=queue, name=queue + "-99")[0]
    rest = expect(200, server, "GET", f"/jobs?sort=name&queue={queue}&cursor={page['next_cursor']}&limit=99")
    assert [job["job_id"] for job in rest["jobs"]] == jobs[3:] + [late]


def test_the_command_has_the_orders():
    queue = next(names)
    expected = add_named(queue)
    given = server.cli("jobs", "--queue", queue, "--sort", "name", "--all", "-o", "json")
    assert [job["job_id"] for job in json.loads(given.stdout)["jobs"]] == expected, given
    wrong = server.cli("jobs", "--sort", "size")
    assert wrong.returncode != 0 and "newest, name and next_run_at" in wrong.stderr, wrong


def test_three_servers_give_the_same_order():
    with Postgres() as postgres, Cluster(postgres, 3, "--no-worker") as nodes:
        by_name = [submit(nodes[i % 3], queue="q", name=f"job-{i}", schedule={"at": f"21{30 - i}-01-01T00:00:00Z"})[0]
                   for i in range(9)]
        nameless = submit(nodes[0], queue="q", schedule={"at": "2101-01-01T00:00:00Z"})[0]
        for node in nodes:
            assert listed(node, sort="name", queue="q", limit=2) == by_name + [nameless]
            assert listed(node, sort="next_run_at", queue="q", limit=2) == [nameless] + by_name[::-1]
            assert listed(node, sort="name", name="job-*", limit=4) == by_name


if __name__ == "__main__":
    main(tests_of(globals()), shared=server)
