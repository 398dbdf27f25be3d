"""What the end-to-end tests share: a real server on a free port, its API, and a way to count.

A test is a function whose name is a sentence; `main` runs those it is given and prints the verdict
that scripts/check reads. Time is real here, so waiting is always for a condition with a deadline,
never for a while.
"""

import contextlib
import faulthandler
import itertools
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
BELFRY = os.environ.get("BELFRY", str(ROOT / "build" / "belfry"))
# Under a sanitizer memory says nothing and everything takes several times as long.
SANITIZED = any(variant in BELFRY for variant in ("-san/", "-tsan/"))
PATIENCE_S = 30  # for anything that ought to happen at once; machines under test are busy


# Below those that the system gives to connections, and elsewhere for each script: six run at once.
PORTS = range(10000, 32000)
next_port = itertools.count(os.getpid() * 101)


def free_port():
    """A port nobody listens on, never the same twice in a row. Another program may take it before we do; then the
    server says so."""
    while True:
        port = PORTS[next(next_port) % len(PORTS)]
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


def wait_for(condition, what, patience_s=PATIENCE_S):
    """The first true value of condition(), asked again and again."""
    deadline = time.monotonic() + patience_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {patience_s} s for {what}")
        time.sleep(0.02)


class Stopwatch:
    """Measures how long something takes on a machine that may stand still for a moment, as a context: a
    thread looks at the clock again and again, and time in which it could not is not counted."""

    LOOK_S, STALL_S = 0.01, 0.1

    def __init__(self):
        self.elapsed_s = 0.0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self):
        last = time.monotonic()
        while not self.over.wait(self.LOOK_S):
            now = time.monotonic()
            self.elapsed_s += min(now - last, self.STALL_S)
            last = now

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def wait_until(self, elapsed_s):
        """For what is to be given a while in which everybody could do something."""
        wait_for(lambda: self.elapsed_s >= elapsed_s, "time to pass")


def wait_within(limit_s, condition, what):
    """As wait_for; and it must not take longer than this."""
    with Stopwatch() as watch:
        value = wait_for(condition, what)
    assert watch.elapsed_s < limit_s, f"{what} took {watch.elapsed_s:.1f} s"
    return value


def processes_of(data_dir):
    """Ids of the processes that carry this data directory in their arguments or environment."""
    needle = os.fsencode(str(data_dir))
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            if needle in (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes():
                found.append(int(entry.name))
    return found


def show_process(pid):
    """Prints what a process is, which signals it has yet to hear, and where its threads are."""
    def status_of(where):
        lines = (where / "status").read_text().splitlines()
        return dict(line.split(":\t", 1) for line in lines if ":\t" in line)
    proc = pathlib.Path(f"/proc/{pid}")
    with contextlib.suppress(OSError):  # it may end while we look
        command = (proc / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        signals = status_of(proc)
        print(f"process {pid}: {command}")
        print("   ", *(f"{kind} {signals[kind]}" for kind in ("ShdPnd", "SigBlk", "SigCgt")))
        for task in sorted((proc / "task").iterdir()):
            status = status_of(task)
            print(f"    {status['Name']}: {status['State']},", (task / "wchan").read_text())


class Server:
    """A server in a directory of its own. Use it as a context: leaving stops it, removes the
    directory, and fails when a process was left behind. A failure inside is printed with what its
    processes were doing then, and the end of its log."""

    entered = []  # those whose context has been entered and not left
    # What no log may have. The last one: records of all schedules are compared every now and then.
    complaints = ("Sanitizer", "runtime error:", "Assertion", "slots of a schedule have no record")

    def __init__(self, *flags, env=None, cwd=None):
        self.dir = pathlib.Path(cwd or tempfile.mkdtemp(prefix="belfry-e2e-"))
        self.data = self.dir / "belfry-data"
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.flags = flags
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("BELFRY_", "OTEL_", "TRACE"))}
        self.env.update(BELFRY_URL=self.url, BELFRY_DATA=str(self.data),
                        # numbers are asked for right after what changes them
                        **{"BELFRY_STATS_AGE_MS": "0", "BELFRY_WAITS_AGE_MS": "0", **(env or {})})
        self.process = None
        self.log_path = self.dir / "server.log"
        self.shown = 0  # characters of the log, by show()

    def __enter__(self):
        try:
            self.start()
        except BaseException:  # then nobody will leave, and nothing may stay behind
            self.show()
            self.process.kill()
            raise
        Server.entered.append(self)
        return self

    def __exit__(self, kind, value, trace):
        Server.entered.remove(self)
        try:
            if kind is not None:
                self.show()
            self.stop()
            wait_for(lambda: not processes_of(self.data), "the last process to end")
            self.check_log()
        except Exception:
            self.show()
            raise
        finally:
            for pid in processes_of(self.data):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            shutil.rmtree(self.dir, ignore_errors=True)

    def show(self):
        """Prints what is to be known about this server when a test has failed."""
        for pid in processes_of(self.data):
            show_process(pid)
        with contextlib.suppress(OSError):
            log = self.log_path.read_text(errors="replace")
            print(log[max(self.shown, len(log) - 4000):], end="", flush=True)
            self.shown = len(log)

    def check_log(self):
        """A build with sanitizers complains in the log of the process it watches."""
        log = self.log_path.read_text(errors="replace")
        for complaint in self.complaints:
            assert complaint not in log, log[log.index(complaint) - 200:][:4000]

    def start(self):
        listen = () if "--listen" in self.flags else ("--listen", f"127.0.0.1:{self.port}")
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [BELFRY, "server", *listen, *self.flags],
                cwd=self.dir, env=self.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_for(self.is_ready, "the server to be ready")

    def is_ready(self):
        if self.process.poll() is not None:
            log = self.log_path.read_text(errors="replace")
            raise AssertionError(f"the server ended with {self.process.returncode}:\n{log}")
        with contextlib.suppress(OSError):
            with urllib.request.urlopen(self.url + "/readyz", timeout=5) as answer:
                return answer.status == 200
        return False

    def stop(self):
        """SIGTERM; returns the exit code."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            return self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.show()  # as long as there is something to see
            self.process.kill()
            raise

    def kill(self):
        """As the power supply would do it."""
        self.process.kill()
        self.process.wait()

    def key(self, name="admin.key"):
        return (self.data / name).read_text().strip()

    def api(self, method, path, body=None, key=None):
        """(status, document) of a call below /api/v1; text when the answer is not JSON."""
        request = urllib.request.Request(
            self.url + "/api/v1" + path, method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": "Bearer " + (key or self.key()),
                     "Content-Type": "application/json"})
        try:
            answer = urllib.request.urlopen(request, timeout=PATIENCE_S)
        except urllib.error.HTTPError as refusal:
            answer = refusal
        with answer:
            text = answer.read()
        is_json = "json" in (answer.headers.get("Content-Type") or "")
        return answer.status, json.loads(text) if is_json else text.decode(errors="replace")

    def cli(self, *args, stdin=None, env=None, timeout_s=PATIENCE_S):
        """Runs the command line against this server: returncode, stdout and stderr as text."""
        return subprocess.run(
            [BELFRY, *args], input=stdin, env={**self.env, **(env or {})}, cwd=self.dir, text=True,
            capture_output=True, timeout=timeout_s, check=False)

    def submit(self, *args):
        """The id of a new job; args as for `belfry submit`."""
        done = self.cli("submit", *args)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def job(self, job_id):
        status, job = self.api("GET", f"/jobs/{job_id}")
        assert status == 200, job
        return job

    def newest_execution(self, job_id):
        status, answer = self.api("GET", f"/jobs/{job_id}/executions?limit=1")
        assert status == 200, answer
        newest = answer["executions"][0]["execution_id"]
        status, execution = self.api("GET", f"/executions/{newest}")
        assert status == 200, execution
        return execution

    def wait_for_status(self, job_id, *statuses, patience_s=PATIENCE_S):
        """The newest execution of a job once it has one of these statuses."""
        def reached():
            execution = self.newest_execution(job_id)
            return execution if execution["status"] in statuses else None
        return wait_for(reached, f"{job_id} to be {' or '.join(statuses)}", patience_s)


def tests_of(module):
    """The tests among the names of a module, in the order they were written."""
    return [value for name, value in module.items() if name.startswith("test_")]


def passes(test):
    """Runs one test and says how it fared."""
    start = time.monotonic()
    try:
        test()
        verdict = "ok  "
    except Exception:  # any, since the others want their turn
        for server in Server.entered:  # its own have been left: those that it shares with others
            server.show()
        traceback.print_exc(file=sys.stdout)
        verdict = "FAIL"
    print(f"{verdict} {test.__name__} ({time.monotonic() - start:.2f} s)", flush=True)
    return verdict == "ok  "


def main(tests, shared=None):
    """Runs tests, says how they fared, and exits. Arguments choose by part of the name. shared is
    a server for all of them; one that does not end well counts as a failed test."""
    faulthandler.register(signal.SIGTERM, chain=True)  # whoever ends us sees which test it was
    chosen = [t for t in tests if not sys.argv[1:] or any(a in t.__name__ for a in sys.argv[1:])]
    passed = failed = 0
    try:
        with shared or contextlib.nullcontext():
            for test in chosen:
                if passes(test):
                    passed += 1
                else:
                    failed += 1
    except Exception:
        traceback.print_exc(file=sys.stdout)
        print("FAIL the server that the tests share")
        failed += 1
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
