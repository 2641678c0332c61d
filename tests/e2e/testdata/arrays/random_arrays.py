# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

"""Ranks share, view, hold and let go arrays at random, by several threads each. Every array says whose it is in all its items."""

import random
import sys
import threading

import numpy

import tpsl
from meeting import Meeting, rank, size
from tpsl import _arrays

steps, threads, names = int(sys.argv[1]), int(sys.argv[2]), 40
meet = Meeting()
viewed = [0] * threads


def new_array(dice, mark):
    shape = [dice.choice((0, 1, 2, 3, 30)) for _ in range(dice.randrange(4))]
    if dice.random() < 0.01:
        shape = [50000]
    dtype = dice.choice(("i4", ">i8", "f8"))
    array = tpsl.shared_empty(shape, dtype) if dice.random() < 0.5 else numpy.empty(shape, dtype)
    array[...] = mark
    if array.ndim and dice.random() < 0.3:
        array = array[::dice.choice((-1, 2, -2))]
    return array


def work(thread):
    dice, held = random.Random(f"{rank} {thread}"), []
    for step in range(steps // threads):
        name = dice.randrange(names)
        if dice.random() < 0.4:
            tpsl.share(new_array(dice, rank * names + name), str(name))
        elif dice.random() < 0.1:
            try:
                tpsl.unshare(str(name))
            except LookupError:
                pass
        else:
            of = dice.randrange(size)
            try:
                held.append((tpsl.view(of, str(name)), of * names + name))
                viewed[thread] += 1
            except LookupError:
                pass
        while len(held) > 50 or (held and dice.random() < 0.4):
            array, mark = held.pop(dice.randrange(len(held)))
            assert (array == mark).all(), (rank, step, array, mark)


failures = []
threading.excepthook = lambda hook: (failures.append(hook.exc_value), sys.__excepthook__(*hook[:3]))
workers = [threading.Thread(target=work, args=(thread,)) for thread in range(threads)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
assert not failures
meet()
for name in range(names):
    try:
        tpsl.unshare(str(name))
    except LookupError:
        pass
meet()
_arrays.collect()
assert not _arrays._kept, "arrays that nobody views are not kept"
print("rank", rank, "viewed enough" if sum(viewed) > steps / 4 else viewed)
