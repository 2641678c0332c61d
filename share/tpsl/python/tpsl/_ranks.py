# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

"""Which ranks of MPI_COMM_WORLD are in this process, and which of them the caller is."""

import itertools
import os

from . import _library


def _of_environment():
    """The rank that a launcher has started this process as, 0 without a launcher."""
    number = os.environ.get("PMI_RANK") or os.environ.get("PMIX_RANK") or os.environ.get("PMI_ID") or "0"
    try:
        return int(number)
    except ValueError:
        raise ImportError(f"tpsl: the launcher says that this process is rank {number!r}: want one number") from None


_process = os.getpid()
if _library.here_is_host():
    _own = _library.here_rank(_library.here_slot())
    _here = sorted(itertools.takewhile(lambda rank: rank >= 0, map(_library.here_rank, itertools.count())))
else:
    _own = _of_environment()
    _here = [_own]


def is_copy():
    """Whether this process is a child that was forked: it has a copy of the memory, and is no rank."""
    return os.getpid() != _process


def _must_be_rank():
    if is_copy():
        raise RuntimeError("tpsl: this process was made by fork: it has a copy of its rank's memory, so it shares nothing")


def own_rank():
    """The rank in MPI_COMM_WORLD that the caller is."""
    _must_be_rank()
    return _own


def ranks_here():
    """The ranks of MPI_COMM_WORLD whose memory is this process's, in order; of a flat process its own rank."""
    _must_be_rank()
    return list(_here)
