"""Jobs that recur: each slot of a schedule has exactly one outcome, whatever happens.

What ran is read from a file that the commands themselves write, what was recorded from the API.
Slots here are a second apart, so jobs that need a while are submitted together, when the server
starts, and run beside each other while the first tests wait.
"""

import datetime
import json
import subprocess
import time

from belfry import BELFRY, PATIENCE_S, Server, main, tests_of, wait_for
from protocol import expect

SECOND = 1000
# The slot, the execution and a word, one line each; appended in one write.
NOTE = 'note() { echo "$BELFRY_SLOT $BELFRY_EXECUTION_ID $1" >> "$0"; }; '
SLOW = NOTE + "trap 'note end; exit 1' TERM; note begin; sleep 2.3 & wait $!; note end"


def milliseconds(when):
    moment = datetime.datetime.fromisoformat(when.replace("Z", "+00:00"))
    return round(moment.timestamp() * 1000)


class Job:
    """A job that recurs, and the notes that its commands leave."""
    def __init__(self, own, name, schedule, script=NOTE + "note ran", **more):
        self.server, self.file = own, own.dir / name
        self.file.touch()
        self.created = expect(201, own, "POST", "/jobs", {
            "name": name, "command": ["sh", "-c", script, str(self.file)], "schedule": schedule,
            "retry": {"max_retries": 0}, **more})
        self.id = self.created["job_id"]
        self.path = "/jobs/" + self.id

    def notes(self):
        """(slot, execution, word) of every line, in order."""
        return [tuple(line.split()) for line in self.file.read_text().splitlines()]

    def ran(self):
        return [slot for slot, _, word in self.notes() if word in ("ran", "begin")]

    def most_at_once(self):
        now = most = 0
        for _, _, word in self.notes():
            now += 1 if word == "begin" else -1
            most = max(most, now)
        return most

    def wait_for_runs(self, count):
        wait_for(lambda: len(self.ran()) >= count, f"{count} runs of {self.file.name}")

    def records(self, **filters):
        """All executions, oldest first."""
        query = "&".join(f"{k}={v}" for k, v in {"limit": 1000, **filters}.items())
        found = expect(200, self.server, "GET", f"{self.path}/executions?{query}")["executions"]
        return found[::-1]

    def shown(self):
        return expect(200, self.server, "GET", self.path)

    def check_slots(self, step_ms):
        """Every slot since the first one is in exactly one record, and was run at most once."""
        notes = self.notes()  # first: whatever they are about has a record
        told, skipped, known = [], set(), set()
        for record in self.records():
            if record["origin"] != "slot":
                continue
            known.add(record["execution_id"])
            first = milliseconds(record["slot"])
            count = record["slot_count"]
            last = milliseconds(record["slot_last"] or record["slot"])
            assert last - first == (count - 1) * step_ms, record
            assert (record["status"] == "skipped") >= (count > 1), record
            slots = range(first, last + 1, step_ms)
            told += slots
            skipped |= set(slots) if record["status"] == "skipped" else set()
        told.sort()
        assert told == list(range(told[0], told[-1] + 1, step_ms)), told
        assert milliseconds(self.created["next_runs"][0]) == told[0], (self.created, told)
        ran = [slot for slot, execution, word in notes if word != "end" and execution in known]
        assert len(set(ran)) == len(ran), ran
        assert {milliseconds(slot) for slot in ran} <= set(told) - skipped, (ran, told, skipped)

    def skipped(self, why):
        return [r for r in self.records(status="skipped") if why in r["error"]]

    def cancel(self):
        expect(200, self.server, "DELETE", self.path)


class Stage(Server):
    def __enter__(self):
        super().__enter__()
        every = {"every": "1s"}
        self.tick = Job(self, "tick", every)
        self.even = Job(self, "even", {"cron": "*/2 * * * * *", "seconds": True,
                                       "timezone": "Asia/Kathmandu"})
        # A slot that is late because the machine stood still is run all the same: what is skipped here
        # is skipped on account of the overlap.
        self.overlap = {how: Job(self, how, every, SLOW, overlap=how, misfire={"policy": "all"})
                        for how in ("skip", "queue", "parallel", "replace")}
        return self


server = Stage("--slots", "12")


# ---- slots

def test_an_interval_does_not_drift_and_leaves_out_no_slot():
    tick = server.tick
    tick.wait_for_runs(3)
    start = milliseconds(tick.created["created_at"])
    assert tick.created["schedule_text"] == "every 1s", tick.created
    assert milliseconds(tick.created["next_runs"][0]) == start + SECOND, tick.created
    tick.check_slots(SECOND)
    for slot in tick.ran():
        assert (milliseconds(slot) - start) % SECOND == 0, slot
    ran = [r for r in tick.records() if r["started_at"]]
    assert all(r["started_at"] >= r["slot"] for r in ran), ran


def test_cron_with_seconds_goes_by_its_zone():
    even = server.even
    even.wait_for_runs(2)
    even.check_slots(2 * SECOND)
    for record in even.records():
        slot = milliseconds(record["slot"])
        local = milliseconds(record["nominal_time"] + "+00:00")
        assert slot % (2 * SECOND) == 0, record
        assert local - slot == (5 * 60 + 45) * 60 * SECOND, record


def test_a_job_tells_when_it_runs_next_and_what_it_does():
    tick = server.tick
    shown = tick.shown()
    ahead, = tick.records(status="scheduled")
    assert shown["schedule_text"] == "every 1s" and shown["next_run_at"] >= shown["created_at"]
    assert ahead["due_at"] >= shown["next_run_at"] and ahead["origin"] == "slot", (ahead, shown)
    assert shown["last_execution_id"] != tick.created["execution_id"], shown
    assert shown["current_execution"] is None or shown["current_execution"]["status"] != "scheduled"
    listed, = expect(200, server, "GET", "/jobs?name=tick")["jobs"]
    assert listed["schedule_text"] == "every 1s" and listed["next_run_at"] >= shown["next_run_at"]


# ---- overlap; the commands take 2.3 seconds, slots are one apart

def test_a_slot_is_skipped_while_the_run_before_it_is_not_over():
    job = server.overlap["skip"]
    job.wait_for_runs(2)
    assert job.most_at_once() == 1, job.notes()
    one = job.skipped("overlap: exec_")[0]
    assert one["slot_count"] == 1 and one["started_at"] is None, one
    job.check_slots(SECOND)
    job.cancel()


def test_slots_wait_in_order_for_the_run_before_them():
    job = server.overlap["queue"]
    job.wait_for_runs(2)
    waiting = job.records(status="blocked")
    assert waiting, job.records()
    shown = job.shown()["current_execution"]
    assert shown["status"] in ("queued", "running"), shown  # and not one of those behind it
    assert job.most_at_once() == 1 and not job.skipped(""), job.notes()
    ran = [milliseconds(slot) for slot in job.ran()]
    assert ran == list(range(ran[0], ran[-1] + 1, SECOND)), ran
    job.check_slots(SECOND)
    job.cancel()


def test_slots_run_beside_each_other():
    job = server.overlap["parallel"]
    job.wait_for_runs(3)
    assert job.most_at_once() >= 2 and not job.skipped(""), job.notes()
    job.check_slots(SECOND)
    job.cancel()


def test_a_slot_takes_the_place_of_the_run_before_it():
    job = server.overlap["replace"]
    job.wait_for_runs(3)
    replaced = [r for r in job.records(status="cancelled") if r["started_at"]]
    assert replaced, job.records()
    told = expect(200, server, "GET", "/executions/" + replaced[0]["execution_id"])["transitions"]
    assert any(step["reason"].startswith("replaced by exec_") for step in told), told
    assert job.most_at_once() == 1, job.notes()  # it waited until the other one was gone
    job.check_slots(SECOND)
    job.cancel()


# ---- pause, resume, trigger

def run(*args, code=0):
    done = server.cli(*args)
    assert done.returncode == code, done
    return done.stdout if code == 0 else done.stderr


def test_what_passes_while_a_job_is_paused_is_one_record():
    job = server.tick
    assert run("pause", job.id, "--reason", "moving house") == f"{job.id} paused\n"
    assert run("pause", job.id) == f"{job.id} paused\n"
    wait_for(lambda: job.shown()["current_execution"] is None, "the last run to end")
    before, since = len(job.ran()), time.monotonic()
    shown = job.shown()
    assert (shown["status"], shown["next_run_at"]) == ("paused", None), shown
    pauses = [step for step in shown["transitions"] if step["event"] == "pause"]
    assert [p["reason"] for p in pauses] == ["moving house"] and pauses[0]["actor"] == "key:admin"
    assert "resume it first" in run("trigger", job.id, code=1)
    wait_for(lambda: time.monotonic() - since > 2.5, "some slots to pass")
    assert len(job.ran()) == before, job.ran()
    assert json.loads(run("resume", job.id, "-o", "json")) == {"job_id": job.id, "status": "active"}
    job.wait_for_runs(before + 1)
    missed, = job.skipped("missed while the job was paused")
    assert missed["slot_count"] >= 2, missed
    job.check_slots(SECOND)
    line, = [one for one in run("executions", "--job", job.id, "--status", "skipped").splitlines()
             if missed["execution_id"] in one]
    assert f"{missed['slot_count']} slots skipped: missed while the job was paused" in line, line


def test_a_trigger_is_one_run_more():
    job = Job(server, "yearly", {"cron": "@yearly"}, NOTE + "note ran; echo $BELFRY_EXECUTION_ID")
    first = json.loads(run("trigger", job.id, "-o", "json"))
    job.wait_for_runs(1)
    server.wait_for_status(job.id, "completed")
    second = run("trigger", job.id, "--wait").strip()
    assert first["job_id"] == job.id and second != first["execution_id"], (first, second)
    ahead, one, two = job.records()
    assert [r["origin"] for r in (ahead, one, two)] == ["slot", "request", "request"]
    assert (two["slot_count"], two["nominal_time"]) == (0, None), two
    assert ahead["status"] == "scheduled" and ahead["slot"].endswith("-01-01T00:00:00.000Z"), ahead
    shown = job.shown()
    assert shown["last_execution_id"] == second and shown["next_run_at"] == ahead["slot"], shown
    assert run("logs", job.id) == second + "\n"  # of what ran, and not of what will
    again = run("retry", second).strip()
    wait_for(lambda: len(job.ran()) == 3, "it to run again")
    assert expect(200, server, "GET", "/executions/" + again)["retry_of"] == second


def test_only_one_runs_at_a_time_when_overlap_is_skip():
    job = Job(server, "slow", {"cron": "@yearly"}, SLOW)
    run("trigger", job.id)
    job.wait_for_runs(1)
    assert "is not over yet" in run("trigger", job.id, code=1)
    job.cancel()
    assert "already ended" in run("pause", job.id, code=1)
    assert "already ended" in run("resume", job.id, code=1)
    assert "already ended" in run("trigger", job.id, code=1)


def test_a_job_that_runs_once_can_be_paused_and_started_early():
    job = server.submit("--in", "1h", "--", "true")
    run("pause", job)
    run("resume", job)
    assert run("trigger", job).startswith("exec_")
    assert server.wait_for_status(job, "completed")["origin"] == "once"
    assert run("resume", "job_0000000000001", code=3) and run("pause", "x", code=3)
    assert "takes the id of a job" in run("pause", server.job(job)["last_execution_id"], code=2)


# ---- downtime

def test_slots_missed_by_a_dead_server_are_made_up_by_their_policy():
    with Server("--slots", "12") as own:
        jobs = {policy: Job(own, policy, {"every": "1s"}, misfire={"policy": policy},
                            overlap="parallel") for policy in ("latest", "all", "skip")}
        for job in jobs.values():
            job.wait_for_runs(2)
        own.kill()
        killed_ms, since = time.time() * 1000, time.monotonic()
        wait_for(lambda: time.monotonic() - since > 3.2, "some slots to pass")
        before = {policy: len(job.ran()) for policy, job in jobs.items()}
        started_ms = time.time() * 1000
        own.start()
        # All missed ones of `all`, or two of those that follow: then the past is decided.
        for policy, job in jobs.items():
            job.wait_for_runs(before[policy] + (3 if policy == "all" else 2))

        def missed(policy):
            """Not those that were missed because the machine stood still before or after."""
            return [r for r in jobs[policy].skipped("missed") if milliseconds(r["slot"]) < started_ms
                    and milliseconds(r["slot_last"] or r["slot"]) >= killed_ms]
        for job in jobs.values():
            job.check_slots(SECOND)
        (latest,), (none,) = missed("latest"), missed("skip")
        assert not jobs["all"].skipped("missed"), jobs["all"].skipped("missed")
        assert latest["slot_count"] >= 2 and none["slot_count"] >= 2, (latest, none)
        # Of `latest`, what follows the range has run, although nobody was there in time.
        after = milliseconds(latest["slot_last"]) + SECOND
        assert after in map(milliseconds, jobs["latest"].ran()), (latest, jobs["latest"].ran())


# ---- bad input

def refused(schedule, field, **more):
    status, problem = server.api("POST", "/jobs", {"command": "true", "schedule": schedule, **more})
    assert status == 400, (schedule, problem)
    assert [e["field"] for e in problem["errors"]] == [field], (schedule, problem)
    return problem["errors"][0]["message"]


def test_expressions_that_make_no_sense_are_refused_with_the_reason():
    for text, why in (("61 * * * *", "minute"), ("* * * * * * *", "field"), ("30-10 * * * *", "backwards"),
                      ("* * * * 5-2", "backwards"), ("*/5 * * * * *", "seconds were not asked for"),
                      ("*/0 * * * *", "step"), ("0 0 31 2 *", "never"), ("0 24 * * *", "hour"),
                      ("@reboot", "reboot"), ("", "empty"), ("@every 10ms", "at least 1s"),
                      ("CRON_TZ=Mars/Olympus 0 0 * * *", "Mars/Olympus")):
        field = "schedule.timezone" if "Mars" in text else "schedule.cron"
        assert why in refused({"cron": text}, field), text
    assert "1024" in refused({"cron": "0," * 500000 + "0 * * * *"}, "schedule.cron")
    assert "Mars" in refused({"cron": "0 3 * * *", "timezone": "Mars/Olympus"}, "schedule.timezone")
    refused({"cron": "0 3 * * *", "timezone": "../../etc/passwd"}, "schedule.timezone")


def test_intervals_that_make_no_sense_are_refused():
    for text in ("999ms", "0s", "365000000d", "-1s", "1", ""):
        refused({"every": text}, "schedule.every")
    refused({"every": "1s", "cron": "0 3 * * *"}, "schedule")
    refused({"every": "1s", "timezone": "UTC"}, "schedule")
    for field, value in (("overlap", "sometimes"), ("stagger", "-1s")):
        refused({"every": "1s"}, field, **{field: value})
    for key, value in (("policy", "maybe"), ("limit", 0), ("limit", 10001), ("grace", "x")):
        refused({"every": "1s"}, "misfire." + key, misfire={key: value})
    for key in ("gap", "fold"):
        refused({"cron": "0 3 * * *"}, "dst." + key, dst={key: "perhaps"})
    for field, value in (("overlap", "skip"), ("misfire", {}), ("dst", {}), ("stagger", "1s")):
        assert "every or cron" in refused({"delay": "1s"}, field, **{field: value})


# ---- the command line

def test_submit_takes_schedules():
    job = server.job(server.submit(
        "--cron", "0 30 2 * * *", "--seconds", "--tz", "Europe/Berlin", "--overlap", "queue",
        "--misfire", "all", "--stagger", "10m", "--name", "nightly", "--", "true"))
    assert job["schedule"] == {"cron": "0 30 2 * * *", "timezone": "Europe/Berlin", "seconds": True}
    assert (job["overlap"], job["misfire"]["policy"], job["stagger"]) == ("queue", "all", "10m"), job
    page = run("show", job["job_id"])
    assert "schedule     at 02:30 every day (Europe/Berlin)\n" in page and "next run" in page, page
    row, = [line for line in run("jobs", "--name", "nightly").splitlines() if job["job_id"] in line]
    assert "at 02:30 every day (Europe/Berlin)" in row, row
    run("pause", job["job_id"])
    assert job["job_id"] in run("jobs", "--status", "paused")
    assert run("submit", "--every", "1h", "--", "true").startswith("job_")
    for usage, why in ((("--every", "1h", "--wait"), "runs again and again"),
                       (("--cron", "@daily", "--every", "1h"), "not both"),
                       (("--at", "2030-01-01T00:00:00Z", "--cron", "@daily"), "not both"),
                       (("--every", "1h", "--tz", "UTC"), "belongs to --cron"),
                       (("--seconds",), "belongs to --cron"), (("--cron", "61 * * * *"), "minute"),
                       (("--every", "1h", "--overlap", "x"), "overlap"), (("--overlap", "skip"), "overlap")):
        assert why in run("submit", *usage, "--", "true", code=2), usage
    done = subprocess.run(
        [BELFRY, "submit", "--wait", "-f", "-"], env=server.env, text=True, capture_output=True,
        input='{"command": "true", "schedule": {"cron": "@daily"}}', timeout=PATIENCE_S, check=False)
    assert done.returncode == 1 and "runs again and again" in done.stderr, done


if __name__ == "__main__":
    main(tests_of(globals()), shared=server)
