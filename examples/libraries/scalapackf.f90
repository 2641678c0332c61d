! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0

! scalapackf: ScaLAPACK in Fortran in thread ranks. All ranks multiply two matrices, spread
! over a grid of ranks in blocks. The elements are whole numbers, so that the product is
! exact, and every rank compares its part.

program main
    !$omp parallel
    call body
    !$omp end parallel
end program

subroutine body
    use mpi
    implicit none
    integer, parameter :: n = 90, block = 8
    integer :: rank, ranks, ierr, wrong, total, context, rows, columns, row, column, m, k, lead, i, j, sides(2)
    integer :: of(9)
    double precision, allocatable :: a(:, :), b(:, :), c(:, :)
    integer, external :: numroc, indxl2g

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    sides = 0
    call MPI_Dims_create(ranks, 2, sides, ierr)
    call blacs_get(-1, 0, context)
    call blacs_gridinit(context, 'Row', sides(1), sides(2))
    call blacs_gridinfo(context, rows, columns, row, column)

    m = numroc(n, block, row, 0, rows)
    k = numroc(n, block, column, 0, columns)
    lead = max(1, m)
    call descinit(of, n, n, block, block, 0, 0, context, lead, ierr)
    allocate (a(lead, k), b(lead, k), c(lead, k))
    do j = 1, k
        do i = 1, m
            a(i, j) = global(i, row, rows) - 2*global(j, column, columns)
            b(i, j) = mod(global(i, row, rows)*global(j, column, columns), 11)
        end do
    end do
    c = 0
    call pdgemm('N', 'N', n, n, n, 1d0, a, 1, 1, of, b, 1, 1, of, 0d0, c, 1, 1, of)
    wrong = 0
    do j = 1, k
        do i = 1, m
            if (abs(c(i, j) - product_at(global(i, row, rows), global(j, column, columns))) > 0) wrong = wrong + 1
        end do
    end do
    call MPI_Allreduce(wrong, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    if (rank == 0) print '(4(i0, a))', rows, ' x ', columns, &
        ' ranks multiplied matrices of ', n, ' rows, ', total, ' elements wrong'
    call blacs_gridexit(context)
    call MPI_Finalize(ierr)
    if (total /= 0) stop 1
contains
    ! Number in the whole of a local row or column.
    integer function global(local, me, among)
        integer, intent(in) :: local, me, among
        global = indxl2g(local, block, me, 0, among)
    end function

    integer function product_at(i, j)
        integer, intent(in) :: i, j
        integer :: l
        product_at = sum([((i - 2*l)*mod(l*j, 11), l=1, n)])
    end function
end subroutine
