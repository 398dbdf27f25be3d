"""A server on PostgreSQL: what was acknowledged runs, whatever becomes of the database, and nobody has to
start belfry again.

The jobs themselves are the witnesses: each appends a line to a file of its own making.
"""

import contextlib
import http.client
import json
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import threading
import time

from belfry import BELFRY, ROOT, Server, main, tests_of, wait_for
from postgres import Postgres

JOBS = 300
CLIENTS = 8


class Load:
    """Clients that submit jobs until they are stopped or have enough; every one is sent under an idempotency
    key until it is acknowledged, so it exists once."""

    def __init__(self, server, jobs=JOBS, pace_s=0.0):
        self.server = server
        self.key = server.key()
        self.left = jobs
        self.pace_s = pace_s
        self.lock = threading.Lock()
        self.acknowledged = []
        self.refused = 0
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="belfry-witness-"))
        self.witness = self.dir / "lines"
        self.witness.touch()
        self.threads = [threading.Thread(target=self.run) for _ in range(CLIENTS)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        with self.lock:
            self.left = 0
        for thread in self.threads:
            thread.join()

    def take(self):
        with self.lock:
            self.left -= 1
            return self.left if self.left >= 0 else None

    def run(self):
        while (number := self.take()) is not None:
            self.submit(number)
            time.sleep(self.pace_s)

    def submit(self, number):
        document = json.dumps({"command": f"echo $BELFRY_JOB_ID >> {self.witness}",
                               "retry": {"max_retries": 0}})
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
                connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=30)
                connection.request("POST", "/api/v1/jobs", document, {
                    "Authorization": "Bearer " + self.key, "Content-Type": "application/json",
                    "Idempotency-Key": f"job-{number}"})
                answer = connection.getresponse()
                body = json.loads(answer.read())
                connection.close()
                if answer.status in (200, 201):
                    with self.lock:
                        self.acknowledged.append(body["job_id"])
                    return
                assert answer.status in (409, 503), body
            with self.lock:
                self.refused += 1
            time.sleep(0.05)
        raise AssertionError("a submission was never acknowledged")

    def judge(self):
        """Everything that was acknowledged ran, once; nothing else did."""
        wait_for(lambda: len(self.lines()) >= len(self.acknowledged), "all jobs to run", 90)
        lines = self.lines()
        assert len(set(self.acknowledged)) == len(self.acknowledged), "one key, two jobs"
        assert sorted(lines) == sorted(self.acknowledged), (
            f"{len(lines)} runs of {len(set(lines))} jobs, {len(self.acknowledged)} acknowledged")
        for job_id in self.acknowledged[-5:]:
            assert self.server.wait_for_status(job_id, "completed")
        shutil.rmtree(self.dir)

    def lines(self):
        return self.witness.read_text().split()


calm = Postgres()  # for those that do it no harm; each has a database of its own


def on(database, *flags, **options):
    return Server("--store", database.url, *flags, **options)


def test_a_server_killed_with_its_jobs_goes_on_where_it_was():
    with Server("--store", calm.database("killed"), "--slots", "4") as server:
        with Load(server, 100) as load:
            wait_for(lambda: len(load.acknowledged) > 30, "some jobs")
            server.kill()
            server.start()
            wait_for(lambda: len(load.acknowledged) == 100, "all jobs", 60)
        load.judge()


def test_a_database_that_is_killed_under_load_loses_nothing():
    with Postgres() as database, on(database) as server:
        pid = server.process.pid
        with Load(server, pace_s=0.05) as load:
            for _ in range(2):
                more = len(load.acknowledged) + 40
                wait_for(lambda: len(load.acknowledged) > more, "some jobs")
                database.kill()
                database.start()
            wait_for(lambda: len(load.acknowledged) == JOBS, "all jobs", 90)
        load.judge()
        assert server.process.pid == pid and server.process.poll() is None


def test_a_database_that_is_away_is_told_and_comes_back():
    with Postgres() as database, on(database) as server:
        job = server.submit("--", "true")
        server.wait_for_status(job, "completed")
        database.stop("immediate")
        wait_for(lambda: server.api("POST", "/jobs", {"command": "true"})[0] == 503, "a refusal")
        wait_for(lambda: not server.is_ready(), "/readyz to say so")
        database.start()
        wait_for(server.is_ready, "the server to be ready again")
        server.wait_for_status(server.submit("--", "true"), "completed")


def test_backends_that_are_terminated_cost_nothing():
    with Server("--store", calm.database("terminated")) as server:
        with Load(server, 100 * JOBS, pace_s=0.05) as load:  # and leaving it, there are no more
            ended = 0
            while len(load.acknowledged) < JOBS or ended < 5:
                ended += calm.terminate_one("belfry")
                time.sleep(0.2)
        load.judge()


def test_a_database_that_takes_no_writes_is_waited_for():
    with Postgres() as database, on(database) as server:
        server.wait_for_status(server.submit("--", "true"), "completed")
        database.sql("ALTER SYSTEM SET default_transaction_read_only = on")
        database.reload()
        wait_for(lambda: database.sql("SHOW default_transaction_read_only") == "on", "read-only")
        database.terminate_all("belfry")
        wait_for(lambda: server.api("POST", "/jobs", {"command": "true"})[0] == 503, "a refusal")
        database.sql("SET default_transaction_read_only = off; SET SESSION CHARACTERISTICS AS "
                     "TRANSACTION READ WRITE; ALTER SYSTEM RESET default_transaction_read_only")
        database.reload()
        wait_for(lambda: server.api("POST", "/jobs", {"command": "true"})[0] == 201, "a job")
        wait_for(server.is_ready, "the server to be ready again")


def test_a_database_without_connections_to_give_is_waited_for():
    with Postgres(settings=["max_connections=20"]) as database:
        database.sql("CREATE ROLE bell LOGIN")
        subprocess.run([BELFRY, "migrate", "--store", database.url, "--role", "bell"], check=True,
                       timeout=60, capture_output=True)
        with Server("--store", database.url.replace("postgres@", "bell@")) as server:
            server.wait_for_status(server.submit("--", "true"), "completed")
            with database.all_connections():
                def refused():
                    database.end_connections("belfry")  # again, if the server was faster than we are
                    return server.api("POST", "/jobs", {"command": "true"})[0] == 503
                wait_for(refused, "a refusal")
            wait_for(lambda: server.api("POST", "/jobs", {"command": "true"})[0] == 201, "a job")
            wait_for(server.is_ready, "the server to be ready again")


def test_a_full_disk_is_told_and_passes():
    if os.getuid() != 0:
        return  # only root can make a disk so small
    with Postgres(settings=["max_wal_size=48MB"], room_mib=200) as database:
        with on(database, "--no-worker") as server:
            with database.full_disk():
                def refused():
                    payload = {"noise": random.randbytes(100000).hex()}  # compresses badly
                    status, answer = server.api("POST", "/jobs",
                                                {"command": "true", "payload": payload})
                    assert status in (201, 503, 507), answer
                    return answer if status == 507 else None
                answer = wait_for(refused, "the disk to be full")
                assert "make room on the disk of the database" in answer["detail"], answer
            wait_for(lambda: server.api("POST", "/jobs", {"command": "true"})[0] == 201, "a job")


def test_a_pooler_in_transaction_mode_may_be_between():
    calm.database("pooled")
    with calm.pgbouncer() as pooler, Server("--store", pooler.url("pooled")) as server:
        with Load(server, 150) as load:
            wait_for(lambda: len(load.acknowledged) > 50, "some jobs")
            calm.terminate_all("belfry")
            wait_for(lambda: len(load.acknowledged) == 150, "all jobs", 60)
        load.judge()
        execution = server.wait_for_status(server.submit("--", "echo", "hello"), "completed")
        _, output = server.api("GET", f"/executions/{execution['execution_id']}/logs")
        assert "hello" in json.dumps(output), output
        status, listed = server.api("GET", "/jobs?limit=200")
        assert status == 200 and len(listed["jobs"]) == 151


def test_behind_a_pooler_a_readers_first_list_has_its_time_outs():
    calm.database("first")
    with calm.pgbouncer() as pooler, Server("--store", pooler.url("first")) as server:
        session = calm.session("first")
        session.run("BEGIN; LOCK TABLE belfry.job IN ACCESS EXCLUSIVE MODE")
        status, problem = server.api("GET", "/jobs")
        assert status == 503 and "lock" in problem["detail"], problem
        session.close()
        assert server.api("GET", "/jobs")[0] == 200


def test_a_lock_that_somebody_holds_is_waited_for():
    with Server("--store", calm.database("locked")) as server:
        session = calm.session("locked")
        session.run("BEGIN; LOCK TABLE belfry.live IN ACCESS EXCLUSIVE MODE")
        status, problem = server.api("POST", "/jobs", {"command": "true"})
        assert status == 503 and "lock" in problem["detail"], problem
        session.close()
        wait_for(lambda: server.api("POST", "/jobs", {"command": "true"})[0] == 201, "a job")


def start_in_vain(url):
    """What a server says that cannot start."""
    with tempfile.TemporaryDirectory() as data:
        done = subprocess.run([BELFRY, "server", "--store", url, "--data", data, "--listen",
                               "127.0.0.1:0"], text=True, capture_output=True, check=False,
                              timeout=60)
    assert done.returncode != 0
    return done.stderr + done.stdout


def test_a_role_that_migrate_admitted_is_enough():
    calm.sql("CREATE ROLE bell LOGIN PASSWORD 'secret'")
    url = calm.database("narrow")
    done = subprocess.run([BELFRY, "migrate", "--store", url, "--role", "bell"], text=True,
                          capture_output=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    # As after an upgrade that made a table: who was admitted once has its rights there, too.
    calm.sql("CREATE TABLE belfry.newcomer (id bigint)", "narrow")
    rights = "SELECT has_table_privilege('bell', 'belfry.newcomer', 'INSERT')"
    assert calm.sql(rights, "narrow") == "f"
    calm.sql("SELECT belfry.admit_role(role) FROM belfry.server_role", "narrow")
    assert calm.sql(rights, "narrow") == "t"
    with Server("--store", url.replace("postgres@", "bell:secret@")) as server:
        server.wait_for_status(server.submit("--", "true"), "completed")
        limits = calm.sql("SELECT array_to_string(rolconfig, ' ') FROM pg_roles "
                          "WHERE rolname = 'bell'")
        assert "lock_timeout=5s" in limits, limits
        assert calm.sql("SELECT has_function_privilege('bell', 'belfry.admit_role(text)', "
                        "'EXECUTE'), has_schema_privilege('bell', 'belfry', 'CREATE')",
                        "narrow") == "f|f"
        assert "secret" not in server.log_path.read_text()
        seen = pathlib.Path(f"/proc/{server.process.pid}/cmdline").read_text()
        assert "bell:******@" in seen and "secret" not in seen, seen


def test_a_role_that_may_nothing_is_told_what_to_do():
    calm.sql("CREATE ROLE nobody LOGIN PASSWORD 'secret'")
    said = start_in_vain(calm.database("shut").replace("postgres@", "nobody:secret@"))
    assert "belfry migrate" in said and "secret" not in said, said


def test_a_database_that_is_not_there_is_named_without_its_password():
    said = start_in_vain("postgres://bell:secret@127.0.0.1:1/none")
    assert "127.0.0.1:1/none" in said and "secret" not in said, said


def test_a_schema_of_a_newer_version_is_left_alone():
    url = calm.database("newer")
    subprocess.run([BELFRY, "migrate", "--store", url], check=True, timeout=60, capture_output=True)
    calm.sql("UPDATE belfry.meta SET value = '1000' WHERE key = 'version'", "newer")
    assert "version 1000" in start_in_vain(url)


NUMBERS = """SELECT string_agg(row::text, ' ' ORDER BY row) FROM (
    SELECT partition, kind, queue, state, sum(value) FROM belfry.counter_row
    WHERE kind = 3 OR kind = 2 AND state NOT IN (6, 7) OR kind = 1 AND state IN (1, 5)
    GROUP BY 1, 2, 3, 4 HAVING sum(value) <> 0) AS row"""


def test_numbers_of_the_version_before_are_counted_once_more():
    url = calm.database("recount")
    with Server("--store", url) as server, Server("--store", url) as other:
        wait_for(lambda: calm.sql("SELECT count(DISTINCT owner) FROM belfry.partition",
                                  "recount") == "2", "both to own something")
        failed = server.submit("--queue", "odd", "--", "false")
        server.cli("pause", server.submit("--every", "1h", "--queue", "even", "--", "true"))
        for at in (server, other):
            at.api("POST", "/jobs", {"schedule": {"every": "1h"}, "queue": "even",
                                     "command": "true"}, key=server.key())
        server.wait_for_status(failed, "failed")
    right = calm.sql(NUMBERS, "recount")
    assert right.count(",1,even,") == 3 and right.count(",2,even,") == 2 and ",3,odd," in right, right
    # All under one partition, as one server wrote them that owned others later.
    calm.sql("WITH gone AS (DELETE FROM belfry.counter RETURNING *), "
             "late AS (DELETE FROM belfry.counter_delta RETURNING *) "
             "INSERT INTO belfry.counter (partition, kind, queue, state, value) "
             "SELECT 3, kind, queue, state, sum(value) FROM (SELECT kind, queue, state, value "
             "FROM gone UNION ALL SELECT kind, queue, state, value FROM late) AS n GROUP BY 2, 3, 4",
             "recount")
    assert calm.sql(NUMBERS, "recount") != right
    # As the migration does; those behind it are there already.
    calm.sql((ROOT / "src/store/postgres/migrations/0012_recount.sql").read_text(), "recount")
    assert calm.sql(NUMBERS, "recount") == right


if __name__ == "__main__":
    main(tests_of(globals()), shared=calm)
