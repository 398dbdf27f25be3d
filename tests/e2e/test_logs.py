"""Output by numbered lines, and which jobs wait for each other: on SQLite, and by three servers."""

import contextlib
import json
import sqlite3

from belfry import Server, Stopwatch, main, tests_of, wait_for
from cluster import Cluster, Postgres
from protocol import API, LONG_MS, Stream, Worker, call, expect, frame, names, submit

UNKNOWN_EXECUTION, UNKNOWN_JOB = "exec_0000000000001", "job_0000000000001"
MIB = 1 << 20


class Places:
    """A server on SQLite, and three that share a PostgreSQL; a test looks at all of them."""

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            self.sqlite = stack.enter_context(Server("--no-worker"))
            self.postgres = stack.enter_context(Postgres())
            self.cluster = stack.enter_context(Cluster(self.postgres, 3, "--no-worker"))
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *error):
        return self.stack.__exit__(*error)

    def show(self):
        self.sqlite.show()


places = Places()


def servers():
    """One that takes jobs and output, and all that are asked."""
    return [(places.sqlite, [places.sqlite]), (places.cluster[0], list(places.cluster))]


def lines(server, path, status=200):
    """The objects of an answer by lines, without the last, and the last."""
    answer = call(server, "GET", API + path)
    assert answer.status == status, answer
    if status != 200:
        return answer.json
    assert answer.headers["Content-Type"] == "application/x-ndjson", answer
    *found, end = [json.loads(line) for line in answer.body.split(b"\n") if line]
    assert end["end"] is True, answer
    return found, end


def logs(run, query=""):
    return f"/executions/{run}/logs?format=ndjson{query}"


def texts(found):
    return [(one["attempt"], one["n"], one["text"]) for one in found]


def leased(server, **job):
    """A job with a queue of its own, its worker and its lease."""
    queue = next(names)
    _, run = submit(server, queue=queue, **job)
    worker = Worker(server, queues=[queue])
    lease, = wait_for(lambda: worker.poll(free=1, wait_ms=LONG_MS)["leases"], "a lease")
    worker.poll(running=[lease])
    assert lease["execution_id"] == run
    return run, worker, lease


def end_run(worker, lease, seq, outcome="succeeded"):
    assert worker.finish(lease, outcome, log_seq=seq)


def test_lines_have_numbers_times_and_streams():
    for server, asked in servers():
        run, worker, lease = leased(server)
        worker.upload(frame(lease, 1, b"one\ntw"), frame(lease, 2, b"o\r\nthr"),
                      frame(lease, 3, b"err\xff\x00\n", "stderr", 1794816001000), frame(lease, 4, b"ee\nopen"))
        for one in asked:
            found, end = lines(one, logs(run))
            assert texts(found) == [(1, 1, "one"), (1, 2, "two"), (1, 3, "thr"), (1, 4, "err\ufffd\ufffd"),
                                    (1, 5, "ee")], found
            assert [line.get("more") for line in found] == [None, None, True, None, None]
            assert found[3]["at"] == "2026-11-16T08:00:01.000Z" and found[3]["stream"] == "stderr", found
            assert end == {"end": True, "status": "running", "complete": False, "more": False,
                           "next_from": "1.6", "attempts": [{"attempt": 1, "lines": 5}]}, end
            assert lines(one, logs(run, "&from=1.6"))[1]["next_from"] == "1.6"
            assert texts(lines(one, logs(run, "&stream=stderr"))[0]) == [(1, 4, "err\ufffd\ufffd")]
        worker.upload(frame(lease, 5, b"ed\nlast"))
        end_run(worker, lease, 5)
        for one in asked:
            found, end = lines(one, logs(run, "&from=6"))
            assert texts(found) == [(1, 6, "opened"), (1, 7, "last")], found
            assert end["complete"] and end["status"] == "completed" and "next_from" not in end, end


def test_attempts_follow_each_other():
    for server, asked in servers():
        run, worker, lease = leased(server, retry={"policy": "immediate"})
        worker.upload(frame(lease, 1, b"a\nb\n"))
        end_run(worker, lease, 1, "failed")
        second, = wait_for(lambda: worker.poll(free=1, wait_ms=LONG_MS)["leases"], "the next attempt")
        worker.poll(running=[second])
        worker.upload(frame(second, 1, b"c\nd"))
        end_run(worker, second, 1)
        for one in asked:
            whole = [(1, 1, "a"), (1, 2, "b"), (2, 1, "c"), (2, 2, "d")]
            assert texts(lines(one, logs(run))[0]) == whole
            for query, want in (("&attempt=2", whole[2:]), ("&from=2", whole[1:]), ("&from=2.2", whole[3:]),
                                ("&from=1.9", whole[2:]), ("&from=9.1", []), ("&attempt=3", []),
                                ("&attempt=2&from=2", whole[3:]), ("&tail=3", whole[1:]), ("&tail=0", []),
                                ("&attempt=1&tail=1", whole[1:2]), ("&tail=10000", whole)):
                found, end = lines(one, logs(run, query))
                assert texts(found) == want and end["complete"] is True, (query, found, end)
            found, place = [], "1"
            while place:
                page, end = lines(one, logs(run, f"&limit=1&from={place}"))
                found, place = found + texts(page), end.get("next_from")
                assert len(page) == 1 and end["more"] == bool(place), end
            assert found == whole, found


def test_text_and_events_begin_where_they_are_told_to():
    for server, asked in servers():
        run, worker, lease = leased(server)
        worker.upload(frame(lease, 1, b"a\nb\xff\n"), frame(lease, 2, b"err\n", "stderr"), frame(lease, 3, b"c\nd"))
        end_run(worker, lease, 3)
        for one in asked:
            for query, want in (("tail=2", b"c\nd"), ("from=2", b"b\xff\nerr\nc\nd"), ("tail=9", b"a\nb\xff\nerr\nc\nd"),
                                ("stream=stdout&tail=3", b"b\xff\nc\nd"), ("from=5&format=text", b"d")):
                answer = call(one, "GET", f"{API}/executions/{run}/logs?{query}")
                assert answer.status == 200 and answer.body == want, (query, answer)
            with Stream(one, f"/executions/{run}/logs?follow=true&tail=2") as stream:
                assert [data.get("text") for _, _, data in stream] == ["c\nd", None]
            with Stream(one, logs(run, "&follow=true&from=3")) as stream:
                assert [(event, data.get("n")) for _, event, data in stream] == [
                    ("line", 3), ("line", 4), ("line", 5), ("end", None)]


def test_followed_lines_can_be_resumed_behind_any():
    for server, asked in servers():
        run, worker, lease = leased(server)
        one = asked[-1]
        worker.upload(frame(lease, 1, b"a\nb"))
        with Stream(one, logs(run, "&follow=true")) as stream:
            assert next(stream)[1:] == ("line", {"attempt": 1, "n": 1, "at": "2026-11-16T08:00:00.123Z",
                                                 "stream": "stdout", "text": "a"})
            worker.upload(frame(lease, 2, b"\nc\n\nd"))
            end_run(worker, lease, 2)
            rest = list(stream)
        assert [(event, data.get("text")) for _, event, data in rest] == [
            ("line", "b"), ("line", "c"), ("line", ""), ("line", "d"), ("end", None)], rest
        with Stream(one, logs(run, "&follow=true")) as stream:
            events = list(stream)
        for i, (last_id, _, _) in enumerate(events[:-1]):
            with Stream(one, logs(run, "&follow=true&tail=1"), last_id) as stream:
                assert list(stream) == events[i + 1:], (i, last_id)
        for bad in ("x", "1.1", "1.0.0.1", "1.1.1.1.1", "-1.1.1.1", "99999999999999999999.1.1.1"):
            answer = call(one, "GET", API + logs(run, "&follow=true"), headers={"Last-Event-ID": bad})
            assert answer.status == 400 and answer.json["errors"][0]["field"] == "Last-Event-ID", (bad, answer)
        with Stream(one, logs(run, "&follow=true"), "9999.7.7.7") as stream:
            assert [event for _, event, _ in stream] == ["end"]


def test_lines_of_an_attempt_that_was_given_to_another_worker_are_counted_on():
    for server, asked in servers():
        run, worker, lease = leased(server)
        one = asked[-1]
        worker.upload(frame(lease, 1, b"a\nb"))
        end_run(worker, lease, 1, "returned")
        second, = wait_for(lambda: worker.poll(free=1, wait_ms=LONG_MS)["leases"], "the lease again")
        assert second["attempt"] == lease["attempt"] and second["token"] != lease["token"], (lease, second)
        worker.poll(running=[second])
        worker.upload(frame(second, 1, b"c\nd\n"))
        end_run(worker, second, 1)
        found, _ = lines(one, logs(run))
        assert texts(found) == [(1, 1, "a"), (1, 2, "b"), (1, 3, "c"), (1, 4, "d")], found
        with Stream(one, logs(run, "&follow=true")) as stream:
            events = list(stream)
        assert [data.get("n") for _, _, data in events] == [1, 2, 3, 4, None], events
        for i, (last_id, _, _) in enumerate(events[:-1]):
            with Stream(one, logs(run, "&follow=true"), last_id) as stream:
                assert list(stream) == events[i + 1:], (i, last_id)


def test_any_window_of_much_output_is_near():
    for server, asked in servers():
        run, worker, lease = leased(server)
        piece = b"".join(b"%07d it is a line of usual length, somewhat above sixty bytes\n" % i for i in range(1000))
        count = 16 * MIB // len(piece)
        for start in range(1, count + 1, 16):
            worker.upload(*(frame(lease, seq, piece) for seq in range(start, min(start + 16, count + 1))))
        end_run(worker, lease, count)
        for one in asked:
            found, end = lines(one, logs(run, "&tail=2"))  # the first look reads it all
            total = end["attempts"][0]["lines"]
            assert total == 1000 * count and found[-1]["n"] == total, end
            for middle in range(1, total, total // 20):
                with Stopwatch() as watch:
                    found, end = lines(one, logs(run, f"&from={middle}&limit=100"))
                assert watch.elapsed_s < 2, watch.elapsed_s  # 2 ms on a machine that does nothing else
                assert [line["n"] for line in found] == list(range(middle, min(middle + 100, total + 1)))
                assert all(line["text"].startswith("%07d " % ((line["n"] - 1) % 1000)) for line in found)
            found, end = lines(one, logs(run, "&limit=10000"))
            assert len(found) == 10000 and end["next_from"] == "1.10001", end


def test_an_answer_is_bounded_in_bytes():
    server = places.sqlite
    run, worker, lease = leased(server)
    for seq in range(1, 17):
        worker.upload(frame(lease, seq, b"\x01" * (MIB - 1) + b"\n"))
    end_run(worker, lease, 16)
    answer = call(server, "GET", API + logs(run))
    assert len(answer.body) < 5 * MIB, len(answer.body)
    found, end = lines(server, logs(run))
    assert end["more"] is True and end["next_from"] == f"1.{len(found) + 1}", end
    assert all(line["more"] for line in found[:60]) and len(found[0]["text"]) == 16384
    with Stream(server, logs(run, "&follow=true")) as stream:
        followed = [data for _, event, data in stream if event == "line"]
    assert "".join(line["text"] for line in followed) == "\x01" * (MIB - 1) * 16
    assert [i + 1 for i, line in enumerate(followed) if not line.get("more")] == [64 * i for i in range(1, 17)]


def test_a_chunk_of_nothing_but_line_breaks_is_followed():
    run, worker, lease = leased(places.sqlite)
    worker.upload(frame(lease, 1, b"\n" * 200000 + b"end"))
    end_run(worker, lease, 1)
    with Stream(places.sqlite, logs(run, "&follow=true")) as stream:
        numbers = [data.get("n") for _, _, data in stream]
    assert numbers == list(range(1, 200002)) + [None]


def test_what_is_missing_is_told():
    for server, asked in servers():
        run, worker, lease = leased(server)
        worker.upload(frame(lease, 2, b"a\n"), frame(lease, 3, b"77 bytes were dropped here\n"),
                      frame(lease, 4, b"77 bytes were dropped here\n", "note"), frame(lease, 7, b"b\n"))
        end_run(worker, lease, 7)
        for one in asked:
            found, _ = lines(one, logs(run))
            assert [(f["text"], f.get("dropped_bytes"), f.get("missing_pieces")) for f in found] == [
                ("", None, 1), ("a", None, None), ("77 bytes were dropped here", None, None),
                ("77 bytes were dropped here", 77, None), ("", None, 2), ("b", None, None)], found
            assert [f["n"] for f in found] == [1, 2, 3, 4, 5, 6]


def test_output_that_was_truncated_or_deleted_is_told():
    with Server("--set", "logs_keep_ms=60s") as own:
        job = own.submit("--", "sh", "-c", "yes 'a line of the many' | head -n 1000000")
        own.wait_for_status(job, "completed")
        run = own.newest_execution(job)["execution_id"]
        notes, end = lines(own, logs(run, "&stream=note"))
        assert len(notes) == 1 and notes[0]["dropped_bytes"] > MIB, notes
        assert end["attempts"][0]["lines_of_stream"] == 1, end
        found, _ = lines(own, logs(run, "&tail=3"))
        assert [line["text"] for line in found] == ["a line of the many"] * 3
        printed = own.cli("logs", job, "--tail", "2")
        assert printed.stdout == "a line of the many\n" * 2, printed
        objects = own.cli("logs", job, "-o", "json").stdout.splitlines()
        assert len(objects) == end["attempts"][0]["lines"]
        assert [json.loads(one)["n"] for one in objects[::9999]] == list(range(1, len(objects) + 1, 9999))


def test_an_attempt_whose_output_was_deleted_is_named():
    run, worker, lease = leased(places.sqlite, retry={"policy": "immediate"})
    worker.upload(frame(lease, 1, b"a\n"))
    end_run(worker, lease, 1, "failed")
    second, = wait_for(lambda: worker.poll(free=1, wait_ms=LONG_MS)["leases"], "the next attempt")
    worker.poll(running=[second])
    worker.upload(frame(second, 1, b"b\n"))
    end_run(worker, second, 1)
    assert texts(lines(places.sqlite, logs(run))[0]) == [(1, 1, "a"), (2, 1, "b")]
    with contextlib.closing(sqlite3.connect(places.sqlite.data / "logs.db")) as db, db:
        db.execute("DELETE FROM chunk WHERE attempt = 1")
    # Until no output can be on its way any more, it may still come.
    found, end = wait_for(lambda: (lambda a: "deleted_attempts" in a[1] and a)(lines(places.sqlite, logs(run))),
                          "the attempt to be named")
    assert texts(found) == [(2, 1, "b")] and end["deleted_attempts"] == [1], end


def test_hostile_parameters_are_refused():
    for server, asked in servers():
        job, run = submit(server, queue=next(names))
        for query, field in (("from=0", "from"), ("from=x", "from"), ("from=", "from"), ("from=1.0", "from"),
                             ("from=0.1", "from"), ("from=1.1.1", "from"), ("from=-1", "from"), ("from=1.", "from"),
                             ("from=99999999999999999999", "from"), ("from=4294967296.1", "from"),
                             ("tail=-1", "tail"), ("tail=10001", "tail"), ("tail=x", "tail"), ("tail=1&from=1", "tail"),
                             ("limit=0", "limit"), ("limit=10001", "limit"), ("limit=1&follow=true", "limit"),
                             ("attempt=0", "attempt"), ("attempt=2&from=1.1", "from"), ("stream=all", "stream"),
                             ("runs=1", "runs"), ("lines=1", "lines")):
            problem = lines(asked[-1], logs(run, "&" + query), 400)
            assert problem["errors"][0]["field"] == field, (query, problem)
        answer = call(server, "GET", f"{API}/executions/{run}/logs?format=xml")
        assert answer.status == 400 and answer.json["errors"][0]["field"] == "format", answer
        answer = call(server, "GET", f"{API}/executions/{run}/logs?limit=5")
        assert answer.status == 400 and answer.json["errors"][0]["field"] == "limit", answer
        for query, field in (("runs=0", "runs"), ("runs=21", "runs"), ("tail=0", "tail"), ("tail=1001", "tail"),
                             ("stream=x", "stream"), ("follow=true", "follow")):
            problem = lines(asked[-1], f"/jobs/{job}/logs?{query}", 400)
            assert problem["errors"][0]["field"] == field, (query, problem)
        for depth in ("0", "11", "x", "-1"):
            assert expect(400, server, "GET", f"/jobs/{job}/graph?depth={depth}")["errors"][0]["field"] == "depth"
        for path in (logs(UNKNOWN_EXECUTION), f"/jobs/{UNKNOWN_JOB}/logs", f"/jobs/{UNKNOWN_JOB}/graph"):
            assert call(asked[-1], "GET", API + path).status == 404, path
        found, end = lines(server, logs(run))
        assert found == [] and end["next_from"] == "1.1" and end["attempts"] == [], end


def test_a_jobs_newest_runs_are_read_together():
    for server, asked in servers():
        queue = next(names)
        job = expect(201, server, "POST", "/jobs", {"command": ["true"], "queue": queue, "schedule": {"every": "30d"},
                                                    "overlap": "parallel"})["job_id"]
        worker = Worker(server, queues=[queue])
        runs = []
        for i in range(4):
            expect(201, server, "POST", f"/jobs/{job}/trigger")
            lease, = wait_for(lambda: worker.poll(free=1, wait_ms=LONG_MS)["leases"], "a lease")
            worker.poll(running=[lease])
            worker.upload(frame(lease, 1, b"first\nrun %d\n" % i))
            if i < 3:
                end_run(worker, lease, 1)
            runs.append(lease["execution_id"])
        for one in asked:
            answer = call(one, "GET", f"{API}/jobs/{job}/logs?runs=3&tail=1")
            found = [json.loads(line) for line in answer.body.splitlines()]
            assert [(f["execution_id"], f.get("text"), f.get("status")) for f in found] == [
                part for i in (1, 2, 3) for part in (
                    (runs[i], f"run {i}", None), (runs[i], None, "running" if i == 3 else "completed"))], found
            assert call(one, "GET", f"{API}/jobs/{job}/logs?runs=20").body.count(b"first") == 4


def test_the_graph_shows_both_sides_and_what_has_ended():
    for server, asked in servers():
        prefix = next(names)

        def job(name, *after):
            depends = [{"job": prefix + one, "type": kind} for one, kind in after]
            return expect(201, server, "POST", "/jobs", {"name": prefix + name, "command": ["true"], "queue": prefix,
                                                         "depends_on": depends})["job_id"]
        first = job("first")
        worker = Worker(server, queues=[prefix])
        second = job("second", ("first", "success"))
        lease, = wait_for(lambda: worker.poll(free=1, wait_ms=LONG_MS)["leases"], "a lease")
        worker.poll(running=[lease])
        third = job("third", ("second", "failure"))
        both = job("both", ("second", "completion"), ("third", "success"))
        last = job("last", ("both", "success"))
        end_run(worker, lease, 0)
        wait_for(lambda: expect(200, server, "GET", f"/jobs/{first}")["status"] == "completed", "its end")
        for one in asked:
            graph = expect(200, one, "GET", f"/jobs/{second}/graph")
            nodes = {node["job_id"]: node for node in graph["nodes"]}
            assert list(nodes)[0] == second and set(nodes) == {first, second, third, both, last}, graph
            assert nodes[first]["status"] == nodes[first]["phase"] == "completed", graph
            assert nodes[last]["phase"] == "blocked" and nodes[last]["name"] == prefix + "last", graph
            edges = {(e["from"], e["to"]): (e["type"], e["state"], e["satisfied"]) for e in graph["edges"]}
            assert edges == {(first, second): ("success", "met", True), (second, third): ("failure", "waiting", False),
                             (second, both): ("completion", "waiting", False),
                             (third, both): ("success", "waiting", False),
                             (both, last): ("success", "waiting", False)}, edges
            assert len(graph["edges"]) == 5 and graph["hidden"] == 0 and graph["more"] is False
            near = expect(200, one, "GET", f"/jobs/{second}/graph?depth=1")
            assert {n["job_id"] for n in near["nodes"]} == {first, second, third, both}, near
            assert near["hidden"] == 1 and near["more"] is True and near["hidden_is_minimum"] is False, near
            by_name = expect(200, one, "GET", f"/jobs/by-name/{prefix}last/graph?depth=10")
            assert {n["job_id"] for n in by_name["nodes"]} == set(nodes), by_name
            printed = one.cli("graph", second)
            assert all(id_ in printed.stdout for id_ in nodes) and printed.returncode == 0, printed


def test_a_graph_of_many_jobs_is_cut():
    for server, asked in servers():
        root, _ = submit(server, queue=next(names))
        batch = [{"command": ["true"], "depends_on": [{"job": root, "type": "success"}]} for _ in range(1500)]
        expect(200, server, "POST", "/jobs/batch", {"jobs": batch[:300]})
        graph = expect(200, asked[-1], "GET", f"/jobs/{root}/graph")
        assert len(graph["nodes"]) == 200 and len(graph["edges"]) == 199, len(graph["nodes"])
        assert graph["hidden"] == 101 and graph["more"] is True and graph["hidden_is_minimum"] is False
        expect(200, server, "POST", "/jobs/batch", {"jobs": batch[300:]})
        graph = expect(200, asked[-1], "GET", f"/jobs/{root}/graph")
        assert len(graph["nodes"]) == 200 and graph["hidden"] == 1000, graph["hidden"]
        assert graph["hidden_is_minimum"] is True


def test_lines_are_there_after_their_server_died():
    with Cluster(places.postgres, 2, "--no-worker") as cluster:
        one, other = cluster
        run = None
        while run is None or one.owner_of(run) != one.name:
            queue = next(names)
            _, run = submit(one, queue=queue)
        worker = Worker(one, queues=[queue])
        lease, = wait_for(lambda: worker.poll(free=1, wait_ms=LONG_MS)["leases"], "a lease")
        worker.poll(running=[lease])
        worker.upload(frame(lease, 1, b"before\nend"))
        end_run(worker, lease, 1)
        want = lines(other, logs(run))
        one.kill()
        assert lines(other, logs(run)) == want  # the dead one still owns it
        assert texts(want[0]) == [(1, 1, "before"), (1, 2, "end")], want

        def followed():
            try:
                with Stream(other, logs(run, "&follow=true")) as stream:
                    return [data.get("n") for _, _, data in stream]
            except (AssertionError, OSError):
                return None
        wait_for(lambda: followed() == [1, 2, None], "the takeover")
        assert lines(other, logs(run)) == want


if __name__ == "__main__":
    main(tests_of(globals()), shared=places)
