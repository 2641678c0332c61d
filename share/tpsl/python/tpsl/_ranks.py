# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

"""Which ranks of MPI_COMM_WORLD are in this process, and which of them the caller is."""

import itertools
import os

from . import _library

_process = os.getpid()


def is_copy():
    """Whether this process is a child that was forked: it has a copy of the memory, and is no rank."""
    return os.getpid() != _process


def _of_environment():
    """The rank that a launcher has started this process as, 0 without a launcher."""
    number = os.environ.get("PMI_RANK") or os.environ.get("PMIX_RANK") or os.environ.get("PMI_ID") or "0"
    try:
        return int(number)
    except ValueError:
        raise RuntimeError(f"tpsl: the launcher says that this process is rank {number!r}: want one number") from None


def own_rank():
    """The rank in MPI_COMM_WORLD that the caller is."""
    if is_copy():
        raise RuntimeError("tpsl: this process was made by fork: it has a copy of its rank's memory, so it shares nothing")
    return _library.here_rank(_library.here_slot()) if _library.here_is_host() else _of_environment()


def ranks_here():
    """The ranks of MPI_COMM_WORLD whose memory is this process's, in order; of a flat process its own rank."""
    own = own_rank()
    if not _library.here_is_host():
        return [own]
    return sorted(itertools.takewhile(lambda rank: rank >= 0, map(_library.here_rank, itertools.count())))
