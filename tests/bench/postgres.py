"""The figures on PostgreSQL: belfry, graphile-worker and pg-boss on one private server, in turn."""

import contextlib
import os
import pathlib
import shutil
import subprocess

import rig
import routes

HERE = pathlib.Path(__file__).parent
LIFE_JOBS = 200000
PACKAGES = ["graphile-worker@0.17", "pg-boss@10", "pg@8"]

# As anybody would set it up who means it: nothing that trades durability for speed. The rest is room
# in memory, and a log long enough that checkpoints are a matter of minutes.
SETTINGS = """
listen_addresses = '127.0.0.1'
port = {port}
unix_socket_directories = '{folder}'
fsync = on
synchronous_commit = on
full_page_writes = on
shared_buffers = 512MB
max_wal_size = 4GB
max_connections = 100
"""


def programs():
    """Where initdb and its like are, of the newest version: they are seldom in PATH."""
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"),
                   key=lambda path: float(path.parent.name))
    if not found:
        raise SystemExit("PostgreSQL is missing here; scripts/deps bench installs it")
    return found[-1]


def as_somebody():
    """PostgreSQL refuses to be root."""
    return ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []


@contextlib.contextmanager
def server():
    """The URL of a private PostgreSQL, for as long as the block lasts."""
    bin_dir, port = programs(), rig.free_port()
    with rig.temp_dir() as folder:
        folder.chmod(0o755)
        if os.getuid() == 0:
            shutil.chown(folder, "postgres")
        data = folder / "data"
        subprocess.run([*as_somebody(), bin_dir / "initdb", "-D", data, "-A", "trust", "-U",
                        "postgres", "--no-locale", "-E", "UTF8"], check=True, cwd=folder,
                       stdout=subprocess.DEVNULL)
        with open(data / "postgresql.conf", "a", encoding="utf-8") as conf:
            conf.write(SETTINGS.format(port=port, folder=folder))
        log = open(folder / "log", "wb")
        with rig.running(*as_somebody(), bin_dir / "postgres", "-D", data, stderr=log, cwd=folder):
            url = f"postgres://postgres@127.0.0.1:{port}"
            rig.wait_until(lambda: subprocess.run(
                [bin_dir / "pg_isready", "-q", "-d", url], check=False).returncode == 0,
                "PostgreSQL", 0.05)
            yield url


def psql(url, *commands):
    arguments = sum((["-c", c] for c in commands), [])
    return subprocess.run(["psql", "-XqAt", url, *arguments], check=True, stdout=subprocess.PIPE,
                          text=True).stdout


@contextlib.contextmanager
def peer_packages():
    """A directory with the peers in it, installed by name; None where there is no npm."""
    if not shutil.which("npm"):
        yield None
        return
    with rig.temp_dir() as folder:
        subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", *PACKAGES],
                       check=True, cwd=folder, stdout=subprocess.DEVNULL)
        yield folder / "node_modules"


def peer(name, url, modules, jobs):
    """What a driver in peers/ prints, on a database of its own."""
    psql(url + "/postgres", f"CREATE DATABASE {name}")
    try:
        text = subprocess.run(["node", HERE / "peers" / f"{name}.js", f"{url}/{name}", str(jobs)],
                              check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True, env={**os.environ, "NODE_PATH": str(modules)}).stdout
    finally:
        psql(url + "/postgres", f"DROP DATABASE {name} WITH (FORCE)")
    return {key: float(value) for key, value in (line.split() for line in text.splitlines())}


def measure(runs, bench, record, say):
    """Called by bench_figures.py with its own tools."""
    with server() as url, peer_packages() as modules:
        # A server that has just been made has no log files to use again, and fills each with zeros first.
        bench("life", "--jobs", str(LIFE_JOBS), "--store", url + "/postgres")
        for run in range(runs):
            say(f"postgres, run {run + 1} of {runs}")
            measure_once(url, modules, bench, record)


def measure_once(url, modules, bench, record):
    store = ("--store", url + "/postgres")
    life = bench("life", "--jobs", str(LIFE_JOBS), *store)["life"]
    record("PostgreSQL: life, jobs/s", life["jobs_per_s"], at_least=25000)
    record("  the aim", life["jobs_per_s"], at_least=40000)
    record("  server processor us a job", life["server_cpu_us_per_job"], decimals=1)
    record("  database processor us a job", life["database_cpu_us_per_job"], decimals=1)
    keyed = bench("life", "--jobs", str(LIFE_JOBS), "--keys", *store)["life"]
    record("  with idempotency keys, part of without", keyed["jobs_per_s"] / life["jobs_per_s"],
           decimals=2, at_least=0.7)
    latency = bench("latency", *store)["latency"]
    record("PostgreSQL: idle submit to start, p50", latency["start_p50_ms"], "ms", 2, at_most=2.5)
    record("  p99", latency["start_p99_ms"], "ms", 2, at_most=8)
    burst = bench("burst", *store)["burst"]
    record("PostgreSQL: 2,000 due at one moment, late p99", burst["late_p99_ms"], "ms", 1,
           at_most=200)
    for servers in (1, 3):
        mixed = bench("mixed", "--servers", str(servers), *store)["mixed"]["second_per_s"]
        held = bench("held", "--servers", str(servers), *store)["held"]["second_per_s"]
        record(f"PostgreSQL: mixed jobs, {servers} server(s), jobs/s", mixed)
        record("  with a transaction held open, part of without", held / mixed,
               decimals=2, at_least=0.95)
    if modules is not None:
        compare(life["jobs_per_s"], "graphile-worker", 1.2, record,
                peer("graphile", url, modules, LIFE_JOBS // 2))
        compare(life["jobs_per_s"], "pg-boss", 1.5, record,
                peer("pgboss", url, modules, LIFE_JOBS // 4))


def compare(ours, name, times, record, theirs):
    record(f"{name}, jobs/s", theirs["jobs_per_s"])
    record("  times it", ours / theirs["jobs_per_s"], decimals=2, at_least=times)
    record("  idle submit to start, p50", theirs["start_p50_ms"], "ms", 2)
    record("  p99", theirs["start_p99_ms"], "ms", 2)


# ---- a past of ten million executions


def measure_history(rows, bench, record, say):
    """Every GET route and starts beside so many rows of history."""
    with server() as url:
        psql(url + "/postgres", "CREATE DATABASE past")
        store = url + "/past"
        subprocess.run([rig.BELFRY, "migrate", "--store", store], check=True,
                       stdout=subprocess.DEVNULL)
        say(f"PostgreSQL: {rows} rows of history")
        subprocess.run(["psql", "-Xq", "-v", f"rows={rows}", "-v", "days=20", "-f",
                        HERE / "history.sql", store], check=True)
        with rig.temp_dir() as folder, rig.Server(folder, "--no-worker", "--store", store) as s:
            client = routes.Client(f"http://127.0.0.1:{s.port}", s.key())
            routes.add_present(client)
            routes.record_all("PostgreSQL", routes.measure(client), record)
        psql(store, "DELETE FROM belfry.api_key")  # whose owner is gone; the next server makes some
        empty = bench("latency", "--store", url + "/postgres")["latency"]
        full = bench("latency", "--store", store, "--here")["latency"]
        record("  start latency p50, times that of an empty one",
               full["start_p50_ms"] / empty["start_p50_ms"], decimals=2, at_most=1.2)
