"""What servers and workers say about themselves: the forms of a line, and calls that were slow."""

import json
import os
import re
import sqlite3
import sys
import threading

from belfry import PATIENCE_S, Server, Stopwatch, main, tests_of, wait_for
from protocol import API, call, expect, submit
from test_metrics import scrape

TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
# As a directory it stands in lines of the server and of its worker.
EVIL = os.fsdecode(b'a "b" \\ c=d\n2026-01-01T00:00:00.000Z error server: forged\r\x1b[2J\xe2\x80\xa8\xff')
PAIR = re.compile(r'(\w+)=("(?:[^"\\]|\\.)*"|[^\s"=]+)(?: |$)')


def logfmt(text):
    """{key: value}; every character belongs to a pair."""
    pairs, at = {}, 0
    while at < len(text):
        pair = PAIR.match(text, at)
        assert pair, text[at:]
        pairs[pair[1]] = json.loads(pair[2]) if pair[2].startswith('"') else pair[2]
        at = pair.end()
    return pairs


def text_line(line):
    """Its first part is for people, and what follows the message is logfmt."""
    head = re.match(rf"({TIME}) (debug|info |warn |error) (server|worker|spawner): ([^=]*?)(?: (?=\w+=)|$)", line)
    assert head, line
    return {"time": head[1], "level": head[2].strip(), "who": head[3], "message": head[4], **logfmt(line[head.end():])}


READERS = {"json": json.loads, "text": text_line, "logfmt": logfmt}


def lines_of(server, form="json"):
    """All lines so far; one that is not read as the form says is an error."""
    found = []
    for line in server.log_path.read_bytes().decode().splitlines():
        found.append(READERS[form](line))
        assert re.fullmatch(TIME, found[-1]["time"]) and found[-1]["level"] in ("debug", "info", "warn", "error"), line
        assert not any(ord(c) < 32 or c in "\x7f\x85\u2028\u202e" for c in line), line
    return found


def test_a_hostile_name_forges_no_line_in_any_form():
    for form in READERS:
        own = Server("--log-format", form, "--set", "no_worker=false")
        own.data = own.dir / EVIL
        own.env["BELFRY_DATA"] = str(own.data)
        with own:
            wait_for(lambda: b"registered" in own.log_path.read_bytes(), "the worker to say something")
        lines = own.kept
        assert {line["who"] for line in lines} >= {"server", "worker"}, lines
        (ready,) = [line for line in lines if line["message"] == "ready"]
        assert ready["data"].endswith(EVIL.replace("\udcff", "\xff")), ready
        assert not any(line["message"] == "forged" for line in lines), lines


def hold(server, over):
    """Keeps the server from committing until it is over."""
    database = sqlite3.connect(server.data / "belfry.db", isolation_level=None, check_same_thread=False)
    database.execute("BEGIN IMMEDIATE")

    def end():
        over.wait(PATIENCE_S)
        database.execute("ROLLBACK")
        database.close()
    thread = threading.Thread(target=end)
    thread.start()
    return thread


def slow_lines(server):
    return [line for line in lines_of(server) if line["message"] == "a call was slow"]


def test_a_slow_call_is_told_with_where_its_time_went():
    with Server("--no-worker", "--set", "slow_request_ms=300") as own, Stopwatch() as watch:
        over = threading.Event()
        holder = hold(own, over)
        parent = f"00-{TRACE}-00f067aa0ba902b7-01"
        asked = threading.Thread(target=call, args=(own, "POST", API + "/queues/mail/pause", {}),
                                 kwargs={"headers": {"traceparent": parent}})
        asked.start()
        watch.wait_until(0.8)
        assert call(own, "GET", API + "/jobs").status == 200  # reads do not wait for it
        over.set()
        asked.join(PATIENCE_S)
        holder.join(PATIENCE_S)
        (line,) = wait_for(lambda: [x for x in slow_lines(own) if x["method"] == "POST"], "the line")
        assert (line["route"], line["path"]) == (API + "/queues/{}/pause", API + "/queues/mail/pause"), line
        assert (line["status"], line["key"], line["trace_id"]) == (200, "admin", TRACE), line
        assert re.fullmatch(r"[0-9a-z]+", line["request_id"]), line
        phases = {key: value for key, value in line.items() if key.endswith("_ms") and key != "took_ms"}
        assert line["took_ms"] >= 300 and phases.get("commit_ms", 0) + phases.get("admit_ms", 0) >= 250, line
        assert line["took_ms"] - 15 <= sum(phases.values()) <= line["took_ms"], line
        assert scrape(own)["belfry_http_slow_requests_total"] >= 1


def test_what_waits_by_its_nature_is_not_slow():
    with Server("--set", "slow_request_ms=1", "--set", "park_ms=300") as own, Stopwatch() as watch:
        own.wait_for_status(submit(own, command=["sleep", "0.4"])[0], "completed")
        watch.wait_until(0.7)
    lines = [line for line in own.kept if line["message"] == "a call was slow"]
    assert not [line for line in lines if line["route"].endswith("/poll")], lines


def test_many_slow_calls_do_not_flood_the_log():
    with Server("--no-worker", "--set", "slow_request_ms=200", "--set", "net_threads=1") as own:
        with Stopwatch() as watch:
            over = threading.Event()
            holder = hold(own, over)
            callers = [threading.Thread(target=call, args=(own, "POST", API + f"/queues/q{i}/pause", {})) for i in range(40)]
            for caller in callers:
                caller.start()
            wait_for(lambda: scrape(own)["belfry_http_connections"] >= len(callers), "all calls to wait")
            watch.wait_until(watch.elapsed_s + 0.4)
            over.set()
            for caller in (*callers, holder):
                caller.join(PATIENCE_S)
        got = scrape(own)
        all_of_them, untold = got["belfry_http_slow_requests_total"], got["belfry_http_slow_requests_untold_total"]
        assert all_of_them >= len(callers) and untold == all_of_them - len(slow_lines(own)) and len(slow_lines(own)) <= 20, got.text
        assert expect(200, own, "GET", "/queues")
    left_out = [line["left_out"] for line in own.kept if line["message"].startswith("more calls were slow")]
    assert sum(map(int, left_out)) == untold, (left_out, untold)


class Keeping(Server):
    """What its log said is there when it is gone."""

    def check_log(self):
        super().check_log()
        form = self.flags[self.flags.index("--log-format") + 1] if "--log-format" in self.flags else "json"
        self.kept = lines_of(self, form)


if __name__ == "__main__":
    Server = Keeping
    sys.exit(main(tests_of(globals())))
