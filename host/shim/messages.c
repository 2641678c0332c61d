// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* printf's family, and err(3), warn(3) and error(3). %m is the text of errno, which libc looks up under
 * locks that it has once for all ranks (inside.c). So a call whose format has %m is inside the gate, and
 * all other calls are not: they may wait for the reader of a pipe. */
#include <err.h>
#include <errno.h>
#include <error.h>
#include <obstack.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "inside.h"

int __vfprintf_chk(FILE *, int, const char *, va_list);
int __vsprintf_chk(char *, int, size_t, const char *, va_list);
int __vsnprintf_chk(char *, size_t, int, size_t, const char *, va_list);
int __vasprintf_chk(char **, int, const char *, va_list);
int __vdprintf_chk(int, int, const char *, va_list);
int __obstack_vprintf_chk(struct obstack *, int, const char *, va_list);

/* Whether the m at this place ends a conversion. "%%m" counts as one, which does no harm. */
static bool converts(const char *format, const char *m)
{
    while (m > format && strchr("0123456789-+ #'.*$Ihlqjzt", m[-1]))
        m--;
    return m > format && m[-1] == '%';
}

static bool tells_errno(const char *format)
{
    for (const char *m = format; (m = strchr(m, 'm')); m++)
        if (converts(format, m))
            return true;
    return false;
}

#define CONVERTS(name, parameters, ...)               \
    int(name) parameters                              \
    {                                                 \
        TPSL_INSIDE_IF(tells_errno(format));          \
        return BEHIND(name)(__VA_ARGS__);             \
    }

CONVERTS(vfprintf, (FILE *restrict stream, const char *restrict format, va_list arguments), stream, format, arguments)
CONVERTS(vsprintf, (char *restrict text, const char *restrict format, va_list arguments), text, format, arguments)
CONVERTS(vsnprintf, (char *restrict text, size_t size, const char *restrict format, va_list arguments), text, size, format, arguments)
CONVERTS(vasprintf, (char **restrict text, const char *restrict format, va_list arguments), text, format, arguments)
CONVERTS(vdprintf, (int fd, const char *restrict format, va_list arguments), fd, format, arguments)
CONVERTS(obstack_vprintf, (struct obstack *restrict stack, const char *restrict format, va_list arguments), stack, format, arguments)
CONVERTS(__vfprintf_chk, (FILE *stream, int flag, const char *format, va_list arguments), stream, flag, format, arguments)
CONVERTS(__vsprintf_chk, (char *text, int flag, size_t room, const char *format, va_list arguments), text, flag, room, format, arguments)
CONVERTS(__vsnprintf_chk, (char *text, size_t size, int flag, size_t room, const char *format, va_list arguments), text, size, flag, room, format, arguments)
CONVERTS(__vasprintf_chk, (char **text, int flag, const char *format, va_list arguments), text, flag, format, arguments)
CONVERTS(__vdprintf_chk, (int fd, int flag, const char *format, va_list arguments), fd, flag, format, arguments)
CONVERTS(__obstack_vprintf_chk, (struct obstack *stack, int flag, const char *format, va_list arguments), stack, flag, format, arguments)

VARIADIC(fprintf, (FILE *restrict stream, const char *restrict format, ...), vfprintf(stream, format, arguments))
VARIADIC(sprintf, (char *restrict text, const char *restrict format, ...), vsprintf(text, format, arguments))
VARIADIC(snprintf, (char *restrict text, size_t size, const char *restrict format, ...), vsnprintf(text, size, format, arguments))
VARIADIC(asprintf, (char **restrict text, const char *restrict format, ...), vasprintf(text, format, arguments))
VARIADIC(dprintf, (int fd, const char *restrict format, ...), vdprintf(fd, format, arguments))
VARIADIC(obstack_printf, (struct obstack *restrict stack, const char *restrict format, ...), obstack_vprintf(stack, format, arguments))
VARIADIC(__fprintf_chk, (FILE *stream, int flag, const char *format, ...), __vfprintf_chk(stream, flag, format, arguments))
VARIADIC(__sprintf_chk, (char *text, int flag, size_t room, const char *format, ...), __vsprintf_chk(text, flag, room, format, arguments))
VARIADIC(__snprintf_chk, (char *text, size_t size, int flag, size_t room, const char *format, ...), __vsnprintf_chk(text, size, flag, room, format, arguments))
VARIADIC(__asprintf_chk, (char **text, int flag, const char *format, ...), __vasprintf_chk(text, flag, format, arguments))
VARIADIC(__dprintf_chk, (int fd, int flag, const char *format, ...), __vdprintf_chk(fd, flag, format, arguments))
VARIADIC(__obstack_printf_chk, (struct obstack *stack, int flag, const char *format, ...), __obstack_vprintf_chk(stack, flag, format, arguments))

extern __typeof__(vsnprintf) __vsnprintf ALSO(vsnprintf);
extern __typeof__(asprintf) __asprintf ALSO(asprintf);

/* ---- err(3), warn(3): the forms with an x leave errno's text out ---- */

void vwarn(const char *format, va_list arguments)
{
    TPSL_INSIDE;
    BEHIND(vwarn)(format, arguments);
}

void vwarnx(const char *format, va_list arguments)
{
    TPSL_INSIDE_IF(format && tells_errno(format));
    BEHIND(vwarnx)(format, arguments);
}

void verr(int status, const char *format, va_list arguments)
{
    vwarn(format, arguments);
    exit(status);
}

void verrx(int status, const char *format, va_list arguments)
{
    vwarnx(format, arguments);
    exit(status);
}

void warn(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vwarn(format, arguments);
    va_end(arguments);
}

void warnx(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vwarnx(format, arguments);
    va_end(arguments);
}

void err(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    verr(status, format, arguments);
}

void errx(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    verrx(status, format, arguments);
}

/* ---- error(3) ---- */

/* libc would flush its own stdout, and not that of the rank. */
static char *text_after_output(const char *format, va_list arguments)
{
    char *text;
    int n = vasprintf(&text, format, arguments);
    fflush(stdout);
    return n < 0 ? NULL : text;
}

static void end_unless_zero(int status)
{
    if (status)
        exit(status);
}

void error(int status, int number, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = text_after_output(format, arguments);
    va_end(arguments);
    {
        TPSL_INSIDE;
        BEHIND(error)(0, number, "%s", text ? text : format);
    }
    free(text);
    end_unless_zero(status);
}

void error_at_line(int status, int number, const char *file, unsigned line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = text_after_output(format, arguments);
    va_end(arguments);
    {
        TPSL_INSIDE;
        BEHIND(error_at_line)(0, number, file, line, "%s", text ? text : format);
    }
    free(text);
    end_unless_zero(status);
}
