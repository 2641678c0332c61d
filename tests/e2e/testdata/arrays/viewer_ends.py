# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

"""Rank 1 views arrays and ends; rank 0 goes on, and memory that nobody uses goes."""

import os

import numpy

import tpsl
from meeting import Meeting, gone, rank, there, until
from tpsl import _arrays

SIZE = 1 << 24
meet = Meeting()


def mapped(address):
    with open("/proc/self/maps") as maps:
        return any(int(start, 16) <= address < int(end, 16) for start, end in (line.split()[0].split("-") for line in maps))


if rank == 0:
    numbers, mine = numpy.arange(SIZE), tpsl.shared_empty(SIZE)
    addresses = [a.__array_interface__["data"][0] for a in (numbers, mine)]
    tpsl.share(numbers, "numbers")
    tpsl.share(mine, "mine")
    pid = there(1, "process")[0]
    meet()
    until(lambda: gone(pid), "the viewer's end")
    mine[:] = numbers
    assert (tpsl.view(0, "mine") == numbers).all()
    tpsl.unshare("numbers")
    tpsl.unshare("mine")
    assert all(map(mapped, addresses))
    del numbers, mine
    assert not any(map(mapped, addresses)), "memory that nobody uses is given back"
    assert not _arrays._kept
    print("given back")
else:
    tpsl.share(numpy.array([os.getpid()]), "process")
    views = there(0, "numbers"), there(0, "mine")
    assert views[0][-1] == SIZE - 1 and views[1][5] == 0
    meet()
