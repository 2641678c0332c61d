! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
!
! Info of communicators, windows and the job; what is known of threads; profiling names.

program main
    !$omp parallel
    call body
    !$omp end parallel
end program

subroutine body
    use mpi
    implicit none
    integer :: rank, ranks, wrong, ierr, info, dup, win, n, i, provided
    integer(8) :: digest
    integer :: memory(1)
    character(MPI_MAX_INFO_VAL) :: value
    logical :: flag
    integer(MPI_ADDRESS_KIND) :: bytes, here, there

    call begin
    call MPI_Info_create(info, ierr)
    call MPI_Info_set(info, 'mpi_assert_no_any_tag', 'true', ierr)
    call MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, dup, ierr)
    call MPI_Info_free(info, ierr)
    call MPI_Comm_get_info(dup, info, ierr)
    call MPI_Info_get(info, 'mpi_assert_no_any_tag', MPI_MAX_INFO_VAL, value, flag, ierr)
    call expect(flag .and. value == 'true', 'info of a communicator')
    call MPI_Info_set(info, 'mpi_assert_no_any_source', 'true', ierr)
    call MPI_Comm_set_info(dup, info, ierr)
    call MPI_Info_free(info, ierr)
    call MPI_Comm_free(dup, ierr)

    bytes = 4
    call MPI_Info_create(info, ierr)
    call MPI_Info_set(info, 'no_locks', 'true', ierr)
    call MPI_Win_create(memory, bytes, 4, info, MPI_COMM_WORLD, win, ierr)
    call MPI_Info_free(info, ierr)
    call MPI_Win_get_info(win, info, ierr)
    call MPI_Info_get(info, 'no_locks', MPI_MAX_INFO_VAL, value, flag, ierr)
    call expect(flag .and. value == 'true', 'info of a window')
    call MPI_Info_free(info, ierr)
    call MPI_Win_set_name(win, 'pane', ierr)
    call MPI_Win_get_name(win, value, n, ierr)
    call expect(value == 'pane' .and. n == 4, 'name of a window')
    call MPI_Win_free(win, ierr)

    call MPI_Info_get_nkeys(MPI_INFO_ENV, n, ierr)
    call expect(n >= 0, 'MPI_INFO_ENV')
    call MPI_Info_create(info, ierr)
    do i = 1, 100
        write (value, '(i0)') i*rank
        call MPI_Info_set(info, 'key'//achar(iachar('a') + mod(i, 26)), value, ierr)
    end do
    call MPI_Info_get_nkeys(info, n, ierr)
    call expect(n == 26, 'keys')
    call MPI_Info_get(info, 'keya', MPI_MAX_INFO_VAL, value, flag, ierr)
    read (value, *) i
    call expect(i == 78*rank, 'last value')
    call MPI_Info_free(info, ierr)

    call MPI_Query_thread(provided, ierr)
    call expect(provided >= MPI_THREAD_SINGLE .and. provided <= MPI_THREAD_MULTIPLE, 'query_thread')
    call MPI_Is_thread_main(flag, ierr)
    call expect(flag, 'is_thread_main')
    call PMPI_Comm_rank(MPI_COMM_WORLD, n, ierr)
    call expect(n == rank, 'profiling name')
    call MPI_Pcontrol(1)
    call MPI_Alloc_mem(bytes, MPI_INFO_NULL, here, ierr)
    call expect(ierr == MPI_SUCCESS .and. here /= 0, 'alloc_mem')
    there = MPI_Aint_add(here, 12_MPI_ADDRESS_KIND)
    call expect(MPI_Aint_diff(there, here) == 12, 'aint')
    digest = i
    call finish('mpi/info')
contains
    include 'check.inc'
end subroutine
