/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * int tpsl_run_function(int (*function)(void *), void *argument): function(argument), in a frame whose personality ends the
 * process where an exception or the end of the thread would pass.
 */
    .text
    .globl tpsl_run_function
    .hidden tpsl_run_function
    .hidden tpsl_run_personality
    .type tpsl_run_function, @function
    .balign 16
tpsl_run_function:
    .cfi_startproc
    .cfi_personality 0x1b, tpsl_run_personality /* DW_EH_PE_pcrel | DW_EH_PE_sdata4 */
    endbr64
    pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    movq %rdi, %rax
    movq %rsi, %rdi
    call *%rax
    popq %rbp
    .cfi_def_cfa %rsp, 8
    .cfi_restore %rbp
    ret
    .cfi_endproc
    .size tpsl_run_function, . - tpsl_run_function
    .section .note.GNU-stack, "", @progbits
