"""Traces: a caller's context through job, execution and attempt to the command; the spans that tell of it; and
collectors that hang, refuse, are busy, take a part, or vanish."""

import re

from belfry import Server, free_port, main, tests_of, wait_for
from collector import Collector
from protocol import API, Stream, Worker, call, execution, expect, names, submit

CALLER = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{CALLER}-00f067aa0ba902b7-01"
TOKEN = "Bearer s3cret"

taking = Collector()
server = Server("--set", "trace_endpoint=" + taking.url, "--set", "trace_headers=authorization=Bearer%20s3cret",
                "--set", "trace_service_name=night shift")


def traced(own=None, parent=PARENT, state=None, path="/jobs", key=None, **job):
    headers = {"traceparent": parent}
    if state is not None:
        headers["tracestate"] = state
    if key is not None:
        headers["Idempotency-Key"] = key
    answer = call(own or server, "POST", API + path, job, headers=headers)
    assert answer.status in (200, 201), answer
    return answer.json


def trace_of(own, execution_id):
    return execution(own, execution_id)["trace_id"]


def printed(job_id):
    """What a command printed, once it has ended."""
    ended = server.wait_for_status(job_id, "completed")
    return call(server, "GET", f"{API}/executions/{ended['execution_id']}/logs").body.decode()


def spans_of(trace_id, collector=taking, roots=1):
    """The spans of a trace when so many executions of it have arrived, whole: they come together."""
    return wait_for(lambda: (lambda found: found if len(found.get("execute", ())) == roots else None)
                    (collector.of(trace_id)), f"spans of {trace_id}")


def metrics(own):
    text = call(own, "GET", "/metrics").body.decode()
    return {name: int(value) for name, value in re.findall(r"^belfry_(trace_\S+) (\d+)$", text, re.M)}


def dropped(own, reason):
    return metrics(own)[f'trace_spans_dropped_total{{reason="{reason}"}}']


def test_a_callers_trace_reaches_the_command_and_comes_back_as_spans():
    made = traced(command="echo $TRACEPARENT $TRACESTATE", state=" congo=t61, ,rojo=1")
    out = printed(made["job_id"])
    match = re.fullmatch(rf"00-{CALLER}-([0-9a-f]{{16}})-01 congo=t61,rojo=1\n", out)
    assert match, out
    assert trace_of(server, made["execution_id"]) == CALLER
    found = spans_of(CALLER)
    root, = found["execute"]
    attempt, = found["process"]
    assert root["parentSpanId"] == "00f067aa0ba902b7" and root["traceState"] == "congo=t61,rojo=1"
    assert attempt["spanId"] == match[1] and attempt["kind"] == 5
    for one in [attempt, *found["submit"], *found.get("wait", [])]:
        assert one["parentSpanId"] == root["spanId"], one
        assert root["startTimeUnixNano"] <= one["startTimeUnixNano"] <= one["endTimeUnixNano"], one
        assert one["endTimeUnixNano"] <= root["endTimeUnixNano"], one
    assert root["attributes"]["messaging.message.id"] == made["execution_id"]
    assert attempt["attributes"]["process.exit.code"] == 0 and "status" not in root
    assert taking.headers["authorization"] == TOKEN
    assert taking.resources[-1]["service.name"] == "night shift"


def test_without_one_it_is_a_trace_of_its_own_everywhere_the_same():
    queue = next(names)
    made = server.cli("submit", "--queue", queue, "--", "sh", "-c", "echo $TRACEPARENT $TRACESTATE").stdout.strip()
    out = printed(made)
    own = out[3:35]
    assert re.fullmatch(rf"00-{own}-[0-9a-f]{{16}}-01\n", out), out
    listed, = expect(200, server, "GET", f"/executions?queue={queue}&fields=trace_id")["executions"]
    assert listed == {"trace_id": own} and server.newest_execution(made)["trace_id"] == own
    assert expect(200, server, "GET", f"/jobs/{made}")["last_execution"]["trace_id"] == own
    assert f"\n{'trace':<12}" in server.cli("show", server.newest_execution(made)["execution_id"]).stdout
    root, = spans_of(own)["execute"]
    assert "parentSpanId" not in root


def test_what_is_not_valid_is_as_none_and_never_refused():
    for parent in ("", "00", PARENT.upper(), PARENT + "-x", f"ff-{CALLER}-00f067aa0ba902b7-01", PARENT + "," + PARENT,
                   "00-" + "0" * 32 + "-00f067aa0ba902b7-01"):
        made = traced(parent=parent, state="a=1", handler=next(names))
        assert trace_of(server, made["execution_id"]) not in (None, CALLER), parent
    worker, handler = None, next(names)
    for state in ("A=1", "a=1,a=2", ",".join(f"k{i}=v" for i in range(33)), "a=" + "x" * 257):
        worker = worker or Worker(server, handlers=[handler])
        traced(state=state, handler=handler)
        lease, = worker.take()
        assert lease["traceparent"].startswith(f"00-{CALLER}-") and "tracestate" not in lease, state
        assert worker.finish(lease)


def test_it_is_no_part_of_what_is_asked_for():
    handler, key = next(names), next(names)
    first = traced(handler=handler, key=key)
    again = traced(handler=handler, key=key, parent=PARENT.replace("4bf9", "aaaa"))
    assert again["job_id"] == first["job_id"] and trace_of(server, first["execution_id"]) == CALLER


def test_every_call_that_makes_an_execution_takes_it():
    handler, name = next(names), next(names)
    worker = Worker(server, handlers=[handler])
    batch = traced(path="/jobs/batch", jobs=[{"handler": handler}, {"handler": handler}])
    made = [one["execution_id"] for one in batch["results"]]
    put = call(server, "PUT", f"{API}/jobs/by-name/{name}", {"handler": handler, "schedule": {"every": "1d"}},
               headers={"traceparent": PARENT})
    assert put.status == 201, put
    made += [traced(path=f"/jobs/{put.json['job_id']}/trigger")["execution_id"]]
    failed, _ = submit(server, handler=handler, retry={"max_retries": 0})
    results = [(lease, "failed" if lease["job_id"] == failed else "succeeded") for lease in worker.take(4)]
    assert all(told["accepted"] for told in worker.poll(results=results)["results"])
    dead = server.newest_execution(failed)["execution_id"]
    assert trace_of(server, dead) != CALLER
    made += [traced(path=f"/dead-letters/{dead}/retry")["execution_id"]]
    assert [trace_of(server, one) for one in made] == 4 * [CALLER], made
    lease, = worker.take()
    assert worker.finish(lease)


def test_a_job_hands_its_trace_on_to_what_it_submits():
    child = next(names)
    env = {"TRACEPARENT": PARENT.replace("4bf9", "cccc"), "TRACESTATE": "a=1"}
    done = server.cli("submit", "--queue", child, "--handler", child, env=env)
    assert done.returncode == 0, done.stderr
    one, = expect(200, server, "GET", "/executions?queue=" + child)["executions"]
    assert one["trace_id"] == CALLER.replace("4bf9", "cccc")


def test_events_and_alerts_name_the_trace():
    handler = next(names)
    trace = CALLER.replace("4bf9", "eeee")
    worker = Worker(server, handlers=[handler])
    with Stream(server, "/events") as stream:
        made = traced(parent=PARENT.replace("4bf9", "eeee"), handler=handler, retry={"max_retries": 0})
        lease, = worker.take()
        assert worker.finish(lease, "failed", error="no such table")
        for _, _, event in stream:
            if event.get("execution_id") == made["execution_id"]:
                assert event["trace_id"] == trace, event
                if event["event"] == "exhaust":
                    break
    told = [a for a in expect(200, server, "GET", "/alerts?limit=1000")["alerts"]
            if a.get("execution_id") == made["execution_id"]]
    assert [a["trace_id"] for a in told] == [trace], told
    root, = spans_of(trace)["execute"]
    assert root["status"] == {"code": 2, "message": "no such table"} and root["attributes"]["error.type"], root


def test_waits_and_all_attempts_are_in_the_trace():
    handler = next(names)
    trace = CALLER.replace("4bf9", "dddd")
    worker = Worker(server, handlers=[handler])
    first = traced(parent=PARENT, handler=handler)
    second = traced(parent=PARENT.replace("4bf9", "dddd"), handler=handler, depends_on=[{"job": first["job_id"]}],
                    retry={"max_retries": 1, "delay": "100ms", "jitter": 0})
    lease, = worker.take()
    assert worker.finish(lease)
    lease, = worker.take()
    assert lease["execution_id"] == second["execution_id"] and worker.finish(lease, "failed", error="first")
    again, = wait_for(lambda: worker.poll(free=1)["leases"], "the second attempt")
    assert worker.finish(again)
    found = spans_of(trace)
    assert [s["attributes"]["belfry.outcome"] for s in found["process"]] == ["failed", "succeeded"]
    assert {"other", "backoff"} <= {s["attributes"]["belfry.wait.for"] for s in found["wait"]}, found["wait"]
    assert {again["traceparent"][36:52], lease["traceparent"][36:52]} == {s["spanId"] for s in found["process"]}


def test_exemplars_lead_from_numbers_to_traces():
    queue = next(names)
    worker = Worker(server, queues=[queue], handlers=["h"])
    trace = CALLER.replace("4bf9", "abab")
    for parent in (PARENT.replace("4bf9", "abab"), PARENT[:-1] + "0"):  # the second one is not sampled
        traced(parent=parent, handler="h", queue=queue)
        lease, = worker.take()
        assert worker.finish(lease)

    def exemplars(accept):
        text = call(server, "GET", "/metrics", headers={"Accept": accept}).body.decode()
        return [(line[1], float(line[2]), line[3], float(line[4]), float(line[5])) for line in re.finditer(
            rf'^belfry_(\w+)_bucket\{{queue="{queue}",le="([^"]+)"\}} \d+ # \{{trace_id="(\w+)"\}} (\S+) (\S+)$',
            text, re.M)]

    found = wait_for(lambda: (lambda all: all if len(all) == 3 else None)
                     (exemplars("application/openmetrics-text; version=1.0.0")), "an exemplar of each histogram")
    assert {one[0] for one in found} == {"execution_duration_seconds", "schedule_lag_seconds", "queue_wait_seconds"}
    for _, bound, name, value, at in found:
        assert name == trace and 0 <= value <= bound and at > 1e9, found
    assert exemplars("text/plain") == []


def test_no_key_of_the_collector_is_shown():
    settings = call(server, "GET", API + "/settings").body.decode()
    assert "trace_headers" in settings and "s3cret" not in settings
    assert "s3cret" not in server.log_path.read_text()


def test_a_trace_outlives_its_server_and_the_last_spans_are_sent():
    with Collector() as collector:
        with Server("--no-worker", "--set", "trace_endpoint=" + collector.url) as own:
            made = traced(own, handler="h")
            plain, _ = submit(own, handler="h")
            before = own.newest_execution(plain)["trace_id"]
            own.kill()
            own.start()
            worker = Worker(own, handlers=["h"])
            leases = {lease["job_id"]: lease for lease in worker.take(2)}
            assert leases[made["job_id"]]["traceparent"].startswith(f"00-{CALLER}-")
            assert leases[plain]["traceparent"][3:35] == before
            for lease in leases.values():
                assert worker.finish(lease)
        assert len(collector.of(CALLER)["process"]) == len(collector.of(before)["process"]) == 1


def test_a_ratio_of_nothing_leaves_what_failed_and_what_the_caller_wants():
    with Collector() as collector:
        env = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url.removesuffix("/v1/traces"),
               "OTEL_TRACES_SAMPLER": "always_off"}
        with Server("--no-worker", env=env) as own:
            worker = Worker(own, handlers=["h"])
            outcomes = {}
            for parent, outcome in (("", "succeeded"), ("", "failed"), (PARENT, "succeeded"),
                                    (PARENT.replace("4bf9", "aaaa")[:-1] + "0", "succeeded")):
                made = traced(own, parent=parent, handler="h", retry={"max_retries": 0})
                lease, = worker.take()
                assert lease["traceparent"].endswith("-01" if parent == PARENT else "-00"), lease
                assert worker.finish(lease, outcome)
                outcomes[trace_of(own, made["execution_id"])] = outcome
        sent = {span["traceId"] for span in collector.spans}
        assert sent == {trace for trace, outcome in outcomes.items() if outcome == "failed" or trace == CALLER}, sent


def run_one(own, worker):
    made, _ = submit(own, handler="h")
    lease, = worker.take()
    assert worker.finish(lease)
    return own.newest_execution(made)["trace_id"]


def test_a_collector_that_is_busy_or_hangs_gets_them_again():
    with Collector((503, {"Retry-After": "1"}, {}), "hang") as collector:
        with Server("--no-worker", "--set", "trace_endpoint=" + collector.url, "--set", "trace_timeout_ms=300") as own:
            trace = run_one(own, Worker(own, handlers=["h"]))
            spans_of(trace, collector)
            told = wait_for(lambda: (lambda m: m if m["trace_spans_exported_total"] else None)(metrics(own)), "the count")
            assert told["trace_batches_failed_total"] == 2 and collector.posts == 3, told
            assert own.log_path.read_text().count("spans could not be sent") == 1


def test_what_it_refuses_is_dropped_and_what_it_rejects_is_counted():
    partial = (200, {}, {"partialSuccess": {"rejectedSpans": "2", "errorMessage": "too many"}})
    with Collector(400, partial) as collector:
        with Server("--no-worker", "--set", "trace_endpoint=" + collector.url) as own:
            worker = Worker(own, handlers=["h"])
            run_one(own, worker)
            wait_for(lambda: dropped(own, "refused"), "the refusal")
            trace = run_one(own, worker)
            found = spans_of(trace, collector)
            total = sum(len(spans) for spans in found.values())
            told = wait_for(lambda: (lambda m: m if m["trace_spans_rejected_total"] else None)(metrics(own)), "the count")
            assert told["trace_spans_rejected_total"] == 2, told
            assert told["trace_spans_exported_total"] == total - 2 and collector.posts == 2, told


def test_one_that_vanished_costs_spans_and_no_work():
    port = free_port()
    with Server("--no-worker", "--set", f"trace_endpoint=http://127.0.0.1:{port}/v1/traces",
                "--set", "trace_queue_bytes_max=64KiB") as own:
        worker = Worker(own, slots=500, handlers=["h"])
        for _ in range(2):
            expect(200, own, "POST", "/jobs/batch", {"jobs": [{"handler": "h"} for _ in range(400)]})
            leases = worker.take(400)
            worker.poll(results=[(lease, "succeeded") for lease in leases])
        wait_for(lambda: dropped(own, "queue_full"), "the queue to be full")
        assert metrics(own)["trace_queue_bytes"] <= 64 << 10
        wait_for(lambda: metrics(own)["trace_batches_failed_total"], "the first try to fail")
        with Collector(port=port) as collector:
            wait_for(lambda: collector.spans, "spans, once it is back")
            wait_for(lambda: "takes spans again" in own.log_path.read_text(), "the log to say so")
            assert own.stop() == 0


with taking:
    main(tests_of(globals()), server)
