"""`belfry top` on a terminal: what is on the screen, keys, and how the terminal is left."""

import json
import signal

from belfry import PATIENCE_S, Server, main, tests_of, wait_for
from cluster import Cluster, Postgres
from protocol import Worker, expect, names, submit
from screen import Terminal

server = Server("--no-worker")
FAST = ("top", "--interval", "200ms")


def line_of(lines, begin):
    return next((line for line in lines if line.startswith(begin)), None)


def test_the_screen_shows_queues_runs_failures_and_the_database():
    with Server("--slots", "2") as own:
        failed, _ = submit(own, queue="web", name="fails", command=["false"], retry={"max_retries": 0})
        own.wait_for_status(failed, "failed")
        sleeps, _ = submit(own, queue="mail", name="sleeps", command=["sleep", "1000"])
        with Terminal(own, *FAST) as shown:
            shown.wait(lambda lines: line_of(lines, "exec_") and line_of(lines, "mail "), "runs and queues")
            for text in ("sleeps", "exit code 1", "busy 1 of 2 slots", "p99", "per sec", "q quit"):
                shown.wait_for_text(text)
            assert len(shown.screen.lines) == 24 and shown.screen.scrolled == 0
            submit(own, queue="late")
            shown.wait(lambda lines: line_of(lines, "late "), "a queue that came")
            shown.type("q")
            assert shown.end() == 0 and shown.is_restored()
        expect(200, own, "DELETE", "/jobs/" + sleeps)
        own.wait_for_status(sleeps, "cancelled")


def test_keys_sort_filter_and_scroll():
    mine = [f"{next(names)}-{i}" for i in range(70)]  # a tick has 50
    for i, name in enumerate(mine):
        expect(200, server, "POST", "/jobs/batch", {"jobs": [{"command": "true", "queue": name}] * (i + 1)})
    with Terminal(server, *FAST) as shown:
        def first_queue():
            lines = shown.screen.lines
            at = next((i for i, line in enumerate(lines) if line.startswith("QUEUE")), None)
            return None if at is None else lines[at + 1].split(" ")[0]
        shown.wait(lambda lines: first_queue() == mine[-1] and " of " not in lines[-1], "the fullest of all queues first")
        shown.type("r")
        shown.wait_for_text("(load, reversed)")
        shown.type("r\x1b[B\x1b[B")
        shown.wait(lambda _: first_queue() == mine[-3], "the third queue")
        shown.type("\x1b[6~" * 20 + "k")  # behind the end there is nothing to come back from
        shown.wait(lambda lines: not line_of(lines, mine[0] + " ") and line_of(lines, mine[1] + " "), "all but the last")
        shown.type("gS")
        shown.wait(lambda _: first_queue() == sorted(mine)[0], "queues by name")
        shown.type("/" + mine[7] + "x\x7f")
        shown.wait_for_text(f"filter: {mine[7]}_")
        shown.wait(lambda _: first_queue() == mine[7], "the queue that fits")
        shown.type("\r")
        shown.wait_for_text(f"/ filter: {mine[7]}")
        shown.type("\x1b[B" * 400 + "r")  # more than is read at once: none is taken for Escape
        shown.wait_for_text(f"(name, reversed)  r reverse  / filter: {mine[7]}")
        shown.type("r")
        shown.type("?")
        shown.wait_for_text("Escape")
        shown.type("?\x1b")
        shown.wait(lambda _: first_queue() == sorted(mine)[0], "all queues again")
        shown.type("\x03")
        assert shown.end() == 0 and shown.is_restored()


def test_the_terminal_is_restored_whatever_ends_it():
    for how in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGABRT, signal.SIGQUIT):
        with Terminal(server, *FAST) as shown:
            shown.wait_for_text("q quit")
            assert not shown.is_restored()
            shown.process.send_signal(how)
            assert shown.end() == (0 if how == signal.SIGINT else -how)
            assert shown.is_restored(), how


def test_it_can_be_suspended():
    with Terminal(server, *FAST) as shown:
        stat = f"/proc/{shown.process.pid}/stat"
        def stands():
            shown.read(0)
            return open(stat).read().rsplit(") ", 1)[1][0] == "T"
        for stop in (lambda: shown.type("\x1a"), lambda: shown.process.send_signal(signal.SIGTSTP)):
            shown.wait_for_text("q quit")
            stop()
            wait_for(stands, "it to stand")
            while shown.read(0):
                pass
            assert shown.is_restored()
            shown.process.send_signal(signal.SIGCONT)
            shown.wait(lambda _: shown.screen.modes["?1049"], "its own screen")
        shown.type("q")
        assert shown.end() == 0 and shown.is_restored()


def test_a_server_that_goes_is_told_and_found_again():
    with Server("--no-worker") as own:
        submit(own, queue="stays")
        with Terminal(own, *FAST) as shown:
            shown.wait(lambda lines: line_of(lines, "stays "), "a queue")
            own.kill()
            shown.wait_for_text("LOST THE SERVER")
            assert line_of(shown.screen.lines, "stays "), "what was known must stay"
            own.start()
            shown.wait(lambda lines: "LOST" not in lines[0] and "UTC" in lines[0], "the server again")
            submit(own, queue="new")
            shown.wait(lambda lines: line_of(lines, "new "), "news")
            shown.type("q")
            assert shown.end() == 0 and shown.is_restored()


def test_a_server_that_says_nothing_is_lost_too():
    with Server("--no-worker") as own:
        with Terminal(own, *FAST, env={"BELFRY_STREAM_IDLE": "2s"}) as shown:
            shown.wait_for_text("q quit")
            own.process.send_signal(signal.SIGSTOP)
            shown.wait_for_text("LOST THE SERVER")
            own.process.send_signal(signal.SIGCONT)
            shown.wait(lambda lines: "LOST" not in lines[0] and "UTC" in lines[0], "the server again")
            shown.type("q")
            assert shown.end() == 0


def test_a_resize_is_followed():
    with Terminal(server, *FAST, rows=24, cols=80) as shown:
        shown.wait_for_text("q quit")
        for rows, cols in ((50, 160), (10, 40), (3, 20), (24, 80)):
            shown.size(rows, cols)
            if rows > 5:
                shown.wait(lambda lines: lines[-1].startswith("q quit") and "belfry top" in lines[0],
                           f"{rows} rows")
            else:
                shown.wait(lambda lines: "belfry top" in lines[0], f"{rows} rows")
        assert shown.screen.scrolled == 0
        shown.type("q")
        assert shown.end() == 0


def test_a_terminal_that_takes_nothing_does_not_hold_it():
    with Terminal(server, *FAST, rows=300, cols=500) as shown:
        shown.wait_for_text("q quit")
        for _ in range(50):
            shown.type("rs")  # each a screen
        shown.process.send_signal(signal.SIGTERM)
        assert shown.process.wait(PATIENCE_S) == -signal.SIGTERM  # nobody has read


def test_hostile_texts_cannot_break_the_screen():
    hostile = ("\x1b[2J\x1b]0;pwned\x07\r\n", "\u90ae\u4ef6" * 60, "a\u0301\u0302" * 20, "\u202eexe.cod",
               "\u009b31m", "x" * 200)
    worker = Worker(server, slots=1, queues=["hostile"], handlers=[f"h{i}" for i in range(len(hostile))])
    for i, text in enumerate(hostile):
        for body in ({"queue": text}, {"name": text}):  # some of them are refused
            server.api("POST", "/jobs", {"command": ["true"], **body})
        submit(server, queue="hostile", handler=f"h{i}", retry={"max_retries": 0})
        assert worker.finish(*worker.take(), "failed", error=text + " told")
    with Terminal(server, *FAST, rows=40) as shown:
        def told(lines):
            return sum(line.startswith("exec_") for line in lines) >= len(hostile)
        shown.wait(told, "the failures")
        assert any("\u90ae\u4ef6" in line for line in shown.screen.lines)
        assert shown.screen.scrolled == 0 and len(shown.screen.lines) == 40
        assert b"\x1b]" not in shown.raw and b"\x07" not in shown.raw
        shown.type("q")
        assert shown.end() == 0


def test_without_colours_nothing_is_coloured():
    for env, coloured in (({"NO_COLOR": "1"}, False), ({}, True)):
        with Terminal(server, *FAST, env=env) as shown:
            shown.wait_for_text("q quit")
            shown.type("q")
            assert shown.end() == 0
            assert (b"\x1b[7m" in shown.raw) == coloured


def test_without_a_terminal_it_is_printed_once():
    queue = next(names)
    submit(server, queue=queue)
    done = server.cli("top")
    assert done.returncode == 0 and "\x1b" not in done.stdout, done
    assert f"\n{queue} " in done.stdout and "NEWEST FAILURES" in done.stdout and "q quit" not in done.stdout
    told = json.loads(server.cli("top", "-o", "json").stdout)
    assert set(told) == {"stats", "running", "failures", "workers", "cluster", "series"}
    with Terminal(server, "top", env={"TERM": "dumb"}) as shown:
        assert shown.end() == 0 and b"\x1b" not in shown.raw and b"NEWEST FAILURES" in shown.raw
    for wrong in (("--interval", "1ms"), ("--interval", "soon"), ("word",)):
        assert server.cli("top", *wrong).returncode == 2
    assert server.cli("top", "--url", "http://127.0.0.1:1").returncode == 5


def test_a_cluster_is_shown_with_its_servers():
    with Postgres() as postgres, Cluster(postgres, 2, "--no-worker") as nodes:
        worker = Worker(nodes[0], slots=4, handlers=["h"])
        with Terminal(nodes[1], *FAST, rows=40, cols=120) as shown:
            shown.wait(lambda lines: line_of(lines, "SERVER "), "the servers")
            shown.wait_for_text("a 8  b 8")
            shown.wait_for_text(worker.id)
            nodes[0].kill()
            shown.wait_for_text("silent")
            shown.type("q")
            assert shown.end() == 0


if __name__ == "__main__":
    main(tests_of(globals()), server)
