! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0

! listing1f: listing 1 of the TPSL paper in Fortran. TPSL_Init is the MPI_Init
! that takes the thread ID, a number in [0, N) where N is the number of ranks of
! this process. The standard MPI_Init would take the thread ID by itself.

program listing1f
  use mpi_f08
  use omp_lib
  implicit none
  include 'tpslf.h'
  integer :: rank, size

  !$omp parallel private(rank, size)
  if (TPSL_Init(omp_get_thread_num()) /= MPI_SUCCESS) error stop

  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  print '("thread ", i0, " of ", i0, " is rank ", i0, " of ", i0)', &
    omp_get_thread_num(), omp_get_num_threads(), rank, size
  call MPI_Finalize()
  !$omp end parallel
end program
