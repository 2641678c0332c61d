! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0

module grid
  implicit none
  type :: shape
    integer :: sides = 4
  contains
    procedure :: area
  end type
  integer :: cells(10) = 0
  type(shape), save :: first
  integer, parameter :: most = 7
  integer, save :: own = 0
  !$omp threadprivate(own)
contains
  integer function area(this)
    class(shape), intent(in) :: this
    integer, save :: calls = 0
    calls = calls + 1
    area = this%sides * calls
  end function
end module

program heat
  use grid
  implicit none
  real :: temperature(100000)
  real :: old, new
  integer :: steps
  common /block/ old, new
  common steps
  temperature(1) = real(first%area())
  old = temperature(1)
  new = old + most
  steps = cells(1) + own
  call show(temperature)
  print *, new, steps
end program

subroutine show(x)
  real, intent(inout) :: x(*)
  real :: left, right
  common /block/ left, right
  x(1) = left + right
end subroutine
