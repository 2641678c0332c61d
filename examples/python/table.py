# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

"""Adds up a table, of which each process has one: the first rank of each process reads it, and all ranks there view it."""

import numpy
import tpsl
from mpi4py import MPI

world = MPI.COMM_WORLD
here = tpsl.ranks_here()
if world.rank == here[0]:
    table = tpsl.shared_empty((1000, 1000))
    table[:] = numpy.arange(1000000.0).reshape(1000, 1000)  # in place of a file
    tpsl.share(table, "table")
world.Barrier()  # now it is shared
table = tpsl.view(here[0], "table")
total = world.allreduce(table[world.rank::world.size].sum())
if world.rank == 0:
    print(f"{world.size} ranks, {len(here)} of them with this table: {total:.0f}")
