! SPDX-FileCopyrightText: The tpsl authors
! SPDX-License-Identifier: Apache-2.0
!
! tpsl.h for Fortran: include 'tpslf.h' among the declarations, in fixed
! or free form. tpsl.h says what the functions do.

      interface
        function TPSL_Init(slot) bind(C, name='TPSL_Init')
          use, intrinsic :: iso_c_binding, only: c_int
          integer(c_int), value :: slot
          integer(c_int) :: TPSL_Init
        end function
        function TPSL_Local_size() bind(C, name='TPSL_Local_size')
          use, intrinsic :: iso_c_binding, only: c_int
          integer(c_int) :: TPSL_Local_size
        end function
        function TPSL_Slot() bind(C, name='TPSL_Slot')
          use, intrinsic :: iso_c_binding, only: c_int
          integer(c_int) :: TPSL_Slot
        end function
        function TPSL_Rank_of(slot) bind(C, name='TPSL_Rank_of')
          use, intrinsic :: iso_c_binding, only: c_int
          integer(c_int), value :: slot
          integer(c_int) :: TPSL_Rank_of
        end function
        function TPSL_Same_process(rank)                                &
     &    bind(C, name='TPSL_Same_process')
          use, intrinsic :: iso_c_binding, only: c_int
          integer(c_int), value :: rank
          integer(c_int) :: TPSL_Same_process
        end function
        function TPSL_Switch(slot) bind(C, name='TPSL_Switch')
          use, intrinsic :: iso_c_binding, only: c_int
          integer(c_int), value :: slot
          integer(c_int) :: TPSL_Switch
        end function
        function TPSL_Adopt(slot) bind(C, name='TPSL_Adopt')
          use, intrinsic :: iso_c_binding, only: c_int
          integer(c_int), value :: slot
          integer(c_int) :: TPSL_Adopt
        end function
      end interface
