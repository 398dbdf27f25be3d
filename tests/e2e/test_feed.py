"""The summary of events: ticks for many readers, with events about what they name."""

import contextlib
import json
import os
import pathlib
import subprocess
import threading
import time

from belfry import BELFRY, SANITIZED, Server, main, tests_of, wait_for
from cluster import Cluster, Postgres
from protocol import API, Stream, Worker, call, connect, expect, send, submit

SUMMARY = "/events?view=summary"
server = Server("--no-worker")


class Ticker:
    """Does something again and again while its context is entered."""

    def __init__(self, step):
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run, args=(step,))

    def run(self, step):
        while not self.over.wait(0.2):
            step()

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


def ticks(stream):
    return (data for _, kind, data in stream if kind == "tick")


def row(tick, queue):
    return next((q for q in tick["queues"] if q["queue"] == queue), None)


def next_of(stream, kind):
    return next(data for _, told, data in stream if told == kind)


def cpu_s(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_tick_comes_at_once_and_then_one_a_second():
    with Stream(server, SUMMARY) as stream:
        told = ticks(stream)
        first = next(told)
        submit(server, queue="ticking")
        later = [next(told) for _ in range(3)]
    assert first["executions"]["queued"] + 1 == later[-1]["executions"]["queued"]
    assert row(later[-1], "ticking")["queued"] == 1, later[-1]
    assert later[0]["as_of"] < later[1]["as_of"] < later[2]["as_of"], later
    stats = expect(200, server, "GET", "/stats")
    assert set(stats) | {"queue_count"} == set(first), (stats, first)


def test_the_queues_that_changed_most_come_first_and_are_fifty():
    names = [f"many-{i:03}" for i in range(60)]
    for name in names:
        submit(server, queue=name)
    with Stream(server, SUMMARY) as stream:
        told = ticks(stream)
        next(told), next(told)
        for _ in range(5):
            submit(server, queue="many-031")
        def changed():
            tick = next(told)
            return tick if tick["queues"][0]["queue"] == "many-031" else None
        tick = wait_for(changed, "the queue that changed to come first")
    assert len(tick["queues"]) == 50 and tick["queue_count"] >= 60, tick


def test_without_a_filter_ticks_come_alone():
    with Stream(server, SUMMARY) as stream:
        next(stream)
        submit(server)
        assert [kind for _, kind, _ in (next(stream), next(stream))] == ["tick", "tick"]


def test_any_match_sends_the_event_and_types_narrow():
    job, execution = submit(server, queue="mine", schedule={"delay": "1h"})
    other, _ = submit(server, queue="theirs", schedule={"delay": "1h"})
    with Stream(server, f"{SUMMARY}&job={job}&queue=loud") as stream, \
            Stream(server, f"{SUMMARY}&execution={execution}&type=queue&queue=loud") as narrow, \
            Stream(server, f"{SUMMARY}&execution=...{execution[-10:]}") as part:
        next_of(stream, "tick"), next_of(narrow, "tick"), next_of(part, "tick")
        expect(200, server, "DELETE", "/jobs/" + other)
        expect(200, server, "POST", "/queues/loud/pause")
        expect(200, server, "DELETE", "/jobs/" + job)
        assert next_of(stream, "queue")["queue"] == "loud"
        assert next_of(stream, "execution")["job_id"] == job
        assert next_of(part, "execution")["execution_id"] == execution
        kinds = [kind for _, kind, _ in (next(narrow) for _ in range(3))]
        assert kinds.count("queue") == 1 and "execution" not in kinds, kinds


def test_above_fifty_events_a_second_a_reader_gets_a_count():
    jobs = [{"command": ["true"], "queue": "flood"}] * 500
    with Stream(server, SUMMARY + "&queue=flood") as stream:
        next_of(stream, "tick")
        expect(200, server, "POST", "/jobs/batch", {"jobs": jobs})
        shown = counted = 0
        while shown + counted < 500:
            _, kind, data = next(stream)
            shown += kind == "execution"
            counted += data["count"] if kind == "changed" else 0
        assert shown + counted == 500 and shown <= 100, (shown, counted)


def test_filters_narrow_the_numbered_stream_too_and_it_is_resumed():
    with Stream(server, "/events?queue=numbered") as stream:
        submit(server, queue="elsewhere")
        submit(server, queue="numbered")
        place, kind, data = next(stream)
        assert (kind, data["queue"]) == ("execution", "numbered"), data
    submit(server, queue="elsewhere")
    job, _ = submit(server, queue="numbered")
    with Stream(server, "/events?queue=numbered", place) as stream:
        _, kind, data = next(stream)
        assert (kind, data["job_id"]) == ("execution", job), data


def test_parameters_that_make_no_sense_are_named():
    def fields(path):
        answer = call(server, "GET", API + path)
        assert answer.status == 400, answer
        return {e["field"] for e in answer.json["errors"]}
    assert fields("/events?view=everything") == {"view"}
    assert fields(SUMMARY + "&job=job_1") == {"job"}
    assert fields(SUMMARY + "&execution=job_0s86ejspw0400&type=x") == {"execution", "type"}
    assert fields(SUMMARY + "&execution=some-name&type=x") == {"execution", "type"}
    assert fields("/jobs?execution=some-name") == {"execution"}
    assert fields(SUMMARY + "&queue=%20&type=tick") == {"queue", "type"}
    assert fields(SUMMARY + "&view=summary") == {"view"}
    assert fields(SUMMARY + "&owner=me") == {"owner"}
    many = "".join(f"&queue=q{i}" for i in range(101))
    assert fields(SUMMARY + many) == {"queue"}
    with Stream(server, SUMMARY + many.removesuffix("&queue=q100")) as stream:
        next_of(stream, "tick")


def test_more_readers_than_the_setting_allows_are_told_so():
    with Server("--no-worker", "--set", "feed_readers_max=3") as own, contextlib.ExitStack() as stack:
        streams = [stack.enter_context(Stream(own, SUMMARY + f"&queue=q{i}")) for i in range(3)]
        refused = call(own, "GET", API + SUMMARY)
        assert refused.status == 503 and refused.headers["Retry-After"], refused
        assert "feed_readers_max" in refused.json["detail"], refused.json
        streams[0].__exit__()
        wait_for(lambda: reads(own), "room for another")
        for stream in streams[1:]:
            next_of(stream, "tick")


def reads(own):
    connection = connect(own)
    try:
        return send(connection, own, "GET", API + SUMMARY).status == 200
    finally:
        connection.close()


def test_a_reader_that_never_reads_costs_little_and_hears_what_it_missed():
    with Server("--no-worker", "--set", "feed_events_max=100000") as own:
        with Stream(own, SUMMARY + "&queue=flood") as lazy, Stream(own, SUMMARY) as reader:
            next_of(reader, "tick")
            jobs = [{"command": ["true"], "queue": "flood"}] * 5000
            for _ in range(8):
                expect(200, own, "POST", "/jobs/batch", {"jobs": jobs})
                next_of(reader, "tick")
            missed = shown = 0
            for _, kind, data in lazy:
                shown += kind == "execution"
                missed += data["count"] if kind == "changed" else 0
                if shown + missed == 40000:
                    break
        assert missed > 10000, (shown, missed)


def test_a_restart_ends_the_stream_and_the_next_begins_with_a_tick():
    with Server("--no-worker") as own:
        with Stream(own, SUMMARY) as stream:
            next_of(stream, "tick")
            own.stop()
            assert all(kind == "tick" for _, kind, _ in stream)
        own.start()
        with Stream(own, SUMMARY) as stream:
            next_of(stream, "tick")


def test_numbers_are_at_most_a_second_old_and_shared():
    with Server("--no-worker", env={"BELFRY_STATS_AGE_MS": "1000"}) as own:
        first = expect(200, own, "GET", "/stats")
        submit(own)
        assert expect(200, own, "GET", "/jobs?count=true")["total"] in (0, 1)
        def counted():
            stats = expect(200, own, "GET", "/stats")
            return stats["jobs"]["active"] == 1 and stats
        later = wait_for(counted, "the job to be counted")
        assert later["as_of"] > first["as_of"], (first, later)


def test_a_hundred_readers_cost_at_most_a_twentieth_of_a_core():
    with Server("--no-worker") as own, contextlib.ExitStack() as stack:
        for name in range(60):
            submit(own, queue=f"q{name}")
        streams = [stack.enter_context(Stream(own, SUMMARY)) for _ in range(100)]
        for stream in streams:
            next_of(stream, "tick")
        before, begin = cpu_s(own.process), time.monotonic()
        for _ in range(8):
            for stream in streams:
                next_of(stream, "tick")
        share = (cpu_s(own.process) - before) / (time.monotonic() - begin)
        print(f"     100 readers: {100 * share:.2f} % of a core")
        assert share <= 0.05 or SANITIZED, share


def test_the_command_line_prints_numbers_and_events():
    job, _ = submit(server, queue="cli-events", schedule={"delay": "1h"})
    shown = server.cli("stats")
    assert shown.returncode == 0 and "cli-events" in shown.stdout, shown
    assert json.loads(server.cli("stats", "-o", "json").stdout)["as_of"]
    def change():  # its slot moves, so something happens to it again and again
        version = expect(200, server, "GET", "/jobs/" + job)["version"]
        call(server, "PATCH", f"{API}/jobs/{job}", {"schedule": {"delay": f"{version + 60}m"}},
             headers={"If-Match": f'"{version}"'})
    for options, words in ((["--job", job], ["execution", job]),
                           (["--summary", "-o", "json"], ['{"event":"tick"', '"queue_count"'])):
        environment = {**server.env, "BELFRY_TOKEN": server.key()}
        with subprocess.Popen([BELFRY, "events", *options], stdout=subprocess.PIPE, text=True,
                              env=environment) as watching, Ticker(change):
            line = watching.stdout.readline()
            watching.kill()
        assert all(word in line for word in words), line
    for wrong in (["--type", "nonsense"], ["--after", "1", "--summary"], ["--after", ""], ["--after", "1\nX: y"]):
        refused = server.cli("events", *wrong)
        assert refused.returncode == 2 and "usage" not in refused.stdout, refused
    refused = server.cli("events", "--type", "nonsense")
    assert refused.returncode == 2 and "type" in refused.stderr, refused


def watch_cli(own, word, *options):
    """What `belfry events` prints, up to the first line with this word."""
    environment = {**own.env, "BELFRY_TOKEN": own.key()}
    with subprocess.Popen([BELFRY, "events", *options], stdout=subprocess.PIPE, text=True, env=environment) as watching:
        lines = [watching.stdout.readline()]
        while word not in lines[-1]:
            assert lines[-1], "it ended"
            lines.append(watching.stdout.readline())
        watching.kill()
    return lines


def test_the_command_line_goes_on_behind_an_event_and_tells_of_a_gap():
    with Server("--no-worker") as own:
        def submit_one():
            return submit(own, queue="q", schedule={"delay": "1h"})[0]
        with Ticker(submit_one):
            first = json.loads(watch_cli(own, "execution", "--follow", "-o", "json")[-1])
        jobs = [submit_one() for _ in range(2)]
        lines = [json.loads(line) for line in watch_cli(own, jobs[1], "--after", first["id"], "-o", "json")]
        assert lines[0]["id"] != first["id"] and lines[-2]["data"]["job_id"] == jobs[0], lines
        assert watch_cli(own, jobs[1], "--after", lines[-2]["id"], "-o", "json") == [json.dumps(
            lines[-1], separators=(",", ":")) + "\n"], lines
        own.kill()
        own.start()
        assert watch_cli(own, "--", "--after", first["id"])[0].startswith("-- "), "a gap"


def test_what_executions_wait_for_is_counted():
    def blockers(queue):
        told = expect(200, server, "GET", f"/stats/blockers?queue={queue}")
        assert told["waiting"] == sum(told["blockers"].values()) and not told["sampled"], told
        return told["blockers"]
    for _ in range(3):
        submit(server, queue="waiting")
    upstream, _ = submit(server, queue="waiting", schedule={"delay": "1h"})
    submit(server, queue="waiting", depends_on=[{"job": upstream}])
    assert blockers("waiting") == {"no_worker": 3, "scheduled": 1, "dependency": 1}
    expect(200, server, "POST", "/queues/waiting/pause")
    assert blockers("waiting") == {"queue_paused": 3, "scheduled": 1, "dependency": 1}
    assert blockers("never-was") == {}
    shown = server.cli("stats", "--blockers", "--queue", "waiting")
    assert shown.returncode == 0 and "3  queue_paused" in shown.stdout, shown


def test_three_servers_tell_of_all_from_any():
    with Postgres() as postgres, Cluster(postgres, 3, "--no-worker") as nodes:
        count = 0
        for node in nodes:
            with Stream(node, SUMMARY + "&queue=shared") as stream:
                def told():
                    tick = next_of(stream, "tick")
                    return "missing" not in tick and (row(tick, "shared") or {"scheduled": 0})
                wait_for(lambda: told() and told()["scheduled"] == count, "the numbers of all")
                made = {submit(each, queue="shared", schedule={"delay": "1h"})[0] for each in nodes}
                assert {node.owner_of(job) for job in made} == {"a", "b", "c"}
                count += 3
                seen = set()
                while seen != made:
                    seen.add(next_of(stream, "execution")["job_id"])
                wait_for(lambda: told()["scheduled"] == count, f"what {node.name} was told of")
        told = [expect(200, node, "GET", "/stats/blockers?queue=shared") for node in nodes]
        assert all(t["blockers"] == {"scheduled": count} for t in told), told
        with Stream(nodes[0], SUMMARY) as stream, Stream(nodes[0], SUMMARY) as second:
            next_of(second, "tick")
            nodes[2].kill()
            wait_for(lambda: next_of(stream, "tick").get("missing") == ["c"], "c to be missed")
            def taken_over():
                tick = next_of(stream, "tick")
                return "missing" not in tick and row(tick, "shared")["scheduled"] == count
            wait_for(taken_over, "all to be told of by those that are left")
            next_of(second, "tick")


if __name__ == "__main__":
    main(tests_of(globals()), server)
