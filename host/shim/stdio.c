// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* Functions that use stdin or stdout without having them as an argument. libc's own functions are used for
 * stderr, because stderr keeps no data between calls, and its descriptor is that of the caller. */
#include <limits.h>
#include <paths.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include "shim.h"

int __vfprintf_chk(FILE *, int, const char *, va_list);
int __vfwprintf_chk(FILE *, int, const wchar_t *, va_list);
_Noreturn void __chk_fail(void);

int vprintf(const char *format, va_list arguments) { return vfprintf(stdout, format, arguments); }
int __vprintf_chk(int flag, const char *format, va_list arguments) { return __vfprintf_chk(stdout, flag, format, arguments); }
int vwprintf(const wchar_t *format, va_list arguments) { return vfwprintf(stdout, format, arguments); }
int __vwprintf_chk(int flag, const wchar_t *format, va_list arguments) { return __vfwprintf_chk(stdout, flag, format, arguments); }
int vscanf(const char *format, va_list arguments) { return vfscanf(stdin, format, arguments); }
int vwscanf(const wchar_t *format, va_list arguments) { return vfwscanf(stdin, format, arguments); }

VARIADIC(printf, (const char *format, ...), vfprintf(stdout, format, arguments))
VARIADIC(__printf_chk, (int flag, const char *format, ...), __vfprintf_chk(stdout, flag, format, arguments))
VARIADIC(wprintf, (const wchar_t *format, ...), vfwprintf(stdout, format, arguments))
VARIADIC(__wprintf_chk, (int flag, const wchar_t *format, ...), __vfwprintf_chk(stdout, flag, format, arguments))
VARIADIC(scanf, (const char *format, ...), vfscanf(stdin, format, arguments))
VARIADIC(wscanf, (const wchar_t *format, ...), vfwscanf(stdin, format, arguments))

int puts(const char *line)
{
    size_t n = strlen(line) + 1;
    FILE *stream = stdout;
    bool written;
    flockfile(stream);
    pthread_cleanup_push(tpsl_stream_unlock, stream);
    written = fputs_unlocked(line, stream) != EOF && putc_unlocked('\n', stream) != EOF;
    pthread_cleanup_pop(1);
    return !written ? EOF : n > INT_MAX ? INT_MAX : (int)n;
}

int putchar(int c) { return putc(c, stdout); }
int putchar_unlocked(int c) { return putc_unlocked(c, stdout); }
wint_t putwchar(wchar_t c) { return putwc(c, stdout); }
wint_t putwchar_unlocked(wchar_t c) { return putwc_unlocked(c, stdout); }
int getchar(void) { return getc(stdin); }
int getchar_unlocked(void) { return getc_unlocked(stdin); }
wint_t getwchar(void) { return getwc(stdin); }
wint_t getwchar_unlocked(void) { return getwc_unlocked(stdin); }

/* NULL: the end or an error. An error of an earlier call is none. */
char *__gets_chk(char *line, size_t size)
{
    FILE *stream = stdin;
    size_t n = 0;
    int c;
    bool failed;
    flockfile(stream);
    pthread_cleanup_push(tpsl_stream_unlock, stream);
    failed = ferror_unlocked(stream);
    while ((c = getc_unlocked(stream)) != EOF && c != '\n') {
        if (n + 1 >= size)
            __chk_fail();
        line[n++] = (char)c;
    }
    failed = c == EOF && (n == 0 || (ferror_unlocked(stream) && !failed));
    pthread_cleanup_pop(1);
    if (failed)
        return NULL;
    line[n] = 0;
    return line;
}

char *gets(char *line)
{
    return __gets_chk(line, SIZE_MAX);
}

struct terminal {
    FILE *stream; /* NULL: the rank has none */
    int fd;
    bool silent;
    struct termios before;
};

static void silence(struct terminal *t)
{
    if (tcgetattr(t->fd, &t->before) != 0)
        return;
    struct termios silent = t->before;
    silent.c_lflag &= ~(tcflag_t)(ECHO | ISIG);
    t->silent = tcsetattr(t->fd, TCSAFLUSH, &silent) == 0;
}

static void leave(void *terminal)
{
    const struct terminal *t = terminal;
    if (t->silent)
        tcsetattr(t->fd, TCSAFLUSH, &t->before);
    if (t->stream)
        fclose(t->stream);
}

/* Asks at the terminal, or by stderr and stdin. */
char *getpass(const char *prompt)
{
    static char *line;
    static size_t size;
    struct terminal t = {.stream = fopen(_PATH_TTY, "w+ce")};
    FILE *in = t.stream ? t.stream : stdin, *out = t.stream ? t.stream : stderr;
    t.fd = fileno(in);
    pthread_cleanup_push(leave, &t);
    silence(&t);
    fputs(prompt, out);
    fflush(out);
    ssize_t n = getline(&line, &size, in);
    if (n > 0 && line[n - 1] == '\n') {
        line[n - 1] = 0;
        if (t.silent)
            fputs("\n", out);
    } else if (n < 0 && line)
        line[0] = 0;
    pthread_cleanup_pop(1);
    return line;
}

SAME(scanf, __isoc99_scanf);
SAME(vscanf, __isoc99_vscanf);
SAME(wscanf, __isoc99_wscanf);
SAME(vwscanf, __isoc99_vwscanf);
SAME(__isoc23_scanf, __isoc99_scanf);
SAME(__isoc23_vscanf, __isoc99_vscanf);
SAME(__isoc23_wscanf, __isoc99_wscanf);
SAME(__isoc23_vwscanf, __isoc99_vwscanf);
