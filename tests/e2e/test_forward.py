"""What becomes of a request that was sent on to another server when the connection between the two is lost."""

import gzip
import http.client
import json
import socket
import threading

from belfry import PATIENCE_S, Stopwatch, free_port, main, tests_of
from cluster import Cluster, Node, Postgres, Shared
from protocol import Stream
from protocol import call as protocol_call

POSTGRES = Postgres()


class Wire:
    """The way to a server: it can lose a request, or the answer to it."""

    def __init__(self, to_port):
        self.to_port = to_port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.lose = None  # (what the request begins with, whether the server is to get it)
        self.lost = 0
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.carry, args=(client,), daemon=True).start()

    def carry(self, client):
        """One request at a time: peers do not send the next before the answer."""
        try:
            with client, socket.create_connection(("127.0.0.1", self.to_port)) as server:
                threading.Thread(target=self.answer, args=(server, client), daemon=True).start()
                while data := client.recv(1 << 20):
                    lose = self.lose
                    if lose and data.startswith(lose[0].encode()):
                        self.lose = None
                        self.lost += 1
                        if not lose[1]:
                            return
                        self.swallow = client
                    server.sendall(data)
        except OSError:
            pass

    swallow = None

    def answer(self, server, client):
        try:
            while data := server.recv(1 << 20):
                if self.swallow is client:
                    break  # it was done, and nobody hears of it
                client.sendall(data)
            client.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


class Pair(Cluster):
    """a, and b whom others reach by a wire that may break."""

    def __init__(self):
        super().__init__(POSTGRES, 2)
        b = self.nodes[1]
        self.wire = Wire(b.port)
        self.nodes[1] = Node("b", self.store, "--advertise", f"http://127.0.0.1:{self.wire.port}")
        self.wire.to_port = self.nodes[1].port

    def __enter__(self):
        return (*super().__enter__(), self.wire)


PAIR = Shared(POSTGRES, Pair)


def job_of(server, **spec):
    status, job = server.api("POST", "/jobs", {"command": ["true"], "schedule": {"cron": "0 3 1 1 *"}, **spec})
    assert status == 201, job
    assert server.owner_of(job["job_id"]) == server.name
    return job["job_id"]


def call(server, method, path, body=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)
    connection.request(method, "/api/v1" + path, json.dumps(body or {}), {
        "Authorization": "Bearer " + server.key(),
        **{name.replace("_", "-"): value for name, value in headers.items()}})
    with connection.getresponse() as answer:
        return answer.status, json.loads(answer.read())


def lose(wire, begin, done=True):
    """The next request to b that begins so is lost: its answer, or (not done) it all."""
    wire.lost = 0
    wire.lose = (begin, done)


def get(server, path, method="GET", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)
    connection.request(method, "/api/v1" + path, headers={
        "Authorization": "Bearer " + server.key(),
        **{name.replace("_", "-"): value for name, value in headers.items()}})
    with connection.getresponse() as answer:
        return answer.status, answer.headers, answer.read()


def test_an_answer_that_another_server_gives_is_packed_for_who_takes_that():
    a, b, _ = PAIR.made
    path = "/jobs/" + job_of(b, payload={"text": "x" * 5000})
    _, plain_head, plain = get(a, path)
    assert "Content-Encoding" not in plain_head and plain_head["Vary"] == "Accept-Encoding"
    status, head, packed = get(a, path, Accept_Encoding="gzip")
    assert status == 200 and head["Content-Encoding"] == "gzip" and len(packed) < len(plain) / 5, head.items()
    assert gzip.decompress(packed) == plain and head["ETag"] != plain_head["ETag"]
    assert (head["ETag"], packed) == (get(b, path, Accept_Encoding="gzip")[1]["ETag"], packed)
    for tag in (head["ETag"], plain_head["ETag"]):
        assert get(a, path, Accept_Encoding="gzip", If_None_Match=tag)[0] == 304


def test_head_tells_of_the_answer_that_several_servers_give():
    a, b, _ = PAIR.made
    job = job_of(b, handler="nobody", command=None)
    for path in (f"/jobs/{job}/explain", "/settings", "/teams", "/breakers"):
        for method in ("HEAD", "GET"):  # parts of a HEAD would be missing
            _, head, body = get(a, path, method)
            told = head["ETag"], head["Content-Length"]
            if method == "HEAD":
                before = told
                assert body == b"", body
        assert told == before and int(told[1]) == len(body), (path, before, told)
        assert "missing" not in json.loads(body), body


def test_a_stream_that_another_server_gives_begins_at_once():
    a, b, _ = PAIR.made
    status, job = b.api("POST", "/jobs", {"handler": "nobodys"})
    assert status == 201 and b.owner_of(job["job_id"]) == "b", job
    path = f"/executions/{job['execution_id']}/logs?follow=true"
    for query in ("", "&format=ndjson"):
        with Stopwatch() as watch, Stream(a, path + query):
            pass  # the head is there, although nothing was printed
        assert watch.elapsed_s < 2, watch.elapsed_s  # and not with the first ping
    answer = protocol_call(a, "GET", "/api/v1/executions/" + execution_nobody_has(b, job) + "/logs?follow=true")
    assert answer.status == 404 and answer.json["code"] == "not_found", answer


def execution_nobody_has(server, job):
    """An id like this one, of the same partition and so of the same owner."""
    found = job["execution_id"][:-1] + ("0" if job["execution_id"][-1] != "0" else "1")
    assert server.owner_of(found) == server.name
    return found


def test_a_pause_whose_answer_is_lost_is_repeated():
    a, b, wire = PAIR.made
    job = job_of(b)
    for verb, status in (("pause", "paused"), ("resume", "active")):
        lose(wire, f"POST /api/v1/jobs/{job}/{verb}")
        assert call(a, "POST", f"/jobs/{job}/{verb}")[1].get("status") == status
        assert wire.lost == 1


def test_what_is_asked_for_by_name_goes_to_the_owner_of_the_id():
    a, b, wire = PAIR.made
    job = job_of(b, name="by name, anywhere")
    for verb, status in (("pause", "paused"), ("resume", "active")):
        lose(wire, f"POST /api/v1/jobs/{job}/{verb}")  # and by that id it is repeated
        answer = call(a, "POST", f"/jobs/by-name/by%20name%2C%20anywhere/{verb}")
        assert answer == (200, {"job_id": job, "status": status}), answer
        assert wire.lost == 1


def test_a_change_that_was_done_is_not_called_outdated():
    a, b, wire = PAIR.made
    job = job_of(b)
    lose(wire, f"PATCH /api/v1/jobs/{job}")
    status, answer = call(a, "PATCH", f"/jobs/{job}", {"priority": 7}, If_Match='"1"')
    assert (wire.lost, status, answer["code"]) == (1, 502, "bad_gateway"), answer
    assert a.job(job)["version"] == 2  # it was done


def test_a_change_that_was_not_done_is_repeated():
    a, b, wire = PAIR.made
    job = job_of(b)
    lose(wire, f"PATCH /api/v1/jobs/{job}", done=False)
    status, answer = call(a, "PATCH", f"/jobs/{job}", {"priority": 7}, If_Match='"1"')
    assert (wire.lost, status, answer.get("version")) == (1, 200, 2), answer


def test_a_refusal_without_a_loss_is_handed_on():
    a, b, _ = PAIR.made
    job = job_of(b)
    assert call(a, "PATCH", f"/jobs/{job}", {"priority": 7}, If_Match='"5"')[0] == 412


def test_what_would_happen_twice_is_not_repeated_without_a_key():
    a, b, wire = PAIR.made
    job = job_of(b)
    def triggered():
        return sum(e["status"] == "completed" or e["status"] == "queued" or e["status"] == "running"
                   for e in a.api("GET", f"/jobs/{job}/executions")[1]["executions"])
    lose(wire, f"POST /api/v1/jobs/{job}/trigger")
    status, answer = call(a, "POST", f"/jobs/{job}/trigger")
    assert (wire.lost, status, answer["code"]) == (1, 502, "bad_gateway"), answer
    assert triggered() == 1
    lose(wire, f"POST /api/v1/jobs/{job}/trigger")
    status, answer = call(a, "POST", f"/jobs/{job}/trigger", Idempotency_Key=f"trigger-{job}")
    assert (wire.lost, status) == (1, 201), answer
    assert triggered() == 2


if __name__ == "__main__":
    main(tests_of(globals()), PAIR)
