! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0

! As 05-halo.f90, but a rank reads the outer rows of a neighbour in the same
! process where they are. Only neighbours in other processes send messages.

module plate
  use mpi_f08
  use omp_lib
  use iso_fortran_env, only: int64, real64
  implicit none
  integer, parameter :: n = 240, iterations = 200

  ! What a rank knows. The other ranks of the process may read it.
  type :: strip
    integer :: rank, size ! in MPI_COMM_WORLD
    integer :: rows       ! of the plate that this rank has: rows 1 to rows
    real(real64), allocatable :: cells(:, :, :) ! of even and of odd iterations, with a halo of one cell on each side
    real(real64) :: residual ! the largest change of a cell in the last iteration
    type(strip), pointer :: above, below ! neighbours in the same process, or null
  end type

  type(strip), allocatable, target :: strips(:) ! by slot
contains
  ! The strip of a rank of this process, null for a rank of another process.
  function find(rank) result(found)
    integer, intent(in) :: rank
    type(strip), pointer :: found
    integer :: slot

    found => null()
    do slot = lbound(strips, 1), ubound(strips, 1)
      if (strips(slot)%rank == rank) found => strips(slot)
    end do
  end function

  subroutine set_up(s)
    type(strip), intent(inout) :: s

    s%rows = (s%rank + 1) * n / s%size - s%rank * n / s%size
    allocate (s%cells(0:n + 1, 0:s%rows + 1, 0:1))
    s%cells = 0
    if (s%rank == 0) s%cells(:, 0, :) = 1
  end subroutine

  ! Exchanges outer rows with the neighbours that are in other processes.
  subroutine exchange(s, k)
    type(strip), intent(inout), asynchronous :: s
    integer, intent(in) :: k
    type(MPI_Request) :: request(4)
    integer :: up, down

    up = merge(s%rank - 1, MPI_PROC_NULL, s%rank > 0 .and. .not. associated(s%above))
    down = merge(s%rank + 1, MPI_PROC_NULL, s%rank < s%size - 1 .and. .not. associated(s%below))
    call MPI_Irecv(s%cells(:, 0, k), n + 2, MPI_REAL8, up, 1, MPI_COMM_WORLD, request(1))
    call MPI_Irecv(s%cells(:, s%rows + 1, k), n + 2, MPI_REAL8, down, 0, MPI_COMM_WORLD, request(2))
    call MPI_Isend(s%cells(:, 1, k), n + 2, MPI_REAL8, up, 0, MPI_COMM_WORLD, request(3))
    call MPI_Isend(s%cells(:, s%rows, k), n + 2, MPI_REAL8, down, 1, MPI_COMM_WORLD, request(4))
    call MPI_Waitall(4, request, MPI_STATUSES_IGNORE)
  end subroutine

  ! Computes row j from the row above it and the row below it.
  subroutine compute(s, k, j, up, down)
    type(strip), intent(inout) :: s
    integer, intent(in) :: k, j
    real(real64), intent(in) :: up(0:), down(0:)
    integer :: i

    do i = 1, n
      s%cells(i, j, 1 - k) = 0.25_real64 * ((up(i) + down(i)) + (s%cells(i - 1, j, k) + s%cells(i + 1, j, k)))
      s%residual = max(s%residual, abs(s%cells(i, j, 1 - k) - s%cells(i, j, k)))
    end do
  end subroutine

  subroutine iterate(s, iteration)
    type(strip), intent(inout), target :: s
    integer, intent(in) :: iteration
    real(real64), pointer :: up(:), down(:)
    integer :: j, k

    k = mod(iteration, 2)
    call exchange(s, k)
    s%residual = 0
    do j = 1, s%rows
      up => s%cells(:, j - 1, k)
      down => s%cells(:, j + 1, k)
      if (j == 1 .and. associated(s%above)) up => s%above%cells(:, s%above%rows, k)
      if (j == s%rows .and. associated(s%below)) down => s%below%cells(:, 1, k)
      call compute(s, k, j, up, down)
    end do
    ! The next iteration reads what the other ranks of the process wrote in this one.
    !$omp barrier
  end subroutine

  ! The sum of all cells as whole numbers does not depend on the order of its terms.
  subroutine report(s)
    type(strip), intent(in) :: s
    integer(int64) :: heat, all_heat
    real(real64) :: all_residual

    heat = sum(int(s%cells(1:n, 1:s%rows, mod(iterations, 2)) * 2.0_real64**30, int64))
    call MPI_Reduce(heat, all_heat, 1, MPI_INTEGER8, MPI_SUM, 0, MPI_COMM_WORLD)
    call MPI_Reduce(s%residual, all_residual, 1, MPI_REAL8, MPI_MAX, 0, MPI_COMM_WORLD)
    if (s%rank == 0) print '("jacobi: ", i0, " iterations, residual ", es12.6e2, ", heat ", i0)', &
      iterations, all_residual, all_heat
  end subroutine

  subroutine run(s)
    type(strip), intent(inout), target :: s
    integer :: i

    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, s%rank)
    call MPI_Comm_size(MPI_COMM_WORLD, s%size)
    call set_up(s)
    !$omp barrier
    s%above => find(s%rank - 1)
    s%below => find(s%rank + 1)
    do i = 0, iterations - 1
      call iterate(s, i)
    end do
    call report(s)
    call MPI_Finalize()
  end subroutine
end module

program shared
  use plate
  implicit none
  include 'tpslf.h'

  allocate (strips(0:TPSL_Local_size() - 1))
  !$omp parallel num_threads(TPSL_Local_size())
  call run(strips(omp_get_thread_num()))
  !$omp end parallel
end program
