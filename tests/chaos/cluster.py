"""A cluster to torment: servers and workers as real processes on one PostgreSQL.

Processes are started, killed, stopped and continued by name; what they print goes to a file each, in
the directory of the cluster, which is kept when something went wrong.
"""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

from belfry import BELFRY, free_port, wait_for

START_S = 60  # a machine under test is busy


class Process:
    """One program that can be started again and again under the same name."""

    def __init__(self, cluster, name, *arguments):
        self.name = name
        self.log = cluster.dir / f"{name}.log"
        self.env = cluster.env
        self.prefix = []  # what it runs under
        self.arguments = arguments
        self.process = None
        self.stopped = False
        self.ended = True  # by us

    def start(self):
        self.ended = False
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([*self.prefix, BELFRY, *self.arguments], env=self.env,
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def kill(self):
        """As the power supply would do it."""
        self.ended = True
        self.process.kill()
        self.process.wait()
        self.stopped = False

    def end(self, patience_s=START_S):
        """SIGTERM; the exit code."""
        self.ended = True
        self.process.terminate()
        return self.process.wait(patience_s)

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)
        self.stopped = True

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)
        self.stopped = False

    def check(self):
        """Nothing may end by itself."""
        assert self.ended or self.lives(), f"{self.name} ended with {self.process.returncode}"

    def lives(self):
        return self.process is not None and self.process.poll() is None


class Node(Process):
    """A server of the cluster."""

    def __init__(self, cluster, name, store, *flags):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        super().__init__(cluster, name, "server", "--store", store, "--node", name, "--listen",
                         f"127.0.0.1:{self.port}", "--data", str(cluster.dir / name), "--no-worker",
                         *flags)

    def is_ready(self):
        if not self.lives():
            raise AssertionError(f"{self.name} ended with {self.process.returncode}: {self.log}")
        with contextlib.suppress(OSError):
            with urllib.request.urlopen(self.url + "/readyz", timeout=5) as answer:
                return answer.status == 200
        return False

    def start_and_wait(self):
        self.start()
        wait_for(self.is_ready, f"{self.name} to be ready", START_S)


class Cluster:
    """Use it as a context: leaving ends everything. The directory stays when something failed."""

    def __init__(self, store, servers=3, workers=4, slots=8, flags=()):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="belfry-chaos-"))
        self.dir.chmod(0o755)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("BELFRY_")}
        self.nodes = [Node(self, f"node{i}", store, *flags) for i in range(servers)]
        self.slots = slots
        self.workers = []
        self.worker_count = workers

    def __enter__(self):
        try:
            for node in self.nodes:
                node.start_and_wait()
            addresses = ",".join(node.url for node in self.nodes)
            for i in range(self.worker_count):
                worker = Process(self, f"worker{i}", "worker", "--server", addresses, "--token-file",
                                 str(self.key_path("worker.key")), "--slots", str(self.slots), "--name",
                                 f"worker{i}")
                self.workers.append(worker)
                worker.start()
            return self
        except BaseException:
            self.end()
            raise

    def __exit__(self, kind, value, trace):
        self.end()
        if kind is None:
            self.check_logs()
            shutil.rmtree(self.dir, ignore_errors=True)
        else:
            print(f"what happened is in {self.dir}", flush=True)

    def end(self):
        for process in [*self.workers, *self.nodes]:
            if process.lives():
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.go_on()
                    process.end(20)
                if process.lives():
                    process.kill()

    def check_logs(self):
        for process in [*self.workers, *self.nodes]:
            log = process.log.read_text(errors="replace")
            for complaint in ("Sanitizer", "runtime error:", "Assertion"):
                assert complaint not in log, f"{complaint} in {process.log}"

    def key_path(self, name="admin.key"):
        """The first server wrote it; all servers know it, since it is in the store."""
        return self.nodes[0].log.parent / self.nodes[0].name / name

    def key(self):
        return self.key_path().read_text().strip()
