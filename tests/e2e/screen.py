"""A terminal for tests: a pty, and an emulator of as much of one as full-screen programs need."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import unicodedata

from belfry import BELFRY, PATIENCE_S

SEQUENCE = re.compile(r"\x1b\[([?>=]?)([0-9;]*)([@-~])")


def width_of(char):
    return 0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1


class Emulator:
    """Two screens of cells, a cursor, and the modes that programs set. What it does not know is an error."""

    def __init__(self, rows, cols):
        self.rest = b""
        self.modes = {"?7": True, "?25": True, "?1049": False, "?2026": False}
        self.scrolled = self.frames = 0
        self.strays = 0  # what was put outside; there may be some while the size changes
        self.resize(rows, cols)

    def resize(self, rows, cols):
        self.rows, self.cols = rows, cols
        self.cells = [[" "] * cols for _ in range(rows)]
        self.row = self.col = 0

    def feed(self, data):
        data = self.rest + data
        self.rest = b""
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            assert error.end == len(data) and len(data) - error.start < 4, (data, error)
            text, self.rest = data[:error.start].decode(), data[error.start:]
        while text:
            if text[0] == "\x1b":
                found = SEQUENCE.match(text)
                if not found:
                    assert len(text) < 32 and re.fullmatch(r"\x1b(\[[?>=]?[0-9;]*)?", text), repr(text[:32])
                    self.rest = text.encode() + self.rest
                    return
                self.sequence(*found.groups())
                text = text[found.end():]
            else:
                self.put(text[0])
                text = text[1:]

    def sequence(self, private, numbers, final):
        first = int(numbers.split(";")[0] or 0)
        if final in "hl" and private == "?":
            assert "?" + numbers in self.modes, numbers
            self.modes["?" + numbers] = final == "h"
            self.frames += numbers == "2026" and final == "l"
            if numbers == "1049":
                self.resize(self.rows, self.cols)
        elif final == "H":
            row, _, col = numbers.partition(";")
            self.row, self.col = int(row or 1) - 1, int(col or 1) - 1
            self.strays += self.row >= self.rows or self.col >= self.cols
            self.row, self.col = min(self.row, self.rows - 1), min(self.col, self.cols - 1)
        elif final == "K":
            assert first == 0
            self.cells[self.row][self.col:] = [" "] * (self.cols - self.col)
        elif final == "J":
            assert first == 2
            self.cells = [[" "] * self.cols for _ in range(self.rows)]
        else:
            assert final == "m", (private, numbers, final)

    def put(self, char):
        if char == "\r":
            self.col = 0
        elif char == "\n":
            if self.row + 1 == self.rows:
                self.scrolled += 1
            else:
                self.row += 1
        else:
            assert char.isprintable(), repr(char)
            width = width_of(char)
            self.strays += self.col + width > self.cols and self.modes["?1049"]
            if width > 0 and self.col + width <= self.cols:
                self.cells[self.row][self.col:self.col + width] = [char] + [""] * (width - 1)
                self.col += width

    @property
    def lines(self):
        return ["".join(row).rstrip() for row in self.cells]


class Terminal:
    """A command on a terminal, as a context. Leaving ends it if need be."""

    def __init__(self, server, *args, rows=24, cols=80, env=None):
        self.screen = Emulator(rows, cols)
        self.raw = b""
        self.resized = False
        self.fd, self.slave = pty.openpty()
        self.size(rows, cols, tell=False)
        self.before = termios.tcgetattr(self.slave)
        self.process = subprocess.Popen(
            [BELFRY, *args], stdin=self.slave, stdout=self.slave, stderr=self.slave, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
            env={**server.env, "TERM": "xterm", **(env or {})}, cwd=server.dir)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait()
        os.close(self.slave)
        os.close(self.fd)

    def size(self, rows, cols, tell=True):
        if tell:
            self.screen.resize(rows, cols)
            self.resized = True
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def type(self, text):
        os.write(self.fd, text.encode())

    def read(self, seconds=0.05):
        """Takes what was printed, if anything is within that time."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return False
        data = os.read(self.fd, 65536)
        self.raw += data
        self.screen.feed(data)
        return True

    def wait(self, condition, what):
        """Reads until condition(lines) holds."""
        deadline = time.monotonic() + PATIENCE_S
        while not condition(self.screen.lines):
            assert time.monotonic() < deadline, f"waited for {what}:\n" + "\n".join(self.screen.lines)
            self.read()

    def wait_for_text(self, text):
        self.wait(lambda lines: any(text in line for line in lines), text)

    def end(self):
        """The exit code, once all it printed was read."""
        deadline = time.monotonic() + PATIENCE_S
        while self.process.poll() is None:
            assert time.monotonic() < deadline, "it does not end"
            self.read()
        while self.read(0):
            pass
        assert self.resized or self.screen.strays == 0, "something was printed outside of the screen"
        return self.process.returncode

    def is_restored(self):
        modes = self.screen.modes
        return (modes["?25"] and modes["?7"] and not modes["?1049"]
                and termios.tcgetattr(self.slave) == self.before
                and not fcntl.fcntl(self.slave, fcntl.F_GETFL) & os.O_NONBLOCK)
