# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

"""A child made by fork has a copy of what its rank views, and shares nothing."""

import os

import numpy

import tpsl
from meeting import Meeting, raises, rank, size, there

meet = Meeting()
tpsl.share(numpy.full(1000, rank), "mine")
found = there((rank + 1) % size, "mine")
for _ in range(20):
    pid = os.fork()
    if pid == 0:
        try:
            assert (found == (rank + 1) % size).all()
            for call, arguments in (tpsl.share, (found, "a")), (tpsl.view, (0, "mine")), (tpsl.unshare, ("mine",)), (tpsl.ranks_here, ()), (tpsl.shared_empty, (3,)):
                raises(RuntimeError, "this process was made by fork", call, *arguments)
            del found
        except BaseException as e:
            print(e, flush=True)
            os._exit(1)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    tpsl.share(numpy.full(1000, rank), "mine")
    assert (tpsl.view((rank + 1) % size, "mine") == found).all()
meet()
print("rank", rank)
