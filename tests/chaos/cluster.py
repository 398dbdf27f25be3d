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

    def __init__(self, cluster, name, store, *flags, host="127.0.0.1"):
        self.host = host
        self.port = free_port()
        self.url = f"http://{host}:{self.port}"
        super().__init__(cluster, name, "server", "--store", store, "--node", name, "--listen",
                         f"{host}:{self.port}", "--data", str(cluster.dir / name), "--no-worker",
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


class Island:
    """A network namespace with two bridges to the world, one to the database and one to all others;
    each can be taken away. The last server of a cluster lives there."""

    def __init__(self, postgres):
        self.name = f"belfry{os.getpid()}"
        self.prefix = ["ip", "netns", "exec", self.name]
        self.shore, self.host = "10.231.8.1", "10.231.8.2"
        self.store = postgres.url.replace("127.0.0.1", "10.231.7.1")
        self.bridges = {"database": ("bf-db", "10.231.7"), "others": ("bf-all", "10.231.8")}

    def __enter__(self):
        self.ip("netns", "add", self.name)
        for link, network in self.bridges.values():
            self.ip("link", "add", link, "type", "veth", "peer", "name", "far", "netns", self.name)
            self.ip("-n", self.name, "link", "set", "far", "name", f"{link}-far")
            self.ip("addr", "add", f"{network}.1/24", "dev", link)
            self.ip("-n", self.name, "addr", "add", f"{network}.2/24", "dev", f"{link}-far")
            self.ip("-n", self.name, "link", "set", f"{link}-far", "up")
            self.ip("link", "set", link, "up")
        self.ip("-n", self.name, "link", "set", "lo", "up")
        return self

    def __exit__(self, *_):
        self.ip("netns", "delete", self.name)
        for link, _ in self.bridges.values():  # the kernel removes them a little later
            subprocess.run(["ip", "link", "delete", link], capture_output=True, check=False)

    @staticmethod
    def ip(*words):
        subprocess.run(["ip", *words], check=True)

    def cut(self, bridge):
        self.ip("link", "set", self.bridges[bridge][0], "down")

    def mend(self, bridge):
        self.ip("link", "set", self.bridges[bridge][0], "up")


class Cluster:
    """Use it as a context: leaving ends everything. The directory stays when something failed."""

    def __init__(self, store, servers=3, workers=4, slots=8, flags=(), island=None):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="belfry-chaos-"))
        self.dir.chmod(0o755)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("BELFRY_")}
        host = island.shore if island else "127.0.0.1"
        self.nodes = [Node(self, f"node{i}", store, *flags, host=host) for i in range(servers)]
        if island:
            self.nodes[-1] = Node(self, f"node{servers - 1}", island.store, *flags, host=island.host)
            self.nodes[-1].prefix = island.prefix
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
