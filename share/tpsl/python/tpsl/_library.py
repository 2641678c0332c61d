# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

"""tpsl's library of shared blocks (process/arrays/arrays.c), as functions of Python."""

import ctypes
import os

try:
    from ._installed import LIBRARIES  # written by pip (tpsl_wheel.py)
except ImportError:
    LIBRARIES = os.path.normpath(os.path.join(os.path.dirname(__file__), "..", "..", "..", "..", "lib"))


class Name(ctypes.Structure):
    """struct tpsl_name: whose name it is, and the name."""

    _fields_ = [("job", ctypes.c_int64), ("rank", ctypes.c_int64), ("text", ctypes.c_char_p), ("length", ctypes.c_size_t)]


def _open():
    path = os.path.join(LIBRARIES, "tpsl", "libtpslarrays.so")
    try:
        return ctypes.CDLL(path)
    except OSError as e:
        raise ImportError(f"{e}: install tpsl there, or install this package from the tpsl that is to be used") from None


def _function(name, result, *arguments):
    function = _library[name]
    function.restype, function.argtypes = result, arguments
    return function


_library = _open()
_pointer, _size = ctypes.c_void_p, ctypes.c_size_t
keeper_make = _function("tpsl_keeper_make", _pointer)
keeper_take = _function("tpsl_keeper_take", ctypes.c_uint64, _pointer)
block_make = _function("tpsl_block_make", _pointer, _size)
block_of = _function("tpsl_block_of", _pointer, _pointer, ctypes.c_uint64, _pointer, _size)
block_address = _function("tpsl_block_address", _pointer, _pointer)
block_size = _function("tpsl_block_size", _size, _pointer)
block_leave = _function("tpsl_block_leave", None, _pointer)
name_set = _function("tpsl_name_set", ctypes.c_int, ctypes.POINTER(Name), _pointer, ctypes.c_char_p, _size)
name_remove = _function("tpsl_name_remove", ctypes.c_int, ctypes.POINTER(Name))
name_find = _function("tpsl_name_find", _pointer, ctypes.POINTER(Name), _pointer, _size, ctypes.POINTER(_size))
names_end = _function("tpsl_names_end", None, ctypes.c_int64)
here_is_host = _function("tpsl_here_is_host", ctypes.c_int)
here_slot = _function("tpsl_here_slot", ctypes.c_int)
here_rank = _function("tpsl_here_rank", ctypes.c_int, ctypes.c_int)
