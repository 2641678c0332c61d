/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Assembler macros: the registers that may hold arguments (psABI x86-64, 3.2.3: integer
 * arguments in six registers, vector ones in xmm0-7 with their number in %al, the rest
 * on the stack), to and from a block at `base`. struct tpsl_arguments in check.c is the
 * same block.
 */
#define ARGUMENTS_SIZE 192
#define ARGUMENTS_RDX 16
#define ARGUMENTS_RAX 48
#define ARGUMENTS_STACK 56
#define ARGUMENTS_XMM0 64

.macro SAVE_ARGUMENTS base
    movq %rdi, 0(\base)
    movq %rsi, 8(\base)
    movq %rdx, ARGUMENTS_RDX(\base)
    movq %rcx, 24(\base)
    movq %r8, 32(\base)
    movq %r9, 40(\base)
    movq %rax, ARGUMENTS_RAX(\base)
    movups %xmm0, ARGUMENTS_XMM0(\base)
    movups %xmm1, 80(\base)
    movups %xmm2, 96(\base)
    movups %xmm3, 112(\base)
    movups %xmm4, 128(\base)
    movups %xmm5, 144(\base)
    movups %xmm6, 160(\base)
    movups %xmm7, 176(\base)
.endm

.macro LOAD_ARGUMENTS base
    movq 0(\base), %rdi
    movq 8(\base), %rsi
    movq ARGUMENTS_RDX(\base), %rdx
    movq 24(\base), %rcx
    movq 32(\base), %r8
    movq 40(\base), %r9
    movq ARGUMENTS_RAX(\base), %rax
    movups ARGUMENTS_XMM0(\base), %xmm0
    movups 80(\base), %xmm1
    movups 96(\base), %xmm2
    movups 112(\base), %xmm3
    movups 128(\base), %xmm4
    movups 144(\base), %xmm5
    movups 160(\base), %xmm6
    movups 176(\base), %xmm7
.endm
