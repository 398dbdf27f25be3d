"""Alerts: what somebody should know about is kept with its cause, told once, signed, and told again
until it is taken."""

import base64
import contextlib
import hashlib
import hmac
import json
import socket

from belfry import PATIENCE_S, Server, main, tests_of, wait_for, wait_within
from protocol import API, Worker, call, expect, submit
from webhook import Receiver, alerts, fail_once

server = Server("--no-worker", "--set", "breaker_percent=0")


def is_signed(own, headers, body):
    secret = base64.b64decode(own.key("webhook.key").removeprefix("whsec_"))
    text = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    mac = base64.b64encode(hmac.new(secret, text, hashlib.sha256).digest()).decode()
    return headers["webhook-signature"] == "v1," + mac


def test_a_failure_for_good_is_kept_with_what_to_look_at_next():
    worker = Worker(server)
    job, execution = fail_once(server, worker, name="payroll", queue="money")
    alert = alerts(server, "job_failed")[0]
    assert (alert["job_id"], alert["execution_id"], alert["queue"]) == (job, execution, "money"), alert
    assert alert["level"] == "critical" and alert["state"] == "kept", alert
    assert "'payroll'" in alert["text"] and "no such table" in alert["text"], alert
    assert f"belfry show {execution}" in alert["text"], alert
    fail_once(server, worker, name="payroll", queue="money")  # the same matter, a moment later
    assert len([a for a in alerts(server) if a["key"] == "job_failed:payroll"]) == 1
    listed = server.cli("alerts")
    assert listed.returncode == 0 and "job_failed" in listed.stdout, listed


def test_pages_of_alerts_show_each_once():
    worker = Worker(server)
    for i in range(5):
        fail_once(server, worker, name=f"page-{i}")
    seen, path = [], "/alerts?limit=2"
    while path:
        page = expect(200, server, "GET", path)
        seen += [a["alert_id"] for a in page["alerts"]]
        path = page["next_cursor"] and f"/alerts?limit=2&cursor={page['next_cursor']}"
    assert len(seen) == len(set(seen)) == len(alerts(server))
    for bad in ("limit=0", "cursor=x", "status=kept"):
        assert call(server, "GET", f"{API}/alerts?{bad}").status == 400, bad


def test_a_webhook_gets_it_signed_and_again_until_it_is_taken():
    with Receiver(500) as hook, Receiver() as other:
        flags = ("--no-worker", "--set", f"alert_webhooks={hook.url},{other.url}",
                 "--set", "public_url=https://jobs.example.com/")
        with Server(*flags) as own:
            job, _ = fail_once(own, Worker(own), name="payroll")
            wait_for(lambda: hook.got and other.got, "the webhooks")
            headers, body = hook.got[0]
            assert is_signed(own, headers, body) and is_signed(own, *other.got[0])
            told = json.loads(body)
            assert told["type"] == "alert.job_failed" and told["data"]["job_id"] == job, told
            assert told["data"]["url"] == f"https://jobs.example.com/executions/{told['data']['execution_id']}", told
            assert alerts(own)[0]["state"] == "pending"
            own.kill()  # before it was taken by everybody
            own.start()
            wait_for(lambda: alerts(own)[0]["state"] == "sent", "its delivery")
            ids = {h["webhook-id"] for h, _ in hook.got + other.got}
            assert ids == {alerts(own)[0]["alert_id"]}, ids


def test_a_webhook_that_hangs_delays_no_shutdown():
    with contextlib.ExitStack() as stack:
        hooks = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(3)]
        urls = ",".join(f"http://127.0.0.1:{hook.getsockname()[1]}/" for hook in hooks)
        with Server("--no-worker", "--set", f"alert_webhooks={urls}") as own:
            fail_once(own, Worker(own), name="payroll")
            hooks[0].settimeout(PATIENCE_S)
            stack.enter_context(hooks[0].accept()[0])  # it is taken and never answered
            assert "\nbelfry_alerts_pending 1\n" in call(own, "GET", "/metrics").body.decode()
            own.process.terminate()
            wait_within(5, lambda: own.process.poll() is not None, "the end of the server")
            assert own.process.returncode == 0


def test_a_run_that_takes_much_longer_than_usual_is_told_while_it_runs():
    with Server("--no-worker", "--set", "alert_slow_min_ms=300ms", "--set", "alert_slow_runs_min=3") as own:
        job, _ = submit(own, name="report", schedule={"every": "1h"})
        worker = Worker(own)

        def start():
            expect(201, own, "POST", f"/jobs/{job}/trigger", {})
            return worker.take()[0]

        for _ in range(3):
            assert worker.finish(start())
        lease = start()
        alert, = wait_for(lambda: alerts(own, "slow"), "the alert")
        assert (alert["job_id"], alert["execution_id"]) == (job, lease["execution_id"]), alert
        assert alert["key"] == "slow:report" and alert["level"] == "warning", alert
        assert "95 of 100 runs" in alert["text"] and "belfry logs" in alert["text"], alert
        run = expect(200, own, "GET", "/executions/" + lease["execution_id"])
        assert run["status"] == "running" and run["transitions"][-1]["event"] == "slow", run
        assert run["sla"] is None, run
        own.kill()
        own.start()
        assert worker.finish(lease)
        assert len(alerts(own, "slow")) == 1


def raise_all(own):
    """Something of every kind to be told about; what still runs is returned with its worker."""
    quick = {"retry": {"max_retries": 0}}
    for queue, depth in (("long", 3), ("longer", 6)):  # old and deep: nobody serves them
        for _ in range(depth):
            submit(own, handler="nobody", queue=queue)
    submit(own, handler="nobody", queue="late", start_within="100ms")
    failing = Worker(own, handlers=["failing"])
    for number in range(5):  # for good, many, a rate, and a breaker
        submit(own, handler="failing", queue="bad", name=f"bad-{number % 2}", **quick)
        assert failing.finish(failing.take()[0], "failed")
    slow = Worker(own, handlers=["slow"])
    job, _ = submit(own, name="report", handler="slow", schedule={"every": "1h"})
    for runs in range(4):
        expect(201, own, "POST", f"/jobs/{job}/trigger", {})
        lease, = slow.take()
        if runs < 3:
            assert slow.finish(lease)
    submit(own, handler="slow", name="sla", sla={"expected": "50ms", "max": "100ms"})
    held = [lease, *slow.poll(free=1, running=[lease])["leases"]]
    submit(own, handler="vanishing")
    Worker(own, handlers=["vanishing"]).take()
    return slow, held


def test_every_kind_is_sent_signed_and_once():
    wanted = {("job_failed", "critical"), ("worker_lost", "warning"), ("breaker_open", "critical"),
              ("dead_letters", "critical"), ("queue_old", "warning"), ("queue_depth", "warning"),
              ("queue_depth", "critical"), ("failure_rate", "critical"), ("sla_warning", "warning"),
              ("sla_violated", "critical"), ("start_late", "warning"), ("slow", "warning")}
    settings = ("lease_ms=2s", "breaker_calls_min=5", "alert_dead_letters=3", "alert_rate_calls_min=5",
                "alert_queue_age_ms=1s", "alert_depth_warning=2", "alert_depth_critical=5",
                "alert_slow_min_ms=300ms", "alert_slow_runs_min=3")
    with Receiver(503, 503) as hook:
        flags = [flag for s in (*settings, f"alert_webhooks={hook.url}") for flag in ("--set", s)]
        with Server("--no-worker", *flags) as own:
            worker, held = raise_all(own)

            def all_sent():
                worker.poll(running=held)  # its leases go on
                kept = alerts(own)
                return wanted <= {(a["kind"], a["level"]) for a in kept} and \
                    all(a["state"] == "sent" for a in kept)

            wait_for(all_sent, "all kinds to be sent", 60)
            kept = alerts(own)
            assert len({a["key"] for a in kept}) == len(kept), "each matter is told once"
            assert all(is_signed(own, *one) for one in hook.got)
            ids = [headers["webhook-id"] for headers, _ in hook.got]
            assert set(ids) == {a["alert_id"] for a in kept}
            assert len(ids) <= len(kept) + 2, "only what was refused is sent again"
            types = {json.loads(body)["type"] for _, body in hook.got}
            assert types == {"alert." + kind for kind, _ in wanted}, types


def test_old_alerts_go():
    with Server("--no-worker") as own:
        fail_once(own, Worker(own), name="payroll")
        assert len(alerts(own)) == 1
        own.stop()
        own.flags += ("--set", "alerts_keep_ms=1s")
        own.start()
        wait_for(lambda: not alerts(own), "the alert to be old")


def test_a_secret_that_was_cut_short_is_made_anew():
    with Receiver() as hook, Server("--no-worker", "--set", f"alert_webhooks={hook.url}") as own:
        whole = own.key("webhook.key")
        own.stop()
        (own.data / "webhook.key").write_text(whole[:11])  # as a full disk leaves it
        own.start()
        assert len(own.key("webhook.key")) == len(whole) and own.key("webhook.key") != whole
        fail_once(own, Worker(own), name="payroll")
        wait_for(lambda: hook.got, "the webhook")
        assert is_signed(own, *hook.got[0])


def test_addresses_are_checked_at_the_start():
    for bad in ("ftp://example.org/", "nonsense", "http://a.example/,"):
        with_bad = Server("--set", "alert_webhooks=" + bad)
        try:
            with_bad.start()
        except AssertionError as refusal:
            assert "alert_webhooks" in str(refusal) and "not an http" in str(refusal), refusal
        else:
            raise AssertionError(bad + " was taken")


if __name__ == "__main__":
    main(tests_of(globals()), shared=server)
