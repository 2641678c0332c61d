/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * gone: the thread of one of two ranks ends, its process does not.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static void *claim(void *arg)
{
    MPI_Init(NULL, NULL);
    return arg;
}

int main(void)
{
    pthread_t other;
    pthread_create(&other, NULL, claim, NULL);
    claim(NULL);
    pthread_join(other, NULL);
    puts("ready");
    fflush(stdout);
    pause();
    return 0;
}
