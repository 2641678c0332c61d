// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Streams. libc has one list of streams per address space, and one stdin, stdout and stderr.
 * Here a rank has its own standard streams, over its own descriptors, and a list of the streams
 * that it opened. So exit and fflush(NULL) of one rank do not write the buffers of another
 * rank, which would go to the wrong descriptors.
 */
#define _LARGEFILE64_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "shim.h"

#undef stdin
#undef stdout
#undef stderr
FILE *stdin, *stdout, *stderr;
static FILE *standard[3]; /* the same, where the program has not set the variables */

struct entry {
    struct entry *next;
    FILE *stream;
};
static struct entry *entries;
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP; /* so a thread that has it in the parent may give it back in the child */

void tpsl_streams_hold(void) { pthread_mutex_lock(&lock); }
void tpsl_streams_release(void) { pthread_mutex_unlock(&lock); }

void tpsl_streams_of_child(void)
{
    lock = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
}

FILE *tpsl_stream_add(FILE *stream)
{
    struct entry *e = stream ? malloc(sizeof *e) : NULL;
    if (!e)
        return stream;
    pthread_mutex_lock(&lock);
    *e = (struct entry){entries, stream};
    entries = e;
    pthread_mutex_unlock(&lock);
    return stream;
}

void tpsl_stream_remove(FILE *stream)
{
    struct entry *gone = NULL;
    pthread_mutex_lock(&lock);
    for (struct entry **e = &entries; *e && !gone; e = gone ? e : &(*e)->next)
        if ((*e)->stream == stream) {
            gone = *e;
            *e = gone->next;
        }
    pthread_mutex_unlock(&lock);
    free(gone);
}

void tpsl_stream_unlock(void *stream) { funlockfile(stream); }
static void unlock_list(void *unused) { pthread_mutex_unlock(&lock); }

/* A descriptor may be open for the other direction only, as nohup opens stdin. Then calls fail with EBADF, as in libc. */
static FILE *open_standard(int fd, const char *mode)
{
    int access = fcntl(fd, F_GETFL) & O_ACCMODE;
    return standard[fd] = tpsl_stream_add(BEHIND(fdopen)(fd, access == O_RDONLY ? "r" : access == O_WRONLY ? "w" : mode));
}

void tpsl_streams_open(void)
{
    stdin = open_standard(STDIN_FILENO, "r");
    stdout = open_standard(STDOUT_FILENO, "w");
    stderr = open_standard(STDERR_FILENO, "w");
    if (stderr)
        setvbuf(stderr, NULL, _IONBF, 0);
}

static int flush_all(bool only_lines)
{
    int (*flush)(FILE *) = BEHIND(fflush);
    int result = 0;
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(unlock_list, NULL);
    for (struct entry *e = entries; e; e = e->next)
        if (__fwriting(e->stream) && (!only_lines || __flbf(e->stream)) && flush(e->stream) != 0) /* what was read ahead stays, as in libc */
            result = EOF;
    pthread_cleanup_pop(1);
    return result;
}

/* At the end of the rank. What was read ahead is given back to the file. Like libc's exit, it does not wait for a thread that has
 * locked a stream, for example to read. */
void tpsl_streams_flush(void)
{
    int (*flush)(FILE *) = BEHIND(fflush_unlocked);
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(unlock_list, NULL);
    for (struct entry *e = entries; e; e = e->next) {
        bool free = ftrylockfile(e->stream) == 0;
        flush(e->stream);
        if (free)
            funlockfile(e->stream);
    }
    pthread_cleanup_pop(1);
}

/* glibc does not close the streams, either (fcloseall(3)). */
int fcloseall(void)
{
    return flush_all(false);
}

void _flushlbf(void) { flush_all(true); }

int fflush(FILE *stream)
{
    return stream ? BEHIND(fflush)(stream) : flush_all(false);
}

int fflush_unlocked(FILE *stream)
{
    return stream ? BEHIND(fflush_unlocked)(stream) : flush_all(false);
}

static bool is_standard(const FILE *stream)
{
    return stream == standard[STDIN_FILENO] || stream == standard[STDOUT_FILENO] || stream == standard[STDERR_FILENO];
}

int _IO_file_close_it(FILE *); /* libc's fclose without the end: it leaves a stream on which all calls fail, and which freopen opens again */

/* A program may use a standard stream after fclose, because libc never frees those. */
static int close_standard(FILE *stream)
{
    int result;
    flockfile(stream);
    pthread_cleanup_push(tpsl_stream_unlock, stream);
    result = _IO_file_close_it(stream);
    pthread_cleanup_pop(1);
    return result;
}

static int close_it(FILE *stream)
{
    bool wide = stream->_mode > 0;
    if (wide)
        BEHIND(fflush)(stream);
    TPSL_INSIDE_IF(wide);
    return BEHIND(fclose)(stream);
}

/* libc's fclose has a lock of all ranks while it waits for a thread that uses the stream. So it gets a stream that the caller has locked. The
 * lock goes with the stream.
 * libc gives the conversion of a wide stream back under a lock that it has once for all ranks (inside.c).
 * What the stream has still to write may have to wait for a reader, so it is written before. */
int fclose(FILE *stream)
{
    if (is_standard(stream))
        return close_standard(stream);
    int result;
    pid_t child = tpsl_piped_end(stream);
    tpsl_stream_remove(stream);
    flockfile(stream);
    pthread_cleanup_push(tpsl_stream_unlock, stream);
    result = close_it(stream);
    pthread_cleanup_pop(0);
    return child ? tpsl_wait_for(child) : result;
}

/* A mode with ",ccs=" asks for a conversion, which libc finds under such a lock. */
static bool converts(const char *mode)
{
    return strchr(mode, ',');
}

/* A fork takes the lock of the list and then waits until no other thread is inside. So who is inside does not ask for that lock. */
static FILE *open_inside(__typeof__(&fopen) open, const char *path, const char *mode)
{
    TPSL_INSIDE_IF(converts(mode));
    return open(tpsl_meant(path), mode);
}

FILE *fopen(const char *path, const char *mode) { return tpsl_stream_add(open_inside(BEHIND(fopen), path, mode)); }
FILE *fopen64(const char *path, const char *mode) { return tpsl_stream_add(open_inside(BEHIND(fopen64), path, mode)); }

FILE *freopen(const char *path, const char *mode, FILE *stream)
{
    TPSL_INSIDE_IF(converts(mode));
    return BEHIND(freopen)(tpsl_meant(path), mode, stream);
}

FILE *freopen64(const char *path, const char *mode, FILE *stream)
{
    TPSL_INSIDE_IF(converts(mode));
    return BEHIND(freopen64)(tpsl_meant(path), mode, stream);
}

FILE *fdopen(int fd, const char *mode) { return tpsl_stream_add(BEHIND(fdopen)(fd, mode)); }
FILE *tmpfile(void) { return tpsl_stream_add(BEHIND(tmpfile)()); }
FILE *tmpfile64(void) { return tpsl_stream_add(BEHIND(tmpfile64)()); }
FILE *fmemopen(void *buffer, size_t size, const char *mode) { return tpsl_stream_add(BEHIND(fmemopen)(buffer, size, mode)); }
FILE *open_memstream(char **buffer, size_t *size) { return tpsl_stream_add(BEHIND(open_memstream)(buffer, size)); }
FILE *fopencookie(void *cookie, const char *mode, cookie_io_functions_t io) { return tpsl_stream_add(BEHIND(fopencookie)(cookie, mode, io)); }

/* It is a wide stream from the start. */
static FILE *open_wide_inside(wchar_t **buffer, size_t *size)
{
    TPSL_INSIDE;
    return BEHIND(open_wmemstream)(buffer, size);
}

FILE *open_wmemstream(wchar_t **buffer, size_t *size) { return tpsl_stream_add(open_wide_inside(buffer, size)); }
