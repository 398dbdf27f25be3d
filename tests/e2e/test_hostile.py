"""Rude clients and rude commands against a real server with its worker: nobody else may notice."""

import contextlib
import fcntl
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import threading
import time

from belfry import BELFRY, PATIENCE_S, Server, main, processes_of, tests_of, wait_for

SERVER = Server("--slots", "4", env={"BELFRY_KILL_GRACE_MS": "300ms"})
FINAL = ("completed", "failed", "timeout", "cancelled")


def run(command, **fields):
    """The finished execution of a command, and what it printed."""
    job = {"command": command, "retry": {"max_retries": 0}, **fields}
    status, created = SERVER.api("POST", "/jobs", job)
    assert status == 201, created
    execution = SERVER.wait_for_status(created["job_id"], *FINAL)
    _, output = SERVER.api("GET", f"/executions/{execution['execution_id']}/logs")
    return execution, output


def connect(text):
    """A connection with this request sent on it; {auth} stands for the headers everybody needs."""
    auth = f"Host: x\r\nAuthorization: Bearer {SERVER.key()}\r\n"
    client = socket.create_connection(("127.0.0.1", SERVER.port), timeout=PATIENCE_S)
    client.sendall(text.replace("{auth}", auth).encode())
    return client


def answers_of(text):
    """Everything the server says to these bytes until it closes."""
    with connect(text) as client:
        return b"".join(iter(lambda: client.recv(65536), b"")).decode()


def descriptors():
    return len(os.listdir(f"/proc/{SERVER.process.pid}/fd"))


def is_running(word):
    """Whether a process has this word among its arguments."""
    for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if word.encode() in entry.read_bytes().split(b"\0"):
                return True
    return False


def test_requests_that_can_be_read_in_two_ways_are_refused():
    behind = "GET /healthz HTTP/1.1\r\n{auth}\r\n"
    for headers in ("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                    "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
                    "Content-Length : 2\r\n\r\n{}",
                    "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
                    "Transfer-Encoding: chunked\r\n\r\n2\n{}\n0\n\n",
                    "X: a\r\n b\r\nContent-Length: 2\r\n\r\n{}",
                    "X: a\nContent-Length: 2\r\n\r\n{}"):
        said = answers_of("POST /api/v1/jobs HTTP/1.1\r\n{auth}" + headers + behind)
        assert said.startswith("HTTP/1.1 400 "), (headers, said)
        assert said.count("\r\n\r\n") == 1, (headers, said)  # what is behind is not read


def test_a_client_that_has_said_all_still_hears_every_answer():
    with connect("GET /api/v1/stats HTTP/1.1\r\n{auth}\r\n" * 500) as client:
        client.shutdown(socket.SHUT_WR)
        said = b"".join(iter(lambda: client.recv(65536), b""))
    assert said.count(b"HTTP/1.1 200 OK") == 500


def test_readers_that_never_read_or_leave_at_once_cost_nothing():
    before = descriptors()
    execution, _ = run("head -c 3000000 /dev/urandom")
    path = f"/api/v1/executions/{execution['execution_id']}/logs"
    requests = [f"GET {target} HTTP/1.1\r\n{{auth}}\r\n"
                for target in (path, path + "?follow=true", "/api/v1/events")]
    idle = [connect(requests[i % 3]) for i in range(60)]
    for i in range(300):
        with connect(requests[i % 3]) as client:
            if i % 2:  # a reset instead of a goodbye
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    assert run("echo still here")[1] == "still here\n"
    for client in idle:
        client.close()
    wait_for(lambda: descriptors() <= before + 5, "connections to be forgotten")


def test_the_runs_of_a_job_that_cannot_be_are_none():
    run("true")
    status, page = SERVER.api("GET", "/jobs/job_0000000000000/executions")
    assert (status, page["executions"]) == (200, []), page
    status, page = SERVER.api("GET", "/executions?job=job_0000000000000")
    assert (status, [e["field"] for e in page["errors"]]) == (400, ["job"]), page


def test_a_crowd_around_one_job_leaves_it_in_one_piece():
    _, created = SERVER.api("POST", "/jobs", {"command": "sleep 0.2", "name": "crowded"})
    job, execution = f"/jobs/{created['job_id']}", f"/executions/{created['execution_id']}"
    statuses = set()

    def pull(i):
        calls = (("DELETE", job), ("POST", execution + "/cancel"), ("POST", execution + "/retry"))
        statuses.add(SERVER.api(*calls[i % 3])[0])

    crowd = [threading.Thread(target=pull, args=(i,)) for i in range(60)]
    for thread in crowd:
        thread.start()
    for thread in crowd:
        thread.join()
    assert statuses <= {200, 201, 409, 503}, statuses
    SERVER.api("DELETE", job)
    wait_for(lambda: SERVER.job(created["job_id"])["status"] != "active", "the job to end")

    def all_ended():
        _, page = SERVER.api("GET", job + "/executions")
        return all(e["status"] in FINAL for e in page["executions"])

    wait_for(all_ended, "all runs to end")
    status, answer = SERVER.api("POST", "/jobs", {"command": "true", "name": "crowded"})
    assert status == 201, answer  # the name is free again


def test_of_endless_output_the_head_and_the_end_are_kept():
    execution, output = run("echo first; head -c 200000000 /dev/zero; echo; echo last")
    attempt = execution["attempts"][0]
    assert output.startswith("first\n") and output.endswith("last\n")
    assert attempt["dropped_bytes"] > 0 and "bytes were dropped here" in output
    assert len(output) < 17 << 20, len(output)


def test_what_a_command_leaves_behind_ends_with_it():
    # One in a session of its own whose parent is gone, one that holds the pipe.
    execution, output = run("(setsid sleep 7654.3 &) ; sleep 7654.3 & echo done")
    assert execution["status"] == "completed" and output == "done\n", (execution, output)
    wait_for(lambda: not is_running("7654.3"), "what was left behind to end")


def test_rude_commands_end_as_they_should():
    assert run("kill -9 0")[0]["error"] == "killed by signal 9 (SIGKILL)"
    stubborn = "trap '' TERM; while :; do sleep 0.1; done"
    assert run(stubborn, timeout="200ms")[0]["status"] == "timeout"
    assert run("kill -STOP $$", timeout="200ms")[0]["status"] == "timeout"
    assert run("exec >&- 2>&- <&-; exit 3")[0]["attempts"][0]["exit_code"] == 3
    assert run("sleep 0.1", payload="x" * 1000000)[0]["status"] == "completed"
    for result in ("mkfifo $BELFRY_RESULT_FILE", "ln -s /etc/passwd $BELFRY_RESULT_FILE",
                   "mkdir -p $BELFRY_RESULT_FILE/a; chmod 0 $BELFRY_RESULT_FILE",
                   "printf '\\377' > $BELFRY_RESULT_FILE",
                   "yes 1 | head -c 300000 > $BELFRY_RESULT_FILE"):
        execution, output = run(result)
        assert (execution["status"], execution["result"]) == ("completed", None), execution
        assert "the result was dropped" in output, output
    # Its own directory, then that of all: the next one finds one all the same.
    assert run("rm -r $(dirname $BELFRY_PAYLOAD_FILE)")[0]["status"] == "completed"
    assert run("rm -r $(dirname $(dirname $BELFRY_PAYLOAD_FILE))")[0]["status"] == "completed"
    assert run("cat $BELFRY_PAYLOAD_FILE", payload=[1])[1] == "[1]"


def test_a_data_directory_that_others_may_write_is_refused():
    modes = [(0o770, "chmod go-w", os.getuid()), (0o707, "chmod go-w", os.getuid())]
    if os.getuid() == 0:  # nobody else can write to a directory of somebody else's
        modes.append((0o700, "belongs to another user", 65534))
    for mode, reason, owner in modes:
        own = Server("--no-worker")
        own.data.mkdir()
        own.data.chmod(mode)
        os.chown(own.data, owner, -1)
        try:
            own.start()
        except AssertionError as refusal:
            assert reason in str(refusal), refusal
        else:
            own.stop()
            raise AssertionError(f"{mode:o} was taken")
        assert not list(own.data.iterdir())  # no key was written where others could read it


def test_a_number_in_a_stale_lock_is_not_taken_for_a_worker():
    # A worker died, its spawner still cleans up and holds the lock, and the worker's number belongs
    # to somebody else by now, who must not be ended in its place.
    own = Server()
    own.data.mkdir()
    (own.data / "worker.url").write_text("http://127.0.0.1:1\n")
    bystander = subprocess.Popen(["sleep", "600"])
    with open(own.data / "worker.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write(f"{bystander.pid}\n")
        lock.flush()
        with own:
            own.process.send_signal(signal.SIGTERM)
            wait_for(lambda: "the server drains" in own.log_path.read_text(), "the server to look for its worker")
            time.sleep(0.3)  # several looks of 50 ms: it must not do something
            assert bystander.poll() is None, "a stranger was ended"
            fcntl.flock(lock, fcntl.LOCK_UN)
            assert own.process.wait(PATIENCE_S) == 0
    assert bystander.poll() is None, "a stranger was ended"
    bystander.kill()
    bystander.wait()


def own_processes(server):
    """The server, the worker beside it and that one's spawner."""
    wait_for(lambda: len(processes_of(server.data)) >= 3, "the worker and its spawner")
    return processes_of(server.data)


def run_alone(server, command):
    """What a command printed, on a server of a test's own."""
    execution = server.wait_for_status(server.submit("--", "sh", "-c", command), *FINAL)
    return server.api("GET", f"/executions/{execution['execution_id']}/logs")[1]


def test_a_worker_whose_server_does_not_come_back_leaves():
    with Server("--set", "forget_ms=2s") as own:
        run_alone(own, "true")  # so the worker is registered, and has heard of forget_ms
        own.kill()
        wait_for(lambda: not processes_of(own.data), "the worker to leave")
        own.start()  # and it starts another one
        run_alone(own, "true")


def test_a_worker_whose_data_directory_is_deleted_leaves():
    with Server() as own:
        own_processes(own)
        own.kill()
        shutil.rmtree(own.data)
        wait_for(lambda: not processes_of(own.data), "the worker to leave")


def test_a_worker_that_a_job_stops_goes_on():
    with Server() as own:
        run_alone(own, "true")
        worker = int((own.data / "worker.lock").read_text().split()[0])
        os.kill(worker, signal.SIGSTOP)
        run_alone(own, "true")
        os.kill(worker, signal.SIGSTOP)
        assert own.stop() == 0
        assert not processes_of(own.data)


SECRETS = {"PGPASSWORD": "s3cr3t-1", "BELFRY_TOKEN": "s3cr3t-2", "AWS_SECRET_ACCESS_KEY": "s3cr3t-3"}


def test_secrets_of_the_server_reach_no_job():
    wanted = {"LC_TIME": "C", "TZ": "UTC", "JAVA_HOME": "/java", "GO_A": "1", "PGHOST": "db"}
    with Server("--set", "job_env=JAVA_HOME,GO_*,PGHOST", env={**SECRETS, **wanted}) as own:
        own.env.pop("BELFRY_TOKEN")  # the command line needs the real key
        printed = run_alone(own, "env; cat /proc/$PPID/environ | tr '\\0' '\\n'")
        assert "s3cr3t" not in printed, printed
        for name, value in {**wanted, "PATH": own.env["PATH"]}.items():
            assert f"{name}={value}\n" in printed, (name, printed)
        for pid in own_processes(own):  # root may look, and there is nothing to see
            shown = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
            assert b"s3cr3t" not in shown, (pid, shown)


def test_a_worker_by_hand_hands_down_what_it_is_told():
    with Server("--no-worker") as own:
        args = ["--server", own.url, "--token-file", str(own.data / "worker.key")]
        bad = own.cli("worker", *args, "--env", "A=1")
        assert bad.returncode == 2 and "'A=1' is no name of a variable" in bad.stderr, bad.stderr
        env = {**own.env, **SECRETS, "GO_A": "1", "GO_B": "2", "OTHER": "3"}
        with subprocess.Popen([BELFRY, "worker", *args, "--env", "GO_A,GO_B", "--env", "OTHER"],
                              env=env, stderr=subprocess.DEVNULL) as worker:
            printed = run_alone(own, "env")
            worker.terminate()
        assert "s3cr3t" not in printed, printed
        assert all(f"{line}\n" in printed for line in ("GO_A=1", "GO_B=2", "OTHER=3")), printed


def test_server_worker_and_spawner_cannot_be_dumped():
    with Server() as own:
        # The kernel gives the files of what is not dumpable to root, so that its own user cannot look.
        peek = f"for p in {' '.join(map(str, own_processes(own)))}; do cat /proc/$p/environ; done"
        with contextlib.ExitStack() as stack:
            if os.getuid() != 0:
                said = subprocess.run(["sh", "-c", peek], text=True, capture_output=True, check=False)
                assert said.stderr.count("ermission denied") >= 3, said
            else:
                other = nobody_server(stack)
                pids = own_processes(other)
                owners = [os.stat(f"/proc/{pid}/environ").st_uid for pid in pids]
                assert owners == [0] * len(pids), owners  # of its user when it can be dumped
                assert "started as root" in own.log_path.read_text()
                assert "started as root" not in other.log_path.read_text()


def nobody_server(stack):
    """A server of another user, who starts it again after a kill: it finds the worker of the one before."""
    own = Server()
    os.chown(own.dir, 65534, 65534)
    program = own.dir / "belfry"
    program.write_bytes(pathlib.Path(BELFRY).read_bytes())
    program.chmod(0o755)

    def start_as_nobody():
        with open(own.log_path, "ab") as log:
            own.process = subprocess.Popen(
                [program, "server", "--listen", f"127.0.0.1:{own.port}"], cwd=own.dir, env=own.env,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, user=65534, group=65534,
                extra_groups=[])
        wait_for(own.is_ready, "the server to be ready")
    own.start = start_as_nobody
    stack.enter_context(own)
    own_processes(own)
    own.kill()
    own.start()
    return own


if __name__ == "__main__":
    main(tests_of(globals()), shared=SERVER)
