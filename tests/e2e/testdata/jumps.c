// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Whether mremap of libc begins with a jump of the form that Open MPI writes: movabs to r11, jmp *r11. */
#define _GNU_SOURCE
#include <mpi.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    static const unsigned char movabs[] = {0x49, 0xbb}, jump[] = {0x41, 0xff, 0xe3};
    const unsigned char *code = dlsym(dlopen("libc.so.6", RTLD_NOW), "mremap");
    MPI_Init(&argc, &argv);
    printf("a jump of Open MPI %d\n", !memcmp(code, movabs, sizeof movabs) && !memcmp(code + 10, jump, sizeof jump));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
