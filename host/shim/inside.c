// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Functions of libc that take a lock which libc has once for all ranks, and which libc's fork does not
 * handle. A child of fork would find such a lock held for ever if another rank was inside the function
 * (gate.c of the loader). The functions here call those of libc, and count the thread as inside.
 * docs/private-mode.md lists libc's locks, and which functions are elsewhere in the shim. */
#include <execinfo.h>
#include <fmtmsg.h>
#include <iconv.h>
#include <libintl.h>
#include <locale.h>
#include <netdb.h>
#include <printf.h>
#include <pthread.h>
#include <regex.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "inside.h"

/* ---- time: functions that do not use the rank's own zone; the others are in time.c ---- */
AS_LIBC(struct tm *, gmtime_r, (const time_t *restrict t, struct tm *restrict tm), t, tm)
AS_LIBC(time_t, timegm, (struct tm *tm), tm)

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
AS_LIBC(const char *, gai_strerror, (int error), error)
AS_LIBC(const char *, hstrerror, (int error), error)
AS_LIBC_DOES(herror, (const char *text), text)
AS_LIBC(size_t, regerror, (int error, const regex_t *restrict expression, char *restrict buffer, size_t size), error, expression, buffer, size)
AS_LIBC_DOES(psignal, (int number, const char *text), number, text)
AS_LIBC_DOES(psiginfo, (const siginfo_t *info, const char *text), info, text)
AS_LIBC(iconv_t, iconv_open, (const char *to, const char *from), to, from)
AS_LIBC(int, iconv_close, (iconv_t conversion), conversion)

int __xpg_strerror_r(int, char *, size_t);
AS_LIBC(int, __xpg_strerror_r, (int error, char *buffer, size_t size), error, buffer, size)

extern __typeof__(freelocale) __freelocale ALSO(freelocale);
extern __typeof__(dgettext) __dgettext ALSO(dgettext);
extern __typeof__(dcgettext) __dcgettext ALSO(dcgettext);
extern __typeof__(gmtime_r) __gmtime_r ALSO(gmtime_r);
extern __typeof__(strerror_r) __strerror_r ALSO(strerror_r);

/* ---- other functions ---- */
AS_LIBC(int, fmtmsg, (long class, const char *label, int severity, const char *text, const char *action, const char *tag), class, label, severity, text, action, tag)
AS_LIBC(int, sem_close, (sem_t *s), s)
AS_LIBC(int, sem_unlink, (const char *name), name)

AS_LIBC(char **, backtrace_symbols, (void *const *addresses, int n), addresses, n)
AS_LIBC_DOES(backtrace_symbols_fd, (void *const *addresses, int n, int fd), addresses, n, fd)
AS_LIBC(int, pthread_attr_getstacksize, (const pthread_attr_t *restrict attributes, size_t *restrict size), attributes, size)
AS_LIBC(int, pthread_getattr_default_np, (pthread_attr_t *attributes), attributes)
AS_LIBC(int, pthread_setattr_default_np, (const pthread_attr_t *attributes), attributes)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
AS_LIBC(int, register_printf_function, (int letter, printf_function *convert, printf_arginfo_function *arguments), letter, convert, arguments)
#pragma GCC diagnostic pop
AS_LIBC(int, register_printf_specifier, (int letter, printf_function *convert, printf_arginfo_size_function *arguments), letter, convert, arguments)
AS_LIBC(int, register_printf_modifier, (const wchar_t *text), text)
AS_LIBC(int, register_printf_type, (printf_va_arg_function *take), take)

extern __typeof__(backtrace_symbols) __backtrace_symbols ALSO(backtrace_symbols);
extern __typeof__(backtrace_symbols_fd) __backtrace_symbols_fd ALSO(backtrace_symbols_fd);

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
