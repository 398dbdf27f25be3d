"""Input that makes no sense, is far too large, or lies: each is answered with a clear problem, or
runs into a failure that says why; nothing of it costs more memory or time than it is worth."""

import contextlib
import os
import socket
import time

from belfry import SANITIZED, Server, main, tests_of, wait_for
from protocol import API, Worker, call, execution, expect, names, result, submit

server = Server("--slots", "2")
MIB = 1 << 20
FINAL = ("completed", "failed", "timeout", "cancelled")


def problem(status, method, path, body, *fields, **kwargs):
    """A problem of this status that blames exactly these fields, in an answer of bounded size."""
    answer = call(server, method, API + path, body, **kwargs)
    assert answer.status == status, answer
    assert answer.headers["Content-Type"] == "application/problem+json", answer.headers
    assert len(answer.body) < 32768, len(answer.body)
    told = answer.json
    assert told["status"] == status and told["title"] and told["detail"] and told["code"], told
    assert {e["field"] for e in told.get("errors", [])} == set(fields), told
    assert all(e["message"] for e in told.get("errors", [])), told
    return told


def run(**job):
    """The finished execution of a job with three retries, which nobody should need."""
    job_id, _ = submit(server, retry={"max_retries": 3, "delay": "1ms"}, **job)
    return server.wait_for_status(job_id, *FINAL)


def cpu_s(pid):
    """What a process has computed so far. Unlike the clock on the wall it does not count how long the
    machine was busy elsewhere."""
    with open(f"/proc/{pid}/stat") as stat:
        user, system = stat.read().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


# ---- jobs

def test_a_nul_is_refused_wherever_it_stands():
    for job in ({"command": ["a\0b"]}, {"command": "a\0b"}, {"command": "true", "name": "a\0b"},
                {"command": "true", "env": {"A": "\0"}}, {"command": "true", "env": {"A\0": "x"}},
                {"command": "true", "queue": "\0"}, {"command": "true", "working_dir": "/\0"},
                {"command": "true", "tags": {"a": "\0"}}, {"command": "true", "payload": ["\0"]},
                {"handler": "\0"}):
        detail = problem(400, "POST", "/jobs", job)["detail"]
        assert "line 1, column " in detail and "this escape stands for no character" in detail, detail
    raw = b'{"command": ["a\0b"]}'
    assert "control character" in problem(400, "POST", "/jobs", raw)["detail"]


def test_environment_names_are_names():
    for name in ("A=B", "="):
        problem(400, "POST", "/jobs", {"command": "true", "env": {name: "x"}}, f"env.{name}")
    problem(400, "POST", "/jobs", {"command": "true", "env": {"": "x"}}, "env")
    assert run(command='test "$V" = "a=b"', env={"V": "a=b"})["status"] == "completed"


def test_a_command_as_large_as_may_be_runs_and_a_larger_one_is_refused():
    def sized(length):
        return {"command": ["/bin/true", "x" * length], "env": {"V": "y" * 130000}}
    largest = next(length for length in range(131072, 0, -1)
                   if length < 130000 or call(server, "POST", API + "/jobs", {
                       **sized(length), "schedule": {"at": "9999-12-31T00:00:00Z"}}).status == 201)
    assert largest > 130000, largest
    assert run(**sized(largest))["status"] == "completed"
    problem(400, "POST", "/jobs", sized(largest + 1), "command")
    problem(400, "POST", "/jobs", {"command": ["x"] * 5000}, "command")
    problem(400, "POST", "/jobs", {"command": "x" * 200000}, "command")


def test_what_cannot_be_run_fails_for_good_and_says_why():
    for job, words in (
            ({"command": ["/no/such/command"]}, "/no/such/command"),
            ({"command": ["no-such-command-anywhere"]}, "no-such-command-anywhere"),
            ({"command": ["/etc/passwd"]}, "/etc/passwd"),
            ({"command": ["/tmp"]}, "/tmp"),
            ({"command": "true", "working_dir": "/no/such/place"}, "/no/such/place"),
            ({"command": "true", "working_dir": "/etc/passwd"}, "/etc/passwd")):
        ended = run(**job)
        assert ended["status"] == "failed" and len(ended["attempts"]) == 1, ended
        assert ended["attempts"][0]["outcome"] == "permanent" and words in ended["error"], ended


def test_moments_far_away_wait_and_moments_gone_by_are_now():
    for at in ("9999-12-31T23:59:59.999Z", "2200-01-01T00:00:00+14:00"):
        created = expect(201, server, "POST", "/jobs", {"command": "true", "schedule": {"at": at}})
        job = expect(200, server, "GET", "/jobs/" + created["job_id"])
        assert job["current_execution"]["status"] == "scheduled", job
    for at in ("1970-01-01T00:00:00Z", "1999-12-31T23:59:60Z"):
        created = expect(201, server, "POST", "/jobs", {"command": "true", "schedule": {"at": at}})
        assert "has passed" in created["schedule_text"], created
        assert server.wait_for_status(created["job_id"], *FINAL)["status"] == "completed"
    for at in ("10000-01-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-11-16", "tomorrow", "", 5,
               "2026-11-16T25:00:00Z", "2026-11-16T03:00:00", "-001-01-01T00:00:00Z"):
        problem(400, "POST", "/jobs", {"command": "true", "schedule": {"at": at}}, "schedule.at")


def test_a_batch_is_as_good_as_each_of_its_jobs():
    name = next(names)
    jobs = [{"command": "true", "name": name}, {"command": "true", "priority": 10**9}, 5, None, [],
            {"command": "true", "name": name}, {"command": ["\x7f"]}, {}, {"command": "true"}]
    results = expect(200, server, "POST", "/jobs/batch", {"jobs": jobs})["results"]
    assert [r.get("status") for r in results] == [None, 400, 400, 400, 400, 409, None, 400, None], results
    assert results[1]["errors"][0]["field"].endswith("priority"), results[1]
    assert all("job_id" in results[i] for i in (0, 6, 8)), results
    assert len(expect(200, server, "GET", f"/jobs?name={name}")["jobs"]) == 1
    told = problem(413, "POST", "/jobs/batch", {"jobs": [{"command": "true"}] * 10001})
    assert "10000" in told["detail"], told


def test_very_many_and_very_long_things_get_a_short_answer():
    long = "x" * MIB
    for job, field in (({"tags": {f"t{i}": "v" for i in range(100000)}}, "tags"),
                       ({"env": {f"E{i}": "v" for i in range(100000)}}, "env"),
                       ({"name": long}, "name"), ({"queue": long}, "queue"),
                       ({"description": long}, "description"), ({"working_dir": long}, "working_dir")):
        before = cpu_s(server.process.pid)
        problem(400, "POST", "/jobs", {"command": "true", **job}, field)
        assert SANITIZED or cpu_s(server.process.pid) - before < 0.5, field
    for job in ({long: 1}, {"env": {long: "x"}}, {"tags": {long: "x"}},
                {f"{i}{'y' * 1000}": 1 for i in range(1000)}):
        answer = call(server, "POST", API + "/jobs", {"command": "true", **job})
        assert answer.status == 400 and len(answer.body) < 32768, (answer.status, len(answer.body))
    for method, path in (("GET", f"/jobs/{long}"), ("GET", f"/jobs?name={long}")):
        answer = call(server, method, API + path)
        assert answer.status in (414, 431) and len(answer.body) < 4096, answer
    answer = call(server, "GET", API + "/jobs", key="Bearer " + "k" * 20000)
    assert answer.status == 401, answer
    assert call(server, "GET", API + "/jobs", key="Bearer " + long).status == 431


def test_a_document_is_read_in_the_time_its_bytes_are_worth():
    """Nested, repeated, escaped: fifteen megabytes of each are refused or taken within moments."""
    size = 2 * MIB if SANITIZED else 15 * MIB
    for body in (b"[" * size, b'{"a":' * (size // 5), b'{"command":"' + b"\\n" * (size // 2) + b'"}',
                 b'{"command":"true","payload":[' + b"1," * (size // 2) + b"1]}",
                 b"{" + b",".join(b'"k%d":1' % i for i in range(size // 12)) + b"}",
                 b" " * size, b'"' + b"\xc3\xa4" * (size // 2) + b'"', b"1" * size):
        before = cpu_s(server.process.pid)
        answer = call(server, "POST", API + "/jobs", body)
        took_s = cpu_s(server.process.pid) - before
        assert answer.status in (400, 413), (body[:20], answer)
        assert SANITIZED or took_s < 1, (body[:20], took_s)


# ---- payloads and results, which are carried unread

def deep(levels):
    return b"[" * levels + b"]" * levels


def submit_raw(own, payload, command='["sh", "-c", "cat > $BELFRY_RESULT_FILE"]', **kwargs):
    """The id of a job whose command gives its payload back as its result, both as these very bytes."""
    body = b'{"command":' + command.encode() + b',"retry":{"max_retries":3},"payload":' + payload + b"}"
    answer = call(own, "POST", API + "/jobs", body, **kwargs)
    assert answer.status == 201, answer
    return answer.json["job_id"]


def test_payloads_and_results_may_be_nested_64_deep():
    jobs = {levels: submit_raw(server, deep(levels)) for levels in (61, 62, 63, 64)}
    for levels, job_id in jobs.items():
        done = server.wait_for_status(job_id, *FINAL)
        assert done["status"] == "completed" and done["attempt_count"] == 1, (levels, done)
        seen = call(server, "GET", API + f"/executions/{done['execution_id']}").body
        assert b'"result":' + deep(levels) in seen, (levels, seen)
        assert b'"payload":' + deep(levels) in call(server, "GET", API + f"/jobs/{job_id}").body
        assert deep(levels).decode() in server.cli("show", job_id, "-o", "json").stdout
    body = b'{"command":"true","payload":' + deep(65) + b"}"
    assert "nested too deeply" in problem(400, "POST", "/jobs", body)["detail"]


def test_a_retry_may_bring_a_deep_payload():
    job_id, failed = submit(server, command="test -s $BELFRY_PAYLOAD_FILE",
                            retry={"max_retries": 0})
    server.wait_for_status(job_id, "failed")
    body = b'{"payload":' + deep(65) + b"}"
    assert "nested too deeply" in problem(400, "POST", f"/executions/{failed}/retry", body)["detail"]
    answer = call(server, "POST", API + f"/executions/{failed}/retry", b'{"payload":' + deep(64) + b"}")
    assert answer.status // 100 == 2, answer
    assert server.wait_for_status(job_id, "completed")["execution_id"] != failed


def test_a_result_nested_too_deeply_costs_the_result_and_not_the_run():
    """The command alone can say it, and the worker checks what it has written."""
    text = deep(65).decode()
    done = run(command=["sh", "-c", f"printf %s '{text}' > $BELFRY_RESULT_FILE"])
    assert done["status"] == "completed" and done["attempt_count"] == 1, done
    assert execution(server, done["execution_id"])["result"] is None, done


def test_bytes_of_a_payload_come_back_as_they_were_sent():
    for payload in (b"18446744073709551616", b"1e999", b'{"a" : 1E+999,\t"a":-0.0,"\\u00e9":[]}',
                    b"[1.10, 123456789012345678901234567890]"):
        job_id = submit_raw(server, payload)
        done = server.wait_for_status(job_id, *FINAL)
        assert done["status"] == "completed", done
        assert payload in call(server, "GET", API + f"/jobs/{job_id}").body, payload
        assert payload in call(server, "GET", API + f"/executions/{done['execution_id']}").body, payload
    for payload in (b'["\\u0000"]', b'["\\ud800"]', b"[1,]", b'["\xff"]', b"[01]"):
        answer = call(server, "POST", API + "/jobs", b'{"command":"true","payload":' + payload + b"}")
        assert answer.status == 400, (payload, answer)


def test_leases_of_one_reply_share_no_limit():
    """Three payloads of half a million numbers, and many jobs with as many arguments as may be."""
    with Server("--slots", "310") as own:
        call(own, "POST", API + "/queues/default/pause")
        numbers = b"[" + b",".join([b"1"] * 524000) + b"]"
        jobs = [submit_raw(own, numbers, '["true"]') for _ in range(3)]
        arguments = "[" + ",".join(['"true"'] + ['"x"'] * 4089) + "]"
        jobs += [submit_raw(own, b"0", arguments) for _ in range(300)]
        call(own, "POST", API + "/queues/default/resume")
        for job_id in jobs:
            done = own.wait_for_status(job_id, *FINAL)
            assert done["status"] == "completed" and done["attempt_count"] == 1, done
        listed = own.cli("jobs", "--limit", "1000")
        assert listed.returncode == 0, listed
        assert len(listed.stdout.strip().splitlines()) == 304, len(listed.stdout.splitlines())


def test_a_patch_merges_payloads_as_text():
    answer = call(server, "POST", API + "/jobs", b'{"command":"true","schedule":{"cron":"0 3 * * *"},'
                  b'"payload":{"a":{"n":1e999,"gone":1},"big":18446744073709551616}}')
    path = API + f"/jobs/{answer.json['job_id']}"

    def patch(payload):
        return call(server, "PATCH", path, b'{"payload":' + payload + b"}",
                    headers={"Content-Type": "application/merge-patch+json",
                             "If-Match": call(server, "GET", path).headers["ETag"]})
    answer = patch(b'{"a":{"gone":null,"m":-1e-999},"c":1.10}')
    assert answer.status == 200, answer
    merged = b'"payload":{"a":{"n":1e999,"m":-1e-999},"big":18446744073709551616,"c":1.10}'
    assert merged in call(server, "GET", path).body, call(server, "GET", path).body
    twice = patch(b'{"a":1,"a":2}')
    assert twice.status == 400 and "twice" in twice.json["detail"], twice
    deepest = b'{"d":' * 63 + b"{}" + b"}" * 63
    assert patch(deepest).status == 200
    assert deepest[1:-1] in call(server, "GET", path).body
    assert patch(b'[{"a":1,"a":2}]').status == 200  # it replaces, so nothing is merged
    assert b'"payload":[{"a":1,"a":2}]' in call(server, "GET", path).body


# ---- workers

def test_numbers_of_a_poll_have_an_end():
    worker = Worker(server, handlers=[next(names)])
    path = f"/workers/{worker.id}/poll"
    for wrong, field in (({"free": -1}, "free"), ({"free": 10**9}, "free"), ({"free": 2**64}, None),
                         ({"free": 1.5}, "free"), ({"free": "1"}, "free"), ({"seq": -1}, "seq"),
                         ({"wait_ms": 2**63 - 1}, "wait_ms"), ({"seq": 2**63}, None)):
        fields = [field] if field else []  # beyond 64 bits it is not even a number
        problem(400, "POST", path, {"seq": 1, "free": 0, **wrong}, *fields, key="worker")
    for slots in (-1, 0, 10**9, 1.5, "many"):
        problem(400, "POST", "/workers", {"name": "x", "slots": slots}, "slots", key="worker")
    many = [{"execution_id": "exec_0000000000001", "token": 1}] * 20001
    problem(400, "POST", path, {"seq": 2, "free": 0, "running": many}, "running", key="worker")


def test_two_workers_with_one_id_cannot_both_run_a_job():
    handler = next(names)
    first = Worker(server, handlers=[handler])
    second = Worker.__new__(Worker)  # the same identity, in another process
    second.server, second.id, second.seq = server, first.id, 0
    submit(server, handler=handler)
    lease, = first.take()
    answer = second.send({"seq": 1, "free": 5})  # it does not know how far the other has counted
    assert answer.status == 409 and answer.json["code"] == "stale", answer
    second.seq = 10  # and if it does it takes over: the run it does not list is lost to the first
    assert second.poll(free=5)["leases"][0]["token"] == lease["token"] + 1
    assert first.send({"seq": 5, "free": 0, "results": [result(lease, "succeeded")]}).status == 409
    assert first.id == second.id and execution(server, lease["execution_id"])["status"] == "running"


def test_a_worker_cannot_speak_for_another():
    handler = next(names)
    first, second = Worker(server, handlers=[handler]), Worker(server, handlers=[handler])
    submit(server, handler=handler)
    lease, = first.take()
    assert second.finish(lease) is False
    assert second.finish({**lease, "token": lease["token"] + 1}) is False
    assert second.poll(running=[lease])["stop"][0]["execution_id"] == lease["execution_id"]
    run_now = execution(server, lease["execution_id"])
    assert (run_now["status"], run_now["worker_id"]) == ("running", first.id), run_now
    assert first.finish(lease) is True


def test_only_so_many_workers_and_queues_are_remembered():
    with Server("--no-worker", "--set", "workers_max=3", "--set", "queues_max=5") as own:
        for _ in range(3):
            Worker(own)
        answer = call(own, "POST", API + "/workers", {"name": "x", "slots": 1}, key="worker")
        assert answer.status == 503 and "as many workers as there may be (3)" in answer.json["detail"]
        for i in range(5):
            submit(own, queue=f"q{i}")
        answer = call(own, "POST", API + "/jobs", {"command": "true", "queue": "q5"})
        assert (answer.status, answer.json["code"]) == (409, "limit_reached"), answer
        assert "queues_max is 5" in answer.json["detail"], answer
        submit(own, queue="q4")
        submit(own)


def test_a_forgotten_worker_is_told_to_register_again():
    with Server("--no-worker", "--set", "forget_ms=1s") as own:
        worker = Worker(own)
        wait_for(lambda: worker.send({"seq": 1, "free": 0}).status == 404 or time.sleep(1.2),
                 "the worker to be forgotten")


# ---- memory

def peak_bytes(pid):
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))


def forget_peak(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/clear_refs", "w") as f:
        f.write("5")


def worker_pid(own):
    return int((own.data / "worker.lock").read_text())


def test_endless_output_costs_neither_worker_nor_server_memory():
    """BELFRY_OUTPUT_MIB says how much is printed; what is kept is 16 MiB, head and tail."""
    mib = int(os.environ.get("BELFRY_OUTPUT_MIB", "16" if SANITIZED else "256"))
    with Server("--slots", "1") as own:
        job_id, _ = submit(own, command="true")
        own.wait_for_status(job_id, "completed")
        pids = {"server": own.process.pid, "worker": worker_pid(own)}
        before = {}
        for who, pid in pids.items():
            forget_peak(pid)
            before[who] = peak_bytes(pid)
        start = time.monotonic()
        job_id, _ = submit(own, command=f"head -c {mib * MIB} /dev/zero; echo; echo last")
        ended = wait_for(lambda: (e := own.newest_execution(job_id))["status"] in FINAL and e,
                         "the command to end", 600)
        took = time.monotonic() - start
        attempt = ended["attempts"][0]
        assert ended["status"] == "completed", ended
        assert attempt["output_bytes"] == mib * MIB + 6, attempt
        assert attempt["output_bytes"] - attempt["dropped_bytes"] <= 16 * MIB, attempt
        grown = {who: peak_bytes(pid) - before[who] for who, pid in pids.items()}
        print(f"{mib} MiB of output in {took:.1f} s; more memory at the peak: " +
              ", ".join(f"{who} {n / MIB:.1f} MiB" for who, n in grown.items()))
        assert SANITIZED or max(grown.values()) < 64 * MIB, grown
        logs = call(own, "GET", f"{API}/executions/{ended['execution_id']}/logs")
        assert logs.body.endswith(b"\nlast\n") and len(logs.body) < 17 * MIB


def test_readers_that_never_read_cost_little_memory():
    """Twenty who follow ten megabytes each, and twenty who watch what happens, and take nothing."""
    job_id, execution_id = submit(server, command="head -c 10000000 /dev/zero | tr '\\0' x")
    server.wait_for_status(job_id, "completed")
    forget_peak(server.process.pid)
    before = peak_bytes(server.process.pid)
    clients = []
    for path in (f"/executions/{execution_id}/logs?follow=true", f"/executions/{execution_id}/logs",
                 "/events", "/events"):
        for _ in range(10):
            client = socket.socket()
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect(("127.0.0.1", server.port))
            client.sendall(f"GET {API}{path} HTTP/1.1\r\nHost: x\r\n"
                           f"Authorization: Bearer {server.key()}\r\n\r\n".encode())
            clients.append(client)
    queue = next(names)
    for _ in range(5):
        jobs = [{"handler": "nobody", "queue": queue}] * 2000
        expect(200, server, "POST", "/jobs/batch", {"jobs": jobs})
    job_id, _ = submit(server, command="echo still here")
    assert server.wait_for_status(job_id, *FINAL)["status"] == "completed"
    grown = peak_bytes(server.process.pid) - before
    for client in clients:
        client.close()
    assert SANITIZED or grown < 96 * MIB, f"{grown / MIB:.1f} MiB"


if __name__ == "__main__":
    main(tests_of(globals()), shared=server)
