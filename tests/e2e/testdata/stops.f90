! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0

! stops: the runtime library tells lines, which it finds in the program's own file.
program stops
  implicit none
  call inner
contains
  subroutine inner
    error stop 'the end'
  end subroutine
end program
