#!/usr/bin/python3
"""What tracing costs: instructions of the server process for each job, by callgrind, without it, with one trace in a
hundred, and with all of them. Needs valgrind.

    BELFRY=build/belfry BENCH_PROGRAMS= /usr/bin/python3 tests/bench/traces.py [JOBS]

Batches of 500 for a handler that does nothing, through their whole life; all threads count, the tracer's with them.
The collector takes everything and is a process of its own. Starting and ending the server is measured apart, by a load
of a tenth, and taken off.
"""

import http.server
import re
import subprocess
import sys
import threading

import profile
import rig

JOBS = int(sys.argv[1]) if len(sys.argv) > 1 else 20000


class Collector(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    spans = 0

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        Collector.spans += body.count(b'"spanId"')
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


def instructions(jobs, *flags):
    with rig.temp_dir() as folder:
        out = folder / "callgrind.out"
        data = folder / "data"
        data.mkdir()
        wrapper = folder / "belfry"
        wrapper.write_text(f"#!/bin/sh\nexec valgrind -q --tool=callgrind "
                           f"--callgrind-out-file={out} {rig.BELFRY} \"$@\"\n")
        wrapper.chmod(0o755)
        with rig.Server(data, "--no-worker", "--set", "lease_ms=60s", *flags, binary=str(wrapper)) as server:
            profile.run_load(server, jobs)
        text = subprocess.run(["grep", "-h", "^totals:", out], check=True, capture_output=True, text=True).stdout
        return int(re.search(r"\d+", text)[0])


def per_job(*flags):
    return (instructions(JOBS, *flags) - instructions(JOBS // 10, *flags)) / (JOBS - JOBS // 10)


def main():
    collector = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=collector.serve_forever, daemon=True).start()
    traced = ("--set", f"trace_endpoint=http://127.0.0.1:{collector.server_port}/v1/traces",
              "--set", "trace_queue_bytes_max=256MiB")
    without = per_job()
    print(f"{'without':10} {without:10.0f}")
    for ratio in ("0.01", "1"):
        Collector.spans = 0
        each = per_job(*traced, "--set", "trace_ratio=" + ratio)
        print(f"{'ratio ' + ratio:10} {each:10.0f}  {100 * (each / without - 1):+.1f} %  {Collector.spans} spans",
              flush=True)


main()
