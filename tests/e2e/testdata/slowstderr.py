# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

"""slowstderr.py PROGRAM...: an mpiexec -l -stdin all of two ranks that passes the stderr of rank 1 on late, but for its first line."""

import os
import subprocess
import sys
import threading
import time


def start(rank):
    environment = {**os.environ, "PMI_RANK": str(rank)}
    return subprocess.Popen(sys.argv[1:], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def send(rank, text):
    try:
        rank.stdin.write(text)
        rank.stdin.flush()
    except BrokenPipeError:
        pass  # it has ended


def pass_on(rank, stream, fd, is_late):
    for n, line in enumerate(stream):
        if is_late and n == 1:
            ranks[rank].wait()
            time.sleep(0.5)  # who does not wait for these lines goes on meanwhile
        os.write(fd, b"[%d] %s" % (rank, line))


ranks = [start(0), start(1)]
threads = []
for number, process in enumerate(ranks):
    threads.append(threading.Thread(target=pass_on, args=(number, process.stdout, 1, False)))
    threads.append(threading.Thread(target=pass_on, args=(number, process.stderr, 2, number == 1)))
for thread in threads:
    thread.start()
for text in sys.stdin.buffer:
    for process in ranks:
        send(process, text)
for process in ranks:
    try:
        process.stdin.close()
    except BrokenPipeError:
        pass  # it has ended
for thread in threads:
    thread.join()
