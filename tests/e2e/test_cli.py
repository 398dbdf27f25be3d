"""Every subcommand against a real server: what it prints, and what it exits with."""

import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import tempfile

from belfry import BELFRY, PATIENCE_S, ROOT, Server, Stopwatch, main, tests_of, wait_for

NOWHERE = "http://127.0.0.1:1"  # nobody listens on port 1
JOB_COMMANDS = ("explain {}", "pause {}", "resume {}", "trigger {}", "history {}", "rollback {} 1", "slots {}",
                "graph {}", "extend-sla {} --by 1h --reason r --approver a")
COMMANDS = ("executions", "queues", "queues delete q", "teams", "calendars", "breakers", "workers", "cordon w",
            "alerts", "ack a", "silence k --for 1h --reason r", "silences", "operations", "dead-letters",
            "dead-letters fingerprints", "rejected", "plan", "series depth", "scaling q", "stats", "stats --blockers",
            "events", "top", "settings", "diagnostics", "me", "nodes", "nodes --takeovers", "cancel --all --yes")
JOB_ID = re.compile(r"^job_[0-9a-z]{13}\n$")

server = Server()  # one for all tests; those that break it start their own


def run(*args, **kwargs):
    return server.cli(*args, **kwargs)


def listed_jobs(*args):
    """The ids that `belfry jobs` lists."""
    done = run("jobs", "-o", "json", *args)
    assert done.returncode == 0, done.stderr
    return [job["job_id"] for job in json.loads(done.stdout)["jobs"]]


def on_terminal(*args, columns, env=None):
    """What a command prints to a terminal of this width."""
    main_fd, terminal_fd = pty.openpty()
    child = subprocess.Popen([BELFRY, *args], stdout=terminal_fd, stdin=subprocess.DEVNULL,
                             env={**server.env, "COLUMNS": str(columns), **(env or {})})
    os.close(terminal_fd)
    output = b""
    while select.select([main_fd], [], [], PATIENCE_S)[0]:
        try:
            piece = os.read(main_fd, 65536)
        except OSError:  # how Linux says that the other end is closed
            break
        if not piece:
            break
        output += piece
    os.close(main_fd)
    assert child.wait(PATIENCE_S) == 0
    return output.decode().replace("\r\n", "\n")


def test_submit_prints_the_id_alone():
    done = run("submit", "--", "true")
    assert done.returncode == 0, done.stderr
    assert JOB_ID.match(done.stdout), done.stdout
    assert done.stderr == ""


def test_submit_asks_for_no_retries_unless_told():
    assert server.job(server.submit("--", "true"))["retry"]["max_retries"] == 0
    assert server.job(server.submit("--retries", "2", "--", "true"))["retry"]["max_retries"] == 2


def test_submit_options_become_the_job():
    job = server.job(server.submit(
        "--name", "cli-options", "--queue", "mail", "--priority", "7", "--in=1h", "--timeout", "5m",
        "--env", "A=1", "--env", "B=x=y", "--tag", "team=a", "--payload", '{"n": [1, 2]}',
        "--working-dir", "/tmp", "--", "sleep", "--", "-1"))
    assert job["name"] == "cli-options" and job["queue"] == "mail" and job["priority"] == 7
    assert job["command"] == ["sleep", "--", "-1"] and job["working_dir"] == "/tmp"
    assert job["env"] == {"A": "1", "B": "x=y"} and job["tags"] == {"team": "a"}
    assert job["payload"] == {"n": [1, 2]} and job["next_run_at"] is not None


def test_a_payload_may_come_from_a_file():
    path = server.dir / "payload.json"
    path.write_text('{"from": "file"}\n')
    done = run("submit", "--wait", "--payload", f"@{path}", "--", "cat")
    assert json.loads(done.stdout) == {"from": "file"}, done
    assert run("submit", "--payload", "@/nowhere", "--", "cat").returncode == 1
    assert run("submit", "--payload", "{", "--", "cat").returncode == 2


def test_submit_json_prints_the_answer():
    answer = json.loads(run("submit", "-o", "json", "--", "true").stdout)
    assert answer["job_id"].startswith("job_") and answer["execution_id"].startswith("exec_")


def test_waiting_streams_the_output_and_nothing_else():
    done = run("submit", "--wait", "--", "sh", "-c", "echo out; echo err >&2; echo more")
    assert (done.returncode, done.stdout) == (0, "out\nmore\n"), done
    assert done.stderr == "err\n"


def test_waiting_exits_as_the_command_did():
    assert run("submit", "--wait", "--", "sh", "-c", "exit 3").returncode == 3
    assert run("submit", "--wait", "--", "sh", "-c", "exit 255").returncode == 255
    assert run("submit", "--wait", "--", "sh", "-c", "kill -9 $$").returncode == 128 + 9
    assert run("submit", "--wait", "--timeout", "300ms", "--", "sleep", "60").returncode == 124


def test_waiting_for_a_silent_command_ends_with_it():
    with Stopwatch() as watch:
        assert run("submit", "--wait", "--", "true").returncode == 0
    assert watch.elapsed_s < 5  # the server waits 10 s for output that got lost


def test_waiting_for_what_cannot_be_run_ends_as_a_shell_would():
    done = run("submit", "--wait", "--", "/no/such/program")
    assert done.returncode == 127 and done.stdout == "" and "failed" in done.stderr, done
    done = run("submit", "--wait", "--", "/etc/passwd")
    assert done.returncode == 126 and done.stdout == "" and "failed" in done.stderr, done


def test_waiting_with_json_prints_the_finished_execution():
    done = run("submit", "--wait", "-o", "json", "--", "sh", "-c", "echo hidden; exit 4")
    execution = json.loads(done.stdout)
    assert done.returncode == 4 and execution["status"] == "failed"
    assert execution["attempts"][0]["exit_code"] == 4


def test_cancelling_ends_a_wait():
    waiting = subprocess.Popen(
        [BELFRY, "submit", "--wait", "--name", "cli-cancelled", "--", "sh", "-c",
         "echo begun; exec sleep 60"],
        env=server.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert waiting.stdout.readline() == "begun\n"
    [job_id] = listed_jobs("--name", "cli-cancelled")
    done = run("cancel", job_id)
    assert done.returncode == 0 and done.stdout.startswith(job_id), done
    rest = waiting.communicate(timeout=PATIENCE_S)
    assert waiting.returncode == 1 and rest[0] == "" and "cancelled" in rest[1], rest


def test_a_document_may_come_from_a_file_or_a_pipe():
    path = server.dir / "job.json"
    path.write_text('{\n  "command": ["echo", "from file"]\n}\n')
    done = run("submit", "--wait", "-f", str(path))
    assert (done.returncode, done.stdout) == (0, "from file\n"), done
    assert JOB_ID.match(run("submit", "-f", "-", stdin='{"command": "true"}').stdout)


def test_a_bad_document_is_a_failure_and_not_usage():
    done = run("submit", "-f", "-", stdin='{"command": "true", "priority": 5000, "colour": 1}')
    assert done.returncode == 1 and done.stdout == ""
    assert "priority" in done.stderr and "colour" in done.stderr, done.stderr
    assert "belfry help" not in done.stderr
    done = run("submit", "-f", "-", stdin='{\n"command": "true"')
    assert done.returncode == 1 and "line" in done.stderr, done.stderr
    assert run("submit", "-f", "/no/such/file").returncode == 1
    assert run("submit", "-f", "-", "--name", "x", stdin="{}").returncode == 2
    assert run("submit", "-f", "-", "--team", "x", stdin="{}").returncode == 2


def test_one_document_per_line_submits_many():
    lines = ['{"command": "true", "name": "nd-%d"}' % i for i in range(1500)]
    done = run("submit", "-f", "-", stdin="\n".join(lines) + "\n\n")
    assert done.returncode == 0, done.stderr
    ids = done.stdout.split()
    assert len(ids) == 1500 and len(set(ids)) == 1500
    assert server.job(ids[0])["name"] == "nd-0" and server.job(ids[-1])["name"] == "nd-1499"


def test_bad_lines_are_named_and_cost_the_others_nothing():
    good = '{"command": "true"}\n'
    lines = good + 'not json\n\n{"command": "true", "priority": -1}\n' + good
    done = run("submit", "-f", "-", stdin=lines)
    assert done.returncode == 1 and len(done.stdout.split()) == 2, done
    assert "line 2: " in done.stderr and "line 4: " in done.stderr, done.stderr
    assert "line 1: " not in done.stderr and "line 5: " not in done.stderr
    assert run("submit", "--wait", "-f", "-", stdin=lines).returncode == 2
    done = run("submit", "-f", "-", stdin="not json\n" + good)
    assert done.returncode == 1 and len(done.stdout.split()) == 1, done


def test_options_that_make_no_sense_are_usage():
    for line in ("submit", "submit --", "submit ls", "submit --nope -- ls", "submit --env A -- ls",
                 "submit --at x --in 1s -- ls", "submit --priority many -- ls",
                 "submit --handler h -- ls", "submit --tag a=1 --tag a=2 -- ls", "jobs extra",
                 "jobs -o xml", "jobs --limit 0", "jobs --owner a --owner b",
                 "executions --job a --job b", "jobs --name a --name b", "show",
                 "show a b", "cancel --reason", "worker --slots 0", "server --listen nowhere", "server --set x=1"):
        args = line.split()
        done = run(*args)
        assert done.returncode == 2 and done.stdout == "", (args, done)
        assert f"try 'belfry help {args[0]}'" in done.stderr, (args, done.stderr)


def test_promised_options_say_that_they_come_later():
    for line in ("worker --label a=b", "doctor"):
        done = run(*line.split())
        assert done.returncode == 2, (line, done)
        assert "not supported by this version yet" in done.stderr, (line, done)


def test_what_the_server_refuses_is_told_in_its_words():
    done = run("submit", "--priority", "5000", "--timeout", "soon", "--", "ls")
    assert done.returncode == 2 and done.stdout == ""
    assert "priority" in done.stderr and "timeout" in done.stderr, done.stderr


def test_an_unknown_command_is_usage():
    done = run("florb")
    assert done.returncode == 2 and "unknown command 'florb'" in done.stderr


def test_what_is_not_there_is_not_found():
    for command in ("show", "logs", "logs -f", "cancel", "retry"):
        for name in ("job_0000000000001", "exec_0000000000001", "nonsense"):
            done = run(*command.split(), name)
            assert (done.returncode, done.stdout) == (3, "") and name in done.stderr, (command, done)
    for command in JOB_COMMANDS:
        done = run(*command.format("no-such-job").split())
        assert (done.returncode, done.stdout) == (3, ""), (command, done)
        assert "no-such-job" in done.stderr, (command, done)


def test_a_wrong_key_is_denied():
    for args in (["jobs"], ["submit", "--", "true"], ["workers", "-o", "json"]):
        assert run(*args, env={"BELFRY_TOKEN": "wrong"}).returncode == 4
    worker_key = str(server.data / "worker.key")
    assert run("jobs", "--token-file", worker_key).returncode == 4
    done = run("jobs", env={"BELFRY_DATA": "/nowhere"})
    assert done.returncode == 4 and "no key" in done.stderr, done
    assert run("jobs", "--token-file", "/nowhere").returncode == 2


def test_a_server_that_is_not_there_is_named():
    for line in ("jobs", "submit -- true", "show job_0000000000001", "logs -f exec_0000000000001"):
        command, *rest = line.split()
        done = run(command, "--url", NOWHERE, *rest)
        assert (done.returncode, done.stdout) == (5, ""), done
        assert f"cannot reach {NOWHERE}: is `belfry server` running?" in done.stderr, done.stderr
    for command in (*JOB_COMMANDS, *COMMANDS):
        done = run(*command.format("some-job").split(), "--url", NOWHERE)
        assert (done.returncode, done.stdout) == (5, ""), (command, done)


def test_jobs_are_listed_newest_first_and_filtered():
    ids = [server.submit("--name", f"list-{i}", "--queue", "listed", "--tag", f"i={i}",
                         "--in", "1h", "--", "true") for i in range(5)]
    assert listed_jobs("--queue", "listed") == ids[::-1]
    assert listed_jobs("--queue", "listed", "--limit", "2") == ids[:2:-1]
    assert listed_jobs("--name", "list-3") == [ids[3]]
    assert listed_jobs("--tag", "i=2") == [ids[2]]
    assert listed_jobs("--queue", "listed", "--status", "completed") == []
    assert listed_jobs("--queue", "listed", "--owner", "admin") == ids[::-1]
    table = run("jobs", "--queue", "listed").stdout.splitlines()
    assert table[0].split()[:3] == ["JOB", "STATUS", "NAME"]
    assert [line.split()[0] for line in table[1:]] == ids[::-1]
    assert run("jobs", "--queue", "nobody-uses-this").stdout == "no jobs\n"


def test_a_list_goes_on_over_many_pages():
    lines = '{"command": "true", "queue": "pages", "schedule": {"delay": "1d"}}\n' * 1203
    ids = run("submit", "-f", "-", stdin=lines).stdout.split()
    assert listed_jobs("--queue", "pages", "--all") == ids[::-1]
    assert listed_jobs("--queue", "pages", "--limit", "1100") == ids[:102:-1]
    assert len(listed_jobs("--queue", "pages")) == 50
    done = run("jobs", "--queue", "pages")
    assert len(done.stdout.splitlines()) == 51, done
    assert done.stderr == "belfry jobs: 50 shown, there are more: --all lists everything\n", done
    assert run("jobs", "--queue", "pages", "--all").stderr == ""
    assert run("jobs", "--queue", "pages", "--limit", "1203").stderr == ""


def test_a_list_as_json_says_where_the_next_page_begins():
    ids = [server.submit("--queue", "cursors", "--in", "1h", "--", "true") for _ in range(3)]
    def listed(*args):
        return json.loads(run("jobs", "--queue", "cursors", "-o", "json", *args).stdout)
    first = listed("--limit", "2")
    status, rest = server.api("GET", f"/jobs?queue=cursors&cursor={first['next_cursor']}")
    assert status == 200 and [job["job_id"] for job in rest["jobs"]] == ids[:1], rest
    assert listed()["next_cursor"] is None and listed("--all")["next_cursor"] is None


def test_executions_are_listed_by_job():
    job_id = server.submit("--", "sh", "-c", "exit 1")
    server.wait_for_status(job_id, "failed")
    answer = json.loads(run("executions", "--job", job_id, "-o", "json").stdout)
    assert [e["status"] for e in answer["executions"]] == ["failed"]
    table = run("executions", "--job", job_id).stdout
    assert "failed" in table and job_id in table
    assert run("executions", "--job", job_id, "--status", "completed").stdout == "no executions\n"


def test_workers_are_listed():
    workers = wait_for(lambda: json.loads(run("workers", "-o", "json").stdout)["workers"],
                       "the worker inside the server")
    assert workers[0]["worker_id"].startswith("wrk_")
    assert run("workers").stdout.startswith("WORKER")


def test_tables_fit_the_terminal():
    server.submit("--name", "a-name-that-is-much-longer-than-any-terminal-is-wide-" + "x" * 60,
                  "--queue", "wide", "--", "echo", "y" * 200)
    assert run("queues", "pause", "a-long-queue-" + "q" * 80).returncode == 0
    for args in (["jobs", "--queue", "wide"], ["executions"], ["workers"], ["queues"]):
        for columns in (60, 80, 100):
            lines = on_terminal(*args, columns=columns, env={"NO_COLOR": "1"}).splitlines()
            assert len(lines) >= 2 and max(map(len, lines)) <= columns, (args, columns, lines)
    assert "…" in on_terminal("jobs", "--queue", "wide", columns=60)
    assert "…" not in run("jobs", "--queue", "wide", env={"COLUMNS": "60"}).stdout


def test_colours_are_for_terminals_that_want_them():
    job_id = server.submit("--queue", "coloured", "--", "true")
    server.wait_for_status(job_id, "completed")
    args = ["jobs", "--queue", "coloured"]
    assert "\x1b[32mcompleted\x1b[0m" in on_terminal(*args, columns=80)
    assert "\x1b" not in on_terminal(*args, columns=80, env={"NO_COLOR": "1"})
    assert "\x1b" not in run(*args).stdout


def test_show_tells_all_about_a_job_and_an_execution():
    job_id = server.submit("--name", "shown", "--tag", "a=b", "--", "sh", "-c", "exit 9")
    execution = server.wait_for_status(job_id, "failed")
    page = run("show", job_id).stdout
    for text in (job_id, "shown", "sh -c exit 9", "a=b", execution["execution_id"], "happened"):
        assert text in page, (text, page)
    page = run("show", execution["execution_id"]).stdout
    for text in (execution["execution_id"], job_id, "failed", "attempts", "lease", "exhaust", "9"):
        assert text in page, (text, page)
    assert json.loads(run("show", job_id, "-o", "json").stdout)["job_id"] == job_id
    shown = json.loads(run("show", "-o", "json", execution["execution_id"]).stdout)
    assert shown["attempts"][0]["exit_code"] == 9


def test_logs_are_the_output_of_a_job_or_an_execution():
    job_id = server.submit("--", "sh", "-c", "echo to out; echo to err >&2")
    execution = server.wait_for_status(job_id, "completed")
    for name in (job_id, execution["execution_id"]):
        done = run("logs", name)
        assert sorted(done.stdout.splitlines()) == ["to err", "to out"], done
    assert run("logs", job_id, "--stream", "stderr").stdout == "to err\n"
    assert run("logs", job_id, "--attempt", "2").stdout == ""
    line = json.loads(run("logs", job_id, "--stream", "stdout", "-o", "json").stdout)
    assert (line["attempt"], line["stream"], line["text"]) == (1, "stdout", "to out"), line
    assert run("logs", job_id, "--stream", "stdout", "--tail", "1").stdout == "to out\n"
    done = run("logs", job_id, "--runs", "3", "--stream", "stderr")
    assert done.stdout == f"==> {execution['execution_id']} <==\nto err\n", done
    assert run("logs", job_id, "--runs", "3", "-f").returncode == 2
    assert run("logs", execution["execution_id"], "--runs", "3").returncode == 2


def test_logs_are_given_byte_by_byte_as_they_were_printed():
    job_id = server.submit("--", "sh", "-c", r"printf 'a\377b\001'")
    server.wait_for_status(job_id, "completed")
    done = subprocess.run([BELFRY, "logs", job_id], env=server.env, capture_output=True,
                          timeout=PATIENCE_S, check=False)
    assert done.stdout == b"a\xffb\x01", done


def test_following_prints_as_it_happens_and_ends_with_the_execution():
    gate = server.dir / "follow-gate"
    job_id = server.submit("--", "sh", "-c",
                           f"echo one; while ! [ -e {gate} ]; do sleep 0.05; done; echo two >&2")
    following = subprocess.Popen([BELFRY, "logs", "-f", job_id], env=server.env, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert following.stdout.readline() == "one\n"
    gate.touch()
    rest = following.communicate(timeout=PATIENCE_S)
    assert following.returncode == 0 and rest == ("", "two\n"), rest
    done = run("logs", "-f", job_id, "-o", "json")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(e["stream"], e["text"]) for e in events] == [("stdout", "one"), ("stderr", "two")]
    assert run("logs", "-f", job_id, "--tail", "1").stderr == "two\n"


def start_deaf_to_sigpipe(*words, **streams):
    # As Python itself ignores SIGPIPE, and does not restore it here: a write fails with EPIPE.
    return subprocess.Popen([BELFRY, *words], env=server.env, restore_signals=False, **streams)


def test_following_ends_when_the_reader_of_its_output_is_gone():
    gate = server.dir / "reader-gate"
    endless = f"while ! [ -e {gate} ]; do echo out; echo err >&2; sleep 0.1; done"
    job_id = server.submit("--", "sh", "-c", endless)
    for words in (["logs", "-f", job_id], ["logs", "-f", job_id, "-o", "json"]):
        following = start_deaf_to_sigpipe(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert following.stdout.readline(), "it prints"
        following.stdout.close()
        following.wait(timeout=PATIENCE_S)
        assert following.returncode == 1, following.returncode
        assert b"cannot write: Broken pipe" in following.stderr.read()
        following.stderr.close()
    following = start_deaf_to_sigpipe("logs", "-f", job_id, "--stream", "stderr",
                                      stderr=subprocess.PIPE)
    assert following.stderr.readline() == b"err\n"
    following.stderr.close()
    assert following.wait(timeout=PATIENCE_S) == 1
    waiting = start_deaf_to_sigpipe("submit", "--wait", "--", "sh", "-c", endless,
                                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert waiting.stdout.readline() == b"out\n"
    waiting.stdout.close()
    assert waiting.wait(timeout=PATIENCE_S) == 1
    gate.touch()


def test_following_a_server_that_vanished_without_a_word_does_not_hang():
    # Stopped, it keeps its connections and says nothing: as a machine without power does.
    with Server() as own:
        job_id = own.submit("--", "sh", "-c", "echo first; sleep 1; echo last")
        following = subprocess.Popen([BELFRY, "logs", "-f", job_id], stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, text=True,
                                     env={**own.env, "BELFRY_STREAM_IDLE": "500ms"})
        assert following.stdout.readline() == "first\n"
        own.process.send_signal(signal.SIGSTOP)
        assert "lost the server" in following.stderr.readline()
        own.process.send_signal(signal.SIGCONT)
        rest, _ = following.communicate(timeout=PATIENCE_S)
        assert following.returncode == 0 and rest == "last\n", (following.returncode, rest)


def test_an_execution_is_cancelled_with_a_reason():
    job_id = server.submit("--in", "1h", "--", "true")
    execution = server.newest_execution(job_id)
    done = run("cancel", execution["execution_id"], "--reason", "not today")
    assert (done.returncode, done.stdout) == (0, f"{execution['execution_id']} cancelled\n"), done
    assert "not today" in run("show", execution["execution_id"]).stdout
    done = run("cancel", execution["execution_id"])
    assert done.returncode == 1 and done.stderr != "", done
    assert run("cancel", job_id, "--reason", "x").returncode == 2


def test_a_finished_execution_runs_again():
    job_id = server.submit("--", "sh", "-c", "echo again; exit 6")
    first = server.wait_for_status(job_id, "failed")
    done = run("retry", first["execution_id"])
    assert done.returncode == 0 and re.match(r"^exec_[0-9a-z]{13}\n$", done.stdout), done
    second = server.wait_for_status(job_id, "failed")
    assert second["execution_id"] == done.stdout.strip()
    assert second["retry_of"] == first["execution_id"]
    done = run("retry", job_id, "--wait")
    assert (done.returncode, done.stdout) == (6, "again\n"), done
    assert "retry_of" in json.loads(run("retry", job_id, "-o", "json").stdout)


def test_an_unfinished_execution_cannot_run_again():
    done = run("retry", server.submit("--in", "1h", "--", "true"))
    assert done.returncode == 1 and done.stderr != "", done


def test_version_and_help_need_no_server():
    env = {"BELFRY_URL": NOWHERE}
    assert re.match(r"^belfry \d+\.\d+\.\d+\n$", run("version", env=env).stdout)
    assert "version" in json.loads(run("version", "-o", "json", env=env).stdout)
    overview = run("help", env=env).stdout
    names = re.findall(r"^  ([a-z-]+) ", overview, re.M)
    assert {"server", "worker", "submit", "jobs", "help"} <= set(names), overview
    later = (ROOT / "src/job/later.h").read_text()
    for name in names:
        assert not re.search(rf'["|]{name}["|]', later), f"take {name} out of job/later.h"
        if name != "help":
            page = run("help", name, env=env)
            assert page.returncode == 0 and page.stdout.startswith(f"usage: belfry {name} "), name
            assert run(name, "--help", env=env).stdout == page.stdout
            assert max(map(len, page.stdout.splitlines())) <= 100, page.stdout
    assert "lease_ms" in run("help", "server").stdout
    assert run("help", "florb").returncode == 2


def test_a_wait_survives_the_death_of_the_server():
    with Server() as own:
        gate = own.dir / "gate"
        waiting = subprocess.Popen(
            [BELFRY, "submit", "--wait", "--", "sh", "-c",
             f"echo begun; while ! [ -e {gate} ]; do sleep 0.05; done; echo done; exit 7"],
            env=own.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert waiting.stdout.readline() == "begun\n"
        own.kill()
        gate.touch()
        own.start()
        out, err = waiting.communicate(timeout=2 * PATIENCE_S)
        assert (waiting.returncode, out) == (7, "done\n"), (waiting.returncode, out, err)


def test_a_worker_of_its_own_takes_work_and_drains():
    with Server("--no-worker") as own:
        job_id = own.submit("--", "echo", "from worker")
        worker = subprocess.Popen(
            [BELFRY, "worker", "--server", own.url, "--slots", "2", "--name", "w1"],
            env=own.env, stderr=subprocess.DEVNULL)
        own.wait_for_status(job_id, "completed")
        assert own.cli("logs", job_id).stdout == "from worker\n"
        assert "w1" in own.cli("workers").stdout
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(PATIENCE_S) == 0


def directory_with_config(text):
    directory = pathlib.Path(tempfile.mkdtemp(prefix="belfry-e2e-"))
    (directory / "config.json").write_text(text)
    return directory


def test_settings_come_from_flags_variables_and_a_file():
    config = '{"slots": 3, "lease_ms": "7s", "kill_grace_ms": 1234}'
    with Server("--config", "config.json", "--set", "park_ms=200", env={"BELFRY_LEASE_MS": "9s"},
                cwd=directory_with_config(config)) as own:
        _, worker = own.api("POST", "/workers", {"name": "probe", "slots": 1, "commands": True},
                            key=own.key("worker.key"))
        assert worker["lease_ms"] == 9000 and worker["park_ms"] == 200, worker
        assert worker["kill_grace_ms"] == 1234
        def slots_of_the_worker_inside():
            workers = own.api("GET", "/workers")[1]["workers"]
            return [w["slots"] for w in workers if w["name"] != "probe"]
        assert wait_for(slots_of_the_worker_inside, "the worker inside") == [3]


def test_a_config_file_that_makes_no_sense_is_refused_with_its_line():
    for text, complaint in (('{\n  "slots": 3,\n  "slotz": 4\n}', "line 3: there is no setting called 'slotz'"),
                            ('{\n  "slots": 0}', "line 2: slots must be a number from 1 to"),
                            ('{"slots": 1,\n "slots": 2}', "line 2, column 11: a key stands here twice"),
                            ("slots = 3", "line 1, column 1: expected a value"),
                            ("[]", "a config file holds an object, not an array")):
        directory = directory_with_config(text)
        done = subprocess.run([BELFRY, "server", "--config", "config.json"], cwd=directory, text=True,
                              capture_output=True, timeout=30, check=False)
        shutil.rmtree(directory)
        assert done.returncode == 2 and complaint in done.stderr, (text, done)
        assert "config.json" in done.stderr, done


def test_every_setting_is_in_the_manual():
    lines = run("help", "server").stdout.split("what they mean:\n")[1].splitlines()
    told = [(line[2:26].strip(), line[26:42].strip()) for line in lines]
    manual = (ROOT / "docs" / "operations.md").read_text()
    table = re.findall(r"^\| `(\w+)` \| `?([^`|]*?)`? \| \S.* \|$", manual.split("## Settings")[1], re.M)
    assert told == table[:len(told)] and len(told) > 30, set(told) ^ set(table)


if __name__ == "__main__":
    main(tests_of(globals()), shared=server)
