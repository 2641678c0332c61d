// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Asynchronous input and output, aio(7). libc's helper threads serve the whole address space.
 * They belong to the rank that used them first, so they would take the descriptors of other
 * ranks for other files. Here a request is executed when it is made, as POSIX allows. libc's
 * aio_error, aio_return and aio_suspend read its result from the control block. MPI-IO uses
 * these functions.
 */
#define _LARGEFILE64_SOURCE
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "shim.h"

struct call {
    void (*function)(union sigval);
    union sigval value;
};

static void *call(void *argument)
{
    struct call c = *(struct call *)argument;
    free(argument);
    c.function(c.value);
    return NULL;
}

static void notify(const struct sigevent *e)
{
    pthread_t thread;
    struct call *c;
    if (e->sigev_notify == SIGEV_SIGNAL)
        sigqueue(getpid(), e->sigev_signo, e->sigev_value);
    if (e->sigev_notify != SIGEV_THREAD || !(c = malloc(sizeof *c)))
        return;
    *c = (struct call){e->sigev_notify_function, e->sigev_value};
    if (pthread_create(&thread, e->sigev_notify_attributes, call, c) == 0)
        pthread_detach(thread);
    else
        free(c);
}

static int finish(struct aiocb *a, ssize_t result)
{
    a->__return_value = result;
    a->__error_code = result < 0 ? errno : 0;
    notify(&a->aio_sigevent);
    return 0;
}

int aio_read(struct aiocb *a)
{
    return finish(a, pread(a->aio_fildes, (void *)a->aio_buf, a->aio_nbytes, a->aio_offset));
}

int aio_write(struct aiocb *a)
{
    return finish(a, pwrite(a->aio_fildes, (const void *)a->aio_buf, a->aio_nbytes, a->aio_offset));
}

int aio_fsync(int how, struct aiocb *a)
{
    return finish(a, how == O_DSYNC ? fdatasync(a->aio_fildes) : fsync(a->aio_fildes));
}

int lio_listio(int mode, struct aiocb *const list[], int n, struct sigevent *event)
{
    for (int i = 0; i < n; i++)
        if (list[i] && list[i]->aio_lio_opcode == LIO_READ)
            aio_read(list[i]);
        else if (list[i] && list[i]->aio_lio_opcode == LIO_WRITE)
            aio_write(list[i]);
    bool failed = false;
    for (int i = 0; i < n; i++)
        failed |= list[i] && list[i]->aio_lio_opcode != LIO_NOP && list[i]->__error_code != 0;
    if (mode == LIO_NOWAIT && event)
        notify(event);
    errno = failed ? EIO : errno;
    return mode == LIO_WAIT && failed ? -1 : 0;
}

/* struct aiocb64 is struct aiocb on x86-64. */
int aio_read64(struct aiocb64 *) __attribute__((alias("aio_read")));
int aio_write64(struct aiocb64 *) __attribute__((alias("aio_write")));
int aio_fsync64(int, struct aiocb64 *) __attribute__((alias("aio_fsync")));
int lio_listio64(int, struct aiocb64 *const[], int, struct sigevent *) __attribute__((alias("lio_listio")));
