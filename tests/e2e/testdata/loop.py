# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

"""Prints how long the interpreter works at additions, dictionaries and method calls: seconds of processor time."""

import time


class Adder:
    def __init__(self, x):
        self.x = x

    def add(self, y):
        return self.x + y


def additions(n):
    adder, sum = Adder(1), 0.0
    for _ in range(n):
        sum = adder.add(sum) * 0.5
    return sum


def dictionaries(n):
    counts, length = {}, 0
    for i in range(n):
        counts[i % 97] = counts.get(i % 97, 0) + i * i % 7
        length += len(str(i))
    return length + len(counts)


began = time.process_time()
dictionaries(300000)
additions(500000)
print(time.process_time() - began)
