! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0

! What Fortran programs use, in a flat program: saved variables, units, thread-private data.
program everything
  use mpi
  implicit none
  integer, save :: saved = 7
  integer, save :: private
  !$omp threadprivate(private)
  integer :: rank, total, error, i, sum
  character(len=200) :: folder
  character(len=20) :: text

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call get_command_argument(1, folder)
  saved = saved + rank
  write(text, '(i0)') rank
  open(unit=10, file=trim(folder)//trim(text))
  call MPI_Barrier(MPI_COMM_WORLD, error)
  sum = 0
  !$omp parallel do num_threads(2) reduction(+:sum)
  do i = 1, 100
    private = i * saved
    sum = sum + private
  end do
  write(10, '(a,i0)') 'saved', saved
  call MPI_Allreduce(sum, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  print '(a,i0,a,i0)', 'sum ', sum, ' of ', total
  call MPI_Finalize(error)
  if (rank == 1) stop 4
end program
