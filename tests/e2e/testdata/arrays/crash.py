# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

"""Rank 1 crashes while it has the lock of what is shared."""

import ctypes

import numpy

import tpsl
from meeting import Meeting, rank
from tpsl import _arrays, _library

meet = Meeting()
tpsl.share(numpy.zeros(10), "mine")
meet()
if rank == 1:
    nowhere = 1 << 46
    _library.name_find(_arrays._name(0, rank, "mine"), nowhere, 1 << 20, ctypes.c_size_t())
while True:
    tpsl.share(numpy.zeros(10), "mine")
