# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

"""Has children of each kind import an extension module, which opens a library."""

import multiprocessing


def imports(x):
    import _sqlite3

    return 2 * x if _sqlite3 else 0


def child(method):
    with multiprocessing.get_context(method).Pool(1) as pool:
        return pool.apply(imports, [2])


if __name__ == "__main__":
    print("spawn:", child("spawn"))
    print("forkserver:", child("forkserver"))
    try:
        print("fork:", child("fork"))
    except ImportError as error:
        print("fork:", error)
    imports(1)
    print("fork, loaded before:", child("fork"))
