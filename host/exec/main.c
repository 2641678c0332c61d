// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* The host executable, lib/tpsl/host. Everything is in libtpslhost.so but the block of
 * thread-local storage that lies next to the thread pointer: only an executable has it
 * there, and programs address theirs at fixed distances from the thread pointer (psABI,
 * local-exec model). This one is lent to the programs. */
#include <stddef.h>

int tpsl_host_main(int argc, char **argv, void *static_tls, size_t size);

/* Every thread has it, and libc clears it when it makes one. Programs may align their thread-locals as this block is (programAlign
 * in package plan). libc's own part of a thread is above it, and the alignment takes 192 bytes of the stack for it. */
enum { SIZE = 64 << 10, ALIGN = 256 };
static _Thread_local _Alignas(ALIGN) char block[SIZE];

int main(int argc, char **argv)
{
    return tpsl_host_main(argc, argv, block, sizeof block);
}
