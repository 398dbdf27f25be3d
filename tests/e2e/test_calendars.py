"""Calendars: times at which jobs are not to run, as documents and as iCalendar files."""

import datetime
import json
import pathlib

from belfry import Server, main, tests_of, wait_for
from protocol import API, call, execution, expect, names, submit

server = Server("--set", "horizon_ms=1m")

ICS = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//somebody//EN
X-WR-CALNAME:Holidays
X-WR-TIMEZONE:Europe/Berlin
BEGIN:VEVENT
UID:1
SUMMARY:Christmas
DTSTART;VALUE=DATE:20201225
DTEND;VALUE=DATE:20201227
RRULE:FREQ=YEARLY
END:VEVENT
BEGIN:VEVENT
UID:2
SUMMARY:Thanksgiving
DTSTART;VALUE=DATE:20201126
RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=4TH
END:VEVENT
END:VCALENDAR
""".replace("\n", "\r\n")


def moment(offset_s=0):
    at = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=offset_s)
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def put(name, document, status=(200, 201)):
    answer = call(server, "PUT", API + "/calendars/" + name, document)
    assert answer.status in status, answer
    return answer.json


def put_window(name, policy, from_s, to_s):
    return put(name, {"policy": policy,
                      "windows": [{"from": moment(from_s), "to": moment(to_s)}]})


def import_ics(name, text, query=""):
    return call(server, "PUT", API + "/calendars/" + name + query, text.encode(),
                headers={"Content-Type": "text/calendar; charset=utf-8"})


def refused(status, name, document, field, words):
    answer = call(server, "PUT", API + "/calendars/" + name, document)
    assert answer.status == status, answer
    errors = answer.json.get("errors", [])
    if field is not None:
        assert errors[0]["field"] == field, answer
    assert words in json.dumps(answer.json), answer


def runs(job, status):
    listed = expect(200, server, "GET", f"/jobs/{job}/executions?limit=1000")["executions"]
    return [x for x in listed if x["status"] == status]


# ---- documents

def test_a_calendar_is_put_shown_listed_changed_and_deleted():
    name = next(names)
    document = {"policy": "hold", "timezone": "Europe/Berlin", "description": "x",
                "dates": ["2026-12-24/2027-01-01"], "weekly": ["Sat 00:00-Mon 06:00"],
                "windows": [{"from": "2026-11-20T22:00", "to": "2026-11-21T04:00"}]}
    first = expect(201, server, "PUT", "/calendars/" + name, document)
    assert (first["name"], first["version"], first["policy"]) == (name, 1, "hold"), first
    assert first["entry_count"] == 3 and first["changed_by"] == "key:admin", first
    shown = expect(200, server, "GET", "/calendars/" + name)
    assert shown.pop("document") == document and shown == first, shown
    listed = expect(200, server, "GET", "/calendars")["calendars"]
    assert first in listed, listed
    again = expect(200, server, "PUT", "/calendars/" + name, {})
    assert (again["version"], again["policy"], again["entry_count"]) == (2, "skip", 0), again
    assert expect(200, server, "DELETE", "/calendars/" + name)["name"] == name
    for method in ("GET", "DELETE"):
        assert "no calendar" in expect(404, server, method, "/calendars/" + name)["detail"]


def test_bad_documents_are_refused_by_field():
    name = next(names)
    refused(400, name, {"dates": ["2026-02-30"]}, "dates[0]", "must be a date")
    refused(400, name, {"dates": "2026-02-03"}, "dates", "array")
    refused(400, name, {"weekly": ["Sat-Sun"]}, "weekly[0]", "Sat")
    refused(400, name, {"windows": [{"from": "2026-11-21T00:00"}]}, "windows[0].to", "required")
    refused(400, name, {"policy": "wait"}, "policy", "skip and hold")
    refused(400, name, {"timezone": "Mars/Base"}, "timezone", "Mars/Base")
    refused(400, name, {"holidays": []}, "holidays", "unknown field")
    refused(400, name, [], None, "object")
    refused(400, "a%20b", {}, "calendar", "letters, digits")
    refused(400, "x" * 201, {}, "calendar", "200")
    expect(404, server, "GET", "/calendars/" + name)


def test_ten_thousand_entries_are_taken_and_one_more_is_not():
    name = next(names)
    day = datetime.date(2026, 1, 1)
    dates = [str(day + datetime.timedelta(days=2 * i)) for i in range(10001)]
    assert put(name, {"dates": dates[:10000]})["entry_count"] == 10000
    refused(400, name, {"dates": dates}, "dates", "10000")
    refused(400, name, {"weekly": ["Mon 00:00-Mon 01:00"] * 10001}, "weekly", "10000")
    job, _ = submit(server, calendars=[name], schedule={"every": "1h"})
    assert server.job(job)["calendars"] == [name]
    large = {"description": "", "ical": "x" * (1 << 20) + "x"}
    refused(400, name, large, "ical", "1048576")


# ---- iCalendar

def test_an_ics_file_with_rules_becomes_a_calendar():
    name = next(names)
    answer = import_ics(name, ICS, "?policy=hold")
    assert answer.status == 201 and answer.json["entry_count"] == 2, answer
    assert answer.json["policy"] == "hold", answer
    created = expect(201, server, "POST", "/jobs", {
        "command": ["true"], "calendars": [{"name": name, "policy": "skip"}],
        "schedule": {"cron": "0 12 25 12 *", "timezone": "Europe/Berlin"}})
    assert len(created["notes"]) == 5, created
    note = created["notes"][0]
    assert note["at"] == created["next_runs"][0], created
    assert f"the calendar '{name}' will skip it" in note["text"], note
    assert note["text"].endswith("-12-26T23:00:00.000Z"), note  # midnight in Berlin


def test_an_ics_file_that_is_not_understood_names_the_line():
    name = next(names)
    answer = import_ics(name, ICS.replace("FREQ=YEARLY", "FREQ=SECONDLY"))
    assert answer.status == 400 and answer.json["errors"][0]["field"] == "ical", answer
    assert "line 11: " in answer.json["errors"][0]["message"], answer
    assert import_ics(name, ICS, "?policy=x").json["errors"][0]["field"] == "policy"
    assert import_ics(name, ICS, "?colour=x").status == 400
    assert import_ics(name, "hello").status == 400
    assert import_ics(name, "x" * ((1 << 20) + 1)).status == 413
    expect(404, server, "GET", "/calendars/" + name)


def test_a_bad_event_is_left_out_and_named():
    name = next(names)
    answer = import_ics(name, ICS.replace("FREQ=YEARLY\r", "FREQ=SECONDLY\r"))
    assert answer.status == 201 and answer.json["entry_count"] == 1, answer
    assert answer.json["warning_count"] == 1, answer
    warning, = answer.json["warnings"]
    assert (warning["line"], warning["uid"], warning["summary"]) == (6, "1", "Christmas"), warning
    assert "line 11: RRULE: FREQ" in warning["message"], warning
    shown = expect(200, server, "GET", "/calendars/" + name)
    assert shown["warnings"] == [warning], shown
    assert "warnings" not in next(c for c in expect(200, server, "GET", "/calendars")["calendars"]
                                  if c["name"] == name)
    server.kill()
    server.start()
    job, _ = submit(server, calendars=[name], schedule={"cron": "0 12 * 11 *"})
    assert server.job(job)["calendars"] == [name]  # it was read again, the warning is none
    expect(200, server, "DELETE", f"/jobs/{job}")


def seed(program):
    root = pathlib.Path(__file__).resolve().parent.parent
    return (root / "fuzz" / "corpus" / "ical" / program).read_bytes().decode()


def test_files_of_google_outlook_and_apple_are_taken():
    # tests/time/ical_files_test.c says what they mean
    for program, entries, left_out in (("google", 2, []), ("outlook", 2, []),
                                       ("apple", 3, ["Check the oven"])):
        answer = import_ics(next(names), seed(program))
        assert answer.status == 201 and answer.json["entry_count"] == entries, (program, answer)
        assert [w["summary"] for w in answer.json.get("warnings", [])] == left_out, answer


def test_hostile_files_are_answered():
    def event(lines):
        return "BEGIN:VEVENT\r\nUID:h\r\nDTSTART:00010101T000000Z\r\n" + lines + "\r\nEND:VEVENT\r\n"

    def answered(lines, status, words=""):
        answer = import_ics(next(names), "BEGIN:VCALENDAR\r\n" + lines + "END:VCALENDAR\r\n")
        assert answer.status == status, answer
        assert words in json.dumps(answer.json), answer

    rule = "DURATION:PT1H\r\nRRULE:"
    answered(event(rule + "FREQ=MONTHLY;BYDAY=" + ",".join(["1MO"] * 60000)), 400, "at most 35")
    answered(event(rule + "FREQ=DAILY;BYMONTHDAY=" + ",".join(["1"] * 300000)), 201)
    answered(event(rule + "FREQ=DAILY;COUNT=4294967297"), 400, "COUNT")
    answered(event(rule + "FREQ=DAILY\r\nEXDATE:" + ",".join(
        f"{2000 + day // 364}{day // 28 % 13 % 12 + 1:02}{day % 28 + 1:02}T000000Z"
        for day in range(12000))), 400,
             "10000 exceptions")
    answered(event("DURATION:PT1H\r\nRDATE:" + ",".join(["20260101T000000Z"] * 10001)), 400,
             "10000 entries")
    answered(event("X-LONG:" + "x" * 1000000), 201)
    answered(event("X-FOLDED:" + "x\r\n " * 200000), 201)
    answered(event(rule + "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30;COUNT=1") * 900, 201)
    answered(event(rule + "FREQ=YEARLY;COUNT=100000") * 30, 201, "add up to 1000000")
    answered("BEGIN:X\r\n" * 80000, 400, "ends before")
    answered(event("").replace("UID:h", "RECURRENCE-ID:00010101T000000Z\r\nUID:h") * 9000, 201)


# ---- what jobs make of them

def test_an_unknown_calendar_is_refused_by_name():
    answer = expect(400, server, "POST", "/jobs", {"command": "x", "calendars": ["nobody-s"]})
    assert "there is no calendar 'nobody-s'" in answer["detail"], answer
    for bad, field in ((["a", "a"], "calendars[1]"), (["a b"], "calendars[0]"), ("a", "calendars"),
                       ([{"policy": "skip"}], "calendars[0].name"),
                       ([{"name": "a", "policy": "x"}], "calendars[0].policy"),
                       (["a"] * 17, "calendars")):
        answer = expect(400, server, "POST", "/jobs", {"command": "x", "calendars": bad})
        assert answer["errors"][0]["field"] == field, answer


def test_a_slot_in_an_excluded_time_is_skipped_and_says_why():
    name = next(names)
    put_window(name, "skip", -10, 3600)
    job, _ = submit(server, calendars=[name], schedule={"every": "1s"}, overlap="parallel")
    wait_for(lambda: runs(job, "skipped"), "a skipped slot")
    assert f"calendar '{name}', until " in runs(job, "skipped")[0]["error"]
    put_window(name, "skip", -20, -10)
    wait_for(lambda: runs(job, "completed"), "a slot that runs")
    server.api("DELETE", f"/jobs/{job}")


def test_a_job_that_runs_once_is_skipped():
    name = next(names)
    put_window(name, "skip", -10, 3600)
    job, run = submit(server, calendars=[name])
    assert execution(server, run)["status"] == "skipped"
    assert server.job(job)["status"] == "cancelled"


def test_a_held_run_is_explained_and_starts_when_the_time_is_over():
    name = next(names)
    put_window(name, "hold", -10, 3600)
    job, run = submit(server, calendars=[name])
    shown = execution(server, run)
    assert shown["status"] == "scheduled", shown
    why = expect(200, server, "GET", f"/jobs/{job}/explain")
    blocker, = why["blockers"]
    assert (blocker["kind"], blocker["calendar"]) == ("calendar", name), why
    until = expect(200, server, "GET", "/calendars/" + name)["document"]["windows"][0]["to"]
    assert blocker["until"][:19] + "Z" == until and blocker["since"], why
    assert name in server.cli("explain", job).stdout
    put_window(name, "hold", -10, 1)
    assert server.wait_for_status(job, "completed")


def test_a_held_schedule_outlives_a_restart_and_goes_on_when_its_calendar_is_emptied():
    name = next(names)
    put_window(name, "hold", -10, 7 * 86400)  # far beyond the horizon
    job, _ = submit(server, calendars=[name], schedule={"every": "1s"})
    wait_for(lambda: blocker_of(job), "a held slot")
    triggered = expect(201, server, "POST", f"/jobs/{job}/trigger")["execution_id"]
    wait_for(lambda: execution(server, triggered)["status"] == "completed", "the run asked for")
    server.kill()
    server.start()
    assert wait_for(lambda: blocker_of(job), "a held slot")["kind"] == "calendar"
    assert len(runs(job, "completed")) == 1
    put(name, {})
    wait_for(lambda: len(runs(job, "completed")) > 1, "the held slot to run")
    server.api("DELETE", f"/jobs/{job}")


def test_a_held_job_that_is_edited_goes_on():
    name = next(names)
    put_window(name, "hold", -10, 3600)
    job, _ = submit(server, calendars=[name])
    version = {"If-Match": '"1"'}
    answer = expect(400, server, "PATCH", f"/jobs/{job}", {"calendars": ["nobody-s"]}, headers=version)
    assert "there is no calendar 'nobody-s'" in answer["detail"], answer
    expect(200, server, "PATCH", f"/jobs/{job}", {"calendars": None}, headers=version)
    assert server.wait_for_status(job, "completed")
    expect(200, server, "DELETE", "/calendars/" + name)


def blocker_of(job):
    why = expect(200, server, "GET", f"/jobs/{job}/explain")
    return next((b for b in why["blockers"] if b["kind"] == "calendar"), None)


def test_a_calendar_that_jobs_go_by_is_not_deleted():
    name = next(names)
    put(name, {})
    job, _ = submit(server, calendars=[name], schedule={"cron": "0 3 1 1 *"})
    answer = expect(409, server, "DELETE", "/calendars/" + name)
    assert job in answer["detail"], answer
    expect(200, server, "DELETE", f"/jobs/{job}")
    expect(200, server, "DELETE", "/calendars/" + name)


# ---- the command line

def test_the_command_line():
    name = next(names)
    path = server.dir / "holidays.ics"
    path.write_text(ICS)

    def run(*args, code=0):
        done = server.cli("calendars", *args)
        assert done.returncode == code, (args, done)
        return done.stdout if code == 0 else done.stderr

    assert run("import", name, str(path), "--policy", "hold") == f"{name}: 2 entries, version 1\n"
    row = next(line.split() for line in run().splitlines() if line.startswith(name + " "))
    assert row[:4] == [name, "hold", "2", "1"], row
    assert name in [c["name"] for c in json.loads(run("-o", "json"))["calendars"]]
    path.write_text(ICS.replace("FREQ=YEARLY\r", "FREQ=SECONDLY\r").replace("Christmas", "X\x1b[2Jmas"))
    done = server.cli("calendars", "import", name, str(path), "--policy", "hold")
    assert done.returncode == 0 and done.stdout == f"{name}: 1 entries, version 2\n", done
    assert done.stderr.startswith("left out: event 'X [2Jmas' (line 6): line 11: RRULE: "), done
    path.write_text(ICS)
    assert run("import", name, str(path), "--policy", "hold") == f"{name}: 2 entries, version 3\n"
    assert json.loads(run("show", name))["ical"] == ICS
    assert json.loads(run("show", name, "-o", "json"))["policy"] == "hold"
    document = server.dir / "doc.json"
    document.write_text('{"dates": ["2026-12-25"]}')
    assert json.loads(run("put", name, str(document), "-o", "json"))["version"] == 4
    assert run("delete", name) == f"{name} deleted\n"
    assert "no calendar" in run("show", name, code=3)
    document.write_text('{"dates": ["yesterday"]}')
    assert "dates[0]" in run("put", name, str(document), code=2)
    for usage in (("import", name), ("show",), ("remove", name), ("delete", "")):
        assert "belfry help calendars" in run(*usage, code=2), usage


if __name__ == "__main__":
    main(tests_of(globals()), shared=server)
