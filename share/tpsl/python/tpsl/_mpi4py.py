# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

"""mpi4py for ranks that are threads of this interpreter: a copy of mpi4py.MPI for each.

The module keeps handles of its MPI library in variables, such as the key of the locks that its collective operations of objects take, and
each rank has an MPI library of its own. So the name mpi4py.MPI is a front, whose names are those of the calling thread's copy.
"""

import importlib.machinery
import importlib.util
import os
import sys
import threading
import types

LIBRARIES = "libmpich.so.12", "libmpi.so.12"  # one of which an mpi4py for MPICH is linked with
_NAME = "mpi4py.MPI"
_lock = threading.Lock()
_thread = threading.local()  # has the copy of a thread
_free = []  # copies that nobody uses
_text = None  # of the file
_finalize = None


def prepare(finalize):
    """Before the first copy of MPI is there. finalize is MPI_Finalize, called without the GIL."""
    global _finalize
    _finalize = finalize
    if _NAME in sys.modules:
        raise RuntimeError(f"run: {_NAME} was imported before the first tpsl.run, with an MPI library for one rank: import it in the function that is run")
    sys.meta_path.insert(0, _Finder)


class _Finder:
    """Finds mpi4py.MPI where Python does, and makes the front of it."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        global _text
        spec = importlib.machinery.PathFinder.find_spec(name, path, target) if name == _NAME else None
        if spec is None:
            return None
        with open(spec.origin, "rb") as file:
            _text = file.read()
        if not any(library.encode() + b"\0" in _text for library in LIBRARIES):
            raise ImportError(f"{spec.origin} is built for another MPI library: threads of tpsl.run need an mpi4py for MPICH")
        # Its faster way to reduce objects makes a communicator while it holds the GIL, for which the other ranks wait.
        sys.modules["mpi4py"].rc.fast_reduce = False
        return importlib.machinery.ModuleSpec(name, _Finder, origin=spec.origin)

    @staticmethod
    def create_module(spec):
        return _Front(spec.name)

    @staticmethod
    def exec_module(module):
        pass


class _Front(types.ModuleType):
    __doc__ = property(lambda self: _own().__doc__)

    def __getattr__(self, name):
        return getattr(_own(), name)

    def __dir__(self):
        return dir(_own())


def of_thread():
    """The copy that the calling thread has used, None: none."""
    return getattr(_thread, "copy", None)


def _own():
    """The calling thread's copy. MPI's errors are exceptions, as after an import by the only rank of a process."""
    if of_thread() is None:
        with _lock:
            _thread.copy = _free.pop() if _free else _load()
        if _thread.copy.Is_initialized() and not _thread.copy.Is_finalized():
            for world in _thread.copy.COMM_SELF, _thread.copy.COMM_WORLD:
                world.Set_errhandler(_thread.copy.ERRORS_RETURN)
    return _thread.copy


def give_back(copies):
    """Lets other ranks use copies, when MPI has been finalised on the ranks that used them."""
    with _lock:
        _free.extend(copy for copy in copies if copy is not None)


def _load():
    file = os.memfd_create(_NAME)  # it stays open, because ld.so knows a library by its name, and another one must not have the same
    rest = memoryview(_text)
    while rest:
        rest = rest[os.write(file, rest):]
    loader = importlib.machinery.ExtensionFileLoader(_NAME, f"/proc/self/fd/{file}")
    copy = importlib.util.module_from_spec(importlib.util.spec_from_file_location(_NAME, loader.path, loader=loader))
    loader.exec_module(copy)

    def finalize():
        """Finalises MPI on this rank, and lets the other ranks run meanwhile."""
        code = _finalize()
        if code != 0:
            raise copy.Exception(code)

    copy.Finalize = finalize  # its own holds the GIL, for which the other ranks wait
    return copy
