// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Names of users, hosts and services. nsswitch(5) loads libraries, and libc keeps caches in them, once for all ranks: see
 * inside.c. Walks through these databases are in databases.c. */
#include <aliases.h>
#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <grp.h>
#include <gshadow.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <netinet/in.h>
#include <pwd.h>
#include <resolv.h>
#include <rpc/netdb.h>
#include <shadow.h>
#include <stdio.h>
#include <unistd.h>

#include "inside.h"

/* ---- one entry; the forms that return an address of their own are in statics.c ---- */
AS_LIBC(int, getaddrinfo, (const char *restrict node, const char *restrict service, const struct addrinfo *restrict hints, struct addrinfo **restrict result), node, service, hints, result)
AS_LIBC(int, getnameinfo, (const struct sockaddr *restrict address, socklen_t length, char *restrict host, socklen_t hostlen, char *restrict service, socklen_t servlen, int flags), address, length, host, hostlen, service, servlen, flags)
AS_LIBC(int, getpwnam_r, (const char *restrict name, struct passwd *restrict entry, char *restrict buffer, size_t size, struct passwd **restrict found), name, entry, buffer, size, found)
AS_LIBC(int, getpwuid_r, (uid_t id, struct passwd *restrict entry, char *restrict buffer, size_t size, struct passwd **restrict found), id, entry, buffer, size, found)
AS_LIBC(int, getgrnam_r, (const char *restrict name, struct group *restrict entry, char *restrict buffer, size_t size, struct group **restrict found), name, entry, buffer, size, found)
AS_LIBC(int, getgrgid_r, (gid_t id, struct group *restrict entry, char *restrict buffer, size_t size, struct group **restrict found), id, entry, buffer, size, found)
AS_LIBC(int, getspnam_r, (const char *name, struct spwd *entry, char *buffer, size_t size, struct spwd **found), name, entry, buffer, size, found)
AS_LIBC(int, initgroups, (const char *user, gid_t group), user, group)
AS_LIBC(int, getgrouplist, (const char *user, gid_t group, gid_t *groups, int *n), user, group, groups, n)
AS_LIBC(int, gethostbyname_r, (const char *restrict name, struct hostent *restrict entry, char *restrict buffer, size_t size, struct hostent **restrict found, int *restrict error), name, entry, buffer, size, found, error)
AS_LIBC(int, gethostbyname2_r, (const char *restrict name, int family, struct hostent *restrict entry, char *restrict buffer, size_t size, struct hostent **restrict found, int *restrict error), name, family, entry, buffer, size, found, error)
AS_LIBC(int, gethostbyaddr_r, (const void *restrict address, socklen_t length, int family, struct hostent *restrict entry, char *restrict buffer, size_t size, struct hostent **restrict found, int *restrict error), address, length, family, entry, buffer, size, found, error)
AS_LIBC(int, getprotobyname_r, (const char *restrict name, struct protoent *restrict entry, char *restrict buffer, size_t size, struct protoent **restrict found), name, entry, buffer, size, found)
AS_LIBC(int, getprotobynumber_r, (int number, struct protoent *restrict entry, char *restrict buffer, size_t size, struct protoent **restrict found), number, entry, buffer, size, found)
AS_LIBC(int, getservbyname_r, (const char *restrict name, const char *restrict protocol, struct servent *restrict entry, char *restrict buffer, size_t size, struct servent **restrict found), name, protocol, entry, buffer, size, found)
AS_LIBC(int, getservbyport_r, (int port, const char *restrict protocol, struct servent *restrict entry, char *restrict buffer, size_t size, struct servent **restrict found), port, protocol, entry, buffer, size, found)
AS_LIBC(int, getnetbyname_r, (const char *restrict name, struct netent *restrict entry, char *restrict buffer, size_t size, struct netent **restrict found, int *restrict error), name, entry, buffer, size, found, error)
AS_LIBC(int, getnetbyaddr_r, (uint32_t net, int type, struct netent *restrict entry, char *restrict buffer, size_t size, struct netent **restrict found, int *restrict error), net, type, entry, buffer, size, found, error)
AS_LIBC(int, getrpcbyname_r, (const char *name, struct rpcent *restrict entry, char *restrict buffer, size_t size, struct rpcent **restrict found), name, entry, buffer, size, found)
AS_LIBC(int, getrpcbynumber_r, (int number, struct rpcent *restrict entry, char *restrict buffer, size_t size, struct rpcent **restrict found), number, entry, buffer, size, found)
AS_LIBC(int, getsgnam_r, (const char *name, struct sgrp *restrict entry, char *restrict buffer, size_t size, struct sgrp **restrict found), name, entry, buffer, size, found)
AS_LIBC(int, getaliasbyname_r, (const char *restrict name, struct aliasent *restrict entry, char *restrict buffer, size_t size, struct aliasent **restrict found), name, entry, buffer, size, found)
AS_LIBC(int, getpw, (uid_t id, char *buffer), id, buffer)
AS_LIBC(long, gethostid, (void), )
AS_LIBC(int, ether_hostton, (const char *name, struct ether_addr *address), name, address)
AS_LIBC(int, ether_ntohost, (char *name, const struct ether_addr *address), name, address)

AS_LIBC(int, innetgr, (const char *group, const char *host, const char *user, const char *domain), group, host, user, domain)

char *cuserid(char *name)
{
    static char own[L_cuserid];
    TPSL_INSIDE;
    if (name)
        return BEHIND(cuserid)(name);
    return *BEHIND(cuserid)(own) ? own : NULL;
}

/* ---- the resolver ---- */
AS_LIBC(int, res_init, (void), )
AS_LIBC(int, res_ninit, (res_state state), state)
AS_LIBC_DOES(res_nclose, (res_state state), state)
AS_LIBC(int, res_query, (const char *name, int class, int type, unsigned char *answer, int size), name, class, type, answer, size)
AS_LIBC(int, res_search, (const char *name, int class, int type, unsigned char *answer, int size), name, class, type, answer, size)
AS_LIBC(int, res_querydomain, (const char *name, const char *domain, int class, int type, unsigned char *answer, int size), name, domain, class, type, answer, size)
AS_LIBC(int, res_mkquery, (int op, const char *name, int class, int type, const unsigned char *data, int length, const unsigned char *new, unsigned char *query, int size), op, name, class, type, data, length, new, query, size)
AS_LIBC(int, res_send, (const unsigned char *query, int length, unsigned char *answer, int size), query, length, answer, size)
AS_LIBC(int, res_nquery, (res_state state, const char *name, int class, int type, unsigned char *answer, int size), state, name, class, type, answer, size)
AS_LIBC(int, res_nsearch, (res_state state, const char *name, int class, int type, unsigned char *answer, int size), state, name, class, type, answer, size)
AS_LIBC(int, res_nquerydomain, (res_state state, const char *name, const char *domain, int class, int type, unsigned char *answer, int size), state, name, domain, class, type, answer, size)
AS_LIBC(int, res_nmkquery, (res_state state, int op, const char *name, int class, int type, const unsigned char *data, int length, const unsigned char *new, unsigned char *query, int size), state, op, name, class, type, data, length, new, query, size)
AS_LIBC(int, res_nsend, (res_state state, const unsigned char *query, int length, unsigned char *answer, int size), state, query, length, answer, size)
AS_LIBC(int, bindresvport, (int socket, struct sockaddr_in *address), socket, address)

/* Programs that were linked with libresolv of glibc before 2.34 know them by these names. */
extern __typeof__(res_query) __res_query ALSO(res_query);
extern __typeof__(res_search) __res_search ALSO(res_search);
extern __typeof__(res_querydomain) __res_querydomain ALSO(res_querydomain);
extern __typeof__(res_mkquery) __res_mkquery ALSO(res_mkquery);
extern __typeof__(res_send) __res_send ALSO(res_send);
extern __typeof__(res_nquery) __res_nquery ALSO(res_nquery);
extern __typeof__(res_nsearch) __res_nsearch ALSO(res_nsearch);
extern __typeof__(res_nquerydomain) __res_nquerydomain ALSO(res_nquerydomain);
extern __typeof__(res_nmkquery) __res_nmkquery ALSO(res_nmkquery);
extern __typeof__(res_nsend) __res_nsend ALSO(res_nsend);
