! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
!
! Point-to-point, blocking: the four send modes, wildcards, statuses that
! are read and ignored, messages to nobody. In fixed form.

      program main
!$omp parallel
      call body
!$omp end parallel
      end

      subroutine body
      implicit none
      include 'mpif.h'
      integer rank, ranks, wrong, ierr, left, right, i, n, bytes
      integer status(MPI_STATUS_SIZE)
      integer(8) digest
      integer out(10), in(10)
      character buffer(1000)

      call begin
      left = mod(rank + ranks - 1, ranks)
      right = mod(rank + 1, ranks)
      do 10 i = 1, 10
         out(i) = 100 * rank + i
   10 continue

      call MPI_BUFFER_ATTACH(buffer, 1000, ierr)
      call MPI_BSEND(out, 10, MPI_INTEGER, right, 7, MPI_COMM_WORLD,    &
     & ierr)
      call MPI_RECV(in, 10, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG,   &
     & MPI_COMM_WORLD, status, ierr)
      call MPI_GET_COUNT(status, MPI_INTEGER, n, ierr)
      call expect(n == 10, 'count')
      call expect(status(MPI_SOURCE) == left, 'source')
      call expect(status(MPI_TAG) == 7, 'tag')
      call expect(in(10) == 100 * left + 10, 'bsend')
      call MPI_BUFFER_DETACH(buffer, bytes, ierr)
      call expect(bytes == 1000, 'size of the buffer')

      if (mod(rank, 2) == 0) then
         call MPI_SSEND(out, 5, MPI_INTEGER, right, 1, MPI_COMM_WORLD,  &
     & ierr)
         call MPI_SEND(out, 10, MPI_INTEGER, right, 2, MPI_COMM_WORLD,  &
     & ierr)
      else
         call MPI_RECV(in, 10, MPI_INTEGER, left, 1, MPI_COMM_WORLD,    &
     & status, ierr)
         call MPI_GET_COUNT(status, MPI_INTEGER, n, ierr)
         call expect(n == 5, 'short message')
         call MPI_RECV(in, 10, MPI_INTEGER, left, 2, MPI_COMM_WORLD,    &
     & MPI_STATUS_IGNORE, ierr)
         call expect(in(7) == 100 * left + 7, 'send')
      end if

      if (mod(rank, 2) == 1) then
         call MPI_RECV(in, 0, MPI_INTEGER, left, 3, MPI_COMM_WORLD,     &
     & MPI_STATUS_IGNORE, ierr)
         call MPI_RSEND(out, 3, MPI_INTEGER, left, 4, MPI_COMM_WORLD,   &
     & ierr)
      else
         call MPI_IRECV(in, 3, MPI_INTEGER, right, 4, MPI_COMM_WORLD,   &
     & n, ierr)
         call MPI_SEND(out, 0, MPI_INTEGER, right, 3, MPI_COMM_WORLD,   &
     & ierr)
         call MPI_WAIT(n, MPI_STATUS_IGNORE, ierr)
         call expect(in(3) == 100 * right + 3, 'rsend')
      end if

      call MPI_SENDRECV(out, 4, MPI_INTEGER, right, 5, in, 10,          &
     & MPI_INTEGER, left, 5, MPI_COMM_WORLD, status, ierr)
      call MPI_GET_ELEMENTS(status, MPI_INTEGER, n, ierr)
      call expect(n == 4 .and. in(4) == 100 * left + 4, 'sendrecv')
      call MPI_SENDRECV_REPLACE(out, 10, MPI_INTEGER, right, 6, left, 6,&
     & MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      call expect(out(1) == 100 * left + 1, 'sendrecv_replace')

      call MPI_SEND(out, 1, MPI_INTEGER, MPI_PROC_NULL, 0,              &
     & MPI_COMM_WORLD, ierr)
      call MPI_RECV(in, 1, MPI_INTEGER, MPI_PROC_NULL, 0,               &
     & MPI_COMM_WORLD, status, ierr)
      call expect(status(MPI_SOURCE) == MPI_PROC_NULL, 'nobody')
      digest = sum(out)
      call finish('mpif/p2p')

      contains
      include 'check.inc'
      end
