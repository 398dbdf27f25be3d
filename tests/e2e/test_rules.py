"""deploy/: rules and dashboards name what there is, each alert has a case and a paragraph, and one arrives through
Prometheus and Alertmanager as they are."""

import contextlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from belfry import BELFRY, PATIENCE_S, ROOT, Server, free_port, main, tests_of, wait_for
from promql import GRAFANA, PROMETHEUS, RULE_FILES, TARGET, Query, dashboards, panel_queries, rules
from protocol import Worker, call, expect, submit
from webhook import Receiver

CASES = ROOT / "tests" / "prometheus"
RUNBOOK = ROOT / "docs" / "runbook.md"
# Labels whose values are words of the program; those of the others are names that users give.
FIXED = {"kind", "state", "why", "class", "file", "phase", "outcome", "le", "label"}
COMMON = {"up": set()}  # what Prometheus makes itself


def documented():
    """{metric: its labels}, of the table that the program prints; histograms by their three series."""
    table = subprocess.run([BELFRY, "docs", "metrics"], capture_output=True, text=True, check=True).stdout
    found = dict(COMMON)
    for line in table.splitlines()[2:]:
        name, kind, labels = [cell.strip() for cell in line.strip("|").split("|")][:3]
        name = name.strip("`")
        name = name if name.startswith("process_") else "belfry_" + name
        labels = {label.strip() for label in labels.split(",") if label.strip()}
        if kind == "histogram":
            found.update({name + "_sum": labels, name + "_count": labels, name + "_bucket": labels | {"le"}})
        else:
            found[name] = labels
    assert len(found) > 80 and found["belfry_queue_depth"] == {"queue"}, found
    return found


def labels_of(query, known):
    """What the result of a query is told apart by, at most."""
    found = set(TARGET).union(*(known[name] for name, _ in query.metrics))
    found -= query.lists.get("without", set())
    return found & query.lists["by"] if "by" in query.lists else found


def with_records(known):
    known = dict(known)
    for rule in rules():
        if rule.kind == "record":
            query = rule.query()
            check_names(rule.where, query, known)
            known[rule.name] = labels_of(query, known) - ({"le"} if "histogram_quantile" in query.text else set())
    return known


def check_names(where, query, known):
    own = set(TARGET)
    for name, matchers in query.metrics:
        assert name in known, f"{where}: no metric {name}"
        own |= known[name]
        for label, _, _ in matchers:
            assert label in known[name] | TARGET, f"{where}: {name} has no label {label}"
    for label in set().union(*query.lists.values()):
        assert label in own, f"{where}: nothing in it has a label {label}"


# ---- names

def test_the_reader_of_queries_finds_what_does_not_exist():
    known = {"a_total": {"queue"}, "b": set()}
    check_names("good", Query('sum by (queue) (rate(a_total{queue=~"x|y",job="z"}[5m])) / on (job) b > 0.5 * 1'), known)
    for bad in ("c", 'a_total{team="x"}', "sum by (team) (a_total)", "sum without (le) (b)", "avg(b) + c_total > 1"):
        try:
            check_names("bad", Query(bad), known)
        except AssertionError:
            continue
        raise AssertionError(f"nothing was found wrong with {bad}")


def test_rules_name_metrics_and_labels_that_exist():
    known = with_records(documented())
    found = rules()
    assert sum(rule.kind == "alert" for rule in found) > 40
    assert len({rule.name for rule in found}) == len(found)
    for rule in found:
        check_names(rule.where, rule.query(), known)
        shown = labels_of(rule.query(), known)
        for text in (rule.fields.get("summary", ""), rule.fields.get("description", "")):
            for label in re.findall(r"\$labels\.(\w+)", text):
                assert label in shown, f"{rule.where}: {label} is not among {shown}"


def test_dashboards_name_metrics_and_labels_that_exist():
    known = with_records(documented())
    assert set(dashboards()) == {f"belfry-{name}.json"
                                 for name in ("overview", "queues", "workers", "cluster", "database")}
    for where, text in panel_queries():
        check_names(where, Query(text), known)
    for name, board in dashboards().items():
        for variable in board["templating"]["list"]:
            match = re.fullmatch(r"label_values\((\w+), (\w+)\)", variable.get("query", ""))
            assert variable["type"] == "datasource" or match[2] in known[match[1]] | TARGET, (name, variable)


def test_words_in_queries_are_words_of_the_program():
    with Server("--no-worker") as own:
        submit(own, handler="h")
        worker = Worker(own, slots=1, handlers=["h"])
        assert worker.finish(worker.take(1)[0])
        wait_for(lambda: 'handler_attempts_total{handler="h"' in call(own, "GET", "/metrics").body.decode(), "the run")
        text = call(own, "GET", "/metrics").body.decode()
    words = {}  # (metric, label): values
    for name, inner in re.findall(r"^(\w+)\{(.*)\} ", text, re.MULTILINE):
        for label, value in re.findall(r'(\w+)="([^"]*)"', inner):
            words.setdefault((name, label), set()).add(value)
    looked_at = 0
    queries = [(rule.where, rule.query()) for rule in rules()]
    queries += [(where, Query(text)) for where, text in panel_queries()]
    for where, query in queries:
        for name, matchers in query.metrics:
            for label, sign, value in matchers:
                if label not in FIXED:
                    continue
                for word in value.split("|") if "~" in sign else [value]:
                    assert word in words[name, label], f"{where}: {label} of {name} is never {word}"
                    looked_at += 1
    assert looked_at >= 15


# ---- what belongs to an alert

def test_each_alert_has_a_case_and_a_paragraph():
    cases = "".join(path.read_text() for path in sorted(CASES.glob("*_test.yml")))
    headings = re.findall(r"^### (\w+)\n\n\S", RUNBOOK.read_text(), re.MULTILINE)
    alerts = [rule for rule in rules() if rule.kind == "alert"]
    for rule in alerts:
        assert f'alertname="{rule.name}"' in cases, f"no case of {rule.name} in tests/prometheus"
        assert rule.fields["runbook"] == f"docs/runbook.md#{rule.name.lower()}", rule.where
        assert rule.fields["severity"] in ("critical", "warning", "info"), rule.where
        assert rule.fields["summary"] and rule.fields["description"], rule.where
    assert headings == [rule.name for rule in alerts], set(headings) ^ {rule.name for rule in alerts}
    for rule in rules():  # what an alert goes by has its cases
        used = any(rule.name in alert.fields["expr"] for alert in alerts)
        assert rule.kind == "alert" or used or f"expr: {rule.name}" in cases, f"no case of {rule.name}"


def test_the_runbook_names_commands_settings_and_metrics_that_exist():
    text = " ".join(RUNBOOK.read_text().split())
    commands = re.findall(r"`belfry ([a-z-]+)([^`]*)`", text)
    assert len({command for command, _ in commands}) > 10
    for command, arguments in commands:
        page = subprocess.run([BELFRY, "help", command], capture_output=True, text=True, check=False)
        assert page.returncode == 0, command
        for flag in re.findall(r"--[a-z-]+", arguments):
            assert f" {flag} " in page.stdout, f"belfry {command} has no {flag}"
    settings = subprocess.run([BELFRY, "docs", "settings"], capture_output=True, text=True, check=True).stdout
    known = with_records(documented())
    for code in re.findall(r"`([^`]+)`", text):
        if re.fullmatch(r"belfry_\w+|(topk|sum|rate|up\{).*", code):
            check_names(code, Query(code), known) if code != "belfry_" else None
        elif re.fullmatch(r"[a-z]+(_[a-z]+)+", code):
            assert f"`{code}`" in settings, f"no setting {code}"


# ---- dashboards

def test_dashboards_are_what_their_script_prints():
    done = subprocess.run([sys.executable, str(GRAFANA / "dashboards.py"), "check"], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stdout + done.stderr


# ---- the programs themselves (packages prometheus and prometheus-alertmanager)

def installed(*programs):
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        print(f"left out: {' and '.join(missing)} not installed (scripts/deps test)")
    return not missing


def test_promtool_accepts_rules_and_all_cases_hold():
    if not installed("promtool"):
        return
    for command in (["check", "rules", *map(str, RULE_FILES)],
                    ["test", "rules", *map(str, sorted(CASES.glob("*_test.yml")))]):
        done = subprocess.run(["promtool", *command], capture_output=True, text=True, check=False)
        assert done.returncode == 0 and "SUCCESS" in done.stdout, done.stdout + done.stderr


class Watch:
    """Prometheus and Alertmanager with the files of deploy/, of which only addresses and times are changed."""

    def __init__(self, server, webhook):
        self.dir = Path(tempfile.mkdtemp(prefix="belfry-watch-"))
        self.ports, self.processes = (free_port(), free_port()), []
        for path in PROMETHEUS.glob("*.yml"):
            text = path.read_text()
            for old, new in (("127.0.0.1:7420", f"127.0.0.1:{server.port}"), ("127.0.0.1:9093", f"127.0.0.1:{self.ports[1]}"),
                             ("interval: 15s", "interval: 1s"), ("group_wait: 1m", "group_wait: 0s"),
                             ("http://127.0.0.1:8080/alerts", webhook)):
                text = text.replace(old, new)
            (self.dir / path.name).write_text(text)
        (self.dir / "belfry.key").write_text(server.key())

    def __enter__(self):
        prometheus, alertmanager = (f"127.0.0.1:{port}" for port in self.ports)
        for command in (
                ["prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=data",
                 f"--web.listen-address={prometheus}"],
                ["prometheus-alertmanager", "--config.file=alertmanager.yml", "--storage.path=alerts",
                 f"--web.listen-address={alertmanager}", "--cluster.listen-address="]):
            with open(self.dir / f"{command[0]}.log", "wb") as log:
                self.processes.append(subprocess.Popen(command, cwd=self.dir, stdout=log, stderr=log))
        return self

    def __exit__(self, kind, *_):
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(PATIENCE_S)
            process.kill()
            process.wait()
        if kind is not None:
            for log in self.dir.glob("*.log"):
                print(log.name, log.read_text()[-2000:])
        shutil.rmtree(self.dir)

    def ask(self, path, **parameters):
        """The data of an answer of Prometheus; None as long as there is none."""
        url = f"http://127.0.0.1:{self.ports[0]}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        with contextlib.suppress(ConnectionError, urllib.error.URLError):
            with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
                return json.load(answer)["data"]
        return None

    def value(self, query):
        found = (self.ask("query", query=query) or {}).get("result")
        return float(found[0]["value"][1]) if found else None


def fail(own, worker, count):
    """Runs that fail for good, of queue mail."""
    jobs = [{"handler": "h", "queue": "mail", "retry": {"max_retries": 0}, "breaker": "none"}] * count
    expect(200, own, "POST", "/jobs/batch", {"jobs": jobs})
    leases = worker.take(count)
    worker.poll(results=[(lease, "failed", {"error": "no such table", "permanent": True}) for lease in leases])


def test_an_alert_arrives():
    if not installed("prometheus", "prometheus-alertmanager"):
        return
    with Receiver() as people, Server("--no-worker") as own, Watch(own, people.url) as watch:
        worker = Worker(own, slots=500, handlers=["h"])
        fail(own, worker, 1)
        series = 'belfry_jobs_dead_lettered_total{queue="mail"}'
        wait_for(lambda: watch.value(series) == 1, "Prometheus to know of one dead letter")
        assert watch.value("up") == 1 and people.got == []
        fail(own, worker, 150)

        def arrived():
            alerts = [alert for _, body in list(people.got) for alert in json.loads(body)["alerts"]]
            return [alert for alert in alerts if alert["labels"]["alertname"] == "BelfryDeadLetters"]
        alert = wait_for(arrived, "the alert to arrive", 3 * PATIENCE_S)[0]
        assert alert["status"] == "firing"
        assert alert["labels"] == {"alertname": "BelfryDeadLetters", "severity": "warning", "job": "belfry",
                                   "cluster": "main"}
        assert alert["annotations"]["summary"] == "many dead letters"
        told = re.fullmatch(r"([\d.]+) executions became dead letters within 10 minutes\.",
                            alert["annotations"]["description"])
        assert told and float(told[1]) > 100, alert["annotations"]  # from few samples, Prometheus reckons what is between

        # Nothing else is news, but for what follows from failures, and the clock of this machine.
        active = {one["labels"]["alertname"] for one in watch.ask("alerts")["alerts"]}
        assert active <= {"BelfryDeadLetters", "BelfryJobFailed", "BelfryFailureRateWarning", "BelfryFailureRateCritical",
                          "BelfrySuccessBudgetBurns", "BelfrySuccessBudgetBurnsFast", "BelfryClockUnsynchronized"}, active
        assert watch.value("changes(process_start_time_seconds[5m])") == 0

        def evaluated():
            found = [rule for group in watch.ask("rules")["groups"] for rule in group["rules"]]
            return found if all(rule["health"] != "unknown" for rule in found) else None
        found = wait_for(evaluated, "all rules to be evaluated")
        assert {rule["health"] for rule in found} == {"ok"} and len(found) == len(rules()), found


def test_dashboards_show_numbers():
    """All panels but those about what one small server does not have."""
    if not installed("prometheus", "prometheus-alertmanager"):
        return
    may_be_empty = {"Takeovers", "Answers of PostgreSQL that were waited for", "Alerts that belfry raised",
                    "Circuit breakers (1: open)", "Silent for longest, of the other servers"}
    with Server("--no-worker") as own, Watch(own, own.url) as watch:
        expect(200, own, "PUT", "/queues/mail", {"concurrency": 1000})
        expect(200, own, "POST", "/queues/still/pause")
        expect(200, own, "PUT", "/teams/billing", {"concurrency": 5})
        submit(own, queue="still", team="billing")
        worker = Worker(own, slots=500, handlers=["h"])
        fail(own, worker, 1)
        wait_for(lambda: watch.value('belfry_jobs_failed_total{queue="mail"}') == 1, "Prometheus to know the queue")
        fail(own, worker, 150)  # objectives say nothing about less than 100

        def empty():
            queries = [(where, re.sub(r'"\$\w+"', '".*"', query.replace("$__rate_interval", "1m")))
                       for where, query in panel_queries()]
            return {where.split(": ", 1)[1] for where, query in queries
                    if not (watch.ask("query", query=query) or {}).get("result")} - may_be_empty
        with contextlib.suppress(AssertionError):
            wait_for(lambda: not empty(), "all panels to have something to show")
        assert not empty(), empty()


if __name__ == "__main__":
    main(tests_of(globals()))
