"""Many servers on one PostgreSQL: whoever is asked, the answer is the same; whoever dies, it goes on."""

import datetime
import glob
import http.client
import json
import pathlib
import tempfile
import threading
import time
import urllib.request

from belfry import PATIENCE_S, SANITIZED, Stopwatch, main, tests_of, wait_for, wait_within
from cluster import LEASE_S, Cluster, Node, Postgres, Shared
from protocol import call

POSTGRES = Postgres()
PAIR = Shared(POSTGRES, lambda: Cluster(POSTGRES, 2))


def jobs_of_both(servers, **spec):
    """One job that each of them owns: asked for at each, since ids are made where they are asked for."""
    found = []
    for server in servers:
        status, job = server.api("POST", "/jobs", {"command": ["true"], **spec})
        assert status == 201, job
        assert server.owner_of(job["job_id"]) == server.name
        found.append(job["job_id"])
    return found


def patch(server, job_id, version, change):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)
    connection.request("PATCH", f"/api/v1/jobs/{job_id}", json.dumps(change), {
        "Authorization": "Bearer " + server.key(), "If-Match": f'"{version}"'})
    with connection.getresponse() as answer:
        return answer.status, json.loads(answer.read())


def event_stream(server, last_id=None):
    """An open GET /events."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)
    headers = {"Authorization": "Bearer " + server.key(), "Accept": "text/event-stream"}
    if last_id:
        headers["Last-Event-ID"] = last_id
    connection.request("GET", "/api/v1/events", headers=headers)
    answer = connection.getresponse()
    assert answer.status == 200
    return answer


def read_events(stream, enough):
    """(last id, events) until enough(events)."""
    events, last_id, kind = [], None, None
    while not enough(events):
        line = stream.readline().decode().rstrip("\n")
        if line.startswith("id: "):
            last_id = line[4:]
        elif line.startswith("event: "):
            kind = line[7:]
        elif line.startswith("data: "):
            events.append((kind, json.loads(line[6:])))
    return last_id, events


def test_servers_share_the_partitions_and_hand_them_over_when_one_leaves():
    with Cluster(POSTGRES, 3, "--no-worker") as (a, b, c):
        assert sorted(a.shares().values()) == [5, 5, 6]
        wait_for(lambda: a.shares() == b.shares() == c.shares(), "one view")
        with Stopwatch() as watch:
            assert c.stop() == 0
            wait_for(lambda: sorted(a.shares().values()) == [8, 8], "two shares")
        assert watch.elapsed_s < 3, watch.elapsed_s
        log = c.log_path.read_text()
        assert "this server gave partitions to other servers" in log and "ended in order" in log, log
        shown = a.cli("nodes")
        assert shown.returncode == 0 and "active" in shown.stdout, shown
        assert len(a.cli("nodes", "--partitions").stdout.splitlines()) == 17


def test_a_partition_that_is_handed_over_is_decided_about_again_within_a_second():
    with Cluster(POSTGRES, 2, "--no-worker") as (a, b):
        ours = jobs_of_both([a, b], schedule={"delay": "1h"})[0]
        stop = threading.Event()
        answers, waits_s = [], []

        def keep_asking():
            with Stopwatch() as watch:
                while not stop.is_set():
                    begin_s = watch.elapsed_s
                    for verb in ("pause", "resume"):
                        answers.append(b.api("POST", f"/jobs/{ours}/{verb}"))
                    waits_s.append((watch.elapsed_s - begin_s) / 2)
        asker = threading.Thread(target=keep_asking)
        asker.start()
        a.stop()
        wait_for(lambda: b.shares() == {"b": 16}, "all partitions")
        stop.set()
        asker.join()
        assert all(status == 200 for status, _ in answers), answers
        print(f"longest wait {max(waits_s) * 1000:.0f} ms")
        assert max(waits_s) < 1.5, waits_s


def test_any_server_answers_every_kind_of_call_about_any_job():
    a, b = PAIR.made
    for ours, other in ((a, b), (b, a)):
        yearly = {"cron": "0 3 1 1 *"}
        job = jobs_of_both([ours], schedule=yearly, name=f"of-{ours.name}")[0]
        assert other.api("GET", f"/jobs/{job}")[1]["name"] == f"of-{ours.name}"
        status, answer = other.api("GET", f"/jobs/{job}/explain")
        assert status == 200, answer
        assert other.api("POST", f"/jobs/{job}/pause")[1]["status"] == "paused"
        assert ours.api("GET", f"/jobs/{job}")[1]["status"] == "paused"
        assert other.api("POST", f"/jobs/{job}/resume")[1]["status"] == "active"
        status, answer = patch(other, job, 1, {"priority": 7})
        assert (status, answer.get("version")) == (200, 2), answer
        status, answer = other.api("PUT", f"/jobs/by-name/of-{ours.name}", {
            "command": ["true"], "schedule": yearly, "priority": 8})
        assert (status, answer["job_id"]) == (200, job), answer
        status, answer = other.api("POST", f"/jobs/{job}/trigger")
        assert status in (200, 201), answer
        other.wait_for_status(job, "completed", "scheduled")
        status, answer = other.api("DELETE", f"/jobs/{job}")
        assert (status, answer["status"]) == (200, "cancelled"), answer
        assert ours.job(job)["status"] == "cancelled"
        assert other.api("DELETE", "/jobs/job_nonsense")[0] == 404


def test_what_failed_for_good_is_retried_and_cancelled_through_any_server():
    a, b = PAIR.made
    job = jobs_of_both([a], command="exit 3", retry={"max_retries": 0})[0]
    failed = a.wait_for_status(job, "failed")["execution_id"]
    status, answer = b.api("POST", f"/dead-letters/{failed}/retry")
    assert status in (200, 201), answer
    job = jobs_of_both([a], command=["sleep", "60"])[0]
    execution = a.wait_for_status(job, "running")["execution_id"]
    status, answer = b.api("POST", f"/executions/{execution}/cancel")
    assert status == 200, answer
    a.wait_for_status(job, "cancelled")


def test_all_dead_letters_of_all_servers_are_retried_once_by_one_call():
    with Cluster(POSTGRES, 2) as (a, b):
        jobs = jobs_of_both([a, b, a, b], command="exit 3", retry={"max_retries": 0})
        for job in jobs:
            a.wait_for_status(job, "failed")
        wait_for(lambda: len(b.api("GET", "/dead-letters")[1]["dead_letters"]) == 4, "letters")
        for server in (a, b):
            page = server.api("GET", "/dead-letters?count=true&limit=1")[1]
            assert (page["total"], page["total_is_estimate"]) == (4, False), page
        status, answer = b.api("POST", "/dead-letters/retry", {"all": True})
        assert status == 202, answer

        def done():
            operations = a.api("GET", "/operations")[1]["operations"]
            return operations if all(o["status"] == "done" for o in operations) else None
        operations = wait_for(done, "the operations to end")
        assert sum(o["done"] for o in operations) == 4, operations
        assert sum(o["total"] for o in operations) == answer["total"] == 4, operations
        for job in jobs:
            a.wait_for_status(job, "failed")
            executions = a.api("GET", f"/jobs/{job}/executions")[1]["executions"]
            assert len(executions) == 2, executions


def test_output_is_followed_through_any_server():
    a, b = PAIR.made
    job = jobs_of_both([a], command="echo one; sleep 1; echo two")[0]
    execution = a.wait_for_status(job, "running", "completed")["execution_id"]
    done = b.cli("logs", execution, "-f")
    assert (done.returncode, done.stdout) == (0, "one\ntwo\n"), done


def test_a_name_and_a_key_are_one_in_the_whole_cluster():
    a, b = PAIR.made
    later = {"command": ["true"], "schedule": {"delay": "1h"}}
    first = a.api("POST", "/jobs", {**later, "idempotency_key": "k"})[1]["job_id"]
    for server in (b, a):
        status, answer = server.api("POST", "/jobs", {**later, "idempotency_key": "k"})
        assert answer.get("job_id") == first, answer
    assert a.api("POST", "/jobs", {**later, "name": "n"})[0] == 201
    assert b.api("POST", "/jobs", {**later, "name": "n"})[0] == 409
    unique = {**later, "unique": {"key": "u", "on_conflict": "return"}}
    first = a.api("POST", "/jobs", unique)[1]["job_id"]
    assert b.api("POST", "/jobs", unique)[1]["job_id"] == first
    status, answer = b.api("POST", "/jobs", {
        **unique, "unique": {"key": "u", "on_conflict": "replace"}})
    assert status == 201 and answer["job_id"] != first, answer
    assert a.job(first)["status"] == "cancelled"
    assert a.owner_of(answer["job_id"]) == "a"  # who had to cancel has made it
    status, answer = b.api("POST", "/jobs", {
        **unique, "unique": {"key": "u", "on_conflict": "reject"}})
    assert status == 409, answer


def test_lists_and_numbers_are_those_of_all_servers():
    with Cluster(POSTGRES, 2) as (a, b):
        jobs_of_both([a, b, a, b], schedule={"delay": "1h"}, queue="long")
        for server in (a, b):
            queue = server.api("GET", "/queues/long")[1]
            assert queue["scheduled"] == 4, queue
            queues = server.api("GET", "/queues")[1]["queues"]
            assert [q["scheduled"] for q in queues if q["name"] == "long"] == [4], queues
            assert server.api("GET", "/stats")[1]["executions"]["scheduled"] == 4
            wait_for(lambda s=server: len(s.api("GET", "/workers")[1]["workers"]) == 2,
                     "both workers, once each")
        b.pause()
        try:
            answer = a.api("GET", "/stats")[1]
            assert answer["missing"] == ["b"], answer
        finally:
            b.go_on()


def test_settings_that_one_server_changes_count_everywhere_within_a_second():
    a, b = PAIR.made
    with Stopwatch() as watch:
        assert a.api("POST", "/queues/slow/pause")[0] == 200
        wait_within(2, lambda: b.api("GET", "/queues/slow")[1]["paused"], "the pause at b")
        watch.wait_until(1.2)  # as long as a change may take
    held = jobs_of_both([b], queue="slow")[0]
    time.sleep(0.5)
    assert b.newest_execution(held)["status"] == "queued"
    assert a.api("POST", "/queues/slow/resume")[0] == 200
    wait_within(3, lambda: b.newest_execution(held)["status"] == "completed", "the held run")


def test_settings_may_be_changed_at_any_server_and_keep_what_others_changed():
    for pauser, limiter in (PAIR.made, PAIR.made[::-1]):
        name = f"of-{pauser.port}"
        assert pauser.api("POST", f"/queues/{name}/pause")[0] == 200
        status, queue = limiter.api("PUT", f"/queues/{name}", {"concurrency": 3})
        assert status == 200, queue
        assert queue["paused"] and queue["concurrency"] == 3, queue
        assert pauser.api("PUT", f"/teams/{name}", {"concurrency": 2})[0] == 200


def test_who_pauses_a_queue_is_told_what_waits_at_all_servers():
    jobs_of_both(PAIR.made, queue="long", command=None, handler="nobody")
    for server in PAIR.made:
        for verb, paused in (("pause", True), ("resume", False)):
            status, queue = server.api("POST", f"/queues/long/{verb}")
            assert status == 200 and queue["paused"] == paused, queue
            assert queue["queued"] == 2 and "missing" not in queue, queue
        assert server.api("PUT", "/queues/long", {"concurrency": 1})[1]["queued"] == 2


def test_what_a_client_has_is_held_against_what_all_servers_say_together():
    def get(server, known=None):
        """(status, tag, body)"""
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)
        headers = {"Authorization": "Bearer " + server.key()} | ({"If-None-Match": known} if known else {})
        connection.request("GET", "/api/v1/queues/idle", headers=headers)
        answer = connection.getresponse()
        found = answer.status, answer.getheader("ETag"), answer.read()
        connection.close()
        return found
    one, other = PAIR.made
    assert one.api("PUT", "/queues/idle", {"concurrency": 3})[0] == 200
    wait_within(5, lambda: get(one) == get(other) and b"missing" not in get(one)[2], "both to know it")
    for server in PAIR.made:  # each of them has nothing in it, so what it says is what all say
        whole = get(server)
        for known in (whole[1], "*"):
            assert get(server, known) == (304, whole[1], b""), whole
        assert get(server, '"x"') == whole


def test_a_queue_that_one_server_deletes_is_gone_everywhere():
    for one, other in (PAIR.made, PAIR.made[::-1]):
        assert one.api("POST", "/queues/passing/pause")[0] == 200
        jobs = jobs_of_both(PAIR.made, queue="passing", command=None, handler="nobody")
        for server in PAIR.made:
            status, problem = server.api("DELETE", "/queues/passing")
            assert status == 409 and "unfinished executions: 2" in problem["detail"], problem
        for job in jobs:
            assert one.api("DELETE", f"/jobs/{job}")[0] == 200
        assert other.api("DELETE", "/queues/passing")[0] == 200
        for server in PAIR.made:
            wait_within(5, lambda s=server: s.api("GET", "/queues/passing")[0] == 404, "it to be gone")
        assert one.api("DELETE", "/queues/passing")[0] == 404
        job, = jobs_of_both([one], queue="passing")
        wait_within(5, lambda: one.newest_execution(job)["status"] == "completed", "a run in it")
        assert other.api("DELETE", "/queues/passing")[0] == 200


def test_a_calendar_that_one_server_deletes_is_gone_everywhere():
    for one, other in (PAIR.made, PAIR.made[::-1]):
        job = {"command": ["true"], "calendars": ["holidays"], "schedule": {"every": "1h"},
               "queue": "holidays"}
        assert one.api("PUT", "/calendars/holidays", {})[0] == 201
        wait_within(3, lambda: other.api("POST", "/jobs", job)[0] == 201, "the calendar elsewhere")
        for made in one.api("GET", "/jobs?status=active&queue=holidays")[1]["jobs"]:
            assert one.api("DELETE", "/jobs/" + made["job_id"])[0] < 300
        wait_within(3, lambda: one.api("DELETE", "/calendars/holidays")[0] == 200, "it to go")
        wait_within(3, lambda: other.api("POST", "/jobs", job)[0] == 400, "the same elsewhere")


def test_events_of_all_servers_come_from_any_and_are_resumed_at_any():
    a, b = PAIR.made
    stream = event_stream(a)
    with Stopwatch() as watch:
        watch.wait_until(0.5)  # a asks b for its events meanwhile
    jobs = jobs_of_both([a, b])

    def ended(events, jobs):
        seen = {e.get("job_id") for kind, e in events
                if kind == "execution" and e.get("status") == "completed"}
        return seen >= set(jobs)
    last_id, _ = read_events(stream, lambda events: ended(events, jobs))
    stream.close()
    more = jobs_of_both([a, b])
    for job in more:
        a.wait_for_status(job, "completed")
    _, events = read_events(event_stream(b, last_id), lambda events: ended(events, more))
    assert not any(kind == "reset" for kind, _ in events), events
    assert not {e.get("job_id") for _, e in events} & set(jobs), "seen twice"


def test_what_a_killed_server_owned_is_decided_about_elsewhere_within_eight_seconds():
    with Cluster(POSTGRES, 2) as (a, b):
        due = jobs_of_both([a], schedule={"delay": "3s"})[0]
        a.kill()
        with Stopwatch() as watch:
            b.wait_for_status(due, "running", "completed")
        print(f"decided again after {watch.elapsed_s:.1f} s")
        assert watch.elapsed_s < LEASE_S + 3, watch.elapsed_s
        status, answer = b.api("POST", f"/jobs/{due}/trigger")
        assert status in (200, 201, 409), answer
        assert b.shares() == {"b": 16}
        a.start()
        wait_for(lambda: sorted(b.shares().values()) == [8, 8], "equal shares again")


def test_a_command_lives_on_when_its_server_is_killed():
    with tempfile.TemporaryDirectory() as where, Cluster(POSTGRES, 2) as (a, b):
        witness, gate = pathlib.Path(where) / "lines", pathlib.Path(where) / "gate"
        job = jobs_of_both([a], command=f"echo began >> {witness}; until [ -e {gate} ]; do sleep 0.05; done; "
                                        f"echo ended >> {witness}", retry={"max_retries": 0})[0]
        a.wait_for_status(job, "running")
        a.kill()
        wait_for(lambda: b.shares() == {"b": 16}, "b to take over")
        gate.touch()
        execution = b.wait_for_status(job, "completed", "failed")
        assert execution["status"] == "completed", execution
        assert len(execution["attempts"]) == 1, execution
        assert witness.read_text() == "began\nended\n"
        a.start()


def test_a_server_that_was_paused_for_two_leases_commits_nothing_late():
    with Cluster(POSTGRES, 2) as (a, b):
        job = jobs_of_both([a], schedule={"delay": "1h"})[0]
        answers = []
        a.pause()
        asked = threading.Thread(target=lambda: answers.append(
            patch(a, job, 1, {"priority": 1})))
        asked.start()  # it lies in the socket until the server goes on
        wait_for(lambda: b.shares() == {"b": 16}, "b to take over")
        time.sleep(LEASE_S)
        assert patch(b, job, 1, {"priority": 2})[0] == 200
        a.go_on()
        asked.join()
        status, answer = answers[0]
        assert status in (412, 503), answer  # from the same version: b was faster
        assert b.job(job)["priority"] == 2
        assert "has taken a partition from this one" in a.log_path.read_text()
        wait_for(lambda: sorted(b.shares().values()) == [8, 8], "equal shares again")


def test_a_server_whose_clock_is_off_by_a_day_behaves_like_the_others():
    if SANITIZED:
        return  # its runtime insists on being loaded first, and so does libfaketime
    library = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
    assert library, "libfaketime is missing: scripts/deps test installs it"
    with Cluster(POSTGRES, 1) as (a,):
        tomorrow = {"LD_PRELOAD": library[0], "FAKETIME": "+1d",
                    "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
        late = Node("late", a.flags[1], env=tomorrow)
        late.copy_key(a)
        with late:
            wait_for(lambda: late.shares() == {"a": 8, "late": 8}, "equal shares")
            skew_ms = a.nodes()["late"]["skew_ms"]
            assert abs(skew_ms - 86400000) < 5000, skew_ms
            assert "this machine's clock differs" in late.log_path.read_text()
            begin = time.time()
            job = jobs_of_both([late], schedule={"delay": "2s"})[0]
            execution = a.wait_for_status(job, "completed")
            assert 1.5 < time.time() - begin < 10
            made = datetime.datetime.fromisoformat(a.job(job)["created_at"].replace("Z", "+00:00"))
            assert abs(made.timestamp() - begin) < 5, made
            assert execution["started_at"] < execution["finished_at"], execution


def test_a_database_whose_clock_was_set_is_told_of():
    with Cluster(POSTGRES, 2, "--set", "clock_step_ms=3s") as (a, b):
        assert a.api("GET", "/cluster")[1]["clock"]["jumps"] == 0
        later = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint + 60000"
        POSTGRES.sql("CREATE OR REPLACE FUNCTION belfry.now_ms() RETURNS bigint LANGUAGE sql AS "
                     f"'SELECT {later}'", f"belfry{POSTGRES.made}")
        for node in (a, b):  # the owner of the first partition accepts it, and the other follows
            wait_for(lambda: node.api("GET", "/cluster")[1]["clock"]["jumps"] == 1, "the jump")
        clock = a.api("GET", "/cluster")[1]["clock"]
        assert abs(clock["last_jump_ms"] - 60000) < 1000 and clock["last_jump_at"], clock


def test_a_second_server_of_one_name_refuses_to_start():
    with Cluster(POSTGRES, 1, "--no-worker") as (a,):
        twin = Node("a", a.flags[1])
        try:
            twin.start()
            raise AssertionError("it started")
        except AssertionError as refusal:
            assert "another server of this cluster is called 'a'" in str(refusal), refusal
            assert "--node" in str(refusal)
        assert a.shares() == {"a": 16}


def test_a_server_that_owns_nothing_says_why():
    store = POSTGRES.database()
    with Node("a", store, "--set", "partitions=1") as a:
        b = Node("b", store)
        b.copy_key(a)
        with b:
            with urllib.request.urlopen(b.url + "/readyz", timeout=5) as answer:
                ready = json.load(answer)
            assert ready["partitions"] == 0, ready
            assert "more servers than partitions" in ready["detail"], ready
            assert b.api("POST", "/jobs", {"command": ["true"]})[0] == 201, "it forwards"


def test_a_new_data_directory_is_told_where_its_key_is():
    store = POSTGRES.database()
    with Node("a", store) as a:
        with Node("b", store) as b:
            assert "no admin key here" in b.log_path.read_text(), b.log_path.read_text()
        assert "no admin key here" not in a.log_path.read_text()


def test_a_store_that_is_away_is_told_and_waited_for():
    with Cluster(POSTGRES, 2) as servers:
        def epochs():
            return [p["epoch"] for p in servers[0].api("GET", "/cluster")[1]["partitions"]]
        jobs = jobs_of_both(servers, schedule={"delay": "6s"})
        before = epochs()
        POSTGRES.stop("immediate")
        try:
            for server in servers:
                wait_for(lambda s=server: not s.is_ready(), "readyz to say no")
                assert server.api("POST", "/jobs", {"command": ["true"]})[0] == 503
                refused = call(server, "GET", "/api/v1/queues")  # all are asked, and no answer is good
                assert refused.status == 503 and int(refused.headers["Retry-After"]) > 0, refused
            time.sleep(LEASE_S + 1)  # until what they knew of each other is old
        finally:
            POSTGRES.start()
        for server in servers:
            wait_for(server.is_ready, "readyz to say yes")
        for job in jobs:
            servers[0].wait_for_status(job, "completed")
        wait_for(lambda: sorted(servers[0].shares().values()) == [8, 8], "both to be seen")
        assert epochs() == before  # who came back first left the other its own


if __name__ == "__main__":
    main(tests_of(globals()), PAIR)
