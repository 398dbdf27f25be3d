"""The dashboard: its files as a server gives them out, and its pages in a browser (tests/web)."""

import concurrent.futures
import contextlib
import gzip
import hashlib
import html
import os
import re
import subprocess

from belfry import BELFRY, ROOT, Server, main, tests_of, wait_for
from cluster import Cluster, Postgres, Shared
from protocol import API, call

POSTGRES = Postgres()
CLUSTER = Shared(POSTGRES, lambda: Cluster(POSTGRES, 3, "--no-worker"))
server = Server()
AT_ONCE = 3  # browsers; mostly they wait
BROWSER = {"Accept": "text/html,*/*;q=0.8"}


def fetch(path, method="GET", **headers):
    """The answer as it was sent: urllib unpacks nothing."""
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    command = ["curl", "-s", "-i", "--raw", "--path-as-is", "--max-time", "20", f"http://127.0.0.1:{server.port}{path}"]
    command += ["--head"] if method == "HEAD" else []
    for name, value in headers.items():
        command += ["-H", f"{name}: {value}"]
    head, body = subprocess.run(command, capture_output=True, check=True).stdout.split(b"\r\n\r\n", 1)
    lines = head.decode().split("\r\n")
    told = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines[1:])}
    return int(lines[0].split()[1]), told, body


def run_node(script, of=server, timeout_s=300, **more):
    env = {**os.environ, "BELFRY": BELFRY, "BELFRY_URL": of.url, "BELFRY_TOKEN": of.key(),
           "BELFRY_WORKER_TOKEN": of.key("worker.key"), **more}
    done = subprocess.run(["node", ROOT / "tests" / "web" / script], env=env, capture_output=True, text=True,
                          timeout=timeout_s, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_pages_and_assets_are_served_as_they_should():
    status, told, page = fetch("/jobs/job_1/runs", **BROWSER)
    assert status == 200 and told["content-type"].startswith("text/html"), told
    assert told["cache-control"] == "no-cache" and "script-src 'self'" in told["content-security-policy"]
    assert "unsafe" not in told["content-security-policy"] and told["x-content-type-options"] == "nosniff"
    assert fetch("/", If_None_Match=told["etag"], **BROWSER)[0] == 304
    assert fetch("/", "HEAD", **BROWSER)[2] == b""
    script = re.search(rb'src="(/assets/main-\w+\.js)"', page).group(1).decode()
    status, told, plain = fetch(script)
    assert status == 200 and "immutable" in told["cache-control"] and "content-encoding" not in told
    for coding, asked in (("br", "gzip;q=0.5, br"), ("gzip", "br;q=0, gzip"), ("gzip", "gzip")):
        status, told, packed = fetch(script, Accept_Encoding=asked)
        assert told["content-encoding"] == coding and len(packed) < len(plain), (asked, told)
        assert "Accept-Encoding" in told["vary"]
        assert coding != "gzip" or gzip.decompress(packed) == plain
    for path in ("/nobody", "/jobsx", "/favicon.ico/", "//jobs"):  # the page says that there is none
        assert fetch(path, **BROWSER)[::2] == (404, fetch("/", **BROWSER)[2]), path
    assert not re.search(rb"<(script|style)(?![^>]*src=)|\sstyle=|\son\w+=", page), page


def test_what_is_no_page_stays_as_it_was():
    status, told, text = fetch("/")
    assert status == 200 and told["content-type"].startswith("text/plain") and b"/api/v1" in text
    assert fetch("/nothing")[0] == 404
    for path in ("/api/v1/nothing", "/assets/nothing.js", "/api/", "/assets/../etc"):
        status, told, _ = fetch(path, **BROWSER)
        assert status == 404 and told["content-type"] == "application/problem+json", path
    assert call(server, "POST", "/").status == 404
    assert fetch("/healthz", **BROWSER)[1]["content-type"] == "application/json"


def test_nothing_is_fetched_from_elsewhere():
    _, _, page = fetch("/", **BROWSER)
    assert not re.search(rb"https?://", page)


def test_commands_that_empty_pages_teach_are_understood():
    found = {html.unescape(command) for path in (ROOT / "src" / "web").rglob("*.tsx")
             for command in re.findall(r'command="([^"]*)"', path.read_text())}
    assert len(found) > 10, found
    with Server("--no-worker") as own:
        where = {**own.env, "PATH": f"{os.path.dirname(BELFRY)}:{os.environ['PATH']}"}
        for i, command in enumerate(sorted(found)):
            if re.match("belfry (server|worker) ", command):
                command += " --help"  # it would go on for ever
            command = command.replace(" --wait", "")  # there is no worker, …
            command = re.sub(r"--name (\w+)", rf"--name \1-{i}", command)  # … so that names stay in use
            done = subprocess.run(["sh", "-c", command], env=where, cwd=own.dir, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=60, check=False)
            assert done.returncode == 0, (command, done.stderr)


def scripts(units):
    names = {path.name for path in (ROOT / "tests" / "web").glob("*.mjs")} - {"rig.mjs", "cluster.mjs", "night.mjs"}
    return sorted(name for name in names if name.endswith("unit.mjs") == units)


def test_units():
    for script in scripts(units=True):
        run_node(script)


def fault_of(script):
    """None when it passed. Each has a server of its own, but for what is about several."""
    try:
        if script == "cluster.mjs":
            several_servers()
        else:
            with Server() as own:
                run_node(script, own)
    except AssertionError as why:
        return f"{script}\n{why}"
    return None


def test_the_pages_in_a_browser():
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        faults = list(filter(None, pool.map(fault_of, ["cluster.mjs", *scripts(units=False)])))
    assert not faults, "\n".join(faults)


def several_servers():
    nodes = CLUSTER.made
    database = nodes[0].flags[1]
    key = "bfk_going"
    digest = hashlib.blake2b(key.encode(), digest_size=32).hexdigest()
    POSTGRES.sql(f"""INSERT INTO belfry.api_key (id, name, role, hash, created_ms)
                     VALUES ({77 << 30}, 'going', 'admin', '{digest}', 1)""", database.rsplit("/", 1)[1])
    POSTGRES.sql("UPDATE belfry.meta SET value = (value::bigint + 1)::text WHERE key = 'settings_version'",
                 database.rsplit("/", 1)[1])
    wait_for(lambda: call(nodes[1], "GET", API + "/me", key="Bearer " + key).status == 200, "the key to be known")
    run_node("cluster.mjs", nodes[0], BELFRY_NODES=" ".join(node.url for node in nodes), BELFRY_DATABASE=database,
             BELFRY_OTHER_KEY=key)


if os.environ.get("BELFRY_NIGHT"):
    def test_a_night_of_many_jobs():
        with Server() as own:
            print(run_node("night.mjs", own, timeout_s=3600), end="")

    def test_several_servers_at_night():
        several_servers()


@contextlib.contextmanager
def both():
    with server, CLUSTER:
        yield


if __name__ == "__main__":
    main(tests_of(globals()), both())
