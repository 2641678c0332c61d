# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

"""What the benchmarks in Python have in common."""

import re
import sys
import traceback

import tpsl
from mpi4py import MPI

world = MPI.COMM_WORLD


def end_all(*error):
    """An exception of one rank ends the job. The other ranks would wait for it."""
    traceback.print_exception(*error)
    sys.stderr.flush()
    world.Abort(1)


sys.excepthook = end_all


def memory():
    """The memory of all ranks in bytes, with page tables; what processes share counts once. For rank 0."""
    own = 0
    if world.rank == tpsl.ranks_here()[0]:  # its address space is that of the others here
        for file, field in ("smaps_rollup", "Pss"), ("status", "VmPTE"):
            with open("/proc/self/" + file) as lines:
                own += int(re.search(rf"^{field}:\s+(\d+) kB$", lines.read(), re.M)[1]) * 1024
    return world.reduce(own)
