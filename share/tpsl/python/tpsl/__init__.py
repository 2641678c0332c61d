# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

"""Arrays that MPI ranks of one address space share, without a copy.

mpiexec -n 8 -rpp 8 python3 program.py runs eight ranks in one address space, each with an interpreter of its own. A rank shares an
array by a name, and the others view it there:

    if rank == 0:
        table = tpsl.shared_empty((1000, 1000))
        table[:] = read_table()
        tpsl.share(table, "table")
    MPI.COMM_WORLD.Barrier()
    table = tpsl.view(0, "table")

docs/python.md of tpsl has the rest.
"""

from ._arrays import share, shared_empty, unshare, view
from ._ranks import ranks_here
from ._run import run

__all__ = ["ranks_here", "run", "share", "shared_empty", "unshare", "view"]
