! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
!
! Each OpenMP thread calls MPI_Init, of mpif.h or with -DF08 of mpi_f08.
program initthreads
#ifdef F08
  use mpi_f08
  implicit none
#else
  implicit none
  include 'mpif.h'
#endif
  integer :: error, provided
  !$omp parallel num_threads(2) private(error, provided)
#ifdef LEVEL
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, error)
#else
  call MPI_Init(error)
#endif
  !$omp barrier
  !$omp end parallel
end program
