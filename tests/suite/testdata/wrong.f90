! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
!
! wrong: one rank finds what it does not expect.

program main
    !$omp parallel
    call body
    !$omp end parallel
end program

subroutine body
    use mpi_f08
    implicit none
    integer :: rank, ranks, wrong, ierr
    integer(8) :: digest

    call begin
    call expect(rank /= 2, 'as it should be')
    call finish('wrong')
contains
    include 'check.inc'
end subroutine
