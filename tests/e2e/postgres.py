"""PostgreSQL for tests: a private server in a directory of its own, replicas of it, and a PgBouncer.

    with Postgres() as database:
        Server("--store", database.url) …
        database.kill()
        database.start()

PostgreSQL refuses to run as root, so root becomes user `postgres` for it. Ports are free ones, on loopback
alone. Servers are our own children and end with us. By default everything is synced as in production;
Postgres(sync=False) is for tests that end no machine.
"""

import contextlib
import glob
import os
import pathlib
import pwd
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time

from belfry import free_port, wait_for

START_S = 60


def binaries():
    """The directory of the newest PostgreSQL that is installed."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin"),
                   key=lambda path: float(path.split("/")[4]))
    assert found, "PostgreSQL is not installed; scripts/deps test does it"
    return pathlib.Path(found[-1])


def as_postgres():
    """What to hand to Popen, so that the child is somebody who may run a database."""
    if os.getuid() != 0:
        return {}
    user = pwd.getpwnam("postgres")
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def private_dir(prefix):
    path = pathlib.Path(tempfile.mkdtemp(prefix=prefix))
    path.chmod(0o755)
    if os.getuid() == 0:
        shutil.chown(path, "postgres", "postgres")
    return path


class Session:
    """A connection that speaks just enough of the protocol to be in the way."""

    def __init__(self, port, database="postgres", application="neighbour"):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=START_S)
        words = ("user", "postgres", "database", database, "application_name", application)
        text = b"".join(word.encode() + b"\0" for word in words) + b"\0"
        self.socket.sendall(struct.pack("!ii", len(text) + 8, 196608) + text)
        self.wait_until_ready()

    def read(self, count):
        data = b""
        while len(data) < count:
            part = self.socket.recv(count - len(data))
            if not part:
                raise ConnectionError("PostgreSQL closed the connection")
            data += part
        return data

    def wait_until_ready(self):
        """Reads messages up to ReadyForQuery; an error is raised."""
        error = None
        while True:
            kind, length = struct.unpack("!ci", self.read(5))
            body = self.read(length - 4)
            if kind == b"E":
                error = body.replace(b"\0", b" ").decode(errors="replace")
                if b"FATAL" in body:
                    raise ConnectionError(error)
            if kind == b"Z":
                if error:
                    raise AssertionError(error)
                return

    def run(self, sql):
        text = sql.encode() + b"\0"
        self.socket.sendall(b"Q" + struct.pack("!i", len(text) + 4) + text)
        self.wait_until_ready()

    def close(self):
        self.socket.close()


class Postgres:
    """A server; as a context it is started, and gone afterwards."""

    def __init__(self, sync=True, settings=(), room_mib=None):
        """room_mib: on a disk of that size, in memory, which needs root."""
        self.dir = private_dir("belfry-pg-")
        self.room_mib = room_mib
        self.data = self.dir / "data"
        self.port = free_port()
        self.settings = list(settings)
        if not sync:
            self.settings += ["fsync=off", "full_page_writes=off", "synchronous_commit=off"]
        self.process = None
        self.log_path = self.dir / "log"

    @property
    def url(self):
        return f"postgres://postgres@127.0.0.1:{self.port}/postgres"

    def database(self, name):
        """The URL of a new database, for a test that shares the server with others."""
        self.sql(f"CREATE DATABASE {name}")
        return self.url.removesuffix("postgres") + name

    # ---- its life

    def __enter__(self):
        try:
            self.make()
            self.start_first()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, *_):
        self.remove()

    def remove(self):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.kill()
        if self.room_mib:
            subprocess.run(["umount", "-l", str(self.dir)], check=False)
        shutil.rmtree(self.dir, ignore_errors=True)

    def call(self, program, *arguments):
        done = subprocess.run([str(binaries() / program), *arguments], cwd=self.dir, text=True,
                              capture_output=True, check=False, timeout=START_S, **as_postgres())
        assert done.returncode == 0, f"{program}: {done.stderr}{done.stdout}"

    def make(self):
        if self.room_mib:
            user = pwd.getpwnam("postgres").pw_uid
            subprocess.run(["mount", "-t", "tmpfs", "-o",
                            f"size={self.room_mib}m,uid={user},mode=755", "tmpfs", str(self.dir)],
                           check=True)
        self.call("initdb", "-D", str(self.data), "-A", "trust", "-U", "postgres", "--no-sync",
                  "--no-locale", "-E", "UTF8", "-k")
        self.configure("wal_keep_size=256MB", "wal_retrieve_retry_interval=100ms",
                       "hot_standby=on", "max_wal_senders=5")

    def configure(self, *settings):
        """Appends to postgresql.conf: for the next start, or reload()."""
        with open(self.data / "postgresql.conf", "a", encoding="utf-8") as conf:
            conf.write("".join(f"{name} = '{value}'\n" for name, value in
                               (setting.split("=", 1) for setting in settings)))

    def admit(self, network):
        """Lets everybody in from there. It must listen there, too: settings=["listen_addresses=*"]."""
        with open(self.data / "pg_hba.conf", "a", encoding="utf-8") as hba:
            hba.write(f"host all all {network} trust\n")
        self.reload()

    def start_first(self):
        """A free port may be taken by another program before PostgreSQL listens: then by another port."""
        for _ in range(5):
            try:
                return self.start()
            except AssertionError as refusal:
                if "Address already in use" not in str(refusal):
                    raise
                self.log_path.unlink()
                self.port = free_port()
        return self.start()

    def start(self):
        """Starts it, or starts it again after kill() or stop()."""
        options = [f"port={self.port}", "listen_addresses=127.0.0.1",
                   f"unix_socket_directories={self.dir}", *self.settings]
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [str(binaries() / "postgres"), "-D", str(self.data),
                 *(f"-c{option}" for option in options)],
                cwd=self.dir, stdin=subprocess.DEVNULL, stdout=log, stderr=log, **as_postgres())
        wait_for(self.answers, "PostgreSQL to answer", START_S)

    def answers(self):
        if self.process.poll() is not None:
            raise AssertionError("PostgreSQL ended:\n" + self.log_path.read_text()[-4000:])
        try:
            Session(self.port).close()
            return True
        except OSError:
            return False

    def stop(self, mode="fast"):
        """fast: rolls back what is under way; smart: waits for sessions; immediate: as a crash."""
        how = {"smart": signal.SIGTERM, "fast": signal.SIGINT, "immediate": signal.SIGQUIT}[mode]
        self.process.send_signal(how)
        self.process.wait(START_S)

    def kill(self):
        """As the power supply would do it: all of its processes at once."""
        children = subprocess.run(["pgrep", "-P", str(self.process.pid)], text=True,
                                  capture_output=True, check=False).stdout.split()
        self.process.kill()
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(child), signal.SIGKILL)
        self.process.wait()
        wait_for(lambda: not any(lives(int(child)) for child in children), "its backends to end")

    def pause(self):
        """Stops every process of it where it is; go_on() continues."""
        self.signal_all(signal.SIGSTOP)

    def go_on(self):
        self.signal_all(signal.SIGCONT)

    def signal_all(self, number):
        children = subprocess.run(["pgrep", "-P", str(self.process.pid)], text=True,
                                  capture_output=True, check=False).stdout.split()
        for pid in (self.process.pid, *map(int, children)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def reload(self):
        self.process.send_signal(signal.SIGHUP)

    # ---- asking it

    def sql(self, text, database="postgres"):
        """Runs SQL as the superuser; what it printed, columns apart by |."""
        done = subprocess.run(
            ["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(self.port),
             "-U", "postgres", database], input=text, text=True, capture_output=True, check=False,
            timeout=START_S)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def terminate_one(self, application="belfry"):
        """Ends a backend of that application, any; how many were ended: 1 or 0."""
        return int(self.sql(
            "SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity WHERE "
            f"application_name = '{application}' ORDER BY random() LIMIT 1) a"))

    def terminate_all(self, application="belfry"):
        return int(self.sql("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE "
                            f"application_name = '{application}' AND pid <> pg_backend_pid()"))

    def session(self, database="postgres"):
        return Session(self.port, database)

    @contextlib.contextmanager
    def idle_connections(self, count):
        sessions = [Session(self.port) for _ in range(count)]
        try:
            yield
        finally:
            for session in sessions:
                session.close()

    @contextlib.contextmanager
    def all_connections(self):
        """Takes every connection there is, but those that are in use; and the one by which
        end_connections() makes more of them free, and takes those, too."""
        self.hoard = []
        self.take_all()
        try:
            yield
        finally:
            for session in self.hoard:
                session.close()

    def take_all(self):
        with contextlib.suppress(ConnectionError):
            while True:
                self.hoard.append(Session(self.port))

    def end_connections(self, application):
        self.hoard[0].run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE "
                          f"application_name = '{application}'")
        for _ in range(20):
            self.take_all()
            time.sleep(0.05)

    @contextlib.contextmanager
    def full_disk(self, left_bytes=2 << 20):
        """Takes nearly all room that is left."""
        room = os.statvfs(self.dir)
        ballast = self.dir / "ballast"
        size = room.f_bavail * room.f_frsize - left_bytes
        subprocess.run(["fallocate", "-l", str(size), str(ballast)], check=True)
        try:
            yield
        finally:
            ballast.unlink()

    @contextlib.contextmanager
    def open_transaction(self):
        """One that has written and stays open: no row that dies meanwhile can be removed."""
        session = Session(self.port)
        session.run("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT txid_current()")
        try:
            yield session
        finally:
            session.close()

    # ---- others beside it

    def replica(self, synchronous=False):
        """A streaming replica of it, as a context. synchronous: commits wait for it."""
        return Replica(self, synchronous)

    def pgbouncer(self, pool=4):
        return PgBouncer(self, pool)


def lives(pid):
    """Whether a process is there and has not ended: pid 1 may take its time to bury it."""
    try:
        return "Z" not in pathlib.Path(f"/proc/{pid}/status").read_text().split("State:")[1][:4]
    except (OSError, IndexError):
        return False


class Replica(Postgres):
    def __init__(self, primary, synchronous):
        super().__init__(settings=primary.settings)
        self.primary = primary
        self.synchronous = synchronous

    def make(self):
        self.call("pg_basebackup", "-h", "127.0.0.1", "-p", str(self.primary.port), "-U", "postgres",
                  "-D", str(self.data), "-R", "-X", "stream", "-c", "fast", "--no-sync")
        self.configure("cluster_name=replica", "synchronous_standby_names=")

    def start(self):
        super().start()
        if self.synchronous:
            self.primary.configure("synchronous_standby_names=*")
            self.primary.reload()
            wait_for(lambda: self.primary.sql(
                "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == "1",
                "the replica to be synchronous")

    def promote(self):
        """Makes it the primary; returns when it takes writes."""
        self.call("pg_ctl", "-D", str(self.data), "-w", "promote")
        self.synchronous = False


class PgBouncer:
    """In transaction mode: each transaction may get another connection to the server."""

    def __init__(self, database, pool):
        self.database = database
        self.pool = pool
        self.dir = private_dir("belfry-pgbouncer-")
        self.port = free_port()
        self.process = None

    def url(self, database="postgres"):
        return f"postgres://postgres@127.0.0.1:{self.port}/{database}"

    def hold(self):
        """Ends its connections to the server, each when its transaction is over; clients wait."""
        self.process.send_signal(signal.SIGUSR1)
        wait_for(lambda: "pause" in (self.dir / "log").read_text().lower(), "PgBouncer to wait")

    def lead_to(self, database):
        """From hold(): goes on, with another server. It must take writes by now: what it says about that
        is told to all clients to come."""
        self.database = database
        self.configure()
        self.process.send_signal(signal.SIGHUP)
        self.process.send_signal(signal.SIGUSR2)

    def __enter__(self):
        conf = self.configure()
        with open(self.dir / "log", "ab") as log:
            self.process = subprocess.Popen(
                ["/usr/sbin/pgbouncer", str(conf)], cwd=self.dir, stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, **as_postgres())
        wait_for(self.answers, "PgBouncer to answer")
        return self

    def configure(self):
        conf = self.dir / "pgbouncer.ini"
        conf.write_text(f"""[databases]
* = host=127.0.0.1 port={self.database.port} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {self.port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {self.pool}
max_client_conn = 500
server_login_retry = 1
""", encoding="utf-8")
        conf.chmod(0o644)
        return conf

    def answers(self):
        assert self.process.poll() is None, (self.dir / "log").read_text()
        try:
            Session(self.port).close()
            return True
        except OSError:
            return False

    def kill(self):
        self.process.kill()
        self.process.wait()

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.dir, ignore_errors=True)
