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
 * Three tables are the same for all ranks. Each entry is a few bytes that name the stub and
 * go on: for a thread without a rank to tpsl_unbound_call (unbound_linux_amd64.S), under
 * TPSL_CHECK=1 to tpsl_check_stub (check_linux_amd64.S), under TPSL_PROGRESS=neighbours to
 * tpsl_enter (enter_linux_amd64.S).
 */
.macro TABLE name
    .section .data.rel.ro.\name, "aw", @progbits
    .balign 64
    .globl \name
    .hidden \name
    .type \name, @object
\name:
.endm

.macro TABLE_END name
    .section .data.rel.ro.\name, "aw", @progbits
    .size \name, . - \name
.endm

.macro ENTRY table, index, target
    .text
.L\table\index:
    .cfi_startproc
    endbr64
    movl $\index, %r11d
    jmp \target
    .cfi_endproc
    .section .data.rel.ro.\table, "aw", @progbits
    .quad .L\table\index
.endm

.macro STUBS
    TABLE tpsl_unbound_table
    TABLE tpsl_checked_table
    TABLE tpsl_entered_table
    TABLE tpsl_private_stubs
.endm

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
    ENTRY tpsl_unbound_table, \index, tpsl_unbound_call
.endm

/* A stub of MPI. */
.macro MPI_STUB index
    STUB \index
    ENTRY tpsl_checked_table, \index, tpsl_check_stub
    ENTRY tpsl_entered_table, \index, tpsl_enter
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

/* A stub without a name, and its address. */
.macro PRIVATE_STUB index
    STUB \index
    .section .data.rel.ro.tpsl_private_stubs, "aw", @progbits
    .quad .Lstub\index
.endm

.macro STUBS_END
    TABLE_END tpsl_unbound_table
    TABLE_END tpsl_checked_table
    TABLE_END tpsl_entered_table
    TABLE_END tpsl_private_stubs
    .section .note.GNU-stack, "", @progbits
.endm
