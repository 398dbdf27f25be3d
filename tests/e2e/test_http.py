"""HTTP as hostile clients speak it, byte by byte, against the real server: everything that two
readers could understand differently is refused, every refusal has its status and says why, and
nobody can exhaust the server by asking, by asking slowly, or by not asking at all."""

import collections
import contextlib
import json
import os
import re
import resource
import socket
import subprocess
import sys
import time

from belfry import PATIENCE_S, SANITIZED, Server, main, tests_of, wait_for
from protocol import API, call

server = Server("--no-worker")
MIB = 1 << 20
STATUS_LINE = re.compile(rb"HTTP/1\.1 (\d\d\d) [^\r]*\r\n")  # bodies end without a line break


def auth(key="admin.key"):
    return f"Host: x\r\nAuthorization: Bearer {server.key(key)}\r\n"


def talk(text, half_close=False):
    """Everything the server says to these bytes until it closes. {auth} stands for the headers that
    everybody needs, {next} for a request behind that must never be served."""
    text = text.replace("{next}", "GET /healthz HTTP/1.1\r\n{auth}\r\n").replace("{auth}", auth())
    with socket.create_connection(("127.0.0.1", server.port), PATIENCE_S) as client:
        client.sendall(text.encode("latin-1"))
        if half_close:
            client.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: client.recv(65536), b"")).decode()


def is_refusal(said, status, what):
    """One answer, a whole problem document, and the end of the connection."""
    head, _, body = said.partition("\r\n\r\n")
    assert head.startswith(f"HTTP/1.1 {status} "), (what, said)
    assert len(STATUS_LINE.findall(said.encode())) == 1, (what, said)
    assert "Connection: close" in head and "application/problem+json" in head, (what, said)
    problem = json.loads(body)
    assert problem["status"] == status, (what, said)
    assert all(problem[field] for field in ("type", "title", "detail", "code", "request_id")), said


POST = "POST /api/v1/jobs HTTP/1.1\r\n{auth}"
CHUNKED = POST + "Transfer-Encoding: chunked\r\n\r\n"
BODY = "\r\n\r\n{}{next}"


# ---- what could be read in two ways

def test_lengths_that_could_be_read_in_two_ways_are_refused():
    for headers in ("Content-Length: 2\r\nContent-Length: 3", "Content-Length: 2\r\nContent-Length: 2",
                    "Content-Length: 2, 2", "Content-Length: +2", "Content-Length: 0x2",
                    "Content-Length: 2 2", "Content-Length: -2", "Content-Length:",
                    "Content-Length: 18446744073709551618",
                    "Content-Length: 2\r\nTransfer-Encoding: chunked",
                    "Transfer-Encoding: chunked\r\nContent-Length: 2",
                    "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
                    "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
                    "Transfer-Encoding: chunked, chunked", "Transfer-Encoding: \x0bchunked"):
        is_refusal(talk(POST + headers + BODY), 400, headers)
    for coding in ("x, chunked", "gzip", "identity", "chunked;q=1", "xchunked", ""):
        is_refusal(talk(POST + f"Transfer-Encoding: {coding}" + BODY), 501, coding)
    is_refusal(talk("POST /api/v1/jobs HTTP/1.0\r\n{auth}Transfer-Encoding: chunked" + BODY), 400,
               "chunks in HTTP/1.0")


def test_chunks_that_could_be_read_in_two_ways_are_refused():
    for size in ("0x2", "+2", "-2", " 2", "2 ", "2\t", "", "2.0", "2_", "2\r", "2;a\rb", "2;a\nb",
                 '2;a="\r\n"', "10000000000000000", "2,2", "\xb2"):
        is_refusal(talk(CHUNKED + size + "\r\n{}\r\n0\r\n\r\n{next}"), 400, size)
    for rest in ("2\n{}\r\n0\r\n\r\n", "2\r\n{}\n0\r\n\r\n", "2\r\n{}\r\n0\n\r\n",
                 "2\r\n{}\r\n0\r\n\n", "2\r\n{}x\r\n0\r\n\r\n", "2\r\n{}0\r\n\r\n",
                 "2\r\n{}\r\n0\r\nX: trailer\r\n\r\n", "2\r\n{}\r\n0\r\nContent-Length: 9\r\n\r\n",
                 "2\r\n{}\r\n0\r\nX: a\r\n folded\r\n\r\n", "2\r\n{}\r\n0\r\nX: a\n\r\n"):
        is_refusal(talk(CHUNKED + rest + "{next}"), 400, rest)


def test_headers_that_could_be_read_in_two_ways_are_refused():
    for header in ("X : a", "X\t: a", " X: a", ": a", "X", "X: a\r\n b", "X: a\r\n\tb", "X: a\nY: b",
                   "X: a\rY: b", "X: a\r\r\nY: b", "X: a\0b", "X: a\x01b", "X\xe4: a", "X(: a",
                   "Host: y", "Authorization: Bearer other", "Content-Type: a\r\nContent-Type: b"):
        is_refusal(talk(POST + header + "\r\nContent-Length: 2" + BODY), 400, header)
    for end in ("\n\r\n", "\r\n\n", "\r\r\n\r\n", "\r\n\r\r\n", "\r\r"):
        is_refusal(talk(POST + "Content-Length: 2" + end + "{}{next}"), 400, end)


def test_first_lines_that_could_be_read_in_two_ways_are_refused():
    for line in ("GET  /healthz HTTP/1.1", "GET /healthz  HTTP/1.1", "GET /healthz HTTP/1.1 ",
                 "GET\t/healthz\tHTTP/1.1", " GET /healthz HTTP/1.1", "GET /healthz",
                 "GET /healthz HTTP/1.10", "GET /healthz http/1.1", "GET /healthz HTTP/1.1\rX: a",
                 "GET /health\x01z HTTP/1.1", "GET /health\xe4z HTTP/1.1", "GET /healthz#a HTTP/1.1",
                 "GET http://x/healthz HTTP/1.1", "GET x:80 HTTP/1.1", "GET healthz HTTP/1.1",
                 "GET * HTTP/1.1", "GET \\healthz HTTP/1.1", "\x16\x03\x01\x02"):
        is_refusal(talk(line + "\r\n{auth}\r\n{next}"), 400, line)
    for line in ("CONNECT x:80 HTTP/1.1", "TRACE / HTTP/1.1", "BREW / HTTP/1.1", "get / HTTP/1.1"):
        is_refusal(talk(line + "\r\n{auth}\r\n{next}"), 501, line)
    for version in ("0.9", "1.2", "2.0", "3.0", "9.9"):
        is_refusal(talk(f"GET / HTTP/{version}\r\n{{auth}}\r\n{{next}}"), 505, version)
    is_refusal(talk("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 505, "HTTP/2 with prior knowledge")


# ---- every status of a refusal

def test_every_refusal_has_its_status():
    long = "x" * 40000
    for status, text in (
            (400, "GET /healthz HTTP/1.1\r\n\r\n"),
            (413, POST + "Content-Length: 99000000\r\n\r\n"),
            (413, CHUNKED + "FFFFFFFF\r\n"),
            (414, f"GET /{long} HTTP/1.1\r\n{{auth}}\r\n"),
            (417, POST + "Expect: tea\r\nContent-Length: 2\r\n\r\n{}"),
            (431, f"GET / HTTP/1.1\r\n{{auth}}X: {long}\r\n\r\n"),
            (431, "GET / HTTP/1.1\r\n{auth}" + "X: a\r\n" * 101 + "\r\n"),
            (501, POST + "Transfer-Encoding: gzip\r\n\r\n"),
            (505, "GET / HTTP/3.0\r\n{auth}\r\n")):
        is_refusal(talk(text), status, text[:80])


def refused_by_name(status, code, method, path, body=None, **kwargs):
    answer = call(server, method, path, body, **kwargs)
    assert answer.status == status and answer.json["code"] == code, answer
    assert answer.headers["Content-Type"] == "application/problem+json"
    return answer


def test_a_call_that_needs_a_body_needs_its_length():
    said = talk(POST + "Connection: close\r\n\r\n")
    assert said.startswith("HTTP/1.1 411 ") and "length_required" in said, said
    # Where the body is optional nobody needs to announce that there is none.
    said = talk("POST /api/v1/executions/exec_0000000000001/cancel HTTP/1.1\r\n{auth}"
                "Connection: close\r\n\r\n")
    assert said.startswith("HTTP/1.1 404 "), said


def test_an_answer_nobody_wants_is_not_given():
    logs = API + "/executions/exec_0000000000001/logs"
    for path, accept in ((API + "/jobs", "text/html"), (API + "/jobs", "application/json;q=0, */*"),
                         (API + "/stats", "application/xml, text/*"), (logs, "application/json"),
                         (logs + "?follow=true", "text/plain"), (API + "/events", "text/plain")):
        refused_by_name(406, "not_acceptable", "GET", path, headers={"Accept": accept})
    before = len(call(server, "GET", API + "/jobs").json["jobs"])
    refused_by_name(406, "not_acceptable", "POST", API + "/jobs", {"command": "true"},
                    headers={"Accept": "text/html"})
    assert len(call(server, "GET", API + "/jobs").json["jobs"]) == before  # nothing was done
    for accept in ("*/*", "application/*", "text/html, application/json;q=0.1", ""):
        assert call(server, "GET", API + "/jobs", headers={"Accept": accept}).status == 200, accept
    assert call(server, "GET", "/healthz", headers={"Accept": "text/html"}).status == 200


def test_a_body_of_another_kind_is_refused():
    job = b'{"command": "true"}'
    for fields in ({"Content-Type": "text/xml"}, {"Content-Type": "application/json; charset=latin1"},
                   {"Content-Type": "application/json", "Content-Encoding": "br"}):
        refused_by_name(415, "unsupported_media_type", "POST", API + "/jobs", job, headers=fields)
    for kind in ("application/json;charset=UTF-8", 'application/json; charset="utf-8"'):
        assert call(server, "POST", API + "/jobs", job, headers={"Content-Type": kind}).status == 201


def test_options_tells_what_may_be_asked():
    answer = talk("OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert answer.startswith("HTTP/1.1 204 "), answer
    assert "Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS" in answer, answer
    answer = call(server, "OPTIONS", API + "/jobs", key=None)
    assert (answer.status, answer.headers["Allow"]) == (204, "POST, GET, HEAD"), answer
    refused_by_name(404, "not_found", "OPTIONS", API + "/nope")


def test_head_gets_the_head_of_every_answer():
    for path, key, status in (("/jobs", "admin", 200), ("/nope", "admin", 404),
                              ("/jobs", None, 401), ("/workers/x/poll", "worker", 405)):
        answer = call(server, "HEAD", API + path, key=key)
        assert (answer.status, answer.body) == (status, b""), (path, answer)
        assert int(answer.headers["Content-Length"]) > 0


# ---- bodies

def begin(text):
    client = socket.create_connection(("127.0.0.1", server.port), PATIENCE_S)
    client.sendall(text.replace("{auth}", auth()).encode())
    return client


def until_closed(client):
    return b"".join(iter(lambda: client.recv(65536), b"")).decode()


def test_who_has_no_key_is_refused_before_the_body():
    for key, status in (("", 401), ("Authorization: Bearer wrong\r\n", 401),
                        (f"Authorization: Bearer {server.key('worker.key')}\r\n", 403)):
        for expect in ("", "Expect: 100-continue\r\n"):
            # Not a byte of the body is sent: the answer does not wait for it.
            with begin(f"POST /api/v1/jobs HTTP/1.1\r\nHost: x\r\n{key}{expect}"
                       f"Content-Length: {MIB}\r\n\r\n") as client:
                is_refusal(until_closed(client), status, key)
    with begin("POST /api/v1/nope HTTP/1.1\r\n{auth}Content-Length: 1000000\r\n\r\n") as client:
        is_refusal(until_closed(client), 404, "a path that is not there")


def test_a_refusal_is_heard_in_the_middle_of_a_body():
    with begin(f"POST /api/v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: {MIB}\r\n\r\n") as client:
        client.sendall(b"x" * MIB)
        is_refusal(until_closed(client), 401, "a body that nobody reads")


def test_a_client_that_expects_to_be_asked_is_asked_once():
    with begin(POST + "Expect: 100-continue\r\nConnection: close\r\n"
                      "Content-Length: 19\r\n\r\n") as client:
        assert client.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.sendall(b'{"command": "true"}')
        said = until_closed(client)
    assert said.startswith("HTTP/1.1 201 ") and "100 Continue" not in said, said


def test_a_client_that_says_no_more_still_hears_the_answer():
    said = talk(POST + 'Content-Length: 19\r\n\r\n{"command": "true"}', half_close=True)
    assert said.startswith("HTTP/1.1 201 "), said
    assert talk(POST + 'Content-Length: 19\r\n\r\n{"command', half_close=True) == ""  # half a request


def test_requests_that_trickle_are_given_up():
    def trickle(own, text):
        """The status of the answer to these bytes and single ones behind them."""
        with socket.create_connection(("127.0.0.1", own.port), PATIENCE_S) as client:
            client.sendall(text.encode())
            client.settimeout(0.02)
            start = time.monotonic()
            while time.monotonic() - start < PATIENCE_S:
                client.sendall(b"x")
                try:
                    return client.recv(4096).split()[1]
                except TimeoutError:
                    continue
    with Server("--no-worker", "--set", "head_timeout_ms=200", "--set", "body_timeout_ms=200",
                "--set", "idle_timeout_ms=200") as own:
        head = f"POST /api/v1/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {own.key()}\r\n"
        assert trickle(own, head + "X: ") == b"408"
        assert trickle(own, head + "Content-Length: 1000000\r\n\r\n") == b"408"
        with socket.create_connection(("127.0.0.1", own.port), PATIENCE_S) as silent:
            assert silent.recv(1) == b""  # who asks nothing is not told anything


# ---- very many

def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def resident_bytes(pid):
    with open(f"/proc/{pid}/statm") as f:
        return int(f.read().split()[1]) * resource.getpagesize()


def pipelined(own, requests, count):
    """Sends a text that holds so many requests and reads as many answers; their statuses."""
    seen = collections.Counter()
    with socket.create_connection(("127.0.0.1", own.port), PATIENCE_S) as client:
        client.sendall(requests)
        rest = b""
        while sum(seen.values()) < count:
            data = client.recv(1 << 18)
            assert data, (seen, count)
            rest += data
            end = 0
            for match in STATUS_LINE.finditer(rest):
                seen[match.group(1)] += 1
                end = match.end()
            rest = rest[end:]
    return seen


def test_a_hundred_thousand_requests_leave_nothing_behind():
    rounds, batch = (10, 100) if SANITIZED else (200, 500)
    head = f"HTTP/1.1\r\n{auth()}"
    job = f'POST /api/v1/jobs {head}Content-Length: 21\r\n\r\n{{"handler": "nobody"}}'
    kinds = ["GET /healthz " + head + "\r\n", f"GET /api/v1/jobs?limit=1 {head}\r\n",
             f"GET /api/v1/jobs/job_0000000000001 {head}\r\n",
             f"POST /api/v1/jobs {head}Content-Length: 2\r\n\r\n{{}}"]
    requests = "".join(kinds[i % 4] for i in range(batch - 1)) + job
    pipelined(server, requests.encode(), batch)  # threads, pools and caches are there from now on
    files, memory = descriptors(server.process.pid), resident_bytes(server.process.pid)
    for _ in range(rounds):
        seen = pipelined(server, requests.encode(), batch)
        assert set(seen) == {b"200", b"201", b"404", b"400"} and seen[b"201"] == 1, seen
    wait_for(lambda: descriptors(server.process.pid) <= files, "the connections to be forgotten")
    grown = resident_bytes(server.process.pid) - memory
    assert SANITIZED or grown < 16 * MIB, f"{grown} bytes more"


# Opens so many connections, each from one of many addresses so that ports last; each shows a key, since
# strangers would make room for one another, and says that it got the greeting it asked for. Says how many
# are served, and holds them until its input ends.
CROWD = """
import resource, socket, struct, sys
port, count = int(sys.argv[1]), int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
clients = []
for i in range(count):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.bind((f"127.0.{1 + i % 50}.{1 + i // 50 % 50}", 0))
    s.settimeout(60)
    s.connect(("127.0.0.1", port))
    s.sendall(f"GET /healthz HTTP/1.1\\r\\nHost: x\\r\\nAuthorization: Bearer {sys.argv[3]}\\r\\n\\r\\n".encode())
    clients.append(s)
served = refused = broken = 0
for s in clients:
    try:
        status = s.recv(4096)[9:12]
    except OSError:
        status = b""
    served += status == b"200"
    refused += status == b"503"
    broken += status == b""
print(served, refused, broken, flush=True)
sys.stdin.read()
"""


def crowd(own, count):
    return subprocess.Popen([sys.executable, "-c", CROWD, str(own.port), str(count), own.key()],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_connections_up_to_the_limit_of_files_and_a_clear_word_beyond():
    """As many as the system lets the server have (20,000, less a reserve), and more who ask."""
    if SANITIZED:
        return  # the sanitizer's own memory would be measured
    most = min(resource.getrlimit(resource.RLIMIT_NOFILE)[1], 20000)
    half = most // 2
    with Server("--no-worker", "--set", "connections_max=1000000") as own:
        pid = own.process.pid
        files, memory = descriptors(pid), resident_bytes(pid)
        crowds = [crowd(own, half - 200) for _ in range(2)]
        told = [tuple(map(int, c.stdout.readline().split())) for c in crowds]
        served = sum(t[0] for t in told)
        assert served == 2 * (half - 200), told
        each = (resident_bytes(pid) - memory) / served
        print(f"{served} connections, {each:.0f} bytes of memory each")
        assert each < 8192, each
        crowds.append(crowd(own, 600))  # 400 of which are beyond what may be open
        served, refused, broken = map(int, crowds[2].stdout.readline().split())
        assert served >= 100 and refused + broken >= 100 and refused > 0, (served, refused, broken)
        # The others are served as before.
        for c in crowds:
            c.communicate()
        wait_for(lambda: descriptors(pid) <= files + 2, "the crowd to be forgotten")
        assert call(own, "GET", "/healthz").status == 200


def test_strangers_shut_nobody_out():
    flags = [flag for s in ("net_threads=1", "connections_max=20", "address_connections_max=20",
                            "stranger_timeout_ms=1h") for flag in ("--set", s)]
    with Server("--no-worker", *flags) as own, contextlib.ExitStack() as stack:
        for i in range(100):
            silent = stack.enter_context(socket.socket())
            silent.bind((f"127.0.0.{2 + i % 10}", 0))
            silent.connect(("127.0.0.1", own.port))
        for _ in range(5):
            assert call(own, "GET", "/api/v1/stats").status == 200


def test_a_body_where_none_is_taken_is_not_read():
    head = "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 8000000\r\n\r\n"
    with socket.create_connection(("127.0.0.1", server.port), PATIENCE_S) as client:
        client.sendall(head.encode())
        assert client.recv(4096).startswith(b"HTTP/1.1 400 ")  # before a byte of it was sent


if __name__ == "__main__":
    main(tests_of(globals()), shared=server)
