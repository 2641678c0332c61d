# SPDX-FileCopyrightText: The tpsl authors
# SPDX-License-Identifier: Apache-2.0

"""Ranks that are threads of this interpreter use one mpi4py."""

import numpy

import tpsl


def work(rank):
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    size, after, before = world.size, (rank + 1) % world.size, (rank - 1) % world.size
    assert world.rank == rank and MPI.Query_thread() == MPI.THREAD_MULTIPLE
    sums = numpy.empty(1000)
    world.Allreduce(numpy.full(1000, rank + 1.0), sums)
    assert (sums == size * (size + 1) / 2).all()
    assert world.allreduce(rank) == size * (size - 1) // 2 and world.allreduce([rank]) == list(range(size))
    assert world.reduce(rank, MPI.MAX, 0) == (size - 1 if rank == 0 else None)
    assert world.scan(rank) == rank * (rank + 1) // 2 and world.exscan(rank) == (rank * (rank - 1) // 2 if rank else None)
    assert world.allgather({"rank": rank}) == [{"rank": r} for r in range(size)]
    assert world.gather(rank, 1 % size) == (list(range(size)) if rank == 1 % size else None)
    assert world.bcast("root" if rank == 0 else None) == "root" and world.scatter(list(range(size)) if rank == 0 else None) == rank
    assert world.alltoall([(rank, r) for r in range(size)]) == [(r, rank) for r in range(size)]
    assert world.sendrecv({"from": rank}, after, source=before) == {"from": before}
    for n in 1, 100000:
        request = world.isend(bytes(n), after)
        assert len(world.recv(source=before)) == n
        request.wait()
        mine, its = numpy.full(n, rank), numpy.empty(n, int)
        MPI.Request.Waitall([world.Irecv(its, before), world.Isend(mine, after)])
        assert (its == before).all()
    half = world.Split(rank % 2, -rank)
    assert half.size == len(range(rank % 2, size, 2)) and half.allreduce(rank) == sum(range(rank % 2, size, 2))
    copy = world.Dup()
    copy.Barrier()
    copy.Free()
    half.Free()
    memory = numpy.zeros(size, int)
    window = MPI.Win.Create(memory, 8, comm=world)
    window.Fence()
    window.Put(numpy.array([rank + 1]), after, target=rank)
    window.Fence()
    assert memory[before] == before + 1 and memory.sum() == before + 1
    window.Free()
    product = MPI.Op.Create(lambda a, b, t: numpy.frombuffer(b, int).__imul__(numpy.frombuffer(a, int)) is None, commute=True)
    out = numpy.empty(1, int)
    world.Allreduce(numpy.array([rank + 1]), out, product)
    assert out[0] == numpy.prod(range(1, size + 1))
    product.Free()
    world.Set_errhandler(MPI.ERRORS_RETURN)
    try:
        world.send(1, size)
    except MPI.Exception as e:
        assert e.Get_error_class() == MPI.ERR_RANK
    else:
        raise AssertionError("an MPI error raises nothing")
    MPI.Finalize()
    assert MPI.Is_finalized()
    return rank


for n in 1, 2, 4, 2:
    here = tpsl.ranks_here()
    if len(here) > 1:
        assert tpsl.run(len(here), work) == here
        break
    assert tpsl.run(n, work) == list(range(n))
print("right")
