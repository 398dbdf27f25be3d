"""Silences, acknowledged alerts and filters: what is silenced is kept and never posted, for as long
as the silence holds, over restarts and at all servers."""

import contextlib
import datetime

from belfry import Server, Stopwatch, main, tests_of, wait_for, wait_within
from cluster import Node, Postgres
from protocol import API, Worker, call, expect, submit
from webhook import Receiver, alerts, fail_once

server = Server("--no-worker", "--set", "breaker_percent=0")


def silence(own, key, **wish):
    return expect(201, own, "POST", "/alerts/silences",
                  {"key": key, "reason": "moving house", **({"for": "1h"} | wish)})


def silences(own):
    return expect(200, own, "GET", "/alerts/silences")["silences"]


def lift(own, made):
    return expect(200, own, "DELETE", "/alerts/silences/" + made["silence_id"])


def failing(own, worker, *names, **job):
    for name in names:
        fail_once(own, worker, name=name, **job)


def of(own, name):
    """The newest alert about the failure of jobs with this name."""
    return next(a for a in alerts(own) if a["key"] == "job_failed:" + name)


def with_hook(hook, *flags):
    return Server("--no-worker", "--set", "breaker_percent=0", "--set", f"alert_webhooks={hook.url}", *flags)


def got_all(hook, *names):
    """Waits until these were posted: whatever else was to be, had been raised before."""
    wanted = ["job_failed:" + name for name in names]
    wait_for(lambda: set(wanted) <= set(hook.keys()), "the webhook to get " + ", ".join(wanted))
    assert sorted(hook.keys()) == sorted(wanted), hook.keys()


# ---- silences

def test_what_is_silenced_is_kept_and_never_posted():
    with Receiver() as hook, with_hook(hook) as own:
        worker = Worker(own)
        exact, prefix = silence(own, "job_failed:payroll"), silence(own, "job_failed:etl-*")
        assert exact["key"] == "job_failed:payroll" and exact["actor"] == "key:admin", exact
        assert exact["reason"] == "moving house" and exact["until"] > exact["created_at"], exact
        failing(own, worker, "payroll", "etl-1", "etl-2", "payroll-2", "etl")
        got_all(hook, "payroll-2", "etl")
        for name, by in (("payroll", exact), ("etl-1", prefix), ("etl-2", prefix)):
            assert of(own, name)["state"] == "silenced", of(own, name)
            assert of(own, name)["silenced_by"] == by["silence_id"], of(own, name)
        wait_for(lambda: of(own, "etl")["state"] == "sent", "its delivery")
        assert of(own, "etl")["silenced_by"] is None
        listed = expect(200, own, "GET", "/alerts?state=silenced")["alerts"]
        assert {a["key"] for a in listed} == {"job_failed:payroll", "job_failed:etl-1", "job_failed:etl-2"}


def test_a_silence_ends_by_itself_and_the_next_alert_is_sent_at_once():
    with Receiver() as hook, with_hook(hook) as own:
        worker = Worker(own)
        silence(own, "*", **{"for": "1500ms"})
        failing(own, worker, "payroll", "payroll")
        assert of(own, "payroll")["state"] == "silenced"
        wait_for(lambda: not silences(own), "the end of the silence")
        assert hook.got == []  # nothing of it is sent later
        failing(own, worker, "payroll")  # within alert_quiet_ms, but nobody was told yet
        got_all(hook, "payroll")
        told = of(own, "payroll")
        assert (told["silenced_by"], told["repeats"]) == (None, 1), told
        assert len(alerts(own, "job_failed")) == 2


def test_a_lifted_silence_is_over():
    with Receiver() as hook, with_hook(hook) as own:
        worker = Worker(own)
        made = silence(own, "*")
        failing(own, worker, "payroll")
        assert expect(200, own, "GET", "/alerts/silences/" + made["silence_id"]) == made
        lifted = lift(own, made)
        assert (lifted["silence_id"], lifted["key"]) == (made["silence_id"], "*"), lifted
        assert silences(own) == []
        failing(own, worker, "payroll")
        got_all(hook, "payroll")
        assert call(own, "DELETE", f"{API}/alerts/silences/{made['silence_id']}").status == 404


def test_a_restart_keeps_silences_and_what_they_silenced():
    with Receiver() as hook, with_hook(hook) as own:
        made = silence(own, "job_failed:pay*")
        failing(own, Worker(own), "payroll")
        for stop in (own.kill, own.stop):
            stop()
            own.start()
            assert silences(own) == [made]
        failing(own, Worker(own), "paywall", "other")
        got_all(hook, "other")
        assert of(own, "paywall")["silenced_by"] == made["silence_id"]
        assert of(own, "payroll")["state"] == "silenced"
        lift(own, made)
        own.kill()
        own.start()
        assert silences(own) == []


def test_silences_hold_at_all_servers_within_a_second():
    with Receiver() as hook, Postgres() as postgres:
        store = postgres.database()
        flags = ("--no-worker", "--set", "breaker_percent=0", "--set", f"alert_webhooks={hook.url}")
        b = Node("b", store, *flags)
        with Node("a", store, *flags) as a, contextlib.ExitStack() as stack:
            b.copy_key(a)
            stack.enter_context(b)
            wait_for(lambda: a.shares() == b.shares() == {"a": 8, "b": 8}, "even shares")
            for number, (own, other) in enumerate(((a, b), (b, a))):
                with Stopwatch() as watch:
                    made = silence(own, f"job_failed:s{number}*")
                    assert made in silences(other)
                    watch.wait_until(2)  # as long as it may take until the engines know it
                for server_ in (own, other):  # jobs live where they were submitted
                    name = f"s{number}-{server_.name}"
                    failing(server_, Worker(server_), name)
                    assert of(other, name)["silenced_by"] == made["silence_id"], of(other, name)
                lift(other, made)
                with Stopwatch() as watch:
                    watch.wait_until(2)
                failing(own, Worker(own), f"s{number}-over")
                wait_for(lambda n=number: f"job_failed:s{n}-over" in hook.keys(), "what is not silenced")
            assert sorted(hook.keys()) == ["job_failed:s0-over", "job_failed:s1-over"], hook.keys()


def test_bad_silences_are_refused_and_say_why():
    past = "2020-01-01T00:00:00Z"
    far = (datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=400)).strftime("%FT%TZ")
    for bad, field in (({}, "key"), ({"key": "*"}, "until"), ({"key": "", "for": "1h"}, "key"),
                       ({"key": "*", "for": "1h", "until": past}, "until"), ({"key": "*", "for": "0s"}, "for"),
                       ({"key": "*", "for": "400d"}, "for"), ({"key": "*", "until": "soon"}, "until"),
                       ({"key": "k" * 601, "for": "1h"}, "key"), ({"key": "*", "for": "1h", "who": 1}, "who"),
                       ({"key": "*", "for": "1h", "reason": "r" * 1001}, "reason")):
        answer = call(server, "POST", f"{API}/alerts/silences", bad)
        assert answer.status == 400, (bad, answer)
        assert field in [e["field"] for e in answer.json["errors"]], (bad, answer.json)
    for until in (past, far):
        answer = call(server, "POST", f"{API}/alerts/silences", {"key": "*", "until": until})
        assert answer.status == 400 and "until" in answer.json["detail"], answer.json
    for unknown in ("slnc_0000000000001", "job_0000000000001", "nonsense"):
        assert call(server, "DELETE", f"{API}/alerts/silences/{unknown}").status == 404, unknown
    assert silences(server) == []


def test_there_may_be_so_many_silences_and_no_more():
    with Server("--no-worker", "--set", "silences_max=2") as own:
        first = silence(own, "a")
        silence(own, "b")
        answer = call(own, "POST", f"{API}/alerts/silences", {"key": "c", "for": "1h"})
        assert answer.status == 409 and "silences_max" in answer.json["detail"], answer.json
        lift(own, first)
        silence(own, "c")


# ---- acknowledging

def test_the_first_to_acknowledge_counts_and_any_other_is_told_who_that_was():
    failing(server, Worker(server), "acked")
    alert = of(server, "acked")
    assert (alert["acknowledged_at"], alert["acknowledged_by"], alert["note"]) == (None, None, None), alert
    path = f"/alerts/{alert['alert_id']}/ack"
    first = expect(200, server, "POST", path, {"note": "on it"})
    assert (first["acknowledged_by"], first["note"]) == ("key:admin", "on it"), first
    again = expect(200, server, "POST", path, {"note": "me, too"})
    assert again == first == of(server, "acked"), again
    assert expect(200, server, "POST", path) == first  # a note is not needed
    for bad, status in (("alrt_0000000000001", 404), ("job_0000000000001", 404), ("nonsense", 404)):
        assert call(server, "POST", f"{API}/alerts/{bad}/ack").status == status, bad
    assert call(server, "POST", API + path, {"note": "n" * 1001}).status == 400
    assert call(server, "POST", API + path, {"actor": "somebody else"}).status == 400


def test_what_is_acknowledged_is_not_tried_again():
    with Receiver(*[500] * 100) as hook, with_hook(hook) as own:
        failing(own, Worker(own), "payroll")
        wait_for(lambda: hook.got, "the first try")
        assert of(own, "payroll")["state"] == "pending"
        acked = expect(200, own, "POST", f"/alerts/{of(own, 'payroll')['alert_id']}/ack")
        assert acked["state"] == "kept", acked
        tries = len(hook.got)
        hook.statuses.clear()
        failing(own, Worker(own), "other")  # of which the sender takes care after that
        wait_for(lambda: "job_failed:other" in hook.keys(), "the other one")
        with Stopwatch() as watch:
            watch.wait_until(6)  # the next try would have come after 5 s
        assert hook.keys().count("job_failed:payroll") <= tries + 1, hook.keys()  # one was under way
        assert of(own, "payroll")["state"] == "kept"


# ---- filters

def test_filters_show_what_fits_all_of_them():
    with Server("--no-worker", "--set", "breaker_percent=0") as own:
        worker = Worker(own)
        made = silence(own, "job_failed:b*")
        job, _ = fail_once(own, worker, name="a-1", queue="mail")
        failing(own, worker, "a-2", "b-1", "b-2", queue="money")
        submit(own, handler="nobody", queue="late", start_within="100ms")
        late = wait_for(lambda: alerts(own, "start_late"), "the warning")[0]
        expect(200, own, "POST", f"/alerts/{late['alert_id']}/ack")
        every = {a["key"].split(":")[1]: a["alert_id"] for a in alerts(own, "job_failed")}
        middle = next(a["at"] for a in alerts(own) if a["key"] == "job_failed:b-1")

        def shown(query):
            found = expect(200, own, "GET", "/alerts?" + query)["alerts"]
            return {a["key"].split(":")[1] if a["kind"] == "job_failed" else a["kind"] for a in found}

        for query, wanted in {
                "state=silenced": {"b-1", "b-2"},
                "state=silenced&state=kept&kind=job_failed": set(every),
                "state=sent": set(),
                "key=job_failed:a-1": {"a-1"},
                "key=job_failed:a": set(),
                "key=job_failed:a*": {"a-1", "a-2"},
                "key=*&queue=money": {"a-2", "b-1", "b-2"},
                "kind=start_late": {"start_late"},
                "level=critical": set(every),
                "level=warning": {"start_late"},
                f"job={job}": {"a-1"},
                "acknowledged=true": {"start_late"},
                "acknowledged=false": set(every),
                f"created_before={middle}&kind=job_failed": {"a-1", "a-2"},
                f"created_after={middle}&kind=job_failed": {"b-1", "b-2"},
                "queue=money&state=silenced&key=*b-2": set(),
                "queue=money&state=silenced&key=job_failed:b-2": {"b-2"}}.items():
            assert shown(query) == wanted, (query, shown(query))
        page = expect(200, own, "GET", "/alerts?queue=money&limit=2")
        cursor = page["next_cursor"]
        rest = expect(200, own, "GET", f"/alerts?queue=money&limit=2&cursor={cursor}")
        assert [len(p["alerts"]) for p in (page, rest)] == [2, 1] and rest["next_cursor"] is None
        assert call(own, "GET", f"{API}/alerts?queue=mail&cursor={cursor}").status == 400
        lift(own, made)


def test_filters_that_make_no_sense_are_refused():
    for bad in ("state=loud", "kind=silence", "level=fatal", "key=", "queue=a&queue=b", "job=payroll",
                "acknowledged=maybe", "created_after=yesterday", "severity=critical",
                "created_after=2026-01-02T00:00:00Z&created_before=2026-01-01T00:00:00Z",
                "acknowledged=true&state=pending"):
        answer = call(server, "GET", f"{API}/alerts?{bad}")
        assert answer.status == 400 and answer.json["errors"], (bad, answer)


# ---- the command line

def test_the_command_line_silences_lists_lifts_and_acknowledges():
    with Server("--no-worker", "--set", "breaker_percent=0") as own:
        made = own.cli("silence", "job_failed:c*", "--for", "2h", "--reason", "a new disk")
        assert made.returncode == 0, made
        silence_id = made.stdout.strip()
        listed = own.cli("silences")
        assert silence_id in listed.stdout and "a new disk" in listed.stdout, listed
        failing(own, Worker(own), "cli", "other")
        alert_id = of(own, "other")["alert_id"]
        assert "silenced" in own.cli("alerts", "--state", "silenced", "-o", "json").stdout
        assert "no alerts" in own.cli("alerts", "--key", "clock*").stdout
        acked = own.cli("ack", alert_id, "--note", "on it")
        assert acked.returncode == 0 and "acknowledged by key:admin" in acked.stdout, acked
        assert alert_id in own.cli("alerts", "--acknowledged", "-o", "json").stdout
        assert alert_id not in own.cli("alerts", "--open", "-o", "json").stdout
        assert own.cli("silences", "lift", silence_id).returncode == 0
        assert own.cli("silences", "lift", silence_id).returncode == 3
        assert own.cli("ack", "alrt_0000000000001").returncode == 3
        for usage in (("silence", "*"), ("silence", "--for", "1h"), ("silence", "a", "--for", "1h", "--until", "x"),
                      ("ack",), ("silences", "end", silence_id), ("alerts", "--open", "--acknowledged")):
            assert own.cli(*usage).returncode == 2, usage


if __name__ == "__main__":
    main(tests_of(globals()), shared=server)
