"""A time zone gets other rules while the server runs: what is planned follows."""

import datetime
import os
import pathlib
import shutil
import tempfile

from belfry import Server, main, tests_of, wait_for
from protocol import expect, submit

SYSTEM = pathlib.Path("/usr/share/zoneinfo")


def put_zone(folder, source):
    """Replaces the zone Test as a package manager does."""
    fresh = folder / "fresh"
    shutil.copy(SYSTEM / source, fresh)
    os.rename(fresh, folder / "Test")


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def slot_of(server, job):
    found = expect(200, server, "GET", f"/jobs/{job}/executions?status=scheduled")["executions"]
    assert len(found) == 1, found
    return found[0]


def test_a_slot_ahead_follows_the_new_rules_and_is_the_same_slot():
    with tempfile.TemporaryDirectory() as temp:
        folder = pathlib.Path(temp)
        put_zone(folder, "Etc/GMT-3")  # three hours ahead of UTC
        flags = ["--no-worker", "--set", "tzdata_look_ms=50ms", "--set", "horizon_ms=48h"]
        with Server(*flags, env={"TZDIR": temp}) as server:
            hour = (datetime.datetime.now(datetime.timezone.utc).hour + 3 + 10) % 24  # ten hours ahead
            schedule = {"cron": f"0 {hour} * * *", "timezone": "Test"}
            job, _ = submit(server, handler="h", schedule=schedule)
            before = slot_of(server, job)
            put_zone(folder, "Etc/GMT-5")
            wait_for(lambda: slot_of(server, job)["slot"] != before["slot"], "the slot to move")
            after = slot_of(server, job)
            assert moment(before["slot"]) - moment(after["slot"]) == datetime.timedelta(hours=2), after
            assert after["execution_id"] == before["execution_id"]
            assert after["nominal_time"] == before["nominal_time"]
            why = expect(200, server, "GET", "/executions/" + after["execution_id"])["transitions"]
            assert "time zone" in why[-1]["reason"], why
            assert expect(200, server, "GET", "/jobs/" + job)["version"] == 1


def test_rules_that_changed_while_no_server_ran_count_from_the_start():
    with tempfile.TemporaryDirectory() as temp:
        folder = pathlib.Path(temp)
        put_zone(folder, "Etc/GMT-3")
        with Server("--no-worker", env={"TZDIR": temp}) as server:
            job, _ = submit(server, handler="h", schedule={"cron": "* * * * *", "timezone": "Test"})
            daily, _ = submit(server, handler="h", schedule={"cron": "0 12 1 1 *", "timezone": "Test"})
            server.stop()
            put_zone(folder, "Etc/GMT-5")
            server.start()
            expect(200, server, "POST", f"/jobs/{daily}/pause")  # reads it, from far ahead
            assert slot_of(server, daily)["slot"][10:] == "T07:00:00.000Z"
            assert slot_of(server, job)["slot"][16:] == ":00.000Z"


if __name__ == "__main__":
    main(tests_of(globals()))
