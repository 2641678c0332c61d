/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * First MPI call of a thread that is not bound. %r11d is the stub. Every argument
 * register is saved, C decides what the thread may be, and the call goes on where
 * C says.
 */
#include "arguments.h"

    .text
    .globl tpsl_unbound_call
    .hidden tpsl_unbound_call
    .type tpsl_unbound_call, @function
    .balign 16
tpsl_unbound_call:
    .cfi_startproc
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    subq $ARGUMENTS_SIZE, %rsp
    andq $-16, %rsp
    SAVE_ARGUMENTS %rsp
    movl %r11d, %edi
    call tpsl_first_call
    movq %rax, %r11
    LOAD_ARGUMENTS %rsp
    leave
    .cfi_def_cfa %rsp, 8
    .cfi_restore %rbp
    jmpq *%r11
    .cfi_endproc
    .size tpsl_unbound_call, . - tpsl_unbound_call
    .section .note.GNU-stack, "", @progbits
