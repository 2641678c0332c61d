! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0

! linked: the smallest program whose threads may be ranks, in Fortran.
program linked
  use mpi
  implicit none
  integer :: rank, size, error

  !$omp parallel private(rank, size, error)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, size, error)
  !$omp critical
  print '(a, i0, a, i0)', 'rank ', rank, ' of ', size
  !$omp end critical
  call MPI_Finalize(error)
  !$omp end parallel
end program linked
