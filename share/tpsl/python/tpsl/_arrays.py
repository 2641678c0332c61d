# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

"""share, view, shared_empty, unshare.

Below an array that is shared is a block: memory with a count of its users, which the library keeps for all ranks. A view has a use of
its block, and gives it back when the last array that is made of it has gone.
"""

import array as _array
import ctypes
import itertools
import math
import mmap
import operator
import pickle

from . import _library
from ._ranks import caller, is_copy, rank_caller

try:
    import numpy
except ImportError:
    numpy = None

# What numpy's as_strided puts between the array that it makes and the one whose memory that is. It has no name in all versions.
_Strided = type(numpy.lib.stride_tricks.as_strided(numpy.empty(1)).base) if numpy else None

# What this interpreter keeps for others: the objects that have the memory of its blocks, by the block's mark. It has one reference too
# many: what is in it is there when the interpreter has ended, too, since other ranks may view it.
_kept = {}
ctypes.pythonapi.Py_IncRef(ctypes.py_object(_kept))
_marks = itertools.count(1)
_keeper = _library.keeper_make()


def collect():
    """Lets go what nobody views any more."""
    while mark := _library.keeper_take(_keeper):
        del _kept[mark]


class _Use:
    """A use of a block, which ends with the object."""

    def __init__(self, block):
        self.block = block

    def __del__(self):
        if not is_copy():
            _library.block_leave(self.block)
            collect()


def _bytes_of(use):
    """The memory of a block as an object of ctypes, which has the use."""
    address, size = _library.block_address(use.block), _library.block_size(use.block)
    memory = (ctypes.c_char * size).from_address(address)
    memory.tpsl_use = use
    return memory


# ---- which memory an array has ----


class _Buffer(ctypes.Structure):
    """Py_buffer."""

    _fields_ = [("address", ctypes.c_void_p), ("object", ctypes.py_object), ("length", ctypes.c_ssize_t), ("itemsize", ctypes.c_ssize_t),
                ("readonly", ctypes.c_int), ("ndim", ctypes.c_int), ("format", ctypes.c_char_p), ("shape", ctypes.c_void_p),
                ("strides", ctypes.c_void_p), ("suboffsets", ctypes.c_void_p), ("internal", ctypes.c_void_p)]


def _address_of(array):
    """Where the first item of an array or a contiguous memoryview is."""
    if numpy and isinstance(array, numpy.ndarray):
        return array.__array_interface__["data"][0]
    buffer = _Buffer()
    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(array), ctypes.byref(buffer), 0)
    address = buffer.address
    ctypes.pythonapi.PyBuffer_Release(ctypes.byref(buffer))
    return address


def _span(array):
    """The distances in bytes from the first item to where the memory of an array begins and ends."""
    if 0 in array.shape:
        return 0, 0
    ways = [(n - 1) * stride for n, stride in zip(array.shape, array.strides)]
    return sum(min(way, 0) for way in ways), sum(max(way, 0) for way in ways) + array.itemsize


def _root(array):
    """The object that has the memory of an array."""
    while True:
        if isinstance(array, memoryview):
            below = array.obj
        else:
            below = array.base if numpy and isinstance(array, (numpy.ndarray, _Strided)) else None
        if below is None:
            return array
        array = below


def _holder(array, address, size):
    """What keeps the memory of an array where it is, as long as it is not let go; None: nothing would."""
    root = _root(array)
    if numpy and isinstance(root, numpy.ndarray):
        if not root.flags.owndata:
            return None
        begin = _address_of(root)
        if size > 0 and not begin <= address <= address + size <= begin + root.nbytes:  # as_strided does not look
            raise ValueError("share: the array reaches beyond the memory of the array below it: make it anew, with shape and strides that stay within")
        return array
    if not isinstance(root, (bytes, bytearray, _array.array, mmap.mmap)):
        return None
    export = memoryview(root)  # as long as there is one, the object is neither resized nor closed: an array alone may not see to that
    begin = _address_of(export)
    if not begin <= address <= address + size <= begin + export.nbytes:
        raise ValueError(f"share: the memory of the array is no longer that of the {type(root).__qualname__} below it, which was resized since: make the array anew")
    return array, export


def _use_below(array, address, size):
    """A use of a block that the memory is in."""
    root = _root(array)
    use = getattr(root, "tpsl_use", None)
    if use is not None:
        return use
    holder = _holder(array, address, size)
    if holder is None:
        raise ValueError(f"share: the memory is that of a {type(root).__module__}.{type(root).__qualname__}, which may take it back while "
                         "other ranks view it: copy it to an array of tpsl.shared_empty, and share that")
    mark = next(_marks)
    _kept[mark] = holder
    block = _library.block_of(_keeper, mark, address, max(size, 1))
    if not block:
        del _kept[mark]
        raise MemoryError
    return _Use(block)


def _array_of(value):
    """What is to be shared, as an array of numpy; without numpy as a memoryview."""
    if numpy and isinstance(value, numpy.ndarray):
        array = value.view(numpy.ndarray)
    else:
        try:
            array = memoryview(value)
        except TypeError:
            raise TypeError(f"share: what is of type {type(value).__qualname__} has no buffer: share an array, or send the object by MPI") from None
        array = numpy.asarray(array) if numpy else array
    if numpy:
        if array.dtype.hasobject:
            raise TypeError(f"share: items of {array.dtype} are objects of this rank's interpreter: send them by MPI")
    elif not array.c_contiguous:
        raise ValueError("share: without numpy, only memory whose items follow one another can be shared")
    return array


# ---- the functions of the package ----


def _name(job, rank, name):
    if not isinstance(name, str):
        raise TypeError(f"the name of an array is a str, and not of type {type(name).__qualname__}")
    text = name.encode("utf-8", "surrogatepass")
    return _library.Name(job, rank, text, len(text))


def share(array, name):
    """Shares an array, or another object with a buffer, by a name of this rank's: the ranks of the process view it from now on.

    An array that was shared by that name before is not found any more; views of it stay.
    """
    who = rank_caller()
    key = _name(who.job, who.rank, name)
    array = _array_of(array)
    address, (low, high) = _address_of(array), _span(array)
    use = _use_below(array, address + low, high - low)
    kind = array.dtype if numpy else array.format
    readonly = not array.flags.writeable if numpy else array.readonly
    description = pickle.dumps((kind, array.shape, array.strides, address - _library.block_address(use.block), readonly))
    if _library.name_set(key, use.block, description, len(description)) != 0:
        raise MemoryError
    collect()


def unshare(name):
    """Takes the name back. Views stay, and the array's memory goes with the last of them."""
    who = rank_caller()
    if _library.name_remove(_name(who.job, who.rank, name)) != 0:
        raise LookupError(f"unshare: this rank shares nothing by the name {name!r}")
    collect()


def _find(job, rank, name):
    """The use of a block, and what share said of it."""
    key, length, room = _name(job, rank, name), ctypes.c_size_t(0), 256
    while True:
        description = ctypes.create_string_buffer(room)
        block = _library.name_find(key, description, room, length)
        if not block:
            raise LookupError(f"view: rank {rank} shares nothing by the name {name!r}: "
                              "let it share the array, and then wait for it, by MPI.COMM_WORLD.Barrier() or a message")
        if length.value <= room:
            return _Use(block), pickle.loads(description.raw)
        room = length.value


def _view(use, kind, shape, strides, offset, readonly):
    memory = memoryview(_bytes_of(use)).cast("B")
    if readonly:
        memory = memory.toreadonly()
    if isinstance(kind, str):
        memory = memory[offset:offset + math.prod(shape) * _itemsize(kind)]
        return memory.cast(kind) if 0 in shape else memory.cast(kind, shape)  # that of no items has one dimension
    if 0 in shape:
        strides, offset = None, 0
    return numpy.ndarray(shape, kind, numpy.frombuffer(memory, numpy.uint8), offset, strides)


def _itemsize(kind):
    return memoryview(bytes(0)).cast(kind).itemsize


def view(rank, name):
    """The array that a rank of this process shares by that name: the same memory, in an array of numpy or, without numpy, a memoryview.

    It does not wait: rank must have shared it. The memory stays as long as the array, also when rank has ended.
    """
    rank, who = operator.index(rank), caller()
    if rank not in who.here:
        raise ValueError(f"view: rank {rank} is not in this process, which has {list(who.here)}: its arrays come by MPI; ranks_here() tells who is here")
    use, description = _find(who.job, rank, name)
    return _view(use, *description)


def shared_empty(shape, dtype="d"):
    """A new array, all zero, whose memory stays as long as a view of it, whichever rank made it; without numpy, a memoryview of a format."""
    caller()
    try:
        shape = tuple(map(operator.index, shape))
    except TypeError:
        shape = (operator.index(shape),)
    if any(n < 0 for n in shape):
        raise ValueError(f"shared_empty: a shape of {shape} has a negative length")
    kind = numpy.dtype(dtype) if numpy else dtype
    if numpy and kind.hasobject:
        raise TypeError(f"shared_empty: items of {kind} are objects of this rank's interpreter")
    itemsize = kind.itemsize if numpy else _itemsize(kind)
    block = _library.block_make(max(math.prod(shape) * itemsize, 1))
    if not block:
        raise MemoryError(f"shared_empty: no memory for an array of shape {shape} and items of {itemsize} bytes")
    return _view(_Use(block), kind, shape, None, 0, False)
