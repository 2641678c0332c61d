// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* A child that executes nothing opens a library. */
#include <dlfcn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        alarm(10); /* where it would wait for who is not there */
        void *library = dlopen("libhwloc.so.15", RTLD_NOW);
        printf("child: %s\n", library ? "opened" : dlerror());
        return 0;
    }
    waitpid(child, &status, 0);
    printf("parent: %d, %s\n", status, dlopen("libhwloc.so.15", RTLD_NOW) ? "opened" : dlerror());
    return 0;
}
