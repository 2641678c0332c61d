# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

"""gdb commands for programs whose threads are MPI ranks.

    info ranks    the ranks of this process: slot, thread, state, where they are
    rank N        select the thread of rank N; of a rank of TPSL_Run: rank N of job K

They read libtpsl's endpoints (endpoints/endpoint.h), in live processes and in cores.
gdb loads this file as lib/libtpsl.so.0-gdb.py if its auto-load safe-path allows that;
else: source PREFIX/share/tpsl/tpsl-gdb.py
"""

import re

import gdb

STATES = ["free", "claimed", "bound", "ended"]
PHASES = ["", "MPI initialised", "MPI finalised"]
MPI_NAME = re.compile(r"^P?MPI_")


def variable(name):
    """A variable of ownership.c: libtpsl's, not the program's of the same name."""
    try:
        return gdb.parse_and_eval("'ownership.c'::" + name)
    except gdb.error:
        raise gdb.GdbError("libtpsl.so.0 is not loaded, or its debug information is missing")


def endpoints():
    """Those of all jobs of the process, the oldest job first."""
    jobs = []
    table = variable("newest")
    while table:
        jobs.insert(0, [table["at"][slot] for slot in range(int(table["count"]))])
        table = table["older"]
    return [endpoint for job in jobs for endpoint in job]


def name_of(endpoint):
    """The number of the rank and, of a job of TPSL_Run, which call that is."""
    job = endpoint["job"]
    number = int(job["census"]["number"]) if job else 0
    return "%d of job %d" % (endpoint["rank"], number) if number else "%d" % endpoint["rank"]


def instance_of(endpoint):
    """The file of the MPI library and where this copy of it lies."""
    instance = endpoint["instance"]
    if not instance:
        return "-"
    first = instance.cast(gdb.lookup_type("struct tpsl_instance").pointer())["first"]
    if not first:
        return "-"
    return "%s at %#x" % (first["soname"].string(), int(first["start"]))


def thread_of(endpoint):
    """gdb's thread that owns the endpoint, or None."""
    if int(endpoint["state"]) != STATES.index("bound"):
        return None
    for thread in gdb.selected_inferior().threads():
        if thread.ptid[1] == int(endpoint["thread"]):
            return thread
    return None


def where(thread):
    """The outermost MPI call that the thread is in, else its innermost function."""
    selected = gdb.selected_thread()
    frame_before = gdb.selected_frame() if selected else None
    try:
        thread.switch()
        names = []
        frame = gdb.newest_frame()
        while frame is not None and frame.is_valid():
            names.append(frame.name() or "%#x" % frame.pc())
            frame = frame.older()
        calls = [name for name in names if MPI_NAME.match(name)]
        return "in " + (calls[-1] if calls else names[0])
    finally:
        if selected:
            selected.switch()
            frame_before.select()


class InfoRanks(gdb.Command):
    """List the MPI ranks of this process."""

    def __init__(self):
        super().__init__("info ranks", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        rows = [("", "Rank", "Slot", "Thread", "State", "Instance", "Where")]
        for ep in endpoints():
            thread = thread_of(ep)
            state = ", ".join(filter(None, [STATES[int(ep["state"])], PHASES[int(ep["phase"])]]))
            rows.append((
                "*" if thread and thread == gdb.selected_thread() else "",
                name_of(ep),
                str(int(ep["slot"])),
                "%d (LWP %d)" % (thread.num, thread.ptid[1]) if thread else "-",
                state,
                instance_of(ep),
                where(thread) if thread else "",
            ))
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        for row in rows:
            gdb.write(" ".join(word.ljust(width) for word, width in zip(row, widths)).rstrip() + "\n")


class Rank(gdb.Command):
    """Select the thread of an MPI rank: rank N, or rank N of job K"""

    def __init__(self):
        super().__init__("rank", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        wanted = " ".join(argument.split())
        if not re.fullmatch(r"\d+( of job \d+)?", wanted):
            raise gdb.GdbError("rank N, or rank N of job K: a rank of this process, see info ranks")
        for ep in endpoints():
            if name_of(ep) == wanted:
                thread = thread_of(ep)
                if thread is None:
                    raise gdb.GdbError("rank %s has no thread: its state is %s" % (wanted, STATES[int(ep["state"])]))
                gdb.execute("thread %d" % thread.num, from_tty)
                return
        raise gdb.GdbError("rank %s is not in this process, see info ranks" % wanted)


InfoRanks()
Rank()
