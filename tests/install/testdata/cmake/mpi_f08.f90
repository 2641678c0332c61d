! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
program hello
  use mpi_f08
  implicit none
  include 'tpslf.h'
  integer :: rank, total, ierr
  !$omp parallel private(rank, total, ierr)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  print '(a,i0,a,i0,a,i0)', 'rank ', rank, ', slot ', TPSL_Slot(), ', sum ', total
  call MPI_Finalize(ierr)
  !$omp end parallel
end program
