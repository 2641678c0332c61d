# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

"""Rank 0 shares arrays and ends; rank 1 views them before and after that."""

import array
import mmap
import os
import sys
import threading
import time

import numpy

import tpsl
from meeting import Meeting, gone, rank, there, until

how, folder = sys.argv[1:]
meet = Meeting()
LENGTH = {"small": 3, "large": 1 << 20}


def make():
    for size, n in LENGTH.items():
        numbers = numpy.arange(n, dtype="i4")
        text = numbers.astype("u1").tobytes()
        yield f"numpy {size}", numbers
        yield f"part {size}", numpy.arange(2 * n, dtype="i4")[:n]
        yield f"bytes {size}", text
        yield f"bytearray {size}", bytearray(text)
        yield f"array {size}", array.array("i", numbers)
        mapped = mmap.mmap(-1, n)
        mapped[:] = text
        yield f"mmap {size}", mapped
        path = os.path.join(folder, size)
        numpy.save(path, numbers)
        yield f"file {size}", numpy.load(path + ".npy", mmap_mode="r")
        mine = tpsl.shared_empty(n, "i4")
        mine[:] = numbers
        yield f"mine {size}", mine


def right(name, found):
    n = LENGTH[name.split()[1]]
    want = numpy.arange(n)
    assert len(found) == n and (found == (want.astype("u1") if found.dtype.itemsize == 1 else want)).all(), name


def owner():
    for name, value in make():
        tpsl.share(value, name)
    names = [name for name, _ in make()]
    del value
    tpsl.share(numpy.array([os.getpid()]), "process")
    meet()
    meet()
    if how == "thread":
        hers = [tpsl.view(0, name) for name in names]
        threading.Thread(target=lambda: [int(a.sum()) for a in hers for _ in iter(int, 1)], daemon=True).start()
    elif how == "exit":
        sys.exit(0)
    elif how == "raise":
        raise ValueError("the owner raises")
    elif how == "_exit":
        os._exit(0)
    elif how == "exec":
        os.execv("/bin/true", ["true"])


def viewer():
    meet()
    names = [name for name, _ in make()]
    before = {name: tpsl.view(0, name) for name in names}
    pid = int(tpsl.view(0, "process")[0])
    for name, found in before.items():
        right(name, found)
    meet()
    until(lambda: gone(pid), "the owner's end")
    # Whatever the owner has given back is now somebody else's.
    litter = [numpy.full(n, 77, "i4") for n in LENGTH.values() for _ in range(50)] + [bytearray(b"\x77" * n) for n in (3, 1 << 20) for _ in range(50)]
    for name, found in before.items():
        right(name, found)
        right(name, tpsl.view(0, name))
    for name, value in make():
        tpsl.share(value, name)
        right(name, tpsl.view(1, name))
    print("all", len(names), "arrays are there,", len(litter), "others made")


owner() if rank == 0 else viewer()
