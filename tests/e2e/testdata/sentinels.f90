! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0

! sentinels: the addresses that stand for something else, MPI_IN_PLACE and
! MPI_STATUS_IGNORE, are known to the instance of every rank.

program sentinels
  use mpi_f08
  implicit none
  integer :: rank, size, sum, from

  !$omp parallel private(rank, size, sum, from)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  sum = rank + 1
  call MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, rank, 0, from, 1, MPI_INTEGER, rank, 0, &
    MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  print '("rank ", i0, " of ", i0, ": sum ", i0)', from, size, sum
  call MPI_Finalize()
  !$omp end parallel
end program
