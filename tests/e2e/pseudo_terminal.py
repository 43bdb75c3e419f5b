"""A program on a terminal: a pty, and what its screen shows."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios

import rig


class Screen:
    """What a terminal makes of the bytes that our programs send; anything else is an error."""

    def __init__(self, columns, rows):
        self.columns = columns
        self.lines = [""] * rows
        self.row = self.column = 0

    def feed(self, text):
        for code, command, plain in re.findall(r"\x1b\[([0-9;?]*)([A-Za-z])|([^\x1b])", text):
            if plain:
                self._put(plain)
            else:
                self._obey(command, int(code) if code.isdigit() else 1)

    def _put(self, char):
        if char == "\r":
            self.column = 0
        elif char == "\n":
            if self.row + 1 == len(self.lines):
                self.lines = self.lines[1:] + [""]
            else:
                self.row += 1
        else:
            if self.column == self.columns:
                self._put("\r")
                self._put("\n")
            line = self.lines[self.row].ljust(self.column)
            self.lines[self.row] = line[:self.column] + char + line[self.column + 1:]
            self.column += 1

    def _obey(self, command, n):
        if command == "A":
            self.row = max(0, self.row - n)
        elif command == "C":
            self.column += n
        elif command in "JK":
            self.lines[self.row] = self.lines[self.row][:self.column]
            if command == "J":
                self.lines[self.row + 1:] = [""] * (len(self.lines) - self.row - 1)
        elif command != "m":
            raise AssertionError(f"an escape sequence with {command}")

    def text(self):
        return "\n".join(line.rstrip() for line in self.lines).rstrip()


class Terminal:
    """A program that has a terminal of its own, as from a shell."""

    def __init__(self, args, folder, env, columns, rows=24):
        env = {**{k: v for k, v in env.items() if k != "COLUMNS"}, "TERM": "xterm"}
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                self._size(0, columns, rows)
                os.chdir(folder)
                os.execve(args[0], args, env)
            finally:
                os._exit(127)
        self.sent = b""  # by the program
        self.screen = Screen(columns, rows)
        self.code = None
        self.modes = termios.tcgetattr(self.fd)

    @staticmethod
    def _size(fd, columns, rows):
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns, rows):
        """Terminals differ in what they do with the lines that are there: the screen begins anew."""
        self._size(self.fd, columns, rows)
        self.screen = Screen(columns, rows)

    def look(self):
        """The screen as it is now."""
        while self.code is None and select.select([self.fd], [], [], 0)[0]:
            try:
                more = os.read(self.fd, 65536)
            except OSError:  # it has ended
                more = b""
            if not more:
                self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
                break
            self.sent += more
            self.screen.feed(more.decode())
        return self.screen.text()

    def until(self, pattern):
        """The screen when it matches."""
        def found():
            text = self.look()
            assert self.code is None or re.search(pattern, text, re.M), f"it ended with {self.code}: {text}"
            return text if re.search(pattern, text, re.M) else None
        try:
            return rig.until(pattern, found)
        except AssertionError as why:
            raise AssertionError(f"{why}\n{self.look()}") from None

    def type(self, text):
        os.write(self.fd, text.encode())

    def end(self):
        """Its exit code."""
        rig.until("it ends", lambda: self.look() is not None and self.code is not None)
        return self.code

    def close(self):
        self.look()
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)
