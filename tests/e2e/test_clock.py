"""Somebody sets the clock of the machine: what runs goes on, and nothing runs before its time.

libfaketime stands between belfry and the wall clock and reads from a file how far it is off; the
boot clock stays true, as it does on a real machine.
"""

import datetime
import glob
import tempfile
import pathlib
import time

from belfry import BELFRY, Server, main, tests_of, wait_for, wait_within

LEASE_S = 4  # so long that a machine which stands still for a moment ends no lease


class SetClock:
    """A server whose wall clock can be set; a step is followed when it has held for step_ms."""

    def __init__(self, step_ms=0, **env):
        library = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
        assert library, "libfaketime is missing: scripts/deps test installs it"
        self.dir = tempfile.mkdtemp(prefix="belfry-e2e-")
        self.file = pathlib.Path(self.dir) / "clock"
        self.set(0)
        self.server = Server(cwd=self.dir, env={
            "BELFRY_LEASE_MS": str(1000 * LEASE_S),
            "BELFRY_PARK_MS": "500",
            "BELFRY_CLOCK_STEP_MS": str(step_ms),
            "BELFRY_CLOCK_SYNCED": "no",
            "LD_PRELOAD": library[0],
            "FAKETIME_TIMESTAMP_FILE": str(self.file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            **env,
        })

    def set(self, off_s):
        """The clock is off by so much from now on."""
        self.off_s = off_s
        fresh = self.file.with_suffix(".new")
        fresh.write_text(f"{off_s:+d}")
        fresh.rename(self.file)

    def wait_until_followed(self):
        """The server samples its clock every second."""
        def off_s():
            told = self.server.api("GET", "/cluster")[1]["time"]
            return seconds_of(told) - time.time() - self.off_s
        wait_for(lambda: abs(off_s()) < 30, "the server to go by its clock")

    def at(self, in_s):
        """The moment in so many seconds, by the clock as it is set."""
        now = datetime.datetime.now(datetime.timezone.utc)
        return (now + datetime.timedelta(seconds=self.off_s + in_s)).strftime("%FT%TZ")


def test_a_run_outlives_a_clock_set_forward_or_back():
    steps = {86400: SetClock(), -86400: SetClock()}
    with steps[86400].server, steps[-86400].server:
        jobs = {}
        for step_s, clock in steps.items():
            jobs[step_s] = clock.server.submit("--", "sleep", str(LEASE_S + 2))  # longer than a lease
            clock.server.wait_for_status(jobs[step_s], "running")
            clock.set(step_s)
        for step_s, clock in steps.items():
            execution = clock.server.wait_for_status(jobs[step_s], "completed")
            assert execution["lost_count"] == 0 and len(execution["attempts"]) == 1, execution
            assert execution["started_at"] <= execution["finished_at"], execution
            # And the next one is served at once, by the same worker.
            assert clock.server.cli("submit", "--wait", "--", "true").returncode == 0
            assert len(clock.server.api("GET", "/workers")[1]["workers"]) == 1


def test_a_job_for_a_moment_waits_for_it_after_the_clock_was_set_back():
    clock = SetClock()
    with clock.server as server:
        while True:
            begin = time.monotonic()
            job = server.submit("--at", clock.at(2), "--", "true")  # a second ahead, or two
            clock.set(-60)
            if time.monotonic() - begin < 1:
                break
            clock.set(0)  # its moment may have come before the step
        delayed = server.submit("--in", "3s", "--", "true")
        server.wait_for_status(delayed, "completed")  # so two seconds have long passed
        assert server.newest_execution(job)["status"] == "scheduled"
        clock.set(10)
        server.wait_for_status(job, "completed")


def test_a_clock_set_forward_brings_what_is_due_by_it():
    clock = SetClock()
    with clock.server as server:
        job = server.submit("--at", clock.at(7 * 86400), "--", "true")
        assert server.newest_execution(job)["status"] == "scheduled"
        clock.set(7 * 86400)
        wait_within(10, lambda: server.newest_execution(job)["status"] == "completed", "the run")


# ---- clocks that are wrong

def steps(server):
    return server.api("GET", "/cluster")[1]["clock"]["jumps"]


def slots_of(server, job):
    _, answer = server.api("GET", f"/jobs/{job}/executions?limit=200")
    return answer["executions"]


def count_completed(server, job):
    return sum(e["status"] == "completed" for e in slots_of(server, job))


def test_an_hour_ahead_for_a_few_seconds_does_nothing():
    clock = SetClock(step_ms=60000)
    with clock.server as server:
        job = server.submit("--every", "1s", "--", "true")
        later = server.submit("--in", "10m", "--", "true")
        wait_for(lambda: count_completed(server, job) >= 2, "two runs")
        clock.set(3600)
        before = count_completed(server, job)
        wait_for(lambda: count_completed(server, job) >= before + 3, "three runs more")
        clock.set(0)
        before = count_completed(server, job)
        wait_for(lambda: count_completed(server, job) >= before + 3, "three more")
        assert steps(server) == 0
        skipped = [e for e in slots_of(server, job) if e["status"] == "skipped"]
        assert all(e.get("slot_count", 1) < 60 for e in skipped), skipped
        assert server.newest_execution(later)["status"] == "scheduled"


def test_a_step_that_holds_is_followed_and_told():
    clock = SetClock(step_ms=3000)
    with clock.server as server:
        delayed = server.submit("--in", "10m", "--", "true")
        job = server.submit("--at", clock.at(2 * 3600), "--", "true")
        clock.set(2 * 3600 + 60)
        server.wait_for_status(job, "completed")
        assert steps(server) == 1
        alerts = server.api("GET", "/alerts")[1]["alerts"]
        assert [a["kind"] for a in alerts].count("clock") == 1, alerts
        # What was told how long to wait waits as long.
        execution = server.newest_execution(delayed)
        assert execution["status"] == "scheduled", execution
        assert execution["due_at"][:16] >= clock.at(500)[:16], (execution, clock.at(0))


def test_a_clock_set_back_for_good_goes_on_firing():
    clock = SetClock(step_ms=3000)
    with clock.server as server:
        job = server.submit("--every", "1s", "--", "true")
        wait_for(lambda: count_completed(server, job) >= 2, "two runs")
        clock.set(-3600)
        wait_for(lambda: steps(server) == 1, "the step")
        before = count_completed(server, job)
        wait_for(lambda: count_completed(server, job) >= before + 3, "three runs more")
        assert server.job(job)["next_run_at"] < clock.at(60)


def test_a_start_with_a_bad_clock_deletes_nothing_and_fires_nothing():
    clock = SetClock(step_ms=3000, BELFRY_HISTORY_KEEP_MS="86400000")
    with clock.server as server:
        done = [server.submit("--", "true") for _ in range(5)]
        for job in done:
            server.wait_for_status(job, "completed")
        job = server.submit("--at", clock.at(30 * 86400), "--", "true")
        server.stop()
        clock.set(365 * 86400)
        clock.server.env["BELFRY_CLOCK_STEP_MS"] = "3600000"
        server.start()
        assert server.cli("submit", "--wait", "--", "true").returncode == 0  # at once
        delayed = server.submit("--in", "3s", "--", "true")
        time.sleep(4)  # nothing is to happen
        assert server.newest_execution(job)["status"] == "scheduled"
        assert server.newest_execution(delayed)["status"] == "scheduled"
        server.stop()
        clock.server.env["BELFRY_CLOCK_STEP_MS"] = "3000"
        server.start()
        server.wait_for_status(job, "completed")  # a year later, and that has held
        for job in done:  # but nothing that is old by such a clock is gone
            assert server.newest_execution(job)["status"] == "completed"


# ---- nights in which clocks change

def seconds_of(when):
    return round(datetime.datetime.fromisoformat(when.replace("Z", "+00:00")).timestamp())


class Night:
    """A job for 02:30 in Berlin, and a clock that goes through the night in leaps."""

    def __init__(self, clock, evening):
        self.clock, self.server = clock, clock.server
        self.go_to(evening)
        self.job = self.server.submit("--cron", "30 2 * * *", "--tz", "Europe/Berlin", "--", "true")

    def go_to(self, when):
        self.clock.set(seconds_of(when) - round(time.time()))
        self.clock.wait_until_followed()

    def runs(self):
        """(slot, local time promised) of all that ran, oldest first."""
        _, answer = self.server.api("GET", f"/jobs/{self.job}/executions")
        return [(r["slot"][:16] + "Z", r["nominal_time"][:16])
                for r in reversed(answer["executions"]) if r["status"] == "completed"]

    def wait_for_runs(self, *runs):
        wait_for(lambda: len(self.runs()) >= len(runs), f"{len(runs)} runs")
        assert self.runs() == list(runs), self.runs()

    def next_slot(self):
        return self.server.job(self.job)["next_run_at"][:16] + "Z"


def test_a_nightly_job_runs_once_in_the_nights_in_which_clocks_change():
    clock = SetClock()
    with clock.server:
        # In spring 02:30 does not exist: once, at 03:00 local, and on the next day as usual.
        night = Night(clock, "2026-03-28T20:00:00Z")
        night.go_to("2026-03-29T00:59:59Z")
        spring = ("2026-03-29T01:00Z", "2026-03-29T02:30")
        night.wait_for_runs(spring)
        assert night.next_slot() == "2026-03-30T00:30Z"
        night.go_to("2026-03-30T00:29:59Z")
        night.wait_for_runs(spring, ("2026-03-30T00:30Z", "2026-03-30T02:30"))
        clock.server.cli("cancel", night.job)
        # In autumn it comes twice: the first one counts, and the second passes by.
        night = Night(clock, "2026-10-24T20:00:00Z")
        night.go_to("2026-10-25T00:29:59Z")
        autumn = ("2026-10-25T00:30Z", "2026-10-25T02:30")
        night.wait_for_runs(autumn)
        assert night.next_slot() == "2026-10-26T01:30Z"
        night.go_to("2026-10-25T01:30:30Z")
        done = clock.server.submit("--in", "1s", "--", "true")
        clock.server.wait_for_status(done, "completed")
        assert night.runs() == [autumn], night.runs()
        night.go_to("2026-10-26T01:29:59Z")
        night.wait_for_runs(autumn, ("2026-10-26T01:30Z", "2026-10-26T02:30"))


def is_sanitized():
    """The sanitizers' runtime insists on being loaded first, and so does libfaketime."""
    return any(part.endswith(("-san", "-tsan")) for part in pathlib.Path(BELFRY).parts)


if __name__ == "__main__":
    main([] if is_sanitized() else tests_of(globals()))
