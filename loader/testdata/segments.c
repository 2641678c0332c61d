// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Instances that map a segment at the same time: each finds it unmapped, and maps it. One of these mappings stays, for all of
 * them. The program's mmap and shmat return when all threads have called them, so this happens each time. */
#include "object.h"
#include "libc.h"

#include <stdio.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 200, BYTES = 8192 };

__thread struct tpsl_instance *tpsl_current;
struct tpsl_instance *tpsl_gate_enter(void) { return NULL; }
void tpsl_gate_leave(struct tpsl_instance **in) {}
struct tpsl_object *tpsl_object_at(const void *code) { return NULL; }

static pthread_barrier_t all;
static atomic_int mapped, given_back;

/* What libc_mmap.c calls. */
void *mmap(void *hint, size_t length, int protection, int flags, int fd, off_t offset)
{
    void *address = (void *)syscall(SYS_mmap, hint, length, protection, flags, fd, offset);
    mapped++;
    pthread_barrier_wait(&all);
    return address;
}

int munmap(void *address, size_t length)
{
    given_back++;
    return (int)syscall(SYS_munmap, address, length);
}

void *shmat(int id, const void *hint, int flags)
{
    void *address = (void *)syscall(SYS_shmat, id, hint, flags);
    mapped++;
    pthread_barrier_wait(&all);
    return address;
}

int shmdt(const void *address)
{
    given_back++;
    return (int)syscall(SYS_shmdt, address);
}

struct segment {
    const char *name;
    int id;
    char *(*map)(int id);
    int (*unmap)(char *);
};

static char *map_file(int fd) { return tpsl_mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0); }
static int unmap_file(char *address) { return tpsl_munmap(address, BYTES); }
static char *attach(int id) { return tpsl_shmat(id, NULL, 0); }
static int detach(char *address) { return tpsl_shmdt(address); }

static struct tpsl_instance instances[THREADS];
static const struct segment *segment;
static char *address_of[THREADS];
static atomic_int wrong;

static void check(bool right)
{
    wrong += !right;
    pthread_barrier_wait(&all);
}

/* Each thread leaves a mark that another one reads. */
static void *use(void *number)
{
    int i = (int)(intptr_t)number;
    tpsl_current = &instances[i];
    for (int round = 0; round < ROUNDS; round++) {
        char *mine = address_of[i] = segment->map(segment->id);
        mine[i] = (char)round;
        pthread_barrier_wait(&all);
        check(mine == address_of[0] && mapped == THREADS && given_back == THREADS - 1);
        check(mine[(i + 1) % THREADS] == (char)round);
        check(i == 0 || segment->unmap(mine) == 0);
        check(given_back == THREADS - 1); /* the first thread uses it */
        check(i != 0 || (segment->unmap(mine) == 0 && given_back == THREADS));
        if (i == 0)
            mapped = given_back = 0;
        pthread_barrier_wait(&all);
    }
    return NULL;
}

static void run(const struct segment *s)
{
    pthread_t threads[THREADS];
    segment = s;
    wrong = 0;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, use, (void *)(intptr_t)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%s: %d wrong\n", s->name, wrong);
}

int main(void)
{
    int fd = memfd_create("tpsl-test-together", MFD_CLOEXEC), id = shmget(IPC_PRIVATE, BYTES, 0600);
    if (fd < 0 || ftruncate(fd, BYTES) != 0 || id < 0)
        return 1;
    pthread_barrier_init(&all, NULL, THREADS);
    run(&(struct segment){"file", fd, map_file, unmap_file});
    run(&(struct segment){"SysV", id, attach, detach});
    shmctl(id, IPC_RMID, NULL);
    return 0;
}
