// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/uio.h>
#include <unistd.h>

/* The address of a shared mapping of 8 KiB of a file; NULL: refused. */
void *attach(int fd)
{
    void *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return p == MAP_FAILED ? NULL : p;
}
int detach(void *p) { return munmap(p, 8192); }
void *attach_all(int fd, size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return p == MAP_FAILED ? NULL : p;
}
int detach_part(char *p, size_t from, size_t to) { return munmap(p + from, to - from); }
void *attach_sysv(int id)
{
    void *p = shmat(id, NULL, 0);
    return p == (void *)-1 ? NULL : p;
}
int detach_sysv(void *p) { return shmdt(p); }

/* 1: a copy within this process works and bad addresses give EFAULT, with a short
 * count when a part was copied. */
int copies(void)
{
    char from[64] = "one copy", to[64] = "", half[32];
    struct iovec local[2] = {{to, 4}, {to + 4, 60}}, remote = {from, 64}, bad = {(void *)16, 64};
    if (process_vm_readv(getpid(), local, 2, &remote, 1, 0) != 64 || strcmp(to, from) != 0)
        return 0;
    struct iovec out = {"abc", 4}, in = {half, 4};
    if (process_vm_writev(getpid(), &out, 1, &in, 1, 0) != 4 || strcmp(half, "abc") != 0)
        return 0;
    errno = 0;
    if (process_vm_readv(getpid(), local, 2, &bad, 1, 0) != -1 || errno != EFAULT)
        return 0;
    struct iovec mixed[2] = {{from, 16}, {(void *)16, 16}}, wide = {to, 32};
    return process_vm_readv(getpid(), &wide, 1, mixed, 2, 0) == 16;
}
