// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* The host executable, lib/tpsl/host. Everything is in libtpslhost.so but the block of
 * thread-local storage that lies next to the thread pointer: only an executable has it
 * there, and programs address theirs at fixed distances from the thread pointer (psABI,
 * local-exec model). This one is lent to the programs. */
int tpsl_host_main(int argc, char **argv);

int main(int argc, char **argv)
{
    return tpsl_host_main(argc, argv);
}
