"""What became of each slot of a job's schedule, and what lies ahead: on SQLite, and by three servers."""

import contextlib
import datetime
import json

from belfry import Server, main, tests_of, wait_for
from cluster import Cluster, Postgres
from protocol import expect, names


class Places:
    """A server on SQLite, and three that share a PostgreSQL; a test looks at all of them."""

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            self.sqlite = stack.enter_context(Server("--set", "horizon_ms=1m"))
            self.cluster = stack.enter_context(Cluster(stack.enter_context(Postgres()), 3))
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *error):
        return self.stack.__exit__(*error)

    def show(self):
        self.sqlite.show()


places = Places()


def servers():
    """Each with one that is asked in its place."""
    return [(places.sqlite, places.sqlite)] + [(places.cluster[0], n) for n in places.cluster]


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def new_job(server, schedule, **fields):
    return expect(201, server, "POST", "/jobs",
                  {"command": ["true"], "schedule": schedule, **fields})["job_id"]


def slots(server, job, query=""):
    """All pages of it, newest first."""
    found, cursor = [], ""
    while cursor is not None:
        page = expect(200, server, "GET", f"/jobs/{job}/slots?{query}{cursor}")
        found += page["slots"]
        cursor = page["next_cursor"] and "&cursor=" + page["next_cursor"]
    return found


def test_every_slot_has_its_outcome_and_the_next_day_is_planned():
    for server, asked in servers():
        job = new_job(server, {"every": "1s"}, overlap="parallel")
        def done_slots():
            return [s for s in slots(asked, job, "limit=3&until=" + soon(0)) if s["status"] == "completed"]
        wait_for(lambda: len(done_slots()) > 1, "slots that ran")
        assert slots(asked, job, "from=2025-01-01&until=2026-01-01") == []
        expect(200, server, "POST", f"/jobs/{job}/pause")
        done = done_slots()
        moments = [moment(s["slot"]) for s in done]
        assert moments == sorted(moments, reverse=True) and len(set(moments)) == len(moments), done
        for slot in done:
            run = expect(200, asked, "GET", "/executions/" + slot["execution_id"])
            assert (slot["outcome"], run["slot"]) == ("fired", slot["slot"]), (slot, run)
            assert (slot["count"], slot["slot_last"], slot["reason"]) == (1, None, None), slot


def soon(seconds):
    at = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def test_what_lies_ahead_is_what_the_schedule_says_page_by_page():
    for server, asked in servers():
        job = new_job(server, {"cron": "*/10 * * * *"})
        ahead = slots(asked, job, day := "until=" + soon(86400))
        assert len(ahead) in (143, 144), len(ahead)  # the first has its execution
        assert slots(asked, job, "limit=9") == ahead[-101:]
        assert {s["outcome"] for s in ahead} == {"planned"}, ahead
        assert [s["status"] for s in ahead] == [None] * (len(ahead) - 1) + ["scheduled"], ahead
        moments = [moment(s["slot"]) for s in ahead]
        assert all(a - b == datetime.timedelta(minutes=10) for a, b in zip(moments, moments[1:]))
        for limit in (3, len(ahead) - 1, len(ahead)):
            if limit > 3 or asked is places.sqlite:
                assert slots(asked, job, f"{day}&limit={limit}") == ahead, limit
        first, second = ahead[-1]["slot"], ahead[-2]["slot"]
        assert slots(asked, job, f"from={second}&until={ahead[-3]['slot']}") == [ahead[-2]]
        assert slots(asked, job, f"until={second}") == [ahead[-1]]
        assert slots(asked, job, f"until={first}") == []
        later = slots(asked, job, "from=2099-01-01T00:00:00Z")
        assert (len(later), later[-1]["slot"]) == (100, "2099-01-01T00:00:00.000Z"), later[-1]
        far = expect(400, asked, "GET", f"/jobs/{job}/slots?until=2099-01-01T00:00:00Z")
        assert "slots ahead; at most 10000" in json.dumps(far), far
        expect(200, server, "POST", f"/jobs/{job}/pause")
        wait_for(lambda: slots(asked, job) == [], "nothing to be planned")


def test_slots_that_were_skipped_together_are_one_entry():
    for server, asked in servers():
        name = next(names)
        expect(201, server, "PUT", "/calendars/" + name,
               {"windows": [{"from": soon(-60), "to": soon(3600)}]})
        # Other servers of a cluster hear of a new calendar a little later.
        wait_for(lambda: try_job(server, name), "the calendar to be known")
        job = try_job(server, name)
        skipped = wait_for(lambda: [s for s in slots(asked, job) if s["outcome"] == "skipped"], "it")[0]
        assert name in skipped["reason"] and skipped["status"] == "skipped", skipped
        assert expect(200, asked, "GET", "/executions/" + skipped["execution_id"])["slot"] == skipped["slot"]
        expect(200, server, "POST", f"/jobs/{job}/pause")
        since = len([s for s in slots(asked, job) if s["outcome"] == "skipped"])
        paused_at = moment(soon(0))
        wait_for(lambda: moment(soon(0)) - paused_at > datetime.timedelta(seconds=3), "slots to pass")
        expect(200, server, "POST", f"/jobs/{job}/resume")
        together = wait_for(lambda: [s for s in slots(asked, job) if s["count"] > 1], "a range")[0]
        assert moment(together["slot_last"]) > moment(together["slot"]), together
        assert together["outcome"] == "skipped" and "paused" in together["reason"], (together, since)
        expect(200, server, "DELETE", f"/jobs/{job}")


def try_job(server, calendar):
    status, made = server.api("POST", "/jobs", {"command": ["true"], "calendars": [calendar],
                                                "schedule": {"every": "1s"}})
    return made["job_id"] if status == 201 else None


def test_a_job_that_runs_once_has_one_slot():
    for server, asked in servers():
        job = expect(201, server, "POST", "/jobs", {"command": ["true"], "schedule": {"at": soon(3600)}})["job_id"]
        only, = slots(asked, job)
        assert (only["outcome"], only["status"], only["count"]) == ("planned", "scheduled", 1), only
        assert slots(asked, job, "from=" + soon(7200) + "&until=" + soon(9000)) == []


def test_slots_older_than_what_is_kept_are_unknown():
    with Server("--set", "history_keep_ms=2s", "--set", "dead_letters_keep_ms=2s") as server:
        job = new_job(server, {"every": "1s"}, overlap="parallel")
        unknown = wait_for(lambda: [s for s in slots(server, job) if s["outcome"] == "unknown"
                                    and s["count"] > 1], "slots to be forgotten")[0]
        assert unknown["execution_id"] is None and unknown["reason"] is None, unknown
        known = [s for s in slots(server, job, "limit=2") if s["outcome"] != "unknown"]
        assert all(moment(s["slot"]) > moment(unknown["slot_last"]) for s in known), (unknown, known)


def test_the_command_line():
    server = places.sqlite
    name = next(names)
    new_job(server, {"cron": "*/10 * * * *"}, name=name)
    done = server.cli("slots", name, "--limit", "3", "--until", soon(86400))
    assert done.returncode == 0 and done.stdout.count("planned") == 3, done
    assert json.loads(server.cli("slots", name, "-o", "json", "--limit", "2").stdout)["next_cursor"], done
    assert server.cli("slots", name, "--until", "2020-01-01", "--from", "2019-01-01").stdout == "no slots\n"
    for args, code in (((), 2), ((name, name), 2), ((name, "--from", "x"), 2), (("nobody-s",), 3)):
        assert server.cli("slots", *args).returncode == code, args


def forecast(server, queue, **params):
    query = "&".join([f"queue={queue}"] + [f"{k}={v}" for k, v in params.items()])
    return expect(200, server, "GET", "/schedule/forecast?" + query)


def test_a_forecast_counts_what_schedules_and_calendars_say():
    tomorrow = datetime.datetime.now(datetime.timezone.utc).date() + datetime.timedelta(days=1)
    for queue, (server, asked) in zip(names, servers()):
        closed = next(names)
        expect(201, server, "PUT", "/calendars/" + closed,
               {"windows": [{"from": f"{tomorrow}T10:00:00Z", "to": f"{tomorrow}T12:00:00Z"}]})
        new_job(server, {"cron": "*/10 * * * *"}, queue=queue)
        new_job(server, {"at": f"{tomorrow}T09:30:00Z"}, queue=queue)
        for policy in ("skip", "hold"):
            wait_for(lambda: server.api("POST", "/jobs", {
                "command": ["true"], "queue": queue, "schedule": {"cron": "0 * * * *"},
                "calendars": [{"name": closed, "policy": policy}]})[0] == 201, "the calendar to be known")
        found = forecast(asked, queue, **{"from": f"{tomorrow}T09:00:00Z", "until": f"{tomorrow}T13:00:00Z"})
        assert [(s["fires"], s["skipped"], s["held"]) for s in found["steps"]] == [
            (9, 0, 0), (6, 1, 1), (6, 1, 1), (8, 0, 0)], found
        assert found["steps"][1]["at"] == f"{tomorrow}T10:00:00.000Z" and found["jobs"] == 4, found
        assert not found["truncated"] and found["step_ms"] == 3600000, found
        new_job(server, {"cron": "*/10 * * * *"}, queue=queue)  # an answer is kept for a minute
        assert forecast(asked, queue, **{"from": f"{tomorrow}T09:00:00Z",
                                         "until": f"{tomorrow}T13:00:00Z"}) == found
        half = forecast(asked, queue, **{"from": f"{tomorrow}T09:00:00Z", "until": f"{tomorrow}T09:45:00Z",
                                         "step": "30m"})
        assert [s["fires"] for s in half["steps"]] == [8, 5], half  # three jobs, and at 9:30 one more
        assert sum(s["fires"] for s in forecast(asked, next(names))["steps"]) == 0


def test_a_timeline_has_what_ran_what_runs_and_what_will():
    for queue, (server, asked) in zip(names, servers()):
        def timeline(more=""):
            return expect(200, asked, "GET", f"/timeline?queue={queue}{more}")

        new_job(server, {"every": "50m"}, queue=queue)
        for command in ("true", "false", "sleep 60"):
            job = expect(201, server, "POST", "/jobs", {"command": command, "queue": queue,
                                                        "retry": {"max_retries": 0}})["job_id"]
        wait_for(lambda: sorted(bar["status"] for lane in timeline()["lanes"] for bar in lane["bars"]) == [
            "completed", "failed", "running"], "all of them to have begun")
        whole = timeline()
        lane, = whole["lanes"]
        assert (lane["queue"], lane["executions"], lane["failed"], lane["rest"]) == (queue, 3, 1, []), whole
        assert (whole["shown"], whole["left_out"], whole["truncated"], whole["lane_count"]) == (3, 0, False, 1), whole
        running, = (bar for bar in lane["bars"] if bar["status"] == "running")
        assert running["job_id"] == job and running["finished_at"] is None, running
        assert running["due_at"] <= running["started_at"], running
        ahead, = whole["ahead"]["runs"]
        assert ahead["queue"] == queue and ahead["at"] > whole["now"] and ahead["p50_ms"] is None, ahead
        few = timeline("&limit=1&by=worker")
        assert few["shown"] == 1 and few["executions"] == 3, few
        assert sum(cell["executions"] for lane in few["lanes"] for cell in lane["rest"]) == 2, few
        its = timeline(f"&by=worker&worker={running['worker_id']}")
        assert [lane["worker_id"] for lane in its["lanes"]] == [running["worker_id"]] and its["ahead"] is None, its
        past = timeline("&from=2026-01-01T00:00:00Z&until=2026-01-01T01:00:00Z")
        assert (past["executions"], past["lanes"], past["ahead"]) == (0, [], None), past
        expect(200, server, "DELETE", f"/jobs/{job}")
    for query, words in (("from=x", "from"), ("limit=0", "2000"), ("by=team", "queue and worker"),
                         ("until=2020-01-01", "before"), ("until=2099-01-01", "31 days"), ("worker=x", "wrk_"),
                         ("cursor=x", "cursor")):
        assert words in json.dumps(expect(400, places.sqlite, "GET", "/timeline?" + query)), query


def test_a_forecast_that_makes_no_sense_or_costs_too_much_is_bounded():
    server = places.sqlite
    for query, words in (("from=x", "from"), ("from=2020-01-01", "is over"), ("step=1s", "1m"),
                         ("until=2099-01-01", "days ahead"), ("step=x", "step"), ("queues=a", "queues"),
                         (f"until={soon(86400 * 2)}&step=1m", "1000 steps"), (f"until={soon(-86400)}", "from")):
        assert words in json.dumps(expect(400, server, "GET", "/schedule/forecast?" + query)), query
    queue = next(names)
    job = new_job(server, {"every": "1s"}, queue=queue)
    found = forecast(server, queue, until=soon(86400 * 300), step="24h")
    assert found["truncated"] and sum(s["fires"] for s in found["steps"]) > 1000000, found["jobs"]
    expect(200, server, "DELETE", f"/jobs/{job}")


def test_questions_that_make_no_sense_are_refused():
    server = places.sqlite
    job = new_job(server, {"cron": "0 3 1 1 *"})
    for query, words in (("from=x", "from"), ("until=2026-13-01", "until"), ("limit=0", "limit"),
                         ("from=2027-01-02&until=2027-01-02", "before until"), ("cursor=x", "cursor"),
                         ("cursor=r5", "cursor"), ("cursor=a5.6", "cursor"), ("step=1h", "step")):
        assert words in json.dumps(expect(400, server, "GET", f"/jobs/{job}/slots?{query}")), query
    expect(404, server, "GET", "/jobs/job_00000000000000000000/slots".replace("0" * 20, job[4:][::-1]))


if __name__ == "__main__":
    main(tests_of(globals()), shared=places)
