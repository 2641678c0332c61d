! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0

! Jacobi iterations on a square plate, whose upper edge is held at 1 and whose
! other edges are held at 0. MPI divides the rows of the plate among processes,
! and OpenMP divides the rows of a process among its threads. Only the first
! thread of a process calls MPI: MPI_THREAD_FUNNELED. A row of the plate is a
! column of the arrays, so that its cells are neighbours in memory.

module plate
  use mpi_f08
  use iso_fortran_env, only: int64, real64
  implicit none
  integer, parameter :: n = 240, iterations = 200
  integer :: rank, size ! in MPI_COMM_WORLD
  integer :: rows       ! of the plate that this process has: rows 1 to rows
  real(real64), allocatable :: now(:, :), next(:, :) ! with a halo of one cell on each side
  real(real64) :: residual ! the largest change of a cell in the last iteration
contains
  subroutine set_up()
    rows = (rank + 1) * n / size - rank * n / size
    allocate (now(0:n + 1, 0:rows + 1), next(0:n + 1, 0:rows + 1))
    now = 0
    next = 0
    if (rank == 0) then
      now(:, 0) = 1
      next(:, 0) = 1
    end if
  end subroutine

  ! Fills the halo rows 0 and rows + 1 from the neighbours.
  subroutine exchange()
    integer :: up, down

    up = merge(rank - 1, MPI_PROC_NULL, rank > 0)
    down = merge(rank + 1, MPI_PROC_NULL, rank < size - 1)
    call MPI_Sendrecv(now(:, 1), n + 2, MPI_REAL8, up, 0, now(:, rows + 1), n + 2, MPI_REAL8, down, 0, &
      MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Sendrecv(now(:, rows), n + 2, MPI_REAL8, down, 1, now(:, 0), n + 2, MPI_REAL8, up, 1, &
      MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  end subroutine

  subroutine iterate()
    real(real64), allocatable :: t(:, :)
    integer :: i, j

    call exchange()
    residual = 0
    !$omp parallel do private(i) reduction(max : residual)
    do j = 1, rows
      do i = 1, n
        next(i, j) = 0.25_real64 * ((now(i, j - 1) + now(i, j + 1)) + (now(i - 1, j) + now(i + 1, j)))
        residual = max(residual, abs(next(i, j) - now(i, j)))
      end do
    end do
    call move_alloc(now, t)
    call move_alloc(next, now)
    call move_alloc(t, next)
  end subroutine

  ! The sum of all cells as whole numbers does not depend on the order of its terms.
  subroutine report()
    integer(int64) :: heat, all_heat
    real(real64) :: all_residual

    heat = sum(int(now(1:n, 1:rows) * 2.0_real64**30, int64))
    call MPI_Reduce(heat, all_heat, 1, MPI_INTEGER8, MPI_SUM, 0, MPI_COMM_WORLD)
    call MPI_Reduce(residual, all_residual, 1, MPI_REAL8, MPI_MAX, 0, MPI_COMM_WORLD)
    if (rank == 0) print '("jacobi: ", i0, " iterations, residual ", es12.6e2, ", heat ", i0)', &
      iterations, all_residual, all_heat
  end subroutine
end module

program funneled
  use plate
  implicit none
  integer :: i, provided

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  call set_up()
  do i = 1, iterations
    call iterate()
  end do
  call report()
  call MPI_Finalize()
end program
