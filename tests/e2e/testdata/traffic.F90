! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0

! Two ranks exchange ten messages of 40 bytes, and add three times: with mpi_f08 (-DF08), with mpi (-DMODULE) or with mpif.h (-DHEADER).
program traffic
#if defined(MODULE)
  use mpi
#elif defined(F08)
  use mpi_f08
#endif
  implicit none
#if defined(HEADER)
  include 'mpif.h'
#endif
  integer :: rank, i, ierr
  integer :: out(10), in(10)
  double precision :: one, total
#if defined(F08)
  type(MPI_Status) :: status
#else
  integer :: status(MPI_STATUS_SIZE)
#endif

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  out = rank
  do i = 1, 10
    if (mod(i, 2) == 0) then
      call MPI_Sendrecv(out, 10, MPI_INTEGER, 1 - rank, 1, &
        in, 10, MPI_INTEGER, 1 - rank, 1, MPI_COMM_WORLD, status, ierr)
    else
      call MPI_Sendrecv(out, 10, MPI_INTEGER, 1 - rank, 1, &
        in, 10, MPI_INTEGER, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    end if
  end do
  one = 1
  do i = 1, 3
    call MPI_Allreduce(one, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  end do
  call MPI_Finalize(ierr)
end program
