// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* A library with much text: a function in three parts, 3 and 4 MiB apart. */
__asm__(".text\n"
        ".globl far\n"
        ".type far, @function\n"
        "far:\n"
        "    jmp 1f\n"
        "    .fill 3 << 20, 1, 0xcc\n"
        "1:  jmp 2f\n"
        "    .fill 4 << 20, 1, 0xcc\n"
        "2:  mov count@GOTPCREL(%rip), %rax\n"
        "    incl (%rax)\n"
        "    mov (%rax), %eax\n"
        "    ret\n");

int count;
