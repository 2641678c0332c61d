# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

"""Ranks that are threads of this interpreter. MPI is called by ctypes: no mpi4py is needed."""

import ctypes
import os
import signal
import sys
import threading
import time
import warnings

import numpy

import tpsl
from meeting import raises
from tpsl import _arrays

WORLD, DOUBLE, SUM = 0x44000000, 0x4C00080B, 0x58000003  # of MPICH's ABI


def mpi():
    return ctypes.CDLL("libmpich.so.12")


def total(value):
    """The sum of a number of all ranks."""
    mine, all_of_them = ctypes.c_double(value), ctypes.c_double()
    mpi().MPI_Allreduce(ctypes.byref(mine), ctypes.byref(all_of_them), 1, DOUBLE, SUM, WORLD)
    return all_of_them.value


def barrier():
    mpi().MPI_Barrier(WORLD)


def work(rank):
    here, size = tpsl.ranks_here(), ctypes.c_int()
    mpi().MPI_Comm_size(WORLD, ctypes.byref(size))
    assert total(rank) == size.value * (size.value - 1) / 2
    mine, more = tpsl.shared_empty(1000), numpy.arange(1000) + rank
    mine[:] = rank
    tpsl.share(mine, "mine")
    tpsl.share(more, "more")
    barrier()
    for of in here:
        assert (tpsl.view(of, "mine") == of).all() and (tpsl.view(of, "more") == numpy.arange(1000) + of).all()
    raises(ValueError, "is not in this process", tpsl.view, size.value, "mine")
    raises(RuntimeError, "run: the calling thread is a rank already", tpsl.run, 1, print)
    barrier()
    return rank, size.value, here, tpsl.view(here[-1], "mine")


def right(results, here, size):
    assert len(results) == len(here)
    for rank, (its, of, ranks, last) in zip(here, results):
        assert (its, of, ranks) == (rank, size, here) and (last == here[-1]).all(), results


def own():
    for n in 1, 2, 4, 3:
        right(tpsl.run(n, work), list(range(n)), n)
        assert not _arrays._kept and tpsl.ranks_here() == [0]
        raises(LookupError, "shares nothing", tpsl.view, 0, "mine")
    found = []
    both = [threading.Thread(target=lambda n=n: [found.append((n, tpsl.run(n, work))) for _ in range(3)]) for n in (2, 3)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert len(found) == 6
    for n, results in found:
        right(results, list(range(n)), n)
    raises(ValueError, "want 1 or more", tpsl.run, 0, work)
    raises(ValueError, "want 1 or more", tpsl.run, 1 << 32, work)
    raises(TypeError, "integer", tpsl.run, "2", work)
    raises(TypeError, "a int cannot be called", tpsl.run, 2, 2)
    assert tpsl.run(2, lambda rank: sys.exit()) == [None, None]
    print("own")


def launched():
    here, size = tpsl.ranks_here(), int(os.environ["PMI_SIZE"])
    raises(ValueError, "-tpsl shared -rpp", tpsl.run, len(here) + 1, work)
    if len(here) > 1:
        raises(RuntimeError, "this thread is none of the ranks", tpsl.share, numpy.arange(3), "mine")
    right(tpsl.run(len(here), work), here, size)
    raises(RuntimeError, "a rank starts once", tpsl.run, len(here), work)
    print("launched", here)


def ends(how):
    def body(rank):
        if rank == 1:
            print("kept until the end", end="")
            exec({"raise": "raise ValueError('why')", "exit": "sys.exit(3)", "exit text": "sys.exit('why')"}[how])
        barrier()
        time.sleep(100)

    tpsl.run(2, body)


def child(how):
    warnings.simplefilter("ignore", DeprecationWarning)  # of fork beside threads

    def body(rank):
        if rank == 1:
            pid = os.fork()
            if pid == 0:
                exec({"raise": "raise ValueError('why')", "exit none": "sys.exit()", "exit 0": "sys.exit(0)", "exit": "sys.exit(3)", "exit large": "sys.exit(2**40 + 4)", "exit huge": "sys.exit(2**70)",
                      "exit text": "sys.exit('why')", "return": ""}[how])
                return
            print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        barrier()

    tpsl.run(2, body)


def waits(who="the test interrupts"):
    def body(rank):
        barrier()
        if rank == 0:
            print("ready", flush=True)
            if who == "itself":
                signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        time.sleep(100)

    tpsl.run(2, body)


def private():
    raises(RuntimeError, "run: this interpreter is a private rank", tpsl.run, 2, work)
    print("refused")


def other_mpi():
    def body(rank):
        from mpi4py import MPI

    tpsl.run(2, body)


def early():
    from mpi4py import MPI

    raises(RuntimeError, "mpi4py.MPI was imported before the first tpsl.run", tpsl.run, 2, work)
    print("refused")


globals()[sys.argv[1]](*sys.argv[2:])
