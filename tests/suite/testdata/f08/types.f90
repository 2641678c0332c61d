! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
!
! Datatypes with mpi_f08: interoperable types, absolute addresses, distributed arrays,
! and what a datatype is made of.

program main
    !$omp parallel
    call body
    !$omp end parallel
end program

subroutine body
    use mpi_f08
    use, intrinsic :: iso_c_binding, only: c_int, c_double, c_char
    implicit none
    type, bind(c) :: body_of
        integer(c_int) :: id
        character(c_char) :: kind
        real(c_double) :: mass
    end type
    integer :: rank, ranks, wrong, ierr, left, right, i, integers, addresses, datatypes, combiner, bytes
    integer(8) :: digest
    type(body_of), target :: p(2), q(2)
    integer, volatile :: scattered(3) ! MPI_BOTTOM hides their use from the compiler
    integer :: whole(8, 8), part(16), block(3), got(3)
    type(MPI_Datatype) :: type, old(1)
    integer(MPI_ADDRESS_KIND) :: at(3), base, lb, extent

    call begin
    left = mod(rank + ranks - 1, ranks)
    right = mod(rank + 1, ranks)

    call MPI_Get_address(p(1), base)
    call MPI_Get_address(p(1)%id, at(1))
    call MPI_Get_address(p(1)%kind, at(2))
    call MPI_Get_address(p(1)%mass, at(3))
    call MPI_Type_create_struct(3, [1, 1, 1], at - base, [MPI_INTEGER, MPI_CHARACTER, MPI_DOUBLE_PRECISION], type)
    call MPI_Type_commit(type)
    call MPI_Type_get_extent(type, lb, extent)
    call MPI_Type_size(type, bytes)
    call expect(lb == 0 .and. extent == 16 .and. bytes == 13, 'extent')
    p = [body_of(rank, achar(65 + rank), 1.5d0*rank), body_of(-rank, 'z', 0.5d0)]
    call MPI_Sendrecv(p, 2, type, right, 1, q, 2, type, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call expect(q(1)%id == left .and. q(1)%kind == achar(65 + left) .and. q(1)%mass == 1.5d0*left, 'first')
    call expect(q(2)%id == -left .and. q(2)%kind == 'z' .and. q(2)%mass == 0.5d0, 'second')
    call MPI_Type_free(type)

    do i = 1, 3
        scattered(i) = 10*rank + i
        call MPI_Get_address(scattered(4 - i), at(i))
    end do
    call MPI_Type_create_hindexed(3, [1, 1, 1], at, MPI_INTEGER, type)
    call MPI_Type_commit(type)
    call MPI_Sendrecv(MPI_BOTTOM, 1, type, right, 2, got, 3, MPI_INTEGER, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call expect(all(got == 10*left + [3, 2, 1]), 'from MPI_BOTTOM')
    block = [7, 8, 9]
    call MPI_Sendrecv(block, 3, MPI_INTEGER, right, 3, MPI_BOTTOM, 1, type, left, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    got = scattered
    call expect(all(got == [9, 8, 7]), 'to MPI_BOTTOM')
    call MPI_Type_free(type)

    ! Every rank's part of an array in blocks, from the array that all have.
    call MPI_Type_create_darray(4, rank, 2, [8, 8], [MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC], &
        [MPI_DISTRIBUTE_DFLT_DARG, 2], [2, 2], MPI_ORDER_FORTRAN, MPI_INTEGER, type)
    call MPI_Type_commit(type)
    call MPI_Type_size(type, bytes)
    call expect(bytes == 64, 'size of a part')
    whole = reshape([(i, i=1, 64)], [8, 8])
    call MPI_Sendrecv(whole, 1, type, rank, 4, part, 16, MPI_INTEGER, rank, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    digest = sum(part)
    call MPI_Allreduce(digest, base, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD)
    call expect(ranks /= 4 .or. base == 64*65/2, 'every element once')
    call MPI_Type_free(type)

    call MPI_Type_create_indexed_block(2, 2, [0, 5], MPI_INTEGER, type)
    call MPI_Type_get_envelope(type, integers, addresses, datatypes, combiner)
    call expect(combiner == MPI_COMBINER_INDEXED_BLOCK .and. integers == 4 .and. datatypes == 1, 'envelope')
    call MPI_Type_get_contents(type, integers, addresses, datatypes, part, at, old)
    call expect(all(part(:4) == [2, 2, 0, 5]) .and. old(1) == MPI_INTEGER, 'contents')
    call MPI_Type_free(type)
    call expect(type == MPI_DATATYPE_NULL, 'free')
    call finish('f08/types')
contains
    include 'check.inc'
end subroutine
