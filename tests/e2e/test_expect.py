"""Jobs that are run elsewhere and expect pings; `belfry exec`, which runs them and pings; heartbeats outwards."""

import http.server
import os
import pathlib
import pty
import signal
import subprocess
import sys
import threading
import time

from belfry import BELFRY, PATIENCE_S, Server, main, tests_of, wait_for
from protocol import API, call, expect
from webhook import Receiver, alerts

server = Server("--no-worker")


def make(own=server, every="1d", grace="1h", **more):
    return expect(201, own, "POST", "/jobs", {"expect": {"every": every, "grace": grace}, **more})["job_id"]


def runs(job, own=server):
    return [x for x in expect(200, own, "GET", f"/jobs/{job}/executions")["executions"] if x["status"] != "scheduled"]


def missed(own, job):
    return [a for a in alerts(own, "missed") if a["job_id"] == job]


def test_a_ping_is_an_execution_and_is_counted_once():
    job = make(name="backup", queue="nights")
    ping = {"outcome": "failure", "started_at": "2026-01-01T00:00:00Z", "exit_code": 3, "output": "all\ndisk full\n"}
    answers = [call(server, "POST", f"{API}/jobs/backup/ping", ping, headers={"Idempotency-Key": "night-1"})
               for _ in range(2)]
    assert [a.status for a in answers] == [201, 201] and answers[0].body == answers[1].body
    assert answers[1].headers["Idempotency-Replayed"] == "true"
    one, = runs(job)
    assert (one["status"], one["origin"], one["error"]) == ("failed", "ping", "exit code 3"), one
    assert one["started_at"] == "2026-01-01T00:00:00.000Z" and one["attempt_count"] == 1 and one["token"] == 1, one
    assert call(server, "GET", f"{API}/executions/{one['execution_id']}/logs").body == b"all\ndisk full\n"
    found = expect(200, server, "GET", f"/jobs/{job}")
    assert found["last_execution"]["error_tail"] == "all\ndisk full" and found["ping_due_at"] > found["created_at"]
    assert found["next_run_at"] is None and found["expect"] == {"every": "1d", "grace": "1h"}, found
    assert not expect(200, server, "GET", "/dead-letters?queue=nights")["dead_letters"]
    assert len(missed(server, job)) == 1 and not alerts(server, "job_failed")
    expect(201, server, "POST", f"/jobs/{job}/ping", {"outcome": "success"})
    report = expect(200, server, "GET", f"/jobs/{job}/successes")
    assert (report["total"], report["succeeded"]) == (2, 1), report


def test_of_much_output_the_last_mebibyte_is_kept():
    job = make()
    output = "".join(f"{i} é\n" for i in range(150_000))
    made = expect(201, server, "POST", f"/jobs/{job}/ping", {"outcome": "success", "output": output})
    kept = call(server, "GET", f"{API}/executions/{made['execution_id']}/logs").body
    assert (1 << 20) - 4 < len(kept) <= 1 << 20 and output.encode().endswith(kept)
    kept.decode()  # no half of a character
    attempt = expect(200, server, "GET", f"/executions/{made['execution_id']}")["attempts"][0]
    assert attempt["dropped_bytes"] == len(output.encode()) - len(kept), attempt


def test_what_makes_no_sense_is_refused():
    job, here = make(), expect(201, server, "POST", "/jobs", {"command": "true"})["job_id"]
    for field, value in (("command", "true"), ("schedule", {"every": "1h"}), ("retry", {}), ("timeout", "1s"),
                         ("payload", 1), ("calendars", []), ("overlap", "skip"), ("depends_on", [])):
        problem = expect(400, server, "POST", "/jobs", {"expect": {"every": "1d"}, field: value})
        assert [e["field"] for e in problem["errors"]] == [field], problem
    for bad in ({}, {"outcome": "fine"}, {"outcome": "success", "exit_code": -1}, {"outcome": "success", "more": 1},
                {"outcome": "success", "started_at": "soon"}, {"outcome": "success", "output": "\0"}):
        expect(400, server, "POST", f"/jobs/{job}/ping", bad)
    expect(409, server, "POST", f"/jobs/{job}/trigger")
    expect(409, server, "POST", f"/jobs/{here}/ping", {"outcome": "success"})
    expect(404, server, "POST", "/jobs/nobody/ping", {"outcome": "success"})
    expect(400, server, "POST", "/jobs", {"command": "true", "depends_on": [{"job": job}]})
    now = {"headers": {"If-Match": '"1"'}}
    expect(400, server, "PATCH", f"/jobs/{job}", {"expect": None, "command": "true"}, **now)
    edited = expect(200, server, "PATCH", f"/jobs/{job}", {"expect": {"every": "2d"}}, **now)
    assert edited["changed"] and edited["estimated_start_time"] is None and edited["ping_due_at"], edited
    expect(200, server, "DELETE", f"/jobs/{job}")
    expect(409, server, "POST", f"/jobs/{job}/ping", {"outcome": "success"})


def test_a_silence_is_told_once_though_servers_die():
    with Server("--no-worker") as own:
        job = make(own, every="1s", grace="500ms", name="backup")
        own.kill()  # before it was missed
        own.start()
        wait_for(lambda: missed(own, job), "the silence to be told")
        for _ in range(2):
            own.kill()
            own.start()
        assert expect(200, own, "GET", f"/jobs/{job}")["ping_due_at"] <= missed(own, job)[0]["at"]
        why = expect(200, own, "GET", f"/jobs/{job}/explain")["blockers"][0]
        assert why["kind"] == "ping" and " late" in why["text"] and why["until"] is None, why
        assert len(missed(own, job)) == 1
        expect(201, own, "POST", f"/jobs/{job}/ping", {"outcome": "success"})
        wait_for(lambda: len(missed(own, job)) == 2, "the next silence to be told")
        events = [t["event"] for t in expect(200, own, "GET", f"/executions/{runs(job, own)[0]['execution_id']}")["transitions"]]
        assert events == ["create", "missed", "succeed"], events


def run(*words, env=None, stdin=None):
    return subprocess.run([BELFRY, "exec", *words], env={**server.env, **(env or {})}, input=stdin,
                          capture_output=True, timeout=PATIENCE_S, check=False)


def newest(job):
    return server.newest_execution(runs(job)[0]["job_id"]) if not runs(job) else expect(
        200, server, "GET", f"/executions/{runs(job)[0]['execution_id']}")


def test_exec_is_like_the_command_itself():
    job = make(name="cron")
    for command, code in (("exit 7", 7), ("kill -9 $$", 137), ("exit 0", 0)):
        assert run("--job", "cron", "--", "sh", "-c", command).returncode == code
        assert newest(job)["attempts"][0]["exit_code"] == code
    for program, code in (("/no/such/program", 127), ("/etc/passwd", 126)):
        done = run("--job", "cron", "--", program)
        assert done.returncode == code and b"cannot run" in done.stderr, done
    noise = os.urandom(300_000)
    done = run("--job", "cron", "--", "sh", "-c", "cat; echo bad >&2", stdin=noise)
    assert done.stdout == noise and done.stderr == b"bad\n" and done.returncode == 0
    assert newest(job)["attempts"][0]["output_bytes"] > len(noise)
    done = run("--job", "cron", "--", "sh", "-c", "sleep 1000 & echo $!")  # which is not waited for
    os.kill(int(done.stdout), signal.SIGKILL)
    assert done.returncode == 0


def test_exec_hands_signals_on():
    job = make(name="signals")
    ready = pathlib.Path(server.dir) / "ready"
    with subprocess.Popen([BELFRY, "exec", "--job", "signals", "--", "sh", "-c",
                           f"trap 'echo term; exit 9' TERM; touch {ready}; while :; do sleep 0.1; done"],
                          env=server.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
        wait_for(ready.exists, "the command")
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=PATIENCE_S)[0] == b"term\n" and process.returncode == 9
    assert newest(job)["error"] == "exit code 9"


def test_exec_hands_on_that_the_terminal_is_gone():
    """Which the leader of a session is told alone, as `ssh -t HOST belfry exec …` makes it one."""
    make(name="hangup")
    felt = pathlib.Path(server.dir) / "felt"
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(BELFRY, [BELFRY, "exec", "--job", "hangup", "--", "sh", "-c",
                           f"trap 'touch {felt}; exit 9' HUP; echo ready; for i in $(seq 600); do sleep 0.1; done"], server.env)
    said = b""
    while b"ready" not in said:
        said += os.read(terminal, 100)
    os.close(terminal)
    wait_for(felt.exists, "the command to hear of it")
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 9


def test_exec_hears_the_end_though_its_parent_blocks_signals():
    make(name="blocked")
    words = [BELFRY, "exec", "--job", "blocked", "--", "sh", "-c", "exec >&- 2>&-; sleep 0.2; exit 6"]
    blocked = "import os, signal, sys; signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD}); os.execv(sys.argv[1], sys.argv[1:])"
    done = subprocess.run([sys.executable, "-c", blocked, *words], env=server.env, check=False, timeout=PATIENCE_S)
    assert done.returncode == 6


def test_exec_passes_output_on_as_the_command_would_have_written_it():
    make(name="output")
    both = "for i in 1 2 3 4 5; do echo $i; echo $i >&2; done"
    done = subprocess.run([BELFRY, "exec", "--job", "output", "--", "sh", "-c", both], env=server.env, check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE_S)
    assert done.stdout == b"".join(b"%d\n%d\n" % (i, i) for i in range(1, 6)), done
    with open("/dev/full", "wb") as full:  # a disk without room for its log does not kill a backup
        done = subprocess.run([BELFRY, "exec", "--job", "output", "--", "sh", "-c",
                               "head -c 300000 /dev/zero && head -c 300000 /dev/zero && exit 5"], env=server.env,
                              check=False, stdout=full, stderr=subprocess.PIPE, timeout=PATIENCE_S)
    assert done.returncode == 5, done


class Proxy(http.server.BaseHTTPRequestHandler):
    """First the server behind it is away, then it takes no body over 100,000 bytes, as nginx has a limit."""

    def do_POST(self):  # pylint: disable=invalid-name
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.sizes.append(len(body))
        if len(self.server.sizes) <= 2:
            status, answer = 502, b"<html>"
        elif len(body) > 100_000:
            status, answer = 413, b"<html>"
        else:
            got = call(server, "POST", self.path, body, headers={"Idempotency-Key": self.headers["Idempotency-Key"]})
            status, answer = got.status, got.body
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass


def test_exec_gets_a_ping_through_a_proxy():
    job = make(name="far")
    with http.server.HTTPServer(("127.0.0.1", 0), Proxy) as proxy:
        proxy.sizes = []
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        done = run("--job", "far", "--", "seq", "100000", env={"BELFRY_URL": f"http://127.0.0.1:{proxy.server_port}"})
        proxy.shutdown()
    assert done.returncode == 0 and not done.stderr, done
    one, = runs(job)
    assert proxy.sizes[0] == proxy.sizes[2] > proxy.sizes[3] and len(proxy.sizes) == 4, proxy.sizes
    kept = call(server, "GET", f"{API}/executions/{one['execution_id']}/logs").body
    assert len(kept) == 64 << 10 and done.stdout.endswith(kept)


def test_exec_runs_the_command_in_any_case():
    for env, words in (({"BELFRY_URL": "nonsense"}, ()), ({"BELFRY_TOKEN": "wrong"}, ()), ({}, ("--token-file", "/none")),
                       ({"BELFRY_URL": "http://127.0.0.1:1"}, ("--patience", "100ms"))):
        done = run("--job", "nobody", *words, "--", "sh", "-c", "echo ran; exit 3", env=env)
        assert (done.returncode, done.stdout) == (3, b"ran\n") and done.stderr.count(b"\n") == 1, done
        assert b"was not told" in done.stderr, done
    done = run("--job", "made", "--every", "1d", "--grace", "1h", "--", "true")
    assert done.returncode == 0 and not done.stderr, done
    assert server.job("made")["expect"] == {"every": "1d", "grace": "1h"}
    pinged = server.cli("ping", "made", "--exit-code", "2")
    assert pinged.returncode == 0 and pinged.stdout.endswith(" failed\n"), pinged
    assert [x["status"] for x in runs("made")] == ["failed", "completed"]


def heartbeats(own):
    text = call(own, "GET", "/metrics").body.decode()
    return {line.split('"')[1]: float(line.split()[-1]) for line in text.splitlines()
            if line.startswith("belfry_heartbeats_total{")}


def test_heartbeats_say_that_commits_succeed():
    with Receiver(500) as hook, Server("--no-worker", "--set", f"heartbeat_url={hook.url}?secret",
                                       "--set", "heartbeat_ms=1s") as own:
        wait_for(lambda: heartbeats(own)["sent"] > 0 and heartbeats(own)["failed"] == 1, "heartbeats of an idle server")
        settings = {s["name"]: s for s in expect(200, own, "GET", "/settings")["settings"]}
        assert settings["heartbeat_url"]["value"] == "set"
        assert "secret" not in own.log_path.read_text()
        own.process.send_signal(signal.SIGSTOP)
        time.sleep(0.2)  # what was on its way has arrived
        before = len(hook.got)
        time.sleep(1.5)
        assert len(hook.got) == before
        own.process.send_signal(signal.SIGCONT)
        wait_for(lambda: len(hook.got) > before, "the next one")


if __name__ == "__main__":
    main(tests_of(globals()), shared=server)
