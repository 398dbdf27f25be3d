"""A server that nobody should trust."""

import http.server
import json
import threading


class Strange:
    """A server that answers what no server does; `answers` by path."""

    def __init__(self, **answers):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                path = self.path.split("?")[0].rsplit("/", 1)[1]
                body = {"as_of": "2026-11-19T22:00:00.000Z"} if "count=true" in self.path else answers.get(path, {})
                self.send_response(200)
                self.end_headers()
                self.wfile.write(json.dumps(body).encode())

            def log_message(self, *_):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def cli(self, server, *args):
        """A command that asks it, with the keys of a real server."""
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()
        done = server.cli(*args, "--url", f"http://127.0.0.1:{self.http.server_port}")
        self.http.shutdown()
        self.http.server_close()
        return done
