"""Numbers over the last hour, by the ten seconds, and before that by the hour."""

import sqlite3
import time

from belfry import Server, main, tests_of, wait_for
from cluster import Cluster, Postgres
from protocol import API, call, expect, submit


def series(server, metric, **params):
    query = "".join(f"&{key}={value}" for key, value in params.items())
    return expect(200, server, "GET", f"/series?metric={metric}{query}")


def values(server, metric, **params):
    return [p["value"] for p in series(server, metric, **params)["points"]]


def total(server, metric, **params):
    return sum(v or 0 for v in values(server, metric, **params))


def wait_for_sum(server, metric, count, **params):
    wait_for(lambda: total(server, metric, **params) == count, f"{count} {metric}")


def test_what_happened_is_counted_and_a_restart_is_a_gap():
    with Server("--slots", "1") as own:
        assert set(values(own, "depth")) == {None}
        wait_for(lambda: values(own, "depth")[-1] == 0, "the first whole sample")
        jobs = [submit(own, queue="mail")[0] for _ in range(5)]
        failed, _ = submit(own, queue="other", command=["false"], retry={"max_retries": 0})
        own.wait_for_status(failed, "failed")
        for job in jobs:
            own.wait_for_status(job, "completed")
        submit(own, queue="mail", schedule={"delay": "1h"})
        wait_for_sum(own, "completed", 5)
        for metric, all_queues, mail in (("submitted", 7, 6), ("started", 6, 5), ("failed", 1, 0)):
            assert total(own, metric) == all_queues, metric
            assert total(own, metric, queue="mail") == mail, metric
        assert values(own, "depth")[-1] == 1 and values(own, "depth", queue="other")[-1] == 0
        for params in ({}, {"queue": "mail"}):
            half, nearly = (series(own, f"start_lag_{p}", **params) for p in ("p50", "p99"))
            known = [v["value"] for v in nearly["points"] if v["value"] is not None]
            assert known and max(known) < 60000, nearly
            assert half["step_ms"] == (60000 if params else 10000)
        hours = series(own, "completed", since="1d")
        assert hours["step_ms"] == 3600000 and len(hours["points"]) == 24, hours
        assert sum(p["value"] for p in hours["points"]) == 5 and hours["usual_per_hour"] is None
        assert set(values(own, "depth", since="1d")) == {None}
        shown = own.cli("series", "completed", "--queue", "mail", "--since", "5m")
        assert shown.returncode == 0 and "VALUE" in shown.stdout, shown
        own.stop()
        own.start()
        assert set(values(own, "completed")) == {None}


def test_what_is_usual_is_the_median_of_this_hour_of_the_day():
    with Server("--no-worker") as own:
        own.stop()
        with sqlite3.connect(own.data / "belfry.db") as db:
            for day, count in ((1, 10), (2, 30), (3, 20)):
                hour = int(time.time()) // 3600 - 24 * day
                for key, scope in (("", 1), ("mail", 2)):
                    db.execute("INSERT INTO tally (scope, key, hour, \"end\", bucket, count, sum_ms)"
                               " VALUES (?, ?, ?, 6, 0, ?, 0)", (scope, key, hour, count))
        own.start()
        assert series(own, "completed")["usual_per_hour"] == 20
        assert series(own, "completed", queue="mail")["usual_per_hour"] == 20
        assert series(own, "depth")["usual_per_hour"] is None
        two_days = series(own, "completed", since="2d")["points"]
        assert [p["value"] for p in two_days if p["value"]] == [10], two_days


def test_a_queue_that_never_was_is_said_to_be_unknown():
    with Server("--no-worker") as own:
        wait_for(lambda: values(own, "depth")[-1] == 0, "the first whole sample")
        for metric, since in (("depth", "1h"), ("completed", "1h"), ("completed", "2d")):
            told = series(own, metric, queue="never", since=since)
            assert told["note"] and {p["value"] for p in told["points"]} == {None}, told
        def fields(query):
            answer = call(own, "GET", API + "/series?" + query)
            assert answer.status == 400, answer
            return {e["field"] for e in answer.json["errors"]}
        assert fields("metric=nonsense") == {"metric"}
        assert fields("queue=a%20b") == {"metric", "queue"}
        assert fields("metric=depth&since=10s") == {"since"}
        assert fields("metric=depth&since=15d") == {"since"}
        assert fields("metric=depth&until=1h") == {"until"}


def test_three_servers_are_added_up_and_a_death_is_a_gap():
    with Postgres() as postgres, Cluster(postgres, 3, "--no-worker") as nodes:
        wait_for(lambda: values(nodes[0], "depth")[-1] == 0, "samples of all servers")
        for node in nodes:
            submit(node, queue="shared", schedule={"delay": "1h"})
        for node in nodes:
            wait_for_sum(node, "submitted", 3, queue="shared")
            wait_for(lambda: values(node, "depth")[-1] == 3, "the depth of all")
        before = values(nodes[0], "depth")
        nodes[2].kill()
        assert set(values(nodes[0], "depth")) == {None}, "a part must not look like the whole"
        wait_for(lambda: values(nodes[0], "depth")[-1] == 3, "a sample of those that are left")
        assert before.count(3) > 0


if __name__ == "__main__":
    main(tests_of(globals()))
