"""The figures of many servers: on one private PostgreSQL, servers die, come, go and forward.

All times are those of clients that ask other servers meanwhile: from the moment of the kill, or of the
question, to an answer that was decided and is durable.
"""

import contextlib
import http.client
import itertools
import json
import pathlib
import shutil
import threading
import time

import postgres
import rig

LIVE = 100000  # executions that are queued, so servers hold them in memory
KILLS = 8
PARTITIONS = 16
FORWARDED = 1000
STARTS = 5
COMMANDS = 12  # that run all along and must not die
DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"


class Cluster:
    """Servers a, b, c on one database, each in a directory of its own."""

    def __init__(self, folder, store, names):
        self.folder = folder
        self.servers = {}
        for name in names:
            data = folder / name
            data.mkdir()
            self.servers[name] = rig.Server(data, "--no-worker", "--store", store, "--node", name)

    def __enter__(self):
        for name in self.servers:
            self.start(name)
        self.settle()
        return self

    def __exit__(self, *_):
        for server in self.servers.values():
            if server.process is not None and server.process.poll() is None:
                server.stop()

    def start(self, name):
        """The first one that ever started made the keys."""
        first = next(iter(self.servers.values()))
        if (first.data / "admin.key").exists():
            with contextlib.suppress(shutil.SameFileError):
                shutil.copy(first.data / "admin.key", self.servers[name].data / "admin.key")
        self.servers[name].start()

    def kill(self, name):
        self.servers[name].process.kill()
        self.servers[name].process.wait()

    def there(self, but=None):
        return [s for name, s in self.servers.items()
                if name != but and s.process is not None and s.process.poll() is None]

    def look(self):
        server = self.there()[0]
        return Client(server).ask("GET", "/cluster")[1]

    def settle(self):
        """Waits until all that run have equal shares."""
        def is_even():
            nodes = [n for n in self.look()["nodes"] if n["status"] == "active"]
            shares = [n["partitions"] for n in nodes]
            return (len(nodes) == len(self.there()) and sum(shares) == PARTITIONS
                    and max(shares) - min(shares) <= 1)
        rig.wait_until(is_even, "equal shares", 0.05)

    def owned_by(self, name):
        return {p["partition"] for p in self.look()["partitions"] if p["owner"] == name}

    def loads(self):
        return itertools.chain.from_iterable(map(loads_of, self.servers.values()))


def loads_of(server):
    """(executions, seconds) of every load that it told of, in all its starts."""
    for line in (server.data / "server.log").read_text().splitlines():
        if "decides about partitions" in line:
            told = json.loads(line)
            yield int(told["executions"]), int(told["loaded_in_ms"]) / 1000


class Client:
    """One connection to one server. ask() answers also what is no success."""

    def __init__(self, server):
        self.server = server
        self.connection = server.connect()
        self.headers = {"Authorization": "Bearer " + server.key(),
                        "Content-Type": "application/json"}

    def ask(self, method, path, body=None):
        self.connection.request(method, "/api/v1" + path, None if body is None else json.dumps(body),
                                self.headers)
        response = self.connection.getresponse()
        text = response.read()
        return response.status, json.loads(text) if text else None

    def must(self, method, path, body=None):
        status, document = self.ask(method, path, body)
        if status >= 300:
            raise SystemExit(f"{method} {path}: {status} {document}")
        return document


def partition_of(text):
    """Of an id: its bucket is part of it."""
    number = 0
    for digit in text.split("_")[1]:
        number = number * 32 + DIGITS.index(digit)
    return (number >> 12 & 1023) * PARTITIONS // 1024


def percentile(values, percent):
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)]


# ---- what there is to decide about


def submit_live(cluster, count):
    """So many jobs that wait for a worker, through all servers in turn; their ids by partition."""
    clients, ids, batch = itertools.cycle(Client(s) for s in cluster.there()), {}, 5000
    for _ in range(count // batch):
        jobs = [{"handler": "nobody"}] * batch
        for result in next(clients).must("POST", "/jobs/batch", {"jobs": jobs})["results"]:
            ids.setdefault(partition_of(result["job_id"]), []).append(result["job_id"])
    return ids


@contextlib.contextmanager
def commands_that_run(cluster):
    """A worker with commands that outlast everything, on jobs of all servers. Yields a function that
    counts those which did not live until then."""
    clients = [Client(s) for s in cluster.there()]
    jobs = [client.must("POST", "/jobs", {"command": ["sleep", "86400"]})["job_id"]
            for _, client in zip(range(COMMANDS), itertools.cycle(clients))]
    key = next(iter(cluster.servers.values())).data / "worker.key"
    urls = ",".join(f"http://127.0.0.1:{s.port}" for s in cluster.there())
    with open(cluster.folder / "worker.log", "ab") as log, rig.running(
            rig.BELFRY, "worker", "--server", urls, "--token-file", key, "--slots", str(COMMANDS),
            stderr=log) as worker:
        def sleepers():
            return {pid for pid in rig.children(worker.pid) if is_sleep(pid)}
        rig.wait_until(lambda: len(sleepers()) == COMMANDS, "commands to run", 0.05)
        begun = sleepers()
        yield lambda: len(begun - sleepers())
        for job in jobs:
            Client(cluster.there()[0]).must("DELETE", "/jobs/" + job)


def is_sleep(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text().strip() == "sleep"
    except OSError:
        return False


# ---- servers that die


def decide_until_answered(server, job_id, done):
    """Cancels a job as often as it takes, and keeps when that was answered."""
    while True:
        with contextlib.suppress(OSError, http.client.HTTPException):
            status, _ = Client(server).ask("DELETE", "/jobs/" + job_id)
            if status < 300:
                break
        time.sleep(0.02)
    done.append(time.monotonic())


def measure_kill(cluster, name, ids):
    """How long nobody decided about some partition of a server that is killed: one client for each of
    them, with jobs that lived there."""
    partitions = cluster.owned_by(name)
    others = itertools.cycle(cluster.there(but=name))
    done = []
    threads = [threading.Thread(target=decide_until_answered,
                                args=(next(others), ids[p].pop(), done)) for p in partitions]
    cluster.kill(name)
    begun = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [at - begun for at in done]


def measure_deaths(cluster, ids, record, say):
    times = []
    with commands_that_run(cluster) as count_dead:
        for kill, name in zip(range(KILLS), itertools.cycle(cluster.servers)):
            say(f"cluster, kill {kill + 1} of {KILLS}")
            times += measure_kill(cluster, name, ids)
            cluster.start(name)
            cluster.settle()
        dead = count_dead()
    record("dead server: its partitions decide again, p50", percentile(times, 50), "s", 2)
    record("  p99", percentile(times, 99), "s", 2, at_most=8)
    record("  healthy commands that it killed", dead, at_most=1)


# ---- servers that come and go


def decide_all_along(server, job_id, over, waits):
    """Pauses and resumes a job for ever, and keeps how long each answer took, tries included."""
    client = Client(server)
    for verb in itertools.cycle(("pause", "resume")):
        if over.is_set():
            return
        begun = time.monotonic()
        while client.ask("POST", f"/jobs/{job_id}/{verb}", {})[0] >= 300:
            pass
        waits.append(time.monotonic() - begun)
        time.sleep(0.02)


@contextlib.contextmanager
def somebody_decides(server, ids):
    """Yields the longest wait for a decision in any partition, known when the block is over."""
    over, waits, longest = threading.Event(), [], []
    threads = [threading.Thread(target=decide_all_along, args=(server, ids[p][-1], over, waits))
               for p in range(PARTITIONS)]
    for thread in threads:
        thread.start()
    rig.wait_until(lambda: len(waits) > 2 * PARTITIONS, "decisions", 0.01)
    yield longest
    over.set()
    for thread in threads:
        thread.join()
    longest.append(max(waits))


def measure_manners(cluster, ids, runs, record, say):
    """The last server goes and comes again, in order."""
    *_, name = cluster.servers
    server = cluster.there()[0]
    for run in range(runs):
        say(f"cluster, hand-over {run + 1} of {runs}")
        with somebody_decides(server, ids) as longest:
            begun = time.monotonic()
            cluster.servers[name].stop()
            gone = time.monotonic() - begun
            cluster.settle()
        record("a server leaves: longest wait for a decision", longest[0], "s", 3, at_most=1)
        record("  from being told until it was gone", gone, "s", 2)
        with somebody_decides(server, ids) as longest:
            cluster.start(name)
            cluster.settle()
        record("a server joins: longest wait for a decision", longest[0], "s", 3, at_most=1)


# ---- loading


def measure_loads(cluster, record):
    """As the servers told it: when they took over, two of them at the same time; and one that starts alone
    and gets all of it."""
    for executions, seconds in cluster.loads():
        if executions >= LIVE // 4 and seconds > 0:
            record("taking over, two at once: executions loaded a second, each", executions / seconds)
    for server in cluster.there():
        server.stop()
    first = next(iter(cluster.servers))
    for _ in range(STARTS):
        cluster.start(first)
        *_, (executions, seconds) = loads_of(cluster.servers[first])
        record("a start: executions loaded a second", executions / seconds, at_least=300000)
        cluster.servers[first].stop()


# ---- requests that arrive at the wrong server


def ask_each(clients, questions):
    """How long each question took that is asked of these servers in turn, one after the other."""
    took = []
    for client, (path, body) in zip(itertools.cycle(clients), questions):
        begun = time.monotonic()
        client.must("POST", path, body)
        took.append((time.monotonic() - begun) * 1000)
    return took


def tell(name, took, record):
    record(f"{name}, p50", percentile(took, 50), "ms", 2)
    record(f"{name}, p99", percentile(took, 99), "ms", 2, at_most=20)


def measure_forwarding(store, record):
    """A quiet cluster of three, of which the second and third are asked about what the first one has."""
    with rig.temp_dir() as folder, Cluster(folder, store, "abc") as cluster:
        owner, *others = [Client(s) for s in cluster.there()]
        unique = {"key": "one", "while": ["queued", "running"], "on_conflict": "return"}
        job = {"handler": "nobody", "unique": unique}
        owner.must("POST", "/jobs", job)
        hourly = {"handler": "nobody", "schedule": {"every": "1h"}}
        theirs = [owner.must("POST", "/jobs", hourly)["job_id"] for _ in range(FORWARDED)]
        tell("cluster: submission",
             ask_each([owner], [("/jobs", {"handler": "nobody"})] * FORWARDED), record)
        tell("  forwarded to another server",
             ask_each(others, [(f"/jobs/{job_id}/trigger", {}) for job_id in theirs]), record)
        tell("  whose unique key another server has", ask_each(others, [("/jobs", job)] * FORWARDED),
             record)
        tell("  that claims a new key",
             ask_each(others, [("/jobs", {"handler": "nobody", "idempotency_key": f"key-{i}"})
                               for i in range(FORWARDED)]), record)


# ---- what more servers give and cost


def measure_life(url, runs, bench, record, say):
    store = ("--jobs", str(postgres.LIFE_JOBS), "--store", url + "/postgres")
    bench("life", *store)  # a database that was just made has no log files to use again
    for run in range(runs):
        say(f"cluster, life {run + 1} of {runs}")
        one = bench("life", *store)["life"]
        three = bench("life", "--servers", "3", *store)["life"]
        record("life with one server, jobs/s", one["jobs_per_s"])
        record("life with three servers, jobs/s", three["jobs_per_s"])
        record("  times that with one", three["jobs_per_s"] / one["jobs_per_s"], decimals=2, at_least=1)
        record("  database processor a job, times that with one",
               three["database_cpu_us_per_job"] / one["database_cpu_us_per_job"], decimals=2)
        record("  servers' processor a job, times that with one",
               three["server_cpu_us_per_job"] / one["server_cpu_us_per_job"], decimals=2)


def measure(runs, bench, record, say):
    """Called by bench_figures.py with its own tools."""
    with postgres.server() as url:
        measure_life(url, runs, bench, record, say)
        postgres.psql(url + "/postgres", "CREATE DATABASE quiet", "CREATE DATABASE live")
        say("cluster, forwarding")
        measure_forwarding(url + "/quiet", record)
        with rig.temp_dir() as folder, Cluster(folder, url + "/live", "abc") as cluster:
            ids = submit_live(cluster, LIVE)
            measure_deaths(cluster, ids, record, say)
            measure_manners(cluster, ids, max(2, runs), record, say)
            measure_loads(cluster, record)
