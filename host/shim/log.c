// SPDX-FileCopyrightText: The tpsl authors
// SPDX-License-Identifier: Apache-2.0

/* The system log (syslog(3)). libc has one connection to it, and one name, for all ranks. Here each rank has its own. Messages have
 * the form of RFC 3164, as libc's do. */
#include <errno.h>
#include <fcntl.h>
#include <paths.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "shim.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int connection = -1, kind = SOCK_DGRAM;
static const char *name; /* of the program, as openlog says; NULL: libc's own */
static int options, usual_facility = LOG_USER, mask = LOG_UPTO(LOG_DEBUG);

/* A thread that is cancelled as it sends would keep the lock. Returns whether it could be cancelled before. */
static int take(void)
{
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    pthread_mutex_lock(&lock);
    return before;
}

static void give(int before)
{
    pthread_mutex_unlock(&lock);
    pthread_setcancelstate(before, NULL);
}

static void disconnect(void)
{
    if (connection >= 0)
        close(connection);
    connection = -1;
}

/* The log's daemon takes datagrams, or a stream. */
static bool connect_to_log(void)
{
    const struct sockaddr_un log = {AF_UNIX, _PATH_LOG};
    for (int tried = 0; connection < 0 && tried < 2; tried++) {
        connection = socket(AF_UNIX, kind | SOCK_CLOEXEC, 0);
        if (connection < 0 || connect(connection, (const struct sockaddr *)&log, sizeof log) == 0)
            break;
        int error = errno;
        disconnect();
        if (error != EPROTOTYPE)
            break;
        kind = kind == SOCK_DGRAM ? SOCK_STREAM : SOCK_DGRAM;
    }
    return connection >= 0;
}

/* In a stream a zero byte ends the message. */
static bool send_to_log(const char *message, size_t size)
{
    return connect_to_log() && send(connection, message, size + (kind == SOCK_STREAM), MSG_NOSIGNAL) >= 0;
}

static void write_to(int fd, const char *text, const char *line_end)
{
    struct iovec parts[] = {{(void *)text, strlen(text)}, {(void *)line_end, strlen(line_end)}};
    if (writev(fd, parts, 2) < 0)
        return; /* there is nobody to tell */
}

static void write_to_console(const char *text)
{
    int fd = open(_PATH_CONSOLE, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return;
    write_to(fd, text, "\r\n");
    close(fd);
}

/* "<priority>Jan  1 00:00:00 name[pid]: " in front of the text. Returns the message, which free takes, and where its name begins. */
static char *compose(int priority, const char *format, va_list arguments, size_t *at_name)
{
    static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    char *message = NULL, *text = NULL, pid[32] = "";
    time_t now = time(NULL);
    struct tm tm;
    int error = errno, first = 0;
    localtime_r(&now, &tm);
    if (options & LOG_PID)
        snprintf(pid, sizeof pid, "[%d]", (int)getpid());
    errno = error; /* for %m */
    if (vasprintf(&text, format, arguments) < 0)
        return NULL;
    if (asprintf(&message, "<%d>%s %2d %02d:%02d:%02d %n%s%s: %s", priority, months[tm.tm_mon], tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, &first,
                 name ? name : program_invocation_short_name, pid, text) < 0)
        message = NULL;
    free(text);
    *at_name = (size_t)first;
    return message;
}

void vsyslog(int priority, const char *format, va_list arguments)
{
    size_t at_name;
    int error = errno, before = take();
    priority &= LOG_PRIMASK | LOG_FACMASK;
    if (mask & LOG_MASK(LOG_PRI(priority))) {
        errno = error;
        char *message = compose(priority & LOG_FACMASK ? priority : priority | usual_facility, format, arguments, &at_name);
        if (message && options & LOG_PERROR)
            write_to(STDERR_FILENO, message + at_name, message[strlen(message) - 1] == '\n' ? "" : "\n");
        if (message && !send_to_log(message, strlen(message))) {
            disconnect(); /* the daemon may have been started anew */
            if (!send_to_log(message, strlen(message)) && options & LOG_CONS)
                write_to_console(message + at_name);
        }
        free(message);
    }
    give(before);
    errno = error;
    pthread_testcancel(); /* as libc's is a cancellation point */
}

void __vsyslog_chk(int priority, int flag, const char *format, va_list arguments)
{
    vsyslog(priority, format, arguments);
}

#define LOGS(function, parameters)            \
    void function parameters                  \
    {                                         \
        va_list arguments;                    \
        va_start(arguments, format);          \
        vsyslog(priority, format, arguments); \
        va_end(arguments);                    \
    }

LOGS(syslog, (int priority, const char *format, ...))
LOGS(__syslog_chk, (int priority, int flag, const char *format, ...))

void openlog(const char *as, int how, int facility)
{
    int before = take();
    name = as ? as : name;
    options = how;
    if (facility && !(facility & ~LOG_FACMASK))
        usual_facility = facility;
    if (how & LOG_NDELAY)
        connect_to_log();
    give(before);
}

void closelog(void)
{
    int before = take();
    disconnect();
    name = NULL;
    kind = SOCK_DGRAM;
    give(before);
}

int setlogmask(int wanted)
{
    int cancellable = take(), before = mask;
    if (wanted)
        mask = wanted;
    give(cancellable);
    return before;
}
