! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0

! As 03-state.f90, but each thread is a rank: it claims a slot of its process by
! MPI_Init, has a strip of its own, and exchanges halos itself.

module plate
  use mpi_f08
  use iso_fortran_env, only: int64, real64
  implicit none
  integer, parameter :: n = 240, iterations = 200

  ! What a rank knows.
  type :: strip
    integer :: rank, size ! in MPI_COMM_WORLD
    integer :: rows       ! of the plate that this rank has: rows 1 to rows
    real(real64), allocatable :: now(:, :), next(:, :) ! with a halo of one cell on each side
    real(real64) :: residual ! the largest change of a cell in the last iteration
  end type
contains
  subroutine set_up(s)
    type(strip), intent(inout) :: s

    s%rows = (s%rank + 1) * n / s%size - s%rank * n / s%size
    allocate (s%now(0:n + 1, 0:s%rows + 1), s%next(0:n + 1, 0:s%rows + 1))
    s%now = 0
    s%next = 0
    if (s%rank == 0) then
      s%now(:, 0) = 1
      s%next(:, 0) = 1
    end if
  end subroutine

  ! Fills the halo rows 0 and rows + 1 from the neighbours.
  subroutine exchange(s)
    type(strip), intent(inout) :: s
    integer :: up, down

    up = merge(s%rank - 1, MPI_PROC_NULL, s%rank > 0)
    down = merge(s%rank + 1, MPI_PROC_NULL, s%rank < s%size - 1)
    call MPI_Sendrecv(s%now(:, 1), n + 2, MPI_REAL8, up, 0, s%now(:, s%rows + 1), n + 2, MPI_REAL8, down, 0, &
      MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Sendrecv(s%now(:, s%rows), n + 2, MPI_REAL8, down, 1, s%now(:, 0), n + 2, MPI_REAL8, up, 1, &
      MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  end subroutine

  subroutine iterate(s)
    type(strip), intent(inout) :: s
    real(real64), allocatable :: t(:, :)
    real(real64) :: residual
    integer :: i, j

    call exchange(s)
    residual = 0
    do j = 1, s%rows
      do i = 1, n
        s%next(i, j) = 0.25_real64 * ((s%now(i, j - 1) + s%now(i, j + 1)) + (s%now(i - 1, j) + s%now(i + 1, j)))
        residual = max(residual, abs(s%next(i, j) - s%now(i, j)))
      end do
    end do
    s%residual = residual
    call move_alloc(s%now, t)
    call move_alloc(s%next, s%now)
    call move_alloc(t, s%next)
  end subroutine

  ! The sum of all cells as whole numbers does not depend on the order of its terms.
  subroutine report(s)
    type(strip), intent(in) :: s
    integer(int64) :: heat, all_heat
    real(real64) :: all_residual

    heat = sum(int(s%now(1:n, 1:s%rows) * 2.0_real64**30, int64))
    call MPI_Reduce(heat, all_heat, 1, MPI_INTEGER8, MPI_SUM, 0, MPI_COMM_WORLD)
    call MPI_Reduce(s%residual, all_residual, 1, MPI_REAL8, MPI_MAX, 0, MPI_COMM_WORLD)
    if (s%rank == 0) print '("jacobi: ", i0, " iterations, residual ", es12.6e2, ", heat ", i0)', &
      iterations, all_residual, all_heat
  end subroutine
end module

! A thread's own strip is a variable of this subroutine. A main program's variables
! are saved, so that all threads would share one.
subroutine run()
  use plate
  implicit none
  type(strip) :: s
  integer :: i

  call MPI_Init() ! claims the slot with the number of this thread
  call MPI_Comm_rank(MPI_COMM_WORLD, s%rank)
  call MPI_Comm_size(MPI_COMM_WORLD, s%size)
  call set_up(s)
  do i = 1, iterations
    call iterate(s)
  end do
  call report(s)
  call MPI_Finalize()
end subroutine

program slots
  implicit none
  include 'tpslf.h'

  !$omp parallel num_threads(TPSL_Local_size())
  call run()
  !$omp end parallel
end program
