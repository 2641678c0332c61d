! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
!
! Datatypes: contiguous, vector, indexed, struct of absolute addresses at MPI_BOTTOM,
! and packing, also in the portable form.

program main
    !$omp parallel
    call body
    !$omp end parallel
end program

subroutine body
    implicit none
    include 'mpif.h'
    integer :: rank, ranks, wrong, ierr, left, right, i, position, bytes, type, pair
    integer(8) :: digest
    integer :: grid(6, 4), column(6), row(4), few(6)
    integer, volatile :: n ! MPI_BOTTOM hides their use from the compiler
    double precision, volatile :: x
    character :: packed(200)
    integer(MPI_ADDRESS_KIND) :: address(2), extent, lb, size, at

    call begin
    left = mod(rank + ranks - 1, ranks)
    right = mod(rank + 1, ranks)
    do i = 1, 4
        grid(:, i) = [1000*rank + 10*i + 1, 1000*rank + 10*i + 2, 1000*rank + 10*i + 3, &
                      1000*rank + 10*i + 4, 1000*rank + 10*i + 5, 1000*rank + 10*i + 6]
    end do

    call MPI_TYPE_CONTIGUOUS(6, MPI_INTEGER, type, ierr)
    call MPI_TYPE_COMMIT(type, ierr)
    call MPI_SENDRECV(grid(1, 2), 1, type, right, 1, column, 6, MPI_INTEGER, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call expect(all(column == [(1000*left + 20 + i, i=1, 6)]), 'contiguous')
    call MPI_TYPE_FREE(type, ierr)
    call expect(type == MPI_DATATYPE_NULL, 'free')

    call MPI_TYPE_VECTOR(4, 1, 6, MPI_INTEGER, type, ierr)
    call MPI_TYPE_COMMIT(type, ierr)
    call MPI_TYPE_GET_EXTENT(type, lb, extent, ierr)
    call expect(lb == 0 .and. extent == 4*19, 'extent of a vector')
    call MPI_SENDRECV(grid(3, 1), 1, type, right, 2, row, 4, MPI_INTEGER, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call expect(all(row == [(1000*left + 10*i + 3, i=1, 4)]), 'vector')
    call MPI_TYPE_FREE(type, ierr)

    call MPI_TYPE_INDEXED(3, [1, 2, 3], [0, 2, 6], MPI_INTEGER, type, ierr)
    call MPI_TYPE_COMMIT(type, ierr)
    call MPI_SENDRECV(grid, 1, type, right, 3, few, 6, MPI_INTEGER, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call expect(all(few == 1000*left + [11, 13, 14, 21, 22, 23]), 'indexed')
    call MPI_TYPE_FREE(type, ierr)

    ! Two variables anywhere in memory, by their addresses.
    n = rank
    x = rank + 0.5d0
    call MPI_GET_ADDRESS(n, address(1), ierr)
    call MPI_GET_ADDRESS(x, address(2), ierr)
    call MPI_TYPE_CREATE_STRUCT(2, [1, 1], address, [MPI_INTEGER, MPI_DOUBLE_PRECISION], pair, ierr)
    call MPI_TYPE_COMMIT(pair, ierr)
    call MPI_SENDRECV_REPLACE(MPI_BOTTOM, 1, pair, right, 4, left, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call expect(n == left .and. x == left + 0.5d0, 'struct at MPI_BOTTOM')
    call MPI_BCAST(MPI_BOTTOM, 1, pair, 1, MPI_COMM_WORLD, ierr)
    call expect(n == 0 .and. x == 0.5d0, 'bcast at MPI_BOTTOM')
    call MPI_TYPE_FREE(pair, ierr)

    position = 0
    call MPI_PACK(grid(1, 1), 6, MPI_INTEGER, packed, 200, position, MPI_COMM_WORLD, ierr)
    call MPI_PACK(x, 1, MPI_DOUBLE_PRECISION, packed, 200, position, MPI_COMM_WORLD, ierr)
    call MPI_PACK_SIZE(6, MPI_INTEGER, MPI_COMM_WORLD, bytes, ierr)
    call expect(position <= bytes + 8, 'size of a pack')
    call MPI_SENDRECV_REPLACE(packed, position, MPI_PACKED, right, 5, left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    position = 0
    call MPI_UNPACK(packed, 200, position, column, 6, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call expect(all(column == [(1000*left + 10 + i, i=1, 6)]), 'unpack')

    at = 0
    size = 200
    call MPI_PACK_EXTERNAL('external32', 1, 1, MPI_INTEGER, packed, size, at, ierr)
    call expect(at == 4 .and. ichar(packed(4)) == 1 .and. ichar(packed(1)) == 0, 'external32')
    digest = sum(column) + sum(row) + sum(few)
    call finish('mpif/types')
contains
    include 'check.inc'
end subroutine
