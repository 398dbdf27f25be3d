"""What a cron expression means, told by the command line (without a server) and by the API."""

import json
import os
import subprocess
import tempfile
import urllib.parse

from belfry import BELFRY, PATIENCE_S, Server, main, tests_of

server = Server("--no-worker")
BERLIN = "Europe/Berlin"


def cron(*args, env=None):
    """`belfry cron`, in a directory and environment that know no server."""
    with tempfile.TemporaryDirectory() as nowhere:
        clean = {k: v for k, v in os.environ.items() if not k.startswith("BELFRY_")}
        return subprocess.run([BELFRY, "cron", *args], cwd=nowhere, text=True, check=False,
                              capture_output=True, timeout=PATIENCE_S,
                              env={**clean, "BELFRY_URL": "http://127.0.0.1:1", **(env or {})})


def explained(*args):
    done = cron(*args, "-o", "json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def refused(*args):
    """What `belfry cron` says when it refuses."""
    done = cron(*args)
    assert (done.returncode, done.stdout) == (2, ""), done
    return done.stderr


def preview(**params):
    return server.api("GET", "/schedule/preview?" + urllib.parse.urlencode(params))


def error_of(field, **params):
    """The message about one field of a refused preview."""
    status, problem = preview(**params)
    assert status == 400, problem
    assert [e["field"] for e in problem["errors"]] == [field], problem
    return problem["errors"][0]["message"]


def test_words_and_runs_are_printed_for_people():
    done = cron("30 2 * * *", "--tz", BERLIN, "--from", "2026-03-28T12:00:00Z", "--count", "2")
    assert done.returncode == 0 and done.stderr == "", done
    assert done.stdout.splitlines() == [
        "at 02:30 every day (Europe/Berlin)",
        "",
        "DAY  LOCAL                      UTC",
        "Sun  2026-03-29 03:00:00+02:00  2026-03-29 01:00:00Z",
        "Mon  2026-03-30 02:30:00+02:00  2026-03-30 00:30:00Z",
        "",
        "2026-03-29 01:00:00Z: clocks go forward from 02:00 to 03:00 on 2026-03-29, so 02:30 does "
        "not exist: it runs at 03:00"], done.stdout


def test_the_command_line_and_the_server_say_the_same():
    cases = [("0 3 * * *", {}), ("30 2 * * *", {"gap": "skip"}), ("30 2 * * *", {"fold": "both"}),
             ("H H * * *", {"name": "nightly"}), ("*/10 * * * * *", {"seconds": "true"}),
             ("@every 90s", {}), ("CRON_TZ=Asia/Kathmandu 0 9 15W * *", {}), ("0 0 29 2 *", {})]
    for when in ("2026-03-28T12:00:00Z", "2026-10-24T12:00:00.5Z"):
        for text, more in cases:
            flags = [f for key, value in more.items()
                     for f in ([f"--{key}"] if value == "true" else [f"--{key}", value])]
            zone = {} if "CRON_TZ" in text else {"timezone": BERLIN}
            status, answer = preview(cron=text, **{"from": when}, count=7, **zone, **more)
            assert status == 200, answer
            flags += ["--tz", BERLIN] if zone else []
            assert explained(text, "--from", when, "--count", "7", *flags) == answer, text
            assert len(answer["next_runs"]) == len(answer["next_runs_local"]) == 7


def test_runs_lie_strictly_after_from():
    assert explained("0 3 * * *", "--from", "2026-11-16T03:00:00Z", "--count", "1")["next_runs"] == [
        "2026-11-17T03:00:00.000Z"]
    assert explained("0 3 * * *", "--from", "2026-11-16T02:59:59.999Z", "--count", "1")["next_runs"] == [
        "2026-11-16T03:00:00.000Z"]


def test_without_from_runs_lie_in_the_future():
    before = explained("* * * * *", "--count", "2")
    assert before["next_runs"] == sorted(before["next_runs"]) and before["timezone"] == "UTC"
    status, answer = preview(cron="* * * * *")
    assert status == 200 and len(answer["next_runs"]) == 5


def test_an_expression_may_come_in_several_words():
    assert explained("@every", "90s")["schedule_text"] == "every 1m30s"
    assert explained("0", "3", "*", "*", "*")["schedule_text"] == "at 03:00 every day (UTC)"


def test_refusals_name_the_field_and_the_reason():
    for text, words in (("61 * * * *", "minute: 61 is not between 0 and 59"),
                        ("* * * * * * *", "7 fields"), ("* * * * * *", "seconds were not asked for"),
                        ("0 17-9 * * *", "hour: 17-9 runs backwards"), ("*/0 * * * *", "step"),
                        ("0 0 31 2 *", "never comes"), ("@reboot", "no reboot to wait for"),
                        ("@every 10ms", "at least 1s"), ("x" * 100000, "at most 1024 bytes")):
        assert words in refused(text), text
        if len(text) < 1000:
            assert words in error_of("cron", cron=text), text
    assert "needs a cron expression" in refused()
    assert "is required" in error_of("cron", timezone=BERLIN)


def test_zones_that_are_none_are_refused():
    for name in ("Mars/Base", "../../../etc/passwd", "/etc/localtime", "Europe", "UTC\n"):
        assert "time zone" in refused("0 3 * * *", "--tz", name), name
        assert "time zone" in error_of("timezone", cron="0 3 * * *", timezone=name), name
    assert "time zone" in error_of("cron", cron="CRON_TZ=Mars/Base 0 3 * * *")
    assert "two zones" in refused("CRON_TZ=UTC 0 3 * * *", "--tz", BERLIN)
    # Files that lie among the zones, but are none: the fault is still in the name.
    assert "no time zone file" in error_of("timezone", cron="0 3 * * *", timezone="leapseconds")
    assert "two zones" in error_of("timezone", cron="CRON_TZ=UTC 0 3 * * *", timezone=BERLIN)


def test_other_parameters_are_checked_too():
    assert "--count" in refused("0 3 * * *", "--count", "0")
    assert "--count" in refused("0 3 * * *", "--count", "1001")
    assert "not a time" in refused("0 3 * * *", "--from", "tomorrow")
    for field, value in (("count", "0"), ("count", "1001"), ("count", "many"), ("from", "tomorrow"),
                         ("gap", "before"), ("fold", "third"), ("seconds", "yes")):
        assert error_of(field, cron="0 3 * * *", **{field: value})


def test_zones_come_from_where_tzdir_says():
    done = cron("0 3 * * *", "--tz", BERLIN, env={"TZDIR": "/nowhere"})
    assert done.returncode == 1 and "tzdata" in done.stderr, done
    assert cron("0 3 * * *", env={"TZDIR": "/nowhere"}).returncode == 0  # UTC needs no file


def test_a_preview_needs_the_admin_s_key():
    status, _ = server.api("GET", "/schedule/preview?cron=@daily", key=server.key("worker.key"))
    assert status == 403


if __name__ == "__main__":
    main(tests_of(globals()), shared=server)
