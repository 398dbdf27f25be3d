"""Jobs from somebody's own SQL transaction, and what servers tell each other: waits and permits."""

import json
import pathlib
import shutil
import subprocess
import tempfile

import psycopg2

from belfry import main, tests_of, wait_for
from cluster import Cluster, Postgres, Shared
from protocol import call

POSTGRES = Postgres()
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "sql"


class Shop:
    """Two servers, and roles that may submit for a team each."""

    def __init__(self, count=2, *flags):
        self.cluster = Cluster(POSTGRES, count, *flags)
        self.database = self.cluster.store.rsplit("/", 1)[1]
        self.connections = []

    def __enter__(self):
        self.servers = self.cluster.__enter__()
        for role, team in (("alice", "red"), ("bob", "blue")):
            POSTGRES.sql(f"DO $$ BEGIN CREATE ROLE {role} LOGIN; "
                         "EXCEPTION WHEN duplicate_object THEN NULL; END $$")
            POSTGRES.sql(f"SELECT belfry.admit_submitter('{role}', '{team}')", self.database)
        return self

    def __exit__(self, *error):
        for connection in self.connections:
            connection.close()
        return self.cluster.__exit__(*error)

    def url(self, role):
        return f"postgres://{role}@127.0.0.1:{POSTGRES.port}/{self.database}"

    def connect(self, role):
        self.connections.append(psycopg2.connect(self.url(role)))
        return self.connections[-1]

    def named(self, name):
        status, answer = self.servers[0].api("GET", f"/jobs?name={name}")
        assert status == 200, answer
        return answer["jobs"]

    def wait_for_job(self, name, status="completed"):
        def found():
            jobs = self.named(name)
            assert len(jobs) <= 1, jobs
            return jobs and jobs[0]["status"] == status and jobs[0]
        return wait_for(found, f"job {name} {status}")

    def rejected(self, server=None):
        status, answer = (server or self.servers[0]).api("GET", "/submissions/rejected")
        assert status == 200, answer
        return answer["rejected"]


SHOP = Shared(POSTGRES, Shop)


def submit(connection, **job):
    with connection.cursor() as cursor:
        cursor.execute("SELECT belfry.submit(%s)", (json.dumps(job),))
        return cursor.fetchone()[0]


def test_a_job_exists_if_and_only_if_its_transaction_commits():
    with Shop() as shop:
        alice, other = shop.connect("alice"), shop.connect("alice")
        submit(alice, name="waits-for-commit", command=["true"])
        submit(other, name="rolled-back", command=["true"])
        other.rollback()
        # Numbered later and committed earlier: the first one is a gap until it comes.
        for i in range(5):
            submit(other, name=f"later-{i}", command=["true"])
        other.commit()
        for i in range(5):
            shop.wait_for_job(f"later-{i}")
        assert not shop.named("waits-for-commit")
        alice.commit()
        job = shop.wait_for_job("waits-for-commit")
        assert job["team"] == "red" and job["owner"] == "sql:alice", job
        assert not shop.named("rolled-back")
        assert not shop.rejected()
        assert POSTGRES.sql("SELECT count(*) FROM belfry.inbox", shop.database) == "0"


def test_what_is_wrong_is_shown_by_every_server_and_does_not_come_again():
    with Shop() as shop:
        alice = shop.connect("alice")
        ticket = submit(alice, name="wrong", command=["true"], pryority=3)
        submit(alice, name="other-team", command=["true"], team="blue")
        submit(alice, name="right", command=["true"])
        alice.commit()
        shop.wait_for_job("right")
        wait_for(lambda: len(shop.rejected()) == 2, "two that were rejected")
        for server in shop.servers:
            wrong = [r for r in shop.rejected(server) if r["submission"] == ticket]
            assert len(wrong) == 1 and "pryority" in wrong[0]["reason"], wrong
            assert wrong[0]["team"] == "red" and wrong[0]["actor"] == "sql:alice"
            assert "wrong" in wrong[0]["head"]
        shown = shop.servers[0].cli("rejected")
        assert shown.returncode == 0 and "pryority" in shown.stdout, shown
        assert not shop.named("wrong") and not shop.named("other-team")


def test_a_role_cancels_jobs_of_its_own_team_and_no_others():
    with Shop() as shop:
        alice, bob = shop.connect("alice"), shop.connect("bob")
        submit(alice, name="alices", command=["true"], schedule={"delay": "1h"})
        alice.commit()
        job = shop.wait_for_job("alices", "active")
        with bob, bob.cursor() as cursor:
            cursor.execute("SELECT belfry.cancel(%s, 'mine?')", (job["job_id"],))
        wait_for(lambda: len(shop.rejected()) == 1, "a refusal")
        assert shop.named("alices")[0]["status"] == "active"
        with alice, alice.cursor() as cursor:
            cursor.execute("SELECT belfry.cancel(%s, 'not needed')", (job["job_id"],))
        shop.wait_for_job("alices", "cancelled")


def test_nobody_else_gets_in():
    shop = SHOP.made
    POSTGRES.sql("DO $$ BEGIN CREATE ROLE eve LOGIN; "
                 "EXCEPTION WHEN duplicate_object THEN NULL; END $$")
    eve, alice = shop.connect("eve"), shop.connect("alice")
    for connection, statement in (
            (eve, "SELECT belfry.submit('{}')"),
            (alice, "SELECT * FROM belfry.inbox"),
            (alice, "INSERT INTO belfry.inbox (bucket, kind, sent_ms, name) VALUES (1, 1, 1, 'blue')"),
            (alice, "SELECT belfry.admit_submitter('alice', 'blue')"),
            (alice, "SELECT belfry.cancel('job_nonsense')"),
            (alice, "SELECT belfry.submit(NULL)")):
        try:
            with connection, connection.cursor() as cursor:
                cursor.execute(statement)
        except psycopg2.Error:
            continue
        raise AssertionError(f"taken: {statement}")


def run_example(shop, *command):
    done = subprocess.run([*map(str, command), shop.url("alice")], capture_output=True, text=True,
                          timeout=120)
    assert done.returncode == 0, done
    return done.stdout


def test_the_example_in_sql():
    shop = SHOP.made
    run_example(shop, "psql", "-v", "ON_ERROR_STOP=1", "-f", EXAMPLES / "submit.sql")
    assert shop.wait_for_job("receipt-1")["team"] == "red"
    assert not shop.named("never")


def test_the_example_in_python():
    shop = SHOP.made
    out = run_example(shop, "/usr/bin/python3", EXAMPLES / "submit.py")
    assert "nothing was submitted: an order needs a customer" in out, out
    shop.wait_for_job("receipt-py-1")
    assert not shop.named("receipt-py-2")


def test_the_example_in_node():
    if shutil.which("npm") is None:
        print("skipped: there is no npm")
        return
    shop = SHOP.made
    with tempfile.TemporaryDirectory() as home:
        installed = subprocess.run(["npm", "install", "--prefix", home, "--no-audit", "--no-fund", "pg"],
                                   capture_output=True, text=True, timeout=120)
        if installed.returncode != 0:
            print("skipped: npm cannot install pg:", installed.stderr[-300:])
            return
        script = pathlib.Path(home) / "submit.js"
        script.write_text((EXAMPLES / "submit.js").read_text())
        out = run_example(shop, "node", script)
        assert "nothing was submitted: an order needs a customer" in out, out
        shop.wait_for_job("receipt-js-1")
        assert not shop.named("receipt-js-2")


def test_jobs_wait_for_jobs_of_other_servers():
    shop = SHOP.made
    a, b = shop.servers
    with tempfile.TemporaryDirectory() as place:
        status, up = a.api("POST", "/jobs", {"command": ["sh", "-c", f"sleep 1; date +%s%N > {place}/up"]})
        assert status == 201, up
        downs = []
        for server in (a, b):
            for i in range(4):
                status, down = server.api("POST", "/jobs", {
                    "command": ["sh", "-c", f"date +%s%N > {place}/{server.name}{i}"],
                    "depends_on": [{"job": up["job_id"]}]})
                assert status == 201, down
                downs.append(down["job_id"])
        for job in downs:
            b.wait_for_status(job, "completed")
        stamps = [int((pathlib.Path(place) / f"{s.name}{i}").read_text()) for s in (a, b) for i in range(4)]
        assert min(stamps) >= int((pathlib.Path(place) / "up").read_text())
    status, failing = a.api("POST", "/jobs", {"command": ["false"], "retry": {"max_retries": 0}})
    a.wait_for_status(failing["job_id"], "failed")
    status, never = b.api("POST", "/jobs", {"command": ["true"], "depends_on": [{"job": failing["job_id"]}]})
    assert status == 201, never
    b.wait_for_status(never["job_id"], "skipped", "failed", "cancelled")
    wait_for(lambda: POSTGRES.sql("SELECT count(*) FROM belfry.waiter", shop.database) == "0",
             "everybody to have heard")


def jobs_of_both(shop, **spec):
    """One of each server, as HTTP makes them."""
    found = {}
    for i in range(200):
        if len(found) == 2:
            break
        status, job = shop.servers[i % 2].api("POST", "/jobs", spec)
        assert status == 201, job
        owner = shop.servers[0].owner_of(job["job_id"])
        if owner in found:
            shop.servers[0].api("DELETE", f"/jobs/{job['job_id']}")
        else:
            found[owner] = job["job_id"]
    assert len(found) == 2, found
    return list(found.values())


def inbox(server):
    status, answer = server.api("GET", "/stats")
    assert status == 200, answer
    return answer["inbox"]


def test_what_waits_is_in_nobodys_way():
    """There is room for one lane, and more submissions for another one than a page has."""
    with Shop(2, "--set", "lanes_max=1") as shop:
        alice = shop.connect("alice")
        planned = jobs_of_both(shop, command=["true"], team="red", schedule={"delay": "30m"})
        for _ in range(1100):
            submit(alice, queue="other", command=["true"])
        alice.commit()
        wait_for(lambda: inbox(shop.servers[0])["waiting"] == 1100, "all of them to wait")
        submit(alice, name="goes", command=["true"])
        alice.commit()
        shop.wait_for_job("goes")
        assert not shop.rejected()
        with alice.cursor() as cursor:
            for job in planned:
                cursor.execute("SELECT belfry.cancel(%s, 'to make room')", (job,))
        alice.commit()
        for job in planned:
            shop.servers[0].wait_for_status(job, "cancelled")
        wait_for(lambda: inbox(shop.servers[1]) == {"waiting": 0, "unknown": 0}, "room for all", 60)
        assert POSTGRES.sql("SELECT count(*) FROM belfry.inbox", shop.database) == "0"
        assert not shop.rejected()


def test_what_only_a_newer_version_knows_stays_and_is_counted():
    with Shop() as shop:
        alice = shop.connect("alice")
        POSTGRES.sql("INSERT INTO belfry.inbox (bucket, kind, sent_ms, name, body) "
                     "SELECT i % 1024, 99, 0, 'new', 'things' FROM generate_series(1, 2500) i", shop.database)
        wait_for(lambda: inbox(shop.servers[0])["unknown"] == 2500, "all of them to be counted")
        submit(alice, name="as-ever", command=["true"])
        alice.commit()
        shop.wait_for_job("as-ever")
        assert POSTGRES.sql("SELECT count(*) FROM belfry.inbox", shop.database) == "2500"


def test_a_payload_from_sql_is_no_larger_than_one_over_http():
    shop = SHOP.made
    alice = shop.connect("alice")
    tickets = [submit(alice, name=f"huge-{i}", command=["true"], payload="x" * (5 << 20)) for i in range(12)]
    submit(alice, name="small", command=["true"], payload="x" * 1000)
    alice.commit()
    shop.wait_for_job("small")
    def refused():
        return [r for r in shop.rejected() if r["submission"] in tickets]
    wait_for(lambda: len(refused()) == 12, "all large ones to be rejected")
    for rejected in refused():
        assert rejected["reason"].startswith("the payload has 5242882 bytes; at most 1048576"), rejected


def test_json_keeps_its_text_and_jsonb_does_not():
    shop = SHOP.made
    alice = shop.connect("alice")
    payload = '{"b" : 1e400, "a":18446744073709551616,"a":1.10}'
    deep = "[" * 64 + "]" * 64
    sent = (("", "as-text", payload), ("::json", "as-json", payload), ("::jsonb", "as-jsonb", "[1.10,  2]"),
            ("::json", "deep-json", deep))
    with alice.cursor() as cursor:
        for cast, name, text in sent:
            document = f'{{"name":"{name}","command":["true"],"payload":{text}}}'
            cursor.execute(f"SELECT belfry.submit(%s{cast})", (document,))
        cursor.execute("SELECT belfry.submit(%s::json)", (
            f'{{"name":"too-deep","command":["true"],"payload":[{deep}]}}',))
        too_deep = cursor.fetchone()[0]
    alice.commit()
    for _, name, text in sent:
        job = shop.wait_for_job(name)
        body = call(shop.servers[0], "GET", f"/api/v1/jobs/{job['job_id']}").body.decode()
        kept = "[1.10, 2]" if name == "as-jsonb" else text
        assert f'"payload":{kept}' in body, body
    reasons = wait_for(lambda: [r["reason"] for r in shop.rejected() if r["submission"] == too_deep],
                       "the one that is too deep to be rejected")
    assert "nested too deeply" in reasons[0], reasons


def test_unique_work_of_another_server_is_replaced():
    shop = SHOP.made
    alice = shop.connect("alice")
    unique = {"key": "once-a-day", "on_conflict": "replace"}
    before = None
    for i in range(8):  # each comes to a random partition
        submit(alice, name=f"replaces-{i}", command=["true"], schedule={"delay": "1h"}, unique=unique)
        alice.commit()
        job = shop.wait_for_job(f"replaces-{i}", "active")["job_id"]
        if before:
            shop.servers[0].wait_for_status(before, "cancelled")
        before = job
    assert not [r for r in shop.rejected() if "replaces" in r["head"]]


TWO_AT_A_TIME = {"concurrency": {"key": "two-at-a-time", "limit": 2}}


def submit_limited(servers, log, count, how=TWO_AT_A_TIME):
    ids = []
    for i in range(count):
        status, job = servers[i % len(servers)].api("POST", "/jobs", {
            "command": ["sh", "-c", f"echo + >> {log}; sleep 0.2; echo - >> {log}"],
            **how})
        assert status == 201, job
        ids.append(job["job_id"])
    return ids


def most_at_once(log):
    under_way, most = 0, 0
    for line in log.read_text().split():
        under_way += 1 if line == "+" else -1
        most = max(most, under_way)
    return most


def test_a_limit_holds_over_all_servers():
    shop = SHOP.made
    with tempfile.TemporaryDirectory() as place:
        log = pathlib.Path(place) / "log"
        for job in submit_limited(shop.servers, log, 12):
            shop.servers[0].wait_for_status(job, "completed")
        assert most_at_once(log) <= 2
        wait_for(lambda: POSTGRES.sql("SELECT count(*) FROM belfry.permit", shop.database) == "0",
                 "all permits to be given back")


def limit_queue(shop, queue, most):
    """Returns when both servers know the limit: each then knows of the pause that came after it."""
    def knows(job):
        status, answer = shop.servers[0].api("GET", f"/jobs/{job}/explain")
        assert status == 200, answer
        return "queue_paused" in [blocker["kind"] for blocker in answer["blockers"]]
    a = shop.servers[0]
    assert a.api("PUT", f"/queues/{queue}", {"concurrency": most})[0] == 200
    assert a.api("POST", f"/queues/{queue}/pause")[0] == 200
    for job in jobs_of_both(shop, queue=queue, handler="nobody"):
        wait_for(lambda: knows(job), f"{queue} to be known as paused")
        assert a.api("DELETE", f"/jobs/{job}")[0] == 200
    assert a.api("POST", f"/queues/{queue}/resume")[0] == 200


def test_a_limit_of_a_queue_holds_over_all_servers_and_stops_nobody():
    shop = SHOP.made
    for queue, most in (("one-by-one", 1), ("in-pairs", 2), ("elsewhere", 1)):
        limit_queue(shop, queue, most)
        with tempfile.TemporaryDirectory() as place:
            log = pathlib.Path(place) / "log"
            for job in submit_limited(shop.servers, log, 8, {"queue": queue}):
                shop.servers[1].wait_for_status(job, "completed")
            assert most_at_once(log) <= most


def test_a_limit_holds_while_a_server_dies():
    with Shop(3) as shop, tempfile.TemporaryDirectory() as place:
        a, b, c = shop.servers
        log = pathlib.Path(place) / "log"
        ids = submit_limited(shop.servers, log, 24)
        wait_for(lambda: log.exists() and log.read_text().count("-") >= 4, "some to have run")
        b.kill()
        for job in ids:
            a.wait_for_status(job, "completed")
        assert most_at_once(log) <= 2, log.read_text()
        b.start()  # and finds the worker that it had
        wait_for(lambda: POSTGRES.sql("SELECT count(*) FROM belfry.permit", shop.database) == "0",
                 "all permits to be given back")


if __name__ == "__main__":
    main(tests_of(globals()), SHOP)
