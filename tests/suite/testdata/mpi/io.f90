! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
!
! A file: shared pointers, own pointers, and views with holes that interleave the ranks.

program main
    !$omp parallel
    call body
    !$omp end parallel
end program

subroutine body
    use mpi
    implicit none
    integer, parameter :: n = 12
    integer :: rank, ranks, wrong, ierr, fh, i, type, view, x, left
    integer(8) :: digest
    integer :: out(n), in(n)
    integer(MPI_OFFSET_KIND) :: at, place
    integer(MPI_ADDRESS_KIND) :: lb, extent
    character(500) :: name
    character(20) :: representation

    call begin
    left = mod(rank + ranks - 1, ranks)
    call get_command_argument(1, name)
    call MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, fh, ierr)
    call expect(ierr == MPI_SUCCESS, 'open')

    ! Threes of numbers in turn: 3 of rank 0, 3 of rank 1, ...
    out = [(100*rank + i, i=1, n)]
    call MPI_Type_contiguous(3, MPI_INTEGER, type, ierr)
    lb = 0
    extent = 4*3*ranks
    call MPI_Type_create_resized(type, lb, extent, view, ierr)
    call MPI_Type_commit(view, ierr)
    at = 4*3*rank
    call MPI_File_set_view(fh, at, MPI_INTEGER, view, 'native', MPI_INFO_NULL, ierr)
    call MPI_File_write_all(fh, out, n, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
    call MPI_File_get_position(fh, place, ierr)
    call expect(place == n, 'position')
    call MPI_File_get_byte_offset(fh, place, at, ierr)
    call expect(at == 4*(3*rank + n*ranks), 'byte offset')
    call MPI_File_get_view(fh, at, i, x, representation, ierr)
    call expect(at == 4*3*rank .and. representation == 'native', 'get_view')
    call MPI_Type_free(x, ierr)
    call MPI_Type_free(type, ierr)
    call MPI_Type_free(view, ierr)

    ! Read back as a plain file.
    at = 0
    call MPI_File_set_view(fh, at, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierr)
    at = 3*left
    call MPI_File_seek(fh, at, MPI_SEEK_SET, ierr)
    call MPI_File_read(fh, in, 3, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
    call expect(all(in(:3) == 100*left + [1, 2, 3]), 'read')

    ! Behind that, in the order of the ranks, then in no order.
    at = n*ranks
    call MPI_File_seek_shared(fh, at, MPI_SEEK_SET, ierr)
    call MPI_File_write_ordered(fh, out, rank + 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
    call MPI_File_seek_shared(fh, at, MPI_SEEK_SET, ierr)
    in = 0
    call MPI_File_read_ordered(fh, in, rank + 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
    call expect(all(in(:rank + 1) == out(:rank + 1)), 'ordered')
    digest = sum(in)
    at = n*ranks + ranks*(ranks + 1)/2
    call MPI_File_get_position_shared(fh, place, ierr)
    call expect(place == at, 'shared position')
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call MPI_File_write_shared(fh, 7, 1, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call MPI_File_get_position_shared(fh, place, ierr)
    call expect(place == at + ranks, 'write_shared')
    call MPI_File_preallocate(fh, 4*(at + ranks), ierr)
    call MPI_File_set_size(fh, 4*(at + ranks), ierr)
    call MPI_File_close(fh, ierr)
    call finish('mpi/io')
contains
    include 'check.inc'
end subroutine
