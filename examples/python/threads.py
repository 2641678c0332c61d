# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

"""Adds numbers by four ranks, which are threads of this interpreter."""

import tpsl


def part(rank):
    return sum(numbers[rank * 10:(rank + 1) * 10])


numbers = range(40)
print(tpsl.run(4, part))
