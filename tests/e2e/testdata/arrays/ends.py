# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

"""Rank 1 ends while its threads share and view; the others go on, unless it is killed."""

import os
import signal
import sys
import threading
import time

import numpy

import tpsl
from meeting import Meeting, gone, rank, there, until

how = sys.argv[1]
meet = Meeting()


def turn():
    mine = tpsl.shared_empty(10)
    tpsl.share(mine, "mine")
    tpsl.share(numpy.zeros(10), "numbers")
    for of in tpsl.ranks_here():
        try:
            tpsl.view(of, "mine").sum() + tpsl.view(of, "numbers").sum()
        except LookupError:
            pass


def turns():
    while True:
        turn()


tpsl.share(numpy.array([os.getpid()]), "process")
meet()
if rank == 1:
    for _ in range(3):
        threading.Thread(target=turns, daemon=True).start()
    time.sleep(0.2)
    if how == "_exit":
        os._exit(0)
    elif how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    sys.exit(0)
pid = int(tpsl.view(1, "process")[0])
while not gone(pid):
    turn()
for _ in range(1000):
    turn()
print("went on")
