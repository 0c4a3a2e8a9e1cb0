# SPDX-License-Identifier: BSD-3-Clause
"""A program that draws on a terminal: what is on it, as far as ECMA-48 and xterm's modes are used here."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios

from .patience import PATIENCE

SEQUENCE = re.compile(rb"\x1b\[(\??)([0-9;]*)([A-Za-z])|([\x20-\x7e]+)|([\r\n])")
OTHER_SCREEN, CURSOR = "1049", "25"


class Screen:
    """`lines` is what a user sees; `marked` the text in reverse video; `modes` the private modes that are set."""

    def __init__(self, argv, columns=160, rows=40, env=None):
        self.master, self.slave = pty.openpty()
        self.resize(columns, rows, tell=False)
        self.at_first = termios.tcgetattr(self.slave)
        self.modes = {CURSOR}
        self.lines, self.marked, self.row, self.column, self.is_marked, self._rest = [], [], 0, 0, False, b""
        self.is_whole = False
        self.process = subprocess.Popen([str(word) for word in argv], stdin=self.slave, stdout=self.slave,
                                        stderr=self.slave, env={**os.environ, "TERM": "xterm", **(env or {})},
                                        process_group=0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.master)
        os.close(self.slave)

    def resize(self, columns, rows, tell=True):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.rows = rows
        if tell:
            self.process.send_signal(signal.SIGWINCH)

    def press(self, keys):
        os.write(self.master, keys.encode())

    def is_restored(self):
        """Whether the terminal is as the program found it."""
        return self.modes == {CURSOR} and termios.tcgetattr(self.slave) == self.at_first

    @property
    def text(self):
        return "\n".join(self.lines)

    def read_some(self, seconds):
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        data = self._rest + os.read(self.master, 65536)
        at = 0
        while at < len(data):
            match = SEQUENCE.match(data, at)
            if not match:
                assert data[at:at + 1] == b"\x1b" and len(data) - at < 16, data[at:]
                break
            self._take(*match.groups())
            at = match.end()
        self._rest = data[at:]
        return True

    def until(self, condition):
        """Read until that is true of this screen, drawn to its end, which is the last line."""
        while not (self.is_whole and condition(self)):
            assert self.read_some(PATIENCE), self.text
        return self

    def until_text(self, pattern):
        return self.until(lambda screen: re.search(pattern, screen.text))

    def ended(self):
        """Read to the end: the exit status."""
        status = self.process.wait(PATIENCE)
        while self.read_some(0):
            pass
        return status

    def _line(self):
        while len(self.lines) <= self.row:
            self.lines.append("")
        return self.lines[self.row]

    def _take(self, private, numbers, final, text, control):
        if text:
            line = self._line().ljust(self.column)
            text = text.decode("ascii")
            self.lines[self.row] = line[:self.column] + text + line[self.column + len(text):]
            self.column += len(text)
            if self.is_marked:
                self.marked.append(text)
        elif control == b"\n":
            self.row += 1
            assert self.row < self.rows, "the terminal scrolls"
        elif control == b"\r":
            self.column = 0
        else:
            self._take_sequence(bool(private), numbers.decode("ascii"), final.decode("ascii"))

    def _take_sequence(self, private, numbers, final):
        if private:
            (self.modes.add if final == "h" else self.modes.remove)(numbers)
            if numbers == OTHER_SCREEN:
                self.lines, self.row, self.column = [], 0, 0
        elif final == "H":
            row, column = (numbers or "1;1").split(";")
            self.row, self.column = int(row) - 1, int(column) - 1
            if self.row == 0:
                self.marked, self.is_whole = [], False
        elif final == "K":
            self.is_whole = self.row == self.rows - 1
            self.lines[self.row:self.row + 1] = [self._line()[:self.column]]
        elif final == "J":
            self._line()
            self.lines[self.row:] = [self.lines[self.row][:self.column]]
        elif final == "m":
            self.is_marked = numbers == "7"
        else:
            raise AssertionError(f"CSI {numbers} {final}")
