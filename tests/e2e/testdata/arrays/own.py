# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

"""What a rank shares with itself, and which ranks are here."""

import numpy

import tpsl
from meeting import raises

here = tpsl.ranks_here()
table = tpsl.shared_empty((2, 3))
tpsl.share(table, "table")
for rank in here[:1]:
    try:
        tpsl.view(rank, "table")[1, 2] = 5
    except LookupError:
        assert len(here) > 1
raises(ValueError, "view: rank 7 is not in this process, which has [", tpsl.view, 7, "table")
assert len(here) > 1 or table[1, 2] == 5
print(here)
