/* SPDX-FileCopyrightText: The tpsl authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A source of this folder is a table of small programs, `programs`, that ends with NULL.
 * Without arguments it lists their names; NAME FOLDER runs one.
 */
#ifndef POSIX_H
#define POSIX_H

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct program {
    const char *name;
    void (*run)(void);
};
#define PROGRAM(name) {#name, name}
extern const struct program programs[];

static int rank;
static const char *folder; /* each rank's own; it is empty at the start */

/* Where an argument is a call, %m tells its errno: strerror(errno) would be evaluated before or after. */
#define SAY(format, ...) printf(format "\n", ##__VA_ARGS__)
/* Ends the program with a line where a call does not give 0. */
#define OK(call)                                                                         \
    do {                                                                                 \
        int ok_ = (call);                                                                \
        if (ok_ != 0) {                                                                  \
            fprintf(stderr, "%s:%d: %s gives %d (errno %d)\n", __FILE__, __LINE__, #call, ok_, errno); \
            exit(99);                                                                    \
        }                                                                                \
    } while (0)

/* Takes memory and gives it back, which the compiler would leave out. */
static inline void use_heap(size_t bytes)
{
    void *volatile block = malloc(bytes);
    free(block);
}

/* The path of a file of this rank. */
static inline const char *path_of(const char *name)
{
    static char path[2][4096];
    static int turn;
    snprintf(path[turn ^= 1], sizeof path[0], "%s/%s", folder, name);
    return path[turn];
}

/* Waits for all ranks. */
static inline void step(void)
{
    static int *arrived, steps; /* of all ranks, at all steps together; the steps of this one */
    if (!arrived) {
        int fd = open(path_of("../steps"), O_CREAT | O_RDWR, 0600);
        OK(ftruncate(fd, sizeof *arrived));
        arrived = (int *)mmap(NULL, sizeof *arrived, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        OK(close(fd));
    }
    int all = atoi(getenv("PMI_SIZE")) * ++steps;
    __atomic_fetch_add(arrived, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(arrived, __ATOMIC_SEQ_CST) < all)
        sched_yield();
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        for (const struct program *p = programs; p->name; p++)
            puts(p->name);
        return 0;
    }
    const char *number = getenv("PMI_RANK");
    static char own[4096];
    rank = number ? atoi(number) : 0;
    snprintf(own, sizeof own, "%s/%d", argv[2], rank);
    folder = own;
    for (const struct program *p = programs; p->name; p++)
        if (strcmp(p->name, argv[1]) == 0) {
            p->run();
            return 0;
        }
    return 98;
}

#endif
