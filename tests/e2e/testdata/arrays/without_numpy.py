# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

"""Where numpy cannot be imported, views are memoryviews."""

import array
import sys

sys.modules["numpy"] = None

import tpsl
from meeting import Meeting, raises, rank, size

meet = Meeting()
other = (rank + 1) % size
values = array.array("d", [rank, 2.5, -1])
mine = tpsl.shared_empty((2, 3), "i")
mine[1, 2] = rank
text = bytearray(b"text")
arrays = {"values": values, "mine": mine, "text": text, "bytes": b"%d" % rank, "scalar": tpsl.shared_empty(()), "none": tpsl.shared_empty((0, 3), "i"), "no bytes": b""}
for name, value in arrays.items():
    tpsl.share(value, name)
meet()
for name, value in arrays.items():
    found, want = tpsl.view(other, name), memoryview(value)
    assert type(found) is memoryview
    assert (found.format, found.shape, found.readonly) == (want.format, want.shape, want.readonly), name
assert tpsl.view(other, "values").tolist() == [other, 2.5, -1] and tpsl.view(other, "mine").tolist() == [[0, 0, 0], [0, 0, other]]
assert bytes(tpsl.view(other, "bytes")) == b"%d" % other
tpsl.view(other, "mine")[0, 1] = 7 + rank
tpsl.view(other, "text")[0] = ord("n")
meet()
assert mine[0, 1] == 7 + (rank - 1) % size and text == b"next"
raises(ValueError, "without numpy", tpsl.share, memoryview(text)[::2], "a")
raises(BufferError, "", text.append, 1)
meet()
print("rank", rank, "of", size)
