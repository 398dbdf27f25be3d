"""The past on PostgreSQL goes by whole weeks: tables are dropped, not emptied, and nobody waits for that."""

import pathlib
import subprocess

from belfry import BELFRY, Server, Stopwatch, main, tests_of, wait_for
from postgres import Postgres

HISTORY = pathlib.Path(__file__).parent.parent / "bench" / "history.sql"
ROWS = 4000
DAYS = 52  # so that two weeks, or three, are older than is kept, by a day
KEEP = ("--set", "history_keep_ms=26d", "--set", "dead_letters_keep_ms=3650d", "--set",
        "alerts_keep_ms=3650d")

calm = Postgres(sync=False)


def with_past(name):
    """The URL of a database with a past of more than seven weeks, none of it a dead letter."""
    url = calm.database(name)
    subprocess.run([BELFRY, "migrate", "--store", url], check=True, timeout=60, capture_output=True)
    subprocess.run(["psql", "-Xq", "-v", f"rows={ROWS}", "-v", f"days={DAYS}", "-f", str(HISTORY), url],
                   check=True, timeout=120, capture_output=True)
    calm.sql("DELETE FROM belfry.dead_letter", name)
    return url


def number(name, sql):
    return int(calm.sql(sql, name))


def weeks_of(name, table):
    return calm.sql("SELECT coalesce(string_agg(substring(c.relname FROM 'w([0-9]+)$'), ' ' "
                    "ORDER BY c.relname), '') FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid "
                    f"WHERE i.inhparent = 'belfry.{table}'::regclass AND c.relname ~ 'w[0-9]+$'",
                    name).split()


def pending(name):
    return calm.sql("SELECT DISTINCT week FROM belfry.old_week ORDER BY 1", name).split()


def forgotten(name):
    """Whether the owners of all partitions are done with the weeks that are old."""
    return number(name, "SELECT count(*) FROM belfry.old_week") > 0 and number(
        name, "SELECT count(*) FROM belfry.old_week "
        "WHERE forgotten_id < (((week + 1) * 604800000) << 22) - 1") == 0


def rows_before(name, week):
    return number(name, f"SELECT count(*) FROM belfry.history WHERE id < ({week} * 604800000::bigint) << 22")


def test_an_old_week_is_dropped_and_nobody_waits_for_it():
    url = with_past("whole")
    reader = calm.session("whole")
    reader.run("BEGIN; SELECT count(*) FROM belfry.history")  # as a dump that takes hours
    with Server("--no-worker", "--store", url, *KEEP) as server:
        wait_for(lambda: forgotten("whole"), "the old weeks to be forgotten")
        old = pending("whole")
        assert old and set(old) <= set(weeks_of("whole", "history")), old
        end = int(old[-1]) + 1
        assert rows_before("whole", end) > 0  # they are all still there,
        assert number("whole", "SELECT coalesce(sum(n_tup_del), 0) FROM pg_stat_user_tables "
                      "WHERE relname LIKE 'history%'") == 0
        assert number("whole", "SELECT count(*) FROM belfry.job WHERE first_exec <> 0 AND "
                      f"first_exec < ({end} * 604800000::bigint) << 22") == 0  # and their jobs are not
        with Stopwatch() as watch:  # somebody reads history: of the oldest week only other tables may go
            gone = [calm.sql("SELECT belfry.drop_week()", "whole") for _ in range(3)]
        assert set(gone) <= {"", f"attempt_w{old[0]}", f"chunk_w{old[0]}"} and gone[2] == "", gone
        assert watch.elapsed_s < 5, watch.elapsed_s
        job = server.submit("--queue", "later", "--", "true")
        assert server.job(job)["status"] == "active"
        reader.close()
        wait_for(lambda: not number("whole", "SELECT count(*) FROM pg_stat_activity WHERE application_name = "
                                    "'neighbour' AND datname = 'whole'"), "the reader to be gone")
        server.stop()  # which looks for such weeks when it starts, and every ten minutes
        server.start()
        wait_for(lambda: not pending("whole"), "the old weeks to be dropped")
        assert rows_before("whole", end) == 0
        for table in ("history", "attempt"):
            assert not set(old) & set(weeks_of("whole", table)), table
        status, page = server.api("GET", "/executions?limit=1000")
        assert status == 200 and page["executions"], page
        status, page = server.api("GET", "/jobs?name=cron-7")  # which recurs, and has lost a part of its past
        assert status == 200 and [j["status"] for j in page["jobs"]] == ["active"], page
        assert server.job(job)["status"] == "active"


def test_a_week_with_something_that_stays_goes_row_by_row():
    """A dead letter keeps its execution, and that its week; the rest of it goes all the same, in its time."""
    url = with_past("mixed")
    oldest = calm.sql("SELECT min((id >> 22) / 604800000) FROM belfry.history", "mixed")
    kept = calm.sql("INSERT INTO belfry.dead_letter SELECT finished_ms, id, job_id, 1, 1, 0, 7, 1, 1, queue, '', "
                    "'ada', 'line', 'error' FROM belfry.history WHERE NOT first ORDER BY id LIMIT 1 "
                    "RETURNING exec_id", "mixed")
    with Server("--no-worker", "--store", url, *KEEP):
        wait_for(lambda: rows_before("mixed", int(oldest) + 1) == 1,
                 "all but one row to be deleted")
        assert oldest not in pending("mixed")
        assert calm.sql("SELECT min(id) FROM belfry.history", "mixed") == kept


def test_what_ends_late_keeps_its_week():
    url = with_past("late")
    oldest = calm.sql("SELECT min((id >> 22) / 604800000) FROM belfry.history", "late")
    late = calm.sql("UPDATE belfry.history SET finished_ms = belfry.now_ms() WHERE id = "
                    "(SELECT max(id) FROM belfry.history WHERE NOT first "
                    f"AND id < (({oldest} + 1) * 604800000::bigint) << 22) RETURNING id", "late")
    with Server("--no-worker", "--store", url, *KEEP):
        wait_for(lambda: rows_before("late", int(oldest) + 1) == 1,
                 "all but one row to be deleted")
        assert oldest not in pending("late")
        assert calm.sql("SELECT min(id) FROM belfry.history", "late") == late


def test_an_empty_week_goes_too():
    url = with_past("empty")
    week = calm.sql("SELECT min((id >> 22) / 604800000) FROM belfry.history", "empty")
    calm.sql(f"DELETE FROM belfry.history WHERE id < (({week} + 1) * 604800000::bigint) << 22", "empty")
    dropped = [calm.sql("SELECT belfry.drop_week()", "empty") for _ in range(40)]
    assert f"history_w{week}" in dropped and f"attempt_w{week}" in dropped, dropped
    assert dropped[-1] == "" and number("empty", "SELECT count(*) FROM belfry.history") > 0, (url, dropped)


if __name__ == "__main__":
    main(tests_of(globals()), shared=calm)
