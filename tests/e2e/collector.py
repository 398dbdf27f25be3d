"""A collector of traces: takes OTLP over HTTP as JSON, strictly, and behaves as badly as it is told to.

The decoder knows the messages of opentelemetry-proto 1.x by their fields, as JSON has them, and refuses whatever is
not there: other names, bytes that are not lower-case hexadecimal, 64-bit numbers that are not texts.
"""

import http.server
import json
import re
import threading

U64 = re.compile(r"\d+")


def nanos(value):
    assert isinstance(value, str) and U64.fullmatch(value), value
    return int(value)


def number(value):
    assert isinstance(value, int) and not isinstance(value, bool) and value >= 0, value
    return value


def text(value):
    assert isinstance(value, str), value
    return value


def hexadecimal(digits):
    def decode(value):
        assert isinstance(value, str) and re.fullmatch("[0-9a-f]{%d}" % digits, value), value
        assert value.strip("0"), "an id of zeros"
        return value
    return decode


def any_value(value):
    (kind, content), = value.items()
    if kind == "intValue":
        assert re.fullmatch(r"-?\d+", content), content
        return int(content)
    assert kind == "stringValue" and isinstance(content, str), value
    return content


def attributes(value):
    found = {}
    for item in value:
        assert set(item) == {"key", "value"} and item["key"] not in found, item
        found[text(item["key"])] = any_value(item["value"])
    return found


def message(**fields):
    def decode(value):
        assert isinstance(value, dict) and set(value) <= set(fields), set(value) - set(fields)
        return {name: fields[name](content) for name, content in value.items()}
    return decode


def many(decode):
    return lambda value: [decode(item) for item in value]


STATUS = message(code=number, message=text)
SPAN = message(traceId=hexadecimal(32), spanId=hexadecimal(16), parentSpanId=hexadecimal(16), traceState=text,
               flags=number, name=text, kind=number, startTimeUnixNano=nanos, endTimeUnixNano=nanos,
               attributes=attributes, status=STATUS)
SCOPE = message(name=text, version=text)
REQUEST = message(resourceSpans=many(message(
    resource=message(attributes=attributes),
    scopeSpans=many(message(scope=SCOPE, spans=many(SPAN))))))


class Collector:
    """Answers with what it is told, then takes everything. An answer is a status, (status, headers, document),
    or "hang" until it is left."""

    def __init__(self, *answers, port=0):
        self.answers, self.posts, self.spans, self.resources, self.faults = list(answers), 0, [], [], []
        self.left = threading.Event()
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                collector.posts += 1
                self.answer(collector.answers.pop(0) if collector.answers else 200)

            def answer(self, what):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if what == "hang":
                    collector.left.wait()
                    self.close_connection = True
                    return
                status, headers, document = what if isinstance(what, tuple) else (what, {}, {})
                if status == 200:
                    collector.take(self, body)
                data = json.dumps(document).encode()
                self.send_response(status)
                for name, value in {"Content-Length": str(len(data)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.http.daemon_threads = True
        self.port = self.http.server_port
        self.url = f"http://127.0.0.1:{self.port}/v1/traces"

    def take(self, handler, body):
        try:
            assert handler.path == "/v1/traces" and handler.headers["Content-Type"] == "application/json"
            self.headers = dict(handler.headers)
            for of_resource in REQUEST(json.loads(body))["resourceSpans"]:
                self.resources.append(of_resource["resource"]["attributes"])
                for of_scope in of_resource["scopeSpans"]:
                    self.spans += of_scope["spans"]
        except Exception as fault:  # the test's to tell: an answer would only be tried again
            self.faults.append(repr(fault))

    def __enter__(self):
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.left.set()
        self.http.shutdown()
        self.http.server_close()
        assert not self.faults, self.faults[0]

    def of(self, trace_id):
        """{name without the queue: spans} of a trace."""
        found = {}
        for span in self.spans:
            if span["traceId"] == trace_id:
                found.setdefault(span["name"].split(" ")[0], []).append(span)
        return found
