"""Reads what deploy/ tells Prometheus and Grafana: rules, dashboards, and the names in a query of PromQL. It knows as
much of YAML and PromQL as is written there, and refuses the rest."""

import json
import re

from belfry import ROOT

PROMETHEUS, GRAFANA = ROOT / "deploy" / "prometheus", ROOT / "deploy" / "grafana"
RULE_FILES = [PROMETHEUS / "recording.yml", PROMETHEUS / "alerts.yml"]

TOKEN = re.compile(r"""\s*(?:(?P<string>"(?:[^"\\]|\\.)*")|(?P<window>\[[^\]]+\])|(?P<number>\d[\w.]*)
                    |(?P<name>[a-zA-Z_:][\w:]*)|(?P<sign>=~|!~|!=|==|<=|>=|[-+*/%^<>=(){},]))""", re.VERBOSE)
WORDS = {"and", "or", "unless", "bool", "offset"}
LISTS = {"by", "without", "on", "ignoring", "group_left", "group_right"}
# Labels that Prometheus and prometheus.yml give to every series.
TARGET = {"job", "instance", "cluster"}
WINDOW = re.compile(r"\[(\d+[smhd]|\$__rate_interval)\]")


class Query:
    """What a query names: metrics with their matchers [(label, sign, value)], and labels in lists."""

    def __init__(self, text):
        self.text, self.metrics, self.lists = text, [], {}
        self.tokens, at = [], 0
        while at < len(text.rstrip()):
            match = TOKEN.match(text, at)
            assert match, f"not PromQL: {text[at:]} in {text}"
            self.tokens.append((match.lastgroup, match[match.lastgroup]))
            at = match.end()
        self.at = 0
        while self.at < len(self.tokens):
            self.read()
        assert text.count("(") == text.count(")") and self.metrics, text

    def take(self, *wanted):
        kind, text = self.tokens[self.at]
        assert not wanted or kind in wanted or text in wanted, f"{text} in {self.text}"
        self.at += 1
        return text

    def next_is(self, text):
        return self.at < len(self.tokens) and self.tokens[self.at][1] == text

    def read(self):
        kind, text = self.tokens[self.at]
        self.at += 1
        if kind == "window":
            assert WINDOW.fullmatch(text), f"{text} in {self.text}"
        if kind != "name" or text in WORDS:
            return
        if text in LISTS:
            self.take("(")
            while not self.next_is(")"):
                self.lists.setdefault(text, set()).add(self.take("name"))
                if not self.next_is(")"):
                    self.take(",")
            self.take(")")
        elif not self.next_is("(") and not self.is_aggregation():
            self.metrics.append((text, self.matchers()))

    def is_aggregation(self):
        return any(self.next_is(word) for word in ("by", "without"))

    def matchers(self):
        found = []
        if self.next_is("{"):
            self.take()
            while not self.next_is("}"):
                found.append((self.take("name"), self.take("=", "!=", "=~", "!~"), self.take("string")[1:-1]))
                if not self.next_is("}"):
                    self.take(",")
            self.take("}")
        return found


class Rule:
    def __init__(self, kind, name, where):
        self.kind, self.name, self.where = kind, name, where
        self.fields = {}  # expr, for, severity, summary, description, runbook

    def query(self):
        return Query(self.fields["expr"])


def rules():
    """All rules of deploy/prometheus."""
    found = []
    for path in RULE_FILES:
        folded = None
        for number, line in enumerate(path.read_text().splitlines(), 1):
            where = f"{path.name}:{number}"
            head = re.fullmatch(r" +- (alert|record): (\S+)", line)
            field = re.fullmatch(r"( +)(expr|for|labels|summary|description|runbook): (.+)", line)
            if folded and len(line) - len(line.lstrip()) > folded:
                found[-1].fields["expr"] += " " + line.strip()
                continue
            folded = None
            if head:
                found.append(Rule(head[1], head[2], where))
            elif field and field[2] == "expr" and field[3] == ">-":
                folded, found[-1].fields["expr"] = len(field[1]), ""
            elif field and field[2] == "labels":
                found[-1].fields["severity"] = re.fullmatch(r"\{severity: (\w+)\}", field[3])[1]
            elif field:
                assert field[2] not in found[-1].fields, where
                found[-1].fields[field[2]] = field[3]
            else:
                assert re.fullmatch(r"|groups:| *#.*| +- name: \S+| +rules:| +annotations:", line), f"{where}: {line}"
    return found


def dashboards():
    """{name: document} of deploy/grafana."""
    return {path.name: json.loads(path.read_text()) for path in sorted(GRAFANA.glob("*.json"))}


def panel_queries():
    """(dashboard and panel, query) of all of them."""
    return [(f"{name}: {panel['title']}", target["expr"]) for name, board in dashboards().items()
            for panel in board["panels"] for target in panel.get("targets", [])]
