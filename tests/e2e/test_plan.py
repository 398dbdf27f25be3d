"""What will run: `belfry plan` plays the engine under a clock of its own, on what a server tells it."""

import contextlib
import datetime
import json
import pathlib

from belfry import Server, main, tests_of, wait_for
from protocol import Worker, expect, names
from strange import Strange

server = Server("--no-worker")  # no run of it starts unless a test says so

@contextlib.contextmanager
def jobs(*documents):
    """Jobs that are gone when the test is over: all that are there play along in every plan."""
    made = [expect(201, server, "POST", "/jobs", {"command": ["true"], "name": next(names), **one})["job_id"]
            for one in documents]
    try:
        yield made
    finally:
        for job in made:
            server.api("DELETE", f"/jobs/{job}")


def run(*args):
    return server.cli("plan", *args)


def plan(*args):
    done = run("-o", "json", *args)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def job_of(document, name):
    return next(one for one in document["jobs"] if one["name"] == name)


def write(name, document):
    path = pathlib.Path(server.dir) / name
    path.write_text(json.dumps(document))
    return str(path)


def next_whole_hour():
    now = datetime.datetime.now(datetime.timezone.utc)
    return now.replace(minute=0, second=0, microsecond=0) + datetime.timedelta(hours=1)


def text_of(moment):
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def change_of_clock(month):
    """The next night in which clocks in Berlin are changed: the last Sunday of March or October."""
    now = datetime.datetime.now(datetime.timezone.utc)
    for year in (now.year, now.year + 1):
        day = datetime.datetime(year, month, 31, tzinfo=datetime.timezone.utc)
        day -= datetime.timedelta(days=(day.weekday() + 1) % 7)
        if day > now + datetime.timedelta(days=2):
            return day
    raise AssertionError("no such night")


def test_runs_that_are_too_long_meet_the_next_one():
    kinds = ("skip", "queue", "parallel", "replace")
    with jobs(*({"schedule": {"cron": "* * * * *"}, "overlap": kind, "name": "meets-" + kind} for kind in kinds)):
        start = next_whole_hour()
        found = plan("--slots", "100", "--assume", "90s", "--from", text_of(start), "--until", "1h")["plan"]
        for kind in kinds:
            one = job_of(found, "meets-" + kind)
            assert one["firings"] == 60, one
            met = one["overlapped"]
            assert sum(met.values()) == one["overlaps"] == met["skipped" if kind == "skip" else {
                "queue": "queued", "parallel": "parallel", "replace": "replaced"}[kind]], one
        skips, queues = job_of(found, "meets-skip"), job_of(found, "meets-queue")
        assert (skips["starts"], skips["skipped"], skips["skipped_by"]["overlap"]) == (30, 30, 30), skips
        assert queues["late"] > 20 and queues["wait_max_ms"] > 20 * 60000, queues
        beside = job_of(found, "meets-parallel")
        assert beside["starts"] == 60 and beside["waits"] == 0, beside


def test_a_limit_and_few_slots_make_runs_wait():
    queue = next(names)
    with jobs(*({"schedule": {"cron": "0 * * * *"}, "queue": queue} for _ in range(3))):
        expect(200, server, "PUT", f"/queues/{queue}", {"concurrency": 1})
        window = ("--from", text_of(next_whole_hour()), "--until", "3h", "--assume", "10m")
        for slots in ("100", "1"):
            found = plan(*window, "--slots", slots)["plan"]
            assert found["totals"]["firings"] == found["totals"]["starts"] == 9, found["totals"]
            assert (found["totals"]["waits"], found["totals"]["late"]) == (6, 6), found["totals"]
            assert (found["totals"]["wait_max_ms"], found["running_max"]) == (1200000, 1), found
            assert found["queues"][0]["name"] == queue and found["queues"][0]["wait_ms"] == 3 * 1800000, found
        expect(200, server, "PUT", f"/queues/{queue}", {"concurrency": None})
        assert plan(*window, "--slots", "100")["plan"]["totals"]["waits"] == 0
        expect(200, server, "POST", f"/queues/{queue}/pause")
        told = plan(*window, "--slots", "100")
        assert (told["plan"]["totals"]["starts"], told["world"]["queues_paused"]) == (0, 1), told
        expect(200, server, "POST", f"/queues/{queue}/resume")


def test_the_night_in_which_clocks_change():
    nightly = {"cron": "30 2 * * *", "timezone": "Europe/Berlin"}
    with jobs({"schedule": nightly, "name": "usual"}, {"schedule": nightly, "name": "both", "dst": {"fold": "both"}},
              {"schedule": nightly, "name": "skips", "dst": {"gap": "skip"}}):
        for month, fires, words in ((3, {"usual": 1, "both": 1, "skips": 0}, "does not exist"),
                                    (10, {"usual": 1, "both": 2, "skips": 1}, "comes up twice")):
            night = change_of_clock(month)
            for more in ((), ("--firings-only",)):
                found = plan("--slots", "9", "--from", text_of(night), "--until", "20h", *more)
                told = {one["name"]: one["firings"] for one in found["plan"]["jobs"]}
                assert {**dict.fromkeys(fires, 0), **told} == fires, told
                assert [one["job"] for one in found["notes"]] == ["both", "skips", "usual"], found["notes"]
                assert all(words in one["text"] for one in found["notes"]), found["notes"]


def test_calendars_skip_and_hold():
    start = next_whole_hour()
    window = {"from": text_of(start), "to": text_of(start + datetime.timedelta(hours=2))}
    skips, holds = next(names), next(names)
    expect(201, server, "PUT", f"/calendars/{skips}", {"policy": "skip", "windows": [window]})
    expect(201, server, "PUT", f"/calendars/{holds}", {"policy": "hold", "windows": [window]})
    every = {"cron": "*/30 * * * *"}
    with jobs({"schedule": every, "calendars": [skips], "name": "skips"},
              {"schedule": every, "calendars": [holds], "name": "holds"}):
        args = ("--slots", "9", "--from", text_of(start), "--until", "3h")
        played, counted = plan(*args)["plan"], plan(*args, "--firings-only")["plan"]
        one = job_of(played, "skips")
        assert (one["firings"], one["starts"], one["skipped_by"]["calendar"]) == (6, 2, 4), one
        one = job_of(played, "holds")
        # all slots up to the end of the period are one run, then
        assert (one["held"], one["skipped_by"]["calendar"], one["starts"]) == (1, 4, 2), one
        assert [job_of(counted, name)[key] for name, key in (("skips", "skipped"), ("holds", "held"))] == [4, 4], counted


def test_a_changed_file_is_compared_and_may_fail():
    with jobs({"schedule": {"cron": "0 * * * *"}, "name": "grows", "overlap": "skip"},
              {"schedule": {"cron": "* * * * *"}, "name": "overlaps-anyway", "overlap": "skip"}) as made:
        args = ("--slots", "9", "--assume", "2m", "--from", text_of(next_whole_hour()), "--until", "1h")
        kept = write("kept.json", [{"name": "grows", "description": "the same"}])
        changed = write("changed.json", [{"name": "grows", "schedule": {"cron": "* * * * *"}},
                                         {"name": "made-new", "handler": "h", "schedule": {"every": "10m"}}])
        done = run(*args, "--fail-on", "overlap,late,skipped")
        assert done.returncode == 1 and "overlaps-anyway" in done.stderr, done
        assert run(*args, "--fail-on", "late").returncode == 0
        assert run(*args, "-f", kept, "--fail-on", "overlap,late,skipped").returncode == 0
        done = run(*args, "-f", changed, "--fail-on", "overlap,late,skipped")
        assert done.returncode == 1 and "'grows'" in done.stderr and "overlaps-anyway" not in done.stderr, done
        assert "more start late" not in done.stderr and "more meet a run" in done.stderr, done.stderr
        assert json.loads(run(*args, "-o", "json", "--fail-on", "overlap").stdout)["failed_on"].startswith("40 meet")
        assert "1 job changed, 1 new" in done.stdout and "1>60" in done.stdout and "worse" in done.stdout, done.stdout
        assert all(len(line) < 80 for line in done.stdout.splitlines()), done.stdout
        told = plan(*args, "-f", changed)
        assert [job_of(told[when], "grows")["firings"] for when in ("before", "after")] == [1, 60], told
        assert job_of(told["after"], "made-new")["new"] and told["worse"] == ["grows"], told["worse"]
        assert expect(200, server, "GET", f"/jobs/{made[0]}")["version"] == 1
        for document, words in (({"name": "grows", "queue": 7}, "queue must be"),
                                ({"name": "grows", "schedule": None}, "runs once"),
                                ({"name": "x", "command": ["x"], "depends_on": [{"job": "nobody"}]}, "nobody"),
                                ({"name": "x", "command": ["x"], "calendars": ["nobody"]}, "nobody")):
            done = run(*args, "-f", write("bad.json", [document]))
            assert done.returncode == 1 and words in done.stderr, done


def test_windows_and_words_that_make_no_sense_are_refused():
    with jobs({"schedule": {"every": "1s"}, "overlap": "parallel"}):
        for args, words in ((("--from", "2020-01-01T00:00:00Z"), "lies in the past: by the server it is"),
                            (("--until", "2020-01-01T00:00:00Z"), "later than --from; by the server"),
                            (("--from", "1h", "--until", "0s"), "later than --from"),
                            (("--until", "2090-01-01T00:00:00Z"), "20 years ahead"),
                            (("--until", f"{2**63 - 1}ms"), "20 years ahead"), (("--from", "soon"), "--from"),
                            (("--fail-on", "overlap,x"), "not 'x'"), (("--assume", "1"), "--assume"),
                            (("--step", "1s"), "--step"), (("--slots", "1000000"), "--slots"), (("x",), "")):
            done = run(*args)
            assert done.returncode == 2 and words in done.stderr, (args, done)
        for args in (("--job", "nobody"), ("--queue", "nobody")):
            assert run(*args).returncode == 3, args
        done = run("--until", "3650d", "--slots", "9", "--firings-max", "20000", "--fail-on", "late", "--assume", "100ms")
        assert done.returncode == 1 and "STOPPED at" in done.stdout and "after 20000 firings" in done.stdout, done
        assert "before its end" in done.stderr, done.stderr
        done = run("--until", "3650d", "--firings-only", "--firings-max", "1000")
        assert done.returncode == 0 and "STOPPED at" in done.stdout, done
        assert "no worker takes work" in run("--until", "1m").stdout


def test_counted_firings_are_those_that_a_preview_lists():
    expression, zone = "*/20 1-3,9 * * 1-6", "America/New_York"
    with jobs({"schedule": {"cron": expression, "timezone": zone}, "name": "previewed"}):
        start = next_whole_hour()
        runs = json.loads(server.cli("cron", expression, "--tz", zone, "--count", "1000", "--from", text_of(start),
                                     "-o", "json").stdout)["next_runs"]
        until = start + datetime.timedelta(days=60)
        wanted = {}
        for at in (datetime.datetime.fromisoformat(one.replace("Z", "+00:00")) for one in runs):
            if at < until:
                hour = text_of(at.replace(minute=0, second=0, microsecond=0))
                wanted[hour] = wanted.get(hour, 0) + 1
        args = ("--from", text_of(start), "--until", text_of(until), "--slots", "1")
        for more in ((), ("--firings-only",)):
            steps = plan(*args, *more)["plan"]["steps"]
            assert {one["at"].replace(".000Z", "Z"): one["firings"] for one in steps if one["firings"]} == wanted


def test_a_plan_is_what_happens_then():
    with jobs({"schedule": {"every": "1s"}, "overlap": "parallel", "name": "ticks"}) as made:
        found = plan("--until", "2500ms", "--slots", "9")

        def slots():
            runs = expect(200, server, "GET", f"/jobs/{made[0]}/executions?limit=1000")["executions"]
            return [one["slot"] for one in runs if one["status"] != "scheduled"]
        wait_for(lambda: max(slots(), default="") >= found["until"], "the time to pass")
        there = [slot for slot in slots() if found["from"] <= slot < found["until"]]
        assert len(there) == found["plan"]["totals"]["firings"], (there, found)


def test_runs_last_as_long_as_they_did_and_what_waits_is_played():
    queue, handler = next(names), next(names)
    with jobs({"schedule": {"every": "1h"}, "handler": handler, "command": None, "queue": queue, "name": "measured"},
              {"queue": queue, "name": "once-later", "schedule": {"delay": "30m"}},
              {"queue": queue, "name": "after-it", "depends_on": [{"job": "name:once-later"}]}) as made:
        expect(201, server, "POST", f"/jobs/{made[0]}/trigger")
        worker = Worker(server, queues=[queue], handlers=[handler], commands=False, slots=3)
        worker.finish(worker.take()[0])
        told = plan("--until", "3h", "--queue", queue, "--assume", "10m", "--slots", "1")
        assert told["world"]["jobs_with_history"] == 1, told["world"]
        assert job_of(told["plan"], "measured")["busy_ms"] < 60000 and job_of(told["plan"], "measured")["starts"] >= 2
        assert job_of(told["plan"], "once-later")["busy_ms"] == 600000, told["plan"]["jobs"]
        after = job_of(told["plan"], "after-it")
        assert after["starts"] == 1 and after["wait_max_ms"] >= 2300000, after
        played = plan("--until", "3h", "--queue", queue)["plan"]  # by the worker that is there
        assert played["slots"] == 3 and job_of(played, "measured")["starts"] >= 2, played
        assert job_of(played, "after-it")["firings"] == 1 and job_of(played, "after-it")["starts"] == 0, played
        expect(200, server, "POST", f"/jobs/{made[0]}/pause")
        assert "1 jobs paused" in run("--slots", "1").stdout


def test_answers_that_no_server_gives_are_survived():
    args = ("plan", "--slots", "1", "--until", "1h")
    for name in ("executions", "jobs", "queues"):
        done = Strange(**{name: {name: [], "next_cursor": "again"}}).cli(server, *args)
        assert done.returncode == 1 and f"list of {name} has no end" in done.stderr, done
    job = {"job_id": "job_0s9f88tfr0800", "status": "active", "name": "n", "queue": "default", "command": ["true"],
           "schedule": {"every": "1m"}, "p50_duration_ms": 2**63 - 1}
    execution = {"execution_id": "exec_0s9f88tfr0801", "job_id": job["job_id"], "origin": "slot", "queue": "default"}
    limits = [{"name": "", "concurrency": 1}, {"concurrency": -1}, {"name": "default", "concurrency": -1}, 7]
    ahead = {"status": "scheduled", "slot": "2026-11-19T22:01:00Z", "due_at": "2026-11-19T22:01:00Z"}
    begun = {"status": "running", "started_at": "9999-12-31T23:59:59Z", "token": 1}
    for run_of_it, schedule in ((ahead, None), (ahead, job["schedule"]), (begun, job["schedule"])):
        done = Strange(queues={"queues": limits}, teams={"teams": limits}, jobs={"jobs": [{**job, "schedule": schedule}]},
                       executions={"executions": [{**execution, **run_of_it}]}).cli(server, *args)
        assert done.returncode == 0 and "firing" in done.stdout, done
    done = Strange(jobs={"jobs": [{**job, "name": "\x1b[2J\n"}]}).cli(server, *args, "--fail-on", "overlap")
    assert done.returncode == 1 and "meet a run" in done.stderr and "\x1b" not in done.stderr + done.stdout, done


if __name__ == "__main__":
    main(tests_of(globals()), shared=server)
