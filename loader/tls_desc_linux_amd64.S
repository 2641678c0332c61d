/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Resolvers of TLS descriptors (-mtls-dialect=gnu2). Compiled code calls the first word
 * of a descriptor with its address in %rax, and wants the distance of its variable from
 * the thread pointer there. Every other register, vector registers among them, must be
 * as it was: compilers keep values in them across the call.
 */
    .text

    /* The second word is the distance. */
    .globl tpsl_tlsdesc_static
    .hidden tpsl_tlsdesc_static
    .type tpsl_tlsdesc_static, @function
    .balign 16
tpsl_tlsdesc_static:
    .cfi_startproc
    endbr64
    movq 8(%rax), %rax
    ret
    .cfi_endproc
    .size tpsl_tlsdesc_static, . - tpsl_tlsdesc_static

    /* A weak variable that nobody defines; the second word is its address, 0 and an addend. */
    .globl tpsl_tlsdesc_absent
    .hidden tpsl_tlsdesc_absent
    .type tpsl_tlsdesc_absent, @function
    .balign 16
tpsl_tlsdesc_absent:
    .cfi_startproc
    endbr64
    movq 8(%rax), %rax
    subq %fs:0, %rax
    ret
    .cfi_endproc
    .size tpsl_tlsdesc_absent, . - tpsl_tlsdesc_absent

    /* The second word points to a struct tls_index, the module's id and the variable's
     * offset. This is tpsl_tls_get_addr (tls.c), whose structures are known here; where
     * the thread has no block of the module yet, it is called, below a save area that
     * tlsdesc.c has the size of. */
    .globl tpsl_tlsdesc_dynamic
    .hidden tpsl_tlsdesc_dynamic
    .type tpsl_tlsdesc_dynamic, @function
    .balign 16
tpsl_tlsdesc_dynamic:
    .cfi_startproc
    endbr64
    pushq %rdi
    .cfi_adjust_cfa_offset 8
    .cfi_offset %rdi, -16
    pushq %rsi
    .cfi_adjust_cfa_offset 8
    .cfi_offset %rsi, -24
    movq 8(%rax), %rdi
    movq tpsl_thread_tls@gottpoff(%rip), %rsi
    movl (%rdi), %eax               /* the index: lower half of the id */
    cmpq %fs:8(%rsi), %rax
    jae 1f
    leaq (%rax, %rax, 2), %rax
    shlq $3, %rax                   /* a block's entry has 24 bytes */
    addq %fs:(%rsi), %rax
    movq (%rax), %rsi
    cmpq (%rdi), %rsi
    jne 1f
    movq 8(%rax), %rax
    addq 8(%rdi), %rax
    subq %fs:0, %rax
    .cfi_remember_state
    popq %rsi
    .cfi_adjust_cfa_offset -8
    .cfi_restore %rsi
    popq %rdi
    .cfi_adjust_cfa_offset -8
    .cfi_restore %rdi
    ret

    .cfi_restore_state
1:  pushq %rbp
    .cfi_adjust_cfa_offset 8
    .cfi_offset %rbp, -32
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    pushq %rdx
    pushq %rcx
    pushq %r8
    pushq %r9
    pushq %r10
    pushq %r11
    subq tpsl_xsave_size(%rip), %rsp
    andq $-64, %rsp
    movl tpsl_xsave_mask(%rip), %eax
    testl %eax, %eax
    jz 2f
    xorl %edx, %edx
    movq %rdx, 512(%rsp)            /* xsave leaves the rest of its header alone, xrstor wants zeros */
    movq %rdx, 520(%rsp)
    movq %rdx, 528(%rsp)
    movq %rdx, 536(%rsp)
    movq %rdx, 544(%rsp)
    movq %rdx, 552(%rsp)
    movq %rdx, 560(%rsp)
    movq %rdx, 568(%rsp)
    xsave64 (%rsp)
    call tpsl_tls_get_addr
    movq %rax, %rdi
    movl tpsl_xsave_mask(%rip), %eax
    xorl %edx, %edx
    xrstor64 (%rsp)
    jmp 3f
2:  fxsave64 (%rsp)
    call tpsl_tls_get_addr
    movq %rax, %rdi
    fxrstor64 (%rsp)
3:  movq %rdi, %rax
    subq %fs:0, %rax
    leaq -48(%rbp), %rsp
    popq %r11
    popq %r10
    popq %r9
    popq %r8
    popq %rcx
    popq %rdx
    popq %rbp
    .cfi_def_cfa %rsp, 24
    .cfi_restore %rbp
    popq %rsi
    .cfi_adjust_cfa_offset -8
    .cfi_restore %rsi
    popq %rdi
    .cfi_adjust_cfa_offset -8
    .cfi_restore %rdi
    ret
    .cfi_endproc
    .size tpsl_tlsdesc_dynamic, . - tpsl_tlsdesc_dynamic
    .section .note.GNU-stack, "", @progbits
