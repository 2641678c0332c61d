/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * An MPI call under TPSL_PROGRESS=neighbours: caller, tpsl_enter, function (progress.c). The rank is inside its
 * library from the one to the other. The frame is kept for the unwinder: exceptions of the program's callbacks pass here, and the rank
 * then counts as inside for good.
 *
 * Arguments of MPI calls are integers and pointers, so scratch registers of vectors are free. MPI_Pcontrol, which alone takes any
 * arguments, and functions that give a double do not come here.
 */
#define FUNCTIONS 0 /* struct tpsl_presence */
#define INSIDE 8
#define HELPER 12

#define ROOM 72 /* for the 7 words of stack arguments of MPI_Rget_accumulate, the most in MPI, and to align the stack */

    .text
    .globl tpsl_enter
    .hidden tpsl_enter
    .type tpsl_enter, @function
    .balign 64
tpsl_enter: /* %r11d is the stub */
    .cfi_startproc
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    pushq %rbx
    .cfi_offset %rbx, -24
    subq $ROOM, %rsp
    movq tpsl_present@gottpoff(%rip), %rax
    movq %fs:(%rax), %rbx
    testq %rbx, %rbx
    jz .Labsent
    incl INSIDE(%rbx)
    cmpl $0, HELPER(%rbx) /* the helper has the kernel order these two: progress.c */
    jne .Lhelped
.Lgo_on:
    movups 16(%rbp), %xmm8
    movups 32(%rbp), %xmm9
    movups 48(%rbp), %xmm10
    movq 64(%rbp), %rax
    movups %xmm8, (%rsp)
    movups %xmm9, 16(%rsp)
    movups %xmm10, 32(%rsp)
    movq %rax, 48(%rsp)
    movq FUNCTIONS(%rbx), %rax
    call *(%rax, %r11, 8)
    decl INSIDE(%rbx)
    movq -8(%rbp), %rbx
    .cfi_remember_state
    .cfi_restore %rbx
    leave
    .cfi_def_cfa %rsp, 8
    .cfi_restore %rbp
    ret

    .cfi_restore_state
.Lhelped:
    leaq tpsl_await_helper(%rip), %rax
    call .Lask
    jmp .Lgo_on
.Labsent:
    leaq tpsl_enter_unmarked(%rip), %rax
    call .Lask
    movq %rax, %r11
    movq -8(%rbp), %rbx
    .cfi_remember_state
    .cfi_restore %rbx
    leave
    .cfi_def_cfa %rsp, 8
    .cfi_restore %rbp
    jmpq *%r11
    .cfi_restore_state
    .cfi_endproc

/* Calls %rax with the presence and the stub, and keeps the arguments. */
.Lask:
    .cfi_startproc
    pushq %rdi
    .cfi_adjust_cfa_offset 8
    pushq %rsi
    .cfi_adjust_cfa_offset 8
    pushq %rdx
    .cfi_adjust_cfa_offset 8
    pushq %rcx
    .cfi_adjust_cfa_offset 8
    pushq %r8
    .cfi_adjust_cfa_offset 8
    pushq %r9
    .cfi_adjust_cfa_offset 8
    pushq %r11
    .cfi_adjust_cfa_offset 8
    movq %rbx, %rdi
    movl %r11d, %esi
    call *%rax
    popq %r11
    .cfi_adjust_cfa_offset -8
    popq %r9
    .cfi_adjust_cfa_offset -8
    popq %r8
    .cfi_adjust_cfa_offset -8
    popq %rcx
    .cfi_adjust_cfa_offset -8
    popq %rdx
    .cfi_adjust_cfa_offset -8
    popq %rsi
    .cfi_adjust_cfa_offset -8
    popq %rdi
    .cfi_adjust_cfa_offset -8
    ret
    .cfi_endproc
    .size tpsl_enter, . - tpsl_enter
    .section .note.GNU-stack, "", @progbits
