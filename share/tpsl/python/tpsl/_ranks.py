# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

"""Which ranks of MPI_COMM_WORLD are in this process, and which of them the caller is."""

import collections
import itertools
import os
import threading

from . import _library

# job: the number of the caller's job in this process; rank: None where it is none; here: the job's ranks in this process.
Caller = collections.namedtuple("Caller", "job rank here")


def _numbers():
    """The ranks that a launcher has started this process as, as it writes them; "" without a launcher."""
    return next(filter(None, map(os.environ.get, ("PMI_RANK", "PMIX_RANK", "PMI_ID"))), "")


def is_launched():
    return _numbers() != ""


def _of_environment():
    numbers = _numbers()
    try:
        return [int(number) for number in numbers.split(",")] if numbers else [0]
    except ValueError:
        raise ImportError(f"tpsl: the launcher says that this process has the ranks {numbers!r}: want numbers with commas between") from None


def _of_process():
    """The caller on threads that tpsl.run has not made."""
    if _library.here_is_host():
        here = sorted(itertools.takewhile(lambda rank: rank >= 0, map(_library.here_rank, itertools.count())))
        return Caller(0, _library.here_rank(_library.here_slot()), here)
    here = _of_environment()
    return Caller(0, here[0] if len(here) == 1 else None, here)


_process = os.getpid()
_usual = _of_process()
_thread = threading.local()  # has the caller that a thread of tpsl.run is


def is_copy():
    """Whether this process is a child that was forked: it has a copy of the memory, and is no rank."""
    return os.getpid() != _process


def become(who):
    """Makes the calling thread, which is of tpsl.run, a rank."""
    _thread.caller = who


def is_of_run():
    """Whether the calling thread is a rank that tpsl.run has started."""
    return hasattr(_thread, "caller")


def caller():
    if is_copy():
        raise RuntimeError("tpsl: this process was made by fork: it has a copy of memory, shares nothing and starts no ranks; the methods spawn and forkserver of multiprocessing make processes that can")
    return getattr(_thread, "caller", _usual)


def rank_caller():
    who = caller()
    if who.rank is None:
        raise RuntimeError(f"tpsl: this thread is none of the ranks {who.here} of its process, which are those that tpsl.run starts")
    return who


def ranks_here():
    """The ranks of MPI_COMM_WORLD whose memory is this process's, in order; of a flat process its own rank."""
    return list(caller().here)
