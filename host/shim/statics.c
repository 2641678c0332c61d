// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Functions of libc that keep data from one call to the next, or return the address of a static
 * buffer. Here each rank has its own data and buffers. The implementation uses libc's reentrant
 * forms. Threads of one rank share the data, as in any process. */
#include <errno.h>
#include <grp.h>
#include <netdb.h>
#include <pthread.h>
#include <pwd.h>
#include <search.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "shim.h"

char *strtok(char *restrict text, const char *restrict delimiters)
{
    static char *rest;
    return strtok_r(text, delimiters, &rest);
}

/* ---- random: as libc starts it, with seed 1 and 31 words ---- */

static pthread_mutex_t random_lock = PTHREAD_MUTEX_INITIALIZER;
static struct random_data generator;
static char words[128];

static void ready(void)
{
    if (!generator.state)
        initstate_r(1, words, sizeof words, &generator);
}

long random(void)
{
    int32_t n = 0;
    pthread_mutex_lock(&random_lock);
    ready();
    random_r(&generator, &n);
    pthread_mutex_unlock(&random_lock);
    return n;
}

void srandom(unsigned seed)
{
    pthread_mutex_lock(&random_lock);
    ready();
    srandom_r(seed, &generator);
    pthread_mutex_unlock(&random_lock);
}

int rand(void) { return (int)random(); }
void srand(unsigned seed) { srandom(seed); }

char *initstate(unsigned seed, char *state, size_t size)
{
    pthread_mutex_lock(&random_lock);
    ready();
    char *before = (char *)generator.state - sizeof(int32_t);
    int rc = initstate_r(seed, state, size, &generator);
    pthread_mutex_unlock(&random_lock);
    return rc == 0 ? before : NULL;
}

char *setstate(char *state)
{
    pthread_mutex_lock(&random_lock);
    ready();
    char *before = (char *)generator.state - sizeof(int32_t);
    int rc = setstate_r(state, &generator);
    pthread_mutex_unlock(&random_lock);
    return rc == 0 ? before : NULL;
}

static struct drand48_data generator48;

#define NEXT(type, name, parameters, call) \
    type name parameters                   \
    {                                      \
        type n;                            \
        call;                              \
        return n;                          \
    }

NEXT(double, drand48, (void), drand48_r(&generator48, &n))
NEXT(double, erand48, (unsigned short state[3]), erand48_r(state, &generator48, &n))
NEXT(long, lrand48, (void), lrand48_r(&generator48, &n))
NEXT(long, nrand48, (unsigned short state[3]), nrand48_r(state, &generator48, &n))
NEXT(long, mrand48, (void), mrand48_r(&generator48, &n))
NEXT(long, jrand48, (unsigned short state[3]), jrand48_r(state, &generator48, &n))

void srand48(long seed) { srand48_r(seed, &generator48); }
void lcong48(unsigned short state[7]) { lcong48_r(state, &generator48); }

unsigned short *seed48(unsigned short state[3])
{
    static unsigned short before[3];
    memcpy(before, generator48.__x, sizeof before);
    seed48_r(state, &generator48);
    return before;
}

/* ---- databases ---- */

/* Makes room for an entry, or makes the room larger. The result is false if there is no memory. */
static bool grow(char **buffer, size_t *size)
{
    size_t more = *size ? 2 * *size : 1024;
    char *larger = realloc(*buffer, more);
    if (larger) {
        *buffer = larger;
        *size = more;
    }
    return larger;
}

#define LOOK_UP(type, entry, call)                                        \
    static type entry;                                                    \
    static char *buffer;                                                  \
    static size_t size;                                                   \
    type *found = NULL;                                                   \
    int error;                                                            \
    while ((error = buffer ? call : ERANGE) == ERANGE && grow(&buffer, &size)) \
        ;                                                                 \
    return error == 0 ? found : NULL

struct passwd *getpwnam(const char *name) { LOOK_UP(struct passwd, entry, getpwnam_r(name, &entry, buffer, size, &found)); }
struct passwd *getpwuid(uid_t id) { LOOK_UP(struct passwd, entry, getpwuid_r(id, &entry, buffer, size, &found)); }
struct group *getgrnam(const char *name) { LOOK_UP(struct group, entry, getgrnam_r(name, &entry, buffer, size, &found)); }
struct group *getgrgid(gid_t id) { LOOK_UP(struct group, entry, getgrgid_r(id, &entry, buffer, size, &found)); }
struct hostent *gethostbyname(const char *name) { LOOK_UP(struct hostent, entry, gethostbyname_r(name, &entry, buffer, size, &found, &h_errno)); }

struct hostent *gethostbyaddr(const void *address, socklen_t length, int family)
{
    LOOK_UP(struct hostent, entry, gethostbyaddr_r(address, length, family, &entry, buffer, size, &found, &h_errno));
}

/* ---- the hash table of hsearch ---- */

static struct hsearch_data table;

int hcreate(size_t n) { return hcreate_r(n, &table); }
void hdestroy(void) { hdestroy_r(&table); }

ENTRY *hsearch(ENTRY item, ACTION action)
{
    ENTRY *found = NULL;
    hsearch_r(item, action, &found, &table);
    return found;
}
