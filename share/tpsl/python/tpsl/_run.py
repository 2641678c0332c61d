# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

"""run: ranks that are threads of this interpreter."""

import ctypes
import itertools
import operator
import os
import signal
import sys
import threading
import traceback

from . import _arrays, _library, _mpi4py, _ranks

MPI_THREAD_MULTIPLE = 3  # of MPICH's ABI
_jobs = itertools.count(1)
_lock = threading.Lock()
_libtpsl = None
_launched = False  # the ranks of the launcher's job have run


class _Options(ctypes.Structure):
    """struct TPSL_Options."""

    _fields_ = [("size", ctypes.c_size_t), ("thread_level", ctypes.c_int), ("caller", ctypes.c_int), ("stack", ctypes.c_size_t), ("cpus", ctypes.c_char_p)]


_Function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)


def _load():
    """libtpsl, in the place of the MPI library that an mpi4py for MPICH needs."""
    global _libtpsl
    with _lock:
        if _libtpsl is None:
            _mpi4py.prepare(lambda: _libtpsl.MPI_Finalize())
            for name in _mpi4py.LIBRARIES:
                ctypes.CDLL(os.path.join(_library.LIBRARIES, "tpsl", name), mode=ctypes.RTLD_GLOBAL)
            _libtpsl = ctypes.CDLL(os.path.join(_library.LIBRARIES, "libtpsl.so.0"), mode=ctypes.RTLD_GLOBAL)
            _libtpsl.TPSL_Run.argtypes = ctypes.c_int, _Function, ctypes.c_void_p, ctypes.POINTER(_Options)
    return _libtpsl


def _flush():
    for stream in sys.stdout, sys.stderr:
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            pass  # nobody reads it, or there is none


def _end(code):
    """Ends the process, as ranks that are left alone would wait for ever."""
    _flush()
    os._exit(code)


def _status(code):
    """The exit status of sys.exit(code), as CPython makes it."""
    if not isinstance(code, int):
        return 1
    return code & 255 if -(1 << 63) <= code < 1 << 63 else 255  # a C long, or none


def _be(who, f):
    """Calls f as a rank. A child that f forks has no threads of libtpsl, so it ends as f does."""
    _ranks.become(who)
    process = os.getpid()
    try:
        result = f(who.rank)
        if os.getpid() != process:
            raise RuntimeError("run: f returned in a child made by fork, and the ranks are in its parent: end the child by sys.exit, or by os._exit")
        return result
    except SystemExit as e:
        code = 0 if e.code is None else e.code
        if code == 0 and os.getpid() == process:
            return None
        try:
            if not isinstance(code, int):
                print(code, file=sys.stderr)
        finally:
            _end(_status(code))
    except BaseException:
        try:
            print(f"tpsl.run: rank {who.rank} ends the process:" if os.getpid() == process else f"tpsl.run: a child of rank {who.rank} ends:", file=sys.stderr)
            traceback.print_exc()
        finally:
            _end(1)


def _run_own(libtpsl, n, f):
    """A job of n ranks within this call."""
    job, results, used = next(_jobs), {}, []

    def call(_):
        rank = libtpsl.TPSL_Slot()
        results[rank] = _be(_ranks.Caller(job, rank, range(n)), f)
        used.append(_mpi4py.of_thread())
        return 0

    def run():
        libtpsl.TPSL_Switch(-1)  # a thread that acts for a rank makes threads that do so
        libtpsl.TPSL_Run(n, _Function(call), None, ctypes.byref(options))

    options = _Options(ctypes.sizeof(_Options), MPI_THREAD_MULTIPLE, 0, 0, None)
    _wait_for([threading.Thread(target=run)])
    _mpi4py.give_back(used)
    _library.names_end(job)
    _arrays.collect()
    return [results[rank] for rank in range(n)]


def _run_launched(libtpsl, n, f):
    """The ranks of the launcher's job in this process."""
    global _launched
    here = _ranks.ranks_here()
    if n != len(here):
        raise ValueError(f"run: mpiexec has given this process the ranks {here}, and not {n}: run(len(tpsl.ranks_here()), f), "
                         "and say how many by mpiexec -tpsl shared -rpp")
    with _lock:
        again, _launched = _launched, True
    if again:
        raise RuntimeError("run: the ranks that mpiexec has given this process have run, and a rank starts once: do all in one run")
    results = [None] * n

    def be():
        libtpsl.MPI_Init_thread(None, None, MPI_THREAD_MULTIPLE, ctypes.byref(ctypes.c_int()))
        slot = libtpsl.TPSL_Slot()
        results[slot] = _be(_ranks.Caller(0, here[slot], here), f)
        over = ctypes.c_int()
        libtpsl.MPI_Finalized(ctypes.byref(over))
        if not over:
            libtpsl.MPI_Finalize()

    _wait_for([threading.Thread(target=be) for _ in range(n)])
    return results


# How long, in seconds, the waiting thread may not notice a signal: one that another thread takes, or that comes just before the
# wait begins, does not wake it.
_UNNOTICED = 0.5


def _wait_for(threads):
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(_UNNOTICED)
    except KeyboardInterrupt:  # the ranks cannot hear of it
        _flush()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)


def run(n, f):
    """Calls f(rank) on n ranks, each a thread of this interpreter that has initialised MPI, and returns their results, by rank.

    Under mpiexec -tpsl shared -rpp n the ranks are those of the launcher's job, once; without a launcher they are a job of their own, again
    and again.
    An exception that f lets pass ends the process.
    """
    n = operator.index(n)
    if not 1 <= n < 1 << 31:
        raise ValueError(f"run: {n} ranks: want 1 or more, and fewer than 2^31")
    if not callable(f):
        raise TypeError(f"run: a {type(f).__qualname__} cannot be called")
    if _library.here_is_host():
        raise RuntimeError("run: this interpreter is a private rank: start the program with mpiexec -tpsl shared, or without mpiexec")
    _ranks.caller()
    if _ranks.is_of_run():
        raise RuntimeError("run: the calling thread is a rank already")
    return (_run_launched if _ranks.is_launched() else _run_own)(_load(), n, f)
