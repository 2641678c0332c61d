# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

"""Adds an array of all ranks."""

import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
mine = numpy.full(4, world.rank + 1.0)
total = numpy.empty(4)
world.Allreduce(mine, total)
if world.rank == 0:
    print(f"{world.size} ranks: {total}")
