# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

"""Runs mpi4py's own suite on ranks that are threads: threads_suite.py RANKS FOLDER. With 0 ranks this process is one rank.

The suite takes MPI.COMM_WORLD and others at the top of its modules, so each rank loads the modules for itself. All ranks run the same
tests in the same order. stdout tells how many ran, failed and were skipped on each rank.
"""

import glob
import importlib
import io
import os
import re
import sys
import threading
import unittest

import tpsl

ranks, folder = int(sys.argv[1]), sys.argv[2]
sys.path.insert(0, folder)
lock = threading.Lock()
SHARED = {"mpi4py", "mpi4py.MPI", "mpi4py.rc"}
LEFT_OUT = re.compile("|".join([
    r"test_cco_(nb_)?buf\..*\.testReduceScatter$",  # mpi4py holds the GIL while it asks the other ranks for their counts
    r"test_util_pkl5\..*(Inter|BigMPI)$",  # mpi4py holds the GIL while it makes a communicator
    r"test_threads\..*\.testIsThreadMain",  # the rank's main thread is not the interpreter's
    r"test_errorcode\.",  # reads vars(MPI)
    r"test_util_dtlib\.",  # runs Python for minutes, one rank at a time
]))


def tests(suite):
    """Those of a suite that are to run."""
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from tests(test)
        elif not LEFT_OUT.match(test.id()):
            yield test


def load():
    """The tests, in modules that no other rank has."""
    with lock:
        for name in list(sys.modules):
            file = getattr(sys.modules[name], "__file__", None) or ""
            if os.path.dirname(file) == folder or name.startswith("mpi4py.") and name not in SHARED:
                del sys.modules[name]
        names = sorted(os.path.basename(file)[:-3] for file in glob.glob(folder + "/test_*.py"))
        modules = [importlib.import_module(name) for name in names if not LEFT_OUT.match(name + ".")]
        return unittest.TestSuite(tests(map(unittest.defaultTestLoader.loadTestsFromModule, modules)))


def work(rank):
    said = io.StringIO()
    result = unittest.TextTestRunner(said).run(load())
    if not result.wasSuccessful():
        sys.stderr.write(f"rank {rank}:\n{said.getvalue()}")
    return result.testsRun, len(result.failures) + len(result.errors), len(result.skipped)


for answer in tpsl.run(ranks, work) if ranks else [work(0)]:
    print("ran %d, failed %d, skipped %d" % answer)
