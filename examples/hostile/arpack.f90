! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
!
! Work for ARPACK, whose routines return for each product with the matrix and keep where
! they were in variables with SAVE.
!
!     gfortran -frecursive -shared -fPIC arpack.f90 -o libwork.so -larpack

! Sum of the four largest eigenvalues of a tridiagonal matrix, in units of 1e-6.
function work(seed) bind(c)
    use iso_c_binding
    implicit none
    integer(c_long), value :: seed
    integer(c_long) :: work
    integer, parameter :: n = 200, nev = 4, ncv = 20, lwork = ncv*(ncv + 8)
    double precision :: start(n), basis(n, ncv), vectors(3*n), space(lwork), values(nev), shift
    logical :: chosen(ncv)
    integer :: step, info, params(11), at(11), round

    work = 0
    do round = 1, 15
        step = 0
        info = 1 ! begin with this vector, not with a random one
        start = 1
        params = 0
        params(1) = 1
        params(3) = 3000
        params(7) = 1
        do
            call dsaupd(step, 'I', n, 'LA', nev, 1d-12, start, ncv, basis, n, params, at, vectors, space, lwork, info)
            if (abs(step) /= 1) exit
            call multiply(vectors(at(1)), vectors(at(2)))
        end do
        if (info /= 0) then
            work = -1
            return
        end if
        call dseupd(.false., 'A', chosen, values, basis, n, shift, 'I', n, 'LA', nev, 1d-12, start, ncv, basis, n, &
                    params, at, vectors, space, lwork, info)
        work = work + nint(1d6*sum(values), c_long)
    end do
contains
    subroutine multiply(x, y)
        double precision :: x(n), y(n)
        integer :: i
        do i = 1, n
            y(i) = (2 + 0.1d0*seed + 0.01d0*i)*x(i)
            if (i > 1) y(i) = y(i) - x(i - 1)
            if (i < n) y(i) = y(i) - x(i + 1)
        end do
    end subroutine
end function
