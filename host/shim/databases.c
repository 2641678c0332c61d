// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Walks through databases, entry by entry (getpwent(3) and its kin). libc has one position and one open file for all ranks. Here a
 * rank that begins a walk reads all entries in its turn (turn.c of the host), and has its own position in them. What a call
 * without _r returns stays until the next such call, as in libc. */
#include <aliases.h>
#include <errno.h>
#include <grp.h>
#include <gshadow.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <pwd.h>
#include <rpc/netdb.h>
#include <shadow.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "shim.h"

/* ---- an entry: a structure, and texts and lists that it points at ---- */

struct field {
    size_t offset;
    enum { END, TEXT, TEXTS, MEMBERS, ADDRESSES } kind; /* a text; lists: with NULL at the end, or as long as another field says */
};
enum { FIELDS = 6 };

struct packer {
    char *at;
    size_t left;
};

/* NULL: no room. */
static void *put(struct packer *p, const void *what, size_t size, size_t alignment)
{
    size_t gap = -(uintptr_t)p->at % alignment;
    if (p->left < gap + size)
        return NULL;
    char *to = memcpy(p->at + gap, what, size);
    p->at = to + size;
    p->left -= gap + size;
    return to;
}

static size_t count(const void *entry, char *const *list, int kind)
{
    size_t n = 0;
    if (kind == MEMBERS)
        return ((const struct aliasent *)entry)->alias_members_len;
    while (list[n])
        n++;
    return n;
}

static char **put_list(struct packer *p, const void *entry, char *const *list, int kind)
{
    size_t n = count(entry, list, kind);
    char **to = put(p, list, (n + (kind != MEMBERS)) * sizeof *list, sizeof *list);
    for (size_t i = 0; to && i < n; i++) {
        size_t size = kind == ADDRESSES ? (size_t)((const struct hostent *)entry)->h_length : strlen(list[i]) + 1;
        if (!(to[i] = put(p, list[i], size, kind == ADDRESSES ? _Alignof(struct in6_addr) : 1)))
            return NULL;
    }
    return to;
}

/* Copies an entry, with what it points at in the buffer. False: no room. */
static bool copy(void *to, const void *from, size_t size, const struct field *fields, char *buffer, size_t room)
{
    struct packer p = {buffer, room};
    memcpy(to, from, size);
    for (const struct field *f = fields; f->kind != END; f++) {
        void **value = (void **)((char *)to + f->offset);
        if (*value)
            *value = f->kind == TEXT ? put(&p, *value, strlen(*value) + 1, 1) : (void *)put_list(&p, from, *value, f->kind);
        if (!*value && *(void *const *)((const char *)from + f->offset))
            return false;
    }
    return true;
}

/* ---- a walk ---- */

struct entry {
    struct entry *next;
    _Alignas(max_align_t) char structure[];
};

struct walk {
    const size_t size; /* of a structure */
    const struct field fields[FIELDS];
    void (*const read)(void *walk);
    bool begun;
    int error; /* with which libc's walk has come to its end */
    struct entry *first, *at;
    struct entry **end;
    char *last; /* the structure that get has returned, and its buffer */
    size_t room;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* For read. False: no memory (ENOMEM), so the walk ends here. */
static bool add(struct walk *w, const void *entry)
{
    for (size_t room = 256;; room *= 2) {
        struct entry *e = malloc(sizeof *e + w->size + room);
        if (!e)
            return false;
        if (copy(e->structure, entry, w->size, w->fields, e->structure + w->size, room)) {
            e->next = NULL;
            *w->end = e;
            w->end = &e->next;
            return true;
        }
        free(e);
    }
}

static void forget(struct walk *w)
{
    for (struct entry *e = w->first, *next; e; e = next) {
        next = e->next;
        free(e);
    }
    w->first = w->at = NULL;
}

static void begin(struct walk *w)
{
    w->begun = true;
    w->end = &w->first;
    w->error = 0;
    tpsl_in_turn(w->read, w);
    w->at = w->first;
}

/* setXXent and endXXent: the next call of get begins anew. */
static void end(struct walk *w)
{
    pthread_mutex_lock(&lock);
    forget(w);
    w->begun = false;
    pthread_mutex_unlock(&lock);
}

/* 0; libc's error at the end, ENOENT if it has told none; ERANGE if there is no room. As in libc the call after one that could not
 * open the database tries again. */
static int step(struct walk *w, void *entry, char *buffer, size_t room)
{
    if (!w->begun || (!w->first && w->error && w->error != ENOENT))
        begin(w);
    if (!w->at)
        return w->error ? w->error : ENOENT;
    if (!copy(entry, w->at->structure, w->size, w->fields, buffer, room))
        return ERANGE;
    w->at = w->at->next;
    return 0;
}

/* getXXent_r. */
static int next(struct walk *w, void *entry, char *buffer, size_t room)
{
    pthread_mutex_lock(&lock);
    int error = step(w, entry, buffer, room);
    pthread_mutex_unlock(&lock);
    return error;
}

/* getXXent. */
static void *get(struct walk *w)
{
    int error;
    pthread_mutex_lock(&lock);
    while ((error = w->last ? step(w, w->last, w->last + w->size, w->room) : ERANGE) == ERANGE) {
        size_t room = w->room ? 2 * w->room : 1024;
        char *larger = realloc(w->last, w->size + room);
        if (!larger) {
            error = ENOMEM;
            break;
        }
        w->last = larger;
        w->room = room;
    }
    pthread_mutex_unlock(&lock);
    if (error)
        errno = error;
    return error == 0 ? w->last : NULL;
}

/* ---- the databases ---- */

#define AT(type, kind, field) {offsetof(struct type, field), kind}

#define WALK(type, name, parameters, arguments, ...)                                 \
    static void read_##name(void *walk)                                              \
    {                                                                                \
        struct type *entry;                                                          \
        errno = 0;                                                                   \
        BEHIND(set##name) arguments;                                                 \
        while ((entry = BEHIND(get##name)()) != NULL && add(walk, entry))            \
            errno = 0;                                                               \
        ((struct walk *)walk)->error = errno;                                        \
        BEHIND(end##name)();                                                         \
    }                                                                                \
    static struct walk name = {.size = sizeof(struct type), .fields = {__VA_ARGS__}, .read = read_##name}; \
    void set##name parameters { end(&name); }                                        \
    struct type *get##name(void) { return get(&name); }                              \
    void end##name(void) { end(&name); }

#define REENTRANT(type, name)                                                                                           \
    int get##name##_r(struct type *restrict entry, char *restrict buffer, size_t size, struct type **restrict found)    \
    {                                                                                                                   \
        int error = next(&name, entry, buffer, size);                                                                   \
        *found = error == 0 ? entry : NULL;                                                                             \
        return error;                                                                                                   \
    }

/* Their errors are told as those of gethostbyname(3), too. */
#define REENTRANT_OF_HOSTS(type, name)                                                                                                    \
    int get##name##_r(struct type *restrict entry, char *restrict buffer, size_t size, struct type **restrict found, int *restrict why)   \
    {                                                                                                                                     \
        int error = next(&name, entry, buffer, size);                                                                                     \
        *found = error == 0 ? entry : NULL;                                                                                               \
        *why = error == 0 ? NETDB_SUCCESS : error == ERANGE ? NETDB_INTERNAL : HOST_NOT_FOUND;                                            \
        return error;                                                                                                                     \
    }

WALK(passwd, pwent, (void), (), AT(passwd, TEXT, pw_name), AT(passwd, TEXT, pw_passwd), AT(passwd, TEXT, pw_gecos), AT(passwd, TEXT, pw_dir), AT(passwd, TEXT, pw_shell))
REENTRANT(passwd, pwent)
WALK(group, grent, (void), (), AT(group, TEXT, gr_name), AT(group, TEXT, gr_passwd), AT(group, TEXTS, gr_mem))
REENTRANT(group, grent)
WALK(spwd, spent, (void), (), AT(spwd, TEXT, sp_namp), AT(spwd, TEXT, sp_pwdp))
REENTRANT(spwd, spent)
WALK(sgrp, sgent, (void), (), AT(sgrp, TEXT, sg_namp), AT(sgrp, TEXT, sg_passwd), AT(sgrp, TEXTS, sg_adm), AT(sgrp, TEXTS, sg_mem))
REENTRANT(sgrp, sgent)
WALK(hostent, hostent, (int stay), (0), AT(hostent, TEXT, h_name), AT(hostent, TEXTS, h_aliases), AT(hostent, ADDRESSES, h_addr_list))
REENTRANT_OF_HOSTS(hostent, hostent)
WALK(netent, netent, (int stay), (0), AT(netent, TEXT, n_name), AT(netent, TEXTS, n_aliases))
REENTRANT_OF_HOSTS(netent, netent)
WALK(protoent, protoent, (int stay), (0), AT(protoent, TEXT, p_name), AT(protoent, TEXTS, p_aliases))
REENTRANT(protoent, protoent)
WALK(servent, servent, (int stay), (0), AT(servent, TEXT, s_name), AT(servent, TEXTS, s_aliases), AT(servent, TEXT, s_proto))
REENTRANT(servent, servent)
WALK(rpcent, rpcent, (int stay), (0), AT(rpcent, TEXT, r_name), AT(rpcent, TEXTS, r_aliases))
REENTRANT(rpcent, rpcent)
WALK(aliasent, aliasent, (void), (), AT(aliasent, TEXT, alias_name), AT(aliasent, MEMBERS, alias_members))
REENTRANT(aliasent, aliasent)

/* ---- netgroups: only setnetgrent, which chooses one, begins a walk ---- */

struct triple {
    char *host, *user, *domain;
};

struct choice {
    const char *group;
    int found;
};

static void read_triples(void *walk);
static struct walk triples = {.size = sizeof(struct triple), .fields = {AT(triple, TEXT, host), AT(triple, TEXT, user), AT(triple, TEXT, domain)}, .read = read_triples, .begun = true};
static struct choice *choice;

static void read_triples(void *walk)
{
    struct triple t;
    choice->found = BEHIND(setnetgrent)(choice->group);
    while (choice->found && BEHIND(getnetgrent)(&t.host, &t.user, &t.domain) && add(walk, &t))
        ;
    BEHIND(endnetgrent)();
}

int setnetgrent(const char *group)
{
    struct choice c = {group, 0};
    pthread_mutex_lock(&lock);
    forget(&triples);
    choice = &c;
    begin(&triples);
    pthread_mutex_unlock(&lock);
    return c.found;
}

static int tell(const struct triple *t, char **host, char **user, char **domain)
{
    if (t) {
        *host = t->host;
        *user = t->user;
        *domain = t->domain;
    }
    return t != NULL;
}

int getnetgrent(char **restrict host, char **restrict user, char **restrict domain)
{
    return tell(get(&triples), host, user, domain);
}

int getnetgrent_r(char **restrict host, char **restrict user, char **restrict domain, char *restrict buffer, size_t size)
{
    struct triple t;
    int error = next(&triples, &t, buffer, size);
    if (error == ERANGE)
        errno = ERANGE;
    return tell(error == 0 ? &t : NULL, host, user, domain);
}

void endnetgrent(void)
{
    pthread_mutex_lock(&lock);
    forget(&triples);
    pthread_mutex_unlock(&lock);
}
