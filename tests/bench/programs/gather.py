# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

"""gather.py MODE MILLISECONDS SIZE,...: how long it takes until each rank has the arrays of all, of so many bytes each, and until it has added them up.

MODE: flat or private, by an allgather of MPI; views, by views of the others' arrays.
"""

import sys
import time

import numpy
import tpsl
from mpi4py import MPI
from ranks import world

mode, milliseconds = sys.argv[1], int(sys.argv[2])


def of_mpi(mine, everything):
    world.Allgather(mine, everything)
    return [everything]


def of_views(mine, everything):
    world.Barrier()
    return [tpsl.view(rank, "mine") for rank in range(world.size)]


def turn(number, mine, everything, add):
    mine[:] = number
    parts = (of_views if mode == "views" else of_mpi)(mine, everything)
    total = sum(part.sum() for part in parts) if add else None
    if mode == "views":
        world.Barrier()  # all have read; before, nobody may write
    return total


def measure(size, add):
    mine = tpsl.shared_empty(size // 8) if mode == "views" else numpy.empty(size // 8)
    everything = numpy.empty(size // 8 * world.size)
    if mode == "views":
        tpsl.share(mine, "mine")
    for number in range(3):  # memory that is written for the first time takes longer
        turn(number, mine, everything, add)
    rounds, took = 1, 0
    while rounds == 1 or took < milliseconds / 1e3:
        world.Barrier()
        begin = time.perf_counter()
        for number in range(rounds):
            turn(number, mine, everything, add)
        took = world.allreduce(time.perf_counter() - begin, MPI.MAX)
        rounds *= 2
    if turn(7, mine, everything, True) != 7 * world.size * (size // 8):
        sys.exit("gather.py: wrong items")
    if world.rank == 0:
        print(f"BenchmarkGather{'AndAdd' if add else ''}/mode={mode}/ranks={world.size}/size={size} {rounds // 2} {took / (rounds // 2) * 1e6:.3f} us/round")


for size in map(int, sys.argv[3].split(",")):
    measure(size, False)
    measure(size, True)
