# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

"""table.py MODE MIB: a table of so many MiB that all ranks read, and what memory each rank takes beside it.

MODE: own, each rank has the table; window, they have it in shared memory of MPI; views, they view the table of rank 0; flat or private,
there is none.
"""

import sys
import time

import numpy
import tpsl
from mpi4py import MPI
from ranks import memory, world

mode, size = sys.argv[1], int(sys.argv[2]) << 20
items = size // 8
if mode == "own":
    table = numpy.empty(items)
elif mode == "window":
    window = MPI.Win.Allocate_shared(size if world.rank == 0 else 0, 8, comm=world)
    table = numpy.frombuffer(window.Shared_query(0)[0], float)
elif mode == "views":
    if world.rank == 0:
        tpsl.share(tpsl.shared_empty(items), "table")
    world.Barrier()
    table = tpsl.view(0, "table")
else:
    table = numpy.empty(0)
if world.rank == 0 or mode == "own":
    table[:] = 1
filled = world.Ibarrier()
while not filled.Test():
    time.sleep(0.02)  # and leaves the processor to rank 0
PAGE = 4096 // 8
if table[::PAGE].sum() != len(table[::PAGE]):  # all pages are there
    sys.exit("table.py: wrong items")
world.Barrier()
taken = memory()
if world.rank == 0:
    print(f"BenchmarkTable/mode={mode}/ranks={world.size}/size={sys.argv[2]} 1 {(taken - size) / world.size / 1e6:.3f} MB/rank")
