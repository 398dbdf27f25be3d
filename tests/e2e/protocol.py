"""The protocol as a client sees it: whole answers, event streams, and a worker in a few lines.

`belfry.Server.api` is enough where only status and document count. Here are the headers, the bytes
and the streams as well, and a worker that does exactly what a test tells it to.
"""

import http.client
import itertools
import json
import socket
import threading

from belfry import PATIENCE_S, wait_for

API = "/api/v1"
LONG_MS = 60000  # a poll that waits this long is answered because something happened
names = map("t{}".format, itertools.count(1))  # next(names): a queue, name or tag of one's own


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"{self.status} {self.body[:2000]!r}"


def connect(server):
    return http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)


def send(connection, server, method, path, body=None, key="admin", headers=None):
    """key is the name of a key file without its ending, None, or the whole of an Authorization.
    A body that is not bytes already is sent as JSON."""
    fields = dict(headers or {})
    if key in ("admin", "worker"):
        fields["Authorization"] = "Bearer " + server.key(key + ".key")
    elif key is not None:
        fields["Authorization"] = key
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body).encode()
        fields.setdefault("Content-Type", "application/json")
    connection.request(method, path, body, fields)
    return connection.getresponse()


def call(server, method, path, body=None, key="admin", headers=None):
    """One call; path from the root."""
    connection = connect(server)
    try:
        answer = send(connection, server, method, path, body, key, headers)
        return Answer(answer.status, answer.headers, answer.read())
    finally:
        connection.close()


def expect(status, server, method, path, body=None, **kwargs):
    """The document of a call below /api/v1 that must end with this status."""
    answer = call(server, method, API + path, body, **kwargs)
    assert answer.status == status, f"{method} {path}: {answer}"
    return answer.json if answer.body else None


def raw(server, data):
    """What comes back for these bytes until the server closes or says nothing more."""
    with socket.create_connection(("127.0.0.1", server.port), PATIENCE_S) as s:
        s.sendall(data)
        reply = http.client.HTTPResponse(s)
        reply.begin()
        return Answer(reply.status, reply.headers, reply.read())


def submit(server, **job):
    """(job id, execution id) of a new job; a command of no importance unless it has a handler."""
    if "handler" not in job:
        job.setdefault("command", ["true"])
    created = expect(201, server, "POST", "/jobs", job)
    return created["job_id"], created["execution_id"]


def execution(server, execution_id):
    return expect(200, server, "GET", "/executions/" + execution_id)


class Stream:
    """Server-sent events. Iterating gives (id, event, document) until the server ends it."""

    def __init__(self, server, path, last_id=None, key="admin"):
        self.connection = connect(server)
        headers = {} if last_id is None else {"Last-Event-ID": last_id}
        self.answer = send(self.connection, server, "GET", API + path, key=key, headers=headers)
        assert self.answer.status == 200, (self.answer.status, self.answer.read())
        kind = self.answer.getheader("Content-Type")
        assert kind == "text/event-stream", kind

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.answer.close()
        self.connection.close()

    def __iter__(self):
        return self

    def __next__(self):
        fields = {}
        while True:
            line = self.answer.readline()
            if not line:
                raise StopIteration
            line = line.decode().rstrip("\n")
            if line == "" and "data" in fields:
                return fields.get("id"), fields["event"], json.loads(fields["data"])
            name, _, value = line.partition(": ")
            if name:
                fields[name] = value


class Worker:
    """Registers and polls; what it claims to hold and to have done is up to the test."""

    def __init__(self, server, slots=10, **hello):
        self.server = server
        self.seq = 0
        self.welcome = expect(201, server, "POST", "/workers", key="worker",
                              body={"name": "test", "slots": slots, **hello})
        self.id = self.welcome["worker_id"]

    def send(self, poll):
        return call(self.server, "POST", f"{API}/workers/{self.id}/poll", poll, key="worker")

    def poll(self, free=0, wait_ms=0, running=(), results=()):
        """running: leases. results: (lease, outcome) or (lease, outcome, more fields)."""
        self.seq += 1
        answer = self.send({"seq": self.seq, "free": free, "wait_ms": wait_ms,
                            "running": [hold(lease) for lease in running],
                            "results": [result(*one) for one in results]})
        assert answer.status == 200, answer
        return answer.json

    def park(self, **poll):
        """A poll that waits, on a thread of its own, and is known to have arrived."""
        before = self.seen_at()
        wait_for(lambda: expect(200, self.server, "GET", "/stats")["time"] > before, "a millisecond")
        waiting = Later(self.poll, wait_ms=LONG_MS, **poll)
        wait_for(lambda: self.seen_at() != before, "the poll to arrive")
        return waiting

    def seen_at(self):
        workers = expect(200, self.server, "GET", "/workers")["workers"]
        return [w["seen_at"] for w in workers if w["worker_id"] == self.id][0]

    def take(self, count=1):
        """This many leases, confirmed."""
        leases = self.poll(free=count)["leases"]
        assert len(leases) == count, leases
        self.poll(running=leases)
        return leases

    def finish(self, lease, outcome="succeeded", **more):
        """Reports, and returns whether that was accepted."""
        answer = self.poll(results=[(lease, outcome, more)])
        return answer["results"][0]["accepted"]

    def upload(self, *frames, status=204):
        answer = call(self.server, "POST", f"{API}/workers/{self.id}/logs", b"".join(frames),
                      key="worker", headers={"Content-Type": "application/x-belfry-log"})
        assert answer.status == status, answer
        return answer


def hold(lease):
    return {"execution_id": lease["execution_id"], "token": lease["token"]}


def result(lease, outcome, more=None):
    return {**hold(lease), "outcome": outcome, **(more or {})}


def frame(lease, seq, data, stream="stdout", at_ms=1794816000123):
    """A piece of output, as the worker's upload has it."""
    head = f"{lease['execution_id']} {lease['token']} {lease['attempt']} {seq} {stream} {at_ms} "
    return head.encode() + str(len(data)).encode() + b"\n" + data + b"\n"


class Later:
    """A call on a thread of its own; .get() is what it returned."""

    def __init__(self, function, *args, **kwargs):
        self.value = self.error = None
        self.thread = threading.Thread(target=self.run, args=(function, args, kwargs), daemon=True)
        self.thread.start()

    def run(self, function, args, kwargs):
        try:
            self.value = function(*args, **kwargs)
        except Exception as error:  # belongs to the one who asks
            self.error = error

    def get(self):
        self.thread.join(2 * PATIENCE_S)
        assert not self.thread.is_alive(), "still waiting for an answer"
        if self.error is not None:
            raise self.error
        return self.value
