# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

"""Adds arrays of all ranks, and gathers objects."""

import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
total = numpy.empty(1000)
world.Allreduce(numpy.full(1000, world.rank + 1.0), total)
assert (total == total[0]).all()
print("%d of %d: %s %s" % (world.rank, world.size, total.sum(), world.allgather(world.rank)))
