# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

"""Runs modules of mpi4py's own suite on ranks that are threads: threads_suite.py RANKS FOLDER MODULE...

The suite takes MPI.COMM_WORLD and others at the top of its modules, so each rank loads the modules for itself. All ranks run the same
tests in the same order. stdout tells how many ran, failed and were skipped on each rank.
"""

import importlib
import io
import os
import sys
import threading
import unittest

import tpsl

ranks, folder, modules = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
sys.path.insert(0, folder)
lock = threading.Lock()
SHARED = {"mpi4py", "mpi4py.MPI", "mpi4py.rc"}


def load():
    """The tests, in modules that no other rank has."""
    with lock:
        for name in list(sys.modules):
            file = getattr(sys.modules[name], "__file__", None) or ""
            if os.path.dirname(file) == folder or name.startswith("mpi4py.") and name not in SHARED:
                del sys.modules[name]
        return unittest.TestSuite(unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module(name)) for name in modules)


def work(rank):
    said = io.StringIO()
    result = unittest.TextTestRunner(said, verbosity=2 if os.environ.get("VERBOSE") else 1).run(load())
    if not result.wasSuccessful():
        sys.stderr.write(f"rank {rank}:\n{said.getvalue()}")
    return result.testsRun, len(result.failures) + len(result.errors), len(result.skipped)


answers = tpsl.run(ranks, work)
for answer in answers:
    print("ran %d, failed %d, skipped %d" % answer)
