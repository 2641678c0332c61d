! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
!
! Info objects of mpi_f08, what the library tells of itself, spawns that are
! refused, and the constants for "no arguments" and "no error codes".

program main
    !$omp parallel
    call body
    !$omp end parallel
end program

subroutine body
    use mpi_f08
    implicit none
    integer :: rank, ranks, wrong, ierr, n, major, minor, class, i
    integer(8) :: digest
    type(MPI_Info) :: info, copy
    type(MPI_Comm) :: children
    character(MPI_MAX_INFO_VAL) :: value
    character(MPI_MAX_INFO_KEY) :: key
    character(MPI_MAX_LIBRARY_VERSION_STRING) :: library
    character(MPI_MAX_PROCESSOR_NAME) :: host
    character(MPI_MAX_OBJECT_NAME) :: name
    logical :: flag
    double precision :: begun

    call begin
    call MPI_Info_create(info)
    do i = 1, 5
        write (key, '(a,i0)') 'key', i
        write (value, '(i0)') 1000*rank + i
        call MPI_Info_set(info, key, value)
    end do
    call MPI_Info_dup(info, copy)
    call MPI_Info_delete(info, 'key3')
    call MPI_Info_get_nkeys(info, n)
    call expect(n == 4, 'delete')
    digest = 0
    do i = 0, 4
        call MPI_Info_get_nthkey(copy, i, key)
        call MPI_Info_get(copy, key, len(value), value, flag)
        read (value, *) n
        call expect(flag .and. n == 1000*rank + i + 1, 'value')
        digest = digest + n
    end do
    call MPI_Info_get_valuelen(copy, 'key9', n, flag)
    call expect(.not. flag, 'no such key')
    call MPI_Info_free(info)
    call MPI_Info_free(copy)
    call expect(info == MPI_INFO_NULL, 'free')

    call MPI_Get_version(major, minor)
    call expect(major == MPI_VERSION .and. minor == MPI_SUBVERSION, 'version')
    call MPI_Get_library_version(library, n)
    call expect(library(:5) == 'MPICH', 'library')
    call MPI_Get_processor_name(host, n)
    call expect(n > 0 .and. len_trim(host) == n, 'host')
    call MPI_Type_get_name(MPI_DOUBLE_PRECISION, name, n)
    call expect(name == 'MPI_DOUBLE_PRECISION', 'name of a datatype')
    begun = MPI_Wtime()
    do while (MPI_Wtime() == begun)
    end do
    call expect(MPI_Wtime() > begun .and. MPI_Wtick() > 0, 'clock')

    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
    call MPI_Comm_spawn('nobody', MPI_ARGV_NULL, 1, MPI_INFO_NULL, -7, MPI_COMM_WORLD, children, MPI_ERRCODES_IGNORE, ierr)
    call MPI_Error_class(ierr, class)
    call expect(class == MPI_ERR_ROOT, 'spawn')
    call MPI_Comm_spawn_multiple(2, ['nobody', 'no one'], MPI_ARGVS_NULL, [1, 1], [MPI_INFO_NULL, MPI_INFO_NULL], &
        -7, MPI_COMM_WORLD, children, MPI_ERRCODES_IGNORE, ierr)
    call MPI_Error_class(ierr, class)
    call expect(class == MPI_ERR_ROOT, 'spawn_multiple')
    call MPI_Comm_get_parent(children)
    call expect(children == MPI_COMM_NULL, 'no parent')
    call finish('f08/info')
contains
    include 'check.inc'
end subroutine
