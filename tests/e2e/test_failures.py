"""What becomes of attempts that fail: classes, retries, lost workers, timeouts, rude commands."""

import contextlib
import os
import pathlib
import signal
import subprocess
import time
from datetime import datetime

from belfry import BELFRY, PATIENCE_S, SANITIZED, Server, Stopwatch, main, tests_of, wait_for
from protocol import Worker, execution, hold, submit

SHORT = {"BELFRY_KILL_GRACE_MS": "300ms", "BELFRY_BREAKER_PERCENT": "0"}
SERVER = Server("--slots", "4", env=SHORT)
BARE = ("--no-worker", "--set", "breaker_percent=0")
# Ends while we watch, but not when the machine stands still for a moment.
BRIEF = (*BARE, "--set", "lease_ms=2s")
FINAL = ("completed", "failed", "timeout", "cancelled")
QUICK = {"policy": "immediate", "max_retries": 2}


def run(command, **fields):
    """The finished execution of a command, without retries unless they are asked for."""
    job = {"command": command, "retry": {"max_retries": 0}, **fields}
    status, created = SERVER.api("POST", "/jobs", job)
    assert status == 201, created
    return SERVER.wait_for_status(created["job_id"], *FINAL)


def failure(command, **fields):
    """(class, number of attempts) of a command that fails."""
    ended = run(command, retry={**QUICK, **fields.pop("retry", {})}, **fields)
    assert ended["status"] in ("failed", "timeout"), ended
    return ended["attempts"][-1]["error_class"], ended["attempt_count"]


def last_attempt(command, **fields):
    return run(command, **fields)["attempts"][-1]


def seconds(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


@contextlib.contextmanager
def worker_beside(server, preexec=None):
    """A worker of its own, killed when it is no longer wanted."""
    process = subprocess.Popen(
        [BELFRY, "worker", "--server", server.url, "--token-file", server.data / "worker.key",
         "--slots", "1"],
        env=server.env, cwd=server.dir, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        preexec_fn=preexec)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def memory_group(limit):
    """A control group below our own whose processes may have so many bytes; None where we may not
    make one."""
    lines = [line.split(":", 2) for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines()]
    names = {controllers: group for _, controllers, group in lines}
    old = "memory" in names
    root = pathlib.Path("/sys/fs/cgroup/memory" if old else "/sys/fs/cgroup")
    group = root / names.get("memory", names.get("", "/")).lstrip("/") / f"belfry-test-{os.getpid()}"
    try:
        group.mkdir()
    except OSError:
        yield None
        return
    try:
        (group / ("memory.limit_in_bytes" if old else "memory.max")).write_text(str(limit))
    except OSError:
        group.rmdir()
        yield None
        return
    try:
        yield group
    finally:
        def removed():
            with contextlib.suppress(OSError):
                group.rmdir()
            return not group.exists()
        wait_for(removed, "the group to be empty")


def is_running(word):
    for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if word.encode() in entry.read_bytes().split(b"\0"):
                return True
    return False


# ---- classes

def test_facts_decide_the_class_and_whether_to_try_again():
    assert failure("exit 3") == ("unknown", 3)
    assert failure("exit 75") == ("unknown", 3)
    assert failure("exit 78") == ("user_error", 1)
    assert failure("no-such-program-anywhere") == ("not_found", 1)
    assert failure(["no-such-program-anywhere"]) == ("not_found", 1)
    assert failure(["/etc/passwd"]) == ("permission_error", 1)
    assert failure(["true"], working_dir="/nowhere") == ("not_found", 1)
    assert failure("kill -SEGV $$") == ("crashed", 3)
    assert failure("kill -KILL $$") == ("killed", 3)
    assert failure("sh -c 'kill -TERM $$'; exit $?") == ("killed", 3)
    assert failure("sleep 60", timeout="50ms") == ("timeout", 3)


def test_words_decide_the_class_last_and_take_no_retry_away():
    assert failure("echo 'x: Permission denied' >&2; exit 1") == ("permission_error", 3)
    assert failure("echo 'x: Connection refused' >&2; exit 1") == ("network_error", 3)
    assert failure("echo 'Permission denied' >&2; exit 127") == ("not_found", 1)
    attempt = last_attempt("echo 'Permission denied' >&2; exit 0")
    assert attempt["error_class"] is None and attempt["error_tail"] is None, attempt


def test_memory_that_a_limit_refuses_is_told_by_the_trace():
    attempt = last_attempt("ulimit -v 200000; exec python3 -c 'x = \"a\" * 10**9'")
    assert attempt["error_class"] == "out_of_memory", attempt
    assert attempt["stack_trace"].startswith("Traceback (most recent call last)"), attempt
    assert attempt["error_tail"].endswith("MemoryError"), attempt


def test_who_is_killed_for_want_of_memory_is_told_apart_from_who_is_killed():
    with memory_group(128 << 20) as group:
        if group is None or SANITIZED:
            print("no control group for memory here")
            return
        with Server(*BARE) as own:
            def join():
                (group / "cgroup.procs").write_text(str(os.getpid()))
            hungry = ["python3", "-c", "x = [bytearray(1 << 20) for _ in range(1000)]"]
            with worker_beside(own, join):
                _, hog = submit(own, command=hungry, retry={"max_retries": 0})
                _, shot = submit(own, command="kill -KILL $$", retry={"max_retries": 0})
                for execution_id, name in ((hog, "out_of_memory"), (shot, "killed")):
                    wait_for(lambda: execution(own, execution_id)["status"] == "failed", "its end")
                    attempt = execution(own, execution_id)["attempts"][0]
                    assert (attempt["error_class"], attempt["signal"]) == (name, 9), attempt


def test_retry_on_names_what_is_tried_again():
    only = {"retry_on": ["network_error", "not_found"]}
    assert failure("exit 3", retry=only) == ("unknown", 1)
    assert failure("exit 127", retry=only) == ("not_found", 3)
    assert failure("exit 78", retry={"retry_on": ["user_error"]}) == ("user_error", 1)
    assert failure("sleep 60", timeout="50ms", retry=only) == ("timeout", 1)
    _, created = SERVER.api("POST", "/jobs", {"command": "true", "retry": only})
    assert SERVER.job(created["job_id"])["retry"]["retry_on"] == ["network_error", "not_found"]
    ended = run("exit 127", retry=QUICK)
    reasons = [t["reason"] for t in ended["transitions"] if t["event"] == "exhaust"]
    assert reasons == ["exit code 127; not tried again: not_found is permanent"], ended


def test_bad_rules_are_refused_by_name():
    for retry, field in (({"max_retries": -1}, "retry.max_retries"),
                         ({"max_retries": 10**9}, "retry.max_retries"),
                         ({"delay": "2h", "max_delay": "1h"}, "retry.delay"),
                         ({"policy": "hope"}, "retry.policy"),
                         ({"retry_on": ["flu"]}, "retry.retry_on[0]"),
                         ({"retry_on": []}, "retry.retry_on"),
                         ({"jitter": 2}, "retry.jitter")):
        status, problem = SERVER.api("POST", "/jobs", {"command": "true", "retry": retry})
        assert status == 400 and problem["errors"][0]["field"] == field, problem


# ---- what is shown

def test_the_last_lines_and_the_fingerprint_tell_failures_apart():
    script = "for i in $(seq 100); do echo line $i >&2; done; echo \"cannot open '$0' $$\" >&2; exit 4"
    first, second = last_attempt(script), last_attempt(script)
    lines = first["error_tail"].split("\n")
    assert len(lines) == 20 and lines[0] == "line 82", lines
    assert first["fingerprint"] == second["fingerprint"] and len(first["fingerprint"]) == 12
    assert first["fingerprint_text"] == "cannot open '*' #", first
    other = last_attempt(script.replace("exit 4", "exit 5"))
    assert other["fingerprint"] != first["fingerprint"]
    odd = last_attempt("printf 'a\\033[1mb\\377\\000c\\r\\n' >&2; exit 1")
    assert odd["error_tail"] == "a[1mb?c", odd


def test_the_next_attempt_is_shown_and_survives_a_restart():
    with Server("--slots", "2", env=SHORT) as own:
        _, created = own.api("POST", "/jobs", {
            "command": "echo why >&2; exit 3",
            "retry": {"policy": "fixed", "delay": "1h", "max_delay": "1h", "jitter": 0}})
        waiting = own.wait_for_status(created["job_id"], "retrying")
        at = waiting["next_attempt_at"]
        assert 3590 < seconds(at) - seconds(waiting["attempts"][0]["ended_at"]) < 3610, waiting
        own.stop()
        own.start()
        assert own.newest_execution(created["job_id"])["next_attempt_at"] == at
        shown = subprocess.run([BELFRY, "show", waiting["execution_id"]], env=own.env, text=True,
                               capture_output=True, timeout=PATIENCE_S, check=True).stdout
        assert "next attempt" in shown and "unknown" in shown and "\nwhy\n" in shown, shown


# ---- workers

def test_what_a_worker_says_about_a_failure_is_checked_and_counts():
    with Server(*BARE) as own:
        worker = Worker(own)
        _, execution_id = submit(own, retry={"delay": "1s", "max_delay": "1s", "jitter": 0})
        lease, = worker.take()
        for more, field in (({"error_class": "flu"}, "error_class"),
                            ({"error_class": "lost_worker"}, "error_class"),
                            ({"error_class": 5}, "error_class"),
                            ({"permanent": "yes"}, "permanent"),
                            ({"retry_after_ms": -1}, "retry_after_ms"),
                            ({"error_tail": "x" * 8193}, "error_tail")):
            answer = worker.send({"seq": worker.seq + 1, "free": 0,
                                  "results": [{**hold(lease), "outcome": "failed", **more}]})
            assert answer.status == 400, answer
            assert answer.json["errors"][0]["field"] == "results[0]." + field, answer
        assert worker.finish(lease, "failed", error_class="disk_error", error_tail="full",
                             retry_after_ms=600000)
        waiting = execution(own, execution_id)
        attempt = waiting["attempts"][0]
        assert (attempt["error_class"], attempt["error_tail"]) == ("disk_error", "full"), attempt
        wait_s = seconds(waiting["next_attempt_at"]) - seconds(attempt["ended_at"])
        assert 599 < wait_s < 601, waiting
        _, execution_id = submit(own)
        lease, = worker.take()
        assert worker.finish(lease, "failed", error_class="network_error", permanent=True)
        assert execution(own, execution_id)["status"] == "failed"


def test_what_a_worker_may_put_off_has_a_limit():
    with Server(*BARE, "--set", "retry_after_max_ms=2s") as own:
        worker = Worker(own)
        _, execution_id = submit(own, retry={"policy": "immediate"})
        lease, = worker.take()
        assert worker.finish(lease, "failed", retry_after_ms=10**9)
        waiting = execution(own, execution_id)
        wait_s = seconds(waiting["next_attempt_at"]) - seconds(waiting["attempts"][0]["ended_at"])
        assert 1.9 < wait_s < 2.1, waiting


def test_what_kills_its_workers_is_quarantined():
    with Server(*BARE, "--set", "lease_ms=1s") as own:  # if that ends too early, one more is needed
        witness = own.dir / "witness"
        job_id, execution_id = submit(own, command=f"echo >> {witness}; sleep 600",
                                      retry={"max_retries": 0})

        def starts():
            return witness.read_text().count("\n") if witness.exists() else 0

        # A worker that dies before it could say that the run began has lost nothing; so, perhaps,
        # one more than three.
        for n in range(8):
            with worker_beside(own):
                wait_for(lambda: starts() > n, "the command to start")
                time.sleep(0.2)  # a moment for the next poll, which says so
            wait_for(lambda: execution(own, execution_id)["status"] != "running", "the lease to end")
            if execution(own, execution_id)["status"] == "failed":
                break
        ended = execution(own, execution_id)
        assert (ended["lost_count"], ended["attempt_count"]) == (3, 0), ended
        assert ended["error"].startswith("quarantined, since its worker was lost 3 times"), ended
        assert ended["attempts"][-1]["error_class"] == "lost_worker", ended
        assert own.job(job_id)["status"] == "failed"


def test_a_job_that_kills_the_parent_of_all_commands_is_the_only_one_to_fail():
    with Server("--slots", "4", env=SHORT) as own:
        killer, _ = submit(own, command="sleep 0.3; kill -9 $PPID", retry={"max_retries": 0})
        # Fails when the attempt before is still alive.
        others = [submit(own, command=f"flock -n {own.dir}/other{n} sleep 1.5",
                         retry={"max_retries": 0})[0] for n in range(3)]
        ended = own.wait_for_status(killer, *FINAL, patience_s=4 * PATIENCE_S)
        assert (ended["lost_count"], ended["attempt_count"]) == (3, 0), ended
        assert ended["error"].startswith("quarantined, since its worker was lost 3 times"), ended
        assert ended["attempts"][-1]["error_class"] == "lost_worker", ended
        for job_id in others:
            other = own.wait_for_status(job_id, *FINAL, patience_s=4 * PATIENCE_S)
            assert other["status"] == "completed", other
            assert (other["lost_count"], other["attempt_count"]) == (0, 1), other
            assert other["returned_count"] > 0, "it ran beside the killer"
        assert "the spawner process was killed" in own.log_path.read_text(errors="replace")


def test_a_drain_costs_no_attempt():
    with Server(*BARE) as own:
        _, execution_id = submit(own, retry={"max_retries": 0})
        worker = Worker(own)
        for n in range(1, 5):
            lease, = worker.take()
            assert lease["attempt"] == 1
            assert worker.finish(lease, "returned", error="leaving")
            waiting = execution(own, execution_id)
            assert waiting["status"] == "queued" and waiting["returned_count"] == n, waiting
            assert (waiting["attempt_count"], waiting["lost_count"]) == (0, 0), waiting
        lease, = worker.take()
        assert worker.finish(lease)


def test_a_worker_that_slept_past_its_lease_has_lost_its_run():
    with Server(*BRIEF) as own:
        _, execution_id = submit(own, command="sleep 8123.4", retry={"max_retries": 0})
        with worker_beside(own) as sleeper:
            wait_for(lambda: is_running("8123.4"), "the command to start")
            sleeper.send_signal(signal.SIGSTOP)
            wait_for(lambda: not is_running("8123.4"), "the command to be killed")
            other = Worker(own)
            again, = wait_for(lambda: other.poll(free=1, wait_ms=1000)["leases"], "its lease to end")
            assert again["token"] == 2
            other.poll(running=[again])
            sleeper.send_signal(signal.SIGCONT)
            # It works again when it has run something else; what it said before that was refused.
            submitted = submit(own, command="true")[1]

            def done():
                other.poll(running=[again])
                return execution(own, submitted)["status"] == "completed"

            wait_for(done, "the worker to go on")
            held = execution(own, execution_id)
            assert held["status"] == "running" and held["token"] == 2, held
            assert other.finish(again)
        ended = execution(own, execution_id)
        assert ended["attempts"][-1]["outcome"] == "succeeded", ended
        assert ended["attempts"][0]["outcome"] in ("lost", "returned"), ended


def test_the_server_ends_what_its_worker_does_not():
    with Server(*BRIEF, "--set", "kill_grace_ms=200ms") as own:
        _, execution_id = submit(own, timeout="300ms", retry={"max_retries": 0})
        worker = Worker(own)
        lease, = worker.take()
        stops = wait_for(lambda: worker.poll(running=[lease], wait_ms=100)["stop"], "a word to stop")
        assert stops[0]["reason"] == "the attempt is past its timeout", stops

        def ended():
            worker.poll(running=[lease], wait_ms=100)
            return execution(own, execution_id)["status"] == "timeout"

        wait_for(ended, "the server to end it")
        attempt = execution(own, execution_id)["attempts"][0]
        assert (attempt["outcome"], attempt["error_class"]) == ("timeout", "timeout"), attempt
        assert worker.finish(lease) is False


def test_a_timeout_is_remembered_by_a_server_that_starts_anew():
    with Server(*BRIEF, "--set", "kill_grace_ms=0") as own:
        _, execution_id = submit(own, timeout="500ms", retry={"max_retries": 0})
        with Stopwatch() as watch:
            Worker(own).take()
            own.kill()
            watch.wait_until(0.6)  # its time is over before the next server is there
        own.start()
        wait_for(lambda: execution(own, execution_id)["status"] == "timeout", "the server to end it")


# ---- rude commands

def test_rude_commands_fail_as_they_should():
    stubborn = run("trap '' TERM; while :; do sleep 0.1; done", timeout="200ms")
    assert stubborn["attempts"][0]["error_class"] == "timeout", stubborn
    assert run("exec >&- 2>&-; sleep 60", timeout="200ms")["status"] == "timeout"
    assert run("sleep 0.1; exit 5", payload="x" * 1000000)["attempts"][0]["exit_code"] == 5
    full = run("head -c 5000000 /dev/zero; sleep 0.1; exit 5", payload="x" * 1000000)
    assert full["attempts"][0]["exit_code"] == 5, full
    flood = last_attempt("head -c 50000000 /dev/zero | tr '\\0' 'x' >&2; echo >&2; echo end >&2; exit 6")
    assert flood["error_tail"].endswith("end") and len(flood["error_tail"]) <= 8192, flood["exit_code"]
    held = last_attempt("(sleep 9123.4 >&2 &); echo left behind >&2; exit 7")
    assert (held["exit_code"], held["error_tail"]) == (7, "left behind"), held
    wait_for(lambda: not is_running("9123.4"), "what was left behind to end")


if __name__ == "__main__":
    main(tests_of(globals()), shared=SERVER)
