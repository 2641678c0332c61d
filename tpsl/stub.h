/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Assembler macros of the stubs.
 *
 * A stub jumps through its entry of the calling thread's table. It may use only
 * %r11: every argument register is in use, and %rax counts the vector arguments of
 * variadic functions (MPI_Pcontrol). The unwinder needs no frame: a tail jump has
 * none.
 *
 * The table of a thread without a rank holds, per stub, a few bytes that name the
 * stub and go to tpsl_unbound_call (unbound_linux_amd64.S).
 */
.macro STUB index
    .text
    .balign 16
.Lstub\index:
    .cfi_startproc
    endbr64
    movq tpsl_table@gottpoff(%rip), %r11
    movq %fs:(%r11), %r11
    jmpq *(8 * \index)(%r11)
    .cfi_endproc
.Lunbound\index:
    .cfi_startproc
    endbr64
    movl $\index, %r11d
    jmp tpsl_unbound_call
    .cfi_endproc
.endm

.macro NAME name, index
    .globl \name
    .type \name, @function
    .set \name, .Lstub\index
.endm

/* MACRO first, ..., MACRO first + count - 1 */
.macro EACH macro, first, count
    .altmacro
    .set .Leach, \first
    .rept \count
        \macro %.Leach
        .set .Leach, .Leach + 1
    .endr
    .noaltmacro
.endm

.macro STUB_ADDRESS index
    .quad .Lstub\index
.endm

/* Stubs without a name, and their addresses. */
.macro PRIVATE_STUBS first, count
    EACH STUB, \first, \count
    .section .data.rel.ro, "aw", @progbits
    .balign 64
    .globl tpsl_private_stubs
    .hidden tpsl_private_stubs
    .type tpsl_private_stubs, @object
tpsl_private_stubs:
    EACH STUB_ADDRESS, \first, \count
    .size tpsl_private_stubs, . - tpsl_private_stubs
.endm

.macro UNBOUND_TABLE
    .section .data.rel.ro, "aw", @progbits
    .balign 64
    .globl tpsl_unbound_table
    .hidden tpsl_unbound_table
    .type tpsl_unbound_table, @object
tpsl_unbound_table:
.endm

.macro UNBOUND index
    .quad .Lunbound\index
.endm

.macro UNBOUND_PRIVATE first, count
    EACH UNBOUND, \first, \count
.endm

.macro UNBOUND_TABLE_END
    .size tpsl_unbound_table, . - tpsl_unbound_table
    .section .note.GNU-stack, "", @progbits
.endm
