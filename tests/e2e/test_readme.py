"""The tour of the README, command by command: what it promises is what a user gets.

Lines that start with `$ ` in an sh block are run by bash, and the lines below, up to the next one,
are what must come out, stdout and stderr together. In those lines `…` stands for anything, and a
line of it alone for any lines; how many blanks stand between words does not matter, since columns
depend on what is in them. Dates, times of day and durations match any of their kind. Ids are never
the same twice: the first line that mentions one says which it is here, and from then on it is that
one, in commands as well.
"""

import os
import pathlib
import re
import subprocess

from belfry import BELFRY, PATIENCE_S, ROOT, Server, main, tests_of

README = ROOT / "README.md"
ID = re.compile(r"\b(?:job|exec|wrk)_[0-9a-z]{13}\b")
LOOSE = [r"\d{4}-\d\d-\d\d", r"\d\d:\d\d:\d\dZ", r"\d+(?:\.\d)?m?s"]  # whole words


def commands_of(text):
    """[(command, [expected line…])…] of all sh blocks, in order."""
    found = []
    for block in re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append([line[2:], []])
            elif found[-1][0].endswith("\\"):
                found[-1][0] += "\n" + line
            else:
                found[-1][1].append(line)
    return found


class Tour:
    """One walk through the README, in a directory that looks like the real one."""

    def __init__(self):
        self.server = Server()
        self.ids = {}  # the README's to the real one
        build = self.server.dir / "build"
        build.mkdir()
        (build / "belfry").symlink_to(BELFRY)
        # What happens in the first terminal, and what must not hit the servers of other people.
        self.staged = {
            "./run": self.start,
            "pkill -9 -f 'build/belfry server'": self.server.kill,
        }

    def start(self):
        if self.server.process.poll() is not None:
            self.server.start()

    def here(self, text):
        """The README's text with this run's port and ids in it."""
        text = text.replace("http://127.0.0.1:7420", self.server.url)
        return ID.sub(lambda found: self.ids.get(found[0], found[0]), text)

    def run(self, command):
        if command in self.staged:
            self.staged[command]()
            return []
        done = subprocess.run(
            ["bash", "-c", self.here(command)], cwd=self.server.dir, env=self.server.env, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            timeout=PATIENCE_S, check=False)
        return done.stdout.splitlines()

    def pattern(self, line):
        """A line of the README as a regular expression; unknown ids become groups to learn from."""
        names = []
        def part(token):
            if token == "…":
                return ".*"
            if ID.fullmatch(token):
                if token in self.ids:
                    return re.escape(self.ids[token])
                names.append(token)
                return f"({token.split('_')[0]}_[0-9a-z]{{13}})"
            return re.escape(token)
        def word(text):
            loose = [kind for kind in LOOSE if re.fullmatch(kind, text)]
            return loose[0] if loose else "".join(map(part, re.split(rf"(…|{ID.pattern})", text)))
        # A run of blanks may also be none, beside a `…` that took them.
        text = r"\s*".join(map(word, line.split()))
        return re.compile(r"\s*" + text + r"\s*"), names

    def matches(self, line, expected):
        pattern, names = self.pattern(expected)
        found = pattern.fullmatch(line)
        if found:
            self.ids.update(zip(names, found.groups()))
        return found is not None

    def check(self, command, expected):
        lines = self.run(command)
        at = 0
        for i, wanted in enumerate([*expected, None]):
            shown = "\n".join([f"$ {command}", *lines, f"-- line {at + 1} should be:", str(wanted)])
            if wanted is None:
                assert at == len(lines), shown
            elif wanted == "…":
                after = expected[i + 1:i + 2]
                while at < len(lines) and not (after and self.matches(lines[at], after[0])):
                    at += 1
            else:
                assert at < len(lines) and self.matches(lines[at], wanted), shown
                at += 1


def test_every_command_of_the_tour_does_what_it_says():
    tour = Tour()
    commands = commands_of(README.read_text(encoding="utf-8"))
    assert len(commands) > 15, "the README has lost its tour"
    assert commands[0][0] == "./run"
    with tour.server:  # already running when the tour says ./run for the first time
        for command, expected in commands:
            tour.check(command, expected)


def test_every_link_leads_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", README.read_text(encoding="utf-8")):
        assert target.startswith("http") or (ROOT / target).exists(), target


def test_the_run_script_starts_what_the_tour_assumes():
    script = (ROOT / "run").read_text(encoding="utf-8")
    assert "exec build/belfry server" in script and os.access(ROOT / "run", os.X_OK)
    assert pathlib.Path(BELFRY).exists()


if __name__ == "__main__":
    main(tests_of(globals()))
