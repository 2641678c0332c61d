// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* That a TLS descriptor keeps all registers but %rax: fills them, calls it, and looks. */
#include <pthread.h>
#include <stdint.h>
#include <string.h>

/* One kind after the other: integer registers, 32 vectors of 64 bytes, 7 masks. */
struct registers {
    _Alignas(64) unsigned char vector[32][64];
    uint64_t integer[8];
    uint64_t mask[8];
};

__thread char room[5000];
__thread int value = 7;
extern __thread int nowhere __attribute__((weak));

/* The address of value, with the registers of *in before and those in *out after. */
int *through_descriptor(const struct registers *in, struct registers *out, int wide);
__asm__("    .text\n"
        "    .type through_descriptor, @function\n"
        "through_descriptor:\n"
        "    push %rbx\n"
        "    push %rbp\n"
        "    push %r12\n"
        "    mov %rdi, %rbx\n"
        "    mov %rsi, %rbp\n"
        "    mov %edx, %r12d\n"
        "    test %r12d, %r12d\n"
        "    jz 1f\n"
        "    .set i, 0\n"
        "    .altmacro\n"
        "    .macro load_vector n\n"
        "    vmovdqa64 64*\\n(%rbx), %zmm\\n\n"
        "    .endm\n"
        "    .macro store_vector n\n"
        "    vmovdqa64 %zmm\\n, 64*\\n(%rbp)\n"
        "    .endm\n"
        "    .rept 32\n"
        "    load_vector %i\n"
        "    .set i, i+1\n"
        "    .endr\n"
        "    kmovw 2112(%rbx), %k1\n"
        "    kmovw 2120(%rbx), %k7\n"
        "    jmp 2f\n"
        "    .macro load_narrow n\n"
        "    movdqa 64*\\n(%rbx), %xmm\\n\n"
        "    .endm\n"
        "    .macro store_narrow n\n"
        "    movdqa %xmm\\n, 64*\\n(%rbp)\n"
        "    .endm\n"
        "1:  .set i, 0\n"
        "    .rept 16\n"
        "    load_narrow %i\n"
        "    .set i, i+1\n"
        "    .endr\n"
        "2:  mov 2048(%rbx), %rcx\n"
        "    mov 2056(%rbx), %rdx\n"
        "    mov 2064(%rbx), %rsi\n"
        "    mov 2072(%rbx), %rdi\n"
        "    mov 2080(%rbx), %r8\n"
        "    mov 2088(%rbx), %r9\n"
        "    mov 2096(%rbx), %r10\n"
        "    mov 2104(%rbx), %r11\n"
        "    leaq value@tlsdesc(%rip), %rax\n"
        "    call *value@tlscall(%rax)\n"
        "    mov %rcx, 2048(%rbp)\n"
        "    mov %rdx, 2056(%rbp)\n"
        "    mov %rsi, 2064(%rbp)\n"
        "    mov %rdi, 2072(%rbp)\n"
        "    mov %r8, 2080(%rbp)\n"
        "    mov %r9, 2088(%rbp)\n"
        "    mov %r10, 2096(%rbp)\n"
        "    mov %r11, 2104(%rbp)\n"
        "    test %r12d, %r12d\n"
        "    jz 3f\n"
        "    .set i, 0\n"
        "    .rept 32\n"
        "    store_vector %i\n"
        "    .set i, i+1\n"
        "    .endr\n"
        "    kmovw %k1, 2112(%rbp)\n"
        "    kmovw %k7, 2120(%rbp)\n"
        "    vzeroupper\n"
        "    jmp 4f\n"
        "3:  .set i, 0\n"
        "    .rept 16\n"
        "    store_narrow %i\n"
        "    .set i, i+1\n"
        "    .endr\n"
        "4:  addq %fs:0, %rax\n"
        "    pop %r12\n"
        "    pop %rbp\n"
        "    pop %rbx\n"
        "    ret\n");

/* Not inline, or the compiler would call the descriptor before we do. */
static __attribute__((noipa)) int is_value(const int *found)
{
    return found == &value && *found == 7 && room[4999] == 0;
}

static void *twice(void *unused)
{
    int wide = __builtin_cpu_supports("avx512f") != 0;
    struct registers in = {0}, out;
    for (int turn = 0; turn < 2; turn++) { /* makes the thread's block, finds it */
        for (size_t i = 0; i < (wide ? sizeof in.vector : 0); i++)
            in.vector[i / 64][i % 64] = (unsigned char)(3 * i + 1);
        for (int i = 0; !wide && i < 16; i++)
            memset(in.vector[i], i + 1, 16);
        for (int i = 0; i < 8; i++)
            in.integer[i] = 0x0123456789abcdef * (i + 1);
        in.mask[0] = 0xa5a5;
        in.mask[1] = 0x5a5a;
        out = in;
        memset(out.vector, 0, sizeof out.vector);
        memset(out.integer, 0, sizeof out.integer);
        out.mask[0] = wide ? 0 : in.mask[0];
        int *found = through_descriptor(&in, &out, wide);
        if (!is_value(found))
            return (void *)2;
        if (memcmp(&in, &out, sizeof in) != 0)
            return (void *)3;
    }
    return (void *)1;
}

/* 1: all registers are kept, 2: a wrong address, 3: a register is not. */
int registers_kept(void)
{
    pthread_t t;
    void *result = NULL;
    return pthread_create(&t, NULL, twice, NULL) == 0 && pthread_join(t, &result) == 0 ? (int)(intptr_t)result : 0;
}

int absent_is_null(void) { return &nowhere == NULL; }
