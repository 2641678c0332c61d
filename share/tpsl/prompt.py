# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

"""The prompt of tpsl python: it has all ranks run what a user types or pipes in, and shows what they say.

    python3 prompt.py RANKS MPIEXEC...

MPIEXEC... is the command that starts the ranks. They run prompt-rank.py, the twin of this file, with standard input for all and labels on
their output. A line of standard input is a text in JSON. The first text is the word of marks, which no user can guess; each other one
is for all ranks to run. A mark is what prompt-rank.py writes to stdout and to stderr behind all that a text has written there:

    WORD PID STATE      ready, failed: how the text ended; leaves: the rank runs no other
"""

import ast
import codeop
import ctypes
import json
import os
import re
import secrets
import select
import signal
import subprocess
import sys
import time
import traceback
import warnings

LABEL = re.compile(rb"\[(\d+)\] ")  # as mpiexec -l writes it
TICK = 0.5  # seconds between two looks at the clock, while ranks run
PATIENCE = float(os.environ.get("TPSL_TEST_PATIENCE", 1))  # seconds that a user at a terminal waits for ranks before the prompt says something
GRACE = 5  # seconds that others have to answer when a rank has failed, or to end
HELD = 16 << 20  # bytes of output that are held for the sake of ranks that say the same
INTERRUPTED = 128 + signal.SIGINT


class Over(Exception):
    """The job has ended."""


def tell(line):
    sys.stdout.flush()
    print("tpsl python: " + line, file=sys.stderr, flush=True)


def ranges(ranks):
    """Numbers in rising order, as in 0-2,5."""
    parts = []
    for rank in ranks:
        if parts and rank == parts[-1][1] + 1:
            parts[-1][1] = rank
        else:
            parts.append([rank, rank])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def name(ranks):
    return ("rank " if len(ranks) == 1 else "ranks ") + ranges(ranks)


def end_with_parent():
    """In the child that becomes mpiexec. If this process is killed, mpiexec gets a SIGTERM (PR_SET_PDEATHSIG)."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)


class Stream:
    """mpiexec's stdout or stderr: lines of ranks, and its own."""

    def __init__(self, shown):
        self.shown = shown
        self.rest = b""  # an unfinished line
        self.said = {}  # by rank: what is not shown yet
        self.answered = set()
        self.left = set()  # who has said that it leaves, and so has said all

    def show(self):
        """Shows what ranks have said, and what several have said alike once."""
        alike = {}
        for rank in sorted(self.said):
            alike.setdefault(self.said[rank], []).append(rank)
        for text, ranks in alike.items():
            label = f"[{ranges(ranks)}] ".encode()
            self.write(b"".join(label + line + b"\n" for line in text.removesuffix(b"\n").split(b"\n")))
        self.said = {}

    def write(self, text):
        self.shown.flush()
        self.shown.buffer.write(text)
        self.shown.flush()


class Job:
    """The ranks, and mpiexec, which runs them."""

    def __init__(self, ranks, terminal):
        self.terminal = terminal
        self.word = "\x1e" + secrets.token_hex(8)
        self.ranks = {}  # by process id
        self.ends = {}  # by descriptor that tells the end of a rank's process (pidfd_open(2)): the rank
        self.living = set(range(ranks))
        self.code = None  # of a job that is ended from here
        self.process = None
        self.begin()

    def start(self, command):
        """Starts the ranks, in a session of their own: what keys of the terminal do to them is decided here."""
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, preexec_fn=end_with_parent)
        if self.code is not None:
            self.process.terminate()
        self.streams = [Stream(sys.stdout), Stream(sys.stderr)]
        self.open = dict(zip([self.process.stdout.fileno(), self.process.stderr.fileno()], self.streams))
        self.send(self.word)
        self.wait()

    # What ranks say.

    def take(self, stream, line):
        text, mark, rest = line.partition(self.word.encode())
        label = LABEL.match(text)
        rank = int(label[1]) if label else None
        if mark:
            pid, state = rest.decode().split()
            rank = self.meet(int(pid), rank)
            stream.answered.add(rank)
            if state == "failed":
                self.failed = self.failed or time.monotonic()
            if state == "leaves":
                stream.left.add(rank)
        if rank is None:  # mpiexec's own, or the rest of a line that is too long for it to keep
            if self.code is None:
                stream.write(text)
            return
        text = text[label.end():] if label else text
        if text:
            stream.said[rank] = stream.said.get(rank, b"") + text
            self.since = self.since or time.monotonic()
            self.held += len(text)

    def meet(self, pid, rank):
        """The rank of a process, which is known from its first mark on."""
        if pid not in self.ranks:
            self.ranks[pid] = rank
            try:
                self.ends[os.pidfd_open(pid)] = rank
            except ProcessLookupError:
                self.living.discard(rank)
        return self.ranks[pid]

    def read(self, timeout):
        """Takes what has come from mpiexec, or waits for it, and shows what cannot wait for ranks that may say the same. Over: mpiexec has ended."""
        if not self.open:
            raise Over
        for fd in select.select([*self.open, *self.ends], [], [], timeout)[0]:
            if fd in self.ends:
                self.living.discard(self.ends.pop(fd))
                os.close(fd)
                continue
            chunk = os.read(fd, 1 << 16)
            stream = self.open[fd]
            lines = (stream.rest + chunk).split(b"\n")
            stream.rest = lines.pop()
            for line in lines:
                self.take(stream, line + b"\n")
            if not chunk:
                self.take(stream, stream.rest)
                del self.open[fd]
        if self.held > HELD or self.terminal and self.since and time.monotonic() - self.since > PATIENCE:
            self.show()

    def show(self):
        for stream in self.streams:
            stream.show()
        self.since, self.held = None, 0

    # What ranks do.

    def leaving(self):
        """The ranks of which all is read: mpiexec passes each stream on by itself, and a rank may end before its last words come."""
        return set.intersection(*(stream.left for stream in self.streams))

    def begin(self):
        self.since, self.held = None, 0  # when the first of what is not shown came; its bytes
        self.interrupted = self.told = self.failed = None  # when
        self.busy = True

    def silent(self):
        """The ranks that have not answered."""
        return sorted(rank for rank in self.living if any(rank not in stream.answered for stream in self.streams))

    def wait(self):
        """Shows what the ranks say until all have answered. Over: the job has ended, or is ended from here."""
        while self.silent():
            self.read(TICK)
            if self.code is not None:
                raise Over
            now = time.monotonic()
            if self.interrupted and not self.told and now - self.interrupted > PATIENCE and self.silent():
                self.told = now
                tell(f"{name(self.silent())} cannot be interrupted now; Ctrl-C again ends the job")
            if self.failed and not self.terminal and now - self.failed > GRACE:
                self.end(1)
        self.living -= self.leaving()
        if self.living:  # else more is to come from all
            self.show()
        self.busy = not self.terminal

    def send(self, text):
        try:
            self.process.stdin.write(json.dumps(text).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # it ends, which is told where it is read

    def run(self, text):
        """Has all ranks run a text. Over: no rank is left."""
        before = set(self.living)
        self.begin()
        for stream in self.streams:
            stream.answered.clear()
        self.send(text)
        self.wait()
        gone = sorted(before - self.living)
        if not self.living:
            raise Over
        if gone:
            self.await_end(gone)
            self.show()
            tell(f"{name(gone)} left; {name(sorted(self.living))} stayed")

    def await_end(self, gone):
        """Reads the last words of ranks, and gives mpiexec the time to end the job where one has ended without its marks, which may be badly."""
        end = time.monotonic() + GRACE
        while not self.leaving().issuperset(gone) and time.monotonic() < end:
            self.read(TICK)

    def interrupt(self):
        if self.interrupted or not self.ends:
            self.end(INTERRUPTED)
            return
        self.interrupted = time.monotonic()
        for end in self.ends:
            try:
                signal.pidfd_send_signal(end, signal.SIGINT)
            except ProcessLookupError:
                pass  # it ends

    def end(self, code):
        """Has mpiexec end the job. What it says of that is of no interest."""
        if self.code is None:
            self.code = code
            if self.process:
                self.process.terminate()

    def finish(self):
        """Lets the ranks end, and returns the exit code of the job."""
        self.begin()
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        asked = time.monotonic()
        try:
            while True:
                self.read(TICK)
                if self.code is not None and time.monotonic() - asked > GRACE:
                    self.process.terminate()  # again; then mpiexec kills what does not end
                    asked = time.monotonic()
        except Over:
            pass
        self.show()
        code = self.process.wait()
        if self.code is not None:
            return self.code
        return code if code >= 0 else 128 - code


class Terminal:
    """Lines that a user types."""

    def __init__(self, job):
        self.job, self.typing = job, False
        try:
            sys.__interactivehook__()  # history, and the keys of the user's choice
            import readline
            readline.set_completer(None)  # it would know the names of this process
            readline.parse_and_bind("tab: tab-insert")
        except (ImportError, AttributeError):
            pass  # lines cannot be edited
        signal.signal(signal.SIGCHLD, self.on_child)

    def on_child(self, number, frame):
        if self.typing and self.job.process.poll() is not None:
            raise Over

    def line(self, prompt):
        self.typing = True
        try:
            if self.job.process.poll() is not None:
                raise Over
            return input(prompt)
        except Over:
            print()
            raise
        finally:
            self.typing = False

    def text(self, complete):
        """What the user types up to the end of a statement."""
        lines = []
        while True:
            lines.append(self.line("... " if lines else ">>> "))
            text = "\n".join(lines)
            if complete(text, "<stdin>", "single"):
                return text + "\n"

    def run(self):
        complete = codeop.CommandCompiler()
        ranks = len(self.job.living)
        print(f"Python {sys.version.split()[0]} on {ranks} rank{'s' * (ranks > 1)}. Ctrl-C interrupts, Ctrl-D ends.")
        while True:
            try:
                text = self.text(complete)
                if text.strip():
                    self.job.run(text)
            except EOFError:
                print()
                return 0
            except KeyboardInterrupt:
                print("\nKeyboardInterrupt")
            except (SyntaxError, OverflowError, ValueError) as e:
                say_wrong(e)


def statements(text):
    """The statements of a program. Those that share a line are together, and each is behind as many empty lines as lines are in front of it."""
    compile(text, "<stdin>", "exec")
    lines, parts = text.split("\n"), []
    for node in ast.parse(text).body:
        first = min(n.lineno for n in [node, *getattr(node, "decorator_list", [])])
        if parts and first <= parts[-1][1]:
            parts[-1][1] = node.end_lineno
        else:
            parts.append([first, node.end_lineno])
    return ["\n" * (first - 1) + "\n".join(lines[first - 1:last]) + "\n" for first, last in parts]


def say_wrong(error):
    """A text that is no Python."""
    sys.stderr.write("".join(traceback.format_exception_only(type(error), error)))


def run_program(job, parts):
    """Runs statements up to the first that fails. Returns the exit code."""
    for part in parts:
        job.run(part)
        if job.interrupted:
            return INTERRUPTED
        if job.failed:
            return 1
    return 0


def main():
    ranks, command = int(sys.argv[1]), sys.argv[2:]
    if not hasattr(os, "pidfd_open"):
        tell(f"{sys.executable} is Python {sys.version.split()[0]}, which cannot watch processes; use Python 3.9 or newer")
        return 255
    warnings.simplefilter("ignore")  # about a text: the ranks give them
    terminal, parts = sys.stdin.isatty(), []
    if not terminal:  # as Python does
        try:
            parts = statements(sys.stdin.read())
        except (SyntaxError, ValueError) as e:
            say_wrong(e)
            return 1
        except KeyboardInterrupt:
            return INTERRUPTED
    job = Job(ranks, terminal)

    def on_interrupt(number, frame):
        if not job.busy:
            raise KeyboardInterrupt
        job.interrupt()

    def on_end(number, frame):
        job.end(128 + number)

    signal.signal(signal.SIGINT, on_interrupt)
    for number in signal.SIGTERM, signal.SIGHUP:
        signal.signal(number, on_end)
    code = 0
    try:
        job.start(command)
        code = Terminal(job).run() if terminal else run_program(job, parts)
    except Over:
        pass
    return job.finish() or code


try:
    sys.exit(main())
except BrokenPipeError:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # nobody reads what is shown; the interpreter would try again as it ends
    sys.exit(128 + signal.SIGPIPE)
