"""What the measurements share: a server in a directory of its own, raw HTTP, and what /proc says."""

import contextlib
import http.client
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

BELFRY = os.environ["BELFRY"]
PROGRAMS = pathlib.Path(os.environ["BENCH_PROGRAMS"])  # where the C programs of this folder are
PATIENCE_S = 60
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def resident_mb(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def cpu_s(pid):
    """Processor time of all threads, user and system."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_S


def children(pid):
    """Of all generations."""
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            found += [int(child)] + children(int(child))
    return found


def answers(port, path):
    """Whether GET says 200, without waiting for anybody."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as s:
            s.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
            return s.recv(64).startswith(b"HTTP/1.1 200")
    except OSError:
        return False


@contextlib.contextmanager
def temp_dir():
    path = pathlib.Path(tempfile.mkdtemp(prefix="belfry-bench-"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def running(*command, **options):
    """A process for as long as the block lasts."""
    process = subprocess.Popen([str(c) for c in command], **options)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_until(condition, what, every_s=0.001):
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit(f"waited {PATIENCE_S} s for {what}")
        time.sleep(every_s)


class Server:
    """`belfry server` on a data directory; start() may be called again after stop()."""

    def __init__(self, data, *flags, binary=BELFRY):
        self.data, self.flags, self.port, self.binary = data, flags, free_port(), binary
        self.process = None
        self.ready_ms = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        """Returns when it is ready, and keeps how long that took from the fork on."""
        command = [self.binary, "server", "--data", str(self.data), "--listen",
                   f"127.0.0.1:{self.port}", *self.flags]
        with open(self.data / "server.log", "ab") as log:
            begun = time.monotonic()
            self.process = subprocess.Popen(command, stderr=log)
        wait_until(lambda: answers(self.port, "/readyz"), "a server to be ready")
        self.ready_ms = (time.monotonic() - begun) * 1000
        if self.process.poll() is not None:
            raise SystemExit("the server ended")

    def stop(self):
        self.process.terminate()
        self.process.wait(PATIENCE_S)

    def key(self, name="admin"):
        return (self.data / f"{name}.key").read_text().strip()

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)

    def call(self, connection, method, path, body=None):
        connection.request(method, "/api/v1" + path, body,
                           {"Authorization": "Bearer " + self.key(),
                            "Content-Type": "application/json"})
        response = connection.getresponse()
        text = response.read()
        if response.status >= 300:
            raise SystemExit(f"{method} {path}: {response.status} {text[:300]}")
        return json.loads(text)


def numbers_of(*command):
    """What one of the C programs prints: a name and a number on each line."""
    text = subprocess.run([str(c) for c in command], check=True, capture_output=True, text=True)
    return {name: float(value) for name, value in
            (line.split() for line in text.stdout.splitlines())}
