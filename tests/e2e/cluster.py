"""What tests of many servers share: a private PostgreSQL, and servers on it that know each other.

PostgreSQL refuses to run as root, so root becomes user `postgres` for it. It does not sync: these
tests are about processes that die, not machines.
"""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

from belfry import Server, free_port, wait_for

# Of a server among others; the default is 5. It is longer than a machine stands still for a moment.
LEASE_S = 3


class Postgres:
    """A PostgreSQL server of its own, gone afterwards. `databases` of it are made on demand."""

    def __init__(self):
        self.bin = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"),
                       key=lambda path: int(path.parent.name))
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="belfry-pg-"))
        self.port = free_port()
        self.made = 0

    def run(self, *args, check=True):
        become = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        return subprocess.run([*become, *map(str, args)], cwd="/", check=check, text=True,
                              capture_output=True, timeout=60)

    def __enter__(self):
        if os.getuid() == 0:
            shutil.chown(self.dir, "postgres")
        self.run(self.bin / "initdb", "-D", self.dir / "data", "-A", "trust", "-U", "postgres",
                 "--no-sync", "--no-locale", "-E", "UTF8")
        with open(self.dir / "data" / "postgresql.conf", "a") as conf:
            conf.write(f"listen_addresses='127.0.0.1'\nport={self.port}\nfsync=off\n"
                       f"unix_socket_directories='{self.dir}'\nmax_connections=100\n")
        self.start()
        return self

    def __exit__(self, *_):
        self.run(self.bin / "pg_ctl", "-D", self.dir / "data", "-m", "immediate", "-w", "stop",
                 check=False)
        shutil.rmtree(self.dir, ignore_errors=True)

    def start(self):
        self.run(self.bin / "pg_ctl", "-D", self.dir / "data", "-l", self.dir / "log", "-w",
                 "start")

    def stop(self, mode="fast"):
        self.run(self.bin / "pg_ctl", "-D", self.dir / "data", "-m", mode, "-w", "stop")

    def sql(self, text, database="postgres"):
        done = subprocess.run(["psql", "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", "-d",
                               database, "-Atc", text], check=True, text=True, capture_output=True,
                              timeout=60)
        return done.stdout.strip()

    def database(self):
        """The URL of a new, empty one."""
        self.made += 1
        name = f"belfry{self.made}"
        self.sql(f"CREATE DATABASE {name}")
        return f"postgres://postgres@127.0.0.1:{self.port}/{name}"


class Node(Server):
    """One server among others; the key of the first opens all."""

    def __init__(self, name, store, *flags, env=None):
        super().__init__("--store", store, "--node", name, "--set",
                         f"node_lease_ms={LEASE_S * 1000}", *flags, env=env)
        self.name = name

    def copy_key(self, first):
        self.data.mkdir(exist_ok=True)
        shutil.copy(first.data / "admin.key", self.data / "admin.key")

    def nodes(self):
        """{name: node} as this server sees them."""
        status, answer = self.api("GET", "/cluster")
        assert status == 200, answer
        return {node["name"]: node for node in answer["nodes"]}

    def shares(self):
        """{name: how many partitions it has}, of those that are there."""
        return {name: node["partitions"] for name, node in self.nodes().items()
                if node["status"] != "silent"}

    def owner_of(self, text):
        """The name of the node that decides about an id."""
        digits = "0123456789abcdefghjkmnpqrstvwxyz"
        number = 0
        for digit in text.split("_")[1]:
            number = number * 32 + digits.index(digit)
        partitions = self.api("GET", "/cluster")[1]["partitions"]
        return partitions[(number >> 12 & 1023) * len(partitions) // 1024]["owner"]

    def pause(self):
        """Stops it; returns when every thread of it stands."""
        def stands(task):
            return (task / "stat").read_text().rsplit(") ", 1)[1][0] == "T"
        tasks = pathlib.Path(f"/proc/{self.process.pid}/task")
        self.process.send_signal(signal.SIGSTOP)
        wait_for(lambda: all(stands(task) for task in tasks.iterdir()), "all threads to stand")

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)


class Cluster:
    """Servers a, b, c … on one database. Leaving stops all that still run."""

    def __init__(self, postgres, count, *flags):
        self.store = postgres.database()
        self.nodes = [Node(chr(ord("a") + i), self.store, *flags) for i in range(count)]
        self.stack = contextlib.ExitStack()

    def __enter__(self):
        with self.stack:
            for node in self.nodes:
                if node is not self.nodes[0]:
                    node.copy_key(self.nodes[0])
                self.stack.enter_context(node)
            self.settle()
            self.stack = self.stack.pop_all()
        return self.nodes

    def __exit__(self, *error):
        return self.stack.__exit__(*error)

    def settle(self):
        """Waits until all have equal shares."""
        def equal():
            shares = self.nodes[0].shares()
            return (len(shares) == len(self.nodes) and sum(shares.values()) == 16
                    and max(shares.values()) - min(shares.values()) <= 1)
        wait_for(equal, "equal shares")


class Shared:
    """PostgreSQL for all tests of a script, and on it what `make` makes, for those that do it no harm: `made`
    is what entering it gave."""

    def __init__(self, postgres, make):
        self.postgres, self.make = postgres, make

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            stack.enter_context(self.postgres)
            self.made = stack.enter_context(self.make())
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *error):
        return self.stack.__exit__(*error)
