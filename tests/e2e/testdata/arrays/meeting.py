# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

"""What the ranks of a test do together without an MPI library."""

import os
import time

import tpsl

rank, size = int(os.environ.get("PMI_RANK", "0").split(",")[0]), int(os.environ.get("PMI_SIZE", 1))
LIMIT = 60


def until(true, what):
    end = time.monotonic() + LIMIT
    while not true():
        assert time.monotonic() < end, f"rank {rank} waited {LIMIT} s for {what}"
        time.sleep(0.0005)


def there(of, name):
    """The array of a rank, as soon as it is shared."""
    found = []

    def look():
        try:
            found.append(tpsl.view(of, name))
        except LookupError:
            return False
        return True

    until(look, f"{name} of rank {of}")
    return found[0]


class Meeting:
    """A barrier of some ranks, the first of which makes it; each writes an item of its own only."""

    def __init__(self, ranks=range(size), name="meeting"):
        self.ranks, self.turn = list(ranks), 0
        if rank == self.ranks[0]:
            self.turns = tpsl.shared_empty(size, "q")
            tpsl.share(self.turns, name)
        else:
            self.turns = there(self.ranks[0], name)

    def __call__(self):
        self.turn += 1
        self.turns[rank] = self.turn
        until(lambda: all(self.turns[r] >= self.turn for r in self.ranks), f"turn {self.turn}")


def raises(error, text, call, *arguments):
    try:
        call(*arguments)
    except error as e:
        assert text in str(e), str(e)
    else:
        raise AssertionError(f"{call.__name__}{arguments} raises nothing")


def gone(pid):
    """Whether a process has ended and its parent has heard of it."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False
