# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

"""A rank of tpsl python: it runs texts as Python's own prompt would. prompt.py, the twin of this file, says how they talk."""

import codeop
import json
import os
import signal
import sys
import types

running = False  # a text, which an interrupt may end; once


def on_interrupt(number, frame):
    global running
    if running:
        running = False
        raise KeyboardInterrupt


def run(code, names):
    global running
    try:
        running = True
        exec(code, names)
    finally:
        running = False


def answer(text, compile_text, names):
    """Runs a text, and shows how it ends where that is badly."""
    try:
        run(compile_text(text, "<stdin>", "single"), names)
        return "ready"
    except SystemExit as e:
        if e.code is None or isinstance(e.code, int):
            raise
        print(e.code, file=sys.stderr)  # in front of the mark; Python would do so as it ends
        raise SystemExit(1) from None
    except BaseException as e:
        trace = e.__traceback__
        while trace and trace.tb_frame.f_globals is globals():
            trace = trace.tb_next
        inner = trace
        while inner and inner.tb_next:
            if inner.tb_next.tb_frame.f_globals is globals():
                inner.tb_next = None  # on_interrupt
            inner = inner.tb_next
        sys.excepthook(type(e), e.with_traceback(trace), trace)
        return "failed"


def main():
    # Standard input is the prompt's. What the user runs finds nothing there.
    texts = os.fdopen(os.dup(0), encoding="ascii")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    outputs = [os.dup(1), os.dup(2)]  # the user may put something else in their places
    sys.stdout.reconfigure(line_buffering=True)
    signal.signal(signal.SIGINT, on_interrupt)

    # As in Python's own prompt: names of the user's are those of __main__, modules of the working directory can be imported.
    names = types.ModuleType("__main__")
    sys.modules["__main__"] = names
    sys.argv = [""]
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = ""

    def mark(state):
        for stream in sys.stdout, sys.stderr:
            try:
                stream.flush()
            except (AttributeError, OSError, ValueError):
                pass  # the user's own
        for fd in outputs:
            os.write(fd, f"{word} {os.getpid()} {state}\n".encode())

    word = texts.readline()
    if not word:
        return  # the prompt has ended
    word = json.loads(word)
    mark("ready")
    compile_text = codeop.Compile()
    try:
        for line in texts:
            mark(answer(json.loads(line), compile_text, vars(names)))
    finally:
        mark("leaves")


main()
