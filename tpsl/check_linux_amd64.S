/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * An MPI call under TPSL_CHECK=1, on its way through check.c: caller, tpsl_check_stub,
 * C, tpsl_pass_on, function. Both keep the frame pointer and say so to the unwinder:
 * exceptions of the program's callbacks pass here.
 */
#include "arguments.h"

/* Words of stack arguments that are passed on. Rget_accumulate has 7, the most in MPI;
 * the rest is for MPI_Pcontrol. */
#define WORDS 16

    .text
    .globl tpsl_check_stub
    .hidden tpsl_check_stub
    .type tpsl_check_stub, @function
    .balign 16
tpsl_check_stub: /* %r11d is the stub */
    .cfi_startproc
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    subq $ARGUMENTS_SIZE, %rsp
    andq $-16, %rsp
    SAVE_ARGUMENTS %rsp
    leaq 16(%rbp), %rax
    movq %rax, ARGUMENTS_STACK(%rsp)
    movl %r11d, %edi
    movq %rsp, %rsi
    call tpsl_checked_call
    movq ARGUMENTS_RAX(%rsp), %rax
    movq ARGUMENTS_RDX(%rsp), %rdx
    movups ARGUMENTS_XMM0(%rsp), %xmm0
    leave
    .cfi_def_cfa %rsp, 8
    .cfi_restore %rbp
    ret
    .cfi_endproc
    .size tpsl_check_stub, . - tpsl_check_stub

/* void tpsl_pass_on(void *function, struct tpsl_arguments *): calls it with them; what
 * it returns is in the block then, in the places of %rax, %rdx and %xmm0. */
    .globl tpsl_pass_on
    .hidden tpsl_pass_on
    .type tpsl_pass_on, @function
    .balign 16
tpsl_pass_on:
    .cfi_startproc
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    pushq %rbx
    .cfi_offset %rbx, -24
    subq $(8 * WORDS + 8), %rsp
    movq %rdi, %r11
    movq %rsi, %rbx
    movq ARGUMENTS_STACK(%rbx), %rsi
    movq %rsp, %rdi
    movl $WORDS, %ecx
    rep movsq
    LOAD_ARGUMENTS %rbx
    call *%r11
    movq %rax, ARGUMENTS_RAX(%rbx)
    movq %rdx, ARGUMENTS_RDX(%rbx)
    movups %xmm0, ARGUMENTS_XMM0(%rbx)
    movq -8(%rbp), %rbx
    .cfi_restore %rbx
    leave
    .cfi_def_cfa %rsp, 8
    .cfi_restore %rbp
    ret
    .cfi_endproc
    .size tpsl_pass_on, . - tpsl_pass_on
    .section .note.GNU-stack, "", @progbits
