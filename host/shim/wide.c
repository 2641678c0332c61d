// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Wide characters. libc counts the users of a conversion between characters and bytes under a lock that
 * it has once for all ranks: when a stream becomes a wide one, and for each string that swprintf writes or
 * swscanf reads. So the gate (inside.c) is in these places, and never while a stream waits for its data. */
#include <stdarg.h>
#include <stdbool.h>
#include <wchar.h>

#include "inside.h"

/* Only the first wide operation on a stream takes the lock. A read of the stream's orientation costs a nanosecond. */
static FILE *wide(FILE *stream)
{
    if (stream->_mode == 0) {
        TPSL_INSIDE;
        BEHIND(fwide)(stream, 1);
    }
    return stream;
}

/* Whether the format may have %m (messages.c). Wide formats are rare, so an m is enough. */
static bool may_tell_errno(const wchar_t *format)
{
    return wcschr(format, L'm');
}

#define ON_WIDE(type, name, parameters, ...)  \
    type(name) parameters                     \
    {                                         \
        wide(stream);                         \
        return BEHIND(name)(__VA_ARGS__);     \
    }

wchar_t *__fgetws_chk(wchar_t *, size_t, int, FILE *);
wchar_t *__fgetws_unlocked_chk(wchar_t *, size_t, int, FILE *);
int __vfwprintf_chk(FILE *, int, const wchar_t *, va_list);
int __vswprintf_chk(wchar_t *, size_t, int, size_t, const wchar_t *, va_list);
int __isoc99_vfwscanf(FILE *, const wchar_t *, va_list);
int __isoc99_vswscanf(const wchar_t *, const wchar_t *, va_list);

ON_WIDE(wint_t, fgetwc, (FILE *stream), stream)
ON_WIDE(wint_t, fgetwc_unlocked, (FILE *stream), stream)
ON_WIDE(wint_t, fputwc, (wchar_t c, FILE *stream), c, stream)
ON_WIDE(wint_t, fputwc_unlocked, (wchar_t c, FILE *stream), c, stream)
ON_WIDE(wint_t, putwc, (wchar_t c, FILE *stream), c, stream) /* unlike fputwc it writes to a stream of bytes, too */
ON_WIDE(wint_t, putwc_unlocked, (wchar_t c, FILE *stream), c, stream)
ON_WIDE(wint_t, ungetwc, (wint_t c, FILE *stream), c, stream)
ON_WIDE(wchar_t *, fgetws, (wchar_t *restrict text, int n, FILE *restrict stream), text, n, stream)
ON_WIDE(wchar_t *, fgetws_unlocked, (wchar_t *restrict text, int n, FILE *restrict stream), text, n, stream)
ON_WIDE(wchar_t *, __fgetws_chk, (wchar_t *text, size_t size, int n, FILE *stream), text, size, n, stream)
ON_WIDE(wchar_t *, __fgetws_unlocked_chk, (wchar_t *text, size_t size, int n, FILE *stream), text, size, n, stream)
ON_WIDE(int, fputws, (const wchar_t *restrict text, FILE *restrict stream), text, stream)
ON_WIDE(int, fputws_unlocked, (const wchar_t *restrict text, FILE *restrict stream), text, stream)
ON_WIDE(int, __isoc99_vfwscanf, (FILE *stream, const wchar_t *format, va_list arguments), stream, format, arguments)
AS_LIBC(int, fwide, (FILE *stream, int mode), stream, mode)
AS_LIBC(int, vswprintf, (wchar_t *restrict text, size_t size, const wchar_t *restrict format, va_list arguments), text, size, format, arguments)
AS_LIBC(int, __vswprintf_chk, (wchar_t *text, size_t size, int flag, size_t room, const wchar_t *format, va_list arguments), text, size, flag, room, format, arguments)
AS_LIBC(int, __isoc99_vswscanf, (const wchar_t *text, const wchar_t *format, va_list arguments), text, format, arguments)

extern __typeof__(fgetwc) getwc ALSO(fgetwc);
extern __typeof__(fgetwc_unlocked) getwc_unlocked ALSO(fgetwc_unlocked);


int vfwprintf(FILE *restrict stream, const wchar_t *restrict format, va_list arguments)
{
    wide(stream);
    TPSL_INSIDE_IF(may_tell_errno(format));
    return BEHIND(vfwprintf)(stream, format, arguments);
}

int __vfwprintf_chk(FILE *stream, int flag, const wchar_t *format, va_list arguments)
{
    wide(stream);
    TPSL_INSIDE_IF(may_tell_errno(format));
    return BEHIND(__vfwprintf_chk)(stream, flag, format, arguments);
}

VARIADIC(fwprintf, (FILE *restrict stream, const wchar_t *restrict format, ...), vfwprintf(stream, format, arguments))
VARIADIC(__fwprintf_chk, (FILE *stream, int flag, const wchar_t *format, ...), __vfwprintf_chk(stream, flag, format, arguments))
VARIADIC(swprintf, (wchar_t *restrict text, size_t size, const wchar_t *restrict format, ...), vswprintf(text, size, format, arguments))
VARIADIC(__swprintf_chk, (wchar_t *text, size_t size, int flag, size_t room, const wchar_t *format, ...), __vswprintf_chk(text, size, flag, room, format, arguments))
VARIADIC(__isoc99_fwscanf, (FILE *stream, const wchar_t *format, ...), __isoc99_vfwscanf(stream, format, arguments))
VARIADIC(__isoc99_swscanf, (const wchar_t *text, const wchar_t *format, ...), __isoc99_vswscanf(text, format, arguments))

SAME(fwscanf, __isoc99_fwscanf);
SAME(vfwscanf, __isoc99_vfwscanf);
SAME(swscanf, __isoc99_swscanf);
SAME(vswscanf, __isoc99_vswscanf);
SAME(__isoc23_fwscanf, __isoc99_fwscanf);
SAME(__isoc23_vfwscanf, __isoc99_vfwscanf);
SAME(__isoc23_swscanf, __isoc99_swscanf);
SAME(__isoc23_vswscanf, __isoc99_vswscanf);
