! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
!
! A matrix in a file: every rank writes its block, collectively and not, then reads
! another's; nonblocking and split calls.

program main
    !$omp parallel
    call body
    !$omp end parallel
end program

subroutine body
    use mpi_f08
    implicit none
    integer, parameter :: n = 6, header = 16
    integer :: rank, ranks, wrong, ierr, i, j, other, count
    integer(8) :: digest
    integer, asynchronous :: block(n, n), got(n, n), words(4)
    type(MPI_File) :: fh
    type(MPI_Info) :: info
    type(MPI_Datatype) :: view
    type(MPI_Request) :: request
    type(MPI_Status) :: status
    integer(MPI_OFFSET_KIND) :: bytes, zero
    character(500) :: name

    call begin
    zero = 0
    call get_command_argument(1, name)
    do j = 1, n
        block(:, j) = [(1000*rank + 10*i + j, i=1, n)]
    end do
    call MPI_Info_create(info)
    call MPI_Info_set(info, 'romio_cb_write', 'enable')
    call MPI_Info_set(info, 'cb_nodes', '1')
    call MPI_File_open(MPI_COMM_WORLD, trim(name), MPI_MODE_CREATE + MPI_MODE_RDWR, info, fh, ierr)
    call expect(ierr == MPI_SUCCESS .and. fh /= MPI_FILE_NULL, 'open')
    call MPI_Info_free(info)
    words = [1, 2, 3, 4]
    if (rank == 0) call MPI_File_write_at(fh, zero, words, 4, MPI_INTEGER, MPI_STATUS_IGNORE)

    ! Two ranks side by side, as many below each other as it takes.
    call view_of(rank)
    call MPI_File_write_all(fh, block, n*n, MPI_INTEGER, status)
    call MPI_Get_count(status, MPI_INTEGER, count)
    call expect(count == n*n, 'written')
    call MPI_File_sync(fh)
    call MPI_Barrier(MPI_COMM_WORLD)

    other = mod(rank + 1, ranks)
    call view_of(other)
    got = 0
    call MPI_File_read_all(fh, got, n*n, MPI_INTEGER, MPI_STATUS_IGNORE)
    call expect(all(got == block + 1000*(other - rank)), 'read_all')
    digest = sum(got)
    got = 0
    call MPI_File_iread_at(fh, zero, got, n, MPI_INTEGER, request)
    call MPI_Wait(request, status)
    call expect(all(got(:, 1) == block(:, 1) + 1000*(other - rank)), 'iread_at')
    call MPI_File_read_at_all_begin(fh, zero, got, n*n, MPI_INTEGER)
    call MPI_File_read_at_all_end(fh, got, MPI_STATUS_IGNORE)
    call expect(all(got == block + 1000*(other - rank)), 'split collective')
    call MPI_Barrier(MPI_COMM_WORLD)

    ! One's own block again, not collectively: with holes, so that what the others
    ! have written between must stay.
    call view_of(rank)
    block = block + 1
    call MPI_File_iwrite_at(fh, zero, block, n*n, MPI_INTEGER, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_File_write_at(fh, zero, block, n*n, MPI_INTEGER, MPI_STATUS_IGNORE)
    call MPI_File_sync(fh)
    call MPI_Barrier(MPI_COMM_WORLD)
    call view_of(other)
    call MPI_File_read(fh, got, n*n, MPI_INTEGER, MPI_STATUS_IGNORE)
    call expect(all(got == block + 1000*(other - rank)), 'with holes')
    call MPI_File_set_view(fh, zero, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL)
    call MPI_File_read_at(fh, zero, words, 4, MPI_INTEGER, MPI_STATUS_IGNORE)
    call expect(all(words == [1, 2, 3, 4]), 'header')
    call MPI_File_get_size(fh, bytes)
    call expect(bytes == header + 4*n*n*ranks, 'size')
    call MPI_File_close(fh)
    call finish('f08/io')
contains
    subroutine view_of(who)
        integer, intent(in) :: who
        call MPI_Type_create_subarray(2, [2*n, n*(ranks/2)], [n, n], [n*mod(who, 2), n*(who/2)], &
            MPI_ORDER_FORTRAN, MPI_INTEGER, view)
        call MPI_Type_commit(view)
        call MPI_File_set_view(fh, int(header, MPI_OFFSET_KIND), MPI_INTEGER, view, 'native', MPI_INFO_NULL)
        call MPI_Type_free(view)
    end subroutine
    include 'check.inc'
end subroutine
