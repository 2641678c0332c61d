! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0

! sends.c in Fortran, by mpif.h or, with -DF08, by mpi_f08.

program sendsf
#ifdef F08
  use mpi_f08
#define REQUEST type(MPI_Request)
#else
  implicit none
  include 'mpif.h'
#define REQUEST integer
#endif
  integer :: rank, size, i, in, previous, error
  REQUEST :: request

  !$omp parallel private(rank, size, i, in, previous, error, request)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, size, error)
  previous = mod(rank + size - 1, size)
  do i = 1, 3
    in = -1
    call MPI_Irecv(in, 1, MPI_INTEGER, previous, i, MPI_COMM_WORLD, request, error)
    call MPI_Send(rank, 1, MPI_INTEGER, mod(rank + 1, size), i, MPI_COMM_WORLD, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
    if (in /= previous) call MPI_Abort(MPI_COMM_WORLD, 1, error)
  end do
  call MPI_Finalize(error)
  !$omp end parallel
end program
