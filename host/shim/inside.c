// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Functions of libc that take a lock which libc has once for all ranks, and which libc's fork does not
 * handle. A child of fork would find such a lock held for ever if another rank was inside the function
 * (gate.c of the loader). The functions here call those of libc, and count the thread as inside.
 * docs/private-mode.md lists libc's locks, and which functions are elsewhere in the shim. */
#include <grp.h>
#include <iconv.h>
#include <libintl.h>
#include <locale.h>
#include <net/if.h>
#include <netdb.h>
#include <printf.h>
#include <pwd.h>
#include <semaphore.h>
#include <shadow.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <utmpx.h>
#include <wchar.h>
#include <fmtmsg.h>
#include <netinet/ether.h>
#include <arpa/inet.h>
#include <resolv.h>
#include <rpc/netdb.h>

#include "shim.h"

#define AS_LIBC(type, name, parameters, ...)                              \
    type(name) parameters                                                 \
    {                                                                     \
        TPSL_INSIDE;                                                      \
        return BEHIND(name)(__VA_ARGS__);                                 \
    }
#define AS_LIBC_DOES(name, parameters, ...)                               \
    void(name) parameters                                                 \
    {                                                                     \
        TPSL_INSIDE;                                                      \
        BEHIND(name)(__VA_ARGS__);                                        \
    }

/* ---- time: functions that do not use the rank's own zone; the others are in time.c ---- */
AS_LIBC(struct tm *, gmtime_r, (const time_t *restrict t, struct tm *restrict tm), t, tm)
AS_LIBC(time_t, timegm, (struct tm *tm), tm)
AS_LIBC(char *, strptime_l, (const char *restrict text, const char *restrict format, struct tm *restrict tm, locale_t l), text, format, tm, l)
AS_LIBC(char *, strptime, (const char *restrict text, const char *restrict format, struct tm *restrict tm), text, format, tm)

/* ---- locales, messages, conversions ---- */
AS_LIBC_DOES(freelocale, (locale_t l), l)
AS_LIBC(char *, gettext, (const char *id), id)
AS_LIBC(char *, dgettext, (const char *domain, const char *id), domain, id)
AS_LIBC(char *, dcgettext, (const char *domain, const char *id, int category), domain, id, category)
AS_LIBC(char *, ngettext, (const char *one, const char *many, unsigned long n), one, many, n)
AS_LIBC(char *, dngettext, (const char *domain, const char *one, const char *many, unsigned long n), domain, one, many, n)
AS_LIBC(char *, dcngettext, (const char *domain, const char *one, const char *many, unsigned long n, int category), domain, one, many, n, category)
AS_LIBC(char *, textdomain, (const char *domain), domain)
AS_LIBC(char *, bindtextdomain, (const char *domain, const char *folder), domain, folder)
AS_LIBC(char *, bind_textdomain_codeset, (const char *domain, const char *codes), domain, codes)
AS_LIBC(char *, strerror, (int error), error)
AS_LIBC(char *, strerror_l, (int error, locale_t l), error, l)
AS_LIBC(char *, strerror_r, (int error, char *buffer, size_t size), error, buffer, size)
AS_LIBC(char *, strsignal, (int number), number)
AS_LIBC_DOES(perror, (const char *text), text)
AS_LIBC(iconv_t, iconv_open, (const char *to, const char *from), to, from)
AS_LIBC(int, iconv_close, (iconv_t conversion), conversion)

int __xpg_strerror_r(int, char *, size_t);
AS_LIBC(int, __xpg_strerror_r, (int error, char *buffer, size_t size), error, buffer, size)

extern __typeof__(freelocale) __freelocale ALSO(freelocale);
extern __typeof__(dgettext) __dgettext ALSO(dgettext);
extern __typeof__(dcgettext) __dcgettext ALSO(dcgettext);
extern __typeof__(gmtime_r) __gmtime_r ALSO(gmtime_r);
extern __typeof__(strerror_r) __strerror_r ALSO(strerror_r);

/* ---- names of users, hosts, services: nsswitch(5) loads libraries and keeps files open ---- */
AS_LIBC(int, getaddrinfo, (const char *restrict node, const char *restrict service, const struct addrinfo *restrict hints, struct addrinfo **restrict result), node, service, hints, result)
AS_LIBC(int, getnameinfo, (const struct sockaddr *restrict address, socklen_t length, char *restrict host, socklen_t hostlen, char *restrict service, socklen_t servlen, int flags), address, length, host, hostlen, service, servlen, flags)
AS_LIBC(int, getpwnam_r, (const char *restrict name, struct passwd *restrict entry, char *restrict buffer, size_t size, struct passwd **restrict found), name, entry, buffer, size, found)
AS_LIBC(int, getpwuid_r, (uid_t id, struct passwd *restrict entry, char *restrict buffer, size_t size, struct passwd **restrict found), id, entry, buffer, size, found)
AS_LIBC(int, getgrnam_r, (const char *restrict name, struct group *restrict entry, char *restrict buffer, size_t size, struct group **restrict found), name, entry, buffer, size, found)
AS_LIBC(int, getgrgid_r, (gid_t id, struct group *restrict entry, char *restrict buffer, size_t size, struct group **restrict found), id, entry, buffer, size, found)
AS_LIBC(int, getspnam_r, (const char *name, struct spwd *entry, char *buffer, size_t size, struct spwd **found), name, entry, buffer, size, found)
AS_LIBC(struct spwd *, getspnam, (const char *name), name)
AS_LIBC(int, initgroups, (const char *user, gid_t group), user, group)
AS_LIBC(int, getgrouplist, (const char *user, gid_t group, gid_t *groups, int *n), user, group, groups, n)
AS_LIBC(int, gethostbyname_r, (const char *restrict name, struct hostent *restrict entry, char *restrict buffer, size_t size, struct hostent **restrict found, int *restrict error), name, entry, buffer, size, found, error)
AS_LIBC(int, gethostbyname2_r, (const char *restrict name, int family, struct hostent *restrict entry, char *restrict buffer, size_t size, struct hostent **restrict found, int *restrict error), name, family, entry, buffer, size, found, error)
AS_LIBC(int, gethostbyaddr_r, (const void *restrict address, socklen_t length, int family, struct hostent *restrict entry, char *restrict buffer, size_t size, struct hostent **restrict found, int *restrict error), address, length, family, entry, buffer, size, found, error)
AS_LIBC(struct hostent *, gethostbyname2, (const char *name, int family), name, family)
AS_LIBC(struct protoent *, getprotobyname, (const char *name), name)
AS_LIBC(struct protoent *, getprotobynumber, (int number), number)
AS_LIBC(int, getprotobyname_r, (const char *restrict name, struct protoent *restrict entry, char *restrict buffer, size_t size, struct protoent **restrict found), name, entry, buffer, size, found)
AS_LIBC(int, getprotobynumber_r, (int number, struct protoent *restrict entry, char *restrict buffer, size_t size, struct protoent **restrict found), number, entry, buffer, size, found)
AS_LIBC(struct servent *, getservbyname, (const char *name, const char *protocol), name, protocol)
AS_LIBC(struct servent *, getservbyport, (int port, const char *protocol), port, protocol)
AS_LIBC(int, getservbyname_r, (const char *restrict name, const char *restrict protocol, struct servent *restrict entry, char *restrict buffer, size_t size, struct servent **restrict found), name, protocol, entry, buffer, size, found)
AS_LIBC(int, getservbyport_r, (int port, const char *restrict protocol, struct servent *restrict entry, char *restrict buffer, size_t size, struct servent **restrict found), port, protocol, entry, buffer, size, found)
AS_LIBC(struct netent *, getnetbyname, (const char *name), name)
AS_LIBC(struct netent *, getnetbyaddr, (uint32_t net, int type), net, type)
AS_LIBC(struct rpcent *, getrpcbyname, (const char *name), name)
AS_LIBC(struct rpcent *, getrpcbynumber, (int number), number)
AS_LIBC(int, innetgr, (const char *group, const char *host, const char *user, const char *domain), group, host, user, domain)
AS_LIBC(int, ether_hostton, (const char *name, struct ether_addr *address), name, address)
AS_LIBC(int, ether_ntohost, (char *name, const struct ether_addr *address), name, address)
AS_LIBC(int, res_init, (void), )

/* Functions that read a database entry by entry. libc has one position for all ranks. */
#define AS_LIBC_WALKS(type, set, get, end, ...) \
    AS_LIBC_DOES(set, __VA_ARGS__)              \
    AS_LIBC(type *, get, (void), )              \
    AS_LIBC_DOES(end, (void), )

AS_LIBC_WALKS(struct passwd, setpwent, getpwent, endpwent, (void), )
AS_LIBC_WALKS(struct group, setgrent, getgrent, endgrent, (void), )
AS_LIBC_WALKS(struct spwd, setspent, getspent, endspent, (void), )
AS_LIBC_WALKS(struct hostent, sethostent, gethostent, endhostent, (int stay), stay)
AS_LIBC_WALKS(struct protoent, setprotoent, getprotoent, endprotoent, (int stay), stay)
AS_LIBC_WALKS(struct servent, setservent, getservent, endservent, (int stay), stay)
AS_LIBC_WALKS(struct netent, setnetent, getnetent, endnetent, (int stay), stay)
AS_LIBC_WALKS(struct utmpx, setutxent, getutxent, endutxent, (void), )

/* ---- the system log ---- */
AS_LIBC_DOES(openlog, (const char *name, int options, int facility), name, options, facility)
AS_LIBC_DOES(closelog, (void), )
AS_LIBC_DOES(vsyslog, (int priority, const char *format, va_list arguments), priority, format, arguments)

void syslog(int priority, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsyslog(priority, format, arguments);
    va_end(arguments);
}

void __vsyslog_chk(int priority, int flag, const char *format, va_list arguments)
{
    vsyslog(priority, format, arguments);
}

void __syslog_chk(int priority, int flag, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsyslog(priority, format, arguments);
    va_end(arguments);
}

/* ---- other functions ---- */
AS_LIBC(int, fmtmsg, (long class, const char *label, int severity, const char *text, const char *action, const char *tag), class, label, severity, text, action, tag)
AS_LIBC(int, sem_close, (sem_t *s), s)
AS_LIBC(int, sem_unlink, (const char *name), name)
AS_LIBC(int, lckpwdf, (void), )
AS_LIBC(int, ulckpwdf, (void), )

sem_t *sem_open(const char *name, int flags, ...)
{
    TPSL_INSIDE;
    va_list more;
    va_start(more, flags);
    mode_t mode = va_arg(more, mode_t);
    unsigned value = va_arg(more, unsigned);
    va_end(more);
    return BEHIND(sem_open)(name, flags, mode, value);
}
