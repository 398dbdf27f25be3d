"""`belfry import crontab`: what becomes of a crontab, line by line, and whether its jobs then do
what cron would have done."""

import json
import os
import subprocess
import tempfile

from belfry import BELFRY, PATIENCE_S, Server, main, tests_of, wait_for

server = Server()

CRONTAB = r"""# Edit this file to introduce tasks to be run by cron.
#
# m h  dom mon dow   command
MAILTO=ops@example.org
SHELL=/bin/bash
PATH = "/usr/local/bin:/usr/bin:/bin"
HOME=/tmp

# Nightly backup,
# kept for 30 days.
0 3 * * *    /usr/local/bin/backup.sh --full >/dev/null 2>&1
# 15 4 * * *   /usr/local/bin/old.sh
*/5 9-17 * * MON-FRI  cd /srv/app && php artisan schedule:run
@weekly      certbot renew
@hourly      certbot certificates
@reboot      /usr/local/bin/agent
CRON_TZ=America/New_York
30 16 1,15 * 5  mail -s "report $(date +\%F)" boss%Dear boss,%all is well.
61 * * * *   typo
0 0 31 2 *   never
"""


def import_crontab(text, *args):
    return server.cli("import", "crontab", "-", "--tz", "Europe/Berlin", *args, stdin=text)


def documents(text, *args):
    """What a dry run would create."""
    return list(map(json.loads, import_crontab(text, "--dry-run", *args).stdout.splitlines()))


def test_a_crontab_becomes_jobs_and_the_rest_is_named():
    done = import_crontab(CRONTAB, "--prefix", "real")
    assert done.returncode == 1, done
    lines = done.stderr.splitlines()
    assert lines[0].startswith("line 4: MAILTO is not kept: "), done.stderr
    assert lines[1].startswith("line 16: refused: @reboot: "), done.stderr
    assert "`belfry submit`" in lines[1], done.stderr
    assert lines[2] == "line 19: refused: minute: 61 is not between 0 and 59", done.stderr
    assert lines[3].startswith("line 20: refused: day of month: "), done.stderr
    assert lines[4:] == ["created 5, refused 3"], done.stderr
    title, *rows = [line.split() for line in done.stdout.splitlines()]
    assert title[:3] == ["LINE", "JOB", "NAME"], done.stdout
    assert [(row[0], row[2]) for row in rows] == [
        ("11", "real:backup.sh"), ("13", "real:php"), ("14", "real:certbot"),
        ("15", "real:certbot#2"), ("18", "real:mail")], done.stdout
    backup, *_, mail = [server.job(row[1]) for row in rows]
    assert backup["description"] == "Nightly backup,\nkept for 30 days.", backup
    assert backup["command"][:2] == ["/bin/bash", "-c"], backup
    assert backup["env"]["PATH"] == "/usr/local/bin:/usr/bin:/bin", backup
    assert backup["schedule"] == {"cron": "0 3 * * *", "timezone": "Europe/Berlin"}, backup
    assert backup["overlap"] == "parallel" and backup["misfire"]["policy"] == "skip", backup
    assert backup["retry"]["max_retries"] == 0 and backup["working_dir"] == "/tmp", backup
    assert mail["schedule"] == {"cron": "30 16 1,15 * 5", "timezone": "America/New_York"}, mail


def test_the_same_crontab_twice_makes_no_job_twice():
    text = "@daily once\n@daily other\n"
    first = import_crontab(text, "--prefix", "twice", "-o", "json")
    assert first.returncode == 0, first
    made = [json.loads(line) for line in first.stdout.splitlines()]
    assert [(m["line"], m["name"]) for m in made] == [(1, "twice:once"), (2, "twice:other")], made
    again = import_crontab(text + "@daily new\n", "--prefix", "twice")
    assert again.returncode == 1, again
    assert again.stderr.splitlines()[-1] == "created 1, refused 2", again.stderr
    assert again.stderr.startswith("line 1: refused: "), again.stderr
    assert "twice:new" in again.stdout and "twice:once" not in again.stdout, again.stdout


def test_jobs_do_what_cron_did():
    told = server.dir / "told"
    script = rf"""SHELL=/bin/bash
HOME={server.dir}
GREETING="good morning"
TZ=Asia/Tokyo
@every 1s  [[ -n $BASH ]] && (pwd; echo "$GREETING"; date +\%Z; cat) > told.new && mv told.new told%one $HOME%%two `x` 100\% "q" \n
"""
    done = import_crontab(script, "--prefix", "run", "-o", "json")
    assert done.returncode == 0, done
    job = json.loads(done.stdout)["job_id"]
    wait_for(told.exists, "the job to run")
    assert told.read_text() == (
        f"{server.dir}\ngood morning\nJST\none $HOME\n\ntwo `x` 100% \"q\" \\n\n"), told.read_text()
    assert server.cli("cancel", job).returncode == 0


def test_the_exit_code_comes_through_the_shell_that_feeds_input():
    document, = documents("@daily cat; exit 3%hello\n")
    del document["schedule"], document["overlap"], document["misfire"]
    done = server.cli("submit", "-f", "-", "--wait", stdin=json.dumps(document))
    assert (done.returncode, done.stdout) == (3, "hello\n"), done


def test_a_dry_run_needs_no_server_and_its_lines_can_be_submitted():
    with tempfile.TemporaryDirectory() as nowhere:
        path = os.path.join(nowhere, "nightly")
        with open(path, "w", encoding="utf-8") as file:
            file.write("@daily a\n@hourly b\n")
        clean = {k: v for k, v in os.environ.items() if not k.startswith("BELFRY_")}
        done = subprocess.run(
            [BELFRY, "import", "crontab", path, "--dry-run"], cwd=nowhere, text=True, check=False,
            capture_output=True, timeout=PATIENCE_S, env={**clean, "BELFRY_URL": "http://127.0.0.1:1"})
    assert (done.returncode, done.stderr) == (0, "would create 2, refused 0\n"), done
    assert [json.loads(line)["name"] for line in done.stdout.splitlines()] == [
        "nightly:a", "nightly:b"], done.stdout
    made = server.cli("submit", "-f", "-", stdin=done.stdout)
    assert made.returncode == 0 and len(made.stdout.splitlines()) == 2, made


def test_a_system_crontab_has_a_column_for_the_user():
    text = "17 * * * * root cd / && run-parts /etc/cron.hourly\n@daily www-data clean\n"
    done = import_crontab(text, "--system", "--dry-run")
    assert done.returncode == 0, done
    assert [line[:15] for line in done.stderr.splitlines()[:2]] == [
        "line 1: 'root' ", "line 2: 'www-da"], done.stderr
    assert [d["command"][2] for d in map(json.loads, done.stdout.splitlines())] == [
        "cd / && run-parts /etc/cron.hourly", "clean"], done.stdout


def test_what_the_server_refuses_has_its_line_too():
    done = import_crontab("@daily fine\nCRON_TZ=Mars/Olympus\n@daily lost\n", "--prefix", "mars")
    assert done.returncode == 1, done
    assert "line 3: refused: " in done.stderr and "Mars/Olympus" in done.stderr, done.stderr
    assert done.stderr.endswith("created 1, refused 1\n"), done.stderr


def test_reboot_is_refused_by_the_api_with_the_same_words():
    status, problem = server.api("POST", "/jobs", {
        "command": ["true"], "schedule": {"cron": "@reboot"}})
    assert status == 400 and problem["errors"][0]["field"] == "schedule.cron", problem
    assert "`belfry submit`" in problem["errors"][0]["message"], problem


def test_wrong_use_is_told():
    for args in ([], ["crontab"], ["calendar", "x"], ["crontab", "a", "b"]):
        done = server.cli("import", *args)
        assert done.returncode == 2 and "crontab" in done.stderr, done
    done = server.cli("import", "crontab", "/nonexistent")
    assert done.returncode == 1 and "/nonexistent" in done.stderr, done


main(tests_of(globals()), server)
