"""A receiver of webhooks, and alerts to be sent to it."""

import http.server
import json
import threading

from protocol import expect, submit


class Receiver:
    """Listens for webhooks; answers with the statuses it is given, then 204."""

    def __init__(self, *statuses):
        self.statuses, self.got = list(statuses), []
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.got.append((dict(self.headers), body))
                self.send_response(receiver.statuses.pop(0) if receiver.statuses else 204)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/hook"

    def __enter__(self):
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.http.server_close()

    def keys(self):
        """Of the alerts that it got, in this order."""
        return [json.loads(body)["data"]["key"] for _, body in self.got]


def alerts(own, kind=None):
    found = expect(200, own, "GET", "/alerts?limit=1000")["alerts"]
    return [a for a in found if kind is None or a["kind"] == kind]


def fail_once(own, worker, **job):
    job_id, execution_id = submit(own, retry={"max_retries": 0}, **job)
    lease, = worker.poll(free=1)["leases"]
    assert worker.finish(lease, "failed", error="no such table")
    return job_id, execution_id
