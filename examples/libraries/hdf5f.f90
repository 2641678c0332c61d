! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0

! hdf5f: parallel HDF5 in Fortran in thread ranks. Each rank writes its columns of one
! dataset, all together; then each reads the columns of the next one back and compares.
!
!     hdf5f FILE

program main
    character(1000) :: name

    call get_command_argument(1, name)
    !$omp parallel
    call body(trim(name))
    !$omp end parallel
end program

subroutine body(name)
    use mpi
    use hdf5
    implicit none
    character(*), intent(in) :: name
    integer, parameter :: rows = 1000, columns = 8
    integer :: rank, ranks, ierr, error, wrong, total
    integer(hid_t) :: access, file, space, dataset, how
    integer(hsize_t) :: whole(2)

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    call h5open_f(error)
    call h5pcreate_f(H5P_FILE_ACCESS_F, access, error)
    call h5pset_fapl_mpio_f(access, MPI_COMM_WORLD, MPI_INFO_NULL, error)
    call h5fcreate_f(name, H5F_ACC_TRUNC_F, file, error, access_prp=access)
    whole = [rows, columns*ranks]
    call h5screate_simple_f(2, whole, space, error)
    call h5pcreate_f(H5P_DATASET_CREATE_F, how, error)
    call h5pset_obj_track_times_f(how, .false., error) ! equal runs make equal files
    call h5dcreate_f(file, 'columns', H5T_NATIVE_DOUBLE, space, dataset, error, how)
    call h5pclose_f(how, error)

    wrong = 0
    call transfer_of(rank, .true.)
    call transfer_of(mod(rank + 1, ranks), .false.)

    call h5dclose_f(dataset, error)
    call h5sclose_f(space, error)
    call h5fclose_f(file, error)
    call h5pclose_f(access, error)
    call h5close_f(error)
    call MPI_Allreduce(wrong, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    if (rank == 0) print '(3(i0, a))', ranks, ' ranks wrote ', columns*ranks, ' columns, ', total, ' wrong'
    call MPI_Finalize(ierr)
    if (total /= 0) stop 1
contains
    ! Writes a rank's columns, or reads and compares them, in one collective call.
    subroutine transfer_of(owner, writing)
        integer, intent(in) :: owner
        logical, intent(in) :: writing
        integer(hid_t) :: memory
        integer(hsize_t) :: part(2), start(2)
        double precision :: want(rows, columns), x(rows, columns)
        integer :: i, j

        part = [rows, columns]
        start = [0, columns*owner]
        want = reshape([((i + 1000d0*(j + columns*owner), i=1, rows), j=1, columns)], [rows, columns])
        call h5screate_simple_f(2, part, memory, error)
        call h5sselect_hyperslab_f(space, H5S_SELECT_SET_F, start, part, error)
        call h5pcreate_f(H5P_DATASET_XFER_F, how, error)
        call h5pset_dxpl_mpio_f(how, H5FD_MPIO_COLLECTIVE_F, error)
        x = want
        if (writing) call h5dwrite_f(dataset, H5T_NATIVE_DOUBLE, x, part, error, memory, space, how)
        if (.not. writing) x = 0
        if (.not. writing) call h5dread_f(dataset, H5T_NATIVE_DOUBLE, x, part, error, memory, space, how)
        wrong = wrong + count(abs(x - want) > 0) + merge(1, 0, error /= 0)
        call h5pclose_f(how, error)
        call h5sclose_f(memory, error)
    end subroutine
end subroutine
