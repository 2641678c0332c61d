// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Functions of libc that keep data from one call to the next, or return the address of a static
 * buffer. Here each rank has its own data and buffers. The implementation uses libc's reentrant
 * forms. Threads of one rank share the data, as in any process. */
#include <aliases.h>
#include <errno.h>
#include <float.h>
#include <grp.h>
#include <gshadow.h>
#include <limits.h>
#include <mntent.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <pthread.h>
#include <pwd.h>
#include <rpc/netdb.h>
#include <search.h>
#include <shadow.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* ---- texts and numbers ---- */

/* Long enough for all digits of the largest long double. */
#define DIGITS (LDBL_MAX_10_EXP + 32)
#define AS_DIGITS(name, number)                                   \
    char *name(number value, int n, int *restrict point, int *restrict sign) \
    {                                                             \
        static char digits[DIGITS];                               \
        name##_r(value, n, point, sign, digits, sizeof digits);   \
        return digits;                                            \
    }
AS_DIGITS(ecvt, double)
AS_DIGITS(fcvt, double)
AS_DIGITS(qecvt, long double)
AS_DIGITS(qfcvt, long double)

/* The 32 low bits, six at a time. */
char *l64a(long n)
{
    static const char digits[] = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    static char text[7];
    char *end = text;
    for (uint32_t rest = (uint32_t)n; rest; rest >>= 6)
        *end++ = digits[rest & 63];
    *end = '\0';
    return text;
}

char *ether_ntoa(const struct ether_addr *address)
{
    static char text[sizeof "00:00:00:00:00:00"];
    return ether_ntoa_r(address, text);
}

struct ether_addr *ether_aton(const char *text)
{
    static struct ether_addr address;
    return ether_aton_r(text, &address);
}

/* By name, as a linker warns of tmpnam. */
char *tmpnam(char name[L_tmpnam])
{
    static char own[L_tmpnam];
    char room[L_tmpnam];
    if (name)
        return BEHIND(tmpnam)(name);
    return BEHIND(tmpnam)(room) ? strcpy(own, room) : NULL;
}

char *ttyname(int fd)
{
    static char name[PATH_MAX];
    int error = ttyname_r(fd, name, sizeof name);
    if (error)
        errno = error;
    return error ? NULL : name;
}

char *ptsname(int fd)
{
    static char name[PATH_MAX];
    return ptsname_r(fd, name, sizeof name) == 0 ? name : NULL;
}

/* ---- entries of databases, files and texts ---- */

struct mntent *getmntent(FILE *stream)
{
    static struct mntent entry;
    static char line[4096]; /* as in libc, which skips the rest of a longer one */
    return getmntent_r(stream, &entry, line, sizeof line);
}

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

/* Threads of a rank look up one after the other, as one may move the buffer. */
#define LOOK_UP(type, call)                                                    \
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;                   \
    static type entry;                                                         \
    static char *buffer;                                                       \
    static size_t size;                                                        \
    type *found = NULL;                                                        \
    int error;                                                                 \
    pthread_mutex_lock(&lock);                                                 \
    while ((error = buffer ? call : ERANGE) == ERANGE && grow(&buffer, &size)) \
        ;                                                                      \
    pthread_mutex_unlock(&lock);                                               \
    return error == 0 ? found : NULL
#define ROOM &entry, buffer, size, &found

struct passwd *getpwnam(const char *name) { LOOK_UP(struct passwd, getpwnam_r(name, ROOM)); }
struct passwd *getpwuid(uid_t id) { LOOK_UP(struct passwd, getpwuid_r(id, ROOM)); }
struct passwd *fgetpwent(FILE *stream) { LOOK_UP(struct passwd, fgetpwent_r(stream, ROOM)); }
struct group *getgrnam(const char *name) { LOOK_UP(struct group, getgrnam_r(name, ROOM)); }
struct group *getgrgid(gid_t id) { LOOK_UP(struct group, getgrgid_r(id, ROOM)); }
struct group *fgetgrent(FILE *stream) { LOOK_UP(struct group, fgetgrent_r(stream, ROOM)); }
struct spwd *getspnam(const char *name) { LOOK_UP(struct spwd, getspnam_r(name, ROOM)); }
struct spwd *fgetspent(FILE *stream) { LOOK_UP(struct spwd, fgetspent_r(stream, ROOM)); }
struct spwd *sgetspent(const char *text) { LOOK_UP(struct spwd, sgetspent_r(text, ROOM)); }
struct sgrp *getsgnam(const char *name) { LOOK_UP(struct sgrp, getsgnam_r(name, ROOM)); }
struct sgrp *fgetsgent(FILE *stream) { LOOK_UP(struct sgrp, fgetsgent_r(stream, ROOM)); }
struct sgrp *sgetsgent(const char *text) { LOOK_UP(struct sgrp, sgetsgent_r(text, ROOM)); }
struct hostent *gethostbyname(const char *name) { LOOK_UP(struct hostent, gethostbyname_r(name, ROOM, &h_errno)); }
struct hostent *gethostbyname2(const char *name, int family) { LOOK_UP(struct hostent, gethostbyname2_r(name, family, ROOM, &h_errno)); }
struct hostent *gethostbyaddr(const void *address, socklen_t length, int family) { LOOK_UP(struct hostent, gethostbyaddr_r(address, length, family, ROOM, &h_errno)); }
struct netent *getnetbyname(const char *name) { LOOK_UP(struct netent, getnetbyname_r(name, ROOM, &h_errno)); }
struct netent *getnetbyaddr(uint32_t net, int type) { LOOK_UP(struct netent, getnetbyaddr_r(net, type, ROOM, &h_errno)); }
struct protoent *getprotobyname(const char *name) { LOOK_UP(struct protoent, getprotobyname_r(name, ROOM)); }
struct protoent *getprotobynumber(int number) { LOOK_UP(struct protoent, getprotobynumber_r(number, ROOM)); }
struct servent *getservbyname(const char *name, const char *protocol) { LOOK_UP(struct servent, getservbyname_r(name, protocol, ROOM)); }
struct servent *getservbyport(int port, const char *protocol) { LOOK_UP(struct servent, getservbyport_r(port, protocol, ROOM)); }
struct rpcent *getrpcbyname(const char *name) { LOOK_UP(struct rpcent, getrpcbyname_r(name, ROOM)); }
struct rpcent *getrpcbynumber(int number) { LOOK_UP(struct rpcent, getrpcbynumber_r(number, ROOM)); }
struct aliasent *getaliasbyname(const char *name) { LOOK_UP(struct aliasent, getaliasbyname_r(name, ROOM)); }

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
