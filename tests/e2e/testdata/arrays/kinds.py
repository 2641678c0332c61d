# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

"""Ranks share arrays of all kinds, view those of the others, and write to them."""

import array
import mmap
import multiprocessing.shared_memory

import numpy
from numpy.lib.stride_tricks import as_strided, sliding_window_view

import tpsl
from meeting import Meeting, raises, rank, size, there

meet = Meeting()
other = (rank + 1) % size

table = numpy.arange(24.0).reshape(4, 6) + rank
records = numpy.zeros(3, [("a", "<i2"), ("b", ">f8", (2, 2)), ("c", [("d", "S3"), ("e", "M8[ms]")])])
records["b"], records["c"]["d"], records["c"]["e"] = rank, b"abc", "2026-01-02T03:04:05.678"
spread = numpy.array([(rank, 2)], numpy.dtype({"names": ["x", "y"], "formats": ["u1", "<i8"], "offsets": [3, 8], "itemsize": 24, "titles": [None, "why"]}))
locked = numpy.arange(5) + rank
locked.flags.writeable = False
mapped = mmap.mmap(-1, 8192)
mapped[:4] = bytes([rank, 1, 2, 3])
mine = tpsl.shared_empty((3, 2), "c16")
mine[:] = 1j * rank
arrays = {
    "table": table, "fortran": numpy.asfortranarray(table), "column": table[:, 2], "step": table[1::2, ::3], "back": table[::-1, ::-2],
    "transposed": table.T, "broadcast": numpy.broadcast_to(numpy.float32(rank), (2, 3)), "records": records, "field": records["b"], "aligned": spread,
    "inner": records["c"]["e"], "bool": numpy.array([True, False]), "half": numpy.arange(3, dtype="f2"), "big": numpy.arange(3, dtype=">u4"),
    "long": numpy.arange(3, dtype="g"), "text": numpy.array(["a", "\u20ac", str(rank)]), "delta": numpy.array([1, 2], "m8[h]"),
    "locked": locked, "scalar": numpy.array(rank + 0.5), "none": numpy.empty((0, 3)), "none at end": table[4:, ::-1], "void": numpy.zeros(2, "V7"),
    "bytes": b"bytes%d" % rank, "bytearray": bytearray(b"%d of" % rank), "array": array.array("i", [rank, -1]), "mmap": mapped,
    "cut": memoryview(bytearray(range(10)))[2:8:2], "mine": mine, "mine, in part": mine[::2, 1],
    "strided": as_strided(table, (3, 2), (48, 16)), "windows": sliding_window_view(table[1], 3)[::-1],
    "2 GiB away": None, "one": numpy.ones((1, 1, 1)), "32": numpy.ones((1,) * 32), "": numpy.arange(2), "a\0b \u20ac": numpy.arange(1),
}
far = numpy.zeros(1 << 31, "u1")
far[-1] = rank + 1
arrays["2 GiB away"] = far[(1 << 31) - 1::-((1 << 31) - 1)]
for name, value in arrays.items():
    tpsl.share(value, name)
meet()

for name, value in arrays.items():
    found = tpsl.view(other, name)
    want = numpy.asarray(memoryview(value)) if not isinstance(value, numpy.ndarray) else value
    assert type(found) is numpy.ndarray
    assert found.dtype == want.dtype and found.dtype.fields == want.dtype.fields and found.shape == want.shape, name
    assert found.flags.writeable == want.flags.writeable, name
    assert 0 in want.shape or found.strides == want.strides, name
    assert not found.flags.owndata
    address = tpsl.view(rank, name).__array_interface__["data"][0]
    assert 0 in want.shape or address == want.__array_interface__["data"][0], name
    if not found.flags.writeable:
        raises(ValueError, "WRITEABLE", found.setflags, True)
assert (tpsl.view(other, "table") == numpy.arange(24.0).reshape(4, 6) + other).all()
assert (tpsl.view(other, "back") == (numpy.arange(24.0).reshape(4, 6) + other)[::-1, ::-2]).all()
assert (tpsl.view(other, "records")["b"] == other).all() and tpsl.view(other, "inner")[1] == numpy.datetime64("2026-01-02T03:04:05.678")
assert tpsl.view(other, "aligned")["why"][0] == 2 and tpsl.view(other, "scalar")[()] == other + 0.5
assert bytes(tpsl.view(other, "bytes")) == b"bytes%d" % other and bytes(tpsl.view(other, "cut")) == b"\2\4\6"
assert tpsl.view(other, "mmap")[0] == other and (tpsl.view(other, "mine, in part") == 1j * other).all() and list(tpsl.view(other, "2 GiB away")) == [other + 1, 0]
meet()

# What one rank writes is what the other reads, by each array of the same memory.
tpsl.view(other, "column")[1] = 1000 + rank
tpsl.view(other, "mine")[2, 1] = 2000 + rank
tpsl.view(other, "bytearray")[0] = ord("x")
meet()
before = (rank - 1) % size
assert table[1, 2] == tpsl.view(rank, "transposed")[2, 1] == 1000 + before and mine[2, 1] == 2000 + before and arrays["bytearray"][:1] == b"x"
meet()

# A view is an array like others: it can be shared again, and an array of it keeps the memory.
if rank == 0:
    tpsl.share(tpsl.view(other, "table")[1:], "again")
    again = there(0, "again")[:, 3]
    tpsl.unshare("again")
    assert (again == table[1:, 3] - rank + other).all() or again[0] == 1000 + before
    raises(LookupError, "unshare: this rank shares nothing by the name 'again'", tpsl.unshare, "again")
    raises(LookupError, "view: rank 1 shares nothing by the name 'nothing'", tpsl.view, 1, "nothing")
    raises(ValueError, f"view: rank {size} is not in this process", tpsl.view, size, "table")
    raises(ValueError, "view: rank -1 is not in this process", tpsl.view, -1, "table")
    raises(TypeError, "integer", tpsl.view, "0", "table")
    raises(TypeError, "a str, and not of type int", tpsl.view, 0, 1)
    raises(TypeError, "a str, and not of type bytes", tpsl.share, table, b"a")
    raises(TypeError, "share: what is of type list has no buffer", tpsl.share, [1], "a")
    raises(TypeError, "share: what is of type str has no buffer", tpsl.share, "abc", "a")
    raises(TypeError, "objects of this rank's interpreter", tpsl.share, numpy.array([None]), "a")
    raises(TypeError, "objects of this rank's interpreter", tpsl.share, numpy.zeros(1, [("a", "i4"), ("b", "O")]), "a")
    raises(TypeError, "objects of this rank's interpreter", tpsl.shared_empty, 1, object)
    import ctypes
    for foreign in (ctypes.c_int * 2)(), numpy.frombuffer((ctypes.c_int * 2)(), "i4"), numpy.float64(1), numpy.ctypeslib.as_array((ctypes.c_int * 2)()):
        raises(ValueError, "tpsl.shared_empty", tpsl.share, foreign, "a")
    for strides in (8,), (-8,):
        raises(ValueError, "reaches beyond the memory of the array below it", tpsl.share, as_strided(table, (25,), strides), "a")
    raises(ValueError, "negative", tpsl.shared_empty, (2, -1))
    raises(TypeError, "integer", tpsl.shared_empty, 1.5)
    raises(MemoryError, "(1152921504606846976,)", tpsl.shared_empty, 1 << 60)
    raises((OverflowError, MemoryError), "", tpsl.shared_empty, (1 << 40, 1 << 40))
    raises(ValueError, "resize", table.resize, 1000)
    raises(BufferError, "", arrays["bytearray"].append, 1)
    raises(BufferError, "", mapped.close)
    # An array that numpy makes of a buffer refers to its object, and does not keep that from being resized or closed.
    text, numbers, file, shared = bytearray(8000), array.array("d", [1, 2]), mmap.mmap(-1, 8192), multiprocessing.shared_memory.SharedMemory(create=True, size=8000)
    for name, buffer, change in (("text", text, text.clear), ("numbers", numbers, lambda: numbers.append(3)), ("file", file, file.close),
                                 ("shared", shared.buf, shared.close), ("cut", memoryview(text)[8:80], text.clear)):
        tpsl.share(numpy.ndarray(2, "u1", buffer), name)
        del buffer
        raises(BufferError, "", change)
    shared.unlink()
    for name in "text", "numbers", "file", "shared", "cut":
        tpsl.unshare(name)
    late = numpy.ndarray(8000, "u1", text)
    text.clear()
    raises(ValueError, "was resized since", tpsl.share, late, "late")
meet()
print("rank", rank, "of", size, tpsl.ranks_here(), len(arrays), "arrays")
