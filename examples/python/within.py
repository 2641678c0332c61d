# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

"""within.py RANKS: ranks within one ordinary interpreter, by TPSL_Run. Each is a thread; MPI is called by ctypes."""

import ctypes
import os
import shutil
import sys

COMM_WORLD, INT, SUM = 0x44000000, 0x4C000405, 0x58000003  # as in MPICH's mpi.h

prefix = os.path.dirname(os.path.dirname(os.path.realpath(shutil.which("tpsl"))))
mpi = ctypes.CDLL(prefix + "/lib/tpsl/libmpich.so.12", ctypes.RTLD_GLOBAL)  # what is loaded later finds it by its name
squares = {}


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
def square(_):
    rank, total = ctypes.c_int(), ctypes.c_int()
    mpi.MPI_Comm_rank(COMM_WORLD, ctypes.byref(rank))
    squares[rank.value] = rank.value**2  # the ranks share the interpreter, and all that it has
    mpi.MPI_Allreduce(ctypes.byref(ctypes.c_int(rank.value**2)), ctypes.byref(total), 1, INT, SUM, COMM_WORLD)
    return 0 if total.value == sum(squares.values()) else 1


wrong = mpi.TPSL_Run(int(sys.argv[1]), square, None, None)
print(f"{len(squares)} ranks, squares {sorted(squares.values())}, {wrong} wrong")
sys.exit(wrong)
